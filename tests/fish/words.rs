//! Where the cursor may stand: what is ordered, and what stays fish's own.

use super::{QUIET, pager, pager_is, scripted, tab_shows, three_files};
use crate::common::{ENTER, Fake, Home, Options, Shell, TAB};

const LEFT: &str = "\x1b[D";
const ALT_ENTER: &str = "\x1b\r";

#[test]
fn names_inside_a_directory_are_ordered() {
    let Some(home) = Home::new(Shell::Fish) else {
        return;
    };
    home.files(&["src/one", "src/two", "other"]);
    let mut terminal = home.start(&scripted(Fake::Reverse));
    tab_shows(&mut terminal, "argdump src/", &["src/two", "src/one"]);
    let request = home.wait_request("complete", "a request", |_| true);
    assert_eq!(request.get("word"), "src/");
    assert_eq!(request.candidates(), ["src/one", "src/two"]);
}

#[test]
fn words_with_variables_tildes_and_open_quotes_are_ordered() {
    let Some(home) = three_files() else { return };
    let mut terminal = home.start(&scripted(Fake::Reverse));
    for typed in [
        "argdump $HOME/work/",
        "argdump ~/work/",
        "argdump ~/wor\\k/",
        "argdump \"",
        "argdump './",
        "argdump \"$HOME/work/",
    ] {
        terminal.press(typed);
        terminal.press(TAB);
        terminal.wait_for(&format!("{typed}: our order"), |screen| {
            let words = pager(screen);
            words.len() == 3
                && words[0].ends_with("cherry")
                && words[1].ends_with("banana")
                && words[2].ends_with("apple")
        });
        let before = home.arguments().len();
        terminal.press(format!("{TAB}{ENTER}"));
        pager_is(&terminal, &[]);
        terminal.press(ENTER);
        terminal.wait_prompt();
        let arguments = home.next_arguments(before);
        assert!(arguments[0].ends_with(b"cherry") && !arguments[0].contains(&b'$'));
    }
}

#[test]
fn options_and_their_values_are_ordered() {
    let Some(home) = three_files() else { return };
    let rc = "complete -c argdump -l level -x -a 'high low mid'\n\
              complete -c argdump -l length -d Long\n\
              complete -c argdump -s f -r\n\
              complete -c argdump -o old -r";
    let mut terminal = home.start(&scripted(Fake::Reverse).before(rc));
    for (typed, words) in [
        (
            "argdump --level=",
            &["--level=mid", "--level=low", "--level=high"][..],
        ),
        ("argdump --level ", &["mid", "low", "high"]),
        ("argdump -f ", &["cherry", "banana", "apple"]),
        ("argdump -old ", &["cherry", "banana", "apple"]),
        ("argdump --le", &["--level", "--length", "(Long)"]),
        ("argdump -- ", &["cherry", "banana", "apple"]),
        ("argdump x=", &["x=cherry", "x=banana", "x=apple"]),
    ] {
        tab_shows(&mut terminal, typed, words);
        terminal.clear_line();
    }
}

#[test]
fn builtins_functions_and_wrapped_commands_are_ordered() {
    let Some(home) = three_files() else { return };
    let rc = "function mine; argdump $argv; end\n\
              alias ad argdump\n\
              complete -c argdump -f -a 'red green'\n\
              complete -c outer -x -a '(__fish_complete_subcommand)'\n\
              function outer; end\n\
              set -g tool argdump";
    let mut terminal = home.start(&scripted(Fake::Reverse).before(rc));
    let path = home.root().join("bin/argdump").display().to_string();
    let by_path = format!("{path} ");
    for (typed, words) in [
        ("mine ", &["cherry", "banana", "apple"][..]),
        ("echo ", &["cherry", "banana", "apple"]),
        ("ad ", &["red", "green"]),
        ("outer argdump ", &["red", "green"]),
        ("A=1 argdump ", &["red", "green"]),
        ("true; and argdump ", &["red", "green"]),
        ("true | argdump ", &["red", "green"]),
        ("echo (argdump ", &["red", "green"]),
        (&by_path, &["red", "green"]),
    ] {
        tab_shows(&mut terminal, typed, words);
        terminal.clear_line();
    }
}

#[test]
fn the_cursor_may_stand_inside_the_line_or_inside_the_word() {
    let Some(home) = Home::new(Shell::Fish) else {
        return;
    };
    home.files(&["report-a", "report-b"]);
    let mut terminal = home.start(&scripted(Fake::Reverse));
    terminal.press(format!("argdump report tail{}", LEFT.repeat(7)));
    terminal.wait_line("argdump repo");
    terminal.press(TAB);
    pager_is(&terminal, &["report-b", "report-a"]);
    let request = home.wait_request("complete", "a request", |_| true);
    assert_eq!(
        (request.get("word"), request.get("cursor")),
        ("report".into(), "14".into())
    );
    terminal.press(TAB);
    terminal.press(ENTER);
    terminal.press(ENTER);
    assert_eq!(
        home.next_arguments(0),
        [b"report-b".to_vec(), b"tail".to_vec()]
    );
}

#[test]
fn a_buffer_of_several_lines_is_sent_whole() {
    let Some(home) = three_files() else { return };
    let mut terminal = home.start(&scripted(Fake::Reverse));
    terminal.press(format!("echo 打开{ALT_ENTER}argdump "));
    terminal.press(TAB);
    pager_is(&terminal, &["cherry", "banana", "apple"]);
    let request = home.wait_request("complete", "a request", |_| true);
    assert_eq!(request.get("line"), "echo 打开\nargdump ");
    assert_eq!(request.get("cursor"), "16");
}

#[test]
fn letter_case_that_fish_forgives_is_ordered_too() {
    let Some(home) = Home::new(Shell::Fish) else {
        return;
    };
    home.files(&["Alpha one", "Alps", "beta"]);
    let mut terminal = home.start(&scripted(Fake::Reverse));
    tab_shows(&mut terminal, "argdump al", &["Alps", "Alpha", "one"]);
    terminal.press(format!("{TAB}{TAB}{ENTER}{ENTER}"));
    assert_eq!(home.next_arguments(0), [b"Alpha one".to_vec()]);
}

#[test]
fn a_part_from_the_middle_of_a_name_is_ordered_too() {
    let Some(home) = Home::new(Shell::Fish) else {
        return;
    };
    home.files(&["my report", "our-report", "other"]);
    let mut terminal = home.start(&scripted(Fake::Reverse));
    tab_shows(
        &mut terminal,
        "argdump report",
        &["our-report", "my", "report"],
    );
}

#[test]
fn where_fish_asks_no_completions_tab_is_its_own() {
    let Some(home) = three_files() else { return };
    home.files(&["dir/x", "dir/y"]);
    let rc = "set -g __word_a 1\nset -g __word_b 1\nset -g __word_c 1\n\
              function zz_a; end; function zz_b; end";
    for typed in [
        "argdump $__word_",
        "argdump \"$__word_",
        "argdump ~ro",
        "argdump > ",
        "argdump 2>> ",
        "zz_",
        "argdump *rr",
        "argdump {a,b}",
        "argdump dir/[",
        "",
        "   ",
    ] {
        let seen = |options: &Options| {
            let mut terminal = home.start(&options.clone().before(rc));
            terminal.press(typed);
            terminal.press(TAB);
            // What follows shows that fish has done with TAB.
            terminal.press("\x05Q");
            terminal.wait_for("the line ends in Q", |screen| {
                let (row, column) = screen.cursor_position();
                column > 0
                    && screen
                        .cell(row, column - 1)
                        .is_some_and(|cell| cell.contents() == "Q")
            });
            terminal.line()
        };
        let bare = seen(&Options::bare().before(QUIET));
        assert_eq!(seen(&scripted(Fake::Reverse)), bare, "after {typed:?}");
        assert!(
            home.requests("complete").is_empty(),
            "{typed:?} asks nobody"
        );
    }
}

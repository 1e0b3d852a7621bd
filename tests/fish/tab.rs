//! TAB in fish: our order in fish's own pager.

use super::{pager, pager_is, scripted, tab_shows, three_files};
use crate::common::{CTRL_U, DOWN, ENTER, ESC, Fake, Home, Options, Shell, TAB};

#[test]
fn tab_shows_the_pager_in_our_order() {
    let Some(home) = three_files() else { return };
    let mut terminal = home.start(&scripted(Fake::Reverse));
    tab_shows(&mut terminal, "argdump ", &["cherry", "banana", "apple"]);
    let request = home.wait_request("complete", "a request", |_| true);
    assert_eq!(request.get("shell"), "fish");
    assert_eq!(request.get("line"), "argdump ");
    assert_eq!(request.get("cursor"), "8");
    assert_eq!(request.get("unit"), "chars");
    assert_eq!(request.get("cwd"), home.work().display().to_string());
    assert_eq!(
        (request.get("base"), request.get("word")),
        (String::new(), String::new())
    );
    assert_eq!(request.get("add"), "1");
    assert_eq!(request.candidates(), ["apple", "banana", "cherry"]);
}

/// As editors and whatever a package manager keeps elsewhere are. fish goes by the program.
#[test]
fn a_command_that_is_a_link_to_its_program_gets_our_order() {
    let Some(home) = three_files() else { return };
    std::fs::create_dir(home.root().join("cellar")).expect("made");
    for (link, program) in [("linked", "cellar/one"), ("relinked", "bin/linked")] {
        let to = home.root().join(program);
        if !to.exists() {
            home.program(link, "exit 0");
            std::fs::rename(home.root().join("bin").join(link), &to).expect("moved");
        }
        let at = home.root().join("bin").join(link);
        std::os::unix::fs::symlink(to, at).expect("linked");
    }
    let mut terminal = home.start(&scripted(Fake::Reverse));
    for line in ["linked ", "relinked "] {
        tab_shows(&mut terminal, line, &["cherry", "banana", "apple"]);
        terminal.press(ESC);
        terminal.wait_line(line);
        terminal.press(CTRL_U);
    }
}

#[test]
fn tab_again_walks_through_the_pager_and_enter_accepts() {
    let Some(home) = three_files() else { return };
    let mut terminal = home.start(&scripted(Fake::Reverse));
    tab_shows(&mut terminal, "argdump ", &["cherry", "banana", "apple"]);
    terminal.press(TAB);
    terminal.wait_line("argdump cherry ");
    terminal.press(TAB);
    terminal.wait_line("argdump banana ");
    terminal.press(ENTER);
    terminal.press(ENTER);
    assert_eq!(home.next_arguments(0), [b"banana".to_vec()]);
    assert_eq!(home.requests("complete").len(), 1, "one TAB asks once");
}

#[test]
fn arrow_keys_and_escape_keep_their_meaning_in_the_pager() {
    let Some(home) = three_files() else { return };
    let mut terminal = home.start(&scripted(Fake::Reverse));
    tab_shows(&mut terminal, "argdump ", &["cherry", "banana", "apple"]);
    terminal.press(DOWN);
    terminal.wait_line("argdump cherry ");
    terminal.press(ESC);
    terminal.wait_line("argdump ");
    pager_is(&terminal, &[]);
}

#[test]
fn an_ambiguous_word_grows_by_what_all_names_share() {
    let Some(home) = Home::new(Shell::Fish) else {
        return;
    };
    home.files(&["report-2023", "report-2024", "other"]);
    let mut terminal = home.start(&scripted(Fake::Reverse));
    terminal.press("argdump re");
    terminal.press(TAB);
    terminal.wait_line("argdump report-202");
    // fish shortens the part that they share.
    terminal.wait_for("our order", |screen| {
        let words = pager(screen);
        words.len() == 2 && words[0].ends_with("2024") && words[1].ends_with("2023")
    });
}

#[test]
fn a_single_name_is_inserted_with_a_blank_and_nobody_is_asked() {
    let Some(home) = three_files() else { return };
    let mut terminal = home.start(&scripted(Fake::Reverse));
    terminal.press("argdump b");
    terminal.press(TAB);
    terminal.wait_line("argdump banana ");
    assert!(home.requests("complete").is_empty());
}

#[test]
fn descriptions_stay_with_their_candidates() {
    let Some(home) = three_files() else { return };
    let rc =
        r"complete -c argdump -f -a 'one\tfirst\ thing two\tsecond\ thing it\\\'s\tquoted plain'";
    let mut terminal = home.start(&scripted(Fake::Reverse).before(rc));
    terminal.press("argdump ");
    terminal.press(TAB);
    terminal.wait_text("(second thing)");
    let rows = terminal.text();
    let at = |text: &str| {
        rows.find(text)
            .unwrap_or_else(|| panic!("{text} in {rows}"))
    };
    assert!(at("two") < at("(second thing)") && at("(second thing)") < at("one"));
    assert!(at("one") < at("(first thing)"));
    let request = home.wait_request("complete", "a request", |_| true);
    assert_eq!(request.get("pairs"), "1");
    let sent: Vec<_> = request
        .candidates()
        .into_iter()
        .zip(request.descriptions())
        .collect();
    let expected = [
        ("it's", "quoted"),
        ("one", "first thing"),
        ("plain", ""),
        ("two", "second thing"),
    ];
    assert_eq!(
        sent,
        expected.map(|(text, about)| (text.to_owned(), about.to_owned()))
    );
}

#[test]
fn completions_of_the_user_stay_defined() {
    let Some(home) = three_files() else { return };
    let rc = "complete -c argdump -f -a 'red green'\ncomplete -c argdump -l paint -d Colour";
    let bare = {
        let mut terminal = home.start(&Options::bare().before(rc));
        terminal.run("complete argdump > ~/listed");
        std::fs::read_to_string(home.home().join("listed")).expect("the list")
    };
    let mut terminal = home.start(&scripted(Fake::Reverse).before(rc));
    tab_shows(&mut terminal, "argdump ", &["red", "green"]);
    terminal.clear_line();
    terminal.run("complete argdump > ~/listed");
    let ours = std::fs::read_to_string(home.home().join("listed")).expect("the list");
    assert!(bare.contains("red green"), "{bare}");
    assert_eq!(ours, bare);
}

#[test]
fn a_completion_defined_after_the_first_tab_is_offered_too() {
    let Some(home) = three_files() else { return };
    let mut terminal = home.start(&scripted(Fake::Reverse));
    tab_shows(&mut terminal, "argdump ", &["cherry", "banana", "apple"]);
    terminal.clear_line();
    terminal.run("complete -c argdump -a dates");
    tab_shows(
        &mut terminal,
        "argdump ",
        &["dates", "cherry", "banana", "apple"],
    );
}

#[test]
fn what_complete_prints_for_scripts_is_as_without_us() {
    let Some(home) = three_files() else { return };
    let mut terminal = home.start(&scripted(Fake::Reverse));
    tab_shows(&mut terminal, "argdump ", &["cherry", "banana", "apple"]);
    terminal.clear_line();
    terminal.run("complete -C 'argdump ' > ~/printed");
    let printed = std::fs::read_to_string(home.home().join("printed")).expect("the list");
    assert_eq!(printed, "apple\nbanana\ncherry\n");
}

#[test]
fn more_candidates_than_the_limit_are_left_to_fish() {
    let Some(home) = three_files() else { return };
    let rc = "complete -c argdump -f -a '(seq 1 1001)'";
    let mut terminal = home.start(&scripted(Fake::Reverse).before(rc));
    terminal.press("argdump ");
    terminal.press(TAB);
    terminal.wait_text("more rows");
    assert!(home.requests("complete").is_empty());
}

#[test]
fn two_shells_at_once_are_two_sessions() {
    let Some(home) = three_files() else { return };
    let mut first = home.start(&scripted(Fake::Reverse));
    let mut second = home.start(&scripted(Fake::Reverse));
    for terminal in [&mut first, &mut second] {
        tab_shows(terminal, "argdump ", &["cherry", "banana", "apple"]);
    }
    let sessions: Vec<_> = home
        .requests("complete")
        .iter()
        .map(|call| call.get("session"))
        .collect();
    assert_eq!(sessions.len(), 2);
    assert_ne!(sessions[0], sessions[1]);
    assert!(
        sessions
            .iter()
            .any(|name| name.starts_with(&format!("{}.", first.pid()))),
        "{sessions:?}"
    );
}

#[test]
fn a_crowded_directory_is_left_to_fish_and_a_narrowed_word_is_ordered() {
    let Some(home) = Home::new(Shell::Fish) else {
        return;
    };
    let names: Vec<String> = (0..20_050)
        .map(|number| format!("file{number:06}"))
        .collect();
    home.files(&names);
    let mut terminal = home.start(&scripted(Fake::Reverse));
    terminal.press("argdump ");
    terminal.press(TAB);
    terminal.wait_text("more rows");
    assert!(home.requests("complete").is_empty());
    terminal.clear_line();
    terminal.press("argdump file02004");
    terminal.press(TAB);
    terminal.wait_for("our order", |screen| {
        let words = pager(screen);
        words.len() == 10 && words[0].ends_with('9') && words[9].ends_with('0')
    });
}

//! TAB: the order of the list, what is accepted, what the client is asked.

use super::{NEXT, QUIET, list_is, rows, scripted, tab_shows, three_files};
use crate::common::{ENTER, Fake, Home, Options, Shell, TAB, Terminal};

#[test]
fn the_list_has_our_order() {
    let Some(home) = three_files() else { return };
    let mut terminal = home.start(&scripted(Fake::Reverse));
    tab_shows(&mut terminal, "argdump ", &["cherry", "banana", "apple"]);
}

#[test]
fn the_list_of_two_tabs_has_our_order_in_columns() {
    let Some(home) = three_files() else { return };
    let mut terminal = home.start(&Options::fake(Fake::Reverse));
    terminal.press(format!("argdump {TAB}{TAB}"));
    list_is(&terminal, &["cherry  banana  apple"]);
}

#[test]
fn the_candidates_come_one_by_one_in_our_order() {
    let Some(home) = three_files() else { return };
    let mut terminal = home.start(&scripted(Fake::Reverse));
    for (presses, name) in [(1, "cherry"), (2, "banana"), (3, "apple")] {
        terminal.press(format!("argdump {}", NEXT.repeat(presses)));
        terminal.wait_line(&format!("argdump {name} "));
        terminal.clear_line();
    }
}

#[test]
fn one_candidate_is_accepted_with_a_blank() {
    let Some(home) = three_files() else { return };
    let mut terminal = home.start(&scripted(Fake::Reverse));
    terminal.press(format!("argdump b{TAB}"));
    terminal.wait_line("argdump banana ");
    terminal.press(format!("ch{TAB}{ENTER}"));
    assert_eq!(
        home.next_arguments(0),
        [b"banana".to_vec(), b"cherry".to_vec()]
    );
}

#[test]
fn ambiguous_names_complete_to_what_they_share() {
    let Some(home) = Home::new(Shell::Bash) else {
        return;
    };
    home.files(&["report-2023", "report-2024", "other"]);
    let mut terminal = home.start(&scripted(Fake::Reverse));
    tab_shows(&mut terminal, "argdump r", &["report-2024", "report-2023"]);
    terminal.wait_line("argdump report-202");
    terminal.press(format!("4{TAB}"));
    terminal.wait_line("argdump report-2024 ");
}

#[test]
fn directories_keep_their_slash_and_no_blank() {
    let Some(home) = Home::new(Shell::Bash) else {
        return;
    };
    home.files(&["docs/inner", "data/"]);
    let mut terminal = home.start(&scripted(Fake::Reverse));
    tab_shows(&mut terminal, "argdump d", &["docs/", "data/"]);
    terminal.press(format!("o{TAB}{TAB}{ENTER}"));
    assert_eq!(home.next_arguments(0), [b"docs/inner".to_vec()]);
}

#[test]
fn the_client_is_told_the_line_and_the_candidates_in_the_order_of_bash() {
    let Some(home) = Home::new(Shell::Bash) else {
        return;
    };
    home.files(&["zeta", "Alpha", "mid dle", "beta/"]);
    let mut terminal = home.start(&scripted(Fake::Same));
    tab_shows(
        &mut terminal,
        "argdump é ",
        &["Alpha", "beta/", "mid dle", "zeta"],
    );
    let call = home.requests("complete").remove(0);
    assert_eq!(call.candidates(), ["Alpha", "beta/", "mid dle", "zeta"]);
    for (key, value) in [
        ("shell", "bash"),
        ("line", "argdump é "),
        ("cursor", "10"),
        ("unit", "chars"),
        ("word", ""),
        ("base", ""),
        ("pairs", "0"),
    ] {
        assert_eq!(call.get(key), value, "{key}");
    }
    assert_eq!(call.get("cwd"), home.work().display().to_string());
    assert!(
        call.get("session")
            .starts_with(&format!("{}.", terminal.pid()))
    );
}

#[test]
fn the_cursor_counts_bytes_in_a_byte_locale() {
    let Some(home) = three_files() else { return };
    let mut terminal = home.start(&scripted(Fake::Same).env("LC_ALL", "C"));
    terminal.press(format!("argdump é {TAB}"));
    let call = home.wait_request("complete", "a request", |_| true);
    assert_eq!(
        (call.get("cursor"), call.get("unit")),
        ("11".into(), "bytes".into())
    );
    assert_eq!(call.get("line"), "argdump é ");
}

#[test]
fn the_command_word_is_ordered_too() {
    let Some(home) = Home::new(Shell::Bash) else {
        return;
    };
    for name in ["zzone", "zztwo", "zzwho"] {
        home.program(name, "#!/bin/sh\n");
    }
    let mut terminal = home.start(&scripted(Fake::Reverse));
    tab_shows(&mut terminal, "zz", &["zzwho", "zztwo", "zzone"]);
    terminal.clear_line();
    tab_shows(&mut terminal, "true; zz", &["zzwho", "zztwo", "zzone"]);
    terminal.clear_line();
    terminal.press(format!("X=1 zzo{TAB}"));
    terminal.wait_line("X=1 zzone ");
}

#[test]
fn a_script_of_this_directory_completes_as_a_command() {
    let Some(home) = three_files() else { return };
    let mut terminal = home.start(&scripted(Fake::Reverse));
    terminal.run("printf '#!/bin/sh\\n' > run-me; chmod +x run-me");
    terminal.press(format!("./run{TAB}"));
    terminal.wait_line("./run-me ");
}

/// The line after one TAB.
#[track_caller]
fn completed(terminal: &mut Terminal, typed: &str) -> String {
    terminal.press(format!("{typed}{TAB}"));
    terminal.wait_for("TAB is done", |screen| {
        let row = &rows(screen)[usize::from(screen.cursor_position().0)];
        let column = usize::from(screen.cursor_position().1);
        row.len() > "p1> ".len() + typed.len() || column > "p1> ".len() + typed.len()
    });
    let line = terminal.line().expect("a line");
    terminal.clear_line();
    line
}

#[test]
fn home_variables_users_and_patterns_complete_as_in_bash() {
    let Some(home) = Home::new(Shell::Bash) else {
        return;
    };
    home.files(&["some file", "some other"]);
    let mut bare = home.start(&Options::bare().before(QUIET));
    let mut terminal = home.start(&scripted(Fake::Reverse));
    for typed in [
        "argdump ~/work/some\\ f",
        "argdump $HOME/work/some\\ f",
        "argdump \"$HOME/work/some f",
        "argdump $HOM",
        "argdump ~roo",
        "argdump *f*",
        "argdump < some\\ o",
        "X=some\\ o",
    ] {
        let expected = completed(&mut bare, typed);
        assert_ne!(expected, typed);
        assert_eq!(completed(&mut terminal, typed), expected);
    }
    tab_shows(
        &mut terminal,
        "argdump ~/work/some",
        &["some other", "some file"],
    );
    terminal.clear_line();
    tab_shows(
        &mut terminal,
        "argdump \"$HOME/work/some",
        &["some file", "some other"],
    );
}

#[test]
fn settings_of_readline_hold() {
    let Some(home) = Home::new(Shell::Bash) else {
        return;
    };
    home.files(&[
        "Upper",
        "under_score",
        "docs/",
        ".hidden",
        "kept.txt",
        "left.o",
    ]);
    let mut terminal = home.start(&scripted(Fake::Reverse).after(
        "bind 'set completion-ignore-case on'; bind 'set completion-map-case on'; FIGNORE=.o",
    ));
    for (typed, done) in [
        ("argdump upp", "argdump Upper "),
        ("argdump under-s", "argdump under_score "),
        ("argdump .h", "argdump .hidden "),
    ] {
        terminal.press(format!("{typed}{TAB}"));
        terminal.wait_line(done);
        terminal.clear_line();
    }
    tab_shows(
        &mut terminal,
        "argdump ",
        &["under_score", "kept.txt", "docs/", "Upper", ".hidden"],
    );
    terminal.clear_line();
    terminal.run("bind 'set match-hidden-files off'; bind 'set mark-directories off'; FIGNORE=");
    terminal.press(format!("argdump d{TAB}"));
    terminal.wait_line("argdump docs");
    terminal.clear_line();
    terminal.run("bind 'set visible-stats on'");
    tab_shows(
        &mut terminal,
        "argdump ",
        &["under_score", "left.o", "kept.txt", "docs/", "Upper"],
    );
}

#[test]
fn no_completion_is_bound_to_a_key() {
    let Some(home) = three_files() else { return };
    let tables = |options: Options| {
        let options = options.before(QUIET).before("TABSENSE_DO_KEY=");
        let mut terminal = home.start(&options);
        terminal.run("(bind -p; bind -X; bind -s; bind -v) > ~/keys");
        std::fs::read(home.home().join("keys")).expect("the keys")
    };
    assert_eq!(
        tables(Options::fake(Fake::Reverse)),
        tables(Options::bare())
    );
}

//! Candidates of the client's own.

use super::{QUIET, pager_is, scripted, tab_shows, three_files};
use crate::common::{ENTER, Fake, Home, Options, Shell, TAB};

/// A client that answers `records` (without the first and the last) to every TAB.
fn answering(home: &Home, records: &str) -> Options {
    home.program(
        "tabsense-fake",
        &format!("#!/bin/sh\ncat > /dev/null\n[ \"$1\" = complete ] && printf 'v1\\0{records}.\\0'\nexit 0\n"),
    );
    Options::fake(Fake::Same).before(QUIET)
}

#[test]
fn an_added_directory_stands_where_the_client_put_it_and_keeps_its_tilde() {
    let Some(home) = Home::new(Shell::Fish) else {
        return;
    };
    home.files(&["one/", "two/"]);
    std::fs::create_dir_all(home.home().join("else where/deep")).expect("a directory");
    let options = answering(&home, "=1\\0+d\\t~/else where/\\0?from history\\0=0\\0");
    let mut terminal = home.start(&options);
    tab_shows(
        &mut terminal,
        "argdump ",
        &["two/", "~/else", "where/", "(from", "history)", "one/"],
    );
    terminal.press(format!("{TAB}{TAB}"));
    terminal.wait_line("argdump ~/else\\ where/");
    terminal.press(format!("{ENTER}{ENTER}"));
    let expected = format!("{}/else where/", home.home().display());
    assert_eq!(home.next_arguments(0), [expected.into_bytes()]);
}

#[test]
fn cd_shows_an_added_directory_after_its_own() {
    let Some(home) = Home::new(Shell::Fish) else {
        return;
    };
    home.files(&["one/", "two/", "file"]);
    std::fs::create_dir_all(home.home().join("elsewhere")).expect("a directory");
    let mut terminal = home.start(&scripted(Fake::Added));
    tab_shows(
        &mut terminal,
        "cd ",
        &["two/", "one/", "~/elsewhere/", "(from", "history)"],
    );
    terminal.press(format!("{TAB}{TAB}{TAB}"));
    terminal.wait_line("cd ~/elsewhere/");
    terminal.press(format!("{ENTER}{ENTER}"));
    terminal.wait_prompt();
    terminal.run("argdump $PWD");
    let expected = home.home().join("elsewhere").display().to_string();
    assert_eq!(home.next_arguments(0), [expected.into_bytes()]);
}

#[test]
fn names_that_only_the_client_sees_a_likeness_in_replace_the_word() {
    let Some(home) = Home::new(Shell::Fish) else {
        return;
    };
    home.files(&["下载/", "西安/"]);
    let options = answering(&home, "+d\\t下载/\\0?visited\\0+d\\t西安/\\0");
    let mut terminal = home.start(&options);
    terminal.press("argdump xx");
    terminal.press(TAB);
    pager_is(
        &terminal,
        &["下载/", "(xx", "·", "visited)", "西安/", "(xx)"],
    );
    terminal.press(format!("{TAB}{TAB}"));
    terminal.wait_line("argdump 西安/");
    terminal.press(format!("{ENTER}{ENTER}"));
    assert_eq!(home.next_arguments(0), ["西安/".as_bytes().to_vec()]);
}

#[test]
fn a_single_likeness_is_inserted_at_once() {
    let Some(home) = Home::new(Shell::Fish) else {
        return;
    };
    home.files(&["下载/"]);
    let options = answering(&home, "+d\\t下载/\\0");
    let mut terminal = home.start(&options);
    terminal.press("argdump xz");
    terminal.press(TAB);
    terminal.wait_line("argdump 下载/");
}

#[test]
fn added_texts_that_fish_would_take_otherwise_are_left_out() {
    let Some(home) = three_files() else { return };
    let records = "+f\\t~root\\0+f\\ta\\tb\\0+l\\targdump x y\\0+f\\tzebra\\0=2\\0=1\\0=0\\0";
    let options = answering(&home, records);
    let mut terminal = home.start(&options);
    tab_shows(
        &mut terminal,
        "argdump ",
        &["zebra", "cherry", "banana", "apple"],
    );
}

#[test]
fn an_added_name_of_any_characters_reaches_the_command_as_it_is() {
    let Some(home) = three_files() else { return };
    let records = "+f\\tx $(touch P1) `id`\\n;*\\351\"\\047\\0=0\\0=1\\0=2\\0";
    let options = answering(&home, records);
    let mut terminal = home.start(&options);
    terminal.press(format!("argdump {TAB}"));
    terminal.wait_text("banana");
    terminal.press(format!("{TAB}{ENTER}{ENTER}"));
    assert_eq!(
        home.next_arguments(0),
        [b"x $(touch P1) `id`\n;*\xe9\"'".to_vec()]
    );
    assert!(!home.work().join("P1").exists());
}

#[test]
fn in_private_mode_nothing_is_added() {
    let Some(home) = three_files() else { return };
    let mut terminal = home.start(&scripted(Fake::Reverse));
    terminal.run("set fish_private_mode 1");
    tab_shows(&mut terminal, "argdump ", &["cherry", "banana", "apple"]);
    let request = home.wait_request("complete", "a request", |_| true);
    assert_eq!(request.get("add"), "0");
}

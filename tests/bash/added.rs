//! Candidates of the engine's own, where bash has none.

use super::{client, scripted, tab_shows, three_files};
use crate::common::{ENTER, Fake, Home, Shell, TAB, Terminal};

/// A home whose client answers with the added records `records` and nothing else.
fn adding(records: &[&str]) -> Option<(Home, Terminal)> {
    let home = Home::new(Shell::Bash)?;
    home.files(&[
        "Downloads/",
        "two words.txt",
        "下载/",
        "docs/inner",
        "docs/index",
    ]);
    let mut terminal = home.start(&scripted(Fake::Same));
    let parts: String = records
        .iter()
        .map(|record| format!("{record}\\0"))
        .collect();
    client(&home, &format!("#!/bin/bash\nprintf 'v1\\0{parts}.\\0'\n"));
    terminal.run("");
    Some((home, terminal))
}

#[test]
fn one_added_directory_replaces_the_word() {
    let Some((home, mut terminal)) = adding(&["+d\\t下载/", "?pinyin"]) else {
        return;
    };
    terminal.press(format!("argdump xz{TAB}"));
    terminal.wait_line("argdump 下载/");
    terminal.press(ENTER);
    assert_eq!(home.next_arguments(0), ["下载/".as_bytes().to_vec()]);
}

#[test]
fn an_added_name_is_quoted_and_closed() {
    let Some((home, mut terminal)) = adding(&["+f\\ttwo words.txt"]) else {
        return;
    };
    for (number, quote) in ["", "\"", "'"].into_iter().enumerate() {
        terminal.press(format!("argdump {quote}wrds{TAB}{ENTER}"));
        assert_eq!(home.next_arguments(number), [b"two words.txt".to_vec()]);
        terminal.wait_prompt();
    }
}

#[test]
fn an_added_word_that_would_run_is_not_offered() {
    let Some((home, mut terminal)) = adding(&["+w\\t$(touch PWNED)"]) else {
        return;
    };
    terminal.press(format!("argdump zz{TAB}{ENTER}"));
    assert_eq!(home.next_arguments(0), [b"zz".to_vec()]);
    assert!(!home.work().join("PWNED").exists());
}

#[test]
fn an_added_place_below_home_keeps_its_tilde() {
    let Some((home, mut terminal)) = adding(&["+d\\t~/work/docs/"]) else {
        return;
    };
    terminal.press(format!("argdump dcs{TAB}"));
    terminal.wait_line("argdump ~/work/docs/");
    terminal.press(ENTER);
    let expected = format!("{}/docs/", home.work().display());
    assert_eq!(home.next_arguments(0), [expected.into_bytes()]);
}

#[test]
fn several_added_names_leave_what_was_typed() {
    let Some((_home, mut terminal)) = adding(&["+d\\tDownloads/", "+d\\t下载/"]) else {
        return;
    };
    terminal.press(format!("argdump xz{TAB}"));
    terminal.wait_for("the list", |screen| {
        screen.contents().contains("Downloads/")
    });
    terminal.wait_line("argdump xz");
}

#[test]
fn several_added_names_that_share_a_part_of_what_was_typed_leave_it() {
    let Some((_home, mut terminal)) = adding(&["+f\\tdocs/inner", "+f\\tdocs/index"]) else {
        return;
    };
    terminal.press(format!("argdump docs/xdn{TAB}"));
    terminal.wait_for("the list", |screen| screen.contents().contains("index"));
    terminal.wait_line("argdump docs/xdn");
}

#[test]
fn several_added_names_complete_to_what_they_share() {
    let Some((_home, mut terminal)) = adding(&["+f\\tdocs/inner", "+f\\tdocs/index"]) else {
        return;
    };
    terminal.press(format!("argdump d/i{TAB}"));
    terminal.wait_for("the list", |screen| screen.contents().contains("index"));
    terminal.clear_line();
    terminal.press(format!("argdump docs/z{TAB}"));
    terminal.wait_for("the list", |screen| screen.contents().contains("index"));
    terminal.wait_line("argdump docs/z");
}

#[test]
fn what_stands_before_an_equals_sign_is_not_doubled() {
    let Some((home, mut terminal)) = adding(&["+d\\t--into=Downloads/"]) else {
        return;
    };
    terminal.press(format!("argdump --into=dwn{TAB}{ENTER}"));
    assert_eq!(home.next_arguments(0), [b"--into=Downloads/".to_vec()]);
}

#[test]
fn whole_lines_are_not_words() {
    let Some((_home, mut terminal)) = adding(&["+l\\targdump everything"]) else {
        return;
    };
    terminal.press(format!("argdump zz{TAB}{TAB}y"));
    terminal.wait_line("argdump zzy");
}

#[test]
fn nothing_is_added_to_what_bash_has() {
    let Some(home) = three_files() else { return };
    let mut terminal = home.start(&scripted(Fake::Added));
    tab_shows(&mut terminal, "argdump ", &["cherry", "banana", "apple"]);
    assert_eq!(home.requests("complete")[0].get("add"), "0");
    terminal.clear_line();
    terminal.press(format!("argdump zz{TAB}"));
    let call = home.wait_request("complete", "the second request", |call| {
        call.get("word") == "zz"
    });
    assert_eq!(call.get("add"), "1");
    terminal.wait_line("argdump ~/elsewhere/");
}

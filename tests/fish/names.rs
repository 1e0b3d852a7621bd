//! Names of every kind: what TAB inserts parses back to exactly the name.

use super::{pager, scripted};
use crate::common::{ENTER, Fake, Home, Options, Shell, TAB, Terminal};
use std::os::unix::ffi::OsStrExt;

/// The names of the shared fault list, and some more. fish itself cannot complete a name with a tab.
const NAMES: [&[u8]; 31] = [
    b"a b",
    b"it's",
    b"say \"hi\"",
    b"Ke$ha",
    b"bt`id`x",
    b"bang!x",
    b"~tilde",
    b"-rf",
    b"[x]*?.txt",
    b"new\nline",
    b"semi;&|<>",
    b"(paren)",
    b"{a,b}",
    b"#hash",
    b"back\\slash",
    b"=eq",
    "日本語".as_bytes(),
    "😀.txt".as_bytes(),
    "e\u{301}te".as_bytes(),
    b"bad\xffx",
    b"esc\x1b[31mred",
    b"$(touch PWNED)",
    b"a=b:c",
    b"end ",
    b"cr\rx",
    b"%p",
    b"^c",
    b"@h",
    b"a\"!b",
    b"dot.",
    b"bell\x07",
];

/// Completes after `keys`, chooses the `nth` (from 1) of the pager and runs the line.
#[track_caller]
fn accept(home: &Home, terminal: &mut Terminal, keys: &str, nth: usize) -> Vec<u8> {
    let before = home.arguments().len();
    terminal.press(keys);
    terminal.press(TAB);
    terminal.wait_for("the pager opens", |screen| !pager(screen).is_empty());
    terminal.press(TAB.repeat(nth));
    terminal.press(format!("{ENTER}{ENTER}"));
    terminal.wait_prompt();
    let arguments = home.next_arguments(before);
    assert_eq!(arguments.len(), 1, "{arguments:?}");
    arguments[0].clone()
}

/// A directory for each name, with a second name in it, so that there is something to order.
fn pairs(home: &Home) {
    for (number, name) in NAMES.iter().enumerate() {
        home.files(&[join(number, name), join(number, b"!first")]);
    }
}

fn join(number: usize, name: &[u8]) -> Vec<u8> {
    [format!("d{number}x/").as_bytes(), name].concat()
}

/// Both names of each directory are accepted once.
#[track_caller]
fn both_arrive(home: &Home, mut keys: impl FnMut(&mut Terminal, usize) -> String, whole: bool) {
    let mut terminal = home.start(&scripted(Fake::Reverse));
    for (number, name) in NAMES.iter().enumerate() {
        let typed = keys(&mut terminal, number);
        let mut got = [1, 2].map(|nth| accept(home, &mut terminal, &typed, nth));
        let mut expected = [name.to_vec(), b"!first".to_vec()];
        if whole {
            expected = expected.map(|name| join(number, &name));
        }
        got.sort();
        expected.sort();
        let text = |names: &[Vec<u8>; 2]| {
            format!("{} {}", names[0].escape_ascii(), names[1].escape_ascii())
        };
        assert_eq!(text(&got), text(&expected), "after {typed}");
    }
    assert!(!home.work().join("PWNED").exists());
}

#[test]
fn odd_names_in_a_directory_arrive_byte_for_byte() {
    let Some(home) = Home::new(Shell::Fish) else {
        return;
    };
    pairs(&home);
    both_arrive(&home, |_, number| format!("argdump d{number}x/"), true);
}

#[test]
fn odd_names_after_an_open_single_quote_arrive_byte_for_byte() {
    let Some(home) = Home::new(Shell::Fish) else {
        return;
    };
    pairs(&home);
    both_arrive(&home, |_, number| format!("argdump 'd{number}x/"), true);
}

#[test]
fn odd_names_after_an_open_double_quote_arrive_byte_for_byte() {
    let Some(home) = Home::new(Shell::Fish) else {
        return;
    };
    pairs(&home);
    both_arrive(&home, |_, number| format!("argdump \"d{number}x/"), true);
}

#[test]
fn odd_names_from_an_empty_word_arrive_byte_for_byte() {
    let Some(home) = Home::new(Shell::Fish) else {
        return;
    };
    pairs(&home);
    let into = |terminal: &mut Terminal, number| {
        terminal.run(format!("cd ~/work/d{number}x"));
        "argdump ".to_owned()
    };
    both_arrive(&home, into, false);
}

#[test]
fn tab_runs_nothing_that_a_name_or_a_line_spells() {
    let Some(home) = Home::new(Shell::Fish) else {
        return;
    };
    let names = [
        "(touch P1)/",
        "$(touch P2)/",
        "`touch P3`/",
        ";touch P4;/",
        "a[$(touch P6)]/",
    ];
    home.files(&names);
    home.files(&["${x:=$(touch P5)}/x"]);
    let mut terminal = home.start(&scripted(Fake::Reverse));
    terminal.press("cd ");
    terminal.press(TAB);
    terminal.wait_text("touch P1");
    for _ in 0..8 {
        terminal.press(TAB);
    }
    terminal.wait_text("touch P1");
    terminal.clear_line();
    for line in [
        "echo '$(touch P7)",
        "awk '$1 > 0.0",
        "echo \"`touch P8`",
        "echo ${a[$(touch P9)]",
        "echo (touch P10)",
        "echo \"$(touch P11)",
        "A=(touch P12) argdump ",
        "ls <(touch P13)",
    ] {
        terminal.press(line);
        terminal.press(format!("{TAB}{TAB}{TAB}"));
        terminal.clear_line();
    }
    let made: Vec<_> = std::fs::read_dir(home.work())
        .expect("the directory")
        .flatten()
        .filter(|entry| {
            entry.file_name().as_bytes().starts_with(b"P") || entry.file_name() == "0.0"
        })
        .collect();
    assert!(made.is_empty(), "{made:?}");
}

#[test]
fn composed_and_decomposed_letters_stay_two_names() {
    let Some(home) = Home::new(Shell::Fish) else {
        return;
    };
    let (apart, composed) = ("cafe\u{301}.txt", "caf\u{e9}.txt");
    home.files(&[apart, composed]);
    let mut terminal = home.start(&scripted(Fake::Reverse));
    let mut got = Vec::new();
    for tabs in 1..=2 {
        let before = home.arguments().len();
        terminal.press(format!("argdump caf{TAB}"));
        terminal.wait_for("the pager opens", |screen| !pager(screen).is_empty());
        terminal.press(TAB.repeat(tabs));
        terminal.press(format!("{ENTER}{ENTER}"));
        got.extend(home.next_arguments(before));
        terminal.wait_prompt();
    }
    got.sort();
    let mut expected = [apart.as_bytes().to_vec(), composed.as_bytes().to_vec()];
    expected.sort();
    assert_eq!(got, expected);
}

#[test]
fn a_name_with_a_tab_is_as_in_fish_alone() {
    let Some(home) = Home::new(Shell::Fish) else {
        return;
    };
    home.files(&["tab\there", "tab2"]);
    let seen = |options: &Options| {
        let mut terminal = home.start(options);
        terminal.press(format!("argdump {TAB}"));
        terminal.wait_for("the pager opens", |screen| !pager(screen).is_empty());
        let mut words = pager(&terminal.screen());
        words.sort();
        words
    };
    assert_eq!(
        seen(&scripted(Fake::Reverse)),
        seen(&Options::bare().before(super::QUIET))
    );
}

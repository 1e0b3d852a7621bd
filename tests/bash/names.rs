//! Names of every kind: what TAB inserts parses back to exactly the name.

use super::{NEXT, scripted, tab_shows};
use crate::common::{ENTER, Fake, Home, Shell, TAB, Terminal};
use std::os::unix::ffi::OsStrExt;

/// The names of the shared fault list, and some more.
const NAMES: [&[u8]; 33] = [
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
    b"tab\there",
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
    b"${x:=$(touch PWNED)}",
    b"a=b:c",
    b"end ",
    b"cr\rx",
    b"%p",
    b"^c",
    b"@h",
    b"a\"!b",
    b"back\\nslash",
    b"trailing\\",
];

/// Completes after `keys`, takes the first candidate in the order of `fake`, and gives what argdump got.
#[track_caller]
fn accept(home: &Home, terminal: &mut Terminal, keys: &str, fake: Fake) -> Vec<Vec<u8>> {
    let before = home.arguments().len();
    home.answer(fake);
    terminal.press(format!("{keys}{NEXT}{ENTER}"));
    let arguments = home.next_arguments(before);
    terminal.wait_prompt();
    arguments
}

fn join(number: usize, name: &[u8]) -> Vec<u8> {
    [format!("d{number}x/").as_bytes(), name].concat()
}

/// Each directory holds a name and `!first`; both are accepted once.
#[track_caller]
fn both_arrive(mut keys: impl FnMut(&mut Terminal, usize) -> String, whole: bool) {
    let Some(home) = Home::new(Shell::Bash) else {
        return;
    };
    for (number, name) in NAMES.iter().enumerate() {
        home.files(&[join(number, name), join(number, b"!first")]);
    }
    let mut terminal = home.start(&scripted(Fake::Reverse));
    for (number, name) in NAMES.iter().enumerate() {
        let typed = keys(&mut terminal, number);
        let mut got = Vec::new();
        for fake in [Fake::Same, Fake::Reverse] {
            let arguments = accept(&home, &mut terminal, &typed, fake);
            got.push(arguments.join(&b" AND "[..]).escape_ascii().to_string());
        }
        let mut expected = [name.to_vec(), b"!first".to_vec()].map(|name| {
            let name = if whole { join(number, &name) } else { name };
            name.escape_ascii().to_string()
        });
        if name.contains(&b'\n') {
            // Such a directory stays with bash: its first, in whatever order we would give.
            assert!(
                got.iter().all(|name| expected.contains(name)),
                "{got:?} after {typed}"
            );
            continue;
        }
        got.sort();
        expected.sort();
        assert_eq!(got, expected, "after {typed}");
    }
    assert!(!home.work().join("PWNED").exists());
}

#[test]
fn odd_names_in_a_directory_arrive_byte_for_byte() {
    both_arrive(|_, number| format!("argdump d{number}x/"), true);
}

#[test]
fn odd_names_after_an_open_single_quote_arrive_byte_for_byte() {
    both_arrive(|_, number| format!("argdump 'd{number}x/"), true);
}

#[test]
fn odd_names_after_an_open_double_quote_arrive_byte_for_byte() {
    both_arrive(|_, number| format!("argdump \"d{number}x/"), true);
}

#[test]
fn odd_names_from_an_empty_word_arrive_byte_for_byte() {
    let into = |terminal: &mut Terminal, number| {
        terminal.run(format!("cd ~/work/d{number}x"));
        "argdump ".to_owned()
    };
    both_arrive(into, false);
}

#[test]
fn a_single_odd_name_arrives_whether_the_client_answers_or_not() {
    let Some(home) = Home::new(Shell::Bash) else {
        return;
    };
    for (number, name) in NAMES.iter().enumerate() {
        home.files(&[join(number, name)]);
    }
    let mut terminal = home.start(&scripted(Fake::Same));
    for fake in [Fake::Same, Fake::Native] {
        home.answer(fake);
        for (number, name) in NAMES.iter().enumerate() {
            for quote in ["", "'", "\""] {
                let before = home.arguments().len();
                terminal.press(format!("argdump {quote}d{number}x/{TAB}{ENTER}"));
                let got = home.next_arguments(before);
                terminal.wait_prompt();
                assert_eq!(got, [join(number, name)], "{quote}{}", name.escape_ascii());
            }
        }
    }
    assert!(!home.work().join("PWNED").exists());
}

#[test]
fn tab_runs_nothing_that_a_name_or_a_line_spells() {
    let Some(home) = Home::new(Shell::Bash) else {
        return;
    };
    home.files(&[
        "(touch P1)/",
        "$(touch P2)/",
        "`touch P3`/",
        ";touch P4;/",
        "${x:=$(touch P5)}/",
        "a[$(touch P6)]/",
    ]);
    let mut terminal = home.start(&scripted(Fake::Reverse));
    terminal.press(format!("cd {TAB}"));
    terminal.wait_text("touch P1");
    terminal.press(NEXT.repeat(8));
    terminal.clear_line();
    for (number, line) in [
        "echo '$(touch P7)",
        "awk '$1 > 0.0",
        "echo \"`touch P8`",
        "echo ${a[$(touch P9)]",
        "echo (touch P10)",
        "ls <(touch P11)",
        "echo \"$(touch P12)",
        "echo $(touch P13)/",
        "echo `touch P14`/",
        "X=$(touch P15) argdump ",
        "echo \"a $(touch P16)/x",
    ]
    .iter()
    .enumerate()
    {
        terminal.press(format!("{line}{TAB}{TAB}{TAB}"));
        terminal.clear_line();
        terminal.run(format!("argdump {number}"));
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
    let Some(home) = Home::new(Shell::Bash) else {
        return;
    };
    let (apart, composed) = ("cafe\u{301}.txt", "caf\u{e9}.txt");
    home.files(&[apart, composed]);
    let mut terminal = home.start(&scripted(Fake::Reverse));
    let mut got: Vec<_> = [Fake::Same, Fake::Reverse]
        .into_iter()
        .flat_map(|fake| accept(&home, &mut terminal, "argdump caf", fake))
        .collect();
    got.sort();
    assert_eq!(got, [apart.as_bytes(), composed.as_bytes()]);
}

#[test]
fn a_line_of_a_name_is_no_name() {
    let Some(home) = Home::new(Shell::Bash) else {
        return;
    };
    home.files(&[
        "b", "d1/a", "d1/\n~", "d2/a", "d2/a\nb", "d3/a", "d3/a\n..", "q", "q\n~",
    ]);
    let mut terminal = home.start(&scripted(Fake::Reverse));
    for (typed, names) in [
        ("d1/", ["d1/a", "d1/\n~"]),
        ("d2/", ["d2/a", "d2/a\nb"]),
        ("d3/", ["d3/a", "d3/a\n.."]),
        ("q", ["q", "q\n~"]),
    ] {
        for fake in [Fake::Same, Fake::Reverse] {
            let got = accept(&home, &mut terminal, &format!("argdump {typed}"), fake);
            assert_eq!(got.len(), 1, "{typed} {got:?}");
            assert!(
                names.map(str::as_bytes).contains(&&*got[0]),
                "{typed} {got:?}"
            );
        }
    }
}

#[test]
fn a_dollar_sign_completes_as_in_bash() {
    let Some(home) = Home::new(Shell::Bash) else {
        return;
    };
    home.files(&["Ke$ha one", "Ke$ha two", "x/Ke$ha"]);
    let mut terminal = home.start(&scripted(Fake::Reverse));
    tab_shows(&mut terminal, "argdump Ke", &["Ke$ha two", "Ke$ha one"]);
    terminal.clear_line();
    for (number, typed) in ["Ke\\$ha\\ t", "'Ke$ha t", "\"Ke\\$ha t", "x/Ke\\$"]
        .iter()
        .enumerate()
    {
        terminal.press(format!("argdump {typed}{TAB}{ENTER}"));
        let expected: &[u8] = if typed.starts_with('x') {
            b"x/Ke$ha"
        } else {
            b"Ke$ha two"
        };
        assert_eq!(home.next_arguments(number), [expected], "{typed}");
        terminal.wait_prompt();
    }
}

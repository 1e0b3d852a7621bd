//! What is inserted parses back to exactly the chosen name, whatever the name.

use crate::common::{ENTER, Fake, Home, Options, Shell, Terminal};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

/// Names that broke quoting in other tools.
const NAMES: [&[u8]; 32] = [
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
    b"a=b:c",
    b"end ",
    b"cr\rx",
    b"%p",
    b"^c",
    b"@h",
    b"a\"!b",
    "cafe\u{301}.txt".as_bytes(),
    "caf\u{e9}.txt".as_bytes(),
];

/// Types, presses TAB (the first one lists, the next ones choose) and runs; gives what argdump got.
fn choose(home: &Home, terminal: &mut Terminal, typed: &[u8]) -> Vec<Vec<u8>> {
    press_and_run(home, terminal, typed, 2)
}

fn press_and_run(home: &Home, terminal: &mut Terminal, typed: &[u8], tabs: usize) -> Vec<Vec<u8>> {
    let before = home.arguments().len();
    terminal.press(typed);
    terminal.press("\t".repeat(tabs));
    terminal.press(ENTER);
    let arguments = home.next_arguments(before);
    terminal.wait_prompt();
    arguments
}

fn directory(home: &Home, number: usize, name: &[u8]) {
    let path = format!("d_{number}/").into_bytes();
    home.files(&[
        [path.as_slice(), b"A0"].concat(),
        [path.as_slice(), name].concat(),
    ]);
}

/// What argdump must get: the last of what zsh offered, as the answer was the reverse order.
fn expected(home: &Home, typed: &str) -> Vec<u8> {
    let request = home.wait_request("complete", "a request", |request| {
        request.get("line") == typed
    });
    request.records[request.records.len() / 2 * 2 - 2].clone()
}

#[test]
fn odd_names_reach_the_program_byte_for_byte() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    let mut terminal = home.start(&Options::fake(Fake::Reverse));
    for (number, name) in NAMES.iter().enumerate() {
        directory(&home, number, name);
        let typed = format!("argdump d_{number}/");
        let got = choose(&home, &mut terminal, typed.as_bytes());
        assert_eq!(got, [expected(&home, &typed)], "{}", name.escape_ascii());
        let chosen = got[0]
            .strip_prefix(format!("d_{number}/").as_bytes())
            .expect("in the directory");
        assert!(
            chosen == b"A0" || chosen == *name,
            "{}",
            name.escape_ascii()
        );
    }
    assert!(!home.work().join("PWNED").exists());
}

#[test]
fn odd_names_are_completed_in_their_directory() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    let mut terminal = home.start(&Options::fake(Fake::Reverse));
    for (number, name) in NAMES.iter().enumerate() {
        directory(&home, number, name);
        terminal.run(format!("cd ~/work/d_{number}"));
        let got = choose(&home, &mut terminal, b"argdump ");
        assert!(
            got == [b"A0".to_vec()] || got == [name.to_vec()],
            "{} gave {got:?}",
            name.escape_ascii()
        );
    }
}

#[test]
fn odd_names_behind_an_open_quote_are_what_the_bare_shell_gives() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    let mark = "__mark() { print -rn -- \"$BUFFER\" > ~/line; zle send-break }; zle -N __mark; bindkey '^X^X' __mark";
    let mut ours = home.start(&Options::fake(Fake::Same).before(mark));
    let mut bare = home.start(&Options::bare().before(mark));
    for quote in ["\"", "'"] {
        for (number, name) in NAMES.iter().enumerate() {
            // One file: the bare shell and ours must insert the same.
            home.files(&[[format!("q_{number}/").as_bytes(), name].concat()]);
            let typed = format!("argdump {quote}q_{number}/\t");
            let mut lines = Vec::new();
            for terminal in [&mut ours, &mut bare] {
                terminal.press(&typed);
                terminal.press("\x18\x18");
                terminal.wait_prompt();
                lines.push(std::fs::read(home.home().join("line")).expect("the line"));
            }
            assert_eq!(lines[0], lines[1], "{quote}{}", name.escape_ascii());
        }
    }
}

#[test]
fn both_forms_of_an_accented_name_stay_apart() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    home.files(&["cafe\u{301}.txt", "caf\u{e9}.txt"]);
    let mut terminal = home.start(&Options::fake(Fake::Same));
    let mut got = [choose(&home, &mut terminal, b"argdump caf"), {
        let before = home.arguments().len();
        terminal.press("argdump caf\t\t\t\r");
        home.next_arguments(before)
    }];
    got.sort();
    assert_eq!(
        got,
        [
            ["cafe\u{301}.txt".as_bytes().to_vec()],
            ["caf\u{e9}.txt".as_bytes().to_vec()]
        ]
    );
}

/// A file name of any bytes but NUL and `/`, often with characters that mean something to a shell.
fn name() -> impl Strategy<Value = Vec<u8>> {
    let special = prop::sample::select(b" '\"$`!\\~*?[](){}<>|&;#=:%^@,-.\n\t\x01\x7f".as_slice());
    let byte = prop_oneof![3 => special, 3 => b'a'..=b'e', 1 => any::<u8>()];
    prop::collection::vec(
        byte.prop_filter("no part of a name", |b| *b != 0 && *b != b'/'),
        1..12,
    )
    .prop_filter("not hidden", |name| name[0] != b'.')
}

#[test]
fn random_names_are_chosen_by_random_prefixes() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    let terminal = std::cell::RefCell::new(home.start(&Options::fake(Fake::Reverse)));
    let number = std::cell::Cell::new(0);
    // zsh writes such bytes as $'...' and takes two of those for names with a common beginning.
    let unprintable = |name: &Vec<u8>| name.iter().any(|byte| !(b' '..=b'~').contains(byte));
    let names = prop::collection::btree_set(name(), 2..5)
        .prop_filter("one odd name", move |names| {
            names.iter().filter(|name| unprintable(name)).count() < 2
        });
    let strategy = (names, any::<prop::sample::Index>(), any::<bool>());
    let mut runner = TestRunner::new(Config {
        cases: 40,
        failure_persistence: None,
        ..Config::default()
    });
    let outcome = runner.run(&strategy, |(names, index, with_prefix)| {
        number.set(number.get() + 1);
        let directory = format!("r_{}/", number.get());
        let paths: Vec<Vec<u8>> = names
            .iter()
            .map(|name| [directory.as_bytes(), name].concat())
            .collect();
        home.files(&paths);
        let wanted = &paths[index.index(paths.len())];
        // A prefix that needs no quoting: the quoting of what follows is what is tested.
        let plain = wanted[directory.len()..]
            .iter()
            .take_while(|byte| byte.is_ascii_lowercase())
            .count();
        let typed = &wanted[..directory.len() + if with_prefix { plain } else { 0 }];
        // The only match is inserted by the first TAB; else one may go to a common beginning.
        let tabs = if paths.iter().filter(|path| path.starts_with(typed)).count() == 1 {
            1
        } else {
            3
        };
        let line = [b"argdump ", typed].concat();
        let got = press_and_run(&home, &mut terminal.borrow_mut(), &line, tabs);
        prop_assert!(
            got.len() == 1 && paths.contains(&got[0]),
            "{:?} of {:?}",
            got,
            paths
        );
        Ok(())
    });
    outcome.expect("every name parses back");
}

//! Random names and random beginnings: what TAB inserts parses back to one of the names.

use super::{NEXT, scripted};
use crate::common::{ENTER, Fake, Home, Shell, Terminal};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use std::cell::{Cell, RefCell};

/// Characters that shells treat in their own way, some that they do not, and a byte that is no text.
const PIECES: [&[u8]; 37] = [
    b"a",
    b"B",
    b"c7",
    b" ",
    b"'",
    b"\"",
    b"$",
    b"`",
    b"\\",
    b"\n",
    b"\t",
    b"!",
    b"~",
    b"-",
    b"=",
    b"*",
    b"?",
    b"[",
    b"]",
    b"{",
    b"}",
    b"(",
    b")",
    b"#",
    b"%",
    b"&",
    b";",
    b"<",
    b"|",
    b"^",
    b"@",
    b":",
    "日".as_bytes(),
    "\u{3000}".as_bytes(),
    "e\u{301}".as_bytes(),
    "😀".as_bytes(),
    b"\xff",
];

#[derive(Clone, Debug)]
struct Case {
    names: Vec<Vec<u8>>,
    /// The beginning that is typed; all names share it.
    prefix: Vec<u8>,
    quote: &'static str,
}

fn name() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let pieces = PIECES.map(<[u8]>::to_vec).to_vec();
    prop::collection::vec(prop::sample::select(pieces), 1..7)
}

fn case() -> impl Strategy<Value = Case> {
    let quotes = prop::sample::select(vec!["", "", "'", "\""]);
    (
        name(),
        prop::collection::vec(name(), 1..4),
        0_usize..3,
        quotes,
    )
        .prop_map(|(first, others, typed, quote)| {
            // A line break, a tab, a sound or a broken byte cannot be typed into the line, and
            // what is typed with a `$` is left to bash.
            let typed = first.iter().take(typed.min(first.len() - 1));
            let prefix: Vec<u8> = typed
                .take_while(|piece| {
                    piece[0].is_ascii_alphanumeric() || b" ~-[]{}()#%&;<|^".contains(&piece[0])
                })
                .flatten()
                .copied()
                .collect();
            let mut names = vec![first.concat()];
            names.extend(
                others
                    .iter()
                    .map(|other| [prefix.clone(), other.concat()].concat()),
            );
            Case {
                names,
                prefix,
                quote,
            }
        })
        .prop_filter(
            "bash expands ^ and, in quotes, ! in the lines of a word of several, whoever inserted it",
            |case| {
                !case.names.iter().any(|name| {
                    let several = name.contains(&b'\n');
                    let quoted = !case.quote.is_empty() && name.contains(&b'!');
                    several && (quoted || name.windows(2).any(|pair| pair == b"\n^"))
                })
            },
        )
}

/// `text` as a person types it in bash, inside `quote`.
fn written(text: &[u8], quote: &str) -> Vec<u8> {
    let mut out = Vec::new();
    for &byte in text {
        let special = match quote {
            "" => byte == b' ' || byte.is_ascii_punctuation(),
            "\"" => byte == b'$',
            _ => false,
        };
        if special {
            out.push(b'\\');
        }
        out.push(byte);
    }
    out
}

/// Takes the first candidate (bash's last) after what is typed, and gives what argdump got.
fn complete(home: &Home, terminal: &mut Terminal, typed: &[u8]) -> Vec<Vec<u8>> {
    let before = home.arguments().len();
    terminal.press(typed);
    terminal.press(format!("{NEXT}{ENTER}"));
    let got = home.next_arguments(before);
    terminal.wait_prompt();
    got
}

#[test]
fn what_tab_inserts_is_one_of_the_names() {
    let Some(home) = Home::new(Shell::Bash) else {
        return;
    };
    let terminal = RefCell::new(home.start(&scripted(Fake::Reverse)));
    let number = Cell::new(0);
    let config = Config {
        cases: 60,
        failure_persistence: None,
        // The same cases each time: a failure can be looked at again.
        rng_seed: RngSeed::Fixed(7),
        max_shrink_iters: 40,
        ..Config::default()
    };
    let outcome = TestRunner::new(config).run(&case(), |case| {
        number.set(number.get() + 1);
        let directory = format!("r{}/", number.get());
        for name in &case.names {
            home.files(&[[directory.as_bytes(), name].concat()]);
        }
        let mut typed = format!("argdump {}{directory}", case.quote).into_bytes();
        typed.extend(written(&case.prefix, case.quote));
        let got = complete(&home, &mut terminal.borrow_mut(), &typed);
        prop_assert_eq!(got.len(), 1, "{:?}", got);
        let got = got[0].strip_prefix(directory.as_bytes()).unwrap_or(&got[0]);
        prop_assert!(
            case.names.iter().any(|name| name == got),
            "{}",
            got.escape_ascii()
        );
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}

//! Random names and random beginnings: what TAB inserts parses back to one of the names.

use super::{pager, scripted};
use crate::common::{ENTER, Fake, Home, Shell, TAB, Terminal};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::cell::{Cell, RefCell};

/// Characters that shells treat in their own way, some that they do not, and a byte that is no text.
const PIECES: [&[u8]; 35] = [
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
        .prop_filter("fish ends a name at its last line break", |name| {
            name.last() != Some(&b"\n".to_vec())
        })
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
            let prefix = first[..typed.min(first.len() - 1)].concat();
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
        // After `=` fish also completes a word of its own.
        .prop_filter("completes one word", |case| !case.prefix.contains(&b'='))
        // Inside quotes a byte that is no text cannot be typed, and a blank looks like the
        // one after a whole name.
        .prop_filter("typable", |case| {
            let plain = !case.prefix.contains(&0xff) && !case.prefix.contains(&b' ');
            case.quote.is_empty() || plain
        })
        // fish alone goes wrong with a wildcard inside an open quote: it inserts no more than that.
        .prop_filter("completed by fish", |case| {
            case.quote.is_empty() || !case.prefix.iter().any(|byte| b"*?".contains(byte))
        })
}

/// `text` as a person types it in fish, inside `quote`.
fn written(text: &[u8], quote: &str) -> Vec<u8> {
    let mut out = Vec::new();
    for &byte in text {
        match (byte, quote) {
            (b'\n', "") => out.extend_from_slice(b"\\n"),
            (b'\n', quote) => out.extend_from_slice(format!("{quote}\\n{quote}").as_bytes()),
            (b'\\', _) => out.extend_from_slice(b"\\\\"),
            (b'\'', "'") | (b'"' | b'$', "\"") => out.extend_from_slice(&[b'\\', byte]),
            (_, "") if byte.is_ascii_punctuation() => out.extend_from_slice(&[b'\\', byte]),
            (b' ', "") => out.extend_from_slice(b"\\ "),
            (0xff, "") => out.extend_from_slice(b"\\Xff"),
            _ => out.push(byte),
        }
    }
    out
}

/// Completes what is typed, takes the pager's second entry if one opens, runs the line, and gives
/// what argdump got.
fn complete(home: &Home, terminal: &mut Terminal, typed: &[u8], directory: &str) -> Vec<Vec<u8>> {
    let before = home.arguments().len();
    terminal.press(typed);
    terminal.press(TAB);
    terminal.wait_for("TAB is done", |screen| {
        !pager(screen).is_empty() || ends_in_a_blank(screen, directory)
    });
    if !pager(&terminal.screen()).is_empty() {
        terminal.press(format!("{TAB}{TAB}{ENTER}"));
    }
    terminal.press(ENTER);
    terminal.wait_prompt();
    home.next_arguments(before)
}

/// Whether an unescaped blank stands before the cursor, as fish puts one after a whole name.
fn ends_in_a_blank(screen: &vt100::Screen, directory: &str) -> bool {
    let (row, column) = screen.cursor_position();
    let text = screen.contents_between(row, 0, row, column);
    let Some(rest) = text
        .strip_suffix(' ')
        .filter(|rest| rest.contains(directory))
    else {
        return false;
    };
    let backslashes = rest.len() - rest.trim_end_matches('\\').len();
    backslashes.is_multiple_of(2)
}

#[test]
fn inserted_text_parses_back_to_the_chosen_name() {
    let Some(home) = Home::new(Shell::Fish) else {
        return;
    };
    let terminal = RefCell::new(home.start(&scripted(Fake::Reverse)));
    let number = Cell::new(0);
    let mut runner = TestRunner::new(Config {
        cases: 60,
        failure_persistence: None,
        max_shrink_iters: 20,
        ..Config::default()
    });
    let outcome = runner.run(&case(), |case| {
        number.set(number.get() + 1);
        let directory = format!("d{}x/", number.get());
        let on_disk = case
            .names
            .iter()
            .map(|name| [directory.as_bytes(), name].concat());
        let on_disk: Vec<Vec<u8>> = on_disk.collect();
        home.files(&on_disk);
        let quote = case.quote;
        let typed = written(&case.prefix, quote);
        let typed = [b"argdump ", quote.as_bytes(), directory.as_bytes(), &typed].concat();
        let arguments = complete(&home, &mut terminal.borrow_mut(), &typed, &directory);
        prop_assert_eq!(arguments.len(), 1);
        let got = &arguments[0];
        prop_assert!(
            on_disk.contains(got),
            "{} is none of the names",
            got.escape_ascii()
        );
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}\n{}", terminal.borrow().text());
    }
}

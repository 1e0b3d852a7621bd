//! Finds the command that really runs: keywords, assignments and commands such
//! as `sudo` and `env` in front of it are skipped.

use super::lexer::{Scanned, Word};
use super::{Parsed, Position, Quote};

/// Reserved words that are followed by a command. One list for all dialects:
/// a command of such a name in another shell would be rare and odd.
const KEYWORDS: &[&[u8]] = &[
    b"!", b"{", b"}", b"then", b"do", b"else", b"elif", b"if", b"while", b"until", b"coproc",
    b"begin", b"and", b"or", b"not", b"always",
];

/// A command that runs the command in its arguments.
struct Wrapper {
    name: &'static [u8],
    /// Short and long options that take the next word as their value.
    valued: &'static [&'static [u8]],
    /// Plain arguments before the command.
    operands: usize,
}

const fn wrapper(
    name: &'static [u8],
    valued: &'static [&'static [u8]],
    operands: usize,
) -> Wrapper {
    Wrapper {
        name,
        valued,
        operands,
    }
}

/// From the manuals of sudo, doas, GNU coreutils, util-linux, findutils and the shells.
const WRAPPERS: &[Wrapper] = &[
    wrapper(
        b"sudo",
        &[
            b"-u",
            b"--user",
            b"-g",
            b"--group",
            b"-h",
            b"--host",
            b"-p",
            b"--prompt",
            b"-C",
            b"--close-from",
            b"-D",
            b"--chdir",
            b"-R",
            b"--chroot",
            b"-r",
            b"--role",
            b"-t",
            b"--type",
            b"-T",
            b"--command-timeout",
            b"-U",
            b"--other-user",
        ],
        0,
    ),
    wrapper(b"doas", &[b"-u", b"-C"], 0),
    wrapper(
        b"env",
        &[
            b"-u",
            b"--unset",
            b"-C",
            b"--chdir",
            b"-S",
            b"--split-string",
        ],
        0,
    ),
    wrapper(b"command", &[], 0),
    wrapper(b"builtin", &[], 0),
    wrapper(b"exec", &[b"-a"], 0),
    wrapper(b"eval", &[], 0),
    wrapper(b"noglob", &[], 0),
    wrapper(b"nocorrect", &[], 0),
    wrapper(b"-", &[], 0),
    wrapper(b"nohup", &[], 0),
    wrapper(b"time", &[b"-f", b"--format", b"-o", b"--output"], 0),
    wrapper(b"nice", &[b"-n", b"--adjustment"], 0),
    wrapper(b"ionice", &[b"-c", b"--class", b"-n", b"--classdata"], 0),
    wrapper(b"setsid", &[], 0),
    wrapper(
        b"stdbuf",
        &[b"-i", b"--input", b"-o", b"--output", b"-e", b"--error"],
        0,
    ),
    wrapper(b"timeout", &[b"-s", b"--signal", b"-k", b"--kill-after"], 1),
    wrapper(b"watch", &[b"-n", b"--interval", b"-q", b"--equexit"], 0),
    wrapper(
        b"xargs",
        &[
            b"-a",
            b"--arg-file",
            b"-d",
            b"--delimiter",
            b"-E",
            b"-I",
            b"-L",
            b"--max-lines",
            b"-n",
            b"--max-args",
            b"-P",
            b"--max-procs",
            b"-s",
            b"--max-chars",
        ],
        0,
    ),
];

pub(super) fn is_keyword(text: &[u8]) -> bool {
    KEYWORDS.contains(&text)
}

/// How many leading words are no part of the simple command.
fn skipped(words: &[Word]) -> usize {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        if word.assignment.is_some() || (!word.quoted && is_keyword(&word.text)) {
            at += 1;
            continue;
        }
        let Some(wrapper) = WRAPPERS.iter().find(|wrapper| wrapper.name == word.text) else {
            return at;
        };
        let Some(behind) = behind_options(wrapper, words, at + 1) else {
            return at;
        };
        at = behind;
    }
    at
}

/// The index of the wrapped command, or `None` while an option value or an
/// operand is still missing.
fn behind_options(wrapper: &Wrapper, words: &[Word], from: usize) -> Option<usize> {
    let mut at = from;
    let mut operands = wrapper.operands;
    while let Some(word) = words.get(at) {
        let text = word.text.as_slice();
        if text == b"--" {
            at += 1;
            break;
        }
        if text.starts_with(b"-") && text.len() > 1 {
            at += if wrapper.valued.contains(&text) { 2 } else { 1 };
            continue;
        }
        if word.assignment.is_some() {
            at += 1;
            continue;
        }
        if operands == 0 {
            break;
        }
        operands -= 1;
        at += 1;
    }
    (at <= words.len() && operands == 0).then_some(at)
}

/// The last wrapper among the skipped words, for its own options.
fn last_wrapper(words: &[Word], skipped: usize) -> Option<usize> {
    (0..skipped).rev().find(|at| {
        WRAPPERS
            .iter()
            .any(|wrapper| wrapper.name == words[*at].text)
    })
}

/// Turns what the lexer saw into the answer.
pub(super) fn settle(scanned: Scanned) -> Parsed {
    let Scanned {
        mut words,
        current,
        quote,
        redirection,
        array,
    } = scanned;
    let mut from = if array { 0 } else { skipped(&words) };
    let at_command = !array && from == words.len();
    let option = current.text.starts_with(b"-");
    if at_command && option && !redirection {
        // `sudo -` completes an option of sudo, not a command.
        from = last_wrapper(&words, from).unwrap_or(from);
    }
    words.drain(..from);
    let command = at_command && words.is_empty();
    let position = match (redirection, command, current.assignment) {
        (true, ..) => Position::Redirection,
        (_, true, Some(_)) => Position::Assignment,
        (_, true, None) => Position::Command,
        _ if array => Position::Assignment,
        _ => Position::Argument,
    };
    let words = words.into_iter().map(|word| word.text).collect();
    answer(words, current, quote, position)
}

fn answer(words: Vec<Vec<u8>>, current: Word, quote: Quote, position: Position) -> Parsed {
    let (cut, start) = match (position, current.assignment) {
        (Position::Assignment, Some((len, behind))) => (len, behind),
        _ => (0, current.start),
    };
    let mut typed = current.text;
    typed.drain(..cut);
    let mut variables = current.variables;
    for variable in &mut variables {
        variable.at -= cut;
    }
    // A tilde directly behind `NAME=` is the home directory as well.
    let value_home = cut > 0 && !current.quoted && (typed == b"~" || typed.starts_with(b"~/"));
    Parsed {
        words,
        typed,
        start,
        quote,
        position,
        home: current.home || value_home,
        variables,
        dynamic: current.dynamic,
    }
}

//! Passwords in statements of SQL: `ALTER USER u PASSWORD 'X'`, `IDENTIFIED BY 'X'`,
//! `PASSWORD('X')`, in whatever quotes the shell needs around them.

use std::ops::Range;

use super::names::{self, Name};
use super::{Finding, Rule, push};

/// Quotes of a text in SQL, as they look within the shell's quotes; longer ones first.
const QUOTES: [&[u8]; 6] = [b"'\"'\"'", b"'\\''", b"\\\"", b"\\'", b"'", b"\""];

/// Adds what is found in all of `text`.
pub(super) fn find(text: &[u8], found: &mut Vec<Finding>) {
    let mut statement = Statement::default();
    let mut at = 0;
    while at < text.len() {
        let length = text[at..].iter().take_while(|&&byte| is_word(byte)).count();
        if length == 0 {
            // Ends of statements, and of the shell's commands.
            if b";&|".contains(&text[at]) {
                statement = Statement::default();
            }
            at += 1;
            continue;
        }
        let word = &text[at..at + length];
        at += length;
        let Some(value) = statement.value_after(word, text, at) else {
            continue;
        };
        at = value.end.max(at);
        if names::is_secret(Name::Secret, &text[value.clone()]) {
            push(found, text, value, Rule::Field);
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Words of a statement that matter so far.
#[derive(Default)]
struct Statement {
    last: Last,
    /// `ALTER USER` and the like.
    is_account: bool,
    is_identified: bool,
    /// `SET PASSWORD`
    is_setting: bool,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Last {
    #[default]
    Other,
    /// `CREATE`, `ALTER`, `OR REPLACE`.
    Verb,
    Set,
    By,
}

impl Statement {
    /// Takes the word that ends at `end`; the password, if one follows.
    fn value_after(&mut self, word: &[u8], text: &[u8], end: usize) -> Option<Range<usize>> {
        let is = |wanted: &str| word.eq_ignore_ascii_case(wanted.as_bytes());
        let last = std::mem::take(&mut self.last);
        if is("create") || is("alter") || is("replace") {
            self.last = Last::Verb;
        } else if is("set") {
            self.last = Last::Set;
        } else if last == Last::Verb && (is("user") || is("role") || is("login")) {
            self.is_account = true;
        } else if is("identified") {
            self.is_identified = true;
        } else if is("by") && self.is_identified {
            self.last = Last::By;
            return quoted(text, end).or_else(|| self.bare(text, end));
        } else if is("password") {
            return self.password(last, text, end);
        } else if self.is_setting {
            // `SET PASSWORD FOR me = 'X'`.
            return assigned(text, end);
        }
        None
    }

    fn password(&mut self, last: Last, text: &[u8], end: usize) -> Option<Range<usize>> {
        if text.get(end) == Some(&b'(') {
            return quoted(text, end + 1);
        }
        self.is_setting = last == Last::Set;
        let is_plain = self.is_account || last == Last::By;
        is_plain.then(|| quoted(text, end)).flatten().or_else(|| {
            (is_plain || self.is_setting)
                .then(|| assigned(text, end))
                .flatten()
        })
    }

    /// Oracle's passwords have no quotes.
    fn bare(&self, text: &[u8], end: usize) -> Option<Range<usize>> {
        let start = end + blanks(text, end);
        let is_end = |byte: u8| byte.is_ascii_whitespace() || b";'\"`()".contains(&byte);
        let length = text[start..]
            .iter()
            .take_while(|&&byte| !is_end(byte))
            .count();
        let word = &text[start..start + length];
        let is_key = ["password", "values", "random"]
            .iter()
            .any(|key| word.eq_ignore_ascii_case(key.as_bytes()));
        (self.is_account && start > end && !is_key).then_some(start..start + length)
    }
}

fn blanks(text: &[u8], from: usize) -> usize {
    text[from..]
        .iter()
        .take_while(|byte| byte.is_ascii_whitespace())
        .count()
}

/// A text after an equals sign; behind `@host` and quotes that end a name.
fn assigned(text: &[u8], end: usize) -> Option<Range<usize>> {
    let skipped = text[end..]
        .iter()
        .take_while(|byte| b" \t\n'\"@%\\`".contains(byte))
        .count();
    let equals = end + skipped;
    (text.get(equals) == Some(&b'='))
        .then(|| quoted(text, equals + 1))
        .flatten()
}

/// Inside of the quotes that open after blanks. What is not closed lasts to a blank.
fn quoted(text: &[u8], from: usize) -> Option<Range<usize>> {
    let open = from + blanks(text, from);
    let quote = QUOTES
        .into_iter()
        .find(|quote| text[open..].starts_with(quote))?;
    let start = open + quote.len();
    let mut at = start;
    while at < text.len() {
        if !text[at..].starts_with(quote) {
            at += 1;
        } else if quote == b"'" && text[at + 1..].starts_with(quote) && at > start {
            // A doubled quote stands for itself.
            at += 2;
        } else {
            return Some(start..at);
        }
    }
    let length = text[start..]
        .iter()
        .take_while(|byte| !byte.is_ascii_whitespace())
        .count();
    Some(start..start + length)
}

//! Replaces secrets in commands by a visible mark; the rest of the command stays.
//!
//! Rules look at three levels: bytes (tokens with a known prefix, URLs, private keys), fields
//! (`NAME=value`, JSON members, HTTP headers) and arguments (options, programs that take a
//! password, commands that are fed one). Variables and command substitutions are never secrets.
//! Missing a secret is worse than marking a harmless word, but hashes, UUIDs and names in
//! ordinary places stay as they are.

mod arguments;
mod fields;
mod input;
mod names;
mod programs;
mod sql;
mod tokens;
mod view;
mod words;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

/// What stands in a command where a secret was.
pub const MARK: &[u8] = b"***";

/// Replacing may bring up what quoting had hidden; the rounds end when nothing more is found.
const MAX_ROUNDS: usize = 16;

/// Why a part of a command counts as a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Rule {
    /// A token that its issuer's prefix gives away; the name of the issuer.
    Token(&'static str),
    /// Password in a URL.
    Url,
    /// PEM private key.
    PrivateKey,
    /// Value of an option whose name says secret, `--password X`.
    Option,
    /// Value of a variable or field whose name says secret, `API_TOKEN=X`.
    Field,
    /// HTTP header that carries credentials.
    Header,
    /// Argument that this program takes as a password, `mysql -pX`.
    Argument,
    /// Text given to a program that reads a password, `echo X | passwd --stdin`.
    Input,
    /// Long random text where a secret may be.
    Random,
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Token(issuer) => write!(f, "{issuer} token"),
            Self::Url => f.write_str("password in a URL"),
            Self::PrivateKey => f.write_str("private key"),
            Self::Option => f.write_str("value of an option that names a secret"),
            Self::Field => f.write_str("value of a name that says secret"),
            Self::Header => f.write_str("header with credentials"),
            Self::Argument => f.write_str("argument that is a password to this program"),
            Self::Input => f.write_str("text for a program that reads a password"),
            Self::Random => f.write_str("long random text"),
        }
    }
}

/// A secret in a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Bytes of the command.
    pub range: Range<usize>,
    /// Why.
    pub rule: Rule,
}

/// The secrets in a command, in order and without overlap.
#[must_use]
pub fn findings(command: &[u8]) -> Vec<Finding> {
    let mut found = Vec::new();
    tokens::find(command, &mut found);
    sql::find(command, &mut found);
    arguments::find(command, &mut found);
    if found.len() > 1 {
        found.sort_by_key(|finding| (finding.range.start, usize::MAX - finding.range.end));
        merge(&mut found);
    }
    found
}

/// The command with each secret replaced by [`MARK`]. Doing it again changes nothing.
#[must_use]
pub fn redact(command: &[u8]) -> Cow<'_, [u8]> {
    let mut text = Cow::Borrowed(command);
    for _ in 0..MAX_ROUNDS {
        let found = findings(&text);
        if found.is_empty() {
            break;
        }
        text = Cow::Owned(replace(&text, &found));
    }
    text
}

fn replace(text: &[u8], found: &[Finding]) -> Vec<u8> {
    let mut marked = Vec::with_capacity(text.len());
    let mut end = 0;
    for finding in found {
        marked.extend_from_slice(&text[end..finding.range.start]);
        marked.extend_from_slice(MARK);
        end = finding.range.end;
    }
    marked.extend_from_slice(&text[end..]);
    marked
}

/// Joins sorted findings that overlap.
fn merge(found: &mut Vec<Finding>) {
    found.dedup_by(|next, before| {
        if next.range.start >= before.range.end {
            return false;
        }
        before.range.end = before.range.end.max(next.range.end);
        true
    });
}

/// Adds a finding unless nothing is there or the mark is there already.
fn push(found: &mut Vec<Finding>, text: &[u8], range: Range<usize>, rule: Rule) {
    if !range.is_empty() && &text[range.clone()] != MARK {
        found.push(Finding { range, rule });
    }
}

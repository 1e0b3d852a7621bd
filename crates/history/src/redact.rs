//! Replaces secrets in commands by a visible mark.

use std::borrow::Cow;
use std::ops::Range;

/// What stands in a command where a secret was.
pub const MARK: &[u8] = b"***";

/// Why a part of a command counts as a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Rule {
    /// A token that its issuer's prefix gives away; the name of the issuer.
    Token(&'static str),
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
pub fn findings(_command: &[u8]) -> Vec<Finding> {
    Vec::new()
}

/// The command with each secret replaced by [`MARK`].
#[must_use]
pub fn redact(command: &[u8]) -> Cow<'_, [u8]> {
    let found = findings(command);
    if found.is_empty() {
        return Cow::Borrowed(command);
    }
    Cow::Borrowed(command)
}

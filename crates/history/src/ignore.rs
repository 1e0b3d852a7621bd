//! Why a command is not in the history, or not as it was typed.
//!
//! The shells' hooks apply these rules themselves and never send such a command; here they are
//! once more for `tabsense why --not-recorded`, without storing what was not recorded.

use std::fmt;

use crate::glob;
use crate::redact::{Rule, findings};

/// A user's settings that keep commands out of the history. Patterns are as in the shell.
#[derive(Clone, Copy, Debug, Default)]
pub struct Settings<'a> {
    /// `HISTCONTROL` of bash, values between colons.
    pub histcontrol: &'a [u8],
    /// `HISTIGNORE` of bash, patterns between colons.
    pub histignore: &'a [u8],
    /// `HISTORY_IGNORE` of zsh, one pattern.
    pub history_ignore: &'a [u8],
    /// How the shell keeps history at all.
    pub keeping: Keeping,
    /// Whether recording is paused.
    pub recording: Recording,
    /// The command before, empty when there is none.
    pub previous: &'a [u8],
}

/// Whether the shell keeps a history of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keeping {
    /// It does.
    #[default]
    Normal,
    /// fish's private mode.
    Private,
    /// `HISTFILE` is unset or the history's size is 0.
    Off,
}

/// Whether tabsense records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recording {
    /// It does.
    #[default]
    On,
    /// `tabsense pause` is in force.
    Paused,
}

/// Why a command is missing, or what of it is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// There is nothing in it.
    Empty,
    /// It begins with a blank.
    LeadingSpace,
    /// HISTCONTROL says `ignoredups` and the command before was the same.
    Repeated,
    /// This pattern of HISTIGNORE matches.
    HistIgnore(Vec<u8>),
    /// HISTORY_IGNORE matches.
    HistoryIgnore(Vec<u8>),
    /// fish's private mode.
    PrivateMode,
    /// The shell itself keeps no history.
    NoHistory,
    /// `tabsense pause` is in force.
    Paused,
    /// The command is recorded, but a part of it is replaced.
    Redacted(Rule),
}

impl Reason {
    /// Whether the command is missing as a whole.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        !matches!(self, Self::Redacted(_))
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the command is empty"),
            Self::LeadingSpace => f.write_str("it begins with a space"),
            Self::Repeated => f.write_str("it repeats the command before (HISTCONTROL)"),
            Self::HistIgnore(pattern) => {
                write!(
                    f,
                    "HISTIGNORE has the pattern {}",
                    String::from_utf8_lossy(pattern)
                )
            }
            Self::HistoryIgnore(pattern) => {
                write!(f, "HISTORY_IGNORE is {}", String::from_utf8_lossy(pattern))
            }
            Self::PrivateMode => f.write_str("the shell is in private mode"),
            Self::NoHistory => f.write_str("the shell keeps no history itself"),
            Self::Paused => f.write_str("recording is paused (tabsense resume)"),
            Self::Redacted(rule) => write!(f, "a part is replaced by ***: {rule}"),
        }
    }
}

/// All reasons that hold for a command under these settings; none when it is recorded as it is.
#[must_use]
pub fn why_not_recorded(command: &[u8], settings: &Settings<'_>) -> Vec<Reason> {
    let mut reasons = Vec::new();
    if command.iter().all(u8::is_ascii_whitespace) {
        reasons.push(Reason::Empty);
    }
    // Holds in every shell, whatever the settings: users of one shell expect it in all.
    if matches!(command.first(), Some(b' ' | b'\t')) {
        reasons.push(Reason::LeadingSpace);
    }
    let ignores_repeats = settings
        .histcontrol
        .split(|&byte| byte == b':')
        .any(|word| matches!(word, b"ignoredups" | b"ignoreboth"));
    if ignores_repeats && !command.is_empty() && command == settings.previous {
        reasons.push(Reason::Repeated);
    }
    let matching = patterns(settings.histignore)
        .into_iter()
        .find(|pattern| glob::matches(&with_previous(pattern, settings.previous), command));
    reasons.extend(matching.map(Reason::HistIgnore));
    let pattern = settings.history_ignore;
    if !pattern.is_empty() && glob::matches(pattern, command) {
        reasons.push(Reason::HistoryIgnore(pattern.to_vec()));
    }
    reasons.extend(match settings.keeping {
        Keeping::Normal => None,
        Keeping::Private => Some(Reason::PrivateMode),
        Keeping::Off => Some(Reason::NoHistory),
    });
    if settings.recording == Recording::Paused {
        reasons.push(Reason::Paused);
    }
    let mut rules: Vec<Rule> = Vec::new();
    for finding in findings(command) {
        if !rules.contains(&finding.rule) {
            rules.push(finding.rule);
        }
    }
    reasons.extend(rules.into_iter().map(Reason::Redacted));
    reasons
}

/// Splits HISTIGNORE at its colons; `\:` is a colon of a pattern.
fn patterns(histignore: &[u8]) -> Vec<Vec<u8>> {
    let mut patterns = vec![Vec::new()];
    let mut is_escaped = false;
    for &byte in histignore {
        if byte == b':' && !is_escaped {
            patterns.push(Vec::new());
        } else if let Some(pattern) = patterns.last_mut() {
            pattern.push(byte);
        }
        is_escaped = byte == b'\\' && !is_escaped;
    }
    patterns.retain(|pattern| !pattern.is_empty());
    patterns
}

/// Puts the command before in place of `&`, which `\&` keeps literal.
fn with_previous(pattern: &[u8], previous: &[u8]) -> Vec<u8> {
    let mut full = Vec::with_capacity(pattern.len());
    let mut is_escaped = false;
    for &byte in pattern {
        if byte == b'&' && !is_escaped {
            for &byte in previous {
                full.extend_from_slice(&[b'\\', byte]);
            }
        } else {
            full.push(byte);
        }
        is_escaped = byte == b'\\' && !is_escaped;
    }
    full
}

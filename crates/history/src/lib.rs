//! What the shells ran: an SQLite store, importers for the shells' own files, and redaction.
//!
//! Text is bytes everywhere: commands and directories need not be UTF-8. Every write passes
//! [`redact`], so a recognised secret never reaches the disk. Times are milliseconds since the
//! Unix epoch unless a name says otherwise.

mod error;
mod glob;
pub mod ignore;
pub mod import;
mod intern;
mod merge;
mod offers;
mod open;
mod redact;
mod schema;
mod store;

pub use error::Error;
pub use offers::{Offer, Offered};
pub use redact::{Finding, MARK, Rule, findings, redact};
pub use store::Store;

/// One command that a shell ran.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// The command as typed, may have several lines.
    pub command: Vec<u8>,
    /// Working directory at its start; empty when unknown.
    pub cwd: Vec<u8>,
    /// Exit status; `None` when unknown.
    pub exit: Option<i32>,
    /// Start in milliseconds since the Unix epoch; 0 when unknown.
    pub start_ms: i64,
    /// Duration in milliseconds; `None` when unknown.
    pub duration_ms: Option<u64>,
    /// Names the interactive shell; empty when unknown.
    pub session: Vec<u8>,
    /// `zsh`, `bash`, `fish`; empty when unknown.
    pub shell: String,
    /// Host name; empty when unknown.
    pub host: String,
}

/// What an import did, in entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Entries read.
    pub read: u64,
    /// Rows added.
    pub added: u64,
    /// Entries that the store held already, from an earlier import or recorded live.
    pub known: u64,
    /// Entries the user asked to forget.
    pub forgotten: u64,
    /// Entries in which a secret was replaced.
    pub redacted: u64,
    /// Entries or lines that could not be read.
    pub skipped: u64,
}

/// Where a row came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// Recorded by a shell hook.
    Live,
    /// zsh's history file.
    Zsh,
    /// bash's history file.
    Bash,
    /// fish's history file.
    Fish,
    /// Atuin's database.
    Atuin,
}

impl Source {
    /// The number stored in column `origin.source`; never reused.
    pub(crate) fn number(self) -> i64 {
        match self {
            Self::Live => 0,
            Self::Zsh => 1,
            Self::Bash => 2,
            Self::Fish => 3,
            Self::Atuin => 4,
        }
    }

    /// The shell whose commands this source holds; empty when it may hold several shells'.
    #[must_use]
    pub fn shell(self) -> &'static str {
        match self {
            Self::Zsh => "zsh",
            Self::Bash => "bash",
            Self::Fish => "fish",
            Self::Live | Self::Atuin => "",
        }
    }
}

/// What to forget.
#[derive(Clone, Copy, Debug)]
pub enum Forget<'a> {
    /// This command, every time it ran.
    Command(&'a [u8]),
    /// All stored commands that match as a whole: `*`, `?`, `[set]`, `\` quotes.
    Pattern(&'a [u8]),
}

/// A directory with another tool's rank.
#[derive(Clone, Debug, PartialEq)]
pub struct Visited {
    /// Absolute path.
    pub path: Vec<u8>,
    /// The tool's score, 0 or more.
    pub rank: f64,
    /// Last visit, seconds since the Unix epoch.
    pub last_s: i64,
}

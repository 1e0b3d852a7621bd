//! What the shells ran: an SQLite store, importers for the shells' own files, and redaction.
//!
//! Text is bytes everywhere: commands and directories need not be UTF-8. Every write passes
//! [`redact`], so a recognised secret never reaches the disk. Times are milliseconds since the
//! Unix epoch unless a name says otherwise.

mod error;
mod glob;
pub mod ignore;
pub mod import;
mod merge;
mod open;
mod redact;
mod schema;
mod store;

pub use error::Error;
pub use redact::{Finding, MARK, Rule, findings, redact};
pub use store::{Forget, Source, Store, Visited};

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

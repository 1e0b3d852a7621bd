//! The rows that evaluations read: JSON, one object per line.

use std::io::BufRead;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::EvalError;

/// One person's history.
#[derive(Debug, Clone, Deserialize)]
pub struct User {
    /// Any name.
    pub user: String,
    /// Whether the commands have times.
    #[serde(default)]
    pub has_time: bool,
    /// 1 - distinct / all commands: near 0 if the shell dropped repeats from its file.
    #[serde(default)]
    pub repeat_share: f64,
    /// Commands in order.
    pub commands: Vec<Command>,
}

/// One command of a history.
#[derive(Debug, Clone, Deserialize)]
pub struct Command {
    /// Seconds since 1970.
    #[serde(default)]
    pub t: Option<i64>,
    /// The line.
    pub cmd: String,
    /// Directory before the command; absent if not known.
    #[serde(default)]
    pub cwd: Option<String>,
    /// Exit status.
    #[serde(default)]
    pub exit: Option<i32>,
    /// The interactive shell it was typed in; absent if not known.
    #[serde(default)]
    pub session: Option<String>,
}

/// One completion case.
#[derive(Debug, Clone, Deserialize)]
pub struct Case {
    /// Any name.
    pub id: String,
    /// What is completed: `path`, `cd`, `subcommand`, `command`.
    pub kind: String,
    /// Characters of the answer that `line` already holds.
    #[serde(default)]
    pub typed: usize,
    /// The current directory; absent if not known.
    #[serde(default)]
    pub cwd: Option<String>,
    /// Names in the directory that the word points into; directories end in `/`.
    #[serde(default)]
    pub listing: Vec<String>,
    /// Commands before this one, oldest first.
    #[serde(default)]
    pub recent: Vec<CaseRecent>,
    /// The line up to the cursor.
    pub line: String,
    /// Candidates in native order.
    pub candidates: Vec<String>,
    /// The one that was meant.
    pub answer: String,
}

/// A command before a completion case.
#[derive(Debug, Clone, Deserialize)]
pub struct CaseRecent {
    /// The line.
    pub cmd: String,
    /// Its directory.
    #[serde(default)]
    pub cwd: Option<String>,
    /// Its exit status.
    #[serde(default)]
    pub exit: Option<i32>,
}

/// Reads histories, one user per line.
pub fn read_users(reader: impl BufRead) -> Result<Vec<User>, EvalError> {
    read(reader)
}

/// Reads completion cases, one per line.
pub fn read_cases(reader: impl BufRead) -> Result<Vec<Case>, EvalError> {
    read(reader)
}

fn read<T: DeserializeOwned>(reader: impl BufRead) -> Result<Vec<T>, EvalError> {
    let mut rows = Vec::new();
    for (number, line) in (1..).zip(reader.lines()) {
        let line = line.map_err(|source| EvalError::Read {
            line: number,
            source,
        })?;
        if line.trim().is_empty() {
            continue;
        }
        rows.push(
            serde_json::from_str(&line).map_err(|source| EvalError::Row {
                line: number,
                source,
            })?,
        );
    }
    if rows.is_empty() {
        Err(EvalError::Empty)
    } else {
        Ok(rows)
    }
}

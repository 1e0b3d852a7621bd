//! A look into the history store of a test home, past the worker.

use std::path::PathBuf;

use rusqlite::{Connection, OpenFlags};

use super::hook;
use crate::common::{Home, eventually};

/// One row of the store, in the order of replay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) command: String,
    pub(crate) cwd: Option<String>,
    pub(crate) exit: Option<i32>,
    pub(crate) start_ms: i64,
    pub(crate) duration_ms: Option<i64>,
    pub(crate) shell: String,
    pub(crate) source: String,
}

pub(crate) fn directory(home: &Home) -> PathBuf {
    home.home().join(".local/share/tabsense")
}

pub(crate) fn database(home: &Home) -> PathBuf {
    directory(home).join("history.db")
}

/// Opens the database as another program would.
pub(crate) fn open(home: &Home) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(database(home), flags)
}

/// All rows; none while there is no database or it is busy.
pub(crate) fn rows(home: &Home) -> Vec<Row> {
    open(home)
        .and_then(|connection| read(&connection))
        .unwrap_or_default()
}

fn read(connection: &Connection) -> rusqlite::Result<Vec<Row>> {
    let sql = "SELECT command, cwd, exit, start_ms, duration_ms, shell, source FROM history";
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map((), |row| {
        Ok(Row {
            command: text(row.get(0)?),
            cwd: row.get::<_, Option<Vec<u8>>>(1)?.map(text),
            exit: row.get(2)?,
            start_ms: row.get(3)?,
            duration_ms: row.get(4)?,
            shell: row.get(5)?,
            source: row.get(6)?,
        })
    })?;
    rows.collect()
}

/// The commands, in the order of replay.
pub(crate) fn commands(home: &Home) -> Vec<String> {
    rows(home).into_iter().map(|row| row.command).collect()
}

/// Waits until the store holds exactly these commands. In any order: two processes that follow each
/// other closely may overtake each other.
#[track_caller]
pub(crate) fn wait_commands(home: &Home, expected: &[&str]) {
    let mut expected = expected.to_vec();
    expected.sort_unstable();
    eventually(&format!("the store holds {expected:?}"), || {
        let mut found = commands(home);
        found.sort_unstable();
        (found == expected).then_some(())
    });
}

/// What SQLite says of the whole file.
pub(crate) fn integrity(home: &Home) -> String {
    open(home)
        .and_then(|c| c.query_row("PRAGMA integrity_check", (), |row| row.get(0)))
        .unwrap_or_else(|error| error.to_string())
}

/// What a shell's prompt hook tells after a command.
pub(crate) fn ran(home: &Home, shell: &str, command: &str, more: &[&str]) {
    let fields = [
        format!("shell={shell}"),
        "session=s1".to_owned(),
        "cwd=/tmp".to_owned(),
        format!("command={command}"),
    ];
    let more = more.iter().map(|&field| field.to_owned());
    tell(home, &fields.into_iter().chain(more).collect::<Vec<_>>());
}

/// A prompt hook with these header records; it is silent and its status is 0, whatever happens.
pub(crate) fn tell(home: &Home, fields: &[String]) {
    let mut input = Vec::new();
    for field in fields {
        input.extend_from_slice(field.as_bytes());
        input.push(0);
    }
    input.push(0);
    let output = hook(home, "prompt", &input);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(
        output.stdout.is_empty() && output.stderr.is_empty(),
        "{output:?}"
    );
}

/// What the worker says of itself.
pub(crate) fn status(home: &Home) -> serde_json::Value {
    let output = home.tabsense(&["worker", "status", "--json"]);
    serde_json::from_slice(&output.stdout).unwrap_or_default()
}

/// The files of the data and runtime directories that hold these bytes anywhere.
pub(crate) fn files_with(home: &Home, bytes: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    for place in [directory(home), home.runtime().join("tabsense")] {
        for entry in std::fs::read_dir(place).into_iter().flatten().flatten() {
            let text = std::fs::read(entry.path()).unwrap_or_default();
            if text.windows(bytes.len()).any(|window| window == bytes) {
                found.push(entry.file_name().to_string_lossy().into_owned());
            }
        }
    }
    found
}

//! Atuin's `history.db`: SQLite table `history` with columns `timestamp` and `duration` in
//! nanoseconds, `exit`, `command`, `cwd`, `session`, `hostname` (`host:user`) and, in newer
//! versions, `deleted_at` (`crates/atuin-client/migrations` in Atuin). Where Atuin knew no value,
//! it stores -1 or `unknown`.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, Row};

use super::Entries;
use super::lines::MAX_ENTRY;
use crate::{Error, Record, Source, open};

/// Rows read at a time.
const PAGE: usize = 2_000;

/// Entries of an Atuin database, which is only read.
pub struct Atuin {
    connection: Connection,
    path: PathBuf,
    sql: String,
    last_row: i64,
    page: VecDeque<Record>,
    is_done: bool,
    skipped: u64,
}

impl Atuin {
    /// Opens the database.
    ///
    /// # Errors
    /// [`Error::Format`] when it has no such table, [`Error::Busy`] while it is locked,
    /// [`Error::Corrupt`] when it is damaged.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let connection = open::open_read_only(path)?;
        let columns = columns(&connection).map_err(|source| Error::sqlite(path, source))?;
        let has = |name: &str| columns.iter().any(|column| column == name);
        if ![
            "timestamp",
            "duration",
            "exit",
            "command",
            "cwd",
            "session",
            "hostname",
        ]
        .into_iter()
        .all(has)
        {
            return Err(Error::Format {
                path: path.to_owned(),
                format: "atuin",
                reason: "it has no table of commands".to_owned(),
            });
        }
        let kept = if has("deleted_at") {
            "AND deleted_at IS NULL"
        } else {
            ""
        };
        let sql = format!(
            "SELECT rowid, CAST(command AS BLOB), CAST(cwd AS BLOB), exit, timestamp, duration,
                CAST(session AS BLOB), CAST(hostname AS BLOB)
            FROM history WHERE rowid > ?1 {kept} ORDER BY rowid LIMIT {PAGE}"
        );
        Ok(Self {
            connection,
            path: path.to_owned(),
            sql,
            last_row: i64::MIN,
            page: VecDeque::new(),
            is_done: false,
            skipped: 0,
        })
    }

    fn read_page(&mut self) -> rusqlite::Result<()> {
        let mut statement = self.connection.prepare_cached(&self.sql)?;
        let mut rows = statement.query([self.last_row])?;
        let mut read = 0;
        while let Some(row) = rows.next()? {
            read += 1;
            self.last_row = row.get(0)?;
            match record(row) {
                Some(record) => self.page.push_back(record),
                None => self.skipped += 1,
            }
        }
        self.is_done = read < PAGE;
        Ok(())
    }
}

impl Entries for Atuin {
    fn source(&self) -> Source {
        Source::Atuin
    }

    fn next_record(&mut self) -> Result<Option<Record>, Error> {
        while self.page.is_empty() && !self.is_done {
            self.read_page()
                .map_err(|source| Error::sqlite(&self.path, source))?;
        }
        Ok(self.page.pop_front())
    }

    fn skipped(&self) -> u64 {
        self.skipped
    }
}

fn columns(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    connection
        .prepare("SELECT name FROM pragma_table_info('history')")?
        .query_map((), |row| row.get(0))?
        .collect()
}

/// `None` for a row whose values are not of the documented types.
fn record(row: &Row<'_>) -> Option<Record> {
    let bytes = |column: usize| row.get::<_, Vec<u8>>(column).ok();
    let command = bytes(1)?;
    if command.is_empty() || command.len() > MAX_ENTRY || command.contains(&0) {
        return None;
    }
    let exit = row.get::<_, i64>(3).ok()?;
    let nanoseconds = row.get::<_, i64>(4).ok()?;
    let duration = row.get::<_, i64>(5).ok()?;
    let host = bytes(7)?;
    let host = host.split(|&byte| byte == b':').next().unwrap_or_default();
    Some(Record {
        command,
        cwd: Some(bytes(2)?)
            .filter(|cwd| cwd != b"unknown")
            .unwrap_or_default(),
        exit: i32::try_from(exit).ok().filter(|&exit| exit >= 0),
        start_ms: (nanoseconds / 1_000_000).max(0),
        duration_ms: u64::try_from(duration)
            .ok()
            .map(|duration| duration / 1_000_000),
        session: bytes(6)?,
        shell: String::new(),
        host: String::from_utf8_lossy(host).into_owned(),
    })
}

//! Texts that rows name by number: commands, directories, origins.

use std::collections::HashMap;

use rusqlite::{CachedStatement, Connection, OptionalExtension, params};

use crate::{Record, Source};

/// Finds or adds texts within one transaction. Its caches end with it: other processes may delete
/// rows.
pub(crate) struct Texts<'a> {
    connection: &'a Connection,
    find_command: CachedStatement<'a>,
    add_command: CachedStatement<'a>,
    origin: Option<(OriginKey, i64)>,
    directory: Option<(Vec<u8>, i64)>,
    sources: HashMap<i64, i64>,
}

/// Source, shell, host, session.
type OriginKey = (i64, String, String, Vec<u8>);

impl<'a> Texts<'a> {
    pub(crate) fn new(connection: &'a Connection) -> rusqlite::Result<Self> {
        Ok(Self {
            connection,
            find_command: connection
                .prepare_cached("SELECT id FROM command WHERE hash = ?1 AND text = ?2")?,
            add_command: connection
                .prepare_cached("INSERT INTO command (hash, text) VALUES (?1, ?2)")?,
            origin: None,
            directory: None,
            sources: HashMap::new(),
        })
    }

    fn prepare(&self, sql: &str) -> rusqlite::Result<CachedStatement<'a>> {
        self.connection.prepare_cached(sql)
    }

    /// Number of a command's text, and whether it was added just now.
    pub(crate) fn command(&mut self, text: &[u8]) -> rusqlite::Result<(i64, bool)> {
        if let Some(id) = self.find_command(text)? {
            return Ok((id, false));
        }
        self.add_command.execute(params![fnv(text), text])?;
        Ok((self.connection.last_insert_rowid(), true))
    }

    pub(crate) fn find_command(&mut self, text: &[u8]) -> rusqlite::Result<Option<i64>> {
        self.find_command
            .query_row(params![fnv(text), text], |row| row.get(0))
            .optional()
    }

    /// The source of an origin.
    pub(crate) fn source(&mut self, origin: i64) -> rusqlite::Result<i64> {
        if let Some(&source) = self.sources.get(&origin) {
            return Ok(source);
        }
        let source = self
            .prepare("SELECT source FROM origin WHERE id = ?1")?
            .query_row([origin], |row| row.get(0))?;
        self.sources.insert(origin, source);
        Ok(source)
    }

    pub(crate) fn directory_or_null(&mut self, path: &[u8]) -> rusqlite::Result<Option<i64>> {
        if path.is_empty() {
            return Ok(None);
        }
        self.directory(path).map(Some)
    }

    pub(crate) fn directory(&mut self, path: &[u8]) -> rusqlite::Result<i64> {
        if let Some((known, id)) = &self.directory
            && known == path
        {
            return Ok(*id);
        }
        let found = self
            .prepare("SELECT id FROM directory WHERE path = ?1")?
            .query_row([path], |row| row.get(0))
            .optional()?;
        let id = match found {
            Some(id) => id,
            None => {
                self.prepare("INSERT INTO directory (path) VALUES (?1)")?
                    .execute([path])?;
                self.connection.last_insert_rowid()
            }
        };
        self.directory = Some((path.to_vec(), id));
        Ok(id)
    }

    pub(crate) fn origin(&mut self, record: &Record, source: Source) -> rusqlite::Result<i64> {
        let number = source.number();
        if let Some(((known, shell, host, session), id)) = &self.origin
            && (*known, shell, host, session)
                == (number, &record.shell, &record.host, &record.session)
        {
            return Ok(*id);
        }
        let key = params![record.session, number, record.shell, record.host];
        let found = self
            .prepare(
                "SELECT id FROM origin
                WHERE session = ?1 AND source = ?2 AND shell = ?3 AND host = ?4",
            )?
            .query_row(key, |row| row.get(0))
            .optional()?;
        let id = match found {
            Some(id) => id,
            None => {
                self.prepare(
                    "INSERT INTO origin (session, source, shell, host) VALUES (?1, ?2, ?3, ?4)",
                )?
                .execute(key)?;
                self.connection.last_insert_rowid()
            }
        };
        let key = (
            number,
            record.shell.clone(),
            record.host.clone(),
            record.session.clone(),
        );
        self.origin = Some((key, id));
        Ok(id)
    }
}

/// FNV-1a, 64 bits (<http://www.isthe.com/chongo/tech/comp/fnv/>): only finds equal texts.
#[expect(clippy::cast_possible_wrap, reason = "SQLite's integers are signed")]
fn fnv(bytes: &[u8]) -> i64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for &byte in bytes {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash as i64
}

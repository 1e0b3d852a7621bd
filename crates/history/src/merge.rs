//! Writes rows: texts stored once, nothing twice, whichever of hook and import comes first.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use rusqlite::{CachedStatement, Connection, OptionalExtension, params};

use crate::intern::Texts;
use crate::store::forgotten_hash;
use crate::{Record, Source, Visited, redact};

/// A hook and the shell's own file may date the same run this far apart, in milliseconds: the
/// file has whole seconds, and the hook may run after the shell noted the time.
const WINDOW_MS: i64 = 2_000;

/// Live rows are found by source 0, see `Source::number`.
const LIVE: i64 = 0;

/// What became of one entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Added,
    Known,
    Forgotten,
}

/// State of one import over all its batches.
pub(crate) struct Run {
    source: Source,
    now_ms: i64,
    /// Start of the entries counted in `dated`.
    start_ms: i64,
    /// Entries of the start at hand, by command. Equal starts are neighbours in every format, so
    /// that this stays small for a million entries.
    dated: HashMap<i64, Held>,
    /// Rows of other sources that an entry was found to be; each is one run, and no second entry's.
    matched: HashSet<i64>,
    /// Entries without a start, by command.
    undated: HashMap<i64, Held>,
    /// Place of the entry before, for those without a start.
    place: i64,
}

/// How often a command was met in the file, and what the store held when it was met first.
struct Held {
    seen: i64,
    own: i64,
    /// Rows of other sources, the earliest last.
    others: Vec<i64>,
}

impl Run {
    pub(crate) fn new(source: Source, now_ms: i64) -> Self {
        Self {
            source,
            now_ms,
            start_ms: 0,
            dated: HashMap::new(),
            matched: HashSet::new(),
            undated: HashMap::new(),
            place: 0,
        }
    }

    /// The entries counted with this start, and the rows that are matched.
    fn counts(&mut self, start_ms: i64) -> (&mut HashMap<i64, Held>, &mut HashSet<i64>) {
        if start_ms == 0 {
            return (&mut self.undated, &mut self.matched);
        }
        if self.start_ms != start_ms {
            self.start_ms = start_ms;
            self.dated.clear();
        }
        (&mut self.dated, &mut self.matched)
    }
}

/// Writes within one transaction.
pub(crate) struct Writer<'a> {
    connection: &'a Connection,
    pub(crate) texts: Texts<'a>,
    near: CachedStatement<'a>,
    add: CachedStatement<'a>,
    salt: Vec<u8>,
    forgets: bool,
}

/// A row with the same command at about the same time.
struct Near {
    id: i64,
    start_ms: i64,
    source: i64,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(connection: &'a Connection) -> rusqlite::Result<Self> {
        let forgets = connection
            .prepare_cached("SELECT EXISTS (SELECT 1 FROM forgotten)")?
            .query_row((), |row| row.get(0))?;
        let salt = connection
            .prepare_cached("SELECT value FROM salt")?
            .query_row((), |row| row.get(0))?;
        Ok(Self {
            connection,
            texts: Texts::new(connection)?,
            near: connection.prepare_cached(
                "SELECT id, start_ms, origin FROM event
                WHERE command = ?1 AND start_ms BETWEEN ?2 AND ?3 ORDER BY start_ms",
            )?,
            add: connection.prepare_cached(
                "INSERT INTO event
                    (command, directory, origin, exit, start_ms, duration_ms, place)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?,
            salt,
            forgets,
        })
    }

    /// Adds a record of a shell hook.
    pub(crate) fn live(&mut self, record: &Record) -> rusqlite::Result<Outcome> {
        let text = redact(&record.command);
        let start_ms = record.start_ms.max(0);
        if text.is_empty() {
            return Ok(Outcome::Known);
        }
        if self.forgets && self.forgotten_at(&text)?.is_some_and(|at| start_ms <= at) {
            return Ok(Outcome::Forgotten);
        }
        let (command, is_new) = self.texts.command(&text)?;
        if !is_new && start_ms != 0 {
            if self.is_recorded(command, start_ms, &record.session)? {
                return Ok(Outcome::Known);
            }
            let imported = self
                .near(command, start_ms)?
                .into_iter()
                .rfind(|row| row.source != LIVE);
            if let Some(row) = imported {
                self.upgrade(row.id, record, start_ms, Source::Live)?;
                return Ok(Outcome::Known);
            }
        }
        let last: Option<i64> = self
            .prepare("SELECT max(place) FROM event")?
            .query_row((), |row| row.get(0))?;
        let place = start_ms.max(last.unwrap_or(0));
        self.add(command, record, start_ms, place, Source::Live)?;
        Ok(Outcome::Added)
    }

    /// Adds an entry of a file, `text` being its redacted command.
    pub(crate) fn imported(
        &mut self,
        run: &mut Run,
        record: &Record,
        text: &[u8],
    ) -> rusqlite::Result<Outcome> {
        let start_ms = record.start_ms.max(0);
        if text.is_empty() {
            return Ok(Outcome::Known);
        }
        if self.forgets && self.forgotten_at(text)?.is_some() {
            return Ok(Outcome::Forgotten);
        }
        let (command, is_new) = self.texts.command(text)?;
        let source = run.source;
        if start_ms != 0 {
            // Stamps from the future must not stay the newest for ever.
            run.place = start_ms.min(run.now_ms);
        }
        let place = run.place;
        let (counts, matched) = run.counts(start_ms);
        if is_new {
            counts.insert(
                command,
                Held {
                    seen: 1,
                    own: 0,
                    others: Vec::new(),
                },
            );
            self.add(command, record, start_ms, place, source)?;
            return Ok(Outcome::Added);
        }
        let held = match counts.entry(command) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let mut held = self.held(command, start_ms, source)?;
                held.others.retain(|row| !matched.contains(row));
                entry.insert(held)
            }
        };
        held.seen += 1;
        if held.seen <= held.own {
            return Ok(Outcome::Known);
        }
        if let Some(row) = held.others.pop() {
            matched.insert(row);
            if !record.cwd.is_empty() {
                self.upgrade_bare(row, record, start_ms, source)?;
            }
            return Ok(Outcome::Known);
        }
        self.add(command, record, start_ms, place, source)?;
        Ok(Outcome::Added)
    }

    /// Adds or raises a directory of another tool; 1 when it is new.
    pub(crate) fn visited(&mut self, visited: &Visited) -> rusqlite::Result<u64> {
        let directory = self.texts.directory(&visited.path)?;
        let added = self
            .prepare("INSERT OR IGNORE INTO visited (directory, rank, last_s) VALUES (?1, ?2, ?3)")?
            .execute(params![directory, visited.rank, visited.last_s])?;
        if added == 0 {
            self.prepare(
                "UPDATE visited SET rank = max(rank, ?2), last_s = max(last_s, ?3)
                WHERE directory = ?1",
            )?
            .execute(params![directory, visited.rank, visited.last_s])?;
        }
        Ok(added as u64)
    }

    /// Removes a command's rows and remembers its hash.
    pub(crate) fn forget(&mut self, text: &[u8], now_ms: i64) -> rusqlite::Result<u64> {
        let hash = forgotten_hash(&self.salt, text);
        self.prepare("INSERT OR REPLACE INTO forgotten (hash, at_ms) VALUES (?1, ?2)")?
            .execute(params![hash, now_ms])?;
        self.forget_offers(text)?;
        let Some(command) = self.texts.find_command(text)? else {
            return Ok(0);
        };
        let removed = self
            .prepare("DELETE FROM event WHERE command = ?1")?
            .execute([command])?;
        self.prepare("DELETE FROM command WHERE id = ?1")?
            .execute([command])?;
        Ok(removed as u64)
    }

    /// Removes all rows, not what was forgotten.
    pub(crate) fn clear(&mut self) -> rusqlite::Result<u64> {
        // Before the texts that it names.
        self.prepare("DELETE FROM offer")?.execute(())?;
        let removed = self.prepare("DELETE FROM event")?.execute(())?;
        for table in ["visited", "command", "directory", "origin"] {
            self.connection
                .execute(&format!("DELETE FROM {table}"), ())?;
        }
        Ok(removed as u64)
    }

    /// Stored commands that `wanted` accepts.
    pub(crate) fn commands(
        &self,
        mut wanted: impl FnMut(&[u8]) -> bool,
    ) -> rusqlite::Result<Vec<Vec<u8>>> {
        let mut statement = self.prepare("SELECT text FROM command")?;
        let mut rows = statement.query(())?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            let text = row.get_ref(0)?.as_bytes()?;
            if wanted(text) {
                found.push(text.to_vec());
            }
        }
        Ok(found)
    }

    pub(crate) fn prepare(&self, sql: &str) -> rusqlite::Result<CachedStatement<'a>> {
        self.connection.prepare_cached(sql)
    }

    fn forgotten_at(&self, text: &[u8]) -> rusqlite::Result<Option<i64>> {
        let hash = forgotten_hash(&self.salt, text);
        self.prepare("SELECT at_ms FROM forgotten WHERE hash = ?1")?
            .query_row([hash], |row| row.get(0))
            .optional()
    }

    fn is_recorded(&self, command: i64, start: i64, session: &[u8]) -> rusqlite::Result<bool> {
        self.prepare(
            "SELECT EXISTS (SELECT 1 FROM event e JOIN origin o ON o.id = e.origin
            WHERE e.command = ?1 AND e.start_ms = ?2 AND o.source = 0 AND o.session = ?3)",
        )?
        .query_row(params![command, start, session], |row| row.get(0))
    }

    /// Rows of a command that started at about `start_ms`, in order of their starts.
    fn near(&mut self, command: i64, start_ms: i64) -> rusqlite::Result<Vec<Near>> {
        // Rows without a start are at 0 and never near.
        let from = (start_ms - WINDOW_MS).max(1);
        let to = start_ms.saturating_add(WINDOW_MS);
        let mut found = Vec::new();
        let mut rows = self.near.query([command, from, to])?;
        while let Some(row) = rows.next()? {
            let source = self.texts.source(row.get(2)?)?;
            found.push(Near {
                id: row.get(0)?,
                start_ms: row.get(1)?,
                source,
            });
        }
        Ok(found)
    }

    fn held(&mut self, command: i64, start_ms: i64, source: Source) -> rusqlite::Result<Held> {
        let number = source.number();
        if start_ms == 0 {
            // Without a start only the number of runs tells, and the file names live ones too.
            let own = self
                .prepare(
                    "SELECT count(*) FROM event e JOIN origin o ON o.id = e.origin
                    WHERE e.command = ?1 AND ((o.source = ?2 AND e.start_ms = 0)
                        OR (o.source = 0 AND o.shell = ?3))",
                )?
                .query_row(params![command, number, source.shell()], |row| row.get(0))?;
            return Ok(Held {
                seen: 0,
                own,
                others: Vec::new(),
            });
        }
        let mut held = Held {
            seen: 0,
            own: 0,
            others: Vec::new(),
        };
        // Earlier entries take earlier rows, so that the later ones are left for later entries.
        for row in self.near(command, start_ms)?.into_iter().rev() {
            if row.source != number {
                held.others.push(row.id);
            } else if row.start_ms == start_ms {
                held.own += 1;
            }
        }
        Ok(held)
    }

    /// Puts a record's details into a row that came from a poorer source.
    fn upgrade(
        &mut self,
        row: i64,
        record: &Record,
        start_ms: i64,
        source: Source,
    ) -> rusqlite::Result<()> {
        let directory = self.texts.directory_or_null(&record.cwd)?;
        let origin = self.texts.origin(record, source)?;
        self.prepare(
            "UPDATE event SET directory = coalesce(?2, directory), origin = ?3,
                exit = coalesce(?4, exit), start_ms = ?5,
                duration_ms = coalesce(?6, duration_ms) WHERE id = ?1",
        )?
        .execute(params![
            row,
            directory,
            origin,
            record.exit,
            start_ms,
            duration(record)
        ])?;
        Ok(())
    }

    /// As `upgrade`, unless the row knows its directory already.
    fn upgrade_bare(
        &mut self,
        row: i64,
        record: &Record,
        start_ms: i64,
        source: Source,
    ) -> rusqlite::Result<()> {
        let bare = self
            .prepare("SELECT directory IS NULL FROM event WHERE id = ?1")?
            .query_row([row], |row| row.get(0))
            .optional()?;
        if bare == Some(true) {
            self.upgrade(row, record, start_ms, source)?;
        }
        Ok(())
    }

    fn add(
        &mut self,
        command: i64,
        record: &Record,
        start_ms: i64,
        place: i64,
        source: Source,
    ) -> rusqlite::Result<()> {
        let directory = self.texts.directory_or_null(&record.cwd)?;
        let origin = self.texts.origin(record, source)?;
        self.add.execute(params![
            command,
            directory,
            origin,
            record.exit,
            start_ms,
            duration(record),
            place
        ])?;
        Ok(())
    }
}

fn duration(record: &Record) -> Option<i64> {
    record
        .duration_ms
        .map(|value| i64::try_from(value).unwrap_or(i64::MAX))
}

//! The store: write, import, replay, forget.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, Row, TransactionBehavior};
use sha2::{Digest, Sha256};

use crate::import::{Entries, zoxide};
use crate::merge::{Outcome, Run, Writer};
use crate::open::{self, Check};
use crate::{Error, Forget, Offer, Record, Report, Visited, glob, offers, redact, schema};

/// Rows of one transaction of an import: other writers get their turn in between, about a fifth
/// of a second apart. Hashes are spread, so that each batch rewrites most of their index.
const BATCH: usize = 20_000;

/// How long an import waits for the writer that is at work.
const IMPORT_WAIT: Duration = Duration::from_secs(5);

/// Page cache of an import: the index of a million commands fits.
const IMPORT_CACHE_KIB: i64 = 65_536;

/// Pages in the log before they are copied to the file: SQLite's default, and during an import.
const LOG_PAGES: i64 = 1_000;
const IMPORT_LOG_PAGES: i64 = 10_000;

/// History in one SQLite file (WAL). Several processes may have it open.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    path: PathBuf,
    identity: Option<(u64, u64)>,
    recovered: Option<PathBuf>,
    writable: bool,
}

impl Store {
    /// Opens or creates the file (mode 0600, its directory 0700). A damaged file is moved to
    /// `NAME.corrupt-SECONDS` and a new one begun, see [`Store::recovered`]; a file that cannot
    /// be written is opened for reading, see [`Store::is_writable`].
    ///
    /// # Errors
    /// [`Error::Busy`] while another process holds it, [`Error::Newer`], [`Error::Foreign`] and
    /// [`Error::Owner`] for files to leave alone, [`Error::ReadOnly`] and [`Error::Full`] when a
    /// new one cannot be made.
    pub fn open(path: &Path) -> Result<Self, Error> {
        Self::open_with(path, Check::Quick)
    }

    /// Like [`Store::open`], but reads every page first: for use after [`Error::Corrupt`].
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn open_checked(path: &Path) -> Result<Self, Error> {
        Self::open_with(path, Check::Full)
    }

    fn open_with(path: &Path, check: Check) -> Result<Self, Error> {
        let opened = open::open(path, check)?;
        let identity = open::identity(path).map_err(|source| Error::io(path, source))?;
        Ok(Self {
            connection: opened.connection,
            path: path.to_owned(),
            identity: Some(identity),
            recovered: opened.recovered,
            writable: opened.writable,
        })
    }

    /// Opens an existing file and changes nothing, not even beside it.
    ///
    /// # Errors
    /// [`Error::Io`] when it is missing, else as [`Store::open`]; a damaged file stays.
    pub fn open_read_only(path: &Path) -> Result<Self, Error> {
        let connection = open::open_read_only(path)?;
        let found = schema::version(&connection).map_err(|source| Error::sqlite(path, source))?;
        schema::check(&connection, path, found)?;
        if found < schema::VERSION {
            return Err(Error::ReadOnly {
                path: path.to_owned(),
            });
        }
        Ok(Self {
            connection,
            path: path.to_owned(),
            identity: None,
            recovered: None,
            writable: false,
        })
    }

    /// A store that lives in memory only.
    ///
    /// # Errors
    /// [`Error::Sqlite`] when memory is short.
    pub fn in_memory() -> Result<Self, Error> {
        let path = PathBuf::from(":memory:");
        let mut connection =
            Connection::open_in_memory().map_err(|source| Error::sqlite(&path, source))?;
        schema::prepare(&mut connection, &path)?;
        Ok(Self {
            connection,
            path,
            identity: None,
            recovered: None,
            writable: true,
        })
    }

    /// Where [`Store::open`] moved a damaged file.
    #[must_use]
    pub fn recovered(&self) -> Option<&Path> {
        self.recovered.as_deref()
    }

    /// Whether rows can be written; a file on a read-only mount can only be read.
    #[must_use]
    pub fn is_writable(&self) -> bool {
        self.writable
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds live records in one transaction, redacted; returns how many rows are new. A record
    /// that was stored before (same session, start and command) is not doubled, and a row that
    /// an import had taken from the shell's file gains this record's details.
    ///
    /// # Errors
    /// [`Error::Busy`], [`Error::Full`], [`Error::ReadOnly`] and [`Error::Replaced`] leave the
    /// file as it was.
    pub fn insert(&mut self, records: &[Record]) -> Result<u64, Error> {
        self.write(|writer| {
            let mut added = 0;
            for record in records {
                if writer.live(record)? == Outcome::Added {
                    added += 1;
                }
            }
            Ok(added)
        })
    }

    /// Adds what the store does not hold yet. Importing the same file again, a longer or a cut
    /// one, adds nothing twice; rows recorded live count as held. Killed midway it keeps whole
    /// batches and a second run completes it.
    ///
    /// # Errors
    /// The reader's, and as [`Store::insert`]; batches already written stay.
    pub fn import(&mut self, entries: &mut dyn Entries) -> Result<Report, Error> {
        self.tune(IMPORT_WAIT, IMPORT_CACHE_KIB, IMPORT_LOG_PAGES)?;
        let report = self.import_batches(entries);
        // Else the next row would wait for the whole log to be copied; it may also stay there.
        let _ = self.read(|connection| {
            connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", (), |_| Ok(()))
        });
        self.tune(schema::BUSY_WAIT, schema::CACHE_KIB, LOG_PAGES)?;
        report
    }

    fn import_batches(&mut self, entries: &mut dyn Entries) -> Result<Report, Error> {
        let mut run = Run::new(entries.source(), now_ms());
        let mut report = Report::default();
        let mut batch = Vec::with_capacity(BATCH);
        loop {
            batch.clear();
            while batch.len() < BATCH {
                let Some(record) = entries.next_record()? else {
                    break;
                };
                batch.push(record);
            }
            if batch.is_empty() {
                break;
            }
            let done = self.write(|writer| import_batch(writer, &mut run, &batch))?;
            report.read += batch.len() as u64;
            report.added += done.added;
            report.known += done.known;
            report.forgotten += done.forgotten;
            report.redacted += done.redacted;
        }
        report.skipped = entries.skipped();
        Ok(report)
    }

    /// Takes over zoxide's directories; the higher rank and the later visit win, so that a
    /// second import changes nothing. Returns how many directories are new.
    ///
    /// # Errors
    /// As [`Store::insert`].
    pub fn import_directories(&mut self, directories: &[Visited]) -> Result<u64, Error> {
        self.write(|writer| {
            let mut added = 0;
            for visited in directories {
                added += writer.visited(visited)?;
            }
            Ok(added)
        })
    }

    /// Reads zoxide's file and takes its directories over.
    ///
    /// # Errors
    /// [`Error::Format`] and [`Error::Io`] for the file, else as [`Store::insert`].
    pub fn import_zoxide(&mut self, path: &Path) -> Result<Report, Error> {
        let directories = zoxide::read(path)?;
        let added = self.import_directories(&directories)?;
        let read = directories.len() as u64;
        Ok(Report {
            read,
            added,
            known: read - added,
            ..Report::default()
        })
    }

    /// Directories taken over from zoxide, highest rank first.
    ///
    /// # Errors
    /// [`Error::Busy`] or [`Error::Corrupt`].
    pub fn directories(&self) -> Result<Vec<Visited>, Error> {
        let sql = "SELECT d.path, v.rank, v.last_s FROM visited v
            JOIN directory d ON d.id = v.directory ORDER BY v.rank DESC, d.path";
        self.read(|connection| {
            let mut statement = connection.prepare(sql)?;
            let rows = statement.query_map((), |row| {
                Ok(Visited {
                    path: row.get(0)?,
                    rank: row.get(1)?,
                    last_s: row.get(2)?,
                })
            })?;
            rows.collect()
        })
    }

    /// Gives the newest `limit` records to `each`, oldest of them first. Rows without a start
    /// count as oldest; live rows keep the order they were recorded in, whatever the clock did.
    ///
    /// # Errors
    /// [`Error::Busy`] or [`Error::Corrupt`]; `each` may have seen some records by then.
    pub fn replay(&self, limit: u64, mut each: impl FnMut(&Record)) -> Result<u64, Error> {
        if limit == 0 {
            return Ok(0);
        }
        self.read(|connection| {
            let skip = i64::try_from(limit - 1).unwrap_or(i64::MAX);
            let first = connection
                .prepare_cached(
                    "SELECT place, id FROM event ORDER BY place DESC, id DESC LIMIT 1 OFFSET ?1",
                )?
                .query_row([skip], |row| Ok((row.get(0)?, row.get(1)?)));
            let (place, id): (i64, i64) = match first {
                Err(rusqlite::Error::QueryReturnedNoRows) => (i64::MIN, i64::MIN),
                other => other?,
            };
            let mut statement = connection.prepare_cached(
                "SELECT c.text, d.path, e.exit, e.start_ms, e.duration_ms, o.session, o.shell,
                    o.host
                FROM event e JOIN command c ON c.id = e.command JOIN origin o ON o.id = e.origin
                LEFT JOIN directory d ON d.id = e.directory
                WHERE (e.place, e.id) >= (?1, ?2) ORDER BY e.place, e.id",
            )?;
            let mut rows = statement.query([place, id])?;
            let mut record = Record::default();
            let mut seen = 0;
            while let Some(row) = rows.next()? {
                fill(&mut record, row)?;
                each(&record);
                seen += 1;
            }
            Ok(seen)
        })
    }

    /// Adds lists that were offered; those whose command is not stored, or that speak of a secret,
    /// are left out. The newest 2000 are kept. Returns how many were added.
    ///
    /// # Errors
    /// As [`Store::insert`].
    pub fn insert_offers(&mut self, offers: &[Offer]) -> Result<u64, Error> {
        self.write(|writer| {
            let mut added = 0;
            for offer in offers {
                added += u64::from(writer.offer(offer)?);
            }
            Ok(added)
        })
    }

    /// The lists that were offered, oldest first.
    ///
    /// # Errors
    /// [`Error::Busy`] or [`Error::Corrupt`].
    pub fn offers(&self) -> Result<Vec<Offer>, Error> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(offers::READ)?;
            let rows = statement.query_map((), Offer::read)?;
            rows.collect()
        })
    }

    /// How many rows there are.
    ///
    /// # Errors
    /// [`Error::Busy`] or [`Error::Corrupt`].
    pub fn count(&self) -> Result<u64, Error> {
        let count: i64 = self.read(|connection| {
            connection.query_row("SELECT count(*) FROM event", (), |row| row.get(0))
        })?;
        Ok(count.unsigned_abs())
    }

    /// Removes every run of a command and keeps later imports from bringing it back; only a
    /// salted hash of it stays. Returns how many rows went. A command typed again later is
    /// recorded again.
    ///
    /// # Errors
    /// As [`Store::insert`].
    pub fn forget(&mut self, what: Forget<'_>) -> Result<u64, Error> {
        let removed = self.write(|writer| match what {
            Forget::Command(command) => writer.forget(&redact(command), now_ms()),
            Forget::Pattern(pattern) => {
                let mut removed = 0;
                for command in writer.commands(|text| glob::matches(pattern, text))? {
                    removed += writer.forget(&command, now_ms())?;
                }
                Ok(removed)
            }
        })?;
        self.truncate_log()?;
        Ok(removed)
    }

    /// Removes every row; what was forgotten one by one stays forgotten.
    ///
    /// # Errors
    /// As [`Store::insert`].
    pub fn delete_all(&mut self) -> Result<u64, Error> {
        let removed = self.write(|writer| writer.clear())?;
        self.truncate_log()?;
        Ok(removed)
    }

    /// Empties the write-ahead log, which still holds removed text; readers may delay that.
    fn truncate_log(&self) -> Result<(), Error> {
        self.read(|connection| {
            connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(()))
        })
    }

    fn tune(&self, wait: Duration, cache_kib: i64, log_pages: i64) -> Result<(), Error> {
        self.read(|connection| {
            connection.busy_timeout(wait)?;
            connection.pragma_update(None, "cache_size", -cache_kib)?;
            let sql = format!("PRAGMA wal_autocheckpoint = {log_pages}");
            connection.query_row(&sql, (), |_| Ok(()))
        })
    }

    fn read<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, Error> {
        work(&self.connection).map_err(|source| Error::sqlite(&self.path, source))
    }

    /// Runs `work` in one transaction: all of it reaches the file, or nothing.
    fn write<T>(
        &mut self,
        work: impl FnOnce(&mut Writer<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, Error> {
        self.check_writable()?;
        let path = &self.path;
        let fail = |source| Error::sqlite(path, source);
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(fail)?;
        let answer = Writer::new(&transaction).and_then(|mut writer| work(&mut writer));
        // Dropped without a commit, the transaction is rolled back.
        let answer = answer.map_err(fail)?;
        transaction.commit().map_err(fail)?;
        Ok(answer)
    }

    fn check_writable(&self) -> Result<(), Error> {
        if !self.writable {
            return Err(Error::ReadOnly {
                path: self.path.clone(),
            });
        }
        // Rows written to an unlinked file would be lost without a word.
        match self.identity {
            Some(own) if open::identity(&self.path).ok() != Some(own) => Err(Error::Replaced {
                path: self.path.clone(),
            }),
            _ => Ok(()),
        }
    }
}

fn import_batch(
    writer: &mut Writer<'_>,
    run: &mut Run,
    batch: &[Record],
) -> rusqlite::Result<Report> {
    let mut report = Report::default();
    for record in batch {
        let text = redact(&record.command);
        if text.as_ref() != record.command.as_slice() {
            report.redacted += 1;
        }
        match writer.imported(run, record, &text)? {
            Outcome::Added => report.added += 1,
            Outcome::Known => report.known += 1,
            Outcome::Forgotten => report.forgotten += 1,
        }
    }
    Ok(report)
}

fn fill(record: &mut Record, row: &Row<'_>) -> rusqlite::Result<()> {
    copy(&mut record.command, row.get_ref(0)?.as_bytes()?);
    copy(
        &mut record.cwd,
        row.get_ref(1)?.as_bytes_or_null()?.unwrap_or_default(),
    );
    record.exit = row.get(2)?;
    record.start_ms = row.get(3)?;
    record.duration_ms = row
        .get::<_, Option<i64>>(4)?
        .and_then(|value| value.try_into().ok());
    copy(&mut record.session, row.get_ref(5)?.as_bytes()?);
    copy_text(&mut record.shell, row.get_ref(6)?.as_str()?);
    copy_text(&mut record.host, row.get_ref(7)?.as_str()?);
    Ok(())
}

fn copy(target: &mut Vec<u8>, bytes: &[u8]) {
    target.clear();
    target.extend_from_slice(bytes);
}

fn copy_text(target: &mut String, text: &str) {
    target.clear();
    target.push_str(text);
}

pub(crate) fn now_ms() -> i64 {
    let age = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(age.as_millis()).unwrap_or(i64::MAX)
}

/// Hash of a forgotten command: SHA-256 of salt and text, its first 16 bytes.
pub(crate) fn forgotten_hash(salt: &[u8], command: &[u8]) -> [u8; 16] {
    let digest = Sha256::new()
        .chain_update(salt)
        .chain_update(command)
        .finalize();
    let mut hash = [0; 16];
    hash.copy_from_slice(&digest[..16]);
    hash
}

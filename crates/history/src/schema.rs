//! Schema versions: append-only numbered migrations, counted in SQLite's `user_version`.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior};

use crate::Error;

/// Never change an entry: add one. The version of a file is the number of entries applied.
const MIGRATIONS: [&str; 2] = [
    include_str!("../migrations/0001_history.sql"),
    include_str!("../migrations/0002_offer.sql"),
];

/// How long a statement waits for another process before it answers [`Error::Busy`].
pub(crate) const BUSY_WAIT: Duration = Duration::from_millis(25);

/// Page cache in daily work.
pub(crate) const CACHE_KIB: i64 = 8_192;

/// Newest schema version of this build.
#[expect(clippy::cast_possible_wrap, reason = "a handful of migrations")]
pub(crate) const VERSION: i64 = MIGRATIONS.len() as i64;

/// Sets a fresh connection up and brings the schema to [`VERSION`].
pub(crate) fn prepare(connection: &mut Connection, path: &Path) -> Result<(), Error> {
    let fail = |source| Error::sqlite(path, source);
    connection.busy_timeout(BUSY_WAIT).map_err(fail)?;
    connection.set_prepared_statement_cache_capacity(48);
    // A locked file fails here with Busy: it must never look like a file without a schema.
    let found = version(connection).map_err(fail)?;
    check(connection, path, found)?;
    pragmas(connection).map_err(fail)?;
    if found < VERSION {
        migrate(connection, path)?;
    }
    Ok(())
}

/// Refuses files that are newer than this build or that another program wrote.
pub(crate) fn check(connection: &Connection, path: &Path, found: i64) -> Result<(), Error> {
    if found > VERSION {
        return Err(Error::Newer {
            path: path.to_owned(),
            found,
            known: VERSION,
        });
    }
    let tables: i64 = connection
        .query_row("SELECT count(*) FROM sqlite_schema", (), |row| row.get(0))
        .map_err(|source| Error::sqlite(path, source))?;
    let own = application(connection).map_err(|source| Error::sqlite(path, source))?;
    if (found == 0 && tables > 0) || (found > 0 && own != APPLICATION) {
        return Err(Error::Foreign {
            path: path.to_owned(),
        });
    }
    Ok(())
}

/// `application_id` of our files: "tabs" in ASCII.
const APPLICATION: i64 = 0x7461_6273;

fn application(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("PRAGMA application_id", (), |row| row.get(0))
}

pub(crate) fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("PRAGMA user_version", (), |row| row.get(0))
}

fn pragmas(connection: &Connection) -> rusqlite::Result<()> {
    // Answers with the mode in force, which may stay "delete" where shared memory is missing.
    connection.query_row("PRAGMA journal_mode = WAL", (), |_| Ok(()))?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    // Deleted text is overwritten, and sorting never spills text into temporary files.
    connection.query_row("PRAGMA secure_delete = ON", (), |_| Ok(()))?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
    connection.query_row("PRAGMA journal_size_limit = 4194304", (), |_| Ok(()))
}

fn migrate(connection: &mut Connection, path: &Path) -> Result<(), Error> {
    let fail = |source| Error::sqlite(path, source);
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(fail)?;
    // Another opener may have been quicker: the version counts only under the write lock.
    let found = version(&transaction).map_err(fail)?;
    check(&transaction, path, found)?;
    let done = usize::try_from(found).unwrap_or(0);
    for migration in MIGRATIONS.iter().skip(done) {
        transaction.execute_batch(migration).map_err(fail)?;
    }
    transaction
        .pragma_update(None, "user_version", VERSION)
        .map_err(fail)?;
    transaction.commit().map_err(fail)
}

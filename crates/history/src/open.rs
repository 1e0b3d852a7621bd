//! Opens the file: creates it private, serialises openers, moves damaged files aside.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, OpenFlags};

use crate::{Error, schema};

/// First bytes of every SQLite database file (<https://sqlite.org/fileformat2.html>, 1.3.1).
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// How long an opener waits for others that open, migrate or recover the same file.
const OPEN_WAIT: Duration = Duration::from_secs(1);

/// How thoroughly an existing file is looked at before it is used.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Check {
    /// Header, size and schema: constant time.
    Quick,
    /// Every page: about a second for a million commands.
    Full,
}

/// An open file and how it came about.
pub(crate) struct Opened {
    pub(crate) connection: Connection,
    /// Where a damaged file was moved to.
    pub(crate) recovered: Option<PathBuf>,
    pub(crate) writable: bool,
}

/// Device and inode: tells whether the path still names the file that was opened.
pub(crate) fn identity(path: &Path) -> io::Result<(u64, u64)> {
    let metadata = fs::metadata(path)?;
    Ok((metadata.dev(), metadata.ino()))
}

/// Opens or creates `path`; a damaged file is renamed and a new one begun.
pub(crate) fn open(path: &Path, check: Check) -> Result<Opened, Error> {
    let directory = directory_of(path);
    if !directory.exists() {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(directory)
            .map_err(|source| Error::io(directory, source))?;
    }
    check_owner(directory)?;
    let _guard = lock(directory, path)?;
    let mut recovered = None;
    if is_damaged(path).map_err(|source| Error::io(path, source))? {
        recovered = Some(move_aside(path)?);
    }
    match connect(path, check) {
        Err(Error::Corrupt { .. }) => {
            let aside = move_aside(path)?;
            let mut opened = connect(path, check)?;
            opened.recovered = Some(aside);
            Ok(opened)
        }
        Ok(mut opened) => {
            opened.recovered = recovered;
            Ok(opened)
        }
        Err(error) => Err(error),
    }
}

/// Opens an existing file without writing to it or next to it.
pub(crate) fn open_read_only(path: &Path) -> Result<Connection, Error> {
    let fail = |source| Error::sqlite(path, source);
    fs::metadata(path).map_err(|source| Error::io(path, source))?;
    let connection = if has_log(path) {
        open_shared(path)
    } else {
        open_immutable(path)
    }?;
    connection.busy_timeout(schema::BUSY_WAIT).map_err(fail)?;
    Ok(connection)
}

fn open_shared(path: &Path) -> Result<Connection, Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection =
        Connection::open_with_flags(path, flags).map_err(|source| Error::sqlite(path, source))?;
    // The write-ahead log is opened by the first read, which fails on a read-only mount.
    match schema::version(&connection) {
        Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::CannotOpen) => {
            open_immutable(path)
        }
        Err(source) => Err(Error::sqlite(path, source)),
        Ok(_) => Ok(connection),
    }
}

/// Ignores the write-ahead log and takes no locks: right for files that nobody writes.
fn open_immutable(path: &Path) -> Result<Connection, Error> {
    let mut uri = b"file:".to_vec();
    for &byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => uri.push(byte),
            _ => uri.extend_from_slice(format!("%{byte:02X}").as_bytes()),
        }
    }
    uri.extend_from_slice(b"?immutable=1");
    let uri = String::from_utf8_lossy(&uri).into_owned();
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    Connection::open_with_flags(uri, flags).map_err(|source| Error::sqlite(path, source))
}

fn connect(path: &Path, check: Check) -> Result<Opened, Error> {
    match connect_writable(path, check) {
        Ok(connection) => Ok(Opened {
            connection,
            recovered: None,
            writable: true,
        }),
        Err(error) if cannot_write(&error) && path.is_file() => {
            let connection = open_read_only(path)?;
            let found =
                schema::version(&connection).map_err(|source| Error::sqlite(path, source))?;
            schema::check(&connection, path, found)?;
            if found < schema::VERSION {
                return Err(Error::ReadOnly {
                    path: path.to_owned(),
                });
            }
            Ok(Opened {
                connection,
                recovered: None,
                writable: false,
            })
        }
        Err(error) => Err(error),
    }
}

fn cannot_write(error: &Error) -> bool {
    match error {
        Error::ReadOnly { .. } => true,
        Error::Io { source, .. } => source.kind() == io::ErrorKind::PermissionDenied,
        Error::Sqlite { source, .. } => {
            source.sqlite_error_code() == Some(rusqlite::ErrorCode::CannotOpen)
        }
        _ => false,
    }
}

fn connect_writable(path: &Path, check: Check) -> Result<Connection, Error> {
    // SQLite would create it with the umask's mode; its -wal and -shm files copy this one's.
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path)
        .map_err(|source| Error::io(path, source))?;
    check_owner(path)?;
    let metadata = file.metadata().map_err(|source| Error::io(path, source))?;
    if metadata.mode() & 0o077 != 0 {
        file.set_permissions(fs::Permissions::from_mode(0o600))
            .map_err(|source| Error::io(path, source))?;
    }
    drop(file);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection =
        Connection::open_with_flags(path, flags).map_err(|source| Error::sqlite(path, source))?;
    schema::prepare(&mut connection, path)?;
    if check == Check::Full {
        check_pages(&connection, path)?;
    }
    Ok(connection)
}

fn check_pages(connection: &Connection, path: &Path) -> Result<(), Error> {
    let answer: String = connection
        .query_row("PRAGMA quick_check(1)", (), |row| row.get(0))
        .map_err(|source| Error::sqlite(path, source))?;
    if answer == "ok" {
        return Ok(());
    }
    Err(Error::Corrupt {
        path: path.to_owned(),
        reason: answer,
    })
}

/// Whether the path holds something that cannot be a database, seen without opening it as one.
fn is_damaged(path: &Path) -> io::Result<bool> {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    if !metadata.is_file() {
        return Ok(true);
    }
    if metadata.len() == 0 {
        // Empty is a fresh file, unless its log still holds rows: SQLite would delete that log.
        return Ok(has_log(path));
    }
    let mut header = [0; 16];
    match File::open(path).and_then(|mut file| file.read_exact(&mut header)) {
        Ok(()) => Ok(&header != MAGIC),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(true),
        Err(error) => Err(error),
    }
}

fn has_log(path: &Path) -> bool {
    fs::metadata(suffixed(path, "-wal")).is_ok_and(|metadata| metadata.len() > 0)
}

/// Renames the file and its log to `NAME.corrupt-SECONDS`; nothing is deleted.
fn move_aside(path: &Path) -> Result<PathBuf, Error> {
    let seconds = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |age| age.as_secs());
    let stem = path.with_extension("");
    let mut aside = suffixed(&stem, &format!(".corrupt-{seconds}"));
    let mut number = 1;
    while aside.symlink_metadata().is_ok() {
        aside = suffixed(&stem, &format!(".corrupt-{seconds}-{number}"));
        number += 1;
    }
    // The log goes first: left alone beside a new file it would be taken for that file's.
    for suffix in ["-wal", "-shm", "-journal", ""] {
        match fs::rename(suffixed(path, suffix), suffixed(&aside, suffix)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(source) => return Err(Error::io(path, source)),
            Ok(()) => {}
        }
    }
    Ok(aside)
}

fn suffixed(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Root in a user's HOME (`sudo -E`) must leave no files there, nor a user in another's.
fn check_owner(path: &Path) -> Result<(), Error> {
    let owner = fs::metadata(path)
        .map_err(|source| Error::io(path, source))?
        .uid();
    let user = rustix::process::geteuid().as_raw();
    let shared_place = owner == 0 && path.is_dir(); // /tmp, a mount point
    if owner == user || shared_place {
        return Ok(());
    }
    Err(Error::Owner {
        path: path.to_owned(),
        owner,
        user,
    })
}

/// Locks the directory itself: no lock file is left behind, and it works without write access.
fn lock(directory: &Path, path: &Path) -> Result<Option<File>, Error> {
    let file = File::open(directory).map_err(|source| Error::io(directory, source))?;
    let deadline = Instant::now() + OPEN_WAIT;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Some(file)),
            Err(TryLockError::WouldBlock) if Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(2));
            }
            Err(TryLockError::WouldBlock) => {
                return Err(Error::Busy {
                    path: path.to_owned(),
                });
            }
            // Some network file systems have no locks; SQLite's own then decide.
            Err(TryLockError::Error(_)) => return Ok(None),
        }
    }
}

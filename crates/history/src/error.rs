//! Everything that can go wrong with the store or with an imported file.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

/// A failure of the store or of an import; each names the file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Another process holds the file; the same call may succeed later.
    #[error("{}: locked by another process (hint: try again)", .path.display())]
    Busy {
        /// The locked file.
        path: PathBuf,
    },
    /// The file or its directory cannot be written.
    #[error("{}: read-only (hint: check the mode and the mount)", .path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// The disk or the quota is full; the store keeps what it had.
    #[error("{}: no space left (hint: free some disk space)", .path.display())]
    Full {
        /// The file.
        path: PathBuf,
    },
    /// A newer version of the product wrote the file; it is left untouched.
    #[error("{}: schema version {found} is newer than {known} (hint: upgrade tabsense)", .path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Version found in the file.
        found: i64,
        /// Newest version this build knows.
        known: i64,
    },
    /// The file is an SQLite database of another program; it is left untouched.
    #[error("{}: a database of another program (hint: move it away)", .path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The file belongs to another user; it is left untouched.
    #[error("{}: belongs to user {owner}, not to {user} (hint: check HOME after sudo or su)", .path.display())]
    Owner {
        /// The file or its directory.
        path: PathBuf,
        /// Its owner's number.
        owner: u32,
        /// The number of the user running this.
        user: u32,
    },
    /// The content is damaged. [`crate::Store::open_checked`] moves the file aside and starts afresh.
    #[error("{}: damaged: {reason} (hint: open it again with a check)", .path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What was found.
        reason: String,
    },
    /// The file was removed or replaced while it was open; open it again.
    #[error("{}: removed or replaced while open (hint: open it again)", .path.display())]
    Replaced {
        /// The file.
        path: PathBuf,
    },
    /// The operating system refused.
    #[error("{}: {source}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// SQLite refused for any other cause.
    #[error("{}: {source}", .path.display())]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: rusqlite::Error,
    },
    /// An imported file is not of the format it was taken for.
    #[error("{}: not a {format} file: {reason}", .path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// The format expected.
        format: &'static str,
        /// What was found.
        reason: String,
    },
}

impl Error {
    /// Whether the same call may succeed later without anybody's help.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        matches!(
            self,
            Self::Busy { .. } | Self::Full { .. } | Self::Replaced { .. }
        )
    }

    /// Sorts an SQLite failure into the causes a caller can act on.
    pub(crate) fn sqlite(path: &Path, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        let Some(code) = source.sqlite_error_code() else {
            return Self::Sqlite { path, source };
        };
        match code {
            ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::FileLockingProtocolFailed => Self::Busy { path },
            ErrorCode::ReadOnly => Self::ReadOnly { path },
            ErrorCode::DiskFull => Self::Full { path },
            ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => Self::Corrupt {
                path,
                reason: source.to_string(),
            },
            _ => Self::Sqlite { path, source },
        }
    }

    /// Sorts a failure of the file system into the causes a caller can act on.
    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly { path },
            io::ErrorKind::StorageFull
            | io::ErrorKind::QuotaExceeded
            | io::ErrorKind::FileTooLarge => Self::Full { path },
            _ => Self::Io { path, source },
        }
    }
}

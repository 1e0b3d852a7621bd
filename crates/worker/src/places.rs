//! Directories in the one form that the statistics compare: absolute.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::state::Worker;

/// What finding the project's root may take.
const ROOT_BUDGET: Duration = Duration::from_millis(3);

/// Where a request comes from.
pub(crate) struct Places {
    pub(crate) cwd: PathBuf,
    pub(crate) home: PathBuf,
}

impl Places {
    /// The directories that a client named.
    pub(crate) fn new(cwd: &[u8], home: &[u8]) -> Self {
        Self {
            cwd: path(cwd),
            home: path(home),
        }
    }

    /// The root of the project that they lie in.
    pub(crate) fn project_root(&self, worker: &Worker) -> Option<PathBuf> {
        worker
            .projects
            .root(&worker.listings, &self.cwd, &self.home, ROOT_BUDGET)
    }
}

/// Bytes as a path.
pub(crate) fn path(bytes: &[u8]) -> PathBuf {
    Path::new(OsStr::from_bytes(bytes)).to_owned()
}

/// An absolute directory as a person writes it: `~/` for home.
pub(crate) fn with_tilde(directory: &[u8], home: &Path) -> Vec<u8> {
    let home = home.as_os_str().as_bytes();
    match directory.strip_prefix(home) {
        Some(rest) if home.len() > 1 && (rest.is_empty() || rest.starts_with(b"/")) => {
            [b"~".as_slice(), rest].concat()
        }
        _ => directory.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn home_is_written_as_a_tilde_only_where_it_is_a_whole_part() {
        let home = Path::new("/home/u");
        assert_eq!(with_tilde(b"/home/u/x", home), b"~/x");
        assert_eq!(with_tilde(b"/home/user2", home), b"/home/user2");
        assert_eq!(with_tilde(b"/srv", home), b"/srv");
        assert_eq!(with_tilde(b"/srv", Path::new("/")), b"/srv");
    }
}

//! The file system calls behind a listing, one trait so that tests can make
//! them hang.

use std::io;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::Details;

/// Identity and version of a directory: device, inode, and the time of the last
/// change of its entries (seconds and nanoseconds).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub device: u64,
    pub inode: u64,
    pub seconds: i64,
    pub nanoseconds: i64,
}

impl Stamp {
    /// Whether a change after a scan begun at `now` could leave this stamp as it
    /// is, because the file system's clock ticks coarsely: 10 ms at most on
    /// Linux (CONFIG_HZ=100), 2 s on FAT and where only whole seconds are kept.
    pub(crate) fn is_racy(&self, now: SystemTime) -> bool {
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        let changed = Duration::new(
            u64::try_from(self.seconds).unwrap_or(0),
            u32::try_from(self.nanoseconds).unwrap_or(0),
        );
        let tick = Duration::from_millis(if self.nanoseconds == 0 { 2000 } else { 20 });
        changed + tick > now
    }
}

/// What the directory itself says of an entry, without a call for the entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Directory,
    Link,
    Other,
}

pub(crate) trait Reader: Send + Sync + 'static {
    /// The version of the directory now.
    fn stamp(&self, directory: &Path) -> io::Result<Stamp>;
    /// Gives each entry to `each` in the order of the disk.
    fn read(
        &self,
        directory: &Path,
        each: &mut dyn FnMut(&[u8], Type) -> ControlFlow<()>,
    ) -> io::Result<()>;
    /// Whether the path leads to a directory, links followed.
    fn is_directory(&self, path: &Path) -> bool;
    /// What is behind the path, links followed.
    fn details(&self, path: &Path) -> Option<Details>;
}

/// The real file system.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Disk;

impl Reader for Disk {
    fn stamp(&self, directory: &Path) -> io::Result<Stamp> {
        let metadata = std::fs::metadata(directory)?;
        if !metadata.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        Ok(Stamp {
            device: metadata.dev(),
            inode: metadata.ino(),
            seconds: metadata.mtime(),
            nanoseconds: metadata.mtime_nsec(),
        })
    }

    fn read(
        &self,
        directory: &Path,
        each: &mut dyn FnMut(&[u8], Type) -> ControlFlow<()>,
    ) -> io::Result<()> {
        for entry in std::fs::read_dir(directory)? {
            let entry = entry?;
            let kind = match entry.file_type() {
                Ok(kind) if kind.is_dir() => Type::Directory,
                Ok(kind) if kind.is_symlink() => Type::Link,
                _ => Type::Other,
            };
            if each(entry.file_name().as_bytes(), kind).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn is_directory(&self, path: &Path) -> bool {
        std::fs::metadata(path).is_ok_and(|metadata| metadata.is_dir())
    }

    fn details(&self, path: &Path) -> Option<Details> {
        let metadata = std::fs::metadata(path).ok()?;
        Some(Details {
            modified: metadata.mtime(),
            executable: metadata.is_file() && metadata.mode() & 0o111 != 0,
        })
    }
}

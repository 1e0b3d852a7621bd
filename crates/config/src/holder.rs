//! Who holds the locks that make a worker the only one, and where it serves.
//!
//! A lock file holds the worker's process id and, on what follows the first line break, the path of
//! its socket. Only the lock counts: the text of a worker that was killed stays behind.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};

use crate::Paths;

/// The process that a lock file names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    pid: Pid,
    socket: PathBuf,
    lock: PathBuf,
}

impl Holder {
    /// What the lock file says, be it held or not.
    #[must_use]
    pub fn read(lock: &Path) -> Option<Self> {
        let mut text = Vec::new();
        File::open(lock).ok()?.read_to_end(&mut text).ok()?;
        let mut parts = text.splitn(2, |&byte| byte == b'\n');
        let pid = std::str::from_utf8(parts.next()?).ok()?;
        // Older releases served beside their lock and did not say so.
        let socket = match parts.next() {
            Some(path) if !path.is_empty() => PathBuf::from(OsString::from_vec(path.to_vec())),
            _ => lock.with_file_name("worker.sock"),
        };
        Some(Self {
            pid: Pid::from_raw(pid.trim().parse().ok()?)?,
            socket,
            lock: lock.to_owned(),
        })
    }

    /// Writes this process into a lock file that it holds.
    ///
    /// # Errors
    /// When the file cannot be written, as on a full disk.
    pub fn write(lock: &File, socket: &Path) -> io::Result<()> {
        let pid = std::process::id().to_string();
        let text = [pid.as_bytes(), b"\n", socket.as_os_str().as_bytes()].concat();
        // In this order, a disk that has become full still has room for it.
        lock.write_all_at(&text, 0)?;
        lock.set_len(text.len() as u64)
    }

    /// The process id.
    #[must_use]
    pub fn pid(&self) -> i32 {
        self.pid.as_raw_nonzero().get()
    }

    /// Where it serves.
    #[must_use]
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Whether the process is alive and a worker, as far as the system tells: the number may be
    /// anybody's by now.
    #[must_use]
    pub fn is_worker(&self) -> bool {
        match std::fs::metadata("/proc/self/fd").is_ok() {
            true => self.has_lock_open(),
            false => self.has_workers_name(),
        }
    }

    /// Linux: the lock is among the files of the process.
    fn has_lock_open(&self) -> bool {
        let Ok(lock) = std::fs::metadata(&self.lock) else {
            return false;
        };
        let open = std::fs::read_dir(format!("/proc/{}/fd", self.pid()));
        open.into_iter().flatten().flatten().any(|entry| {
            std::fs::metadata(entry.path())
                .is_ok_and(|file| (file.dev(), file.ino()) == (lock.dev(), lock.ino()))
        })
    }

    /// Elsewhere: the name of its program.
    fn has_workers_name(&self) -> bool {
        let asked = Command::new("/bin/ps")
            .args(["-o", "comm=", "-p", &self.pid().to_string()])
            .output();
        asked.is_ok_and(|output| {
            let name = String::from_utf8_lossy(&output.stdout);
            name.trim().rsplit('/').next() == Some("tabsensed")
        })
    }

    /// Sends a signal, if it is a worker.
    ///
    /// # Errors
    /// When it is none, and when the system refuses.
    pub fn signal(&self, signal: Signal) -> io::Result<()> {
        if !self.is_worker() {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(kill_process(self.pid, signal)?)
    }
}

/// Takes a lock without waiting; false when another has it.
///
/// # Errors
/// Where the file system knows no locks.
pub fn try_lock(file: &File) -> io::Result<bool> {
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(true),
        Err(Errno::WOULDBLOCK) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Whether a worker lives that serves this user's history or in this runtime directory: it holds its
/// locks until its last command is written.
#[must_use]
pub fn is_held(paths: &Paths) -> bool {
    paths.locks().iter().any(|lock| is_locked(lock))
}

/// The worker that [`is_held`] tells of.
#[must_use]
pub fn holder(paths: &Paths) -> Option<Holder> {
    let locks = paths.locks();
    let mut held = locks.iter().filter(|lock| is_locked(lock));
    held.find_map(|lock| Holder::read(lock))
}

fn is_locked(lock: &Path) -> bool {
    File::open(lock).is_ok_and(|file| {
        flock(&file, FlockOperation::NonBlockingLockShared) == Err(Errno::WOULDBLOCK)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lock_file(directory: &Path) -> (PathBuf, File) {
        let lock = directory.join("worker.lock");
        let file = File::create(&lock).expect("made");
        (lock, file)
    }

    #[test]
    fn a_lock_file_names_the_process_and_its_socket() {
        let directory = tempfile::tempdir().expect("tempdir");
        let (lock, file) = lock_file(directory.path());
        file.write_all_at(&[b'x'; 300], 0).expect("longer before");
        Holder::write(&file, Path::new("/a b\n/worker.sock")).expect("written");
        let holder = Holder::read(&lock).expect("read");
        assert_eq!(holder.socket(), Path::new("/a b\n/worker.sock"));
        assert_eq!(
            u32::try_from(holder.pid()).expect("a pid"),
            std::process::id()
        );
    }

    #[test]
    fn a_lock_file_of_an_older_release_means_the_socket_beside_it() {
        let directory = tempfile::tempdir().expect("tempdir");
        let (lock, _) = lock_file(directory.path());
        assert_eq!(Holder::read(&lock), None);
        std::fs::write(&lock, "42").expect("written");
        let holder = Holder::read(&lock).expect("read");
        assert_eq!(
            (holder.pid(), holder.socket()),
            (42, directory.path().join("worker.sock").as_path())
        );
        for text in ["", "x", "-", "0", "99999999999999"] {
            std::fs::write(&lock, text).expect("written");
            assert_eq!(Holder::read(&lock), None, "{text}");
        }
    }

    #[test]
    fn only_a_process_that_has_the_lock_open_is_signalled() {
        let directory = tempfile::tempdir().expect("tempdir");
        let (lock, file) = lock_file(directory.path());
        let own = std::process::id();
        std::fs::write(&lock, own.to_string()).expect("written");
        let holder = Holder::read(&lock).expect("read");
        if cfg!(target_os = "linux") {
            assert!(holder.is_worker());
        }
        drop(file);
        assert!(!holder.is_worker());
        assert!(holder.signal(Signal::KILL).is_err(), "or this test is dead");
    }

    #[test]
    fn a_lock_counts_as_long_as_it_is_held() {
        let directory = tempfile::tempdir().expect("tempdir");
        let (lock, file) = lock_file(directory.path());
        assert!(!is_locked(&lock));
        assert!(try_lock(&file).expect("locked"));
        assert!(is_locked(&lock));
        assert!(!try_lock(&File::open(&lock).expect("open")).expect("asked"));
        drop(file);
        assert!(!is_locked(&lock));
    }
}

//! The locks that make a worker the only one: that of its data and that of its runtime directory.
//!
//! Shells of one user may differ in `XDG_RUNTIME_DIR` (`su`, cron and some logins have none), and so
//! in where they look for the socket. One worker has the data all the same: a second one links the
//! socket that its shell looks for to the living one's, and ends.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use rustix::process::Signal;
use tabsense_config::{Holder, Paths, is_private, try_lock};
use tracing::warn;

/// How long a newer worker waits for an older one to end.
const REPLACE_LIMIT: Duration = Duration::from_secs(5);

/// How long the worker that has the data may take to serve, before it counts as out of reach.
const REACH_LIMIT: Duration = Duration::from_secs(2);

/// How often another worker is looked for.
pub(crate) const POLL: Duration = Duration::from_millis(10);

/// What came of taking the locks.
pub(crate) enum Taken {
    /// This is the one worker, as long as these are held.
    Ours(Vec<File>),
    /// Another lives; its process id, if it is known.
    Another(Option<i32>),
}

/// What is done about another worker that lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Patience {
    /// It stays.
    None,
    /// It has been told to stop and is waited for.
    Replace,
}

/// Takes the locks, or makes the living worker reachable for this one's shell.
pub(crate) fn take(paths: &Paths, patience: Patience) -> io::Result<Taken> {
    let mut locks = Vec::new();
    match take_shared(paths, patience) {
        Met::Free(lock) => locks.push(lock),
        Met::Worker(pid) => return Ok(Taken::Another(Some(pid))),
        Met::Nobody => {}
    }
    if paths.lock() != paths.shared_lock() {
        // Of an older release, or of another home with the same runtime directory.
        match wait(paths, &paths.lock(), patience)? {
            Met::Free(lock) => locks.push(lock),
            Met::Worker(pid) => return Ok(Taken::Another(Some(pid))),
            Met::Nobody => return Ok(Taken::Another(None)),
        }
    }
    // The locks alone decide; the text is for whoever finds them held, and a full disk may have no
    // room for it.
    for lock in &locks {
        let _ = Holder::write(lock, &paths.socket());
    }
    Ok(Taken::Ours(locks))
}

/// Who has a lock.
enum Met {
    /// This process.
    Free(File),
    /// Another worker, by its process id.
    Worker(i32),
    /// Somebody, but no worker that could be reached or is known here.
    Nobody,
}

/// The lock of the data. Where there can be none, the worker goes without: the data directory may not
/// be writable or its file system know no locks, and on a shared home the worker that has it may be
/// another machine's.
fn take_shared(paths: &Paths, patience: Patience) -> Met {
    let lock = paths.shared_lock();
    if paths.create_shared().is_err() {
        return Met::Nobody;
    }
    let met = wait(paths, &lock, patience).unwrap_or(Met::Nobody);
    if matches!(met, Met::Nobody) {
        warn!("{}: another may write the same history", lock.display());
    }
    met
}

/// Waits for a lock, or for the worker that has it to serve.
fn wait(paths: &Paths, lock: &Path, patience: Patience) -> io::Result<Met> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(lock)?;
    let end = Instant::now()
        + match patience {
            Patience::None => REACH_LIMIT,
            Patience::Replace => REPLACE_LIMIT,
        };
    while !try_lock(&file)? {
        let holder = Holder::read(lock);
        let reached = |holder: &Holder| patience == Patience::None && reach(paths, holder);
        if let Some(holder) = holder.as_ref().filter(|holder| reached(holder)) {
            return Ok(Met::Worker(holder.pid()));
        }
        if Instant::now() > end {
            // Between taking a lock and writing into it, a new worker leaves a dead one's text there.
            let lives = holder.filter(Holder::is_worker);
            return Ok(lives.map_or(Met::Nobody, |holder| Met::Worker(holder.pid())));
        }
        std::thread::sleep(POLL);
    }
    Ok(Met::Free(file))
}

/// Whether a shell that looks for the socket in our place meets the living worker, now or soon.
fn reach(paths: &Paths, holder: &Holder) -> bool {
    let (ours, theirs) = (paths.socket(), holder.socket());
    if is_missing(theirs) {
        // It makes its socket again.
        let _ = holder.signal(Signal::HUP);
    }
    if ours == theirs {
        return holder.is_worker();
    }
    is_served(theirs) && link(&ours, theirs).is_ok()
}

/// A link there is one that came too late.
fn is_missing(socket: &Path) -> bool {
    std::fs::symlink_metadata(socket).is_ok_and(|found| found.is_symlink())
        || identity_of(socket).is_none()
}

/// Whether a worker listens there, in a place that is ours alone. A full backlog is a sign of life.
fn is_served(socket: &Path) -> bool {
    socket.parent().is_some_and(is_private)
        && matches!(connect(socket), Ok(()) | Err(Errno::WOULDBLOCK))
}

/// Connects without ever waiting, and hangs up.
fn connect(socket: &Path) -> rustix::io::Result<()> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let fd = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    rustix::net::connect(&fd, &SocketAddrUnix::new(socket)?)
}

/// Puts a link to the living worker's socket in our place; nothing that is alive or no socket goes.
fn link(ours: &Path, theirs: &Path) -> io::Result<()> {
    if std::fs::read_link(ours).is_ok_and(|target| target == theirs) {
        return Ok(());
    }
    if let Ok(found) = std::fs::symlink_metadata(ours) {
        let kind = found.file_type();
        let stale = kind.is_socket() && connect(ours) == Err(Errno::CONNREFUSED);
        if !stale && !kind.is_symlink() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
    }
    let new = ours.with_file_name(format!("worker.sock-{}", std::process::id()));
    std::os::unix::fs::symlink(theirs, &new)?;
    std::fs::rename(&new, ours).inspect_err(|_| drop(std::fs::remove_file(&new)))
}

/// Device and inode of the socket, if it is there.
pub(crate) fn identity_of(socket: &Path) -> Option<(u64, u64)> {
    std::fs::symlink_metadata(socket)
        .ok()
        .map(|found| (found.dev(), found.ino()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn a_link_replaces_what_is_dead_and_nothing_else() {
        let directory = tempfile::tempdir().expect("tempdir");
        let place = |name: &str| directory.path().join(name);
        let (ours, theirs) = (place("ours"), place("theirs"));
        link(&ours, &theirs).expect("nothing was there");
        link(&ours, &place("another")).expect("a link was there");
        assert_eq!(std::fs::read_link(&ours).expect("a link"), place("another"));
        std::fs::remove_file(&ours).expect("removed");
        let alive = UnixListener::bind(&ours).expect("bound");
        assert!(link(&ours, &theirs).is_err(), "somebody serves there");
        drop(alive);
        link(&ours, &theirs).expect("a stale socket was there");
        std::fs::remove_file(&ours).expect("removed");
        std::fs::write(&ours, "mine").expect("written");
        assert!(link(&ours, &theirs).is_err(), "it is no socket");
        assert_eq!(
            std::fs::read_dir(directory.path()).expect("read").count(),
            1
        );
    }
}

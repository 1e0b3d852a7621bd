//! A cache of directory listings that never makes a caller wait longer than it
//! asked to.
//!
//! - Listings are kept in memory and checked against the directory's identity
//!   and time of change; unchanged directories are not read again.
//! - Reading happens on threads of a bounded pool. A caller that runs out of
//!   time gets what has been read so far; reading goes on behind it.
//! - A directory whose calls hang holds at most one thread, and requests for it
//!   (or for the network mount it lies on) are refused until it comes back.
//! - Nothing is read that nobody asked for.

mod chunk;
mod mounts;
mod pool;
mod reader;
mod scan;
mod view;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::{Duration, Instant};

pub use chunk::Entry;
pub(crate) use pool::{Beat, Blame, Task};
pub(crate) use reader::{Disk, Reader};
pub use view::{Hit, Listing, State};

use chunk::Chunk;
use pool::{Pool, Threads};
use scan::Slot;

/// Why there is no listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unavailable {
    /// The directory does not exist, or the path is no directory.
    #[error("no such directory")]
    Missing,
    /// The directory may not be read.
    #[error("the directory is not readable")]
    Denied,
    /// Reading failed otherwise.
    #[error("the directory cannot be read")]
    Failed,
    /// The place is known to be slow and is left alone for a while.
    #[error("the directory is on a slow file system")]
    Slow,
    /// All threads are in use.
    #[error("too many directories are being read")]
    Busy,
    /// Nothing was read within the budget; reading goes on.
    #[error("the directory was not read in time")]
    Late,
}

/// Bounds of the cache.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of all listings together; the least recently used go first. One
    /// listing may take half of it, entries beyond that are left out.
    pub memory: usize,
    /// Threads that read, and how many of them may hang before requests on
    /// network mounts are refused.
    pub threads: usize,
    /// See `threads`.
    pub stuck: usize,
    /// Links per directory whose targets are looked at.
    pub links: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory: 64 << 20,
            threads: 8,
            stuck: 4,
            links: 2048,
        }
    }
}

/// Properties of an entry that cost one system call each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Details {
    /// Time of the last change, seconds since 1970.
    pub modified: i64,
    /// A regular file that someone may execute.
    pub executable: bool,
}

/// Which entries a listing holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Mode {
    /// All.
    All,
    /// Executable regular files, links followed.
    Commands,
}

pub(crate) type Key = (PathBuf, Mode);

#[derive(Default)]
struct Cache {
    slots: HashMap<Key, Slot>,
}

impl Cache {
    fn bytes(&self) -> usize {
        self.slots.values().map(Slot::bytes).sum()
    }
}

pub(crate) struct Shared {
    cache: Mutex<Cache>,
    /// Signalled when a slot gained entries or work on it ended.
    changed: Condvar,
    reader: Box<dyn Reader>,
    limits: Limits,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Cache> {
        lock(&self.cache)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The cache. Share it behind an `Arc`; all methods take `&self`.
pub struct Listings {
    shared: Arc<Shared>,
    pool: Arc<Pool>,
}

impl std::fmt::Debug for Listings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Listings")
            .field("bytes", &self.bytes())
            .finish_non_exhaustive()
    }
}

impl Default for Listings {
    fn default() -> Self {
        Self::new(Limits::default())
    }
}

impl Listings {
    /// An empty cache over the real file system.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self::with_reader(limits, Box::new(Disk))
    }

    pub(crate) fn with_reader(limits: Limits, reader: Box<dyn Reader>) -> Self {
        let threads = Threads {
            all: limits.threads.max(1),
            stuck: limits.stuck,
        };
        let shared = Shared {
            cache: Mutex::default(),
            changed: Condvar::new(),
            reader,
            limits,
        };
        Self {
            shared: Arc::new(shared),
            pool: Arc::new(Pool::new(threads)),
        }
    }

    /// The entries of `directory` (absolute), after at most `budget`.
    ///
    /// # Errors
    /// When the directory cannot be read, or nothing is known of it in time.
    pub fn list(&self, directory: &Path, budget: Duration) -> Result<Listing, Unavailable> {
        self.get(&key(directory, Mode::All), budget)
    }

    /// The entries of `directory` (absolute) as they were when it was read last, at once: whether it has
    /// changed since is not looked at.
    pub fn known(&self, directory: &Path) -> Option<Listing> {
        let mut cache = self.shared.lock();
        let slot = cache.slots.get_mut(&key(directory, Mode::All))?;
        slot.used = Instant::now();
        slot.answer(None).ok()
    }

    /// Starts reading `directory` (absolute) if it changed, and returns at once.
    pub fn prefetch(&self, directory: &Path) {
        // A refusal means that the next request will not find it prepared.
        let _ = scan::start(&self.shared, &self.pool, &key(directory, Mode::All));
    }

    /// The executable regular files in `directory`, links followed; otherwise
    /// like [`Listings::list`].
    ///
    /// # Errors
    /// As [`Listings::list`].
    pub fn executables(&self, directory: &Path, budget: Duration) -> Result<Listing, Unavailable> {
        self.get(&key(directory, Mode::Commands), budget)
    }

    pub(crate) fn prefetch_commands(&self, directory: &Path) {
        let _ = scan::start(&self.shared, &self.pool, &key(directory, Mode::Commands));
    }

    /// What is behind the first `most` of `names` in `directory`, as far as the
    /// calls for that come back within `budget`. One place per name.
    #[must_use]
    pub fn details(
        &self,
        directory: &Path,
        names: &[&[u8]],
        most: usize,
        budget: Duration,
    ) -> Vec<Option<Details>> {
        use std::os::unix::ffi::OsStrExt;
        let paths: Vec<PathBuf> = names
            .iter()
            .take(most)
            .map(|name| directory.join(std::ffi::OsStr::from_bytes(name)))
            .collect();
        let found = Arc::new(Mutex::new(vec![None; names.len()]));
        let shared = Arc::clone(&found);
        // One word at the end: to be woken for each file takes longer than to look at it.
        let done = self.run(directory, move |reader, beat, done| {
            for (at, path) in paths.iter().enumerate() {
                let details = reader.details(path);
                beat.tick();
                match lock(&shared).get_mut(at) {
                    Some(place) => *place = details,
                    // Taken already: nobody waits any more.
                    None => return,
                }
            }
            let _ = done.send(());
        });
        if let Ok(done) = done {
            // However the wait ends: what is there is there.
            let _ = done.recv_timeout(budget);
        }
        std::mem::take(&mut *lock(&found))
    }

    /// Runs other file system work of `directory` on the pool; it sends its
    /// results, and should stop when nobody receives them.
    pub(crate) fn run<T, F>(
        &self,
        directory: &Path,
        work: F,
    ) -> Result<mpsc::Receiver<T>, Unavailable>
    where
        T: Send + 'static,
        F: FnOnce(&dyn Reader, &Beat, &mpsc::Sender<T>) + Send + 'static,
    {
        let (sender, receiver) = mpsc::channel();
        let shared = Arc::clone(&self.shared);
        let task: Task = Box::new(move |beat| work(&*shared.reader, beat, &sender));
        self.pool.submit(directory, Blame::Directory, task)?;
        Ok(receiver)
    }

    /// Bytes that the listings take.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.shared.lock().bytes()
    }

    /// Forgets listings that nobody asked for during `unused`.
    pub fn trim(&self, unused: Duration) {
        let mut cache = self.shared.lock();
        cache
            .slots
            .retain(|_, slot| slot.is_busy() || slot.used.elapsed() < unused);
    }

    fn get(&self, key: &Key, budget: Duration) -> Result<Listing, Unavailable> {
        let deadline = Instant::now() + budget;
        let refused = scan::start(&self.shared, &self.pool, key).err();
        let mut cache = self.shared.lock();
        loop {
            let Some(slot) = cache.slots.get(key) else {
                return Err(refused.unwrap_or(Unavailable::Late));
            };
            let left = until(deadline);
            if refused.is_some() || left.is_zero() || slot.is_settled(left) {
                return slot.answer(refused);
            }
            let pause = slot.pause(left);
            let waited = self.shared.changed.wait_timeout(cache, pause);
            cache = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

fn until(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now())
}

/// Paths that differ only in `.` and doubled slashes share a listing.
fn key(directory: &Path, mode: Mode) -> Key {
    (directory.components().collect(), mode)
}

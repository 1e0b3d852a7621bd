//! What the cache knows of one directory, and the work that keeps it true.

use std::ffi::OsStr;
use std::io;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use super::chunk::{Builder, Directory};
use super::reader::{Stamp, Type};
use super::{Beat, Blame, Chunk, Key, Listing, Mode, Pool, Shared, State, Unavailable};

/// Entries in a chunk, and the time after which a smaller one is published.
const CHUNK: usize = 4096;
const PUBLISH: Duration = Duration::from_millis(2);
/// A directory that took longer than this is not read again at every change:
/// at most a fifth of the time goes into reading it.
const QUICK: Duration = Duration::from_millis(5);
const REST: u32 = 4;

/// Directories that are known at most, those without entries included.
const SLOTS: usize = 4096;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Idle,
    /// Waiting for a thread, or checking whether the directory changed.
    Checking,
    Reading,
}

/// One directory.
pub(crate) struct Slot {
    /// The last listing that was read to its end.
    whole: Option<Vec<Arc<Chunk>>>,
    /// `whole` may lack changes.
    outdated: bool,
    /// The memory bound cut `whole` short.
    truncated: bool,
    /// The listing that is being read.
    growing: Vec<Arc<Chunk>>,
    stamp: Option<Stamp>,
    racy: bool,
    error: Option<Unavailable>,
    phase: Phase,
    /// When work on links started, while it goes on.
    links: Option<Instant>,
    /// How long the last reading took and when it ended.
    took: Duration,
    ended: Option<Instant>,
    pub used: Instant,
}

impl Slot {
    fn new() -> Self {
        Self {
            whole: None,
            outdated: false,
            truncated: false,
            growing: Vec::new(),
            stamp: None,
            racy: false,
            error: None,
            phase: Phase::Idle,
            links: None,
            took: Duration::ZERO,
            ended: None,
            used: Instant::now(),
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        let whole = self.whole.iter().flatten();
        whole.chain(&self.growing).map(|chunk| chunk.bytes()).sum()
    }

    pub(crate) fn is_busy(&self) -> bool {
        self.phase != Phase::Idle || self.links.is_some()
    }

    /// Whether waiting up to `left` more would change the answer.
    pub(crate) fn is_settled(&self, left: Duration) -> bool {
        match self.phase {
            Phase::Checking => false,
            // A known listing now is better than a fresh one too late.
            Phase::Reading => self.whole.is_some() && self.took > left,
            // Links are quick or hang; the listing does not wait for the latter.
            Phase::Idle => self.links.is_none_or(|since| since.elapsed() > QUICK),
        }
    }

    /// How long to wait at most before looking again.
    pub(crate) fn pause(&self, left: Duration) -> Duration {
        if self.links.is_some() {
            left.min(QUICK)
        } else {
            left
        }
    }

    pub(crate) fn answer(&self, refused: Option<Unavailable>) -> Result<Listing, Unavailable> {
        if let Some(error) = self.error {
            return Err(error);
        }
        if let Some(whole) = &self.whole {
            let current = refused.is_none() && self.phase == Phase::Idle && !self.outdated;
            let state = match (current, self.truncated) {
                (true, false) => State::Complete,
                (true, true) => State::Partial,
                (false, _) => State::Stale,
            };
            return Ok(Listing::new(whole.clone(), state));
        }
        if self.growing.is_empty() {
            return Err(refused.unwrap_or(Unavailable::Late));
        }
        Ok(Listing::new(self.growing.clone(), State::Partial))
    }

    /// Whether the directory was read so recently, at such cost, that a change
    /// has to wait.
    fn must_rest(&self) -> bool {
        self.took > QUICK
            && self
                .ended
                .is_some_and(|ended| ended.elapsed() < self.took * REST)
    }
}

/// Has the directory checked, and read if it changed, unless that is under way.
pub(crate) fn start(shared: &Arc<Shared>, pool: &Arc<Pool>, key: &Key) -> Result<(), Unavailable> {
    {
        let mut cache = shared.lock();
        let slot = cache.slots.entry(key.clone()).or_insert_with(Slot::new);
        slot.used = Instant::now();
        if slot.phase != Phase::Idle {
            drop(cache);
            return pool.check(&key.0);
        }
        slot.phase = Phase::Checking;
    }
    let work = Work {
        shared: Arc::clone(shared),
        pool: Arc::clone(pool),
        key: key.clone(),
    };
    let refused = pool.submit(
        &key.0,
        Blame::Directory,
        Box::new(move |beat| work.check(beat)),
    );
    if refused.is_err() {
        let mut cache = shared.lock();
        if let Some(slot) = cache.slots.get_mut(key) {
            slot.phase = Phase::Idle;
            if slot.whole.is_none() && slot.growing.is_empty() {
                cache.slots.remove(key);
            }
        }
        shared.changed.notify_all();
    }
    refused
}

/// What one reading of a directory found, besides the entries.
struct Reading {
    /// Names of links, whose kind is open.
    links: Vec<Vec<u8>>,
    /// The memory bound was reached.
    truncated: bool,
    took: Duration,
}

struct Work {
    shared: Arc<Shared>,
    pool: Arc<Pool>,
    key: Key,
}

/// Puts the slot to rest however the work ends.
struct Rest<'a>(&'a Work);

impl Drop for Rest<'_> {
    fn drop(&mut self) {
        self.0.with_slot(|slot| {
            slot.phase = Phase::Idle;
            slot.growing = Vec::new();
        });
        self.0.settle();
    }
}

impl Work {
    fn directory(&self) -> &Path {
        &self.key.0
    }

    fn with_slot<T>(&self, change: impl FnOnce(&mut Slot) -> T) -> Option<T> {
        let mut cache = self.shared.lock();
        let slot = cache.slots.get_mut(&self.key)?;
        let result = change(slot);
        drop(cache);
        self.shared.changed.notify_all();
        Some(result)
    }

    /// Keeps the cache inside its bounds: the least recently used go first.
    fn settle(&self) {
        let mut cache = self.shared.lock();
        let mut bytes = cache.bytes();
        while bytes > self.shared.limits.memory || cache.slots.len() > SLOTS {
            let oldest = cache
                .slots
                .iter()
                .filter(|(key, slot)| **key != self.key && !slot.is_busy())
                .min_by_key(|(_, slot)| slot.used)
                .map(|(key, _)| key.clone());
            let Some(gone) = oldest.and_then(|key| cache.slots.remove(&key)) else {
                return;
            };
            bytes -= gone.bytes();
        }
    }

    fn check(&self, beat: &Beat) {
        let rest = Rest(self);
        let now = SystemTime::now();
        let stamp = match self.shared.reader.stamp(self.directory()) {
            Ok(stamp) => stamp,
            Err(error) => return self.fail(&error),
        };
        beat.tick();
        if !self.must_read(stamp) {
            return;
        }
        match self.read(beat) {
            Ok(reading) => {
                let follow = self.finish(stamp, now, &reading);
                drop(rest);
                if follow {
                    self.follow_later(reading.links);
                }
            }
            Err(error) => self.fail(&error),
        }
    }

    /// Whether the directory is another than the one that was read. Those who wait hear of it when
    /// that is known to the end: when the slot rests, or now that they may have to do with less.
    fn must_read(&self, stamp: Stamp) -> bool {
        let mut cache = self.shared.lock();
        let Some(slot) = cache.slots.get_mut(&self.key) else {
            return false;
        };
        let same = slot.stamp == Some(stamp) && slot.whole.is_some() && slot.error.is_none();
        if same && !slot.racy {
            slot.outdated = false;
            return false;
        }
        if slot.whole.is_some() && slot.must_rest() {
            slot.outdated = !same;
            return false;
        }
        slot.phase = Phase::Reading;
        drop(cache);
        self.shared.changed.notify_all();
        true
    }

    fn fail(&self, error: &io::Error) {
        let error = match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Unavailable::Missing,
            io::ErrorKind::PermissionDenied => Unavailable::Denied,
            _ => Unavailable::Failed,
        };
        self.with_slot(|slot| {
            slot.whole = None;
            slot.stamp = None;
            slot.error = Some(error);
        });
    }

    /// Books a reading; whether its links are to be followed now.
    fn finish(&self, stamp: Stamp, started: SystemTime, reading: &Reading) -> bool {
        let follow = self.with_slot(|slot| {
            slot.whole = Some(std::mem::take(&mut slot.growing));
            slot.stamp = Some(stamp);
            slot.racy = stamp.is_racy(started);
            slot.outdated = false;
            slot.truncated = reading.truncated;
            slot.error = None;
            slot.took = reading.took;
            slot.ended = Some(Instant::now());
            // Earlier links may still hang; theirs is the only thread spent on it.
            let follow = slot.links.is_none() && !reading.links.is_empty();
            if follow {
                slot.links = Some(Instant::now());
            }
            follow
        });
        follow == Some(true)
    }

    /// Reads all entries.
    fn read(&self, beat: &Beat) -> io::Result<Reading> {
        let began = Instant::now();
        let mut links = Vec::new();
        let mut builder = Builder::default();
        let mut published = began;
        let mut bytes = 0;
        let mut seen = 0_usize;
        let most = self.shared.limits.memory / 2;
        self.shared
            .reader
            .read(self.directory(), &mut |name, kind| {
                seen += 1;
                self.collect(name, kind, &mut builder, &mut links);
                let due = seen.is_multiple_of(64) && published.elapsed() > PUBLISH;
                if builder.len() < CHUNK && !due {
                    return ControlFlow::Continue(());
                }
                bytes += self.publish(&mut builder);
                published = Instant::now();
                beat.tick();
                if bytes > most {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            })?;
        self.publish(&mut builder);
        // Links are files until their targets have been seen.
        for name in &links {
            builder.push(name, Directory::No);
        }
        self.publish(&mut builder);
        beat.tick();
        links.truncate(self.shared.limits.links);
        Ok(Reading {
            links,
            truncated: bytes > most,
            took: began.elapsed(),
        })
    }

    fn collect(&self, name: &[u8], kind: Type, builder: &mut Builder, links: &mut Vec<Vec<u8>>) {
        if self.key.1 == Mode::Commands {
            let path = self.directory().join(OsStr::from_bytes(name));
            let details = || self.shared.reader.details(&path);
            if kind != Type::Directory && details().is_some_and(|details| details.executable) {
                builder.push(name, Directory::No);
            }
            return;
        }
        match kind {
            Type::Link => links.push(name.to_vec()),
            Type::Directory => builder.push(name, Directory::Yes),
            Type::Other => builder.push(name, Directory::No),
        }
    }

    /// Makes what was read so far visible; returns its size in bytes.
    fn publish(&self, builder: &mut Builder) -> usize {
        if builder.len() == 0 {
            return 0;
        }
        let chunk = Arc::new(builder.finish());
        let bytes = chunk.bytes();
        self.with_slot(|slot| slot.growing.push(chunk));
        self.settle();
        bytes
    }

    /// Looks behind the links on a thread of their own: one of them may lead to
    /// a place that hangs, and the directory is no worse for that.
    fn follow_later(&self, links: Vec<Vec<u8>>) {
        let work = Self {
            shared: Arc::clone(&self.shared),
            pool: Arc::clone(&self.pool),
            key: self.key.clone(),
        };
        let task = Box::new(move |beat: &Beat| work.follow(&links, beat));
        if self
            .pool
            .submit(self.directory(), Blame::Nobody, task)
            .is_err()
        {
            self.with_slot(|slot| slot.links = None);
        }
    }

    fn follow(&self, links: &[Vec<u8>], beat: &Beat) {
        let mut directories = Vec::new();
        for name in links {
            let path = self.directory().join(OsStr::from_bytes(name));
            if self.shared.reader.is_directory(&path) {
                directories.push(name.as_slice());
            }
            beat.tick();
        }
        self.with_slot(|slot| {
            slot.links = None;
            for chunk in slot.whole.iter_mut().flatten() {
                for name in &directories {
                    if let Some(at) = chunk.find(name) {
                        Arc::make_mut(chunk).mark_directory(at);
                    }
                }
            }
        });
    }
}

//! What has been read in the background, and the two threads that read it.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use tabsense_shortcuts::Shortcut;

use super::set::Set;

/// Places kept; the one unused for longest goes.
const PLACES: usize = 64;

/// Files with their times of change and sizes: when these are the same, so is what is in them.
pub(super) type Stamp = Vec<(PathBuf, Option<(SystemTime, u64)>)>;

/// The state of some files.
pub(super) fn stamp(files: &[PathBuf]) -> Stamp {
    let state = |file: &Path| {
        let data = file.metadata().ok()?;
        Some((data.modified().ok()?, data.len()))
    };
    files
        .iter()
        .map(|file| (file.clone(), state(file)))
        .collect()
}

/// How often a place is looked at, and what reading it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pace {
    /// Never again: what it is made of is known by the key.
    Once,
    /// Small files that change often.
    Quick,
    /// Many files that change seldom.
    Slow,
    /// Thousands of files. No model reads their texts beforehand.
    Long,
}

impl Pace {
    fn fresh(self) -> Duration {
        match self {
            Self::Once => Duration::MAX,
            Self::Quick => Duration::ZERO,
            Self::Slow => Duration::from_secs(60),
            Self::Long => Duration::from_secs(600),
        }
    }

    fn is_quick(self) -> bool {
        matches!(self, Self::Once | Self::Quick)
    }
}

/// Names the files that a place is made of.
pub(super) type Files = Box<dyn FnOnce() -> Vec<PathBuf> + Send>;

/// Makes shortcuts of them.
pub(super) type ReadAll = Box<dyn FnOnce(&[PathBuf]) -> Vec<Shortcut> + Send>;

type Job = Box<dyn FnOnce() + Send>;

/// What has been read, by keys.
pub(super) struct Kept {
    shared: Arc<Shared>,
    quick: Sender<Job>,
    slow: Sender<Job>,
}

#[derive(Default)]
struct Shared {
    places: Mutex<HashMap<u64, Place>>,
    changed: Condvar,
}

struct Place {
    set: Option<Arc<Set>>,
    stamp: Option<Stamp>,
    looked: Option<Instant>,
    busy: bool,
    quick: bool,
    used: Instant,
}

impl Kept {
    /// Nothing yet, and no thread until there is something to read.
    pub(super) fn new() -> Self {
        Self {
            shared: Arc::default(),
            quick: thread("quick sources"),
            slow: thread("slow sources"),
        }
    }

    /// Has a place looked at in the background, if its time has come: `files` names what it is made
    /// of, and when that has changed `read` makes shortcuts of it.
    pub(super) fn look(&self, key: u64, pace: Pace, files: Files, read: ReadAll) {
        let now = Instant::now();
        let before = {
            let mut places = self.shared.lock();
            make_room(&mut places, key);
            let place = places.entry(key).or_insert_with(|| Place {
                set: None,
                stamp: None,
                looked: None,
                busy: false,
                quick: pace.is_quick(),
                used: now,
            });
            place.used = now;
            let is_fresh = |looked: Instant| now.duration_since(looked) < pace.fresh();
            if place.busy || place.looked.is_some_and(is_fresh) {
                return;
            }
            place.busy = true;
            place.stamp.clone()
        };
        let shared = Arc::clone(&self.shared);
        let job = move || {
            let look = || {
                let files = files();
                let stamp = stamp(&files);
                let is_read = pace != Pace::Long;
                let set = (before.as_ref() != Some(&stamp))
                    .then(|| Arc::new(Set::new(read(&files), is_read)));
                (stamp, set)
            };
            // A source that panics must not end the others, nor be waited for.
            let found = catch_unwind(AssertUnwindSafe(look));
            let (stamp, set) = found.unwrap_or_default();
            shared.put(key, stamp, set);
        };
        let thread = match pace.is_quick() {
            true => &self.quick,
            false => &self.slow,
        };
        let _ = thread.send(Box::new(job));
    }

    /// What is known by these keys, after quick places have been looked at or time is up.
    pub(super) fn wait(&self, keys: &[u64], until: Instant) -> Vec<Arc<Set>> {
        let mut places = self.shared.lock();
        loop {
            let is_busy = |key: &u64| {
                places
                    .get(key)
                    .is_some_and(|place| place.busy && place.quick)
            };
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || !keys.iter().any(is_busy) {
                break;
            }
            places = self
                .shared
                .changed
                .wait_timeout(places, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        let set = |key: &u64| places.get(key).and_then(|place| place.set.clone());
        keys.iter().filter_map(set).collect()
    }

    /// The addresses of all sets.
    pub(super) fn all(&self) -> std::vec::IntoIter<usize> {
        let places = self.shared.lock();
        let sets = places.values().filter_map(|place| place.set.as_ref());
        let all: Vec<usize> = sets.map(|set| Arc::as_ptr(set) as usize).collect();
        all.into_iter()
    }
}

fn make_room(places: &mut HashMap<u64, Place>, key: u64) {
    if places.len() < PLACES || places.contains_key(&key) {
        return;
    }
    let oldest = places
        .iter()
        .filter(|(_, place)| !place.busy)
        .min_by_key(|(_, place)| place.used)
        .map(|(key, _)| *key);
    if let Some(oldest) = oldest {
        places.remove(&oldest);
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Place>> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, key: u64, stamp: Stamp, set: Option<Arc<Set>>) {
        if let Some(place) = self.lock().get_mut(&key) {
            place.busy = false;
            place.looked = Some(Instant::now());
            place.stamp = Some(stamp);
            place.set = set.or_else(|| place.set.take());
        }
        self.changed.notify_all();
    }
}

/// A thread that does what it is sent, one after the other; it ends with the sender.
fn thread(name: &str) -> Sender<Job> {
    let (send, receive) = mpsc::channel::<Job>();
    // Where no thread can be had, nothing is read and the built-in shortcuts remain.
    let _ = std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(move || {
            for job in receive {
                job();
            }
        });
    send
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use tabsense_shortcuts::Source;

    fn far() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    #[test]
    fn a_place_is_read_again_when_one_of_its_files_has_changed() {
        let dir = tempfile::tempdir().expect("tempdir");
        let file = dir.path().join("f");
        let kept = Kept::new();
        let reads = Arc::new(AtomicUsize::new(0));
        let look = || {
            let (named, counted) = (file.clone(), Arc::clone(&reads));
            let read = move |files: &[PathBuf]| {
                counted.fetch_add(1, Ordering::Relaxed);
                let text = std::fs::read_to_string(&files[0]).unwrap_or_default();
                tabsense_shortcuts::parse(&text, "f", Source::File).0
            };
            kept.look(
                1,
                Pace::Quick,
                Box::new(move || vec![named]),
                Box::new(read),
            );
            let sets = kept.wait(&[1, 2], far());
            sets.iter().map(|set| set.shortcuts.len()).sum::<usize>()
        };
        assert_eq!(look(), 0);
        std::fs::write(&file, "[[shortcut]]\nid = \"a\"\ncommand = \"x\"\n").expect("written");
        assert_eq!((look(), look()), (1, 1));
        assert_eq!(reads.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn nobody_waits_for_a_place_that_hangs() {
        let kept = Kept::new();
        let (free, hang) = mpsc::channel::<()>();
        let read = move |_: &[PathBuf]| {
            let _ = hang.recv();
            Vec::new()
        };
        kept.look(1, Pace::Quick, Box::new(Vec::new), Box::new(read));
        assert!(kept.wait(&[1], Instant::now()).is_empty());
        drop(free);
        assert_eq!(kept.wait(&[1], far()).len(), 1);
    }

    #[test]
    fn places_unused_for_long_are_forgotten() {
        let kept = Kept::new();
        for key in 0..2 * PLACES as u64 {
            kept.look(
                key,
                Pace::Once,
                Box::new(Vec::new),
                Box::new(|_| Vec::new()),
            );
            kept.wait(&[key], far());
        }
        assert_eq!(kept.all().count(), PLACES);
    }
}

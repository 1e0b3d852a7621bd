use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use tabsense_rank::Kind;

use super::reader::{Stamp, Type};
use super::{Details, Limits, Listing, Listings, Reader, State, Unavailable};

/// Short enough for tests, long enough for a thread to be scheduled.
const SHORT: Duration = Duration::from_millis(20);
/// Only waited for in full when a test fails.
const LONG: Duration = Duration::from_secs(60);

/// A file system whose calls can be held back.
#[derive(Default)]
struct World {
    directories: HashMap<PathBuf, Vec<(String, Type)>>,
    stamps: BTreeMap<PathBuf, u64>,
    /// Calls for these paths hang.
    held: HashSet<PathBuf>,
    /// Entries of these directories come, up to a number, and then nothing.
    held_after: HashMap<PathBuf, usize>,
    reads: usize,
}

#[derive(Clone, Default)]
struct Fake(Arc<(Mutex<World>, Condvar)>);

impl Fake {
    fn change<T>(&self, change: impl FnOnce(&mut World) -> T) -> T {
        let result = change(&mut self.0.0.lock().expect("no panic in here"));
        self.0.1.notify_all();
        result
    }

    fn directory(&self, path: &str, entries: impl IntoIterator<Item = (String, Type)>) {
        self.change(|world| {
            world
                .directories
                .insert(path.into(), entries.into_iter().collect());
            *world.stamps.entry(path.into()).or_insert(0) += 1;
        });
    }

    fn hold(&self, path: &str) {
        self.change(|world| world.held.insert(path.into()));
    }

    fn release(&self, path: &str) {
        self.change(|world| {
            world.held.remove(Path::new(path));
            world.held_after.remove(Path::new(path));
        });
    }

    fn wait(&self, blocked: impl Fn(&World) -> bool) {
        let mut world = self.0.0.lock().expect("no panic in here");
        while blocked(&world) {
            world = self.0.1.wait(world).expect("no panic in here");
        }
    }

    fn listings(&self, limits: Limits) -> Listings {
        Listings::with_reader(limits, Box::new(self.clone()))
    }
}

impl Reader for Fake {
    fn stamp(&self, directory: &Path) -> io::Result<Stamp> {
        self.wait(|world| world.held.contains(directory));
        let inode = self.change(|world| world.stamps.get(directory).copied());
        let inode = inode.ok_or(io::ErrorKind::NotFound)?;
        Ok(Stamp {
            device: 1,
            inode,
            seconds: 1_000_000,
            nanoseconds: 1,
        })
    }

    fn read(
        &self,
        directory: &Path,
        each: &mut dyn FnMut(&[u8], Type) -> ControlFlow<()>,
    ) -> io::Result<()> {
        let entries = self.change(|world| {
            world.reads += 1;
            world.directories[directory].clone()
        });
        for (at, (name, kind)) in entries.iter().enumerate() {
            self.wait(|world| {
                world
                    .held_after
                    .get(directory)
                    .is_some_and(|most| at >= *most)
            });
            if each(name.as_bytes(), *kind).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn is_directory(&self, path: &Path) -> bool {
        self.wait(|world| world.held.contains(path));
        self.change(|world| world.directories.contains_key(path))
    }

    fn details(&self, path: &Path) -> Option<Details> {
        self.wait(|world| world.held.contains(path));
        Some(Details {
            modified: 7,
            executable: path.to_string_lossy().ends_with('x'),
        })
    }
}

fn files(count: usize) -> impl Iterator<Item = (String, Type)> {
    (0..count).map(|number| (format!("file{number:06}"), Type::Other))
}

/// Asks again until the answer is as wanted; every call waits on its budget.
fn until(
    listings: &Listings,
    path: &str,
    wanted: impl Fn(&Result<Listing, Unavailable>) -> bool,
) -> Result<Listing, Unavailable> {
    let deadline = std::time::Instant::now() + LONG;
    loop {
        let answer = listings.list(Path::new(path), SHORT);
        if wanted(&answer) {
            return answer;
        }
        assert!(
            std::time::Instant::now() < deadline,
            "last answer: {answer:?}"
        );
    }
}

fn is_complete(answer: &Result<Listing, Unavailable>) -> bool {
    answer
        .as_ref()
        .is_ok_and(|listing| listing.state() == State::Complete)
}

#[test]
fn a_hanging_directory_costs_its_callers_only_their_budget() {
    let fake = Fake::default();
    fake.directory("/slow", files(1));
    fake.directory("/quick", files(3));
    fake.hold("/slow");
    let listings = fake.listings(Limits::default());
    // These return although the directory never does, soon without waiting.
    for budget in [SHORT, Duration::ZERO] {
        let refused = listings.list(Path::new("/slow"), budget).unwrap_err();
        assert!(matches!(refused, Unavailable::Late | Unavailable::Slow));
    }
    let slow = |answer: &Result<Listing, Unavailable>| {
        answer
            .as_ref()
            .is_err_and(|error| *error == Unavailable::Slow)
    };
    assert!(until(&listings, "/slow", slow).is_err());
    assert_eq!(
        listings.list(Path::new("/slow"), LONG).unwrap_err(),
        Unavailable::Slow
    );
    listings.prefetch(Path::new("/slow"));
    // Others are answered meanwhile, and what lies below is refused in the end.
    assert_eq!(until(&listings, "/quick", is_complete).unwrap().len(), 3);
    fake.directory("/slow/below", files(1));
    fake.hold("/slow/below");
    assert!(until(&listings, "/slow/below", Result::is_err).is_err());
    // A listing that was read before counts as old then.
    let refused = |answer: &Result<Listing, Unavailable>| match answer {
        Ok(listing) => listing.state() == State::Stale,
        Err(error) => *error == Unavailable::Slow,
    };
    fake.directory("/slow/other", files(1));
    drop(until(&listings, "/slow/other", refused));
    assert!(listings.pool.threads() <= Limits::default().threads);
    fake.release("/slow");
    fake.release("/slow/below");
    assert_eq!(until(&listings, "/slow", is_complete).unwrap().len(), 1);
}

#[test]
fn threads_are_bounded_when_everything_hangs() {
    let fake = Fake::default();
    let limits = Limits {
        threads: 3,
        ..Limits::default()
    };
    let listings = fake.listings(limits);
    for number in 0..20 {
        let path = format!("/slow{number}");
        fake.directory(&path, files(1));
        fake.hold(&path);
        assert!(listings.list(Path::new(&path), Duration::ZERO).is_err());
    }
    assert!(listings.pool.threads() <= 3);
    fake.directory("/more", files(1));
    let refused = listings.list(Path::new("/more"), SHORT).unwrap_err();
    assert!(matches!(refused, Unavailable::Busy | Unavailable::Late));
    (0..20).for_each(|number| fake.release(&format!("/slow{number}")));
    until(&listings, "/more", is_complete).unwrap();
}

#[test]
fn a_long_listing_is_answered_in_part_and_completed_behind_the_caller() {
    let fake = Fake::default();
    fake.directory("/big", files(10_000));
    fake.change(|world| world.held_after.insert("/big".into(), 9_000));
    let listings = fake.listings(Limits::default());
    let part = until(&listings, "/big", |answer| answer.is_ok()).unwrap();
    assert_eq!(part.state(), State::Partial);
    assert!((1..10_000).contains(&part.len()));
    assert!(part.get(b"file000000").is_some());
    fake.release("/big");
    let whole = until(&listings, "/big", is_complete).unwrap();
    assert_eq!(whole.len(), 10_000);
    assert_eq!(fake.change(|world| world.reads), 1);
}

#[test]
fn an_unchanged_directory_is_read_once_and_a_changed_one_again() {
    let fake = Fake::default();
    fake.directory("/a", files(2));
    let listings = fake.listings(Limits::default());
    for _ in 0..5 {
        until(&listings, "/a/.", is_complete).unwrap();
    }
    assert_eq!(fake.change(|world| world.reads), 1);
    fake.directory("/a", files(3));
    until(&listings, "/a", |answer| {
        answer.as_ref().is_ok_and(|listing| listing.len() == 3)
    })
    .unwrap();
    assert_eq!(fake.change(|world| world.reads), 2);
}

#[test]
fn what_is_known_of_a_directory_comes_at_once_whatever_has_become_of_it() {
    let fake = Fake::default();
    fake.directory("/a", files(2));
    let listings = fake.listings(Limits::default());
    assert!(listings.known(Path::new("/a")).is_none());
    until(&listings, "/a", is_complete).unwrap();
    fake.directory("/a", files(3));
    fake.hold("/a");
    let known = listings.known(Path::new("/a/.")).expect("known");
    assert_eq!(known.len(), 2);
    fake.release("/a");
}

#[test]
fn a_costly_directory_is_not_read_again_at_every_change() {
    let fake = Fake::default();
    fake.directory("/big", files(5));
    fake.change(|world| world.held_after.insert("/big".into(), 1));
    let listings = fake.listings(Limits::default());
    // The reading takes at least this long.
    let held = Duration::from_secs(1);
    assert_eq!(
        listings.list(Path::new("/big"), held).unwrap_err(),
        Unavailable::Late
    );
    fake.release("/big");
    let shared = Arc::clone(&listings.shared);
    let mut cache = shared.lock();
    while cache.slots.values().any(|slot| slot.is_busy()) {
        cache = shared.changed.wait(cache).expect("no panic in here");
    }
    drop(cache);
    for count in 6..9 {
        fake.directory("/big", files(count));
        let listing = listings.list(Path::new("/big"), SHORT).unwrap();
        assert_eq!((listing.len(), listing.state()), (5, State::Stale));
    }
    assert_eq!(fake.change(|world| world.reads), 1);
}

#[test]
fn links_show_what_they_lead_to_and_may_hang() {
    let fake = Fake::default();
    fake.directory(
        "/a",
        [("file".into(), Type::Other), ("link".into(), Type::Link)],
    );
    fake.directory("/a/link", files(1));
    fake.hold("/a/link");
    let listings = fake.listings(Limits::default());
    let listing = until(&listings, "/a", is_complete).unwrap();
    assert_eq!(listing.get(b"link").unwrap().kind, Kind::File);
    fake.release("/a/link");
    until(&listings, "/a", |answer| {
        answer
            .as_ref()
            .is_ok_and(|listing| listing.get(b"link").unwrap().kind == Kind::Directory)
    })
    .unwrap();
}

#[test]
fn a_directory_that_goes_away_leaves_nothing() {
    let fake = Fake::default();
    fake.directory("/a", files(2));
    let listings = fake.listings(Limits::default());
    until(&listings, "/a", is_complete).unwrap();
    fake.change(|world| world.stamps.clear());
    let gone = until(&listings, "/a", Result::is_err).unwrap_err();
    assert_eq!(gone, Unavailable::Missing);
    assert_eq!(listings.bytes(), 0);
    fake.directory("/a", files(1));
    assert_eq!(until(&listings, "/a", is_complete).unwrap().len(), 1);
}

#[test]
fn memory_is_bounded_and_the_least_recent_go_first() {
    let fake = Fake::default();
    let limits = Limits {
        memory: 400_000,
        ..Limits::default()
    };
    let listings = fake.listings(limits);
    for number in 0..20 {
        let path = format!("/d{number}");
        fake.directory(&path, files(2_000));
        until(&listings, &path, is_complete).unwrap();
        assert!(listings.bytes() <= limits.memory);
    }
    let reads = fake.change(|world| world.reads);
    until(&listings, "/d19", is_complete).unwrap();
    assert_eq!(
        fake.change(|world| world.reads),
        reads,
        "the newest is still known"
    );
    until(&listings, "/d0", is_complete).unwrap();
    assert_eq!(
        fake.change(|world| world.reads),
        reads + 1,
        "the oldest is not"
    );
    listings.trim(Duration::ZERO);
    assert_eq!(listings.bytes(), 0);
}

#[test]
fn one_directory_takes_half_of_the_memory_at_most() {
    let fake = Fake::default();
    fake.directory("/huge", files(100_000));
    let listings = fake.listings(Limits {
        memory: 500_000,
        ..Limits::default()
    });
    let reads_done = |answer: &Result<Listing, Unavailable>| {
        answer
            .as_ref()
            .is_ok_and(|listing| listing.state() == State::Partial)
            && !listings
                .shared
                .lock()
                .slots
                .values()
                .any(|slot| slot.is_busy())
    };
    let listing = until(&listings, "/huge", reads_done).unwrap();
    assert_eq!(listing.state(), State::Partial);
    assert!(listing.len() < 100_000 && listings.bytes() <= 500_000);
}

#[test]
fn details_come_as_far_as_they_are_there_in_time() {
    let fake = Fake::default();
    fake.directory("/a", files(1));
    fake.hold("/a/hangs");
    let listings = fake.listings(Limits::default());
    let names: [&[u8]; 4] = [b"x", b"y", b"hangs", b"z"];
    let mut found = Vec::new();
    while found.first().is_none_or(Option::is_none) {
        found = listings.details(Path::new("/a"), &names[..2], 9, SHORT);
    }
    assert_eq!(
        found,
        [Some((7, true)), Some((7, false))].map(|known: Option<(i64, bool)>| known.map(
            |(modified, executable)| Details {
                modified,
                executable
            }
        ))
    );
    let found = listings.details(Path::new("/a"), &names, 4, Duration::from_secs(1));
    assert!(found[0].is_some() && found[1].is_some() && found[2].is_none() && found[3].is_none());
    assert_eq!(
        listings.details(Path::new("/b"), &names, 1, LONG)[1..],
        [None, None, None]
    );
}

//! The commands in `PATH`, for shells that did not send any.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, Instant};

use tabsense_rank::Match;

use crate::listing::{Listing, Listings};

/// Directories of `PATH` that are looked at.
const DIRECTORIES: usize = 64;

/// A command that matches what was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// Its name.
    pub name: Vec<u8>,
    /// How the name matches.
    pub quality: Match,
}

/// The executables of one `PATH`, as known when it was made.
#[derive(Clone, Debug)]
pub struct Commands {
    listings: Vec<Listing>,
}

/// The absolute directories in a `PATH`, each once. Empty and relative parts
/// mean the current directory and are left out: what lies there is no command
/// that a list should offer.
fn directories(path: &[u8]) -> impl Iterator<Item = &Path> {
    let mut seen = HashSet::new();
    path.split(|byte| *byte == b':')
        .filter(move |part| part.starts_with(b"/") && seen.insert(*part))
        .take(DIRECTORIES)
        .map(|part| Path::new(OsStr::from_bytes(part)))
}

impl Commands {
    /// Reads the directories in `path` (the value of `PATH`), all of them
    /// together within `budget`. Those that are late or unreadable are left out.
    #[must_use]
    pub fn gather(listings: &Listings, path: &[u8], budget: Duration) -> Self {
        let deadline = Instant::now() + budget;
        // All start before the first is waited for.
        Self::prefetch(listings, path);
        let left = || deadline.saturating_duration_since(Instant::now());
        let found = directories(path)
            .filter_map(|directory| listings.executables(directory, left()).ok())
            .collect();
        Self { listings: found }
    }

    /// Starts reading the directories in `path` and returns at once.
    pub fn prefetch(listings: &Listings, path: &[u8]) {
        directories(path).for_each(|directory| listings.prefetch_commands(directory));
    }

    /// At most `most` commands that match `typed` no worse than `floor`, the
    /// best first; each name once.
    #[must_use]
    pub fn search(&self, typed: &[u8], floor: Match, most: usize) -> Vec<Command> {
        let mut seen = HashSet::new();
        let mut hits: Vec<Command> = self
            .listings
            .iter()
            .flat_map(|listing| listing.search(typed, floor, most))
            .filter(|hit| seen.insert(hit.entry.name))
            .map(|hit| Command {
                name: hit.entry.name.to_vec(),
                quality: hit.quality,
            })
            .collect();
        hits.sort_unstable_by(|a, b| (a.quality, &a.name).cmp(&(b.quality, &b.name)));
        hits.truncate(most);
        hits
    }

    /// Whether a command of exactly this name exists.
    #[must_use]
    pub fn contains(&self, name: &[u8]) -> bool {
        self.listings
            .iter()
            .any(|listing| listing.get(name).is_some())
    }
}

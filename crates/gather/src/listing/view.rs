//! A listing as a caller sees it, and the search in it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tabsense_rank::Match;

use super::chunk::{Chunk, Entry};
use crate::matching::Matcher;

/// Names that do not start with what was typed are looked for during this time:
/// enough for some 100 000 names, or 5 000 Chinese ones.
const INSIDE_BUDGET: Duration = Duration::from_millis(3);

/// How much of the directory a listing shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// All of it, as it was when the request came.
    Complete,
    /// What was read so far, or what the memory bound allows.
    Partial,
    /// All of an earlier state; the directory may have changed since.
    Stale,
}

/// The entries of a directory. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Listing {
    chunks: Vec<Arc<Chunk>>,
    state: State,
}

/// An entry that matches what was typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit<'a> {
    /// The entry.
    pub entry: Entry<'a>,
    /// How its name matches.
    pub quality: Match,
}

impl Listing {
    pub(super) fn new(chunks: Vec<Arc<Chunk>>, state: State) -> Self {
        Self { chunks, state }
    }

    /// How much of the directory this is.
    #[must_use]
    pub fn state(&self) -> State {
        self.state
    }

    /// Number of entries, hidden ones included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.len()).sum()
    }

    /// Whether there are no entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All entries, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = Entry<'_>> {
        self.chunks
            .iter()
            .flat_map(|chunk| (0..chunk.len()).map(|at| chunk.entry(at)))
    }

    /// The entry of exactly this name.
    #[must_use]
    pub fn get(&self, name: &[u8]) -> Option<Entry<'_>> {
        self.chunks
            .iter()
            .find_map(|chunk| chunk.find(name).map(|at| chunk.entry(at)))
    }

    /// Entries whose name starts with exactly `prefix`, in no particular order.
    /// Hidden entries only when `prefix` starts with a dot.
    pub fn starting_with<'a>(&'a self, prefix: &[u8]) -> impl Iterator<Item = Entry<'a>> + use<'a> {
        let hidden = prefix.starts_with(b".");
        let ranges: Vec<_> = self
            .chunks
            .iter()
            .map(|chunk| (chunk, chunk.range(prefix)))
            .collect();
        ranges
            .into_iter()
            .flat_map(|(chunk, range)| range.map(|at| chunk.entry(at)))
            .filter(move |entry| hidden || !entry.name.starts_with(b"."))
    }

    /// At most `most` entries that match `typed` no worse than `floor`, the best
    /// qualities first, names in byte order within one.
    ///
    /// All names are looked through for `typed` as a prefix; those that match in
    /// another way are looked for during 3 ms.
    ///
    /// When more names start with `typed` than asked for, the first ones in byte
    /// order of each part of the directory are taken; ask [`Listing::get`] for
    /// names that matter for other reasons.
    #[must_use]
    pub fn search(&self, typed: &[u8], floor: Match, most: usize) -> Vec<Hit<'_>> {
        let mut hits: Vec<Hit<'_>> = self
            .starting_with(typed)
            .take(most)
            .map(|entry| Hit {
                entry,
                quality: prefix_quality(entry.name, typed),
            })
            .collect();
        if hits.len() < most && floor > Match::Prefix && !typed.is_empty() {
            self.search_rest(typed, floor, most - hits.len(), &mut hits);
        }
        hits.sort_unstable_by_key(|hit| (hit.quality, hit.entry.name));
        hits
    }

    fn search_rest<'a>(&'a self, typed: &[u8], floor: Match, most: usize, hits: &mut Vec<Hit<'a>>) {
        let mut matcher = Matcher::new(typed);
        let mut others: Vec<Hit<'a>> = Vec::new();
        let began = Instant::now();
        let mut checked = 0_u32;
        'chunks: for chunk in &self.chunks {
            for (at, letters) in chunk.letters().iter().enumerate() {
                if !matcher.may_match(*letters) {
                    continue;
                }
                checked += 1;
                if checked.is_multiple_of(128) && began.elapsed() > INSIDE_BUDGET {
                    break 'chunks;
                }
                let Some(quality) = matcher.quality(chunk.name(at)) else {
                    continue;
                };
                if quality <= floor && !chunk.name(at).starts_with(typed) {
                    others.push(Hit {
                        entry: chunk.entry(at),
                        quality,
                    });
                }
            }
        }
        if others.len() > most {
            others.select_nth_unstable_by_key(most, |hit| (hit.quality, hit.entry.name));
            others.truncate(most);
        }
        hits.append(&mut others);
    }
}

fn prefix_quality(name: &[u8], typed: &[u8]) -> Match {
    if name == typed {
        Match::Exact
    } else {
        Match::Prefix
    }
}

//! Some entries of a directory in little memory: names end to end, sorted.

use tabsense_rank::Kind;

use crate::matching::{Letters, letters};

const DIRECTORY: u8 = 1;

/// A sorted, immutable run of entries.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chunk {
    names: Vec<u8>,
    /// Where each name ends in `names`.
    ends: Vec<u32>,
    letters: Vec<Letters>,
    flags: Vec<u8>,
}

/// One entry of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The name, as it is on disk.
    pub name: &'a [u8],
    /// `Directory` for directories and links to them, else `File`. or
    /// `Command` in a listing of commands.
    pub kind: Kind,
}

impl Chunk {
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Heap bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.names.capacity()
            + self.ends.capacity() * size_of::<u32>()
            + self.letters.capacity() * size_of::<Letters>()
            + self.flags.capacity()
    }

    pub(crate) fn name(&self, at: usize) -> &[u8] {
        let start = if at == 0 {
            0
        } else {
            self.ends[at - 1] as usize
        };
        &self.names[start..self.ends[at] as usize]
    }

    pub(crate) fn letters(&self) -> &[Letters] {
        &self.letters
    }

    pub(crate) fn entry(&self, at: usize) -> Entry<'_> {
        let directory = self.flags[at] & DIRECTORY != 0;
        let kind = if directory {
            Kind::Directory
        } else {
            Kind::File
        };
        Entry {
            name: self.name(at),
            kind,
        }
    }

    /// The place of exactly `name`.
    pub(crate) fn find(&self, name: &[u8]) -> Option<usize> {
        let at = self.partition(0, |other| other < name);
        (at < self.len() && self.name(at) == name).then_some(at)
    }

    /// A link turned out to lead to a directory.
    pub(crate) fn mark_directory(&mut self, at: usize) {
        self.flags[at] |= DIRECTORY;
    }

    /// The places of all names that start with `prefix`.
    pub(crate) fn range(&self, prefix: &[u8]) -> std::ops::Range<usize> {
        let start = self.partition(0, |name| name < prefix);
        let end = self.partition(start, |name| name.starts_with(prefix));
        start..end
    }

    /// The first place from `low` on where `before` no longer holds.
    fn partition<F: Fn(&[u8]) -> bool>(&self, mut low: usize, before: F) -> usize {
        let mut high = self.len();
        while low < high {
            let middle = low + (high - low) / 2;
            if before(self.name(middle)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }
}

/// Collects entries in the order of the disk.
#[derive(Debug, Default)]
pub(crate) struct Builder {
    names: Vec<u8>,
    entries: Vec<(u32, u32, u8)>,
}

impl Builder {
    pub(crate) fn push(&mut self, name: &[u8], directory: Directory) {
        let start = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        let len = u32::try_from(name.len()).unwrap_or(0);
        let flags = if directory == Directory::Yes {
            DIRECTORY
        } else {
            0
        };
        self.names.extend_from_slice(name);
        self.entries.push((start, len, flags));
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Sorts what was collected and empties the builder.
    pub(crate) fn finish(&mut self) -> Chunk {
        let names = std::mem::take(&mut self.names);
        let mut entries = std::mem::take(&mut self.entries);
        let name = |entry: &(u32, u32, u8)| {
            let start = entry.0 as usize;
            &names[start..start + entry.1 as usize]
        };
        entries.sort_unstable_by(|a, b| name(a).cmp(name(b)));
        let mut chunk = Chunk {
            names: Vec::with_capacity(names.len()),
            ends: Vec::with_capacity(entries.len()),
            letters: Vec::with_capacity(entries.len()),
            flags: Vec::with_capacity(entries.len()),
        };
        for entry in &entries {
            chunk.names.extend_from_slice(name(entry));
            chunk
                .ends
                .push(u32::try_from(chunk.names.len()).unwrap_or(u32::MAX));
            chunk.letters.push(letters(name(entry)));
            chunk.flags.push(entry.2);
        }
        chunk
    }
}

/// Whether an entry is a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Directory {
    Yes,
    No,
}

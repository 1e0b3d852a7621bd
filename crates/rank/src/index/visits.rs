//! Changes of directory.

use super::add_log2;
use super::intern::{NONE, push_tight};

/// Half-life of a visit, in visits.
pub(crate) const HALF_LIFE: f32 = 40.0;

/// What is kept per directory that was gone to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Visited {
    pub(crate) count: u32,
    /// Row of the log and time of the newest visit.
    pub(crate) row: u32,
    pub(crate) time: u32,
    /// Number of the newest visit.
    pub(crate) last: u32,
    /// log2 of the sum of 2^(visit / half-life).
    pub(crate) frecency: f32,
}

const NEVER: Visited = Visited {
    count: 0,
    row: NONE,
    time: 0,
    last: NONE,
    frecency: f32::NEG_INFINITY,
};

/// All visits, linked by where they started.
#[derive(Debug, Default)]
pub(crate) struct Visits {
    to: Vec<u32>,
    links: Vec<u32>,
    newest_from: Vec<u32>,
    per_directory: Vec<Visited>,
}

impl Visits {
    pub(crate) fn len(&self) -> usize {
        self.to.len()
    }

    pub(crate) fn bytes(&self) -> usize {
        4 * (self.to.capacity() + self.links.capacity() + self.newest_from.capacity())
            + self.per_directory.capacity() * size_of::<Visited>()
    }

    pub(crate) fn add(&mut self, from: u32, to: u32, row: u32, time: u32) {
        let number = self.len() as u32;
        let most = from.max(to) as usize;
        while self.per_directory.len() <= most {
            push_tight(&mut self.per_directory, NEVER);
            push_tight(&mut self.newest_from, NONE);
        }
        push_tight(&mut self.to, to);
        push_tight(&mut self.links, self.newest_from[from as usize]);
        self.newest_from[from as usize] = number;
        let visited = &mut self.per_directory[to as usize];
        visited.count += 1;
        visited.row = row;
        visited.time = time;
        visited.last = number;
        visited.frecency = add_log2(visited.frecency, number as f32 / HALF_LIFE);
    }

    /// What is known about a directory; a count of 0 when it was never gone to.
    pub(crate) fn of(&self, directory: u32) -> Visited {
        self.per_directory
            .get(directory as usize)
            .copied()
            .unwrap_or(NEVER)
    }

    /// Where one went from `directory`, newest first.
    pub(crate) fn from(&self, directory: u32) -> impl Iterator<Item = u32> + '_ {
        let mut next = self
            .newest_from
            .get(directory as usize)
            .copied()
            .unwrap_or(NONE);
        std::iter::from_fn(move || {
            if next == NONE {
                return None;
            }
            let visit = next as usize;
            next = self.links[visit];
            Some(self.to[visit])
        })
    }

    /// Where one went last, newest first.
    pub(crate) fn newest(&self) -> impl Iterator<Item = u32> + '_ {
        self.to.iter().rev().copied()
    }
}

//! Statistics over a person's history, kept in memory.

use std::collections::HashMap;

use crate::candidate::Event;

/// Half-life of a use, in commands.
const HALF_LIFE: f64 = 50.0;

#[derive(Debug, Default, Clone)]
pub(crate) struct Use {
    pub(crate) count: u32,
    last: u64,
    sum: f64,
}

impl Use {
    fn add(&mut self, now: u64) {
        self.sum = self.at(now) + 1.0;
        self.last = now;
        self.count += 1;
    }

    pub(crate) fn at(&self, now: u64) -> f64 {
        self.sum * (-((now - self.last) as f64) / HALF_LIFE).exp2()
    }
}

/// What is known about the commands of one person. Feed it with [`Index::observe`] in order.
#[derive(Debug, Default)]
pub struct Index {
    events: u64,
    pub(crate) lines: HashMap<Vec<u8>, Use>,
    pub(crate) places: HashMap<(Vec<u8>, Vec<u8>), Use>,
    pub(crate) directories: HashMap<Vec<u8>, Use>,
}

impl Index {
    /// An index that knows nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in one command that was run; call in the order of time.
    pub fn observe(&mut self, event: &Event<'_>) {
        self.events += 1;
        let now = self.events;
        self.lines
            .entry(event.command.to_vec())
            .or_default()
            .add(now);
        self.places
            .entry((event.cwd.to_vec(), event.command.to_vec()))
            .or_default()
            .add(now);
        self.directories
            .entry(event.cwd.to_vec())
            .or_default()
            .add(now);
    }

    /// Takes a command line out, with everything that was counted for it.
    pub fn forget(&mut self, command: &[u8]) {
        self.lines.remove(command);
        self.places.retain(|(_, line), _| line != command);
    }

    /// How many commands were taken in.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Memory held, in bytes, near enough for a limit.
    pub fn bytes(&self) -> usize {
        self.lines.keys().map(|k| k.len() + 64).sum::<usize>()
            + self
                .places
                .keys()
                .map(|(a, b)| a.len() + b.len() + 96)
                .sum::<usize>()
    }
}

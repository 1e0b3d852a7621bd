//! How the uses of one first word part among its lines.

use super::evidence::NumberMap;
use crate::index::Index;
use crate::index::intern::NONE;
use crate::index::log::Chain;

/// Uses of a first word that are looked at.
const ROWS: usize = 64;
/// Half-life, in uses of the first word.
const HALF_LIFE: f32 = 10.0;

/// One line among the uses of its first word.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Part {
    /// Decayed share of the uses.
    pub(super) share: f32,
    /// Decayed share of the uses in this directory.
    pub(super) here: f32,
    /// Uses of the first word since, from 1; 0 = none of those looked at.
    pub(super) age: u32,
}

/// The newest uses of one first word.
#[derive(Debug, Default)]
pub(super) struct Within {
    parts: NumberMap<Part>,
    total: f32,
    here: f32,
}

impl Within {
    pub(super) fn gather(index: &Index, head: u32, cwd: u32) -> Self {
        let mut within = Self::default();
        let Some(stat) = index.head_stats.get(head as usize) else {
            return within;
        };
        let log = &index.log;
        let mut k_here = 0;
        for (k, row) in log.walk(Chain::Head, stat.last, ROWS).enumerate() {
            if log.command[row] == NONE {
                continue;
            }
            let part = within.parts.entry(log.command[row]).or_default();
            let weight = (-(k as f32) / HALF_LIFE).exp2();
            part.share += weight;
            within.total += weight;
            if part.age == 0 {
                part.age = k as u32 + 1;
            }
            if cwd != NONE && log.cwd[row] == cwd {
                let weight = (-(k_here as f32) / HALF_LIFE).exp2();
                part.here += weight;
                within.here += weight;
                k_here += 1;
            }
        }
        within
    }

    pub(super) fn of(&self, command: u32) -> Part {
        let part = self.parts.get(&command).copied().unwrap_or_default();
        Part {
            share: part.share / (self.total + 0.5),
            here: part.here / (self.here + 0.5),
            age: part.age,
        }
    }
}

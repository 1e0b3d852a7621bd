//! Commands in the order of their text, with the best scores of every stretch.
//!
//! A sorted sequence cut into leaves of at most [`LEAF`] commands. Each leaf knows the best value
//! of each [`Measure`] among its own, so that the top `k` of any prefix, the empty one too, are
//! found after looking into few leaves.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::Stat;
use super::intern::Interner;

const LEAF: usize = 256;

/// By what the top of a stretch is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Measure {
    /// Frecency with the short half-life.
    Fast,
    /// Frecency with the long half-life.
    Slow,
    /// Time of the last use.
    Newest,
}

impl Measure {
    fn of(self, stat: &Stat) -> f32 {
        match self {
            Measure::Fast => stat.fast,
            Measure::Slow => stat.slow,
            Measure::Newest => stat.last as f32,
        }
    }

    fn column(self) -> usize {
        match self {
            Measure::Fast => 0,
            Measure::Slow => 1,
            Measure::Newest => 2,
        }
    }
}

const MEASURES: [Measure; 3] = [Measure::Fast, Measure::Slow, Measure::Newest];

#[derive(Debug)]
struct Leaf {
    ids: Vec<u32>,
    best: [f32; 3],
}

impl Leaf {
    fn raise(&mut self, stat: &Stat) {
        for measure in MEASURES {
            let best = &mut self.best[measure.column()];
            *best = best.max(measure.of(stat));
        }
    }

    fn recount(&mut self, stats: &[Stat]) {
        self.best = [f32::NEG_INFINITY; 3];
        for i in 0..self.ids.len() {
            self.raise(&stats[self.ids[i] as usize]);
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Prefixes {
    leaves: Vec<Leaf>,
}

impl Prefixes {
    pub(crate) fn bytes(&self) -> usize {
        self.leaves
            .iter()
            .map(|l| 4 * l.ids.capacity() + size_of::<Leaf>())
            .sum()
    }

    /// Puts a new command in, or notes that the values of a known one grew.
    pub(crate) fn touch(&mut self, texts: &Interner, stats: &[Stat], id: u32) {
        let text = texts.text(id);
        if self.leaves.is_empty() {
            self.leaves.push(Leaf {
                ids: vec![id],
                best: [f32::NEG_INFINITY; 3],
            });
        }
        let at = self.leaf_of(texts, text);
        let leaf = &mut self.leaves[at];
        if let Err(place) = leaf
            .ids
            .binary_search_by(|other| texts.text(*other).cmp(text))
        {
            leaf.ids.insert(place, id);
        }
        leaf.raise(&stats[id as usize]);
        if leaf.ids.len() > LEAF {
            let ids = leaf.ids.split_off(LEAF / 2);
            leaf.ids.shrink_to(LEAF / 2 + 32);
            leaf.recount(stats);
            let mut right = Leaf {
                ids,
                best: [0.0; 3],
            };
            right.recount(stats);
            self.leaves.insert(at + 1, right);
        }
    }

    /// Takes a command out; its text must still be there.
    pub(crate) fn remove(&mut self, texts: &Interner, stats: &[Stat], id: u32) {
        if self.leaves.is_empty() {
            return;
        }
        let text = texts.text(id);
        let at = self.leaf_of(texts, text);
        let leaf = &mut self.leaves[at];
        if let Ok(place) = leaf
            .ids
            .binary_search_by(|other| texts.text(*other).cmp(text))
        {
            leaf.ids.remove(place);
            leaf.recount(stats);
        }
        if leaf.ids.is_empty() {
            self.leaves.remove(at);
        }
    }

    /// Up to `k` commands that start with `prefix`, those with the highest measure, unsorted.
    pub(crate) fn top(
        &self,
        texts: &Interner,
        stats: &[Stat],
        prefix: &[u8],
        measure: Measure,
        k: usize,
    ) -> Vec<u32> {
        if self.leaves.is_empty() || k == 0 {
            return Vec::new();
        }
        let first = self.leaf_of(texts, prefix);
        let mut open = BinaryHeap::new();
        for at in first..self.leaves.len() {
            let head = texts.text(self.leaves[at].ids[0]);
            if at > first && !head.starts_with(prefix) {
                break;
            }
            open.push(Keyed {
                value: self.leaves[at].best[measure.column()],
                item: at as u32,
            });
        }
        let mut best: BinaryHeap<std::cmp::Reverse<Keyed>> = BinaryHeap::with_capacity(k + 1);
        while let Some(leaf) = open.pop() {
            let floor = best.peek().map_or(f32::NEG_INFINITY, |b| b.0.value);
            if best.len() == k && leaf.value <= floor {
                break;
            }
            for id in &self.leaves[leaf.item as usize].ids {
                let value = measure.of(&stats[*id as usize]);
                if best.len() == k && best.peek().is_some_and(|b| value <= b.0.value) {
                    continue;
                }
                if !texts.text(*id).starts_with(prefix) {
                    continue;
                }
                best.push(std::cmp::Reverse(Keyed { value, item: *id }));
                if best.len() > k {
                    best.pop();
                }
            }
        }
        best.into_iter().map(|b| b.0.item).collect()
    }

    /// The leaf in which `text` is, or would be.
    fn leaf_of(&self, texts: &Interner, text: &[u8]) -> usize {
        self.leaves
            .partition_point(|leaf| texts.text(leaf.ids[0]) <= text)
            .saturating_sub(1)
    }
}

/// An item ordered by a value; of equal values the larger number comes first.
#[derive(Debug, PartialEq)]
struct Keyed {
    value: f32,
    item: u32,
}

impl Eq for Keyed {}

impl PartialOrd for Keyed {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Keyed {
    fn cmp(&self, other: &Self) -> Ordering {
        self.value
            .total_cmp(&other.value)
            .then(self.item.cmp(&other.item))
    }
}

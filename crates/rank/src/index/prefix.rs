//! Commands in the order of their text, with the best scores of every stretch.
//!
//! A sorted sequence cut into leaves of at most [`LEAF`] commands. Each leaf knows the best value
//! of each [`Measure`] among its own, so that the top `k` of any prefix, the empty one too, are
//! found after looking into few leaves.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::Stat;
use super::intern::Interner;

const LEAF: usize = 128;

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
            leaf.ids.shrink_to(LEAF / 2 + 16);
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
        let mut best: BinaryHeap<Reverse<Keyed>> = BinaryHeap::with_capacity(k + 1);
        for (bound, at) in self.promising(texts, prefix, measure, k) {
            if best.len() == k && best.peek().is_some_and(|b| bound <= b.0.value) {
                break;
            }
            for id in &self.leaves[at].ids {
                let value = measure.of(&stats[*id as usize]);
                if best.len() == k && best.peek().is_some_and(|b| value <= b.0.value) {
                    continue;
                }
                if !texts.text(*id).starts_with(prefix) {
                    continue;
                }
                best.push(Reverse(Keyed { value, item: *id }));
                if best.len() > k {
                    best.pop();
                }
            }
        }
        best.into_iter().map(|b| b.0.item).collect()
    }

    /// The leaves that can hold the top `k` of a prefix, best first: the first and the last leaf
    /// may hold other commands too, of those between each has one that is as good as it says, so
    /// that no more than `k` of them matter.
    fn promising(
        &self,
        texts: &Interner,
        prefix: &[u8],
        measure: Measure,
        k: usize,
    ) -> Vec<(f32, usize)> {
        let first = self.leaf_of(texts, prefix);
        let inside = self.leaves[first + 1..]
            .partition_point(|leaf| texts.text(leaf.ids[0]).starts_with(prefix));
        let bound = |at: usize| (self.leaves[at].best[measure.column()], at);
        let order = |a: &(f32, usize), b: &(f32, usize)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        let mut found: Vec<(f32, usize)> = (first..=first + inside).map(bound).collect();
        let most = k + 2;
        if found.len() > most {
            found.select_nth_unstable_by(most - 1, order);
            found.truncate(most);
        }
        found.sort_by(order);
        found
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::fit::Random;
    use crate::index::intern::NONE;

    fn stat(fast: f32, last: u32) -> Stat {
        Stat {
            last,
            count: 1,
            failures: 0,
            fast,
            slow: -fast,
            head: NONE,
            pair: NONE,
        }
    }

    #[test]
    fn the_top_of_a_prefix_is_that_of_a_full_scan() {
        let mut random = Random::new(3);
        let (mut texts, mut stats, mut prefixes) =
            (Interner::default(), Vec::new(), Prefixes::default());
        for n in 0..3000_u32 {
            let text = format!("{:x}", random.below(1 << 16));
            let id = texts.intern(text.as_bytes()).unwrap();
            if id as usize == stats.len() {
                stats.push(stat(0.0, n));
            }
            stats[id as usize] = stat(random.below(1 << 20) as f32 + n as f32 * 1e3, n);
            prefixes.touch(&texts, &stats, id);
        }
        let gone = texts
            .get(b"f")
            .or_else(|| texts.get(texts.text(7)))
            .unwrap();
        prefixes.remove(&texts, &stats, gone);
        for prefix in [&b""[..], b"a", b"ff", b"123", b"zz"] {
            for measure in [Measure::Fast, Measure::Newest] {
                let mut found = prefixes.top(&texts, &stats, prefix, measure, 10);
                let mut all: Vec<u32> = (0..stats.len() as u32)
                    .filter(|id| *id != gone && texts.text(*id).starts_with(prefix))
                    .collect();
                let key = |id: &u32| measure.of(&stats[*id as usize]);
                all.sort_by(|a, b| key(b).total_cmp(&key(a)));
                all.truncate(10);
                found.sort_by(|a, b| key(b).total_cmp(&key(a)));
                let values = |ids: &[u32]| ids.iter().map(key).collect::<Vec<_>>();
                assert_eq!(values(&found), values(&all), "{prefix:?} {measure:?}");
            }
        }
    }
}

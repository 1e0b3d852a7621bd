//! The simple methods that others use, to measure against.
//!
//! Lines: `recency` (last used; zsh-autosuggestions), `successor` (what followed the previous
//! command, newest first, then recency; its `match_prev_cmd`), `frequency` (count, ties to the
//! newest), `frecency` (sum of `2^(-age / 50)`, age in commands). Directories: the same four, with
//! `frecency` by zoxide's formula and `successor` by where one went from here before.

use std::collections::{HashMap, HashSet};

use crate::index::add_log2;
use crate::index::intern::{self, Interner};

/// Names of the methods, in the order in which answers are given.
pub const METHODS: [&str; 4] = ["recency", "successor", "frequency", "frecency"];
/// Longest prefix that is looked up, in characters.
pub(crate) const LONGEST_PREFIX: usize = 48;
const HALF_LIFE: f32 = 50.0;

/// The best few commands per prefix, by a score that grows only with a command's own use.
#[derive(Debug, Default)]
struct Top(HashMap<u64, Vec<(f32, u32)>>);

impl Top {
    fn put(&mut self, key: u64, command: u32, score: f32, most: usize) {
        let list = self.0.entry(key).or_default();
        list.retain(|(_, other)| *other != command);
        // Ties: the newest first.
        let at = list
            .iter()
            .position(|(other, _)| *other <= score)
            .unwrap_or(list.len());
        if at < most {
            list.insert(at, (score, command));
            list.truncate(most);
        }
    }

    fn get(&self, key: u64) -> impl Iterator<Item = u32> + '_ {
        self.0
            .get(&key)
            .into_iter()
            .flatten()
            .map(|(_, command)| *command)
    }
}

/// Replays lines with all four methods.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    commands: Interner,
    counts: Vec<f32>,
    frecencies: Vec<f32>,
    by_recency: Top,
    by_count: Top,
    by_frecency: Top,
    by_successor: Top,
    now: f32,
}

impl Lines {
    /// Takes in a command and the one before it.
    pub(crate) fn update(&mut self, command: &str, previous: Option<&str>) {
        let Some(id) = self.commands.intern(command.as_bytes()) else {
            return;
        };
        self.now += 1.0;
        if id as usize == self.counts.len() {
            self.counts.push(0.0);
            self.frecencies.push(f32::NEG_INFINITY);
        }
        let (at, now) = (id as usize, self.now);
        self.counts[at] += 1.0;
        self.frecencies[at] = add_log2(self.frecencies[at], now / HALF_LIFE);
        let before = context(previous);
        for (prefix, most) in prefixes(command) {
            let key = intern::hash(prefix.as_bytes());
            self.by_recency.put(key, id, now, most);
            self.by_count.put(key, id, self.counts[at], most);
            self.by_frecency.put(key, id, self.frecencies[at], most);
            self.by_successor.put(key ^ before, id, now, most);
        }
    }

    /// Whether a command was seen before.
    pub(crate) fn knows(&self, command: &str) -> bool {
        self.commands.get(command.as_bytes()).is_some()
    }

    /// What each method of [`METHODS`] offers for a prefix, best first.
    pub(crate) fn rank(&self, prefix: &str, previous: Option<&str>) -> [Vec<&[u8]>; 4] {
        let key = intern::hash(prefix.as_bytes());
        let texts = |ids: Vec<u32>| ids.into_iter().map(|id| self.commands.text(id)).collect();
        let recent: Vec<u32> = self.by_recency.get(key).collect();
        let mut followed: Vec<u32> = self.by_successor.get(key ^ context(previous)).collect();
        let known: HashSet<u32> = followed.iter().copied().collect();
        followed.extend(recent.iter().filter(|id| !known.contains(id)));
        [
            texts(recent),
            texts(followed),
            texts(self.by_count.get(key).collect()),
            texts(self.by_frecency.get(key).collect()),
        ]
    }
}

fn context(previous: Option<&str>) -> u64 {
    previous.map_or(1, |p| intern::hash(p.as_bytes()).rotate_left(32) | 1)
}

/// The prefixes under which a command is found, with how many are kept for each: ten for the
/// lengths whose first three or five places are measured, two for the others.
fn prefixes(command: &str) -> Vec<(&str, usize)> {
    let word = command.find(' ').map(|at| at + 1);
    let mut found: Vec<(&str, usize)> = command
        .char_indices()
        .map(|(at, _)| at)
        .chain([command.len()])
        .take(LONGEST_PREFIX + 1)
        .enumerate()
        .map(|(n, at)| {
            (
                &command[..at],
                if n <= 4 || Some(at) == word { 10 } else { 2 },
            )
        })
        .collect();
    if let Some(word) = word
        && found
            .last()
            .is_some_and(|(longest, _)| longest.len() < word)
    {
        found.push((&command[..word], 10));
    }
    found
}

#[derive(Debug, Clone, Copy)]
struct Visit {
    count: f64,
    stamp: i64,
    order: usize,
}

/// Replays changes of directory with all four methods.
#[derive(Debug)]
pub(crate) struct Directories {
    has_time: bool,
    visits: HashMap<String, Visit>,
    /// In the order of the first visit: the order in which ties are kept.
    order: Vec<String>,
    /// Where one went from each directory, oldest first.
    from: HashMap<String, Vec<String>>,
}

impl Directories {
    pub(crate) fn new(has_time: bool) -> Self {
        Self {
            has_time,
            visits: HashMap::new(),
            order: Vec::new(),
            from: HashMap::new(),
        }
    }

    pub(crate) fn visit(&mut self, from: &str, to: &str, stamp: i64) {
        let order = self.order.len();
        let visit = self.visits.entry(to.to_owned()).or_insert_with(|| {
            self.order.push(to.to_owned());
            Visit {
                count: 0.0,
                stamp,
                order,
            }
        });
        visit.count += 1.0;
        visit.stamp = stamp;
        let targets = self.from.entry(from.to_owned()).or_default();
        targets.retain(|target| target != to);
        targets.push(to.to_owned());
    }

    /// What each method of [`METHODS`] offers for the first letters of a name, best first.
    pub(crate) fn rank(&self, cwd: &str, letters: &str, stamp: i64) -> [Vec<&str>; 4] {
        let fits = |path: &str| {
            let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
            path != cwd && name.starts_with(letters)
        };
        let mut found: Vec<(&str, Visit)> = self
            .order
            .iter()
            .filter(|path| fits(path))
            .map(|path| (path.as_str(), self.visits[path]))
            .collect();
        let mut by = |key: &dyn Fn(&Visit) -> (f64, i64)| {
            found.sort_by(|a, b| {
                let ((x, s), (y, t)) = (key(&a.1), key(&b.1));
                y.total_cmp(&x)
                    .then(t.cmp(&s))
                    .then(a.1.order.cmp(&b.1.order))
            });
            found
                .iter()
                .map(|(path, _)| *path)
                .take(5)
                .collect::<Vec<_>>()
        };
        let recency = by(&|v| (0.0, v.stamp));
        let frequency = by(&|v| (v.count, v.stamp));
        let zoxide = by(&|v| (v.count * self.factor(stamp - v.stamp), 0));
        let mut from_here: Vec<&str> = self
            .from
            .get(cwd)
            .into_iter()
            .flat_map(|targets| targets.iter().rev())
            .map(String::as_str)
            .filter(|path| fits(path))
            .collect();
        let rest: Vec<&str> = zoxide
            .iter()
            .copied()
            .filter(|path| !from_here.contains(path))
            .collect();
        from_here.extend(rest);
        from_here.truncate(5);
        [recency, from_here, frequency, zoxide]
    }

    /// zoxide's factor: by age in seconds, or in commands when there are no times.
    fn factor(&self, age: i64) -> f64 {
        let steps = if self.has_time {
            [3_600, 86_400, 604_800]
        } else {
            [20, 200, 1_000]
        };
        match steps.iter().position(|step| age < *step) {
            Some(0) => 4.0,
            Some(1) => 2.0,
            Some(2) => 0.5,
            _ => 0.25,
        }
    }
}

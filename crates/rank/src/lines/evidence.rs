//! What the rows of the log say about the next command, gathered once per prompt.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::candidate::{Context, Recent};
use crate::index::intern::{NONE, hash};
use crate::index::log::Chain;
use crate::index::{Index, trim_slash};
use crate::shell;

/// Rows walked per chain. They bound the time of a query, whatever the length of the history.
const SUCCESSORS: usize = 400;
const HEAD_SUCCESSORS: usize = 256;
const HERE: usize = 400;
const AROUND_DIRECTORIES: usize = 12;
const AROUND: usize = 48;
const START_ROWS: usize = 6000;
const STARTS: u32 = 100;
/// Seconds without a command after which something new begins.
const PAUSE: i64 = 1800;

/// Hashes small numbers by one multiplication, texts as [`hash`] does.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct NumberHasher(u64);

impl Hasher for NumberHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.write_u64(hash(bytes));
    }

    fn write_usize(&mut self, n: usize) {
        self.write_u64(n as u64);
    }

    fn write_u8(&mut self, n: u8) {
        self.write_u64(u64::from(n));
    }

    fn write_u32(&mut self, n: u32) {
        self.write_u64(u64::from(n));
    }

    fn write_u64(&mut self, n: u64) {
        self.0 = (self.0.rotate_left(5) ^ n).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

/// Keyed by text.
pub(crate) type TextMap<V> = HashMap<Vec<u8>, V, BuildHasherDefault<NumberHasher>>;
/// Keyed by the number of a command or a first word.
pub(crate) type NumberMap<V> = HashMap<u32, V, BuildHasherDefault<NumberHasher>>;

/// Decayed counts for one command; see [`Totals`] for what they are parts of.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Seen {
    /// Followed the previous command.
    pub(crate) after: f32,
    /// Followed the previous two, three commands.
    pub(crate) after_two: f32,
    pub(crate) after_three: f32,
    /// Followed the previous command, in this directory.
    pub(crate) after_here: f32,
    /// Was the newest one to follow the previous command.
    pub(crate) after_newest: bool,
    /// Came two commands after the one before the previous command.
    pub(crate) skip: f32,
    /// Followed a command with the same first two words, the same first word.
    pub(crate) pair: f32,
    pub(crate) head: f32,
    /// Was used in this directory; the second count decays slowly.
    pub(crate) here: f32,
    pub(crate) here_slow: f32,
    /// Rows of this directory since then; 0 = never here.
    pub(crate) here_age: u32,
    /// Was used in the project or a directory above.
    pub(crate) around: f32,
    /// Was the first command of a session, or after a long pause, as the next one will be.
    pub(crate) start: f32,
}

/// What each count of [`Seen`] sums up to over all commands.
pub(crate) type Totals = Seen;

/// Everything known before a letter is typed.
#[derive(Debug, Default)]
pub(crate) struct Evidence {
    pub(crate) seen: NumberMap<Seen>,
    pub(crate) totals: Totals,
    /// The previous three commands, newest first; `NONE` if not known.
    pub(crate) previous: [u32; 3],
    /// First word and first two words of the previous command.
    pub(crate) head: u32,
    pub(crate) pair: u32,
    pub(crate) cwd: u32,
    /// Rows in this directory that were looked at.
    pub(crate) here_rows: u32,
    /// How likely the next command has which first word: decayed counts after this first word.
    pub(crate) next_heads: NumberMap<f32>,
    /// The same after this very command; sums up to `totals.after`.
    pub(crate) after_heads: NumberMap<f32>,
    /// The same in this directory; sums up to `totals.here`.
    pub(crate) here_heads: NumberMap<f32>,
}

impl Evidence {
    pub(crate) fn gather(index: &Index, context: &Context<'_>) -> Self {
        let mut evidence = Self {
            previous: [NONE; 3],
            head: NONE,
            pair: NONE,
            ..Self::default()
        };
        for (slot, recent) in evidence
            .previous
            .iter_mut()
            .zip(context.recent.iter().rev())
        {
            *slot = index.command(recent.command).unwrap_or(NONE);
        }
        if let Some(last) = context.recent.last() {
            evidence.name_head(index, last);
        }
        evidence.cwd = index.directory(context.cwd).unwrap_or(NONE);
        evidence.walk_successors(index);
        evidence.walk_skipped(index);
        evidence.walk_heads(index);
        evidence.walk_here(index);
        evidence.walk_around(index, context);
        evidence.walk_starts(index, context);
        evidence
    }

    fn name_head(&mut self, index: &Index, last: &Recent<'_>) {
        if let Some(stat) = index.stats.get(self.previous[0] as usize) {
            (self.head, self.pair) = (stat.head, stat.pair);
            return;
        }
        let line = last.command.trim_ascii();
        let (first, second) = shell::head(line);
        let of = |text: &[u8]| index.heads.get(text).unwrap_or(NONE);
        self.head = of(&line[first.clone()]);
        self.pair = match second {
            Some(second) => of(&[&line[first], b" ", &line[second]].concat()),
            None => self.head,
        };
    }

    fn walk_successors(&mut self, index: &Index) {
        let [previous, second, third] = self.previous;
        let Some(stat) = index.stats.get(previous as usize) else {
            return;
        };
        let log = &index.log;
        let (mut k, mut k_two, mut k_three, mut k_here) = (0, 0, 0, 0);
        for row in log.walk(Chain::Command, stat.last, SUCCESSORS) {
            let after = log.after[row];
            if after == NONE || log.command[after as usize] == NONE {
                continue;
            }
            let next = log.command[after as usize];
            let weight = (-(k as f32) / 20.0).exp2();
            *self
                .after_heads
                .entry(index.stats[next as usize].head)
                .or_default() += weight;
            let seen = self.seen.entry(next).or_default();
            add(&mut seen.after, &mut self.totals.after, &mut k, 20.0);
            seen.after_newest |= k == 1;
            if self.cwd != NONE && log.cwd[after as usize] == self.cwd {
                add(
                    &mut seen.after_here,
                    &mut self.totals.after_here,
                    &mut k_here,
                    10.0,
                );
            }
            let before = log.before[row];
            if second == NONE || before == NONE || log.command[before as usize] != second {
                continue;
            }
            add(
                &mut seen.after_two,
                &mut self.totals.after_two,
                &mut k_two,
                10.0,
            );
            if third != NONE && log.command_before(before as usize) == third {
                add(
                    &mut seen.after_three,
                    &mut self.totals.after_three,
                    &mut k_three,
                    10.0,
                );
            }
        }
    }

    fn walk_skipped(&mut self, index: &Index) {
        let Some(stat) = index.stats.get(self.previous[1] as usize) else {
            return;
        };
        let log = &index.log;
        let mut k = 0;
        for row in log.walk(Chain::Command, stat.last, HEAD_SUCCESSORS) {
            let after = log.after[row];
            if after == NONE {
                continue;
            }
            let second = log.after[after as usize];
            if second == NONE || log.command[second as usize] == NONE {
                continue;
            }
            let seen = self.seen.entry(log.command[second as usize]).or_default();
            add(&mut seen.skip, &mut self.totals.skip, &mut k, 20.0);
        }
    }

    fn walk_heads(&mut self, index: &Index) {
        let log = &index.log;
        let mut k = 0;
        if let Some(stat) = index.head_stats.get(self.pair as usize) {
            for row in log.walk(Chain::Pair, stat.last, HEAD_SUCCESSORS) {
                let Some(next) = next_command(index, row) else {
                    continue;
                };
                let seen = self.seen.entry(next).or_default();
                add(&mut seen.pair, &mut self.totals.pair, &mut k, 40.0);
            }
        }
        let Some(stat) = index.head_stats.get(self.head as usize) else {
            return;
        };
        let mut k = 0;
        for row in log.walk(Chain::Head, stat.last, HEAD_SUCCESSORS) {
            let Some(next) = next_command(index, row) else {
                continue;
            };
            let weight = (-(k as f32) / 60.0).exp2();
            *self
                .next_heads
                .entry(index.stats[next as usize].head)
                .or_default() += weight;
            let seen = self.seen.entry(next).or_default();
            add(&mut seen.head, &mut self.totals.head, &mut k, 60.0);
        }
    }

    fn walk_here(&mut self, index: &Index) {
        let Some(newest) = index.newest_in.get(self.cwd as usize) else {
            return;
        };
        let log = &index.log;
        let mut k = 0;
        for row in log.walk(Chain::Directory, *newest, HERE) {
            if log.command[row] == NONE {
                continue;
            }
            let seen = self.seen.entry(log.command[row]).or_default();
            *self
                .here_heads
                .entry(index.stats[log.command[row] as usize].head)
                .or_default() += (-(k as f32) / 50.0).exp2();
            let slow = (-(k as f32) / 300.0).exp2();
            seen.here_slow += slow;
            self.totals.here_slow += slow;
            add(&mut seen.here, &mut self.totals.here, &mut k, 50.0);
            self.here_rows = k;
            if seen.here_age == 0 {
                seen.here_age = k;
            }
        }
    }

    fn walk_around(&mut self, index: &Index, context: &Context<'_>) {
        let log = &index.log;
        for directory in around(index, context, self.cwd) {
            let mut k = 0;
            for row in log.walk(
                Chain::Directory,
                index.newest_in[directory as usize],
                AROUND,
            ) {
                if log.command[row] == NONE {
                    continue;
                }
                let seen = self.seen.entry(log.command[row]).or_default();
                add(&mut seen.around, &mut self.totals.around, &mut k, 30.0);
            }
        }
    }
}

impl Evidence {
    /// What sessions, and work after a pause, began with; looked at only where that is the case.
    fn walk_starts(&mut self, index: &Index, context: &Context<'_>) {
        let log = &index.log;
        let starts = match index.newest_of(context.session) {
            None => true,
            Some(row) => is_pause(i64::from(log.time[row]), context.now),
        };
        if !starts {
            return;
        }
        let mut k = 0;
        for row in (0..log.len()).rev().take(START_ROWS) {
            let started = match log.before[row] {
                NONE => true,
                before => is_pause(
                    i64::from(log.time[before as usize]),
                    i64::from(log.time[row]),
                ),
            };
            if started && log.command[row] != NONE {
                let seen = self.seen.entry(log.command[row]).or_default();
                add(&mut seen.start, &mut self.totals.start, &mut k, 20.0);
            }
            if k >= STARTS {
                break;
            }
        }
    }
}

/// Whether so much time passed that something new may begin; false if a time is not known.
fn is_pause(before: i64, after: i64) -> bool {
    before > 0 && after - before > PAUSE
}

/// Adds the weight of the `k`-th newest row to a count and its total.
fn add(count: &mut f32, total: &mut f32, k: &mut u32, half_life: f32) {
    let weight = (-(*k as f32) / half_life).exp2();
    *count += weight;
    *total += weight;
    *k += 1;
}

fn next_command(index: &Index, row: usize) -> Option<u32> {
    let after = index.log.after[row];
    if after == NONE {
        return None;
    }
    Some(index.log.command[after as usize]).filter(|c| *c != NONE)
}

/// Known directories of the same project and above `cwd`, without `cwd`. Without a known project
/// the parent directory stands for it, unless that is the home directory or the root.
fn around(index: &Index, context: &Context<'_>, cwd: u32) -> Vec<u32> {
    let path = trim_slash(context.cwd);
    let mut found = Vec::new();
    let parent = parent(path).filter(|p| *p != context.home && p.len() > 1);
    let Some(root) = context.project_root.map(trim_slash).or(parent) else {
        return found;
    };
    let mut above = parent;
    while let Some(directory) = above {
        found.extend(index.directory(directory));
        above = self::parent(directory).filter(|p| *p != context.home && p.len() > 1);
    }
    for visited in index.visits.newest().take(200) {
        if found.len() >= AROUND_DIRECTORIES {
            break;
        }
        let text = index.directories.text(visited);
        let inside = text
            .strip_prefix(root)
            .is_some_and(|r| r.is_empty() || r[0] == b'/');
        if visited != cwd && inside && !found.contains(&visited) {
            found.push(visited);
        }
    }
    found.truncate(AROUND_DIRECTORIES);
    found
}

pub(crate) fn parent(path: &[u8]) -> Option<&[u8]> {
    let slash = path.iter().rposition(|b| *b == b'/')?;
    match (slash, path.len()) {
        (0, 1) => None,
        (0, _) => Some(&path[..1]),
        _ => Some(&path[..slash]),
    }
}

//! Statistics over a person's history, kept in memory.
//!
//! The history itself is kept as columns of numbers ([`log`]), linked so that a query walks only
//! rows that matter: those with the same command, first words or directory, newest first, at most
//! a few hundred. What can be read off the rows is not stored a second time.

pub(crate) mod intern;
pub(crate) mod log;
pub(crate) mod prefix;
pub(crate) mod visits;

use crate::candidate::Event;
use crate::shell;
use intern::{Interner, NONE, push_tight};
use log::{Log, Outcome, Row};
pub(crate) use prefix::Measure;
use prefix::Prefixes;
pub(crate) use visits::Visits;

/// Half-life of [`Stat::fast`], in commands.
pub(crate) const FAST: f32 = 50.0;
/// Half-life of [`Stat::slow`], in commands.
pub(crate) const SLOW: f32 = 1500.0;
/// Longer commands (pasted scripts) are counted as events but not learned.
const LONGEST: usize = 4096;
/// Ages 1..=8 have a bucket each, then every doubling has two.
pub(crate) const AGES: usize = 40;

/// What is kept per distinct command.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stat {
    /// Newest row.
    pub(crate) last: u32,
    pub(crate) count: u32,
    pub(crate) failures: u32,
    /// log2 of the sum of 2^(row / half-life): orders commands by frecency at any later time.
    pub(crate) fast: f32,
    pub(crate) slow: f32,
    /// First word, and first two words, in [`Index::heads`].
    pub(crate) head: u32,
    pub(crate) pair: u32,
}

/// What is kept per first word or pair of first words.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HeadStat {
    pub(crate) last: u32,
    pub(crate) count: u32,
    pub(crate) fast: f32,
}

/// What is known about the commands of one person. Feed it with [`Index::observe`] in order.
///
/// Takes about 41 bytes per event, 40 bytes and the text per distinct command.
#[derive(Debug)]
pub struct Index {
    pub(crate) commands: Interner,
    pub(crate) stats: Vec<Stat>,
    pub(crate) heads: Interner,
    pub(crate) head_stats: Vec<HeadStat>,
    pub(crate) directories: Interner,
    /// Newest row per directory.
    pub(crate) newest_in: Vec<u32>,
    pub(crate) visits: Visits,
    sessions: Interner,
    newest_of: Vec<u32>,
    pub(crate) log: Log,
    prefixes: Prefixes,
    /// How often the next command was one last used so many rows ago; see [`age_bucket`].
    pub(crate) ages: [f32; AGES],
    /// The same, by the kind of the command before in the session; see [`age_kind`].
    pub(crate) ages_after: [[f32; AGES]; AGE_KINDS],
    /// Kind of each session's newest command.
    kind_of: Vec<u8>,
    events: u64,
}

impl Default for Index {
    fn default() -> Self {
        Self {
            commands: Interner::default(),
            stats: Vec::new(),
            heads: Interner::default(),
            head_stats: Vec::new(),
            directories: Interner::default(),
            newest_in: Vec::new(),
            visits: Visits::default(),
            sessions: Interner::default(),
            newest_of: Vec::new(),
            log: Log::default(),
            prefixes: Prefixes::default(),
            ages: [0.0; AGES],
            ages_after: [[0.0; AGES]; AGE_KINDS],
            kind_of: Vec::new(),
            events: 0,
        }
    }
}

impl Index {
    /// An index that knows nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in one command that was run; call in the order of time.
    ///
    /// Rows of one session follow each other; a command that is empty or longer than 4 KiB is
    /// counted but not learned.
    pub fn observe(&mut self, event: &Event<'_>) {
        self.events += 1;
        let command = event.command.trim_ascii();
        if command.is_empty() || command.len() > LONGEST || self.log.len() >= NONE as usize - 2 {
            return;
        }
        let (Some(id), Some(cwd), Some(session)) = (
            self.command_number(command),
            self.directories.intern(trim_slash(event.cwd)),
            self.sessions.intern(event.session),
        ) else {
            return;
        };
        if self.newest_in.len() < self.directories.len() {
            push_tight(&mut self.newest_in, NONE);
        }
        if self.newest_of.len() < self.sessions.len() {
            push_tight(&mut self.newest_of, NONE);
            push_tight(&mut self.kind_of, 0);
        }
        let before = self.newest_of[session as usize];
        self.note_visit(before, cwd);
        self.note_age(id, session);
        self.append(id, cwd, before, event);
        self.newest_of[session as usize] = self.log.len() as u32 - 1;
    }

    fn command_number(&mut self, command: &[u8]) -> Option<u32> {
        let id = self.commands.intern(command)?;
        if (id as usize) < self.stats.len() {
            return Some(id);
        }
        let (first, second) = shell::head(command);
        let head = self.head_number(&command[first.clone()])?;
        let pair = match second {
            Some(second) => {
                let mut both = command[first].to_vec();
                both.push(b' ');
                both.extend_from_slice(&command[second]);
                self.head_number(&both)?
            }
            None => head,
        };
        let empty = f32::NEG_INFINITY;
        let stat = Stat {
            last: NONE,
            count: 0,
            failures: 0,
            fast: empty,
            slow: empty,
            head,
            pair,
        };
        push_tight(&mut self.stats, stat);
        Some(id)
    }

    fn head_number(&mut self, text: &[u8]) -> Option<u32> {
        let id = self.heads.intern(text)?;
        if id as usize >= self.head_stats.len() {
            let stat = HeadStat {
                last: NONE,
                count: 0,
                fast: f32::NEG_INFINITY,
            };
            push_tight(&mut self.head_stats, stat);
        }
        Some(id)
    }

    fn note_visit(&mut self, before: u32, cwd: u32) {
        if before == NONE || self.directories.text(cwd).is_empty() {
            return;
        }
        let from = self.log.cwd[before as usize];
        if from != cwd && !self.directories.text(from).is_empty() {
            self.visits.add(
                from,
                cwd,
                self.log.len() as u32,
                self.log.time[before as usize],
            );
        }
    }

    fn append(&mut self, id: u32, cwd: u32, before: u32, event: &Event<'_>) {
        let number = self.log.len() as u32;
        let outcome = Outcome::of(event.exit);
        let Stat {
            last, head, pair, ..
        } = self.stats[id as usize];
        let links = [
            last,
            self.head_stats[pair as usize].last,
            self.head_stats[head as usize].last,
            self.newest_in[cwd as usize],
        ];
        let time = u32::try_from(event.start).unwrap_or(0);
        self.log.push(Row {
            command: id,
            cwd,
            time,
            outcome,
            before,
            links,
        });
        self.newest_in[cwd as usize] = number;
        let stat = &mut self.stats[id as usize];
        stat.last = number;
        stat.count += 1;
        stat.failures += u32::from(outcome == Outcome::Failure);
        stat.fast = add_log2(stat.fast, number as f32 / FAST);
        stat.slow = add_log2(stat.slow, number as f32 / SLOW);
        for head in distinct_two(head, pair) {
            let stat = &mut self.head_stats[head as usize];
            stat.last = number;
            stat.count += 1;
            stat.fast = add_log2(stat.fast, number as f32 / FAST);
        }
        self.prefixes.touch(&self.commands, &self.stats, id);
    }

    fn note_age(&mut self, id: u32, session: u32) {
        let last = self.stats[id as usize].last;
        let bucket = if last == NONE {
            AGES - 1
        } else {
            age_bucket(self.log.len() as u32 - last)
        };
        let after = &mut self.ages_after;
        // About the last two thousand commands count.
        if self.log.len().is_multiple_of(256) {
            let all = after.as_flattened_mut().iter_mut().chain(&mut self.ages);
            all.for_each(|n| *n *= 0.88);
        }
        self.ages[bucket] += 1.0;
        let kind = &mut self.kind_of[session as usize];
        after[*kind as usize][bucket] += 1.0;
        *kind = age_kind(bucket);
    }

    /// How often a command was run whose first words these are: with the same subcommand, if there
    /// is one. Without words, how many commands were run.
    pub(crate) fn uses(&self, words: &[&[u8]]) -> u32 {
        let [head, rest @ ..] = &words[shell::wrapped(words)..] else {
            return self.log.len() as u32;
        };
        let subcommand = rest.first().filter(|word| shell::is_subcommand(word));
        let number = match subcommand {
            Some(word) => self.heads.get(&[head, &b" "[..], word].concat()),
            None => self.heads.get(head),
        };
        number.map_or(0, |head| self.head_stats[head as usize].count)
    }

    /// The newest row of a session.
    pub(crate) fn newest_of(&self, session: &[u8]) -> Option<usize> {
        let row = self.newest_of[self.sessions.get(session)? as usize];
        (row != NONE).then_some(row as usize)
    }

    /// The kind of a session's newest command; see [`age_kind`].
    pub(crate) fn kind_of(&self, session: &[u8]) -> usize {
        let session = self.sessions.get(session);
        session.map_or(0, |s| self.kind_of[s as usize] as usize)
    }

    /// Takes a command line out: its text is overwritten and nothing is counted for it any more.
    pub fn forget(&mut self, command: &[u8]) {
        let Some(id) = self.commands.get(command.trim_ascii()) else {
            return;
        };
        let stat = self.stats[id as usize];
        let rows: Vec<usize> = self
            .log
            .walk(log::Chain::Command, stat.last, usize::MAX)
            .collect();
        for row in rows {
            self.log.command[row] = NONE;
        }
        self.prefixes.remove(&self.commands, &self.stats, id);
        self.commands.wipe(id);
        for head in distinct_two(stat.head, stat.pair) {
            let left = &mut self.head_stats[head as usize];
            left.count = left.count.saturating_sub(stat.count);
            if left.count == 0 {
                left.fast = f32::NEG_INFINITY;
                self.heads.wipe(head);
            }
        }
        self.stats[id as usize].count = 0;
    }

    /// How many commands were taken in.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// How many different command lines are known.
    pub fn distinct(&self) -> usize {
        self.commands.len()
    }

    /// Memory held, in bytes.
    pub fn bytes(&self) -> usize {
        let interners = [
            &self.commands,
            &self.heads,
            &self.directories,
            &self.sessions,
        ];
        interners.iter().map(|i| i.bytes()).sum::<usize>()
            + self.log.bytes()
            + self.prefixes.bytes()
            + self.visits.bytes()
            + self.stats.capacity() * size_of::<Stat>()
            + self.head_stats.capacity() * size_of::<HeadStat>()
            + 4 * (self.newest_in.capacity() + self.newest_of.capacity())
    }

    /// Up to `k` commands that start with `prefix`, highest by the measure, unsorted.
    pub(crate) fn top(&self, prefix: &[u8], measure: Measure, k: usize) -> Vec<u32> {
        self.prefixes
            .top(&self.commands, &self.stats, prefix, measure, k)
    }

    /// Number of a known command that was not forgotten.
    pub(crate) fn command(&self, text: &[u8]) -> Option<u32> {
        self.commands.get(text.trim_ascii())
    }

    /// Number of a known directory.
    pub(crate) fn directory(&self, path: &[u8]) -> Option<u32> {
        self.directories
            .get(trim_slash(path))
            .filter(|d| !self.directories.text(*d).is_empty())
    }

    /// Share of the commands at this time that a decayed log-sum stands for.
    pub(crate) fn share(&self, log_sum: f32, half_life: f32) -> f32 {
        let now = self.log.len() as f32 / half_life;
        (log_sum - now).exp2() * (1.0 - (-1.0 / half_life).exp2())
    }
}

/// A directory without trailing slashes, the root excepted.
pub(crate) fn trim_slash(path: &[u8]) -> &[u8] {
    let mut path = path;
    while path.len() > 1 && path.ends_with(b"/") {
        path = &path[..path.len() - 1];
    }
    path
}

/// log2(2^a + 2^b), where either may be minus infinity.
pub(crate) fn add_log2(a: f32, b: f32) -> f32 {
    let (high, low) = if a > b { (a, b) } else { (b, a) };
    if low == f32::NEG_INFINITY || high - low > 24.0 {
        return high;
    }
    high + (low - high).exp2().ln_1p() * std::f32::consts::LOG2_E
}

/// Bucket of an age in rows (1 = the row before): 1..=8 apart, then two per doubling.
pub(crate) fn age_bucket(age: u32) -> usize {
    if age <= 8 {
        return age.saturating_sub(1) as usize;
    }
    let exponent = 31 - age.leading_zeros();
    let half = (age >> (exponent - 1)) & 1;
    (8 + 2 * (exponent - 3) + half).min(AGES as u32 - 2) as usize
}

/// Kinds of commands by how long ago they were used before: 0 = never, then longer and longer ago.
pub(crate) const AGE_KINDS: usize = 6;

/// Kind of a command whose age has this bucket.
fn age_kind(bucket: usize) -> u8 {
    match bucket {
        0 => 1,
        1 => 2,
        2..8 => 3,
        8..14 => 4,
        _ if bucket == AGES - 1 => 0,
        _ => 5,
    }
}

/// How many ages share a bucket.
pub(crate) fn age_width(bucket: usize) -> f32 {
    if bucket < 8 {
        1.0
    } else {
        (1_u64 << (2 + (bucket - 8) / 2)) as f32
    }
}

fn distinct_two(a: u32, b: u32) -> impl Iterator<Item = u32> {
    std::iter::once(a).chain(Some(b).filter(|b| *b != a))
}

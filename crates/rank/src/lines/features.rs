//! The values of the features of a line; [`Line`] gives each formula.

use std::cell::RefCell;

use super::Vector;
use super::evidence::{Evidence, NumberMap, Seen, TextMap};
use super::generate::Generated;
use super::within::Within;
use crate::candidate::Context;
use crate::index::intern::NONE;
use crate::index::log::{Chain, Outcome};
use crate::index::{AGES, FAST, Index, SLOW, age_bucket, age_width};
use crate::priors::Table;
use crate::shell;
use crate::weights::{Line, Weights};

/// Newest uses of a line that are looked at one by one.
const USES: usize = 12;
const BURST: f32 = 8.0;
/// Rows looked at to learn how often a first word takes an argument named just before.
const CARRY_ROWS: usize = 24;
/// Commands that go by relative path even when their argument has no `/`.
const BY_PATH: [&[u8]; 6] = [b"cd", b"pushd", b"vim", b"nvim", b"cat", b"less"];

/// Computes feature values at one prompt.
#[derive(Debug)]
pub(crate) struct Features<'a> {
    index: &'a Index,
    weights: &'a Weights,
    context: Context<'a>,
    evidence: Evidence,
    habit: [f32; AGES],
    habit_next: [f32; AGES],
    within: RefCell<NumberMap<Within>>,
    novelty: f32,
    next_heads_total: f32,
    carry: RefCell<NumberMap<f32>>,
    last: &'a [u8],
    last_head: &'a [u8],
    last_failed: bool,
    /// Recent commands, newest first.
    recent: Vec<u32>,
}

impl<'a> Features<'a> {
    pub(crate) fn new(
        index: &'a Index,
        weights: &'a Weights,
        context: Context<'a>,
        evidence: Evidence,
    ) -> Self {
        let last = context
            .recent
            .last()
            .map_or(&b""[..], |r| r.command.trim_ascii());
        let recent = context.recent.iter().rev().take(16);
        Self {
            index,
            weights,
            habit: habit(&index.ages),
            habit_next: habit_next(index, context.session),
            within: RefCell::default(),
            novelty: novelty(index),
            next_heads_total: evidence.next_heads.values().sum(),
            carry: RefCell::default(),
            last,
            last_head: &last[shell::head(last).0],
            last_failed: context
                .recent
                .last()
                .is_some_and(|r| Outcome::of(r.exit) == Outcome::Failure),
            recent: recent
                .map(|r| index.command(r.command).unwrap_or(NONE))
                .collect(),
            context,
            evidence,
        }
    }

    /// Values of a line that was run before.
    pub(crate) fn known(&self, id: u32, template: Option<&Generated>) -> Vector {
        let mut v = [0.0; Line::COUNT];
        let stat = &self.index.stats[id as usize];
        let text = self.index.commands.text(id);
        let seen = self.evidence.seen.get(&id).copied().unwrap_or_default();
        let fast = self.index.share(stat.fast, FAST);
        let age = self.index.log.len() as u32 - stat.last;
        put(&mut v, Line::Fast, ln(fast, 1e-5));
        put(&mut v, Line::FastShare, fast);
        put(
            &mut v,
            Line::Slow,
            ln(self.index.share(stat.slow, SLOW), 1e-6),
        );
        put(&mut v, Line::Count, (stat.count as f32).ln_1p());
        put(&mut v, Line::Age, (age as f32).ln());
        put(&mut v, Line::Habit, self.habit[age_bucket(age)]);
        put(&mut v, Line::HabitNext, self.habit_next[age_bucket(age)]);
        put(
            &mut v,
            Line::Failed,
            stat.failures as f32 / (stat.count as f32 + 1.0),
        );
        self.put_uses(&mut v, id);
        self.put_places(&mut v, id);
        self.put_evidence(&mut v, &seen, fast);
        self.put_text(&mut v, text, stat.head, stat.pair);
        self.put_within(&mut v, id, stat.head);
        let relative = goes_by_path(&self.index.heads, stat.head, text);
        put(
            &mut v,
            Line::Elsewhere,
            flag(relative && seen.here_slow == 0.0),
        );
        put_template(&mut v, template);
        v
    }

    /// Values of a line that was never run.
    pub(crate) fn fresh(&self, line: &Generated, carried: u32) -> Vector {
        let mut v = [0.0; Line::COUNT];
        let text = &line.text;
        let (first, _) = shell::head(text);
        let head = self.index.heads.get(&text[first]).unwrap_or(NONE);
        put(&mut v, Line::New, 1.0);
        put(&mut v, Line::Novelty, self.novelty);
        put(&mut v, Line::Fast, ln(0.0, 1e-5));
        put(&mut v, Line::Slow, ln(0.0, 1e-6));
        put(&mut v, Line::Age, (self.index.log.len() as f32 + 1.0).ln());
        put(&mut v, Line::Habit, self.habit[AGES - 1]);
        put(&mut v, Line::HabitNext, self.habit_next[AGES - 1]);
        self.put_evidence(&mut v, &Seen::default(), 0.0);
        self.put_text(&mut v, text, head, NONE);
        self.put_within(&mut v, NONE, head);
        put_template(&mut v, Some(line));
        put(
            &mut v,
            Line::Carried,
            if carried > 0 {
                1.0 / carried as f32
            } else {
                0.0
            },
        );
        put(&mut v, Line::CarryHabit, ln(self.carry_habit(head), 0.02));
        v
    }

    /// First words, each with a blank after it, that start with `prefix`, likeliest first.
    pub(crate) fn likely_heads(&self, prefix: &[u8], k: usize) -> Vec<Vec<u8>> {
        let heads = &self.index.heads;
        let mut found: Vec<(f32, u32)> = self
            .evidence
            .next_heads
            .iter()
            .filter(|(head, _)| heads.text(**head).starts_with(prefix))
            .map(|(head, weight)| (*weight, *head))
            .collect();
        found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        found.truncate(k);
        found
            .iter()
            .map(|(_, head)| [heads.text(*head), b" "].concat())
            .collect()
    }

    pub(crate) fn next_heads(&self) -> TextMap<f32> {
        let share = |(head, weight): (&u32, &f32)| {
            (
                self.index.heads.text(*head).to_vec(),
                weight / (self.next_heads_total + 1.0),
            )
        };
        self.evidence.next_heads.iter().map(share).collect()
    }

    fn put_uses(&self, v: &mut Vector, id: u32) {
        let log = &self.index.log;
        let now = log.len();
        let (mut burst, mut uses, mut near) = (0.0, 0.0, 0.0);
        let mut rows = [0; 2];
        for row in log.walk(Chain::Command, self.index.stats[id as usize].last, USES) {
            burst += (-((now - row - 1) as f32) / BURST).exp2();
            if (uses as usize) < 2 {
                rows[uses as usize] = row;
            }
            uses += 1.0;
            near += flag(self.same_hour(log.time[row]));
        }
        put(v, Line::BurstShare, burst * (1.0 - (-1.0 / BURST).exp2()));
        if self.context.now > 0 {
            put(
                v,
                Line::Hour,
                ((near + 5.0 / 24.0) / (uses + 1.0) * 24.0 / 5.0).ln(),
            );
        }
        if uses >= 2.0 {
            let (age, gap) = ((now - rows[0]) as f32, (rows[0] - rows[1]) as f32);
            put(v, Line::Rhythm, (age.ln() - gap.ln()).abs());
        }
        let then = i64::from(log.time[rows[0]]);
        if then > 0 && self.context.now >= then {
            put(
                v,
                Line::Minutes,
                ((self.context.now - then) as f32 / 60.0).ln_1p(),
            );
        }
    }

    fn same_hour(&self, time: u32) -> bool {
        const DAY: i64 = 86_400;
        let apart = (self.context.now - i64::from(time)).rem_euclid(DAY);
        time > 0 && apart.min(DAY - apart) <= 2 * 3600 + 1800
    }

    fn put_places(&self, v: &mut Vector, id: u32) {
        let [first, second, third] = self.evidence.previous;
        put(v, Line::Previous, flag(id == first));
        put(v, Line::Second, flag(id == second && id != first));
        put(
            v,
            Line::Third,
            flag(id == third && id != first && id != second),
        );
        if let Some(place) = self.recent.iter().position(|r| *r == id) {
            put(v, Line::Session, 1.0 / (place + 1) as f32);
        }
    }

    fn put_evidence(&self, v: &mut Vector, seen: &Seen, fast: f32) {
        let totals = &self.evidence.totals;
        let backed = |count: f32, total: f32, weight: f32, chance: f32| {
            (count + weight * chance) / (total + weight)
        };
        let base = fast + 1e-5;
        let head = backed(seen.head, totals.head, 4.0, base);
        let pair = backed(seen.pair, totals.pair, 2.0, head);
        let here = backed(seen.here, totals.here, 4.0, base);
        let after = backed(seen.after, totals.after, 1.0, base);
        let chained = backed(seen.after, totals.after, 1.0, 0.5 * (pair + here));
        let chained = backed(seen.after_two, totals.after_two, 1.0, chained);
        let chained = backed(seen.after_three, totals.after_three, 0.7, chained);
        let share = |count: f32, total: f32| count / (total + 0.5);
        put(v, Line::After, after.ln());
        put(v, Line::AfterShare, share(seen.after, totals.after));
        put(v, Line::AfterNewest, flag(seen.after_newest));
        put(
            v,
            Line::AfterTwoShare,
            share(seen.after_two, totals.after_two),
        );
        put(
            v,
            Line::AfterThreeShare,
            share(seen.after_three, totals.after_three),
        );
        put(
            v,
            Line::AfterHereShare,
            share(seen.after_here, totals.after_here),
        );
        put(v, Line::SkipShare, share(seen.skip, totals.skip));
        put(v, Line::Pair, pair.ln());
        put(v, Line::Head, head.ln());
        put(v, Line::Here, here.ln());
        put(v, Line::HereShare, share(seen.here, totals.here));
        put(
            v,
            Line::HereSlowShare,
            share(seen.here_slow, totals.here_slow),
        );
        if seen.here_age > 0 {
            put(v, Line::HereAge, 1.0 / seen.here_age as f32);
        }
        put(v, Line::AroundShare, share(seen.around, totals.around));
        put(v, Line::StartShare, share(seen.start, totals.start));
        put(v, Line::Chained, chained.ln());
        let mixed = 0.2 * fast
            + 0.15 * v[Line::BurstShare as usize]
            + 0.2 * share(seen.here, totals.here)
            + 0.3 * share(seen.after, totals.after)
            + 0.2 * share(seen.after_two, totals.after_two)
            + 0.1 * share(seen.pair, totals.pair);
        put(v, Line::Mixed, ln(mixed, 1e-4));
    }

    fn put_text(&self, v: &mut Vector, text: &[u8], head: u32, pair: u32) {
        put(v, Line::Length, (text.len() as f32).ln());
        put(
            v,
            Line::SamePair,
            flag(pair != NONE && pair == self.evidence.pair && text != self.last),
        );
        let alike = if text == self.last {
            0.0
        } else {
            alike(text, self.last)
        };
        put(v, Line::Alike, alike);
        put(v, Line::Repair, if self.last_failed { alike } else { 0.0 });
        let weight = self.evidence.next_heads.get(&head).copied().unwrap_or(0.0);
        let next_head = (weight + 0.004) / (self.next_heads_total + 1.0);
        put(v, Line::NextHead, next_head.ln());
        let weight = self.evidence.after_heads.get(&head).copied().unwrap_or(0.0);
        let after_head = (weight + next_head) / (self.evidence.totals.after + 1.0);
        put(v, Line::AfterHead, after_head.ln());
        let share = |id: u32| {
            let stat = self.index.head_stats.get(id as usize);
            stat.map_or(0.0, |s| self.index.share(s.fast, FAST))
        };
        put(v, Line::HeadFast, ln(share(head), 1e-4));
        put(v, Line::PairFast, ln(share(pair), 1e-4));
        let word = if head == NONE {
            &text[shell::head(text).0]
        } else {
            self.index.heads.text(head)
        };
        let priors = &self.weights.priors;
        let first = priors.chance(Table::First, b"", word, 10.0, 1e-5);
        put(
            v,
            Line::Prior,
            priors
                .chance(Table::Next, self.last_head, word, 30.0, first)
                .ln(),
        );
    }

    /// Where the line stands among those with the same first word.
    fn put_within(&self, v: &mut Vector, id: u32, head: u32) {
        let mut known = self.within.borrow_mut();
        let within = known
            .entry(head)
            .or_insert_with(|| Within::gather(self.index, head, self.evidence.cwd));
        let part = within.of(id);
        let age = if part.age == 0 { 65 } else { part.age };
        put(v, Line::HeadAge, (age as f32).ln());
        put(v, Line::HeadNewest, flag(part.age == 1));
        put(v, Line::InHead, ln(part.share, 0.01));
        put(v, Line::InHeadHere, part.here);
        let here = self.evidence.here_heads.get(&head).copied().unwrap_or(0.0)
            / (self.evidence.totals.here + 2.0);
        put(v, Line::HeadHere, ln(here, 0.01));
        let head = 0.3 * v[Line::NextHead as usize].exp()
            + 0.3 * v[Line::AfterHead as usize].exp()
            + 0.2 * v[Line::HeadFast as usize].exp()
            + 0.2 * here;
        let line = 0.6 * part.share + 0.4 * part.here;
        put(v, Line::Factored, ln(head * line, 1e-4));
    }

    /// Share of a first word's uses whose last argument the command before named too.
    fn carry_habit(&self, head: u32) -> f32 {
        let Some(stat) = self.index.head_stats.get(head as usize) else {
            return 0.0;
        };
        if let Some(known) = self.carry.borrow().get(&head) {
            return *known;
        }
        let log = &self.index.log;
        let (mut carried, mut rows) = (0.0, 1.0);
        for row in log.walk(Chain::Head, stat.last, CARRY_ROWS) {
            let before = log.command_before(row);
            if before == NONE || log.command[row] == NONE {
                continue;
            }
            rows += 1.0;
            let words = shell::words(self.index.commands.text(log.command[row]));
            let Some(word) = words.last().filter(|w| words.len() > 1 && w.text.len() > 1) else {
                continue;
            };
            let named = shell::words(self.index.commands.text(before));
            carried += flag(named.iter().skip(1).any(|w| w.text == word.text));
        }
        self.carry.borrow_mut().insert(head, carried / rows);
        carried / rows
    }
}

/// How much evidence points at a command; decides which candidates are looked at.
pub(crate) fn strength(seen: &Seen, evidence: &Evidence) -> f32 {
    let totals = &evidence.totals;
    let share = |count: f32, total: f32| count / (total + 1.0);
    share(seen.after, totals.after)
        + share(seen.after_two, totals.after_two)
        + 0.5 * share(seen.here, totals.here)
        + 0.3 * share(seen.pair, totals.pair)
        + 0.2 * share(seen.head, totals.head)
        + 0.2 * share(seen.skip, totals.skip)
        + 0.1 * share(seen.around, totals.around)
}

/// New lines compete with about so many others.
const NEW: f32 = 16.0;

/// ln of how often the next command had such an age; the last place is for those never run before.
fn habit(ages: &[f32; AGES]) -> [f32; AGES] {
    let total: f32 = ages.iter().sum::<f32>() + 4.0;
    let mut habit = [0.0; AGES];
    for (bucket, value) in habit.iter_mut().enumerate() {
        // Before anything is learned, newer is likelier.
        let start = 2.0 / (bucket as f32 + 1.0).powi(2);
        let width = if bucket == AGES - 1 {
            NEW
        } else {
            age_width(bucket)
        };
        *value = ((ages[bucket] + start) / total / width).ln();
    }
    habit
}

/// The same after a command with the age that the session's newest one had, backed off to all.
fn habit_next(index: &Index, session: &[u8]) -> [f32; AGES] {
    let after = &index.ages_after[index.kind_of(session)];
    let all: f32 = index.ages.iter().sum::<f32>() + 1.0;
    let mut mixed = *after;
    for (mixed, age) in mixed.iter_mut().zip(&index.ages) {
        *mixed += 10.0 * age / all;
    }
    habit(&mixed)
}

/// ln of the odds that the next command is one never run before.
fn novelty(index: &Index) -> f32 {
    let new = index.ages[AGES - 1];
    let known = index.ages.iter().sum::<f32>() - new;
    ((new + 2.0) / (known + 2.0)).ln()
}

fn goes_by_path(heads: &crate::index::intern::Interner, head: u32, text: &[u8]) -> bool {
    let Some(space) = text.iter().position(|b| *b == b' ') else {
        return false;
    };
    let argument = text[space..].trim_ascii();
    let relative = !argument.starts_with(b"/") && !argument.starts_with(b"~") && argument != b"-";
    let up = argument.starts_with(b"..");
    relative && !up && !argument.is_empty() && BY_PATH.contains(&heads.text(head))
}

fn put_template(v: &mut Vector, template: Option<&Generated>) {
    let strength = template.map_or(0.0, |t| (100.0 * t.template).ln_1p());
    put(v, Line::Template, strength);
    put(v, Line::TemplateNew, strength * v[Line::New as usize]);
    put(v, Line::Stock, flag(template.is_some_and(|t| t.stock)));
}

fn alike(a: &[u8], b: &[u8]) -> f32 {
    let same = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    same as f32 / a.len().max(b.len()).max(1) as f32
}

fn put(v: &mut Vector, feature: Line, value: f32) {
    v[feature as usize] = value;
}

fn ln(value: f32, floor: f32) -> f32 {
    (value + floor).ln()
}

fn flag(is: bool) -> f32 {
    f32::from(u8::from(is))
}

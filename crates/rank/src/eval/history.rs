//! Replay of histories: how often is the next command, or directory, among the first offered?
//!
//! Each user's commands are replayed in order; the first [`TRAINING`] only train. Keys:
//! `next.top1` to `next.top5` without a letter typed; `prefix1.top1` to `prefix4.top3` with so many
//! characters typed and `word.*` with the first word and a blank typed, over the commands that are
//! longer than that; `saved.line`, `saved.word`: share of the characters of all commands that need
//! not be typed when one key accepts the first offer as a whole (`line`), or also its next word
//! (`word`); `cd0.top1` to `cd2.top5`: directories for `cd` with so many letters of the last name
//! typed. A command never seen before counts as a miss unless a method makes it up. Other letters
//! are not case-folded, ties cannot occur: all rankings are total orders made before the answer
//! is known.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::Serialize;

use super::baselines;
use super::cd::{cd_target, changes_directory};
use super::choices::Sample;
use super::fit::Random;
use super::offers::{Offers, score_lines};
use super::{Command, EvalError, User};
use crate::candidate::{Context, Event, Recent};
use crate::decide::Decide;
use crate::directories::rank_directories;
use crate::index::Index;
use crate::lines::Predictor;
use crate::weights::Weights;

/// Commands of each user that only train.
pub const TRAINING: usize = 100;
/// Repeats below this share mean that the shell dropped them from its file.
pub const REPEATING: f64 = 0.15;
const RECENT: usize = 8;
/// Commands of all sessions among which those of one are looked for.
const LOOKED_BACK: usize = 200;

/// Shares per key.
pub type Shares = BTreeMap<String, f64>;

/// A method's shares.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Method {
    /// Mean over users.
    pub r#macro: Shares,
    /// Over all cases together.
    pub micro: Shares,
}

/// Shares of all methods over a group of users.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Group {
    /// How many users.
    pub users: usize,
    /// How many commands were scored.
    pub cases: u64,
    /// By method.
    pub methods: BTreeMap<String, Method>,
}

/// What a replay gives.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// All users.
    #[serde(flatten)]
    pub all: Group,
    /// Users whose shell keeps repeats.
    pub repeating: Group,
}

/// Sums over one user's replay.
#[derive(Debug, Clone, Default)]
pub struct UserScore {
    repeating: bool,
    cases: u64,
    /// Per method and key: what was reached.
    reached: BTreeMap<(&'static str, String), f64>,
    /// Per key: what could be reached.
    pub(super) possible: BTreeMap<String, f64>,
}

/// Which commands are scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scored {
    /// All but the first [`TRAINING`] of each user.
    All,
    /// About so many of each user, drawn with a fixed seed.
    Sample(usize),
}

impl Scored {
    /// One truth value for each command.
    fn draw(self, commands: usize) -> Vec<bool> {
        let left = commands.saturating_sub(TRAINING);
        let mut random = Random::new(1);
        let mut draw = |at| match self {
            _ if at < TRAINING => false,
            Scored::All => true,
            Scored::Sample(wanted) => random.below(left) < wanted,
        };
        (0..commands).map(&mut draw).collect()
    }
}

/// Replays all users: with a model if one is given, and without.
pub fn evaluate(
    users: &[User],
    weights: &Weights,
    model: Option<&mut dyn Decide>,
    scored: Scored,
) -> Result<Report, EvalError> {
    if users.is_empty() {
        return Err(EvalError::Empty);
    }
    let mut scores = evaluate_users(users, |_| weights, scored);
    // A model without weight is not asked: it would only cost time.
    if let Some(model) = model.filter(|_| weights.model.line != 0.0) {
        for (user, score) in users.iter().zip(&mut scores) {
            let with = evaluate_user(user, weights, Some(&mut *model), scored);
            score.take("tabsense", &with);
        }
    }
    Ok(report(&scores))
}

/// Replays all users, each with its own weights, on all cores.
pub fn evaluate_users<'w>(
    users: &[User],
    weights: impl Fn(usize) -> &'w Weights + Sync,
    scored: Scored,
) -> Vec<UserScore> {
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism()
        .map_or(1, usize::from)
        .min(users.len());
    let work = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(user) = users.get(at) else {
                return done;
            };
            done.push((at, evaluate_user(user, weights(at), None, scored)));
        }
    };
    let mut all: Vec<(usize, UserScore)> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        handles
            .into_iter()
            .flat_map(|h| {
                h.join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            })
            .collect()
    });
    all.sort_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, score)| score).collect()
}

/// Replays one user.
pub fn evaluate_user(
    user: &User,
    weights: &Weights,
    mut model: Option<&mut dyn Decide>,
    scored: Scored,
) -> UserScore {
    let mut score = UserScore {
        repeating: user.repeat_share >= REPEATING,
        ..UserScore::default()
    };
    let mut replay = Replay::new(user.has_time);
    for (at, is_scored) in (0..).zip(scored.draw(user.commands.len())) {
        let after = user
            .commands
            .get(at + 1)
            .and_then(|next| next.cwd.as_deref());
        if is_scored {
            replay.score(user, at, after, weights, reborrow(&mut model), &mut score);
        }
        replay.learn(user, at, after);
    }
    score
}

/// Replays a part of a history under several weights. For each command and weights: the mean of
/// the command being first with nothing typed, the same with its first word and a blank typed if
/// it is longer, and the shares of its keystrokes saved by line and by word.
pub fn per_command(user: &User, sample: &Sample<'_>, weights: &[&Weights]) -> Vec<Vec<f64>> {
    let mut replay = Replay::new(user.has_time);
    let mut scores = Vec::new();
    for at in 0..sample.to {
        if (sample.stop)() {
            break;
        }
        if at >= sample.from {
            let of = |weights: &&Weights| {
                let mut score = UserScore::default();
                replay.score(user, at, None, weights, None, &mut score);
                score.usefulness()
            };
            scores.push(weights.iter().map(of).collect());
        }
        replay.learn(user, at, None);
    }
    scores
}

/// A shorter loan of the model: the trait object's own lifetime has to shrink with it.
fn reborrow<'a>(model: &'a mut Option<&mut dyn Decide>) -> Option<&'a mut dyn Decide> {
    match model {
        Some(model) => Some(&mut **model),
        None => None,
    }
}

/// Puts users together.
pub fn report(scores: &[UserScore]) -> Report {
    let repeating: Vec<&UserScore> = scores.iter().filter(|s| s.repeating).collect();
    Report {
        all: group(&scores.iter().collect::<Vec<_>>()),
        repeating: group(&repeating),
    }
}

fn group(scores: &[&UserScore]) -> Group {
    let mut methods: BTreeMap<String, Method> = BTreeMap::new();
    let names = baselines::METHODS
        .into_iter()
        .chain(["tabsense", "tabsense-nomodel"]);
    let keys: Vec<&String> = scores.iter().flat_map(|s| s.possible.keys()).collect();
    for name in names {
        let method = methods.entry(name.to_owned()).or_default();
        for key in &keys {
            if method.micro.contains_key(*key) {
                continue;
            }
            let parts: Vec<(f64, f64)> = scores
                .iter()
                .filter_map(|s| {
                    let possible = s.possible.get(*key).copied().filter(|p| *p > 0.0)?;
                    let reached = s.reached.get(&(name, (*key).clone()));
                    Some((reached.copied().unwrap_or(0.0), possible))
                })
                .collect();
            let mean = parts.iter().map(|(r, p)| r / p).sum::<f64>() / parts.len().max(1) as f64;
            let (reached, possible) = parts
                .iter()
                .fold((0.0, 0.0), |(r, p), part| (r + part.0, p + part.1));
            method.r#macro.insert((*key).clone(), mean);
            method
                .micro
                .insert((*key).clone(), reached / possible.max(1.0));
        }
    }
    Group {
        users: scores.len(),
        cases: scores.iter().map(|s| s.cases).sum(),
        methods,
    }
}

impl UserScore {
    fn usefulness(&self) -> f64 {
        let share = |key: &str| {
            let possible = self.possible.get(key).copied().filter(|p| *p > 0.0)?;
            let reached = self.reached.get(&("tabsense", key.to_owned()));
            Some(reached.copied().unwrap_or(0.0) / possible)
        };
        let keys = ["next.top1", "word.top1", "saved.line", "saved.word"];
        let shares: Vec<f64> = keys.into_iter().filter_map(share).collect();
        shares.iter().sum::<f64>() / shares.len().max(1) as f64
    }

    pub(super) fn could(&mut self, key: &str, tops: &[usize]) {
        for top in tops {
            *self.possible.entry(format!("{key}.top{top}")).or_default() += 1.0;
        }
    }

    pub(super) fn hit(
        &mut self,
        method: &'static str,
        key: &str,
        tops: &[usize],
        place: Option<usize>,
    ) {
        for top in tops.iter().filter(|top| place.is_some_and(|p| p < **top)) {
            self.add(method, format!("{key}.top{top}"), 1.0);
        }
    }

    pub(super) fn add(&mut self, method: &'static str, key: String, amount: f64) {
        if method == "tabsense-nomodel" {
            *self.reached.entry(("tabsense", key.clone())).or_default() += amount;
        }
        *self.reached.entry((method, key)).or_default() += amount;
    }

    /// Takes a method's sums from another replay of the same user.
    fn take(&mut self, method: &'static str, other: &UserScore) {
        self.reached.retain(|(name, _), _| *name != method);
        for ((name, key), amount) in &other.reached {
            if *name == method {
                self.reached.insert((method, key.clone()), *amount);
            }
        }
    }
}

/// One user's state.
struct Replay {
    index: Index,
    lines: baselines::Lines,
    directories: baselines::Directories,
}

impl Replay {
    fn new(has_time: bool) -> Self {
        Self {
            index: Index::new(),
            lines: baselines::Lines::default(),
            directories: baselines::Directories::new(has_time),
        }
    }

    fn learn(&mut self, user: &User, at: usize, after: Option<&str>) {
        let command = &user.commands[at];
        let previous = at.checked_sub(1).map(|p| user.commands[p].cmd.as_str());
        self.lines.update(&command.cmd, previous);
        if let (Some(from), Some(to)) = (command.cwd.as_deref(), after)
            && from != to
            && changes_directory(&command.cmd)
        {
            self.directories.visit(from, to, stamp(user, at));
        }
        self.index.observe(&event(command));
    }

    fn score(
        &self,
        user: &User,
        at: usize,
        after: Option<&str>,
        weights: &Weights,
        model: Option<&mut dyn Decide>,
        score: &mut UserScore,
    ) {
        let command = &user.commands[at];
        let recent = recent(&user.commands, at);
        let context = Context {
            cwd: command.cwd.as_deref().unwrap_or_default().as_bytes(),
            home: b"~",
            session: command.session.as_deref().unwrap_or_default().as_bytes(),
            now: command.t.unwrap_or(0),
            recent: &recent,
            ..Context::default()
        };
        score.cases += 1;
        let mut offers = Offers {
            lines: &self.lines,
            previous: at.checked_sub(1).map(|p| user.commands[p].cmd.as_str()),
            predictor: Predictor::new(&self.index, weights, &context),
            context: &context,
            weights,
            model,
            heard: HashMap::new(),
            known: HashMap::new(),
        };
        score_lines(&command.cmd, &mut offers, score);
        let target = after.and_then(|after| cd_target(command, after));
        if let Some(target) = target {
            self.score_directories(&target, stamp(user, at), weights, &context, score);
        }
    }

    fn score_directories(
        &self,
        target: &str,
        stamp: i64,
        weights: &Weights,
        context: &Context<'_>,
        score: &mut UserScore,
    ) {
        const TOPS: [usize; 3] = [1, 3, 5];
        let cwd = std::str::from_utf8(context.cwd).unwrap_or_default();
        let name = target.rsplit('/').next().unwrap_or(target).to_lowercase();
        for n in 0..=2 {
            let letters: String = name.chars().take(n).collect();
            let key = format!("cd{n}");
            score.could(&key, &TOPS);
            let offers = self.directories.rank(cwd, &letters, stamp);
            for (method, offer) in baselines::METHODS.into_iter().zip(offers) {
                score.hit(
                    method,
                    &key,
                    &TOPS,
                    offer.iter().position(|path| *path == target),
                );
            }
            let ours = rank_directories(&self.index, weights, context, letters.as_bytes(), 5);
            let place = ours.iter().position(|d| d.path == target.as_bytes());
            score.hit("tabsense-nomodel", &key, &TOPS, place);
        }
    }
}

/// The commands before one in its session, newest last.
pub(crate) fn recent(commands: &[Command], at: usize) -> Vec<Recent<'_>> {
    let before = commands[at.saturating_sub(LOOKED_BACK)..at].iter().rev();
    let mut recent: Vec<Recent<'_>> = before
        .filter(|c| c.session == commands[at].session)
        .take(RECENT)
        .map(|c| Recent {
            command: c.cmd.as_bytes(),
            cwd: c.cwd.as_deref().unwrap_or_default().as_bytes(),
            exit: c.exit,
        })
        .collect();
    recent.reverse();
    recent
}

pub(crate) fn event(command: &Command) -> Event<'_> {
    Event {
        command: command.cmd.as_bytes(),
        cwd: command.cwd.as_deref().unwrap_or_default().as_bytes(),
        exit: command.exit,
        start: command.t.unwrap_or(0),
        session: command.session.as_deref().unwrap_or_default().as_bytes(),
        ..Event::default()
    }
}

fn stamp(user: &User, at: usize) -> i64 {
    if user.has_time {
        user.commands[at].t.unwrap_or(0)
    } else {
        at as i64
    }
}

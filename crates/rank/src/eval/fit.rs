//! Fitting the weights: softmax regression over sets of candidates of which one was chosen.
//!
//! The chance of candidate `i` is `exp(w . x_i) / sum_j exp(w . x_j)`; the weights maximise the
//! weighted mean log-chance of what was chosen, with a pull towards where they started. Minimised
//! with Adam (Kingma and Ba, 2015) over shuffled batches; the same seed gives the same weights.

use std::collections::BTreeSet;

use super::cd::cd_target;
use super::history::{event, recent};
use super::{Case, User, completion};
use crate::candidate::{Candidate, Context, Kind, Match, Slot};
use crate::directories::explain_directories;
use crate::index::Index;
use crate::index::intern::NONE;
use crate::index::log::Chain;
use crate::lines::Predictor;
use crate::shell;
use crate::weights::{Blend, Weights};
use crate::words::{argument_words, explain_words};

/// Candidates kept per choice: the chosen one and the best of the others.
const KEPT: usize = 32;

/// One choice among candidates.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// Feature values, candidate after candidate; the chosen one first.
    pub values: Vec<f32>,
    /// How much it counts.
    pub weight: f32,
}

/// How to fit.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Passes over the choices.
    pub epochs: usize,
    /// Step size at the start; it falls to a twentieth.
    pub rate: f32,
    /// Strength of the pull towards the starting weights.
    pub pull: f32,
    /// Seed of the shuffling.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            epochs: 8,
            rate: 0.02,
            pull: 1e-4,
            seed: 1,
        }
    }
}

/// SplitMix64 (Steele, Lea and Flood, 2014): small, seeded, the same everywhere.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// A sequence that depends on the seed alone.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `end`, which must not be 0.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % end as u64) as usize
    }
}

impl Choice {
    /// Keeps the chosen candidate and those that the weights rank highest.
    fn new(vectors: &[Vec<f32>], chosen: usize, weights: &[f32]) -> Self {
        let score = |v: &Vec<f32>| v.iter().zip(weights).map(|(v, w)| v * w).sum::<f32>();
        let mut others: Vec<(f32, usize)> = (0..vectors.len())
            .filter(|at| *at != chosen)
            .map(|at| (score(&vectors[at]), at))
            .collect();
        others.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut values = vectors[chosen].clone();
        for (_, at) in others.iter().take(KEPT - 1) {
            values.extend_from_slice(&vectors[*at]);
        }
        Self {
            values,
            weight: 1.0,
        }
    }
}

/// Fits weights to choices, starting from `start`; none falls below its bound in `least`.
pub fn fit(choices: &[Choice], start: &[f32], least: &[f32], options: Options) -> Vec<f32> {
    const BATCH: usize = 64;
    let n = start.len();
    let (mut weights, mut first, mut second) = (start.to_vec(), vec![0.0; n], vec![0.0; n]);
    let mut order: Vec<usize> = (0..choices.len()).collect();
    let mut random = Random::new(options.seed);
    let steps = (options.epochs * choices.len().div_ceil(BATCH)).max(1);
    let mut step = 0;
    for _ in 0..options.epochs {
        for at in (1..order.len()).rev() {
            order.swap(at, random.below(at + 1));
        }
        for batch in order.chunks(BATCH) {
            let mut slope = vec![0.0_f32; n];
            for at in batch {
                add_slope(&choices[*at], &weights, &mut slope);
            }
            step += 1;
            let left = 1.0 - step as f32 / steps as f32;
            let rate = options.rate * (0.05 + 0.95 * left);
            for i in 0..n {
                let pull = options.pull * (weights[i] - start[i]);
                let slope = slope[i] / batch.len() as f32 + pull;
                first[i] = 0.9 * first[i] + 0.1 * slope;
                second[i] = 0.999 * second[i] + 0.001 * slope * slope;
                let mean = first[i] / (1.0 - 0.9_f32.powi(step));
                let spread: f32 = second[i] / (1.0 - 0.999_f32.powi(step));
                let step = rate * mean / (spread.sqrt() + 1e-8);
                weights[i] = (weights[i] - step).max(least[i]);
            }
        }
    }
    weights
}

/// Weighted mean of -ln(chance of what was chosen), and share of choices where it is the best.
pub fn loss(choices: &[Choice], weights: &[f32]) -> (f32, f32) {
    let (mut sum, mut first, mut total) = (0.0, 0.0, 0.0);
    for choice in choices {
        let chances = chances(choice, weights);
        sum -= choice.weight * chances[0].max(1e-30).ln();
        let best = chances.iter().skip(1).all(|c| *c < chances[0]);
        first += if best { choice.weight } else { 0.0 };
        total += choice.weight;
    }
    (sum / total, first / total)
}

fn chances(choice: &Choice, weights: &[f32]) -> Vec<f32> {
    let rows = choice.values.chunks_exact(weights.len());
    let mut chances: Vec<f32> = rows
        .map(|row| row.iter().zip(weights).map(|(v, w)| v * w).sum())
        .collect();
    let most = chances.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    chances.iter_mut().for_each(|c| *c = (*c - most).exp());
    let total: f32 = chances.iter().sum();
    chances.iter_mut().for_each(|c| *c /= total);
    chances
}

fn add_slope(choice: &Choice, weights: &[f32], slope: &mut [f32]) {
    let mut factors = chances(choice, weights);
    factors[0] -= 1.0;
    for (factor, row) in factors
        .iter()
        .zip(choice.values.chunks_exact(weights.len()))
    {
        for (slope, value) in slope.iter_mut().zip(row) {
            *slope += choice.weight * factor * value;
        }
    }
}

/// Every place of a user's history from the hundred-and-first command on: its context.
fn replay(user: &User, mut at_prompt: impl FnMut(usize, &Index, &Context<'_>)) {
    let mut index = Index::new();
    for (at, command) in user.commands.iter().enumerate() {
        if at >= super::history::TRAINING {
            let recent = recent(&user.commands[..at]);
            let context = Context {
                cwd: command.cwd.as_deref().unwrap_or_default().as_bytes(),
                home: b"~",
                now: command.t.unwrap_or(0),
                recent: &recent,
                ..Context::default()
            };
            at_prompt(at, &index, &context);
        }
        index.observe(&event(command));
    }
}

/// Choices of whole lines: at each prompt with a random one of the measured prefixes. Prompts at
/// which no candidate is the line that was run are left out.
pub fn line_choices(user: &User, weights: &Weights, most: usize, seed: u64) -> Vec<Choice> {
    let mut random = Random::new(seed);
    let mut choices = Vec::new();
    let every = user.commands.len().div_ceil(most.max(1));
    replay(user, |at, index, context| {
        let line = &user.commands[at].cmd;
        if random.below(every) != 0 {
            return;
        }
        let end = match random.below(8) {
            5 => line.find(' ').map(|at| at + 1),
            // One character is measured the most strictly: three of eight.
            n => line
                .char_indices()
                .nth(if n > 5 { 1 } else { n })
                .map(|(at, _)| at),
        };
        let Some(prefix) = end.filter(|end| *end < line.len()).map(|end| &line[..end]) else {
            return;
        };
        let found = Predictor::new(index, weights, context).explain(prefix.as_bytes());
        let Some(chosen) = found
            .iter()
            .position(|(text, _, _)| text == line.as_bytes())
        else {
            return;
        };
        let vectors: Vec<Vec<f32>> = found.iter().map(|(_, _, v)| v.to_vec()).collect();
        choices.push(Choice::new(&vectors, chosen, weights.of(Blend::Lines)));
    });
    choices
}

/// Choices of directories for `cd`, with 0 to 2 letters typed.
pub fn directory_choices(user: &User, weights: &Weights, seed: u64) -> Vec<Choice> {
    let mut random = Random::new(seed);
    let mut choices = Vec::new();
    replay(user, |at, index, context| {
        let after = user
            .commands
            .get(at + 1)
            .and_then(|next| next.cwd.as_deref());
        let Some(target) = after.and_then(|after| cd_target(&user.commands[at], after)) else {
            return;
        };
        let name = target.rsplit('/').next().unwrap_or(&target).to_lowercase();
        let typed: String = name.chars().take(random.below(3)).collect();
        let found = explain_directories(index, weights, context, typed.as_bytes());
        let Some(chosen) = found
            .iter()
            .position(|(path, _, _)| path == target.as_bytes())
        else {
            return;
        };
        let vectors: Vec<Vec<f32>> = found.into_iter().map(|(_, _, v)| v).collect();
        choices.push(Choice::new(
            &vectors,
            chosen,
            weights.of(Blend::Directories),
        ));
    });
    choices
}

/// Choices of words: at each prompt a random word of the line, among the words that the command
/// took before and those of recent commands, in alphabetical order as a shell would give them.
pub fn word_choices(user: &User, weights: &Weights, most: usize, seed: u64) -> Vec<Choice> {
    let mut random = Random::new(seed);
    let mut choices = Vec::new();
    let every = user.commands.len().div_ceil(most.max(1));
    replay(user, |at, index, context| {
        if random.below(every) != 0 {
            return;
        }
        let words = shell::words(user.commands[at].cmd.as_bytes());
        if words.is_empty() {
            return;
        }
        let place = random.below(words.len());
        let before: Vec<&[u8]> = words[..place].iter().map(|w| w.text.as_slice()).collect();
        let answer = &words[place].text;
        let typed = &answer[..random.below(3).min(answer.len().saturating_sub(1))];
        let slot = Slot {
            words: &before,
            typed,
        };
        let texts = offered(index, context, &slot);
        let Some(chosen) = texts.iter().position(|text| text == answer) else {
            return;
        };
        if texts.len() < 3 {
            return;
        }
        let candidates: Vec<Candidate> = (0..)
            .zip(&texts)
            .map(|(n, text)| candidate(text, place, n))
            .collect();
        let vectors = explain_words(index, weights, context, &slot, &candidates);
        choices.push(Choice::new(&vectors, chosen, weights.of(Blend::Words)));
    });
    choices
}

/// What a shell might offer: words that the command took, and the names that any command was given
/// in this directory, which stand for its listing.
fn offered(index: &Index, context: &Context<'_>, slot: &Slot<'_>) -> Vec<Vec<u8>> {
    let mut texts: BTreeSet<Vec<u8>> = argument_words(index, slot, 100)
        .into_iter()
        .map(|w| w.text)
        .collect();
    if !slot.words.is_empty() {
        let directory = index.directory(context.cwd);
        let newest = directory.map_or(NONE, |d| index.newest_in[d as usize]);
        let rows = index.log.walk(Chain::Directory, newest, 200);
        let here = rows
            .map(|row| index.log.command[row])
            .filter(|c| *c != NONE);
        let recent = context.recent.iter().map(|r| r.command);
        for line in here.map(|c| index.commands.text(c)).chain(recent) {
            let words = shell::words(line).into_iter().skip(1).map(|w| w.text);
            let fits = |t: &Vec<u8>| !t.starts_with(b"-") && t.starts_with(slot.typed);
            texts.extend(words.filter(fits));
        }
    }
    texts.into_iter().filter(|text| !text.is_empty()).collect()
}

fn candidate(text: &[u8], place: usize, native: u32) -> Candidate {
    let kind = match text {
        _ if place == 0 => Kind::Command,
        _ if text.ends_with(b"/") => Kind::Directory,
        _ if text.starts_with(b"-") => Kind::Option,
        _ => Kind::Word,
    };
    Candidate {
        text: text.to_vec(),
        kind,
        description: Vec::new(),
        native: Some(native),
        modified: None,
        quality: Match::Prefix,
    }
}

/// Choices of words from completion cases.
pub fn case_choices(cases: &[Case], weights: &Weights) -> Vec<Choice> {
    let explained = cases
        .iter()
        .filter_map(|case| completion::explain(case, weights));
    explained
        .map(|(vectors, chosen)| Choice::new(&vectors, chosen, weights.of(Blend::Words)))
        .collect()
}

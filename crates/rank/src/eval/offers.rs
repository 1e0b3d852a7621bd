//! What all methods offer for one command of a replay, and what that is worth.

use std::collections::{BTreeSet, HashMap};

use super::baselines::{self, LONGEST_PREFIX};
use super::history::UserScore;
use super::typing::Typing;
use crate::candidate::{Context, ScoredLine};
use crate::decide::{Asks, Decide, Question};
use crate::lines::Predictor;
use crate::weights::Weights;

/// Lines that are offered, and that a model may reorder.
const SHOWN: usize = 5;
/// Lines that a model is asked about at once.
const ASKED: usize = 48;
/// The logits of a question rarely differ by more: with a given weight a model cannot bring the
/// second line before one that is further ahead than the weight times this.
const REACH: f32 = 10.0;
const LINE_METHODS: usize = baselines::METHODS.len() + 1;

/// Whether a model's word could change which line comes first.
fn is_close(lines: &[ScoredLine], weight: f32) -> bool {
    matches!(lines, [first, second, ..] if first.score - second.score < weight * REACH)
}

/// What all methods offer at one prompt.
pub(super) struct Offers<'a, 'm> {
    pub(super) lines: &'a baselines::Lines,
    pub(super) previous: Option<&'a str>,
    pub(super) predictor: Predictor<'a>,
    pub(super) context: &'a Context<'a>,
    pub(super) weights: &'a Weights,
    pub(super) model: Option<&'m mut dyn Decide>,
    /// What the model said of a line at this prompt: nothing typed changes it.
    pub(super) heard: HashMap<Vec<u8>, f32>,
    /// Lines by statistics, by prefix.
    pub(super) known: HashMap<String, Vec<ScoredLine>>,
}

impl Offers<'_, '_> {
    /// The lines that are offered after a prefix of a command.
    fn ours(&mut self, prefix: &str) -> Vec<ScoredLine> {
        let mut lines = self.by_statistics(prefix);
        let weight = self.weights.model.line;
        let heard = |line: &ScoredLine| self.heard.get(&line.text).copied();
        if !lines.iter().all(|line| heard(line).is_some()) || !is_close(&lines, weight) {
            return lines;
        }
        for line in &mut lines {
            line.score += weight * heard(line).unwrap_or_default();
        }
        lines.sort_by(|a, b| b.score.total_cmp(&a.score));
        lines
    }

    fn by_statistics(&mut self, prefix: &str) -> Vec<ScoredLine> {
        if let Some(known) = self.known.get(prefix) {
            return known.clone();
        }
        let lines = self.predictor.lines(prefix.as_bytes(), SHOWN);
        self.known.insert(prefix.to_owned(), lines.clone());
        lines
    }

    /// Asks the model about every line that it could move, for all prefixes of a command at once:
    /// what it says of a line does not depend on what is typed.
    fn ask(&mut self, command: &str) {
        let weight = self.weights.model.line;
        let mut texts: BTreeSet<Vec<u8>> = BTreeSet::new();
        let ends = command.char_indices().map(|(at, _)| at);
        for end in ends.take(LONGEST_PREFIX + 1) {
            let lines = self.by_statistics(&command[..end]);
            if is_close(&lines, weight) {
                texts.extend(lines.into_iter().map(|line| line.text));
            }
        }
        let texts: Vec<Vec<u8>> = texts.into_iter().collect();
        let Some(model) = self.model.as_deref_mut() else {
            return;
        };
        for texts in texts.chunks(ASKED) {
            let options: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
            let question = Question {
                asks: Asks::Line,
                context: self.context,
                before: b"",
                options: &options,
            };
            if let Some(logits) = model.logits(&question) {
                self.heard.extend(texts.iter().cloned().zip(logits));
            }
        }
    }

    fn name(&self) -> &'static str {
        if self.model.is_some() {
            "tabsense"
        } else {
            "tabsense-nomodel"
        }
    }
}

pub(super) fn score_lines(command: &str, offers: &mut Offers<'_, '_>, score: &mut UserScore) {
    if offers.model.is_some() {
        offers.ask(command);
    }
    score_prefix(command, "", "next", &[1, 3, 5], offers, score);
    for n in 1..=4 {
        if let Some((at, _)) = command.char_indices().nth(n) {
            let key = format!("prefix{n}");
            score_prefix(command, &command[..at], &key, &[1, 3], offers, score);
        }
    }
    if let Some(at) = command
        .find(' ')
        .map(|at| at + 1)
        .filter(|at| *at < command.len())
    {
        score_prefix(command, &command[..at], "word", &[1, 3], offers, score);
    }
    score_saved(command, offers, score);
}

fn score_prefix(
    command: &str,
    prefix: &str,
    key: &str,
    tops: &[usize],
    offers: &mut Offers<'_, '_>,
    score: &mut UserScore,
) {
    score.could(key, tops);
    let place = offers
        .ours(prefix)
        .iter()
        .position(|l| l.text == command.as_bytes());
    score.hit(offers.name(), key, tops, place);
    if !offers.lines.knows(command) {
        return;
    }
    let simple = offers.lines.rank(prefix, offers.previous);
    for (method, offer) in baselines::METHODS.into_iter().zip(simple) {
        let place = offer.iter().position(|text| *text == command.as_bytes());
        score.hit(method, key, tops, place);
    }
}

/// Types a command with the first offer of each method in view, and counts the keys not needed.
fn score_saved(command: &str, offers: &mut Offers<'_, '_>, score: &mut UserScore) {
    let ends: Vec<usize> = command
        .char_indices()
        .map(|(at, _)| at)
        .chain([command.len()])
        .collect();
    let length = ends.len() - 1;
    for key in ["saved.line", "saved.word"] {
        *score.possible.entry(key.to_owned()).or_default() += length as f64;
    }
    let mut typing = [Typing::default(); LINE_METHODS];
    for typed in 1..length.min(LONGEST_PREFIX + 1) {
        let prefix = &command[..ends[typed]];
        let simple = offers.lines.rank(prefix, offers.previous);
        let ours = offers.ours(prefix);
        let ours = [ours.first().map(|l| l.text.as_slice())];
        let firsts = simple
            .iter()
            .map(|offer| offer.first().copied())
            .chain(ours);
        for (state, offer) in typing.iter_mut().zip(firsts) {
            state.see(command, &ends, typed, offer);
        }
    }
    let names = baselines::METHODS.into_iter().chain([offers.name()]);
    for (state, name) in typing.iter().zip(names) {
        score.add(name, "saved.line".to_owned(), state.by_line as f64);
        score.add(name, "saved.word".to_owned(), state.by_word as f64);
    }
}

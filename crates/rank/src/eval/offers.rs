//! What all methods offer for one command of a replay, and what that is worth.

use std::collections::HashMap;

use super::baselines::{self, LONGEST_PREFIX};
use super::history::UserScore;
use super::typing::Typing;
use crate::candidate::{Context, ScoredLine};
use crate::decide::{Asks, Decide, Question};
use crate::lines::Predictor;
use crate::weights::Weights;

/// Lines that are offered, and that a model may reorder.
const SHOWN: usize = 5;
/// A model is not asked when the first line is so far ahead of the second that it could not change
/// that: the logits of a question rarely differ by more than ten.
const FAR: f32 = 3.0;
const LINE_METHODS: usize = baselines::METHODS.len() + 1;

/// Whether a model's word could change which line comes first.
fn is_close(lines: &[ScoredLine]) -> bool {
    matches!(lines, [first, second, ..] if first.score - second.score < FAR)
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
}

impl Offers<'_, '_> {
    fn ours(&mut self, prefix: &str) -> Vec<ScoredLine> {
        let mut lines = self.predictor.lines(prefix.as_bytes(), SHOWN);
        let weight = self.weights.model.line;
        if self.model.is_none() || !is_close(&lines) || !self.ask(&lines) {
            return lines;
        }
        for line in &mut lines {
            line.score += weight * self.heard.get(&line.text).copied().unwrap_or_default();
        }
        lines.sort_by(|a, b| b.score.total_cmp(&a.score));
        lines
    }

    /// Asks the model about the lines it has not been asked about; whether it answered.
    fn ask(&mut self, lines: &[ScoredLine]) -> bool {
        let texts = lines.iter().map(|line| line.text.as_slice());
        let unknown: Vec<&[u8]> = texts
            .filter(|text| !self.heard.contains_key(*text))
            .collect();
        let Some(model) = self.model.as_deref_mut().filter(|_| !unknown.is_empty()) else {
            return true;
        };
        let question = Question {
            asks: Asks::Line,
            context: self.context,
            before: b"",
            options: &unknown,
        };
        let Some(logits) = model.logits(&question) else {
            return false;
        };
        let new = unknown.iter().map(|text| text.to_vec()).zip(logits);
        self.heard.extend(new);
        true
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

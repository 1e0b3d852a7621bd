//! Prediction of the whole next line.

pub(crate) mod evidence;
mod features;
pub(crate) mod generate;
pub(crate) mod network;
mod within;

use std::collections::{HashMap, HashSet};

use crate::candidate::{Context, ScoredLine};
use crate::index::{Index, Measure};
use crate::shell;
use crate::weights::{Line, Weights};
use evidence::{Evidence, NumberMap, TextMap};
use features::Features;
use generate::Generated;

/// The values of all features of a line.
pub(crate) type Vector = [f32; Line::COUNT];

/// Bounds on how many candidates each source gives.
const BY_FAST: usize = 28;
const BY_SLOW: usize = 10;
const BY_NEWEST: usize = 12;
const BY_EVIDENCE: usize = 48;
const BY_CARRY: usize = 12;
/// How many recent commands give arguments to carry over.
const CARRY_FROM: usize = 6;

/// The `k` most likely next lines that start with `prefix` (which may be empty), best first.
///
/// Lines that were never run may be among them: see [`ScoredLine::count`].
pub fn rank_lines(
    index: &Index,
    weights: &Weights,
    context: &Context<'_>,
    prefix: &[u8],
    k: usize,
) -> Vec<ScoredLine> {
    Predictor::new(index, weights, context).lines(prefix, k)
}

/// Predicts lines at one prompt. What does not depend on the typed text is gathered once, so that
/// one predictor can answer every key press until the next command.
#[derive(Debug)]
pub struct Predictor<'a> {
    index: &'a Index,
    weights: &'a Weights,
    features: Features<'a>,
    /// Known commands with evidence, strongest first.
    pointed_at: Vec<u32>,
    templates: NumberMap<Generated>,
    fresh: Vec<Generated>,
    arguments: Vec<(Vec<u8>, u32)>,
    known: NumberMap<Vector>,
}

impl<'a> Predictor<'a> {
    /// Gathers what the index knows about this place.
    pub fn new(index: &'a Index, weights: &'a Weights, context: &Context<'a>) -> Self {
        let evidence = Evidence::gather(index, context);
        let mut templates = NumberMap::default();
        let mut fresh = Vec::new();
        for line in generate::lines(index, context, &evidence) {
            match index.command(&line.text) {
                Some(id) => {
                    templates.insert(id, line);
                }
                None => fresh.push(line),
            }
        }
        let mut pointed_at: Vec<(f32, u32)> = evidence
            .seen
            .iter()
            .map(|(id, seen)| (features::strength(seen, &evidence), *id))
            .collect();
        pointed_at.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        Self {
            index,
            weights,
            arguments: arguments(context),
            features: Features::new(index, weights, *context, evidence),
            pointed_at: pointed_at.into_iter().map(|p| p.1).collect(),
            templates,
            fresh,
            known: NumberMap::default(),
        }
    }

    /// The `k` most likely lines that start with `prefix`, best first.
    pub fn lines(&mut self, prefix: &[u8], k: usize) -> Vec<ScoredLine> {
        let weights = self.weights;
        let mut lines: Vec<ScoredLine> = self
            .explain(prefix)
            .into_iter()
            .map(|(text, count, vector)| {
                let score = vector.iter().zip(&weights.lines).map(|(v, w)| v * w).sum();
                ScoredLine { text, score, count }
            })
            .collect();
        lines.sort_by(|a, b| {
            b.score
                .total_cmp(&a.score)
                .then_with(|| a.text.cmp(&b.text))
        });
        lines.truncate(k);
        lines
    }

    /// All lines that are considered: text, uses, and values in the order of
    /// [`crate::Blend::features`]. The order of the lines is the same in every run.
    pub fn explain(&mut self, prefix: &[u8]) -> Vec<(Vec<u8>, u32, Vector)> {
        let mut found = Vec::new();
        for id in self.candidates(prefix) {
            let vector = match self.known.get(&id) {
                Some(vector) => *vector,
                None => {
                    let vector = self.features.known(id, self.templates.get(&id));
                    let vector = self.with_network(vector);
                    self.known.insert(id, vector);
                    vector
                }
            };
            let text = self.index.commands.text(id).to_vec();
            found.push((text, self.index.stats[id as usize].count, vector));
        }
        for (line, carried) in self.new_lines(prefix) {
            let vector = self.with_network(self.features.fresh(&line, carried));
            found.push((line.text, 0, vector));
        }
        found
    }

    fn with_network(&self, mut vector: Vector) -> Vector {
        vector[Line::Network as usize] = self.weights.network.of(&vector);
        vector
    }

    /// Share of each first word after the previous first word.
    pub(crate) fn next_heads(&self) -> TextMap<f32> {
        self.features.next_heads()
    }

    fn candidates(&self, prefix: &[u8]) -> Vec<u32> {
        let index = self.index;
        let mut ids = index.top(prefix, Measure::Fast, BY_FAST);
        ids.extend(index.top(prefix, Measure::Slow, BY_SLOW));
        ids.extend(index.top(prefix, Measure::Newest, BY_NEWEST));
        let fits = |id: &u32| index.commands.text(*id).starts_with(prefix);
        ids.extend(
            self.pointed_at
                .iter()
                .copied()
                .filter(fits)
                .take(BY_EVIDENCE),
        );
        ids.extend(self.templates.keys().copied().filter(fits));
        ids.sort_unstable();
        ids.dedup();
        // What stands there already is no offer.
        ids.retain(|id| index.commands.text(*id) != prefix);
        ids
    }

    /// Lines that start with `prefix` and were never run, with how long ago their argument was
    /// named (0 = they are not made that way).
    fn new_lines(&mut self, prefix: &[u8]) -> Vec<(Generated, u32)> {
        let mut lines: Vec<(Generated, u32)> = self
            .fresh
            .iter()
            .filter(|line| line.text.starts_with(prefix) && line.text != prefix)
            .map(|line| (line.clone(), 0))
            .collect();
        let mut texts: HashSet<Vec<u8>> = lines.iter().map(|l| l.0.text.clone()).collect();
        for (text, age) in self.carried(prefix) {
            if let Some(line) = lines.iter_mut().find(|l| l.0.text == text) {
                line.1 = age;
            } else if self.index.command(&text).is_none() && texts.insert(text.clone()) {
                lines.push((
                    Generated {
                        text,
                        template: 0.0,
                        stock: false,
                    },
                    age,
                ));
            }
        }
        lines
    }

    /// Lines put together from a first part and an argument of a recent command.
    fn carried(&self, prefix: &[u8]) -> Vec<(Vec<u8>, u32)> {
        let blank = prefix.iter().rposition(|b| *b == b' ');
        let fronts: Vec<Vec<u8>> = match blank {
            Some(at) => vec![prefix[..=at].to_vec()],
            None => self.features.likely_heads(prefix, 3),
        };
        let mut lines = Vec::new();
        for front in fronts {
            for (word, age) in &self.arguments {
                let line = [front.as_slice(), word].concat();
                if line.starts_with(prefix) && line.len() > prefix.len() {
                    lines.push((line, *age));
                }
                if lines.len() >= BY_CARRY {
                    return lines;
                }
            }
        }
        lines
    }
}

/// Arguments of recent commands as they were written, newest first, with their age.
fn arguments(context: &Context<'_>) -> Vec<(Vec<u8>, u32)> {
    let mut found: HashMap<Vec<u8>, u32> = HashMap::new();
    for (recent, age) in context.recent.iter().rev().take(CARRY_FROM).zip(1..) {
        let line = recent.command.trim_ascii();
        for word in shell::words(line).into_iter().skip(1) {
            if word.text.len() > 1 && !word.text.starts_with(b"-") {
                found.entry(line[word.range].to_vec()).or_insert(age);
            }
        }
    }
    let mut found: Vec<(Vec<u8>, u32)> = found.into_iter().collect();
    found.sort_by(|a, b| a.1.cmp(&b.1).then_with(|| a.0.cmp(&b.0)));
    found
}

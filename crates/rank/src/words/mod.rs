//! Ranking of the candidates for one word.

mod features;
mod history;
mod names;

use crate::candidate::{Candidate, Context, Ranked, ScoredWord, Slot};
use crate::feedback::Place;
use crate::index::Index;
use crate::weights::{Weights, Word};
use features::Features;
use history::Uses;

/// The values of all features of a word.
pub(crate) type Vector = [f32; Word::COUNT];

/// Ranks candidates for the word at the cursor, best first.
///
/// Every candidate comes back exactly once. Candidates with equal evidence, or none, keep the
/// order of [`Candidate::native`], then the order in which they were given.
pub fn rank_words(
    index: &Index,
    weights: &Weights,
    context: &Context<'_>,
    slot: &Slot<'_>,
    candidates: &[Candidate],
) -> Vec<Ranked> {
    let mut ranked: Vec<Ranked> = explain_words(index, weights, context, slot, candidates)
        .iter()
        .enumerate()
        .map(|(position, vector)| {
            let score = vector.iter().zip(&weights.words).map(|(v, w)| v * w).sum();
            Ranked { position, score }
        })
        .collect();
    let native = |r: &Ranked| candidates[r.position].native.unwrap_or(u32::MAX);
    ranked.sort_by(|a, b| {
        b.score
            .total_cmp(&a.score)
            .then_with(|| native(a).cmp(&native(b)))
    });
    ranked
}

/// The feature values behind [`rank_words`], one vector per candidate in the order of
/// [`crate::Blend::features`].
pub fn explain_words(
    index: &Index,
    weights: &Weights,
    context: &Context<'_>,
    slot: &Slot<'_>,
    candidates: &[Candidate],
) -> Vec<Vec<f32>> {
    let features = Features::new(index, weights, context, slot, candidates);
    candidates
        .iter()
        .map(|candidate| features.of(candidate).to_vec())
        .collect()
}

/// How this person used one candidate at a place before.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct UsedHere {
    /// How often it was taken here, among the newest 256 uses of the command.
    pub times: u32,
    /// Whether it was used in this directory.
    pub in_directory: bool,
    /// How often it stood first here and another was taken, since it was taken itself.
    pub passed_over: u32,
}

/// How each candidate was used at this place before.
pub fn used_here(
    index: &Index,
    context: &Context<'_>,
    slot: &Slot<'_>,
    candidates: &[Candidate],
) -> Vec<UsedHere> {
    let uses = Uses::gather(index, context.cwd, slot);
    let place = Place::new(context.cwd, slot);
    let base = slot.base();
    let of = |candidate: &Candidate| {
        let name = candidate.text.strip_prefix(base);
        let name = name.unwrap_or(&candidate.text);
        let used = uses.of(&[base, name].concat());
        let fate = context
            .feedback
            .map(|feedback| feedback.of(&place, name, candidate.kind));
        UsedHere {
            times: used.count,
            in_directory: used.here > 0.0,
            passed_over: fate.map_or(0, |fate| fate.passed.into()),
        }
    };
    candidates.iter().map(of).collect()
}

/// Words that the command took before at this place and that start with what is typed, best
/// first: by decayed count (half-life 40 uses of the command).
pub fn argument_words(index: &Index, slot: &Slot<'_>, k: usize) -> Vec<ScoredWord> {
    let uses = Uses::gather(index, b"", slot);
    let mut words: Vec<ScoredWord> = uses
        .words()
        .filter(|(text, used)| used.place > 0.0 && text.starts_with(slot.typed))
        .map(|(text, used)| ScoredWord {
            text: text.to_vec(),
            score: used.place,
            count: used.count,
        })
        .collect();
    words.sort_by(|a, b| {
        b.score
            .total_cmp(&a.score)
            .then_with(|| a.text.cmp(&b.text))
    });
    words.truncate(k);
    words
}

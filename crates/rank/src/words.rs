//! Ranking of the candidates for one word.

use std::collections::HashMap;

use crate::candidate::{Candidate, Context, Ranked, ScoredWord, Slot};
use crate::index::Index;
use crate::weights::Weights;

/// Ranks candidates for the word at the cursor, best first. Every candidate comes back exactly
/// once; without any evidence the native order stays as it is.
pub fn rank_words(
    index: &Index,
    weights: &Weights,
    _context: &Context<'_>,
    slot: &Slot<'_>,
    candidates: &[Candidate],
) -> Vec<Ranked> {
    let known: HashMap<Vec<u8>, f32> = argument_words(index, slot, usize::MAX)
        .into_iter()
        .map(|w| (w.text, w.score))
        .collect();
    let mut ranked: Vec<Ranked> = candidates
        .iter()
        .enumerate()
        .map(|(position, candidate)| {
            let place = candidate.native.unwrap_or(u32::MAX) as f32;
            let used = known.get(&candidate.text).copied().unwrap_or(0.0);
            Ranked {
                position,
                score: weights.frecency * used - weights.native * place,
            }
        })
        .collect();
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score));
    ranked
}

/// Words that the command took before at this place, best first.
pub fn argument_words(index: &Index, slot: &Slot<'_>, k: usize) -> Vec<ScoredWord> {
    let place = slot.words.len();
    let mut found: HashMap<&[u8], (f32, u32)> = HashMap::new();
    for (line, used) in &index.lines {
        let mut words = line.split(|b| *b == b' ').filter(|w| !w.is_empty());
        let Some(word) = words.clone().nth(place) else {
            continue;
        };
        if slot.words.first().copied() != words.next().filter(|_| place > 0) {
            continue;
        }
        if !word.starts_with(slot.typed) {
            continue;
        }
        let entry = found.entry(word).or_default();
        entry.0 += used.at(index.events()) as f32;
        entry.1 += used.count;
    }
    let mut words: Vec<ScoredWord> = found
        .into_iter()
        .map(|(text, (score, count))| ScoredWord {
            text: text.to_vec(),
            score,
            count,
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

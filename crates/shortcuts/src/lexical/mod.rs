//! Which shortcuts share words with a phrase.
//!
//! An [`Index`] holds the texts of shortcuts as terms ([`terms`]): words, Chinese and Japanese
//! characters and pairs of them, and the pinyin of Chinese ones. [`search`] looks the terms of a
//! phrase up, also as the start of longer ones and with a typing error ([`fuzzy`]), and sums the
//! weights of what a text has: rare terms weigh more (the inverse document frequency of BM25,
//! Robertson and Zaragoza 2009), long texts are held back a little.

mod fuzzy;
mod index;
mod terms;

#[cfg(test)]
mod tests;

use std::collections::HashMap;

pub use index::Index;
use terms::Term;

/// A shortcut that shares words with a phrase.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// The place of the index among those that were searched.
    pub index: usize,
    /// The place of the shortcut in that index.
    pub shortcut: usize,
    /// The text that fits best, counted over the whole index.
    pub text: usize,
    /// Sum of the weights of what they share, for texts of the usual length.
    pub score: f32,
    /// The share of the phrase's weight that the text has, 0 to 1.
    pub coverage: f32,
}

/// The `most` shortcuts of several indexes that fit a phrase best, each with its best text.
///
/// Frequencies count over all of them, so that a word is as rare in a short list as in a long one.
pub fn search(indexes: &[&Index], phrase: &str, most: usize) -> Vec<Hit> {
    let terms = terms::of_phrase(phrase);
    let texts: usize = indexes.iter().map(|index| index.texts()).sum();
    let mut scores: Vec<HashMap<u32, f32>> = indexes.iter().map(|_| HashMap::new()).collect();
    let mut whole = 0.0;
    for term in &terms {
        let found: Vec<Vec<(u32, f32)>> = indexes.iter().map(|index| index.find(term)).collect();
        let is_exact = found.iter().flatten().any(|(_, weight)| *weight >= 1.0);
        let frequency: usize = found
            .iter()
            .zip(indexes)
            .flat_map(|(found, index)| found.iter().map(|(term, _)| index.postings(*term).len()))
            .sum();
        let rarity = rarity(frequency, texts) * term.weight;
        whole += rarity;
        for ((found, index), scores) in found.iter().zip(indexes).zip(&mut scores) {
            add(found, index, scores, rarity, is_exact);
        }
    }
    let mut hits: Vec<Hit> = scores
        .iter()
        .enumerate()
        .flat_map(|(at, scores)| best_texts(at, indexes[at], scores, whole))
        .collect();
    hits.sort_by(|a, b| {
        b.score
            .total_cmp(&a.score)
            .then((a.index, a.shortcut).cmp(&(b.index, b.shortcut)))
    });
    hits.truncate(most);
    hits
}

/// The inverse document frequency of BM25.
fn rarity(frequency: usize, texts: usize) -> f32 {
    let (frequency, texts) = (frequency as f32, texts as f32);
    (1.0 + (texts - frequency + 0.5).max(0.5) / (frequency + 0.5)).ln()
}

/// Adds what one term of the phrase is worth to every text that has it, once.
fn add(
    found: &[(u32, f32)],
    index: &Index,
    scores: &mut HashMap<u32, f32>,
    rarity: f32,
    is_exact: bool,
) {
    let mut best: HashMap<u32, f32> = HashMap::new();
    for (term, weight) in found {
        // What is written exactly like this somewhere is no typing error.
        let weight = match is_exact && *weight <= fuzzy::TYPO {
            true => continue,
            false => weight * rarity,
        };
        for text in index.postings(*term) {
            let known = best.entry(*text).or_default();
            *known = known.max(weight);
        }
    }
    for (text, weight) in best {
        *scores.entry(text).or_default() += weight;
    }
}

/// Of each shortcut the text with the best score.
fn best_texts(at: usize, index: &Index, scores: &HashMap<u32, f32>, whole: f32) -> Vec<Hit> {
    let mut best: HashMap<usize, Hit> = HashMap::new();
    for (text, sum) in scores {
        let text = *text as usize;
        let hit = Hit {
            index: at,
            shortcut: index.owner(text),
            text,
            score: sum / index.length_factor(text),
            coverage: (sum / whole.max(f32::MIN_POSITIVE)).min(1.0),
        };
        let known = best.entry(hit.shortcut).or_insert(hit);
        if (hit.score, known.text) > (known.score, hit.text) {
            *known = hit;
        }
    }
    best.into_values().collect()
}

impl Term {
    fn whole_word(text: String) -> Self {
        Self {
            text,
            weight: 1.0,
            open: true,
        }
    }
}

//! Parts of names: what a candidate shares with the words around it.

use super::super::lines::evidence::TextMap;

/// Shorter parts say too little.
const SHORTEST: usize = 3;

/// Parts of words, each with a weight.
#[derive(Debug, Default)]
pub(crate) struct Tokens(TextMap<f32>);

impl Tokens {
    /// Adds the parts of a word; a part keeps the largest weight it was given.
    pub(crate) fn add(&mut self, word: &[u8], weight: f32) {
        for part in parts(word) {
            let known = self.0.entry(part.to_ascii_lowercase()).or_default();
            *known = known.max(weight);
        }
    }

    /// Mean weight of a name's parts; 0 if it has none.
    pub(crate) fn mean(&self, name: &[u8]) -> f32 {
        if self.0.is_empty() {
            return 0.0;
        }
        let (mut sum, mut count) = (0.0, 0.0);
        for part in parts(name) {
            let weight = self.0.get(part.to_ascii_lowercase().as_slice());
            sum += weight.copied().unwrap_or(0.0);
            count += 1.0;
        }
        if count > 0.0 { sum / count } else { 0.0 }
    }
}

fn parts(word: &[u8]) -> impl Iterator<Item = &[u8]> {
    word.split(|b| !b.is_ascii_alphanumeric() && b.is_ascii())
        .filter(|part| part.len() >= SHORTEST)
}

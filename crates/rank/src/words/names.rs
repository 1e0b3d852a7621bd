//! The names of files and directories: how many there are of a kind, and what their parts share
//! with the words around them.

use super::Vector;
use crate::candidate::{Candidate, Context};
use crate::lines::evidence::TextMap;
use crate::shell;
use crate::weights::Word;

/// Recent commands that are looked at for names.
const RECENT: usize = 8;

/// Shorter parts say too little.
const SHORTEST: usize = 3;

/// Parts of words, each with a weight.
#[derive(Debug, Default)]
struct Tokens(TextMap<f32>);

impl Tokens {
    /// Adds the parts of a word; a part keeps the largest weight it was given.
    fn add(&mut self, word: &[u8], weight: f32) {
        for part in parts(word) {
            let known = self.0.entry(part.to_ascii_lowercase()).or_default();
            *known = known.max(weight);
        }
    }

    /// Mean weight of a name's parts; 0 if it has none.
    fn mean(&self, name: &[u8]) -> f32 {
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

/// What is near.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Candidates of each kind of name.
    kinds: TextMap<f32>,
    recent: Tokens,
    line: Tokens,
    here: Tokens,
}

impl Names {
    pub(super) fn gather(
        context: &Context<'_>,
        words: &[&[u8]],
        base: &[u8],
        candidates: &[Candidate],
    ) -> Self {
        let mut names = Self::default();
        for candidate in candidates {
            let kind = shell::name_kind(&candidate.text).to_ascii_lowercase();
            *names.kinds.entry(kind).or_default() += 1.0;
        }
        for (recent, age) in context.recent.iter().rev().take(RECENT).zip(1..) {
            for word in shell::words(recent.command.trim_ascii()).iter().skip(1) {
                names.recent.add(&word.text, 1.0 / age as f32);
            }
        }
        for word in words.iter().chain([&base]) {
            names.line.add(word, 1.0);
        }
        names.here.add(shell::base_name(context.cwd), 1.0);
        names
    }

    /// What a name shares with those around it.
    pub(super) fn put(&self, v: &mut Vector, text: &[u8]) {
        let kind = shell::name_kind(text).to_ascii_lowercase();
        let crowd = self.kinds.get(&kind).copied().unwrap_or(1.0);
        let name = shell::base_name(text);
        let hidden = name.starts_with(b".");
        let values = [
            (Word::Crowd, crowd.ln()),
            (Word::RecentParts, self.recent.mean(name)),
            (Word::LineParts, self.line.mean(name)),
            (Word::HereParts, self.here.mean(name)),
            (Word::Hidden, f32::from(u8::from(hidden))),
            (Word::Length, (name.len() as f32).ln_1p()),
        ];
        for (feature, value) in values {
            v[feature as usize] = value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_near_when_its_parts_are() {
        let mut tokens = Tokens::default();
        tokens.add(b"examples/Train_lora.yaml", 0.5);
        assert!((tokens.mean(b"train-full.json") - 0.5 / 3.0).abs() < 1e-6);
        assert_eq!(tokens.mean(b"ab"), 0.0);
        assert_eq!(Tokens::default().mean(b"train"), 0.0);
    }
}

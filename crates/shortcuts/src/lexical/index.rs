//! The texts of many shortcuts, by their terms.

use std::collections::HashMap;

use super::fuzzy::{self, TYPO};
use super::terms::{self, Term};
use crate::shortcut::Shortcut;

/// What a longer term that begins with the phrase's counts.
const PREFIX: f32 = 0.7;

/// What a shorter one that the phrase's begins with counts: `tests` for `test`.
const STEM: f32 = 0.65;

/// Letters that a prefix needs.
const PREFIX_LETTERS: usize = 3;

/// Terms that one term of a phrase may stand for.
const MOST: usize = 64;

/// The texts of shortcuts, to be searched.
#[derive(Debug, Default)]
pub struct Index {
    /// In order, so that prefixes lie together.
    terms: Vec<(String, Vec<u32>)>,
    /// The places of the terms, by length in characters and first character.
    words: HashMap<(usize, char), Vec<u32>>,
    owners: Vec<u32>,
    lengths: Vec<u16>,
    usual_length: f32,
}

impl Index {
    /// An index of these shortcuts. A text's number is its place among the texts
    /// ([`Shortcut::texts`]) of all of them, one after the other; a shortcut's id is an additional
    /// way to find its first text.
    pub fn new(shortcuts: &[Shortcut]) -> Self {
        let mut all: HashMap<String, Vec<u32>> = HashMap::new();
        let mut owners = Vec::new();
        let mut lengths: Vec<u16> = Vec::new();
        for (owner, shortcut) in (0..).zip(shortcuts) {
            for (place, text) in shortcut.texts().iter().enumerate() {
                let number = u32::try_from(owners.len()).unwrap_or(u32::MAX);
                owners.push(owner);
                let mut terms = terms::of_text(text);
                lengths.push(length(&terms));
                if place == 0 {
                    terms.extend(terms::of_text(&shortcut.id));
                }
                terms.sort_unstable();
                terms.dedup();
                for term in terms {
                    all.entry(term).or_default().push(number);
                }
            }
        }
        let mut terms: Vec<_> = all.into_iter().collect();
        terms.sort_unstable();
        let mut words: HashMap<_, Vec<u32>> = HashMap::new();
        for (place, (term, _)) in (0..).zip(&terms) {
            if let Some(first) = term.chars().next().filter(|c| *c != '\'') {
                let key = (term.chars().count(), first);
                words.entry(key).or_default().push(place);
            }
        }
        let sum: f32 = lengths.iter().map(|length| f32::from(*length)).sum();
        Self {
            usual_length: (sum / lengths.len().max(1) as f32).max(1.0),
            terms,
            words,
            owners,
            lengths,
        }
    }

    /// How many texts there are.
    pub fn texts(&self) -> usize {
        self.owners.len()
    }

    /// The shortcut that a text belongs to.
    pub fn owner(&self, text: usize) -> usize {
        self.owners[text] as usize
    }

    /// By how much a text is held back for its length.
    pub(super) fn length_factor(&self, text: usize) -> f32 {
        0.7 + 0.3 * f32::from(self.lengths[text]) / self.usual_length
    }

    /// The texts that have the term at a place.
    pub(super) fn postings(&self, term: u32) -> &[u32] {
        &self.terms[term as usize].1
    }

    /// The places of the terms that a phrase's term may mean, with what they count.
    pub(super) fn find(&self, term: &Term) -> Vec<(u32, f32)> {
        let mut found: Vec<(u32, f32)> = self
            .place(&term.text)
            .map(|place| (place, 1.0))
            .into_iter()
            .collect();
        if !term.open {
            return found;
        }
        found.extend(self.place(&format!("'{}", term.text)).map(|at| (at, 0.8)));
        found.extend(self.place(&format!("'{}'", term.text)).map(|at| (at, 0.5)));
        let letters: Vec<char> = term.text.chars().collect();
        if letters.len() >= PREFIX_LETTERS {
            found.extend(self.longer(&term.text).map(|at| (at, PREFIX)));
        }
        found.extend(self.stems(&term.text).map(|at| (at, STEM)));
        if found.is_empty() {
            found.extend(self.misspelt(&letters).map(|at| (at, TYPO)));
        }
        found.truncate(MOST);
        found
    }

    fn place(&self, term: &str) -> Option<u32> {
        let found = self
            .terms
            .binary_search_by(|(known, _)| known.as_str().cmp(term));
        found.ok().and_then(|place| u32::try_from(place).ok())
    }

    fn longer<'a>(&'a self, term: &'a str) -> impl Iterator<Item = u32> + 'a {
        let start = self
            .terms
            .partition_point(|(known, _)| known.as_str() <= term);
        let number = u32::try_from(start).unwrap_or(u32::MAX);
        (number..)
            .zip(&self.terms[start..])
            .take_while(move |(_, (known, _))| known.starts_with(term))
            .map(|(place, _)| place)
    }

    /// What a word is without the ending that it may have.
    fn stems<'a>(&'a self, term: &'a str) -> impl Iterator<Item = u32> + 'a {
        const ENDINGS: &[&str] = &["s", "es", "ed", "ing", "d", "n", "en", "e", "r", "er"];
        ENDINGS
            .iter()
            .filter_map(move |ending| term.strip_suffix(ending))
            .filter(|stem| stem.len() >= PREFIX_LETTERS)
            .filter_map(|stem| self.place(stem))
    }

    fn misspelt<'a>(&'a self, letters: &'a [char]) -> impl Iterator<Item = u32> + 'a {
        let lengths = letters.len().saturating_sub(2)..=letters.len() + 2;
        let first = letters.first().copied().unwrap_or(' ');
        lengths
            .filter_map(move |length| self.words.get(&(length, first)))
            .flatten()
            .copied()
            .filter(move |place| {
                let word: Vec<char> = self.terms[*place as usize].0.chars().collect();
                fuzzy::is_near(letters, &word)
            })
    }
}

/// The length of a text in words, pinyin not counted.
fn length(terms: &[String]) -> u16 {
    let words = terms.iter().filter(|term| !term.starts_with('\'')).count();
    u16::try_from(words).unwrap_or(u16::MAX)
}

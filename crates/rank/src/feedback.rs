//! What was offered before: what was taken, and what stood first and was passed over.
//!
//! A *place* is the words before the one that is completed and its directory part; for files and
//! directories the working directory, too. A candidate that is taken loses its history of being
//! passed over.

use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasherDefault;

use crate::candidate::{Kind, Slot};
use crate::index::intern::hash;
use crate::index::trim_slash;
use crate::lines::evidence::NumberHasher;

/// Candidates that are remembered; the one heard of longest ago goes.
const MOST: usize = 8192;
/// More of the same says no more.
const FULL: u8 = 8;

/// One list that was offered at some place.
#[derive(Debug, Clone, Copy)]
pub struct Offer<'a> {
    /// The working directory.
    pub cwd: &'a [u8],
    /// Where in the line.
    pub slot: Slot<'a>,
    /// What stood first: its text, with or without the word's directory part.
    pub first: (&'a [u8], Kind),
    /// What was taken of it.
    pub taken: (&'a [u8], Kind),
}

/// What became of one candidate at one place.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Fate {
    /// How often it was taken.
    pub taken: u8,
    /// How often it stood first and another was taken, since it was taken itself.
    pub passed: u8,
}

/// The fates of the newest candidates.
#[derive(Debug, Default, Clone)]
pub struct Feedback {
    fates: HashMap<u64, Fate, BuildHasherDefault<NumberHasher>>,
    /// In the order in which they were first heard of.
    order: VecDeque<u64>,
}

impl Feedback {
    /// Takes in what became of one list.
    pub fn observe(&mut self, offer: &Offer<'_>) {
        let place = Place::new(offer.cwd, &offer.slot);
        let base = offer.slot.base();
        let name = |text: &'_ [u8]| -> Vec<u8> {
            trim_slash(text.strip_prefix(base).unwrap_or(text)).to_vec()
        };
        let (first, chosen) = (name(offer.first.0), name(offer.taken.0));
        let taken = self.entry(place.of(&chosen, offer.taken.1));
        taken.taken = (taken.taken + 1).min(FULL);
        taken.passed = 0;
        if first == chosen {
            return;
        }
        let passed = self.entry(place.of(&first, offer.first.1));
        passed.passed = (passed.passed + 1).min(FULL);
        passed.taken /= 2;
    }

    fn entry(&mut self, key: u64) -> &mut Fate {
        if !self.fates.contains_key(&key) {
            if self.order.len() >= MOST
                && let Some(oldest) = self.order.pop_front()
            {
                self.fates.remove(&oldest);
            }
            self.order.push_back(key);
        }
        self.fates.entry(key).or_default()
    }

    /// How many candidates are known.
    pub fn len(&self) -> usize {
        self.fates.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.fates.is_empty()
    }

    /// What became of a candidate at a place.
    pub(crate) fn of(&self, place: &Place, text: &[u8], kind: Kind) -> Fate {
        let fate = self.fates.get(&place.of(text, kind));
        fate.copied().unwrap_or_default()
    }
}

/// A place in a line, as numbers.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Place {
    words: u64,
    cwd: u64,
}

impl Place {
    pub(crate) fn new(cwd: &[u8], slot: &Slot<'_>) -> Self {
        let mut words = slot.words.join(&0);
        words.push(0);
        words.extend_from_slice(slot.base());
        Self {
            words: hash(&words),
            cwd: hash(trim_slash(cwd)),
        }
    }

    fn of(&self, text: &[u8], kind: Kind) -> u64 {
        let text = hash(trim_slash(text));
        let place = match kind {
            Kind::File | Kind::Directory => self.words ^ self.cwd.rotate_left(29),
            _ => self.words,
        };
        place.rotate_left(17) ^ text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer<'a>(
        cwd: &'a str,
        words: &'a [&'a [u8]],
        kind: Kind,
        first: &'a str,
        taken: &'a str,
    ) -> Offer<'a> {
        Offer {
            cwd: cwd.as_bytes(),
            slot: Slot { words, typed: b"" },
            first: (first.as_bytes(), kind),
            taken: (taken.as_bytes(), kind),
        }
    }

    fn fate(feedback: &Feedback, offer: &Offer<'_>, text: &str) -> Fate {
        let place = Place::new(offer.cwd, &offer.slot);
        feedback.of(&place, text.as_bytes(), offer.first.1)
    }

    #[test]
    fn what_is_passed_over_is_counted_until_it_is_taken() {
        let mut feedback = Feedback::default();
        let passed = offer("/p", &[b"git"], Kind::Word, "commit", "checkout");
        feedback.observe(&passed);
        feedback.observe(&passed);
        assert_eq!(
            fate(&feedback, &passed, "commit"),
            Fate {
                taken: 0,
                passed: 2
            }
        );
        assert_eq!(
            fate(&feedback, &passed, "checkout"),
            Fate {
                taken: 2,
                passed: 0
            }
        );
        feedback.observe(&offer("/p", &[b"git"], Kind::Word, "commit", "commit"));
        assert_eq!(
            fate(&feedback, &passed, "commit"),
            Fate {
                taken: 1,
                passed: 0
            }
        );
    }

    #[test]
    fn files_are_known_in_their_directory_and_words_everywhere() {
        let mut feedback = Feedback::default();
        feedback.observe(&offer("/p", &[b"git"], Kind::Word, "add", "am"));
        feedback.observe(&offer("/p", &[b"vim"], Kind::File, "a.c", "b.c"));
        let word = offer("/q", &[b"git"], Kind::Word, "add", "am");
        assert_eq!(fate(&feedback, &word, "add").passed, 1);
        let file = offer("/q", &[b"vim"], Kind::File, "a.c", "b.c");
        assert_eq!(fate(&feedback, &file, "a.c"), Fate::default());
    }

    #[test]
    fn it_stays_bounded() {
        let mut feedback = Feedback::default();
        for n in 0..MOST + 10 {
            let name = format!("w{n}");
            feedback.observe(&offer("/", &[b"x"], Kind::Word, &name, &name));
        }
        assert_eq!(feedback.len(), MOST);
        let place = offer("/", &[b"x"], Kind::Word, "", "");
        assert_eq!(fate(&feedback, &place, "w0"), Fate::default());
        assert_eq!(fate(&feedback, &place, &format!("w{}", MOST + 9)).taken, 1);
    }
}

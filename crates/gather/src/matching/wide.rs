//! Names beyond ASCII: compared by characters in decomposed form (NFD).

use tabsense_rank::Match;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::typo::{self, Fold};
use super::{INSIDE, Inside, LONGEST, Letters, is_word_start, letter, pinyin};

#[derive(Debug)]
pub(super) struct Typed {
    /// Decomposed.
    chars: Vec<char>,
    fold: bool,
    /// The text as ASCII lower case letters, when it may be pinyin.
    pinyin: Option<Vec<u8>>,
    name: Vec<char>,
}

impl Typed {
    pub(super) fn new(typed: &[u8], fold: bool) -> Self {
        let mut chars = Vec::new();
        decompose(typed, &mut chars);
        let letters = !typed.is_empty() && typed.len() <= LONGEST && typed.is_ascii();
        let pinyin = (letters && fold).then(|| typed.to_vec());
        Self {
            chars,
            fold,
            pinyin,
            name: Vec::new(),
        }
    }

    /// How a name matches that does not start with the typed bytes.
    pub(super) fn quality(&mut self, name: &[u8]) -> Option<Match> {
        let mut chars = std::mem::take(&mut self.name);
        decompose(name, &mut chars);
        let found = self
            .compare(&chars)
            .or_else(|| self.pinyin(&chars))
            .or_else(|| typo::is_one_off(&self.chars, &chars, self.fold).then_some(Match::Typo));
        self.name = chars;
        found
    }

    fn compare(&self, name: &[char]) -> Option<Match> {
        let typed = &self.chars;
        if name.starts_with(typed) {
            let rest = name.get(typed.len());
            return Some(match rest {
                None => Match::Exact,
                // `e` is not yet `é`, and `하` not yet `한`.
                Some(char) if is_combining_mark(*char) || is_final_consonant(*char) => {
                    Match::PrefixCase
                }
                Some(_) => Match::Prefix,
            });
        }
        let same = |(a, b): (&char, &char)| self.same(*a, *b);
        if name.len() >= typed.len() && typed.iter().zip(name).all(same) {
            return Some(Match::PrefixCase);
        }
        self.inside(name)
    }

    fn same(&self, typed: char, name: char) -> bool {
        typed == name || (self.fold && typed == name.fold())
    }

    fn inside(&self, name: &[char]) -> Option<Match> {
        let len = self.chars.len();
        if !(1..=LONGEST).contains(&len) || (len < INSIDE && self.chars[0].is_ascii()) {
            return None;
        }
        let mut found = Inside::default();
        let mut previous = None;
        for char in name {
            let places = self.chars.iter().enumerate();
            let places = places.fold(0, |set, (at, typed)| {
                set | u64::from(self.same(*typed, *char)) << at
            });
            let starts = previous.is_none_or(|previous| starts_word(previous, *char));
            found.step(places, starts);
            previous = Some(*char);
        }
        found.best(len)
    }

    fn pinyin(&self, name: &[char]) -> Option<Match> {
        let typed = self.pinyin.as_deref()?;
        pinyin::matches(typed, name).then_some(Match::Pinyin)
    }
}

/// ASCII rules, and each change between ASCII and other scripts.
fn starts_word(previous: char, char: char) -> bool {
    let ascii = |char: char| u8::try_from(char).ok().filter(u8::is_ascii);
    match (ascii(previous), ascii(char)) {
        (Some(previous), Some(byte)) => is_word_start(previous, byte),
        (Some(_), None) => !is_combining_mark(char),
        (None, Some(byte)) => byte.is_ascii_alphanumeric() && !is_combining_mark(previous),
        (None, None) => false,
    }
}

/// The trailing consonants of Hangul syllables (Unicode, block Hangul Jamo).
fn is_final_consonant(char: char) -> bool {
    ('\u{11a8}'..='\u{11ff}').contains(&char)
}

/// NFD; bytes that are not UTF-8 become characters of their own that no name has.
fn decompose(text: &[u8], out: &mut Vec<char>) {
    out.clear();
    for chunk in text.utf8_chunks() {
        let valid = chunk.valid();
        if valid.chars().all(is_decomposed) {
            out.extend(valid.chars());
        } else {
            out.extend(valid.nfd());
        }
        let invalid = chunk.invalid().iter();
        // The last 256 code points of a private plane.
        out.extend(invalid.filter_map(|byte| char::from_u32(0x0010_ff00 + u32::from(*byte))));
    }
}

/// Characters that NFD surely leaves as they are: ASCII and the ideographs of
/// the two main blocks.
fn is_decomposed(char: char) -> bool {
    char.is_ascii() || matches!(char, '\u{3400}'..='\u{9fff}')
}

/// Letters that can be typed for a name beyond its own ASCII: those under
/// accents, and the initials of pinyin.
pub(super) fn hidden_letters(name: &[u8]) -> Letters {
    let mut chars = Vec::new();
    decompose(name, &mut chars);
    chars.iter().fold(0, |mask, char| {
        let ascii = u8::try_from(*char).ok().filter(u8::is_ascii);
        mask | ascii.map_or_else(|| pinyin::initials(*char), letter)
    })
}

//! How well a name fits what was typed.
//!
//! From best to worst: equal, prefix, prefix but for case, word starts,
//! substring, subsequence, pinyin, one typo. Case counts as soon as an upper
//! case letter is typed. Composed and decomposed forms of a character (NFC and
//! NFD) are equal. Hidden names match only when the typed text starts with a dot.

mod pinyin;
mod typo;
mod wide;

#[cfg(test)]
mod tests;

use tabsense_rank::Match;

/// Typed text beyond this many letters is compared by prefix only.
const LONGEST: usize = 63;
/// Shorter text would be found inside nearly every name.
const INSIDE: usize = 2;

/// Which groups of characters a name holds: bit 0 to 25 letters regardless of
/// case, accents taken off, and the initials of pinyin; 26 digits, 27 other
/// ASCII, 31 anything beyond ASCII.
pub(crate) type Letters = u32;
const OTHER: Letters = 1 << 27;
const WIDE: Letters = 1 << 31;

pub(crate) fn letters(name: &[u8]) -> Letters {
    let mask = name.iter().fold(0, |mask, byte| mask | letter(*byte));
    if mask & WIDE == 0 {
        mask
    } else {
        mask | wide::hidden_letters(name)
    }
}

fn letter(byte: u8) -> Letters {
    match byte {
        b'a'..=b'z' => 1 << (byte - b'a'),
        b'A'..=b'Z' => 1 << (byte - b'A'),
        b'0'..=b'9' => 1 << 26,
        0x80.. => WIDE,
        _ => OTHER,
    }
}

/// How `name` matches `typed`, or `None`. One trailing slash of a directory's
/// name is not looked at. For many names, keep a [`Matcher`].
#[must_use]
pub fn quality(typed: &[u8], name: &[u8]) -> Option<Match> {
    Matcher::new(typed).quality(name)
}

/// A typed text, prepared for comparison with many names.
#[derive(Debug)]
pub struct Matcher {
    typed: Vec<u8>,
    letters: Letters,
    /// Lower case letters match both cases.
    fold: bool,
    ascii: bool,
    /// For each byte, at which places of the typed text it stands.
    places: Box<[u64; 256]>,
    wide: wide::Typed,
}

impl Matcher {
    /// Prepares `typed`, the last path part of a word.
    #[must_use]
    pub fn new(typed: &[u8]) -> Self {
        let fold = !has_upper(typed);
        let mut places = Box::new([0_u64; 256]);
        for (at, byte) in typed.iter().take(LONGEST).enumerate() {
            places[usize::from(*byte)] |= 1 << at;
            if fold {
                places[usize::from(byte.to_ascii_uppercase())] |= 1 << at;
            }
        }
        Self {
            typed: typed.to_vec(),
            letters: letters(typed),
            fold,
            ascii: typed.is_ascii(),
            places,
            wide: wide::Typed::new(typed, fold),
        }
    }

    /// A quick check that sorts out most names by their letters.
    pub(crate) fn may_match(&self, name: Letters) -> bool {
        if name & WIDE != 0 {
            // Whatever matches, the first typed letter stands for itself.
            let first = self.typed.first().map_or(0, |byte| letter(*byte));
            return first & !name == 0;
        }
        let missing = (self.letters & !name).count_ones();
        // A typo leaves one letter that the name does not have.
        self.letters & WIDE == 0
            && (missing == 0 || (missing == 1 && self.typed.len() >= typo::SHORTEST))
    }

    /// How `name` matches.
    pub fn quality(&mut self, name: &[u8]) -> Option<Match> {
        let typed = self.typed.as_slice();
        let name = match name {
            [rest @ .., b'/'] if !typed.ends_with(b"/") => rest,
            _ => name,
        };
        if name.starts_with(b".") && !typed.starts_with(b".") {
            return None;
        }
        if name.starts_with(typed) {
            return Some(if name.len() == typed.len() {
                Match::Exact
            } else {
                Match::Prefix
            });
        }
        if !name.is_ascii() {
            return self.wide.quality(name);
        }
        if !self.ascii {
            return None;
        }
        if self.fold && starts_with_fold(name, typed) {
            return Some(Match::PrefixCase);
        }
        self.inside(name)
            .or_else(|| typo::is_one_off(typed, name, self.fold).then_some(Match::Typo))
    }

    /// Word starts, substring and subsequence in one pass over an ASCII name:
    /// bit `n` of a set says that the first `n` typed letters are matched.
    fn inside(&self, name: &[u8]) -> Option<Match> {
        let len = self.typed.len();
        if !(INSIDE..=LONGEST).contains(&len) {
            return None;
        }
        let mut found = Inside::default();
        let mut previous = None;
        for byte in name {
            let starts = previous.is_none_or(|previous| is_word_start(previous, *byte));
            found.step(self.places[usize::from(*byte)], starts);
            previous = Some(*byte);
        }
        found.best(len)
    }
}

/// The sets of matched lengths while a name is read.
#[derive(Clone, Copy, Debug)]
struct Inside {
    /// Word starts: all lengths so far, and those whose last letter was just read.
    reached: u64,
    current: u64,
    substring: u64,
    ended: u64,
    subsequence: u64,
}

impl Default for Inside {
    fn default() -> Self {
        Self {
            reached: 1,
            current: 0,
            substring: 1,
            ended: 0,
            subsequence: 1,
        }
    }
}

impl Inside {
    fn step(&mut self, places: u64, starts_word: bool) {
        let jump = if starts_word { self.reached } else { 0 };
        self.current = ((self.current | jump) & places) << 1;
        self.reached |= self.current;
        self.substring = ((self.substring & places) << 1) | 1;
        self.ended |= self.substring;
        self.subsequence |= (self.subsequence & places) << 1;
    }

    fn best(&self, len: usize) -> Option<Match> {
        let has = |set: u64| set >> len & 1 != 0;
        match () {
            () if has(self.reached) => Some(Match::WordStart),
            () if has(self.ended) => Some(Match::Substring),
            () if has(self.subsequence) => Some(Match::Subsequence),
            () => None,
        }
    }
}

/// Whether a word starts at `byte` inside a name: behind a separator, at a capital in
/// camelCase, and at a digit behind a letter.
fn is_word_start(previous: u8, byte: u8) -> bool {
    if !byte.is_ascii_alphanumeric() {
        return false;
    }
    !previous.is_ascii_alphanumeric()
        || (byte.is_ascii_uppercase() && !previous.is_ascii_uppercase())
        || (byte.is_ascii_digit() && !previous.is_ascii_digit())
}

fn has_upper(typed: &[u8]) -> bool {
    match std::str::from_utf8(typed) {
        Ok(text) => text.chars().any(char::is_uppercase),
        Err(_) => typed.iter().any(u8::is_ascii_uppercase),
    }
}

fn starts_with_fold(name: &[u8], typed: &[u8]) -> bool {
    name.get(..typed.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(typed))
}

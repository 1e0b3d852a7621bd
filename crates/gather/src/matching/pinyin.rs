//! Chinese names by their pinyin without tones, letter by letter: full
//! syllables, initials, or both mixed. All readings of a character count.
//!
//! Readings come from the `pinyin` crate (MIT), built from mozillazg/pinyin-data
//! (MIT), which collects the Unihan database's kMandarin and kHanyuPinyin fields.

use pinyin::ToPinyinMulti;

use super::{Letters, letter};

/// Whether the pinyin of `name` (decomposed) starts with `typed` (ASCII lower
/// case), at the name's start or at a Chinese part inside it.
pub(super) fn matches(typed: &[u8], name: &[char]) -> bool {
    let len = typed.len();
    let mut reached = 1_u64;
    let mut previous = None;
    let mut any = false;
    for char in name {
        let chinese = is_chinese(*char);
        any |= chinese;
        let starts = previous.is_none_or(|before| chinese && !is_chinese(before));
        let from = reached | u64::from(starts);
        reached = if chinese {
            advance(typed, from, *char)
        } else {
            literal(typed, from, *char)
        };
        if any && reached >> len & 1 != 0 {
            return true;
        }
        previous = Some(*char);
    }
    false
}

/// The ideographs that have readings: the unified blocks and their extensions.
fn is_chinese(char: char) -> bool {
    matches!(char, '\u{3007}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// The first letters of all readings of `char`.
pub(super) fn initials(char: char) -> Letters {
    let readings = is_chinese(char).then(|| char.to_pinyin_multi()).flatten();
    let first = |reading: pinyin::Pinyin| reading.plain().bytes().next().map_or(0, letter);
    readings
        .into_iter()
        .flatten()
        .fold(0, |mask, reading| mask | first(reading))
}

/// A character that stands for itself.
fn literal(typed: &[u8], from: u64, char: char) -> u64 {
    let Ok(byte) = u8::try_from(char.to_ascii_lowercase()) else {
        return 0;
    };
    each(from, typed.len())
        .filter(|at| typed[*at] == byte)
        .fold(0, |set, at| set | 1 << (at + 1))
}

/// Which typed lengths are matched behind `char`, from those matched before it.
fn advance(typed: &[u8], from: u64, char: char) -> u64 {
    let Some(readings) = char.to_pinyin_multi() else {
        return 0;
    };
    let mut reached = 0;
    for reading in readings {
        for at in each(from, typed.len()) {
            reached |= syllable(&typed[at..], reading.plain()) << at;
        }
    }
    reached
}

/// Lengths of the starts of `typed` that can stand for `reading`.
fn syllable(typed: &[u8], reading: &str) -> u64 {
    let mut lengths = 0;
    let mut equal = 0;
    for char in reading.chars() {
        let Some(next) = typed.get(equal) else {
            // The last syllable may be unfinished.
            return lengths | 1 << equal;
        };
        let fits = match char {
            // `lü` is typed as lv on every keyboard, and as lu by many.
            'ü' => matches!(next, b'v' | b'u'),
            char => char == char::from(*next),
        };
        if !fits {
            return lengths;
        }
        equal += 1;
        let initial = equal == 1 || (equal == 2 && matches!(&typed[..2], b"zh" | b"ch" | b"sh"));
        if initial {
            lengths |= 1 << equal;
        }
    }
    lengths | 1 << equal
}

/// The places in `set` below `len`.
fn each(set: u64, len: usize) -> impl Iterator<Item = usize> {
    (0..len).filter(move |at| set >> at & 1 != 0)
}

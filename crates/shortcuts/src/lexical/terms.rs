//! Texts as terms.
//!
//! A term of Latin letters is a word in lower case without accents. Of Chinese and Japanese each
//! character is a term, and each pair of neighbours. The pinyin of Chinese is there in syllables and
//! pairs of them (`'chuang'kou`) and by its initials (`'ck`); the mark keeps them apart from words.

use pinyin::ToPinyin;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::slots::is_wide;

/// A term of a phrase.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Term {
    pub(super) text: String,
    /// What it counts beside the others.
    pub(super) weight: f32,
    /// Whether longer terms that begin with it, and misspelt ones, count as well.
    pub(super) open: bool,
}

/// Characters that a text is read up to.
const LONGEST: usize = 400;

/// A run of letters and digits in one kind of script.
enum Run {
    Word(String),
    Wide(Vec<char>),
}

/// A text in lower case, compatible forms made one, accents of Latin letters taken off.
fn plain(text: &str) -> String {
    let is_accent = |c: &char| is_combining_mark(*c) && !matches!(c, '\u{3099}' | '\u{309a}');
    text.chars()
        .take(LONGEST)
        .nfkd()
        .filter(|c| !is_accent(c))
        .nfc()
        .flat_map(char::to_lowercase)
        .map(|c| if c == 'ß' { 's' } else { c })
        .collect()
}

fn runs(text: &str) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let mut joined = false;
    for c in plain(text).chars() {
        if !c.is_alphanumeric() {
            joined = false;
            continue;
        }
        match (runs.last_mut(), is_wide(c)) {
            (Some(Run::Word(word)), false) if joined => word.push(c),
            (Some(Run::Wide(chars)), true) if joined => chars.push(c),
            (_, true) => runs.push(Run::Wide(vec![c])),
            (_, false) => runs.push(Run::Word(c.to_string())),
        }
        joined = true;
    }
    runs
}

/// The terms of a shortcut's text.
pub(super) fn of_text(text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    for run in runs(text) {
        match run {
            Run::Word(word) => terms.push(word),
            Run::Wide(chars) => {
                terms.extend(chars.iter().map(char::to_string));
                terms.extend(chars.windows(2).map(|pair| pair.iter().collect::<String>()));
                spell(&chars, &mut terms);
            }
        }
    }
    terms
}

/// The pinyin of a run of characters: initials of the whole and of what it begins with, syllables,
/// pairs of them. Japanese is not spelt.
fn spell(chars: &[char], terms: &mut Vec<String>) {
    if chars.iter().any(|c| matches!(c, '\u{3040}'..='\u{30ff}')) {
        return;
    }
    let syllables: Vec<&str> = chars
        .iter()
        .map_while(|c| c.to_pinyin())
        .map(|syllable| syllable.plain())
        .collect();
    let initial = |syllable: &&str| syllable.chars().next().unwrap_or('?');
    let initials: Vec<char> = syllables.iter().map(initial).collect();
    for length in 2..=initials.len().min(6) {
        let start: String = initials[..length].iter().collect();
        terms.push(format!("'{start}"));
    }
    for syllable in &syllables {
        terms.push(format!("'{}'", latin(syllable)));
    }
    for pair in syllables.windows(2) {
        terms.push(format!("'{}'{}", latin(pair[0]), latin(pair[1])));
    }
}

/// `lü` is typed as `lv`.
fn latin(syllable: &str) -> String {
    syllable.replace('ü', "v")
}

/// Words that say nothing about what is wanted.
const SMALL: &[&str] = &[
    "a", "an", "the", "my", "me", "i", "to", "of", "in", "on", "for", "it", "is", "this", "that",
    "please", "can", "you", "could", "want", "would", "like", "and", "der", "die", "das", "den",
    "dem", "ein", "eine", "einen", "bitte", "mein", "meine", "le", "la", "les", "un", "une", "de",
    "des", "du", "mon", "ma", "mes", "el", "los", "las", "una", "mi", "mis", "por", "favor", "der",
    "的", "了", "吧", "请", "我", "一", "个", "把", "を", "の", "に", "て", "で", "は", "が",
];

/// The terms of a phrase.
pub(super) fn of_phrase(phrase: &str) -> Vec<Term> {
    let mut terms: Vec<Term> = Vec::new();
    let mut spelled = Vec::new();
    for run in runs(phrase) {
        match run {
            Run::Word(word) => {
                spelled.extend(syllables(&word));
                terms.push(Term::whole_word(word));
            }
            Run::Wide(chars) => {
                let single = |c: &char| Term {
                    text: c.to_string(),
                    // A character alone says little; its pairs say what is meant.
                    weight: 0.4,
                    open: false,
                };
                let pair = |pair: &[char]| Term {
                    text: pair.iter().collect(),
                    weight: 1.0,
                    open: false,
                };
                terms.extend(chars.iter().map(single));
                terms.extend(chars.windows(2).map(pair));
            }
        }
    }
    terms.extend(spelled.windows(2).map(|pair| Term {
        text: format!("'{}'{}", pair[0], pair[1]),
        weight: 0.8,
        open: false,
    }));
    for term in &mut terms {
        if SMALL.contains(&term.text.as_str()) {
            term.weight *= 0.2;
        }
    }
    terms
}

/// The syllables of a word that may be pinyin: `chuangkou`, `kao`. None if it cannot be, or has only
/// letters that are as well a word.
fn syllables(word: &str) -> Vec<String> {
    if word.len() < 2 || word.len() > 24 || !word.bytes().all(|b| b.is_ascii_lowercase()) {
        return Vec::new();
    }
    // Longest first, with a step back where that leads nowhere.
    fn split(rest: &str, found: &mut Vec<String>) -> bool {
        if rest.is_empty() {
            return true;
        }
        for length in (1..=rest.len().min(6)).rev() {
            if is_syllable(&rest[..length]) {
                found.push(rest[..length].to_owned());
                if split(&rest[length..], found) {
                    return true;
                }
                found.pop();
            }
        }
        false
    }
    let mut found = Vec::new();
    match split(word, &mut found) {
        true => found,
        false => Vec::new(),
    }
}

/// Whether letters are an initial and a final that pinyin has (not all pairs exist; those that do
/// not are found in no text).
fn is_syllable(text: &str) -> bool {
    const INITIALS: &[&str] = &[
        "zh", "ch", "sh", "b", "p", "m", "f", "d", "t", "n", "l", "g", "k", "h", "j", "q", "x",
        "r", "z", "c", "s", "y", "w", "",
    ];
    const FINALS: &[&str] = &[
        "a", "o", "e", "i", "u", "v", "ai", "ei", "ui", "ao", "ou", "iu", "ie", "ve", "ue", "er",
        "an", "en", "in", "un", "vn", "ang", "eng", "ing", "ong", "ia", "iao", "ian", "iang",
        "iong", "ua", "uo", "uai", "uan", "uang",
    ];
    INITIALS.iter().any(|initial| {
        text.strip_prefix(initial)
            .is_some_and(|rest| FINALS.contains(&rest))
    })
}

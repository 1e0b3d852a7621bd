//! The words of a phrase. Chinese and Japanese have none that could be seen, so runs of their
//! characters are one word each, and what else stands among them is another.

use std::ops::Range;

/// A word: no blanks, and either all of it or none in a script without blanks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word<'a> {
    /// Where it stands, in bytes.
    pub(super) range: Range<usize>,
    /// As it was written.
    pub(super) text: &'a str,
    /// In lower case.
    pub(super) lower: &'a str,
}

/// Whether a character belongs to a script that is written without blanks.
pub(crate) fn is_wide(c: char) -> bool {
    matches!(c,
        '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Punctuation that ends words wherever it stands.
fn is_break(c: char) -> bool {
    c.is_whitespace() || "，。！？；、：「」『』（）“”‘’«»".contains(c)
}

/// The words of `text`; `lower` is the same in lower case, byte for byte.
pub(super) fn split<'a>(text: &'a str, lower: &'a str) -> Vec<Word<'a>> {
    let mut words = Vec::new();
    let mut start = None;
    let mut before = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        let kind = (!is_break(c)).then(|| is_wide(c));
        if kind != before {
            if let Some(start) = start.take() {
                words.extend(trimmed(text, lower, start..at));
            }
            start = kind.map(|_| at);
            before = kind;
        }
    }
    words
}

/// A word without punctuation around it that is no part of it.
fn trimmed<'a>(text: &'a str, lower: &'a str, range: Range<usize>) -> Option<Word<'a>> {
    let word = &text[range.clone()];
    let left = word.len()
        - word
            .trim_start_matches(['"', '\'', '(', '[', ',', ';', '<'])
            .len();
    let inner = word[left..].trim_end_matches(['"', '\'', ')', ']', ',', ';', '!', '?', '>', ':']);
    // A full stop ends a sentence, but `.` and `..` are places.
    let inner = match inner.trim_end_matches('.') {
        "" => inner,
        inner => inner,
    };
    let range = range.start + left..range.start + left + inner.len();
    (!range.is_empty()).then(|| Word {
        text: &text[range.clone()],
        lower: &lower[range.clone()],
        range,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_end_at_blanks_punctuation_and_scripts() {
        let of = |text: &str| -> Vec<String> {
            let words = split(text, text);
            words.iter().map(|word| word.text.to_owned()).collect()
        };
        assert_eq!(of("find \"a b\", ok?"), ["find", "a", "b", "ok"]);
        assert_eq!(of("杀掉8080端口，谢谢"), ["杀掉", "8080", "端口", "谢谢"]);
        assert_eq!(of("open ../x. "), ["open", "../x"]);
        assert_eq!(of("cd .."), ["cd", ".."]);
        assert!(of(" ?! ").is_empty());
    }
}

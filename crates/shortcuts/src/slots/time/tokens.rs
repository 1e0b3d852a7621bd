//! A phrase in the smallest parts that mean something for times: numbers, words, and Chinese or
//! Japanese characters one by one.

use std::ops::Range;

use super::super::number;
use super::super::words::is_wide;

/// One part.
#[derive(Debug, Clone)]
pub(super) struct Token<'a> {
    pub(super) range: Range<usize>,
    pub(super) text: &'a str,
    /// Its value, for digits and for words that are numbers.
    pub(super) number: Option<u32>,
}

impl Token<'_> {
    pub(super) fn is(&self, texts: &[&str]) -> bool {
        texts.contains(&self.text)
    }

    /// Written in digits.
    pub(super) fn is_digits(&self) -> bool {
        self.text.starts_with(|c: char| c.is_ascii_digit())
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Digit,
    Letter,
    /// A Chinese digit: several make one number.
    Numeral,
    /// Anything that stands alone: other characters of these scripts, colons.
    Single,
    Blank,
}

fn class(c: char) -> Class {
    match c {
        '0'..='9' => Class::Digit,
        '零' | '〇' | '一' | '二' | '两' | '兩' | '三' | '四' | '五' | '六' | '七' | '八'
        | '九' | '十' | '百' => Class::Numeral,
        ':' | '：' | '.' => Class::Single,
        c if is_wide(c) => Class::Single,
        c if c.is_alphabetic() => Class::Letter,
        _ => Class::Blank,
    }
}

/// The parts of a phrase in lower case.
pub(super) fn split(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut start = 0;
    let mut before = Class::Blank;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        let class = class(c);
        if class != before || class == Class::Single {
            if before != Class::Blank {
                tokens.push(token(text, start..at, before));
            }
            start = at;
            before = class;
        }
    }
    tokens
}

fn token(text: &str, range: Range<usize>, class: Class) -> Token<'_> {
    let part = &text[range.clone()];
    let number = match class {
        Class::Single | Class::Blank => None,
        Class::Digit | Class::Letter | Class::Numeral => number::read(part),
    };
    Token {
        range,
        text: part,
        number,
    }
}

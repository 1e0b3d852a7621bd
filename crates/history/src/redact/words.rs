//! Splits a command line into simple commands and words, roughly as the three shells do.
//!
//! Ranges are byte ranges of the raw text, quotes included. Parentheses end a command, so that
//! substitutions outside quotes are commands of their own.

use std::ops::Range;

/// A word of a simple command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) range: Range<usize>,
    pub(super) role: Role,
    /// Inside of its quotes, where that has blanks: text that may be a command itself.
    pub(super) quoted: Vec<Range<usize>>,
}

/// What a word is to its command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Plain,
    /// Target of a redirection.
    Target,
    /// Text of a `<<<`.
    HereString,
    /// Word that ends the text of a `<<`.
    HereDocument,
}

/// A simple command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Simple {
    pub(super) words: Vec<Word>,
    /// Whether it reads what the command before it writes.
    pub(super) is_piped: bool,
}

/// Simple commands within `region` of `text`, in order.
pub(super) fn split(text: &[u8], region: Range<usize>) -> Vec<Simple> {
    let mut lexer = Lexer {
        text: &text[..region.end],
        at: region.start,
    };
    let mut commands = Vec::new();
    let mut current = Simple::default();
    let mut role = Role::Plain;
    while let Some(byte) = lexer.peek(0) {
        match byte {
            b' ' | b'\t' | b'\r' => lexer.at += 1,
            b'\\' if lexer.peek(1) == Some(b'\n') => lexer.at += 2,
            b'\n' | b';' | b'&' | b'|' | b'(' | b')' => {
                let is_pipe = lexer.operator();
                if !current.words.is_empty() {
                    commands.push(std::mem::take(&mut current));
                    current.is_piped = is_pipe;
                }
                role = Role::Plain;
            }
            b'<' | b'>' => role = lexer.redirection(),
            _ => {
                let word = lexer.word(role);
                current.words.push(word);
                role = Role::Plain;
            }
        }
    }
    if !current.words.is_empty() {
        commands.push(current);
    }
    commands
}

/// Whether a backslash within quotes takes the next byte's meaning.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Escapes {
    None,
    Backslash,
}

struct Lexer<'a> {
    text: &'a [u8],
    at: usize,
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.get(self.at + ahead).copied()
    }

    /// Consumes a control operator; tells whether it is a pipe.
    fn operator(&mut self) -> bool {
        let first = self.peek(0);
        self.at += 1;
        if first != Some(b'|') {
            return false;
        }
        if self.peek(0) == Some(b'|') {
            self.at += 1;
            return false;
        }
        if self.peek(0) == Some(b'&') {
            self.at += 1;
        }
        true
    }

    fn redirection(&mut self) -> Role {
        let start = self.at;
        while let Some(b'<' | b'>' | b'&' | b'|') = self.peek(0) {
            self.at += 1;
        }
        match &self.text[start..self.at] {
            b"<<<" => Role::HereString,
            b"<<" => Role::HereDocument,
            _ => Role::Target,
        }
    }

    fn word(&mut self, role: Role) -> Word {
        let start = self.at;
        let mut quoted = Vec::new();
        while let Some(byte) = self.peek(0) {
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>' => {
                    break;
                }
                b'\\' => self.at += 2,
                b'\'' | b'"' => {
                    let is_ansi = self.at > start && self.text[self.at - 1] == b'$';
                    let escapes = if byte == b'"' || is_ansi {
                        Escapes::Backslash
                    } else {
                        Escapes::None
                    };
                    let inside = self.quoted(byte, escapes);
                    if self.text[inside.clone()]
                        .iter()
                        .any(u8::is_ascii_whitespace)
                    {
                        quoted.push(inside);
                    }
                }
                _ => self.at += 1,
            }
        }
        self.at = self.at.min(self.text.len());
        Word {
            range: start..self.at,
            role,
            quoted,
        }
    }

    /// Consumes a quoted part; returns its inside. An unclosed one lasts to the end.
    fn quoted(&mut self, quote: u8, escapes: Escapes) -> Range<usize> {
        self.at += 1;
        let start = self.at;
        while let Some(byte) = self.peek(0) {
            if byte == quote {
                let end = self.at;
                self.at += 1;
                return start..end;
            }
            self.at += if byte == b'\\' && escapes == Escapes::Backslash {
                2
            } else {
                1
            };
        }
        self.at = self.text.len();
        start..self.at
    }
}

/// The range without the quotes around all of it, escaped ones (`\"`) too.
pub(super) fn unquoted(text: &[u8], range: Range<usize>) -> Range<usize> {
    let raw = &text[range.clone()];
    for (open, close) in [
        (b"'".as_slice(), b"'".as_slice()),
        (b"\"", b"\""),
        (b"$'", b"'"),
        (b"\\\"", b"\\\""),
        (b"\\'", b"\\'"),
    ] {
        if raw.len() >= open.len() + close.len() && raw.starts_with(open) && raw.ends_with(close) {
            return range.start + open.len()..range.end - close.len();
        }
    }
    // An opening quote alone: the line was cut, or is part of a quoted text.
    match raw.first() {
        Some(b'\'' | b'"') => range.start + 1..range.end,
        _ => range,
    }
}

//! Secrets that a command is given on its input.

use std::ops::Range;

use super::names::{self, Name};
use super::programs::{RAISERS, READER_OPTIONS, READERS, SU};
use super::view::View;
use super::words::{Role, Word, unquoted};
use super::{Finding, Rule, push};

/// How much of its input is a secret to a command.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Nothing,
    /// `sudo -S` hands on what follows.
    FirstLine,
    All,
}

/// Of each command, whether a later one of its pipeline reads a secret.
pub(super) fn fed(views: &[View<'_>]) -> Vec<bool> {
    let mut fed = vec![false; views.len()];
    for (index, view) in views.iter().enumerate().skip(1).rev() {
        fed[index - 1] =
            view.command.is_piped && (fed[index] || view.secret_input() != Part::Nothing);
    }
    fed
}

impl View<'_> {
    /// `echo X | passwd --stdin`, `passwd <<< X`, `chpasswd <<EOF`. Returns the end of the
    /// here-document that was looked at; those before `body_end` were.
    pub(super) fn input(
        &self,
        is_fed: bool,
        region: &Range<usize>,
        body_end: usize,
        found: &mut Vec<Finding>,
    ) -> usize {
        if is_fed && self.writes_arguments() {
            self.add_arguments(found);
        }
        let words = &self.command.words;
        let here = |word: &&Word| matches!(word.role, Role::HereString | Role::HereDocument);
        if !words.iter().any(|word| here(&word)) {
            return body_end;
        }
        let part = self.secret_input();
        let mut end = body_end;
        for word in words.iter().filter(here) {
            match (word.role, part) {
                (_, Part::Nothing) => {}
                (Role::HereString, _) => self.add(found, word.range.clone(), Rule::Input),
                _ if word.range.start < end => {}
                _ => end = self.here_document(word, part, region, found),
            }
        }
        end
    }

    /// Adds the text of a here-document; returns its end.
    fn here_document(
        &self,
        word: &Word,
        part: Part,
        region: &Range<usize>,
        found: &mut Vec<Finding>,
    ) -> usize {
        // Commands on standard input, not a password.
        if part == Part::All && self.runs(&[SU], 3) {
            return word.range.end;
        }
        let delimiter = self.bytes(word);
        let delimiter = delimiter.strip_prefix(b"-").unwrap_or(delimiter);
        let delimiter: Vec<u8> = delimiter
            .iter()
            .copied()
            .filter(|byte| !b"'\"\\".contains(byte))
            .collect();
        let rest = &self.text[word.range.end..region.end];
        let mut lines = rest.split_inclusive(|&byte| byte == b'\n');
        let start = word.range.end + lines.next().map_or(0, <[u8]>::len);
        let length = lines
            .take_while(|line| line.trim_ascii() != delimiter)
            .take(if part == Part::FirstLine {
                1
            } else {
                usize::MAX
            })
            .map(<[u8]>::len)
            .sum::<usize>();
        let body = &self.text[start..start + length];
        let blanks = body.len() - body.trim_ascii_start().len();
        let from = start + blanks;
        let secret = from..from + body.trim_ascii().len();
        if names::is_secret(Name::Secret, &self.text[secret.clone()]) {
            push(found, self.text, secret, Rule::Input);
        }
        start + length
    }

    fn writes_arguments(&self) -> bool {
        let first = self.command.words.first().map(|word| self.bytes(word));
        matches!(first, Some(b"echo" | b"printf" | b"print"))
    }

    /// All arguments of an echo as one secret; a format of printf stays.
    fn add_arguments(&self, found: &mut Vec<Finding>) {
        let arguments = self.command.words[1..].iter().filter(|word| {
            let bytes = self.bytes(word);
            let inside = &self.text[unquoted(self.text, word.range.clone())];
            word.role == Role::Plain && !bytes.starts_with(b"-") && !inside.starts_with(b"%s")
        });
        let mut arguments = arguments.map(|word| word.range.clone());
        let Some(first) = arguments.next() else {
            return;
        };
        match arguments.next_back() {
            None => self.add(found, first, Rule::Input),
            Some(last) => push(found, self.text, first.start..last.end, Rule::Input),
        }
    }

    fn secret_input(&self) -> Part {
        let words = &self.command.words;
        let has_option = words
            .iter()
            .any(|word| READER_OPTIONS.contains(&self.bytes(word)));
        let is_reader = self.runs(&READERS, words.len().min(3));
        if has_option || is_reader || self.is_filled() {
            return Part::All;
        }
        let raises =
            self.first(&RAISERS).is_some() && (self.has("--stdin") || self.has_switch(b'S'));
        if raises {
            Part::FirstLine
        } else {
            Part::Nothing
        }
    }

    /// `pass insert`, `secret create`.
    fn is_filled(&self) -> bool {
        let stores = ["secret", "secrets", "pass"];
        let verbs = ["set", "put", "create", "add", "insert"];
        stores.iter().any(|word| self.has(word)) && verbs.iter().any(|word| self.has(word))
    }
}

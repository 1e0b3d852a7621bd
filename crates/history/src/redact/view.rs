//! A simple command together with what is asked of it again and again.

use std::ops::Range;

use super::fields::{At, judged};
use super::names::Name;
use super::programs::{
    FILE_READERS, FLAGS, FORM_OPTIONS, FORM_READERS, Flag, Form, STORES, SWITCHES, known,
};
use super::words::{Role, Simple, Word, unquoted};
use super::{Finding, Rule, push};

/// A simple command. Which known programs it names is noted once, so that a long command costs
/// no more for each word than a short one.
pub(super) struct View<'a> {
    pub(super) text: &'a [u8],
    pub(super) command: &'a Simple,
    /// Programs that the tables know, and the first place of each.
    seen: Vec<(&'static [u8], usize)>,
}

/// A row of [`FLAGS`] that applies after a place in the command.
pub(super) struct Active {
    pub(super) first: usize,
    pub(super) flag: &'static Flag,
    switches: &'static [u8],
}

impl<'a> View<'a> {
    pub(super) fn new(text: &'a [u8], command: &'a Simple) -> Self {
        let mut seen: Vec<(&'static [u8], usize)> = Vec::new();
        for (index, word) in command.words.iter().enumerate() {
            let name = text[word.range.clone()].rsplit(|&byte| byte == b'/').next();
            if let Some(name) = name.and_then(known)
                && !seen.iter().any(|&(other, _)| other == name)
            {
                seen.push((name, index));
            }
        }
        Self {
            text,
            command,
            seen,
        }
    }

    pub(super) fn bytes(&self, word: &Word) -> &'a [u8] {
        &self.text[word.range.clone()]
    }

    pub(super) fn has(&self, wanted: &str) -> bool {
        self.place_of(wanted, 0).is_some()
    }

    /// Place of the first such word that is not before `from`.
    pub(super) fn place_of(&self, wanted: &str, from: usize) -> Option<usize> {
        let words = self.command.words.iter().enumerate().skip(from);
        words
            .filter(|(_, word)| self.bytes(word) == wanted.as_bytes())
            .map(|(index, _)| index)
            .next()
    }

    /// Whether a switch is there, alone or joined to others.
    pub(super) fn has_switch(&self, letter: u8) -> bool {
        self.command.words.iter().any(|word| {
            let bytes = self.bytes(word);
            bytes.starts_with(b"-") && !bytes.starts_with(b"--") && bytes.contains(&letter)
        })
    }

    /// Place of the first word that names one of these programs, also behind `sudo` or
    /// `docker exec`.
    pub(super) fn first(&self, programs: &[&str]) -> Option<usize> {
        let is_one = |name: &[u8]| programs.iter().any(|program| program.as_bytes() == name);
        let places = self.seen.iter().filter(|(name, _)| is_one(name));
        places.map(|&(_, place)| place).min()
    }

    /// Whether a word before `index` names one of these programs.
    pub(super) fn runs(&self, programs: &[&str], index: usize) -> bool {
        self.first(programs).is_some_and(|place| place < index)
    }

    /// Whether no program is there that the tables know.
    pub(super) fn is_unknown(&self) -> bool {
        self.seen.is_empty()
    }

    /// The word after `index`, unless it is an option.
    pub(super) fn value(&self, index: usize) -> Option<Range<usize>> {
        let word = self.command.words.get(index + 1)?;
        let is_value = word.role == Role::Plain && !self.bytes(word).starts_with(b"-");
        is_value.then(|| word.range.clone())
    }

    pub(super) fn add(&self, found: &mut Vec<Finding>, value: Range<usize>, rule: Rule) {
        self.add_named(found, value, Name::Secret, rule);
    }

    /// Adds what is a secret under such a name.
    pub(super) fn add_named(
        &self,
        found: &mut Vec<Finding>,
        value: Range<usize>,
        name: Name,
        rule: Rule,
    ) {
        if let Some(inside) = judged(self.text, value, name) {
            push(found, self.text, inside, rule);
        }
    }

    /// The word's text without quotes around all of it.
    pub(super) fn inside(&self, word: &Word) -> Range<usize> {
        match self.bytes(word).first() {
            Some(b'\'' | b'"') => unquoted(self.text, word.range.clone()),
            _ => word.range.clone(),
        }
    }

    /// What `NAME=@value` says at this place.
    pub(super) fn at(&self, index: usize) -> At {
        if self.is_unknown() {
            return At::Text;
        }
        let is_form = |option: &str| {
            let word = self.bytes(&self.command.words[index]);
            let before = index
                .checked_sub(1)
                .map(|before| &self.command.words[before]);
            before.is_some_and(|before| self.bytes(before) == option.as_bytes())
                || word.starts_with(option.as_bytes())
        };
        let is_file = self.runs(&FILE_READERS, index)
            || (FORM_OPTIONS.into_iter().any(is_form) && self.runs(&FORM_READERS, index));
        if is_file { At::File } else { At::Text }
    }

    /// Rows of [`FLAGS`] whose program and other word are there.
    pub(super) fn active_flags(&self) -> Vec<Active> {
        if self.is_unknown() {
            return Vec::new();
        }
        let rows = FLAGS.iter().filter_map(|flag| {
            let first = self.first(flag.0)?;
            if !flag.1.is_empty() && !self.has(flag.1) {
                return None;
            }
            let switches = SWITCHES
                .iter()
                .find(|(program, _)| flag.0.contains(program));
            Some(Active {
                first,
                flag,
                switches: switches.map_or(b"", |(_, letters)| letters.as_bytes()),
            })
        });
        rows.collect()
    }

    /// Place after which words are `NAME=value` with values that a store of secrets keeps.
    pub(super) fn store(&self) -> Option<(usize, Name)> {
        if self.is_unknown() {
            return None;
        }
        STORES.iter().find_map(|(programs, needed, name)| {
            let first = self.first(programs)?;
            let is_one = needed.iter().any(|needed| self.has(needed));
            is_one.then_some((first, *name))
        })
    }
}

impl Active {
    /// The flag's value, if the word `whole` at `index` is that flag.
    pub(super) fn value(
        &self,
        view: &View<'_>,
        index: usize,
        whole: &Range<usize>,
    ) -> Option<Range<usize>> {
        let (_, _, flag, form, _) = *self.flag;
        let bytes = &view.text[whole.clone()];
        let length = self.length(bytes)?;
        if bytes.len() == length {
            return match form {
                Form::Joined => None,
                Form::Apart | Form::Both => view.value(index),
            };
        }
        let is_long = flag.starts_with("--");
        if form == Form::Apart || (is_long && bytes[length] != b'=') {
            return None;
        }
        Some(whole.start + length + usize::from(is_long)..whole.end)
    }

    /// Length of the flag at the start of a word, with the switches before it.
    fn length(&self, bytes: &[u8]) -> Option<usize> {
        let flag = self.flag.2.as_bytes();
        if bytes.starts_with(flag) {
            return Some(flag.len());
        }
        let (b"-", [_, letter]) = (bytes.get(..1)?, flag) else {
            return None;
        };
        let switches = bytes[1..]
            .iter()
            .take_while(|&byte| self.switches.contains(byte))
            .count();
        (bytes.get(1 + switches) == Some(letter)).then_some(switches + 2)
    }
}

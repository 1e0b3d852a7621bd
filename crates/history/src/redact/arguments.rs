//! Secrets that their place in a simple command gives away.

use std::ops::Range;

use super::fields::{self, At, judged};
use super::names::{self, Name};
use super::programs::{PLACES, Place, Value, WRITERS, Which};
use super::view::View;
use super::words::{Role, Word, split, unquoted};
use super::{Finding, Rule, input, push};

/// How deep quoted commands within quoted commands are followed.
const MAX_DEPTH: u32 = 3;

const FROM_LITERAL: &[u8] = b"--from-literal=";

/// Adds what is found in all commands of `text`, and in commands within its quotes.
pub(super) fn find(text: &[u8], found: &mut Vec<Finding>) {
    fields::members(text, 0..text.len(), found);
    region(text, 0..text.len(), 0, found);
}

fn region(text: &[u8], whole: Range<usize>, depth: u32, found: &mut Vec<Finding>) {
    let commands = split(text, whole.clone());
    let views: Vec<View<'_>> = commands
        .iter()
        .map(|command| View::new(text, command))
        .collect();
    let fed = input::fed(&views);
    let mut body_end = 0;
    for (view, is_fed) in views.iter().zip(fed) {
        view.fields(depth, found);
        view.options(found);
        view.flags(found);
        view.places(found);
        view.parameter(found);
        view.settings(found);
        body_end = view.input(is_fed, &whole, body_end, found);
    }
    if let [only] = views.as_slice() {
        only.pasted(found);
    }
}

impl View<'_> {
    /// `NAME=value`, headers, and what stands within quotes.
    fn fields(&self, depth: u32, found: &mut Vec<Finding>) {
        let store = self.store();
        for (index, word) in self.command.words.iter().enumerate() {
            let bytes = self.bytes(word);
            if bytes.contains(&b'=') {
                fields::assignments(self.text, word.range.clone(), self.at(index), found);
                self.literal(index, store, found);
            }
            if bytes.contains(&b':') {
                fields::header(self.text, unquoted(self.text, word.range.clone()), found);
                self.pass_phrase(word, found);
                self.line_of_yaml(index, found);
            }
            if depth >= MAX_DEPTH || self.is_message(index) {
                continue;
            }
            for quoted in &word.quoted {
                if quoted.start > word.range.start + 1 {
                    fields::header(self.text, quoted.clone(), found);
                }
                region(self.text, quoted.clone(), depth + 1, found);
            }
        }
    }

    /// `--from-literal=key=SECRET` of kubectl, `vault kv put path key=SECRET`.
    fn literal(&self, index: usize, store: Option<(usize, Name)>, found: &mut Vec<Finding>) {
        let word = &self.command.words[index];
        let kept = store.filter(|&(first, _)| first < index);
        let whole = self.inside(word);
        let (start, name) = if self.text[whole.clone()].starts_with(FROM_LITERAL) {
            (whole.start + FROM_LITERAL.len(), Name::Secret)
        } else if let Some((_, name)) = kept {
            (whole.start, name)
        } else if index > 0 && self.is_literal_option(index - 1) {
            (whole.start, Name::Secret)
        } else {
            return;
        };
        let end = whole.end;
        let pair = &self.text[start..end];
        let Some(equals) = pair.iter().position(|&byte| byte == b'=') else {
            return;
        };
        let value = start + equals + 1..end;
        let is_file = self.at(index) == At::File && self.text[value.clone()].starts_with(b"@");
        if !pair.starts_with(b"-") && !is_file {
            self.add_named(found, value, name, Rule::Argument);
        }
    }

    fn is_literal_option(&self, index: usize) -> bool {
        self.bytes(&self.command.words[index]) == b"--from-literal"
    }

    /// `pass:SECRET` of openssl.
    fn pass_phrase(&self, word: &Word, found: &mut Vec<Finding>) {
        if self.bytes(word).starts_with(b"pass:") {
            self.add(found, word.range.start + 5..word.range.end, Rule::Argument);
        }
    }

    /// `password: SECRET` at the start of a line, in a here-document.
    fn line_of_yaml(&self, index: usize, found: &mut Vec<Finding>) {
        let word = &self.command.words[index];
        let Some(name) = self.bytes(word).strip_suffix(b":") else {
            return;
        };
        let before = &self.text[..word.range.start];
        let blanks = before
            .iter()
            .rev()
            .take_while(|byte| b" \t-".contains(byte))
            .count();
        if before[..before.len() - blanks].last() != Some(&b'\n') {
            return;
        }
        if let Some(kind) = names::name(name)
            && let Some(value) = self.value(index)
            && let Some(inside) = judged(self.text, value, kind)
        {
            push(found, self.text, inside, Rule::Field);
        }
    }

    /// Whether a word is prose, such as a commit's message.
    fn is_message(&self, index: usize) -> bool {
        let options: [&[u8]; 8] = [
            b"-m",
            b"-am",
            b"--message",
            b"-t",
            b"--title",
            b"--body",
            b"-F",
            b"--notes",
        ];
        index > 0
            && options.contains(&self.bytes(&self.command.words[index - 1]))
            && self.runs(&WRITERS, index)
    }

    /// `--password X`, `-password X`.
    fn options(&self, found: &mut Vec<Finding>) {
        for (index, word) in self.command.words.iter().enumerate() {
            let bytes = self.bytes(word);
            let dashes = bytes.iter().take_while(|&&byte| byte == b'-').count();
            // One dash and few letters are joined flags: -pat is -p -a -t.
            let is_long = dashes == 2 || (dashes == 1 && bytes.len() > 5);
            let is_name = bytes
                .iter()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte));
            if !is_long || !is_name {
                continue;
            }
            // `--secrets`, not `--pass`: mostly a file of them.
            let is_plural = bytes.ends_with(b"s") && !bytes.ends_with(b"ss");
            let kind = match names::name(&bytes[dashes..]) {
                // Mostly a switch, and the next word no value of it.
                Some(Name::Unlikely) => Name::Maybe,
                Some(Name::Secret) if is_plural => Name::Maybe,
                Some(kind) => kind,
                None => continue,
            };
            if let Some(value) = self.value(index)
                && !self.is_file(index, &value)
                && let Some(inside) = judged(self.text, value, kind)
            {
                push(found, self.text, inside, Rule::Option);
            }
        }
    }

    /// Whether the value of the option at `index` names a file.
    fn is_file(&self, index: usize, value: &Range<usize>) -> bool {
        self.text[value.clone()].starts_with(b"@") && self.at(index) == At::File
    }

    fn flags(&self, found: &mut Vec<Finding>) {
        let active = self.active_flags();
        if active.is_empty() {
            return;
        }
        for (index, word) in self.command.words.iter().enumerate().skip(1) {
            let whole = self.inside(word);
            if !matches!(self.text.get(whole.start), Some(b'-' | b'/')) {
                continue;
            }
            for flag in active.iter().filter(|flag| flag.first < index) {
                if let Some(range) = flag.value(self, index, &whole) {
                    self.add_value(found, range, flag.flag.4);
                }
            }
        }
    }

    fn add_value(&self, found: &mut Vec<Finding>, range: Range<usize>, value: Value) {
        let is_pair = || {
            let bytes = &self.text[range.clone()];
            let name = bytes.split(|&byte| byte == b'=').next().unwrap_or_default();
            name.len() < bytes.len()
        };
        match value {
            Value::Bare if is_pair() => {}
            Value::Secret | Value::Bare => self.add(found, range, Rule::Argument),
            Value::Maybe => self.add_named(found, range, Name::Maybe, Rule::Argument),
            Value::After(separator) => self.add_after(found, range, separator),
            Value::Between(open, close) => {
                if let Some(secret) = self.between(range, open, close) {
                    self.add(found, secret, Rule::Argument);
                }
            }
        }
    }

    /// `user:SECRET`; without a user only a text that looks like a secret.
    fn add_after(&self, found: &mut Vec<Finding>, range: Range<usize>, separator: u8) {
        let inside = unquoted(self.text, range);
        let bytes = &self.text[inside.clone()];
        let Some(at) = bytes.iter().position(|&byte| byte == separator) else {
            if names::is_secret(Name::Maybe, bytes) {
                push(found, self.text, inside, Rule::Argument);
            }
            return;
        };
        self.add(found, inside.start + at + 1..inside.end, Rule::Argument);
    }

    /// The secret of `user:SECRET@host`.
    fn between(&self, range: Range<usize>, open: u8, close: u8) -> Option<Range<usize>> {
        let inside = unquoted(self.text, range);
        let bytes = &self.text[inside.clone()];
        let from = bytes
            .iter()
            .position(|&byte| byte == open || byte == close)?;
        let is_user = from > 0 && bytes[from] == open && !b"./~".contains(&bytes[0]);
        if !is_user || bytes[..from].contains(&b'=') {
            return None;
        }
        let rest = &bytes[from + 1..];
        let length = rest
            .iter()
            .rposition(|&byte| byte == close)
            .unwrap_or(rest.len());
        let start = inside.start + from + 1;
        Some(start..start + length)
    }

    /// Secrets that [`PLACES`] knows.
    fn places(&self, found: &mut Vec<Finding>) {
        if self.is_unknown() {
            return;
        }
        for place in &PLACES {
            if let Some(start) = self.start_of(place)
                && let Some(range) = self.word_of(place, start)
            {
                self.add_value(found, range, place.value);
            }
        }
    }

    /// Where counting starts.
    fn start_of(&self, place: &Place) -> Option<usize> {
        let first = self.first(place.programs)?;
        match place.after.as_bytes() {
            [] => Some(first),
            [b'-', letter] => self.has_switch(*letter).then_some(first),
            _ => self.place_of(place.after, first + 1),
        }
    }

    fn word_of(&self, place: &Place, start: usize) -> Option<Range<usize>> {
        let words = &self.command.words;
        let is_valued = |word: &Word| {
            let bytes = self.bytes(word);
            place.valued.iter().any(|option| option.as_bytes() == bytes)
        };
        let mut plain = (start + 1..words.len())
            .filter(|&index| self.is_argument(&words[index]) && !is_valued(&words[index - 1]))
            .map(|index| words[index].range.clone());
        match place.which {
            Which::Nth(nth) => plain.nth(nth),
            Which::Last(least) => {
                let before = plain.by_ref().take(least - 1).count();
                (before == least - 1).then(|| plain.next_back()).flatten()
            }
            Which::Fitting => plain.find(|range| match place.value {
                Value::Between(open, close) => self.between(range.clone(), open, close).is_some(),
                _ => true,
            }),
        }
    }

    /// Neither an option nor the number of a redirection.
    fn is_argument(&self, word: &Word) -> bool {
        let bytes = self.bytes(word);
        let next = self.text.get(word.range.end);
        let is_number = matches!(next, Some(b'<' | b'>')) && bytes.iter().all(u8::is_ascii_digit);
        word.role == Role::Plain && !bytes.starts_with(b"-") && !is_number
    }

    /// `aws ssm put-parameter --name N --value X --type SecureString`.
    fn parameter(&self, found: &mut Vec<Finding>) {
        if !self.runs(&["aws"], usize::MAX) || !self.has("put-parameter") {
            return;
        }
        let words = &self.command.words;
        let after = |option: &str| {
            words.iter().enumerate().find_map(|(index, word)| {
                let rest = self.bytes(word).strip_prefix(option.as_bytes())?;
                match rest.first() {
                    None => self.value(index),
                    Some(b'=') => Some(word.range.end - rest.len() + 1..word.range.end),
                    Some(_) => None,
                }
            })
        };
        let Some(value) = after("--value") else {
            return;
        };
        let is_secure = after("--type").is_some_and(|kind| &self.text[kind] == b"SecureString");
        let named = after("--name").and_then(|name| {
            let name = &self.text[unquoted(self.text, name)];
            names::name(name.rsplit(|&byte| byte == b'/').next()?)
        });
        let kind = match named {
            Some(kind) if !is_secure => kind,
            None if !is_secure => Name::Maybe,
            _ => Name::Secret,
        };
        self.add_named(found, value, kind, Rule::Argument);
    }

    /// `set -gx API_TOKEN X`, `setenv`, `aws configure set NAME X`, `nmcli ... password X`.
    fn settings(&self, found: &mut Vec<Finding>) {
        let words = &self.command.words;
        let sets = ["set", "setenv", "setx", "authtoken", "add-authtoken"];
        let Some(first) = words.iter().position(|word| {
            sets.iter().any(|set| set.as_bytes() == self.bytes(word))
                || matches!(self.bytes(word), b"nmcli" | b"config")
        }) else {
            return;
        };
        for (index, word) in words.iter().enumerate().skip(first) {
            let bytes = self.bytes(word);
            let name = bytes
                .rsplit(|&byte| byte == b'/' || byte == b':')
                .next()
                .unwrap_or_default();
            if bytes.starts_with(b"-") || bytes.contains(&b'=') {
                continue;
            }
            // `wifi-sec.key-mgmt wpa-psk` names a way, not a key.
            let is_way = index > 0 && self.bytes(&words[index - 1]).ends_with(b"key-mgmt");
            if names::name(name) == Some(Name::Secret)
                && !is_way
                && let Some(value) = self.value(index)
                && !self.is_clause(value.clone())
            {
                self.add(found, value, Rule::Field);
            }
        }
    }

    /// What follows `SET PASSWORD` of SQL.
    fn is_clause(&self, value: Range<usize>) -> bool {
        let value = &self.text[value];
        value == b"=" || value.eq_ignore_ascii_case(b"for")
    }

    /// A secret pasted at the prompt by mistake: a random word, alone.
    fn pasted(&self, found: &mut Vec<Finding>) {
        if let [word] = self.command.words.as_slice()
            && names::is_pasted(self.bytes(word))
        {
            push(found, self.text, word.range.clone(), Rule::Random);
        }
    }
}

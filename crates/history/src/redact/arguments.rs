//! Secrets that their place in a simple command gives away.

use std::ops::Range;

use super::fields::{self, judged};
use super::names::{self, Name};
use super::programs::{FLAGS, Form, LAST_WORD, READER_OPTIONS, READERS, Value};
use super::words::{Role, Simple, Word, split, unquoted};
use super::{Finding, Rule, push};

/// How deep quoted commands within quoted commands are followed.
const MAX_DEPTH: u32 = 3;

/// Adds what is found in all commands of `text`, and in commands within its quotes.
pub(super) fn find(text: &[u8], found: &mut Vec<Finding>) {
    fields::members(text, 0..text.len(), found);
    region(text, 0..text.len(), 0, found);
}

fn region(text: &[u8], whole: Range<usize>, depth: u32, found: &mut Vec<Finding>) {
    let commands = split(text, whole);
    for (index, command) in commands.iter().enumerate() {
        let command = View { text, command };
        command.fields(depth, found);
        command.options(found);
        command.flags(found);
        command.last_word(found);
        command.settings(found);
        command.input(&commands[index + 1..], found);
        command.pasted(&commands, found);
    }
}

struct View<'a> {
    text: &'a [u8],
    command: &'a Simple,
}

impl<'a> View<'a> {
    fn bytes(&self, word: &Word) -> &'a [u8] {
        &self.text[word.range.clone()]
    }

    fn has(&self, wanted: &str) -> bool {
        self.command
            .words
            .iter()
            .any(|word| self.bytes(word) == wanted.as_bytes())
    }

    /// Whether a word before `index` names one of these programs, also behind `sudo` or
    /// `docker exec`.
    fn runs(&self, programs: &[&str], index: usize) -> bool {
        self.command.words[..index].iter().any(|word| {
            let name = self
                .bytes(word)
                .rsplit(|&byte| byte == b'/')
                .next()
                .unwrap_or_default();
            programs.iter().any(|program| program.as_bytes() == name)
        })
    }

    /// The word after `index`, unless it is an option.
    fn value(&self, index: usize) -> Option<Range<usize>> {
        let word = self.command.words.get(index + 1)?;
        let is_value = word.role == Role::Plain && !self.bytes(word).starts_with(b"-");
        is_value.then(|| word.range.clone())
    }

    fn add(&self, found: &mut Vec<Finding>, value: Range<usize>, rule: Rule) {
        if let Some(inside) = judged(self.text, value, Name::Secret) {
            push(found, self.text, inside, rule);
        }
    }

    /// `NAME=value`, headers, and what stands within quotes.
    fn fields(&self, depth: u32, found: &mut Vec<Finding>) {
        for (index, word) in self.command.words.iter().enumerate() {
            let bytes = self.bytes(word);
            if bytes.contains(&b'=') {
                fields::assignments(self.text, word.range.clone(), found);
                self.literal(index, found);
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
    fn literal(&self, index: usize, found: &mut Vec<Finding>) {
        let word = &self.command.words[index];
        let bytes = self.bytes(word);
        let is_vault = (self.has("put") || self.has("write")) && self.runs(&["vault"], index);
        let start = if let Some(rest) = bytes.strip_prefix(b"--from-literal=") {
            word.range.end - rest.len()
        } else if is_vault || (index > 0 && self.is_literal_option(index - 1)) {
            word.range.start
        } else {
            return;
        };
        let pair = &self.text[start..word.range.end];
        if let Some(equals) = pair.iter().position(|&byte| byte == b'=')
            && !pair.starts_with(b"-")
        {
            self.add(found, start + equals + 1..word.range.end, Rule::Argument);
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
            && self.runs(&["git", "gh", "glab", "hg", "svn", "jj"], index)
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
            if let Some(kind) = names::name(&bytes[dashes..])
                && let Some(value) = self.value(index)
                && let Some(inside) = judged(self.text, value, kind)
            {
                push(found, self.text, inside, Rule::Option);
            }
        }
    }

    fn flags(&self, found: &mut Vec<Finding>) {
        for (index, word) in self.command.words.iter().enumerate().skip(1) {
            let bytes = self.bytes(word);
            if !matches!(bytes.first(), Some(b'-' | b'/')) {
                continue;
            }
            for (programs, needed, flag, form, value) in &FLAGS {
                if !bytes.starts_with(flag.as_bytes()) || !self.runs(programs, index) {
                    continue;
                }
                if !needed.is_empty() && !self.has(needed) {
                    continue;
                }
                if let Some(range) = self.flag_value(index, flag, *form) {
                    self.add_value(found, range, *value);
                }
            }
        }
    }

    fn flag_value(&self, index: usize, flag: &str, form: Form) -> Option<Range<usize>> {
        let word = &self.command.words[index];
        let bytes = self.bytes(word);
        if bytes.len() == flag.len() {
            return if form == Form::Joined {
                None
            } else {
                self.value(index)
            };
        }
        let is_long = flag.starts_with("--");
        if form == Form::Apart || (is_long && bytes[flag.len()] != b'=') {
            return None;
        }
        Some(word.range.start + flag.len() + usize::from(is_long)..word.range.end)
    }

    fn add_value(&self, found: &mut Vec<Finding>, range: Range<usize>, value: Value) {
        let Value::After(separator) = value else {
            return self.add(found, range, Rule::Argument);
        };
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

    fn last_word(&self, found: &mut Vec<Finding>) {
        let Some((last, before)) = self.command.words.split_last() else {
            return;
        };
        let bytes = self.bytes(last);
        if last.role != Role::Plain || before.len() < 2 || bytes.starts_with(b"-") {
            return;
        }
        let is_taken = LAST_WORD.iter().any(|(program, needed)| {
            self.runs(&[program], before.len()) && (needed.is_empty() || self.has(needed))
        });
        // `vault login` also takes NAME=value.
        if is_taken && !bytes.contains(&b'=') {
            self.add(found, last.range.clone(), Rule::Argument);
        }
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
            if names::name(name) == Some(Name::Secret)
                && let Some(value) = self.value(index)
            {
                self.add(found, value, Rule::Field);
            }
        }
    }

    /// `echo X | passwd --stdin`, `passwd <<< X`.
    fn input(&self, later: &[Simple], found: &mut Vec<Finding>) {
        let words = &self.command.words;
        if words.iter().any(|word| word.role == Role::HereString) && self.reads_secret() {
            for word in words.iter().filter(|word| word.role == Role::HereString) {
                self.add(found, word.range.clone(), Rule::Input);
            }
        }
        if !self.writes_arguments() {
            return;
        }
        let is_fed = later
            .iter()
            .take_while(|command| command.is_piped)
            .any(|command| {
                View {
                    text: self.text,
                    command,
                }
                .reads_secret()
            });
        if is_fed {
            self.add_arguments(found);
        }
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

    fn reads_secret(&self) -> bool {
        let words = &self.command.words;
        let has_option = words
            .iter()
            .any(|word| READER_OPTIONS.contains(&self.bytes(word)));
        let is_reader = self.runs(&READERS, words.len().min(3));
        let is_sudo = self.runs(&["sudo", "doas"], words.len())
            && words.iter().any(|word| {
                let bytes = self.bytes(word);
                bytes == b"--stdin"
                    || (bytes.starts_with(b"-")
                        && !bytes.starts_with(b"--")
                        && bytes.contains(&b'S'))
            });
        let is_vault = ["secret", "secrets", "pass"]
            .iter()
            .any(|word| self.has(word))
            && ["set", "put", "create", "add", "insert"]
                .iter()
                .any(|word| self.has(word));
        has_option || is_reader || is_sudo || is_vault
    }

    /// A secret pasted at the prompt by mistake: a random word, alone.
    fn pasted(&self, commands: &[Simple], found: &mut Vec<Finding>) {
        if let ([word], [_]) = (self.command.words.as_slice(), commands)
            && names::is_pasted(self.bytes(word))
        {
            push(found, self.text, word.range.clone(), Rule::Random);
        }
    }
}

//! Reading `config.toml` against the table of keys.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::keys::{KEYS, Key, Kind, quoted};

/// A value that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Value {
    Bool(bool),
    Number(u64),
    Text(String),
}

/// What the user has set, defaults filled in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    set: BTreeMap<String, Value>,
}

/// Something in the file that could not be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file.
    pub file: String,
    /// The line, from 1; 0 when it concerns the whole file.
    pub line: usize,
    /// What is wrong: lower case, with the value.
    pub message: String,
    /// What to do.
    pub hint: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {}\n  hint: {}",
            self.place(),
            self.message,
            self.hint
        )
    }
}

impl Problem {
    /// `FILE:LINE`, or `FILE` when it concerns the whole file.
    pub fn place(&self) -> String {
        match self.line {
            0 => self.file.clone(),
            line => format!("{}:{line}", self.file),
        }
    }
}

impl Settings {
    /// Reads the file. An absent file is an empty one.
    pub fn load(file: &Path) -> (Self, Vec<Problem>) {
        let name = file.display().to_string();
        match std::fs::read(file) {
            Ok(bytes) => match std::str::from_utf8(&bytes) {
                Ok(text) => Self::parse(text, &name),
                Err(error) => Self::not_text(&bytes[..error.valid_up_to()], name),
            },
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Default::default(),
            Err(error) => {
                let problem = Problem {
                    file: name,
                    line: 0,
                    message: format!("could not read the file: {error}"),
                    hint: "every setting has its default until it can be read".to_owned(),
                };
                (Self::default(), vec![problem])
            }
        }
    }

    fn not_text(before: &[u8], file: String) -> (Self, Vec<Problem>) {
        let problem = Problem {
            file,
            line: before.iter().filter(|&&byte| byte == b'\n').count() + 1,
            message: "the file is not UTF-8 from here on".to_owned(),
            hint: "the whole file is ignored".to_owned(),
        };
        (Self::default(), vec![problem])
    }

    /// Reads the text of a file; `file` is its name for messages.
    pub fn parse(text: &str, file: &str) -> (Self, Vec<Problem>) {
        let mut reader = Reader {
            text,
            file,
            set: BTreeMap::new(),
            problems: Vec::new(),
        };
        match DeTable::parse(text) {
            Ok(root) => reader.table("", root.get_ref()),
            Err(error) => {
                let at = error.span().map_or(0, |span| span.start);
                reader.problem(
                    at,
                    error.message().to_owned(),
                    "the whole file is ignored".into(),
                );
            }
        }
        (Self { set: reader.set }, reader.problems)
    }

    /// Every key with its value in TOML, and whether the file set it.
    pub fn effective(&self) -> Vec<(&'static Key, String, bool)> {
        KEYS.iter()
            .map(|key| match self.set.get(&key.path()) {
                Some(Value::Bool(value)) => (key, value.to_string(), true),
                Some(Value::Number(value)) => (key, value.to_string(), true),
                Some(Value::Text(value)) => (key, format!("{value:?}"), true),
                None => (key, default_text(key.kind), false),
            })
            .collect()
    }

    /// `deadline_ms`
    pub fn deadline_ms(&self) -> u64 {
        self.number("deadline_ms")
    }

    /// `complete.add`
    pub fn complete_add(&self) -> bool {
        self.bool("complete.add")
    }

    /// `complete.max_candidates`
    pub fn complete_max_candidates(&self) -> usize {
        usize::try_from(self.number("complete.max_candidates")).unwrap_or(usize::MAX)
    }

    /// Whether `complete.insert` lets candidates be inserted at once.
    pub fn complete_inserts(&self) -> bool {
        self.text("complete.insert") == "sure"
    }

    /// `complete.insert_percent`
    pub fn complete_insert_percent(&self) -> u64 {
        self.number("complete.insert_percent")
    }

    /// `complete.native_percent`
    pub fn complete_native_percent(&self) -> u64 {
        self.number("complete.native_percent")
    }

    /// `worker.adapt`
    pub fn worker_adapt(&self) -> bool {
        self.bool("worker.adapt")
    }

    /// `history.record`
    pub fn history_record(&self) -> bool {
        self.bool("history.record")
    }

    /// `history.import`
    pub fn history_import(&self) -> bool {
        self.bool("history.import")
    }

    /// `worker.idle_exit_min`
    pub fn worker_idle_exit_min(&self) -> u64 {
        self.number("worker.idle_exit_min")
    }

    /// `worker.memory_mb`
    pub fn worker_memory_mb(&self) -> u64 {
        self.number("worker.memory_mb")
    }

    /// `complete.model`
    pub fn model(&self) -> String {
        self.text("complete.model")
    }

    /// `do.model`
    pub fn do_model(&self) -> String {
        self.text("do.model")
    }

    /// `do.threshold`, as a probability.
    pub fn do_threshold(&self) -> f32 {
        self.number("do.threshold") as f32 / 100.0
    }

    /// `do.floor`, as a probability.
    pub fn do_floor(&self) -> f32 {
        self.number("do.floor") as f32 / 100.0
    }

    /// `worker.log`
    pub fn worker_log(&self) -> String {
        self.text("worker.log")
    }

    fn text(&self, path: &str) -> String {
        match (self.set.get(path), kind(path)) {
            (Some(Value::Text(value)), _) => value.clone(),
            (_, Kind::Text { default } | Kind::Word { default, .. }) => default.to_owned(),
            _ => unreachable!("{path} is a text"),
        }
    }

    fn number(&self, path: &str) -> u64 {
        match (self.set.get(path), kind(path)) {
            (Some(Value::Number(value)), _) => *value,
            (_, Kind::Number { default, .. }) => default,
            _ => unreachable!("{path} is a number"),
        }
    }

    fn bool(&self, path: &str) -> bool {
        match (self.set.get(path), kind(path)) {
            (Some(Value::Bool(value)), _) => *value,
            (_, Kind::Bool { default }) => default,
            _ => unreachable!("{path} is a truth value"),
        }
    }
}

fn kind(path: &str) -> Kind {
    KEYS.iter()
        .find(|key| key.path() == path)
        .map(|key| key.kind)
        .expect("key is in the table")
}

fn default_text(kind: Kind) -> String {
    match kind {
        Kind::Bool { default } => default.to_string(),
        Kind::Number { default, .. } => default.to_string(),
        Kind::Text { default } | Kind::Word { default, .. } => format!("{default:?}"),
    }
}

struct Reader<'a> {
    text: &'a str,
    file: &'a str,
    set: BTreeMap<String, Value>,
    problems: Vec<Problem>,
}

impl Reader<'_> {
    fn table(&mut self, table: &str, entries: &DeTable<'_>) {
        for (name, value) in entries {
            let key = KEYS
                .iter()
                .find(|key| key.table == table && key.name == name.get_ref());
            if let Some(key) = key {
                self.value(key, value);
                continue;
            }
            let inner = value.get_ref().as_table();
            match inner {
                Some(inner) if table.is_empty() && is_table(name.get_ref()) => {
                    self.table(name.get_ref(), inner);
                }
                _ => self.unknown(table, name),
            }
        }
    }

    fn value(&mut self, key: &Key, value: &Spanned<DeValue<'_>>) {
        let read = match (key.kind, value.get_ref()) {
            (Kind::Bool { .. }, DeValue::Boolean(value)) => Some(Value::Bool(*value)),
            (Kind::Number { min, max, .. }, DeValue::Integer(value)) => {
                let digits = value.as_str().trim_start_matches('+').replace('_', "");
                u64::from_str_radix(&digits, value.radix())
                    .ok()
                    .filter(|value| (min..=max).contains(value))
                    .map(Value::Number)
            }
            (Kind::Text { .. }, DeValue::String(value)) => Some(Value::Text(value.to_string())),
            (Kind::Word { words, .. }, DeValue::String(value)) => words
                .contains(&value.as_ref())
                .then(|| Value::Text(value.to_string())),
            _ => None,
        };
        if let Some(read) = read {
            self.set.insert(key.path(), read);
            return;
        }
        let span = value.span();
        let given = self.text.get(span.clone()).unwrap_or_default().to_owned();
        let takes = match key.kind {
            Kind::Bool { .. } => "`true` or `false`".to_owned(),
            Kind::Number { min, max, .. } => format!("a number from {min} to {max}"),
            Kind::Text { .. } => "a text in quotes".to_owned(),
            Kind::Word { words, .. } => quoted(words),
        };
        let hint = format!("the default {} is used", default_text(key.kind));
        self.problem(
            span.start,
            format!("{} takes {takes}, not `{given}`", key.path()),
            hint,
        );
    }

    fn unknown(&mut self, table: &str, name: &Spanned<std::borrow::Cow<'_, str>>) {
        let path = match table {
            "" => name.get_ref().to_string(),
            table => format!("{table}.{}", name.get_ref()),
        };
        let near = KEYS
            .iter()
            .map(Key::path)
            .min_by_key(|known| distance(known, &path))
            .filter(|known| distance(known, &path) <= 3);
        let hint = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`tabsense config reference` lists all keys".to_owned(),
        };
        self.problem(name.span().start, format!("unknown key `{path}`"), hint);
    }

    fn problem(&mut self, at: usize, message: String, hint: String) {
        let before = self.text.get(..at).unwrap_or(self.text);
        let line = before.matches('\n').count() + 1;
        self.problems.push(Problem {
            file: self.file.to_owned(),
            line,
            message,
            hint,
        });
    }
}

fn is_table(name: &str) -> bool {
    KEYS.iter()
        .any(|key| !key.table.is_empty() && key.table == name)
}

/// Levenshtein distance in characters.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let change = corner + usize::from(x != *y);
            corner = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(corner + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_file_means_the_defaults() {
        let (settings, problems) = Settings::parse("", "c.toml");
        assert!(problems.is_empty());
        assert_eq!(settings.deadline_ms(), 50);
        assert!(settings.history_record());
        assert_eq!(settings.worker_log(), "warn");
    }

    #[test]
    fn values_are_taken_from_their_tables() {
        let text = "deadline_ms = 20\n[history]\nrecord = false\n[worker]\nlog = \"debug\"\n";
        let (settings, problems) = Settings::parse(text, "c.toml");
        assert_eq!(problems, []);
        assert_eq!(settings.deadline_ms(), 20);
        assert!(!settings.history_record());
        assert_eq!(settings.worker_log(), "debug");
    }

    #[test]
    fn a_bad_value_is_named_with_its_line_and_the_default_is_used() {
        for (text, line, part) in [
            (
                "deadline_ms = 4",
                1,
                "deadline_ms takes a number from 5 to 200, not `4`",
            ),
            ("\n\ndeadline_ms = \"x\"", 3, "not `\"x\"`"),
            (
                "[history]\nrecord = 1",
                2,
                "history.record takes `true` or `false`",
            ),
            (
                "[worker]\nlog = 3",
                2,
                "worker.log takes `\"off\"`, `\"error\"`, `\"warn\"`, `\"info\"` or `\"debug\"`, not `3`",
            ),
            ("[worker]\nlog = \"loud\"", 2, "not `\"loud\"`"),
            ("deadline_ms = 20.5", 1, "not `20.5`"),
            (
                "[worker]\nmemory_mb = 99999999999999999999",
                2,
                "worker.memory_mb takes a number",
            ),
            ("deadline_ms = -7", 1, "not `-7`"),
        ] {
            let (settings, problems) = Settings::parse(text, "c.toml");
            assert_eq!(problems.len(), 1, "{text}");
            assert_eq!(problems[0].line, line, "{text}");
            assert!(
                problems[0].message.contains(part),
                "{}",
                problems[0].message
            );
            assert!(problems[0].hint.contains("default"));
            assert_eq!(settings, Settings::default());
        }
    }

    #[test]
    fn numbers_may_be_written_in_every_way_that_toml_has() {
        for text in ["+2_00", "0xc8", "0o310", "0b1100_1000"] {
            let (settings, problems) = Settings::parse(&format!("deadline_ms = {text}"), "c.toml");
            assert_eq!(problems, [], "{text}");
            assert_eq!(settings.deadline_ms(), 200, "{text}");
        }
    }

    #[test]
    fn a_file_that_is_no_text_is_ignored_with_its_line() {
        let dir = tempfile::tempdir().expect("tempdir");
        let file = dir.path().join("config.toml");
        std::fs::write(&file, b"deadline_ms = 20\n# \xff\n").expect("written");
        let (settings, problems) = Settings::load(&file);
        assert_eq!(settings, Settings::default());
        assert_eq!(problems[0].line, 2);
        let (_, problems) = Settings::load(dir.path());
        assert_eq!(problems[0].place(), dir.path().display().to_string());
    }

    #[test]
    fn an_unknown_key_brings_the_nearest_known_one() {
        let (_, problems) = Settings::parse("deadline = 50\n[histroy]\nrecord = true", "c.toml");
        assert_eq!(problems.len(), 2);
        assert!(problems[0].hint.contains("deadline_ms"));
        let (_, problems) = Settings::parse("[history]\nrecrod = true", "c.toml");
        assert!(problems[0].hint.contains("history.record"));
        assert_eq!(problems[0].line, 2);
    }

    #[test]
    fn a_file_that_is_not_toml_is_ignored_with_its_line() {
        let (settings, problems) = Settings::parse("deadline_ms = 20\nwhat", "c.toml");
        assert_eq!(settings, Settings::default());
        assert_eq!(problems[0].line, 2);
    }

    #[test]
    fn every_key_is_in_the_reference_page() {
        let page = crate::reference();
        for key in KEYS {
            assert!(page.contains(&format!("### `{}`", key.path())));
        }
    }
}

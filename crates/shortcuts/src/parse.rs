//! Reading files of shortcuts. `docs/shortcuts.md` describes the form.
//!
//! What is wrong with one shortcut is told with its line and leaves out that shortcut alone.

use std::borrow::Cow;

use tabsense_config::Problem;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use crate::platform::Desktop;
use crate::project::Task;
use crate::shortcut::{Action, Localized, Risk, Shortcut, Source, SwitchWords, Text, Variant};
use crate::template::Template;

const KEYS: [&str; 11] = [
    "id",
    "risk",
    "title",
    "description",
    "examples",
    "command",
    "macos",
    "linux",
    "project",
    "off_words",
    "reverse_words",
];
const VARIANT_KEYS: [&str; 5] = ["desktop", "needs", "run", "on", "off"];

type Value<'a> = Spanned<DeValue<'a>>;

/// What is wrong, where (a byte's offset), and what to do.
struct Trouble {
    at: usize,
    message: String,
    hint: String,
}

impl Trouble {
    fn new(at: usize, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            at,
            message: message.into(),
            hint: hint.into(),
        }
    }
}

type Read<T> = Result<T, Trouble>;

/// The shortcuts in a file's text, and what is wrong with the others; `file` is its name for
/// messages.
pub fn parse(text: &str, file: &str, source: Source) -> (Vec<Shortcut>, Vec<Problem>) {
    let reader = Reader { text, source };
    let mut shortcuts: Vec<Shortcut> = Vec::new();
    let mut problems = Vec::new();
    let mut told = |trouble: Trouble| {
        let before = text.get(..trouble.at).unwrap_or(text);
        problems.push(Problem {
            file: file.to_owned(),
            line: before.matches('\n').count() + 1,
            message: trouble.message,
            hint: trouble.hint,
        });
    };
    match reader.tables() {
        Ok((tables, unknown)) => {
            unknown.into_iter().for_each(&mut told);
            for (at, table) in &tables {
                match reader.shortcut(*at, table) {
                    Ok(new) if shortcuts.iter().any(|known| known.id == new.id) => {
                        told(Trouble::new(
                            *at,
                            format!("a second shortcut `{}`", new.id),
                            "give each its own id",
                        ));
                    }
                    Ok(new) => shortcuts.push(new),
                    Err(trouble) => told(trouble),
                }
            }
        }
        Err(trouble) => told(trouble),
    }
    (shortcuts, problems)
}

struct Reader<'t> {
    text: &'t str,
    source: Source,
}

impl<'t> Reader<'t> {
    /// The tables of the list `shortcut` with their offsets, and what else is in the file.
    #[expect(clippy::type_complexity, reason = "two lists for one caller")]
    fn tables(&self) -> Read<(Vec<(usize, DeTable<'t>)>, Vec<Trouble>)> {
        let root = DeTable::parse(self.text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            Trouble::new(at, error.message(), "the whole file is ignored")
        })?;
        let mut tables = Vec::new();
        let mut unknown = Vec::new();
        for (name, value) in root.into_inner() {
            let at = name.span().start;
            match (name.get_ref().as_ref(), value.into_inner()) {
                ("shortcut", DeValue::Array(list)) => {
                    for entry in list {
                        let at = entry.span().start;
                        match entry.into_inner() {
                            DeValue::Table(table) => tables.push((at, table)),
                            _ => unknown.push(not_a_list(at)),
                        }
                    }
                }
                ("shortcut", _) => unknown.push(not_a_list(at)),
                (other, _) => unknown.push(Trouble::new(
                    at,
                    format!("unknown key `{other}`"),
                    "a file of shortcuts has only `[[shortcut]]`",
                )),
            }
        }
        Ok((tables, unknown))
    }

    fn shortcut(&self, at: usize, table: &DeTable<'_>) -> Read<Shortcut> {
        known_keys(table, &KEYS)?;
        let id = self.id(at, table)?;
        let named = |trouble: Trouble| Trouble {
            message: format!("{id}: {}", trouble.message),
            ..trouble
        };
        let title = match get(table, "title") {
            Some(value) => self.localized(value, "title").map_err(named)?,
            None => Localized::plain(id.replace('_', " ")),
        };
        let description = match get(table, "description") {
            Some(value) => self.localized(value, "description").map_err(named)?,
            None => Localized::default(),
        };
        let examples = match get(table, "examples") {
            Some(value) => self.examples(value).map_err(named)?,
            None => Vec::new(),
        };
        let risk = match get(table, "risk") {
            Some(value) => self.word(
                value,
                "risk",
                Risk::named,
                "`read`, `write` or `destructive`",
            ),
            None => Ok(Risk::default()),
        };
        let words = |key| match get(table, key) {
            Some(value) => self.texts(value, key).map_err(named),
            None => Ok(Vec::new()),
        };
        Ok(Shortcut {
            switch: SwitchWords {
                off: words("off_words")?,
                reverse: words("reverse_words")?,
            },
            risk: risk.map_err(named)?,
            action: self.action(at, table).map_err(named)?,
            title,
            description,
            examples,
            source: self.source,
            id,
        })
    }

    fn id(&self, at: usize, table: &DeTable<'_>) -> Read<String> {
        let value = get(table, "id").ok_or_else(|| {
            Trouble::new(
                at,
                "a shortcut without an id",
                "give it one: id = \"new_tab\"",
            )
        })?;
        let good = |id: &str| {
            let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
            (!id.is_empty() && id.chars().all(fits)).then(|| id.to_owned())
        };
        self.word(value, "id", good, "lower case letters, digits and `_`")
    }

    fn action(&self, at: usize, table: &DeTable<'_>) -> Read<Action> {
        let given: Vec<&str> = ["command", "macos", "linux", "project"]
            .into_iter()
            .filter(|key| get(table, key).is_some())
            .collect();
        match given[..] {
            ["command"] => Ok(Action::everywhere(self.variants(table, "command")?)),
            ["project"] => {
                let value = get(table, "project").expect("it is given");
                self.word(
                    value,
                    "project",
                    Task::named,
                    "`test`, `build`, `start` or `format`",
                )
                .map(Action::Project)
            }
            ["macos"] | ["linux"] | ["macos", "linux"] => Ok(Action::Run {
                macos: self.variants(table, "macos")?,
                linux: self.variants(table, "linux")?,
            }),
            [] => Err(Trouble::new(
                at,
                "there is no command",
                "give it `command`, `macos` and `linux`, or `project`",
            )),
            _ => Err(Trouble::new(
                at,
                format!("`{}` do not go together", given.join("` and `")),
                "give it `command`, `macos` and `linux`, or `project`",
            )),
        }
    }

    /// A command, or a list of variants; none for an absent key.
    fn variants(&self, table: &DeTable<'_>, key: &str) -> Read<Vec<Variant>> {
        let Some(value) = get(table, key) else {
            return Ok(Vec::new());
        };
        match value.get_ref() {
            DeValue::String(_) => Ok(vec![Variant::bare(self.template(value, key)?)]),
            DeValue::Table(table) => Ok(vec![self.variant(value.span().start, table)?]),
            DeValue::Array(list) => list
                .iter()
                .map(|entry| match entry.get_ref() {
                    DeValue::Table(table) => self.variant(entry.span().start, table),
                    _ => Ok(Variant::bare(self.template(entry, key)?)),
                })
                .collect(),
            _ => Err(self.takes(value, key, "a command, or a list of variants")),
        }
    }

    fn variant(&self, at: usize, table: &DeTable<'_>) -> Read<Variant> {
        known_keys(table, &VARIANT_KEYS)?;
        let run = get(table, "run").ok_or_else(|| {
            Trouble::new(at, "a variant without a command", "give it `run = \"…\"`")
        })?;
        let desktop = get(table, "desktop").map(|value| {
            let names: Vec<&str> = Desktop::ALL.iter().map(|desktop| desktop.name()).collect();
            self.word(value, "desktop", Desktop::named, &names.join(", "))
        });
        let needs = get(table, "needs").map(|value| self.texts(value, "needs"));
        let other = |key| get(table, key).map(|value| self.template(value, key));
        Ok(Variant {
            desktop: desktop.transpose()?,
            needs: needs.transpose()?.unwrap_or_default(),
            run: self.template(run, "run")?,
            on: other("on").transpose()?,
            off: other("off").transpose()?,
        })
    }

    fn template(&self, value: &Value<'_>, key: &str) -> Read<Template> {
        let text = self.text(value, key)?;
        Template::parse(text).map_err(|error| {
            Trouble::new(
                value.span().start,
                format!("{key}: {error} in `{text}`"),
                error.hint(),
            )
        })
    }

    fn localized(&self, value: &Value<'_>, key: &str) -> Read<Localized> {
        let DeValue::Table(table) = value.get_ref() else {
            return Ok(Localized::plain(self.text(value, key)?));
        };
        let texts = table.iter().map(|(language, value)| {
            Ok(Text {
                language: language.get_ref().to_string(),
                text: self.text(value, key)?.to_owned(),
            })
        });
        let mut texts: Vec<Text> = texts.collect::<Read<_>>()?;
        texts.sort_by_key(first_languages);
        Ok(Localized(texts))
    }

    fn examples(&self, value: &Value<'_>) -> Read<Vec<Text>> {
        let of = |language: &str, value: &Value<'_>| -> Read<Vec<Text>> {
            let texts = self.texts(value, "examples")?.into_iter();
            let text = |text| Text {
                language: language.to_owned(),
                text,
            };
            Ok(texts.map(text).collect())
        };
        let DeValue::Table(table) = value.get_ref() else {
            return of("", value);
        };
        let all: Read<Vec<Vec<Text>>> = table
            .iter()
            .map(|(language, value)| of(language.get_ref(), value))
            .collect();
        let mut texts: Vec<Text> = all?.into_iter().flatten().collect();
        texts.sort_by_key(first_languages);
        Ok(texts)
    }

    fn texts(&self, value: &Value<'_>, key: &str) -> Read<Vec<String>> {
        let list: &DeArray<'_> = value
            .get_ref()
            .as_array()
            .ok_or_else(|| self.takes(value, key, "a list of texts"))?;
        list.iter()
            .map(|entry| self.text(entry, key).map(str::to_owned))
            .collect()
    }

    fn text<'v>(&self, value: &'v Value<'_>, key: &str) -> Read<&'v str> {
        match value.get_ref() {
            DeValue::String(text) if !text.is_empty() => Ok(text),
            _ => Err(self.takes(value, key, "a text in quotes")),
        }
    }

    fn word<T>(
        &self,
        value: &Value<'_>,
        key: &str,
        read: impl Fn(&str) -> Option<T>,
        words: &str,
    ) -> Read<T> {
        let text = value.get_ref().as_str();
        text.and_then(read)
            .ok_or_else(|| self.takes(value, key, words))
    }

    fn takes(&self, value: &Value<'_>, key: &str, what: &str) -> Trouble {
        let span = value.span();
        let given: String = self
            .text
            .get(span.clone())
            .unwrap_or_default()
            .chars()
            .take(60)
            .collect();
        Trouble::new(
            span.start,
            format!("{key} takes {what}, not `{given}`"),
            "this shortcut is left out",
        )
    }
}

/// Texts are read in this order; most phrases are in the first languages.
fn first_languages(text: &Text) -> usize {
    const FIRST: &[&str] = &["en", "zh"];
    let place = FIRST.iter().position(|first| *first == text.language);
    place.unwrap_or(FIRST.len())
}

fn get<'a, 'b>(table: &'a DeTable<'b>, key: &str) -> Option<&'a Value<'b>> {
    table
        .iter()
        .find(|(name, _)| name.get_ref() == key)
        .map(|(_, value)| value)
}

fn known_keys(table: &DeTable<'_>, keys: &[&str]) -> Read<()> {
    let is_unknown = |name: &&Spanned<Cow<'_, str>>| !keys.contains(&name.get_ref().as_ref());
    match table.keys().find(is_unknown) {
        Some(name) => Err(Trouble::new(
            name.span().start,
            format!("unknown key `{}`", name.get_ref()),
            format!("there are {}", keys.join(", ")),
        )),
        None => Ok(()),
    }
}

fn not_a_list(at: usize) -> Trouble {
    Trouble::new(at, "`shortcut` is no list", "write `[[shortcut]]`")
}

#[cfg(test)]
mod tests;

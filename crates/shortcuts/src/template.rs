//! Commands with slots: `kill $(lsof -ti tcp:{port})`.
//!
//! `{kind}` or `{kind:label}` is a slot, `{kind=value}` and `{kind:label=value}` are slots with a value
//! for phrases that name none, `{{` and `}}` are braces. A slot stands for one whole argument or a
//! part of one, never inside quotes: its value is quoted for the shell that gets it.

use std::ops::Range;

use tabsense_gather::{Dialect, Quote, Tilde, quote};

/// What a slot takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each is its own name")]
pub enum Kind {
    Port,
    Path,
    Time,
    Text,
    Name,
    Number,
    Url,
    Host,
    Pattern,
}

impl Kind {
    /// All of them, those first whose values are the least ambiguous in a phrase.
    pub const ALL: [Self; 9] = [
        Self::Url,
        Self::Path,
        Self::Time,
        Self::Port,
        Self::Host,
        Self::Number,
        Self::Pattern,
        Self::Name,
        Self::Text,
    ];

    /// Its name in commands.
    pub fn name(self) -> &'static str {
        match self {
            Self::Port => "port",
            Self::Path => "path",
            Self::Time => "time",
            Self::Text => "text",
            Self::Name => "name",
            Self::Number => "number",
            Self::Url => "url",
            Self::Host => "host",
            Self::Pattern => "pattern",
        }
    }

    /// The one of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// A place in a command that the phrase fills.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Slot {
    /// What it takes.
    pub kind: Kind,
    /// What it is for; may be empty.
    pub label: String,
    /// What it takes when the phrase says nothing.
    pub default: Option<String>,
}

impl Slot {
    /// A slot that is left open when the phrase says nothing.
    pub fn new(kind: Kind, label: impl Into<String>) -> Self {
        Self {
            kind,
            label: label.into(),
            default: None,
        }
    }

    /// The name it is told by.
    pub fn name(&self) -> &str {
        match self.label.as_str() {
            "" => self.kind.name(),
            label => label,
        }
    }

    /// What stands in a line for a value that the phrase does not have.
    ///
    /// zsh, bash and fish all refuse to run a line with it, whatever files there are: the redirection
    /// `<&` takes the number of an open file and nothing else. A plain `<port>` would read the file
    /// `port` and write to whatever follows.
    fn placeholder(&self) -> String {
        let letters: String = self
            .name()
            .chars()
            .map(|c| if c.is_alphabetic() { c } else { '_' })
            .collect();
        match letters.trim_matches('_') {
            "" => format!("<&{}>", self.kind.name()),
            letters => format!("<&{letters}>"),
        }
    }
}

/// A command, some of it open.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Template {
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Slot(Slot),
}

/// Why a text is no command with slots.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// A `{` without its `}`, or the other way round.
    #[error("the brace in `{0}` has no partner")]
    Brace(String),
    /// A slot of no kind that there is.
    #[error("`{{{0}}}` is no slot")]
    Kind(String),
    /// A slot inside quotes, where a quoted value would not be safe.
    #[error("the slot `{{{0}}}` stands inside quotes")]
    Quoted(String),
    /// More than one line.
    #[error("the command has more than one line")]
    Lines,
    /// What a terminal would obey.
    #[error("the command has a control character")]
    Control,
}

impl TemplateError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Brace(_) => "write `{{` and `}}` for braces that are no slot".to_owned(),
            Self::Kind(_) => {
                let kinds: Vec<&str> = Kind::ALL.iter().map(|kind| kind.name()).collect();
                format!(
                    "kinds of slots are {}; write `{{{{` and `}}}}` for braces that are no slot",
                    kinds.join(", ")
                )
            }
            Self::Quoted(slot) => {
                format!(
                    "write the slot outside of the quotes: `echo {{{slot}}}`; it is quoted by itself"
                )
            }
            Self::Lines => "join the lines with `;` or `&&`".to_owned(),
            Self::Control => "write it as an escape, such as printf's `\\033`".to_owned(),
        }
    }
}

/// A command made of a template.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filled {
    /// The command.
    pub line: Vec<u8>,
    /// The first placeholder in it, in bytes.
    pub missing: Option<Range<usize>>,
    /// What became of each slot, in order, each once.
    pub values: Vec<Value>,
}

/// What became of a slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Value {
    /// The slot.
    pub slot: Slot,
    /// Its value, unquoted; none when the phrase has none.
    pub value: Option<Vec<u8>>,
}

impl Template {
    /// A command without slots, whatever is in it.
    pub fn literal(text: impl Into<String>) -> Self {
        Self {
            pieces: vec![Piece::Text(text.into())],
        }
    }

    /// Adds what stands in the command as it is.
    pub fn push(&mut self, text: &str) {
        match self.pieces.last_mut() {
            Some(Piece::Text(last)) => last.push_str(text),
            _ => self.pieces.push(Piece::Text(text.to_owned())),
        }
    }

    /// Adds a slot.
    pub fn push_slot(&mut self, slot: Slot) {
        self.pieces.push(Piece::Slot(slot));
    }

    /// Reads a command.
    ///
    /// # Errors
    /// Any [`TemplateError`].
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        if text.contains(['\n', '\r']) {
            return Err(TemplateError::Lines);
        }
        if text.contains(char::is_control) {
            return Err(TemplateError::Control);
        }
        let mut template = Self::default();
        let mut quotes = Quotes::default();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            let (before, from) = rest.split_at(at);
            quotes.read(before);
            template.push(before);
            rest = match from.as_bytes() {
                [b'{', b'{', ..] | [b'}', b'}', ..] => {
                    template.push(&from[..1]);
                    &from[2..]
                }
                [b'{', ..] => {
                    let end = from.find('}').ok_or_else(|| brace(from))?;
                    let inner = &from[1..end];
                    template.push_slot(slot(inner)?);
                    if quotes.are_open() {
                        return Err(TemplateError::Quoted(inner.to_owned()));
                    }
                    &from[end + 1..]
                }
                _ => return Err(brace(from)),
            };
        }
        template.push(rest);
        Ok(template)
    }

    /// The slots, each once.
    pub fn slots(&self) -> Vec<Slot> {
        let mut slots: Vec<Slot> = Vec::new();
        for piece in &self.pieces {
            if let Piece::Slot(slot) = piece
                && !slots.contains(slot)
            {
                slots.push(slot.clone());
            }
        }
        slots
    }

    /// Puts values (unquoted) into the slots, for a shell.
    pub fn fill(&self, values: Vec<Value>, shell: Dialect) -> Filled {
        let mut line = Vec::new();
        let mut missing = None;
        for piece in &self.pieces {
            let slot = match piece {
                Piece::Text(text) => {
                    line.extend_from_slice(text.as_bytes());
                    continue;
                }
                Piece::Slot(slot) => slot,
            };
            let found = values.iter().find(|value| value.slot == *slot);
            match found.and_then(|value| value.value.as_ref()) {
                Some(value) => {
                    line.extend(quote(value, shell, Quote::None, Tilde::Literal));
                }
                None => {
                    let start = line.len();
                    line.extend_from_slice(slot.placeholder().as_bytes());
                    missing.get_or_insert(start..line.len());
                }
            }
        }
        Filled {
            line,
            missing,
            values,
        }
    }
}

fn brace(from: &str) -> TemplateError {
    TemplateError::Brace(from.chars().take(20).collect())
}

fn slot(inner: &str) -> Result<Slot, TemplateError> {
    let (name, default) = match inner.split_once('=') {
        Some((name, default)) => (name, Some(default)),
        None => (inner, None),
    };
    let (kind, label) = name.split_once(':').unwrap_or((name, ""));
    let kind = Kind::named(kind).ok_or_else(|| TemplateError::Kind(inner.to_owned()))?;
    Ok(Slot {
        default: default.map(str::to_owned),
        ..Slot::new(kind, label)
    })
}

/// Which quotes are open, as far as the shells agree.
#[derive(Default)]
struct Quotes {
    open: Option<char>,
    escaped: bool,
}

impl Quotes {
    fn read(&mut self, text: &str) {
        for c in text.chars() {
            match (self.open, c) {
                _ if self.escaped => self.escaped = false,
                (None | Some('"'), '\\') => self.escaped = true,
                (None, '\'' | '"') => self.open = Some(c),
                (Some(open), c) if open == c => self.open = None,
                _ => {}
            }
        }
    }

    fn are_open(&self) -> bool {
        self.open.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(text: &str, values: &[(&str, &str)]) -> Filled {
        let template = Template::parse(text).expect("a template");
        let values = template.slots().into_iter().map(|slot| Value {
            value: values
                .iter()
                .find(|(name, _)| *name == slot.name())
                .map(|(_, value)| value.as_bytes().to_vec()),
            slot,
        });
        template.fill(values.collect(), Dialect::Bash)
    }

    #[test]
    fn slots_are_filled_and_quoted_and_doubled_braces_are_braces() {
        let line = filled(
            "kill $(lsof -ti tcp:{port}); awk '{{print $1}}' {path:file}",
            &[("port", "3000"), ("file", "a b")],
        );
        assert_eq!(
            line.line.escape_ascii().to_string(),
            r"kill $(lsof -ti tcp:3000); awk \'{print $1}\' a\\ b"
        );
        assert_eq!(line.missing, None);
    }

    #[test]
    fn a_missing_value_leaves_a_placeholder_and_says_where() {
        let line = filled("cp {path:from} {path:to}", &[("from", "x")]);
        assert_eq!(line.line, b"cp x <&to>");
        assert_eq!(line.missing, Some(5..10));
        assert_eq!(line.values[1].value, None);
    }

    #[test]
    fn a_slot_that_stands_twice_gets_one_value() {
        let line = filled("mkdir {name} && cd {name}", &[("name", "new")]);
        assert_eq!(line.line, b"mkdir new && cd new");
        assert_eq!(line.values.len(), 1);
    }

    #[test]
    fn a_slot_may_bring_a_value_of_its_own() {
        let template = Template::parse("serve {port=8000} {text:what=my files}").expect("good");
        let slots = template.slots();
        assert_eq!(slots[0].default.as_deref(), Some("8000"));
        assert_eq!(slots[1].name(), "what");
        assert_eq!(slots[1].default.as_deref(), Some("my files"));
    }

    #[test]
    fn what_is_no_template_is_told_with_the_reason() {
        for (text, error) in [
            ("echo {what}", TemplateError::Kind("what".into())),
            ("echo {port", TemplateError::Brace("{port".into())),
            ("echo }", TemplateError::Brace("}".into())),
            ("echo \"{text}\"", TemplateError::Quoted("text".into())),
            ("echo 'x {text}'", TemplateError::Quoted("text".into())),
            ("a\nb", TemplateError::Lines),
            ("a \u{1b}[31m", TemplateError::Control),
            ("a\tb", TemplateError::Control),
        ] {
            assert_eq!(Template::parse(text), Err(error), "{text}");
        }
        assert!(Template::parse(r#"echo "a\"b" {text}"#).is_ok());
        assert!(Template::parse(r"echo it\'s {text}").is_ok());
    }
}

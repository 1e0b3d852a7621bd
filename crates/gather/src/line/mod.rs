//! The shell line up to the cursor: which simple command the cursor is in, the
//! words before it and the word being typed.
//!
//! A pure lexer for three dialects. It never evaluates anything: expansions
//! stay in the text as they were written, and a word that holds one says so.

mod expansion;
mod lexer;
mod prefix;
mod quoting;

#[cfg(test)]
mod tests;

pub use quoting::{Tilde, quote};

/// The grammar that a line follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// zsh with its default options.
    Zsh,
    /// bash, also in POSIX mode.
    Bash,
    /// fish 3 and later.
    Fish,
}

/// The quote that is open at the cursor, or the style to quote in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quote {
    /// No quote is open; specials are escaped one by one.
    None,
    /// `'…`
    Single,
    /// `"…`
    Double,
    /// `$'…`, bash and zsh only.
    Dollar,
    /// A backslash stands directly before the cursor. As a style: like `None`.
    Backslash,
}

/// What the word at the cursor is to the simple command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Position {
    /// The name of a command.
    Command,
    /// An argument of `words[0]`.
    Argument,
    /// The file of a redirection such as `2> file`.
    Redirection,
    /// The value of `NAME=value`; `typed` and `start` leave out `NAME=`.
    Assignment,
}

/// A plain `$NAME` or `${NAME}` inside `typed`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Where the reference starts in `typed`, in bytes.
    pub at: usize,
    /// Bytes of the reference in `typed`, with `$` and braces.
    pub len: usize,
    /// The name alone.
    pub name: Vec<u8>,
}

/// The simple command that the cursor is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parsed {
    /// Unquoted words before the cursor's word; `words[0]` is the command that
    /// really runs (`sudo`, `env X=y`, `time`, … are skipped). Expansions keep
    /// their source text. Redirections are left out.
    pub words: Vec<Vec<u8>>,
    /// The word at the cursor, unquoted, up to the cursor.
    pub typed: Vec<u8>,
    /// Byte offset in the line where that word starts, opening quote included.
    pub start: usize,
    /// The quote that is open at the cursor.
    pub quote: Quote,
    /// What the word is to the command.
    pub position: Position,
    /// The word starts with an unquoted `~` that stands for the home directory.
    pub home: bool,
    /// Plain variables in `typed`, in order.
    pub variables: Vec<Variable>,
    /// The word holds something only the shell can expand: a command
    /// substitution, a glob, `~user`, braces, `${x:-y}`, a positional parameter.
    pub dynamic: bool,
}

impl Parsed {
    /// Whether the shell would turn `typed` into something else.
    #[must_use]
    pub fn is_live(&self) -> bool {
        self.dynamic || self.home || !self.variables.is_empty()
    }

    /// The word as a path for look-up: `~` and plain variables are replaced,
    /// nothing else is. `None` when the word holds what only the shell can
    /// expand, or a variable that `variable` does not know.
    ///
    /// `variable` gets a name without `$`; `home` is the value for `~`.
    pub fn look_up<F>(&self, home: &[u8], variable: F) -> Option<Vec<u8>>
    where
        F: Fn(&[u8]) -> Option<Vec<u8>>,
    {
        if self.dynamic {
            return None;
        }
        let mut out = Vec::with_capacity(self.typed.len() + home.len());
        let mut from = 0;
        if self.home {
            out.extend_from_slice(home);
            from = 1;
        }
        for reference in &self.variables {
            out.extend_from_slice(&self.typed[from..reference.at]);
            out.extend_from_slice(&variable(&reference.name)?);
            from = reference.at + reference.len;
        }
        out.extend_from_slice(&self.typed[from..]);
        Some(out)
    }
}

/// Reads `line` up to `cursor` (bytes; a larger value means the end).
#[must_use]
pub fn parse(line: &[u8], cursor: usize, dialect: Dialect) -> Parsed {
    let line = &line[..cursor.min(line.len())];
    let scanned = lexer::scan(line, dialect);
    prefix::settle(scanned)
}

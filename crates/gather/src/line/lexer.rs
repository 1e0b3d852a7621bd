//! One pass over the line with a stack of open command contexts.
//!
//! A substitution opens a context of its own inside the word that holds it, so
//! the cursor in `echo "$(ls fo` belongs to `ls`. No recursion: depth costs heap.

use super::{Dialect, Quote, Variable};

/// A word as the lexer built it.
#[derive(Debug, Default)]
pub(super) struct Word {
    /// Unquoted text, expansions as written.
    pub text: Vec<u8>,
    /// Byte offset of the first source byte.
    pub start: usize,
    pub home: bool,
    pub dynamic: bool,
    /// Some byte was quoted: the word is no keyword.
    pub quoted: bool,
    pub variables: Vec<Variable>,
    /// Length of an unquoted `NAME=` or `NAME+=` at the start of `text`, and the
    /// source offset behind it.
    pub assignment: Option<(usize, usize)>,
    /// Open `(` or `{` that belong to the word itself.
    pub(super) nested: Vec<u8>,
}

/// What ends a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Closer {
    End,
    Paren,
    Backtick,
    /// `name=( … )`: words in it are values, not commands.
    Array,
}

/// What a redirection operator asks of the next word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pending {
    Nothing,
    File,
    Heredoc,
}

#[derive(Debug)]
pub(super) struct Frame {
    pub(super) closer: Closer,
    words: Vec<Word>,
    pub(super) word: Option<Word>,
    pub(super) quote: Quote,
    pending: Pending,
    /// Delimiters of here-documents whose bodies start at the next newline.
    heredocs: Vec<Vec<u8>>,
}

impl Frame {
    pub(super) fn new(closer: Closer) -> Self {
        Self {
            closer,
            words: Vec::new(),
            word: None,
            quote: Quote::None,
            pending: Pending::Nothing,
            heredocs: Vec::new(),
        }
    }
}

/// The innermost context at the end of the line.
#[derive(Debug)]
pub(super) struct Scanned {
    pub words: Vec<Word>,
    pub current: Word,
    pub quote: Quote,
    pub redirection: bool,
    /// Words here are values of an array.
    pub array: bool,
}

pub(super) struct Lexer<'a> {
    pub(super) line: &'a [u8],
    pub(super) at: usize,
    pub(super) dialect: Dialect,
    pub(super) frames: Vec<Frame>,
}

pub(super) fn scan(line: &[u8], dialect: Dialect) -> Scanned {
    let mut lexer = Lexer {
        line,
        at: 0,
        dialect,
        frames: vec![Frame::new(Closer::End)],
    };
    while let Some(byte) = lexer.peek(0) {
        match lexer.frame().quote {
            Quote::None | Quote::Backslash => lexer.plain(byte),
            Quote::Single => lexer.single(byte),
            Quote::Double => lexer.double(byte),
            Quote::Dollar => lexer.dollar_quote(byte),
        }
    }
    lexer.finish()
}

impl Lexer<'_> {
    pub(super) fn peek(&self, ahead: usize) -> Option<u8> {
        self.line.get(self.at + ahead).copied()
    }

    pub(super) fn fish(&self) -> bool {
        self.dialect == Dialect::Fish
    }

    pub(super) fn frame(&mut self) -> &mut Frame {
        // The first frame is never popped.
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    pub(super) fn word(&mut self) -> &mut Word {
        let start = self.at;
        self.frame().word.get_or_insert_with(|| Word {
            start,
            ..Word::default()
        })
    }

    /// Takes `count` source bytes as literal text of the word.
    pub(super) fn take(&mut self, count: usize) {
        let end = (self.at + count).min(self.line.len());
        let bytes = &self.line[self.at..end];
        self.word().text.extend_from_slice(bytes);
        self.at = end;
    }

    fn end_word(&mut self) {
        let frame = self.frame();
        let Some(word) = frame.word.take() else {
            return;
        };
        match std::mem::replace(&mut frame.pending, Pending::Nothing) {
            Pending::Nothing => frame.words.push(word),
            Pending::File => {}
            Pending::Heredoc => frame.heredocs.push(word.text),
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        let frame = self.frame();
        if frame.closer == Closer::Array {
            return;
        }
        frame.words.clear();
        frame.pending = Pending::Nothing;
    }

    fn plain(&mut self, byte: u8) {
        let nested = self
            .frame()
            .word
            .as_ref()
            .is_some_and(|word| !word.nested.is_empty());
        match byte {
            b'\\' => self.backslash(),
            b'\'' | b'"' => self.open_quote(byte),
            b'$' => self.dollar(),
            b'`' if !self.fish() => self.backtick(),
            _ if nested => self.inside_nested(byte),
            b' ' | b'\t' => {
                self.end_word();
                self.at += 1;
            }
            b'\n' => self.newline(),
            b';' | b'|' => {
                self.end_command();
                self.at += 1;
            }
            b'&' => self.ampersand(),
            b'<' | b'>' => self.redirection(byte),
            b'(' => self.open_paren(),
            b')' => self.close_paren(),
            b'#' if self.starts_comment() => self.comment(),
            _ => self.letter(byte),
        }
    }

    /// A byte that belongs to a word and may mark it as live.
    fn letter(&mut self, byte: u8) {
        let first = self.frame().word.is_none();
        let next = self.peek(1);
        let dialect = self.dialect;
        let position = self.at;
        let word = self.word();
        match byte {
            b'*' | b'?' | b'[' | b'{' => word.dynamic = true,
            b'~' if first => match next {
                None | Some(b'/' | b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b')') => {
                    word.home = true;
                }
                Some(_) => word.dynamic = true,
            },
            b'=' if first && dialect == Dialect::Zsh => word.dynamic = true,
            b'=' if word.assignment.is_none() && is_assigned_name(word) => {
                word.assignment = Some((word.text.len() + 1, position + 1));
            }
            _ => {}
        }
        self.take(1);
    }

    fn inside_nested(&mut self, byte: u8) {
        let word = self.word();
        match byte {
            b'(' | b'{' => word.nested.push(byte),
            b')' if word.nested.last() == Some(&b'(') => drop(word.nested.pop()),
            b'}' if word.nested.last() == Some(&b'{') => drop(word.nested.pop()),
            _ => {}
        }
        self.take(1);
    }

    fn newline(&mut self) {
        self.end_command();
        self.at += 1;
        let delimiters = std::mem::take(&mut self.frame().heredocs);
        for delimiter in delimiters {
            if !self.skip_heredoc(&delimiter) {
                return;
            }
        }
    }

    /// Skips a here-document; `false` when the cursor is inside it.
    fn skip_heredoc(&mut self, delimiter: &[u8]) -> bool {
        let mut begin = self.at;
        while begin < self.line.len() {
            let rest = &self.line[begin..];
            let Some(len) = rest.iter().position(|byte| *byte == b'\n') else {
                break;
            };
            let line = &rest[..len];
            begin += len + 1;
            if line == delimiter || line.trim_ascii_start() == delimiter {
                self.at = begin;
                return true;
            }
        }
        // The text of a here-document is nobody's argument.
        self.at = begin.min(self.line.len());
        self.word().dynamic = true;
        self.take(self.line.len());
        false
    }

    fn ampersand(&mut self) {
        if self.peek(1) == Some(b'>') {
            self.end_word();
            self.at += 1;
            self.redirection(b'>');
            return;
        }
        self.end_command();
        self.at += 1;
    }

    fn redirection(&mut self, byte: u8) {
        if self.peek(1) == Some(b'(') && !self.fish() {
            self.word().dynamic = true;
            self.take(2);
            self.frames.push(Frame::new(Closer::Paren));
            return;
        }
        self.drop_descriptor();
        self.end_word();
        let mut operator = 1;
        while let Some(next) = self.peek(operator) {
            let more = next == byte || (operator == 1 && matches!(next, b'<' | b'>'));
            if operator >= 3 || !more {
                break;
            }
            operator += 1;
        }
        let heredoc = byte == b'<' && operator == 2 && self.peek(1) == Some(b'<') && !self.fish();
        if matches!(self.peek(operator), Some(b'&' | b'|' | b'!' | b'?'))
            || (heredoc && self.peek(operator) == Some(b'-'))
        {
            operator += 1;
        }
        self.at += operator;
        self.frame().pending = if heredoc {
            Pending::Heredoc
        } else {
            Pending::File
        };
    }

    /// In `2>` and `{fd}>` the word is a descriptor, not an argument.
    fn drop_descriptor(&mut self) {
        let frame = self.frame();
        let Some(word) = &frame.word else {
            return;
        };
        let digits = !word.quoted && word.text.iter().all(u8::is_ascii_digit);
        let named = !word.quoted && is_named_descriptor(&word.text);
        if digits || named {
            frame.word = None;
        }
    }

    fn open_paren(&mut self) {
        if self.fish() {
            return self.substitution(1);
        }
        let next = self.peek(1);
        let frame = self.frame();
        match &mut frame.word {
            Some(word)
                if !word.quoted
                    && word
                        .assignment
                        .is_some_and(|(len, _)| len == word.text.len()) =>
            {
                word.dynamic = true;
                self.take(1);
                self.frames.push(Frame::new(Closer::Array));
            }
            // `name()` starts the body of a function.
            Some(_) if next == Some(b')') && frame.words.is_empty() => {
                self.end_command();
                self.at += 2;
            }
            Some(word) if word.text == b"=" && word.dynamic => self.substitution(1),
            // Glob groups and qualifiers stay inside the word.
            Some(word) => {
                word.dynamic = true;
                word.nested.push(b'(');
                self.take(1);
            }
            None if frame.words.is_empty() || frame.words.iter().all(is_keyword_like) => {
                self.at += 1;
                self.frames.push(Frame::new(Closer::Paren));
            }
            None => {
                let word = self.word();
                word.dynamic = true;
                word.nested.push(b'(');
                self.take(1);
            }
        }
    }

    fn close_paren(&mut self) {
        self.end_word();
        if matches!(self.frame().closer, Closer::Paren | Closer::Array) {
            self.frames.pop();
            // A subshell has no word around it; its `)` is no text either.
            if self.frame().word.is_some() {
                return self.take(1);
            }
            self.at += 1;
            return;
        }
        // The pattern of a `case` branch ends here.
        self.end_command();
        self.at += 1;
    }

    fn starts_comment(&mut self) -> bool {
        // zsh reads comments in scripts only, unless asked.
        self.dialect != Dialect::Zsh && self.frame().word.is_none()
    }

    fn comment(&mut self) {
        let rest = &self.line[self.at..];
        if let Some(len) = rest.iter().position(|byte| *byte == b'\n') {
            self.at += len;
            return;
        }
        self.word().dynamic = true;
        self.take(self.line.len());
    }

    fn finish(mut self) -> Scanned {
        let start = self.line.len();
        let mut frame = self.frames.pop().expect("the first frame is never popped");
        if frame.quote == Quote::Single || frame.quote == Quote::Double {
            // An open quote makes a word even when nothing follows it.
            debug_assert!(frame.word.is_some());
        }
        let current = frame.word.take().unwrap_or(Word {
            start,
            ..Word::default()
        });
        Scanned {
            words: frame.words,
            current,
            quote: frame.quote,
            redirection: frame.pending != Pending::Nothing,
            array: frame.closer == Closer::Array,
        }
    }
}

pub(super) fn name_length(text: &[u8]) -> usize {
    text.iter()
        .take_while(|byte| **byte == b'_' || byte.is_ascii_alphanumeric())
        .count()
}

/// `{name}`, which bash and zsh set to a new descriptor.
fn is_named_descriptor(text: &[u8]) -> bool {
    let name = text
        .strip_prefix(b"{")
        .and_then(|text| text.strip_suffix(b"}"));
    name.is_some_and(|name| !name.is_empty() && name_length(name) == name.len())
}

/// Names of variables are shorter; the bound keeps the check cheap.
const LONGEST_NAME: usize = 255;

/// Whether the text so far is what may stand before `=` in an assignment.
fn is_assigned_name(word: &Word) -> bool {
    let name = word.text.strip_suffix(b"+").unwrap_or(&word.text);
    !word.quoted
        && name.len() <= LONGEST_NAME
        && name.first().is_some_and(|byte| !byte.is_ascii_digit())
        && name_length(name) == name.len()
}

/// Words after which `(` opens a subshell.
fn is_keyword_like(word: &Word) -> bool {
    !word.quoted && super::prefix::is_keyword(&word.text)
}

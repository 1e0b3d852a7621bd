//! The parts of a word that are not plain letters: quotes, escapes, expansions.

use super::lexer::{Closer, Frame, Lexer, name_length};
use super::{Dialect, Quote, Variable, quoting};

impl Lexer<'_> {
    /// Opens a command context inside the current word.
    pub(super) fn substitution(&mut self, opener: usize) {
        self.word().dynamic = true;
        self.take(opener);
        self.frames.push(Frame::new(Closer::Paren));
    }

    pub(super) fn backtick(&mut self) {
        if self.frame().closer == Closer::Backtick {
            self.frames.pop();
            return self.take(1);
        }
        self.word().dynamic = true;
        self.take(1);
        self.frames.push(Frame::new(Closer::Backtick));
    }

    pub(super) fn backslash(&mut self) {
        let Some(next) = self.peek(1) else {
            self.word().quoted = true;
            self.frame().quote = Quote::Backslash;
            self.at += 1;
            return;
        };
        if next == b'\n' {
            self.at += 2;
            return;
        }
        self.word().quoted = true;
        if self.fish() {
            let (bytes, len) = quoting::fish_escape(&self.line[self.at..]);
            self.word().text.extend_from_slice(&bytes);
            self.at += len;
            return;
        }
        self.at += 1;
        self.frame()
            .word
            .as_mut()
            .expect("made above")
            .text
            .push(next);
        self.at += 1;
    }

    pub(super) fn open_quote(&mut self, byte: u8) {
        self.word().quoted = true;
        self.frame().quote = if byte == b'\'' {
            Quote::Single
        } else {
            Quote::Double
        };
        self.at += 1;
    }

    fn close_quote(&mut self) {
        self.frame().quote = Quote::None;
        self.at += 1;
    }

    pub(super) fn single(&mut self, byte: u8) {
        match (byte, self.peek(1)) {
            (b'\'', _) => self.close_quote(),
            (b'\\', Some(b'\\' | b'\'')) if self.fish() => {
                self.at += 1;
                self.take(1);
            }
            _ => self.take(1),
        }
    }

    pub(super) fn double(&mut self, byte: u8) {
        match (byte, self.peek(1)) {
            (b'"', _) => self.close_quote(),
            (b'\\', Some(b'\n')) => self.at += 2,
            (b'\\', Some(b'$' | b'"' | b'\\')) => {
                self.at += 1;
                self.take(1);
            }
            (b'\\', Some(b'`')) if !self.fish() => {
                self.at += 1;
                self.take(1);
            }
            (b'$', _) => self.dollar(),
            (b'`', _) if !self.fish() => self.backtick(),
            _ => self.take(1),
        }
    }

    pub(super) fn dollar_quote(&mut self, byte: u8) {
        match byte {
            b'\'' => self.close_quote(),
            b'\\' => {
                let (bytes, len) = quoting::ansi_c_escape(&self.line[self.at..]);
                self.word().text.extend_from_slice(&bytes);
                self.at += len;
            }
            _ => self.take(1),
        }
    }

    pub(super) fn dollar(&mut self) {
        let quoted = self.frame().quote == Quote::Double;
        match self.peek(1) {
            Some(b'\'') if !self.fish() && !quoted => {
                self.word().quoted = true;
                self.frame().quote = Quote::Dollar;
                self.at += 2;
            }
            Some(b'"') if !self.fish() && !quoted => {
                self.word();
                self.at += 1;
                self.open_quote(b'"');
            }
            Some(b'(') if self.peek(2) == Some(b'(') && !self.fish() => self.arithmetic(),
            Some(b'(') => self.substitution(2),
            Some(b'{') if !self.fish() => self.braced(),
            Some(next) if next == b'_' || next.is_ascii_alphabetic() => self.named(),
            // A lone `$` before a blank, a quote or a slash is text.
            Some(next) if !b"?!$#*@-0123456789[:".contains(&next) => self.take(1),
            _ => {
                self.word().dynamic = true;
                self.take(2);
            }
        }
    }

    fn arithmetic(&mut self) {
        let quoted = self.frame().quote == Quote::Double;
        let word = self.word();
        word.dynamic = true;
        if !quoted {
            word.nested.extend_from_slice(b"((");
        }
        self.take(3);
    }

    fn braced(&mut self) {
        let rest = &self.line[self.at + 2..];
        let name = name_length(rest);
        if name > 0 && rest.get(name) == Some(&b'}') {
            return self.variable(2, name, 1);
        }
        let quoted = self.frame().quote == Quote::Double;
        let word = self.word();
        word.dynamic = true;
        if !quoted {
            word.nested.push(b'{');
        }
        self.take(2);
    }

    fn named(&mut self) {
        let name = name_length(&self.line[self.at + 1..]);
        let behind = self.peek(1 + name);
        // At the cursor the name itself is being typed; `$x:h` is a modifier.
        let whole = match behind {
            None => self.frame().quote == Quote::Dollar,
            Some(b':') => self.dialect != Dialect::Zsh,
            Some(b'[') => self.dialect == Dialect::Bash,
            Some(_) => true,
        };
        if whole {
            return self.variable(1, name, 0);
        }
        self.word().dynamic = true;
        self.take(1 + name);
    }

    fn variable(&mut self, before: usize, name: usize, behind: usize) {
        let start = self.at + before;
        let name_bytes = self.line[start..start + name].to_vec();
        let len = before + name + behind;
        let word = self.word();
        let at = word.text.len();
        word.variables.push(Variable {
            at,
            len,
            name: name_bytes,
        });
        self.take(len);
    }
}

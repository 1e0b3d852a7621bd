//! fish's `fish_history` (`src/history.cpp`, `history_file.cpp` in fish 3.6): lines
//! `- cmd: COMMAND`, `  when: SECONDS`, and optionally `  paths:` with `    - PATH` lines. It
//! looks like YAML, but only the backslash and the line feed are escaped, as `\\` and `\n`.

use std::io::BufRead;
use std::path::Path;

use super::{Entries, LineFile, stamp_ms};
use crate::{Error, Record, Source};

/// Entries of a fish history file.
pub struct Fish<R> {
    file: LineFile<R>,
    line: Vec<u8>,
    /// The entry whose lines are being read.
    record: Option<Record>,
    skipped: u64,
}

impl<R: BufRead> Fish<R> {
    /// Reads from `reader`; `path` is for messages.
    pub fn new(reader: R, path: &Path) -> Self {
        Self {
            file: LineFile::new(reader, path),
            line: Vec::new(),
            record: None,
            skipped: 0,
        }
    }

    /// Takes a line within an entry.
    fn detail(&mut self) {
        let Some(record) = &mut self.record else {
            self.skipped += u64::from(!self.line.is_empty());
            return;
        };
        if let Some(when) = self.line.strip_prefix(b"  when:") {
            record.start_ms = stamp_ms(when);
            return;
        }
        let is_known =
            self.line == b"  paths:" || self.line.starts_with(b"    - ") || self.line.is_empty();
        self.skipped += u64::from(!is_known);
    }
}

impl<R: BufRead> Entries for Fish<R> {
    fn source(&self) -> Source {
        Source::Fish
    }

    fn next_record(&mut self) -> Result<Option<Record>, Error> {
        while self.file.next(&mut self.line)? {
            let Some(command) = self.line.strip_prefix(b"- cmd: ") else {
                self.detail();
                continue;
            };
            let record = Record {
                command: unescape(command),
                shell: "fish".to_owned(),
                ..Record::default()
            };
            if let Some(done) = self.record.replace(record)
                && !done.command.is_empty()
            {
                return Ok(Some(done));
            }
        }
        Ok(self
            .record
            .take()
            .filter(|record| !record.command.is_empty()))
    }

    fn skipped(&self) -> u64 {
        self.skipped + self.file.lines.skipped
    }
}

/// Undoes `\\` and `\n`; any other backslash stays.
fn unescape(escaped: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(escaped.len());
    let mut rest = escaped.iter();
    while let Some(&byte) = rest.next() {
        let next = rest.as_slice().first();
        match (byte, next) {
            (b'\\', Some(b'\\')) => plain.push(b'\\'),
            (b'\\', Some(b'n')) => plain.push(b'\n'),
            _ => {
                plain.push(byte);
                continue;
            }
        }
        rest.next();
    }
    plain
}

//! bash's history file, as `read_history_range` in readline's `histfile.c` reads it.
//!
//! Without stamps each line is an entry. With `HISTTIMEFORMAT` set, bash writes `#SECONDS` before
//! each entry; when the first line of the file is such a stamp, all lines up to the next stamp
//! are one entry, else a stamp dates the one line that follows. Unlike bash, which takes any line
//! that begins with `#` and a digit for a stamp and drops it, lines such as `#123 note` are kept
//! as commands.

use std::io::BufRead;
use std::path::Path;

use super::lines::MAX_ENTRY;
use super::{Entries, LineFile, stamp_ms};
use crate::{Error, Record, Source};

/// Stamps since 1973 have nine digits; `#123` is more likely a comment somebody typed.
const STAMP_DIGITS: usize = 9;

/// Entries of a bash history file.
pub struct Bash<R> {
    file: LineFile<R>,
    line: Vec<u8>,
    /// Whether the file's first line is a stamp; `None` before it is read.
    stamped: Option<bool>,
    /// The stamp that was read after the entry before.
    stamp: Option<i64>,
    skipped: u64,
}

impl<R: BufRead> Bash<R> {
    /// Reads from `reader`; `path` is for messages.
    pub fn new(reader: R, path: &Path) -> Self {
        Self {
            file: LineFile::new(reader, path),
            line: Vec::new(),
            stamped: None,
            stamp: None,
            skipped: 0,
        }
    }

    fn next_line(&mut self) -> Result<bool, Error> {
        if !self.file.next(&mut self.line)? {
            return Ok(false);
        }
        if self.line.last() == Some(&b'\r') {
            self.line.pop(); // as bash does
        }
        if self.stamped.is_none() {
            self.stamped = Some(stamp(&self.line).is_some());
        }
        Ok(true)
    }

    /// Appends lines to `command` until a stamp or the end.
    fn read_lines(&mut self, command: &mut Vec<u8>) -> Result<Option<i64>, Error> {
        let mut fits = true;
        let mut next = None;
        while self.next_line()? {
            next = stamp(&self.line);
            if next.is_some() {
                break;
            }
            if command.len() + self.line.len() > MAX_ENTRY {
                fits = false;
                continue;
            }
            command.push(b'\n');
            command.extend_from_slice(&self.line);
        }
        if !fits {
            self.skipped += 1;
        }
        while command.last() == Some(&b'\n') {
            command.pop();
        }
        Ok(next)
    }
}

impl<R: BufRead> Entries for Bash<R> {
    fn source(&self) -> Source {
        Source::Bash
    }

    fn next_record(&mut self) -> Result<Option<Record>, Error> {
        while self.next_line()? {
            if let Some(seconds) = stamp(&self.line) {
                self.stamp = Some(seconds);
                continue;
            }
            if self.line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            let mut command = self.line.clone();
            let start = self.stamp.take();
            if self.stamped == Some(true) && start.is_some() {
                self.stamp = self.read_lines(&mut command)?;
            }
            return Ok(Some(Record {
                command,
                start_ms: start.unwrap_or(0),
                shell: "bash".to_owned(),
                ..Record::default()
            }));
        }
        Ok(None)
    }

    fn skipped(&self) -> u64 {
        self.skipped + self.file.lines.skipped
    }
}

/// Milliseconds of a stamp line, 0 when out of range; `None` for any other line.
fn stamp(line: &[u8]) -> Option<i64> {
    let digits = line.strip_prefix(b"#")?;
    let is_stamp = digits.len() >= STAMP_DIGITS && digits.iter().all(u8::is_ascii_digit);
    is_stamp.then(|| stamp_ms(digits))
}

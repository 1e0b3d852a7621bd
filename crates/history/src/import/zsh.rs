//! zsh's history file, as `savehistfile` in zsh's `Src/hist.c` writes it and `readhistline`
//! reads it back:
//!
//! - extended entries begin `: START:DURATION;`, both in seconds; plain ones do not, and a plain
//!   command that begins with a colon has a backslash before it;
//! - a line feed within a command is written backslash, LF;
//! - after a command whose last bytes are a backslash and any blanks, one blank is added, so that
//!   the backslash does not join the next entry;
//! - bytes that zsh uses for itself are metafied: 0x83, then the byte XOR 0x20.

use std::io::BufRead;
use std::path::Path;

use super::lines::MAX_ENTRY;
use super::{Entries, LineFile, stamp_ms};
use crate::{Error, Record, Source};

/// Marks a byte that follows XOR 0x20 (`Meta` in zsh's `Src/zsh.h`).
const META: u8 = 0x83;

/// Entries of a zsh history file.
pub struct Zsh<R> {
    file: LineFile<R>,
    line: Vec<u8>,
    skipped: u64,
}

impl<R: BufRead> Zsh<R> {
    /// Reads from `reader`; `path` is for messages.
    pub fn new(reader: R, path: &Path) -> Self {
        Self {
            file: LineFile::new(reader, path),
            line: Vec::new(),
            skipped: 0,
        }
    }

    /// Reads one entry with its continuation lines; `None` at the end.
    fn read_entry(&mut self) -> Result<Option<Vec<u8>>, Error> {
        if !self.file.next(&mut self.line)? {
            return Ok(None);
        }
        let mut entry = self.line.clone();
        while entry.last() == Some(&b'\\') {
            if !self.file.next(&mut self.line)? {
                break;
            }
            entry.pop();
            entry.push(b'\n');
            entry.extend_from_slice(&self.line);
            if entry.len() > MAX_ENTRY {
                self.skipped += 1;
                entry.clear();
            }
        }
        drop_guard_blank(&mut entry);
        Ok(Some(entry))
    }
}

impl<R: BufRead> Entries for Zsh<R> {
    fn source(&self) -> Source {
        Source::Zsh
    }

    fn next_record(&mut self) -> Result<Option<Record>, Error> {
        while let Some(entry) = self.read_entry()? {
            let (start_ms, duration_ms, command) = split(&entry);
            let command = unmetafy(command);
            if command.iter().all(u8::is_ascii_whitespace) {
                self.skipped += u64::from(!entry.is_empty());
                continue;
            }
            return Ok(Some(Record {
                command,
                start_ms,
                duration_ms,
                shell: "zsh".to_owned(),
                ..Record::default()
            }));
        }
        Ok(None)
    }

    fn skipped(&self) -> u64 {
        self.skipped + self.file.lines.skipped
    }
}

/// Takes off the one blank that zsh adds after a backslash at the end.
fn drop_guard_blank(entry: &mut Vec<u8>) {
    let blanks = entry.iter().rev().take_while(|&&byte| byte == b' ').count();
    if blanks > 0 && entry[..entry.len() - blanks].last() == Some(&b'\\') {
        entry.pop();
    }
}

/// Start and duration in milliseconds, and the command still metafied.
fn split(entry: &[u8]) -> (i64, Option<u64>, &[u8]) {
    if let Some(rest) = entry.strip_prefix(b"\\:") {
        return (0, None, &entry[entry.len() - rest.len() - 1..]);
    }
    split_extended(entry).unwrap_or((0, None, entry))
}

fn split_extended(entry: &[u8]) -> Option<(i64, Option<u64>, &[u8])> {
    let rest = entry.strip_prefix(b":")?;
    let colon = rest.iter().position(|&byte| byte == b':')?;
    let (start, rest) = (&rest[..colon], &rest[colon + 1..]);
    let semicolon = rest.iter().position(|&byte| byte == b';')?;
    let (duration, command) = (&rest[..semicolon], &rest[semicolon + 1..]);
    if !is_number(start) || !is_number(duration) {
        return None;
    }
    // zsh writes 0 also for commands it did not time.
    let duration = u64::try_from(stamp_ms(duration)).ok().filter(|&ms| ms > 0);
    Some((stamp_ms(start), duration, command))
}

fn is_number(text: &[u8]) -> bool {
    let text = text.trim_ascii();
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

/// Undoes zsh's metafying. A lone 0x83 at the end is kept.
#[must_use]
pub fn unmetafy(bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(bytes.len());
    let mut rest = bytes.iter();
    while let Some(&byte) = rest.next() {
        match (byte, rest.as_slice().first()) {
            (META, Some(&next)) => {
                plain.push(next ^ 0x20);
                rest.next();
            }
            _ => plain.push(byte),
        }
    }
    plain
}

/// Metafies as zsh 5.9 does before it writes: NUL, 0x83 (`Meta`) to 0xa2 (`Marker`).
#[must_use]
pub fn metafy(bytes: &[u8]) -> Vec<u8> {
    let mut written = Vec::with_capacity(bytes.len());
    for &byte in bytes {
        if matches!(byte, 0 | META..=0xa2) {
            written.extend_from_slice(&[META, byte ^ 0x20]);
        } else {
            written.push(byte);
        }
    }
    written
}

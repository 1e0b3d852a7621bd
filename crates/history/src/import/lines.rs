//! Lines of a history file, with a cap on their length.

use std::io::{self, BufRead};

/// Longest entry taken over, in bytes; a shell cannot pass more to a program in one argument
/// without tricks, and what is longer is pasted data or not a history at all.
pub(super) const MAX_ENTRY: usize = 1 << 20;

/// Reads lines without their LF. Too long ones are dropped and counted, as are lines with NUL:
/// no shell can run those, they are what a crash left in the file.
pub(super) struct Lines<R> {
    reader: R,
    pub(super) skipped: u64,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(reader: R) -> Self {
        Self { reader, skipped: 0 }
    }

    /// Fills `line`; false at the end.
    pub(super) fn next(&mut self, line: &mut Vec<u8>) -> io::Result<bool> {
        loop {
            line.clear();
            let Some(fits) = self.fill(line)? else {
                return Ok(false);
            };
            if fits && !line.contains(&0) {
                return Ok(true);
            }
            self.skipped += 1;
        }
    }

    /// Reads up to the next LF; `None` at the end, false when the line was cut at the cap.
    fn fill(&mut self, line: &mut Vec<u8>) -> io::Result<Option<bool>> {
        let mut read = false;
        let mut fits = true;
        loop {
            let buffer = match self.reader.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                other => other?,
            };
            if buffer.is_empty() {
                return Ok(read.then_some(fits));
            }
            read = true;
            let end = buffer.iter().position(|&byte| byte == b'\n');
            let part = end.map_or(buffer, |end| &buffer[..end]);
            if line.len() + part.len() > MAX_ENTRY {
                fits = false;
            } else {
                line.extend_from_slice(part);
            }
            let used = end.map_or(buffer.len(), |end| end + 1);
            self.reader.consume(used);
            if end.is_some() {
                return Ok(Some(fits));
            }
        }
    }
}

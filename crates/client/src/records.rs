//! What a shell script writes to the client's standard input: NUL-terminated records.
//!
//! First the header, one `key=value` a record, ended by an empty record; then the candidates, one
//! record each, or two (text, description) when the header says `pairs=1`. Nothing travels in
//! argv, where one argument holds at most 128 KiB and every process list shows it.

use std::time::SystemTime;

use tabsense_protocol::request::{Candidate, Complete, Prompt, Ran, Shell};

/// A header and what follows it.
#[derive(Debug)]
pub(crate) struct Records<'a> {
    header: Vec<(&'a [u8], &'a [u8])>,
    body: Vec<&'a [u8]>,
}

impl<'a> Records<'a> {
    /// Splits the input.
    pub(crate) fn parse(input: &'a [u8]) -> Self {
        let mut records = input
            .strip_suffix(b"\0")
            .unwrap_or(input)
            .split(|&byte| byte == 0);
        let header = records
            .by_ref()
            .take_while(|record| !record.is_empty())
            .filter_map(|record| {
                let equals = record.iter().position(|&byte| byte == b'=')?;
                Some((&record[..equals], &record[equals + 1..]))
            })
            .collect();
        Self {
            header,
            body: records.collect(),
        }
    }

    /// The value of a header.
    pub(crate) fn get(&self, key: &str) -> Option<&'a [u8]> {
        self.header
            .iter()
            .find(|(name, _)| *name == key.as_bytes())
            .map(|(_, value)| *value)
    }

    /// The same, empty if it is absent.
    pub(crate) fn bytes(&self, key: &str) -> Vec<u8> {
        self.get(key).unwrap_or_default().to_vec()
    }

    fn number<T: std::str::FromStr>(&self, key: &str) -> Option<T> {
        std::str::from_utf8(self.get(key)?)
            .ok()?
            .trim()
            .parse()
            .ok()
    }

    /// What follows the header.
    pub(crate) fn body(&self) -> &[&'a [u8]] {
        &self.body
    }

    /// The interactive shell's name for itself.
    pub(crate) fn session(&self) -> Vec<u8> {
        self.bytes("session")
    }

    /// How many candidates there are.
    pub(crate) fn candidates(&self) -> usize {
        if self.pairs() {
            self.body.len() / 2
        } else {
            self.body.len()
        }
    }

    fn pairs(&self) -> bool {
        self.get("pairs") == Some(b"1")
    }

    /// Whether the script knows the record `!sure`.
    pub(crate) fn takes_sure(&self) -> bool {
        self.get("sure") == Some(b"1")
    }

    fn shell(&self) -> i32 {
        shell(self.get("shell").unwrap_or_default()).into()
    }

    /// The request that `tabsense complete --hook` sends.
    pub(crate) fn complete(&self, home: Vec<u8>, path: Vec<u8>, add: bool) -> Complete {
        let line = self.bytes("line");
        let offset = self.number("cursor").unwrap_or(line.len());
        let cursor = match self.get("unit") {
            Some(b"bytes") => offset.min(line.len()),
            _ => byte_offset(&line, offset),
        };
        let each = if self.pairs() { 2 } else { 1 };
        let candidates = self.body.chunks_exact(each).map(|record| Candidate {
            text: record[0].to_vec(),
            description: record.get(1).map_or_else(Vec::new, |text| text.to_vec()),
        });
        Complete {
            shell: self.shell(),
            cursor: cursor as u64,
            line,
            cwd: self.bytes("cwd"),
            home,
            word: self.get("word").map(<[u8]>::to_vec),
            base: self.bytes("base"),
            candidates: candidates.collect(),
            add: add && self.get("add") == Some(b"1"),
            budget_ms: 0,
            stages: false,
            sure: false,
            ordered: self.get("ordered") == Some(b"1"),
            path,
        }
    }

    /// The request that `tabsense prompt --hook` sends.
    pub(crate) fn prompt(&self, home: Vec<u8>) -> Prompt {
        let cwd = self.bytes("cwd");
        let command = self.get("command").filter(|command| !command.is_empty());
        let duration_ms = self
            .number::<f64>("duration_ms")
            .filter(|duration| *duration >= 0.0);
        let ran = command.map(|command| Ran {
            command: command.to_vec(),
            cwd: self
                .get("ran_in")
                .map_or_else(|| cwd.clone(), <[u8]>::to_vec),
            exit: self.number("exit"),
            start_ms: self.number::<f64>("start").map_or_else(
                // A shell without a clock of its own says how long it took, and it is over now.
                || now_ms().saturating_sub(duration_ms.unwrap_or_default() as i64),
                |start| (start * 1000.0) as i64,
            ),
            duration_ms: duration_ms.map(|duration| duration as u64),
        });
        Prompt {
            shell: self.shell(),
            cwd,
            ran,
            home,
            histfile: self.bytes("histfile"),
            late: self.get("late") == Some(b"1"),
        }
    }
}

/// Milliseconds since 1970.
fn now_ms() -> i64 {
    let since = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// The shell of that name.
pub(crate) fn shell(name: &[u8]) -> Shell {
    match name {
        b"zsh" => Shell::Zsh,
        b"fish" => Shell::Fish,
        b"bash" => Shell::Bash,
        _ => Shell::Unspecified,
    }
}

/// How many characters the first `bytes` bytes are, counted as in [`byte_offset`].
pub(crate) fn char_offset(text: &[u8], bytes: usize) -> usize {
    let chunks = text[..bytes.min(text.len())].utf8_chunks();
    chunks
        .map(|chunk| chunk.valid().chars().count() + chunk.invalid().len())
        .sum()
}

/// The byte offset of the character numbered `chars`; shells count a byte that is no UTF-8 as one
/// character.
pub(crate) fn byte_offset(text: &[u8], chars: usize) -> usize {
    let mut left = chars;
    let mut offset = 0;
    for chunk in text.utf8_chunks() {
        for character in chunk.valid().chars() {
            if left == 0 {
                return offset;
            }
            left -= 1;
            offset += character.len_utf8();
        }
        let invalid = chunk.invalid().len().min(left);
        left -= invalid;
        offset += invalid;
        if left == 0 {
            return offset;
        }
    }
    offset
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_and_candidates_become_a_request() {
        let input = b"shell=zsh\0session=1.2\0line=cd a=b \xff\0cursor=7\0unit=chars\0cwd=/tmp\0\
                      base=a/\0add=1\0\0one\0two words\0\xfe\0";
        let records = Records::parse(input);
        let complete = records.complete(b"/root".to_vec(), Vec::new(), true);
        assert_eq!(complete.shell, i32::from(Shell::Zsh));
        assert_eq!(complete.line, b"cd a=b \xff");
        assert_eq!((complete.cursor, complete.add), (7, true));
        let texts: Vec<&[u8]> = complete
            .candidates
            .iter()
            .map(|c| c.text.as_slice())
            .collect();
        assert_eq!(texts, [b"one".as_slice(), b"two words", b"\xfe"]);
        assert_eq!(records.session(), b"1.2");
        assert!(!records.takes_sure());
        assert!(Records::parse(b"sure=1\0\0").takes_sure());
    }

    #[test]
    fn candidates_may_come_with_descriptions() {
        let records = Records::parse(b"pairs=1\0\0add\0adds\0commit\0\0");
        assert_eq!(records.candidates(), 2);
        let complete = records.complete(Vec::new(), Vec::new(), true);
        assert_eq!(complete.candidates[0].description, b"adds");
        assert_eq!(complete.candidates[1].text, b"commit");
        assert_eq!(complete.candidates[1].description, b"");
    }

    #[test]
    fn a_line_may_hold_line_breaks_and_equals_signs() {
        let records = Records::parse(b"line=for x\nin a=b; do\0\0");
        let complete = records.complete(Vec::new(), Vec::new(), true);
        assert_eq!(complete.line, b"for x\nin a=b; do");
        assert_eq!(complete.cursor, 16);
        assert!(complete.candidates.is_empty());
    }

    #[test]
    fn cursor_offsets_count_characters_and_stray_bytes() {
        let text = "a打b".as_bytes();
        assert_eq!(
            [0, 1, 2, 3, 9].map(|n| byte_offset(text, n)),
            [0, 1, 4, 5, 5]
        );
        assert_eq!(
            [1, 2, 3, 4].map(|n| byte_offset(b"\xff\xfea!", n)),
            [1, 2, 3, 4]
        );
        assert_eq!(
            [0, 1, 4, 5, 9].map(|n| char_offset(text, n)),
            [0, 1, 2, 3, 3]
        );
        assert_eq!(char_offset(b"\xff\xfea", 3), 3);
    }

    #[test]
    fn a_prompt_without_a_command_records_nothing() {
        let prompt = Records::parse(b"shell=bash\0cwd=/x\0\0").prompt(Vec::new());
        assert_eq!(prompt.cwd, b"/x");
        assert!(prompt.ran.is_none());
    }

    #[test]
    fn a_start_that_is_not_said_is_counted_back_from_now() {
        let records = Records::parse(b"command=make\0duration_ms=60000\0\0");
        let ran = records.prompt(Vec::new()).ran.expect("a command");
        let ago = now_ms() - ran.start_ms;
        assert!((60_000..120_000).contains(&ago), "{ago}");
    }

    #[test]
    fn a_clock_that_went_backwards_gives_no_negative_duration() {
        let records = Records::parse(b"command=sleep 2\0start=1700000000.25\0duration_ms=-5\0\0");
        let ran = records.prompt(Vec::new()).ran.expect("a command");
        assert_eq!((ran.start_ms, ran.duration_ms), (1_700_000_000_250, None));
    }
}

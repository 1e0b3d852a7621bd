//! Just enough of shell syntax to see the words of a recorded line.
//!
//! All shells agree on this much: blanks part words; quotes and backslashes hide blanks; `|`, `;`,
//! `&`, `<`, `>`, `(`, `)` and newlines end a simple command. Lines are never run from what is
//! found here.

use std::ops::Range;

/// Words that only wrap the command that follows them.
const WRAPPERS: [&[u8]; 9] = [
    b"sudo", b"doas", b"command", b"builtin", b"env", b"nice", b"nohup", b"time", b"exec",
];

/// One word of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    /// Where the word stands in the line, quotes included.
    pub(crate) range: Range<usize>,
    /// The word without quotes and backslashes.
    pub(crate) text: Vec<u8>,
}

/// The words of the first simple command of a line.
pub(crate) fn words(line: &[u8]) -> Vec<Word> {
    let mut words = Vec::new();
    let mut at = 0;
    while let Some(word) = next_word(line, at) {
        at = word.range.end;
        words.push(word);
    }
    words
}

fn next_word(line: &[u8], from: usize) -> Option<Word> {
    let start = from
        + line[from..]
            .iter()
            .position(|b| !matches!(b, b' ' | b'\t'))?;
    let mut text = Vec::new();
    let mut quote = 0_u8;
    let mut at = start;
    while at < line.len() {
        let byte = line[at];
        match (quote, byte) {
            (0, b' ' | b'\t' | b'|' | b';' | b'&' | b'<' | b'>' | b'(' | b')' | b'\n') => break,
            (0, b'\'' | b'"') => quote = byte,
            (0 | b'"', b'\\') if at + 1 < line.len() => {
                at += 1;
                text.push(line[at]);
            }
            (open, byte) if open != 0 && byte == open => quote = 0,
            (_, byte) => text.push(byte),
        }
        at += 1;
    }
    (at > start).then_some(Word {
        range: start..at,
        text,
    })
}

/// The first word that is a command, and a second one if it looks like a subcommand, as ranges of
/// the line. Assignments and wrappers such as `sudo` are passed over.
pub(crate) fn head(line: &[u8]) -> (Range<usize>, Option<Range<usize>>) {
    let mut at = 0;
    let mut first = plain_word(line, at);
    while passed_over(&line[first.clone()]) {
        at = first.end;
        let next = plain_word(line, at);
        if next.is_empty() || line[next.clone()].starts_with(b"-") {
            break;
        }
        first = next;
    }
    let second = plain_word(line, first.end);
    let found = is_subcommand(&line[second.clone()]).then_some(second);
    (first, found)
}

/// How many of the leading words are assignments or wrappers.
pub(crate) fn wrapped<T: AsRef<[u8]>>(words: &[T]) -> usize {
    let mut n = 0;
    while n < words.len() && passed_over(words[n].as_ref()) {
        if words
            .get(n + 1)
            .is_some_and(|next| next.as_ref().starts_with(b"-"))
        {
            break;
        }
        n += 1;
    }
    n
}

fn passed_over(word: &[u8]) -> bool {
    if WRAPPERS.contains(&word) {
        return true;
    }
    let name = word
        .iter()
        .take_while(|b| b.is_ascii_alphanumeric() || **b == b'_')
        .count();
    name > 0 && !word[0].is_ascii_digit() && word.get(name) == Some(&b'=')
}

/// From the next non-blank to the next blank or operator.
fn plain_word(line: &[u8], from: usize) -> Range<usize> {
    let blank = |b: &u8| matches!(b, b' ' | b'\t');
    let start = from + line[from..].iter().take_while(|b| blank(b)).count();
    let stop = |b: &u8| blank(b) || matches!(b, b'|' | b';' | b'&' | b'<' | b'>' | b'\n');
    let end = start + line[start..].iter().take_while(|b| !stop(b)).count();
    start..end
}

pub(crate) fn is_subcommand(word: &[u8]) -> bool {
    (2..=24).contains(&word.len())
        && word[0].is_ascii_alphabetic()
        && word
            .iter()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b':'))
}

/// The last part of a path, without a trailing `/`.
pub(crate) fn base_name(path: &[u8]) -> &[u8] {
    let path = crate::index::trim_slash(path);
    path.rsplit(|b| *b == b'/').next().unwrap_or(path)
}

/// A name up to its first `.` that is not at its start: `foo` of `foo.tar.gz`.
pub(crate) fn stem(name: &[u8]) -> &[u8] {
    match name.iter().skip(1).position(|b| *b == b'.') {
        Some(dot) => &name[..dot + 1],
        None => name,
    }
}

/// What kind of thing a name is: `/` for a directory, its last extension with the dot, else the
/// name itself.
pub(crate) fn name_kind(word: &[u8]) -> &[u8] {
    if word.ends_with(b"/") {
        return b"/";
    }
    let name = base_name(word);
    match name.iter().rposition(|b| *b == b'.') {
        Some(dot) if dot > 0 && dot + 1 < name.len() => &name[dot..],
        _ => name,
    }
}

/// `path` as seen from `cwd`, with `.` and `..` resolved by text and no trailing slash.
pub(crate) fn resolve(cwd: &[u8], home: &[u8], path: &[u8]) -> Vec<u8> {
    let mut parts: Vec<&[u8]> = Vec::new();
    let (root, rest): (&[u8], &[u8]) = if let Some(rest) = path.strip_prefix(b"~/") {
        (home, rest)
    } else if path == b"~" {
        (home, b"")
    } else if path.starts_with(b"/") {
        (b"", path)
    } else {
        (cwd, path)
    };
    let absolute = !root.starts_with(b"~");
    for part in root.split(|b| *b == b'/').chain(rest.split(|b| *b == b'/')) {
        match part {
            b"" | b"." => {}
            b".." => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    let mut out = Vec::new();
    for (i, part) in parts.iter().enumerate() {
        if i > 0 || absolute {
            out.push(b'/');
        }
        out.extend_from_slice(part);
    }
    if out.is_empty() {
        out.push(b'/');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(line: &str) -> Vec<String> {
        words(line.as_bytes())
            .into_iter()
            .map(|w| String::from_utf8(w.text).unwrap())
            .collect()
    }

    #[test]
    fn quotes_hide_blanks_and_operators_end_the_command() {
        assert_eq!(
            texts(r#"cp "a b" c\ d 'e|f' | wc"#),
            ["cp", "a b", "c d", "e|f"]
        );
        assert_eq!(texts("  ls  "), ["ls"]);
        assert_eq!(texts("ls;pwd"), ["ls"]);
        assert_eq!(texts(r"odd\"), ["odd\\"]);
    }

    #[test]
    fn the_head_passes_over_wrappers_and_assignments() {
        let of = |line: &str| {
            let (first, second) = head(line.as_bytes());
            (line[first].to_owned(), second.map(|s| line[s].to_owned()))
        };
        assert_eq!(
            of("sudo apt install x"),
            ("apt".into(), Some("install".into()))
        );
        assert_eq!(of("A=1 B=2 make"), ("make".into(), None));
        assert_eq!(of("sudo -i"), ("sudo".into(), None));
        assert_eq!(of("vim src/main.rs"), ("vim".into(), None));
        assert_eq!(of(""), (String::new(), None));
    }

    #[test]
    fn paths_resolve_by_text() {
        assert_eq!(resolve(b"/a/b", b"/home/x", b"../c/./d/"), b"/a/c/d");
        assert_eq!(resolve(b"~/a", b"~", b"b"), b"~/a/b");
        assert_eq!(resolve(b"~/a", b"~", b"~/b"), b"~/b");
        assert_eq!(resolve(b"/a", b"/home/x", b"~/b"), b"/home/x/b");
        assert_eq!(resolve(b"/a", b"~", b"/"), b"/");
    }

    #[test]
    fn kinds_of_names() {
        assert_eq!(name_kind(b"src/"), b"/");
        assert_eq!(name_kind(b"a/b.tar.gz"), b".gz");
        assert_eq!(name_kind(b"Makefile"), b"Makefile");
        assert_eq!(name_kind(b".bashrc"), b".bashrc");
        assert_eq!(stem(b"foo.tar.gz"), b"foo");
        assert_eq!(stem(b".bashrc"), b".bashrc");
    }
}

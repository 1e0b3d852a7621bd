//! Writing any argument so that the shell reads back exactly that argument, and
//! the escapes that the lexer reads.
//!
//! Sources: bash manual 3.1.2, zsh manual "Quoting", fish manual "Quotes" and
//! "Escaping Characters"; all checked against the shells by the tests.

use super::{Dialect, Quote};

/// What a leading `~/` in an argument means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tilde {
    /// A directory that is named `~`.
    Literal,
    /// The home directory: `~/` (or a lone `~`) stays unquoted.
    Home,
}

/// Writes `text` as one word of `dialect`.
///
/// `style` is the quote that the user opened; the result holds the opening and
/// the closing quote. Where that style cannot carry the text (control
/// characters, bytes that are not UTF-8, `!` in double quotes) another style is
/// taken. NUL cannot be part of an argument and is left out.
#[must_use]
pub fn quote(text: &[u8], dialect: Dialect, style: Quote, tilde: Tilde) -> Vec<u8> {
    let (live, rest) = match tilde {
        Tilde::Home if text == b"~" => return text.to_vec(),
        Tilde::Home if text.starts_with(b"~/") => text.split_at(2),
        _ => text.split_at(0),
    };
    let mut out = Vec::with_capacity(text.len() + 8);
    out.extend_from_slice(live);
    if rest.is_empty() {
        if live.is_empty() {
            out.extend_from_slice(b"''");
        }
        return out;
    }
    let fits = fits(rest, dialect, style);
    match (dialect, style) {
        (Dialect::Fish, Quote::Single) if fits => within(rest, b'\'', b"'\\", &mut out),
        (Dialect::Fish, Quote::Double) if fits => within(rest, b'"', b"\"\\$", &mut out),
        (Dialect::Fish, _) => fish_plain(rest, &mut out),
        (_, Quote::Single) if fits => posix_single(rest, &mut out),
        (_, Quote::Double) if fits => within(rest, b'"', b"\"\\$`", &mut out),
        (_, Quote::Dollar) => ansi_c(rest, &mut out),
        _ if needs_codes(rest) => ansi_c(rest, &mut out),
        _ => posix_plain(rest, &mut out),
    }
    out
}

/// Whether a quoted style can carry the text as it stands.
fn fits(text: &[u8], dialect: Dialect, style: Quote) -> bool {
    let history = dialect != Dialect::Fish && style == Quote::Double && text.contains(&b'!');
    !history && !needs_codes(text)
}

/// Whether the text holds what should not stand raw in an edit line.
fn needs_codes(text: &[u8]) -> bool {
    match std::str::from_utf8(text) {
        Ok(text) => text.chars().any(char::is_control),
        Err(_) => true,
    }
}

fn within(text: &[u8], mark: u8, escaped: &[u8], out: &mut Vec<u8>) {
    out.push(mark);
    for byte in text {
        if escaped.contains(byte) {
            out.push(b'\\');
        }
        out.push(*byte);
    }
    out.push(mark);
}

fn posix_single(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'\'');
    for byte in text {
        match byte {
            b'\'' => out.extend_from_slice(b"'\\''"),
            byte => out.push(*byte),
        }
    }
    out.push(b'\'');
}

const POSIX_SPECIAL: &[u8] = b" !\"#$&'()*;<=>?[\\]^`{|}~";
/// `%` only matters to `fg` and the like, yet zsh-style job words are cheap to avoid.
const FISH_SPECIAL: &[u8] = b" !\"#$%&'()*;<=>?[\\]^`{|}~,";

fn posix_plain(text: &[u8], out: &mut Vec<u8>) {
    for byte in text {
        if POSIX_SPECIAL.contains(byte) {
            out.push(b'\\');
        }
        out.push(*byte);
    }
}

/// `$'…'`. `!` is written as a code: neither shell's history expansion reads it.
fn ansi_c(text: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(b"$'");
    each_part(text, |part| match part {
        Part::Text(text) => out.extend_from_slice(text),
        Part::Byte(b'\n') => out.extend_from_slice(b"\\n"),
        Part::Byte(b'\t') => out.extend_from_slice(b"\\t"),
        Part::Byte(byte @ (b'\\' | b'\'')) => out.extend_from_slice(&[b'\\', byte]),
        Part::Byte(byte @ b' '..=b'~') if byte != b'!' => out.push(byte),
        // Three octal digits end the escape whatever follows.
        Part::Byte(byte) => out.extend_from_slice(format!("\\{byte:03o}").as_bytes()),
    });
    out.push(b'\'');
}

fn fish_plain(text: &[u8], out: &mut Vec<u8>) {
    each_part(text, |part| match part {
        // fish parts words at every blank there is, such as the wide one of Chinese and Japanese.
        Part::Text(text) => {
            let is_blank = std::str::from_utf8(text).is_ok_and(|text| text.trim().is_empty());
            out.extend_from_slice(if is_blank { b"\\" } else { b"" });
            out.extend_from_slice(text);
        }
        Part::Byte(b'\n') => out.extend_from_slice(b"\\n"),
        Part::Byte(b'\t') => out.extend_from_slice(b"\\t"),
        Part::Byte(byte) if FISH_SPECIAL.contains(&byte) => out.extend_from_slice(&[b'\\', byte]),
        Part::Byte(byte) => out.extend_from_slice(format!("\\X{byte:02x}").as_bytes()),
    });
}

enum Part<'a> {
    /// Valid UTF-8 without specials.
    Text(&'a [u8]),
    /// A special, a byte of a control character, or one that is not UTF-8.
    Byte(u8),
}

fn each_part<F: FnMut(Part<'_>)>(text: &[u8], mut emit: F) {
    for chunk in text.utf8_chunks() {
        for char in chunk.valid().chars().filter(|char| *char != '\0') {
            let mut buffer = [0; 4];
            let bytes = char.encode_utf8(&mut buffer).as_bytes();
            let special = char.is_ascii() && FISH_SPECIAL.contains(&bytes[0]);
            if !special && !char.is_control() {
                emit(Part::Text(bytes));
                continue;
            }
            bytes.iter().for_each(|byte| emit(Part::Byte(*byte)));
        }
        chunk
            .invalid()
            .iter()
            .for_each(|byte| emit(Part::Byte(*byte)));
    }
}

/// Reads one escape of `$'…'` at the start of `source` (a backslash): the bytes
/// it stands for and how many source bytes it takes.
pub(super) fn ansi_c_escape(source: &[u8]) -> (Vec<u8>, usize) {
    let Some(kind) = source.get(1) else {
        return (Vec::new(), 1);
    };
    let simple = |byte: u8| (vec![byte], 2);
    match kind {
        b'a' => simple(7),
        b'b' => simple(8),
        b'e' | b'E' => simple(27),
        b'f' => simple(12),
        b'n' => simple(b'\n'),
        b'r' => simple(b'\r'),
        b't' => simple(b'\t'),
        b'v' => simple(11),
        b'x' => number(source, 2, 16, 2),
        b'u' => unicode(source, 4),
        b'U' => unicode(source, 8),
        b'0'..=b'7' => number(source, 1, 8, 3),
        b'\\' | b'\'' | b'"' | b'?' => simple(*kind),
        other => (vec![b'\\', *other], 2),
    }
}

/// Reads one unquoted fish escape at the start of `source` (a backslash).
pub(super) fn fish_escape(source: &[u8]) -> (Vec<u8>, usize) {
    let Some(kind) = source.get(1) else {
        return (Vec::new(), 1);
    };
    let simple = |byte: u8| (vec![byte], 2);
    match kind {
        b'a' => simple(7),
        b'b' => simple(8),
        b'e' => simple(27),
        b'f' => simple(12),
        b'n' => simple(b'\n'),
        b'r' => simple(b'\r'),
        b't' => simple(b'\t'),
        b'v' => simple(11),
        b'x' | b'X' => number(source, 2, 16, 2),
        b'u' => unicode(source, 4),
        b'U' => unicode(source, 8),
        b'0'..=b'7' => number(source, 1, 8, 3),
        b'c' if source.len() > 2 => (vec![source[2].to_ascii_lowercase() & 0x1f], 3),
        other => simple(*other),
    }
}

fn digits(source: &[u8], from: usize, radix: u32, most: usize) -> (u32, usize) {
    let mut value = 0_u32;
    let mut count = 0;
    while count < most {
        let Some(digit) = source
            .get(from + count)
            .and_then(|byte| char::from(*byte).to_digit(radix))
        else {
            break;
        };
        value = value.wrapping_mul(radix).wrapping_add(digit);
        count += 1;
    }
    (value, count)
}

fn number(source: &[u8], from: usize, radix: u32, most: usize) -> (Vec<u8>, usize) {
    match digits(source, from, radix, most) {
        (_, 0) => (source[..from].to_vec(), from),
        (value, count) => (vec![value.to_le_bytes()[0]], from + count),
    }
}

fn unicode(source: &[u8], most: usize) -> (Vec<u8>, usize) {
    let (value, count) = digits(source, 2, 16, most);
    match char::from_u32(value) {
        Some(char) if count > 0 => (char.to_string().into_bytes(), 2 + count),
        _ => (source[..2 + count].to_vec(), 2 + count),
    }
}

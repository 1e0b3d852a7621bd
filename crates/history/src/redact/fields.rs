//! Secrets that a name before them gives away: `NAME=value`, JSON members, HTTP headers, YAML.

use std::ops::Range;

use super::names::{self, Name};
use super::words::unquoted;
use super::{Finding, Rule, push};

/// What a value that begins with `@` is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum At {
    /// The name of a file.
    File,
    Text,
}

/// Adds the values of secret names in `NAME=value` within a word: variables, long options,
/// queries of URLs, connection strings.
pub(super) fn assignments(text: &[u8], word: Range<usize>, at: At, found: &mut Vec<Finding>) {
    let mut from = word.start;
    let mut ends = Ends::default();
    while let Some(offset) = text[from..word.end].iter().position(|&byte| byte == b'=') {
        let equals = from + offset;
        from = equals + 1;
        // `==` and `+=`, `:=`, `?=` of shells and make.
        let name_end = if equals > word.start && b"+:?".contains(&text[equals - 1]) {
            equals - 1
        } else {
            equals
        };
        let name = name_before(text, word.start..name_end);
        let Some(kind) = names::name(name_text(&text[name.clone()])) else {
            continue;
        };
        let value = value_after(text, &name, equals + 1..word.end, word.start, &mut ends);
        let is_file = at == At::File && text[value.clone()].starts_with(b"@");
        if is_file || (kind != Name::Secret && ends.is_worn(value.end)) {
            continue;
        }
        if let Some(inside) = judged(text, value, kind) {
            from = inside.end.max(from);
            push(found, text, inside, Rule::Field);
        }
    }
}

/// The part of a raw value, quotes taken off, that is a secret under such a name.
pub(super) fn judged(text: &[u8], value: Range<usize>, kind: Name) -> Option<Range<usize>> {
    let quote = text[value.clone()].first().copied();
    let inside = unquoted(text, value);
    let bytes = &text[inside.clone()];
    // Within single quotes a `$` is a character; capitals more likely name a variable all the
    // same, in a text that another shell reads.
    let is_literal = quote == Some(b'\'')
        && bytes.first() == Some(&b'$')
        && bytes[1..].iter().any(u8::is_ascii_lowercase)
        && bytes
            .iter()
            .all(|&byte| byte == b'$' || byte == b'_' || byte.is_ascii_alphanumeric());
    let is_text = is_literal || (quote == Some(b'\'') && names::is_unclosed(bytes));
    (is_text || names::is_secret(kind, bytes)).then_some(inside)
}

fn name_before(text: &[u8], part: Range<usize>) -> Range<usize> {
    let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_-.".contains(byte);
    let length = text[part.clone()].iter().rev().take_while(is_name).count();
    part.end - length..part.end
}

/// The name without the dashes of an option.
fn name_text(name: &[u8]) -> &[u8] {
    let dashes = name.iter().take_while(|&&byte| byte == b'-').count();
    &name[dashes..]
}

/// Where values within a word end, so that no part of a long word is read again and again.
#[derive(Default)]
struct Ends {
    known: [Range<usize>; 4],
    /// The end of the last value that had to be read whole, and how many had it.
    last: (usize, usize),
}

/// Values with the same end that are read whole: `key=key=key=X`.
const WHOLE: usize = 16;

impl Ends {
    /// Whether enough values that end here were read.
    fn is_worn(&mut self, end: usize) -> bool {
        let (last, count) = self.last;
        self.last = (end, if last == end { count + 1 } else { 1 });
        self.last.1 > WHOLE
    }

    /// The first of these bytes in `part`, or its end.
    fn after(&mut self, text: &[u8], part: Range<usize>, class: usize) -> usize {
        const CLASSES: [&[u8]; 4] = [b"&#\"'` \t\n", b";\"'\n", b",\"' \t\n", b"&;\"'` \t\n"];
        let known = &mut self.known[class];
        if !known.contains(&part.start) {
            let length = text[part.clone()]
                .iter()
                .take_while(|byte| !CLASSES[class].contains(byte))
                .count();
            *known = part.start..part.start + length;
        }
        known.end
    }
}

/// A value at the start of a word lasts to the word's end, one within it to its separator.
fn value_after(
    text: &[u8],
    name: &Range<usize>,
    rest: Range<usize>,
    word_start: usize,
    ends: &mut Ends,
) -> Range<usize> {
    if name.start == word_start {
        return rest;
    }
    let before = text[name.start - 1];
    let class = match before {
        b'?' | b'&' => 0,
        b';' => 1,
        b',' => 2,
        _ => 3,
    };
    // A quote right after the equals sign opens the value.
    if matches!(text[rest.clone()].first(), Some(b'"' | b'\'')) {
        let quote = text[rest.start];
        let inside = &text[rest.start + 1..rest.end];
        let length = inside
            .iter()
            .position(|&byte| byte == quote)
            .map_or(inside.len(), |at| at + 1);
        return rest.start..rest.start + 1 + length;
    }
    rest.start..ends.after(text, rest, class)
}

/// Adds values of JSON members, `"password": "X"`, also with escaped quotes.
pub(super) fn members(text: &[u8], region: Range<usize>, found: &mut Vec<Finding>) {
    let part = &text[..region.end];
    for colon in region.clone() {
        if part[colon] != b':' {
            continue;
        }
        let before = part[region.start..colon].trim_ascii_end();
        let Some(quote) = before.last().copied().filter(|byte| b"\"'".contains(byte)) else {
            continue;
        };
        let before = before[..before.len() - 1]
            .strip_suffix(b"\\")
            .unwrap_or(&before[..before.len() - 1]);
        let name = before
            .rsplit(|&byte| byte == quote)
            .next()
            .unwrap_or_default();
        let Some(kind) = names::name(name) else {
            continue;
        };
        let blanks = part[colon + 1..]
            .iter()
            .take_while(|byte| byte.is_ascii_whitespace())
            .count();
        let value = member_value(part, colon + 1 + blanks);
        if names::is_secret(kind, &part[value.clone()]) {
            push(found, text, value, Rule::Field);
        }
    }
}

fn member_value(part: &[u8], start: usize) -> Range<usize> {
    for quote in [b"\"".as_slice(), b"'", b"\\\"", b"\\'"] {
        if part[start..].starts_with(quote) {
            let inside = start + quote.len();
            let rest = &part[inside..];
            let length = (0..rest.len())
                .find(|&at| {
                    let is_escaped = quote.len() == 1 && at > 0 && rest[at - 1] == b'\\';
                    rest[at..].starts_with(quote) && !is_escaped
                })
                .unwrap_or(rest.len());
            return inside..inside + length;
        }
    }
    let is_end = |byte: u8| byte.is_ascii_whitespace() || b",}]{['\"\\".contains(&byte);
    let length = part[start..]
        .iter()
        .take_while(|&&byte| !is_end(byte))
        .count();
    start..start + length
}

/// Headers whose value is a secret whatever it looks like.
const CREDENTIAL_HEADERS: [&str; 4] = [
    "authorization",
    "proxy-authorization",
    "cookie",
    "set-cookie",
];

/// Adds the value of a text that as a whole is a header, `Authorization: Bearer X`.
pub(super) fn header(text: &[u8], whole: Range<usize>, found: &mut Vec<Finding>) {
    let Some(colon) = text[whole.clone()].iter().position(|&byte| byte == b':') else {
        return;
    };
    let colon = whole.start + colon;
    let (name, quote) = header_name(&text[whole.start..colon]);
    // A quote that opened before the name closes after the value.
    let end = match quote {
        Some(quote) if text[..whole.end].ends_with(&[quote]) => whole.end - 1,
        _ => whole.end,
    };
    let whole = whole.start..end.max(colon + 1);
    if name.is_empty()
        || !name
            .iter()
            .all(|&byte| byte == b'-' || byte == b'_' || byte.is_ascii_alphanumeric())
    {
        return;
    }
    let blanks = text[colon + 1..whole.end]
        .iter()
        .take_while(|byte| byte.is_ascii_whitespace())
        .count();
    let value = unquoted(text, colon + 1 + blanks..whole.end);
    let value = value.start..value.start + text[value].trim_ascii_end().len();
    let is_credentials = CREDENTIAL_HEADERS
        .iter()
        .any(|header| header.as_bytes().eq_ignore_ascii_case(name));
    if is_credentials {
        let secret = after_scheme(text, value);
        if names::is_secret(Name::Secret, &text[secret.clone()]) {
            push(found, text, secret, Rule::Header);
        }
        return;
    }
    // A sentence such as "token: handle errors" is not a header.
    let has_blank = text[value.clone()].iter().any(u8::is_ascii_whitespace);
    let is_address = text[value.clone()].starts_with(b"//");
    if let Some(kind) = names::name(name)
        && !has_blank
        && !is_address
        && names::is_secret(kind, &text[value.clone()])
    {
        push(found, text, value, Rule::Header);
    }
}

/// Takes `-H`, `--header=` and an opening quote off a header's name.
fn header_name(before: &[u8]) -> (&[u8], Option<u8>) {
    let name = before.strip_prefix(b"-H").unwrap_or(before);
    let equals = name.iter().position(|&byte| byte == b'=');
    let name = equals.map_or(name, |at| &name[at + 1..]);
    match name.split_first() {
        Some((&quote @ (b'"' | b'\''), name)) => (name, Some(quote)),
        _ => (name, None),
    }
}

/// `Bearer`, `Basic` and the like stay.
fn after_scheme(text: &[u8], value: Range<usize>) -> Range<usize> {
    let bytes = &text[value.clone()];
    let scheme = bytes
        .iter()
        .take_while(|byte| byte.is_ascii_alphabetic())
        .count();
    let blanks = bytes[scheme..]
        .iter()
        .take_while(|&&byte| byte == b' ')
        .count();
    if scheme == 0 || blanks == 0 {
        return value;
    }
    value.start + scheme + blanks..value.end
}

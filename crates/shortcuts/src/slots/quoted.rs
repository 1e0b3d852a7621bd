//! Text in quotation marks.

use super::{Found, Phrase};

const MARKS: [(char, char); 7] = [
    ('"', '"'),
    ('“', '”'),
    ('„', '“'),
    ('«', '»'),
    ('「', '」'),
    ('『', '』'),
    ('\'', '\''),
];

/// The first text in quotation marks.
pub(super) fn find(phrase: &Phrase<'_>) -> Option<Found> {
    let found = MARKS.iter().filter_map(|(open, close)| {
        let start = phrase.text.match_indices(*open).find(|(at, _)| {
            // An apostrophe stands inside a word.
            let before = phrase.text[..*at].chars().next_back();
            *open != '\'' || before.is_none_or(|c| !c.is_alphanumeric())
        });
        let start = start?.0 + open.len_utf8();
        let end = start + phrase.text[start..].find(*close)?;
        let range = start - open.len_utf8()..end + close.len_utf8();
        let inner = phrase.text[start..end].trim();
        (!inner.is_empty() && phrase.is_free(&range)).then(|| (range, inner.as_bytes().to_vec()))
    });
    found.min_by_key(|(range, _)| range.start)
}

//! Lengths of time.

use super::When;
use super::tokens::Token;

/// Words before a length that belong to it.
const BEFORE: &[&str] = &["in", "after", "for", "dans", "en", "within"];

/// Words after it.
const BEHIND: &[&str] = &["后", "後", "之", "以", "from", "now"];

const SECONDS: &[&str] = &[
    "s", "sec", "secs", "second", "seconds", "sekunde", "sekunden", "seconde", "secondes",
    "segundo", "segundos", "秒",
];
const MINUTES: &[&str] = &[
    "m", "min", "mins", "minute", "minutes", "minuten", "minuto", "minutos", "分",
];
const HOURS: &[&str] = &[
    "h", "hr", "hrs", "hour", "hours", "std", "stunde", "stunden", "heure", "heures", "hora",
    "horas",
];
const DAYS: &[&str] = &[
    "day", "days", "tag", "tage", "tagen", "jour", "jours", "día", "días", "天",
];

/// A length that starts at a token, and the token behind it.
pub(super) fn read(tokens: &[Token<'_>], at: usize) -> Option<(usize, When)> {
    let mut next = at;
    if tokens[next].is(BEFORE) {
        next += 1;
    } else if tokens[next].is(&["dentro"]) && is(tokens, next + 1, &["de"]) {
        next += 2;
    }
    let (mut end, mut total) = part(tokens, next)?;
    // "an hour and twenty minutes", "1h30"
    loop {
        let joint = usize::from(is(tokens, end, &["and", "und", "et", "y"]));
        let more = part(tokens, end + joint).or_else(|| minutes_behind_hours(tokens, end));
        match more {
            Some((after, more)) if more < total => {
                total += more;
                end = after;
            }
            _ => break,
        }
    }
    while is(tokens, end, BEHIND) {
        end += 1;
    }
    Some((end, When::After(total)))
}

fn is(tokens: &[Token<'_>], at: usize, texts: &[&str]) -> bool {
    tokens.get(at).is_some_and(|token| token.is(texts))
}

/// The `30` of `1h30`.
fn minutes_behind_hours(tokens: &[Token<'_>], at: usize) -> Option<(usize, u32)> {
    let token = tokens.get(at)?;
    let before = tokens.get(at.checked_sub(1)?)?;
    let minutes = token.number.filter(|n| *n < 60 && token.is_digits())?;
    let joined = before.is(&["h"]) && before.range.end == token.range.start;
    joined.then_some((at + 1, minutes * 60))
}

/// A quantity and its unit, in seconds.
fn part(tokens: &[Token<'_>], at: usize) -> Option<(usize, u32)> {
    if let Some(found) = whole_word(tokens, at) {
        return Some(found);
    }
    let (unit_at, halves) = quantity(tokens, at)?;
    let (end, unit) = unit(tokens, unit_at)?;
    let (end, halves) = match half_behind(tokens, end) {
        Some(end) => (end, halves + 1),
        None => (end, halves),
    };
    Some((end, halves.checked_mul(unit)? / 2))
}

/// Words that are a quantity and a unit in one.
fn whole_word(tokens: &[Token<'_>], at: usize) -> Option<(usize, u32)> {
    let articles: &[&str] = &["a", "an", "eine", "einer", "un", "une", "three"];
    let start = at + usize::from(is(tokens, at, articles));
    let minutes = |minutes: u32, end: usize| Some((end, minutes * 60));
    if is(tokens, start, &["viertelstunde"]) {
        return minutes(15, start + 1);
    }
    if is(tokens, start, &["dreiviertelstunde"]) {
        return minutes(45, start + 1);
    }
    if is(tokens, start, &["quarter", "quart", "cuarto"]) {
        let mut end = start + 1;
        while is(tokens, end, &["of", "an", "d", "de", "hour"]) && !is(tokens, end, HOURS) {
            end += 1;
        }
        return is(tokens, end, HOURS).then_some((end + 1, 900));
    }
    let quarters = tokens.get(at)?.number?;
    (is(tokens, at + 1, &["刻"]) && is(tokens, at + 2, &["钟", "鐘"]))
        .then_some((at + 3, quarters.checked_mul(900)?))
}

/// How much, in halves, and the token behind it.
fn quantity(tokens: &[Token<'_>], at: usize) -> Option<(usize, u32)> {
    let first = tokens.get(at)?;
    if first.is(&["anderthalb"]) {
        return Some((at + 1, 3));
    }
    if first.is(&["half", "半", "media", "demi", "halbe", "halben"]) {
        let end = at + 1;
        return Some((
            end + usize::from(is(tokens, end, &["a", "an", "个", "個"])),
            1,
        ));
    }
    let whole = first.number.filter(|n| *n < 100_000)? * 2;
    let mut end = at + 1;
    if is(tokens, end, &["halbe", "halben", "demi", "half"]) && whole == 2 {
        return Some((end + 1, 1));
    }
    if is(tokens, end, &["."]) && tokens.get(end + 1)?.is(&["5"]) {
        return Some((end + 2, whole + 1));
    }
    end += usize::from(is(tokens, end, &["个", "個"]));
    if is(tokens, end, &["半"]) {
        return Some((end + 1, whole + 1));
    }
    if is(tokens, end, &["and"]) && is(tokens, end + 1, &["a"]) && is(tokens, end + 2, &["half"]) {
        return Some((end + 3, whole + 1));
    }
    Some((end, whole))
}

/// Seconds of a unit, and the token behind it.
fn unit(tokens: &[Token<'_>], at: usize) -> Option<(usize, u32)> {
    let two = |first: &[&str], second: &[&str]| is(tokens, at, first) && is(tokens, at + 1, second);
    if two(&["小"], &["时", "時"]) || two(&["時"], &["間"]) || two(&["钟"], &["头"]) {
        return Some((at + 2, 3600));
    }
    if is(tokens, at, MINUTES) {
        let long = is(tokens, at + 1, &["钟", "鐘", "間"]);
        return Some((at + 1 + usize::from(long), 60));
    }
    if is(tokens, at, SECONDS) {
        let long = is(tokens, at + 1, &["钟", "鐘", "間"]);
        return Some((at + 1 + usize::from(long), 1));
    }
    if is(tokens, at, HOURS) {
        return Some((at + 1, 3600));
    }
    is(tokens, at, DAYS).then_some((at + 1, super::DAY))
}

/// "an hour and a half", 1時間半.
fn half_behind(tokens: &[Token<'_>], at: usize) -> Option<usize> {
    if is(tokens, at, &["半"]) {
        return Some(at + 1);
    }
    let joined = is(tokens, at, &["and", "et", "y"]);
    let at = at + usize::from(joined);
    let at = at + usize::from(is(tokens, at, &["a"]));
    (joined && is(tokens, at, &["half", "demie", "media"])).then_some(at + 1)
}

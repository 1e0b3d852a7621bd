//! Times of day.

use super::tokens::Token;
use super::{Clock, When};

/// Words that say that an hour follows.
const AT: &[&str] = &["at", "um", "gegen", "à", "vers", "by"];

const TOMORROW: &[&str] = &["tomorrow", "demain"];

const MORNING: &[&str] = &["morning", "morgens", "früh", "matin", "am", "vormittags"];
const EVENING: &[&str] = &[
    "afternoon",
    "evening",
    "tonight",
    "night",
    "pm",
    "abends",
    "nachmittags",
    "abend",
    "nachmittag",
    "soir",
    "après",
    "tarde",
    "noche",
];

/// Half of the day that something lies in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Half {
    First,
    Second,
}

/// What is known about a time besides hour and minute.
#[derive(Clone, Copy, Default)]
struct Day {
    half: Option<Half>,
    tomorrow: bool,
}

/// A time of day that starts at a token, and the token behind it.
pub(super) fn read(tokens: &[Token<'_>], at: usize, now: Clock) -> Option<(usize, When)> {
    let (start, mut day) = before(tokens, at);
    let (end, hour, minute) = wide(tokens, start)
        .or_else(|| named(tokens, start))
        .or_else(|| western(tokens, start))?;
    if hour > 24 || minute > 59 {
        return None;
    }
    let end = behind(tokens, end, &mut day);
    let exact = tokens[start].text.starts_with('0');
    let clock = settle(hour % 24, minute, day, exact, now);
    let tomorrow = day.tomorrow;
    Some((end, When::At { clock, tomorrow }))
}

fn is(tokens: &[Token<'_>], at: usize, texts: &[&str]) -> bool {
    tokens.get(at).is_some_and(|token| token.is(texts))
}

fn pair(tokens: &[Token<'_>], at: usize, both: &str) -> bool {
    let mut chars = both.chars();
    let mut next = |at: usize| {
        let c = chars.next();
        c.is_some_and(|c| {
            tokens
                .get(at)
                .is_some_and(|token| token.text.chars().eq([c]))
        })
    };
    next(at) && next(at + 1)
}

/// Which of the two hours of that name is meant.
fn settle(hour: u32, minute: u32, day: Day, exact: bool, now: Clock) -> Clock {
    let hour = match (day.half, hour) {
        (Some(Half::Second), 1..=11) => hour + 12,
        (Some(Half::First), 12) => 0,
        (None, 1..=6) if !exact => hour + 12,
        (None, 7..=11) if !exact && !day.tomorrow => {
            let evening = Clock::new(hour + 12, minute);
            let is_nearer = now.until(evening) < now.until(Clock::new(hour, minute));
            if is_nearer { hour + 12 } else { hour }
        }
        _ => hour,
    };
    Clock::new(hour, minute)
}

/// Day and half of the day that stand before the hour.
fn before(tokens: &[Token<'_>], mut at: usize) -> (usize, Day) {
    let mut day = Day::default();
    if pair(tokens, at, "明天") || pair(tokens, at, "明日") {
        day.tomorrow = true;
        at += 2;
    } else if pair(tokens, at, "今天") || pair(tokens, at, "今日") {
        at += 2;
    } else if is(tokens, at, TOMORROW) {
        day.tomorrow = true;
        at += 1;
    }
    for first in ["早上", "上午", "凌晨", "午前", "早晨"] {
        if pair(tokens, at, first) {
            day.half = Some(Half::First);
            at += 2;
        }
    }
    for second in ["下午", "晚上", "今晚", "午後", "傍晚"] {
        if pair(tokens, at, second) {
            day.half = Some(Half::Second);
            at += 2;
        }
    }
    if is(tokens, at, &["夜", "晚"]) {
        day.half = Some(Half::Second);
        at += 1;
    }
    if is(tokens, at, &["朝"]) {
        day.half = Some(Half::First);
        at += 1;
    }
    at += usize::from(is(tokens, at, &["の"]));
    (at, day)
}

/// Day and half of the day that stand behind the hour; the token behind them.
fn behind(tokens: &[Token<'_>], end: usize, day: &mut Day) -> usize {
    let mut end = end;
    if is(tokens, end, &["に"]) {
        end += 1;
    }
    // "p.m."
    if let Some(half) = half_by_letter(tokens, end) {
        day.half = Some(half);
        end += 3;
        return end + usize::from(is(tokens, end, &["."]));
    }
    let mut at = end;
    while is(
        tokens,
        at,
        &[
            "in", "the", "at", "du", "de", "la", "this", "am", "les", "l", "por",
        ],
    ) && !is(tokens, at, MORNING)
    {
        at += 1;
    }
    if is(tokens, at, &["mañana"]) && at > end {
        day.half = Some(Half::First);
        return at + 1;
    }
    if is(tokens, at, MORNING) {
        // "am Abend" is German for the evening.
        let german = is(tokens, at, &["am"]) && is(tokens, at + 1, EVENING);
        day.half = Some(if german { Half::Second } else { Half::First });
        return at + 1 + usize::from(german);
    }
    if is(tokens, at, EVENING) {
        day.half = Some(Half::Second);
        let rest = usize::from(is(tokens, at, &["après"]) && is(tokens, at + 1, &["midi"]));
        return at + 1 + rest;
    }
    if is(tokens, end, TOMORROW) {
        day.tomorrow = true;
        return end + 1;
    }
    end
}

fn half_by_letter(tokens: &[Token<'_>], at: usize) -> Option<Half> {
    let dotted = is(tokens, at + 1, &["."]) && is(tokens, at + 2, &["m"]);
    match tokens.get(at)?.text {
        "a" if dotted => Some(Half::First),
        "p" if dotted => Some(Half::Second),
        _ => None,
    }
}

type Time = (usize, u32, u32);

/// 三点半, 3時20分, 八点一刻.
fn wide(tokens: &[Token<'_>], at: usize) -> Option<Time> {
    let hour = tokens.get(at)?.number?;
    let is_hour = is(tokens, at + 1, &["点", "點", "時", "时"]);
    if !is_hour || is(tokens, at + 2, &["間", "间"]) {
        return None;
    }
    let end = at + 2;
    if is(tokens, end, &["半"]) {
        return Some((end + 1, hour, 30));
    }
    if is(tokens, end, &["钟", "鐘", "整"]) {
        return Some((end + 1, hour, 0));
    }
    if let Some(number) = tokens.get(end).and_then(|token| token.number) {
        if is(tokens, end + 1, &["刻"]) {
            return Some((end + 2, hour, number * 15));
        }
        if is(tokens, end + 1, &["分"]) {
            return Some((end + 2, hour, number));
        }
        if number >= 10 {
            return Some((end + 1, hour, number));
        }
    }
    Some((end, hour, 0))
}

/// Noon, midnight, and parts of an hour with names.
fn named(tokens: &[Token<'_>], at: usize) -> Option<Time> {
    let at = at + usize::from(is(tokens, at, AT));
    let number = |at: usize| tokens.get(at).and_then(|token| token.number);
    if pair(tokens, at, "正午") || pair(tokens, at, "中午") {
        return match (number(at + 2), wide(tokens, at + 2)) {
            (_, Some((end, hour, minute))) => {
                Some((end, if hour < 6 { hour + 12 } else { hour }, minute))
            }
            _ => Some((at + 2, 12, 0)),
        };
    }
    if is(
        tokens,
        at,
        &["noon", "midday", "mittag", "mittags", "midi", "mediodía"],
    ) {
        return Some((at + 1, 12, 0));
    }
    if is(
        tokens,
        at,
        &["midnight", "mitternacht", "minuit", "medianoche"],
    ) || pair(tokens, at, "午夜")
    {
        let wide = usize::from(is(tokens, at, &["午"]));
        return Some((at + 1 + wide, 24, 0));
    }
    if is(tokens, at, &["halb"]) {
        return Some((at + 2, (number(at + 1)? + 11) % 12, 30));
    }
    let (end, minutes) = match tokens.get(at)?.text {
        "half" => (at + 1, 30),
        "viertel" | "quarter" => (at + 1, 15),
        "a" if is(tokens, at + 1, &["quarter"]) => (at + 2, 15),
        _ => (at + 1, number(at).filter(|minutes| *minutes < 60)?),
    };
    let hour = number(end + 1).filter(|hour| *hour <= 12)?;
    if is(tokens, end, &["past", "nach", "after"]) {
        return Some((end + 2, hour, minutes));
    }
    is(tokens, end, &["to", "vor", "before"]).then(|| (end + 2, (hour + 11) % 12, 60 - minutes))
}

/// 7:30, 7pm, 19 Uhr, 15h30, at 5, a las tres y media.
fn western(tokens: &[Token<'_>], at: usize) -> Option<Time> {
    let (start, asked) = asks(tokens, at);
    let hour = tokens.get(start)?.number?;
    let number = |at: usize| tokens.get(at).and_then(|token| token.number);
    let digits = |at: usize| tokens.get(at).is_some_and(Token::is_digits);
    let end = start + 1;
    if is(tokens, end, &[":", "："]) && digits(start) && digits(end + 1) {
        return Some((end + 2, hour, number(end + 1)?));
    }
    if is(tokens, end, &["uhr"]) {
        return Some(match number(end + 1).filter(|_| digits(end + 1)) {
            Some(minute) => (end + 2, hour, minute),
            None => (end + 1, hour, 0),
        });
    }
    if is(tokens, end, &["am", "pm"]) || half_by_letter(tokens, end).is_some() {
        return (hour <= 12).then_some((end, hour, 0));
    }
    if is(tokens, end, &["o"]) && is(tokens, end + 1, &["clock"]) {
        return Some((end + 2, hour, 0));
    }
    let is_french = is(tokens, end, &["h", "heure", "heures"]);
    if is_french && (asked || (hour >= 6 && is(tokens, end, &["h"]))) {
        return Some(french(tokens, end + 1, hour));
    }
    if !asked || unit_follows(tokens, end) {
        return None;
    }
    if is(tokens, end, &["y"]) {
        let minute = match tokens.get(end + 1)?.text {
            "media" => 30,
            "cuarto" => 15,
            _ => number(end + 1)?,
        };
        return Some((end + 2, hour, minute));
    }
    Some((end, hour, 0))
}

/// Whether words say that an hour follows, and the token where it does.
fn asks(tokens: &[Token<'_>], at: usize) -> (usize, bool) {
    if is(tokens, at, AT) {
        return (at + 1, true);
    }
    if is(tokens, at, &["a", "para", "sobre"]) && is(tokens, at + 1, &["las", "la"]) {
        return (at + 2, true);
    }
    (at, false)
}

fn french(tokens: &[Token<'_>], at: usize, hour: u32) -> Time {
    if is(tokens, at, &["et"]) {
        if is(tokens, at + 1, &["demie"]) {
            return (at + 2, hour, 30);
        }
        if is(tokens, at + 1, &["quart"]) {
            return (at + 2, hour, 15);
        }
    }
    match tokens.get(at).filter(|token| token.is_digits()) {
        Some(token) => (at + 1, hour, token.number.unwrap_or(0)),
        None => (at, hour, 0),
    }
}

/// "at 5 minutes": no hour.
fn unit_follows(tokens: &[Token<'_>], at: usize) -> bool {
    tokens.get(at).is_some_and(|token| {
        token.text.starts_with("min") || token.text.starts_with("sec") || token.is(&["%", "."])
    })
}

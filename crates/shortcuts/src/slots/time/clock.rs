//! Times of day.

use super::tokens::Token;
use super::{Clock, When};

/// Words that say that an hour follows.
const AT: &[&str] = &["at", "um", "gegen", "à", "vers", "by"];

/// The same, when nothing but a part of the day follows: "for 8 people" is none.
const FOR: &[&str] = &["for", "für", "auf", "pour", "para"];

const TOMORROW: &[&str] = &["tomorrow", "demain", "morgen", "mañana"];

const MORNING: &[&str] = &[
    "morning",
    "morgens",
    "früh",
    "matin",
    "vormittags",
    "vormittag",
    "madrugada",
];
const EVENING: &[&str] = &[
    "afternoon",
    "evening",
    "tonight",
    "night",
    "abends",
    "nachmittags",
    "abend",
    "nachmittag",
    "soir",
    "après",
    "tarde",
    "noche",
];

/// What leads from an hour to the part of the day it lies in.
const LEAD: &[&str] = &[
    "in", "the", "at", "du", "de", "la", "this", "am", "les", "l", "por", "ce", "cet", "heute",
    "esta", "le",
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
        .or_else(|| western(tokens, start))
        .or_else(|| bare(tokens, start, start > at))?;
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

/// Which of the two hours of that name is meant, when no word says it: from six to eleven the one that
/// comes first; from one to five the one in the afternoon, as people sleep at the other; of tomorrow the
/// one in the morning. Twelve is noon, and `07:30` is what it says.
fn settle(hour: u32, minute: u32, day: Day, exact: bool, now: Clock) -> Clock {
    let hour = match (day.half, hour) {
        (Some(Half::Second), 1..=11) => hour + 12,
        (Some(Half::First), 12) => 0,
        (None, 1..=5) if !exact => hour + 12,
        (None, 6..=11) if !exact && !day.tomorrow => {
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
    while let Some(next) = wide_part(tokens, at, &mut day).or_else(|| part(tokens, at, &mut day)) {
        at = next;
    }
    (at, day)
}

/// A day or a part of it in Chinese or Japanese.
fn wide_part(tokens: &[Token<'_>], at: usize, day: &mut Day) -> Option<usize> {
    let starts = |words: &[&str]| words.iter().any(|word| pair(tokens, at, word));
    let next = match () {
        () if starts(&["明天", "明日"]) => {
            day.tomorrow = true;
            at + 2
        }
        () if starts(&["明早"]) => {
            (day.tomorrow, day.half) = (true, Some(Half::First));
            at + 2
        }
        () if starts(&["明晚"]) => {
            (day.tomorrow, day.half) = (true, Some(Half::Second));
            at + 2
        }
        () if starts(&["今天", "今日"]) => at + 2,
        () if starts(&["早上", "上午", "凌晨", "午前", "早晨", "今早", "今朝"]) => {
            day.half = Some(Half::First);
            at + 2
        }
        () if starts(&["下午", "晚上", "今晚", "今夜", "午後", "傍晚"]) => {
            day.half = Some(Half::Second);
            at + 2
        }
        () if is(tokens, at, &["夜", "晚"]) => {
            day.half = Some(Half::Second);
            at + 1
        }
        () if is(tokens, at, &["朝", "早"]) => {
            day.half = Some(Half::First);
            at + 1
        }
        () => return None,
    };
    Some(next + usize::from(is(tokens, next, &["の"])))
}

/// A day or a part of it in the other languages, with the words that lead to it.
fn part(tokens: &[Token<'_>], at: usize, day: &mut Day) -> Option<usize> {
    let mut next = at;
    while is(tokens, next, LEAD) {
        next += 1;
    }
    // "am Morgen", "por la mañana": the same words alone are the next day.
    if next > at && is(tokens, next, &["morgen", "mañana"]) || is(tokens, next, MORNING) {
        day.half = Some(Half::First);
        return Some(next + 1);
    }
    if is(tokens, next, EVENING) {
        day.half = Some(Half::Second);
        let rest = usize::from(is(tokens, next, &["après"]) && is(tokens, next + 1, &["midi"]));
        return Some(next + 1 + rest);
    }
    if is(tokens, at, TOMORROW) {
        day.tomorrow = true;
        return Some(at + 1);
    }
    None
}

/// Day and half of the day that stand behind the hour; the token behind them.
fn behind(tokens: &[Token<'_>], end: usize, day: &mut Day) -> usize {
    let mut end = end + usize::from(is(tokens, end, &["に"]));
    // "p.m."
    if let Some(half) = half_by_letter(tokens, end) {
        day.half = Some(half);
        end += 3;
        end += usize::from(is(tokens, end, &["."]));
    }
    // "7 am" is none of "7 am Abend".
    let is_german = || part(&tokens[end..], 0, &mut Day::default()).is_some();
    if is(tokens, end, &["am"]) && !is_german() {
        day.half = Some(Half::First);
        end += 1;
    } else if is(tokens, end, &["pm"]) {
        day.half = Some(Half::Second);
        end += 1;
    }
    while let Some(next) = part(tokens, end, day) {
        end = next;
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
        return Some((at + 2, hour_before(number(at + 1)?), 30));
    }
    // "half six" is half past six in Britain.
    let is_british = is(tokens, at, &["half"]) && !is(tokens, at + 1, &["a", "an", "one"]);
    if let Some(hour) = number(at + 1).filter(|hour| is_british && *hour <= 12) {
        return Some((at + 2, hour, 30));
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
    let is_before = is(tokens, end, &["to", "vor", "before", "till"]);
    is_before.then(|| (end + 2, hour_before(hour), 60 - minutes))
}

/// The hour that ends when this one begins, as clocks with hands count.
fn hour_before(hour: u32) -> u32 {
    match hour {
        1 => 12,
        hour => (hour + 11) % 12,
    }
}

/// An hour without a word for it, but with a part of the day: "8 in the morning", "for 7 tonight",
/// "tomorrow 8"; or at the very end behind "for".
fn bare(tokens: &[Token<'_>], at: usize, has_day: bool) -> Option<Time> {
    let is_for = is(tokens, at, FOR);
    let start = at + usize::from(is_for);
    let token = tokens.get(start)?;
    let hour = token.number.filter(|hour| (1..=24).contains(hour))?;
    if !token.is_digits() && token.is(&["a", "an", "un", "une", "una", "ein", "eine", "einen"]) {
        return None;
    }
    let end = start + 1;
    let is_last = end == tokens.len() && (is_for || has_day);
    let has_part = part(tokens, end, &mut Day::default()).is_some();
    (is_last || has_part).then_some((end, hour, 0))
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
    if is(tokens, end, &["y", "menos"]) {
        let minute = match tokens.get(end + 1)?.text {
            "media" => 30,
            "cuarto" => 15,
            _ => number(end + 1)?,
        };
        return match is(tokens, end, &["menos"]) {
            true => Some((end + 2, hour_before(hour), 60_u32.checked_sub(minute)?)),
            false => Some((end + 2, hour, minute)),
        };
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
    if is(tokens, at, &["moins"]) {
        let quarter = is(tokens, at + 1, &["le"]) && is(tokens, at + 2, &["quart"]);
        let minutes = tokens.get(at + 1).and_then(|token| token.number);
        match (quarter, minutes.filter(|minutes| *minutes < 60)) {
            (true, _) => return (at + 3, hour_before(hour), 45),
            (false, Some(minutes)) => return (at + 2, hour_before(hour), 60 - minutes),
            (false, None) => {}
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

//! Times: "at 7:30pm", "in ten minutes", "三点半", "十分钟后", "um halb acht", "à 15h", "a las tres".
//!
//! [`tokens`] takes a phrase apart, [`clock`] and [`length`] read times of day and lengths of time.

mod clock;
mod length;
mod tokens;

use std::ops::Range;

use super::{Found, Phrase};
use tokens::Token;

const DAY: u32 = 24 * 3600;

/// A time of day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clock {
    /// Seconds since midnight.
    seconds: u32,
}

impl Clock {
    /// An hour and a minute.
    pub fn new(hour: u32, minute: u32) -> Self {
        Self {
            seconds: (hour * 3600 + minute * 60) % DAY,
        }
    }

    /// The same with seconds.
    pub fn with_seconds(hour: u32, minute: u32, second: u32) -> Self {
        Self {
            seconds: (hour * 3600 + minute * 60 + second) % DAY,
        }
    }

    fn hour(self) -> u32 {
        self.seconds / 3600
    }

    fn minute(self) -> u32 {
        self.seconds / 60 % 60
    }

    fn after(self, seconds: u32) -> Self {
        Self {
            seconds: (self.seconds + seconds % DAY) % DAY,
        }
    }

    /// Seconds from `self` until it is `other` next.
    fn until(self, other: Self) -> u32 {
        match (other.seconds + DAY - self.seconds) % DAY {
            0 => DAY,
            seconds => seconds,
        }
    }

    fn text(self) -> String {
        format!("{:02}:{:02}", self.hour(), self.minute())
    }
}

/// What a phrase says about time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum When {
    /// So many seconds from now.
    After(u32),
    /// A time of day.
    At { clock: Clock, tomorrow: bool },
}

/// The time that a phrase names, written as the slot's label wants it: `clock` is `19:30`, `when` the
/// same or `19:30 tomorrow`, `duration` and `seconds` are seconds from now, anything else is as at(1)
/// reads it.
pub(super) fn find(phrase: &Phrase<'_>, label: &str, now: Clock) -> Option<Found> {
    let tokens = tokens::split(&phrase.lower);
    let mut found = scan(&tokens, now);
    found.retain(|(range, _)| phrase.is_free(range));
    let is_length = |(_, when): &&(Range<usize>, When)| matches!(when, When::After(_));
    let (range, when) = match label {
        "duration" | "seconds" => found.iter().find(is_length).or_else(|| {
            // "a timer for 8" does not say of what.
            let is_bare = |range: &Range<usize>| phrase.lower[range.clone()].starts_with("for ");
            found.first().filter(|(range, _)| !is_bare(range))
        }),
        _ => found.first(),
    }?;
    Some((range.clone(), written(*when, label, now).into_bytes()))
}

/// Where a phrase says times.
pub(super) fn all(phrase: &Phrase<'_>) -> Vec<Range<usize>> {
    let tokens = tokens::split(&phrase.lower);
    let found = scan(&tokens, Clock::new(12, 0));
    found.into_iter().map(|(range, _)| range).collect()
}

fn scan(tokens: &[Token<'_>], now: Clock) -> Vec<(Range<usize>, When)> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let read = clock::read(tokens, at, now).or_else(|| length::read(tokens, at));
        let Some((end, when)) = read.filter(|(end, _)| *end > at) else {
            at += 1;
            continue;
        };
        found.push((tokens[at].range.start..tokens[end - 1].range.end, when));
        at = end;
    }
    found
}

fn written(when: When, label: &str, now: Clock) -> String {
    let seconds = match when {
        When::After(seconds) => seconds,
        When::At { clock, tomorrow } => {
            let next = now.until(clock);
            let is_today = now.seconds + next < DAY;
            next + if tomorrow && is_today { DAY } else { 0 }
        }
    };
    match (label, when) {
        ("duration" | "seconds", _) => seconds.to_string(),
        ("clock" | "when", When::After(seconds)) => now.after(seconds).text(),
        ("clock", When::At { clock, .. }) => clock.text(),
        (_, When::After(seconds)) => format!("now + {} minutes", seconds.div_ceil(60)),
        (
            _,
            When::At {
                clock,
                tomorrow: true,
            },
        ) => format!("{} tomorrow", clock.text()),
        (_, When::At { clock, .. }) => clock.text(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(text: &str, now: Clock) -> Option<When> {
        let phrase = Phrase::new(text);
        let tokens = tokens::split(&phrase.lower);
        scan(&tokens, now).first().map(|(_, when)| *when)
    }

    #[track_caller]
    fn at(text: &str, hour: u32, minute: u32) {
        let expected = When::At {
            clock: Clock::new(hour, minute),
            tomorrow: false,
        };
        assert_eq!(first(text, Clock::new(10, 0)), Some(expected), "{text}");
    }

    #[test]
    fn times_of_day_are_read_in_six_languages() {
        at("at 7:30pm", 19, 30);
        at("at 7 pm", 19, 0);
        at("half past seven in the morning", 7, 30);
        at("set an alarm for 8 in the morning", 8, 0);
        at("wake me at 8 in the evening", 20, 0);
        at("alarm for 9", 21, 0);
        at("7 tonight", 19, 0);
        at("half six", 18, 30);
        at("quarter to nine", 20, 45);
        at("quarter to one", 12, 45);
        at("halb eins", 12, 30);
        at("um 7 am Morgen", 7, 0);
        at("heute Abend um 8", 20, 0);
        at("à neuf heures moins le quart", 20, 45);
        at("a las nueve menos cuarto", 20, 45);
        at("a las 8 de la mañana", 8, 0);
        at("quarter to eight tonight", 19, 45);
        at("ten past five", 17, 10);
        at("19:05", 19, 5);
        at("07:05", 7, 5);
        at("at noon", 12, 0);
        at("three o'clock", 15, 0);
        at("at 12", 12, 0);
        at("12am", 0, 0);
        at("三点", 15, 0);
        at("三点半", 15, 30);
        at("下午3点一刻", 15, 15);
        at("晚上八点二十分", 20, 20);
        at("早上七点", 7, 0);
        at("15点", 15, 0);
        at("午後3時半", 15, 30);
        at("夜の9時", 21, 0);
        at("um halb acht", 19, 30);
        at("um 19 Uhr", 19, 0);
        at("um 8 Uhr 15 morgens", 8, 15);
        at("viertel vor neun abends", 20, 45);
        at("à 15h", 15, 0);
        at("à 15h30", 15, 30);
        at("à 8 heures du soir", 20, 0);
        at("à trois heures et demie", 15, 30);
        at("a las 3", 15, 0);
        at("a las tres y media", 15, 30);
        at("a las ocho y cuarto de la tarde", 20, 15);
    }

    #[test]
    fn the_next_day_is_read_in_six_languages() {
        for (text, hour) in [
            ("tomorrow at 8", 8),
            ("8 tomorrow", 8),
            ("at 7 tomorrow morning", 7),
            ("tomorrow morning at 7", 7),
            ("tomorrow evening at 7", 19),
            ("tomorrow at half past six", 6),
            ("morgen um 7", 7),
            ("morgen früh um 7", 7),
            ("morgen Abend um 7", 19),
            ("demain matin à 8h", 8),
            ("à 8h demain", 8),
            ("mañana a las 7", 7),
            ("mañana por la mañana a las 7", 7),
            ("明天早上八点", 8),
            ("明早七点", 7),
            ("明天晚上八点", 20),
            ("明日の朝8時", 8),
        ] {
            let found = first(text, Clock::new(10, 0));
            let clock = match found {
                Some(When::At { clock, tomorrow }) if tomorrow => clock.hour(),
                other => panic!("{text}: {other:?}"),
            };
            assert_eq!(clock, hour, "{text}");
        }
    }

    #[test]
    fn what_is_said_of_the_time_is_taken_as_a_whole() {
        for text in [
            "tomorrow morning at 7",
            "at 8 in the morning tomorrow",
            "for 8 in the morning",
            "morgen früh um 7 Uhr",
            "明天早上八点半",
            "in 20 minutes",
        ] {
            let phrase = Phrase::new(text);
            let found = all(&phrase);
            assert_eq!(found.len(), 1, "{text}");
            assert_eq!(&text[found[0].clone()], text);
        }
    }

    #[test]
    fn lengths_of_time_are_read_in_six_languages() {
        for (text, seconds) in [
            ("in ten minutes", 600),
            ("in an hour", 3600),
            ("half an hour", 1800),
            ("an hour and a half", 5400),
            ("1 hour 30 minutes", 5400),
            ("one and a half hours", 5400),
            ("1.5 hours", 5400),
            ("90s", 90),
            ("10min", 600),
            ("1h30", 5400),
            ("十分钟后", 600),
            ("半小时后", 1800),
            ("半个小时", 1800),
            ("两个小时", 7200),
            ("一个半小时", 5400),
            ("一刻钟", 900),
            ("30秒", 30),
            ("三分間", 180),
            ("3時間後", 10800),
            ("1時間半", 5400),
            ("in zehn Minuten", 600),
            ("in einer halben Stunde", 1800),
            ("eine Viertelstunde", 900),
            ("anderthalb Stunden", 5400),
            ("dans dix minutes", 600),
            ("une demi-heure", 1800),
            ("un quart d'heure", 900),
            ("en media hora", 1800),
            ("dentro de dos horas", 7200),
        ] {
            let found = first(text, Clock::new(10, 0));
            assert_eq!(found, Some(When::After(seconds)), "{text}");
        }
    }

    #[test]
    fn what_is_no_time_is_none() {
        for text in [
            "",
            "kill port 3000",
            "two files",
            "at home",
            "快一点儿吧 a",
            "version 1.5",
            "for 8 people",
            "three files in the morning folder",
        ] {
            let found = first(text, Clock::new(10, 0));
            let is_hour = matches!(found, Some(When::At { .. })) && text.contains("一点");
            assert!(found.is_none() || is_hour, "{text}: {found:?}");
        }
    }

    #[test]
    fn an_hour_without_more_is_the_next_that_people_are_awake_in() {
        let of = |text: &str, now| match first(text, now) {
            Some(When::At { clock, .. }) => clock.text(),
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(of("at 9", Clock::new(20, 0)), "21:00");
        assert_eq!(of("at 9", Clock::new(8, 0)), "09:00");
        assert_eq!(of("at 3", Clock::new(20, 0)), "15:00");
        assert_eq!(of("at 9 in the morning", Clock::new(20, 0)), "09:00");
        assert_eq!(of("half past six", Clock::new(23, 0)), "06:30");
        assert_eq!(of("half past six", Clock::new(8, 0)), "18:30");
        assert_eq!(of("half past six", Clock::new(3, 0)), "06:30");
        assert_eq!(of("half past six pm", Clock::new(23, 0)), "18:30");
        assert_eq!(of("at 12", Clock::new(20, 0)), "12:00");
        assert_eq!(of("tomorrow at 9", Clock::new(20, 0)), "09:00");
    }

    #[test]
    fn each_label_has_its_form() {
        let now = Clock::new(10, 0);
        let at = |hour, tomorrow| When::At {
            clock: Clock::new(hour, 0),
            tomorrow,
        };
        for (when, clock, seconds, plain) in [
            (When::After(90), "10:01", "90", "now + 2 minutes"),
            (at(15, false), "15:00", "18000", "15:00"),
            (at(9, false), "09:00", "82800", "09:00"),
            (at(9, true), "09:00", "82800", "09:00 tomorrow"),
            (at(11, true), "11:00", "90000", "11:00 tomorrow"),
        ] {
            assert_eq!(written(when, "clock", now), clock);
            let tomorrow = if plain.ends_with("tomorrow") {
                " tomorrow"
            } else {
                ""
            };
            assert_eq!(written(when, "when", now), format!("{clock}{tomorrow}"));
            assert_eq!(written(when, "duration", now), seconds);
            assert_eq!(written(when, "", now), plain);
        }
    }
}

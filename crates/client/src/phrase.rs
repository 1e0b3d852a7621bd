//! What the command line and the hook of `tabsense do` have in common: the request, and what is
//! made of the answer.

use std::os::unix::ffi::OsStringExt;

use tabsense_config::Settings;
use tabsense_protocol::reply::{Choice, Chosen};
use tabsense_protocol::request::{Do, Variable};

use crate::hook::is_paused_here;

/// Choices that are offered when none is sure.
const OFFERED: usize = 3;

/// What the worker may know of the environment: the language, the desktop, and where things lie.
const VARIABLES: [&str; 11] = [
    "LC_ALL",
    "LC_MESSAGES",
    "LANG",
    "XDG_CURRENT_DESKTOP",
    "XDG_SESSION_TYPE",
    "WAYLAND_DISPLAY",
    "DISPLAY",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_CACHE_HOME",
    "XDG_DATA_DIRS",
];

/// A request with what the environment says.
pub(crate) fn request(phrase: Vec<u8>, shell: i32, cwd: Vec<u8>, home: Vec<u8>) -> Do {
    let variable = |name: &str| {
        Some(Variable {
            value: std::env::var_os(name)?.into_vec(),
            name: name.to_owned(),
        })
    };
    Do {
        phrase,
        shell,
        cwd,
        home,
        path: std::env::var_os("PATH").unwrap_or_default().into_vec(),
        variables: VARIABLES.into_iter().filter_map(variable).collect(),
        ..Do::default()
    }
}

/// What ends the pause that is on.
pub(crate) fn resume() -> &'static str {
    match is_paused_here() {
        true => "hint: `unset TABSENSE_PAUSE`, which this shell has set",
        false => "hint: `tabsense resume`",
    }
}

/// What an answer amounts to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Verdict<'a> {
    /// This one is meant.
    Sure(&'a Choice),
    /// One of these, perhaps.
    Unsure(&'a [Choice]),
    /// Nothing fits.
    Nothing,
}

impl<'a> Verdict<'a> {
    /// Judges by the limits in the settings. Words alone (no model) are never sure, and their
    /// numbers are no probabilities that a floor could be held against.
    pub(crate) fn of(chosen: &'a Chosen, settings: &Settings) -> Self {
        let Some(best) = chosen.choices.first() else {
            return Self::Nothing;
        };
        if chosen.decided && best.probability >= settings.do_threshold() {
            return Self::Sure(best);
        }
        let floor = match chosen.decided {
            true => settings.do_floor(),
            false => f32::MIN_POSITIVE,
        };
        if best.probability < floor {
            return Self::Nothing;
        }
        let likely = chosen.choices.iter().take(OFFERED);
        Self::Unsure(&chosen.choices[..likely.take_while(|c| c.probability > 0.0).count()])
    }

    /// Its name in JSON.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sure(_) => "sure",
            Self::Unsure(_) => "unsure",
            Self::Nothing => "nothing",
        }
    }
}

/// One line about what is wrong with the user's own shortcuts, however much it is.
pub(crate) fn problem(problems: &[String]) -> Option<String> {
    match problems {
        [] => None,
        [only] => Some(printable(only.as_bytes())),
        [first, ..] => Some(format!(
            "{}, and {} more (hint: `tabsense do --explain` with any words tells all)",
            printable(first.split(" (hint: ").next().unwrap_or(first).as_bytes()),
            problems.len() - 1
        )),
    }
}

/// Text without anything that a terminal would obey.
pub(crate) fn printable(text: &[u8]) -> String {
    let clean = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    String::from_utf8_lossy(text).chars().map(clean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_are_told_in_one_line() {
        let of = |problems: &[&str]| {
            let problems: Vec<String> = problems.iter().map(|p| (*p).to_owned()).collect();
            problem(&problems)
        };
        assert_eq!(of(&[]), None);
        assert_eq!(
            of(&["f:1: a (hint: b)"]).as_deref(),
            Some("f:1: a (hint: b)")
        );
        let many = of(&["f:1: a (hint: b)", "f:2: c", "f:3: d"]).expect("a line");
        assert!(
            many.starts_with("f:1: a, and 2 more (hint: `tabsense do --explain`"),
            "{many}"
        );
    }

    #[test]
    fn the_limits_in_the_settings_decide_and_words_alone_are_never_sure() {
        let chosen = |probability: f32, decided: bool| Chosen {
            choices: vec![
                Choice {
                    probability,
                    ..Choice::default()
                };
                5
            ],
            decided,
            ..Chosen::default()
        };
        let name = |chosen: &Chosen, settings: &Settings| Verdict::of(chosen, settings).name();
        let usual = Settings::default();
        assert_eq!(name(&chosen(0.85, true), &usual), "sure");
        assert_eq!(name(&chosen(0.84, true), &usual), "unsure");
        assert_eq!(name(&chosen(0.19, true), &usual), "nothing");
        assert_eq!(name(&chosen(0.99, false), &usual), "unsure");
        assert_eq!(name(&chosen(0.01, false), &usual), "unsure");
        assert_eq!(name(&Chosen::default(), &usual), "nothing");
        let (strict, _) = Settings::parse("[do]\nthreshold = 95\nfloor = 0\n", "c");
        assert_eq!(name(&chosen(0.9, true), &strict), "unsure");
        assert_eq!(name(&chosen(0.0, true), &strict), "unsure");
        let offered = chosen(0.5, true);
        match Verdict::of(&offered, &usual) {
            Verdict::Unsure(choices) => assert_eq!(choices.len(), 3),
            other => panic!("{other:?}"),
        }
    }
}

//! Adapting the weights to one person: fit them to the earlier part of a history, judge them on
//! the later part, keep what is better there by more than chance explains.
//!
//! The three blends are fitted one after the other, each from the weights of the start and with a
//! pull towards them, and each is kept or not on its own. Differences are judged in blocks of
//! commands that follow each other, since neighbours are alike: a gain counts when it is larger
//! than [`SURE`] standard errors of the block means.

use super::choices::{
    Sample, directory_choices, line_choices, offered_choices, word_choices, word_places,
};
use super::fit::{Choice, Options, fit, is_first, least};
use super::history::{TRAINING, per_command};
use super::{Command, User};
use crate::candidate::{Candidate, Ranked};
use crate::decide::{Asked, Decide, model_weight};
use crate::weights::{Blend, Weights};
use crate::words::rank_words;

/// Shorter histories are not adapted to.
pub const SHORTEST: usize = 1000;
/// Standard errors that a gain must exceed: one chance in a hundred.
pub const SURE: f64 = 2.33;
/// Smaller gains are not worth a change.
const LEAST: f64 = 0.002;
/// Cases that are judged together.
const BLOCK: usize = 10;
/// Choices that are fitted to, at most about so many per blend.
const LINES: usize = 4000;
const WORDS: usize = 2000;
/// Prompts that are looked at, and words at which a model is asked whether it helps.
const LOOKED_AT: usize = 800;
const ASKED: usize = 240;
/// Below so many answers nothing is said about a model.
const FEWEST_ASKED: usize = 60;
/// A choice of a given strength (prior variance 0.1 of a weight) for so many choices.
const PULL: f32 = 10.0;
/// How much a choice from a list that was really offered counts beside one read off the history.
const OFFERED: f32 = 2.0;

/// One list that was offered at a prompt, and what was taken of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Shown {
    /// When, in seconds since 1970: that of the command that was then run.
    pub time: i64,
    /// The working directory.
    pub cwd: Vec<u8>,
    /// The words before the one that was completed, unquoted.
    pub words: Vec<Vec<u8>>,
    /// What was typed of it.
    pub typed: Vec<u8>,
    /// What was offered, in the order in which it was shown.
    pub offered: Vec<Candidate>,
    /// Which of it was taken.
    pub taken: usize,
}

/// How the weights that were fitted did on the later part.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Verdict {
    /// How many cases they were judged on.
    pub cases: usize,
    /// By how much they were better, on average.
    pub gain: f64,
    /// Standard error of the gain.
    pub error: f64,
}

impl Verdict {
    /// Whether the gain is larger than chance explains.
    pub fn is_gain(&self) -> bool {
        self.gain >= LEAST && self.gain >= SURE * self.error
    }

    /// Judges differences in the order in which they came.
    pub fn of(differences: &[f64]) -> Self {
        let blocks: Vec<f64> = differences
            .chunks(BLOCK)
            .filter(|block| block.len() * 2 > BLOCK)
            .map(|block| block.iter().sum::<f64>() / block.len() as f64)
            .collect();
        let n = blocks.len() as f64;
        if n < 2.0 {
            return Self {
                cases: differences.len(),
                gain: 0.0,
                error: f64::INFINITY,
            };
        }
        let gain = blocks.iter().sum::<f64>() / n;
        let spread = blocks.iter().map(|b| (b - gain).powi(2)).sum::<f64>() / (n - 1.0);
        Self {
            cases: differences.len(),
            gain,
            // No difference is no certainty.
            error: (spread / n).sqrt().max(1e-9),
        }
    }
}

/// Whether a model helps this person.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Helps {
    /// At how many prompts it was asked.
    pub cases: usize,
    /// Mean reciprocal rank without it.
    pub without: f64,
    /// The same with it.
    pub with: f64,
}

impl Helps {
    /// Whether it is better to rank with it; also as long as too little is known.
    pub fn keep(&self) -> bool {
        self.cases < FEWEST_ASKED || self.with > self.without
    }
}

/// What came of it.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The weights to rank with from now on. A model's are those of the start.
    pub weights: Weights,
    /// Lines: mean of the next command being first with nothing and with its first word typed, and
    /// of the keystrokes saved.
    pub lines: Verdict,
    /// Words: the right one being first.
    pub words: Verdict,
    /// Directories for `cd`: the right one being first.
    pub directories: Verdict,
    /// Whether the model helps, if it was asked.
    pub model: Option<Helps>,
}

/// Why there is no outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotAdapted {
    /// The history is too short.
    #[error("{0} commands are too few, {SHORTEST} are needed")]
    TooFew(usize),
    /// It was told to stop.
    #[error("stopped")]
    Stopped,
}

/// Adapts `start` to a person. `stop` is asked at every prompt whether to give up.
///
/// # Errors
/// [`NotAdapted`] when the history is short or `stop` said so.
pub fn adapt(
    user: &User,
    shown: &[Shown],
    start: &Weights,
    model: Option<&mut dyn Decide>,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Outcome, NotAdapted> {
    if user.commands.len() < SHORTEST {
        return Err(NotAdapted::TooFew(user.commands.len()));
    }
    let run = Run::new(user, stop);
    let mut weights = start.clone();
    let lines = run.lines(start, &mut weights)?;
    let words = run.words(shown, start, &mut weights)?;
    let directories = run.directories(start, &mut weights)?;
    let model = match model {
        Some(model) => Some(run.model(&weights, model)?),
        None => None,
    };
    Ok(Outcome {
        weights,
        lines,
        words,
        directories,
        model,
    })
}

struct Run<'a> {
    user: &'a User,
    /// The first command of the later part.
    cut: usize,
    stop: &'a (dyn Fn() -> bool + Sync),
}

impl<'a> Run<'a> {
    fn new(user: &'a User, stop: &'a (dyn Fn() -> bool + Sync)) -> Self {
        let trained = TRAINING.min(user.commands.len());
        Self {
            user,
            cut: trained + (user.commands.len() - trained) * 2 / 3,
            stop,
        }
    }

    fn earlier(&self, most: usize) -> Sample<'a> {
        Sample {
            from: TRAINING,
            to: self.cut,
            most,
            seed: 1,
            stop: self.stop,
        }
    }

    fn later(&self, most: usize) -> Sample<'a> {
        Sample {
            from: self.cut,
            to: self.user.commands.len(),
            ..self.earlier(most)
        }
    }

    fn go_on(&self) -> Result<(), NotAdapted> {
        if (self.stop)() {
            Err(NotAdapted::Stopped)
        } else {
            Ok(())
        }
    }

    fn lines(&self, start: &Weights, weights: &mut Weights) -> Result<Verdict, NotAdapted> {
        let choices = line_choices(self.user, start, &self.earlier(LINES));
        self.go_on()?;
        let mut fitted = start.clone();
        refit(&mut fitted, Blend::Lines, &choices);
        let later = self.later(usize::MAX);
        let scores = per_command(self.user, &later, &[start, &fitted]);
        self.go_on()?;
        let differences: Vec<f64> = scores.iter().map(|s| s[1] - s[0]).collect();
        let verdict = Verdict::of(&differences);
        keep_if(&verdict, weights, &fitted, Blend::Lines);
        Ok(verdict)
    }

    fn words(
        &self,
        shown: &[Shown],
        start: &Weights,
        weights: &mut Weights,
    ) -> Result<Verdict, NotAdapted> {
        // Choices from lists that were offered go to the part in which they were made.
        let time = self.user.commands[self.cut].t.unwrap_or(0);
        let split = shown.partition_point(|s| s.time < time);
        let gather = |sample: &Sample<'_>, shown: &[Shown]| {
            let mut choices = word_choices(self.user, weights, sample);
            let mut offered = offered_choices(self.user, shown, weights, sample.stop);
            offered.iter_mut().for_each(|c| c.weight = OFFERED);
            choices.append(&mut offered);
            choices
        };
        let earlier = gather(&self.earlier(WORDS), &shown[..split]);
        let later = gather(&self.later(WORDS), &shown[split..]);
        self.go_on()?;
        let mut fitted = weights.clone();
        refit(&mut fitted, Blend::Words, &earlier);
        let verdict = compare(&later, start, &fitted, Blend::Words);
        keep_if(&verdict, weights, &fitted, Blend::Words);
        Ok(verdict)
    }

    fn directories(&self, start: &Weights, weights: &mut Weights) -> Result<Verdict, NotAdapted> {
        let earlier = directory_choices(self.user, weights, &self.earlier(usize::MAX));
        let later = directory_choices(self.user, weights, &self.later(usize::MAX));
        self.go_on()?;
        let mut fitted = weights.clone();
        refit(&mut fitted, Blend::Directories, &earlier);
        let verdict = compare(&later, start, &fitted, Blend::Directories);
        keep_if(&verdict, weights, &fitted, Blend::Directories);
        Ok(verdict)
    }

    fn model(&self, weights: &Weights, model: &mut dyn Decide) -> Result<Helps, NotAdapted> {
        let mut helps = Helps {
            cases: 0,
            without: 0.0,
            with: 0.0,
        };
        word_places(self.user, &self.later(LOOKED_AT), |place| {
            if helps.cases >= ASKED {
                return;
            }
            let (context, slot) = (place.context, &place.slot);
            let mut ranked = rank_words(place.index, weights, context, slot, place.candidates);
            let before = reciprocal(&ranked, place.chosen);
            let Some(asked) = Asked::new(&ranked, place.candidates, context, slot, model) else {
                return;
            };
            let weight = model_weight(weights, place.index, slot, place.candidates);
            asked.apply(&mut ranked, weight);
            helps.cases += 1;
            helps.without += before;
            helps.with += reciprocal(&ranked, place.chosen);
        });
        self.go_on()?;
        let n = helps.cases.max(1) as f64;
        helps.without /= n;
        helps.with /= n;
        Ok(helps)
    }
}

fn reciprocal(ranked: &[Ranked], chosen: usize) -> f64 {
    let place = ranked.iter().position(|entry| entry.position == chosen);
    place.map_or(0.0, |place| 1.0 / (place as f64 + 1.0))
}

fn refit(weights: &mut Weights, blend: Blend, choices: &[Choice]) {
    let options = Options {
        pull: PULL / (choices.len() as f32 + 1.0),
        rate: 0.01,
        ..Options::default()
    };
    let fitted = fit(choices, weights.of(blend), &least(blend), options);
    weights.of_mut(blend).copy_from_slice(&fitted);
}

/// How much more often the chosen one comes first.
fn compare(choices: &[Choice], start: &Weights, fitted: &Weights, blend: Blend) -> Verdict {
    let first = |choice: &Choice, weights: &Weights| f64::from(is_first(choice, weights.of(blend)));
    let differences: Vec<f64> = choices
        .iter()
        .map(|choice| first(choice, fitted) - first(choice, start))
        .collect();
    Verdict::of(&differences)
}

fn keep_if(verdict: &Verdict, weights: &mut Weights, fitted: &Weights, blend: Blend) {
    if verdict.is_gain() {
        weights.of_mut(blend).copy_from_slice(fitted.of(blend));
    }
}

/// Commands of a history as a replay wants them.
pub fn user(commands: Vec<Command>) -> User {
    User {
        user: String::new(),
        has_time: true,
        repeat_share: 1.0,
        commands,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gain_must_be_larger_than_chance() {
        let steady = Verdict::of(&[0.1; 400]);
        assert!(steady.is_gain(), "{steady:?}");
        // Alternating blocks of gains and losses, nothing on average.
        let mixed: Vec<f64> = (0..400)
            .map(|n| {
                if (n / BLOCK).is_multiple_of(2) {
                    1.0
                } else {
                    -1.0
                }
            })
            .collect();
        assert!(!Verdict::of(&mixed).is_gain());
        let rare: Vec<f64> = (0..400).map(|n| f64::from(u8::from(n == 7))).collect();
        assert!(!Verdict::of(&rare).is_gain());
        assert!(!Verdict::of(&[1.0; 5]).is_gain());
    }

    #[test]
    fn a_model_is_kept_until_enough_is_known_against_it() {
        let helps = |cases, with| Helps {
            cases,
            without: 0.5,
            with,
        };
        assert!(helps(FEWEST_ASKED - 1, 0.1).keep());
        assert!(!helps(FEWEST_ASKED, 0.5).keep());
        assert!(helps(FEWEST_ASKED, 0.51).keep());
    }
}

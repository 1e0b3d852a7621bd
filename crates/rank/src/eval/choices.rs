//! The choices that a person made, for fitting and judging weights.

use std::collections::BTreeSet;

use super::adapt::Shown;
use super::cd::cd_target;
use super::fit::{Choice, Random};
use super::history::{TRAINING, event, recent};
use super::{Case, User, completion};
use crate::candidate::{Candidate, Context, Kind, Match, Slot};
use crate::directories::explain_directories;
use crate::feedback::{Feedback, Offer};
use crate::index::Index;
use crate::index::intern::NONE;
use crate::index::log::Chain;
use crate::lines::Predictor;
use crate::shell;
use crate::weights::{Blend, Weights};
use crate::words::{argument_words, explain_words};

/// Which prompts of a history are looked at.
#[derive(Clone, Copy)]
pub struct Sample<'a> {
    /// The first one.
    pub from: usize,
    /// The one after the last one.
    pub to: usize,
    /// About so many of them at most, spread evenly.
    pub most: usize,
    /// Seed of the draws.
    pub seed: u64,
    /// Asked at each prompt whether to give up; what was found by then comes back.
    pub stop: &'a (dyn Fn() -> bool + Sync),
}

impl Sample<'_> {
    /// All of a history but its first [`TRAINING`] commands.
    pub fn whole(user: &User, most: usize, seed: u64) -> Sample<'static> {
        Sample {
            from: TRAINING,
            to: user.commands.len(),
            most,
            seed,
            stop: &|| false,
        }
    }

    fn every(&self) -> usize {
        let prompts = self.to.saturating_sub(self.from).max(1);
        prompts.div_ceil(self.most.max(1))
    }
}

/// Every prompt of a sample's part of a history: its number, what is known by then, its context.
pub(super) fn replay(
    user: &User,
    sample: &Sample<'_>,
    mut at_prompt: impl FnMut(usize, &Index, &Context<'_>),
) {
    let mut index = Index::new();
    for (at, command) in user.commands.iter().enumerate().take(sample.to) {
        if (sample.stop)() {
            return;
        }
        if at >= sample.from {
            let recent = recent(&user.commands, at);
            let context = Context {
                cwd: command.cwd.as_deref().unwrap_or_default().as_bytes(),
                home: b"~",
                session: command.session.as_deref().unwrap_or_default().as_bytes(),
                now: command.t.unwrap_or(0),
                recent: &recent,
                ..Context::default()
            };
            at_prompt(at, &index, &context);
        }
        index.observe(&event(command));
    }
}

/// Choices of whole lines: at each prompt with a random one of the measured prefixes. Prompts at
/// which no candidate is the line that was run are left out.
pub fn line_choices(user: &User, weights: &Weights, sample: &Sample<'_>) -> Vec<Choice> {
    let mut random = Random::new(sample.seed);
    let mut choices = Vec::new();
    let every = sample.every();
    replay(user, sample, |at, index, context| {
        let line = &user.commands[at].cmd;
        if random.below(every) != 0 {
            return;
        }
        let end = match random.below(8) {
            5 => line.find(' ').map(|at| at + 1),
            // One character is measured the most strictly: three of eight.
            n => line
                .char_indices()
                .nth(if n > 5 { 1 } else { n })
                .map(|(at, _)| at),
        };
        let Some(prefix) = end.filter(|end| *end < line.len()).map(|end| &line[..end]) else {
            return;
        };
        let found = Predictor::new(index, weights, context).explain(prefix.as_bytes());
        let Some(chosen) = found
            .iter()
            .position(|(text, _, _)| text == line.as_bytes())
        else {
            return;
        };
        let vectors: Vec<Vec<f32>> = found.iter().map(|(_, _, v)| v.to_vec()).collect();
        choices.push(Choice::new(&vectors, chosen, weights.of(Blend::Lines)));
    });
    choices
}

/// Choices of directories for `cd`, with 0 to 2 letters typed.
pub fn directory_choices(user: &User, weights: &Weights, sample: &Sample<'_>) -> Vec<Choice> {
    let mut random = Random::new(sample.seed);
    let mut choices = Vec::new();
    replay(user, sample, |at, index, context| {
        let after = user
            .commands
            .get(at + 1)
            .and_then(|next| next.cwd.as_deref());
        let Some(target) = after.and_then(|after| cd_target(&user.commands[at], after)) else {
            return;
        };
        let name = target.rsplit('/').next().unwrap_or(&target).to_lowercase();
        let typed: String = name.chars().take(random.below(3)).collect();
        let found = explain_directories(index, weights, context, typed.as_bytes());
        let Some(chosen) = found
            .iter()
            .position(|(path, _, _)| path == target.as_bytes())
        else {
            return;
        };
        let vectors: Vec<Vec<f32>> = found.into_iter().map(|(_, _, v)| v).collect();
        choices.push(Choice::new(
            &vectors,
            chosen,
            weights.of(Blend::Directories),
        ));
    });
    choices
}

/// Choices of words: at each prompt a random word of the line, among the words that the command
/// took before and those of recent commands, in alphabetical order as a shell would give them.
pub fn word_choices(user: &User, weights: &Weights, sample: &Sample<'_>) -> Vec<Choice> {
    let mut choices = Vec::new();
    word_places(user, sample, |place| {
        let vectors = explain_words(
            place.index,
            weights,
            place.context,
            &place.slot,
            place.candidates,
        );
        choices.push(Choice::new(
            &vectors,
            place.chosen,
            weights.of(Blend::Words),
        ));
    });
    choices
}

/// One word of a history and what a shell might have offered for it.
pub(super) struct WordPlace<'a> {
    pub(super) index: &'a Index,
    pub(super) context: &'a Context<'a>,
    pub(super) slot: Slot<'a>,
    pub(super) candidates: &'a [Candidate],
    /// The candidate that was typed.
    pub(super) chosen: usize,
}

/// Every prompt of a sample that gives a choice among at least three words.
pub(super) fn word_places(user: &User, sample: &Sample<'_>, mut each: impl FnMut(&WordPlace<'_>)) {
    let mut random = Random::new(sample.seed);
    let every = sample.every();
    replay(user, sample, |at, index, context| {
        if random.below(every) != 0 {
            return;
        }
        let words = shell::words(user.commands[at].cmd.as_bytes());
        if words.is_empty() {
            return;
        }
        let place = random.below(words.len());
        let before: Vec<&[u8]> = words[..place].iter().map(|w| w.text.as_slice()).collect();
        let answer = &words[place].text;
        let typed = &answer[..random.below(3).min(answer.len().saturating_sub(1))];
        let slot = Slot {
            words: &before,
            typed,
        };
        let texts = offered(index, context, &slot);
        let Some(chosen) = texts.iter().position(|text| text == answer) else {
            return;
        };
        if texts.len() < 3 {
            return;
        }
        let candidates: Vec<Candidate> = (0..)
            .zip(&texts)
            .map(|(n, text)| candidate(text, place, n))
            .collect();
        each(&WordPlace {
            index,
            context,
            slot,
            candidates: &candidates,
            chosen,
        });
    });
}

/// What a shell might offer: words that the command took, and the names that any command was given
/// in this directory, which stand for its listing.
fn offered(index: &Index, context: &Context<'_>, slot: &Slot<'_>) -> Vec<Vec<u8>> {
    let mut texts: BTreeSet<Vec<u8>> = argument_words(index, slot, 100)
        .into_iter()
        .map(|w| w.text)
        .collect();
    if !slot.words.is_empty() {
        let directory = index.directory(context.cwd);
        let newest = directory.map_or(NONE, |d| index.newest_in[d as usize]);
        let rows = index.log.walk(Chain::Directory, newest, 200);
        let here = rows
            .map(|row| index.log.command[row])
            .filter(|c| *c != NONE);
        let recent = context.recent.iter().map(|r| r.command);
        for line in here.map(|c| index.commands.text(c)).chain(recent) {
            let words = shell::words(line).into_iter().skip(1).map(|w| w.text);
            let fits = |t: &Vec<u8>| !t.starts_with(b"-") && t.starts_with(slot.typed);
            texts.extend(words.filter(fits));
        }
    }
    texts.into_iter().filter(|text| !text.is_empty()).collect()
}

fn candidate(text: &[u8], place: usize, native: u32) -> Candidate {
    let kind = match text {
        _ if place == 0 => Kind::Command,
        _ if text.ends_with(b"/") => Kind::Directory,
        _ if text.starts_with(b"-") => Kind::Option,
        _ => Kind::Word,
    };
    Candidate {
        text: text.to_vec(),
        kind,
        description: Vec::new(),
        native: Some(native),
        modified: None,
        quality: Match::Prefix,
    }
}

/// Choices from lists that were really offered, each with what was known by then. `shown` is in the
/// order of time.
pub fn offered_choices(
    user: &User,
    shown: &[Shown],
    weights: &Weights,
    stop: &(dyn Fn() -> bool + Sync),
) -> Vec<Choice> {
    let mut feedback = Feedback::default();
    let mut choices = Vec::new();
    let mut left = shown.iter().peekable();
    if shown.is_empty() {
        return choices;
    }
    let whole = Sample {
        from: 0,
        to: user.commands.len(),
        most: usize::MAX,
        seed: 1,
        stop,
    };
    replay(user, &whole, |_, index, context| {
        while let Some(list) = left.next_if(|list| list.time <= context.now) {
            let words: Vec<&[u8]> = list.words.iter().map(Vec::as_slice).collect();
            let slot = Slot {
                words: &words,
                typed: &list.typed,
            };
            let (Some(first), Some(taken)) = (list.offered.first(), list.offered.get(list.taken))
            else {
                continue;
            };
            let there = Context {
                cwd: &list.cwd,
                feedback: Some(&feedback),
                ..*context
            };
            let vectors = explain_words(index, weights, &there, &slot, &list.offered);
            choices.push(Choice::new(&vectors, list.taken, weights.of(Blend::Words)));
            feedback.observe(&Offer {
                cwd: &list.cwd,
                slot,
                first: (&first.text, first.kind),
                taken: (&taken.text, taken.kind),
            });
        }
    });
    choices
}

/// Choices of words from completion cases.
pub fn case_choices(cases: &[Case], weights: &Weights) -> Vec<Choice> {
    let explained = cases
        .iter()
        .filter_map(|case| completion::explain(case, weights));
    explained
        .map(|(vectors, chosen)| Choice::new(&vectors, chosen, weights.of(Blend::Words)))
        .collect()
}

//! From what was chosen to what is told: commands for this machine, this shell and this phrase.

use std::os::unix::ffi::OsStrExt;

use tabsense_gather::Dialect;
use tabsense_protocol::reply::{self, Choice, FilledSlot};
use tabsense_protocol::request::{Do, Shell};
use tabsense_shortcuts::slots::{Clock, Scene, unsaid};
use tabsense_shortcuts::{Here, Line, Risk};

use super::catalogue::Surroundings;
use super::choose::{Candidate, Choices};
use super::doubt;
use super::surroundings::{absolute, platform};

/// Choices that are told.
const MOST: usize = 5;

/// How many of the others may take the first one's place, and how likely they must be.
const PREFERRED: usize = 2;
const LIKELY: f32 = 0.003;

/// The likeliest shortcuts with their commands.
pub(super) fn choices(
    choices: &Choices,
    phrase: &str,
    ask: &Do,
    there: &Surroundings,
) -> Vec<Choice> {
    let platform = platform(ask);
    let here = Here {
        platform: &platform,
        scene: Scene {
            cwd: absolute(&there.cwd),
            home: absolute(&there.home),
            now: now(),
        },
        shell: match ask.shell() {
            Shell::Zsh => Dialect::Zsh,
            Shell::Fish => Dialect::Fish,
            Shell::Bash | Shell::Unspecified => Dialect::Bash,
        },
    };
    let told = choices.candidates.iter().take(MOST);
    let mut told: Vec<Told> = told
        .map(|candidate| choice(candidate, phrase, &here, &there.language))
        .collect();
    prefer_what_says_all(&mut told);
    told.into_iter().map(|told| told.choice).collect()
}

/// A choice, and what the phrase says that its command leaves out.
struct Told {
    choice: Choice,
    unsaid: Vec<String>,
}

/// Among the likeliest, what shows the very thing that the phrase names takes the place of what would
/// show something else: "disk usage of src" is about `src`, not about all disks.
fn prefer_what_says_all(told: &mut [Told]) {
    let Some((first, others)) = told.split_first_mut() else {
        return;
    };
    let is_shown = |choice: &Choice| choice.risk() == reply::Risk::Read;
    if first.unsaid.is_empty() || !is_shown(&first.choice) {
        return;
    }
    let says_all = |other: &Told| {
        let line = String::from_utf8_lossy(&other.choice.command);
        let has_all = first.unsaid.iter().all(|word| line.contains(word.as_str()));
        let is_whole = other.choice.placeholder == 0 && other.unsaid.is_empty();
        has_all && is_whole && is_shown(&other.choice)
    };
    let likeliest = others.iter_mut().take(PREFERRED);
    let mut likely = likeliest.filter(|other| other.choice.probability >= LIKELY);
    if let Some(other) = likely.find(|other| says_all(other)) {
        let whole = first.choice.probability / doubt::LEFT;
        first.choice.probability = other.choice.probability;
        other.choice.probability = whole;
        std::mem::swap(first, other);
    }
}

fn choice(candidate: &Candidate, phrase: &str, here: &Here<'_>, language: &str) -> Told {
    let shortcut = candidate.shortcut();
    let plain = Choice {
        id: shortcut.id.clone(),
        title: shortcut.title.get(language).to_owned(),
        description: shortcut.description.get(language).to_owned(),
        source: shortcut.source.name().to_owned(),
        attribution: shortcut.source.attribution().unwrap_or_default().to_owned(),
        risk: risk(shortcut.risk).into(),
        probability: candidate.probability,
        text: candidate.text().to_owned(),
        words: candidate.words,
        similarity: candidate.similarity,
        ..Choice::default()
    };
    match shortcut.command(phrase, here) {
        Ok(line) => {
            let unsaid = unsaid(phrase, &line.filled, shortcut, &here.scene);
            let in_doubt = doubt::of_line(phrase, shortcut.risk, &line, &here.scene);
            let left = match in_doubt || !unsaid.is_empty() {
                true => doubt::LEFT,
                false => 1.0,
            };
            let probability = plain.probability * left;
            let plain = Choice {
                probability,
                ..plain
            };
            Told {
                choice: with_line(plain, line),
                unsaid,
            }
        }
        Err(why) => Told {
            choice: Choice {
                unavailable: why.to_string(),
                ..plain
            },
            unsaid: Vec::new(),
        },
    }
}

fn with_line(choice: Choice, line: Line) -> Choice {
    let filled = line.filled;
    let missing = filled
        .missing
        .unwrap_or(filled.line.len()..filled.line.len());
    let slot = |value: tabsense_shortcuts::Value| FilledSlot {
        name: value.slot.name().to_owned(),
        value: value.value,
    };
    let by = line.by.map(|file| file.as_os_str().as_bytes().to_vec());
    Choice {
        cursor: missing.start as u64,
        placeholder: missing.len() as u64,
        command: filled.line,
        slots: filled.values.into_iter().map(slot).collect(),
        by: by.unwrap_or_default(),
        ..choice
    }
}

fn risk(risk: Risk) -> reply::Risk {
    match risk {
        Risk::Read => reply::Risk::Read,
        Risk::Write => reply::Risk::Write,
        Risk::Destructive => reply::Risk::Destructive,
    }
}

/// The time of day on this machine's clock.
fn now() -> Clock {
    let now = jiff::Zoned::now();
    let part = |number: i8| u32::try_from(number).unwrap_or(0);
    Clock::with_seconds(part(now.hour()), part(now.minute()), part(now.second()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(id: &str, command: &str, risk: Risk, probability: f32, unsaid: &[&str]) -> Told {
        Told {
            choice: Choice {
                id: id.to_owned(),
                command: command.into(),
                risk: self::risk(risk).into(),
                probability,
                placeholder: if command.contains("<&") { 5 } else { 0 },
                ..Choice::default()
            },
            unsaid: unsaid.iter().map(|word| (*word).to_owned()).collect(),
        }
    }

    fn first(mut told: Vec<Told>) -> (String, f32) {
        prefer_what_says_all(&mut told);
        let first = told.swap_remove(0).choice;
        (first.id, first.probability)
    }

    #[test]
    fn what_shows_the_thing_that_is_named_comes_before_what_shows_another() {
        let all = || told("all", "df -h", Risk::Read, 0.49, &["src"]);
        let this = |command: &str, risk| told("this", command, risk, 0.01, &[]);
        let of = |other: Told| first(vec![all(), other]);
        assert_eq!(of(this("du -sh src", Risk::Read)), ("this".into(), 0.98));
        for other in [
            this("rm -r src", Risk::Destructive),
            this("du -sh <&folder>", Risk::Read),
            this("diff src <&second>", Risk::Read),
            told("this", "du -sh src", Risk::Read, 0.001, &[]),
        ] {
            assert_eq!(of(other), ("all".into(), 0.49));
        }
        let deed = told("all", "git push", Risk::Write, 0.49, &["src"]);
        let (id, _) = first(vec![deed, this("du -sh src", Risk::Read)]);
        assert_eq!(
            id, "all",
            "what changes something is not taken for what shows it"
        );
    }
}

//! What the model reads before the candidates are known.
//!
//! A state does not depend on them: while one thread gathers and ranks, the model's reads it. After a
//! prompt it reads what will be asked if the likely commands are typed, before a key is pressed.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use tabsense_rank::{Context, Kind, Recent, ScoredLine, Slot, before, rank_lines};

use crate::complete::Completion;
use crate::judge::markers;
use crate::places::Places;
use crate::sessions::Command;
use crate::state::{Worker, now};

/// The most that reading the working directory for the model may take.
const NAMES_BUDGET: Duration = Duration::from_millis(3);

/// Likely lines that are looked at after a prompt, and first words of theirs that the model reads: with the
/// empty line, half of the states that it keeps.
const LINES: usize = 24;
const LIKELY: usize = 3;

/// Around the line: what the model's state is made of.
pub(crate) struct Around {
    commands: Vec<Command>,
    names: Vec<&'static [u8]>,
}

impl Around {
    /// Looks around a shell's directory, for at most `budget`.
    fn look(worker: &Worker, session: &[u8], cwd: &Path, budget: Duration) -> Self {
        Self {
            commands: worker.lock_sessions().recent(session),
            names: known_names(worker, cwd, budget),
        }
    }

    pub(crate) fn recent(&self) -> Vec<Recent<'_>> {
        let recent = self.commands.iter().map(|c| Recent {
            command: &c.command,
            cwd: &c.cwd,
            exit: c.exit,
        });
        recent.collect()
    }

    /// The part of the context that a state is made of.
    pub(crate) fn context<'a>(
        &'a self,
        cwd: &'a [u8],
        home: &'a [u8],
        recent: &'a [Recent<'a>],
    ) -> Context<'a> {
        Context {
            cwd,
            home,
            recent,
            listing: &self.names,
            ..Context::default()
        }
    }
}

impl Completion<'_> {
    /// Looks around, and lets the model begin with what it sees if it is likely to be asked.
    pub(crate) fn look_around(&self) -> Around {
        let budget = self.left(NAMES_BUDGET);
        let around = Around::look(self.worker, self.session, &self.places.cwd, budget);
        if is_asked(self.worker) && self.ask.candidates.len() > 1 {
            let words: Vec<&[u8]> = self.parsed.words.iter().map(Vec::as_slice).collect();
            let slot = Slot {
                words: &words,
                typed: &self.parsed.typed,
            };
            let recent = around.recent();
            let context = around.context(&self.ask.cwd, &self.ask.home, &recent);
            self.worker
                .judge
                .read_ahead(&context, &before(&slot), self.deadline);
        }
        around
    }
}

/// Lets the model read, when nobody waits, the states of the empty line and of what is likely typed at
/// this prompt.
pub(crate) fn read_likely(worker: &Worker, session: &[u8], places: &Places) {
    // Nothing is foreseen for a model that would not read it.
    if !is_asked(worker) || worker.judge.for_background().is_none() {
        return;
    }
    let around = Around::look(worker, session, &places.cwd, NAMES_BUDGET);
    let recent = around.recent();
    let (cwd, home) = (
        places.cwd.as_os_str().as_bytes(),
        places.home.as_os_str().as_bytes(),
    );
    let root = places.project_root(worker);
    let context = Context {
        project_root: root.as_ref().map(|root| root.as_os_str().as_bytes()),
        session,
        now: now(),
        ..around.context(cwd, home, &recent)
    };
    let weights = worker.adapter.weights();
    let lines = rank_lines(&worker.read_index(), &weights, &context, b"", LINES);
    worker.judge.read_likely(&context, &beginnings(&lines));
}

/// Whether rankings ask the model at all.
fn is_asked(worker: &Worker) -> bool {
    let weights = &worker.adapter.weights().model;
    weights.command.max(weights.word).max(weights.path) > 0.0
}

/// Nothing, and the first words of the lines that go on behind them, the likeliest first.
fn beginnings(lines: &[ScoredLine]) -> Vec<Vec<u8>> {
    let mut found = vec![Vec::new()];
    for line in lines {
        let mut words = line.text.split(|byte| *byte == b' ');
        let (Some(first), Some(_)) = (words.next(), words.next()) else {
            continue;
        };
        let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.+/".contains(byte);
        if found.len() <= LIKELY && first.iter().all(is_plain) && !found.iter().any(|f| f == first)
        {
            found.push(first.to_vec());
        }
    }
    found
}

/// The names in a directory that the model knows. What stood there at the prompt is good enough: the model
/// shall begin to read.
fn known_names(worker: &Worker, cwd: &Path, budget: Duration) -> Vec<&'static [u8]> {
    let known = worker.listings.known(cwd);
    let Some(here) = known.or_else(|| worker.listings.list(cwd, budget).ok()) else {
        return Vec::new();
    };
    let is_there = |name: &&String| {
        let bare = name.strip_suffix('/').unwrap_or(name);
        let wanted = if name.ends_with('/') {
            Kind::Directory
        } else {
            Kind::File
        };
        here.get(bare.as_bytes())
            .is_some_and(|entry| entry.kind == wanted)
    };
    markers()
        .iter()
        .filter(is_there)
        .map(|name| name.as_bytes())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_reads_the_likeliest_commands_that_take_words() {
        let lines = [
            "git status",
            "make",
            "git push",
            "A=1 x",
            "vim a.c",
            "'odd name' x",
            "cargo test",
            "ls -l",
        ];
        let lines = lines.map(|line| ScoredLine {
            text: line.into(),
            score: 0.0,
            count: 1,
        });
        let words: [&[u8]; 4] = [b"", b"git", b"vim", b"cargo"];
        assert_eq!(beginnings(&lines), words);
        assert_eq!(beginnings(&[]), words[..1]);
    }
}

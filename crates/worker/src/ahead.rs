//! What the model reads before the candidates are known.
//!
//! A state does not depend on them: while one thread gathers and ranks, the model's reads it.

use std::time::Duration;

use tabsense_protocol::request::Complete;
use tabsense_rank::{Context, Kind, Recent, Slot, before};

use crate::complete::Completion;
use crate::judge::markers;
use crate::sessions::Command;

/// The most that reading the working directory for the model may take.
const NAMES_BUDGET: Duration = Duration::from_millis(3);

/// Around the line: what the model's state is made of.
pub(crate) struct Around {
    commands: Vec<Command>,
    names: Vec<&'static [u8]>,
}

impl Around {
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
        ask: &'a Complete,
        recent: &'a [Recent<'a>],
    ) -> Context<'a> {
        Context {
            cwd: &ask.cwd,
            home: &ask.home,
            recent,
            listing: &self.names,
            ..Context::default()
        }
    }
}

impl Completion<'_> {
    /// Looks around, and lets the model begin with what it sees if it is likely to be asked.
    pub(crate) fn look_around(&self) -> Around {
        let around = Around {
            commands: self.worker.lock_sessions().recent(self.session),
            names: self.known_names(),
        };
        let weights = &self.worker.adapter.weights().model;
        let asked = weights.command.max(weights.word).max(weights.path) > 0.0;
        if asked && self.ask.candidates.len() > 1 {
            let words: Vec<&[u8]> = self.parsed.words.iter().map(Vec::as_slice).collect();
            let slot = Slot {
                words: &words,
                typed: &self.parsed.typed,
            };
            let recent = around.recent();
            let context = around.context(self.ask, &recent);
            self.worker
                .judge
                .read_ahead(&context, &before(&slot), self.deadline);
        }
        around
    }

    /// The names in the working directory that the model knows.
    fn known_names(&self) -> Vec<&'static [u8]> {
        let Ok(here) = self
            .worker
            .listings
            .list(&self.places.cwd, self.left(NAMES_BUDGET))
        else {
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
}

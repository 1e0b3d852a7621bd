//! `tabsense do`: from a phrase to the command that does it here.
//!
//! A request passes through these files in this order: [`surroundings`] reads where and by whom it
//! is asked, [`catalogue`] says what is known there, [`choose`] decides with the model ([`mind`]),
//! and [`answer`] makes commands of what was chosen. All of it is loaded when the first phrase
//! comes, and nothing of it touches a completion.

mod answer;
mod catalogue;
mod choose;
mod disk;
mod doubt;
mod eval;
mod kept;
mod mac;
mod mind;
mod question;
mod set;
mod surroundings;
mod verbs;

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use tabsense_config::{Paths, Settings};
use tabsense_model::Refused;
use tabsense_protocol::reply::{self, Chosen, Reason, Stage};
use tabsense_protocol::request::Do;

use crate::server::refused;
use crate::state::Worker;
use catalogue::Catalogue;
use choose::choose;
pub(crate) use eval::eval;
use mind::Mind;
use surroundings::surroundings;

/// What is kept of the client's budget for the way back.
const RESERVE: Duration = Duration::from_millis(15);

/// What the model needs of the time that there is, at most, and what words alone and the command do.
const DECISION: Duration = Duration::from_millis(80);
const WORDS: Duration = Duration::from_millis(40);

/// Everything that `tabsense do` keeps warm.
pub(crate) struct Shortcuts {
    settings: Settings,
    paths: Paths,
    catalogue: OnceLock<Catalogue>,
    mind: Mutex<Option<Result<Arc<Mind>, String>>>,
}

impl Shortcuts {
    /// Nothing is read or loaded before the first phrase.
    pub(crate) fn new(settings: &Settings, paths: &Paths) -> Self {
        Self {
            settings: settings.clone(),
            paths: paths.clone(),
            catalogue: OnceLock::new(),
            mind: Mutex::default(),
        }
    }

    fn catalogue(&self) -> &Catalogue {
        self.catalogue
            .get_or_init(|| Catalogue::new(self.paths.shortcuts()))
    }

    /// The model, which is started now if it has not been.
    fn mind(&self) -> Result<Arc<Mind>, String> {
        let mut mind = self.mind.lock().unwrap_or_else(PoisonError::into_inner);
        mind.get_or_insert_with(|| {
            let mind = Mind::start(&self.settings, &self.paths)?;
            self.read_builtin(&mind);
            Ok(mind)
        })
        .clone()
    }

    /// Whether the first phrase still waits for what is read and loaded then.
    fn is_starting(&self) -> bool {
        // It is locked while the built-in shortcuts are read.
        match self.mind.try_lock() {
            Ok(mind) => match mind.as_ref() {
                Some(Ok(mind)) => mind.is_loading(),
                Some(Err(_)) => false,
                None => true,
            },
            Err(_) => true,
        }
    }

    /// Has the built-in texts read in the background and the result kept on disk.
    fn read_builtin(&self, mind: &Arc<Mind>) {
        let (mind, builtin) = (Arc::clone(mind), Arc::clone(self.catalogue().builtin()));
        let read = move || {
            mind.read(&builtin);
            mind.store(&builtin);
        };
        // Without a thread to spare, texts are read when a phrase needs them.
        let _ = std::thread::Builder::new()
            .name("shortcut vectors".to_owned())
            .spawn(read);
    }

    /// Answers one phrase.
    fn choose(&self, ask: &Do, received: Instant, deadline: Instant) -> Chosen {
        let mut stages = Stages::new(received);
        let phrase = String::from_utf8_lossy(&ask.phrase);
        let phrase = phrase.trim();
        let there = surroundings(ask);
        let starting = self.is_starting();
        // The model is loaded while the sources are looked at.
        let mind = self.mind();
        let known = self.catalogue().known(&there, deadline);
        stages.note("gather");
        // What is left then is for the decision, for words alone, and for the command.
        let part = deadline.saturating_duration_since(received) / 4;
        let loaded = deadline - part.min(DECISION);
        let latest = deadline - part.min(WORDS);
        let ready = mind.and_then(|mind| mind.wait(Some(loaded)).map(|info| (mind, info)));
        stages.note("load");
        if let Ok((mind, _)) = &ready {
            known.new.iter().for_each(|set| mind.read_later(set));
        }
        let mind = ready.as_ref().ok().map(|(mind, _)| mind.as_ref());
        let (choices, decided) = choose(&known.sets, phrase, mind, Some(latest));
        stages.note("decide");
        let model = match (&ready, decided) {
            (Err(why), _) => why.clone(),
            (Ok(_), Err(why)) => refusal(&why, starting),
            (Ok((_, info)), Ok(())) => format!("{}, {}", named(&info.directory), info.backend),
        };
        let unread = known.sets.iter().filter(|set| set.is_read);
        let unread = unread.map(|set| set.unread().len() as u64).sum();
        let choices_told = answer::choices(&choices, phrase, ask, &there);
        stages.note("command");
        Chosen {
            choices: choices_told,
            none: choices.none,
            decided: choices.decided,
            model,
            problems: known.problems,
            stages: stages.told,
            known: known
                .sets
                .iter()
                .map(|set| set.shortcuts.len() as u64)
                .sum(),
            unread,
        }
    }
}

/// Why a model that is there did not decide. What it has to read before its first decision is a part of its
/// start.
fn refusal(why: &Refused, starting: bool) -> String {
    match why {
        Refused::Late if starting => mind::LOADING.to_owned(),
        _ => why.to_string(),
    }
}

fn named(directory: &std::path::Path) -> String {
    let name = directory.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// Times of the steps.
struct Stages {
    last: Instant,
    told: Vec<Stage>,
}

impl Stages {
    fn new(last: Instant) -> Self {
        Self {
            last,
            told: Vec::new(),
        }
    }

    fn note(&mut self, name: &str) {
        let now = Instant::now();
        let micros = now.duration_since(self.last).as_micros();
        self.told.push(Stage {
            name: name.to_owned(),
            micros: u64::try_from(micros).unwrap_or(u64::MAX),
        });
        self.last = now;
    }
}

/// Answers a request in time, or says that it cannot.
pub(crate) async fn answer(worker: &Arc<Worker>, ask: Do, received: Instant) -> reply::Body {
    let budget = Duration::from_millis(ask.budget_ms.into()).saturating_sub(RESERVE);
    let deadline = received + budget.max(Duration::from_millis(1));
    let shared = Arc::clone(worker);
    // Words alone are compared when the model is late; that takes a little, too.
    let latest = match worker.shortcuts.is_starting() {
        true => deadline,
        false => deadline + RESERVE / 2,
    };
    let work =
        tokio::task::spawn_blocking(move || shared.shortcuts.choose(&ask, received, deadline));
    match tokio::time::timeout_at(latest.into(), work).await {
        Ok(Ok(chosen)) => reply::Body::Chosen(chosen),
        Ok(Err(panic)) => {
            tracing::error!("a phrase failed: {panic}");
            refused(Reason::Failed, "the phrase could not be answered", "")
        }
        Err(_) if worker.shortcuts.is_starting() => reply::Body::Chosen(Chosen {
            model: mind::LOADING.to_owned(),
            ..Chosen::default()
        }),
        Err(_) => refused(Reason::Busy, "no answer in time", "ask again"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_decision_that_comes_too_late_is_told_as_a_start() {
        assert_eq!(refusal(&Refused::Late, true), mind::LOADING);
        assert_eq!(refusal(&Refused::Late, false), "the deadline passed");
        for starting in [false, true] {
            assert_eq!(refusal(&Refused::Busy, starting), Refused::Busy.to_string());
        }
    }
}

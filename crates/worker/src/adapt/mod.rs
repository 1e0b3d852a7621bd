//! Adapting the ranking to this user: when, where and what is said about it. How it is fitted and
//! judged stands in `tabsense_rank::eval::adapt`.
//!
//! One thread at a time, with the lowest priority, that rests while somebody presses TAB. It reads
//! the store with a connection of its own, writes one file, and changes the weights in use.

mod file;
mod own;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use tabsense_config::Paths;
use tabsense_protocol::reply::{self, Reason};
use tabsense_protocol::request;
use tabsense_rank::eval::adapt::{SHORTEST, adapt};
use tabsense_rank::{Decide, Weights};
use tokio::sync::oneshot;
use tracing::{info, warn};

use crate::server::refused;
use crate::state::{Worker, now};
use file::{Adapted, Unusable};

/// Seconds between two runs that nobody asked for.
const EVERY: i64 = 24 * 3600;

/// New commands before it is worth another run.
const NEW: u64 = 200;

/// How long the worker must have lived, and nobody used it, before a run that nobody asked for.
const SETTLED: Duration = Duration::from_secs(600);
const QUIET: Duration = Duration::from_secs(30);

/// While somebody used the worker so lately, the thread rests between two prompts.
const BUSY: Duration = Duration::from_millis(500);
const REST: Duration = Duration::from_millis(20);

/// The weights in use, and where they came from.
pub(crate) struct Adapter {
    file: PathBuf,
    history: PathBuf,
    weights: RwLock<Arc<Weights>>,
    state: Mutex<State>,
}

struct State {
    /// What was found out last, or why nothing is known.
    known: Result<Adapted, Unusable>,
    /// Set to end the run that is going on.
    running: Option<Arc<AtomicBool>>,
    /// When the last run began, however it ended (Unix seconds); 0: never.
    tried: i64,
}

impl Adapter {
    /// Takes the weights of the file, if it can be used.
    pub(crate) fn load(paths: &Paths) -> Self {
        let file = paths.adapted();
        let known = Adapted::read(&file);
        if let Err(why @ (Unusable::Damaged(..) | Unusable::Other(_))) = &known {
            warn!("{why}");
        }
        let weights = known
            .as_ref()
            .map_or_else(|_| Weights::default(), Adapted::weights);
        let tried = known.as_ref().map_or(0, |known| known.at);
        Self {
            file,
            history: paths.history(),
            weights: RwLock::new(Arc::new(weights)),
            state: Mutex::new(State {
                known,
                running: None,
                tried,
            }),
        }
    }

    /// The weights to rank with.
    pub(crate) fn weights(&self) -> Arc<Weights> {
        let weights = self.weights.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&weights)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_weights(&self, weights: Weights) {
        *self.weights.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(weights);
    }

    /// Whether adapted weights are in use.
    pub(crate) fn is_adapted(&self) -> bool {
        let state = self.lock();
        state
            .known
            .as_ref()
            .is_ok_and(|known| !known.kept().is_empty())
    }

    /// How it stands, for people.
    pub(crate) fn describe(&self) -> String {
        let state = self.lock();
        let running = if state.running.is_some() {
            "; adapting now"
        } else {
            ""
        };
        format!("{}{running}", in_words(&state.known))
    }

    /// Why the model does not rank, if this user's history is why.
    pub(crate) fn model_off(&self) -> Option<String> {
        let state = self.lock();
        let model = state.known.as_ref().ok()?.model.as_ref()?;
        (!model.kept).then(|| {
            format!(
                "not used for ranking: it does not help on your history (mean reciprocal rank \
                 {:.3} with it, {:.3} without, {} words)",
                model.with, model.without, model.cases
            )
        })
    }

    /// Whether a run is due that nobody asked for.
    fn is_due(&self, now: i64, history: u64) -> bool {
        let state = self.lock();
        let then = state.known.as_ref().map_or(0, |known| known.history);
        let elapsed = now.saturating_sub(state.tried);
        // A time that is yet to come is a clock that was wrong.
        let is_time = !(-EVERY..EVERY).contains(&elapsed);
        is_time && history >= SHORTEST as u64 && history.abs_diff(then) >= NEW
    }

    /// Marks the run as going on; `None` when one is. A run that fails counts as well: what made it
    /// fail is there for a while, and each costs seconds of a processor.
    fn begin(&self, now: i64) -> Option<Arc<AtomicBool>> {
        let mut state = self.lock();
        if state.running.is_some() {
            return None;
        }
        let stop = Arc::new(AtomicBool::new(false));
        state.running = Some(Arc::clone(&stop));
        state.tried = now;
        Some(stop)
    }

    /// Goes back to the built-in weights.
    fn reset(&self) -> std::io::Result<()> {
        let mut state = self.lock();
        if let Some(stop) = &state.running {
            stop.store(true, Ordering::Relaxed);
        }
        match std::fs::remove_file(&self.file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        state.known = Err(Unusable::Absent);
        self.set_weights(Weights::default());
        Ok(())
    }

    /// Takes the result of a run, unless it was told to stop meanwhile.
    fn finish(&self, stop: &AtomicBool, found: Result<Adapted, String>) -> Result<Adapted, String> {
        let mut state = self.lock();
        state.running = None;
        let found = match found {
            _ if stop.load(Ordering::Relaxed) => Err("stopped".to_owned()),
            found => found,
        }?;
        if let Err(error) = found.write(&self.file) {
            warn!("{}: {error}", self.file.display());
            return Err(format!("{}: {error}", self.file.display()));
        }
        self.set_weights(found.weights());
        state.known = Ok(found.clone());
        Ok(found)
    }
}

/// Adapts on request, or goes back.
pub(crate) async fn answer(worker: &Arc<Worker>, ask: request::Adapt) -> reply::Body {
    if ask.reset {
        return match worker.adapter.reset() {
            Ok(()) => told("the ranking is as it came", &worker.adapter.lock().known),
            Err(error) => refused(
                Reason::Failed,
                format!("{}: {error}", worker.adapter.file.display()),
                "",
            ),
        };
    }
    let (done, found) = oneshot::channel();
    if !start(worker, Some(done)) {
        return refused(
            Reason::Busy,
            "an adaptation is under way",
            "`tabsense worker status` says when it is done",
        );
    }
    match found.await {
        Ok(Ok(())) => told("", &worker.adapter.lock().known),
        Ok(Err(why)) => refused(Reason::Failed, why, ""),
        Err(_) => refused(Reason::Failed, "the adaptation failed", ""),
    }
}

fn told(text: &str, known: &Result<Adapted, Unusable>) -> reply::Body {
    let json = match known {
        Ok(known) => serde_json::to_string_pretty(known).unwrap_or_default(),
        Err(_) => "{}".to_owned(),
    };
    let text = match text {
        "" => in_words(known),
        text => text.to_owned(),
    };
    reply::Body::Adapted(reply::Adapted { text, json })
}

/// Starts a run that nobody asked for, if one is due and the machine is quiet.
pub(crate) fn start_if_due(worker: &Arc<Worker>) {
    let quiet = worker.uptime() >= SETTLED && worker.idle() >= QUIET;
    let wanted = worker.settings.worker_adapt() && std::env::var_os("TABSENSE_TRY").is_none();
    let history = worker.recorder.state().count;
    if quiet && wanted && worker.adapter.is_due(now(), history) {
        start(worker, None);
    }
}

/// Starts a run; false when one is going on.
fn start(worker: &Arc<Worker>, done: Option<oneshot::Sender<Result<(), String>>>) -> bool {
    let Some(stop) = worker.adapter.begin(now()) else {
        return false;
    };
    let shared = Arc::clone(worker);
    let flag = Arc::clone(&stop);
    let spawned = std::thread::Builder::new()
        .name("adapt".into())
        .spawn(move || {
            lower_priority();
            let run = std::panic::AssertUnwindSafe(|| run(&shared, &flag));
            let found = std::panic::catch_unwind(run)
                .unwrap_or_else(|_| Err("the adaptation failed".to_owned()));
            let found = shared.adapter.finish(&flag, found);
            match &found {
                Ok(found) => info!("{}", in_words(&Ok(found.clone()))),
                Err(why) => info!("not adapted: {why}"),
            }
            if let Some(done) = done {
                let _ = done.send(found.map(drop));
            }
        });
    if let Err(error) = spawned {
        warn!("the adaptation could not start: {error}");
        worker.adapter.lock().running = None;
        return false;
    }
    true
}

/// Only on Linux is a thread's priority its own.
fn lower_priority() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::nice(19);
}

fn run(worker: &Worker, stop: &AtomicBool) -> Result<Adapted, String> {
    let (user, shown, history) =
        own::read(&worker.adapter.history).map_err(|error| error.to_string())?;
    let stopped = || {
        if worker.idle() < BUSY {
            std::thread::sleep(REST);
        }
        stop.load(Ordering::Relaxed)
    };
    let mut voice = worker.judge.for_background();
    let model = voice.as_mut().map(|voice| voice as &mut dyn Decide);
    let outcome = adapt(&user, &shown, &Weights::default(), model, &stopped)
        .map_err(|error| error.to_string())?;
    Ok(Adapted::new(&outcome, now(), history, user.commands.len()))
}

/// What is known, in one line.
fn in_words(known: &Result<Adapted, Unusable>) -> String {
    let known = match known {
        Ok(known) => known,
        Err(why) => return format!("as it came: {why}"),
    };
    let day = jiff::Timestamp::from_second(known.at)
        .map_or_else(|_| String::new(), |at| at.strftime("%Y-%m-%d").to_string());
    let gain = |name: &&str| {
        let gain = known.judged.get(*name).map_or(0.0, |judged| judged.gain);
        format!("{name} +{:.1} %", 100.0 * gain)
    };
    let kept: Vec<String> = known.kept().iter().map(gain).collect();
    match kept.as_slice() {
        [] => format!(
            "as it came: on {} commands nothing was better by more than chance ({day})",
            known.replayed
        ),
        kept => format!(
            "adapted to {} commands: {} ({day})",
            known.replayed,
            kept.join(", ")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn adapter(data: &std::path::Path) -> Adapter {
        Adapter {
            file: data.join("adapted.json"),
            history: data.join("history.db"),
            weights: RwLock::default(),
            state: Mutex::new(State {
                known: Err(Unusable::Absent),
                running: None,
                tried: 0,
            }),
        }
    }

    fn found(at: i64, history: u64) -> Adapted {
        let verdict = tabsense_rank::eval::adapt::Verdict::default();
        let outcome = tabsense_rank::eval::adapt::Outcome {
            weights: Weights::default(),
            lines: verdict,
            words: verdict,
            directories: verdict,
            model: None,
        };
        Adapted::new(&outcome, at, history, 2000)
    }

    #[test]
    fn a_run_is_due_once_a_day_when_enough_is_new() {
        let data = tempfile::tempdir().expect("tempdir");
        let adapter = adapter(data.path());
        let day = 1_700_000_000;
        assert!(!adapter.is_due(day, SHORTEST as u64 - 1));
        assert!(adapter.is_due(day, SHORTEST as u64));
        adapter.lock().known = Ok(found(day, 5000));
        adapter.lock().tried = day;
        assert!(!adapter.is_due(day + EVERY - 1, 9000));
        assert!(!adapter.is_due(day + EVERY, 5000 + NEW - 1));
        assert!(adapter.is_due(day + EVERY, 5000 + NEW));
        // The clock was a year ahead.
        assert!(adapter.is_due(day - 365 * EVERY, 5000 + NEW));
    }

    #[test]
    fn a_run_that_failed_is_not_tried_again_before_the_next_day() {
        let data = tempfile::tempdir().expect("tempdir");
        let adapter = adapter(data.path());
        let day = 1_700_000_000;
        let stop = adapter.begin(day).expect("begun");
        let failed = adapter.finish(&stop, Err("the disk is full".to_owned()));
        assert!(failed.is_err());
        assert!(!adapter.is_due(day + 60, 9000));
        assert!(!adapter.is_due(day + EVERY - 1, 9000));
        assert!(adapter.is_due(day + EVERY, 9000));
        // Who asks for one is not kept waiting.
        assert!(adapter.begin(day + 60).is_some());
    }

    #[test]
    fn a_run_of_an_earlier_life_counts() {
        let data = tempfile::tempdir().expect("tempdir");
        let day = 1_700_000_000;
        let earlier = adapter(data.path());
        let stop = earlier.begin(day).expect("begun");
        earlier.finish(&stop, Ok(found(day, 5000))).expect("kept");
        let paths = Paths {
            home: data.path().to_owned(),
            runtime: data.path().join("run"),
            data: data.path().to_owned(),
            config: data.path().join("config.toml"),
        };
        let adapter = Adapter::load(&paths);
        assert!(!adapter.is_due(day + EVERY - 1, 9000));
        assert!(adapter.is_due(day + EVERY, 9000));
    }

    #[test]
    fn there_is_one_run_at_a_time_and_a_reset_ends_it() {
        let data = tempfile::tempdir().expect("tempdir");
        let adapter = adapter(data.path());
        let stop = adapter.begin(1).expect("begun");
        assert!(adapter.begin(1).is_none());
        assert!(adapter.describe().contains("adapting now"));
        adapter.reset().expect("reset");
        assert_eq!(
            adapter.finish(&stop, Ok(found(1, 1))),
            Err("stopped".to_owned())
        );
        assert!(!adapter.file.exists());
        assert!(adapter.begin(1).is_some());
    }

    #[test]
    fn what_was_found_is_written_and_goes_with_a_reset() {
        let data = tempfile::tempdir().expect("tempdir");
        let adapter = adapter(data.path());
        let stop = adapter.begin(1).expect("begun");
        adapter.finish(&stop, Ok(found(1, 1))).expect("finished");
        assert!(adapter.file.exists());
        assert!(
            adapter
                .describe()
                .starts_with("as it came: on 2000 commands")
        );
        adapter.reset().expect("reset");
        assert!(!adapter.file.exists());
        assert_eq!(adapter.describe(), "as it came: never adapted");
    }
}

//! The decision model beside the statistics: which checkpoint, how it stands, what it is asked.
//!
//! The model runs on a thread of its own ([`tabsense_model::Runner`]); a request waits for it only
//! as long as its own time lasts, and is answered from statistics alone otherwise.

pub(crate) mod builtin;
mod text;

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use tabsense_config::{Paths, Settings};
use tabsense_model::{Decision, Error, Info, Model, Options, Precision, Refused, Runner, Status};
use tabsense_rank::{Asks, Context, Decide, Question};

pub(crate) use text::markers;

/// What the model is asked about a word, and about a whole line.
const NEXT_WORD: &str = "next word";
const NEXT_LINE: &str = "next line";

/// The option "none of these": the model was trained with it among the options.
const NONE: &[u8] = b"(none)";

/// A typical request in tokens: the state and its options.
const TYPICAL_TOKENS: usize = 256;

/// A model that takes longer than this for a typical request is not asked on TAB.
const SLOWEST: Duration = Duration::from_millis(35);

/// Threads that share a pass at most.
const THREADS: usize = 2;

/// The share of the worker's memory that a model's weights may take.
const MEMORY_SHARE: u64 = 2;

/// The model of this worker, if there is one.
pub(crate) struct Judge {
    runner: Option<Runner>,
    /// Why there is none.
    without: String,
    /// Why it is not the one that was asked for.
    instead: Arc<OnceLock<String>>,
}

/// Where the checkpoint lies that is called `named`, the built-in one unpacked if it is not yet.
pub(crate) fn directory(named: &str, paths: &Paths) -> tabsense_model::Result<PathBuf> {
    if named != "builtin" {
        return Ok(PathBuf::from(named));
    }
    let failed = |source| Error::Io {
        path: paths.data.clone(),
        source,
    };
    paths
        .create_data()
        .map_err(|error| failed(std::io::Error::other(error)))?;
    builtin::RANKING.unpack(&paths.data).map_err(failed)
}

/// How models are run here.
pub(crate) fn options() -> Options {
    Options {
        // Wide models: the top choice of completion cases moves in one of a thousand.
        precision: Precision::EightFast,
        // While somebody waits for TAB, a second processor mostly has nothing else to do.
        threads: Some(
            std::thread::available_parallelism().map_or(1, |cores| cores.get().min(THREADS)),
        ),
        ..Options::default()
    }
}

impl Judge {
    /// Starts the model that the settings name, or the built-in one in place of one that is too
    /// large. Unpacking and loading go on in the background.
    pub(crate) fn start(settings: &Settings, paths: &Paths) -> Self {
        let (named, paths) = (settings.model(), paths.clone());
        if named == "off" {
            return Self {
                runner: None,
                without: "off (set in config.toml)".to_owned(),
                instead: Arc::default(),
            };
        }
        let options = Options {
            memory_cap: Some((settings.worker_memory_mb() << 20) / MEMORY_SHARE),
            ..options()
        };
        let instead = Arc::new(OnceLock::new());
        let why = Arc::clone(&instead);
        let runner = Runner::start_with(move || {
            let load = |named: &str| Model::load(&directory(named, &paths)?, &options);
            let model = match load(&named) {
                Err(error @ Error::TooLarge { .. }) if named != "builtin" => {
                    tracing::warn!("{error}");
                    // Nobody else sets it.
                    let _ = why.set(format!("{named} is too large for worker.memory_mb"));
                    load("builtin")
                }
                other => other,
            };
            model.inspect_err(|error| tracing::warn!("no decision model: {error}"))
        });
        Self {
            runner: Some(runner),
            without: String::new(),
            instead,
        }
    }

    /// Loads the checkpoint in a directory.
    pub(crate) fn load(directory: &Path) -> Self {
        let directory = directory.to_owned();
        let runner = Runner::start_with(move || {
            Model::load(&directory, &options())
                .inspect_err(|error| tracing::warn!("no decision model: {error}"))
        });
        Self {
            runner: Some(runner),
            without: String::new(),
            instead: Arc::default(),
        }
    }

    /// What runs the model, unless it is off; `Err` says why.
    pub(crate) fn runner(&self) -> Result<&Runner, &str> {
        self.runner.as_ref().ok_or(&self.without)
    }

    /// How the model stands, for people.
    pub(crate) fn describe(&self) -> String {
        let Some(runner) = &self.runner else {
            return self.without.clone();
        };
        match runner.status() {
            Status::Loading => "loading".to_owned(),
            Status::Failed(why) => format!("off: {why}"),
            Status::Ready(info) => {
                let name = info
                    .directory
                    .file_name()
                    .unwrap_or_default()
                    .to_string_lossy();
                let slow = too_slow(&info).map_or_else(String::new, |time| {
                    format!(", too slow for TAB here ({} ms)", time.as_millis())
                });
                let instead = self.instead.get().map(|why| format!(" ({why})"));
                format!(
                    "{name}, {}{slow}{}",
                    info.backend,
                    instead.unwrap_or_default()
                )
            }
        }
    }

    /// A voice for one request, if the model is ready and fast enough.
    pub(crate) fn for_request(&self, session: &[u8], deadline: Instant) -> Option<Voice<'_>> {
        let runner = self.runner.as_ref()?;
        let Status::Ready(info) = runner.status() else {
            return None;
        };
        if too_slow(&info).is_some() {
            return None;
        }
        Some(Voice {
            runner,
            session: session.to_vec(),
            deadline: Some(deadline),
            tokenise: Duration::ZERO,
        })
    }

    /// Reads the state that the next request's words will be judged by, if the model is ready and fast
    /// enough. Returns at once.
    pub(crate) fn read_ahead(&self, context: &Context<'_>, before: &[u8], deadline: Instant) {
        if let Some(voice) = self.for_request(b"", deadline) {
            let question = Question {
                asks: Asks::Word,
                context,
                before,
                options: &[],
            };
            voice.runner.prepare(voice.decision(&question));
        }
    }

    /// Reads the states that the words after each of `befores` will be judged by, when nobody waits.
    pub(crate) fn read_likely(&self, context: &Context<'_>, befores: &[Vec<u8>]) {
        if let Some(voice) = self.for_background() {
            let state = |before: &Vec<u8>| {
                voice.decision(&Question {
                    asks: Asks::Word,
                    context,
                    before,
                    options: &[],
                })
            };
            voice
                .runner
                .prepare_likely(befores.iter().map(state).collect());
        }
    }

    /// A voice for work that nobody waits for, if the model is ready and fast enough for TAB.
    pub(crate) fn for_background(&self) -> Option<Voice<'_>> {
        // A session of its own: a newer question of the same one would take its place.
        self.for_request(b"adapt", Instant::now())
            .map(|voice| Voice {
                deadline: None,
                ..voice
            })
    }

    /// A voice that is waited for, however long it takes; `Err` says why there is none.
    pub(crate) fn patient(&self) -> Result<Voice<'_>, String> {
        let Some(runner) = &self.runner else {
            return Err(self.without.clone());
        };
        loop {
            match runner.status() {
                Status::Loading => std::thread::sleep(Duration::from_millis(5)),
                Status::Failed(why) => return Err(why),
                Status::Ready(_) => {
                    return Ok(Voice {
                        runner,
                        session: Vec::new(),
                        deadline: None,
                        tokenise: Duration::ZERO,
                    });
                }
            }
        }
    }
}

/// How long a typical request takes, if that is too long for TAB.
fn too_slow(info: &Info) -> Option<Duration> {
    info.expected(TYPICAL_TOKENS).filter(|time| *time > SLOWEST)
}

/// The model, as one request asks it.
pub(crate) struct Voice<'a> {
    runner: &'a Runner,
    session: Vec<u8>,
    deadline: Option<Instant>,
    tokenise: Duration,
}

impl Voice<'_> {
    /// How much of the model's time went into turning texts into tokens.
    pub(crate) fn tokenise(&self) -> Duration {
        self.tokenise
    }

    /// The question, as the model gets it.
    fn decision(&self, question: &Question<'_>) -> Decision {
        let mut options: Vec<Vec<u8>> = question.options.iter().map(|o| o.to_vec()).collect();
        options.push(NONE.to_vec());
        Decision {
            session: self.session.clone(),
            question: match question.asks {
                Asks::Word => NEXT_WORD.to_owned(),
                Asks::Line => NEXT_LINE.to_owned(),
            },
            state: text::state(question.context, question.before),
            options,
            deadline: self.deadline,
        }
    }
}

impl Decide for Voice<'_> {
    fn logits(&mut self, question: &Question<'_>) -> Option<Vec<f32>> {
        let decision = self.decision(question);
        match self.runner.decide(decision) {
            Ok(mut decided) => {
                // Against "none of these", so that answers about the same moment can be compared.
                let none = decided.logits.pop().unwrap_or_default();
                decided.logits.iter_mut().for_each(|logit| *logit -= none);
                self.tokenise += decided.tokenise;
                Some(decided.logits)
            }
            Err(Refused::Failed(why)) => {
                tracing::warn!("the model failed: {why}");
                None
            }
            Err(_) => None,
        }
    }
}

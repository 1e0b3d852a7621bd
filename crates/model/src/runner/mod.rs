//! One thread that owns a model, and the queue that leads to it.
//!
//! - A newer decision of the same session takes the place of an older one: a waiting one is
//!   answered [`Refused::Superseded`] at once, a running one stops at its next layer.
//! - At most [`WAITING`] requests wait; the rest are refused at once with [`Refused::Busy`], and
//!   the caller goes on with statistics alone.
//! - A panic ends the request it happened in, not the thread.
//! - The warm-up runs while nobody waits, and stops at its next layer when somebody comes.
//! - An idle thread sleeps on the queue and uses no processor time.

mod separate;
mod slots;
mod thread;

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::answer::Answer;
use crate::config::Layout;
use crate::error::{Error, Result};
use crate::model::{Model, Options, State};
use crate::question::Question;
use crate::separate::Phrase;

/// Requests that may wait while one runs.
pub const WAITING: usize = 4;

/// Scoring the candidates of one completion.
#[derive(Debug, Clone, Default)]
pub struct Decision {
    /// Whose it is: a newer decision of the same session replaces it.
    pub session: Vec<u8>,
    /// What to decide; the same text in every decision of a kind.
    pub question: String,
    /// What the options are judged by. A `cached` model keeps what it made of the latest states.
    pub state: State,
    /// The candidates. Bytes that are not UTF-8 are read as U+FFFD.
    pub options: Vec<Vec<u8>>,
    /// After which the answer is of no use.
    pub deadline: Option<Instant>,
}

/// The outcome of a [`Decision`].
#[derive(Debug, Clone, PartialEq)]
pub struct Decided {
    /// One logit for each option, in the order given.
    pub logits: Vec<f32>,
    /// By which logits are divided before a softmax makes them probabilities.
    pub temperature: f32,
    /// Time in the thread, without waiting.
    pub time: Duration,
    /// The part of it that went into turning texts into tokens.
    pub tokenise: Duration,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The model is still being loaded.
    #[error("the model is being loaded")]
    Loading,
    /// Too many requests wait.
    #[error("{WAITING} requests wait already")]
    Busy,
    /// A newer request of the same session came.
    #[error("a newer request came")]
    Superseded,
    /// The deadline passed first.
    #[error("the deadline passed")]
    Late,
    /// The model could not be loaded, or is being shut down.
    #[error("no model: {0}")]
    Gone(String),
    /// The request cannot be run, or running it failed.
    #[error("{0}")]
    Failed(String),
}

/// How the model stands.
#[derive(Debug, Clone)]
pub enum Status {
    /// The thread is reading the checkpoint.
    Loading,
    /// Requests are answered.
    Ready(Info),
    /// The checkpoint could not be loaded, and why.
    Failed(String),
}

/// About a loaded model.
#[derive(Debug, Clone)]
pub struct Info {
    /// Where it was loaded from.
    pub directory: PathBuf,
    /// How options are laid out: [`Runner::vectors`], [`Runner::phrase`] and [`Runner::compare`]
    /// are for [`Layout::Separate`].
    pub layout: Layout,
    /// Numbers of a hidden state, and so of a vector.
    pub hidden: usize,
    /// What runs it, such as `cpu (avx512-vnni, 8-bit)`.
    pub backend: String,
    /// Time from the start of the thread until requests are answered.
    pub load_time: Duration,
    /// Time of a pass by its length in tokens, from the warm-up.
    pub passes: Vec<(usize, Duration)>,
}

impl Info {
    /// What a pass of `tokens` tokens should take, by the nearest longer one of the warm-up.
    /// None until the warm-up has come so far.
    pub fn expected(&self, tokens: usize) -> Option<Duration> {
        let longer = self.passes.iter().find(|(len, _)| *len >= tokens);
        let (len, time) = longer.or(self.passes.last())?;
        let share = tokens as f64 / *len as f64;
        Some(if share > 1.0 {
            time.mul_f64(share)
        } else {
            *time
        })
    }
}

/// A handle on the thread; dropping it ends the thread.
pub struct Runner {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

type Reply<T> = Box<dyn FnOnce(std::result::Result<T, Refused>) + Send>;

enum Work {
    Decide(Decision, Reply<Decided>),
    Prepare(Decision),
    Ask {
        state: State,
        questions: Vec<Question>,
        deadline: Option<Instant>,
        reply: Reply<Vec<Answer>>,
    },
    Vectors {
        texts: Vec<String>,
        deadline: Option<Instant>,
        reply: Reply<Vec<f32>>,
    },
    Phrase {
        text: String,
        deadline: Option<Instant>,
        reply: Reply<Phrase>,
    },
    Compare {
        phrase: Phrase,
        options: Vec<f32>,
        deadline: Option<Instant>,
        reply: Reply<Decided>,
    },
}

impl Work {
    fn session(&self) -> Option<&[u8]> {
        match self {
            Self::Decide(decision, _) => Some(&decision.session),
            _ => None,
        }
    }

    fn deadline(&self) -> Option<Instant> {
        match self {
            Self::Decide(decision, _) | Self::Prepare(decision) => decision.deadline,
            Self::Ask { deadline, .. }
            | Self::Vectors { deadline, .. }
            | Self::Phrase { deadline, .. }
            | Self::Compare { deadline, .. } => *deadline,
        }
    }

    fn refuse(self, why: Refused) {
        match self {
            Self::Decide(_, reply) => reply(Err(why)),
            Self::Prepare(_) => {}
            Self::Ask { reply, .. } => reply(Err(why)),
            Self::Vectors { reply, .. } => reply(Err(why)),
            Self::Phrase { reply, .. } => reply(Err(why)),
            Self::Compare { reply, .. } => reply(Err(why)),
        }
    }
}

struct Shared {
    queue: Mutex<Queue>,
    wake: Condvar,
    status: Mutex<Status>,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Work>,
    running: Option<(Vec<u8>, Arc<AtomicBool>)>,
    /// Whose states are run when nobody waits.
    likely: VecDeque<Decision>,
    /// Stops a pass that nobody waits for.
    warming: Option<Arc<AtomicBool>>,
    closed: bool,
}

impl Runner {
    /// Starts a thread that loads the checkpoint in `directory` and answers from then on.
    pub fn start(directory: PathBuf, options: Options) -> Self {
        Self::start_with(move || Model::load(&directory, &options))
    }

    /// Starts a thread with a model made by `load` inside it.
    pub fn start_with(load: impl FnOnce() -> Result<Model> + Send + 'static) -> Self {
        let shared = Arc::new(Shared {
            queue: Mutex::default(),
            wake: Condvar::new(),
            status: Mutex::new(Status::Loading),
        });
        let inner = shared.clone();
        let run = move || thread::run(&inner, load);
        let thread = std::thread::Builder::new()
            .name("model".to_owned())
            .spawn(run);
        if let Err(error) = &thread {
            shared.set_status(Status::Failed(format!("no thread: {error}")));
        }
        Self {
            shared,
            thread: thread.ok(),
        }
    }

    /// How the model stands.
    pub fn status(&self) -> Status {
        self.shared
            .status
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Scores options and calls `reply` with the outcome: from the model's thread, or at once and
    /// from this one if the request is refused.
    pub fn submit(
        &self,
        decision: Decision,
        reply: impl FnOnce(std::result::Result<Decided, Refused>) + Send + 'static,
    ) {
        self.push(Work::Decide(decision, Box::new(reply)));
    }

    /// Scores options and waits for the outcome.
    ///
    /// # Errors
    /// Why there is none.
    pub fn decide(&self, decision: Decision) -> std::result::Result<Decided, Refused> {
        let (send, receive) = mpsc::sync_channel(1);
        self.submit(decision, move |outcome| drop(send.send(outcome)));
        receive.recv().unwrap_or_else(|_| Err(gone()))
    }

    /// Runs the state of decisions to come, so that they pay for their options alone. Does
    /// nothing if the model has no kept states or requests wait; options are not looked at.
    pub fn prepare(&self, decision: Decision) {
        if !self.shared.lock().waiting.is_empty() {
            return;
        }
        self.push(Work::Prepare(decision));
    }

    /// Runs the states of decisions that may come, one after the other, whenever nobody waits. They
    /// take the place of those that were to be run so far; options and deadlines are not looked at.
    pub fn prepare_likely(&self, decisions: Vec<Decision>) {
        if !matches!(self.status(), Status::Ready(_)) {
            return;
        }
        self.shared.lock().likely = decisions.into();
        self.shared.wake.notify_one();
    }

    /// Answers typed questions and calls `reply` with the answers, in order.
    pub fn ask(
        &self,
        state: State,
        questions: Vec<Question>,
        deadline: Option<Instant>,
        reply: impl FnOnce(std::result::Result<Vec<Answer>, Refused>) + Send + 'static,
    ) {
        self.push(Work::Ask {
            state,
            questions,
            deadline,
            reply: Box::new(reply),
        });
    }

    fn push(&self, work: Work) {
        let refusal = match self.status() {
            Status::Loading => Some(Refused::Loading),
            Status::Failed(reason) => Some(Refused::Gone(reason)),
            Status::Ready(_) => None,
        };
        if let Some(why) = refusal {
            return work.refuse(why);
        }
        let mut queue = self.shared.lock();
        let older = queue.supersede(work.session());
        queue.make_room();
        let full = queue.waiting.len() >= WAITING;
        let refused = if queue.closed || full {
            Some(work)
        } else {
            queue.waiting.push_back(work);
            if let Some(stop) = &queue.warming {
                stop.store(true, Ordering::Relaxed);
            }
            self.shared.wake.notify_one();
            None
        };
        // Replies run without the lock: they may take their time, or come back here.
        drop(queue);
        if let Some(work) = older {
            work.refuse(Refused::Superseded);
        }
        if let Some(work) = refused {
            work.refuse(if full { Refused::Busy } else { gone() });
        }
    }
}

impl Queue {
    /// What nobody waits for gives way to what somebody does.
    fn make_room(&mut self) {
        if self.waiting.len() >= WAITING {
            self.waiting
                .retain(|work| !matches!(work, Work::Prepare(_)));
        }
    }

    /// Stops what runs for this session, and takes out what waits for it.
    fn supersede(&mut self, session: Option<&[u8]>) -> Option<Work> {
        let session = session?;
        if let Some((running, stop)) = &self.running
            && running == session
        {
            stop.store(true, Ordering::Relaxed);
        }
        let place = self
            .waiting
            .iter()
            .position(|work| work.session() == Some(session))?;
        self.waiting.remove(place)
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        {
            let mut queue = self.shared.lock();
            queue.closed = true;
            let running = queue.running.as_ref().map(|(_, stop)| stop);
            for stop in running.into_iter().chain(&queue.warming) {
                stop.store(true, Ordering::Relaxed);
            }
        }
        self.shared.wake.notify_all();
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has nothing left to end.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_status(&self, status: Status) {
        *self.status.lock().unwrap_or_else(PoisonError::into_inner) = status;
    }
}

fn gone() -> Refused {
    Refused::Gone("it is being shut down".to_owned())
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        match error {
            Error::Stopped => Self::Late,
            other => Self::Failed(other.to_string()),
        }
    }
}

//! What runs in the model's thread.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::slots::Slots;
use super::{Decided, Decision, Info, Refused, Shared, Status, Work, gone};
use crate::answer::{Answer, temperature};
use crate::backend::Stop;
use crate::config::{Kind, Layout};
use crate::error::Result;
use crate::model::{Model, State};
use crate::question::Question;
use crate::sequence::Sequence;

/// Lengths of the passes of the warm-up, in tokens.
const WARM_UP: [usize; 3] = [64, 128, 256];
/// Passes of each length.
const WARM_UP_PASSES: usize = 3;

pub(super) fn run(shared: &Shared, load: impl FnOnce() -> Result<Model>) {
    let start = Instant::now();
    ask_for_interactive_time();
    let loaded = catch_unwind(AssertUnwindSafe(load));
    let model = match loaded {
        Ok(Ok(model)) => model,
        Ok(Err(error)) => return shared.set_status(Status::Failed(error.to_string())),
        Err(_) => return shared.set_status(Status::Failed("loading panicked".to_owned())),
    };
    let mut worker = Worker {
        model,
        slots: Slots::default(),
    };
    let mut info = worker.info(start);
    shared.set_status(Status::Ready(info.clone()));
    let mut left = VecDeque::from(WARM_UP);
    loop {
        match next(shared, left.is_empty()) {
            Next::Closed => return,
            Next::Serve(work, stop) => {
                worker.serve(work, &stop);
                shared.lock().running = None;
            }
            Next::Likely(decision, stop) => {
                worker.serve(Work::Prepare(decision), &stop);
                shared.lock().warming = None;
            }
            Next::WarmUp(stop) => {
                let tokens = left.front().copied().unwrap_or_default();
                let pass = catch_unwind(AssertUnwindSafe(|| worker.warm_up(tokens, &stop)));
                shared.lock().warming = None;
                match pass {
                    // Someone came; again when nobody waits.
                    Ok(Err(crate::Error::Stopped)) => continue,
                    Ok(Ok(time)) => {
                        info.passes.push((tokens, time));
                        shared.set_status(Status::Ready(info.clone()));
                    }
                    Ok(Err(_)) | Err(_) => {}
                }
                left.pop_front();
            }
        }
    }
}

/// What the thread does next.
enum Next {
    Serve(Work, Arc<AtomicBool>),
    /// Nobody waits: the state of a decision that may come.
    Likely(Decision, Arc<AtomicBool>),
    /// Nobody waits, and the warm-up is not done.
    WarmUp(Arc<AtomicBool>),
    /// The runner is gone.
    Closed,
}

fn next(shared: &Shared, warm: bool) -> Next {
    let mut queue = shared.lock();
    loop {
        if queue.closed {
            let left = std::mem::take(&mut queue.waiting);
            drop(queue);
            left.into_iter().for_each(|work| work.refuse(gone()));
            return Next::Closed;
        }
        let stop = Arc::new(AtomicBool::new(false));
        if let Some(work) = queue.waiting.pop_front() {
            queue.running = Some((work.session().unwrap_or_default().to_vec(), stop.clone()));
            return Next::Serve(work, stop);
        }
        if !warm {
            queue.warming = Some(stop.clone());
            return Next::WarmUp(stop);
        }
        if let Some(decision) = queue.likely.pop_front() {
            queue.warming = Some(stop.clone());
            return Next::Likely(decision, stop);
        }
        queue = shared
            .wake
            .wait(queue)
            .unwrap_or_else(std::sync::PoisonError::into_inner);
    }
}

pub(super) struct Worker {
    pub(super) model: Model,
    slots: Slots,
}

impl Worker {
    fn info(&mut self, start: Instant) -> Info {
        let backend = self.model.backend();
        let detail = backend.detail();
        let name = backend.name();
        Info {
            directory: self.model.directory().to_owned(),
            layout: self.model.agent().layout,
            hidden: self.model.encoder().hidden,
            backend: if detail.is_empty() {
                name.to_owned()
            } else {
                format!("{name} ({detail})")
            },
            load_time: start.elapsed(),
            passes: Vec::new(),
        }
    }

    /// A pass of `tokens` tokens, the quickest of a few: the first fills caches, and others may be
    /// held up by whatever else the machine does.
    fn warm_up(&mut self, tokens: usize, stop: &AtomicBool) -> Result<std::time::Duration> {
        let stop = Stop {
            flag: Some(stop),
            deadline: None,
        };
        if self.model.agent().layout == Layout::Separate {
            return self.warm_up_phrase(tokens, &stop);
        }
        if tokens > self.model.agent().max_len {
            return Err(crate::Error::Input("longer than its sequences".to_owned()));
        }
        let (cls, mask) = (self.model.tokens().cls, self.model.tokens().mask);
        let mut ids = vec![cls; tokens];
        ids[tokens - 1] = mask;
        let sequence = Sequence {
            ids,
            positions: (0..tokens as u32).collect(),
            owners: vec![0; tokens],
            markers: vec![tokens - 1],
            kind: Kind::Choice,
        };
        quickest(|| self.model.forward(&sequence, &stop).map(drop))
    }

    fn serve(&mut self, work: Work, flag: &AtomicBool) {
        let stop = Stop {
            flag: Some(flag),
            deadline: work.deadline(),
        };
        match work {
            Work::Decide(decision, reply) => {
                let outcome = self.guarded(&stop, |worker| worker.decide(&decision, &stop));
                deliver(|| reply(outcome));
            }
            Work::Prepare(decision) => {
                let _ = self.guarded(&stop, |worker| worker.prepare(&decision, &stop));
            }
            Work::Ask {
                state,
                questions,
                reply,
                ..
            } => {
                let outcome = self.guarded(&stop, |worker| worker.ask(&state, &questions, &stop));
                deliver(|| reply(outcome));
            }
            Work::Vectors { texts, reply, .. } => {
                let outcome = self.guarded(&stop, |worker| worker.model.vectors(&texts, &stop));
                deliver(|| reply(outcome));
            }
            Work::Phrase { text, reply, .. } => {
                let outcome = self.guarded(&stop, |worker| worker.model.phrase(&text, &stop));
                deliver(|| reply(outcome));
            }
            Work::Compare {
                phrase,
                options,
                reply,
                ..
            } => {
                let outcome =
                    self.guarded(&stop, |worker| worker.compare(&phrase, &options, &stop));
                deliver(|| reply(outcome));
            }
        }
    }

    /// Runs a request; what it leaves behind after a panic is thrown away.
    fn guarded<T>(
        &mut self,
        stop: &Stop,
        run: impl FnOnce(&mut Self) -> Result<T>,
    ) -> std::result::Result<T, Refused> {
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            stop.check()?;
            run(self)
        }));
        let superseded = stop.flag.is_some_and(|flag| flag.load(Ordering::Relaxed));
        match outcome {
            Ok(Err(crate::Error::Stopped)) if superseded => Err(Refused::Superseded),
            Ok(done) => done.map_err(Refused::from),
            Err(_) => {
                self.slots.clear(self.model.backend());
                Err(Refused::Failed("the model's code panicked".to_owned()))
            }
        }
    }

    fn decide(&mut self, decision: &Decision, stop: &Stop) -> Result<Decided> {
        let start = Instant::now();
        let options: Vec<_> = decision
            .options
            .iter()
            .map(|o| String::from_utf8_lossy(o))
            .collect();
        let (tokenise, output) = match self.model.agent().layout {
            Layout::Cached => {
                let state = self.state_piece(decision)?;
                let piece = self
                    .model
                    .options_piece(Kind::Choice, &options, state.ids.len())?;
                let tokenise = start.elapsed();
                let backend = self.model.backend();
                let slot = self.slots.of(state, backend, stop)?;
                (tokenise, self.slots.choose(slot, &piece, backend, stop)?)
            }
            Layout::Sequential | Layout::Parallel | Layout::Separate => {
                let options: Vec<String> = options.into_iter().map(Into::into).collect();
                let question = Question::choice("", &decision.question, &options);
                let sequence = self.model.sequence(&decision.state, &question)?;
                let tokenise = start.elapsed();
                (tokenise, self.model.forward(&sequence, stop)?)
            }
        };
        let temperature = temperature(self.model.agent(), Kind::Choice, output.logits.len());
        Ok(Decided {
            logits: output.logits,
            temperature,
            time: start.elapsed(),
            tokenise,
        })
    }

    fn state_piece(&mut self, decision: &Decision) -> Result<Sequence> {
        self.model
            .state_piece(Kind::Choice, &decision.question, &decision.state)
    }

    fn prepare(&mut self, decision: &Decision, stop: &Stop) -> Result<()> {
        if self.model.agent().layout == Layout::Cached {
            let state = self.state_piece(decision)?;
            self.slots.of(state, self.model.backend(), stop)?;
        }
        Ok(())
    }

    fn ask(&mut self, state: &State, questions: &[Question], stop: &Stop) -> Result<Vec<Answer>> {
        questions
            .iter()
            .map(|question| self.model.answer(state, question, stop))
            .collect()
    }
}

/// The time of the quickest of [`WARM_UP_PASSES`].
pub(super) fn quickest(mut pass: impl FnMut() -> Result<()>) -> Result<std::time::Duration> {
    let mut best = std::time::Duration::MAX;
    for _ in 0..WARM_UP_PASSES {
        let start = Instant::now();
        pass()?;
        best = best.min(start.elapsed());
    }
    Ok(best)
}

/// Calls someone else's code, whose panic is not ours.
fn deliver(reply: impl FnOnce()) {
    let _ = catch_unwind(AssertUnwindSafe(reply));
}

/// On macOS a thread says how urgent its work is; elsewhere the worker's priority counts.
#[cfg(target_os = "macos")]
#[expect(unsafe_code, reason = "the call has no safe form")]
fn ask_for_interactive_time() {
    unsafe extern "C" {
        fn pthread_set_qos_class_self_np(class: u32, priority: i32) -> i32;
    }
    /// `QOS_CLASS_USER_INTERACTIVE` of `<sys/qos.h>`.
    const USER_INTERACTIVE: u32 = 0x21;
    // SAFETY: part of libSystem; takes two numbers and changes this thread alone. Refusal is
    // harmless.
    let _ = unsafe { pthread_set_qos_class_self_np(USER_INTERACTIVE, 0) };
}

#[cfg(not(target_os = "macos"))]
fn ask_for_interactive_time() {}

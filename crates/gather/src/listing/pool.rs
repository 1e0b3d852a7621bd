//! Threads for file system calls that may hang.
//!
//! A call on a dead network mount can stay in the kernel for minutes. It then
//! holds one thread of this pool and nothing else: callers wait on their own
//! budget, requests for the same place are refused while it is stuck, and the
//! number of threads is bounded.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::Unavailable;
use super::mounts::Mounts;

/// Without progress for this long, work counts as stuck.
const STUCK: Duration = Duration::from_millis(200);
/// The same on a network file system, where waiting is more likely to go on.
const STUCK_NETWORK: Duration = Duration::from_millis(50);
/// Bounds of the pause that a slow place gets: eight times its longest call.
const PAUSE: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(60));
/// A thread without work ends after this time.
const IDLE: Duration = Duration::from_secs(10);
/// Work that waits for a thread; beyond that requests are refused.
const QUEUE: usize = 64;

/// How many threads may exist, and how many of them may be stuck before
/// requests on network mounts are refused.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Threads {
    pub all: usize,
    pub stuck: usize,
}

/// Whether trouble with the work says something about its directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Blame {
    /// The work touches the directory itself.
    Directory,
    /// The work follows links that may lead anywhere.
    Nobody,
}

/// Work for a thread of the pool.
pub(crate) type Task = Box<dyn FnOnce(&Beat) + Send>;

struct Running {
    directory: PathBuf,
    network: bool,
    blame: Blame,
    progress: Instant,
    /// The longest time between two signs of progress.
    gap: Duration,
}

impl Running {
    fn is_stuck(&self, now: Instant) -> bool {
        let limit = if self.network { STUCK_NETWORK } else { STUCK };
        now.saturating_duration_since(self.progress) > limit
    }
}

struct Pending {
    id: u64,
    running: Running,
    task: Task,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Pending>,
    running: HashMap<u64, Running>,
    /// Places that were slow, and until when they are left alone.
    paused: Vec<(PathBuf, Instant)>,
    mounts: Mounts,
    threads: usize,
    idle: usize,
    next: u64,
    closing: bool,
}

struct Inner {
    state: Mutex<State>,
    work: Condvar,
    threads: Threads,
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The pool. Dropping it lets its threads end when their work does.
pub(crate) struct Pool(Arc<Inner>);

/// Says that the work it was given to makes progress.
pub(crate) struct Beat {
    inner: Arc<Inner>,
    id: u64,
}

impl Beat {
    /// Call after each file system call, or each few dozen cheap ones.
    pub(crate) fn tick(&self) {
        if let Some(running) = self.inner.lock().running.get_mut(&self.id) {
            note(running, Instant::now());
        }
    }
}

fn note(running: &mut Running, now: Instant) {
    running.gap = running
        .gap
        .max(now.saturating_duration_since(running.progress));
    running.progress = now;
}

impl State {
    /// The place that is blamed for trouble at `directory`: its whole mount on
    /// a network file system, else only itself and what lies below.
    fn place(&mut self, directory: &Path, network: bool) -> PathBuf {
        match self.mounts.find(directory) {
            Some(mount) if network => mount.root.clone(),
            _ => directory.to_path_buf(),
        }
    }

    fn admit(&mut self, directory: &Path, limits: Threads) -> Result<bool, Unavailable> {
        let now = Instant::now();
        let network = self
            .mounts
            .find(directory)
            .is_some_and(|mount| mount.network);
        self.paused.retain(|(_, until)| *until > now);
        if self
            .paused
            .iter()
            .any(|(place, _)| directory.starts_with(place))
        {
            return Err(Unavailable::Slow);
        }
        let stuck: Vec<(PathBuf, bool, Blame)> = self
            .running
            .values()
            .filter(|running| running.is_stuck(now))
            .map(|running| (running.directory.clone(), running.network, running.blame))
            .collect();
        for (held, network, blame) in &stuck {
            if *blame == Blame::Directory && directory.starts_with(self.place(held, *network)) {
                return Err(Unavailable::Slow);
            }
        }
        if network && stuck.len() >= limits.stuck {
            return Err(Unavailable::Slow);
        }
        let full = self.threads >= limits.all && self.idle == 0;
        if full && (stuck.len() >= limits.all || self.queue.len() >= QUEUE) {
            return Err(Unavailable::Busy);
        }
        Ok(network)
    }

    /// Books the end of some work: a slow place is paused, a quick one is not.
    fn end(&mut self, id: u64) {
        let Some(mut running) = self.running.remove(&id) else {
            return;
        };
        let now = Instant::now();
        note(&mut running, now);
        if running.blame == Blame::Nobody {
            return;
        }
        let place = self.place(&running.directory, running.network);
        if running.gap <= STUCK {
            return;
        }
        self.paused.retain(|(other, _)| *other != place);
        self.paused
            .push((place, now + (running.gap * 8).clamp(PAUSE.0, PAUSE.1)));
    }
}

impl Pool {
    pub(crate) fn new(threads: Threads) -> Self {
        let state = Mutex::new(State::default());
        Self(Arc::new(Inner {
            state,
            work: Condvar::new(),
            threads,
        }))
    }

    /// Whether waiting for work that is under way in `directory` is any use.
    pub(crate) fn check(&self, directory: &Path) -> Result<(), Unavailable> {
        match self.0.lock().admit(directory, self.0.threads) {
            Err(Unavailable::Slow) => Err(Unavailable::Slow),
            _ => Ok(()),
        }
    }

    /// Runs `task` on a thread of the pool as soon as one is free.
    pub(crate) fn submit(
        &self,
        directory: &Path,
        blame: Blame,
        task: Task,
    ) -> Result<(), Unavailable> {
        let mut state = self.0.lock();
        let network = state.admit(directory, self.0.threads)?;
        let running = Running {
            directory: directory.to_path_buf(),
            network,
            blame,
            progress: Instant::now(),
            gap: Duration::ZERO,
        };
        let id = state.next;
        state.next += 1;
        state.queue.push_back(Pending { id, running, task });
        if state.idle < state.queue.len() && state.threads < self.0.threads.all {
            state.threads += 1;
            drop(state);
            return self.spawn(id);
        }
        drop(state);
        self.0.work.notify_one();
        Ok(())
    }

    fn spawn(&self, id: u64) -> Result<(), Unavailable> {
        let inner = Arc::clone(&self.0);
        let name = "tabsense-files".to_owned();
        let started = std::thread::Builder::new()
            .name(name)
            .spawn(move || serve(&inner));
        if started.is_ok() {
            return Ok(());
        }
        let mut state = self.0.lock();
        state.threads -= 1;
        state.queue.retain(|pending| pending.id != id);
        Err(Unavailable::Busy)
    }

    /// Threads alive, busy or idle.
    #[cfg(test)]
    pub(crate) fn threads(&self) -> usize {
        self.0.lock().threads
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.0.lock().closing = true;
        self.0.work.notify_all();
    }
}

/// The life of one thread.
fn serve(inner: &Arc<Inner>) {
    while let Some(Pending {
        id,
        mut running,
        task,
    }) = next(inner)
    {
        running.progress = Instant::now();
        inner.lock().running.insert(id, running);
        let beat = Beat {
            inner: Arc::clone(inner),
            id,
        };
        // A panic must not cost the pool a thread that it still counts.
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| task(&beat)));
        inner.lock().end(id);
        drop(outcome);
    }
}

/// The next piece of work, or `None` when the thread shall end.
fn next(inner: &Inner) -> Option<Pending> {
    let mut state = inner.lock();
    loop {
        if let Some(pending) = state.queue.pop_front() {
            return Some(pending);
        }
        if state.closing {
            state.threads -= 1;
            return None;
        }
        state.idle += 1;
        let waited = inner.work.wait_timeout(state, IDLE);
        let (locked, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        state = locked;
        state.idle -= 1;
        if timeout.timed_out() && state.queue.is_empty() {
            state.threads -= 1;
            return None;
        }
    }
}

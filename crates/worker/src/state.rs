//! What the worker keeps warm, shared by all requests.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};
use std::time::{Duration, Instant, SystemTime};

use tabsense_config::Settings;
use tabsense_gather::Listings;
use tabsense_gather::project::Projects;
use tabsense_protocol::reply::Status;
use tabsense_protocol::request::{Forget, Shell};
use tabsense_rank::{Feedback, Index};
use tokio::sync::Notify;

use crate::adapt::Adapter;
use crate::judge::Judge;
use crate::metrics::{Metrics, rss_mb};
use crate::offers::Answers;
use crate::recorder::Recorder;
use crate::sessions::Sessions;
use crate::shortcuts::Shortcuts;

/// Seconds since 1970.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

/// The warm state.
pub(crate) struct Worker {
    pub(crate) index: Arc<RwLock<Index>>,
    pub(crate) feedback: Arc<RwLock<Arc<Feedback>>>,
    pub(crate) adapter: Adapter,
    pub(crate) listings: Listings,
    pub(crate) projects: Projects,
    pub(crate) metrics: Metrics,
    pub(crate) recorder: Recorder,
    pub(crate) judge: Judge,
    pub(crate) shortcuts: Shortcuts,
    pub(crate) settings: Settings,
    pub(crate) host: String,
    sessions: Mutex<Sessions>,
    answers: Mutex<Answers>,
    shells_seen: Mutex<HashSet<Shell>>,
    started: Instant,
    /// Milliseconds after `started`.
    last_used: AtomicU64,
    stop: Notify,
}

impl Worker {
    /// A worker with nothing in memory yet; `recorder` fills `index`.
    pub(crate) fn new(
        index: Arc<RwLock<Index>>,
        feedback: Arc<RwLock<Arc<Feedback>>>,
        adapter: Adapter,
        recorder: Recorder,
        judge: Judge,
        shortcuts: Shortcuts,
        settings: Settings,
    ) -> Self {
        Self {
            index,
            feedback,
            adapter,
            listings: Listings::default(),
            projects: Projects::default(),
            metrics: Metrics::default(),
            recorder,
            judge,
            shortcuts,
            settings,
            host: rustix::system::uname()
                .nodename()
                .to_string_lossy()
                .into_owned(),
            sessions: Mutex::default(),
            answers: Mutex::default(),
            shells_seen: Mutex::default(),
            started: Instant::now(),
            last_used: AtomicU64::new(0),
            stop: Notify::new(),
        }
    }

    /// The statistics.
    pub(crate) fn read_index(&self) -> RwLockReadGuard<'_, Index> {
        self.index.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the shells did last.
    pub(crate) fn lock_sessions(&self) -> MutexGuard<'_, Sessions> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What became of lists that were offered before.
    pub(crate) fn feedback(&self) -> Arc<Feedback> {
        let feedback = self.feedback.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&feedback)
    }

    /// What was answered since the last prompts.
    pub(crate) fn lock_answers(&self) -> MutexGuard<'_, Answers> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether this is the first prompt of that shell that this worker hears of.
    pub(crate) fn first_prompt(&self, shell: Shell) -> bool {
        self.shells_seen
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(shell)
    }

    /// Notes that somebody uses the worker.
    pub(crate) fn touch(&self) {
        let millis = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.last_used.store(millis, Ordering::Relaxed);
    }

    /// How long nobody has used it.
    pub(crate) fn idle(&self) -> Duration {
        let used = Duration::from_millis(self.last_used.load(Ordering::Relaxed));
        self.started.elapsed().saturating_sub(used)
    }

    /// How long it has lived.
    pub(crate) fn uptime(&self) -> Duration {
        self.started.elapsed()
    }

    /// Asks the worker to end.
    pub(crate) fn stop(&self) {
        self.stop.notify_one();
    }

    /// Waits until it is asked to end.
    pub(crate) async fn stopped(&self) {
        self.stop.notified().await;
    }

    /// Takes commands out of what later rankings see at once.
    pub(crate) fn forget_in_memory(&self, forget: &Forget) {
        self.lock_answers().clear();
        let mut sessions = self.lock_sessions();
        if forget.everything {
            sessions.clear();
        } else {
            sessions.forget(&tabsense_history::redact(&forget.command));
        }
    }

    fn model(&self) -> String {
        let model = self.judge.describe();
        match self.adapter.model_off() {
            Some(why) if self.judge.runner().is_ok() => format!("{model}, {why}"),
            _ => model,
        }
    }

    /// How it is.
    pub(crate) fn status(&self) -> Status {
        let [p50_ms, p95_ms, p99_ms] = self.metrics.percentiles([50.0, 95.0, 99.0]);
        let store = self.recorder.state();
        Status {
            pid: std::process::id(),
            uptime_s: self.started.elapsed().as_secs(),
            model: self.model(),
            requests: self.metrics.requests(),
            p50_ms,
            p95_ms,
            p99_ms,
            rss_mb: rss_mb(),
            history: store.count,
            trouble: store.trouble,
            waiting: store.waiting,
            adaptation: self.adapter.describe(),
            adapted: self.adapter.is_adapted(),
        }
    }
}

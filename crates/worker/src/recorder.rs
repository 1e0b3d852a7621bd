//! The one thread that opens the store and changes the statistics.
//!
//! A store that is locked, full or damaged never holds anybody up: what could not be written waits
//! here and is tried again.

#[cfg(test)]
mod tests;
mod waiting;

use std::io;
use std::panic::AssertUnwindSafe;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender, TrySendError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tabsense_config::{Paths, Settings, was_imported};
use tabsense_history::{Error, Forget, Offer, Record, Store};
use tabsense_protocol::reply::{self, ImportedFile, Reason};
use tabsense_protocol::request::{self, Shell};
use tokio::sync::oneshot;
use tracing::{error, info, warn};

use crate::imports;
pub(crate) use crate::memory::Memory;
use crate::prompt::shell_name;
use crate::server::{done, refused};

use waiting::Waiting;

/// Jobs that may wait; more commands than this in a row are lost, and nobody types that fast.
const QUEUE: usize = 4096;

/// How long until a store that failed is tried again.
const RETRY: Duration = Duration::from_secs(1);

/// The same while no command waits for it.
const CALM_RETRY: Duration = Duration::from_secs(10);

/// The newest commands that the statistics are made of.
const REPLAYED: u64 = 1_000_000;

/// Commands that are added under one lock of the statistics.
const BATCH: usize = 512;

/// Something for the thread to do.
pub(crate) enum Job {
    /// Record a command (already redacted), and what was taken of the lists offered for it.
    Record(Record, Vec<Offer>),
    /// A shell's first prompt: import its history if there is none yet.
    FirstRun {
        shell: Shell,
        histfile: Vec<u8>,
    },
    Import(request::Import, oneshot::Sender<reply::Body>),
    Forget(request::Forget, oneshot::Sender<reply::Body>),
    Look(request::Look, oneshot::Sender<reply::Body>),
    /// Whatever shall see what was recorded before it.
    Then(Box<dyn FnOnce() + Send>),
    /// Write what waits, and end.
    Finish(oneshot::Sender<reply::Body>),
}

/// What is known of the store from outside.
#[derive(Debug, Clone, Default)]
pub(crate) struct StoreState {
    /// Commands in it.
    pub(crate) count: u64,
    /// What is wrong with it; empty when nothing is.
    pub(crate) trouble: String,
    /// Commands that wait to be written.
    pub(crate) waiting: u64,
}

/// The way to the thread.
pub(crate) struct Recorder {
    jobs: SyncSender<Job>,
    state: Arc<Mutex<StoreState>>,
}

impl Recorder {
    /// Starts the thread, which fills `index` from the store.
    pub(crate) fn start(paths: Paths, settings: Settings, memory: Memory) -> io::Result<Self> {
        let (jobs, inbox) = mpsc::sync_channel(QUEUE);
        let state = Arc::new(Mutex::new(StoreState::default()));
        let thread = Thread {
            paths,
            settings,
            memory,
            state: Arc::clone(&state),
            store: None,
            retry_at: None,
            loaded: false,
            pending: Waiting::default(),
            first_runs: Vec::new(),
            damaged: String::new(),
            said: String::new(),
        };
        std::thread::Builder::new()
            .name("recorder".into())
            .spawn(move || thread.run(&inbox))?;
        Ok(Self { jobs, state })
    }

    /// Hands a job over without waiting.
    pub(crate) fn send(&self, job: Job) {
        if let Err(TrySendError::Full(_)) = self.jobs.try_send(job) {
            warn!("too many commands at once; one is not recorded");
        }
    }

    /// Hands a job over and waits for its answer.
    pub(crate) async fn ask(
        &self,
        job: impl FnOnce(oneshot::Sender<reply::Body>) -> Job,
    ) -> reply::Body {
        let (answer, answered) = oneshot::channel();
        if self.jobs.try_send(job(answer)).is_err() {
            return refused(Reason::Busy, "the history is busy", "try again in a moment");
        }
        answered.await.unwrap_or_else(|_| {
            refused(
                Reason::Failed,
                "the history's thread has ended",
                "`tabsense worker restart`",
            )
        })
    }

    /// Lets the thread write what waits, for at most `limit`.
    pub(crate) async fn finish(&self, limit: Duration) {
        if tokio::time::timeout(limit, self.ask(Job::Finish))
            .await
            .is_err()
        {
            warn!("the last commands could not be written in time");
        }
    }

    /// How the store is.
    pub(crate) fn state(&self) -> StoreState {
        self.state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

struct Thread {
    paths: Paths,
    settings: Settings,
    memory: Memory,
    state: Arc<Mutex<StoreState>>,
    store: Option<Store>,
    retry_at: Option<Instant>,
    loaded: bool,
    pending: Waiting,
    /// Shells at their first prompt while there was no store, and their history files.
    first_runs: Vec<(Shell, Vec<u8>)>,
    /// What happened to a damaged store; told as long as this worker lives.
    damaged: String,
    /// The trouble that the log has already.
    said: String,
}

impl Thread {
    fn run(mut self, inbox: &Receiver<Job>) {
        self.open();
        loop {
            let first = match (self.pending.is_empty(), &self.store) {
                (true, Some(_)) => inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
                (true, None) => inbox.recv_timeout(CALM_RETRY),
                (false, _) => inbox.recv_timeout(RETRY),
            };
            match first {
                Ok(job) => {
                    for job in std::iter::once(job).chain(inbox.try_iter()) {
                        if let Some(finished) = self.survive(job) {
                            // The process ends with the answer: the file is closed before it.
                            drop(self.store.take());
                            let _ = finished.send(done(0));
                            return;
                        }
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return self.flush(),
            }
            self.flush();
        }
    }

    /// Does one job, and lives on when it panics: one bad record must not end all recording.
    fn survive(&mut self, job: Job) -> Option<oneshot::Sender<reply::Body>> {
        let outcome = std::panic::catch_unwind(AssertUnwindSafe(|| self.handle(job)));
        outcome.unwrap_or_else(|_| {
            error!("a job of the history's thread failed");
            None
        })
    }

    /// Does one job; gives the sender back when it was the last one.
    fn handle(&mut self, job: Job) -> Option<oneshot::Sender<reply::Body>> {
        match job {
            Job::Record(record, offers) => {
                self.memory.observe(std::slice::from_ref(&record));
                self.memory.heed(&offers);
                self.pending.push(record, offers);
            }
            Job::FirstRun { shell, histfile } => self.first_run(shell, &histfile),
            Job::Import(import, answer) => {
                let body = self.import(&import);
                let _ = answer.send(body);
            }
            Job::Forget(forget, answer) => {
                let body = self.forget(&forget);
                let _ = answer.send(body);
            }
            Job::Look(look, answer) => {
                let body = self.look(&look);
                let _ = answer.send(body);
            }
            Job::Then(run) => run(),
            Job::Finish(answer) => {
                self.retry_at = None;
                self.flush();
                return Some(answer);
            }
        }
        None
    }

    /// Opens the store and fills the statistics from it.
    fn open(&mut self) {
        if self.store.is_some() || self.retry_at.is_some_and(|at| Instant::now() < at) {
            return;
        }
        let opened = match self.paths.create_data() {
            Ok(()) => Store::open(&self.paths.history()).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        match opened {
            Ok(store) => self.take(store),
            Err(error) => {
                self.retry_at = Some(Instant::now() + RETRY);
                self.set_trouble(error);
            }
        }
    }

    /// Goes on with a store that was just opened.
    fn take(&mut self, store: Store) {
        if let Some(aside) = store.recovered() {
            self.damaged = format!("the history was damaged and is kept as {}", aside.display());
            warn!("{}", self.damaged);
        }
        let trouble = match store.is_writable() {
            true => String::new(),
            false => Error::ReadOnly {
                path: store.path().to_owned(),
            }
            .to_string(),
        };
        self.set_trouble(trouble);
        self.retry_at = None;
        self.store = Some(store);
        if !self.loaded {
            self.load();
        }
        self.count();
        for (shell, histfile) in std::mem::take(&mut self.first_runs) {
            self.first_run(shell, &histfile);
        }
    }

    /// Makes the statistics anew from the store and from what waits.
    fn load(&mut self) {
        let Some(store) = &self.store else { return };
        self.memory.clear();
        let start = Instant::now();
        let mut batch = imports::visits(store);
        let read = store.replay(REPLAYED, |record| {
            batch.push(record.clone());
            if batch.len() >= BATCH {
                self.memory.observe(&batch);
                batch.clear();
            }
        });
        self.memory.observe(&batch);
        match read {
            Ok(read) => info!("{read} commands read in {:?}", start.elapsed()),
            Err(error) => warn!("the history could not be read: {error}"),
        }
        self.memory.observe(self.pending.records());
        self.load_offers();
        self.loaded = true;
    }

    /// Learns anew what became of the lists that were offered.
    fn load_offers(&mut self) {
        let offers = match self.store.as_ref().map(Store::offers) {
            Some(Ok(offers)) => offers,
            Some(Err(error)) => {
                warn!("the lists that were offered could not be read: {error}");
                Vec::new()
            }
            None => Vec::new(),
        };
        self.memory.ignore_offers();
        self.memory.heed(&offers);
        self.memory.heed(self.pending.offers());
    }

    /// Writes what waits, if the store lets us.
    fn flush(&mut self) {
        self.open();
        if let Some(store) = &mut self.store
            && !self.pending.is_empty()
            && self.retry_at.is_none_or(|at| Instant::now() >= at)
        {
            match store.insert(self.pending.records()) {
                Ok(added) => {
                    // Only of use beside their commands, and of little use then: none waits.
                    if let Err(error) = store.insert_offers(self.pending.offers()) {
                        warn!("what was offered is not kept: {error}");
                    }
                    self.pending.clear();
                    self.lock_state().count += added;
                    self.retry_at = None;
                    self.set_trouble(String::new());
                    self.said.clear();
                }
                Err(error) => {
                    self.retry_at = Some(Instant::now() + RETRY);
                    self.set_trouble(error.to_string());
                    self.reopen_after(&error);
                }
            }
        }
        self.lock_state().waiting = self.pending.len() as u64;
    }

    /// A file that was damaged, replaced, removed or made read-only under us is opened anew.
    fn reopen_after(&mut self, error: &Error) {
        match error {
            Error::Corrupt { .. } => {
                self.store = None;
                if let Ok(store) = Store::open_checked(&self.paths.history()) {
                    self.take(store);
                }
            }
            Error::Replaced { .. } => {
                self.store = None;
                self.retry_at = None;
            }
            Error::ReadOnly { .. } => self.store = None,
            _ => {}
        }
    }

    /// Counts the commands of a store that was just opened or grew by an import. Counting a million
    /// takes too long to do it after each command.
    fn count(&mut self) {
        if let Some(Ok(count)) = self.store.as_ref().map(Store::count) {
            self.lock_state().count = count;
        }
    }

    /// Notes what is wrong now; empty when nothing is. The log has each trouble once.
    fn set_trouble(&mut self, trouble: String) {
        if !trouble.is_empty() && self.said != trouble {
            warn!("history: {trouble}");
            self.said.clone_from(&trouble);
        }
        let shown = match trouble.as_str() {
            "" => self.damaged.clone(),
            _ => trouble,
        };
        self.lock_state().trouble = shown;
    }

    fn lock_state(&self) -> std::sync::MutexGuard<'_, StoreState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes over what the shell itself remembers, once in the life of the store.
    fn first_run(&mut self, shell: Shell, histfile: &[u8]) {
        let wanted = self.settings.history_import() && std::env::var_os("TABSENSE_TRY").is_none();
        let name = shell_name(shell);
        if !wanted || was_imported(&self.paths.imported(), name) {
            return;
        }
        self.open();
        if self.store.is_none() {
            self.first_runs.push((shell, histfile.to_vec()));
            return;
        }
        let home = self.paths.home.clone().into_os_string();
        let import = imports::first_import(name, home, histfile);
        self.import_now(&import);
        if let Err(error) = imports::note_imported(&self.paths.imported(), &[name]) {
            warn!("{}: {error}", self.paths.imported().display());
        }
    }

    fn import(&mut self, import: &request::Import) -> reply::Body {
        self.flush();
        match self.import_now(import) {
            Some(files) => reply::Body::Imported(reply::Imported { files }),
            None => self.no_store(),
        }
    }

    fn import_now(&mut self, import: &request::Import) -> Option<Vec<ImportedFile>> {
        let files = imports::import(self.store.as_mut()?, import);
        if files.iter().any(|file| file.added > 0) {
            self.load();
        }
        self.count();
        Some(files)
    }

    fn forget(&mut self, forget: &request::Forget) -> reply::Body {
        let command = tabsense_history::redact(&forget.command);
        // What waits is taken out first: it must not reach the store later.
        let wanted = |record: &Record| !forget.everything && record.command != *command;
        let unwritten = self.pending.retain(wanted) as u64;
        self.forget_statistics(forget, &command);
        self.flush();
        let Some(store) = &mut self.store else {
            return self.no_store();
        };
        let removed = match forget.everything {
            true => store.delete_all(),
            false => store.forget(Forget::Command(&forget.command)),
        };
        self.load_offers();
        match removed {
            Ok(count) => {
                let mut state = self.lock_state();
                state.count = state.count.saturating_sub(count);
                done(count + unwritten)
            }
            Err(error) => refused(Reason::Failed, error.to_string(), ""),
        }
    }

    fn forget_statistics(&self, forget: &request::Forget, command: &[u8]) {
        let mut index = self.memory.write_index();
        if !forget.everything {
            index.forget(command);
            return;
        }
        *index = tabsense_rank::Index::new();
        drop(index);
        // A shell's own file must not bring it all back.
        let shells = [Shell::Zsh, Shell::Fish, Shell::Bash].map(shell_name);
        if let Err(error) = imports::note_imported(&self.paths.imported(), &shells) {
            warn!("{}: {error}", self.paths.imported().display());
        }
    }

    fn look(&mut self, look: &request::Look) -> reply::Body {
        self.flush();
        let Some(store) = &self.store else {
            return self.no_store();
        };
        match imports::look(store, look) {
            Ok(looked) => reply::Body::Looked(looked),
            Err(error) => refused(Reason::Failed, error.to_string(), ""),
        }
    }

    fn no_store(&self) -> reply::Body {
        let trouble = self.lock_state().trouble.clone();
        refused(
            Reason::Failed,
            format!("the history cannot be opened: {trouble}"),
            "",
        )
    }
}

//! The life of the worker: lock, socket, signals, idle exit, memory bound.

use std::fs::DirBuilder;
use std::io::{self, Write};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, RwLock};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use tabsense_config::{Paths, Settings};
use tabsense_protocol::Request;
use tabsense_protocol::request::Body;
use tabsense_rank::Index;
use tokio::net::UnixListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Notify;
use tracing::{error, info, warn};

use crate::adapt::{self, Adapter};
use crate::arguments::Run;
use crate::judge::Judge;
use crate::lock::{self, POLL, Patience, Taken, identity_of};
use crate::metrics::rss_mb;
use crate::recorder::{Memory, Recorder};
use crate::server::serve;
use crate::shortcuts::Shortcuts;
use crate::state::Worker;
use crate::{complete, handover, log, prompt};

/// How long a request is kept for a worker that is just starting or ending.
const PASS_ON_LIMIT: Duration = Duration::from_secs(5);

/// What getting warm may take before the first request is served.
const WARM_UP_LIMIT: Duration = Duration::from_secs(1);

/// How often the worker looks at its own idleness and memory.
const TICK: Duration = Duration::from_secs(60);

/// How long the last commands may take to reach the disk when the worker ends.
const FLUSH_LIMIT: Duration = Duration::from_secs(2);

/// Serves until told to stop, idle for long, or out of bounds.
pub(crate) fn run(mode: &Run) -> ExitCode {
    close_inherited_files();
    survive_signals();
    let told = mode.told.then(handover::receive).flatten();
    rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
    let paths = match prepare() {
        Ok(paths) => paths,
        Err(error) => return fail(mode, &error.to_string()),
    };
    let (settings, _) = Settings::load(&paths.config);
    log::start(&paths.log(), &settings.worker_log(), mode.foreground);
    let _locks = match lock_or_pass_on(&paths, mode, told.as_ref()) {
        Ok(Taken::Ours(locks)) => locks,
        Ok(Taken::Another(pid)) if mode.foreground => return fail(mode, &another(pid)),
        Ok(Taken::Another(_)) => return ExitCode::SUCCESS,
        Err(error) => return fail(mode, &format!("{}: {error}", paths.lock().display())),
    };
    match start(&paths, settings, told) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            error!("{error}");
            fail(mode, &error.to_string())
        }
    }
}

/// Without a handler these would end the process. `XFSZ`: `ulimit -f` or a full quota; the write
/// then fails like any other. `HUP`: from a starter that saw our lock before we had our socket.
fn survive_signals() {
    for signal in [Signal::XFSZ, Signal::HUP] {
        let seen = Arc::new(AtomicBool::new(false));
        // It only fails for signals that no system lets a process handle.
        let _ = signal_hook::flag::register(signal.as_raw(), seen);
    }
}

/// Takes the locks; where another worker lives, that gets the request.
fn lock_or_pass_on(paths: &Paths, mode: &Run, told: Option<&Request>) -> io::Result<Taken> {
    let patience = match mode.replace {
        true => Patience::Replace,
        false => Patience::None,
    };
    let end = Instant::now() + PASS_ON_LIMIT;
    loop {
        let taken = lock::take(paths, patience)?;
        let Some(told) = told.filter(|_| matches!(taken, Taken::Another(_))) else {
            return Ok(taken);
        };
        // The other one may not serve yet, or be about to end.
        if handover::pass_on(told, &paths.socket()).is_ok() || Instant::now() > end {
            return Ok(taken);
        }
        std::thread::sleep(POLL);
    }
}

/// Says that this is not the one worker.
fn another(pid: Option<i32>) -> String {
    let which = pid.map_or_else(String::new, |pid| format!(" (pid {pid})"));
    format!(
        "another worker{which} is running (hint: `tabsense worker stop` ends it, also when it does \
         not answer)"
    )
}

fn prepare() -> Result<Paths, tabsense_config::PathsError> {
    let paths = Paths::from_env()?;
    paths.create_runtime()?;
    // Without a place for the history the worker still ranks; the recorder says so.
    let _ = paths.create_data();
    Ok(paths)
}

fn fail(mode: &Run, message: &str) -> ExitCode {
    if mode.foreground {
        let _ = writeln!(io::stderr().lock(), "tabsensed: {message}");
    }
    ExitCode::FAILURE
}

fn start(paths: &Paths, settings: Settings, told: Option<Request>) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(16)
        .thread_keep_alive(Duration::from_secs(5))
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let listener = bind(&paths.socket())?;
        let index = Arc::new(RwLock::new(Index::new()));
        let feedback = Arc::default();
        let memory = Memory {
            index: Arc::clone(&index),
            feedback: Arc::clone(&feedback),
        };
        let recorder = Recorder::start(paths.clone(), settings.clone(), memory)?;
        let adapter = Adapter::load(paths);
        let judge = Judge::start(&settings, paths);
        let shortcuts = Shortcuts::new(&settings, paths);
        let worker = Arc::new(Worker::new(
            index, feedback, adapter, recorder, judge, shortcuts, settings,
        ));
        info!(
            "worker {} serves {}",
            tabsense_protocol::RELEASE,
            paths.socket().display()
        );
        if let Some(told) = told {
            serve_told(told, &worker);
        }
        warm_up(&worker).await;
        let lived = live(listener, &worker, paths).await;
        // However it ended: commands may wait to be written.
        worker.recorder.finish(FLUSH_LIMIT).await;
        lived
    })
}

fn serve_told(told: Request, worker: &Arc<Worker>) {
    if let Some(Body::Prompt(shown)) = told.body {
        prompt::note(worker, &told.session, shown);
    }
}

/// Ranks once for nobody: tables that are made at first use are made now, not while a key waits.
async fn warm_up(worker: &Arc<Worker>) {
    let shared = Arc::clone(worker);
    let work = tokio::task::spawn_blocking(move || complete::warm_up(&shared));
    let _ = tokio::time::timeout(WARM_UP_LIMIT, work).await;
}

/// Serves; returns when it is time to end. The socket is gone by then.
async fn live(listener: UnixListener, worker: &Arc<Worker>, paths: &Paths) -> io::Result<()> {
    let socket = paths.socket();
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hang_up = signal(SignalKind::hangup())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let end = Arc::new(Notify::new());
    let mut server = tokio::spawn(serve(listener, Arc::clone(worker), Arc::clone(&end)));
    let mut identity = identity_of(&socket);
    let mut tick = tokio::time::interval(TICK);
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = worker.stopped() => break,
            _ = terminate.recv() => break,
            _ = interrupt.recv() => break,
            // A starter that found our lock but no socket sends this.
            _ = hang_up.recv() => {
                if identity_of(&socket) != identity {
                    info!("the socket was gone; making it again");
                    server.abort();
                    let listener = bind(&socket)?;
                    server = tokio::spawn(serve(listener, Arc::clone(worker), Arc::clone(&end)));
                    identity = identity_of(&socket);
                }
            }
            _ = tick.tick() => {
                if !stays(worker) || !paths.runtime.exists() {
                    break;
                }
                adapt::start_if_due(worker);
            }
        }
    }
    if identity_of(&socket) == identity {
        let _ = std::fs::remove_file(&socket);
    }
    end.notify_one();
    let _ = server.await;
    Ok(())
}

/// Looks after memory; false when the worker should end.
fn stays(worker: &Worker) -> bool {
    worker.listings.trim(TICK);
    let limit_mb = worker.settings.worker_memory_mb() as f64;
    if rss_mb() > limit_mb {
        worker.listings.trim(Duration::ZERO);
    }
    let used_mb = rss_mb();
    if is_too_large(used_mb, limit_mb) {
        warn!("{used_mb:.0} MB in use, {limit_mb} allowed; the next request starts afresh");
        return false;
    }
    !is_idle(worker.idle(), worker.settings.worker_idle_exit_min())
}

/// A little over the limit is no reason to lose what is warm.
fn is_too_large(used_mb: f64, limit_mb: f64) -> bool {
    used_mb > limit_mb * 1.2
}

fn is_idle(idle: Duration, limit_min: u64) -> bool {
    idle >= Duration::from_secs(limit_min.saturating_mul(60))
}

/// Binds the socket. A stale one and a link to that of an earlier worker are replaced; anything that is
/// alive or no socket stays.
fn bind(socket: &Path) -> io::Result<UnixListener> {
    if let Some(parent) = socket.parent().filter(|parent| !parent.exists()) {
        use std::os::unix::fs::DirBuilderExt;
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(parent)?;
    }
    let in_the_way =
        |what: &str| io::Error::other(format!("{} {what} (hint: move it away)", socket.display()));
    if let Ok(found) = std::fs::symlink_metadata(socket) {
        if found.is_symlink() {
            std::fs::remove_file(socket)?;
            return UnixListener::bind(socket);
        }
        if !found.file_type().is_socket() {
            return Err(in_the_way("is no socket"));
        }
        match UnixStream::connect(socket) {
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                std::fs::remove_file(socket)?;
            }
            _ => return Err(in_the_way("is served by another program")),
        }
    }
    UnixListener::bind(socket)
}

/// The shell's other files (`exec 7<file`) must not stay open as long as the worker lives.
#[expect(
    unsafe_code,
    reason = "files are closed that nobody in this process owns"
)]
fn close_inherited_files() {
    for fd in inherited_files() {
        // SAFETY: nothing in this process has opened a file yet, so nothing owns these; the
        // directory that listed them is closed.
        unsafe { rustix::io::close(fd) };
    }
}

fn inherited_files() -> Vec<i32> {
    let listed = std::fs::read_dir("/dev/fd").into_iter().flatten().flatten();
    let open: Vec<i32> = listed
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect();
    // The one that listed them is among them and is closed by now.
    open.into_iter()
        .filter(|&fd| fd > 2 && is_open(fd))
        .collect()
}

#[expect(unsafe_code, reason = "asks whether a number is an open file")]
fn is_open(fd: i32) -> bool {
    // SAFETY: the borrowed number is only asked for its flags and does not outlive the call.
    let fd = unsafe { std::os::fd::BorrowedFd::borrow_raw(fd) };
    rustix::io::fcntl_getfd(fd).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worker_ends_when_nobody_used_it_for_the_time_that_is_set() {
        assert!(!is_idle(Duration::from_secs(359 * 60), 360));
        assert!(is_idle(Duration::from_secs(360 * 60), 360));
    }

    #[test]
    fn the_worker_ends_when_it_is_well_over_its_memory() {
        assert!(!is_too_large(310.0, 300.0));
        assert!(is_too_large(361.0, 300.0));
    }
}

//! `tabsense worker start|stop|restart|status|run`

use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use tabsense_config::{Holder, Paths, holder, is_held};
use tabsense_protocol::reply::{self, Status};
use tabsense_protocol::{FrameError, Request, request};

use super::{ANSWER_LIMIT, Outcome, START_LIMIT, ask, ask_running, open, print, unexpected};
use crate::cli::WorkerCommand;
use crate::connection::is_silence;
use crate::failure::Failure;
use crate::hook::is_paused;
use crate::phrase::resume;
use crate::start::worker_program;

/// How long the worker may take to say how it is, or that it heard the word to stop.
const WORD_LIMIT: Duration = Duration::from_millis(1500);

/// How long a worker that was sent `TERM` may take: it writes the last commands.
const TERM_LIMIT: Duration = Duration::from_millis(2500);

/// How long the system may take to end it after `KILL`.
const KILL_LIMIT: Duration = Duration::from_secs(2);

/// How long a worker that starts may take to write its process id.
const NAME_LIMIT: Duration = Duration::from_millis(500);

/// How often a worker that ends is looked for.
const POLL: Duration = Duration::from_millis(5);

pub(super) fn run(command: &WorkerCommand) -> Outcome {
    let paths = Paths::from_env()?;
    match command {
        WorkerCommand::Start => start(&paths),
        WorkerCommand::Stop => stop(&paths),
        WorkerCommand::Restart => {
            stop(&paths)?;
            start(&paths)
        }
        WorkerCommand::Status { json } => print_status(&paths, *json),
        WorkerCommand::Run => Err(in_foreground()),
    }
}

/// Starts it and waits until it answers.
fn start(paths: &Paths) -> Outcome {
    let status = request::Body::Status(request::Status {});
    ask(paths, status, ANSWER_LIMIT)?;
    Ok(ExitCode::SUCCESS)
}

/// Stops the worker and waits until it is gone; none running is fine, and one that does not answer
/// is ended. Another that a shell starts meanwhile is not meant.
pub(super) fn stop(paths: &Paths) -> Outcome {
    // One that has just taken the lock is about to say which process it is.
    is_so_within(NAME_LIMIT, || holder(paths).is_some() || !is_held(paths));
    let Some(worker) = holder(paths) else {
        tell_to_stop(paths);
        return nameless_is_gone(paths);
    };
    let end = Instant::now() + START_LIMIT;
    while !is_gone(paths, &worker) {
        match tell_to_stop(paths) {
            Word::Heard if is_so_within(START_LIMIT, || is_gone(paths, &worker)) => break,
            // It is about to come or to go.
            Word::Nobody if Instant::now() < end => std::thread::sleep(POLL),
            _ => return kill(paths, &worker),
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// What became of the word to stop.
enum Word {
    Heard,
    /// A worker is there and silent.
    Unheard,
    /// No worker serves.
    Nobody,
}

fn tell_to_stop(paths: &Paths) -> Word {
    let stop = Request::new(Vec::new(), request::Body::Stop(request::Stop {}));
    let told = open(paths)
        .map_err(FrameError::Io)
        .and_then(|mut connection| connection.ask(&stop, WORD_LIMIT));
    match told {
        Ok(_) => Word::Heard,
        Err(FrameError::Io(error)) if is_silence(&error) => Word::Unheard,
        Err(_) => Word::Nobody,
    }
}

/// A full disk may have kept the worker from writing which process it is.
fn nameless_is_gone(paths: &Paths) -> Outcome {
    if is_so_within(START_LIMIT, || !is_held(paths)) {
        return Ok(ExitCode::SUCCESS);
    }
    Err(nameless())
}

fn nameless() -> Failure {
    Failure::new("a worker is there and does not say which process it is")
        .hint("end the processes named `tabsensed`")
}

/// Ends a worker that does not listen: kindly, since commands may wait to be written, then at once.
fn kill(paths: &Paths, worker: &Holder) -> Outcome {
    if !worker.is_worker() {
        return Err(nameless());
    }
    let _ = worker.signal(Signal::TERM);
    // One that was stopped takes the other signal only when it goes on.
    let _ = worker.signal(Signal::CONT);
    if is_so_within(TERM_LIMIT, || is_gone(paths, worker)) {
        return Ok(ExitCode::SUCCESS);
    }
    let _ = worker.signal(Signal::KILL);
    if is_so_within(KILL_LIMIT, || is_gone(paths, worker)) {
        return Ok(ExitCode::SUCCESS);
    }
    let pid = worker.pid();
    Err(Failure::new(format!("the worker (pid {pid}) does not end"))
        .hint(format!("`kill -KILL {pid}`")))
}

fn is_gone(paths: &Paths, worker: &Holder) -> bool {
    holder(paths).is_none_or(|now| now.pid() != worker.pid())
}

fn is_so_within(limit: Duration, is_so: impl Fn() -> bool) -> bool {
    let end = Instant::now() + limit;
    while !is_so() {
        if Instant::now() > end {
            return false;
        }
        std::thread::sleep(POLL);
    }
    true
}

/// Asks the running worker how it is.
pub(super) fn status(paths: &Paths) -> Result<(Status, String), Failure> {
    let status = request::Body::Status(request::Status {});
    let reply = ask_running(paths, status, WORD_LIMIT)?;
    match reply.body {
        Some(reply::Body::Status(status)) => Ok((*status, reply.release)),
        _ => Err(unexpected()),
    }
}

fn print_status(paths: &Paths, json: bool) -> Outcome {
    let (status, release) = status(paths)?;
    let paused = match is_paused(paths) {
        true => format!("paused ({})\n", resume()),
        false => String::new(),
    };
    print(if json {
        as_json(&status, &release)
    } else {
        as_text(&status, &release) + &paused
    })?;
    Ok(ExitCode::SUCCESS)
}

fn as_json(status: &Status, release: &str) -> String {
    let value = serde_json::json!({
        "pid": status.pid,
        "uptime_s": status.uptime_s,
        "version": release,
        "model": status.model,
        "requests": status.requests,
        "p50_ms": status.p50_ms,
        "p95_ms": status.p95_ms,
        "p99_ms": status.p99_ms,
        "rss_mb": status.rss_mb,
        "history": status.history,
        "waiting": status.waiting,
        "trouble": status.trouble,
        "adapted": status.adapted,
        "adaptation": status.adaptation,
    });
    format!("{value:#}\n")
}

fn as_text(status: &Status, release: &str) -> String {
    let mut text = format!(
        "worker {release}, pid {}, up {}\n\
         requests  {} (p50 {:.1} ms, p95 {:.1} ms, p99 {:.1} ms)\n\
         memory    {:.0} MB\n\
         history   {} commands\n\
         model     {}\n\
         ranking   {}\n",
        status.pid,
        span(status.uptime_s),
        status.requests,
        status.p50_ms,
        status.p95_ms,
        status.p99_ms,
        status.rss_mb,
        status.history,
        status.model,
        status.adaptation,
    );
    if status.waiting > 0 {
        text.push_str(&format!(
            "waiting   {} commands to be written\n",
            status.waiting
        ));
    }
    if !status.trouble.is_empty() {
        text.push_str(&format!("trouble   {}\n", status.trouble));
    }
    text
}

fn span(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        _ => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}

/// Becomes the worker; returns only when that fails.
fn in_foreground() -> Failure {
    let program = worker_program();
    let error = Command::new(&program).arg("run").arg("--foreground").exec();
    Failure::new(format!("could not run {}: {error}", program.display()))
        .hint("`tabsensed` must lie beside `tabsense` or in PATH")
}

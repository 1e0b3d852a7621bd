//! `tabsense worker start|stop|restart|status|run`

use std::fs::File;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use tabsense_config::{Paths, socket_dir};
use tabsense_protocol::reply::{self, Status};
use tabsense_protocol::request;

use super::{ANSWER_LIMIT, Outcome, START_LIMIT, ask, ask_running, print, unexpected};
use crate::cli::WorkerCommand;
use crate::connection::Connection;
use crate::failure::Failure;
use crate::hook::is_paused;
use crate::phrase::resume;
use crate::start::worker_program;

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

/// Stops the worker and waits until it is gone; none running is fine.
pub(super) fn stop(paths: &Paths) -> Outcome {
    if socket_dir(paths).is_err() || Connection::open(&paths.socket()).is_err() {
        return Ok(ExitCode::SUCCESS);
    }
    ask_running(paths, request::Body::Stop(request::Stop {}), ANSWER_LIMIT)?;
    let end = Instant::now() + START_LIMIT;
    while is_alive(paths) {
        if Instant::now() > end {
            return Err(
                Failure::new("the worker was told to stop and is still there")
                    .hint("`tabsense worker status` shows its pid"),
            );
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(ExitCode::SUCCESS)
}

/// A worker holds its lock until its last command is written.
fn is_alive(paths: &Paths) -> bool {
    File::open(paths.lock())
        .is_ok_and(|lock| flock(&lock, FlockOperation::NonBlockingLockShared).is_err())
}

/// Asks the running worker how it is.
pub(super) fn status(paths: &Paths) -> Result<(Status, String), Failure> {
    let reply = ask_running(
        paths,
        request::Body::Status(request::Status {}),
        ANSWER_LIMIT,
    )?;
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

//! The client's end at its deadline, whatever holds it up and however it was started.

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::{NATIVE, system};
use crate::common::{Home, Shell};

/// The deadline is 50 ms; a test machine may be busy, but it is never a second.
const GENEROUS: Duration = Duration::from_secs(1);

/// A home on a system whose timers end the client.
fn home_with_timers() -> Option<Home> {
    if !cfg!(target_os = "linux") {
        eprintln!("skipped: there are no such timers here");
        return None;
    }
    Home::new(Shell::Bash)
}

/// How a client ends that `starter`, a program and its arguments, starts, and whose standard input is never
/// closed. Nothing but the deadline can end it.
fn end_of(home: &Home, starter: &[&str]) -> ExitStatus {
    let (program, arguments) = starter.split_first().expect("a program");
    let mut command: Command = home.command(program.as_ref());
    command
        .args(arguments)
        .arg(home.client())
        .args(["complete", "--hook"]);
    let start = Instant::now();
    let mut child = command.stdin(Stdio::piped()).spawn().expect("started");
    let held = child.stdin.take();
    let status = child.wait().expect("ended");
    drop(held);
    assert!(start.elapsed() < GENEROUS, "{:?}", start.elapsed());
    status
}

#[test]
fn a_client_that_is_never_told_all_ends_with_the_status_for_native() {
    let Some(home) = Home::new(Shell::Bash) else {
        return;
    };
    assert_eq!(end_of(&home, &["env"]).code(), NATIVE);
}

#[test]
fn a_client_ends_although_its_starter_keeps_the_alarm_from_it() {
    let Some(home) = Home::new(Shell::Bash) else {
        return;
    };
    for way in ["--block-signal=ALRM", "--ignore-signal=ALRM"] {
        if !system("env", &[way.as_ref(), "true".as_ref()]) {
            eprintln!("skipped: this env(1) does not know {way}");
            return;
        }
        assert_eq!(end_of(&home, &["env", way]).code(), NATIVE, "{way}");
    }
}

#[test]
fn a_client_that_may_have_no_timers_ends_all_the_same() {
    let Some(home) = home_with_timers() else {
        return;
    };
    let none = ["bash", "-c", "ulimit -i 0 && exec \"$@\"", "bash"];
    assert_eq!(end_of(&home, &none).code(), NATIVE);
}

/// Whether a process sleeps in a call and has a handler for the alarm.
fn waits_with_an_alarm(process: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap_or_default().trim().to_owned()
    };
    let caught = u64::from_str_radix(&field("SigCgt:"), 16).unwrap_or_default();
    field("State:").starts_with('S') && caught >> (Signal::ALARM.as_raw() - 1) & 1 == 1
}

/// As a call to a file server that is gone: only death gets through.
#[test]
fn a_client_in_which_no_handler_runs_is_killed() {
    let Some(home) = home_with_timers() else {
        return;
    };
    home.write(".config/tabsense/config.toml", "deadline_ms = 200\n");
    // On a busy machine its time may be up before it is stopped.
    for _ in 0..20 {
        let mut command = home.command(&home.client());
        command.args(["complete", "--hook"]).stdin(Stdio::piped());
        let mut child = command.spawn().expect("started");
        let held = child.stdin.take();
        while !waits_with_an_alarm(child.id()) && child.try_wait().expect("its state").is_none() {
            std::thread::yield_now();
        }
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let stopped = child.try_wait().expect("its state").is_none()
            && kill_process(pid.expect("a process"), Signal::STOP).is_ok();
        let status = child.wait().expect("ended");
        drop(held);
        if stopped && status.code().is_none() {
            assert_eq!(status.signal(), Some(9));
            return;
        }
        assert_eq!(status.code(), NATIVE);
    }
    panic!("it was never stopped in time");
}

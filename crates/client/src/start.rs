//! Starting the worker, detached from the shell and its terminal.

use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use tabsense_protocol::{Request, encode};

/// What the worker may know of the shell's environment: where things are, and nothing else.
const KEPT: [&str; 13] = [
    "HOME",
    "PATH",
    "USER",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TMPDIR",
    "TZ",
    "XDG_RUNTIME_DIR",
    "XDG_DATA_HOME",
    "XDG_CONFIG_HOME",
    "TABSENSE_TRY",
    "TABSENSE_WORKER",
];

/// The worker's program: beside the client, else from `PATH`.
pub(crate) fn worker_program() -> PathBuf {
    if let Some(named) = std::env::var_os("TABSENSE_WORKER") {
        return named.into();
    }
    let beside = std::env::current_exe().ok().and_then(|exe| {
        let exe = exe.canonicalize().unwrap_or(exe);
        Some(exe.parent()?.join("tabsensed"))
    });
    beside
        .filter(|program| program.exists())
        .unwrap_or_else(|| "tabsensed".into())
}

/// Starts the worker and does not wait for it.
///
/// A second one that finds the first alive ends by itself, so this may be called too often.
/// [`Mode::Replace`] makes it wait for an older one that has been told to stop.
pub(crate) fn start_worker(mode: Mode) -> io::Result<()> {
    let mut command = detached();
    if mode == Mode::Replace {
        command.arg("--replace");
    }
    command.spawn().map(drop)
}

/// Starts the worker with a request on its standard input. One that finds another alive passes the
/// request on before it ends.
pub(crate) fn start_worker_with(request: &Request) -> io::Result<()> {
    let mut child = detached().arg("--told").stdin(Stdio::piped()).spawn()?;
    match child.stdin.take() {
        Some(mut stdin) => stdin.write_all(&encode(request)),
        None => Ok(()),
    }
}

fn detached() -> Command {
    let mut command = Command::new(worker_program());
    command.arg("run").env_clear().current_dir("/");
    for name in KEPT {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    own_session(&mut command);
    command
}

/// How a worker is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Unless one is alive.
    IfAbsent,
    /// After the one alive has ended.
    Replace,
}

/// Ctrl-C, Ctrl-Z and closing the terminal must not reach the worker.
#[expect(
    unsafe_code,
    reason = "the new session must exist before the program runs"
)]
fn own_session(command: &mut Command) {
    // SAFETY: setsid(2) is async-signal-safe, and the closure neither allocates nor locks.
    unsafe {
        command.pre_exec(|| {
            rustix::process::setsid()?;
            Ok(())
        });
    }
}

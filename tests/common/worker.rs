//! The worker of one test home.

use super::{Home, eventually};
use rustix::process::{Pid, Signal, kill_process};

/// The worker of one test home.
pub(crate) struct Worker<'a> {
    home: &'a Home,
    pid: u32,
}

impl<'a> Worker<'a> {
    #[track_caller]
    pub(super) fn start(home: &'a Home) -> Self {
        let output = home.tabsense(&["worker", "start"]);
        assert!(
            output.status.success(),
            "worker start: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        let pid = eventually("the worker answers", || worker_pid(home));
        Self { home, pid }
    }

    /// The pid of the worker that answers in `home`.
    pub(crate) fn pid_in(home: &Home) -> Option<u32> {
        worker_pid(home)
    }

    /// The worker's process id.
    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// Stops the process (SIGSTOP), as a debugger or a full machine would.
    pub(crate) fn freeze(&self) {
        self.signal(Signal::STOP);
    }

    /// Lets the process run on after [`Worker::freeze`].
    pub(crate) fn thaw(&self) {
        self.signal(Signal::CONT);
    }

    /// Kills the process at once and waits until it is gone.
    pub(crate) fn kill(&self) {
        self.signal(Signal::KILL);
        eventually("the worker is gone", || (!alive(self.pid)).then_some(()));
    }

    /// The pid of the worker that serves this home now, when one answers.
    pub(crate) fn serving(&self) -> Option<u32> {
        worker_pid(self.home)
    }

    fn signal(&self, signal: Signal) {
        send(self.pid, signal).expect("signal the worker");
    }
}

/// The pid of the worker that answers in this home.
pub(crate) fn worker_pid(home: &Home) -> Option<u32> {
    let output = home.tabsense(&["worker", "status", "--json"]);
    let status: serde_json::Value = serde_json::from_slice(&output.stdout).ok()?;
    u32::try_from(status.get("pid")?.as_u64()?).ok()
}

/// Whether a process runs (a dead one that nobody has waited for does not).
fn alive(pid: u32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else {
        return false;
    };
    !stat
        .rsplit(") ")
        .next()
        .is_some_and(|rest| rest.starts_with('Z'))
}

fn send(pid: u32, signal: Signal) -> rustix::io::Result<()> {
    let pid = i32::try_from(pid)
        .ok()
        .and_then(Pid::from_raw)
        .expect("a process id");
    kill_process(pid, signal)
}

/// Ends every process whose environment names this home's runtime directory.
///
/// The directory's name is unique, so nothing else can be hit. Where there is no `/proc` the worker
/// is asked to stop instead.
pub(super) fn end_processes(home: &Home) {
    let Ok(processes) = std::fs::read_dir("/proc") else {
        let _ = home.tabsense(&["worker", "stop"]);
        return;
    };
    let mark = format!("XDG_RUNTIME_DIR={}", home.runtime().display());
    for process in processes.flatten() {
        let Some(pid) = process
            .file_name()
            .to_str()
            .and_then(|name| name.parse::<u32>().ok())
        else {
            continue;
        };
        let environment = std::fs::read(process.path().join("environ")).unwrap_or_default();
        if pid != std::process::id()
            && environment
                .split(|&byte| byte == 0)
                .any(|entry| entry == mark.as_bytes())
        {
            let _ = send(pid, Signal::KILL);
        }
    }
}

//! A worker that is there and does not answer: it is named, and the usual commands end it.

use std::fs::File;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use super::{answered, system, workers};
use crate::common::{Home, Shell, Worker, eventually};

fn home() -> Option<Home> {
    Home::new(Shell::Bash)
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[output.stdout.as_slice(), &output.stderr].concat()).into_owned()
}

/// Stops the worker's process, and waits until none of its threads runs.
#[track_caller]
pub(super) fn freeze(worker: &Worker<'_>) {
    worker.freeze();
    if !cfg!(target_os = "linux") {
        return;
    }
    eventually("all threads have stopped", || {
        let threads = std::fs::read_dir(format!("/proc/{}/task", worker.pid())).ok()?;
        threads
            .flatten()
            .all(|thread| {
                let stat = std::fs::read_to_string(thread.path().join("stat"));
                stat.is_ok_and(|stat| stat.contains(") T "))
            })
            .then_some(())
    });
}

#[track_caller]
fn names_the_worker(output: &Output, pid: u32) {
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = said(output);
    assert!(
        said.contains(&format!("the worker (pid {pid}) does not answer")),
        "{said}"
    );
    assert!(said.contains("`tabsense worker restart` ends it"), "{said}");
    assert!(!said.contains("temporarily"), "{said}");
}

#[test]
fn a_stopped_worker_is_named_and_restart_gives_another() {
    let Some(home) = home() else { return };
    let worker = home.worker();
    freeze(&worker);
    names_the_worker(&home.tabsense(&["worker", "status"]), worker.pid());
    names_the_worker(&home.tabsense(&["doctor"]), worker.pid());
    let restart = home.tabsense(&["worker", "restart"]);
    assert!(restart.status.success(), "{restart:?}");
    let pid = eventually("a worker", || worker.serving());
    assert_ne!(pid, worker.pid());
    assert_eq!(workers(&home), [pid]);
    answered(&home);
}

#[test]
fn what_may_take_long_is_not_waited_for_where_the_worker_does_not_even_say_how_it_stands() {
    let Some(home) = home() else { return };
    home.write("history", "echo one\n");
    let file = home.home().join("history");
    let worker = home.worker();
    freeze(&worker);
    names_the_worker(
        &home.tabsense(&["import", "bash", &file.to_string_lossy()]),
        worker.pid(),
    );
    names_the_worker(&home.tabsense(&["adapt"]), worker.pid());
}

#[test]
fn stop_ends_a_stopped_worker() {
    let Some(home) = home() else { return };
    let worker = home.worker();
    freeze(&worker);
    let stop = home.tabsense(&["worker", "stop"]);
    assert!(stop.status.success(), "{stop:?}");
    assert_eq!(workers(&home), Vec::<u32>::new());
    let again = home.tabsense(&["worker", "stop"]);
    assert!(again.status.success(), "{again:?}");
    home.worker();
    answered(&home);
}

#[test]
fn uninstall_ends_a_stopped_worker_and_leaves_nothing() {
    let Some(home) = home() else { return };
    let worker = home.worker();
    freeze(&worker);
    let output = home.tabsense(&["uninstall", "--yes", "--purge"]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(workers(&home), Vec::<u32>::new());
    assert!(!home.runtime().join("tabsense").exists());
    assert!(!home.home().join(".local/share/tabsense").exists());
}

#[test]
fn a_worker_in_the_foreground_says_that_another_lives() {
    let Some(home) = home() else { return };
    let worker = home.worker();
    let output = home.tabsense(&["worker", "run"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = said(&output);
    let expected = format!("another worker (pid {}) is running (hint: ", worker.pid());
    assert!(said.contains(&expected), "{said}");
    assert_eq!(worker.serving(), Some(worker.pid()));
}

/// A process that a test started; ended with the test.
struct Started(Child);

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The lock of the runtime directory.
fn lock(home: &Home) -> PathBuf {
    let directory = home.runtime().join("tabsense");
    std::fs::create_dir_all(&directory).expect("made");
    std::fs::set_permissions(&directory, PermissionsExt::from_mode(0o700)).expect("mode");
    directory.join("worker.lock")
}

#[test]
fn a_worker_that_takes_no_word_is_killed() {
    if !cfg!(target_os = "linux") || !system("flock", &["--version".as_ref()]) {
        eprintln!("skipped: needs flock(1)");
        return;
    }
    let Some(home) = home() else { return };
    let lock = lock(&home);
    let script = "trap '' TERM; exec 9<>\"$1\"; flock 9; printf %s $$ >&9
        while :; do sleep 0.1 9>&-; done";
    let mut command = home.command("bash".as_ref());
    command.args(["-c", script, "bash"]).arg(&lock);
    let mut deaf = Started(command.stdin(Stdio::null()).spawn().expect("bash"));
    let pid = deaf.0.id().to_string();
    eventually("it has the lock", || {
        (std::fs::read_to_string(&lock).ok()? == pid).then_some(())
    });
    let stop = home.tabsense(&["worker", "stop"]);
    assert!(stop.status.success(), "{stop:?}");
    let status = deaf.0.wait().expect("ended");
    assert_eq!(
        std::os::unix::process::ExitStatusExt::signal(&status),
        Some(9)
    );
}

#[test]
fn a_stranger_that_the_lock_file_names_is_not_touched() {
    if !cfg!(target_os = "linux") {
        eprintln!("skipped: elsewhere a process is known by its name");
        return;
    }
    let Some(home) = home() else { return };
    let lock = lock(&home);
    let mut stranger = Started(Command::new("sleep").arg("600").spawn().expect("sleep"));
    std::fs::write(&lock, stranger.0.id().to_string()).expect("written");
    let held = File::open(&lock).expect("open");
    rustix::fs::flock(&held, rustix::fs::FlockOperation::LockExclusive).expect("locked");
    let stop = home.tabsense(&["worker", "stop"]);
    assert_eq!(stop.status.code(), Some(1), "{stop:?}");
    assert!(
        said(&stop).contains("does not say which process it is"),
        "{stop:?}"
    );
    assert!(stranger.0.try_wait().expect("its state").is_none());
    drop(held);
    assert!(home.tabsense(&["worker", "stop"]).status.success());
    eventually("a worker", || {
        home.tabsense(&["worker", "start"]);
        Worker::pid_in(&home)
    });
    assert!(stranger.0.try_wait().expect("its state").is_none());
}

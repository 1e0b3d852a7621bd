//! Shells that look for the socket in different places, as with and without `XDG_RUNTIME_DIR`: they
//! share the one worker that has the data.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use super::hanging::freeze;
use super::store::{self, commands, ran, wait_commands};
use super::{LINE, answered, feed, press_tab, processes};
use crate::common::{Home, Shell, Worker, eventually};

/// A home whose workers are ended also where they were started without its runtime directory.
struct Places(Home);

impl Drop for Places {
    fn drop(&mut self) {
        self.0.tabsense(&["worker", "stop"]);
    }
}

fn home() -> Option<Places> {
    if !cfg!(target_os = "linux") {
        eprintln!("skipped: looks at /proc");
        return None;
    }
    let home = Home::new(Shell::Bash)?;
    home.write(
        ".config/tabsense/config.toml",
        "[complete]\nmodel = \"off\"\n",
    );
    Some(Places(home))
}

/// A program as a shell without a runtime directory starts it.
fn elsewhere(home: &Home, program: &str, arguments: &[&str]) -> Command {
    let mut command = home.command(&home.client().with_file_name(program));
    command.args(arguments).env_remove("XDG_RUNTIME_DIR");
    command
}

fn tabsense_elsewhere(home: &Home, arguments: &[&str]) -> Output {
    let command = elsewhere(home, "tabsense", arguments).output();
    command.expect("run tabsense")
}

#[track_caller]
fn answered_elsewhere(home: &Home) {
    eventually("TAB is answered without a runtime directory", || {
        let output = feed(elsewhere(home, "tabsense", &["complete", "--hook"]), LINE);
        assert!(output.stderr.is_empty(), "{output:?}");
        (output.status.code() == Some(0)).then_some(())
    });
}

fn sockets(home: &Home) -> [PathBuf; 2] {
    [
        home.runtime().join("tabsense/worker.sock"),
        store::directory(home).join("run/worker.sock"),
    ]
}

/// The living workers of this home, wherever they serve.
fn all_workers(home: &Home) -> Vec<u32> {
    let mark = format!("HOME={}", home.home().display());
    let is_worker = |pid: &u32| {
        std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name == "tabsensed\n")
    };
    processes(mark.as_bytes())
        .into_iter()
        .filter(is_worker)
        .collect()
}

#[track_caller]
fn is_the_only_one(home: &Home, pid: u32) {
    eventually("one worker is left", || {
        (all_workers(home) == [pid]).then_some(())
    });
}

#[test]
fn a_shell_without_a_runtime_directory_meets_the_worker_of_one_with_it() {
    let Some(Places(home)) = &home() else { return };
    let worker = home.worker();
    ran(home, "bash", "before", &[]);
    answered_elsewhere(home);
    is_the_only_one(home, worker.pid());
    let [live, link] = sockets(home);
    assert_eq!(std::fs::read_link(link).expect("a link"), live);

    wait_commands(home, &["before"]);
    let forget = tabsense_elsewhere(home, &["forget", "before"]);
    assert!(forget.status.success(), "{forget:?}");
    assert_eq!(store::status(home)["history"], 0);
    assert_eq!(commands(home), Vec::<String>::new());
}

#[test]
fn a_shell_with_a_runtime_directory_meets_the_worker_of_one_without() {
    let Some(Places(home)) = &home() else { return };
    answered_elsewhere(home);
    let [pid] = all_workers(home)[..] else {
        panic!("{:?}", all_workers(home))
    };
    answered(home);
    assert_eq!(Worker::pid_in(home), Some(pid));
    is_the_only_one(home, pid);
    let stop = home.tabsense(&["worker", "stop"]);
    assert!(stop.status.success(), "{stop:?}");
    assert_eq!(all_workers(home), Vec::<u32>::new());
}

#[test]
fn a_worker_is_seen_and_stopped_from_where_nobody_has_asked_for_it_before() {
    let Some(Places(home)) = &home() else { return };
    let worker = home.worker();
    let status = tabsense_elsewhere(home, &["worker", "status"]);
    let said = String::from_utf8_lossy(&status.stdout).into_owned();
    assert!(
        said.contains(&format!("pid {}", worker.pid())),
        "{status:?}"
    );
    let doctor = tabsense_elsewhere(home, &["doctor"]);
    let said = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(said.contains("the worker serves "), "{said}");
    let stop = tabsense_elsewhere(home, &["worker", "stop"]);
    assert!(stop.status.success(), "{stop:?}");
    assert_eq!(all_workers(home), Vec::<u32>::new());
}

#[test]
fn a_stopped_worker_is_ended_from_the_other_place() {
    let Some(Places(home)) = &home() else { return };
    let worker = home.worker();
    freeze(&worker);
    let restart = tabsense_elsewhere(home, &["worker", "restart"]);
    assert!(restart.status.success(), "{restart:?}");
    let [pid] = all_workers(home)[..] else {
        panic!("{:?}", all_workers(home))
    };
    assert_ne!(pid, worker.pid());
    answered(home);
    is_the_only_one(home, pid);
}

#[test]
fn starters_from_both_places_leave_one_worker_that_both_reach() {
    let Some(Places(home)) = &home() else { return };
    let starters: Vec<_> = (0..16)
        .map(|number| {
            let mut command = elsewhere(home, "tabsensed", &["run"]);
            if number % 2 == 0 {
                command.env("XDG_RUNTIME_DIR", home.runtime());
            }
            let command = command.stdin(Stdio::null()).stdout(Stdio::null());
            command.stderr(Stdio::null()).spawn().expect("started")
        })
        .collect();
    eventually("all but one have ended", || {
        let alive = all_workers(home).into_iter().filter(|pid| {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
            stat.is_ok_and(|stat| !stat.contains(") Z "))
        });
        (alive.count() == 1).then_some(())
    });
    answered(home);
    answered_elsewhere(home);
    let served = Worker::pid_in(home);
    assert!(starters.iter().any(|starter| Some(starter.id()) == served));
    assert!(
        tabsense_elsewhere(home, &["worker", "stop"])
            .status
            .success()
    );
    for mut starter in starters {
        starter.wait().expect("the last one ends");
    }
}

#[test]
fn a_link_to_a_killed_worker_gives_way_to_the_next_one() {
    let Some(Places(home)) = &home() else { return };
    let worker = home.worker();
    answered_elsewhere(home);
    worker.kill();
    let [first, second] = sockets(home);
    answered_elsewhere(home);
    assert!(!second.is_symlink(), "it serves there itself");
    let [pid] = all_workers(home)[..] else {
        panic!("{:?}", all_workers(home))
    };
    // What the killed one left is no socket that anybody serves.
    answered(home);
    assert_eq!(std::fs::read_link(first).expect("a link"), second);
    is_the_only_one(home, pid);
}

#[test]
fn a_deleted_socket_is_made_again_when_the_other_place_asks() {
    let Some(Places(home)) = &home() else { return };
    let worker = home.worker();
    answered_elsewhere(home);
    std::fs::remove_file(&sockets(home)[0]).expect("deleted");
    answered_elsewhere(home);
    assert_eq!(worker.serving(), Some(worker.pid()));
    is_the_only_one(home, worker.pid());
}

#[test]
fn what_waits_is_written_when_the_socket_cannot_be_made_again() {
    let Some(Places(home)) = &home() else { return };
    let worker = home.worker();
    ran(home, "bash", "before", &[]);
    wait_commands(home, &["before"]);
    let holder = store::open(home).expect("open");
    holder.execute_batch("BEGIN EXCLUSIVE").expect("locked");
    ran(home, "bash", "waits", &[]);
    eventually("the command waits", || {
        (store::status(home)["waiting"] == 1).then_some(())
    });
    let [socket, _] = sockets(home);
    std::fs::remove_file(&socket).expect("deleted");
    std::fs::create_dir(&socket).expect("in the way");
    holder.execute_batch("COMMIT").expect("unlocked");
    drop(holder);
    let pid = i32::try_from(worker.pid())
        .ok()
        .and_then(rustix::process::Pid::from_raw);
    rustix::process::kill_process(pid.expect("a pid"), rustix::process::Signal::HUP).expect("sent");
    eventually("it ends", || all_workers(home).is_empty().then_some(()));
    assert_eq!(commands(home), ["before", "waits"]);
}

#[test]
fn uninstall_takes_both_places_away() {
    let Some(Places(home)) = &home() else { return };
    home.worker();
    answered_elsewhere(home);
    let output = tabsense_elsewhere(home, &["uninstall", "--yes", "--purge"]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(all_workers(home), Vec::<u32>::new());
    assert!(!home.runtime().join("tabsense").exists());
    assert!(!store::directory(home).exists());
    assert_eq!(press_tab(home).status.code(), Some(3));
}

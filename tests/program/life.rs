//! The worker's life: started by need, one at a time, never in the way, never left over.

use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::process::Stdio;

use super::{answered, assert_native, press_tab};
use crate::common::{Home, Shell, Worker, eventually};

fn home() -> Option<Home> {
    Home::new(Shell::Bash)
}

fn socket(home: &Home) -> PathBuf {
    home.runtime().join("tabsense/worker.sock")
}

fn make_runtime(home: &Home) -> PathBuf {
    let directory = home.runtime().join("tabsense");
    std::fs::create_dir_all(&directory).expect("runtime directory");
    std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(0o700)).expect("mode");
    directory
}

fn worker_program(home: &Home) -> PathBuf {
    home.client().with_file_name("tabsensed")
}

#[test]
fn the_first_tab_is_native_and_starts_the_worker_for_the_next() {
    let Some(home) = home() else { return };
    assert_native(&press_tab(&home));
    answered(&home);
}

#[test]
fn a_candidate_comes_back_exactly_once() {
    let Some(home) = home() else { return };
    let _worker = home.worker();
    let output = answered(&home);
    let records: Vec<&[u8]> = output.stdout.split(|&byte| byte == 0).collect();
    let mut middle = records[1..records.len() - 2].to_vec();
    middle.sort_unstable();
    assert_eq!(middle, [b"=0", b"=1"]);
}

#[test]
fn many_starters_leave_one_worker() {
    let Some(home) = home() else { return };
    let program = worker_program(&home);
    let mut starters: Vec<_> = (0..16)
        .map(|_| {
            home.command(&program)
                .arg("run")
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .expect("start a worker")
        })
        .collect();
    eventually("all but one have ended", || {
        let alive = starters
            .iter_mut()
            .filter_map(|starter| starter.try_wait().expect("wait").is_none().then_some(()))
            .count();
        (alive == 1).then_some(())
    });
    answered(&home);
    assert!(home.tabsense(&["worker", "stop"]).status.success());
    for mut starter in starters {
        starter.wait().expect("the last one ends");
    }
}

#[test]
fn a_stale_socket_is_replaced() {
    let Some(home) = home() else { return };
    make_runtime(&home);
    drop(UnixListener::bind(socket(&home)).expect("bind"));
    assert!(socket(&home).exists());
    assert_native(&press_tab(&home));
    answered(&home);
}

#[test]
fn a_lock_file_that_names_a_living_stranger_stops_nobody() {
    let Some(home) = home() else { return };
    std::fs::write(make_runtime(&home).join("worker.lock"), "1").expect("lock file");
    assert_native(&press_tab(&home));
    answered(&home);
}

#[test]
fn what_is_no_socket_is_never_deleted() {
    let Some(home) = home() else { return };
    make_runtime(&home);
    std::fs::write(socket(&home), "mine").expect("a file in the way");
    assert_native(&press_tab(&home));
    // The one that TAB started may hold the lock for a moment.
    eventually("a worker that gives up", || {
        let output = home
            .command(&worker_program(&home))
            .arg("run")
            .output()
            .expect("worker");
        (!output.status.success()).then_some(())
    });
    assert_eq!(std::fs::read(socket(&home)).expect("still there"), b"mine");

    std::fs::remove_file(socket(&home)).expect("remove");
    std::fs::create_dir(socket(&home)).expect("a directory in the way");
    let foreground = ["run", "--foreground"];
    eventually("a worker that says why", || {
        let output = home
            .command(&worker_program(&home))
            .args(foreground)
            .output()
            .expect("run");
        String::from_utf8_lossy(&output.stderr)
            .contains("is no socket")
            .then_some(())
    });
    assert!(socket(&home).is_dir());
    assert_native(&press_tab(&home));
}

#[test]
fn a_stopped_worker_costs_the_deadline_and_serves_again_afterwards() {
    let Some(home) = home() else { return };
    let worker = home.worker();
    answered(&home);
    let inode = std::fs::metadata(socket(&home)).expect("socket").ino();
    worker.freeze();
    for _ in 0..5 {
        assert_native(&press_tab(&home));
    }
    worker.thaw();
    answered(&home);
    assert_eq!(worker.serving(), Some(worker.pid()));
    assert_eq!(
        std::fs::metadata(socket(&home)).expect("socket").ino(),
        inode
    );
}

#[test]
fn a_killed_worker_is_followed_by_another() {
    let Some(home) = home() else { return };
    let worker = home.worker();
    worker.kill();
    assert_native(&press_tab(&home));
    answered(&home);
    assert_ne!(worker.serving(), Some(worker.pid()));
}

#[test]
fn a_deleted_socket_is_made_again_by_the_living_worker() {
    let Some(home) = home() else { return };
    let worker = home.worker();
    std::fs::remove_file(socket(&home)).expect("delete the socket");
    assert_native(&press_tab(&home));
    answered(&home);
    assert_eq!(worker.serving(), Some(worker.pid()));
}

#[test]
fn the_worker_has_a_session_of_its_own_and_holds_nothing_of_the_shell() {
    if !cfg!(target_os = "linux") {
        eprintln!("skipped: looks at /proc");
        return;
    }
    let Some(home) = home() else { return };
    let client = home.client();
    let script = format!(
        "exec 7<$HOME/held; {} worker start; {} worker status --json >/dev/null",
        client.display(),
        client.display()
    );
    home.write("held", "x");
    let started = home
        .command("/bin/bash".as_ref())
        .args(["-c", &script])
        .status();
    assert!(started.expect("bash").success());
    let pid = eventually("a worker", || Worker::pid_in(&home));
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("stat");
    let fields: Vec<&str> = stat
        .rsplit(") ")
        .next()
        .expect("fields")
        .split(' ')
        .collect();
    let (group, session, terminal) = (fields[2], fields[3], fields[4]);
    assert_eq!(
        (group, session),
        (pid.to_string().as_str(), pid.to_string().as_str())
    );
    assert_eq!(terminal, "0");
    let cwd = std::fs::read_link(format!("/proc/{pid}/cwd")).expect("cwd");
    assert_eq!(cwd, PathBuf::from("/"));
    for fd in std::fs::read_dir(format!("/proc/{pid}/fd"))
        .expect("fds")
        .flatten()
    {
        let target = std::fs::read_link(fd.path()).unwrap_or_default();
        assert!(!target.ends_with("held"), "the shell's file is still open");
        if matches!(fd.file_name().to_str(), Some("0" | "1" | "2")) {
            assert_eq!(target, PathBuf::from("/dev/null"));
        }
    }
}

#[test]
fn stop_ends_the_worker_and_takes_the_socket_away() {
    let Some(home) = home() else { return };
    let worker = home.worker();
    assert!(home.tabsense(&["worker", "stop"]).status.success());
    eventually("no socket", || (!socket(&home).exists()).then_some(()));
    assert_eq!(worker.serving(), None);
    assert!(
        home.tabsense(&["worker", "stop"]).status.success(),
        "stopping twice is fine"
    );
    let status = home.tabsense(&["worker", "status"]);
    assert!(!status.status.success());
    assert!(String::from_utf8_lossy(&status.stderr).contains("hint: `tabsense worker start`"));
}

#[test]
fn restart_gives_another_process() {
    let Some(home) = home() else { return };
    let worker = home.worker();
    assert!(home.tabsense(&["worker", "restart"]).status.success());
    let pid = eventually("a worker", || worker.serving());
    assert_ne!(pid, worker.pid());
}

#[test]
fn a_runtime_directory_that_others_may_enter_means_native() {
    let Some(home) = home() else { return };
    let _worker = home.worker();
    let directory = make_runtime(&home);
    for mode in [0o755, 0o770] {
        std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(mode)).expect("mode");
        assert_native(&press_tab(&home));
    }
    std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(0o700)).expect("mode");
    answered(&home);
}

#[test]
fn a_home_of_another_user_is_left_alone() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root can give a directory away");
        return;
    }
    let Some(home) = home() else { return };
    chown(home.home(), Some(12345), None).expect("chown");
    assert_native(&press_tab(&home));
    let prompt = super::hook(&home, "prompt", b"shell=bash\0cwd=/\0command=ls\0\0");
    assert_eq!(prompt.status.code(), Some(0));
    assert!(prompt.stdout.is_empty() && prompt.stderr.is_empty());
    assert!(
        !home.runtime().join("tabsense").exists(),
        "a worker was started"
    );
    assert!(!home.home().join(".local/share/tabsense").exists());
}

#[test]
fn a_runtime_directory_of_another_user_is_not_used() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root can give a directory away");
        return;
    }
    let Some(home) = home() else { return };
    chown(home.runtime(), Some(12345), None).expect("chown");
    answered(&home);
    assert!(
        home.home()
            .join(".local/share/tabsense/run/worker.sock")
            .exists()
    );
    assert_eq!(std::fs::read_dir(home.runtime()).expect("there").count(), 0);
    chown(home.runtime(), Some(0), None).expect("chown back");
}

//! The worker where it can do little: another place, no network, little memory, places it may not
//! read, another one that starts at the same moment.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::deciding::{CONFIG, checkpoint, configure, good, home, model};
use super::{answered, hook, system, workers};
use crate::common::{Home, Worker, eventually};

/// A worker that a test started itself; ended with the test.
struct Started(Child);

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs a worker behind `words`, which end by starting what follows them.
fn behind(home: &Home, words: &[&str]) -> Started {
    let mut command = home.command(words[0].as_ref());
    command
        .args(&words[1..])
        .arg(home.client().with_file_name("tabsensed"))
        .arg("run")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    Started(command.spawn().expect("start a worker"))
}

impl Started {
    /// Waits until it is this one that serves: a client that finds none would start another.
    #[track_caller]
    fn serves(&self, home: &Home) {
        eventually("the worker serves", || {
            (Worker::pid_in(home) == Some(self.0.id())).then_some(())
        });
    }
}

/// The built-in model, which is also what people have.
fn with_the_model(home: &Home) {
    home.write(CONFIG, "deadline_ms = 200\n");
}

#[test]
fn without_any_network_the_model_loads_and_tab_is_answered() {
    let Some(home) = home() else { return };
    if !system("unshare", &["-n".as_ref(), "true".as_ref()]) {
        eprintln!("skipped: no network namespace may be made here");
        return;
    }
    with_the_model(&home);
    let worker = behind(&home, &["unshare", "-n"]);
    worker.serves(&home);
    answered(&home);
    let told = model(&home);
    assert!(!told.starts_with("off"), "{told}");
}

/// Words that run what follows them with 256 MiB of memory: in a group of the system's where one may
/// be made, else by a limit on the address space.
fn little_memory(home: &Home) -> (Vec<String>, Option<PathBuf>) {
    let name = format!("tabsense-{}", std::process::id());
    for (base, limit) in [
        ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
        ("/sys/fs/cgroup", "memory.max"),
    ] {
        let group = Path::new(base).join(&name);
        if std::fs::create_dir(&group).is_ok() {
            if std::fs::write(group.join(limit), "268435456").is_ok() {
                let script = format!("echo $$ > {}/cgroup.procs; exec \"$@\"", group.display());
                let words = ["bash", "-c", &script, "bash"].map(str::to_owned);
                return (words.to_vec(), Some(group));
            }
            let _ = std::fs::remove_dir(&group);
        }
    }
    assert!(home.root().exists());
    let words = ["bash", "-c", "ulimit -v 262144; exec \"$@\"", "bash"].map(str::to_owned);
    (words.to_vec(), None)
}

#[test]
fn with_little_memory_tab_is_answered_with_the_model() {
    if !cfg!(target_os = "linux") {
        eprintln!("skipped: needs Linux's limits");
        return;
    }
    let Some(home) = home() else { return };
    with_the_model(&home);
    let (words, group) = little_memory(&home);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut worker = behind(&home, &words);
    worker.serves(&home);
    answered(&home);
    let told = model(&home);
    assert!(!told.starts_with("off"), "{told}");
    for _ in 0..20 {
        answered(&home);
    }
    assert!(
        worker.0.try_wait().expect("its state").is_none(),
        "it was ended"
    );
    drop(worker);
    if let Some(group) = group {
        eventually("the group is empty", || std::fs::remove_dir(&group).ok());
    }
}

#[test]
fn two_that_load_the_model_at_once_leave_one_that_has_it() {
    let Some(home) = home() else { return };
    with_the_model(&home);
    // Neither finds the checkpoint unpacked.
    let mut both = [behind(&home, &["env"]), behind(&home, &["env"])];
    eventually("one of them serves", || Worker::pid_in(&home));
    answered(&home);
    let told = model(&home);
    assert!(!told.starts_with("off"), "{told}");
    eventually("one of them has ended", || {
        let ended = both
            .iter_mut()
            .filter_map(|worker| worker.0.try_wait().expect("its state"))
            .count();
        (ended == 1).then_some(())
    });
    assert_eq!(workers(&home).len(), 1);
}

#[test]
fn two_users_homes_may_load_one_checkpoint_at_once() {
    let (Some(home), Some(other)) = (home(), home()) else {
        return;
    };
    let shared = checkpoint(&home, "shared");
    configure(&home, &shared);
    configure(&other, &shared);
    let both = [behind(&home, &["env"]), behind(&other, &["env"])];
    for (worker, home) in both.iter().zip([&home, &other]) {
        worker.serves(home);
        assert!(model(home).starts_with("shared, "), "{}", model(home));
        answered(home);
    }
}

/// Gives everything in the home to a user that is not root, whom modes do not stop.
fn unprivileged(home: &Home) -> Option<Vec<String>> {
    if !rustix::process::geteuid().is_root() {
        return Some(vec!["env".to_owned()]);
    }
    if !system("setpriv", &["--version".as_ref()]) {
        eprintln!("skipped: root can read everything");
        return None;
    }
    let words = [
        "setpriv",
        "--reuid",
        "12345",
        "--regid",
        "12345",
        "--clear-groups",
        "--",
    ];
    assert!(system(
        "chown",
        &[
            "-R".as_ref(),
            "12345:12345".as_ref(),
            home.root().as_os_str()
        ]
    ));
    Some(words.map(str::to_owned).to_vec())
}

#[test]
fn a_checkpoint_that_may_not_be_read_leaves_statistics_and_is_named() {
    let Some(home) = home() else { return };
    for name in ["tabsense", "tabsensed"] {
        let copy = home.root().join("bin").join(name);
        std::fs::copy(home.client().with_file_name(name), &copy).expect("copied");
    }
    let directory = checkpoint(&home, "locked");
    configure(&home, &directory);
    let Some(words) = unprivileged(&home) else {
        return;
    };
    for (place, mode) in [
        (directory.join("model.safetensors"), 0o000),
        (directory.clone(), 0o000),
    ] {
        std::fs::set_permissions(&place, PermissionsExt::from_mode(mode)).expect("mode");
        let as_user = |arguments: &[&str]| -> Command {
            let mut command = home.command(words[0].as_ref());
            command.args(&words[1..]);
            command.arg(home.root().join("bin/tabsense"));
            command.args(arguments).current_dir("/");
            command
        };
        let run = |arguments: &[&str]| as_user(arguments).output().expect("run");
        assert!(run(&["worker", "restart"]).status.success());
        let told = eventually("the model is refused", || {
            let output = run(&["worker", "status", "--json"]);
            let status: serde_json::Value = serde_json::from_slice(&output.stdout).ok()?;
            let told = status["model"].as_str()?.to_owned();
            told.starts_with("off: ").then_some(told)
        });
        assert!(told.contains("locked"), "{told}");
        eventually("TAB is answered", || {
            let output = super::feed(as_user(&["complete", "--hook"]), super::LINE);
            (output.status.code() == Some(0)).then_some(())
        });
        assert!(run(&["worker", "stop"]).status.success());
    }
    std::fs::set_permissions(&directory, PermissionsExt::from_mode(0o700)).expect("mode");
}

#[test]
fn programs_that_were_moved_away_from_where_they_were_built_need_nothing_of_it() {
    let Some(home) = home() else { return };
    with_the_model(&home);
    let place = home.root().join("installed");
    std::fs::create_dir(&place).expect("made");
    let tree = env!("CARGO_MANIFEST_DIR").as_bytes();
    for name in ["tabsense", "tabsensed"] {
        let copy = place.join(name);
        std::fs::copy(home.client().with_file_name(name), &copy).expect("copied");
        assert!(system("strip", &[copy.as_os_str()]), "strip {name}");
        let bytes = std::fs::read(&copy).expect("the program");
        let found = bytes.windows(tree.len()).any(|window| window == tree);
        assert!(!found, "{name} names the directory it was built in");
    }
    let run = |arguments: &[&str]| {
        let mut command = home.command(&place.join("tabsense"));
        command.args(arguments).output().expect("run")
    };
    assert!(run(&["worker", "start"]).status.success());
    let told = model(&home);
    assert!(!told.starts_with("off"), "{told}");
    let pid = workers(&home)[0];
    let program = std::fs::read_link(format!("/proc/{pid}/exe")).expect("its program");
    assert_eq!(program, place.join("tabsensed"));
    // No file of the tree is open or mapped.
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).expect("its maps");
    assert!(!maps.contains(env!("CARGO_MANIFEST_DIR")), "{maps}");
    answered(&home);
    good(&home, &["worker", "stop"]);
    assert!(hook(&home, "prompt", b"shell=bash\0\0").status.success());
}

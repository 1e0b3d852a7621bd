//! Root and other users with somebody's environment (`sudo -E`, plain `su`).

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::store::{commands, wait_commands};
use super::{LINE, assert_native, feed, hook, press_tab, processes, system, workers};
use crate::common::{Home, Shell, eventually};

const USER: u32 = 12345;
const ANOTHER: u32 = 12346;

/// A home that belongs to [`USER`], with the programs where that user may run them.
fn home() -> Option<Home> {
    if !rustix::process::geteuid().is_root() || !system("setpriv", &["--version".as_ref()]) {
        eprintln!("skipped: only root can be another user");
        return None;
    }
    let home = Home::new(Shell::Bash)?;
    for name in ["tabsense", "tabsensed"] {
        let copy = home.root().join("bin").join(name);
        std::fs::copy(home.client().with_file_name(name), &copy).expect("copied");
    }
    give(home.root(), USER);
    Some(home)
}

fn give(place: &Path, user: u32) {
    let owner = format!("{user}:{user}");
    assert!(system(
        "chown",
        &[OsStr::new("-R"), owner.as_ref(), place.as_os_str()]
    ));
}

/// The client as run by a user, in the environment of `home`.
fn client(home: &Home, user: u32, arguments: &[&str]) -> Command {
    let mut command = home.command("setpriv".as_ref());
    let id = user.to_string();
    command
        .args(["--reuid", &id, "--regid", &id, "--clear-groups", "--"])
        .arg(home.root().join("bin/tabsense"))
        .args(arguments)
        .current_dir("/");
    command
}

fn tab(home: &Home, user: u32) -> Output {
    feed(client(home, user, &["complete", "--hook"]), LINE)
}

#[track_caller]
fn answered(home: &Home, user: u32) {
    eventually("TAB is answered", || {
        (tab(home, user).status.code() == Some(0)).then_some(())
    });
}

fn ran(home: &Home, user: u32, command: &str) {
    let input = format!("shell=bash\0cwd=/\0command={command}\0\0");
    let output = feed(client(home, user, &["prompt", "--hook"]), input.as_bytes());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(
        output.stdout.is_empty() && output.stderr.is_empty(),
        "{output:?}"
    );
}

/// Owner and mode of everything in a directory but the models, which a worker unpacks in its own time.
fn owners(place: &Path) -> BTreeMap<PathBuf, (u32, u32)> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![place.to_owned()];
    while let Some(path) = waiting.pop() {
        let Ok(data) = std::fs::symlink_metadata(&path) else {
            continue;
        };
        if data.is_dir() && !path.ends_with("models") {
            let entries = std::fs::read_dir(&path).into_iter().flatten().flatten();
            waiting.extend(entries.map(|entry| entry.path()));
        }
        found.insert(path, (data.uid(), data.mode()));
    }
    found
}

/// All that root may do with the user's environment, by mistake.
fn root_tries_everything(home: &Home) {
    assert_native(&press_tab(home));
    let prompt = hook(home, "prompt", b"shell=bash\0cwd=/\0command=as root\0\0");
    assert_eq!(prompt.status.code(), Some(0));
    assert!(
        prompt.stdout.is_empty() && prompt.stderr.is_empty(),
        "{prompt:?}"
    );
    for arguments in [
        ["worker", "start"].as_slice(),
        &["import", "bash", "/etc/hostname"],
        &["forget", "--all", "--yes"],
        &["pause"],
        &["uninstall", "--yes", "--purge"],
    ] {
        let output = home.tabsense(arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {output:?}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("belongs to user 12345"), "{said}");
    }
}

#[test]
fn root_with_a_users_environment_touches_nothing_of_the_users() {
    let Some(home) = home() else { return };
    answered(&home, USER);
    ran(&home, USER, "by the user");
    wait_commands(&home, &["by the user"]);
    let before = owners(home.root());
    let [worker] = workers(&home)[..] else {
        panic!("{:?}", workers(&home))
    };

    root_tries_everything(&home);

    assert_eq!(workers(&home), [worker]);
    let owner = std::fs::metadata(format!("/proc/{worker}"))
        .expect("alive")
        .uid();
    assert_eq!(owner, USER);
    assert_eq!(owners(home.root()), before);
    answered(&home, USER);
    ran(&home, USER, "afterwards");
    wait_commands(&home, &["by the user", "afterwards"]);
}

#[test]
fn root_that_comes_first_leaves_the_place_to_the_user() {
    let Some(home) = home() else { return };
    let before = owners(home.root());
    root_tries_everything(&home);
    assert_eq!(owners(home.root()), before);
    assert_eq!(workers(&home), Vec::<u32>::new());
    answered(&home, USER);
    ran(&home, USER, "by the user");
    wait_commands(&home, &["by the user"]);
    assert!(
        owners(home.root())
            .values()
            .all(|&(owner, _)| owner == USER)
    );
}

#[test]
fn root_with_its_own_home_makes_nothing_in_the_places_of_a_user() {
    let Some(home) = home() else { return };
    let own = tempfile::tempdir().expect("tempdir");
    let before = owners(home.root());
    for hook in ["complete", "prompt", "complete"] {
        let mut command = home.command(&home.client());
        command
            .args([hook, "--hook"])
            .env("HOME", own.path())
            .current_dir("/");
        let output = feed(command, LINE);
        assert!(
            output.stdout.is_empty() && output.stderr.is_empty(),
            "{output:?}"
        );
    }
    let mut start = home.command(&home.client());
    start
        .args(["worker", "start"])
        .env("HOME", own.path())
        .current_dir("/");
    assert_eq!(start.output().expect("run").status.code(), Some(1));
    assert_eq!(owners(home.root()), before);
    assert_eq!(std::fs::read_dir(own.path()).expect("there").count(), 0);
}

#[test]
fn another_user_with_the_first_ones_runtime_directory_has_a_worker_of_its_own() {
    let Some(home) = home() else { return };
    answered(&home, USER);
    ran(&home, USER, "by the user");
    wait_commands(&home, &["by the user"]);
    let before = owners(home.root());
    let own = tempfile::tempdir().expect("tempdir");
    std::fs::set_permissions(own.path(), PermissionsExt::from_mode(0o755)).expect("mode");
    let place = own.path().join("home");
    std::fs::create_dir(&place).expect("made");
    chown(&place, Some(ANOTHER), Some(ANOTHER)).expect("chown");
    for name in ["tabsense", "tabsensed"] {
        std::fs::copy(home.client().with_file_name(name), own.path().join(name)).expect("copied");
    }
    let as_another = |arguments: &[&str]| {
        let mut command = home.command("setpriv".as_ref());
        let id = ANOTHER.to_string();
        command
            .args(["--reuid", &id, "--regid", &id, "--clear-groups", "--"])
            .arg(own.path().join("tabsense"))
            .args(arguments)
            .env("HOME", &place)
            .env_remove("XDG_DATA_HOME")
            .env_remove("XDG_CONFIG_HOME")
            .current_dir("/");
        command
    };
    eventually("TAB is answered", || {
        let output = feed(as_another(&["complete", "--hook"]), LINE);
        assert!(output.stderr.is_empty(), "{output:?}");
        (output.status.code() == Some(0)).then_some(())
    });
    assert!(place.join(".local/share/tabsense/run/worker.sock").exists());
    assert_eq!(owners(home.root()), before);
    let entry = format!("HOME={}", place.display());
    let theirs: Vec<u32> = processes(entry.as_bytes());
    assert!(!theirs.is_empty());
    for pid in theirs {
        let owner = std::fs::metadata(format!("/proc/{pid}")).map(|data| data.uid());
        assert!(owner.is_ok_and(|owner| owner == ANOTHER));
    }
    assert!(
        as_another(&["worker", "stop"])
            .status()
            .expect("run")
            .success()
    );
    answered(&home, USER);
}

#[test]
fn root_inside_a_user_namespace_is_the_user_itself() {
    let Some(home) = home() else { return };
    let id = USER.to_string();
    let inside = |arguments: &[&str]| {
        let mut command = home.command("setpriv".as_ref());
        command
            .args([
                "--reuid",
                &id,
                "--regid",
                &id,
                "--clear-groups",
                "--",
                "unshare",
                "-r",
                "--",
            ])
            .arg(home.root().join("bin/tabsense"))
            .args(arguments)
            .current_dir("/");
        command
    };
    if !inside(&["--version"])
        .output()
        .is_ok_and(|output| output.status.success())
    {
        eprintln!("skipped: no user namespace may be made here");
        return;
    }
    answered(&home, USER);
    let before = workers(&home);
    eventually("TAB is answered", || {
        let output = feed(inside(&["complete", "--hook"]), LINE);
        (output.status.code() == Some(0)).then_some(())
    });
    assert_eq!(workers(&home), before);
    let input = b"shell=bash\0cwd=/\0command=inside\0\0";
    assert!(feed(inside(&["prompt", "--hook"]), input).status.success());
    wait_commands(&home, &["inside"]);
    assert!(
        owners(home.root())
            .values()
            .all(|&(owner, _)| owner == USER)
    );
    assert_eq!(commands(&home), ["inside"]);
}

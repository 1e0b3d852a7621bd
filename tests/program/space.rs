//! Full disks, read-only places, no home at all.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use super::store::{self, commands, integrity, ran, rows, status, wait_commands};
use super::{LINE, answered, assert_native, feed, press_tab, system, workers};
use crate::common::{Home, Shell, eventually};

fn home() -> Option<Home> {
    Home::new(Shell::Bash)
}

/// A file system in memory, mounted as long as this lives.
pub(super) struct Mount(PathBuf);

/// [`Mount::new`] for tests that are skipped without it.
fn mounted(place: &Path, options: &str) -> Option<Mount> {
    let mount = Mount::new(place, options);
    if mount.is_none() {
        eprintln!("skipped: no file system may be mounted here");
    }
    mount
}

impl Mount {
    /// `None` where this user may not mount.
    pub(super) fn new(place: &Path, options: &str) -> Option<Self> {
        std::fs::create_dir_all(place).expect("a mount point");
        std::fs::set_permissions(place, PermissionsExt::from_mode(0o700)).expect("mode");
        let options = format!("mode=700,{options}");
        let arguments =
            ["-t", "tmpfs", "-o", &options, "tmpfs"].map(AsRef::<std::ffi::OsStr>::as_ref);
        let made = system("mount", &[&arguments[..], &[place.as_os_str()]].concat());
        made.then(|| Self(place.to_owned()))
    }

    fn remount(&self, options: &str) {
        let options = format!("remount,{options}");
        let arguments = ["-o".as_ref(), options.as_ref(), self.0.as_os_str()];
        assert!(system("mount", &arguments), "remount {options}");
    }

    /// Takes all the space that is left; removing the file frees it.
    fn fill(&self) -> PathBuf {
        let path = self.0.join("filler");
        let mut file = std::fs::File::create(&path).expect("filler");
        for size in [1 << 16, 4096, 1] {
            while std::io::Write::write_all(&mut file, &vec![b'x'; size]).is_ok() {}
        }
        path
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        system("umount", &["-l".as_ref(), self.0.as_os_str()]);
    }
}

fn import_fails(home: &Home) {
    home.write("some_history", "imported one\nimported two\n");
    let file = home.home().join("some_history");
    let output = home.tabsense(&["import", "bash", &file.to_string_lossy()]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = [output.stdout.as_slice(), &output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    assert!(said.contains("history"), "{said}");
}

#[test]
fn on_a_full_disk_the_shell_notices_nothing_and_recording_goes_on_when_there_is_room() {
    let Some(home) = home() else { return };
    let Some(mount) = mounted(&store::directory(&home), "size=2m") else {
        return;
    };
    let filler = mount.fill();
    for n in 0..5 {
        ran(&home, "bash", &format!("waits {n}"), &[]);
    }
    answered(&home);
    eventually("5 wait", || (status(&home)["waiting"] == 5).then_some(()));
    assert_ne!(status(&home)["trouble"], "");
    import_fails(&home);
    let [worker] = workers(&home)[..] else {
        panic!("{:?}", workers(&home))
    };
    std::fs::remove_file(filler).expect("freed");
    for n in 0..3 {
        ran(&home, "bash", &format!("after {n}"), &[]);
    }
    eventually("all are recorded", || {
        (commands(&home).len() == 8).then_some(())
    });
    eventually("no trouble", || {
        (status(&home)["trouble"] == "").then_some(())
    });
    assert_eq!(workers(&home), [worker]);
    assert_eq!(integrity(&home), "ok");
    drop(mount);
}

#[test]
fn a_disk_that_fills_up_later_keeps_what_it_had() {
    let Some(home) = home() else { return };
    let Some(mount) = mounted(&store::directory(&home), "size=2m") else {
        return;
    };
    let _worker = home.worker();
    ran(&home, "bash", "before", &[]);
    wait_commands(&home, &["before"]);
    let filler = mount.fill();
    // More than any room left over in the files.
    let large = "x".repeat(50_000);
    for n in 0..10 {
        ran(&home, "bash", &format!("{n} {large}"), &[]);
        answered(&home);
    }
    eventually("some wait", || {
        (status(&home)["waiting"].as_u64() > Some(0)).then_some(())
    });
    assert_eq!(commands(&home)[0], "before");
    let log = std::fs::metadata(store::directory(&home).join("worker.log"));
    assert!(log.map_or(0, |log| log.len()) < 4096);
    std::fs::remove_file(filler).expect("freed");
    ran(&home, "bash", "after", &[]);
    eventually("all are recorded", || {
        (commands(&home).len() == 12).then_some(())
    });
    assert_eq!(integrity(&home), "ok");
    drop(mount);
}

#[test]
fn without_a_free_inode_commands_wait() {
    let Some(home) = home() else { return };
    let Some(mount) = mounted(&store::directory(&home), "size=2m,nr_inodes=1") else {
        return;
    };
    ran(&home, "bash", "waits", &[]);
    answered(&home);
    eventually("it waits", || (status(&home)["waiting"] == 1).then_some(()));
    mount.remount("nr_inodes=100");
    wait_commands(&home, &["waits"]);
}

#[test]
fn a_limit_on_file_sizes_does_not_kill_the_worker() {
    let Some(home) = home() else { return };
    let program = home.client().with_file_name("tabsensed");
    for blocks in [0, 16] {
        let script = format!("ulimit -f {blocks}; exec {} run", program.display());
        let mut worker = home
            .command("/bin/bash".as_ref())
            .args(["-c", &script])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("start the worker");
        eventually("it serves", || {
            (status(&home)["pid"] == worker.id()).then_some(())
        });
        for n in 0..5 {
            ran(&home, "bash", &format!("{blocks} {n}"), &[]);
        }
        answered(&home);
        eventually("they wait", || {
            (status(&home)["waiting"].as_u64() > Some(0)).then_some(())
        });
        assert_eq!(status(&home)["pid"], worker.id());
        import_fails(&home);
        assert!(home.tabsense(&["worker", "stop"]).status.success());
        assert!(
            worker.wait().expect("ended").success(),
            "it ended by itself"
        );
    }
    // Without the limit everything is well again.
    ran(&home, "bash", "after", &[]);
    eventually("recorded", || {
        commands(&home).contains(&"after".to_owned()).then_some(())
    });
}

#[test]
fn a_read_only_history_still_ranks_and_is_written_again_when_that_is_possible() {
    let Some(home) = home() else { return };
    let Some(mount) = mounted(&store::directory(&home), "size=4m") else {
        return;
    };
    let _worker = home.worker();
    ran(&home, "bash", "ssh build-host.example", &[]);
    wait_commands(&home, &["ssh build-host.example"]);
    assert!(home.tabsense(&["worker", "stop"]).status.success());
    let before = std::fs::read(store::database(&home)).expect("there");
    mount.remount("ro");
    ran(&home, "bash", "waits", &[]);
    answered(&home);
    let offered = home
        .tabsense(&["complete", "--shell", "bash", "--line", "ssh bui"])
        .stdout;
    assert_eq!(String::from_utf8_lossy(&offered), "build-host.example\n");
    eventually("it waits", || (status(&home)["waiting"] == 1).then_some(()));
    let trouble = status(&home)["trouble"].as_str().map(str::to_owned);
    assert!(
        trouble.is_some_and(|text| text.contains("read-only")),
        "{}",
        status(&home)
    );
    import_fails(&home);
    let pause = home.tabsense(&["pause"]);
    assert_eq!(pause.status.code(), Some(1), "{pause:?}");
    assert_eq!(
        std::fs::read(store::database(&home)).expect("there"),
        before
    );
    mount.remount("rw");
    ran(&home, "bash", "after", &[]);
    wait_commands(&home, &["ssh build-host.example", "waits", "after"]);
    assert_eq!(rows(&home).len(), 3);
}

#[test]
fn a_read_only_runtime_directory_means_native() {
    let Some(home) = home() else { return };
    let Some(mount) = mounted(&home.runtime(), "size=1m") else {
        return;
    };
    mount.remount("ro");
    for _ in 0..3 {
        assert_native(&press_tab(&home));
        ran(&home, "bash", "nowhere", &[]);
    }
    let output = home.tabsense(&["worker", "start"]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains(&home.runtime().display().to_string()),
        "{said}"
    );
    drop(mount);
}

/// The client with a home that does not exist.
fn homeless(home: &Home, arguments: &[&str]) -> std::process::Command {
    let mut command = home.command(&home.client());
    command
        .args(arguments)
        .env("HOME", "/nonexistent")
        .env("XDG_DATA_HOME", "/nonexistent/.local/share")
        .env("XDG_CONFIG_HOME", "/nonexistent/.config")
        .env_remove("ZDOTDIR");
    command
}

#[test]
fn without_a_home_tab_works_and_nothing_is_made() {
    let Some(home) = home() else { return };
    let tell = b"shell=bash\0cwd=/\0command=ls\0\0";
    let prompt = feed(homeless(&home, &["prompt", "--hook"]), tell);
    assert_eq!(prompt.status.code(), Some(0), "{prompt:?}");
    assert!(prompt.stderr.is_empty(), "{prompt:?}");
    eventually("TAB is answered", || {
        let output = feed(homeless(&home, &["complete", "--hook"]), LINE);
        assert!(output.stderr.is_empty(), "{output:?}");
        (output.status.code() == Some(0)).then_some(())
    });
    let import = homeless(&home, &["import", "bash", "/etc/hostname"])
        .output()
        .expect("run");
    assert_eq!(import.status.code(), Some(1), "{import:?}");
    let said = String::from_utf8_lossy(&import.stderr).into_owned();
    assert!(said.contains("/nonexistent"), "{said}");
    let doctor = homeless(&home, &["doctor"]).output().expect("run");
    assert_eq!(doctor.status.code(), Some(1), "{doctor:?}");
    assert!(!Path::new("/nonexistent").exists());
    // Not even a place for the socket.
    for hook in ["complete", "prompt"] {
        let mut command = homeless(&home, &[hook, "--hook"]);
        command.env("XDG_RUNTIME_DIR", "/nonexistent/run");
        let output = feed(command, LINE);
        let expected = if hook == "complete" { 3 } else { 0 };
        assert_eq!(output.status.code(), Some(expected), "{output:?}");
        assert!(
            output.stdout.is_empty() && output.stderr.is_empty(),
            "{output:?}"
        );
    }
    assert!(!Path::new("/nonexistent").exists());
}

//! `tabsense try`: a shell that leaves nothing behind.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::process::{Pid, Signal, kill_process};

use super::{processes, workers};
use crate::common::{ENTER, Home, Options, Shell, Terminal, eventually};

/// A home with histories and rc files, and a shell in it that knows nothing of us.
fn start() -> Option<(Home, Terminal)> {
    let home = Home::new(Shell::Bash)?;
    home.write(".zsh_history", ": 1700000000:0;make in-zsh\n");
    home.write(".bash_history", "make in-bash\n");
    home.write(
        ".local/share/fish/fish_history",
        "- cmd: make in-fish\n  when: 1700000000\n",
    );
    home.write(".zshrc", "echo the real zshrc\n");
    home.write(".config/fish/config.fish", "echo the real config.fish\n");
    home.files(&["kept/file"]);
    let terminal = home.start(&Options::bare().env("HISTFILE", ""));
    Some((home, terminal))
}

/// Every file, link and directory of the home, with its content.
fn snapshot(home: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![home.to_owned()];
    while let Some(path) = waiting.pop() {
        let data = std::fs::symlink_metadata(&path).expect("metadata");
        let content = if data.is_dir() {
            let entries = std::fs::read_dir(&path).expect("a directory").flatten();
            waiting.extend(entries.map(|entry| entry.path()));
            Vec::new()
        } else if data.is_symlink() {
            std::fs::read_link(&path)
                .expect("a link")
                .as_os_str()
                .as_bytes()
                .to_vec()
        } else {
            std::fs::read(&path).expect("a file")
        };
        found.insert(path, content);
    }
    found
}

/// The throw-away homes; the temporary directory is the root of the test home.
fn throw_aways(home: &Home) -> Vec<PathBuf> {
    std::fs::read_dir(home.root())
        .expect("the temporary directory")
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.to_string_lossy().contains("tabsense-try-"))
        .collect()
}

/// The processes that live in a throw-away home.
fn inside(home: &Home) -> Vec<u32> {
    let entry = format!("XDG_RUNTIME_DIR={}/tabsense-try-", home.root().display());
    processes(entry.as_bytes())
}

/// `tabsense try` itself.
fn trying(home: &Home) -> Option<u32> {
    let entry = format!("XDG_RUNTIME_DIR={}", home.runtime().display());
    processes(entry.as_bytes()).into_iter().find(|pid| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let mut words = line.split(|&byte| byte == 0);
        words
            .next()
            .is_some_and(|program| program.ends_with(b"/tabsense"))
            && words.next() == Some(b"try")
    })
}

#[track_caller]
fn enter(home: &Home, terminal: &mut Terminal, shell: Shell) {
    terminal.press(format!(
        "{} try {}{ENTER}",
        home.client().display(),
        shell.name()
    ));
    terminal.wait_text("on 3 commands of your history");
    // The shell answers: it is at its prompt.
    terminal.press(format!("echo marker-$HOME{ENTER}"));
    terminal.wait_text("marker-/");
    assert_eq!(throw_aways(home).len(), 1);
    assert!(
        terminal.text().contains("tabsense-try-"),
        "{}",
        terminal.text()
    );
    assert!(!terminal.text().contains("the real"), "{}", terminal.text());
}

#[track_caller]
fn nothing_is_left(home: &Home, before: &BTreeMap<PathBuf, Vec<u8>>) {
    eventually("the throw-away home is gone", || {
        throw_aways(home).is_empty().then_some(())
    });
    let lines = || -> Vec<String> {
        let line = |pid| std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let text = |pid| String::from_utf8_lossy(&line(pid)).replace('\0', " ");
        inside(home).into_iter().map(text).collect()
    };
    eventually(&format!("its processes are gone: {:?}", lines()), || {
        inside(home).is_empty().then_some(())
    });
    eventually("the program is gone", || {
        trying(home).is_none().then_some(())
    });
    assert_eq!(
        workers(home),
        Vec::<u32>::new(),
        "the real home has no worker"
    );
    let after = snapshot(&home.home());
    let changed: Vec<&PathBuf> = before
        .keys()
        .chain(after.keys())
        .filter(|path| before.get(*path) != after.get(*path))
        .collect();
    assert!(changed.is_empty(), "{changed:?}");
}

#[test]
fn after_exit_nothing_is_left_and_the_home_is_as_it_was() {
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        if shell.program().is_none() {
            continue;
        }
        let Some((home, mut terminal)) = start() else {
            return;
        };
        let before = snapshot(&home.home());
        enter(&home, &mut terminal, shell);
        terminal.press(format!("cat work/kept/file; ls{ENTER}"));
        terminal.press(format!("exit{ENTER}"));
        terminal.wait_prompt();
        nothing_is_left(&home, &before);
    }
}

#[test]
fn a_terminal_that_is_closed_leaves_nothing_either() {
    let Some((home, mut terminal)) = start() else {
        return;
    };
    let before = snapshot(&home.home());
    enter(&home, &mut terminal, Shell::Bash);
    terminal.hang_up();
    nothing_is_left(&home, &before);
}

#[test]
fn told_to_end_it_ends_the_shell_and_what_runs_in_it() {
    for signal in [Signal::TERM, Signal::HUP] {
        let Some((home, mut terminal)) = start() else {
            return;
        };
        let before = snapshot(&home.home());
        enter(&home, &mut terminal, Shell::Bash);
        terminal.press(format!("echo sta''rted; cat{ENTER}"));
        terminal.wait_text("started");
        terminal.press(format!("read-by-cat{ENTER}"));
        terminal.wait_for("cat repeats it", |screen| {
            screen.contents().matches("read-by-cat").count() == 2
        });
        let pid = trying(&home).expect("the program");
        let pid = i32::try_from(pid)
            .ok()
            .and_then(Pid::from_raw)
            .expect("a pid");
        kill_process(pid, signal).expect("kill");
        terminal.wait_prompt();
        nothing_is_left(&home, &before);
    }
}

#[test]
fn a_shell_that_cannot_be_started_leaves_nothing() {
    let Some((home, _terminal)) = start() else {
        return;
    };
    let before = snapshot(&home.home());
    let output = home
        .command(&home.client())
        .args(["try", "fish"])
        .env("PATH", "/nonexistent")
        .output()
        .expect("run");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("could not start fish"), "{said}");
    nothing_is_left(&home, &before);
    let unknown = home
        .command(&home.client())
        .arg("try")
        .env("SHELL", "/bin/tcsh")
        .output();
    let unknown = unknown.expect("run");
    assert_eq!(unknown.status.code(), Some(1));
    assert!(
        String::from_utf8_lossy(&unknown.stderr).contains("tabsense try zsh"),
        "{unknown:?}"
    );
}

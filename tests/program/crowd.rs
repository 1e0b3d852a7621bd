//! Sixteen terminals that open at once, as a multiplexer's layout does at login.

use std::path::PathBuf;

use super::store::{commands, integrity};
use super::{processes, workers};
use crate::common::{ENTER, Home, Options, Shell, TAB, Terminal, eventually};

/// Six, five and five.
const SHELLS: [Shell; 3] = [Shell::Zsh, Shell::Bash, Shell::Fish];
const CROWD: usize = 16;

fn options(shell: Shell) -> Options {
    Options::real().before(match shell {
        Shell::Zsh => "HISTFILE=~/.zsh_history SAVEHIST=1000 HISTSIZE=1000",
        Shell::Bash => "HISTFILE=~/.bash_history; bind 'set bell-style none'",
        Shell::Fish => "set -g fish_autosuggestion_enabled 0",
    })
}

/// All of them start, run one command each, complete one word and end. Every one is a shell as ever.
#[track_caller]
fn crowd(home: &Home, programs: &[PathBuf], from: usize) {
    let mut terminals: Vec<(usize, Terminal)> = (from..from + CROWD)
        .map(|number| {
            let shell = SHELLS[number % SHELLS.len()];
            let program = &programs[number % SHELLS.len()];
            (number, home.start_shell(shell, program, &options(shell)))
        })
        .collect();
    for (_, terminal) in &mut terminals {
        terminal.wait_prompt();
    }
    for (number, terminal) in &mut terminals {
        terminal.press(format!("echo number{number}{ENTER}"));
    }
    for (_, terminal) in &mut terminals {
        terminal.wait_prompt();
        terminal.press(format!("echo al{TAB}"));
    }
    for (_, terminal) in &mut terminals {
        terminal.wait_line("echo alpha ");
        terminal.clear_line();
        terminal.press(format!("exit{ENTER}"));
    }
    for (number, terminal) in &mut terminals {
        terminal.wait_end();
        let text = terminal.text();
        let rows: Vec<&str> = text.lines().map(str::trim_end).collect();
        let name = format!("number{number}");
        let typed = format!("p1> echo {name}");
        let left = [typed.as_str(), name.as_str(), "p2> exit"];
        let rest = rows
            .strip_prefix(&left[..])
            .unwrap_or_else(|| panic!("{rows:?}"));
        // bash says that it leaves.
        assert!(
            rest.iter().all(|row| ["", "exit"].contains(row)),
            "{rows:?}"
        );
    }
}

/// One worker, every command once, a sound database, and nothing left over.
#[track_caller]
fn all_is_well(home: &Home, count: usize) {
    eventually("one worker and no client is left", || {
        let mark = format!("XDG_RUNTIME_DIR={}", home.runtime().display());
        let left = processes(mark.as_bytes());
        (left.len() == 1 && workers(home) == left).then_some(())
    });
    let mut expected: Vec<String> = (0..count).map(|n| format!("echo number{n}")).collect();
    expected.sort_unstable();
    eventually("all commands are stored", || {
        let mut found = commands(home);
        found.retain(|command| command.starts_with("echo number"));
        found.sort_unstable();
        (found == expected).then_some(())
    });
    assert_eq!(integrity(home), "ok");
    let place = home.runtime().join("tabsense");
    let mut files: Vec<String> = std::fs::read_dir(place)
        .expect("the runtime directory")
        .flatten()
        .map(|file| file.file_name().to_string_lossy().into_owned())
        .collect();
    files.sort_unstable();
    assert_eq!(files, ["worker.lock", "worker.sock"]);
}

#[test]
fn sixteen_shells_at_once_share_one_worker_and_lose_nothing() {
    if !cfg!(target_os = "linux") {
        eprintln!("skipped: looks at /proc");
        return;
    }
    let found: Option<Vec<PathBuf>> = SHELLS.iter().map(|shell| shell.program()).collect();
    let (Some(programs), Some(home)) = (found, Home::new(Shell::Zsh)) else {
        return;
    };
    home.files(&["alpha"]);
    // zsh's list of completions, which sixteen would all make at once.
    home.start(&Options::bare()).hang_up();
    crowd(&home, &programs, 0);
    all_is_well(&home, CROWD);
    // Once more, where the database is there and the worker was killed.
    for pid in workers(&home) {
        let pid = i32::try_from(pid)
            .ok()
            .and_then(rustix::process::Pid::from_raw);
        let kill = rustix::process::Signal::KILL;
        rustix::process::kill_process(pid.expect("a pid"), kill).expect("killed");
    }
    crowd(&home, &programs, CROWD);
    all_is_well(&home, 2 * CROWD);
}

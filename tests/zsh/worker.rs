//! zsh with the real client and the real worker.

use crate::common::{
    CTRL_C, CTRL_U, ENTER, Home, Options, Shell, TAB, Terminal, Worker, a_habit_is_inserted_once,
    eventually, words_below,
};
use std::os::unix::net::UnixListener;

const HISTORY: &str = "HISTFILE=~/.zsh_history SAVEHIST=1000 HISTSIZE=1000";

fn real() -> Options {
    Options::real().before(HISTORY)
}

/// Runs `argdump NAME` often enough that NAME leads the list.
fn teach(terminal: &mut Terminal, name: &str) {
    for _ in 0..3 {
        terminal.run(format!("argdump {name}"));
    }
}

/// Presses TAB after `argdump ` until the list reads as `words`: commands are told in the
/// background, and a worker that was just started does not answer yet.
#[track_caller]
fn tab_comes_to(terminal: &mut Terminal, words: &[&str]) {
    eventually(&format!("the list comes to {words:?}"), || {
        terminal.press(format!("argdump {TAB}"));
        terminal.wait_for("a list", |screen| words_below(screen).len() == words.len());
        let seen = terminal.list();
        terminal.clear_line();
        (seen == words).then_some(())
    });
}

#[test]
fn what_was_used_comes_first() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    home.files(&["apple", "banana", "cherry"]);
    let _worker = home.worker();
    let mut terminal = home.start(&real());
    teach(&mut terminal, "cherry");
    tab_comes_to(&mut terminal, &["cherry", "apple", "banana"]);
    terminal.press("argdump ");
    terminal.press("\t\t");
    terminal.wait_line("argdump cherry");
}

#[test]
fn a_second_shell_knows_what_the_first_did() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    home.files(&["apple", "banana", "cherry"]);
    let _worker = home.worker();
    let mut first = home.start(&real());
    let mut second = home.start(&real());
    teach(&mut first, "banana");
    tab_comes_to(&mut second, &["banana", "apple", "cherry"]);
    tab_comes_to(&mut first, &["banana", "apple", "cherry"]);
}

#[test]
fn the_first_prompt_starts_the_worker() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    home.files(&["apple", "banana", "cherry"]);
    let mut terminal = home.start(&real());
    eventually("a worker serves", || Worker::pid_in(&home));
    teach(&mut terminal, "cherry");
    tab_comes_to(&mut terminal, &["cherry", "apple", "banana"]);
}

#[test]
fn a_stopped_worker_leaves_native_order_and_serves_again_later() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    home.files(&["apple", "banana", "cherry"]);
    let worker = home.worker();
    let mut terminal = home.start(&real());
    teach(&mut terminal, "cherry");
    tab_comes_to(&mut terminal, &["cherry", "apple", "banana"]);
    worker.freeze();
    terminal.press(format!("argdump {TAB}"));
    terminal.wait_list(&["apple", "banana", "cherry"]);
    terminal.press(TAB);
    terminal.wait_line("argdump apple");
    terminal.clear_line();
    terminal.run("true");
    worker.thaw();
    tab_comes_to(&mut terminal, &["cherry", "apple", "banana"]);
    assert_eq!(worker.serving(), Some(worker.pid()), "the same worker");
}

#[test]
fn a_killed_worker_is_replaced() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    home.files(&["apple", "banana", "cherry"]);
    let worker = home.worker();
    let mut terminal = home.start(&real());
    teach(&mut terminal, "cherry");
    tab_comes_to(&mut terminal, &["cherry", "apple", "banana"]);
    worker.kill();
    terminal.press(format!("argdump {TAB}"));
    terminal.wait_text("banana");
    terminal.clear_line();
    tab_comes_to(&mut terminal, &["cherry", "apple", "banana"]);
    assert_ne!(Worker::pid_in(&home), Some(worker.pid()));
}

#[test]
fn a_worker_that_never_answers_leaves_native_order() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    home.files(&["apple", "banana", "cherry"]);
    let directory = {
        let worker = home.worker();
        worker.kill();
        home.runtime().join("tabsense")
    };
    let sockets = std::fs::read_dir(&directory)
        .expect("the directory of the socket")
        .flatten();
    let socket = sockets
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some_and(|kind| kind == "sock"));
    let socket = socket.expect("a socket");
    std::fs::remove_file(&socket).expect("remove the stale socket");
    let _silent = UnixListener::bind(&socket).expect("bind");
    let mut terminal = home.start(&real());
    terminal.press(format!("argdump {TAB}"));
    terminal.wait_list(&["apple", "banana", "cherry"]);
    terminal.press(TAB);
    terminal.press(ENTER);
    assert_eq!(home.next_arguments(0), [b"apple".to_vec()]);
}

#[test]
fn the_worker_has_nothing_of_the_shell_that_started_it() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    let mut terminal = home.start(&real().before("exec 7</etc/hostname"));
    let pid = eventually("a worker serves", || Worker::pid_in(&home));
    for _ in 0..5 {
        // A key after it: zsh misses an interrupt that comes just before it reads, until then.
        terminal.press(CTRL_C);
        terminal.press(CTRL_U);
        terminal.wait_prompt();
    }
    terminal.run("jobs");
    assert!(!terminal.text().contains("[1]"));
    let process = std::path::PathBuf::from(format!("/proc/{pid}"));
    if process.exists() {
        assert_eq!(
            std::fs::read_link(process.join("cwd")).expect("cwd"),
            std::path::Path::new("/")
        );
        for entry in std::fs::read_dir(process.join("fd"))
            .expect("descriptors")
            .flatten()
        {
            let target = std::fs::read_link(entry.path()).unwrap_or_default();
            let target = target.to_string_lossy();
            assert!(
                !target.contains("hostname") && !target.starts_with("/dev/pts"),
                "{target} is open"
            );
        }
    }
    terminal.hang_up();
    assert_eq!(Worker::pid_in(&home), Some(pid), "it survives the terminal");
}

#[test]
fn what_is_hidden_from_the_history_is_nowhere_on_disk() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    let _worker = home.worker();
    let mut terminal = home.start(&real().before("HISTORY_IGNORE='echo secret*'"));
    terminal.run(" echo hide1");
    terminal.run("echo secret2");
    terminal.run("echo keep3");
    let count = |marker: &[u8]| found_in(&home.home().join(".local"), marker);
    eventually("the kept command is stored", || {
        (count(b"keep3") > 0).then_some(())
    });
    assert_eq!((count(b"hide1"), count(b"secret2")), (0, 0));
}

/// How many files below `directory` hold `marker`.
fn found_in(directory: &std::path::Path, marker: &[u8]) -> usize {
    let Ok(entries) = std::fs::read_dir(directory) else {
        return 0;
    };
    let holds = |path: &std::path::Path| {
        let bytes = std::fs::read(path).unwrap_or_default();
        usize::from(bytes.windows(marker.len()).any(|window| window == marker))
    };
    let counts = entries.flatten().map(|entry| entry.path());
    counts
        .map(|path| {
            if path.is_dir() {
                found_in(&path, marker)
            } else {
                holds(&path)
            }
        })
        .sum()
}

#[test]
fn directories_of_the_history_are_offered_where_zsh_has_none() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    home.files(&["../far/away/project/", "here/"]);
    let _worker = home.worker();
    let mark = "__mark() { print -rn -- \"$BUFFER\" > ~/line; zle send-break }; zle -N __mark; bindkey '^X^X' __mark";
    let mut terminal = home.start(&real().before(mark));
    for _ in 0..3 {
        terminal.run("cd ~/far/away/project");
        terminal.run("cd ~/work");
    }
    eventually("the directory is offered", || {
        terminal.press(format!("cd proj{TAB}\x18\x18"));
        terminal.wait_prompt();
        let line = std::fs::read_to_string(home.home().join("line")).unwrap_or_default();
        line.contains("far/away/project").then_some(())
    });
}

#[test]
fn a_habit_goes_in_at_once_and_taken_back_is_a_list() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    home.files(&["apple", "banana", "berry"]);
    a_habit_is_inserted_once(&home, &real());
}

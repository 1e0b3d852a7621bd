//! bash with the real client and the real worker.

use super::{QUIET, list, tab_shows};
use crate::common::{
    ENTER, Home, Options, Shell, TAB, Terminal, a_habit_is_inserted_once, eventually,
};

const NATIVE: [&str; 3] = ["apple", "banana", "cherry"];
const TAUGHT: [&str; 3] = ["cherry", "apple", "banana"];

fn start() -> Option<Home> {
    let home = Home::new(Shell::Bash)?;
    home.files(&NATIVE);
    Some(home)
}

fn real() -> Options {
    Options::real().before(QUIET)
}

/// Runs `argdump NAME` often enough that NAME leads the list.
fn teach(terminal: &mut Terminal, name: &str) {
    for _ in 0..3 {
        terminal.run(format!("argdump {name}"));
    }
}

/// Presses TAB after `argdump ` until the list reads as `words` (records travel on their own).
#[track_caller]
fn tab_comes_to(terminal: &mut Terminal, words: &[&str]) {
    eventually(&format!("the list comes to {words:?}"), || {
        terminal.press(format!("argdump {TAB}"));
        terminal.wait_for("a list", |screen| list(screen).len() == words.len());
        let seen = list(&terminal.screen());
        terminal.clear_line();
        terminal.run("");
        (seen == words).then_some(())
    });
}

#[test]
fn what_was_used_comes_first() {
    let Some(home) = start() else { return };
    let _worker = home.worker();
    let mut terminal = home.start(&real());
    teach(&mut terminal, "cherry");
    tab_comes_to(&mut terminal, &TAUGHT);
}

#[test]
fn a_start_tells_its_place_by_itself_once_the_history_of_that_shell_is_taken_over() {
    let Some(home) = start() else { return };
    let _worker = home.worker();
    let imported = home.home().join(".local/share/tabsense/imported");
    for expected in ["0", "1"] {
        let mut terminal = home.start(&real());
        let before = home.arguments().len();
        terminal.run("argdump $((${__tabsense_told%% *}0 == $$0))");
        assert_eq!(home.next_arguments(before), [expected.as_bytes().to_vec()]);
        eventually("the history is taken over", || {
            imported.exists().then_some(())
        });
    }
    // By hand it is always the same, and tells nothing.
    for _ in 0..2 {
        let output = home.tabsense(&["init", "bash"]);
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains("__tabsense_told=\n"), "{text}");
    }
}

#[test]
fn a_second_shell_knows_what_the_first_did() {
    let Some(home) = start() else { return };
    let _worker = home.worker();
    let mut first = home.start(&real());
    teach(&mut first, "cherry");
    let mut second = home.start(&real());
    tab_comes_to(&mut second, &TAUGHT);
}

#[test]
fn a_stopped_worker_leaves_the_order_of_bash_and_serves_again_later() {
    let Some(home) = start() else { return };
    let worker = home.worker();
    let mut terminal = home.start(&real());
    teach(&mut terminal, "cherry");
    tab_comes_to(&mut terminal, &TAUGHT);
    worker.freeze();
    tab_shows(&mut terminal, "argdump ", &NATIVE);
    terminal.clear_line();
    terminal.run("argdump x");
    worker.thaw();
    tab_comes_to(&mut terminal, &TAUGHT);
    assert_eq!(worker.serving(), Some(worker.pid()));
}

#[test]
fn a_killed_worker_leaves_the_order_of_bash_and_a_new_one_takes_over() {
    let Some(home) = start() else { return };
    let worker = home.worker();
    let mut terminal = home.start(&real());
    teach(&mut terminal, "cherry");
    tab_comes_to(&mut terminal, &TAUGHT);
    worker.kill();
    tab_shows(&mut terminal, "argdump ", &NATIVE);
    terminal.clear_line();
    terminal.run("");
    tab_comes_to(&mut terminal, &TAUGHT);
}

#[test]
fn the_first_prompt_starts_a_worker_that_holds_nothing_of_the_shell() {
    let Some(home) = start() else { return };
    let mut terminal = home.start(&real().before("exec 7</etc/hostname"));
    let pid = eventually("a worker serves", || {
        let status = home.tabsense(&["worker", "status", "--json"]);
        let status: serde_json::Value = serde_json::from_slice(&status.stdout).ok()?;
        status.get("pid")?.as_u64()
    });
    terminal.run("argdump \"$(jobs)\"");
    assert_eq!(home.next_arguments(0), [b"".to_vec()]);
    for fd in [0, 1, 2, 7] {
        let target = std::fs::read_link(format!("/proc/{pid}/fd/{fd}")).unwrap_or_default();
        let target = target.display().to_string();
        assert!(
            !target.starts_with("/dev/pts") && target != "/etc/hostname",
            "{fd}: {target}"
        );
    }
    terminal.hang_up();
    let status = home.tabsense(&["worker", "status", "--json"]);
    let status: serde_json::Value = serde_json::from_slice(&status.stdout).expect("json");
    assert_eq!(status["pid"].as_u64(), Some(pid));
}

#[test]
fn names_with_odd_bytes_arrive_in_the_order_of_the_worker() {
    let Some(home) = Home::new(Shell::Bash) else {
        return;
    };
    let names: [&[u8]; 3] = [b"a b", b"bad\xffx", b"it's $(x)"];
    home.files(&names);
    let _worker = home.worker();
    let mut terminal = home.start(&real());
    let mut got: Vec<Vec<u8>> = Vec::new();
    for nth in 1..=3 {
        terminal.press(format!("argdump {}{ENTER}", super::NEXT.repeat(nth)));
        got.extend(home.next_arguments(nth - 1));
        terminal.wait_prompt();
    }
    got.sort();
    assert_eq!(got, names);
}

#[test]
fn commands_that_the_history_ignores_never_reach_the_disk() {
    let Some(home) = start() else { return };
    let _worker = home.worker();
    let mut terminal = home.start(&real().after("HISTCONTROL=ignorespace HISTIGNORE='*secret*'"));
    for line in [" argdump hide1", "argdump secret2", "argdump keep3"] {
        terminal.run(line);
    }
    let data = home.home().join(".local/share");
    let holds = |word: &str| {
        let mut grep = home.command("/usr/bin/grep".as_ref());
        let output = grep
            .args(["-raqs", word])
            .arg(&data)
            .output()
            .expect("run grep");
        output.status.success()
    };
    eventually("keep3 is stored", || holds("keep3").then_some(()));
    assert!(!holds("hide1") && !holds("secret2"));
}

#[test]
fn a_habit_goes_in_at_once_and_taken_back_is_a_list() {
    let Some(home) = Home::new(Shell::Bash) else {
        return;
    };
    home.files(&["apple", "banana", "berry"]);
    a_habit_is_inserted_once(
        &home,
        &Options::real().before("HISTFILE=~/.bash_history; bind 'set bell-style none'"),
    );
}

//! fish with the real client and the real worker.

use super::{QUIET, pager, pager_is, tab_shows};
use crate::common::{
    ENTER, Home, Options, Shell, TAB, Terminal, a_habit_is_inserted_once, eventually,
};

fn real() -> Options {
    Options::real().before(QUIET)
}

/// Runs `argdump NAME` often enough that NAME leads the list.
fn teach(terminal: &mut Terminal, name: &str) {
    for _ in 0..3 {
        terminal.run(format!("argdump {name}"));
    }
}

/// Presses TAB after `argdump ` until the pager reads as `words` (records travel on their own).
#[track_caller]
fn tab_comes_to(terminal: &mut Terminal, words: &[&str]) {
    eventually(&format!("the pager comes to {words:?}"), || {
        terminal.press(format!("argdump {TAB}"));
        terminal.wait_for("a pager", |screen| pager(screen).len() == words.len());
        let seen = pager(&terminal.screen());
        terminal.clear_line();
        (seen == words).then_some(())
    });
}

#[test]
fn what_was_used_comes_first() {
    let Some(home) = Home::new(Shell::Fish) else {
        return;
    };
    home.files(&["apple", "banana", "cherry"]);
    let _worker = home.worker();
    let mut terminal = home.start(&real());
    teach(&mut terminal, "cherry");
    tab_comes_to(&mut terminal, &["cherry", "apple", "banana"]);
}

#[test]
fn a_second_shell_knows_what_the_first_did() {
    let Some(home) = Home::new(Shell::Fish) else {
        return;
    };
    home.files(&["apple", "banana", "cherry"]);
    let _worker = home.worker();
    let mut first = home.start(&real());
    teach(&mut first, "banana");
    let mut second = home.start(&real());
    tab_comes_to(&mut second, &["banana", "apple", "cherry"]);
}

#[test]
fn a_stopped_worker_leaves_the_order_of_fish_and_serves_again_later() {
    let Some(home) = Home::new(Shell::Fish) else {
        return;
    };
    home.files(&["apple", "banana", "cherry"]);
    let worker = home.worker();
    let mut terminal = home.start(&real());
    teach(&mut terminal, "cherry");
    tab_comes_to(&mut terminal, &["cherry", "apple", "banana"]);
    worker.freeze();
    tab_shows(&mut terminal, "argdump ", &["apple", "banana", "cherry"]);
    terminal.clear_line();
    terminal.run("argdump x");
    worker.thaw();
    tab_comes_to(&mut terminal, &["cherry", "apple", "banana"]);
    assert_eq!(worker.serving(), Some(worker.pid()));
}

#[test]
fn a_killed_worker_leaves_the_order_of_fish_and_a_new_one_takes_over() {
    let Some(home) = Home::new(Shell::Fish) else {
        return;
    };
    home.files(&["apple", "banana", "cherry"]);
    let worker = home.worker();
    let mut terminal = home.start(&real());
    teach(&mut terminal, "cherry");
    tab_comes_to(&mut terminal, &["cherry", "apple", "banana"]);
    worker.kill();
    tab_shows(&mut terminal, "argdump ", &["apple", "banana", "cherry"]);
    terminal.clear_line();
    tab_comes_to(&mut terminal, &["cherry", "apple", "banana"]);
}

#[test]
fn prompts_start_the_worker_without_a_trace_in_the_shell() {
    let Some(home) = Home::new(Shell::Fish) else {
        return;
    };
    let mut terminal = home.start(&real());
    // On a loaded machine the client may give up at the first prompt; the next tries again.
    eventually("a worker serves", || {
        terminal.run("true");
        let status = home.tabsense(&["worker", "status", "--json"]);
        let status: serde_json::Value = serde_json::from_slice(&status.stdout).ok()?;
        status.get("pid")?.as_u64()
    });
    terminal.run("argdump (jobs)");
    assert_eq!(home.next_arguments(0), Vec::<Vec<u8>>::new());
}

#[test]
fn names_with_odd_bytes_arrive_in_the_order_of_the_worker() {
    let Some(home) = Home::new(Shell::Fish) else {
        return;
    };
    home.files(&[b"a b".as_slice(), b"bad\xffx", b"it's $(x)"]);
    let _worker = home.worker();
    let mut terminal = home.start(&real());
    terminal.press(format!("argdump {TAB}"));
    terminal.wait_for("a pager", |screen| !pager(screen).is_empty());
    terminal.press(format!("{TAB}{ENTER}{ENTER}"));
    let arguments = home.next_arguments(0);
    assert!([b"a b".as_slice(), b"bad\xffx", b"it's $(x)"].contains(&arguments[0].as_slice()));
    terminal.wait_prompt();
    pager_is(&terminal, &[]);
}

#[test]
fn a_habit_goes_in_at_once_and_taken_back_is_a_list() {
    let Some(home) = Home::new(Shell::Fish) else {
        return;
    };
    home.files(&["apple", "banana", "berry"]);
    a_habit_is_inserted_once(&home, &real());
}

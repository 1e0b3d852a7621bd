//! What the shell tests share: a terminal with a real shell in it, a home of its own, the worker
//! of that home, and a scripted stand-in for the client.
//!
//! ```ignore
//! let Some(home) = Home::new(Shell::Zsh) else { return };   // shell missing: skipped, said so
//! let mut terminal = home.start(Options::fake(Fake::Reverse));
//! terminal.press("ls d");
//! terminal.press(TAB);
//! terminal.wait_text("d_last");
//! ```
#![allow(
    dead_code,
    unused_imports,
    reason = "each shell's tests use their part of the harness"
)]

mod fake;
mod home;
mod options;
mod shell;
mod sure;
mod terminal;
mod worker;

use std::time::{Duration, Instant};

pub(crate) use fake::{Fake, Request};
pub(crate) use home::Home;
pub(crate) use options::Options;
pub(crate) use shell::Shell;
pub(crate) use sure::{a_habit_is_inserted_once, odd_names_are_inserted};
pub(crate) use terminal::{CTRL_C, CTRL_U, DOWN, ENTER, ESC, TAB, Terminal, words_below};
pub(crate) use worker::Worker;

/// How long a condition may take to come true before a test fails.
pub(crate) const LIMIT: Duration = Duration::from_secs(10);

/// How often a condition outside the terminal (a file, a process) is looked at.
const LOOK: Duration = Duration::from_millis(5);

/// Waits until `ready` gives a value. For conditions outside the terminal.
#[track_caller]
pub(crate) fn eventually<T>(what: &str, mut ready: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + LIMIT;
    loop {
        if let Some(value) = ready() {
            return value;
        }
        assert!(Instant::now() < end, "not within {LIMIT:?}: {what}");
        std::thread::sleep(LOOK);
    }
}

/// Whether these files of packages are there; says so when not, and in CI that is a failure.
pub(crate) fn packaged(files: &[&str]) -> bool {
    for file in files {
        if !std::path::Path::new(file).exists() {
            assert!(
                std::env::var_os("CI").is_none(),
                "{file} is not there (hint: the test command installs its package)"
            );
            eprintln!("skipped: {file} is not there");
            return false;
        }
    }
    true
}

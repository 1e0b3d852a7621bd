//! fish.

mod added;
mod bindings;
mod fallback;
mod lint;
mod meaning;
mod names;
mod property;
mod recording;
mod sure;
mod surroundings;
mod tab;
mod words;
mod worker;

use crate::common::{Fake, Home, Options, Shell, TAB, Terminal};

/// fish with our script and a scripted client, without ghost text (it would stand in the rows).
fn scripted(fake: Fake) -> Options {
    Options::fake(fake).before(QUIET)
}

/// No ghost text.
const QUIET: &str = "set -g fish_autosuggestion_enabled 0";

/// A home with three files and fish in it.
fn three_files() -> Option<Home> {
    let home = Home::new(Shell::Fish)?;
    home.files(&["apple", "banana", "cherry"]);
    Some(home)
}

/// The words of the pager's rows, in reading order.
fn pager(screen: &vt100::Screen) -> Vec<String> {
    let from = screen.cursor_position().0 + 1;
    screen
        .rows(0, screen.size().1.get())
        .skip(usize::from(from))
        .flat_map(|row| {
            row.split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        })
        .collect()
}

/// Types `line`, presses TAB and waits until the pager reads exactly `words`.
#[track_caller]
fn tab_shows(terminal: &mut Terminal, line: &str, words: &[&str]) {
    terminal.press(line);
    terminal.press(TAB);
    pager_is(terminal, words);
}

/// Waits until the pager reads exactly `words`.
#[track_caller]
fn pager_is(terminal: &Terminal, words: &[&str]) {
    terminal.wait_for(&format!("the pager shows {words:?}"), |screen| {
        pager(screen) == words
    });
}

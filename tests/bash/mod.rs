//! bash.

mod added;
mod fallback;
mod late;
mod lint;
mod meaning;
mod names;
mod options;
mod plugins;
mod prompt_command;
mod property;
mod recording;
mod registered;
mod sure;
mod surroundings;
mod tab;
mod worker;

use crate::common::{CTRL_C, Fake, Home, Options, Shell, TAB, Terminal, eventually};
use vt100::Screen;

/// Rc lines for predictable tests: a history file, no sound, lists with one candidate a row after
/// one TAB, and Ctrl-N to go through the candidates one by one.
const QUIET: &str = "HISTFILE=~/.bash_history\n\
    bind 'set bell-style none'\n\
    bind 'set show-all-if-ambiguous on'\n\
    bind 'set completion-display-width 1'\n\
    bind '\"\\C-n\": menu-complete'";

/// A loaded machine must not decide which order a test sees.
const PATIENT: &str = "__tabsense_patience=9";

/// Goes to the next candidate.
const NEXT: &str = "\x0e";

/// The script with a scripted client, in predictable surroundings.
fn scripted(fake: Fake) -> Options {
    Options::fake(fake).before(QUIET).after(PATIENT)
}

/// A home whose work directory holds `apple`, `banana` and `cherry`.
fn three_files() -> Option<Home> {
    let home = Home::new(Shell::Bash)?;
    home.files(&["apple", "banana", "cherry"]);
    Some(home)
}

/// Presses Ctrl-C until a new prompt shows: bash sleeps on one that comes while it draws the line.
#[track_caller]
fn interrupt(terminal: &mut Terminal) {
    let row =
        |terminal: &Terminal| rows(&terminal.screen())[usize::from(terminal.cursor().0)].clone();
    let line = row(terminal);
    let mut looks = 0;
    eventually("Ctrl-C gives a new prompt", || {
        if looks % 50 == 0 {
            terminal.press(CTRL_C);
        }
        looks += 1;
        let now = row(terminal);
        (now != line && now.starts_with('p') && now.ends_with('>')).then_some(())
    });
    terminal.wait_prompt();
}

/// Puts another client in place; at once, since the old one may be starting. What the script reads when
/// it is needed is there, so that the answers of `text` are what is tested.
fn client(home: &Home, text: &str) {
    let (interpreter, text) = text.split_once('\n').expect("an interpreter");
    let parts = concat!(env!("CARGO_MANIFEST_DIR"), "/shell/tabsense");
    let init = format!(
        "if [ \"$1\" = init ]; then echo \"# tabsense $4 \"; exec cat \"{parts}-$4\"*\".$2\"; fi"
    );
    home.program("tabsense-next", &format!("{interpreter}\n{init}\n{text}"));
    let bin = home.root().join("bin");
    std::fs::rename(bin.join("tabsense-next"), bin.join("tabsense-fake"))
        .expect("replace the client");
}

fn rows(screen: &Screen) -> Vec<String> {
    screen
        .rows(0, screen.size().1.get())
        .map(|row| row.trim_end().to_owned())
        .collect()
}

/// The list between the line with the cursor and the same prompt above it; empty when there is none.
fn list(screen: &Screen) -> Vec<String> {
    let rows = rows(screen);
    let cursor = usize::from(screen.cursor_position().0);
    let Some((prompt, _)) = rows[cursor].split_once('>') else {
        return Vec::new();
    };
    let prompt = format!("{prompt}>");
    let Some(above) = rows[..cursor]
        .iter()
        .rposition(|row| row.starts_with(&prompt))
    else {
        return Vec::new();
    };
    rows[above + 1..cursor].to_vec()
}

/// Types, presses TAB and waits until the list below reads as `expected`.
#[track_caller]
fn tab_shows(terminal: &mut Terminal, typed: &str, expected: &[&str]) {
    terminal.press(format!("{typed}{TAB}"));
    list_is(terminal, expected);
}

#[track_caller]
fn list_is(terminal: &Terminal, expected: &[&str]) {
    terminal.wait_for(&format!("the list is {expected:?}"), |screen| {
        list(screen) == expected
    });
}

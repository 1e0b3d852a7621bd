//! What is inserted at once, in any shell.

use super::{ENTER, Home, Options, Shell, TAB, Terminal, eventually};

/// In a home whose work directory holds `banana` and `berry`: after three times `banana` TAB takes
/// it at once; taken back, the same TAB does not.
#[track_caller]
pub(crate) fn a_habit_is_inserted_once(home: &Home, options: &Options) {
    // The share of the ranking may change with each training; the habit's is 4 in 5.
    home.write(
        ".config/tabsense/config.toml",
        "[complete]\nmodel = \"off\"\ninsert_percent = 75\n",
    );
    let _worker = home.worker();
    let mut terminal = home.start(options);
    for _ in 0..3 {
        terminal.run("cat banana");
    }
    // Commands are told in the background, and an answer may be late.
    eventually("the habit is inserted", || {
        if is_inserted(&mut terminal) {
            return Some(());
        }
        terminal.run("true");
        None
    });
    assert!(!is_inserted(&mut terminal), "taken back, it came again");
}

/// Whether TAB after `cat b` takes `banana`; the line is empty again after it.
#[track_caller]
fn is_inserted(terminal: &mut Terminal) -> bool {
    let mut line = String::new();
    terminal.press(format!("cat b{TAB}x"));
    terminal.wait_for("TAB is done", |screen| {
        line = super::terminal::edit_line(screen).unwrap_or_default();
        line == "cat banana x" || line == "cat bx"
    });
    terminal.clear_line();
    line == "cat banana x"
}

/// Names that a shell would read otherwise than they are written.
const ODD: [&[u8]; 6] = [
    b"x it's a \"$(touch PWNED)\"",
    b"x*?[a]{b}",
    b"x!sure",
    b"x\\0 ~",
    "x\u{6253} \u{e9}".as_bytes(),
    b"x bad\xff",
];

/// Each odd name, and each of `more`, that a scripted client is sure of is what the program receives.
#[track_caller]
pub(crate) fn odd_names_are_inserted(shell: Shell, options: &Options, more: &[&[u8]]) {
    for name in ODD.iter().chain(more) {
        let Some(home) = Home::new(shell) else {
            return;
        };
        home.files(&[name, b"x".as_slice()]);
        let mut terminal = home.start(options);
        terminal.press(format!("argdump ./x{TAB}{ENTER}"));
        let expected = [b"./", *name].concat();
        assert_eq!(
            home.next_arguments(0),
            [expected],
            "{}",
            name.escape_ascii()
        );
        assert!(!home.work().join("PWNED").exists());
    }
}

//! Words into commands: the key, undo, the comma.

use crate::common::{ENTER, ESC, Fake, Home, Options, Shell, Terminal};

const ALT_ENTER: &str = "\x1b\r";
const CHOSEN: &str = "\x18d";
const UNDO: &str = "\x1f";

fn start(home: &Home, options: &Options) -> Terminal {
    home.means_disk_usage();
    home.start(options)
}

fn scripted() -> Options {
    Options::fake(Fake::Reverse)
}

fn home() -> Option<Home> {
    Home::new(Shell::Zsh)
}

/// Waits until the line left of the cursor is `left` and the row ends in `whole`.
#[track_caller]
fn wait_cursor(terminal: &Terminal, left: &str, whole: &str) {
    terminal.wait_line(left);
    terminal.wait_text(whole);
}

#[test]
fn the_key_turns_the_words_into_the_command_and_undo_brings_them_back() {
    let Some(home) = home() else { return };
    let names = "alias qqq='git status'; qqf() { : }; _qqhidden() { : }";
    let mut terminal = start(&home, &scripted().after(names));
    terminal.press(format!("how big is this{ALT_ENTER}"));
    wait_cursor(&terminal, "du -sh ", "du -sh <&path> | sort -h");
    terminal.press(UNDO);
    terminal.wait_line("how big is this");
    let asked = home.wait_request("do", "the words", |_| true);
    assert_eq!(asked.get("line"), "how big is this");
    assert_eq!(asked.get("shell"), "zsh");
    assert_eq!(asked.get("unit"), "chars");
    assert_eq!(asked.get("cwd"), home.work().display().to_string());
    let names: Vec<String> = asked
        .records
        .iter()
        .map(|record| String::from_utf8_lossy(record).into_owned())
        .collect();
    assert!(
        names.contains(&"a\tqqq\tgit status".to_owned()),
        "{names:?}"
    );
    assert!(names.contains(&"f\tqqf\t".to_owned()), "{names:?}");
    assert!(
        !names
            .iter()
            .any(|name| name.contains("qqhidden") || name.contains("tabsense")),
        "{names:?}"
    );
}

#[test]
fn nothing_is_run_by_the_key_or_the_comma() {
    let Some(home) = home() else { return };
    let mut terminal = start(&home, &scripted());
    home.meaning(0, &["line=argdump ran"]);
    terminal.press(format!("do it{ALT_ENTER}"));
    terminal.wait_line("argdump ran");
    terminal.press(UNDO);
    terminal.wait_line("do it");
    terminal.clear_line();
    terminal.press(format!(", do *it?{ENTER}"));
    terminal.wait_line("argdump ran");
    assert!(home.arguments().is_empty());
    let asked = home.requests("do").pop().expect("asked");
    assert_eq!(asked.get("line"), ", do *it?");
    terminal.press(ENTER);
    assert_eq!(home.next_arguments(0), [b"ran".to_vec()]);
}

#[test]
fn the_comma_puts_the_cursor_on_the_placeholder() {
    let Some(home) = home() else { return };
    let mut terminal = start(&home, &scripted());
    terminal.press(format!(", how big{ENTER}"));
    wait_cursor(&terminal, "du -sh ", "du -sh <&path> | sort -h");
}

#[test]
fn where_the_answer_is_not_sure_the_key_goes_through_the_choices() {
    let Some(home) = home() else { return };
    let mut terminal = start(&home, &scripted());
    home.meaning(
        0,
        &[
            "message=not sure",
            "choice=4\t0\tLock the screen\tlock",
            "choice=3\t0\tSleep\tnap",
        ],
    );
    terminal.press(format!("rest{ALT_ENTER}"));
    terminal.wait_text("not sure");
    terminal.wait_text("Lock the screen: lock");
    terminal.wait_line("rest");
    terminal.press(ALT_ENTER);
    terminal.wait_line("lock");
    terminal.press(ALT_ENTER);
    terminal.wait_line("nap");
    terminal.press(ALT_ENTER);
    terminal.wait_line("lock");
    assert_eq!(home.requests("do").len(), 1);
    terminal.clear_line();
    terminal.press(format!(", rest{ENTER}"));
    terminal.wait_text("Sleep: nap");
    terminal.wait_prompt();
    terminal.press(ALT_ENTER);
    terminal.wait_line("lock");
}

#[test]
fn without_an_answer_the_line_stays() {
    let Some(home) = home() else { return };
    let mut terminal = start(&home, &scripted().before("TABSENSE_DO_KEY='^Xd'"));
    home.meaning(3, &["message=nothing fits"]);
    terminal.press(format!("blue cheese{CHOSEN}"));
    terminal.wait_text("nothing fits");
    terminal.wait_line("blue cheese");
    std::fs::write(home.root().join("do-answer"), b"v1\0line=argdump half").expect("written");
    for status in ["0", "1", "3"] {
        std::fs::write(home.root().join("do-status"), status).expect("written");
        terminal.press(CHOSEN);
        terminal.press("x");
        terminal.wait_text("blue cheesex");
        terminal.press("\x7f");
        terminal.wait_line("blue cheese");
    }
    terminal.run("");
    terminal.press(format!(", blue cheese{ENTER}"));
    terminal.wait_text("tabsense: no answer");
}

#[test]
fn without_an_answer_alt_enter_is_the_line_break_that_it_always_was() {
    let Some(home) = home() else { return };
    let mut terminal = start(&home, &scripted());
    home.meaning(3, &["message=nothing fits"]);
    terminal.press(format!("{ALT_ENTER}argdump a{ALT_ENTER}argdump b"));
    terminal.wait_for("three lines", |screen| {
        screen
            .rows(0, 10)
            .nth(2)
            .is_some_and(|row| row == "argdump b")
    });
    terminal.press(ENTER);
    assert_eq!(home.next_arguments(1), [b"b".to_vec()]);
}

#[test]
fn in_vi_mode_escape_and_then_enter_run_the_line_as_ever() {
    let Some(home) = home() else { return };
    for options in [
        scripted().before("bindkey -v"),
        scripted().after("bindkey -v"),
    ] {
        let mut terminal = start(&home, &options);
        let before = home.arguments().len();
        terminal.press(format!("argdump it{ESC}{ENTER}"));
        assert_eq!(home.next_arguments(before), [b"it".to_vec()]);
    }
    assert!(home.requests("do").is_empty());
}

#[test]
fn the_key_works_in_emacs_mode_that_is_chosen_after_vi_mode() {
    let Some(home) = home() else { return };
    let options = scripted().before("bindkey -v").after("bindkey -e");
    let mut terminal = start(&home, &options);
    terminal.press(format!("how big{ALT_ENTER}"));
    terminal.wait_line("du -sh ");
}

#[test]
fn in_vi_mode_a_named_key_works_and_escape_stays() {
    let Some(home) = home() else { return };
    let named = "TABSENSE_DO_KEY='^Xd'";
    for options in [
        scripted().before(named).before("bindkey -v; KEYTIMEOUT=1"),
        scripted().before(named).after("bindkey -v; KEYTIMEOUT=1"),
    ] {
        let mut terminal = start(&home, &options);
        // In one piece, or the short time for a key of two is over.
        home.meaning(3, &["message=nothing fits"]);
        terminal.press(format!("do it{CHOSEN}"));
        terminal.wait_text("nothing fits");
        terminal.wait_line("do it");
        home.meaning(0, &["line=argdump ran"]);
        terminal.press(CHOSEN);
        terminal.wait_line("argdump ran");
        terminal.press(ESC);
        terminal.wait_line("argdump ra");
        terminal.press("u");
        terminal.wait_text("do it");
        terminal.press("0cwargdump");
        terminal.wait_line("argdump");
        let before = home.arguments().len();
        terminal.press(ENTER);
        assert_eq!(home.next_arguments(before), [b"it".to_vec()]);
    }
}

#[test]
fn the_users_own_key_and_comma_stay() {
    let Some(home) = home() else { return };
    let own = "mine() { LBUFFER+=mine }; zle -N mine; bindkey '^[^M' mine; ,() { argdump own $@ }";
    for options in [scripted().before(own), scripted().after(own)] {
        let mut terminal = start(&home, &options);
        terminal.press(format!("ls {ALT_ENTER}"));
        terminal.wait_line("ls mine");
        terminal.clear_line();
        let before = home.arguments().len();
        terminal.run(", x");
        assert_eq!(home.next_arguments(before)[0], b"own");
    }
    assert!(home.requests("do").is_empty());
}

#[test]
fn another_key_may_be_chosen_and_none() {
    let Some(home) = home() else { return };
    let mut terminal = start(&home, &scripted().before("TABSENSE_DO_KEY='^Xd'"));
    terminal.press(format!("how big{CHOSEN}"));
    terminal.wait_line("du -sh ");
    let mut terminal = start(&home, &scripted().before("TABSENSE_DO_KEY="));
    // What zsh does there: a line break.
    terminal.press(format!("how big{ALT_ENTER}x"));
    terminal.wait_for("a second line", |screen| {
        screen.rows(0, 10).nth(1).is_some_and(|row| row == "x")
    });
    assert_eq!(home.requests("do").len(), 1);
}

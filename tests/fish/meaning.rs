//! Words into commands: the key, undo, the comma.

use super::scripted;
use crate::common::{ENTER, ESC, Fake, Home, Options, Shell, Terminal};

const ALT_ENTER: &str = "\x1b\r";
const CHOSEN: &str = "\x07";
const UNDO: &str = "\x1f";

fn start(home: &Home, options: &Options) -> Terminal {
    home.means_disk_usage();
    home.start(options)
}

fn fake() -> Options {
    scripted(Fake::Reverse)
}

fn home() -> Option<Home> {
    Home::new(Shell::Fish)
}

#[test]
fn the_key_turns_the_words_into_the_command_and_undo_brings_them_back() {
    let Some(home) = home() else { return };
    let names = "alias qqq 'git status'; function qqf --description 'own work'; end; \
        function _qqhidden; end; abbr -a qqb 'git branch'";
    let mut terminal = start(&home, &fake().after(names));
    terminal.press(format!("how big is this{ALT_ENTER}"));
    terminal.wait_line("du -sh ");
    terminal.wait_text("du -sh <&path> | sort -h");
    terminal.press(UNDO);
    terminal.wait_line("how big is this");
    let asked = home.wait_request("do", "the words", |_| true);
    assert_eq!(asked.get("line"), "how big is this");
    assert_eq!(asked.get("shell"), "fish");
    assert_eq!(asked.get("unit"), "chars");
    assert_eq!(asked.get("cwd"), home.work().display().to_string());
    let names: Vec<String> = asked
        .records
        .iter()
        .map(|record| String::from_utf8_lossy(record).into_owned())
        .collect();
    for name in [
        "a\tqqq\tgit status",
        "f\tqqf\town work",
        "b\tqqb\tgit branch",
    ] {
        assert!(names.contains(&name.to_owned()), "{name:?} in {names:?}");
    }
    assert!(
        !names.iter().any(|name| {
            ["qqhidden", "tabsense", "\tls\t", "\tkill\t"]
                .iter()
                .any(|part| name.contains(part))
        }),
        "{names:?}"
    );
}

#[test]
fn nothing_is_run_by_the_key_or_the_comma() {
    let Some(home) = home() else { return };
    let mut terminal = start(&home, &fake());
    home.meaning(0, &["line=argdump ran 打", "cursor=8"]);
    terminal.press(format!("do it{ALT_ENTER}"));
    terminal.wait_line("argdump ");
    terminal.wait_text("argdump ran 打");
    terminal.press(UNDO);
    terminal.wait_line("do it");
    terminal.clear_line();
    terminal.press(format!(", do it{ENTER}"));
    terminal.wait_line("argdump ");
    terminal.wait_text("p2> argdump ran 打");
    assert!(home.arguments().is_empty());
    assert_eq!(
        home.requests("do").pop().expect("asked").get("line"),
        ", do it"
    );
    terminal.press(ENTER);
    assert_eq!(
        home.next_arguments(0),
        [b"ran".to_vec(), "打".as_bytes().to_vec()]
    );
}

#[test]
fn where_the_answer_is_not_sure_the_key_goes_through_the_choices() {
    let Some(home) = home() else { return };
    let mut terminal = start(&home, &fake());
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
    for line in ["lock", "nap", "lock"] {
        terminal.press(ALT_ENTER);
        terminal.wait_line(line);
    }
    assert_eq!(home.requests("do").len(), 1);
    terminal.clear_line();
    terminal.press(format!(", rest{ENTER}"));
    terminal.wait_for("the choices and a prompt", |screen| {
        screen.contents().matches("Sleep: nap").count() == 2
    });
    terminal.wait_line("");
    terminal.press(ALT_ENTER);
    terminal.wait_line("lock");
}

#[test]
fn without_an_answer_the_line_stays() {
    let Some(home) = home() else { return };
    let mut terminal = start(&home, &fake().before(r"set -g TABSENSE_DO_KEY \cg"));
    home.meaning(3, &["message=nothing fits"]);
    terminal.press(format!("blue cheese{CHOSEN}"));
    terminal.wait_text("nothing fits");
    terminal.wait_line("blue cheese");
    std::fs::write(home.root().join("do-answer"), b"v1\0line=argdump half").expect("written");
    for status in ["0", "1", "3"] {
        std::fs::write(home.root().join("do-status"), status).expect("written");
        terminal.press(format!("{CHOSEN}x"));
        terminal.wait_line("blue cheesex");
        terminal.press("\x7f");
        terminal.wait_line("blue cheese");
    }
    terminal.clear_line();
    terminal.press(format!(", blue cheese{ENTER}"));
    terminal.wait_text("tabsense: no answer");
}

#[test]
fn without_an_answer_alt_enter_is_the_line_break_that_it_always_was() {
    let Some(home) = home() else { return };
    let mut terminal = start(&home, &fake());
    home.meaning(3, &["message=nothing fits"]);
    terminal.press(format!("argdump a{ALT_ENTER}argdump b"));
    terminal.wait_text("argdump b");
    terminal.press(ENTER);
    assert_eq!(home.next_arguments(1), [b"b".to_vec()]);
    assert!(!terminal.text().contains("nothing fits"));
}

#[test]
fn what_cannot_be_done_here_is_told_and_the_line_stays() {
    let Some(home) = home() else { return };
    let mut terminal = start(&home, &fake());
    home.meaning(0, &["message=wifi_toggle: not available here"]);
    terminal.press(format!("wifi off{ALT_ENTER}"));
    terminal.wait_text("not available here");
    terminal.wait_line("wifi off");
}

#[test]
fn in_vi_mode_escape_and_then_enter_are_the_line_break_that_they_always_were() {
    let Some(home) = home() else { return };
    for options in [
        fake().before("fish_vi_key_bindings"),
        fake().after("fish_vi_key_bindings"),
        fake().after("fish_default_key_bindings; fish_vi_key_bindings"),
    ] {
        let mut terminal = start(&home, &options);
        let before = home.arguments().len();
        terminal.press(format!("argdump a{ALT_ENTER}argdump b{ENTER}"));
        assert_eq!(home.next_arguments(before + 1), [b"b".to_vec()]);
        terminal.wait_prompt();
        // In normal mode.
        terminal.press(format!("argdump c{ESC}"));
        terminal.wait_line("argdump ");
        terminal.press(ALT_ENTER);
        terminal.press(format!("iargdump d{ENTER}"));
        home.next_arguments(before + 2);
        assert!(home.requests("do").is_empty());
    }
}

#[test]
fn the_key_is_back_with_the_default_bindings() {
    let Some(home) = home() else { return };
    let options = fake().after("fish_vi_key_bindings; fish_default_key_bindings");
    let mut terminal = start(&home, &options);
    terminal.press(format!("how big{ALT_ENTER}"));
    terminal.wait_line("du -sh ");
}

#[test]
fn in_vi_mode_a_named_key_works_in_both_modes() {
    let Some(home) = home() else { return };
    let named = r"set -g TABSENSE_DO_KEY \cg";
    for options in [
        fake().before(named).before("fish_vi_key_bindings"),
        fake().before(named).after("fish_vi_key_bindings"),
    ] {
        let mut terminal = start(&home, &options);
        home.meaning(0, &["line=argdump ran"]);
        terminal.press(format!("do it{CHOSEN}"));
        terminal.wait_line("argdump ran");
        let before = home.arguments().len();
        terminal.press(ENTER);
        assert_eq!(home.next_arguments(before), [b"ran".to_vec()]);
        terminal.press(format!("do it{ESC}"));
        terminal.wait_line("do i");
        terminal.press(CHOSEN);
        terminal.wait_text("p2> argdump ran");
    }
}

#[test]
fn the_users_own_key_and_comma_stay() {
    let Some(home) = home() else { return };
    let own = r"bind \e\r 'commandline -i mine'; function ,; argdump own $argv; end";
    for options in [fake().before(own), fake().after(own)] {
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
    let mut terminal = start(&home, &fake().before(r"set -g TABSENSE_DO_KEY \cg"));
    terminal.press(format!("how big{CHOSEN}"));
    terminal.wait_line("du -sh ");
    let mut terminal = start(&home, &fake().before("set -g TABSENSE_DO_KEY"));
    let before = home.requests("do").len();
    // What fish does there: a line break.
    terminal.press(format!("true{ALT_ENTER}argdump two{ENTER}"));
    assert_eq!(home.next_arguments(0), [b"two".to_vec()]);
    assert_eq!(home.requests("do").len(), before);
}

//! Words into commands: the key, the way back, the comma.

use super::scripted;
use crate::common::{ENTER, ESC, Fake, Home, Options, Shell, Terminal};

const ALT_ENTER: &str = "\x1b\r";
const CHOSEN: &str = "\x18d";

fn start(home: &Home, options: &Options) -> Terminal {
    home.means_disk_usage();
    home.start(options)
}

fn fake() -> Options {
    scripted(Fake::Reverse)
}

fn home() -> Option<Home> {
    Home::new(Shell::Bash)
}

#[test]
fn the_key_turns_the_words_into_the_command_and_once_more_brings_them_back() {
    let Some(home) = home() else { return };
    let names = "alias qqq='git status'; qqf() { :; }; _qqhidden() { :; }";
    let mut terminal = start(&home, &fake().after(names));
    terminal.press(format!("how big is this{ALT_ENTER}"));
    terminal.wait_line("du -sh ");
    terminal.wait_text("du -sh <&path> | sort -h");
    terminal.press(ALT_ENTER);
    terminal.wait_line("how big is this");
    assert_eq!(home.requests("do").len(), 1);
    terminal.press(ALT_ENTER);
    terminal.wait_line("du -sh ");
    let asked = home.wait_request("do", "the words", |_| true);
    assert_eq!(asked.get("line"), "how big is this");
    assert_eq!(asked.get("shell"), "bash");
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
fn a_cursor_behind_wide_letters_is_where_it_belongs() {
    let Some(home) = home() else { return };
    let mut terminal = start(&home, &fake());
    home.meaning(0, &["line=echo 打 <&text>", "cursor=7"]);
    terminal.press(format!("说{ALT_ENTER}"));
    terminal.wait_line("echo 打 ");
}

#[test]
fn nothing_is_run_by_the_key_or_the_comma() {
    let Some(home) = home() else { return };
    let mut terminal = start(&home, &fake());
    home.meaning(
        0,
        &["line=argdump 'ran \\ $HOME'", "message=it: destructive"],
    );
    terminal.press(format!("do it{ALT_ENTER}"));
    terminal.wait_text("it: destructive");
    terminal.wait_line("argdump 'ran \\ $HOME'");
    terminal.press(ALT_ENTER);
    terminal.wait_line("do it");
    terminal.clear_line();
    terminal.run(", do it");
    terminal.wait_text("(Alt-Enter puts it on the line)");
    assert_eq!(
        home.requests("do").pop().expect("asked").get("line"),
        ", do it"
    );
    assert!(home.arguments().is_empty());
    terminal.press(ALT_ENTER);
    terminal.wait_line("argdump 'ran \\ $HOME'");
    assert_eq!(home.requests("do").len(), 2);
    terminal.press(ENTER);
    assert_eq!(home.next_arguments(0), [b"ran \\ $HOME".to_vec()]);
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
    for line in ["lock", "nap", "rest"] {
        terminal.press(ALT_ENTER);
        terminal.wait_line(line);
    }
    assert_eq!(home.requests("do").len(), 1);
    terminal.clear_line();
    terminal.run(", rest");
    terminal.wait_text("Sleep: nap");
    terminal.press(ALT_ENTER);
    terminal.wait_line("lock");
}

#[test]
fn without_an_answer_the_line_stays() {
    let Some(home) = home() else { return };
    let mut terminal = start(&home, &fake());
    home.meaning(3, &["message=nothing fits"]);
    terminal.press(format!("blue cheese{ALT_ENTER}"));
    terminal.wait_text("nothing fits");
    terminal.wait_line("blue cheese");
    std::fs::write(home.root().join("do-answer"), b"v1\0line=argdump half").expect("written");
    for status in ["0", "1", "3"] {
        std::fs::write(home.root().join("do-status"), status).expect("written");
        terminal.press(format!("{ALT_ENTER}x"));
        terminal.wait_line("blue cheesex");
        terminal.press("\x7f");
        terminal.wait_line("blue cheese");
    }
    terminal.run("");
    terminal.run(", blue cheese");
    terminal.wait_text("tabsense: no answer");
}

#[test]
fn in_vi_mode_escape_and_then_enter_run_the_line_as_ever() {
    let Some(home) = home() else { return };
    for options in [fake().before("set -o vi"), fake().after("set -o vi")] {
        let mut terminal = start(&home, &options);
        let before = home.arguments().len();
        terminal.press(format!("argdump it{ESC}{ENTER}"));
        assert_eq!(home.next_arguments(before), [b"it".to_vec()]);
        terminal.wait_prompt();
        assert!(home.requests("do").is_empty());
    }
}

#[test]
fn in_vi_mode_the_comma_names_no_key_that_is_not_there() {
    let Some(home) = home() else { return };
    let mut terminal = start(&home, &fake().after("set -o vi"));
    terminal.run(", how big");
    terminal.wait_text("du -sh <&path>");
    assert!(!terminal.text().contains("puts it on the line"));
}

#[test]
fn in_vi_mode_a_named_key_works_and_escape_stays() {
    let Some(home) = home() else { return };
    let named = "TABSENSE_DO_KEY='\\C-xd'";
    for options in [
        fake().before(named).before("set -o vi"),
        fake().before(named).after("set -o vi"),
    ] {
        let mut terminal = start(&home, &options);
        home.meaning(0, &["line=argdump ran"]);
        terminal.press(format!("do it{CHOSEN}"));
        terminal.wait_line("argdump ran");
        terminal.press(ESC);
        terminal.wait_line("argdump ra");
        let before = home.arguments().len();
        terminal.press(format!("ccargdump it{ENTER}"));
        assert_eq!(home.next_arguments(before), [b"it".to_vec()]);
    }
}

#[test]
fn the_users_own_key_and_comma_stay() {
    let Some(home) = home() else { return };
    let own = "bind '\"\\e\\C-m\": \"mine\"'; ,() { argdump own $@; }";
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
fn a_key_of_the_users_inputrc_stays() {
    let Some(home) = home() else { return };
    home.write(".inputrc", "\"\\e\\C-m\": unix-word-rubout\n");
    let mut terminal = start(&home, &fake());
    terminal.press(format!("ls one two{ALT_ENTER}"));
    terminal.wait_line("ls one ");
    assert!(home.requests("do").is_empty());
}

#[test]
fn one_key_is_bound_in_emacs_mode_and_no_other_changes() {
    let Some(home) = home() else { return };
    let bound = |options: &Options| {
        let mut terminal = home.start(options);
        terminal.run(
            "for m in emacs-standard vi-insert vi-command; do for l in p s X; do \
             bind -m $m -$l; done; done > ~/bound",
        );
        let text = std::fs::read_to_string(home.home().join("bound")).expect("the bindings");
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let bare = bound(&Options::bare().before(crate::bash::QUIET));
    let ours = bound(&fake());
    let more: Vec<_> = ours.iter().filter(|line| !bare.contains(line)).collect();
    assert_eq!(more, [r#""\e\C-m": "__tabsense_do_key""#]);
    assert!(bare.iter().all(|line| ours.contains(line)));
}

#[test]
fn another_key_may_be_chosen_and_none() {
    let Some(home) = home() else { return };
    let mut terminal = start(&home, &fake().before("TABSENSE_DO_KEY='\\C-xd'"));
    terminal.press(format!("how big{CHOSEN}"));
    terminal.wait_line("du -sh ");
    let mut terminal = start(&home, &fake().before("TABSENSE_DO_KEY="));
    let before = home.requests("do").len();
    terminal.press(format!("{ALT_ENTER}x"));
    terminal.wait_line("x");
    assert_eq!(home.requests("do").len(), before);
}

#[test]
fn strict_settings_do_no_harm() {
    let Some(home) = home() else { return };
    for setting in [
        "set -eu",
        "set -o posix",
        "set -f; IFS=x",
        "set -k",
        "shopt -s failglob",
    ] {
        let mut terminal = start(&home, &fake().before(setting));
        home.meaning(0, &["line=true x y"]);
        terminal.press(format!("do it{ALT_ENTER}"));
        terminal.wait_line("true x y");
        terminal.press(ENTER);
        terminal.wait_prompt();
        terminal.run("true again");
    }
}

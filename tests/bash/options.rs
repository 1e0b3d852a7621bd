//! Shell options and odd variables, set before and after the init line.

use super::{interrupt, scripted, tab_shows};
use crate::common::{ENTER, Fake, Home, Shell, TAB, Terminal};

const SETTINGS: [&str; 34] = [
    "set -u",
    "set -e",
    "set -eu -o pipefail",
    "set -f",
    "set -o posix",
    "set -o noclobber",
    "set -o pipefail",
    "set -a",
    "set -k",
    "set -E -T",
    "set -p",
    "set -B",
    "set +B",
    "shopt -s failglob",
    "shopt -s nullglob",
    "shopt -s nocaseglob dotglob globstar",
    "shopt -s nocasematch",
    "shopt -s extglob extdebug",
    "shopt -u extglob",
    "shopt -s localvar_inherit",
    "shopt -s direxpand",
    "shopt -s lastpipe; set +m",
    "shopt -u promptvars",
    "shopt -u extquote",
    "set +H",
    "set -o vi",
    "set +m",
    "IFS=$'\\n'",
    "IFS=x",
    "IFS=''",
    "IFS='*'",
    "unset IFS",
    "alias local=false printf=false set=false builtin=false history=false declare=false unset=false \
        complete=false compopt=false shopt=false return=false command=false if=false case=false",
    "trap 'false' ERR; trap 'true' DEBUG",
];

/// Everything a setting may have changed, on one line.
const STATE: &str = "{ set -o; shopt; echo \"$-\"; printf '[%q]' \"${IFS-unset}\"; compgen -A variable | grep -v '^BASH\\|^_\\|^COMP\\|^FUNCNAME\\|^PIPESTATUS\\|^__tabsense'; alias; } >| ~/state";

fn state(home: &Home, terminal: &mut Terminal) -> String {
    home.write("state.sh", STATE);
    terminal.run(". ~/state.sh");
    std::fs::read_to_string(home.home().join("state")).expect("the state")
}

fn walk(home: &Home, terminal: &mut Terminal, setting: &str, fake: Fake) {
    home.answer(fake);
    terminal.run("");
    terminal.run("true");
    // Warm up what bash itself sets on the first completion.
    terminal.press(format!("argdump d_space/{TAB}{ENTER}"));
    let calls = home.arguments().len();
    home.next_arguments(calls.saturating_sub(1));
    terminal.wait_prompt();
    let before = state(home, terminal);
    let calls = home.arguments().len();
    terminal.press(format!("argdump d_space/{TAB}{ENTER}"));
    assert_eq!(
        home.next_arguments(calls),
        [b"d_space/a b".to_vec()],
        "{setting}"
    );
    terminal.wait_prompt();
    terminal.press(format!("argdump ~/hf{TAB}{ENTER}"));
    let file = home.home().join("hfile").display().to_string();
    assert_eq!(
        home.next_arguments(calls + 1),
        [file.into_bytes()],
        "{setting}"
    );
    terminal.wait_prompt();
    let order: &[&str] = match fake {
        Fake::Reverse => &["two", "one"],
        _ => &["one", "two"],
    };
    tab_shows(terminal, "argdump list/", order);
    terminal.wait_line("argdump list/");
    terminal.clear_line();
    terminal.press("argdump never");
    terminal.wait_line("argdump never");
    interrupt(terminal);
    assert_eq!(state(home, terminal), before, "{setting}");
    if !setting.contains("-e") {
        terminal.run("(exit 3)");
    }
    terminal.run("argdump alive");
    assert_eq!(
        home.next_arguments(calls + 2),
        [b"alive".to_vec()],
        "{setting}"
    );
    let text = terminal.text();
    for word in [
        "tabsense",
        "unbound",
        "no match",
        "not found",
        "bash:",
        "readonly",
    ] {
        assert!(!text.contains(word), "{setting}: {text}");
    }
}

fn home() -> Option<Home> {
    let home = Home::new(Shell::Bash)?;
    home.files(&["d_space/a b", "list/one", "list/two"]);
    home.write("hfile", "");
    Some(home)
}

#[test]
fn settings_made_after_the_init_line_hold_and_are_kept() {
    let Some(home) = home() else { return };
    for setting in SETTINGS {
        let mut terminal = home.start(&scripted(Fake::Reverse).after(setting));
        walk(&home, &mut terminal, setting, Fake::Reverse);
    }
}

#[test]
fn settings_made_before_the_init_line_hold_and_are_kept() {
    let Some(home) = home() else { return };
    for setting in SETTINGS {
        let mut terminal = home.start(&scripted(Fake::Reverse).before(setting));
        walk(&home, &mut terminal, setting, Fake::Reverse);
    }
}

#[test]
fn settings_hold_when_the_client_gives_no_answer() {
    let Some(home) = home() else { return };
    for setting in SETTINGS {
        let mut terminal = home.start(&scripted(Fake::Native).after(setting));
        walk(&home, &mut terminal, setting, Fake::Native);
    }
}

#[test]
fn commands_are_recorded_under_every_setting() {
    let Some(home) = home() else { return };
    for (number, setting) in SETTINGS.iter().enumerate() {
        // Without promptvars PS0 is plain text: nothing may show, and nothing can be recorded.
        if setting.contains("promptvars") {
            continue;
        }
        let mut terminal = home.start(&scripted(Fake::Same).after(setting));
        terminal.run(format!("true {number}"));
        let wanted = format!("true {number}");
        home.wait_request("prompt", &format!("recorded under {setting}"), |call| {
            call.get("command") == wanted && call.get("exit") == "0"
        });
    }
}

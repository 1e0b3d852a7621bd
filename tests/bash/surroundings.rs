//! Other tools, other terminals, other ways to start bash.

use super::{list, scripted, tab_shows, three_files};
use crate::common::{ENTER, ESC, Fake, Home, Options, Shell, TAB, Terminal};
use std::process::Command;

const OURS: [&str; 3] = ["cherry", "banana", "apple"];

/// Waits until `command` is recorded.
#[track_caller]
fn is_recorded(home: &Home, terminal: &mut Terminal, command: &str) {
    terminal.run(command);
    home.wait_request("prompt", "a record", |call| call.get("command") == command);
}

#[test]
fn vi_mode_completes_in_every_order_of_settings() {
    let Some(home) = three_files() else { return };
    for options in [
        scripted(Fake::Reverse).before("set -o vi"),
        scripted(Fake::Reverse).after("set -o vi"),
        scripted(Fake::Reverse)
            .before("set -o vi")
            .after("set -o emacs"),
    ] {
        let mut terminal = home.start(&options);
        terminal.press(format!("argdump {TAB}"));
        terminal.wait_for("our order", |screen| list(screen) == OURS);
        terminal.wait_line("argdump ");
        terminal.clear_line();
    }
    let mut terminal = home.start(&scripted(Fake::Reverse).after("set -o vi"));
    let before = home.arguments().len();
    terminal.press(format!("argdump b{TAB}"));
    terminal.wait_line("argdump banana ");
    terminal.press(format!("{ESC}0wcwkiwi {ENTER}"));
    assert_eq!(home.next_arguments(before), [b"kiwi".to_vec()]);
}

#[test]
fn sourcing_twice_changes_nothing() {
    let Some(home) = three_files() else { return };
    let again = Shell::Bash.source_scripts();
    let mut terminal = home.start(&scripted(Fake::Reverse).after(&again).after(&again));
    tab_shows(&mut terminal, "argdump ", &OURS);
    assert_eq!(home.requests("complete").len(), 1);
    terminal.clear_line();
    is_recorded(&home, &mut terminal, "true one");
    terminal.run(again);
    is_recorded(&home, &mut terminal, "true two");
    let calls = home.requests("prompt");
    for command in ["true one", "true two"] {
        assert_eq!(
            calls
                .iter()
                .filter(|call| call.get("command") == command)
                .count(),
            1
        );
    }
    terminal.run("argdump \"${#PROMPT_COMMAND[@]}\"");
    assert_eq!(home.next_arguments(0), [b"3".to_vec()]);
}

#[test]
fn hooks_that_others_set_anew_are_put_back() {
    let Some(home) = three_files() else { return };
    let mut terminal = home.start(&scripted(Fake::Reverse));
    terminal.run("PS0='[started]\\n'; PROMPT_COMMAND[0]=\"mine=1; ${PROMPT_COMMAND[1]}\"");
    terminal.run("");
    is_recorded(&home, &mut terminal, "true one");
    assert!(terminal.text().contains("[started]"), "{}", terminal.text());
    terminal.run("argdump $mine");
    assert_eq!(home.next_arguments(0), [b"1".to_vec()]);
    // Everything is gone: the next TAB brings it back.
    terminal.press(format!(
        "PROMPT_COMMAND='__test_prompt=$((__test_prompt + 1)); PS1=\"p$__test_prompt> \"' PS0={ENTER}"
    ));
    terminal.wait_prompt();
    tab_shows(&mut terminal, "argdump ", &OURS);
    terminal.clear_line();
    terminal.run("");
    is_recorded(&home, &mut terminal, "true two");
}

#[test]
fn hooks_that_the_rest_of_the_rc_file_drops_come_back_with_the_first_tab() {
    let Some(home) = three_files() else { return };
    let count = "'__test_prompt=$((__test_prompt + 1)); PS1=\"p$__test_prompt> \"'";
    for drops in [
        format!("PROMPT_COMMAND=({count})"),
        format!("unset PROMPT_COMMAND; PROMPT_COMMAND={count}"),
    ] {
        let mut terminal = home.start(&scripted(Fake::Reverse).after(&drops));
        tab_shows(&mut terminal, "argdump ", &OURS);
        terminal.clear_line();
        terminal.run("");
        is_recorded(&home, &mut terminal, &format!("true '{}'", &drops[..5]));
        let before = home.arguments().len();
        terminal.run("argdump \"$(type -t ,)\"");
        assert_eq!(home.next_arguments(before), [b"function".to_vec()]);
    }
}

#[test]
fn an_rc_file_that_is_read_again_repeats_nothing_at_the_prompt() {
    let Some(home) = three_files() else { return };
    let mut terminal = home.start(&scripted(Fake::Reverse));
    terminal.run("mine=${PROMPT_COMMAND[1]}");
    for _ in 0..3 {
        terminal.run(format!(
            "PROMPT_COMMAND=$mine; {}",
            Shell::Bash.source_scripts()
        ));
    }
    terminal.run("argdump \"${#PROMPT_COMMAND[@]}\"");
    assert_eq!(home.next_arguments(0), [b"3".to_vec()]);
}

#[test]
fn a_prompt_tool_that_takes_prompt_command_over_works() {
    let Some(home) = three_files() else { return };
    // As starship does: keep the old text and run it from an own function, with the status set.
    let tool = "tool_precmd() { tool_status=$?; tool_pipe=(${PIPESTATUS[@]}); eval \"$TOOL_OLD\"; }\n\
        TOOL_OLD=$PROMPT_COMMAND; PROMPT_COMMAND=tool_precmd; PS0='${TOOL_TIME:$((TOOL_TIME=1,0)):0}'";
    for options in [
        scripted(Fake::Reverse).before(tool),
        scripted(Fake::Reverse).after(tool),
    ] {
        let mut terminal = home.start(&options);
        terminal.run("");
        is_recorded(&home, &mut terminal, "(exit 4)");
        let before = home.arguments().len();
        terminal.run("argdump $tool_status");
        assert_eq!(home.next_arguments(before), [b"4".to_vec()]);
        tab_shows(&mut terminal, "argdump ", &OURS);
    }
}

#[test]
fn precmd_functions_are_used_where_another_tool_owns_the_prompt() {
    let Some(home) = three_files() else { return };
    // The part of a preexec library that matters here: it must be first and last.
    let library = "bash_preexec_imported=defined\n\
        lib_first() { local status=$? f; for f in \"${precmd_functions[@]}\"; do (exit $status); $f; done; }\n\
        PROMPT_COMMAND=(lib_first \"${PROMPT_COMMAND[@]}\" lib_last); lib_last() { :; }\n\
        precmd_functions=(their); their() { their_status=$?; }";
    let mut terminal = home.start(&scripted(Fake::Reverse).before(library));
    is_recorded(&home, &mut terminal, "(exit 5)");
    terminal.run("argdump $their_status ${PROMPT_COMMAND[0]} ${PROMPT_COMMAND[-1]}");
    assert_eq!(
        home.next_arguments(0),
        [b"5".to_vec(), b"lib_first".to_vec(), b"lib_last".to_vec()]
    );
}

#[test]
fn the_other_line_editor_is_left_alone_and_named() {
    let Some(home) = three_files() else { return };
    let mut terminal = home.start(&scripted(Fake::Reverse).before("BLE_VERSION=0.4"));
    tab_shows(&mut terminal, "argdump ", &["apple", "banana", "cherry"]);
    terminal.clear_line();
    terminal.run("argdump \"$(env | grep ^__tabsense_native=)\"");
    assert_eq!(
        home.next_arguments(0),
        [b"__tabsense_native=ble.sh completes by itself".to_vec()]
    );
    is_recorded(&home, &mut terminal, "true one");
}

#[test]
fn nothing_is_exported_and_an_inner_shell_has_its_own_session() {
    let Some(home) = three_files() else { return };
    let mut terminal = home.start(&scripted(Fake::Reverse).before("set -a"));
    terminal.run("argdump \"$(env | grep -c 'tabsense_.*()')\"");
    assert_eq!(home.next_arguments(0), [b"0".to_vec()]);
    let rc = home.home().join(".bashrc");
    let outer = home.wait_request("prompt", "the first prompt is told", |_| true);
    let outer = outer.get("session");
    terminal.press(format!(
        "bash --noprofile --rcfile '{}' -i{ENTER}",
        rc.display()
    ));
    terminal.wait_for("the inner shell", |screen| {
        let row = usize::from(screen.cursor_position().0);
        row > 2 && super::rows(screen)[row] == "p1>"
    });
    tab_shows(&mut terminal, "argdump ", &OURS);
    let inner = home
        .requests("complete")
        .pop()
        .expect("a request")
        .get("session");
    assert_ne!(inner, outer);
}

#[test]
fn two_shells_do_not_mix() {
    let Some(home) = three_files() else { return };
    let (mut one, mut two) = (
        home.start(&scripted(Fake::Reverse)),
        home.start(&scripted(Fake::Reverse)),
    );
    one.press(format!("argdump {TAB}"));
    two.press(format!("argdump {TAB}"));
    for terminal in [&one, &two] {
        terminal.wait_for("our order", |screen| list(screen) == OURS);
    }
    let sessions: Vec<_> = home
        .requests("complete")
        .iter()
        .map(|call| call.get("session"))
        .collect();
    assert_eq!(sessions.len(), 2);
    assert_ne!(sessions[0], sessions[1]);
}

#[test]
fn a_dumb_terminal_sees_the_bytes_of_bare_bash() {
    let Some(home) = three_files() else { return };
    let bytes = |options: Options, term: Option<&str>| {
        let options = options.before("HISTFILE=~/.bash_history");
        let options = match term {
            Some(term) => options.env("TERM", term),
            None => options.env_remove("TERM"),
        };
        let mut terminal = home.start(&options);
        terminal.run("echo hi");
        terminal.press(format!("argdump b{TAB}{ENTER}"));
        terminal.wait_prompt();
        terminal.press(format!("exit{ENTER}"));
        terminal.wait_end();
        terminal.raw()
    };
    for term in [Some("dumb"), None, Some("nosuchterm")] {
        assert_eq!(
            bytes(Options::fake(Fake::Reverse), term)
                .escape_ascii()
                .to_string(),
            bytes(Options::bare(), term).escape_ascii().to_string(),
            "{term:?}"
        );
    }
}

#[test]
fn shells_that_are_not_interactive_are_left_alone() {
    let Some(home) = three_files() else { return };
    let Some(bash) = Shell::Bash.program() else {
        return;
    };
    let mut terminal = home.start(&Options::fake(Fake::Reverse));
    home.wait_request("prompt", "the first prompt", |_| true);
    terminal.hang_up();
    let calls = home.requests("prompt").len();
    let rc = home.home().join(".bashrc");
    let mut plain: Command = home.command(&bash);
    plain.env("BASH_ENV", &rc).args([
        "-c",
        "set -eu; echo hi; declare -F; complete -p; echo \"[${PS0-}]\"",
    ]);
    let output = plain.output().expect("run bash");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "hi\n[]\n");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let mut strict = home.command(&bash);
    let script = format!("{}; echo done", Shell::Bash.source_scripts());
    strict.args(["-euo", "pipefail", "-c", &script]);
    let output = strict.output().expect("run bash");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "done\n");
    let mut once = home.command(&bash);
    once.args(["--rcfile"]).arg(&rc).args(["-ic", "true"]);
    let output = once.output().expect("run bash");
    assert!(output.status.success());
    assert_eq!(home.requests("prompt").len(), calls);
}

#[test]
fn a_huge_directory_stays_with_bash() {
    let Some(home) = Home::new(Shell::Bash) else {
        return;
    };
    let names: Vec<String> = (0..3000)
        .map(|number| format!("big/file{number:06}"))
        .collect();
    home.files(&names);
    let mut terminal = home.start(&scripted(Fake::Reverse));
    terminal.press(format!("argdump big/{TAB}"));
    terminal.wait_text("Display all 3000 possibilities?");
    terminal.press("n");
    terminal.wait_line("argdump big/file00");
    terminal.clear_line();
    terminal.press(format!("argdump big/file00123{TAB}"));
    terminal.wait_for("the list", |screen| list(screen).len() == 10);
    assert_eq!(list(&terminal.screen())[0], "file001239");
}

#[test]
fn a_directory_that_takes_long_is_not_tried_twice() {
    let Some(home) = three_files() else { return };
    home.files(&["other/one", "other/two"]);
    let mut terminal = home.start(&scripted(Fake::Reverse).after("__tabsense_patience=0.000001"));
    let native = ["apple", "banana", "cherry", "other/"];
    tab_shows(&mut terminal, "argdump ", &native);
    terminal.clear_line();
    terminal.run("__tabsense_patience=9");
    tab_shows(&mut terminal, "argdump ", &native);
    terminal.clear_line();
    tab_shows(&mut terminal, "argdump other/", &["two", "one"]);
}

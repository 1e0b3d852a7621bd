//! What people load beside us: fzf as it is packaged, and what preexec libraries, prompt programs and
//! another line editor do to bash.

use super::{PATIENT, QUIET, list, scripted, tab_shows, three_files};
use crate::common::{ENTER, Fake, Home, Options, TAB, Terminal, packaged};

const OURS: [&str; 3] = ["cherry", "banana", "apple"];
const FZF_KEYS: &str = "/usr/share/doc/fzf/examples/key-bindings.bash";
const FZF_COMPLETION: &str = "/usr/share/bash-completion/completions/fzf";
const COMPLETION: &str = "/usr/share/bash-completion/bash_completion";
const CTRL_T: &str = "\x14";

/// Both orders of the other's lines and ours.
fn both_orders(lines: &str) -> [Options; 2] {
    [
        scripted(Fake::Reverse).before(lines),
        Options::fake(Fake::Reverse)
            .before(QUIET)
            .after(lines)
            .after(PATIENT),
    ]
}

/// TAB is in our order, and commands are told once with their status.
#[track_caller]
fn all_is_ours(home: &Home, terminal: &mut Terminal) {
    tab_shows(terminal, "argdump ", &OURS);
    terminal.clear_line();
    terminal.run("(exit 7)");
    terminal.run("true end");
    let pid = format!("{}.", terminal.pid());
    let told = |command: &str| {
        home.wait_request("prompt", command, |call| {
            call.get("session").starts_with(&pid) && call.get("command") == command
        })
    };
    assert_eq!(told("true end").get("exit"), "0");
    assert_eq!(told("(exit 7)").get("exit"), "7");
    let calls = home.requests("prompt");
    let ours = calls
        .iter()
        .filter(|call| call.get("session").starts_with(&pid) && call.get("command") == "(exit 7)");
    assert_eq!(ours.count(), 1);
}

#[test]
fn the_file_finder_keeps_its_keys_and_tab_is_ours() {
    let Some(home) = three_files() else { return };
    if !packaged(&[COMPLETION, FZF_KEYS, FZF_COMPLETION]) {
        return;
    }
    for options in both_orders(&format!(". {COMPLETION}; . {FZF_KEYS}; . {FZF_COMPLETION}")) {
        let mut terminal = home.start(&options);
        all_is_ours(&home, &mut terminal);
        // A command whose completion fzf took over falls back to the one before it.
        tab_shows(&mut terminal, "cat ", &OURS);
        terminal.clear_line();
        terminal.press("argdump ");
        terminal.press(CTRL_T);
        terminal.wait_text("3/3");
        let before = home.arguments().len();
        terminal.press("ban");
        terminal.wait_text("1/3");
        terminal.press(ENTER);
        terminal.wait_line("argdump banana ");
        terminal.press(ENTER);
        assert_eq!(home.next_arguments(before), [b"banana".to_vec()]);
        terminal.wait_prompt();
    }
}

/// What a preexec library does: it installs itself at the first prompt, puts its parts before and
/// after all others, sees each command in a DEBUG trap and hands the status on.
const PREEXEC_LIBRARY: &str = "bash_preexec_imported=defined\n\
    lib_set() { return ${1:-0}; }\n\
    lib_before() { lib_status=$?; lib_inside=1; local f; for f in \"${precmd_functions[@]}\"; do lib_set $lib_status; $f; done; lib_set $lib_status; }\n\
    lib_after() { lib_inside=; }\n\
    lib_debug() { [[ -z $lib_inside && -z ${COMP_LINE-} ]] || return 0; local f; for f in \"${preexec_functions[@]}\"; do $f \"$BASH_COMMAND\"; done; }\n\
    lib_install() { trap - DEBUG; local old=${PROMPT_COMMAND[*]}; old=${old//lib_install/:}; trap 'lib_debug \"$_\"' DEBUG; PROMPT_COMMAND=(lib_before$'\\n'\"$old\" \"${PROMPT_COMMAND[@]:1}\" lib_after); lib_inside=1; }\n\
    precmd_functions+=(their_precmd); preexec_functions+=(their_preexec)\n\
    their_precmd() { their_status=$?; }; their_preexec() { their_command=$1; }\n\
    PROMPT_COMMAND=\"${PROMPT_COMMAND:+$PROMPT_COMMAND$'\\n'}lib_install\"";

#[test]
fn a_preexec_library_works_on_and_so_do_we() {
    let Some(home) = three_files() else { return };
    for options in both_orders(PREEXEC_LIBRARY) {
        let mut terminal = home.start(&options);
        terminal.run("true first");
        all_is_ours(&home, &mut terminal);
        let before = home.arguments().len();
        terminal.run("(exit 5)");
        terminal.run("argdump $their_status \"$their_command\"");
        let seen = home.next_arguments(before);
        assert_eq!(seen[0], b"5");
        assert!(seen[1].starts_with(b"argdump $their_status"), "{seen:?}");
    }
}

/// What a prompt program does: a clock in PS0 that expands to nothing, and a prompt made from the
/// status in PROMPT_COMMAND, which keeps what others put there.
const PROMPT_PROGRAM: &str = "star_clock() { echo 12345; }; star_start=0\n\
    PS0='${star_start:$((star_start=\"$(star_clock)\",0)):0}'\"${PS0-}\"\n\
    star_precmd() { star_status=$?; jobs &>/dev/null; }\n\
    PROMPT_COMMAND=\"star_precmd${PROMPT_COMMAND:+; $PROMPT_COMMAND}\"";

#[test]
fn a_prompt_program_gets_its_clock_and_the_status() {
    let Some(home) = three_files() else { return };
    for options in both_orders(PROMPT_PROGRAM) {
        let mut terminal = home.start(&options);
        all_is_ours(&home, &mut terminal);
        let before = home.arguments().len();
        terminal.run("(exit 5)");
        terminal.run("argdump $star_status $star_start");
        assert_eq!(
            home.next_arguments(before),
            [b"5".to_vec(), b"12345".to_vec()]
        );
    }
}

#[test]
fn another_line_editor_that_comes_later_is_left_alone_as_well() {
    let Some(home) = three_files() else { return };
    let mut terminal = home.start(&scripted(Fake::Reverse).after("BLE_VERSION=0.4"));
    terminal.press(format!("argdump {TAB}"));
    terminal.wait_for("bash's own list", |screen| {
        list(screen) == ["apple", "banana", "cherry"]
    });
    assert!(home.requests("complete").is_empty());
    terminal.clear_line();
    terminal.run("argdump \"$(env | grep ^__tabsense_native=)\"");
    assert_eq!(
        home.next_arguments(0),
        [b"__tabsense_native=ble.sh completes by itself".to_vec()]
    );
}

//! What others do to PROMPT_COMMAND after our line has the effect that it has without us, and our hook runs.

use super::{QUIET, scripted, tab_shows, three_files};
use crate::common::{Fake, Home, Options, Terminal};

/// What runs at a prompt writes a letter and the status that it sees into `$ran`. The prompt counts itself.
const PIECES: &str = "PS1='p$((__test_prompt = __test_prompt + 1))> '; nl=$'\\n'\n\
    note() { local s=$?; ran+=$1$s; return $s; }";

/// Values of PROMPT_COMMAND before our line.
const BEFORE: [&str; 3] = [
    "PROMPT_COMMAND='note a'",
    "unset PROMPT_COMMAND",
    "unset PROMPT_COMMAND; PROMPT_COMMAND=('note a' 'note b')",
];

/// What is done to it after our line.
const AFTER: [&str; 10] = [
    "PROMPT_COMMAND='note n'",
    "PROMPT_COMMAND[0]='note n'",
    "PROMPT_COMMAND=\"note n${PROMPT_COMMAND:+; $PROMPT_COMMAND}\"",
    "PROMPT_COMMAND=\"${PROMPT_COMMAND:+$PROMPT_COMMAND; }note n\"; PROMPT_COMMAND+='; note m'",
    "PROMPT_COMMAND+=\"${PROMPT_COMMAND:+$nl}note n\"",
    "PROMPT_COMMAND+=('note n' 'note m')",
    "PROMPT_COMMAND=('note n' ${PROMPT_COMMAND[@]+\"${PROMPT_COMMAND[@]}\"})",
    "PROMPT_COMMAND=(${PROMPT_COMMAND[@]+\"${PROMPT_COMMAND[@]}\"} 'note n')",
    "unset 'PROMPT_COMMAND[0]'; PROMPT_COMMAND[7]='note n'",
    "PROMPT_COMMAND='note n'; PROMPT_COMMAND=\"note m; $PROMPT_COMMAND\"",
];

fn bare(before: &str) -> Options {
    Options::bare().before(QUIET).before(PIECES).before(before)
}

fn ours(before: &str) -> Options {
    scripted(Fake::Reverse).before(PIECES).before(before)
}

/// What runs at the prompts after a command that succeeds and one that does not.
fn ran(home: &Home, terminal: &mut Terminal) -> String {
    terminal.run("ran=");
    terminal.run("(exit 3)");
    let before = home.arguments().len();
    terminal.run("argdump \"x$ran\"");
    assert!(!terminal.text().contains("bash: "), "{}", terminal.text());
    let arguments = home.next_arguments(before);
    String::from_utf8_lossy(&arguments[0]).into_owned()
}

#[track_caller]
fn is_told_once(home: &Home, terminal: &mut Terminal, case: &str) {
    let command = format!("true '{}'", case.replace('\'', ""));
    terminal.run(&command);
    terminal.run("true next");
    for told in [command.as_str(), "true next"] {
        home.wait_request("prompt", told, |call| call.get("command") == told);
    }
    let calls = home.requests("prompt");
    let told = calls
        .iter()
        .filter(|call| call.get("command") == command)
        .count();
    assert_eq!(told, 1, "{command}");
}

/// Whether PROMPT_COMMAND may be an array: before bash 5.1 a plain assignment takes our hook away as well.
fn takes_arrays(home: &Home) -> bool {
    let mut terminal = home.start(&Options::bare());
    terminal.run("argdump $((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 501))");
    home.next_arguments(0) == [b"1".to_vec()]
}

#[test]
fn what_an_rc_file_does_after_our_line_is_done_as_without_us() {
    let Some(home) = three_files() else { return };
    if !takes_arrays(&home) {
        return;
    }
    for before in BEFORE {
        for after in AFTER {
            let case = format!("{before} | {after}");
            let mut terminal = home.start(&bare(before).after(after));
            let expected = ran(&home, &mut terminal);
            let mut terminal = home.start(&ours(before).after(after));
            assert_eq!(ran(&home, &mut terminal), expected, "{case}");
            is_told_once(&home, &mut terminal, &case);
        }
    }
}

#[test]
fn nothing_that_an_rc_file_has_replaced_runs_even_once() {
    let Some(home) = three_files() else { return };
    let mut terminal = home.start(&ours(BEFORE[0]).after(AFTER[0]));
    terminal.run("argdump \"$ran\"");
    assert_eq!(home.next_arguments(0), [b"n0".to_vec()]);
}

#[test]
fn what_is_done_at_a_prompt_is_done_as_without_us() {
    let Some(home) = three_files() else { return };
    if !takes_arrays(&home) {
        return;
    }
    for before in BEFORE {
        for after in AFTER {
            let case = format!("{before} | {after}");
            let mut terminal = home.start(&bare(before));
            terminal.run(after);
            let expected = ran(&home, &mut terminal);
            let mut terminal = home.start(&ours(before));
            terminal.run(after);
            terminal.run("true first");
            assert_eq!(ran(&home, &mut terminal), expected, "{case}");
            is_told_once(&home, &mut terminal, &case);
            // The command itself, too, and the next one.
            for command in [after, "true first"] {
                home.wait_request("prompt", &case, |call| call.get("command") == command);
            }
        }
    }
}

#[test]
fn a_text_that_is_kept_elsewhere_and_run_from_there_stays_whole() {
    let Some(home) = three_files() else { return };
    let keep = "old=$PROMPT_COMMAND; tool() { note t; eval \"$old\"; }; PROMPT_COMMAND=tool";
    for (after, typed) in [(keep, "true"), ("true", keep)] {
        let mut terminal = home.start(&ours(BEFORE[0]).after(after));
        terminal.run(typed);
        assert_eq!(ran(&home, &mut terminal), "xt0a0t3a3");
        is_told_once(&home, &mut terminal, after);
    }
}

#[test]
fn hooks_that_are_taken_away_leave_nothing_half_done() {
    let Some(home) = three_files() else { return };
    for after in [
        "unset PROMPT_COMMAND",
        "PROMPT_COMMAND=()",
        "PROMPT_COMMAND=('note n')",
        "unset PROMPT_COMMAND; PROMPT_COMMAND='note n'",
    ] {
        for in_rc in [true, false] {
            let mut terminal = match in_rc {
                true => home.start(&ours(BEFORE[0]).after(after)),
                false => home.start(&ours(BEFORE[0])),
            };
            terminal.run(if in_rc { "true" } else { after });
            let expected = if after.contains("note") { "xn0n3" } else { "x" };
            assert_eq!(ran(&home, &mut terminal), expected, "{after}");
            tab_shows(&mut terminal, "argdump ", &["cherry", "banana", "apple"]);
            terminal.clear_line();
            terminal.run("true");
            assert_eq!(ran(&home, &mut terminal), expected, "{after}");
            is_told_once(&home, &mut terminal, &format!("{after} {in_rc}"));
        }
    }
}

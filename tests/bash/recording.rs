//! What the prompt tells the client.

use super::{interrupt, scripted};
use crate::common::{ENTER, Fake, Home, Options, Request, Shell, Terminal, eventually};

fn start() -> Option<(Home, Terminal)> {
    start_with(&scripted(Fake::Same))
}

fn start_with(options: &Options) -> Option<(Home, Terminal)> {
    let home = Home::new(Shell::Bash)?;
    let terminal = home.start(options);
    Some((home, terminal))
}

#[track_caller]
fn record(home: &Home, command: &str) -> Request {
    home.wait_request("prompt", &format!("{command:?} is recorded"), |call| {
        call.get("command") == command
    })
}

/// Ends the session with a marker; then what was recorded before it, in order of start, is or
/// becomes `expected` (records travel on their own).
#[track_caller]
fn told_is(home: &Home, terminal: &mut Terminal, expected: &[&str]) {
    terminal.run("argdump end");
    record(home, "argdump end");
    eventually(&format!("{expected:?} are recorded"), || {
        let told = told(home);
        assert!(told.len() <= expected.len(), "{told:?}");
        (told == expected).then_some(())
    });
}

fn told(home: &Home) -> Vec<String> {
    let calls = home.requests("prompt");
    let mut all: Vec<_> = calls
        .iter()
        .filter(|call| call.header.contains_key("command"))
        .map(|call| (call.get("start"), call.get("command")))
        .collect();
    all.sort();
    all.into_iter()
        .map(|(_, command)| command)
        .filter(|command| command != "argdump end")
        .collect()
}

/// Runs `lines` one after the other and checks what was recorded of them.
#[track_caller]
fn recorded(options: &Options, lines: &[&str], expected: &[&str]) {
    let Some((home, mut terminal)) = start_with(options) else {
        return;
    };
    for line in lines {
        terminal.run(line);
    }
    told_is(&home, &mut terminal, expected);
}

#[test]
fn the_first_prompt_tells_where_we_are() {
    let Some((home, terminal)) = start() else {
        return;
    };
    let call = home.wait_request("prompt", "the first prompt", |_| true);
    assert_eq!(call.get("shell"), "bash");
    assert_eq!(call.get("cwd"), home.work().display().to_string());
    assert!(
        call.get("session")
            .starts_with(&format!("{}.", terminal.pid()))
    );
    assert!(!call.header.contains_key("command"));
}

#[test]
fn a_first_prompt_that_init_has_told_is_not_told_again() {
    // Of another shell, for instance from a file; or the rc file goes on elsewhere.
    for (lines, after, is_told) in [
        ("__tabsense_told=$$", "", false),
        ("__tabsense_told=1", "", true),
        ("__tabsense_told=$$", "cd ..", true),
    ] {
        let options = scripted(Fake::Same).before(lines).after(after);
        let Some((home, mut terminal)) = start_with(&options) else {
            return;
        };
        terminal.run("true one");
        record(&home, "true one");
        let first = |call: &Request| !call.header.contains_key("command");
        if is_told {
            home.wait_request("prompt", "the first prompt", first);
        }
        assert_eq!(home.requests("prompt").iter().any(first), is_told);
    }
}

#[test]
fn a_command_is_told_with_its_status_directories_and_times() {
    let Some((home, mut terminal)) = start() else {
        return;
    };
    home.files(&["sub/"]);
    terminal.run("cd sub; sleep 0.2; (exit 3)");
    let call = record(&home, "cd sub; sleep 0.2; (exit 3)");
    let work = home.work().display().to_string();
    assert_eq!(
        (call.get("exit"), call.get("ran_in")),
        ("3".into(), work.clone())
    );
    assert_eq!(call.get("cwd"), format!("{work}/sub"));
    let duration: u64 = call.get("duration_ms").parse().expect("milliseconds");
    assert!((200..60_000).contains(&duration), "{duration}");
    let start: f64 = call.get("start").parse().expect("seconds");
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .expect("a clock");
    assert!((now.as_secs_f64() - start).abs() < 60.0, "{start}");
}

#[test]
fn commands_of_several_lines_and_odd_bytes_are_told_as_they_are() {
    let Some((home, mut terminal)) = start() else {
        return;
    };
    terminal.press(format!("argdump 'one{ENTER}two' \\{ENTER} three{ENTER}"));
    terminal.wait_prompt();
    record(&home, "argdump 'one\ntwo'  three");
    terminal.run("argdump $'\\n' \"%s\\\\\" é");
    record(&home, "argdump $'\\n' \"%s\\\\\" é");
    terminal.run("shopt -u cmdhist");
    terminal.press(format!(
        "for i in 1 2{ENTER}do argdump $i{ENTER}done{ENTER}"
    ));
    terminal.wait_prompt();
    record(&home, "for i in 1 2\ndo argdump $i\ndone");
}

#[test]
fn every_command_is_told_once() {
    recorded(
        &scripted(Fake::Same),
        &["true", "", "false", "", "", "true", "true"],
        &["true", "false", "true", "true"],
    );
}

#[test]
fn an_interrupted_line_is_no_command() {
    let Some((home, mut terminal)) = start() else {
        return;
    };
    terminal.run("true");
    terminal.press("argdump never");
    terminal.wait_line("argdump never");
    interrupt(&mut terminal);
    told_is(&home, &mut terminal, &["true"]);
}

#[test]
fn what_starts_with_a_blank_is_never_told() {
    let line = scripted(Fake::Same);
    recorded(&line, &[" true hide1", "true keep"], &["true keep"]);
    recorded(
        &line.after("HISTCONTROL=ignorespace"),
        &[" true hide1", "true keep", "\x16\ttrue hide2"],
        &["true keep"],
    );
}

#[test]
fn what_the_ignore_settings_exclude_is_not_told() {
    recorded(
        &scripted(Fake::Same),
        &[
            "HISTIGNORE='*secret*'",
            "true secret",
            "true keep1",
            "HISTIGNORE=",
            "HISTCONTROL=ignoredups",
            "true twice",
            "true twice",
            "HISTCONTROL=erasedups",
            "true twice",
            "true other",
            "true twice",
            "HISTCONTROL=ignoreboth:erasedups",
            " true hide",
            "true last",
        ],
        &[
            "HISTIGNORE='*secret*'",
            "true keep1",
            "HISTIGNORE=",
            "HISTCONTROL=ignoredups",
            "true twice",
            "HISTCONTROL=erasedups",
            "true twice",
            "true other",
            "true twice",
            "HISTCONTROL=ignoreboth:erasedups",
            "true last",
        ],
    );
}

#[test]
fn a_history_that_is_off_keeps_everything_to_itself() {
    recorded(
        &scripted(Fake::Same),
        &[
            "set +o history",
            "true hide1",
            "set -o history",
            "true keep1",
            "kept=$HISTFILE; unset HISTFILE",
            "true hide2",
            "HISTFILE=/dev/null",
            "true hide3",
            "HISTFILE=$kept",
            "true keep2",
            "HISTSIZE=0",
            "true hide4",
            "HISTSIZE=500 HISTFILESIZE=0",
            "true hide5",
            "HISTFILESIZE=500",
            "true keep3",
        ],
        &[
            "true keep1",
            "HISTFILE=$kept",
            "true keep2",
            "HISTFILESIZE=500",
            "true keep3",
        ],
    );
}

#[test]
fn where_no_history_is_kept_not_even_the_directory_is_told() {
    let Some((home, mut terminal)) = start_with(&scripted(Fake::Same).after("unset HISTFILE"))
    else {
        return;
    };
    terminal.run("cd /");
    terminal.run("HISTFILE=~/.bash_history");
    terminal.run("true");
    record(&home, "true");
    assert!(
        home.requests("prompt").iter().all(
            |call| call.get("command") == "true" || call.get("command").starts_with("HISTFILE")
        )
    );
}

#[test]
fn a_list_that_a_command_changes_gives_no_wrong_record() {
    let Some((home, mut terminal)) = start() else {
        return;
    };
    home.write("other", "foreign command\n");
    for line in [
        "true one",
        "history -c",
        "true two",
        "history -r ~/other",
        "true three",
    ] {
        terminal.run(line);
    }
    told_is(
        &home,
        &mut terminal,
        &["true one", "true two", "true three"],
    );
}

#[test]
fn a_history_that_is_shared_at_every_prompt_gives_no_foreign_record() {
    let share = "PROMPT_COMMAND=\"history -a; history -n; $PROMPT_COMMAND\"\nHISTIGNORE='*secret*'";
    let Some((home, mut terminal)) = start_with(&scripted(Fake::Same).before(share)) else {
        return;
    };
    terminal.run("true one");
    terminal.run("echo foreign >> $HISTFILE");
    terminal.run("true secret");
    terminal.run("echo foreign >> $HISTFILE");
    terminal.run("");
    terminal.run("true two");
    record(&home, "true two");
    let told = told(&home);
    assert!(
        !told
            .iter()
            .any(|command| command == "foreign" || command.contains("secret")),
        "{told:?}"
    );
    assert_eq!(told.last().map(String::as_str), Some("true two"));
}

#[test]
fn the_status_that_others_see_is_theirs() {
    let own = "PROMPT_COMMAND=\"seen=\\$?; $PROMPT_COMMAND\"";
    let Some((home, mut terminal)) = start_with(&scripted(Fake::Same).after(own)) else {
        return;
    };
    terminal.run("(exit 9)");
    terminal.run("argdump $seen $?");
    assert_eq!(home.next_arguments(0), [b"9".to_vec(), b"9".to_vec()]);
    terminal.run("sh -c 'exit 7' | sh -c 'exit 8'");
    terminal.run("argdump ${PIPESTATUS[@]}");
    assert_eq!(home.next_arguments(1), [b"7".to_vec(), b"8".to_vec()]);
    terminal.run(": last word");
    terminal.run("argdump $_");
    assert_eq!(home.next_arguments(2), [b"word".to_vec()]);
}

#[test]
fn nothing_of_ours_enters_the_history() {
    let Some((home, mut terminal)) = start() else {
        return;
    };
    terminal.run("true one");
    terminal.press("true tw\t");
    terminal.press(ENTER);
    terminal.wait_prompt();
    terminal.run("history > ~/list");
    let text = std::fs::read_to_string(home.home().join("list")).expect("the list");
    let lines: Vec<_> = text
        .lines()
        .map(|line| line.split_once("  ").map_or("", |(_, rest)| rest.trim()))
        .collect();
    assert_eq!(lines.len(), 3, "{text}");
    assert!(!text.contains("tabsense"), "{text}");
}

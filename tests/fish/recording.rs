//! What the prompt tells the client.

use super::scripted;
use crate::common::{ENTER, Fake, Home, Options, Request, Shell, eventually};

fn start() -> Option<(Home, crate::common::Terminal)> {
    let home = Home::new(Shell::Fish)?;
    let terminal = home.start(&scripted(Fake::Same));
    Some((home, terminal))
}

#[track_caller]
fn record(home: &Home, command: &str) -> Request {
    home.wait_request("prompt", &format!("{command:?} is recorded"), |call| {
        call.get("command") == command
    })
}

/// The commands that were sent, once `last` has been.
#[track_caller]
fn commands_until(home: &Home, last: &str) -> Vec<String> {
    record(home, last);
    let calls = home.requests("prompt");
    let mut all: Vec<_> = calls.iter().map(|call| call.get("command")).collect();
    all.retain(|command| !command.is_empty());
    all
}

#[test]
fn the_first_prompt_tells_where_we_are() {
    let Some((home, terminal)) = start() else {
        return;
    };
    let call = home.wait_request("prompt", "the first prompt", |_| true);
    assert_eq!(call.get("shell"), "fish");
    assert_eq!(call.get("cwd"), home.work().display().to_string());
    assert!(
        call.get("session")
            .starts_with(&format!("{}.", terminal.pid()))
    );
    assert!(!call.header.contains_key("command"));
}

#[test]
fn a_command_is_told_with_its_status_directory_and_times() {
    let Some((home, mut terminal)) = start() else {
        return;
    };
    home.files(&["sub/"]);
    terminal.run("cd sub; sleep 0.2; false");
    let call = record(&home, "cd sub; sleep 0.2; false");
    let work = home.work().display().to_string();
    assert_eq!(
        (call.get("exit"), call.get("ran_in")),
        ("1".into(), work.clone())
    );
    assert_eq!(call.get("cwd"), format!("{work}/sub"));
    let duration: u64 = call.get("duration_ms").parse().expect("milliseconds");
    assert!((200..60_000).contains(&duration), "{duration}");
    // fish has no clock: the client counts the start back from the duration.
    assert!(!call.header.contains_key("start"));
}

#[test]
fn the_status_seen_by_the_user_is_theirs() {
    let Some((home, mut terminal)) = start() else {
        return;
    };
    terminal.run("sh -c 'exit 7' | sh -c 'exit 9'");
    terminal.run("argdump $status $pipestatus");
    assert_eq!(
        home.next_arguments(0),
        [b"9".to_vec(), b"7".to_vec(), b"9".to_vec()]
    );
    assert_eq!(
        record(&home, "sh -c 'exit 7' | sh -c 'exit 9'").get("exit"),
        "9"
    );
}

#[test]
fn commands_of_several_lines_and_any_bytes_arrive_as_typed() {
    let Some((home, mut terminal)) = start() else {
        return;
    };
    terminal.press(format!("for x in 打开 \"it's\"{ENTER}"));
    terminal.press(format!("true $x{ENTER}end{ENTER}"));
    terminal.wait_prompt();
    terminal.run("true 'back\\\\slash' $HOME \"q\"");
    assert_eq!(
        record(&home, "true 'back\\\\slash' $HOME \"q\"").get("exit"),
        "0"
    );
    let commands = eventually("both are told", || {
        let commands = commands_until(&home, "true 'back\\\\slash' $HOME \"q\"");
        (commands.len() == 2).then_some(commands)
    });
    // Each is told in the background: they need not arrive in order.
    let loop_lines = |command: &String| {
        let lines: Vec<&str> = command.lines().map(str::trim).collect();
        lines == ["for x in 打开 \"it's\"", "true $x", "end"]
    };
    assert!(commands.iter().any(loop_lines), "{commands:?}");
}

#[test]
fn commands_with_a_leading_blank_are_never_told() {
    let Some((home, mut terminal)) = start() else {
        return;
    };
    terminal.run(" echo hide1");
    terminal.run("echo keep3");
    assert_eq!(commands_until(&home, "echo keep3"), ["echo keep3"]);
}

#[test]
fn nothing_is_told_in_private_mode() {
    for history in ["", "set -g fish_history work"] {
        let Some((home, mut terminal)) = start() else {
            return;
        };
        home.files(&["secret/"]);
        terminal.run(history);
        terminal.run("set -g fish_private_mode 1");
        terminal.run("echo hide1");
        terminal.run("cd secret");
        terminal.run("cd ..");
        terminal.run("set -e fish_private_mode");
        terminal.run("echo keep3");
        let commands = commands_until(&home, "echo keep3");
        assert!(
            commands
                .iter()
                .all(|command| !command.contains("hide1") && !command.contains("cd ")),
            "{history:?}: {commands:?}"
        );
        assert!(
            home.requests("prompt")
                .iter()
                .all(|call| !call.get("cwd").contains("secret"))
        );
    }
}

#[test]
fn a_private_fish_tells_nothing() {
    for history in ["", "set -g fish_history work"] {
        let Some(home) = Home::new(Shell::Fish) else {
            return;
        };
        let options = scripted(Fake::Same).args(&["--private", "-i"]);
        let mut terminal = home.start(&options.after(history));
        terminal.run("echo hide1");
        terminal.run("echo hide2");
        assert!(home.requests("prompt").is_empty(), "{history:?}");
    }
}

#[test]
fn without_a_history_file_nothing_is_told() {
    let Some((home, mut terminal)) = start() else {
        return;
    };
    terminal.run("set -g fish_history ''");
    terminal.run("echo hide1");
    terminal.run("set -e fish_history");
    terminal.run("echo keep3");
    let commands = commands_until(&home, "echo keep3");
    assert!(!commands.contains(&"echo hide1".to_owned()), "{commands:?}");
}

#[test]
fn the_users_own_rule_about_history_is_respected() {
    let Some(home) = Home::new(Shell::Fish) else {
        return;
    };
    let rule = "function fish_should_add_to_history; not string match -q '*secret*' -- $argv; end";
    let mut terminal = home.start(&scripted(Fake::Same).after(rule));
    terminal.run("echo secret2");
    terminal.run("echo keep3");
    assert_eq!(commands_until(&home, "echo keep3"), ["echo keep3"]);
}

#[test]
fn an_empty_line_tells_nothing_new() {
    let Some((home, mut terminal)) = start() else {
        return;
    };
    home.wait_request("prompt", "the first prompt", |_| true);
    terminal.run("");
    terminal.run("");
    terminal.run("echo keep3");
    record(&home, "echo keep3");
    assert_eq!(home.requests("prompt").len(), 2);
}

#[test]
fn two_shells_tell_under_two_names() {
    let Some(home) = Home::new(Shell::Fish) else {
        return;
    };
    let options: Options = scripted(Fake::Same);
    let (mut first, mut second) = (home.start(&options), home.start(&options));
    first.run("echo one");
    second.run("echo two");
    assert_ne!(
        record(&home, "echo one").get("session"),
        record(&home, "echo two").get("session")
    );
}

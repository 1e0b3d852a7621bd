//! Commands that ran are told to the worker; those the user's own settings exclude never are.

use crate::common::{ENTER, Fake, Home, Options, Request, Shell, TAB, Terminal};

const HISTORY: &str = "HISTFILE=~/.zsh_history SAVEHIST=1000 HISTSIZE=1000";

fn start(home: &Home, setup: &str) -> Terminal {
    home.start(&Options::fake(Fake::Native).before(HISTORY).before(setup))
}

fn recorded(home: &Home, command: &str) -> Request {
    home.wait_request("prompt", &format!("{command:?} is recorded"), |request| {
        request.get("command") == command
    })
}

/// Waits until these commands are told, and says that no others are. Each is told by a process of its
/// own, so two quick ones may come in either order.
#[track_caller]
fn only_recorded(home: &Home, wanted: &[&str]) {
    for command in wanted {
        recorded(home, command);
    }
    let (mut told, mut wanted) = (commands(home), wanted.to_vec());
    told.sort();
    wanted.sort_unstable();
    assert_eq!(told, wanted);
}

/// The commands that were told so far.
fn commands(home: &Home) -> Vec<String> {
    let requests = home.requests("prompt");
    let mut told: Vec<String> = requests.iter().map(|told| told.get("command")).collect();
    told.retain(|command| !command.is_empty());
    told
}

#[test]
fn the_first_prompt_says_where_the_shell_is() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    let terminal = start(&home, "");
    let request = home.wait_request("prompt", "a prompt", |_| true);
    assert_eq!(request.get("shell"), "zsh");
    assert_eq!(request.get("cwd"), home.work().display().to_string());
    assert!(
        request
            .get("session")
            .starts_with(&format!("{}.", terminal.pid()))
    );
    assert!(!request.header.contains_key("command"));
}

#[test]
fn a_first_prompt_that_init_has_told_is_not_told_again() {
    // Of another shell, for instance from a file; or the rc file goes on elsewhere.
    for (lines, after, is_told) in [
        ("__tabsense_told=$$", "", false),
        ("__tabsense_told=1", "", true),
        ("__tabsense_told=$$", "cd ..", true),
    ] {
        let Some(home) = Home::new(Shell::Zsh) else {
            return;
        };
        let options = Options::fake(Fake::Native).before(HISTORY).before(lines);
        let mut terminal = home.start(&options.after(after));
        terminal.run("true one");
        recorded(&home, "true one");
        let first = |call: &Request| !call.header.contains_key("command");
        if is_told {
            home.wait_request("prompt", "the first prompt", first);
        }
        assert_eq!(home.requests("prompt").iter().any(first), is_told);
        // The next one without a command is.
        terminal.run("");
        home.wait_request("prompt", "an empty line", first);
    }
}

#[test]
fn a_command_is_recorded_with_status_time_and_place() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    home.files(&["sub/"]);
    let mut terminal = start(&home, "");
    terminal.run("cd sub && (exit 7)");
    let request = recorded(&home, "cd sub && (exit 7)");
    assert_eq!(request.get("exit"), "7");
    assert_eq!(
        request.get("cwd"),
        home.work().join("sub").display().to_string()
    );
    assert_eq!(request.get("ran_in"), home.work().display().to_string());
    assert!(request.get("start").parse::<f64>().expect("seconds") > 1.6e9);
    assert!(
        request
            .get("duration_ms")
            .parse::<u64>()
            .expect("milliseconds")
            < 60_000
    );
    terminal.run("true");
    assert_eq!(recorded(&home, "true").get("exit"), "0");
}

#[test]
fn commands_of_several_lines_and_odd_bytes_are_recorded_raw() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    let mut terminal = start(&home, "");
    terminal.press("for i in 1; do\r: é\r");
    terminal.run("done");
    recorded(&home, "for i in 1; do\n: é\ndone");
    terminal.run("echo 'a=b' \"$HOME\" \\\\ 打开");
    recorded(&home, "echo 'a=b' \"$HOME\" \\\\ 打开");
}

#[test]
fn an_empty_line_records_nothing_and_keeps_the_status() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    let mut terminal = start(&home, "");
    terminal.run("false");
    terminal.run("");
    terminal.run("argdump $?");
    assert_eq!(home.arguments()[0], [b"1".to_vec()]);
    only_recorded(&home, &["false", "argdump $?"]);
}

#[test]
fn hooks_of_others_see_the_status_and_the_last_background_job() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    let hook = "__other() { __seen=$? }; precmd_functions+=(__other)";
    let mut terminal = home.start(&Options::fake(Fake::Native).before(HISTORY).after(hook));
    terminal.run("(exit 9)");
    terminal.run("argdump $__seen");
    assert_eq!(home.arguments()[0], [b"9".to_vec()]);
    terminal.run("command sleep 100 & __mine=$!");
    terminal.run("[[ $! == $__mine ]] && argdump same; kill $!");
    assert_eq!(home.arguments()[1], [b"same".to_vec()]);
}

#[test]
fn the_hooks_leave_no_jobs_and_print_nothing() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    let mut terminal = start(&home, "setopt long_list_jobs notify");
    terminal.run("true");
    terminal.run("jobs; argdump ${#jobstates}");
    assert_eq!(home.arguments()[0], [b"0".to_vec()]);
    let text = terminal.text();
    assert!(!text.contains("[1]") && !text.contains("done"), "{text}");
}

#[test]
fn hooks_that_are_taken_away_come_back_with_a_tab_and_only_once() {
    let lists = "precmd_functions preexec_functions";
    for (drop, left) in [
        ("precmd_functions=() preexec_functions=()".to_owned(), ""),
        (format!("unset {lists}"), ""),
        ("precmd_functions=(mine)".to_owned(), "mine "),
        (
            "precmd_functions+=(mine); add-zsh-hook -d preexec __tabsense_preexec".to_owned(),
            "__tabsense_precmd mine",
        ),
        ("precmd_functions+=() preexec_functions=()".to_owned(), ""),
    ] {
        let mine = format!("autoload -Uz add-zsh-hook; mine() {{ :; }}; {drop}");
        for (after, typed) in [(mine.as_str(), "true"), ("true", mine.as_str())] {
            let Some(home) = Home::new(Shell::Zsh) else {
                return;
            };
            home.files(&["apple"]);
            let options = Options::fake(Fake::Native).before(HISTORY).after(after);
            let mut terminal = home.start(&options);
            terminal.run(typed);
            terminal.press(format!("argdump a{TAB}"));
            terminal.wait_line("argdump apple ");
            terminal.press(ENTER);
            terminal.wait_prompt();
            terminal.run("true one");
            terminal.run("true two");
            for command in ["true one", "true two"] {
                recorded(&home, command);
                let told = commands(&home);
                let times = told.iter().filter(|told| *told == command).count();
                assert_eq!(times, 1, "{drop}");
            }
            let before = home.arguments().len();
            terminal.run("argdump \"$precmd_functions\" \"$preexec_functions\" ${+functions[,]}");
            let hooks = home.next_arguments(before);
            let precmd = String::from_utf8_lossy(&hooks[0]);
            assert!(
                precmd.contains("__tabsense_precmd") && precmd.starts_with(left),
                "{precmd}"
            );
            assert_eq!(
                hooks[1..],
                [b"__tabsense_preexec".to_vec(), b"1".to_vec()],
                "{drop}"
            );
        }
    }
}

#[test]
fn a_leading_space_is_never_recorded() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    let mut terminal = start(&home, "");
    terminal.run(" echo hide1");
    terminal.press(" for i in 1; do\recho hide2\r");
    terminal.run("done");
    terminal.run("echo keep");
    only_recorded(&home, &["echo keep"]);
}

#[test]
fn the_users_own_ignore_settings_hold() {
    let settings = [
        ("HISTORY_IGNORE='(echo secret*)'", "echo secret2", true),
        (
            "setopt extended_glob; HISTORY_IGNORE='echo (#i)SECRET*'",
            "echo secret2",
            true,
        ),
        ("setopt hist_no_store", "history -1", true),
        ("setopt hist_no_store", "fc -l -1", true),
        (
            "setopt hist_ignore_space; alias hush=' echo'",
            "hush secret2",
            true,
        ),
        ("setopt hist_no_functions", "secret2() { : }", true),
        (
            "zshaddhistory() { [[ $1 != *secret* ]] }",
            "echo secret2",
            true,
        ),
        (
            "__no() { [[ $1 != *secret* ]] }; zshaddhistory_functions+=(__no)",
            "echo secret2",
            true,
        ),
        ("unset HISTFILE", "echo secret2", false),
        ("HISTFILE=/dev/null", "echo secret2", false),
        ("SAVEHIST=0", "echo secret2", false),
    ];
    for (setting, hidden, others_kept) in settings {
        let Some(home) = Home::new(Shell::Zsh) else {
            return;
        };
        let mut terminal = home.start(&Options::fake(Fake::Native).before(HISTORY).after(setting));
        terminal.run(hidden);
        if !others_kept {
            terminal.run("HISTFILE=~/.zsh_history SAVEHIST=1000");
        }
        terminal.run("echo keep3");
        terminal.run("echo last");
        recorded(&home, "echo keep3");
        let commands = commands(&home);
        assert!(
            commands
                .iter()
                .all(|command| !command.contains("secret") && command != hidden),
            "{setting}: {commands:?}"
        );
    }
}

#[test]
fn a_line_that_another_hook_lets_through_is_recorded() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    let mut terminal = start(&home, "zshaddhistory() { [[ $1 != *secret* ]] }");
    terminal.run("echo one");
    terminal.run("echo secret");
    terminal.run("echo two");
    terminal.run("echo three");
    only_recorded(&home, &["echo one", "echo two"]);
}

//! `why`, `forget`, `pause`, `resume`: what is kept and what is not.

use super::store::{self, commands, ran, wait_commands};
use super::{answered, assert_native, press_tab};
use crate::common::{Home, Shell};

fn home() -> Option<Home> {
    Home::new(Shell::Bash)
}

/// What `why --not-recorded` says, with these variables set.
#[track_caller]
fn why(home: &Home, command: &str, variables: &[(&str, &str)]) -> String {
    let output = home
        .command(&home.client())
        .envs(variables.iter().copied())
        .args(["why", "--not-recorded", command])
        .output()
        .expect("run");
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{output:?}"
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn why_names_each_rule_that_keeps_a_command_out() {
    let Some(home) = home() else { return };
    let zsh = ("SHELL", "/bin/zsh");
    let fish = ("SHELL", "/usr/bin/fish");
    for (command, variables, reason) in [
        (" ls", &[][..], "it begins with a space"),
        ("\tls", &[], "it begins with a space"),
        ("", &[], "the command is empty"),
        (
            "ls -l",
            &[("HISTIGNORE", "ls*:bg")],
            "HISTIGNORE has the pattern ls*",
        ),
        (
            "secret x",
            &[zsh, ("HISTORY_IGNORE", "(secret*)")],
            "HISTORY_IGNORE is (secret*)",
        ),
        (
            "ls",
            &[fish, ("fish_private_mode", "1")],
            "the shell is in private mode",
        ),
        ("ls", &[("TABSENSE_PAUSE", "1")], "TABSENSE_PAUSE is set"),
        ("ls", &[], "no rule keeps it out"),
        ("curl -u me:hunter22 x", &[], "a part is replaced by ***"),
    ] {
        let said = why(&home, command, variables);
        assert!(said.starts_with("not recorded\n"), "{command:?}: {said}");
        assert!(
            said.contains(&format!("because: {reason}")),
            "{command:?}: {said}"
        );
    }
    assert!(!why(&home, "curl -u me:hunter22 x", &[]).contains("hunter22"));
    // Another shell's rule does not count.
    let said = why(&home, "secret x", &[("HISTORY_IGNORE", "(secret*)")]);
    assert!(!said.contains("HISTORY_IGNORE"), "{said}");
}

#[test]
fn why_names_what_keeps_everything_out() {
    let Some(home) = home() else { return };
    home.write(
        ".config/tabsense/config.toml",
        "[history]\nrecord = false\n",
    );
    assert!(home.tabsense(&["pause"]).status.success());
    let said = why(&home, "ls", &[]);
    assert!(said.contains("because: tabsense is paused"), "{said}");
    assert!(
        said.contains("because: `history.record` is false in "),
        "{said}"
    );
}

#[test]
fn why_tells_how_often_a_command_is_there() {
    let Some(home) = home() else { return };
    let _worker = home.worker();
    ran(&home, "bash", "make", &["start=1700000000"]);
    wait_commands(&home, &["make"]);
    assert_eq!(why(&home, "make", &[]), "recorded once\nas: make\n");
    ran(&home, "bash", "make", &["start=1700000100"]);
    wait_commands(&home, &["make", "make"]);
    assert!(why(&home, "make", &[]).starts_with("recorded 2 times\n"));
}

#[test]
fn a_forgotten_command_is_in_no_file_and_in_no_ranking() {
    let Some(home) = home() else { return };
    let _worker = home.worker();
    ran(&home, "bash", "ssh mistaken-host", &[]);
    ran(&home, "bash", "make", &[]);
    wait_commands(&home, &["ssh mistaken-host", "make"]);
    let offered = || {
        let output = home.tabsense(&["complete", "--shell", "bash", "--line", "ssh mist"]);
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert_eq!(offered(), "mistaken-host\n");
    let output = home.tabsense(&["forget", "ssh mistaken-host"]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "1 forgotten\n");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(offered(), "");
    assert_eq!(commands(&home), ["make"]);
    assert_eq!(
        store::files_with(&home, b"mistaken-host"),
        Vec::<String>::new()
    );
    let again = home.tabsense(&["forget", "ssh mistaken-host"]);
    assert_eq!(again.status.code(), Some(1), "{again:?}");
}

#[test]
fn everything_is_only_forgotten_when_somebody_says_yes() {
    let Some(home) = home() else { return };
    let _worker = home.worker();
    ran(&home, "bash", "zzkeep", &[]);
    wait_commands(&home, &["zzkeep"]);
    let asked = home.tabsense(&["forget", "--all"]);
    assert_eq!(asked.status.code(), Some(1));
    assert!(
        String::from_utf8_lossy(&asked.stderr).contains("--yes"),
        "{asked:?}"
    );
    assert_eq!(commands(&home), ["zzkeep"]);
    assert!(
        home.tabsense(&["forget", "--all", "--yes"])
            .status
            .success()
    );
    assert!(commands(&home).is_empty());
    assert_eq!(store::status(&home)["history"], 0);
    assert_eq!(store::files_with(&home, b"zzkeep"), Vec::<String>::new());
    assert_eq!(home.tabsense(&["forget"]).status.code(), Some(2));
}

#[test]
fn while_paused_nothing_is_recorded_and_tab_is_the_shells_own() {
    let Some(home) = home() else { return };
    let _worker = home.worker();
    answered(&home);
    assert!(home.tabsense(&["pause"]).status.success());
    assert_native(&press_tab(&home));
    ran(&home, "bash", "hidden", &[]);
    assert!(home.tabsense(&["resume"]).status.success());
    assert!(
        home.tabsense(&["resume"]).status.success(),
        "resuming twice is fine"
    );
    ran(&home, "bash", "shown", &[]);
    wait_commands(&home, &["shown"]);
    answered(&home);
}

#[test]
fn while_paused_no_worker_is_started() {
    let Some(home) = home() else { return };
    assert!(home.tabsense(&["pause"]).status.success());
    assert_native(&press_tab(&home));
    ran(&home, "bash", "hidden", &[]);
    assert!(!home.runtime().join("tabsense").exists());
    assert!(!store::database(&home).exists());
}

#[test]
fn recording_can_be_turned_off_alone() {
    let Some(home) = home() else { return };
    let _worker = home.worker();
    home.write(
        ".config/tabsense/config.toml",
        "[history]\nrecord = false\n",
    );
    ran(&home, "bash", "hidden", &[]);
    answered(&home);
    home.write(".config/tabsense/config.toml", "");
    ran(&home, "bash", "shown", &[]);
    wait_commands(&home, &["shown"]);
}

//! `tabsense doctor`: what is wrong, and how to mend it.

use serde_json::Value;

use crate::common::{Home, Shell};

/// Runs `doctor --json` with these variables; the exit status and the checks.
#[track_caller]
fn doctor(home: &Home, variables: &[(&str, &str)]) -> (Option<i32>, Vec<Value>) {
    let output = home
        .command(&home.client())
        .envs(variables.iter().copied())
        .args(["doctor", "--json"])
        .output()
        .expect("run");
    assert!(output.stderr.is_empty(), "{output:?}");
    let value: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let checks = value["checks"].as_array().expect("a list").clone();
    for check in &checks {
        for key in ["name", "verdict", "message", "hint"] {
            assert!(check[key].is_string(), "{check}");
        }
    }
    (output.status.code(), checks)
}

#[track_caller]
fn find<'a>(checks: &'a [Value], name: &str, verdict: &str, part: &str) -> &'a Value {
    let found = checks.iter().find(|check| {
        check["name"] == name
            && check["message"]
                .as_str()
                .is_some_and(|text| text.contains(part))
    });
    let found = found.unwrap_or_else(|| panic!("no {name} with {part:?} in {checks:#?}"));
    assert_eq!(found["verdict"], verdict, "{found}");
    found
}

#[test]
fn the_script_in_a_trial_home_is_no_plugin() {
    let Some(home) = Home::new(Shell::Bash) else {
        return;
    };
    home.write(".bashrc", "case $name in ble.sh | fzf-tab) ;; esac\n");
    let (_, checks) = doctor(&home, &[("TABSENSE_TRY", "1")]);
    find(&checks, "rc files", "good", "this shell");
    assert!(
        checks.iter().all(|check| check["name"] != "plugins"),
        "{checks:#?}"
    );
    let (_, checks) = doctor(&home, &[]);
    find(&checks, "plugins", "note", "ble.sh");
}

#[test]
fn a_good_installation_is_good_in_every_part() {
    let Some(home) = Home::new(Shell::Bash) else {
        return;
    };
    home.write(".bashrc", "eval \"$(tabsense init bash)\"\n");
    let (status, checks) = doctor(&home, &[]);
    assert_eq!(status, Some(0), "{checks:#?}");
    assert!(
        checks.iter().all(|check| check["verdict"] == "good"),
        "{checks:#?}"
    );
    for name in [
        "programs",
        "settings",
        "pause",
        "directories",
        "worker",
        "answer",
        "history",
    ] {
        find(&checks, name, "good", "");
    }
    find(&checks, "rc files", "good", ".bashrc");
    let output = home.tabsense(&["doctor"]);
    assert!(output.status.success());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(text.lines().count(), checks.len(), "{text}");
    assert!(text.lines().all(|line| line.starts_with("ok ")), "{text}");
}

#[test]
fn a_pause_and_missing_rc_lines_are_told_without_being_errors() {
    let Some(home) = Home::new(Shell::Bash) else {
        return;
    };
    home.write(".bashrc", "# eval \"$(tabsense init bash)\"\n");
    assert!(home.tabsense(&["pause"]).status.success());
    let (status, checks) = doctor(&home, &[]);
    assert_eq!(status, Some(0), "{checks:#?}");
    let pause = find(&checks, "pause", "note", "nothing is recorded");
    assert!(
        pause["hint"]
            .as_str()
            .expect("hint")
            .contains("tabsense resume")
    );
    find(&checks, "rc files", "note", "no rc file turns tabsense on");
}

#[test]
fn a_bad_setting_is_an_error_with_its_line() {
    let Some(home) = Home::new(Shell::Bash) else {
        return;
    };
    home.write(".config/tabsense/config.toml", "\ndeadline_ms = 1\n");
    let (status, checks) = doctor(&home, &[]);
    assert_eq!(status, Some(1));
    find(
        &checks,
        "settings",
        "bad",
        "config.toml:2: deadline_ms takes",
    );
    find(&checks, "answer", "good", "");
    let output = home.tabsense(&["doctor"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("FAIL  settings"));
}

#[test]
fn a_missing_worker_program_is_an_error_with_a_hint() {
    let Some(home) = Home::new(Shell::Bash) else {
        return;
    };
    let (status, checks) = doctor(&home, &[("TABSENSE_WORKER", "/nonexistent/tabsensed")]);
    assert_eq!(status, Some(1));
    let found = find(&checks, "programs", "bad", "/nonexistent/tabsensed");
    assert!(
        found["hint"]
            .as_str()
            .expect("hint")
            .contains("one directory"),
        "{found}"
    );
    find(&checks, "worker", "bad", "no worker answers");
}

#[test]
fn a_worker_program_of_another_release_is_an_error() {
    let Some(home) = Home::new(Shell::Bash) else {
        return;
    };
    home.program("old-worker", "#!/bin/sh\necho tabsensed 0.0.1\n");
    let old = home
        .root()
        .join("bin/old-worker")
        .to_string_lossy()
        .into_owned();
    let (status, checks) = doctor(&home, &[("TABSENSE_WORKER", &old)]);
    assert_eq!(status, Some(1));
    find(&checks, "programs", "bad", "\"0.0.1\"");
}

#[test]
fn plugins_that_also_take_tab_are_named_once_with_what_happens() {
    let Some(home) = Home::new(Shell::Bash) else {
        return;
    };
    home.write(
        ".zshrc",
        "source ~/fzf-tab/fzf-tab.plugin.zsh\n# zsh-autocomplete\n",
    );
    home.write(".bashrc", "source /opt/ble.sh/ble.sh\n");
    let (status, checks) = doctor(&home, &[]);
    assert_eq!(status, Some(0));
    find(&checks, "plugins", "note", "fzf-tab shows its own list");
    find(&checks, "plugins", "note", "ble.sh has its own completion");
    let plugins = checks
        .iter()
        .filter(|check| check["name"] == "plugins")
        .count();
    assert_eq!(plugins, 2, "a comment loads nothing: {checks:#?}");
}

#[test]
fn what_the_shell_itself_has_seen_is_told_and_not_told_again() {
    let Some(home) = Home::new(Shell::Bash) else {
        return;
    };
    home.write(".bashrc", "source /opt/ble.sh/ble.sh\n");
    let seen = [("__tabsense_native", "ble.sh completes by itself")];
    let (status, checks) = doctor(&home, &seen);
    assert_eq!(status, Some(0));
    find(
        &checks,
        "plugins",
        "note",
        "this shell completes without tabsense: ble.sh completes by itself",
    );
    let about = |check: &&Value| check["name"] == "plugins";
    assert_eq!(checks.iter().filter(about).count(), 1, "{checks:#?}");
}

#[test]
fn a_shell_that_is_too_old_is_told_in_one_line() {
    let Some(home) = Home::new(Shell::Bash) else {
        return;
    };
    home.program(
        "bash",
        "#!/bin/sh\necho 'GNU bash, version 3.2.57(1)-release (arm64)'\n",
    );
    let (status, checks) = doctor(&home, &[]);
    assert_eq!(status, Some(0), "{checks:#?}");
    let found = find(&checks, "bash", "note", "bash 3.2 keeps its own completion");
    assert_eq!(found["hint"], "bash 4.4 or later is needed");
}

#[test]
fn a_place_that_others_may_enter_is_an_error_that_says_how_to_close_it() {
    use std::os::unix::fs::PermissionsExt;
    let Some(home) = Home::new(Shell::Bash) else {
        return;
    };
    let directory = home.runtime().join("tabsense");
    std::fs::create_dir(&directory).expect("made");
    std::fs::set_permissions(&directory, PermissionsExt::from_mode(0o755)).expect("mode");
    let (status, checks) = doctor(&home, &[]);
    assert_eq!(status, Some(1));
    find(&checks, "directories", "bad", "hint: chmod 700");
}

//! The script as text.

use crate::common::Shell;
use std::process::Command;

#[test]
fn shellcheck_has_nothing_to_say() {
    let Ok(output) = Command::new("shellcheck")
        .args(["-s", "bash"])
        .arg(Shell::Bash.script())
        .output()
    else {
        assert!(
            std::env::var_os("CI").is_none(),
            "shellcheck is not installed"
        );
        eprintln!("skipped: shellcheck is not installed");
        return;
    };
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
}

#[test]
fn every_name_is_prefixed() {
    let text = std::fs::read_to_string(Shell::Bash.script()).expect("the script");
    for line in text.lines().map(str::trim_start) {
        if let Some((name, _)) = line.split_once("() {").filter(|_| !line.contains('$')) {
            assert!(name.starts_with("__tabsense_"), "{line}");
        }
        assert!(
            !line.contains("bind ") && !line.contains("DEBUG") || line.starts_with('#'),
            "{line}"
        );
    }
}

//! The script as text.

use crate::common::Shell;
use std::process::Command;

#[test]
fn the_script_parses_and_is_formatted() {
    let Some(fish) = Shell::Fish.program() else {
        return;
    };
    for script in Shell::Fish.scripts() {
        let parsed = Command::new(&fish)
            .arg("--no-execute")
            .arg(&script)
            .output()
            .expect("run fish");
        assert!(
            parsed.status.success() && parsed.stderr.is_empty(),
            "{}",
            String::from_utf8_lossy(&parsed.stderr)
        );
        let formatted = Command::new("fish_indent")
            .arg("--check")
            .arg(&script)
            .output()
            .expect("run fish_indent");
        assert!(
            formatted.status.success(),
            "fish_indent --write {}",
            script.display()
        );
    }
}

#[test]
fn every_global_name_is_prefixed() {
    let text = Shell::Fish.script_text();
    for line in text.lines().map(str::trim_start) {
        if let Some(name) = line.strip_prefix("function ") {
            assert!(name.starts_with("__tabsense_") || name == ",", "{line}");
        }
        let mut words = line
            .split_whitespace()
            .skip_while(|word| !["-g", "-ga", "--global"].contains(word));
        if let Some(name) = words.nth(1).filter(|_| line.contains("set ")) {
            let known = name.starts_with("__tabsense_")
                || ["TABSENSE_BIN", "last_pid", "--names", "$name"].contains(&name);
            assert!(known, "{line}");
        }
    }
    assert!(!text.contains("set -U") && !text.contains("--universal"));
}

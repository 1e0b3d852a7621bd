//! The script as text.

use crate::common::Shell;
use std::io::Write;
use std::process::{Command, Stdio};

#[test]
fn shellcheck_has_nothing_to_say() {
    // All parts as one text: they use each other's names.
    let Ok(mut shellcheck) = Command::new("shellcheck")
        .args(["-s", "bash", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
    else {
        assert!(
            std::env::var_os("CI").is_none(),
            "shellcheck is not installed"
        );
        eprintln!("skipped: shellcheck is not installed");
        return;
    };
    let text = Shell::Bash.script_text();
    let mut input = shellcheck.stdin.take().expect("stdin");
    input.write_all(text.as_bytes()).expect("the script");
    drop(input);
    let output = shellcheck.wait_with_output().expect("shellcheck");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
}

#[test]
fn every_name_is_prefixed() {
    let text = Shell::Bash.script_text();
    for line in text.lines().map(str::trim_start) {
        if let Some((name, _)) = line.split_once("() {").filter(|_| !line.contains('$')) {
            assert!(name.starts_with("__tabsense_"), "{line}");
        }
        if line.starts_with('#') {
            continue;
        }
        assert!(!line.contains("DEBUG"), "{line}");
        // One key, and never TAB; else bindings are only read.
        let reads = [" -p", " -s", " -X"]
            .iter()
            .any(|option| line.contains(option));
        let ours = line.contains("\\\"$key\\\": __tabsense_do_key");
        assert!(!line.contains("bind ") || reads || ours, "{line}");
    }
}

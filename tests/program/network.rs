//! Neither program ever opens a socket that leads off the machine.

use std::process::{Command, Stdio};

use super::answered;
use crate::common::{Home, Shell, eventually};

#[test]
fn only_local_sockets_are_ever_opened() {
    if !cfg!(target_os = "linux") || Command::new("strace").arg("-V").output().is_err() {
        assert!(
            std::env::var_os("CI").is_none() || !cfg!(target_os = "linux"),
            "no strace"
        );
        eprintln!("skipped: strace is not installed");
        return;
    }
    let Some(home) = Home::new(Shell::Bash) else {
        return;
    };
    let trace = home.root().join("trace");
    let mut worker = home
        .command("strace".as_ref())
        .args(["-f", "-e", "trace=network", "-o"])
        .arg(&trace)
        .arg(home.client().with_file_name("tabsensed"))
        .arg("run")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("strace");
    answered(&home);
    home.write(".bash_history", "ls\ncd /tmp\n");
    home.write(
        "work/q.json",
        r#"{"q": {"type": "noul", "instructions": "Is it?"}}"#,
    );
    for arguments in [
        ["worker", "status"].as_slice(),
        &["import", "bash"],
        &["complete", "--shell", "bash", "--line", "ls "],
        &["why", "--not-recorded", "ls"],
        &["doctor"],
        &["model", "list"],
        &["model", "info", "builtin"],
        &["decide", "--state", "x", "--questions", "q.json"],
        &["worker", "stop"],
    ] {
        let output = home
            .command("strace".as_ref())
            .args(["-f", "-A", "-e", "trace=network", "-o"])
            .arg(&trace)
            .arg(home.client())
            .args(arguments)
            .output()
            .expect("strace");
        assert!(output.status.code().is_some(), "{output:?}");
    }
    worker.wait().expect("the worker ends");
    let text = eventually("a trace", || std::fs::read_to_string(&trace).ok());
    let sockets: Vec<&str> = text
        .lines()
        .filter(|line| line.contains("socket("))
        .collect();
    assert!(!sockets.is_empty(), "nothing was traced");
    for line in sockets {
        assert!(line.contains("AF_UNIX"), "{line}");
    }
}

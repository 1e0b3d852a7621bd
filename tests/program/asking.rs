//! `tabsense complete --shell ... --line ...`: what TAB would offer, for people and scripts.

use serde_json::Value;

use super::store::{ran, wait_commands};
use crate::common::{Home, Shell, eventually};

fn home() -> Option<Home> {
    Home::new(Shell::Bash)
}

/// The answer's start and its texts, best first.
#[track_caller]
fn ask(home: &Home, arguments: &[&str]) -> (u64, Vec<String>) {
    let output = home.tabsense(&[&["complete", "--json"], arguments].concat());
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{output:?}"
    );
    let value: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let candidates = value["candidates"].as_array().expect("a list");
    for candidate in candidates {
        assert!(
            candidate["kind"].is_string() && candidate["score"].is_number(),
            "{candidate}"
        );
        assert!(candidate["description"].is_string(), "{candidate}");
    }
    let texts = candidates
        .iter()
        .map(|c| c["text"].as_str().expect("text").to_owned());
    (value["start"].as_u64().expect("start"), texts.collect())
}

#[track_caller]
fn line(home: &Home, line: &str) -> Vec<String> {
    let (_, mut texts) = ask(home, &["--shell", "bash", "--line", line]);
    texts.sort();
    texts
}

#[test]
fn paths_are_completed_with_what_is_there() {
    let Some(home) = home() else { return };
    home.files(&["src/main.rs", "src/lib.rs", "src/bin/", "README"]);
    assert_eq!(
        line(&home, "cat src/"),
        ["src/bin/", "src/lib.rs", "src/main.rs"]
    );
    assert_eq!(line(&home, "cat src/m"), ["src/main.rs"]);
    assert_eq!(line(&home, "cat ./src/l"), ["./src/lib.rs"]);
    assert_eq!(line(&home, "cat ~/work/REA"), ["~/work/README"]);
    assert_eq!(line(&home, "cat $HOME/work/REA"), ["$HOME/work/README"]);
    assert_eq!(line(&home, "cd s"), ["src/"], "cd takes directories");
    assert_eq!(line(&home, "cat nothing/here"), Vec::<String>::new());
}

#[test]
fn names_are_found_by_pinyin_word_starts_and_with_one_typo() {
    let Some(home) = home() else { return };
    home.files(&["下载/", "文档/", "project-notes.md", "inventory.csv"]);
    assert_eq!(line(&home, "cd xz"), ["下载/"]);
    assert_eq!(line(&home, "cd xiazai"), ["下载/"]);
    assert_eq!(line(&home, "cd 文"), ["文档/"]);
    assert_eq!(line(&home, "cat notes"), ["project-notes.md"]);
    assert_eq!(line(&home, "cat invnetory"), ["inventory.csv"]);
}

#[test]
fn what_was_changed_last_comes_first_below_a_typed_directory_too() {
    use std::time::{Duration, SystemTime};
    let Some(home) = home() else { return };
    // Both match alike; the older one of each pair comes first by name.
    let pairs = [
        ("notes-alpha", "notes-bravo"),
        ("sub/notes-alpha", "sub/notes-bravo"),
    ];
    for (older, newer) in pairs {
        home.files(&[older, newer]);
        let file = std::fs::File::options()
            .write(true)
            .open(home.work().join(older))
            .expect("the older file");
        let then = SystemTime::now() - Duration::from_secs(400 * 24 * 3600);
        file.set_modified(then).expect("its time");
    }
    for (typed, (older, newer)) in ["cat notes", "cat sub/notes"].into_iter().zip(pairs) {
        // The times are read as far as a request has time for it.
        eventually(&format!("{newer} comes first"), || {
            let (_, texts) = ask(&home, &["--shell", "bash", "--line", typed]);
            (texts == [newer, older]).then_some(())
        });
    }
}

#[test]
fn the_first_word_is_a_command() {
    let Some(home) = home() else { return };
    home.program("zz-deploy", "#!/bin/sh\n");
    home.program("zz-drain", "#!/bin/sh\n");
    assert_eq!(line(&home, "zz-"), ["zz-deploy", "zz-drain"]);
    assert_eq!(line(&home, "FOO=1 zz-de"), ["zz-deploy"]);
    assert_eq!(line(&home, "ls | zz-dr"), ["zz-drain"]);
}

#[test]
fn words_used_before_come_back() {
    let Some(home) = home() else { return };
    let _worker = home.worker();
    ran(&home, "bash", "ssh build-host.example", &[]);
    wait_commands(&home, &["ssh build-host.example"]);
    assert_eq!(line(&home, "ssh bui"), ["build-host.example"]);
}

#[test]
fn the_cursor_may_be_in_the_middle_and_counts_characters() {
    let Some(home) = home() else { return };
    home.files(&["alpha.txt", "beta.txt", "打字.txt"]);
    let at = |line: &str, cursor: &str| {
        ask(
            &home,
            &["--shell", "zsh", "--line", line, "--cursor", cursor],
        )
    };
    assert_eq!(at("cat al | sort", "6"), (4, vec!["alpha.txt".to_owned()]));
    assert_eq!(at("cat 打字 be", "6").1, ["打字.txt"]);
    assert_eq!(at("cat 打字 be", "9"), (11, vec!["beta.txt".to_owned()]));
    assert_eq!(
        at("cat be", "9999").1,
        ["beta.txt"],
        "past the end is the end"
    );
    assert!(at("cat be", "0").1.is_empty());
}

#[test]
fn the_directory_may_be_another_one() {
    let Some(home) = home() else { return };
    home.files(&["here/only-there", "elsewhere"]);
    let there = home.work().join("here").to_string_lossy().into_owned();
    for cwd in [there.as_str(), "here"] {
        let (_, texts) = ask(
            &home,
            &["--shell", "fish", "--line", "cat onl", "--cwd", cwd],
        );
        assert_eq!(texts, ["only-there"], "{cwd}");
    }
    let gone = ask(
        &home,
        &[
            "--shell",
            "bash",
            "--line",
            "cat x",
            "--cwd",
            "/nonexistent/x",
        ],
    );
    assert!(gone.1.is_empty());
}

#[test]
fn odd_names_are_whole_and_the_terminal_is_safe() {
    let Some(home) = home() else { return };
    let names = [
        "od a b",
        "od$x",
        "od'q",
        "od\"q",
        "od\nline",
        "od\x1b[31m",
        "od!",
        "od\u{1f600}",
    ];
    home.files(&names);
    let mut expected: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    expected.sort();
    assert_eq!(line(&home, "cat od"), expected);
    let output = home.tabsense(&["complete", "--shell", "bash", "--line", "cat od"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(text.lines().count(), names.len(), "one a line: {text:?}");
    assert!(!text.contains('\x1b'), "{text:?}");
    home.files(&[b"bytes\xff\xfe".as_slice()]);
    assert_eq!(line(&home, "cat byt"), ["bytes\u{fffd}\u{fffd}"]);
}

#[test]
fn a_wrong_command_line_is_told_with_status_two() {
    let Some(home) = home() else { return };
    for arguments in [
        ["complete", "--line", "x"].as_slice(),
        &["complete", "--shell", "csh", "--line", "x"],
        &[
            "complete", "--shell", "bash", "--line", "x", "--cursor", "-1",
        ],
        &["nonsense"],
        &[],
    ] {
        let output = home.tabsense(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
        assert!(!output.stderr.is_empty());
    }
}

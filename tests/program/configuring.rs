//! `tabsense config`: the settings in force.

use super::answered;
use crate::common::{Home, Shell};

const FILE: &str = ".config/tabsense/config.toml";

fn config(home: &Home, arguments: &[&str]) -> (Option<i32>, String) {
    let output = home.tabsense(&[&["config"], arguments].concat());
    assert!(output.stderr.is_empty(), "{output:?}");
    (
        output.status.code(),
        String::from_utf8_lossy(&output.stdout).into_owned(),
    )
}

#[test]
fn without_a_file_every_key_has_its_default() {
    let Some(home) = Home::new(Shell::Bash) else {
        return;
    };
    let (status, text) = config(&home, &[]);
    assert_eq!(status, Some(0));
    assert!(text.contains("deadline_ms = 50  # default\n"), "{text}");
    assert!(
        text.lines().all(|line| line.ends_with("# default")),
        "{text}"
    );
    let (status, page) = config(&home, &["reference"]);
    assert_eq!(status, Some(0));
    for line in text.lines() {
        let key = line.split(' ').next().expect("a key");
        assert!(
            page.contains(&format!("### `{key}`")),
            "{key} is not documented"
        );
    }
    let (_, path) = config(&home, &["path"]);
    assert_eq!(path, format!("{}\n", home.home().join(FILE).display()));
}

#[test]
fn what_the_file_sets_is_in_force() {
    let Some(home) = Home::new(Shell::Bash) else {
        return;
    };
    home.write(FILE, "deadline_ms = 120\n[worker]\nlog = \"info\"\n");
    let (status, text) = config(&home, &[]);
    assert_eq!(status, Some(0), "{text}");
    assert!(text.contains("deadline_ms = 120\n"), "{text}");
    assert!(text.contains("worker.log = \"info\"\n"), "{text}");
}

#[test]
fn a_bad_value_is_told_with_file_and_line_and_its_default_is_used() {
    let Some(home) = Home::new(Shell::Bash) else {
        return;
    };
    home.write(
        FILE,
        "# mine\ndeadline_ms = 999\nfoo = 1\n[worker]\nlog = \"loud\"\nidle_exit_min = 7\n",
    );
    let (status, text) = config(&home, &[]);
    assert_eq!(status, Some(1));
    let file = home.home().join(FILE);
    for (line, part) in [
        (2, "deadline_ms takes a number from 5 to 200, not `999`"),
        (3, "unknown key `foo`"),
        (5, "worker.log takes "),
    ] {
        let place = format!("{}:{line}: {part}", file.display());
        assert!(text.contains(&place), "no {place:?} in {text}");
    }
    assert!(text.contains("deadline_ms = 50  # default\n"), "{text}");
    assert!(
        text.contains("worker.log = \"warn\"  # default\n"),
        "{text}"
    );
    assert!(
        text.contains("worker.idle_exit_min = 7\n"),
        "the good one counts: {text}"
    );
    answered(&home);
}

#[test]
fn a_file_that_cannot_be_read_is_told_and_stops_nothing() {
    let Some(home) = Home::new(Shell::Bash) else {
        return;
    };
    let file = home.home().join(FILE);
    for broken in [b"deadline_ms = ".as_slice(), b"# caf\xe9\n", b"\0\0"] {
        home.write(FILE, "");
        std::fs::write(&file, broken).expect("written");
        let (status, text) = config(&home, &[]);
        assert_eq!(status, Some(1), "{text}");
        assert!(text.contains(&format!("{}:1: ", file.display())), "{text}");
        answered(&home);
    }
    std::fs::remove_file(&file).expect("removed");
    std::fs::create_dir(&file).expect("a directory in its place");
    let (status, text) = config(&home, &[]);
    assert_eq!(status, Some(1));
    assert!(
        text.contains(&format!("{}: could not read the file", file.display())),
        "{text}"
    );
    answered(&home);
}

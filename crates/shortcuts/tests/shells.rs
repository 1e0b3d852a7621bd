//! What the shells themselves make of the lines: each reads its own quoting back, and none runs a
//! line with a place left open.

use std::process::{Command, Stdio};

use proptest::prelude::*;
use tabsense_gather::Dialect;
use tabsense_shortcuts::{Template, Value};

const SHELLS: [(&str, Dialect); 3] = [
    ("zsh", Dialect::Zsh),
    ("fish", Dialect::Fish),
    ("bash", Dialect::Bash),
];

/// The shells of this machine; says which are not tested.
fn shells() -> impl Iterator<Item = (&'static str, Dialect)> {
    SHELLS.into_iter().filter(|(shell, _)| {
        let started = Command::new(shell)
            .arg("--version")
            .stdout(Stdio::null())
            .status();
        if started.is_err() {
            eprintln!("skipped: there is no {shell}");
        }
        started.is_ok()
    })
}

/// A line in which each value is an argument of its own and a part of another.
fn line(values: &[Vec<u8>], shell: Dialect) -> Vec<u8> {
    let mut line = Vec::new();
    for value in values {
        let template = Template::parse("printf '%s\\0' {text} x={text}y").expect("a template");
        let slots = template.slots().into_iter().map(|slot| Value {
            slot,
            value: Some(value.clone()),
        });
        line.extend(template.fill(slots.collect(), shell).line);
        line.push(b'\n');
    }
    line
}

fn run(shell: &str, script: &[u8]) -> Vec<u8> {
    let dir = tempfile::tempdir().expect("tempdir");
    let file = dir.path().join("script");
    std::fs::write(&file, script).expect("written");
    let output = Command::new(shell)
        .arg(&file)
        .env("HOME", dir.path())
        .env("LC_ALL", "C.UTF-8")
        .current_dir(dir.path())
        .output()
        .expect("the shell runs");
    output.stdout
}

fn value() -> impl Strategy<Value = Vec<u8>> {
    let special = prop::sample::select(
        b" \t\n'\"\\$`!#%&()*;<>?[]^{|}~=,:@+-.\x01\x7f\xff\xe6\xb1\x89ab1".to_vec(),
    );
    prop_oneof![
        prop::collection::vec(special, 1..12),
        "\\PC{1,12}".prop_map(String::into_bytes),
        Just("窗口 $(touch x) `id`".as_bytes().to_vec()),
        Just("wide\u{3000}blank \u{a0}\u{2000}".as_bytes().to_vec()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn whatever_a_value_is_it_is_read_back_as_one_argument(
        values in prop::collection::vec(value(), 1..24)
    ) {
        for (shell, dialect) in shells() {
            let said = run(shell, &line(&values, dialect));
            let mut expected = Vec::new();
            for value in &values {
                expected.extend([value.as_slice(), b"\0x=", value, b"y\0"].concat());
            }
            prop_assert_eq!(
                said.escape_ascii().to_string(),
                expected.escape_ascii().to_string(),
                "{}", shell
            );
        }
    }
}

#[test]
fn no_shell_runs_a_line_with_a_place_left_open() {
    for (shell, dialect) in shells() {
        for command in [
            "echo RAN {port}",
            "echo RAN tcp:{port}",
            "echo RAN {port} -x y",
            "echo RAN {port} | cat",
        ] {
            let dir = tempfile::tempdir().expect("tempdir");
            // A redirection of that name alone would read it.
            std::fs::write(dir.path().join("port"), "").expect("written");
            let template = Template::parse(command).expect("a template");
            let slots = template.slots().into_iter();
            let open = slots.map(|slot| Value { slot, value: None });
            let filled = template.fill(open.collect(), dialect);
            assert!(filled.missing.is_some());
            let output = Command::new(shell)
                .arg("-c")
                .arg(String::from_utf8(filled.line).expect("UTF-8"))
                .current_dir(dir.path())
                .output()
                .expect("the shell runs");
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(
                !said.contains("RAN") && !output.stderr.is_empty(),
                "{shell}: {command}"
            );
            let there = std::fs::read_dir(dir.path()).expect("there").count();
            assert_eq!(there, 1, "{shell}: {command} made a file");
        }
    }
}

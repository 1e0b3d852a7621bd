//! Files written by the real shells, and read by them.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Command, Stdio};

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use tabsense_history::import::{self, Format};

use crate::support::read;

/// Runs a shell; `None` when it is not installed.
fn run(directory: &Path, program: &str, arguments: &[&OsStr]) -> Option<Vec<u8>> {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(directory)
        .env("HOME", directory)
        .env("XDG_DATA_HOME", directory)
        .env("XDG_CONFIG_HOME", directory)
        .env("LC_ALL", "C.UTF-8")
        .stdin(Stdio::null())
        .output();
    match output {
        Ok(output) => Some(output.stdout),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            eprintln!("skipped: {program} is not installed");
            None
        }
        Err(error) => panic!("{program}: {error}"),
    }
}

fn script(
    directory: &Path,
    program: &str,
    options: &[&str],
    text: &str,
    commands: &[Vec<u8>],
) -> Option<Vec<u8>> {
    std::fs::write(directory.join("script"), text).unwrap();
    let mut arguments: Vec<&OsStr> = options.iter().map(OsStr::new).collect();
    arguments.push(OsStr::new("script"));
    arguments.extend(commands.iter().map(|command| OsStr::from_bytes(command)));
    run(directory, program, &arguments)
}

fn imported(format: Format, path: &Path) -> Vec<Vec<u8>> {
    let mut entries = import::open(format, path).unwrap();
    read(&mut *entries)
        .into_iter()
        .map(|record| record.command)
        .collect()
}

/// Commands made of what the formats treat specially.
fn odd_commands() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let piece = prop_oneof![
        Just(b"a".to_vec()),
        Just(b"\\".to_vec()),
        Just(b" ".to_vec()),
        Just(b"\n".to_vec()),
        Just(b":".to_vec()),
        Just(b";".to_vec()),
        Just(b"#1".to_vec()),
        Just(": 1700000000:0;".as_bytes().to_vec()),
        Just("漢é😀".as_bytes().to_vec()),
        proptest::collection::vec(0x80_u8..=0xff, 1..3),
    ];
    let command = proptest::collection::vec(piece, 0..8)
        .prop_map(|pieces| [b"x".to_vec(), pieces.concat(), b"y".to_vec()].concat());
    let tail = proptest::collection::vec(prop_oneof![Just(b'\\'), Just(b' ')], 0..4);
    let command = (command, tail).prop_map(|(command, tail)| [command, tail].concat());
    proptest::collection::vec(command, 1..40)
}

/// Runs few cases: each starts a shell and holds many commands.
fn check(test: impl Fn(Vec<Vec<u8>>) -> Result<(), TestCaseError>) {
    let config = Config {
        cases: 12,
        failure_persistence: None,
        ..Config::default()
    };
    TestRunner::new(config).run(&odd_commands(), test).unwrap();
}

#[test]
fn zsh_files_read_back_as_typed() {
    const SCRIPT: &str = "f=$1; setopt $2; shift 2\nfc -p $f 1000 1000\n\
        for c in \"$@\"; do print -rs -- \"$c\"; done\nfc -W\n";
    for option in ["extendedhistory", "noextendedhistory"] {
        check(|commands| {
            let directory = tempfile::tempdir().unwrap();
            let mut arguments = vec![b"file".to_vec(), option.as_bytes().to_vec()];
            arguments.extend(commands.iter().cloned());
            if script(directory.path(), "zsh", &["-fi"], SCRIPT, &arguments).is_none() {
                return Ok(());
            }
            prop_assert_eq!(
                imported(Format::Zsh, &directory.path().join("file")),
                commands
            );
            Ok(())
        });
    }
}

#[test]
fn bash_files_with_stamps_read_back_as_typed() {
    const SCRIPT: &str = "set -o history; unset HISTFILE; HISTTIMEFORMAT='%s '; history -c\n\
        for c in \"$@\"; do history -s -- \"$c\"; done\nset +o history; history -w file\n";
    check(|commands| {
        let directory = tempfile::tempdir().unwrap();
        if script(directory.path(), "bash", &["--norc"], SCRIPT, &commands).is_none() {
            return Ok(());
        }
        let mut found = imported(Format::Bash, &directory.path().join("file"));
        // The script's own last line was in the history before it was turned off.
        found.truncate(commands.len());
        prop_assert_eq!(found, commands);
        Ok(())
    });
}

#[test]
fn fish_reads_its_file_as_we_do() {
    check(|commands| {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("fish/fish_history");
        std::fs::create_dir(directory.path().join("fish")).unwrap();
        let mut file = Vec::new();
        for (index, command) in commands.iter().enumerate() {
            // Unescaped backslashes too: fish keeps those it does not know.
            let line: Vec<u8> = command
                .iter()
                .map(|&byte| if byte == b'\n' { b'n' } else { byte })
                .collect();
            file.extend_from_slice(b"- cmd: ");
            file.extend(line);
            file.extend(
                format!(
                    "\n  when: {}\n  paths:\n    - a: b\n",
                    1_700_000_000 + index
                )
                .into_bytes(),
            );
        }
        std::fs::write(&path, file).unwrap();
        let arguments = ["-c", "history search --null"].map(OsStr::new);
        let Some(output) = run(directory.path(), "fish", &arguments) else {
            return Ok(());
        };
        let mut shown: Vec<Vec<u8>> = output
            .split(|&byte| byte == 0)
            .map(<[u8]>::to_vec)
            .collect();
        shown.pop();
        shown.reverse();
        let mut ours = imported(Format::Fish, &path);
        // fish shows the newest of equal commands only.
        let all = ours.clone();
        let mut index = 0;
        ours.retain(|command| {
            index += 1;
            !all[index..].contains(command)
        });
        prop_assert_eq!(shown, ours);
        Ok(())
    });
}

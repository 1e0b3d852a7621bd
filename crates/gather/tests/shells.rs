//! What `quote` writes is read back by the real shells as the same argument.

use std::io::Write;
use std::process::{Command, Stdio};

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use tabsense_gather::{Dialect, Quote, Tilde, quote};

const ALL: [Dialect; 3] = [Dialect::Zsh, Dialect::Bash, Dialect::Fish];
const STYLES: [Quote; 4] = [Quote::None, Quote::Single, Quote::Double, Quote::Dollar];
/// A program that writes its arguments, each followed by NUL.
const PRINT: &str = "/usr/bin/printf '%s\\0'";

/// Arguments on one line of the script.
const ARGUMENTS: usize = 16;

/// Runs a script in a shell that reads it line by line and expands history
/// (`!`) as an interactive one does, and returns its standard output.
fn run(dialect: Dialect, script: &[u8]) -> Vec<u8> {
    let home = tempfile::tempdir().expect("temporary directory");
    let (mut command, before) = match dialect {
        Dialect::Zsh => (
            Command::new("zsh"),
            "setopt extendedglob interactivecomments\n",
        ),
        Dialect::Bash => (
            Command::new("bash"),
            "set -o history -o histexpand; shopt -s extglob\n",
        ),
        Dialect::Fish => (Command::new("fish"), ""),
    };
    match dialect {
        Dialect::Zsh => command.args(["-f", "-i", "-s"]),
        Dialect::Bash => command.args(["--norc", "--noprofile", "-s"]),
        Dialect::Fish => command.args(["--no-config", "--private"]),
    };
    let mut child = command
        .current_dir(home.path())
        .env("HOME", "/home/some one")
        .env("LC_ALL", "C.UTF-8")
        .env("PS1", "")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap_or_else(|error| panic!("{dialect:?} must be installed: {error}"));
    let mut input = child.stdin.take().expect("piped");
    let script = [before.as_bytes(), script].concat();
    let writer = std::thread::spawn(move || input.write_all(&script));
    let output = child.wait_with_output().expect("the shell ends");
    writer
        .join()
        .expect("writer")
        .expect("the shell reads its script");
    output.stdout
}

#[track_caller]
fn check(dialect: Dialect, style: Quote, tilde: Tilde, texts: &[Vec<u8>], expected: &[Vec<u8>]) {
    let mut script = b"echo first >/dev/null\n".to_vec();
    for some in texts.chunks(ARGUMENTS) {
        script.extend_from_slice(PRINT.as_bytes());
        for text in some {
            script.push(b' ');
            script.extend(quote(text, dialect, style, tilde));
        }
        script.push(b'\n');
    }
    let output = run(dialect, &script);
    let got: Vec<&[u8]> = output.split(|byte| *byte == 0).collect();
    for (at, want) in expected.iter().enumerate() {
        let written = quote(&texts[at], dialect, style, tilde);
        let got = got.get(at).copied().unwrap_or(b"(nothing)");
        assert!(
            got == want.as_slice(),
            "{dialect:?} {style:?}: {} was written {} and read {}",
            want.escape_ascii(),
            written.escape_ascii(),
            got.escape_ascii(),
        );
    }
}

fn check_all(texts: &[Vec<u8>]) {
    for dialect in ALL {
        for style in STYLES {
            check(dialect, style, Tilde::Literal, texts, texts);
        }
    }
}

#[test]
fn the_shells_expand_history_here() {
    for dialect in [Dialect::Zsh, Dialect::Bash] {
        let output = run(dialect, b"/usr/bin/printf '%s' once\n!!:s/once/twice/\n");
        assert!(
            output.ends_with(b"twice"),
            "{dialect:?}: {}",
            output.escape_ascii()
        );
    }
}

#[test]
fn odd_names_reach_the_program_unchanged() {
    let names: &[&[u8]] = &[
        b"",
        b" ",
        b"a b",
        b"it's",
        b"\"",
        b"$HOME",
        b"$(touch P1)",
        b"`touch P2`",
        b"\\",
        b"a\\",
        b"new\nline",
        b"\n",
        b"tab\t",
        b"-rf",
        b"--",
        b"!",
        b"!!",
        b"a!b",
        b"!echo",
        b"~",
        b"~/x",
        b"~root",
        b"a~b",
        b"=",
        b"=ls",
        b"a=b",
        b"#",
        b"#a",
        b"a#b",
        b"{}",
        b"{a,b}",
        b"a{1..3}",
        b"^",
        b"^a^b",
        b"*",
        b"?",
        b"[a]",
        b"(touch P3)",
        b"<x",
        b">x",
        b"|",
        b"&",
        b";touch P4;",
        b"%self",
        b"%1",
        b"a,b",
        b"a:~",
        b"x=~",
        b"\x01\x1b\x7f",
        b"\xff",
        b"bad\xff41",
        b"\xc3",
        b"\xff!'\\",
        b"\xe2\x82",
        "é".as_bytes(),
        "e\u{301}".as_bytes(),
        "下载".as_bytes(),
        "한글".as_bytes(),
        "🦀👨‍👩‍👧".as_bytes(),
        "\u{f601}\u{fdd0}\u{e000}".as_bytes(),
        "\u{85}\u{a0}\u{3000}\u{2028}".as_bytes(),
        b"end ",
        b" start",
        b"\r",
        b"\x07",
        b"a'\"b$c`d\\e!f",
        b"then",
        b"if",
        b"@(a|b)",
        b"+(a)",
        b"\\n",
        b"$'a'",
        b"a\n!b\n",
        b"'!'",
        b"\"!\"",
    ];
    check_all(&names.iter().map(|name| name.to_vec()).collect::<Vec<_>>());
}

#[test]
fn a_leading_home_stays_live() {
    let texts: Vec<Vec<u8>> = ["~", "~/", "~/a b", "~/$x", "~/new\nline", "~/it's"]
        .map(|text| text.into())
        .to_vec();
    let expected: Vec<Vec<u8>> = texts
        .iter()
        .map(|text| [b"/home/some one", &text[1..]].concat())
        .collect();
    for dialect in ALL {
        for style in STYLES {
            check(dialect, style, Tilde::Home, &texts, &expected);
        }
    }
}

#[test]
fn any_bytes_reach_the_program_unchanged() {
    let special =
        prop::sample::select(b" \t\n'\"$`\\!~=#{}()[]*?<>|&;^%-,:@+ab1x\xff\xc3\xa9\x01".to_vec());
    let text = prop_oneof![
        prop::collection::vec(special, 0..12),
        prop::collection::vec(1_u8.., 0..12),
        any::<String>().prop_map(String::into_bytes),
    ];
    let texts = prop::collection::vec(text, 150).prop_map(|mut texts| {
        texts
            .iter_mut()
            .for_each(|text: &mut Vec<u8>| text.retain(|byte| *byte != 0));
        texts
    });
    let mut runner = TestRunner::new(Config {
        cases: 3,
        max_shrink_iters: 24,
        ..Config::default()
    });
    runner
        .run(&texts, |texts| {
            check_all(&texts);
            Ok(())
        })
        .expect("every text survives");
}

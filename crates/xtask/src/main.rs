//! Chores of this repository: `cargo xtask try|test|generate`.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

const USAGE: &str = "\
usage: cargo xtask TASK

  try [zsh|fish|bash]   build, then open a shell with tabsense on
  test [ARGS]           run all tests; shells that are missing are installed first
  generate              write completions/ and docs/settings.md anew
";

/// What the tests drive, and the packages that bring them.
const TOOLS: [(&str, &str); 6] = [
    ("zsh", "zsh"),
    ("fish", "fish"),
    ("bash", "bash"),
    ("fzf", "fzf"),
    ("shellcheck", "shellcheck"),
    ("strace", "strace"),
];

/// Packages for Linux that have no program of their own to look for, and a file of each.
const FILES: [(&str, &str); 3] = [
    (
        "/usr/share/bash-completion/bash_completion",
        "bash-completion",
    ),
    (
        "/usr/share/zsh-autosuggestions/zsh-autosuggestions.zsh",
        "zsh-autosuggestions",
    ),
    (
        "/usr/share/zsh-syntax-highlighting/zsh-syntax-highlighting.zsh",
        "zsh-syntax-highlighting",
    ),
];

/// A server is not put onto a person's machine for tests; a throw-away machine gets it.
const SSH_SERVER: (&str, &str) = ("/usr/sbin/sshd", "openssh-server");

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let task = words.next();
    let rest: Vec<String> = words.collect();
    let done = match task.as_deref() {
        Some("try") => try_it(&rest),
        Some("test") => test(&rest),
        Some("generate") => generate(),
        _ => Err(USAGE.to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprint!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs a program in the repository's root and wants it to succeed.
fn run(program: &str, arguments: &[&str]) -> Result<(), String> {
    let status = Command::new(program)
        .args(arguments)
        .current_dir(root())
        .status()
        .map_err(|error| format!("{program}: {error}\n"))?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("`{program} {}` failed\n", arguments.join(" "))),
    }
}

/// Builds both programs; the directory they lie in.
fn build() -> Result<PathBuf, String> {
    run("cargo", &["build", "--release", "--bins"])?;
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    Ok(target.join("release"))
}

fn try_it(arguments: &[String]) -> Result<(), String> {
    let program = build()?.join("tabsense");
    let status = Command::new(&program)
        .arg("try")
        .args(arguments)
        .status()
        .map_err(|error| format!("{}: {error}\n", program.display()))?;
    match status.success() {
        true => Ok(()),
        false => Err(String::new()),
    }
}

fn generate() -> Result<(), String> {
    let program = build()?.join("tabsense");
    let program = program.to_string_lossy();
    run(&program, &["completions", "completions"])?;
    let page = Command::new(&*program)
        .args(["config", "reference"])
        .output()
        .map_err(|error| format!("{program}: {error}\n"))?;
    let file = root().join("docs/settings.md");
    std::fs::write(&file, page.stdout).map_err(|error| format!("{}: {error}\n", file.display()))
}

fn test(arguments: &[String]) -> Result<(), String> {
    install_missing()?;
    let mut all: Vec<&str> = match is_there("cargo-nextest") {
        true => vec!["nextest", "run", "--workspace"],
        false => vec!["test", "--workspace"],
    };
    all.extend(arguments.iter().map(String::as_str));
    run("cargo", &all)
}

fn is_there(program: &str) -> bool {
    let mut asked = Command::new(program);
    asked
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    asked.status().is_ok()
}

fn install_missing() -> Result<(), String> {
    let mut missing: Vec<&str> = TOOLS
        .iter()
        .filter(|(program, _)| !is_there(program))
        .map(|(_, package)| *package)
        .collect();
    if cfg!(target_os = "macos") {
        missing.retain(|package| *package != "strace");
    } else {
        let ci = std::env::var_os("CI").is_some();
        let files = FILES.iter().chain(ci.then_some(&SSH_SERVER));
        missing.extend(
            files
                .filter(|(file, _)| !Path::new(file).exists())
                .map(|(_, package)| *package),
        );
    }
    if missing.is_empty() {
        return Ok(());
    }
    println!("installing {}", missing.join(" "));
    if is_there("brew") {
        return run("brew", &[["install"].as_slice(), &missing].concat());
    }
    if !is_there("apt-get") {
        return Err(format!("please install {}\n", missing.join(" ")));
    }
    let sudo: &[&str] = if is_there("sudo") { &["sudo"] } else { &[] };
    for arguments in [
        vec!["update", "-qq"],
        [vec!["install", "-y", "-qq"], missing].concat(),
    ] {
        let words = [sudo, &["apt-get"], &arguments].concat();
        run(words[0], &words[1..])?;
    }
    Ok(())
}

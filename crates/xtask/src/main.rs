//! Chores of this repository: `cargo xtask try|test|generate|fuzz`.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

const USAGE: &str = "\
usage: cargo xtask TASK

  try [zsh|fish|bash]   build, then open a shell with tabsense on
  test [--mlx] [ARGS]   run all tests; shells that are missing are installed first;
                        with --mlx also those of the MLX backend, on x86-64 Linux
  generate              write completions/ and docs/settings.md anew
  fuzz [SECONDS]        give the protocol arbitrary bytes, for a minute by default
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
        Some("fuzz") => fuzz(&rest),
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

/// What libFuzzer needs from the compiler; all of it is stable, unlike the sanitizers, which code
/// without `unsafe` has no use for.
const COVERAGE: &str = "--cfg fuzzing -Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares";

fn fuzz(arguments: &[String]) -> Result<(), String> {
    let seconds = arguments.first().map_or("60", String::as_str);
    let about = Command::new("rustc").arg("-vV").output();
    let about = about.map_err(|error| format!("rustc: {error}\n"))?.stdout;
    let about = String::from_utf8_lossy(&about).into_owned();
    let host = about.lines().find_map(|line| line.strip_prefix("host: "));
    let host = host.ok_or("rustc names no host\n")?;
    // A target of its own keeps the flags away from build scripts.
    let status = Command::new("cargo")
        .args(["build", "--release", "--target", host])
        .current_dir(root().join("fuzz"))
        .env("RUSTFLAGS", COVERAGE)
        .env("CARGO_TARGET_DIR", root().join("fuzz/target"))
        .status()
        .map_err(|error| format!("cargo: {error}\n"))?;
    if !status.success() {
        return Err("the fuzz target does not build\n".to_owned());
    }
    let corpus = root().join("fuzz/corpus/frames");
    std::fs::create_dir_all(&corpus).map_err(|error| format!("{}: {error}\n", corpus.display()))?;
    let program = format!("fuzz/target/{host}/release/frames");
    let limit = format!("-max_total_time={seconds}");
    let artifacts = "-artifact_prefix=fuzz/artifacts/";
    std::fs::create_dir_all(root().join("fuzz/artifacts")).map_err(|error| error.to_string())?;
    run(
        &program,
        &[&limit, artifacts, "-max_len=4096", "fuzz/corpus/frames"],
    )
}

fn test(arguments: &[String]) -> Result<(), String> {
    install_missing()?;
    // What a test measures; built here, where nothing limits how long it takes.
    run(
        "cargo",
        &[
            "build",
            "--release",
            "-p",
            "tabsense-client",
            "--example",
            "client",
        ],
    )?;
    let mut all: Vec<&str> = match is_there("cargo-nextest") {
        true => vec!["nextest", "run", "--workspace"],
        false => vec!["test", "--workspace"],
    };
    let with_mlx = arguments.iter().any(|argument| argument == "--mlx");
    let others = arguments.iter().filter(|argument| *argument != "--mlx");
    all.extend(others.map(String::as_str));
    run("cargo", &all)?;
    if with_mlx { test_mlx() } else { Ok(()) }
}

/// The MLX backend against the goldens, on MLX's processor device. What the script prepares stays
/// in `target/mlx-linux`.
fn test_mlx() -> Result<(), String> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        eprintln!("the MLX tests are for x86-64 Linux: left out");
        return Ok(());
    }
    let tests = [
        "--package",
        "tabsense-model",
        "--features",
        "mlx",
        "--test",
        "golden",
    ];
    let arguments = [&["--run", "cargo", "test"][..], &tests, &["mlx"]].concat();
    let script = root().join("tools/mlx-linux.sh");
    let script = script.to_string_lossy();
    if let Err(why) = run(&script, &[]) {
        // Packages of other registries than Cargo's are not to be had everywhere.
        eprintln!("{why}MLX could not be prepared: its tests are left out");
        return Ok(());
    }
    run(&script, &arguments)
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

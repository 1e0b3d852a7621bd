//! What the parts may not contain, and what is generated.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{Home, Shell};

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The crates that a package of this workspace is built from, by name.
fn dependencies(package: &str) -> Vec<String> {
    let output = Command::new(env!("CARGO"))
        .args([
            "tree",
            "--offline",
            "--package",
            package,
            "--edges",
            "normal",
        ])
        .args(["--prefix", "none", "--format", "{p}"])
        .current_dir(repository())
        .output()
        .expect("cargo tree");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines()
        .filter_map(|line| line.split(' ').next())
        .map(str::to_owned)
        .collect()
}

const HEAVY: [&str; 9] = [
    "tokio",
    "rusqlite",
    "libsqlite3-sys",
    "tokenizers",
    "safetensors",
    "tabsense-model",
    "tabsense-history",
    "tabsense-rank",
    "tabsense-worker",
];

#[test]
fn the_client_links_neither_runtime_nor_store_nor_model() {
    let crates = dependencies("tabsense-client");
    assert!(
        crates.iter().any(|name| name == "tabsense-protocol"),
        "{crates:?}"
    );
    for heavy in HEAVY {
        assert!(
            !crates.iter().any(|name| name == heavy),
            "the client is built from {heavy}"
        );
    }
}

#[test]
fn ranking_is_pure() {
    let crates = dependencies("tabsense-rank");
    for outside in [
        "tokio",
        "rusqlite",
        "rustix",
        "dirs",
        "tabsense-config",
        "tabsense-protocol",
    ] {
        assert!(
            !crates.iter().any(|name| name == outside),
            "rank is built from {outside}"
        );
    }
}

/// The client as a release has it. `crates/client/examples/client.rs` is its `main` without
/// the worker's half of this package, which would take minutes to build; the test command has built it
/// before, so that nothing is left to do here.
fn released_client() -> PathBuf {
    let output = Command::new(env!("CARGO"))
        .args(["build", "--offline", "--release", "--message-format=json"])
        .args(["--package", "tabsense-client", "--example", "client"])
        .current_dir(repository())
        .output()
        .expect("cargo build");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let built: Option<PathBuf> = text
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .find_map(|message| Some(message["executable"].as_str()?.into()));
    built.expect("a program")
}

#[test]
fn the_released_client_is_below_two_megabytes_and_needs_only_the_c_library() {
    let directory = tempfile::tempdir().expect("tempdir");
    let program = directory.path().join("tabsense");
    // An example of a package with settings of its own is left with its symbols.
    let strip = Command::new("strip")
        .arg("-o")
        .arg(&program)
        .arg(released_client())
        .status();
    assert!(strip.expect("strip").success());
    let bytes = std::fs::read(&program).expect("the program");
    assert!(bytes.len() < 2_000_000, "{} bytes", bytes.len());
    // Nothing in it says where it was built.
    let tree = repository().to_str().expect("a path").as_bytes();
    assert!(!bytes.windows(tree.len()).any(|window| window == tree));
    if !cfg!(target_os = "linux") {
        return;
    }
    let output = Command::new("ldd").arg(&program).output().expect("ldd");
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let name = line.trim().split(' ').next().unwrap_or_default();
        let known = [
            "linux-vdso",
            "libc.so",
            "libgcc_s.so",
            "libm.so",
            "ld-linux",
            "/lib",
        ];
        assert!(known.iter().any(|start| name.starts_with(start)), "{line}");
    }
    let version = Command::new(&program).arg("--version").output();
    let version = version.expect("run it").stdout;
    assert!(version.starts_with(b"tabsense "), "{version:?}");
}

#[test]
fn the_committed_completions_are_those_of_the_command_line() {
    let Some(home) = Home::new(Shell::Bash) else {
        return;
    };
    let fresh = home.root().join("completions");
    let made = home.tabsense(&["completions", &fresh.to_string_lossy()]);
    assert!(made.status.success(), "{made:?}");
    for name in ["_tabsense", "tabsense.bash", "tabsense.fish"] {
        let committed = std::fs::read(repository().join("completions").join(name));
        let fresh = std::fs::read(fresh.join(name)).expect("generated");
        assert!(
            committed.is_ok_and(|committed| committed == fresh),
            "completions/{name} is not what the command line is now: run `cargo xtask generate`"
        );
    }
}

#[test]
fn the_committed_settings_page_is_that_of_the_program() {
    let Some(home) = Home::new(Shell::Bash) else {
        return;
    };
    let page = home.tabsense(&["config", "reference"]).stdout;
    let committed = std::fs::read(repository().join("docs/settings.md")).unwrap_or_default();
    assert!(
        page == committed,
        "docs/settings.md has drifted: run `cargo xtask generate`"
    );
}

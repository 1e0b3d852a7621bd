//! What the parts may not contain, and what is generated.

use std::path::Path;
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

#[test]
fn the_client_is_small_and_needs_only_the_c_library() {
    let directory = tempfile::tempdir().expect("tempdir");
    let stripped = directory.path().join("tabsense");
    let strip = Command::new("strip")
        .arg("-o")
        .arg(&stripped)
        .arg(env!("CARGO_BIN_EXE_tabsense"))
        .status()
        .expect("strip");
    assert!(strip.success());
    let size = std::fs::metadata(&stripped).expect("stripped").len();
    // Even unoptimised, which is what tests build; a release is smaller.
    let limit = if cfg!(debug_assertions) {
        4 << 20
    } else {
        2 << 20
    };
    assert!(size < limit, "{size} bytes");
    if !cfg!(target_os = "linux") {
        return;
    }
    let output = Command::new("ldd").arg(&stripped).output().expect("ldd");
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

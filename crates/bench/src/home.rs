//! A home that only the measurement uses.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::{Error, Options};

pub(crate) struct Home<'a> {
    directory: TempDir,
    options: &'a Options,
}

pub(crate) fn io(what: impl std::fmt::Display) -> impl FnOnce(std::io::Error) -> Error {
    let what = what.to_string();
    move |error| Error::Io { what, error }
}

/// The name of a file. Two dozen of them have about as many tokens as two dozen candidates of real
/// lists: a hundred with their markers.
pub(crate) fn file(number: usize) -> String {
    format!("file{number:06}")
}

impl<'a> Home<'a> {
    pub(crate) fn new(options: &'a Options, model: &str) -> Result<Self, Error> {
        let directory = tempfile::Builder::new().prefix("ts-bench-").tempdir();
        let directory = directory.map_err(io("temporary directory"))?;
        let home = Self { directory, options };
        for part in ["run", "work"] {
            std::fs::create_dir(home.path(part)).map_err(io(part))?;
        }
        std::fs::set_permissions(home.path("run"), std::fs::Permissions::from_mode(0o700))
            .map_err(io("run"))?;
        home.tabsense(&["model", "use", model])?;
        Ok(home)
    }

    pub(crate) fn path(&self, part: &str) -> PathBuf {
        self.directory.path().join(part)
    }

    /// The client, in this home's environment.
    pub(crate) fn client(&self) -> Command {
        let mut command = Command::new(&self.options.client);
        self.surround(&mut command);
        command
    }

    /// Gives a program this home's environment and nothing else.
    pub(crate) fn surround<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        command
            .env_clear()
            .env("HOME", self.directory.path())
            .env("XDG_RUNTIME_DIR", self.path("run"))
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("TABSENSE_WORKER", &self.options.worker)
    }

    /// Runs the client to its end.
    pub(crate) fn tabsense(&self, arguments: &[&str]) -> Result<Output, Error> {
        let what = || format!("tabsense {}", arguments.join(" "));
        let output = self.client().args(arguments).output().map_err(io(what()))?;
        if output.status.success() {
            return Ok(output);
        }
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Err(Error::Failed { what: what(), said })
    }

    /// Files in a new directory of this home.
    pub(crate) fn listing(&self, entries: usize) -> Result<PathBuf, Error> {
        let directory = self.path("work").join(entries.to_string());
        std::fs::create_dir(&directory).map_err(io(directory.display()))?;
        for n in 0..entries {
            let path = directory.join(file(n));
            std::fs::File::create(&path).map_err(io(path.display()))?;
        }
        Ok(directory)
    }

    /// Imports that many commands.
    pub(crate) fn history(&self, lines: usize) -> Result<(), Error> {
        let file = self.path("history");
        std::fs::write(&file, history(lines)).map_err(io(file.display()))?;
        self.tabsense(&["import", "zsh", &file.to_string_lossy()])
            .map(drop)
    }

    pub(crate) fn worker_rss_mb(&self) -> Result<f64, Error> {
        let output = self.tabsense(&["worker", "status", "--json"])?;
        let status: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        Ok(status["rss_mb"].as_f64().unwrap_or_default())
    }

    pub(crate) fn root(&self) -> &Path {
        self.directory.path()
    }
}

impl Drop for Home<'_> {
    fn drop(&mut self) {
        let _ = self.tabsense(&["worker", "stop"]);
    }
}

/// An extended zsh history: some commands often, many once, as people's are.
fn history(lines: usize) -> String {
    let common = [
        "git status",
        "git diff",
        "ls -la",
        "cargo test",
        "make",
        "cd ..",
        "vim main.rs",
    ];
    let mut text = String::with_capacity(lines * 48);
    let mut state = 1_u64;
    for n in 0..lines {
        // Knuth's MMIX generator; the same history each time.
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let pick = (state >> 33) as usize;
        let command = match pick % 10 {
            0..5 => common[pick / 10 % common.len()].to_owned(),
            5..8 => format!("cd ~/projects/p{}", pick / 10 % 500),
            8 => format!("git checkout -b feature/{}", pick / 10),
            _ => format!("grep -rn 'word{}' src/module{}", pick / 10, pick % 97),
        };
        text.push_str(&format!(": {}:0;{command}\n", 1_600_000_000 + n * 60));
    }
    text
}

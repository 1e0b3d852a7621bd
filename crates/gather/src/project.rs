//! The root of the project that a directory belongs to.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::listing::{Beat, Listings, Reader};

/// What stands in the root of a project; the most common first.
const MARKERS: &[&str] = &[
    ".git",
    "Cargo.toml",
    "package.json",
    "go.mod",
    "pyproject.toml",
    ".hg",
    ".jj",
    ".svn",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "CMakeLists.txt",
    "composer.json",
    "Gemfile",
    "mix.exs",
    "deno.json",
    "flake.nix",
    "setup.py",
    "Makefile",
];
/// Directories looked at on the way up.
const DEPTH: usize = 32;
/// An answer is trusted for this long.
const FRESH: Duration = Duration::from_secs(30);
/// Answers kept.
const KEPT: usize = 512;

/// Finds and remembers project roots.
#[derive(Debug, Default)]
pub struct Projects {
    known: Mutex<HashMap<PathBuf, (Option<PathBuf>, Instant)>>,
}

impl Projects {
    /// The nearest directory from `directory` (absolute) upwards that holds a
    /// marker of a project, on the same file system, found within `budget`.
    /// `home` itself is not a project, whatever lies in it.
    pub fn root(
        &self,
        listings: &Listings,
        directory: &Path,
        home: &Path,
        budget: Duration,
    ) -> Option<PathBuf> {
        let old = self.lock().get(directory).cloned();
        if let Some((root, at)) = &old
            && at.elapsed() < FRESH
        {
            return root.clone();
        }
        let (from, stop) = (directory.to_path_buf(), home.to_path_buf());
        let answer = listings.run(directory, move |reader, beat, results| {
            // Nobody waits any more when sending fails: nothing to do then.
            let _ = results.send(find(reader, beat, &from, &stop));
        });
        match answer
            .ok()
            .and_then(|answer| answer.recv_timeout(budget).ok())
        {
            Some(root) => self.keep(directory, root),
            None => old.and_then(|(root, _)| root),
        }
    }

    fn keep(&self, directory: &Path, root: Option<PathBuf>) -> Option<PathBuf> {
        let mut known = self.lock();
        if known.len() >= KEPT {
            known.clear();
        }
        known.insert(directory.to_path_buf(), (root.clone(), Instant::now()));
        root
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<PathBuf, (Option<PathBuf>, Instant)>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn find(reader: &dyn Reader, beat: &Beat, from: &Path, home: &Path) -> Option<PathBuf> {
    let device = reader.stamp(from).ok()?.device;
    for ancestor in from.ancestors().take(DEPTH) {
        if ancestor == home || reader.stamp(ancestor).ok()?.device != device {
            return None;
        }
        beat.tick();
        if MARKERS
            .iter()
            .any(|marker| reader.details(&ancestor.join(marker)).is_some())
        {
            return Some(ancestor.to_path_buf());
        }
        beat.tick();
    }
    None
}

//! Digests of the checkpoints that the program holds, so that none need be made when it starts.

use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};

fn main() {
    let models = Path::new("../../models");
    for (name, variable) in [
        ("builtin", "TABSENSE_RANKING_DIGEST"),
        ("shortcuts", "TABSENSE_SHORTCUTS_DIGEST"),
    ] {
        let directory = models.join(name);
        println!("cargo::rerun-if-changed={}", directory.display());
        println!("cargo::rustc-env={variable}={:016x}", digest(&directory));
    }
}

/// The names and the bytes of all files below a directory, in the order of their names.
fn digest(directory: &Path) -> u64 {
    let mut hasher = DefaultHasher::new();
    let mut files = Vec::new();
    collect(directory, &mut files);
    files.sort();
    for file in files {
        let bytes =
            std::fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        hasher.write(file.as_os_str().as_encoded_bytes());
        hasher.write_usize(bytes.len());
        hasher.write(&bytes);
    }
    hasher.finish()
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(directory)
        .unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    for path in entries.flatten().map(|entry| entry.path()) {
        match path.is_dir() {
            true => collect(&path, files),
            false => files.push(path),
        }
    }
}

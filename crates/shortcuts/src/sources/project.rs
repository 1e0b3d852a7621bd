//! Everything that the project in a directory offers by name.

use std::path::{Path, PathBuf};

use super::{just, make, package, read, taskfile};
use crate::shortcut::Shortcut;

/// Directories above that are looked at for what works from below.
const ABOVE: usize = 8;

/// The files in or above a directory that its shortcuts are made of: when none of them changes, the
/// shortcuts do not.
pub fn files(directory: &Path, home: &Path) -> Vec<PathBuf> {
    // make reads no Makefile above.
    let mut files: Vec<PathBuf> = first(directory, make::FILES).into_iter().collect();
    let groups = [just::FILES, &[package::FILE], taskfile::FILES];
    for group in groups {
        let mut places = directory
            .ancestors()
            .take(ABOVE)
            .take_while(|above| *above != home || *above == directory);
        files.extend(places.find_map(|place| first(place, group)));
    }
    files
}

fn first(directory: &Path, names: &[&str]) -> Option<PathBuf> {
    names
        .iter()
        .map(|name| directory.join(name))
        .find(|file| file.is_file())
}

/// The shortcuts of these files.
pub fn shortcuts(files: &[PathBuf]) -> Vec<Shortcut> {
    files.iter().flat_map(|file| of_file(file)).collect()
}

fn of_file(file: &Path) -> Vec<Shortcut> {
    let name = file.file_name().and_then(|name| name.to_str());
    let (Some(name), Some(directory)) = (name, file.parent()) else {
        return Vec::new();
    };
    if make::FILES.contains(&name) {
        return make::shortcuts(directory);
    }
    let Some(text) = read::text(file) else {
        return Vec::new();
    };
    match name {
        package::FILE => package::shortcuts(&text, directory),
        name if just::FILES.contains(&name) => just::shortcuts(&text),
        _ => taskfile::shortcuts(&text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_project_offers_is_found_in_and_above_a_directory() {
        let dir = tempfile::tempdir().expect("tempdir");
        let inner = dir.path().join("inner");
        std::fs::create_dir(&inner).expect("made");
        let put =
            |name: &str, text: &str| std::fs::write(dir.path().join(name), text).expect("put");
        put("Makefile", "dist:\n");
        put("justfile", "lint:\n");
        put("package.json", r#"{"scripts": {"e2e": "x"}}"#);
        put("Taskfile.yml", "tasks:\n  seed:\n");
        let ids = |directory: &Path, home: &Path| -> Vec<String> {
            let found = shortcuts(&files(directory, home));
            found.into_iter().map(|shortcut| shortcut.id).collect()
        };
        let elsewhere = Path::new("/nowhere");
        let all = ["make:dist", "just:lint", "npm:e2e", "task:seed"];
        assert_eq!(ids(dir.path(), elsewhere), all);
        assert_eq!(ids(&inner, elsewhere), all[1..]);
        assert!(ids(&inner, dir.path()).is_empty());
    }
}

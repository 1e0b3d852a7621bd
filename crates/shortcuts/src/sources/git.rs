//! Aliases of git, from its configuration files (git-config(1), "CONFIGURATION FILE").

use std::path::{Path, PathBuf};

use super::{MOST, read, risk_of, simple};
use crate::shortcut::{Shortcut, Source};

/// Directories above that may hold the repository.
const ABOVE: usize = 32;

/// Files that include others that include others.
const INCLUDES: usize = 4;

/// The files that git reads for a directory, general ones first.
pub fn files(directory: &Path, home: &Path, config_home: &Path) -> Vec<PathBuf> {
    let mut files = vec![
        PathBuf::from("/etc/gitconfig"),
        config_home.join("git/config"),
        home.join(".gitconfig"),
    ];
    let repository = directory
        .ancestors()
        .take(ABOVE)
        .map(|above| above.join(".git/config"))
        .find(|config| config.is_file());
    files.extend(repository);
    files.retain(|file| file.is_file());
    files
}

/// The aliases of these files as shortcuts; later files win.
pub fn shortcuts(files: &[PathBuf], home: &Path) -> Vec<Shortcut> {
    let mut aliases: Vec<(String, String)> = Vec::new();
    for file in files {
        collect(file, home, INCLUDES, &mut aliases);
    }
    let shortcut = |(name, value): &(String, String)| {
        let said = match value.strip_prefix('!') {
            Some(command) => command.trim().to_owned(),
            None => format!("git {value}"),
        };
        Shortcut {
            risk: risk_of(&said),
            ..simple(
                Source::Git,
                format!("git:{name}"),
                name,
                &said,
                &format!("git {name}"),
            )
        }
    };
    aliases.iter().map(shortcut).collect()
}

fn collect(file: &Path, home: &Path, includes: usize, aliases: &mut Vec<(String, String)>) {
    let text = read::text(file).unwrap_or_default();
    for Entry {
        section,
        key,
        value,
    } in entries(&text)
    {
        match section.as_str() {
            "alias" if is_plain(&key) && aliases.len() < MOST => {
                aliases.retain(|(known, _)| *known != key);
                aliases.push((key, value));
            }
            "include" if key == "path" && includes > 0 => {
                let path = match value.strip_prefix("~/") {
                    Some(rest) => home.join(rest),
                    None => file.with_file_name("").join(value),
                };
                collect(&path, home, includes - 1, aliases);
            }
            _ => {}
        }
    }
}

fn is_plain(name: &str) -> bool {
    name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

struct Entry {
    section: String,
    key: String,
    value: String,
}

fn entries(text: &str) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut section = String::new();
    let joined = text.replace("\\\n", "");
    for line in joined.lines().map(str::trim) {
        if let Some(head) = line.strip_prefix('[') {
            section = head.split(']').next().unwrap_or(head).to_lowercase();
            continue;
        }
        if line.starts_with(['#', ';']) {
            continue;
        }
        if let Some((key, value)) = line.split_once('=') {
            entries.push(Entry {
                section: section.clone(),
                key: key.trim().to_owned(),
                value: unquoted(value.trim()),
            });
        }
    }
    entries
}

/// A value without its quotes, escapes and comment.
fn unquoted(value: &str) -> String {
    let mut out = String::new();
    let mut quoted = false;
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some(other) => out.push(other),
                None => {}
            },
            '"' => quoted = !quoted,
            '#' | ';' if !quoted => break,
            c => out.push(c),
        }
    }
    out.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aliases_come_from_all_files_that_git_reads_and_later_ones_win() {
        let dir = tempfile::tempdir().expect("tempdir");
        let home = dir.path().join("home");
        let repository = dir.path().join("repo");
        let inner = repository.join("src");
        for directory in [&home, &repository.join(".git"), &inner] {
            std::fs::create_dir_all(directory).expect("made");
        }
        let put = |file: PathBuf, text: &str| std::fs::write(file, text).expect("written");
        put(
            home.join(".gitconfig"),
            "[user]\n\tname = x\n[alias]\n\tlg = log --graph # nice\n\tst = status\n\
             \twip = \"!git add -A; git commit -m \\\"wip\\\"\"\n[include]\n\tpath = more\n",
        );
        put(home.join("more"), "[alias]\nundo = reset \\\n--hard\n");
        put(
            repository.join(".git/config"),
            "[Alias]\n  st = status -sb\n",
        );
        let files = files(&inner, &home, &dir.path().join("none"));
        let found = shortcuts(&files, &home);
        let of = |id: &str| found.iter().find(|shortcut| shortcut.id == id);
        assert_eq!(
            of("git:lg").expect("an alias").description.get(""),
            "git log --graph"
        );
        assert_eq!(
            of("git:wip").expect("an alias").description.get(""),
            "git add -A; git commit -m \"wip\""
        );
        assert_eq!(
            of("git:undo").expect("an alias").risk,
            crate::Risk::Destructive
        );
        assert_eq!(
            of("git:st").expect("an alias").description.get(""),
            "git status -sb"
        );
    }
}

//! Tasks of a Taskfile (<https://taskfile.dev>). Only as much YAML is read as names and `desc`
//! need: keys of block mappings, each on its line.

use super::{MOST, simple};
use crate::shortcut::{Shortcut, Source};

/// Where task looks.
pub const FILES: &[&str] = &[
    "Taskfile.yml",
    "taskfile.yml",
    "Taskfile.yaml",
    "taskfile.yaml",
    "Taskfile.dist.yml",
    "Taskfile.dist.yaml",
];

/// The tasks in a Taskfile's text with what is said about them.
pub fn tasks(text: &str) -> Vec<(String, String)> {
    let mut tasks: Vec<(String, String)> = Vec::new();
    let mut inside = false;
    let mut depth = None;
    for line in text
        .lines()
        .filter(|line| !line.trim_start().starts_with('#'))
    {
        let indent = line.len() - line.trim_start().len();
        let Some((key, value)) = line.trim().split_once(':') else {
            continue;
        };
        if indent == 0 {
            inside = key == "tasks";
            continue;
        }
        if !inside || tasks.len() >= MOST {
            continue;
        }
        let depth = *depth.get_or_insert(indent);
        let key = unquoted(key);
        if indent == depth && is_name(line.trim()) {
            let name = line.trim().trim_end_matches(':');
            tasks.push((unquoted(name).to_owned(), String::new()));
        } else if indent == depth && is_plain(key) {
            tasks.push((key.to_owned(), String::new()));
        } else if key == "desc"
            && let Some((_, said)) = tasks.last_mut()
            && said.is_empty()
        {
            *said = unquoted(value.trim()).to_owned();
        } else if key == "internal" && value.trim() == "true" {
            tasks.pop();
        }
    }
    tasks
}

/// `docs:build:` — a name with colons, and nothing behind it.
fn is_name(line: &str) -> bool {
    line.strip_suffix(':')
        .is_some_and(|name| unquoted(name).split(':').all(is_plain))
}

fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
}

fn unquoted(text: &str) -> &str {
    let inner = |mark: char| text.strip_prefix(mark)?.strip_suffix(mark);
    inner('"').or_else(|| inner('\'')).unwrap_or(text)
}

/// The tasks in a text as shortcuts.
pub fn shortcuts(text: &str) -> Vec<Shortcut> {
    let shortcut = |(name, said): (String, String)| {
        simple(
            Source::Project,
            format!("task:{name}"),
            &name,
            &said,
            &format!("task {name}"),
        )
    };
    tasks(text).into_iter().map(shortcut).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_have_names_and_what_is_said_about_them() {
        let text = "version: '3'\nvars:\n  A: b\ntasks:\n  default: echo hi\n  # no\n  build:\n    \
                    desc: \"Build it: all\"\n    cmds:\n      - go build\n  docs:serve:\n    desc: Look\n  \
                    hidden:\n    internal: true\nother:\n  x:\n";
        let expected = [
            ("default", ""),
            ("build", "Build it: all"),
            ("docs:serve", "Look"),
        ];
        let found = tasks(text);
        let found: Vec<(&str, &str)> = found
            .iter()
            .map(|(name, said)| (name.as_str(), said.as_str()))
            .collect();
        assert_eq!(found, expected);
    }
}

//! Targets of a Makefile (GNU make's manual, "Rule Syntax").

use std::path::Path;

use super::{MOST, read, simple};
use crate::shortcut::{Shortcut, Source};

/// Where make looks, in its order.
pub const FILES: &[&str] = &["GNUmakefile", "makefile", "Makefile"];

/// A target, and what is said about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Its name.
    pub name: String,
    /// The comment behind `##` or on the line before; may be empty.
    pub comment: String,
}

/// The targets of the Makefile in a directory.
pub fn targets_in(directory: &Path) -> Vec<Target> {
    let text = FILES
        .iter()
        .find_map(|name| read::text(&directory.join(name)));
    targets(&text.unwrap_or_default())
}

/// The targets in a Makefile's text that a person may mean: no patterns, variables or files in
/// other directories.
pub fn targets(text: &str) -> Vec<Target> {
    let mut targets: Vec<Target> = Vec::new();
    let mut before = "";
    for line in text.lines() {
        if let Some(comment) = line.strip_prefix('#') {
            before = comment.trim_start_matches('#').trim();
            continue;
        }
        let comment = std::mem::take(&mut before);
        let Some((names, rest)) = rule(line) else {
            continue;
        };
        let comment = rest
            .split_once("##")
            .map_or(comment, |(_, said)| said.trim());
        for name in names.split_whitespace().filter(|name| is_plain(name)) {
            if targets.len() < MOST && targets.iter().all(|known| known.name != name) {
                targets.push(Target {
                    name: name.to_owned(),
                    comment: comment.to_owned(),
                });
            }
        }
    }
    targets
}

/// What stands before and after the colon of a rule.
fn rule(line: &str) -> Option<(&str, &str)> {
    if line.starts_with(['\t', ' ', '#', '.']) {
        return None;
    }
    let (names, rest) = line.split_once(':')?;
    let is_assignment = names.contains('=') || rest.starts_with('=') || rest.starts_with(":=");
    (!is_assignment).then_some((names, rest))
}

fn is_plain(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+' | '@'))
        // Objects and the like are made, not asked for.
        && ![".o", ".a", ".so", ".c", ".h"].iter().any(|end| name.ends_with(end))
}

/// The targets of the Makefile in a directory as shortcuts.
pub fn shortcuts(directory: &Path) -> Vec<Shortcut> {
    let shortcut = |target: Target| {
        simple(
            Source::Project,
            format!("make:{}", target.name),
            &target.name,
            &target.comment,
            &format!("make {}", target.name),
        )
    };
    targets_in(directory).into_iter().map(shortcut).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_rules_that_a_person_may_mean() {
        let text = "CC := gcc\nX = a:b\n.PHONY: all\n\n# Build everything\nall: main.o ## the lot\n\
                    \tcc: not\n%.o: %.c\nmain.o: main.c\nclean docs:\n## Put it on the server\n\
                    deploy-prod:: x\n$(OUT): y\nV::= 1\nall: again\n";
        let found = targets(text);
        let pairs: Vec<(&str, &str)> = found
            .iter()
            .map(|target| (target.name.as_str(), target.comment.as_str()))
            .collect();
        assert_eq!(
            pairs,
            [
                ("all", "the lot"),
                ("clean", ""),
                ("docs", ""),
                ("deploy-prod", "Put it on the server"),
            ]
        );
    }
}

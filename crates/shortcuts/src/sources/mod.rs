//! Shortcuts that are there without anybody writing them down for us: each file reads one place.
//!
//! Everything here reads files up to a size ([`read`]) and makes at most a number of shortcuts; none
//! starts a program. Their texts are made of names, comments and descriptions that are found there.

pub mod apps;
pub mod git;
pub mod just;
pub mod make;
pub mod names;
pub mod package;
pub mod project;
pub mod read;
pub mod taskfile;
pub mod tldr;

use crate::shortcut::{Action, Localized, Risk, Shortcut, Source, SwitchWords};

/// Shortcuts that one place may bring.
pub const MOST: usize = 2000;

/// A shortcut of one command, told by its name and a sentence (which may be empty).
pub(crate) fn simple(
    source: Source,
    id: String,
    title: &str,
    description: &str,
    command: &str,
) -> Shortcut {
    let description = match description.trim() {
        "" => Localized::default(),
        text => Localized::plain(text),
    };
    Shortcut {
        id,
        title: Localized::plain(spoken(title)),
        description,
        examples: Vec::new(),
        risk: risk_of(command),
        action: Action::line(command),
        source,
        switch: SwitchWords::default(),
    }
}

/// A name as one says it: `build-docs` is `build docs`.
pub(crate) fn spoken(name: &str) -> String {
    let mut text = String::with_capacity(name.len() + 4);
    let mut before = ' ';
    for c in name.chars() {
        let is_joint = matches!(c, '-' | '_' | ':' | '.' | '/');
        if c.is_uppercase() && before.is_lowercase() {
            text.push(' ');
        }
        text.push(if is_joint { ' ' } else { c });
        before = c;
    }
    text.trim().to_owned()
}

/// Words at the start of a command after which something may be gone.
const DESTRUCTIVE: [&str; 14] = [
    "rm", "rmdir", "shred", "dd", "mkfs", "wipefs", "fdisk", "parted", "kill", "killall", "pkill",
    "truncate", "srm", "trash",
];

/// The risk of a command that says nothing about it.
pub(crate) fn risk_of(command: &str) -> Risk {
    let word = |word: &str| {
        let name = word.rsplit('/').next().unwrap_or(word);
        DESTRUCTIVE.contains(&name) || name.starts_with("mkfs.")
    };
    let words: Vec<&str> = command
        .split(|c: char| c.is_whitespace() || matches!(c, ';' | '|' | '&' | '(' | '{'))
        .collect();
    let forced = |pair: &[&str]| {
        matches!(
            pair,
            ["reset", "--hard"] | ["push", "--force" | "-f"] | ["clean", "-f" | "-fd" | "-fdx"]
        ) || matches!(pair, ["prune" | "purge", _])
    };
    match words.iter().any(|w| word(w)) || words.windows(2).any(forced) {
        true => Risk::Destructive,
        false => Risk::Write,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_said_in_words() {
        for (name, words) in [
            ("build-docs", "build docs"),
            ("db:migrate", "db migrate"),
            ("runTests", "run tests"),
            ("HTTP", "HTTP"),
            ("_x_", "x"),
        ] {
            assert_eq!(spoken(name).to_lowercase(), words.to_lowercase(), "{name}");
        }
    }

    #[test]
    fn commands_that_may_lose_something_are_destructive() {
        for (command, risk) in [
            ("rm -rf build", Risk::Destructive),
            ("sudo dd if=a of=b", Risk::Destructive),
            ("/sbin/mkfs.ext4 /dev/x", Risk::Destructive),
            ("git reset --hard HEAD", Risk::Destructive),
            ("docker system prune -f", Risk::Destructive),
            ("find . -name x | xargs rm", Risk::Destructive),
            ("git status", Risk::Write),
            ("firm up", Risk::Write),
        ] {
            assert_eq!(risk_of(command), risk, "{command}");
        }
    }
}

//! Aliases, abbreviations and functions, as a shell told them.

use super::{MOST, risk_of, simple};
use crate::shortcut::{Shortcut, Source};

/// Bytes of what a name stands for that are looked at.
const LONGEST: usize = 1000;

/// A name of the shell's user.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Name {
    /// [`Source::Alias`], [`Source::Abbreviation`] or [`Source::Function`].
    pub source: Source,
    /// The name.
    pub name: String,
    /// What it stands for, or what is said about it; may be empty.
    pub text: String,
}

/// The names as shortcuts: the line gets the name, which the shell knows.
pub fn shortcuts(names: &[Name]) -> Vec<Shortcut> {
    names
        .iter()
        .filter(|name| is_usable(&name.name))
        .take(MOST)
        .map(shortcut)
        .collect()
}

fn shortcut(name: &Name) -> Shortcut {
    let text: String = name
        .text
        .char_indices()
        .take_while(|(at, _)| *at < LONGEST)
        .map(|(_, c)| if c.is_control() { ' ' } else { c })
        .collect();
    Shortcut {
        risk: risk_of(&text),
        ..simple(
            name.source,
            format!("{}:{}", name.source.name(), name.name),
            &name.name,
            &text,
            &name.name,
        )
    }
}

/// Names that can stand on a line as they are; those for the shell's own use begin with `_`.
fn is_usable(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with('_')
        && name
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ':' | '+' | '@' | ','))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_to_the_line_and_what_they_stand_for_is_their_text() {
        let name = |name: &str, text: &str| Name {
            source: Source::Alias,
            name: name.to_owned(),
            text: text.to_owned(),
        };
        let names = [
            name("gs", "git status -sb"),
            name("nuke", "rm -rf ./build"),
            name("_private", "x"),
            name("a b", "x"),
            name("..", "cd .."),
        ];
        let found = shortcuts(&names);
        let ids: Vec<&str> = found.iter().map(|shortcut| shortcut.id.as_str()).collect();
        assert_eq!(ids, ["alias:gs", "alias:nuke", "alias:.."]);
        assert_eq!(found[0].description.get("en"), "git status -sb");
        assert_eq!(found[1].risk, crate::Risk::Destructive);
    }
}

//! Recipes of a justfile (<https://just.systems/man/en/>).

use super::{MOST, simple};
use crate::shortcut::{Action, Shortcut, Source, Variant};
use crate::template::{Kind, Slot, Template};

/// Where just looks.
pub const FILES: &[&str] = &["justfile", "Justfile", ".justfile", "JUSTFILE"];

/// A recipe, and what is said about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recipe {
    /// Its name.
    pub name: String,
    /// The comment before it; may be empty.
    pub comment: String,
    /// The parameters that must be given.
    pub parameters: Vec<String>,
}

/// The recipes in a justfile's text that are not private.
pub fn recipes(text: &str) -> Vec<Recipe> {
    let mut recipes = Vec::new();
    let mut before = "";
    let mut private = false;
    for line in text.lines() {
        if let Some(comment) = line.strip_prefix('#') {
            before = comment.trim();
            continue;
        }
        if line.starts_with('[') {
            private |= line.contains("private");
            continue;
        }
        let comment = std::mem::take(&mut before);
        let hidden = std::mem::take(&mut private);
        if let Some(recipe) = recipe(line, comment)
            && !hidden
            && recipes.len() < MOST
        {
            recipes.push(recipe);
        }
    }
    recipes
}

fn recipe(line: &str, comment: &str) -> Option<Recipe> {
    let line = line.strip_prefix('@').unwrap_or(line);
    if !line.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return None;
    }
    let (head, rest) = line.split_once(':')?;
    if rest.starts_with('=') {
        return None;
    }
    let mut words = head.split_whitespace();
    let name = words.next()?;
    let keyword = matches!(name, "alias" | "set" | "export" | "import" | "mod");
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if keyword || !name.chars().all(plain) {
        return None;
    }
    let must = |word: &&str| !word.contains('=') && !word.starts_with('*');
    let bare = |word: &str| word.trim_start_matches(['+', '$']).to_owned();
    Some(Recipe {
        name: name.to_owned(),
        comment: comment.to_owned(),
        parameters: words.filter(must).map(bare).collect(),
    })
}

/// The recipes in a text as shortcuts; parameters that must be given are left open.
pub fn shortcuts(text: &str) -> Vec<Shortcut> {
    recipes(text).into_iter().map(shortcut).collect()
}

fn shortcut(recipe: Recipe) -> Shortcut {
    let command = format!("just {}", recipe.name);
    let mut template = Template::literal(&command);
    for parameter in recipe.parameters {
        template.push(" ");
        template.push_slot(Slot::new(Kind::Name, parameter));
    }
    Shortcut {
        action: Action::everywhere(vec![Variant::bare(template)]),
        ..simple(
            Source::Project,
            format!("just:{}", recipe.name),
            &recipe.name,
            &recipe.comment,
            &command,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recipes_have_comments_and_open_parameters() {
        let text = "set shell := ['sh']\nv := 'x'\nalias b := build\n\n# Build it\n@build target='all':\n  \
                    x: y\n[private]\nsecret:\n_hidden:\n# Ship\n[confirm]\ndeploy host *rest: build\n";
        let found = recipes(text);
        let names: Vec<&str> = found.iter().map(|recipe| recipe.name.as_str()).collect();
        assert_eq!(names, ["build", "deploy"]);
        assert_eq!(found[0].comment, "Build it");
        assert_eq!(found[0].parameters, [""; 0]);
        assert_eq!(found[1].parameters, ["host"]);
        assert_eq!(found[1].comment, "Ship");
    }
}

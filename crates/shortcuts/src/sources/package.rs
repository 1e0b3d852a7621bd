//! Scripts of `package.json`.

use std::path::Path;

use serde_json::Value;

use super::{MOST, simple};
use crate::shortcut::{Shortcut, Source};

/// The file's name.
pub const FILE: &str = "package.json";

/// What is of use in the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Package {
    /// Names and commands.
    pub scripts: Vec<(String, String)>,
    /// The tool that the file asks for.
    named: Option<&'static str>,
}

const MANAGERS: [(&str, &[&str]); 4] = [
    ("pnpm", &["pnpm-lock.yaml", "pnpm-workspace.yaml"]),
    ("yarn", &["yarn.lock"]),
    ("bun", &["bun.lock", "bun.lockb"]),
    ("npm", &["package-lock.json"]),
];

/// Directories above that may hold the lock of a workspace.
const ABOVE: usize = 4;

/// Reads the file's text; what cannot be read has no scripts.
pub fn parse(text: &str) -> Package {
    let value: Value = serde_json::from_str(text).unwrap_or_default();
    let scripts = value.get("scripts").and_then(Value::as_object);
    let pairs = scripts
        .into_iter()
        .flatten()
        .filter_map(|(name, command)| Some((name.clone(), command.as_str()?.to_owned())))
        .filter(|(name, command)| !is_hook(name) && !command.contains("no test specified"));
    let asked = value.get("packageManager").and_then(Value::as_str);
    let named = asked.and_then(|asked| {
        let is_it = |(tool, _): &&(&'static str, _)| asked.split('@').next() == Some(*tool);
        MANAGERS.iter().find(is_it).map(|(tool, _)| *tool)
    });
    Package {
        scripts: pairs.take(MOST).collect(),
        named,
    }
}

/// Scripts that run before and after others.
fn is_hook(name: &str) -> bool {
    ["pre", "post"].iter().any(|part| {
        name.strip_prefix(part)
            .is_some_and(|rest| matches!(rest, "install" | "test" | "build" | "start" | "publish"))
    }) || name == "prepare"
}

impl Package {
    /// The tool that runs scripts in a directory: the one that is asked for, or whose lock lies
    /// there or above.
    pub fn manager(&self, directory: &Path) -> &'static str {
        if let Some(named) = self.named {
            return named;
        }
        let locked = |directory: &Path| {
            MANAGERS
                .iter()
                .find(|(_, locks)| locks.iter().any(|lock| directory.join(lock).exists()))
                .map(|(tool, _)| *tool)
        };
        directory
            .ancestors()
            .take(ABOVE)
            .find_map(locked)
            .unwrap_or("npm")
    }
}

/// The scripts in a text as shortcuts.
pub fn shortcuts(text: &str, directory: &Path) -> Vec<Shortcut> {
    let package = parse(text);
    let tool = package.manager(directory);
    let plain = |name: &str| {
        name.chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':' | '.' | '/'))
    };
    let scripts = package.scripts.iter().filter(|(name, _)| plain(name));
    let shortcut = |(name, command): &(String, String)| Shortcut {
        risk: super::risk_of(command),
        ..simple(
            Source::Project,
            format!("{tool}:{name}"),
            name,
            command,
            &format!("{tool} run {name}"),
        )
    };
    scripts.map(shortcut).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_shortcuts_of_the_tool_that_is_asked_for() {
        let text = r#"{"packageManager": "yarn@4", "scripts":
            {"lint": "eslint .", "pretest": "x", "clean": "rm -rf dist", "odd name": "x", "n": 1}}"#;
        let found = shortcuts(text, Path::new("/nowhere"));
        let ids: Vec<&str> = found.iter().map(|shortcut| shortcut.id.as_str()).collect();
        assert_eq!(ids, ["yarn:clean", "yarn:lint"]);
        assert_eq!(found[0].risk, crate::Risk::Destructive);
        assert_eq!(found[1].description.get("en"), "eslint .");
        assert!(shortcuts("{", Path::new("/nowhere")).is_empty());
    }

    #[test]
    fn the_lock_of_a_workspace_counts() {
        let dir = tempfile::tempdir().expect("tempdir");
        let inner = dir.path().join("packages/a");
        std::fs::create_dir_all(&inner).expect("made");
        assert_eq!(Package::default().manager(&inner), "npm");
        std::fs::write(dir.path().join("pnpm-lock.yaml"), "").expect("written");
        assert_eq!(Package::default().manager(&inner), "pnpm");
    }
}

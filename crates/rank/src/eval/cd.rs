//! Where recorded `cd` commands lead.

use super::Command;

/// Whether a command is meant to change the directory.
pub(super) fn changes_directory(command: &str) -> bool {
    ["cd", "pushd", "z", "j"].iter().any(|name| {
        command.strip_prefix(name).is_some_and(|rest| {
            rest.chars()
                .next()
                .is_none_or(|c| !c.is_alphanumeric() && c != '_')
        })
    })
}

/// Where a plain `cd X` goes: neither up, nor home, nor nowhere.
pub(crate) fn cd_target(command: &Command, after: &str) -> Option<String> {
    let cwd = command.cwd.as_deref().filter(|cwd| !cwd.is_empty())?;
    let rest = command.cmd.strip_prefix("cd")?;
    let argument = rest.trim_start();
    if argument.len() == rest.len() || argument.is_empty() || argument.starts_with('-') {
        return None;
    }
    if argument
        .chars()
        .any(|c| c.is_whitespace() || "&;|$`*<>".contains(c))
    {
        return None;
    }
    let by_text = if argument.starts_with(['~', '/']) {
        normal(argument)
    } else {
        normal(&format!("{cwd}/{argument}"))
    };
    let name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    let target = if name(after) == name(&by_text) {
        after.to_owned()
    } else {
        by_text
    };
    let up = argument.trim_end_matches('/').ends_with("..");
    (target != "~" && target != "/" && !up && target != cwd).then_some(target)
}

/// A path without `.`, `..` and empty parts; everything after `~` counts as below it.
fn normal(path: &str) -> String {
    let (root, rest) = match path.strip_prefix('~') {
        Some(rest) => ("~", rest),
        None => ("", path),
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in rest.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    let joined: String = parts.iter().map(|part| format!("/{part}")).collect();
    if root.is_empty() && joined.is_empty() {
        "/".to_owned()
    } else {
        format!("{root}{joined}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(cmd: &str, cwd: &str, after: &str) -> Option<String> {
        let cwd = Some(cwd.to_owned());
        cd_target(
            &Command {
                t: None,
                cmd: cmd.to_owned(),
                cwd,
                exit: None,
                session: None,
            },
            after,
        )
    }

    #[test]
    fn plain_targets_are_resolved_and_others_passed_over() {
        assert_eq!(target("cd b", "~/a", "~/a/b").as_deref(), Some("~/a/b"));
        assert_eq!(target("cd /x/y/", "~/a", "~").as_deref(), Some("/x/y"));
        assert_eq!(
            target("cd b", "~/a", "/elsewhere/b").as_deref(),
            Some("/elsewhere/b")
        );
        for other in ["cd ..", "cd", "cd -", "cd ~", "cd a && ls", "cdx b", "ls b"] {
            assert_eq!(target(other, "~/a", "~"), None, "{other}");
        }
    }
}

//! macOS's Shortcuts, by their names.

use std::process::{Command, Stdio};

use tabsense_shortcuts::{Action, Localized, Risk, Shortcut, Source, SwitchWords};

/// Names that are taken.
const MOST: usize = 1000;

/// What `shortcuts list` names; nothing where there is no such program. Runs in the background.
pub(super) fn shortcuts() -> Vec<Shortcut> {
    let output = Command::new("shortcuts")
        .arg("list")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    match output {
        Ok(output) => named(&String::from_utf8_lossy(&output.stdout)),
        Err(_) => Vec::new(),
    }
}

/// Shortcuts of these names, one a line.
fn named(list: &str) -> Vec<Shortcut> {
    let shortcut = |name: &str| Shortcut {
        id: format!("shortcut:{name}"),
        title: Localized::plain(name),
        description: Localized::default(),
        examples: Vec::new(),
        // Nobody knows what it does.
        risk: Risk::Write,
        action: Action::line(format!("shortcuts run {}", quoted(name))),
        source: Source::Mac,
        switch: SwitchWords::default(),
    };
    let names = list.lines().map(str::trim).filter(|name| !name.is_empty());
    names.take(MOST).map(shortcut).collect()
}

/// In single quotes, as zsh, bash and fish all read them: fish alone knows escapes inside, so a quote
/// and a backslash stand outside.
fn quoted(name: &str) -> String {
    let each = |c: char| match c {
        '\'' | '\\' => format!("'\\{c}'"),
        c => c.to_string(),
    };
    format!("'{}'", name.chars().map(each).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_is_a_shortcut_that_is_run_by_it() {
        let found = named("Dim the lights\n\nMum's list\na\\b\n");
        let lines: Vec<&Action> = found.iter().map(|shortcut| &shortcut.action).collect();
        assert_eq!(lines[0], &Action::line("shortcuts run 'Dim the lights'"));
        assert_eq!(lines[1], &Action::line(r"shortcuts run 'Mum'\''s list'"));
        assert_eq!(lines[2], &Action::line(r"shortcuts run 'a'\\'b'"));
        assert_eq!(found.len(), 3);
    }
}

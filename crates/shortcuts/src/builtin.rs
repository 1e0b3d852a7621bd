//! The shortcuts that come with the program.

use std::sync::LazyLock;

use crate::parse::parse;
use crate::shortcut::{Shortcut, Source};

/// The files in `builtin`.
const FILES: &[(&str, &str)] = &[
    ("desktop.toml", include_str!("../builtin/desktop.toml")),
    (
        "recipes-files.toml",
        include_str!("../builtin/recipes-files.toml"),
    ),
    (
        "recipes-git.toml",
        include_str!("../builtin/recipes-git.toml"),
    ),
    (
        "recipes-media.toml",
        include_str!("../builtin/recipes-media.toml"),
    ),
    (
        "recipes-network.toml",
        include_str!("../builtin/recipes-network.toml"),
    ),
    (
        "recipes-packages.toml",
        include_str!("../builtin/recipes-packages.toml"),
    ),
    (
        "recipes-system.toml",
        include_str!("../builtin/recipes-system.toml"),
    ),
    (
        "recipes-text.toml",
        include_str!("../builtin/recipes-text.toml"),
    ),
    ("terminal.toml", include_str!("../builtin/terminal.toml")),
];

static SHORTCUTS: LazyLock<Vec<Shortcut>> = LazyLock::new(|| {
    let read = FILES
        .iter()
        .flat_map(|(name, text)| parse(text, name, Source::Builtin).0);
    read.collect()
});

/// The shortcuts that come with the program, read at the first call.
pub fn builtin() -> &'static [Shortcut] {
    &SHORTCUTS
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::process::{Command, Stdio};

    use super::*;
    use crate::shortcut::{Action, Variant};
    use crate::template::{Template, Value};
    use tabsense_gather::Dialect;

    /// The languages that every text is written in.
    const LANGUAGES: [&str; 6] = ["en", "zh", "de", "fr", "es", "ja"];

    /// What must be there, whatever else is.
    const IDS: [&str; 70] = [
        "window_snap_left",
        "window_snap_right",
        "window_maximize",
        "window_minimize",
        "window_close",
        "window_fullscreen",
        "window_next",
        "show_desktop",
        "launch_mail",
        "launch_browser",
        "launch_terminal",
        "launch_editor",
        "launch_files",
        "launch_calendar",
        "launch_music",
        "launch_settings",
        "launch_calculator",
        "launch_notes",
        "new_todo",
        "new_note",
        "new_calendar_event",
        "set_timer",
        "set_alarm",
        "volume_up",
        "volume_down",
        "volume_mute",
        "brightness_up",
        "brightness_down",
        "media_play_pause",
        "media_next",
        "media_previous",
        "lock_screen",
        "sleep",
        "shutdown",
        "restart",
        "log_out",
        "screenshot_full",
        "screenshot_area",
        "record_screen",
        "wifi_toggle",
        "bluetooth_toggle",
        "dark_mode_toggle",
        "do_not_disturb_toggle",
        "open_downloads",
        "empty_trash",
        "clipboard_history",
        "search_files",
        "show_ip",
        "disk_usage",
        "memory_usage",
        "list_processes",
        "kill_port",
        "git_status",
        "git_undo_last_commit",
        "git_new_branch",
        "git_push",
        "git_pull",
        "git_stash",
        "run_tests",
        "build_project",
        "start_dev_server",
        "format_code",
        "compress_folder",
        "extract_archive",
        "find_large_files",
        "count_lines",
        "flush_dns",
        "update_packages",
        "docker_cleanup",
        "go_home",
    ];

    #[test]
    fn the_files_are_read_without_a_problem_and_every_file_is_named() {
        let mut ids = HashSet::new();
        for (name, text) in FILES {
            let (shortcuts, problems) = parse(text, name, Source::Builtin);
            assert_eq!(problems, [], "{name}");
            for shortcut in shortcuts {
                assert!(
                    ids.insert(shortcut.id.clone()),
                    "{name}: {} twice",
                    shortcut.id
                );
            }
        }
        let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/builtin");
        let there = std::fs::read_dir(directory).expect("a directory");
        let there = there.flatten().map(|entry| entry.file_name());
        for name in there.filter(|name| name.to_string_lossy().ends_with(".toml")) {
            assert!(FILES.iter().any(|(known, _)| name == *known), "{name:?}");
        }
    }

    #[test]
    fn the_usual_actions_and_many_recipes_are_there() {
        let known: HashSet<&str> = builtin().iter().map(|s| s.id.as_str()).collect();
        for id in IDS {
            assert!(known.contains(id), "{id}");
        }
        assert!(known.len() >= 200, "{}", known.len());
    }

    #[test]
    fn every_shortcut_speaks_six_languages() {
        for shortcut in builtin() {
            for texts in [&shortcut.title, &shortcut.description] {
                let languages: Vec<&str> = texts.0.iter().map(|t| t.language.as_str()).collect();
                for language in LANGUAGES {
                    assert!(languages.contains(&language), "{}: {language}", shortcut.id);
                }
            }
        }
    }

    #[test]
    fn every_command_is_one_that_the_shells_can_read() {
        let mut lines: Vec<String> = Vec::new();
        for shortcut in builtin() {
            let Action::Run { macos, linux } = &shortcut.action else {
                continue;
            };
            for variant in macos.iter().chain(linux) {
                let states = [&variant.on, &variant.off].into_iter().flatten();
                lines.extend(std::iter::once(&variant.run).chain(states).map(line));
            }
        }
        let dir = tempfile::tempdir().expect("tempdir");
        for shell in ["bash", "zsh", "fish"] {
            let there = Command::new(shell)
                .arg("--version")
                .stdout(Stdio::null())
                .status();
            if there.is_err() {
                eprintln!("skipped: there is no {shell}");
                continue;
            }
            // A line's number in the message is its place in the list.
            let script = dir.path().join("lines");
            std::fs::write(&script, lines.join("\n")).expect("written");
            let output = Command::new(shell).arg("-n").arg(&script).output();
            let output = output.expect("the shell runs");
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(
                output.status.success() && said.is_empty(),
                "{shell}: {said}"
            );
        }
    }

    #[test]
    fn what_is_switched_can_be_switched_on_and_off_by_words() {
        for id in [
            "wifi_toggle",
            "bluetooth_toggle",
            "dark_mode_toggle",
            "do_not_disturb_toggle",
            "volume_mute",
        ] {
            let known = builtin().iter().find(|known| known.id == id).expect(id);
            let Action::Run { macos, linux } = &known.action else {
                panic!("{id} runs nothing");
            };
            let stateful = linux.iter().filter(|v| v.on.is_some() && v.off.is_some());
            // What only switches over is never the last resort.
            assert!(stateful.count() * 2 > linux.len(), "{id}");
            assert!(!macos.is_empty(), "{id}");
        }
    }

    #[test]
    fn no_command_names_one_machines_network_card_or_overwrites_a_fixed_name() {
        for shortcut in builtin() {
            let Action::Run { macos, linux } = &shortcut.action else {
                continue;
            };
            for variant in macos.iter().chain(linux) {
                let line = filled(variant);
                for card in ["wlan0", "eth0", "en0", "en1"] {
                    assert!(!line.contains(card), "{}: {line}", shortcut.id);
                }
                // ">" to a plain name; "2>", ">>" and "> /dev/null" are others.
                let fixed = line.split(" > ").nth(1).is_some_and(|name| {
                    !name.starts_with(['/', '"', '$']) && !name.contains("$(date")
                });
                let asks = shortcut.risk == crate::Risk::Destructive;
                assert!(!fixed || asks, "{}: {line}", shortcut.id);
            }
        }
    }

    fn filled(variant: &Variant) -> String {
        line(&variant.run)
    }

    fn line(template: &Template) -> String {
        let value = |slot| Value {
            slot,
            value: Some(b"a b".to_vec()),
        };
        let values = template.slots().into_iter().map(value).collect();
        String::from_utf8(template.fill(values, Dialect::Bash).line).expect("UTF-8")
    }
}

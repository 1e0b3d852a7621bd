//! Why a command is not recorded.

use tabsense_history::Rule;
use tabsense_history::ignore::{Keeping, Reason, Recording, Settings, why_not_recorded};

fn why(command: &str, settings: Settings<'_>) -> Vec<Reason> {
    why_not_recorded(command.as_bytes(), &settings)
}

#[test]
fn an_ordinary_command_has_no_reason() {
    assert_eq!(why("git commit -m 'fix'", Settings::default()), []);
}

#[test]
fn a_leading_blank_is_enough_in_every_shell() {
    assert_eq!(why(" echo a", Settings::default()), [Reason::LeadingSpace]);
    assert_eq!(why("\techo a", Settings::default()), [Reason::LeadingSpace]);
    assert_eq!(
        why(" \n", Settings::default()),
        [Reason::Empty, Reason::LeadingSpace]
    );
}

#[test]
fn histcontrol_hides_repeats() {
    for control in ["ignoredups", "erasedups:ignoreboth"] {
        let settings = Settings {
            histcontrol: control.as_bytes(),
            previous: b"ls",
            ..Settings::default()
        };
        assert_eq!(why("ls", settings), [Reason::Repeated]);
        assert_eq!(why("ls -l", settings), []);
    }
}

#[test]
fn histignore_patterns_match_whole_commands() {
    let with = |histignore| Settings {
        histignore,
        previous: b"a*b",
        ..Settings::default()
    };
    for (pattern, command, is_hidden) in [
        ("ls", "ls", true),
        ("ls", "ls -l", false),
        ("pwd:ls *:x", "ls -l", true),
        ("*secret*", "echo a/secret2\nx", true),
        ("[bf]g", "fg", true),
        ("[!bf]g", "fg", false),
        ("[]x]", "]", true),
        ("?", "é", false),
        ("&", "a*b", true),
        ("&", "axb", false),
        (r"\&", "&", true),
        (r"a\:b", "a:b", true),
        ("[", "[", true),
        ("", "ls", false),
    ] {
        let reasons = why(command, with(pattern.as_bytes()));
        assert_eq!(!reasons.is_empty(), is_hidden, "{pattern} {command}");
    }
}

#[test]
fn history_ignore_knows_groups() {
    let settings = Settings {
        history_ignore: b"(ls|secret*|cd (a|b))",
        ..Settings::default()
    };
    for hidden in ["ls", "secret x", "cd a", "cd b"] {
        assert_eq!(why(hidden, settings).len(), 1, "{hidden}");
    }
    for kept in ["ls x", "a secret", "cd c", "(ls"] {
        assert_eq!(why(kept, settings), [], "{kept}");
    }
}

#[test]
fn a_costly_pattern_ends() {
    let settings = Settings {
        histignore: b"*a*a*a*a*a*a*a*a*a*a*b",
        ..Settings::default()
    };
    assert_eq!(why(&"a".repeat(5_000), settings), []);
}

#[test]
fn modes_are_told() {
    let private = Settings {
        keeping: Keeping::Private,
        ..Settings::default()
    };
    let off = Settings {
        keeping: Keeping::Off,
        recording: Recording::Paused,
        ..Settings::default()
    };
    assert_eq!(why("ls", private), [Reason::PrivateMode]);
    assert_eq!(why("ls", off), [Reason::NoHistory, Reason::Paused]);
}

#[test]
fn a_redacted_part_is_told_but_the_command_is_not_missing() {
    let reasons = why("deploy --token abc123 --password x1", Settings::default());
    assert_eq!(reasons, [Reason::Redacted(Rule::Option)]);
    assert!(!reasons[0].is_missing());
}

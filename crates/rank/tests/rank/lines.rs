use tabsense_rank::{Context, Event, Index, Weights, rank_lines};

use crate::{at, recent, seen, text};

fn offered(index: &Index, context: &Context<'_>, prefix: &str) -> Vec<String> {
    let lines = rank_lines(index, &Weights::default(), context, prefix.as_bytes(), 10);
    lines.iter().map(|l| text(&l.text)).collect()
}

fn place(lines: &[String], line: &str) -> usize {
    lines.iter().position(|l| l == line).unwrap_or(usize::MAX)
}

#[test]
fn what_followed_the_previous_command_comes_first() {
    let mut commands = Vec::new();
    for _ in 0..6 {
        commands.extend([
            ("/p", "make"),
            ("/p", "make test"),
            ("/p", "git status"),
            ("/p", "ls"),
        ]);
    }
    let index = seen(&commands);
    let recent = recent(&[("/p", "ls"), ("/p", "make")]);
    assert_eq!(offered(&index, &at("/p", &recent), "m")[0], "make test");
    assert_eq!(offered(&index, &at("/p", &recent), "")[0], "make test");
}

#[test]
fn the_command_before_the_previous_one_decides_between_two_successors() {
    let mut commands = Vec::new();
    for _ in 0..8 {
        commands.extend([("/p", "vim a"), ("/p", "make"), ("/p", "./run a")]);
        commands.extend([("/p", "vim b"), ("/p", "make"), ("/p", "./run b")]);
    }
    for (edited, expected) in [("vim a", "./run a"), ("vim b", "./run b")] {
        let newest = [("/p", edited), ("/p", "make")];
        let index = seen(&[commands.as_slice(), &newest].concat());
        let recent = recent(&newest);
        assert_eq!(offered(&index, &at("/p", &recent), "./")[0], expected);
    }
}

#[test]
fn commands_of_this_directory_come_before_those_of_others() {
    let mut commands = Vec::new();
    for _ in 0..10 {
        commands.extend([
            ("/web", "npm start"),
            ("/web", "ls"),
            ("/api", "npm test"),
            ("/api", "ls"),
        ]);
    }
    for (cwd, expected) in [("/web", "npm start"), ("/api", "npm test")] {
        let newest = [(cwd, "ls")];
        let index = seen(&[commands.as_slice(), &newest].concat());
        let recent = recent(&newest);
        assert_eq!(offered(&index, &at(cwd, &recent), "npm")[0], expected);
    }
}

#[test]
fn a_pattern_gives_a_line_never_typed() {
    let mut commands = Vec::new();
    for name in ["a.c", "b.c", "c.c", "d.c", "e.c"] {
        for line in [
            format!("vim {name}"),
            format!("git add {name}"),
            "git commit".to_owned(),
        ] {
            commands.push(("/p", line));
        }
    }
    let commands: Vec<(&str, &str)> = commands.iter().map(|(d, c)| (*d, c.as_str())).collect();
    let newest = [("/p", "git commit"), ("/p", "vim new.c")];
    let index = seen(&[commands.as_slice(), &newest[1..]].concat());
    let recent = recent(&newest);
    assert_eq!(
        offered(&index, &at("/p", &recent), "git a")[0],
        "git add new.c"
    );
}

#[test]
fn a_new_directory_is_entered_without_any_history() {
    let recent = recent(&[("/p", "mkdir -p src/new")]);
    let lines = offered(&Index::new(), &at("/p", &recent), "c");
    assert_eq!(lines[0], "cd src/new");
}

#[test]
fn what_is_typed_already_is_not_offered() {
    let index = seen(&[("/p", "ls"), ("/p", "ls -l")]);
    assert_eq!(offered(&index, &at("/p", &[]), "ls"), ["ls -l"]);
}

#[test]
fn a_failing_command_is_demoted_and_stays() {
    let mut index = Index::new();
    for round in 0..10 {
        let mut both = [("make goo", 0), ("make god", 2)];
        both.rotate_left(round % 2);
        for (command, exit) in both {
            index.observe(&Event {
                command: command.as_bytes(),
                exit: Some(exit),
                ..Event::default()
            });
        }
    }
    let lines = offered(&index, &Context::default(), "make g");
    assert!(
        place(&lines, "make goo") < place(&lines, "make god"),
        "{lines:?}"
    );
    assert_eq!(lines.len(), 2);
}

#[test]
fn sessions_do_not_mix() {
    let mut index = Index::new();
    for _ in 0..8 {
        for (session, command) in [
            ("a", "vim x"),
            ("b", "ssh host"),
            ("a", "cat x"),
            ("b", "curl localhost"),
        ] {
            index.observe(&Event {
                command: command.as_bytes(),
                session: session.as_bytes(),
                ..Event::default()
            });
        }
    }
    let recent = recent(&[("", "vim x")]);
    assert_eq!(offered(&index, &at("", &recent), "c")[0], "cat x");
}

#[test]
fn a_forgotten_command_is_not_offered_again() {
    let mut index = seen(&[
        ("/p", "mysql --password=x"),
        ("/p", "mysql shop"),
        ("/p", "ls"),
    ]);
    index.forget(b"mysql --password=x");
    assert_eq!(offered(&index, &at("/p", &[]), "mysql"), ["mysql shop"]);
    index.forget(b"mysql shop");
    index.forget(b"never typed");
    assert!(offered(&index, &at("/p", &[]), "mysql").is_empty());
    index.observe(&Event {
        command: b"mysql shop",
        cwd: b"/p",
        ..Event::default()
    });
    assert_eq!(offered(&index, &at("/p", &[]), "mysql"), ["mysql shop"]);
}

#[test]
fn empty_and_overlong_commands_are_counted_but_not_learned() {
    let mut index = Index::new();
    index.observe(&Event {
        command: b"   ",
        ..Event::default()
    });
    index.observe(&Event {
        command: &[b'x'; 5000],
        ..Event::default()
    });
    assert_eq!((index.events(), index.distinct()), (2, 0));
    assert!(offered(&index, &Context::default(), "").is_empty());
}

#[test]
fn lines_need_not_be_text() {
    let mut index = Index::new();
    index.observe(&Event {
        command: b"cat \xff\xfe",
        ..Event::default()
    });
    let lines = rank_lines(
        &index,
        &Weights::default(),
        &Context::default(),
        b"cat \xff",
        3,
    );
    assert_eq!(lines[0].text, b"cat \xff\xfe");
}

#[test]
fn a_new_session_starts_as_sessions_start() {
    let mut index = Index::new();
    for session in 0..12_u8 {
        for command in ["git pull", "make", "vim a.c", "make", "ls"] {
            index.observe(&Event {
                command: command.as_bytes(),
                cwd: b"/p",
                session: &[session],
                ..Event::default()
            });
        }
    }
    let context = Context {
        cwd: b"/p",
        session: b"new",
        ..Context::default()
    };
    assert_eq!(offered(&index, &context, "")[0], "git pull");
}

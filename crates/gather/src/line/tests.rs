use proptest::prelude::*;

use super::{Dialect, Parsed, Position, Quote, Tilde, parse, quote};

const ALL: [Dialect; 3] = [Dialect::Zsh, Dialect::Bash, Dialect::Fish];
const POSIX: [Dialect; 2] = [Dialect::Zsh, Dialect::Bash];

fn at_end(line: &str, dialect: Dialect) -> Parsed {
    parse(line.as_bytes(), usize::MAX, dialect)
}

fn words(parsed: &Parsed) -> Vec<&str> {
    parsed
        .words
        .iter()
        .map(|word| std::str::from_utf8(word).expect("test lines are UTF-8"))
        .collect()
}

#[track_caller]
fn check(dialects: &[Dialect], line: &str, expected: &[&str], typed: &str, position: Position) {
    for dialect in dialects {
        let parsed = at_end(line, *dialect);
        assert_eq!(words(&parsed), expected, "{dialect:?} {line:?}");
        assert_eq!(
            String::from_utf8_lossy(&parsed.typed),
            typed,
            "{dialect:?} {line:?}"
        );
        assert_eq!(parsed.position, position, "{dialect:?} {line:?}");
    }
}

#[test]
fn separators_start_a_new_command() {
    for line in [
        "a b; ls -l fo",
        "a | ls -l fo",
        "a && ls -l fo",
        "a || ls -l fo",
        "a & ls -l fo",
        "a\nls -l fo",
        "a;ls -l fo",
        "  ls -l fo",
        "x=1 ls -l fo",
    ] {
        check(&ALL, line, &["ls", "-l"], "fo", Position::Argument);
    }
    for line in [
        "(ls -l fo",
        "{ ls -l fo",
        "! ls -l fo",
        "if true; then ls -l fo",
        "(a; (ls -l fo",
        "f() ls -l fo",
        "f() { ls -l fo",
        "a |& ls -l fo",
        "case x in a) ls -l fo",
    ] {
        check(&POSIX, line, &["ls", "-l"], "fo", Position::Argument);
    }
    for line in [
        "if ls -l fo",
        "begin; ls -l fo",
        "and ls -l fo",
        "not ls -l fo",
    ] {
        check(
            &[Dialect::Fish],
            line,
            &["ls", "-l"],
            "fo",
            Position::Argument,
        );
    }
}

#[test]
fn the_cursor_cuts_the_line() {
    let parsed = parse(b"git checkout main; ls", 8, Dialect::Bash);
    assert_eq!(words(&parsed), ["git"]);
    assert_eq!((parsed.typed.as_slice(), parsed.start), (&b"chec"[..], 4));
}

#[test]
fn a_new_word_is_empty_and_starts_at_the_cursor() {
    let parsed = at_end("git ", Dialect::Zsh);
    assert_eq!(
        (parsed.typed.len(), parsed.start, parsed.position),
        (0, 4, Position::Argument)
    );
    check(&ALL, "", &[], "", Position::Command);
    check(&ALL, "ls; ", &[], "", Position::Command);
    check(&ALL, "gi", &[], "gi", Position::Command);
}

#[test]
fn wrapping_commands_are_looked_through() {
    for line in [
        "sudo ls fo",
        "sudo -u root ls fo",
        "sudo -E -- ls fo",
        "env A=b C=d ls fo",
        "env -i ls fo",
        "env -u HOME ls fo",
        "nohup ls fo",
        "command ls fo",
        "time ls fo",
        "xargs -n 1 ls fo",
        "a | xargs -0 ls fo",
        "sudo env A=b nice -n 5 ls fo",
        "timeout -s KILL 5 ls fo",
        "A=b sudo B=c ls fo",
        "exec ls fo",
        "builtin ls fo",
        "\\ls fo",
    ] {
        check(&ALL, line, &["ls"], "fo", Position::Argument);
    }
}

#[test]
fn behind_a_wrapping_command_stands_a_command() {
    check(&ALL, "sudo l", &[], "l", Position::Command);
    check(&ALL, "sudo -u root l", &[], "l", Position::Command);
    check(&ALL, "env A=b l", &[], "l", Position::Command);
    check(&ALL, "sudo -", &["sudo"], "-", Position::Argument);
    check(
        &ALL,
        "sudo -u ro",
        &["sudo", "-u"],
        "ro",
        Position::Argument,
    );
    check(&ALL, "timeout 5", &["timeout"], "5", Position::Argument);
    check(&ALL, "timeout 5 l", &[], "l", Position::Command);
    check(&ALL, "sudo", &[], "sudo", Position::Command);
}

#[test]
fn substitutions_hold_commands_of_their_own() {
    check(&ALL, "echo $(ls fo", &["ls"], "fo", Position::Argument);
    check(&ALL, "echo \"a $(ls fo", &["ls"], "fo", Position::Argument);
    check(&POSIX, "echo `ls fo", &["ls"], "fo", Position::Argument);
    check(&POSIX, "echo \"`ls fo", &["ls"], "fo", Position::Argument);
    check(&POSIX, "diff <(ls fo", &["ls"], "fo", Position::Argument);
    check(
        &[Dialect::Fish],
        "echo (ls fo",
        &["ls"],
        "fo",
        Position::Argument,
    );
    check(&ALL, "echo $(", &[], "", Position::Command);
    check(
        &ALL,
        "echo $(ls a) fo",
        &["echo", "$()"],
        "fo",
        Position::Argument,
    );
    check(
        &ALL,
        "echo \"$(ls \"x y\")\" fo",
        &["echo", "$()"],
        "fo",
        Position::Argument,
    );
    check(&POSIX, "(cd a) && ls fo", &["ls"], "fo", Position::Argument);
}

#[test]
fn quotes_are_taken_off_and_the_open_one_is_told() {
    for (line, typed, open) in [
        ("ls 'a b", "a b", Quote::Single),
        ("ls \"a b", "a b", Quote::Double),
        ("ls a\\ b", "a b", Quote::None),
        ("ls a\\", "a", Quote::Backslash),
        ("ls 'a'\"b\"c", "abc", Quote::None),
        ("ls \"a\\\"b", "a\"b", Quote::Double),
        ("ls '", "", Quote::Single),
    ] {
        for dialect in ALL {
            let parsed = at_end(line, dialect);
            assert_eq!(
                String::from_utf8_lossy(&parsed.typed),
                typed,
                "{dialect:?} {line:?}"
            );
            assert_eq!(
                (parsed.quote, parsed.start),
                (open, 3),
                "{dialect:?} {line:?}"
            );
            assert!(!parsed.is_live(), "{dialect:?} {line:?}");
        }
    }
    for dialect in POSIX {
        let parsed = at_end("ls $'a\\tb\\x41\\101\\u00e9", dialect);
        assert_eq!(parsed.typed, "a\tbAAé".as_bytes());
        assert_eq!(parsed.quote, Quote::Dollar);
    }
    assert_eq!(at_end("ls a\\tb\\XffZ", Dialect::Fish).typed, b"a\tb\xffZ");
    assert_eq!(at_end(r"ls 'a\'b", Dialect::Fish).typed, b"a'b");
}

#[test]
fn redirections_are_no_arguments() {
    for line in [
        "ls a > fo",
        "ls a >> fo",
        "ls a < fo",
        "ls a 2> fo",
        "ls a >fo",
        "ls a &> fo",
        "ls a >| fo",
        "ls > x a < fo",
        "ls a 2>&1 > fo",
    ] {
        check(&ALL, line, &["ls", "a"], "fo", Position::Redirection);
    }
    check(
        &POSIX,
        "ls {a,b}> x fo",
        &["ls", "{a,b}"],
        "fo",
        Position::Argument,
    );
    check(
        &ALL,
        "ls a 2>/dev/null fo",
        &["ls", "a"],
        "fo",
        Position::Argument,
    );
    check(&ALL, "> out ls fo", &["ls"], "fo", Position::Argument);
    check(&POSIX, "cat <<< fo", &["cat"], "fo", Position::Redirection);
}

#[test]
fn here_documents_are_nobodys_arguments() {
    check(
        &POSIX,
        "cat <<E\nsome text\nE\nls fo",
        &["ls"],
        "fo",
        Position::Argument,
    );
    check(
        &POSIX,
        "cat <<-'E' x\n\tsome; text\n\tE\nls fo",
        &["ls"],
        "fo",
        Position::Argument,
    );
    assert!(at_end("cat <<E\nsome te", Dialect::Bash).dynamic);
}

#[test]
fn assignments_give_their_value() {
    for dialect in ALL {
        let parsed = at_end("A=b C=fo", dialect);
        assert_eq!((parsed.typed.as_slice(), parsed.start), (&b"fo"[..], 6));
        assert_eq!(parsed.position, Position::Assignment);
    }
    check(&ALL, "dd if=fo", &["dd"], "if=fo", Position::Argument);
    check(&POSIX, "a=(x fo", &["x"], "fo", Position::Assignment);
    check(&POSIX, "a=(x y) ls fo", &["ls"], "fo", Position::Argument);
}

#[test]
fn live_words_are_told_and_never_expanded() {
    for line in [
        "ls $(touch P",
        "ls *.rs",
        "ls a?",
        "ls [ab",
        "ls {a,b}",
        "ls ~user/x",
        "ls $",
        "ls $x[",
        "ls $HO",
    ] {
        for dialect in ALL {
            let parsed = at_end(line, dialect);
            let nested = parsed.words.first().is_some_and(|word| word == b"touch");
            assert!(parsed.dynamic || nested, "{dialect:?} {line:?}");
        }
    }
    for line in [
        "ls ${x:-y}/",
        "ls `a`/",
        "ls $1/",
        "ls $((1 + 2))/",
        "ls @(a|b",
    ] {
        for dialect in POSIX {
            assert!(at_end(line, dialect).dynamic, "{dialect:?} {line:?}");
        }
    }
    assert!(at_end("ls =gi", Dialect::Zsh).dynamic);
    assert!(!at_end("ls =gi", Dialect::Bash).dynamic);
    assert!(!at_end("ls 'a*b'", Dialect::Bash).is_live());
}

#[test]
fn home_and_known_variables_are_looked_up() {
    let known = |name: &[u8]| (name == b"PROJ").then(|| b"/p r".to_vec());
    for (line, expected) in [
        ("ls ~/x", Some("/home/u/x")),
        ("ls ~", Some("/home/u")),
        ("ls $PROJ/src", Some("/p r/src")),
        ("ls \"$PROJ/sr", Some("/p r/sr")),
        ("ls $OTHER/x", None),
        ("ls '~/x'", Some("~/x")),
        ("ls \\~/x", Some("~/x")),
        ("ls '$PROJ/x'", Some("$PROJ/x")),
        ("ls *", None),
    ] {
        for dialect in ALL {
            let found = at_end(line, dialect).look_up(b"/home/u", known);
            assert_eq!(
                found.as_deref(),
                expected.map(str::as_bytes),
                "{dialect:?} {line:?}"
            );
        }
    }
    for dialect in POSIX {
        let parsed = at_end("ls ${PROJ}/a", dialect);
        assert_eq!(
            parsed.look_up(b"/h", known).as_deref(),
            Some(&b"/p r/a"[..])
        );
        let parsed = at_end("A=~/x", dialect);
        assert_eq!(parsed.look_up(b"/h", known).as_deref(), Some(&b"/h/x"[..]));
    }
}

#[test]
fn comments_hold_no_commands() {
    for dialect in [Dialect::Bash, Dialect::Fish] {
        assert!(at_end("ls # some fo", dialect).dynamic);
        check(
            &[dialect],
            "ls # x ' y\ncat fo",
            &["cat"],
            "fo",
            Position::Argument,
        );
    }
    check(&ALL, "ls a#b", &["ls"], "a#b", Position::Argument);
}

#[test]
fn deep_nesting_costs_no_stack() {
    let line = "$(".repeat(200_000);
    check(&ALL, &line, &[], "", Position::Command);
}

fn dialect() -> impl Strategy<Value = Dialect> {
    prop::sample::select(&ALL[..])
}

fn style() -> impl Strategy<Value = Quote> {
    prop::sample::select(vec![
        Quote::None,
        Quote::Single,
        Quote::Double,
        Quote::Dollar,
    ])
}

proptest! {
    #[test]
    fn any_line_is_read_without_panic(line: Vec<u8>, cursor: usize, dialect in dialect()) {
        let parsed = parse(&line, cursor % (line.len() + 1), dialect);
        prop_assert!(parsed.start <= line.len());
        let _ = parsed.look_up(b"/h", |_| Some(b"v".to_vec()));
    }

    #[test]
    fn any_shell_like_line_is_read_without_panic(
        line in "[a-c $'\"`\\\\(){}<>|&;=~#*\\[\n]{0,40}", dialect in dialect(),
    ) {
        let parsed = at_end(&line, dialect);
        prop_assert!(parsed.start <= line.len());
        let _ = parsed.look_up(b"/h", |_| Some(b"v".to_vec()));
    }

    #[test]
    fn what_was_quoted_is_read_back(
        text in prop::collection::vec(1_u8.., 0..20), dialect in dialect(), style in style(),
    ) {
        let mut line = b"cmd ".to_vec();
        line.extend(quote(&text, dialect, style, Tilde::Literal));
        line.extend(b" ");
        let parsed = parse(&line, line.len(), dialect);
        prop_assert_eq!(&parsed.words, &[b"cmd".to_vec(), text]);
        prop_assert!(parsed.typed.is_empty());
    }

    #[test]
    fn a_quoted_word_is_not_live(text in prop::collection::vec(1_u8.., 1..20), dialect in dialect()) {
        let mut line = b"cmd ".to_vec();
        line.extend(quote(&text, dialect, Quote::None, Tilde::Literal));
        prop_assert!(!parse(&line, line.len(), dialect).is_live());
    }
}

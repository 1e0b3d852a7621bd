//! Completions that others registered: run as they are, put in our order.

use super::{list_is, scripted, tab_shows};
use crate::common::{ENTER, Fake, Home, Options, Request, Shell, TAB, eventually};

fn home() -> Option<Home> {
    Home::new(Shell::Bash)
}

/// A completion function that offers the words of `words`, as others write them.
fn offers(words: &str) -> String {
    format!("_f() {{ COMPREPLY=($(compgen -W '{words}' -- \"$2\")); }}\n")
}

/// The whole shell word and every word, however bash cuts them: the naive completion of many tools.
const NAIVE: &str = "_c() { local w; COMPREPLY=(); \
    for w in foo::bar foo::baz --mode=fast --mode=slow main@origin host:8080/x; do COMPREPLY+=(\"$w\"); done; }\n\
    complete -F _c argdump";

fn arguments_of_naive(setting: &str) {
    let Some(home) = home() else { return };
    let options = scripted(Fake::Reverse).before(setting).after(NAIVE);
    let mut terminal = home.start(&options);
    for (number, (typed, expected)) in [
        ("foo::bar", "foo::bar"),
        ("--mode=f", "--mode=fast"),
        ("main@o", "main@origin"),
        ("host:80", "host:8080/x"),
    ]
    .into_iter()
    .enumerate()
    {
        terminal.press(format!("argdump {typed}{TAB}{ENTER}"));
        assert_eq!(
            home.next_arguments(number),
            [expected.as_bytes().to_vec()],
            "{setting}"
        );
        terminal.wait_prompt();
    }
    terminal.run("argdump \"$COMP_WORDBREAKS\"");
    let with = home.next_arguments(4);
    let bare = home.oracle(
        &Options::bare().before(setting).after(NAIVE),
        b"argdump \"$COMP_WORDBREAKS\"",
    );
    assert_eq!(with, bare);
}

#[test]
fn whole_words_do_not_double_what_stands_before_a_colon_an_equals_sign_or_an_at_sign() {
    arguments_of_naive("");
}

#[test]
fn whole_words_arrive_without_colon_among_the_word_breaks() {
    arguments_of_naive("COMP_WORDBREAKS=${COMP_WORDBREAKS//:/}");
}

#[test]
fn whole_words_arrive_with_bash_completion() {
    arguments_of_naive(". /usr/share/bash-completion/bash_completion");
}

#[test]
fn words_that_were_cut_as_bash_wants_stay_whole() {
    let Some(home) = home() else { return };
    let options = scripted(Fake::Reverse)
        .after(&offers("alpha beta"))
        .after("complete -F _f argdump");
    let mut terminal = home.start(&options);
    for (number, typed) in ["--name=", "pre:", "x@y=", "k=\""].into_iter().enumerate() {
        terminal.press(format!("argdump {typed}al{TAB}{ENTER}"));
        let expected = format!("{}alpha", typed.replace('"', ""));
        assert_eq!(home.next_arguments(number), [expected.into_bytes()]);
        terminal.wait_prompt();
    }
    tab_shows(&mut terminal, "argdump --name=", &["beta", "alpha"]);
    let call = home.requests("complete").pop().expect("a request");
    assert_eq!(
        (call.get("base"), call.get("word")),
        ("--name=".into(), "--name=".into())
    );
}

#[test]
fn functions_get_what_bash_gives_them() {
    let Some(home) = home() else { return };
    let function = "_f() { COMPREPLY=(x y); { printf '%s|' \"$@\" \"${COMP_WORDS[@]}\" $COMP_CWORD \
        \"$COMP_LINE\" $COMP_POINT $COMP_TYPE $COMP_KEY; echo; } >> ~/seen; }\ncomplete -F _f argdump";
    let mut seen = Vec::new();
    for options in [
        Options::bare().before(super::QUIET),
        scripted(Fake::Reverse),
    ] {
        let mut terminal = home.start(&options.after(function));
        terminal.press(format!("argdump one --two='th re{TAB}"));
        crate::common::eventually("the function ran", || {
            std::fs::read_to_string(home.home().join("seen"))
                .ok()
                .filter(|text| text.ends_with('\n'))
        });
        terminal.wait_for("the list", |screen| super::list(screen).len() == 2);
        terminal.clear_line();
        seen.push(std::fs::read_to_string(home.home().join("seen")).expect("what it saw"));
        std::fs::remove_file(home.home().join("seen")).expect("forget it");
    }
    assert!(
        seen[0].starts_with(
            "argdump|th re|=|argdump|one|--two|=|'th re|4|argdump one --two='th re|24|"
        ),
        "{seen:?}"
    );
    assert_eq!(seen[0], seen[1]);
}

#[test]
fn options_of_the_completion_and_of_compopt_hold() {
    let Some(home) = home() else { return };
    home.files(&["dir one/", "file one"]);
    let functions = "\
        _nospace() { compopt -o nospace; COMPREPLY=($(compgen -W 'key= other=' -- \"$2\")); }\n\
        _files() { compopt -o filenames; local IFS=$'\\n'; COMPREPLY=($(compgen -f -- \"$2\")); }\n\
        _none() { COMPREPLY=(); }\n\
        _kept() { compopt -o nosort; COMPREPLY=(zz aa zz mm); }\n\
        complete -F _nospace c1\ncomplete -F _files c2\ncomplete -o default -F _none c3\n\
        complete -o nospace -o bashdefault -W 'aa: bb:' c4\ncomplete -F _none c5\n\
        complete -o dirnames -F _none c6\ncomplete -o plusdirs -W 'zz yy' c7\ncomplete -F _kept c8\n\
        complete -d c9";
    let mut terminal = home.start(&scripted(Fake::Reverse).after(functions));
    for (typed, done) in [
        ("c1 k", "c1 key="),
        ("c2 d", "c2 dir\\ one/"),
        ("c3 f", "c3 file\\ one "),
        ("c4 a", "c4 aa:"),
        ("c5 f", "c5 f"),
        ("c6 d", "c6 dir\\ one/"),
        ("c7 d", "c7 dir\\ one/"),
        ("c9 d", "c9 dir\\ one/"),
    ] {
        terminal.press(format!("{typed}{TAB}"));
        terminal.wait_line(done);
        terminal.clear_line();
    }
    for (typed, shown) in [
        ("c1 ", ["other=", "key="].as_slice()),
        ("c2 ", &["file one", "dir one/"]),
        ("c3 ", &["file one", "dir one/"]),
        ("c4 ", &["bb:", "aa:"]),
        ("c7 ", &["zz", "yy", "dir one/"]),
        ("c8 ", &["mm", "aa", "zz"]),
    ] {
        tab_shows(&mut terminal, typed, shown);
        terminal.clear_line();
    }
}

#[test]
fn other_kinds_of_completions_are_ordered() {
    let Some(home) = home() else { return };
    home.program(
        "lister",
        "#!/bin/sh\necho \"from $1\"; echo \"line $COMP_LINE\"\n",
    );
    let kinds = "alias one=x two=y\n\
        complete -W \"'it is' plain\" k1\ncomplete -a k2\ncomplete -C lister k3\n\
        complete -W 'aa ab b' -X '?' k4\ncomplete -W 'aa ab b' -X 'ab' k5\n\
        complete -P pre- -W 'aa ab' k6\n\
        _odd-name() { COMPREPLY=(p q); }\ncomplete -F _odd-name k7\n\
        complete -A signal k8";
    let mut terminal = home.start(&scripted(Fake::Reverse).after(kinds));
    for (typed, shown) in [
        ("k1 ", ["plain", "it is"].as_slice()),
        ("k2 ", &["two", "one"]),
        ("k3 x", &["line k3 x", "from k3"]),
        ("k4 ", &["ab", "aa"]),
        ("k5 ", &["b", "aa"]),
        ("k6 ", &["pre-aa", "pre-ab"]),
        ("k7 ", &["q", "p"]),
        ("k8 SIGU", &["SIGUSR2", "SIGUSR1", "SIGURG"]),
    ] {
        tab_shows(&mut terminal, typed, shown);
        terminal.clear_line();
    }
}

#[test]
fn words_with_newlines_and_nocasematch_leave_every_registration_what_it_was() {
    let Some(home) = home() else { return };
    let registered = "shopt -s nocasematch\n\
        _f() { COMPREPLY=(p q); }\n\
        mark() { : > ~/ran; }\n\
        complete -W $'aa\\nmark -F ab ac' k1\n\
        complete -o nospace -f k2\ncomplete -F _f k3";
    home.files(&["a one", "b two"]);
    let mut terminal = home.start(&scripted(Fake::Reverse).after(registered));
    for (typed, shown) in [
        // Words with newlines stay the shell's own.
        ("k1 a", ["aa", "ab", "ac"].as_slice()),
        ("k2 ", &["b two", "a one"]),
        ("k3 ", &["q", "p"]),
    ] {
        tab_shows(&mut terminal, typed, shown);
        terminal.clear_line();
    }
    assert!(!home.home().join("ran").exists());
}

#[test]
fn completions_are_found_whenever_they_are_registered() {
    let Some(home) = home() else { return };
    let mut terminal = home.start(
        &scripted(Fake::Reverse)
            .before(&offers("one two"))
            .before("complete -F _f early")
            .after("complete -F _f late"),
    );
    terminal.run("complete -F _f typed");
    terminal.run("eval 'complete -o nospace -F _f evaluated'");
    for command in ["early", "late", "typed", "evaluated"] {
        tab_shows(&mut terminal, &format!("{command} "), &["two", "one"]);
        terminal.clear_line();
    }
}

#[test]
fn a_completion_that_puts_another_in_its_place_is_ordered_at_the_next_tab_too() {
    let Some(home) = home() else { return };
    let fixture = "_first() { complete -F _second cmd; _second \"$@\"; }\n\
        _second() { COMPREPLY=($(compgen -W 'one two' -- \"$2\")); }\n\
        complete -F _first cmd";
    let mut terminal = home.start(&scripted(Fake::Reverse).before(fixture));
    tab_shows(&mut terminal, "cmd ", &["two", "one"]);
    terminal.press(format!("t\x7f{TAB}"));
    eventually("it is asked again", || {
        (home.requests("complete").len() == 2).then_some(())
    });
    list_is(&terminal, &["two", "one"]);
}

#[test]
fn bash_completion_loads_lazily_and_is_ordered() {
    let Some(home) = home() else { return };
    let fixture = "_lazy() { COMPREPLY=($(compgen -W 'add commit push' -- \"$2\")); }\n\
        complete -F _lazy lazy lazier\n";
    home.write(".local/share/bash-completion/completions/lazy", fixture);
    let options = scripted(Fake::Reverse).before(". /usr/share/bash-completion/bash_completion");
    let mut terminal = home.start(&options);
    tab_shows(&mut terminal, "lazy ", &["push", "commit", "add"]);
    terminal.clear_line();
    tab_shows(&mut terminal, "lazier ", &["push", "commit", "add"]);
    terminal.clear_line();
    // A completion that another one loads and calls.
    tab_shows(&mut terminal, "sudo lazy ", &["push", "commit", "add"]);
    terminal.clear_line();
    tab_shows(&mut terminal, "kill -USR", &["-USR2", "-USR1"]);
}

#[test]
fn commands_without_a_completion_list_files_with_bash_completion() {
    let Some(home) = home() else { return };
    home.files(&["a one", "b two/"]);
    let options = scripted(Fake::Reverse).before(". /usr/share/bash-completion/bash_completion");
    let mut terminal = home.start(&options);
    tab_shows(&mut terminal, "unheard-of ", &["b two/", "a one"]);
    terminal.press(format!("a{TAB}"));
    terminal.wait_line("unheard-of a\\ one ");
}

#[test]
fn candidates_are_sent_as_the_argument_will_be() {
    let Some(home) = home() else { return };
    let function =
        "_f() { compopt -o nospace; COMPREPLY=('ad\\ d ' 'commit '); }\ncomplete -F _f argdump";
    let mut terminal = home.start(&scripted(Fake::Same).after(function));
    terminal.press(format!("argdump {TAB}"));
    let call: Request = home.wait_request("complete", "a request", |_| true);
    assert_eq!(call.candidates(), ["ad d", "commit"]);
    list_is(&terminal, &["ad\\ d", "commit"]);
}

#[test]
fn too_many_candidates_pass_through_unasked() {
    let Some(home) = home() else { return };
    let function = "_f() { COMPREPLY=({1..20000}x onlyone); }\n\
        _g() { COMPREPLY=(zz yy); }\ncomplete -F _f many\ncomplete -F _g few";
    let mut terminal = home.start(&scripted(Fake::Reverse).after(function));
    terminal.press(format!("many {TAB}"));
    terminal.wait_text("Display all 20001 possibilities?");
    terminal.press("n");
    terminal.wait_line("many ");
    terminal.clear_line();
    tab_shows(&mut terminal, "few ", &["zz", "yy"]);
    assert!(
        home.requests("complete")
            .iter()
            .all(|call| call.get("line") == "few ")
    );
}

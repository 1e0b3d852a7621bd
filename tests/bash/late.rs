//! Until the first TAB one function stands in for all completions, and what TAB needs has not been read.

use super::{list_is, scripted, tab_shows, three_files};
use crate::common::{ENTER, Fake, Home, Options, TAB, Terminal, eventually};

const NATIVE: [&str; 3] = ["apple", "banana", "cherry"];
const OURS: [&str; 3] = ["cherry", "banana", "apple"];

/// A completion function whose own order is not the alphabet's, and one with options.
const REGISTERED: &str = "_f() { compopt -o nosort; COMPREPLY=(mm zz aa); }\n\
    _g() { COMPREPLY=(key= other=); }\n\
    complete -F _f listed\ncomplete -o nospace -F _g spaced\ncomplete -W 'aa ab' -X ab filtered";

/// What `complete -p` says, sorted.
fn registered(home: &Home, terminal: &mut Terminal) -> String {
    terminal.run("complete -p | LC_ALL=C sort > ~/registered");
    std::fs::read_to_string(home.home().join("registered")).expect("what is registered")
}

#[test]
fn a_start_reads_no_more_than_it_needs() {
    let Some(home) = three_files() else { return };
    let mut terminal = home.start(&scripted(Fake::Reverse).after(REGISTERED));
    terminal.run("argdump \"$(type -t __tabsense_adopt)\" \"$(type -t __tabsense_ask)\"");
    assert_eq!(home.next_arguments(0), [b"".to_vec(), b"".to_vec()]);
    tab_shows(&mut terminal, "listed ", &["aa", "zz", "mm"]);
    terminal.clear_line();
    terminal.press(format!("spaced k{TAB}"));
    terminal.wait_line("spaced key=");
    terminal.clear_line();
    terminal.press(format!("filtered {TAB}"));
    terminal.wait_line("filtered aa ");
}

/// What the first prompt of a shell has read, what is registered then, and that TAB is ours.
fn first_prompt(home: &Home, lines: &str) -> [Vec<u8>; 3] {
    // A shell that ends may have written its own.
    let history = "echo one\nfor x in a b; do\n  echo $x\ndone\n";
    home.write(".bash_history", history);
    let mut terminal = home.start(&scripted(Fake::Reverse).before(lines));
    // One command: the next prompt reads anew.
    terminal.run(
        "printf '%s' \"$__tabsense_last\" > ~/last; printf '%s' \"$__tabsense_kept\" > ~/kept",
    );
    let read = |file| std::fs::read(home.home().join(file)).expect("what was read");
    let registered = registered(home, &mut terminal);
    tab_shows(&mut terminal, "argdump ", &OURS);
    let text = terminal.text();
    assert!(!text.contains("bash: "), "{text}");
    [read("last"), read("kept"), registered.into_bytes()]
}

#[test]
fn a_first_prompt_that_init_has_told_reads_the_same_without_a_subshell() {
    let Some(home) = three_files() else { return };
    // Quotes over lines, odd quotes, and more than a pipe holds.
    let odd = "complete -W $'a\\nb c' wide\ncomplete -P \"it's\" -W x quoted";
    let many = "for i in {1..3000}; do complete -W 'a b' -X 'a \"$' command-$i; done";
    let library = ". /usr/share/bash-completion/bash_completion";
    for lines in ["", REGISTERED, odd, many, library] {
        let [plain, told] =
            ["1", "$$"].map(|pid| first_prompt(&home, &format!("{lines}\n__tabsense_told={pid}")));
        for (plain, told) in plain.iter().zip(&told) {
            assert_eq!(
                plain.escape_ascii().to_string(),
                told.escape_ascii().to_string()
            );
        }
    }
}

#[test]
fn the_first_tab_may_be_for_any_command() {
    let Some(home) = three_files() else { return };
    let library = "/usr/share/bash-completion/bash_completion";
    for (lines, typed, expected) in [
        ("", "argdump ", OURS.as_slice()),
        (REGISTERED, "listed ", &["aa", "zz", "mm"]),
        (REGISTERED, "/no/where/listed ", &["aa", "zz", "mm"]),
        (
            "complete -o default -F _none -E; _none() { :; }",
            "argdump ",
            &OURS,
        ),
        (library, "unheard-of ", &OURS),
        (library, "kill -USR", &["-USR2", "-USR1"]),
    ] {
        let lines = lines.replace(library, &format!(". {library}"));
        let mut terminal = home.start(&scripted(Fake::Reverse).before(&lines));
        tab_shows(&mut terminal, typed, expected);
    }
    home.program("qqone", "#!/bin/sh\n");
    let mut terminal = home.start(&scripted(Fake::Reverse));
    terminal.press(format!("qqo{TAB}"));
    terminal.wait_line("qqone ");
}

#[test]
fn what_is_changed_before_the_first_tab_stays_changed() {
    let Some(home) = three_files() else { return };
    let changes = "complete -r spaced; _h() { COMPREPLY=(one two); }; complete -F _h listed";
    let mut terminal = home.start(&scripted(Fake::Reverse).after(REGISTERED));
    terminal.run(changes);
    tab_shows(&mut terminal, "argdump ", &OURS);
    terminal.clear_line();
    tab_shows(&mut terminal, "listed ", &["two", "one"]);
    terminal.clear_line();
    tab_shows(&mut terminal, "spaced ", &OURS);
}

#[test]
fn a_completion_that_takes_over_what_stands_there_gets_what_was_there() {
    let Some(home) = three_files() else { return };
    let take = "taken=$(complete -p listed); taken=${taken#*-F }; taken=${taken%% *}; \
        _t() { $taken \"$@\"; COMPREPLY+=(extra); }; complete -F _t listed";
    let mut terminal = home.start(&scripted(Fake::Reverse).after(REGISTERED));
    terminal.run(take);
    // It is the user's own and not yet wrapped, as whatever is registered at the prompt.
    tab_shows(&mut terminal, "listed ", &["mm", "zz", "aa", "extra"]);
    terminal.clear_line();
    tab_shows(&mut terminal, "listed ", &["extra", "aa", "zz", "mm"]);
}

#[test]
fn what_stands_there_may_be_copied() {
    let Some(home) = three_files() else { return };
    let mut terminal = home.start(&scripted(Fake::Reverse).after(REGISTERED));
    terminal.run("eval \"$(complete -p listed | sed 's/listed$/copied/')\"");
    tab_shows(&mut terminal, "copied ", &OURS);
    terminal.clear_line();
    tab_shows(&mut terminal, "listed ", &["aa", "zz", "mm"]);
}

#[test]
fn a_program_that_was_replaced_leaves_bash_as_it_was() {
    let Some(home) = three_files() else { return };
    let bare = Options::bare().before(super::QUIET).after(REGISTERED);
    let mut terminal = home.start(&bare);
    let expected = registered(&home, &mut terminal);
    drop(terminal);
    let other = "__tabsense_version=other";
    let options = scripted(Fake::Reverse).after(REGISTERED).after(other);
    let mut terminal = home.start(&options);
    tab_shows(&mut terminal, "argdump ", &NATIVE);
    terminal.clear_line();
    tab_shows(&mut terminal, "listed ", &["mm", "zz", "aa"]);
    terminal.clear_line();
    assert_eq!(registered(&home, &mut terminal), expected);
    let before = home.arguments().len();
    terminal.run("argdump \"$__tabsense_native\"");
    assert_eq!(
        home.next_arguments(before),
        [b"tabsense was replaced after this shell had started".to_vec()]
    );
    assert!(home.requests("complete").is_empty());
}

#[test]
fn what_is_no_part_of_the_script_is_never_evaluated() {
    let Some(home) = three_files() else { return };
    home.program(
        "tabsense-fake",
        "#!/bin/sh\nprintf '# tabsense tab\\n: > PWNED\\n\\0'\necho ': > PWNED'\n",
    );
    let mut terminal = home.start(&scripted(Fake::Same));
    tab_shows(&mut terminal, "argdump ", &NATIVE);
    terminal.clear_line();
    terminal.run("argdump x");
    assert!(!home.work().join("PWNED").exists());
    assert!(!terminal.text().contains("warning"), "{}", terminal.text());
}

#[test]
fn a_program_that_is_away_at_the_first_tab_is_found_when_it_is_back() {
    let Some(home) = three_files() else { return };
    let bin = home.root().join("bin");
    let (program, away) = (bin.join("tabsense-fake"), bin.join("away"));
    let mut terminal = home.start(&scripted(Fake::Reverse).after(REGISTERED));
    std::fs::rename(&program, &away).expect("take it away");
    tab_shows(&mut terminal, "listed ", &["mm", "zz", "aa"]);
    terminal.clear_line();
    tab_shows(&mut terminal, "argdump ", &NATIVE);
    terminal.clear_line();
    std::fs::rename(&away, &program).expect("bring it back");
    terminal.run("");
    tab_shows(&mut terminal, "listed ", &["aa", "zz", "mm"]);
    terminal.clear_line();
    tab_shows(&mut terminal, "argdump ", &OURS);
}

#[test]
fn a_shell_that_is_told_again_keeps_what_was_registered() {
    let Some(home) = three_files() else { return };
    let again = home.shell().source_scripts();
    let mut terminal = home.start(&scripted(Fake::Reverse).after(REGISTERED));
    terminal.run(&again);
    tab_shows(&mut terminal, "listed ", &["aa", "zz", "mm"]);
    terminal.clear_line();
    terminal.run(&again);
    tab_shows(&mut terminal, "listed ", &["aa", "zz", "mm"]);
    list_is(&terminal, &["aa", "zz", "mm"]);
    assert_eq!(home.requests("complete").len(), 2);
}

/// Each word that a script may begin a command with.
const ALIASES: &str = "alias local=false declare=false test=false return=false command=false unset=false \
    complete=false compopt=false shopt=false export=false printf=false builtin=false trap=false \
    if=false case=false for=false while=false '[[=false' '[=false' :=false history=false set=false";

#[test]
fn no_alias_changes_what_the_line_defines() {
    let Some(home) = three_files() else { return };
    for aliases in [ALIASES, "shopt -s expand_aliases; alias 'shopt=echo oops'"] {
        let rc = format!(
            "{{prompt}}{}\n{REGISTERED}\n{aliases}\neval \"$('{}' init bash)\"\n\
            TABSENSE_BIN='{}' __tabsense_version=\n__tabsense_patience=9\n",
            super::QUIET,
            home.client().display(),
            home.root().join("bin/tabsense-fake").display(),
        );
        let mut terminal = home.start(&Options::fake(Fake::Reverse).rc(&rc));
        tab_shows(&mut terminal, "listed ", &["aa", "zz", "mm"]);
        terminal.clear_line();
        tab_shows(&mut terminal, "argdump ", &OURS);
        terminal.clear_line();
        let calls = home.arguments().len();
        terminal.run("argdump ${BASH_ALIASES[local]-} ${BASH_ALIASES[shopt]}");
        let kept = home.next_arguments(calls);
        assert!(kept.last().is_some_and(|text| !text.is_empty()), "{kept:?}");
        let session = format!("{}.", terminal.pid());
        home.wait_request("prompt", "it is recorded", |call| {
            call.get("session").starts_with(&session) && call.get("command").starts_with("argdump")
        });
        let text = terminal.text();
        assert!(!text.contains("bash:") && !text.contains("oops"), "{text}");
    }
}

#[test]
fn the_line_prints_what_the_files_define() {
    let Some(home) = three_files() else { return };
    let Some(bash) = home.shell().program() else {
        return;
    };
    let part = |file: &str| format!("{}/shell/tabsense-{file}.bash", env!("CARGO_MANIFEST_DIR"));
    let client = home.client().display().to_string();
    let init = format!("eval \"$('{client}' init bash)\"");
    let parts =
        ["tab", "do"].map(|name| format!("; eval \"$('{client}' init bash --part {name})\""));
    let files = ["tab", "tab-order", "do"].map(|name| format!("; source '{}'", part(name)));
    let defined = |line: String| {
        let mut command = home.command(&bash);
        command.args(["--norc", "-ic", &format!("{line}; declare -f")]);
        let output = command.output().expect("run bash");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let printed = defined(init + &parts.concat());
    assert!(printed.contains("__tabsense_ask ()"), "{printed}");
    let read = defined(home.shell().source_scripts() + &files.concat());
    assert_eq!(printed, read);
}

#[test]
fn interrupting_the_first_tab_leaves_a_working_shell() {
    let Some(home) = three_files() else { return };
    let (held, slow) = home.slow_client();
    let mut terminal = home.start(&scripted(Fake::Reverse).after(REGISTERED).after(&slow));
    terminal.press(format!("listed {TAB}"));
    eventually("the part is asked for", || held.exists().then_some(()));
    super::interrupt(&mut terminal);
    std::fs::remove_file(&held).expect("let it go");
    terminal.run("TABSENSE_BIN=$fast");
    terminal.press(ENTER);
    terminal.wait_prompt();
    tab_shows(&mut terminal, "listed ", &["aa", "zz", "mm"]);
}

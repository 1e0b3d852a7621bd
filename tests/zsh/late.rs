//! What TAB needs is read at the first TAB, and only when it belongs to the same version; and the line is
//! read as it is written, whatever the user's aliases are.

use crate::common::{ENTER, Fake, Home, Options, Shell, TAB, Terminal, eventually};

fn three_files() -> Option<Home> {
    let home = Home::new(Shell::Zsh)?;
    home.files(&["alpha", "beta", "gamma"]);
    Some(home)
}

#[track_caller]
fn lists(terminal: &mut Terminal, expected: &[&str]) {
    terminal.press("argdump ");
    terminal.press(TAB);
    terminal.wait_list(expected);
    terminal.clear_line();
}

const NATIVE: [&str; 3] = ["alpha", "beta", "gamma"];
const OURS: [&str; 3] = ["gamma", "beta", "alpha"];

#[test]
fn a_start_reads_no_more_than_it_needs() {
    let Some(home) = three_files() else { return };
    let mut terminal = home.start(&Options::fake(Fake::Reverse));
    terminal.run("argdump ${+functions[__tabsense_ask]} ${+functions[_tabsense_compadd]}");
    assert_eq!(home.next_arguments(0), [b"0".to_vec(), b"0".to_vec()]);
    lists(&mut terminal, &OURS);
}

#[test]
fn a_program_that_was_replaced_leaves_zsh_as_it_was() {
    let Some(home) = three_files() else { return };
    let other = "__tabsense_version=other";
    let mut terminal = home.start(&Options::fake(Fake::Reverse).after(other));
    for _ in 0..2 {
        lists(&mut terminal, &NATIVE);
    }
    terminal.run("");
    terminal.run("argdump \"$(env | grep ^__tabsense_native=)\"");
    assert_eq!(
        home.next_arguments(0),
        [b"__tabsense_native=tabsense was replaced after this shell had started".to_vec()]
    );
    assert!(home.requests("complete").is_empty());
    // Reading the line again is a start like any other.
    terminal.run("__tabsense_version=");
    terminal.run(Shell::Zsh.source_scripts());
    lists(&mut terminal, &OURS);
}

#[test]
fn what_is_no_part_of_the_script_is_never_evaluated() {
    let Some(home) = three_files() else { return };
    home.program(
        "tabsense-fake",
        "#!/bin/sh\nprintf '# tabsense tab\\n: > PWNED\\n'\n",
    );
    let mut terminal = home.start(&Options::fake(Fake::Same));
    lists(&mut terminal, &NATIVE);
    terminal.run("argdump x");
    assert!(!home.work().join("PWNED").exists());
}

#[test]
fn a_program_that_is_away_at_the_first_tab_is_found_when_it_is_back() {
    let Some(home) = three_files() else { return };
    let bin = home.root().join("bin");
    let (program, away) = (bin.join("tabsense-fake"), bin.join("away"));
    let mut terminal = home.start(&Options::fake(Fake::Reverse));
    std::fs::rename(&program, &away).expect("take it away");
    lists(&mut terminal, &NATIVE);
    std::fs::rename(&away, &program).expect("bring it back");
    lists(&mut terminal, &OURS);
}

#[test]
fn a_part_that_is_read_anew_belongs_to_the_line_that_was_read_last() {
    let Some(home) = three_files() else { return };
    let mut terminal = home.start(&Options::fake(Fake::Reverse));
    lists(&mut terminal, &OURS);
    terminal.run(Shell::Zsh.source_scripts());
    terminal.run("__tabsense_version=other");
    lists(&mut terminal, &NATIVE);
    assert_eq!(home.requests("complete").len(), 1);
}

/// Aliases of words that a script may begin a command with, and global ones of any word.
const ALIASES: [&str; 3] = [
    "alias local=false typeset=false emulate=false setopt=false zle=false autoload=false zmodload=false \
        return=false eval=false unset=false unfunction=false bindkey=false compadd=false shift=false",
    "alias local=false if=false for=false case=false while=false '[[=false' '[=false' builtin=false print=false",
    "alias -g -- local='| cat' -g='| cat' +x=oops precmd=oops aliases=oops '&&=oops' else=oops",
];

#[test]
fn no_alias_changes_what_the_line_defines() {
    let Some(home) = three_files() else { return };
    for aliases in ALIASES {
        let line = format!("'eval' \"$('{}' init zsh)\"", home.client().display());
        let rc = format!(
            "{{prompt}}HISTFILE=~/.zsh_history HISTSIZE=99 SAVEHIST=99\n{aliases}\n{line}\nTABSENSE_BIN='{}' __tabsense_version=\n",
            home.root().join("bin/tabsense-fake").display()
        );
        let mut terminal = home.start(&Options::fake(Fake::Reverse).rc(&rc));
        lists(&mut terminal, &OURS);
        let calls = home.arguments().len();
        terminal.press(format!(
            "argdump \"${{aliases[local]-}}${{galiases[local]-}}\" $options[aliases]{ENTER}"
        ));
        let kept = home.next_arguments(calls);
        assert!(
            !kept[0].is_empty() && kept[1] == b"on",
            "{aliases}: {kept:?}"
        );
        let session = format!("{}.", terminal.pid());
        home.wait_request("prompt", "it is recorded", |call| {
            call.get("session").starts_with(&session) && call.get("command").starts_with("argdump")
        });
        let text = terminal.text();
        assert!(!text.contains("zsh:") && !text.contains("oops"), "{text}");
    }
}

#[test]
fn aliases_that_are_off_stay_off() {
    let Some(home) = three_files() else { return };
    let line = format!("eval \"$('{}' init zsh)\"", home.client().display());
    let rc = format!("{{prompt}}unsetopt aliases\n{line}\n");
    let mut terminal = home.start(&Options::fake(Fake::Reverse).rc(&rc));
    terminal.run("argdump $options[aliases] ${+__tabsense_aliases}");
    assert_eq!(home.next_arguments(0), [b"off".to_vec(), b"0".to_vec()]);
}

#[test]
fn interrupting_the_first_tab_leaves_a_working_shell() {
    let Some(home) = three_files() else { return };
    let (held, slow) = home.slow_client();
    let mut terminal = home.start(&Options::fake(Fake::Reverse).after(&slow));
    terminal.press(format!("argdump {TAB}"));
    eventually("the part is asked for", || held.exists().then_some(()));
    terminal.press(crate::common::CTRL_C);
    std::fs::remove_file(&held).expect("let it go");
    terminal.clear_line();
    terminal.run("TABSENSE_BIN=$fast");
    lists(&mut terminal, &OURS);
}

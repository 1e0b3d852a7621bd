//! Terminals, directories and ways to start fish that are out of the ordinary.

use super::{pager, scripted, tab_shows, three_files};
use crate::common::{ENTER, Fake, Home, Options, Shell, TAB, packaged};
use std::process::Command;

/// fish without a terminal, reading the script; its output.
fn piped(home: &Home, command: &str) -> String {
    let mut fish: Command = home.command(&Shell::Fish.program().expect("fish"));
    let text = command.replace("{source}", &Shell::Fish.source_scripts());
    let output = fish
        .env("TABSENSE_BIN", home.root().join("bin/tabsense-fake"))
        .args(["-c", &text])
        .output()
        .expect("run fish");
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

#[test]
fn a_shell_without_a_terminal_gets_nothing() {
    let Some(home) = three_files() else { return };
    home.answer(Fake::Reverse);
    let seen = piped(
        &home,
        "{source}; functions -a | string match '*tabsense*'; set -n | string match '__tabsense*'; echo end",
    );
    assert_eq!(seen, "end\n");
    assert!(home.requests("prompt").is_empty());
}

#[test]
fn a_dumb_terminal_gets_the_same_bytes_as_without_us() {
    let Some(home) = three_files() else { return };
    let printed = |options: Options| {
        let mut terminal = home.start_unattended(&options.env("TERM", "dumb"));
        terminal.wait_text("p1>");
        terminal.press(format!("echo ba{TAB}"));
        terminal.wait_text("echo banana");
        terminal.press(ENTER);
        terminal.wait_text("p2>");
        terminal.text()
    };
    assert_eq!(
        printed(scripted(Fake::Reverse)),
        printed(Options::bare().before(super::QUIET))
    );
    assert!(home.requests("prompt").is_empty());
}

#[test]
fn no_terminal_type_at_all_is_no_fault() {
    let Some(home) = three_files() else { return };
    let mut terminal = home.start_unattended(&scripted(Fake::Reverse).env_remove("TERM"));
    terminal.wait_text("p1>");
    terminal.press(format!("argdump x{ENTER}"));
    assert_eq!(home.next_arguments(0), [b"x".to_vec()]);
}

#[test]
fn a_removed_directory_is_no_fault() {
    let Some(home) = Home::new(Shell::Fish) else {
        return;
    };
    home.files(&["gone/a/"]);
    let mut terminal = home.start(&scripted(Fake::Reverse));
    terminal.run("cd gone/a");
    std::fs::remove_dir_all(home.work().join("gone")).expect("remove the directory");
    terminal.run("");
    terminal.run("argdump x");
    terminal.press(format!("argdump {TAB}"));
    terminal.press(format!("y{ENTER}"));
    terminal.wait_prompt();
    assert_eq!(home.arguments(), [[b"x".to_vec()], [b"y".to_vec()]]);
    terminal.run(format!("cd '{}'", home.work().display()));
    let text = terminal.text();
    assert!(!text.to_lowercase().contains("tabsense"), "{text}");
    // Told with the directory as the shell names it.
    let call = home.wait_request("prompt", "the record", |call| {
        call.get("command") == "argdump x"
    });
    assert_eq!(
        call.get("ran_in"),
        home.work().join("gone/a").display().to_string()
    );
}

#[test]
fn odd_directories_are_told_byte_for_byte() {
    let Some(home) = Home::new(Shell::Fish) else {
        return;
    };
    let mut terminal = home.start(&scripted(Fake::Reverse));
    for name in [
        b"new\nline".as_slice(),
        b"$(touch PWNED)",
        b"end ",
        b"bad\xff",
    ] {
        home.files(&[[name, b"/"].concat()]);
        terminal.run(format!(
            "cd ~/work/(string unescape '{}' | string collect)",
            fish_bytes(name)
        ));
        let expected = [home.work().as_os_str().as_encoded_bytes(), b"/", name].concat();
        home.wait_request("prompt", "the directory is told", |call| {
            call.header.get("cwd") == Some(&expected)
        });
    }
    assert!(!home.work().join("PWNED").exists());
}

/// Bytes as `string unescape` reads them.
fn fish_bytes(name: &[u8]) -> String {
    name.iter().map(|byte| format!("\\X{byte:02x}")).collect()
}

#[test]
fn a_wrong_pwd_variable_from_outside_is_no_fault() {
    let Some(home) = three_files() else { return };
    let mut terminal = home.start(&scripted(Fake::Reverse).env("PWD", "/nowhere"));
    tab_shows(&mut terminal, "argdump ", &["cherry", "banana", "apple"]);
}

#[test]
fn unusual_variables_of_the_user_do_no_harm() {
    let Some(home) = three_files() else { return };
    let rc = "set -g mode x; set -g name x; set -g number x; set -g body x\n\
              set -g IFS x\nset -gx LC_ALL C\nset -g word mine; set -g lines mine\n\
              function count; end\nfunctions -e count";
    let mut terminal = home.start(&scripted(Fake::Reverse).before(rc));
    tab_shows(&mut terminal, "argdump ", &["cherry", "banana", "apple"]);
    terminal.clear_line();
    terminal.run("argdump $mode $name $number $body $word $lines");
    let arguments = home.next_arguments(0);
    assert_eq!(
        arguments,
        [b"x".as_slice(), b"x", b"x", b"x", b"mine", b"mine"]
    );
}

#[test]
fn no_universal_variable_is_set_and_nothing_is_exported() {
    let Some(home) = three_files() else { return };
    let mut terminal = home.start(&scripted(Fake::Reverse));
    tab_shows(&mut terminal, "argdump ", &["cherry", "banana", "apple"]);
    terminal.clear_line();
    terminal.run("argdump (set -U --names | string match -i '*tabsense*') (env | string match -i '*__tabsense*') end");
    assert_eq!(home.next_arguments(0), [b"end".to_vec()]);
}

#[test]
fn a_narrow_terminal_shows_the_pager_too() {
    let Some(home) = three_files() else { return };
    let mut terminal = home.start(&scripted(Fake::Reverse));
    terminal.resize(20, 24);
    terminal.press(format!("ls {TAB}"));
    terminal.wait_for("our order", |screen| {
        let words = pager(screen);
        words.first().is_some_and(|word| word.starts_with('c')) && words.len() >= 3
    });
}

/// What a prompt program and the file finder do: an own prompt with the status, own keys.
const OTHERS: &str = "function fish_right_prompt; echo -n \"[$status]\"; end\n\
    builtin functions -e fish_mode_prompt\n\
    functions -q fzf_key_bindings; and fzf_key_bindings";

#[test]
fn a_prompt_program_and_the_file_finder_work_on_beside_us() {
    let Some(home) = three_files() else { return };
    if !packaged(&["/usr/share/fish/vendor_functions.d/fzf_key_bindings.fish"]) {
        return;
    }
    let orders = [
        scripted(Fake::Reverse).before(OTHERS),
        scripted(Fake::Reverse).after(OTHERS),
    ];
    for options in orders {
        let mut terminal = home.start_unattended(&options);
        terminal.wait_text("[0]");
        terminal.press(format!("false{ENTER}"));
        terminal.wait_text("[1]");
        tab_shows_first(&mut terminal, "argdump ", "cherry");
        terminal.clear_line();
        terminal.press("argdump \x14");
        terminal.wait_text("3/3");
        terminal.press("ban");
        terminal.wait_text("1/3");
        terminal.press(ENTER);
        terminal.wait_line("argdump banana ");
    }
}

/// Types `line`, presses TAB and waits until the pager begins with `word`.
#[track_caller]
fn tab_shows_first(terminal: &mut crate::common::Terminal, line: &str, word: &str) {
    terminal.press(line);
    terminal.press(TAB);
    terminal.wait_for(&format!("the pager begins with {word:?}"), |screen| {
        pager(screen).first().is_some_and(|first| first == word)
    });
}

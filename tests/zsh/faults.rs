//! Whatever the client does: zsh's own completion, as if we were not there.

use crate::common::{
    CTRL_C, CTRL_U, DOWN, ENTER, Fake, Home, Options, Shell, TAB, Terminal, eventually,
};

/// Lists, chooses from the menu and runs as in the bare shell.
#[track_caller]
fn is_native(home: &Home, options: &Options) {
    let before = home.arguments().len();
    let mut terminal = home.start(options);
    terminal.press("argdump ");
    terminal.press(TAB);
    terminal.wait_list(&["alpha", "beta", "gamma"]);
    terminal.press(TAB);
    terminal.wait_line("argdump alpha");
    terminal.press(TAB);
    terminal.wait_line("argdump beta");
    terminal.wait_list(&["alpha", "beta", "gamma"]);
    terminal.press(ENTER);
    assert_eq!(home.next_arguments(before), [b"beta".to_vec()]);
    terminal.wait_prompt();
    let text = terminal.text();
    let rows: Vec<&str> = text.lines().map(str::trim_end).collect();
    assert_eq!(
        rows,
        ["p1> argdump beta", "argdump: 1", "p2>"],
        "nothing else is printed"
    );
}

#[test]
fn a_bad_answer_leaves_the_native_result() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    home.files(&["alpha", "beta", "gamma"]);
    is_native(&home, &Options::bare());
    for fake in Fake::BAD {
        is_native(&home, &Options::fake(fake));
    }
}

#[test]
fn without_the_program_tab_is_native_and_silent() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    home.files(&["alpha", "beta", "gamma"]);
    is_native(&home, &Options::bare());
    is_native(
        &home,
        &Options::fake(Fake::Reverse).after("TABSENSE_BIN=/nonexistent/tabsense"),
    );
    let handler = "TABSENSE_BIN=tabsense; command_not_found_handler() { echo not found: $1 }";
    is_native(&home, &Options::fake(Fake::Reverse).after(handler));
}

#[test]
fn a_client_that_is_no_program_is_silent_too() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    home.files(&["alpha", "beta", "gamma"]);
    is_native(&home, &Options::bare());
    home.program("broken", "#!/nonexistent/interpreter\n");
    let broken = format!("TABSENSE_BIN={}", home.root().join("bin/broken").display());
    is_native(&home, &Options::fake(Fake::Reverse).after(&broken));
}

#[test]
fn a_full_runtime_directory_leaves_tab_native() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root may write where nothing can be made");
        return;
    }
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    home.files(&["alpha", "beta", "gamma"]);
    is_native(&home, &Options::bare());
    let options = Options::fake(Fake::Reverse).after("XDG_RUNTIME_DIR=/proc");
    is_native(&home, &options);
}

#[test]
fn without_a_runtime_directory_no_line_passes_through_a_file() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    home.files(&["alpha", "beta", "gamma"]);
    // No file of zsh's own can be made.
    let without = "unset XDG_RUNTIME_DIR; TMPPREFIX=/nonexistent/x";
    let history = "HISTFILE=~/.history HISTSIZE=100 SAVEHIST=100";
    let options = Options::fake(Fake::Reverse).before(history).after(without);
    let mut terminal = home.start(&options);
    terminal.press(format!("argdump {TAB}{TAB}{ENTER}"));
    assert_eq!(home.next_arguments(0), [b"gamma"]);
    terminal.wait_prompt();
    terminal.run("echo told");
    eventually("the command is told", || {
        let told = home.requests("prompt");
        told.iter()
            .find(|call| call.get("command") == "echo told")
            .map(|_| ())
    });
}

#[test]
fn a_removed_working_directory_costs_nothing() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    home.files(&["gone/"]);
    let mut terminal = home.start(&Options::fake(Fake::Reverse));
    terminal.run("cd gone");
    std::fs::remove_dir(home.work().join("gone")).expect("remove");
    terminal.run("");
    terminal.press("ls ");
    terminal.press(TAB);
    terminal.clear_line();
    terminal.run("argdump x");
    terminal.run("cd ..");
    terminal.run("argdump $PWD");
    assert_eq!(
        home.arguments()[1],
        [home.work().display().to_string().into_bytes()]
    );
    assert!(!terminal.text().contains("tabsense"), "{}", terminal.text());
}

#[test]
fn more_matches_than_the_limit_are_left_alone() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    let setup = "__tabsense_most=50; _many() { compadd {100..159} }; compdef _many many";
    let mut terminal = home.start(&Options::fake(Fake::Reverse).after(setup));
    terminal.press("many ");
    terminal.press(TAB);
    terminal.wait_line("many 1");
    terminal.press(TAB);
    terminal.wait_text("159");
    assert_eq!(terminal.list()[0], "100");
    assert_eq!(home.requests("complete").len(), 0);
}

#[test]
fn another_plugin_in_front_of_compadd_wins() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    home.files(&["alpha", "beta"]);
    let mut terminal =
        home.start(&Options::fake(Fake::Reverse).after("compadd() { builtin compadd \"$@\" }"));
    terminal.press("argdump ");
    terminal.press(TAB);
    terminal.wait_text("beta");
    terminal.wait_list(&["alpha", "beta"]);
    assert_eq!(home.requests("complete").len(), 0);
}

#[test]
fn nothing_that_is_completed_is_ever_run() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    let names = [
        "(touch P1)/",
        "$(touch P2)/",
        "`touch P3`/",
        ";touch P4;/",
        "${x:=$(touch P5)}/",
        "a[$(touch P6)]/",
    ];
    home.files(&names);
    let mut terminal = home.start(&Options::fake(Fake::Reverse));
    terminal.press("cd ");
    for _ in 0..8 {
        terminal.press(TAB);
    }
    terminal.clear_line();
    let lines = [
        "echo '$(touch P7)",
        "awk '$1 > 0.0",
        "echo \"`touch P8`",
        "echo ${a[$(touch P9)]",
        "echo (touch P10)",
        "ls <(touch P11)",
    ];
    for line in lines {
        terminal.press(line);
        terminal.press(TAB);
        terminal.clear_line();
    }
    let left: Vec<_> = std::fs::read_dir(home.work())
        .expect("the directory")
        .flatten()
        .map(|e| e.file_name())
        .collect();
    assert!(
        left.iter()
            .all(|name| !name.to_string_lossy().starts_with('P') && name != "0.0"),
        "{left:?}"
    );
}

#[test]
fn interrupting_completion_leaves_a_working_shell() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    home.files(&["alpha", "beta"]);
    let setup = "_slow() { compadd one two; : > started; while :; do :; done }; compdef _slow slow";
    let mut terminal = home.start(&Options::fake(Fake::Reverse).after(setup));
    terminal.press("slow ");
    terminal.press(TAB);
    crate::common::eventually("the completer runs", || {
        home.work().join("started").exists().then_some(())
    });
    terminal.press(CTRL_C);
    terminal.wait_text("Killed by signal");
    crate::common::eventually("the completion ends", || {
        terminal.raw().contains(&7).then_some(())
    });
    terminal.press(CTRL_C);
    terminal.press(CTRL_U);
    terminal.wait_prompt();
    follow_up(&home, &mut terminal);
}

fn follow_up(home: &Home, terminal: &mut Terminal) {
    terminal.press("argdump ");
    terminal.press(TAB);
    terminal.wait_text("beta");
    terminal.press(DOWN);
    terminal.clear_line();
    terminal.run("argdump after");
    assert_eq!(home.arguments()[0], [b"after".to_vec()]);
}

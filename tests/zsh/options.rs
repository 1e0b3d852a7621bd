//! Any shell options, any place of the init line, any terminal.

use crate::common::{ENTER, Fake, Home, Options, Shell, TAB};

/// Options that broke other plugins.
const SETTINGS: [&str; 44] = [
    "KSH_ARRAYS",
    "SH_WORD_SPLIT",
    "GLOB_SUBST",
    "NO_NOMATCH",
    "NO_UNSET",
    "ERR_EXIT",
    "ERR_RETURN",
    "NULL_GLOB",
    "CSH_NULL_GLOB",
    "NO_GLOB",
    "EXTENDED_GLOB",
    "KSH_GLOB",
    "SH_GLOB",
    "IGNORE_BRACES",
    "IGNORE_CLOSE_BRACES",
    "RC_EXPAND_PARAM",
    "POSIX_BUILTINS",
    "POSIX_IDENTIFIERS",
    "POSIX_ARGZERO",
    "ALL_EXPORT",
    "NO_CLOBBER",
    "NO_BANG_HIST",
    "NO_EQUALS",
    "MAGIC_EQUAL_SUBST",
    "WARN_CREATE_GLOBAL",
    "WARN_NESTED_VAR",
    "TYPESET_SILENT",
    "NO_MULTIBYTE",
    "NO_MONITOR",
    "NO_NOTIFY",
    "KSH_TYPESET",
    "C_BASES",
    "NO_SHORT_LOOPS",
    "NO_FUNCTION_ARGZERO",
    "INTERACTIVE_COMMENTS",
    "AUTO_CD",
    "CDABLE_VARS",
    "HIST_SUBST_PATTERN",
    "RC_QUOTES",
    "CSH_JUNKIE_QUOTES",
    "NO_PROMPT_SUBST",
    "PROMPT_SUBST",
    "PRINT_EXIT_VALUE",
    "XTRACE",
];

const COMPLAINTS: [&str; 9] = [
    "not set",
    "bad pattern",
    "no matches",
    "parse error",
    "bad substitution",
    "No such widget",
    "tabsense",
    "bad math",
    "command not found",
];

/// One session with `setting`: completes an odd name, runs it, and looks for complaints.
fn session(home: &Home, options: &Options, setting: &str) {
    let before = home.arguments().len();
    let mut terminal = home.start(options);
    terminal.press("argdump d_space/");
    terminal.press(TAB);
    terminal.press(TAB);
    terminal.press(ENTER);
    terminal.wait_for(&format!("argdump runs with {setting}"), |_| {
        home.arguments().len() > before
    });
    let got = home.next_arguments(before);
    terminal.wait_prompt();
    terminal.run("false || true");
    terminal.run("");
    terminal.run("argdump alive");
    assert_eq!(
        got,
        [b"d_space/b c".to_vec()],
        "{setting}: not in our order\n{}",
        terminal.text()
    );
    let raw = String::from_utf8_lossy(&terminal.raw()).into_owned();
    if setting == "XTRACE" {
        return;
    }
    for complaint in COMPLAINTS {
        assert!(!raw.contains(complaint), "{setting}: {complaint}\n{raw}");
    }
}

/// Every second of the options, from `first` on: the tests run side by side.
fn half(first: usize) -> impl Iterator<Item = &'static str> {
    SETTINGS.into_iter().skip(first).step_by(2)
}

fn set_after_the_init_line(settings: impl Iterator<Item = &'static str>) {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    home.files(&["d_space/a b", "d_space/b c"]);
    for setting in settings {
        session(
            &home,
            &Options::fake(Fake::Reverse).after(&format!("setopt {setting}")),
            setting,
        );
    }
}

/// As people write it: `eval` parses the whole script at once, under the user's options.
fn set_before_the_init_line(settings: impl Iterator<Item = &'static str>) {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    home.files(&["d_space/a b", "d_space/b c"]);
    for setting in settings {
        let init = Shell::Zsh.init_line(&home.client());
        let fake = home.root().join("bin/tabsense-fake");
        // The parts that are read later come from the source tree, without a version.
        let rc = format!(
            "{{prompt}}setopt {setting}\n{init}TABSENSE_BIN={} __tabsense_version=\n",
            fake.display()
        );
        session(&home, &Options::fake(Fake::Reverse).rc(&rc), setting);
    }
}

#[test]
fn every_option_set_after_the_init_line_is_borne() {
    set_after_the_init_line(half(0));
}

#[test]
fn every_other_option_set_after_the_init_line_is_borne() {
    set_after_the_init_line(half(1));
}

#[test]
fn every_option_set_before_the_init_line_is_borne() {
    set_before_the_init_line(half(0));
}

#[test]
fn every_other_option_set_before_the_init_line_is_borne() {
    set_before_the_init_line(half(1));
}

#[test]
fn set_e_and_u_are_borne() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    home.files(&["d_space/a b", "d_space/b c"]);
    session(
        &home,
        &Options::fake(Fake::Reverse).before("set -eu; setopt pipe_fail"),
        "set -eu",
    );
}

#[test]
fn sourcing_again_changes_nothing() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    home.files(&["d_space/a b", "d_space/b c"]);
    let again = [Shell::Zsh.source_scripts(), Shell::Zsh.source_scripts()].join("; ");
    let options = Options::fake(Fake::Reverse).after(&again);
    session(&home, &options, "sourced again");
    let mut terminal = home.start(&options);
    let before = home.arguments().len();
    terminal.run("argdump $precmd_functions $preexec_functions");
    let hooks = home.next_arguments(before);
    assert_eq!(
        hooks,
        [
            b"__tabsense_precmd".to_vec(),
            b"__tabsense_preexec".to_vec()
        ]
    );
}

#[test]
fn the_init_line_may_come_before_compinit() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    home.files(&["d_space/a b", "d_space/b c"]);
    let rc = "{init}\nsetopt no_global_rcs\n{prompt}";
    session(
        &home,
        &Options::fake(Fake::Reverse).rc(rc),
        "before compinit",
    );
}

#[test]
fn without_compinit_tab_stays_zshs_own() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    home.files(&["alpha", "beta"]);
    let rc = "PS1='p1> '\n{init}";
    let mut terminal = home.start(&Options::fake(Fake::Reverse).rc(rc));
    terminal.press("argdump ");
    terminal.press(TAB);
    terminal.wait_text("beta");
    terminal.wait_list(&["alpha", "beta"]);
    let mut terminal = home.start(&Options::fake(Fake::Reverse).rc(rc).env("TABSENSE_TRY", "1"));
    terminal.press("argdump ");
    terminal.press(TAB);
    terminal.wait_text("beta");
    terminal.wait_list(&["beta", "alpha"]);
}

#[test]
fn one_key_is_bound_and_no_option_changed() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    home.files(&["alpha", "beta"]);
    let tables = "{ for m in emacs viins vicmd menuselect; do bindkey -L -M $m; done; setopt; alias } > ~/tables-$NAME";
    for (name, options) in [
        ("bare", Options::bare()),
        ("ours", Options::fake(Fake::Reverse)),
    ] {
        let mut terminal = home.start(&options.env("NAME", name).before("zmodload zsh/complist"));
        terminal.press("argdump ");
        terminal.press(TAB);
        terminal.wait_text("beta");
        terminal.clear_line();
        terminal.run(tables);
    }
    let read = |name: &str| std::fs::read_to_string(home.home().join(name)).expect("the tables");
    let (ours, bare) = (read("tables-ours"), read("tables-bare"));
    let only = |these: &str, others: &str| -> Vec<String> {
        let others: Vec<&str> = others.lines().collect();
        let lines = these.lines().filter(|line| !others.contains(line));
        lines.map(str::to_owned).collect()
    };
    assert_eq!(
        only(&ours, &bare),
        [r#"bindkey -M emacs "^[^M" _tabsense_do"#, ",='noglob ,'",]
    );
    assert_eq!(
        only(&bare, &ours),
        [r#"bindkey -M emacs "^[^M" self-insert-unmeta"#]
    );
}

#[test]
fn a_plain_terminal_gets_the_same_bytes_as_without_us() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    home.files(&["alpha", "beta"]);
    for terminal_type in [Some("dumb"), Some("nosuchterm"), None] {
        let mut transcripts = Vec::new();
        for options in [Options::bare(), Options::fake(Fake::Same)] {
            let options = options.rc("PS1='$ '\nautoload -Uz compinit && compinit -u\n{init}");
            let options = match terminal_type {
                Some(name) => options.env("TERM", name),
                None => options.env_remove("TERM"),
            };
            let mut terminal = home.start_unattended(&options);
            terminal.wait_for("a prompt", |screen| {
                screen.contents().trim_end().ends_with('$')
            });
            terminal.press("echo hi\r");
            // What is typed before the line editor listens is echoed by the terminal, too.
            terminal.wait_for("the next prompt", |screen| {
                let text = screen.contents();
                text.contains("\nhi") && text.trim_end().ends_with('$')
            });
            terminal.press("ls \t\x15exit\r");
            terminal.wait_end();
            transcripts.push(terminal.raw());
        }
        let text = |bytes: &[u8]| bytes.escape_ascii().to_string();
        assert_eq!(
            text(&transcripts[0]),
            text(&transcripts[1]),
            "{terminal_type:?}"
        );
    }
}

#[test]
fn a_shell_that_is_not_interactive_does_nothing() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    let zsh = Shell::Zsh.program().expect("installed");
    let line = format!(
        "TABSENSE_BIN={}; {}; echo hi; print ${{+functions[_tabsense_tab]}}",
        home.root().join("bin/tabsense-fake").display(),
        Shell::Zsh.source_scripts()
    );
    let output = home
        .command(&zsh)
        .args(["-f", "-eu", "-c", &line])
        .output()
        .expect("run zsh");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "hi\n0\n");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(home.requests("prompt").len(), 0);
}

//! Plugins that people load beside us: the packaged ones themselves, and what the others do to
//! completion, line editor and prompt.

use crate::common::{ENTER, ESC, Fake, Home, Options, Shell, TAB, Terminal, packaged};

const SUGGESTIONS: &str = "/usr/share/zsh-autosuggestions/zsh-autosuggestions.zsh";
const HIGHLIGHTING: &str = "/usr/share/zsh-syntax-highlighting/zsh-syntax-highlighting.zsh";
const FZF_COMPLETION: &str = "/usr/share/doc/fzf/examples/completion.zsh";
const FZF_KEYS: &str = "/usr/share/doc/fzf/examples/key-bindings.zsh";
const RIGHT: &str = "\x1b[C";
const CTRL_T: &str = "\x14";

fn three_files() -> Option<Home> {
    let home = Home::new(Shell::Zsh)?;
    home.files(&["alpha", "beta", "gamma"]);
    Some(home)
}

/// Both orders of the plugins' lines and ours.
fn both_orders(plugins: &str) -> [Options; 2] {
    let options = || Options::fake(Fake::Reverse);
    [options().before(plugins), options().after(plugins)]
}

#[track_caller]
fn tab_is_ours(home: &Home, terminal: &mut Terminal) {
    terminal.press("argdump ");
    terminal.press(TAB);
    terminal.wait_text("gamma");
    terminal.wait_list(&["gamma", "beta", "alpha"]);
    let before = home.arguments().len();
    terminal.press(format!("{TAB}{TAB}"));
    terminal.wait_line("argdump beta");
    terminal.press(ENTER);
    assert_eq!(home.next_arguments(before), [b"beta".to_vec()]);
    terminal.wait_prompt();
}

/// The text of the cursor's row, with what stands right of the cursor.
fn row(screen: &vt100::Screen) -> String {
    let at = usize::from(screen.cursor_position().0);
    let mut rows = screen.rows(0, screen.size().1.get());
    rows.nth(at).unwrap_or_default().trim_end().to_owned()
}

/// Waits until the cursor's row ends in `text`, whatever part of it is ghost text.
#[track_caller]
fn wait_row(terminal: &Terminal, text: &str) {
    terminal.wait_for(&format!("the row ends in {text:?}"), |screen| {
        row(screen).ends_with(text)
    });
}

#[test]
fn ghost_text_and_colours_stay_and_tab_is_ours() {
    let Some(home) = three_files() else { return };
    if !packaged(&[SUGGESTIONS, HIGHLIGHTING]) {
        return;
    }
    for options in both_orders(&format!(". {SUGGESTIONS}; . {HIGHLIGHTING}")) {
        let history = "HISTFILE=~/.zsh_history HISTSIZE=100 SAVEHIST=100";
        let mut terminal = home.start(&options.before(history));
        terminal.run("argdump ghost text");
        tab_is_ours(&home, &mut terminal);
        terminal.type_slowly("argdump g");
        wait_row(&terminal, "> argdump ghost text");
        terminal.press(RIGHT);
        terminal.wait_line("argdump ghost text");
        let column = terminal.cursor().1 - 12;
        terminal.wait_for("the command has a colour", |screen| {
            let (at, _) = screen.cursor_position();
            let cell = screen.cell(at, column - 3).expect("a cell");
            cell.fgcolor() != vt100::Color::Default
        });
        terminal.press(ENTER);
        terminal.wait_prompt();
        let told = home.requests("prompt");
        let told = told.iter().filter(|call| {
            call.get("session")
                .starts_with(&format!("{}.", terminal.pid()))
                && call.get("command") == "argdump beta"
        });
        assert_eq!(told.count(), 1);
    }
}

#[test]
fn suggestions_from_completion_still_come_and_ask_nobody() {
    let Some(home) = three_files() else { return };
    if !packaged(&[SUGGESTIONS]) {
        return;
    }
    for options in both_orders(&format!(
        "ZSH_AUTOSUGGEST_STRATEGY=(completion); . {SUGGESTIONS}"
    )) {
        let mut terminal = home.start(&options);
        let asked = home.requests("complete").len();
        terminal.type_slowly("argdump al");
        wait_row(&terminal, "> argdump alpha");
        assert_eq!(home.requests("complete").len(), asked);
        terminal.clear_line();
        tab_is_ours(&home, &mut terminal);
    }
}

#[test]
fn the_file_finder_keeps_its_keys_and_tab_is_ours() {
    let Some(home) = three_files() else { return };
    if !packaged(&[FZF_COMPLETION, FZF_KEYS]) {
        return;
    }
    for options in both_orders(&format!(". {FZF_COMPLETION}; . {FZF_KEYS}")) {
        let mut terminal = home.start(&options);
        tab_is_ours(&home, &mut terminal);
        terminal.press("argdump ");
        terminal.press(CTRL_T);
        terminal.wait_text("3/3");
        terminal.press("bet");
        terminal.wait_text("1/3");
        terminal.press(ENTER);
        terminal.wait_line("argdump beta ");
        terminal.clear_line();
        terminal.press("argdump **");
        terminal.press(TAB);
        terminal.wait_text("/4 (0)");
        terminal.press(ESC);
        wait_row(&terminal, "argdump **");
    }
}

/// What fzf-tab does: an own widget on TAB that collects what `compadd` gets, shows a list of its own
/// and leaves nothing to the shell's.
const LIST_OF_ITS_OWN: &str = "fzf-tab-complete() { zle own-collect; BUFFER+=${picked[1]}; CURSOR=$#BUFFER }\n\
    own-compadd() { local -a found; builtin compadd -O found \"$@\"; picked+=($found); builtin compadd \"$@\" }\n\
    own-main() { functions[compadd]=$functions[own-compadd]; picked=(); _main_complete \"$@\"; unfunction compadd; compstate[insert]=; compstate[list]= }\n\
    zle -N fzf-tab-complete; zle -C own-collect expand-or-complete own-main; bindkey '^I' fzf-tab-complete";

#[test]
fn a_plugin_with_a_list_of_its_own_is_left_alone_and_named() {
    let Some(home) = three_files() else { return };
    for options in both_orders(LIST_OF_ITS_OWN) {
        let mut terminal = home.start(&options);
        terminal.press("argdump ");
        terminal.press(TAB);
        terminal.wait_line("argdump alpha");
        terminal.press(ENTER);
        terminal.wait_prompt();
        let before = home.arguments().len();
        terminal.run("argdump \"$(env | grep ^__tabsense_native=)\"");
        assert_eq!(
            home.next_arguments(before),
            [b"__tabsense_native=fzf-tab shows its own list".to_vec()]
        );
    }
    assert!(home.requests("complete").is_empty());
}

#[test]
fn someone_who_already_stands_before_compadd_keeps_that_place() {
    let Some(home) = three_files() else { return };
    let theirs = "compadd() { builtin compadd \"$@\" }";
    let mut terminal = home.start(&Options::fake(Fake::Reverse).after(theirs));
    terminal.press("argdump ");
    terminal.press(TAB);
    terminal.wait_text("gamma");
    terminal.wait_list(&["alpha", "beta", "gamma"]);
    assert!(home.requests("complete").is_empty());
}

/// What oh-my-zsh sets up: completion after its own taste, a widget on TAB that shows dots while
/// completion runs, application mode around each line, a theme computed in the prompt.
const FRAMEWORK: &str = "bindkey -e\n\
    unsetopt menu_complete flowcontrol; setopt auto_menu complete_in_word always_to_end prompt_subst\n\
    zstyle ':completion:*:*:*:*:*' menu select\n\
    zstyle ':completion:*' matcher-list 'm:{a-zA-Z-_}={A-Za-z_-}' 'r:|=*' 'l:|=* r:|=*'\n\
    zstyle ':completion:*' list-colors ''\n\
    zstyle ':completion:*' special-dirs true\n\
    zle-line-init() { print -n '\\e[?1h' } ; zle-line-finish() { print -n '\\e[?1l' }\n\
    zle -N zle-line-init; zle -N zle-line-finish\n\
    with-dots() { print -n '...'; zle expand-or-complete; zle redisplay }\n\
    zle -N with-dots; bindkey -M emacs '^I' with-dots; bindkey -M viins '^I' with-dots";

#[test]
fn a_framework_that_puts_its_own_widget_on_tab_gets_our_order() {
    let Some(home) = three_files() else { return };
    for options in both_orders(FRAMEWORK) {
        let mut terminal = home.start(&options);
        terminal.press("argdump ");
        terminal.press(TAB);
        terminal.wait_text("gamma");
        terminal.wait_list(&["gamma", "beta", "alpha"]);
        terminal.press(format!("{TAB}{TAB}"));
        terminal.wait_line("argdump beta");
        // The first Enter leaves the menu.
        let before = home.arguments().len();
        terminal.press(format!("{ENTER}{ENTER}"));
        assert_eq!(home.next_arguments(before), [b"beta".to_vec()]);
        terminal.wait_prompt();
        terminal.press("argdump G");
        terminal.press(TAB);
        terminal.wait_line("argdump gamma ");
    }
}

#[test]
fn completion_that_is_set_up_after_us_is_ours_at_the_first_prompt() {
    let Some(home) = three_files() else { return };
    let rc = "typeset -gi __test_prompt=0\n\
        precmd() { __test_prompt=$(( __test_prompt + 1 )); PS1=\"p$__test_prompt> \"; }\n\
        TABSENSE_BIN={bin}\n{scripts}\nautoload -Uz compinit && compinit -u -d ~/.zcompdump\n";
    let bin = home.root().join("bin/tabsense-fake").display().to_string();
    let rc = rc
        .replace("{bin}", &bin)
        .replace("{scripts}", &Shell::Zsh.source_scripts());
    let mut terminal = home.start(&Options::fake(Fake::Reverse).rc(&rc));
    tab_is_ours(&home, &mut terminal);
}

/// What a prompt program does: hooks that want the status, and a redraw when the vi mode changes.
const PROMPT_PROGRAM: &str = "autoload -Uz add-zsh-hook\n\
    prompt_before() { started=1 } ; prompt_after() { their_status=$? }\n\
    add-zsh-hook preexec prompt_before; add-zsh-hook precmd prompt_after\n\
    zle-keymap-select() { zle reset-prompt } ; zle -N zle-keymap-select; setopt prompt_subst; bindkey -v";

#[test]
fn a_prompt_program_gets_the_status_and_keeps_its_redraw() {
    let Some(home) = three_files() else { return };
    for options in both_orders(PROMPT_PROGRAM) {
        let mut terminal = home.start(&options);
        let before = home.arguments().len();
        terminal.run("(exit 7)");
        terminal.run("argdump $their_status $started");
        assert_eq!(home.next_arguments(before), [b"7".to_vec(), b"1".to_vec()]);
        tab_is_ours(&home, &mut terminal);
        terminal.press(format!("argdump x{ESC}"));
        terminal.wait_for("the cursor steps back", |screen| {
            row(screen).ends_with("argdump x") && screen.cursor_position().1 > 0
        });
        terminal.press(format!("0dwi{ENTER}"));
        terminal.wait_prompt();
    }
}

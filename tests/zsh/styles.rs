//! What people set up for completion keeps working: groups, colours, matchers, completers, menus.

use crate::common::{CTRL_U, ENTER, ESC, Fake, Home, Options, Shell, TAB, Terminal};

fn start(home: &Home, setup: &str) -> Terminal {
    home.start(&Options::fake(Fake::Reverse).before(setup))
}

/// Row and column of the first cell of `text`.
fn find(terminal: &Terminal, text: &str) -> (u16, u16) {
    let screen = terminal.screen();
    let rows = screen.rows(0, screen.size().1.get()).collect::<Vec<_>>();
    let row = rows
        .iter()
        .rposition(|row| row.contains(text))
        .expect("the text is on the screen");
    let column = rows[row].find(text).expect("found above");
    (
        u16::try_from(row).expect("small"),
        u16::try_from(column).expect("small"),
    )
}

#[test]
fn descriptions_stay_beside_their_matches() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    let setup = "_tool() { local -a l=('add:put in' 'commit:keep it' 'push:send off'); _describe command l }\n\
                 compdef _tool tool";
    let mut terminal = start(&home, setup);
    terminal.press("tool ");
    terminal.press(TAB);
    terminal.wait_text("send off");
    terminal.wait_rows(&[
        "push    -- send off",
        "commit  -- keep it",
        "add     -- put in",
    ]);
    let request = home.wait_request("complete", "a request", |_| true);
    assert_eq!(request.candidates(), ["add", "commit", "push"]);
    assert_eq!(request.descriptions(), ["put in", "keep it", "send off"]);
    terminal.press(TAB);
    terminal.wait_line("tool push");
}

#[test]
fn groups_keep_their_titles_and_their_order() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    let setup = "zstyle ':completion:*' group-name ''\n\
                 zstyle ':completion:*:descriptions' format '<%d>'\n\
                 _tool() { local -a a=(a1 a2) b=(b1 b2)\n\
                 _alternative 'first:one:(a1 a2)' 'second:two:(b1 b2)' }\n\
                 compdef _tool tool";
    let mut terminal = start(&home, setup);
    terminal.press("tool ");
    terminal.press(TAB);
    terminal.wait_text("<two>");
    terminal.wait_rows(&["<one>", "a2  a1", "<two>", "b2  b1"]);
}

#[test]
fn list_colors_stay() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    home.files(&["plain", "folder/"]);
    let setup = "zstyle ':completion:*' list-colors 'di=1;34'; zmodload zsh/complist";
    let mut terminal = start(&home, setup);
    terminal.press("argdump ");
    terminal.press(TAB);
    terminal.wait_text("folder/");
    terminal.wait_list(&["plain", "folder/"]);
    let (row, column) = find(&terminal, "folder/");
    assert_eq!(
        terminal
            .screen()
            .cell(row, column)
            .expect("a cell")
            .fgcolor(),
        vt100::Color::Idx(4)
    );
    let (row, column) = find(&terminal, "plain");
    assert_eq!(
        terminal
            .screen()
            .cell(row, column)
            .expect("a cell")
            .fgcolor(),
        vt100::Color::Default
    );
}

#[test]
fn menu_selection_moves_through_our_order() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    home.files(&["alpha", "beta", "gamma"]);
    let mut terminal = start(&home, "zstyle ':completion:*' menu select");
    terminal.press("argdump ");
    terminal.press(TAB);
    terminal.wait_text("gamma");
    terminal.press(TAB);
    terminal.wait_line("argdump gamma");
    let (row, column) = (terminal.cursor().0 + 1, 0);
    terminal.wait_for("the first is marked", |screen| {
        screen.cell(row, column).is_some_and(vt100::Cell::inverse)
    });
    terminal.press("\x1b[C");
    terminal.wait_line("argdump beta");
    terminal.press(ENTER);
    terminal.press(ENTER);
    assert_eq!(home.next_arguments(0), [b"beta".to_vec()]);
}

#[test]
fn menu_selection_at_once_works_too() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    home.files(&["alpha", "beta", "gamma"]);
    let mut terminal = start(&home, "zstyle ':completion:*' menu yes select");
    terminal.press("argdump ");
    terminal.press(TAB);
    terminal.wait_line("argdump gamma");
    terminal.press(TAB);
    terminal.wait_line("argdump beta");
}

#[test]
fn a_menu_is_started_only_from_as_many_matches_as_the_user_says() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    home.files(&["alpha", "beta", "gamma"]);
    let mut terminal = start(&home, "zstyle ':completion:*' menu yes=4");
    terminal.press("argdump ");
    terminal.press(TAB);
    terminal.wait_text("gamma");
    terminal.wait_line("argdump ");
    home.files(&["delta"]);
    terminal.clear_line();
    terminal.press("argdump ");
    terminal.press(TAB);
    terminal.wait_line("argdump gamma");
}

#[test]
fn matchers_find_what_was_typed_in_another_case() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    home.files(&["Abc", "AXY", "beta"]);
    let mut terminal = start(
        &home,
        "zstyle ':completion:*' matcher-list '' 'm:{a-z}={A-Z}'",
    );
    terminal.press("argdump a");
    terminal.press(TAB);
    terminal.press(TAB);
    terminal.wait_text("AXY");
    terminal.wait_list(&["Abc", "AXY"]);
    terminal.press(TAB);
    terminal.press(ENTER);
    assert_eq!(home.next_arguments(0), [b"Abc".to_vec()]);
}

#[test]
fn partial_paths_are_completed() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    home.files(&["usual/local/bin/x", "usual/local/boot/y"]);
    let mut terminal = start(&home, "");
    terminal.press("argdump u/l/b");
    terminal.press(TAB);
    terminal.wait_line("argdump usual/local/b");
    terminal.press(TAB);
    terminal.wait_text("boot/");
    terminal.wait_list(&["boot/", "bin/"]);
    terminal.press(TAB);
    terminal.wait_line("argdump usual/local/boot/");
}

#[test]
fn typing_errors_are_corrected_by_approximate() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    home.files(&["directory_one", "unrelated"]);
    let mut terminal = start(
        &home,
        "zstyle ':completion:*' completer _complete _approximate",
    );
    terminal.press("argdump direktory_one");
    terminal.press(TAB);
    terminal.wait_for("the correction", |screen| {
        screen.contents().contains("argdump directory_one")
    });
}

#[test]
fn corrections_are_listed_with_the_original() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    home.files(&["abcd1", "abcd2"]);
    let setup = "zstyle ':completion:*' completer _complete _approximate; zstyle ':completion:*' group-name ''";
    let mut terminal = start(&home, setup);
    terminal.press("argdump abxd");
    terminal.press(TAB);
    terminal.wait_for("the corrections", |screen| {
        screen.contents().contains("abcd2")
    });
    let mut bare = home.start(&Options::bare().before(setup));
    bare.press("argdump abxd");
    bare.press(TAB);
    bare.wait_for("the corrections", |screen| {
        screen.contents().contains("abcd2")
    });
    for terminal in [&terminal, &bare] {
        terminal.wait_line("argdump abcd1");
    }
    let (mut ours, mut theirs) = (terminal.list(), bare.list());
    ours.sort();
    theirs.sort();
    assert_eq!(ours, theirs);
}

#[test]
fn other_completers_work() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    home.files(&["alpha.o", "alpha.c", "star_one", "star_two"]);
    let setup = "zstyle ':completion:*' completer _expand _complete _match _ignored\n\
                 zstyle ':completion:*:*:argdump:*:all-files' ignored-patterns '*.o'\n\
                 setopt glob_complete no_list_ambiguous\n\
                 __show() { BUFFER+=' settled'; CURSOR=$#BUFFER }; zle -N __show; bindkey '^X^X' __show";
    let bare = home.start(&Options::bare().before(setup));
    let ours = start(&home, setup);
    for keys in [
        "argdump alp\t",
        "argdump alpha.o\t",
        "argdump $HO\t",
        "argdump st*o\t",
        "argdump st*\t",
        "argdump {x,alpha.c}\t",
    ] {
        let mut screens = Vec::new();
        for terminal in [&bare, &ours] {
            screens.push(settled(terminal, keys));
        }
        assert_eq!(screens[0].0, screens[1].0, "the line after {keys:?}");
        assert_eq!(screens[0].1, screens[1].1, "the list after {keys:?}");
    }
}

/// The line and the sorted list after some keys; a marker typed afterwards shows when all is done.
fn settled(terminal: &Terminal, keys: &str) -> (String, Vec<String>) {
    terminal.send(keys);
    terminal.send("\x18\x18");
    terminal.wait_text("settled");
    let line = terminal.line().unwrap_or_default();
    let mut list = terminal.list();
    list.sort();
    terminal.send(CTRL_U);
    terminal.wait_line("");
    (line, list)
}

#[test]
fn auto_cd_still_offers_directories_as_commands() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    home.files(&["zzdir_a/", "zzdir_b/"]);
    let mut terminal = start(&home, "setopt auto_cd");
    terminal.press("zzdir");
    terminal.press(TAB);
    terminal.wait_line("zzdir_");
    terminal.press(TAB);
    terminal.wait_text("zzdir_a");
    terminal.wait_list(&["zzdir_b/", "zzdir_a/"]);
    terminal.press(TAB);
    terminal.press(ENTER);
    terminal.wait_prompt();
    terminal.run("argdump $PWD");
    assert_eq!(
        home.arguments()[0],
        [home
            .work()
            .join("zzdir_b")
            .display()
            .to_string()
            .into_bytes()]
    );
}

#[test]
fn tab_works_in_vi_mode_in_every_order_of_setting_up() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    home.files(&["alpha", "beta"]);
    let fake = || Options::fake(Fake::Reverse);
    let orders = [
        fake().before("bindkey -v"),
        fake().after("bindkey -v"),
        fake().before("bindkey -e"),
        fake().after("bindkey -e"),
    ];
    for (number, options) in orders.iter().enumerate() {
        let mut terminal = home.start(options);
        terminal.press("argdump ");
        terminal.press(TAB);
        terminal.wait_text("beta");
        terminal.wait_list(&["beta", "alpha"]);
        if number > 1 {
            continue;
        }
        terminal.press("alpha beta");
        terminal.press(ESC);
        terminal.press("dbx");
        terminal.wait_line("argdump alpha");
        terminal.press("cc");
        terminal.press("argdump done\r");
        assert_eq!(home.next_arguments(number), [b"done".to_vec()]);
    }
}

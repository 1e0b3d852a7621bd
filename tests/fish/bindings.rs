//! The TAB key in fish's binding modes, and beside bindings of the user's own.

use super::{pager, scripted, tab_shows, three_files};
use crate::common::{ENTER, ESC, Fake, Home, Options, TAB};

const OURS: [&str; 3] = ["cherry", "banana", "apple"];

#[track_caller]
fn tab_is_ours(home: &Home, options: &Options) {
    let mut terminal = home.start(options);
    tab_shows(&mut terminal, "argdump ", &OURS);
    terminal.press(TAB);
    terminal.wait_line("argdump cherry ");
}

#[test]
fn vi_bindings_before_the_init_line_keep_our_tab() {
    let Some(home) = three_files() else { return };
    tab_is_ours(
        &home,
        &scripted(Fake::Reverse).before("fish_vi_key_bindings"),
    );
}

#[test]
fn vi_bindings_after_the_init_line_keep_our_tab() {
    let Some(home) = three_files() else { return };
    tab_is_ours(
        &home,
        &scripted(Fake::Reverse).after("fish_vi_key_bindings"),
    );
}

#[test]
fn hybrid_bindings_keep_our_tab() {
    let Some(home) = three_files() else { return };
    tab_is_ours(
        &home,
        &scripted(Fake::Reverse).after("set -g fish_key_bindings fish_hybrid_key_bindings"),
    );
}

#[test]
fn vi_normal_mode_keeps_its_keys() {
    let Some(home) = three_files() else { return };
    let mut terminal = home.start(&scripted(Fake::Reverse).before("fish_vi_key_bindings"));
    terminal.press("argdump one two");
    terminal.wait_line("argdump one two");
    terminal.press(ESC);
    terminal.wait_line("argdump one tw");
    terminal.press("bdw");
    terminal.wait_line("argdump one ");
    terminal.press("a");
    terminal.press(TAB);
    terminal.wait_for("our order", |screen| pager(screen) == OURS);
}

#[test]
fn changing_the_bindings_during_a_session_keeps_our_tab() {
    let Some(home) = three_files() else { return };
    let mut terminal = home.start(&scripted(Fake::Reverse));
    terminal.run("fish_vi_key_bindings");
    tab_shows(&mut terminal, "argdump ", &OURS);
    terminal.clear_line();
    terminal.run("fish_default_key_bindings");
    tab_shows(&mut terminal, "argdump ", &OURS);
}

#[test]
fn a_tab_that_the_user_bound_stays_theirs() {
    let Some(home) = three_files() else { return };
    let mine = r"bind \t 'commandline -i mine'";
    for options in [
        scripted(Fake::Reverse).before(mine),
        scripted(Fake::Reverse).after(mine),
        scripted(Fake::Reverse).after(&format!("function fish_user_key_bindings; {mine}; end")),
    ] {
        let mut terminal = home.start(&options);
        terminal.press("argdump ");
        terminal.press(TAB);
        terminal.wait_line("argdump mine");
        assert!(home.requests("complete").is_empty());
        terminal.press(ENTER);
        terminal.wait_prompt();
        // `doctor` reads it.
        let before = home.arguments().len();
        terminal.run("argdump (env | string match '__tabsense_native=*')");
        let told = home.next_arguments(before);
        assert_eq!(
            told,
            [b"__tabsense_native=TAB is bound to 'commandline -i mine'".to_vec()]
        );
    }
}

#[test]
fn the_script_may_be_sourced_again_and_again() {
    let Some(home) = three_files() else { return };
    let mut terminal = home.start(&scripted(Fake::Reverse));
    let again = home.shell().source_scripts();
    for _ in 0..3 {
        terminal.run(&again);
    }
    tab_shows(&mut terminal, "argdump ", &OURS);
    terminal.clear_line();
    terminal.run("argdump once");
    let heard = |text: &str| {
        home.requests("prompt")
            .iter()
            .filter(|call| call.get("command") == text)
            .count()
    };
    home.wait_request("prompt", "the record", |call| {
        call.get("command") == "argdump once"
    });
    assert_eq!(heard("argdump once"), 1);
}

#[test]
fn tab_and_one_more_key_are_bound() {
    let Some(home) = three_files() else { return };
    let bound = |options: &Options| {
        let mut terminal = home.start(options);
        terminal.run("bind > ~/bound; bind -M insert >> ~/bound");
        let text = std::fs::read_to_string(home.home().join("bound")).expect("the bindings");
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let bare = bound(&Options::bare());
    let ours = bound(&scripted(Fake::Reverse));
    let mut more: Vec<_> = ours.iter().filter(|line| !bare.contains(line)).collect();
    more.sort();
    more.dedup();
    assert_eq!(
        more,
        [r"bind \e\r __tabsense_do_key", r"bind \t __tabsense_tab"]
    );
    assert!(bare.iter().all(|line| ours.contains(line)));
}

#[test]
fn turned_off_it_leaves_nothing_behind() {
    let Some(home) = three_files() else { return };
    let mut terminal = home.start(&scripted(Fake::Reverse));
    home.wait_request("prompt", "the first prompt", |_| true);
    tab_shows(&mut terminal, "argdump ", &OURS);
    terminal.clear_line();
    terminal.run("__tabsense_off");
    terminal.run("argdump (functions -a | string match '*tabsense*') (functions --handlers | string match '*tabsense*') (bind | string match '*tabsense*') (set --names | string match '__tabsense*') end");
    assert_eq!(home.next_arguments(0), [b"end".to_vec()]);
    let calls = home.requests("prompt").len();
    tab_shows(&mut terminal, "argdump ", &["apple", "banana", "cherry"]);
    terminal.clear_line();
    terminal.run("argdump x");
    assert_eq!(home.requests("prompt").len(), calls);
    assert_eq!(home.requests("complete").len(), 1);
}

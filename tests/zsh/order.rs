//! TAB in our order.

use crate::common::{ENTER, Fake, Home, Options, Shell, TAB, eventually};

#[test]
fn the_list_and_the_menu_are_in_the_order_of_the_answer() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    home.files(&["alpha", "beta", "gamma"]);
    let mut terminal = home.start(&Options::fake(Fake::Reverse));
    terminal.press("argdump ");
    terminal.press(TAB);
    terminal.wait_text("gamma");
    terminal.wait_list(&["gamma", "beta", "alpha"]);
    terminal.press(TAB);
    terminal.wait_line("argdump gamma");
    terminal.press(TAB);
    terminal.wait_line("argdump beta");
    terminal.wait_list(&["gamma", "beta", "alpha"]);
    terminal.press(ENTER);
    assert_eq!(home.next_arguments(0), [b"beta".to_vec()]);
}

#[test]
fn the_request_says_what_is_typed_and_what_zsh_offers() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    home.files(&["sub dir/main.rs", "sub dir/my notes"]);
    let mut terminal = home.start(&Options::fake(Fake::Reverse));
    terminal.press("echo 打; argdump sub\\ dir/m");
    terminal.press(TAB);
    let request = home.wait_request("complete", "a request", |_| true);
    assert_eq!(request.get("shell"), "zsh");
    assert_eq!(request.get("line"), "echo 打; argdump sub\\ dir/m");
    assert_eq!(request.get("cursor"), "26");
    assert_eq!(request.get("unit"), "chars");
    assert_eq!(request.get("word"), "sub dir/m");
    assert_eq!(request.get("cwd"), home.work().display().to_string());
    assert_eq!(
        request.candidates(),
        ["sub dir/main.rs", "sub dir/my notes"]
    );
    assert!(
        request
            .get("session")
            .starts_with(&format!("{}.", terminal.pid()))
    );
    assert_eq!(home.requests("complete").len(), 1);
}

#[test]
fn the_request_says_when_a_function_has_chosen_the_order() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    let rc = "_chosen() { compadd -V x -- low medium high }\n\
         _sorted() { compadd -J x -- low medium high }\n\
         _both() { _chosen; compadd -J y -- a b }\n\
         compdef _chosen chosen; compdef _sorted sorted; compdef _both both";
    let mut terminal = home.start(&Options::fake(Fake::Reverse).after(rc));
    for (command, ordered) in [("chosen", "1"), ("sorted", ""), ("both", "")] {
        let before = home.requests("complete").len();
        terminal.press(format!("{command} {TAB}"));
        let request = eventually("it is asked", || {
            home.requests("complete").into_iter().nth(before)
        });
        assert_eq!(request.get("ordered"), ordered, "{command}");
        terminal.clear_line();
    }
}

#[test]
fn under_lc_all_c_the_cursor_counts_bytes() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    home.files(&["é_one", "é_two"]);
    let mut terminal = home.start(&Options::fake(Fake::Reverse).env("LC_ALL", "C"));
    terminal.press("argdump ");
    terminal.press("\t\t");
    let request = home.wait_request("complete", "a request", |_| true);
    assert_eq!(
        (request.get("cursor"), request.get("unit")),
        ("11".into(), "bytes".into())
    );
    assert_eq!(request.header["line"], "argdump é_".as_bytes());
}

#[test]
fn a_command_over_several_lines_is_sent_whole() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    home.files(&["one", "two"]);
    let mut terminal = home.start(&Options::fake(Fake::Reverse));
    terminal.press("for i in 1; do\r");
    terminal.wait_text("for>");
    terminal.press("argdump ");
    terminal.press(TAB);
    let request = home.wait_request("complete", "a request", |_| true);
    assert_eq!(request.get("line"), "for i in 1; do\nargdump ");
    assert_eq!(request.get("cursor"), "23");
}

#[test]
fn a_single_match_is_inserted_at_once_and_nobody_is_asked() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    home.files(&["lonely", "other"]);
    let mut terminal = home.start(&Options::fake(Fake::Reverse));
    terminal.press("argdump lo");
    terminal.press(TAB);
    terminal.wait_line("argdump lonely ");
    assert_eq!(home.requests("complete").len(), 0);
    assert!(!terminal.raw().contains(&7), "no bell");
}

#[test]
fn a_common_beginning_is_inserted_as_ever() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    home.files(&["report_a", "report_b"]);
    let mut terminal = home.start(&Options::fake(Fake::Reverse));
    terminal.press("argdump r");
    terminal.press(TAB);
    terminal.wait_line("argdump report_");
    terminal.press(TAB);
    terminal.wait_text("report_a");
    terminal.wait_list(&["report_b", "report_a"]);
    terminal.wait_line("argdump report_");
}

#[test]
fn directories_get_their_slash_and_are_completed_further() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    home.files(&["xa/one", "xb/two"]);
    let mut terminal = home.start(&Options::fake(Fake::Reverse));
    terminal.press("cd x");
    terminal.press(TAB);
    terminal.wait_text("xb/");
    terminal.wait_list(&["xb/", "xa/"]);
    terminal.press(TAB);
    terminal.wait_line("cd xb/");
    terminal.press(ENTER);
    terminal.wait_prompt();
    terminal.run("argdump $PWD");
    assert_eq!(
        home.arguments()[0],
        [home.work().join("xb").display().to_string().into_bytes()]
    );
}

#[test]
fn command_names_of_all_kinds_are_ranked_together() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    home.program("qqprogram", "#!/bin/sh\n");
    let setup = "qqfunction() { : }; alias qqalias=true";
    let mut terminal = home.start(&Options::fake(Fake::Reverse).after(setup));
    terminal.press("qq");
    terminal.press(TAB);
    terminal.wait_text("qqprogram");
    terminal.wait_list(&["qqprogram", "qqfunction", "qqalias"]);
}

#[test]
fn an_answer_may_add_candidates_of_its_own() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    home.files(&["da/", "db/", "../elsewhere/deep/"]);
    let mut terminal = home.start(&Options::fake(Fake::Added));
    terminal.press("cd d");
    terminal.press(TAB);
    terminal.wait_text("elsewhere");
    terminal.wait_list(&["db/", "da/", "elsewhere/"]);
    terminal.wait_line("cd d");
    terminal.press(TAB);
    terminal.wait_line("cd db/");
    terminal.press(TAB);
    terminal.press(TAB);
    terminal.wait_line("cd ~/elsewhere/");
    terminal.press(ENTER);
    terminal.wait_prompt();
    terminal.run("argdump $PWD");
    assert_eq!(
        home.arguments()[0],
        [home
            .home()
            .join("elsewhere")
            .display()
            .to_string()
            .into_bytes()]
    );
}

#[test]
fn where_zsh_has_nothing_a_single_added_candidate_is_inserted() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    home.files(&["../elsewhere/deep/"]);
    let mut terminal = home.start(&Options::fake(Fake::Added));
    terminal.press("cd else");
    terminal.press(TAB);
    terminal.wait_line("cd ~/elsewhere/");
    terminal.press("d");
    terminal.press(TAB);
    terminal.wait_line("cd ~/elsewhere/deep/");
}

#[test]
fn two_shells_complete_at_once() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    home.files(&["alpha", "beta"]);
    let mut first = home.start(&Options::fake(Fake::Reverse));
    let mut second = home.start(&Options::fake(Fake::Reverse));
    for terminal in [&mut first, &mut second] {
        terminal.press("argdump ");
        terminal.press(TAB);
    }
    for terminal in [&first, &second] {
        terminal.wait_text("beta");
        terminal.wait_list(&["beta", "alpha"]);
    }
    let sessions: Vec<String> = home
        .requests("complete")
        .iter()
        .map(|r| r.get("session"))
        .collect();
    assert_ne!(sessions[0], sessions[1]);
}

//! Of several candidates the first goes in at once when the answer is sure.

use crate::common::{
    CTRL_U, ENTER, Fake, Home, Options, Shell, TAB, Terminal, odd_names_are_inserted,
};

/// A home with files, and zsh in it with this client.
fn started(names: &[&str], fake: Fake, rc: &str) -> Option<(Home, Terminal)> {
    let home = Home::new(Shell::Zsh)?;
    home.files(names);
    let terminal = home.start(&Options::fake(fake).before(rc));
    Some((home, terminal))
}

#[test]
fn it_is_inserted_with_the_blank_of_a_single_match() {
    for (fake, name) in [(Fake::Sure, "berry"), (Fake::SureSame, "banana")] {
        let Some((home, mut terminal)) = started(&["apple", "banana", "berry"], fake, "") else {
            return;
        };
        terminal.press(format!("argdump b{TAB}"));
        terminal.wait_line(&format!("argdump {name} "));
        assert_eq!(terminal.list(), Vec::<String>::new());
        terminal.press(ENTER);
        assert_eq!(home.next_arguments(0), [name.as_bytes().to_vec()]);
        let request = home.requests("complete").remove(0);
        assert_eq!(request.get("sure"), "1");
    }
}

#[test]
fn it_is_inserted_where_the_shell_would_only_make_the_word_longer() {
    let names = ["report_a", "report_b", "other"];
    let Some((home, mut terminal)) = started(&names, Fake::Sure, "") else {
        return;
    };
    terminal.press(format!("argdump r{TAB}"));
    terminal.wait_line("argdump report_b ");
    terminal.press(CTRL_U);
    home.answer(Fake::Reverse);
    terminal.press(format!("argdump r{TAB}"));
    terminal.wait_line("argdump report_");
}

#[test]
fn directories_keep_their_slash_which_a_blank_removes() {
    let Some((home, mut terminal)) = started(&["data/", "docs/"], Fake::Sure, "") else {
        return;
    };
    terminal.press(format!("argdump d{TAB}"));
    terminal.wait_line("argdump docs/");
    terminal.press(format!(" x{ENTER}"));
    assert_eq!(home.next_arguments(0), [b"docs".to_vec(), b"x".to_vec()]);
}

#[test]
fn matches_of_several_calls_keep_the_options_of_their_own() {
    let rc = "_several() { compadd -S '=' -X one -- alpha; compadd -V other -P '%' -X two -- alps }\n\
        compdef _several argdump";
    for (fake, line) in [
        (Fake::SureSame, "argdump alpha="),
        (Fake::Sure, "argdump %alps "),
    ] {
        let Some((_home, mut terminal)) = started(&[], fake, rc) else {
            return;
        };
        terminal.press(format!("argdump {TAB}"));
        terminal.wait_line(line);
    }
}

#[test]
fn odd_names_are_inserted_as_they_are() {
    odd_names_are_inserted(Shell::Zsh, &Options::fake(Fake::Sure), &[b"x new\nline"]);
}

#[test]
fn a_menu_and_a_list_on_request_are_as_before() {
    let names = ["apple", "banana", "berry"];
    let Some((home, mut terminal)) = started(&names, Fake::Sure, "setopt menu_complete") else {
        return;
    };
    terminal.press(format!("argdump b{TAB}"));
    terminal.wait_line("argdump berry");
    terminal.press(TAB);
    terminal.wait_line("argdump banana");
    assert_eq!(home.requests("complete")[0].get("sure"), "0");

    let rc = "zstyle ':completion:*' menu yes select";
    let Some((_home, mut terminal)) = started(&names, Fake::Sure, rc) else {
        return;
    };
    terminal.press(format!("argdump b{TAB}"));
    terminal.wait_line("argdump berry");
    terminal.wait_list(&["berry", "banana"]);

    let Some((_home, mut terminal)) = started(&names, Fake::Sure, "bindkey '^X' list-choices")
    else {
        return;
    };
    terminal.press("argdump b\x18");
    terminal.wait_list(&["berry", "banana"]);
    terminal.wait_line("argdump b");
}

#[test]
fn a_whole_name_is_taken_where_the_user_says_so() {
    let names = ["data", "database"];
    for (rc, line) in [
        ("setopt rec_exact", "argdump data "),
        ("", "argdump database "),
    ] {
        let Some((_home, mut terminal)) = started(&names, Fake::Sure, rc) else {
            return;
        };
        terminal.press(format!("argdump data{TAB}"));
        terminal.wait_line(line);
    }
}

#[test]
fn the_menu_of_a_second_tab_is_as_before() {
    let names = ["apple", "banana", "berry"];
    let Some((home, mut terminal)) = started(&names, Fake::Reverse, "") else {
        return;
    };
    terminal.press(format!("argdump b{TAB}"));
    terminal.wait_list(&["berry", "banana"]);
    home.answer(Fake::Sure);
    terminal.press(TAB);
    terminal.wait_line("argdump berry");
    terminal.press(TAB);
    terminal.wait_line("argdump banana");
}

#[test]
fn one_of_the_engines_own_stands_alone_where_zsh_has_none() {
    let Some((home, mut terminal)) = started(&["file"], Fake::SureOwn, "") else {
        return;
    };
    std::fs::create_dir(home.home().join("elsewhere")).expect("a directory");
    terminal.press(format!("cd elsew{TAB}"));
    terminal.wait_line("cd ~/elsewhere/");
}

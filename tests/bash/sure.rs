//! Of several candidates the first goes in at once when the answer is sure.

use super::{NEXT, PATIENT, list, list_is, scripted, tab_shows};
use crate::common::{
    ENTER, Fake, Home, Options, Shell, TAB, Terminal, eventually, odd_names_are_inserted,
};

/// bash with its own settings for lists.
fn usual(fake: Fake) -> Options {
    Options::fake(fake)
        .before("HISTFILE=~/.bash_history; bind 'set bell-style none'")
        .after(PATIENT)
}

fn started(names: &[&str], options: &Options) -> Option<(Home, Terminal)> {
    let home = Home::new(Shell::Bash)?;
    home.files(names);
    let terminal = home.start(options);
    Some((home, terminal))
}

#[test]
fn it_is_inserted_with_the_blank_of_a_single_candidate() {
    for (fake, name) in [(Fake::Sure, "berry"), (Fake::SureSame, "banana")] {
        let names = ["apple", "banana", "berry"];
        let Some((home, mut terminal)) = started(&names, &usual(fake)) else {
            return;
        };
        terminal.press(format!("argdump b{TAB}"));
        terminal.wait_line(&format!("argdump {name} "));
        assert_eq!(list(&terminal.screen()), Vec::<String>::new());
        terminal.press(ENTER);
        assert_eq!(home.next_arguments(0), [name.as_bytes().to_vec()]);
        assert_eq!(home.requests("complete").remove(0).get("sure"), "1");
    }
}

#[test]
fn it_is_inserted_where_the_shell_would_only_make_the_word_longer() {
    let names = ["report_a", "report_b", "other"];
    let Some((_home, mut terminal)) = started(&names, &usual(Fake::Sure)) else {
        return;
    };
    terminal.press(format!("argdump r{TAB}"));
    terminal.wait_line("argdump report_b ");
}

#[test]
fn directories_keep_their_slash_and_words_what_their_completion_says() {
    let rc = "_words() { compopt -o nospace; COMPREPLY=(--first= --fit=); }; complete -F _words opts\n\
        complete -W 'one other' -o plusdirs words";
    let options = usual(Fake::Sure).before(rc);
    let Some((_home, mut terminal)) = started(&["data/", "docs/", "only/"], &options) else {
        return;
    };
    for (typed, line) in [
        ("argdump d", "argdump docs/"),
        ("opts --f", "opts --fit="),
        ("words o", "words other "),
    ] {
        terminal.press(format!("{typed}{TAB}"));
        terminal.wait_line(line);
        terminal.clear_line();
    }
}

#[test]
fn odd_names_are_inserted_as_they_are() {
    odd_names_are_inserted(Shell::Bash, &usual(Fake::Sure), &[]);
}

#[test]
fn within_quotes_the_quote_is_closed() {
    for (number, quote) in ["\"", "'"].into_iter().enumerate() {
        let names = ["my file", "my fire", "other"];
        let Some((home, mut terminal)) = started(&names, &usual(Fake::Sure)) else {
            return;
        };
        terminal.press(format!("argdump {quote}my f{TAB}x{ENTER}"));
        let expected = [b"my fire".to_vec(), b"x".to_vec()];
        assert_eq!(home.next_arguments(0), expected, "{number}");
    }
}

#[test]
fn a_list_on_request_and_going_through_the_candidates_are_as_before() {
    let names = ["apple", "banana", "berry"];
    let Some((home, mut terminal)) = started(&names, &usual(Fake::Reverse)) else {
        return;
    };
    terminal.press(format!("argdump b{TAB}"));
    home.wait_request("complete", "the first TAB", |request| {
        request.get("sure") == "1"
    });
    // Not before bash is done with the first.
    terminal.run("");
    home.answer(Fake::Native);
    terminal.press(format!("argdump b{TAB}"));
    eventually("the second TAB", || {
        (home.requests("complete").len() > 1).then_some(())
    });
    home.answer(Fake::Sure);
    terminal.press(TAB);
    list_is(&terminal, &["berry   banana"]);
    terminal.wait_line("argdump b");

    // `show-all-if-ambiguous` and `menu-complete`.
    let Some((home, mut terminal)) = started(&names, &scripted(Fake::Sure)) else {
        return;
    };
    tab_shows(&mut terminal, "argdump b", &["berry", "banana"]);
    terminal.clear_line();
    terminal.press(format!("argdump b{NEXT}"));
    terminal.wait_line("argdump berry ");
    terminal.press(NEXT);
    terminal.wait_line("argdump banana ");
    let asked: Vec<String> = home
        .requests("complete")
        .iter()
        .map(|request| request.get("sure"))
        .collect();
    assert!(!asked.is_empty() && asked.iter().all(|sure| sure == "0"));
}

#[test]
fn one_of_the_engines_own_stands_alone_where_bash_has_none() {
    let Some((home, mut terminal)) = started(&["file"], &usual(Fake::SureOwn)) else {
        return;
    };
    std::fs::create_dir(home.home().join("elsewhere")).expect("a directory");
    terminal.press(format!("cd elsew{TAB}"));
    terminal.wait_line("cd ~/elsewhere/");
}

//! Of several candidates the first goes in at once when the answer is sure.

use super::{pager, pager_is, scripted, tab_shows};
use crate::common::{ENTER, Fake, Home, Shell, TAB, Terminal, odd_names_are_inserted};

fn started(names: &[&str], fake: Fake, rc: &str) -> Option<(Home, Terminal)> {
    let home = Home::new(Shell::Fish)?;
    home.files(names);
    let terminal = home.start(&scripted(fake).before(rc));
    Some((home, terminal))
}

#[test]
fn it_is_inserted_with_the_blank_of_a_single_candidate() {
    for (fake, name) in [(Fake::Sure, "berry"), (Fake::SureSame, "banana")] {
        let Some((home, mut terminal)) = started(&["apple", "banana", "berry"], fake, "") else {
            return;
        };
        terminal.press(format!("argdump b{TAB}"));
        terminal.wait_line(&format!("argdump {name} "));
        assert_eq!(pager(&terminal.screen()), Vec::<String>::new());
        terminal.press(format!("x{ENTER}"));
        let expected = [name.as_bytes().to_vec(), b"x".to_vec()];
        assert_eq!(home.next_arguments(0), expected);
        let request = home.requests("complete").remove(0);
        assert_eq!(request.get("sure"), "1");
    }
}

#[test]
fn the_next_tab_asks_anew() {
    let names = ["apple", "banana", "berry"];
    let Some((home, mut terminal)) = started(&names, Fake::Sure, "") else {
        return;
    };
    terminal.press(format!("argdump b{TAB}"));
    terminal.wait_line("argdump berry ");
    terminal.clear_line();
    home.answer(Fake::Reverse);
    tab_shows(&mut terminal, "argdump b", &["berry", "banana"]);
    terminal.press(TAB);
    terminal.wait_line("argdump berry ");
    // In the open pager nobody is asked.
    home.answer(Fake::Sure);
    terminal.press(TAB);
    terminal.wait_line("argdump banana ");
    assert_eq!(home.requests("complete").len(), 2);
}

#[test]
fn suffixes_are_those_of_fish() {
    let rc = "complete -c opts -f -a '--first= --fit='\ncomplete -c words -f -a 'one\\tFirst other\\tSecond'";
    let names = ["data/", "docs/", "report_a", "report_b"];
    let Some((_home, mut terminal)) = started(&names, Fake::Sure, rc) else {
        return;
    };
    for (typed, line) in [
        ("argdump d", "argdump docs/"),
        ("argdump r", "argdump report_b "),
        ("argdump ~/w", "argdump ~/work/"),
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
    odd_names_are_inserted(Shell::Fish, &scripted(Fake::Sure), &[b"x new\nline"]);
}

#[test]
fn within_quotes_the_quote_is_closed() {
    for quote in ["\"", "'"] {
        let names = ["my file", "my fire", "other"];
        let Some((home, mut terminal)) = started(&names, Fake::Sure, "") else {
            return;
        };
        terminal.press(format!("argdump {quote}my f{TAB}x{ENTER}"));
        let expected = [b"my fire".to_vec(), b"x".to_vec()];
        assert_eq!(home.next_arguments(0), expected, "{quote}");
    }
}

#[test]
fn within_a_line_the_list_shows() {
    let names = ["apple", "banana", "berry"];
    let Some((home, mut terminal)) = started(&names, Fake::Sure, "") else {
        return;
    };
    terminal.press("argdump b");
    terminal.press(format!(" x\x1b[D\x1b[D{TAB}"));
    terminal.wait_for("the list", |screen| {
        pager(screen).ends_with(&["berry".to_owned(), "banana".to_owned()])
    });
    assert_eq!(home.requests("complete")[0].get("sure"), "0");
}

#[test]
fn one_of_the_engines_own_stands_alone_where_fish_has_none() {
    let Some((home, mut terminal)) = started(&["file"], Fake::SureOwn, "") else {
        return;
    };
    for place in ["elsewhere", "elsewhat"] {
        std::fs::create_dir(home.home().join(place)).expect("a directory");
    }
    terminal.press(format!("cd elsew{TAB}"));
    terminal.wait_line("cd ~/elsewhere/");
    pager_is(&terminal, &[]);
}

//! Whatever the client does, TAB gives at least what fish itself gives.

use super::{QUIET, pager_is, scripted, tab_shows, three_files};
use crate::common::{ENTER, Fake, Options, TAB, eventually};

const NATIVE: [&str; 3] = ["apple", "banana", "cherry"];

#[test]
fn every_bad_answer_gives_the_order_of_fish() {
    let Some(home) = three_files() else { return };
    let mut terminal = home.start(&scripted(Fake::Native));
    for fake in Fake::BAD {
        home.answer(fake);
        tab_shows(&mut terminal, "argdump ", &NATIVE);
        terminal.press(format!("{TAB}{ENTER}"));
        pager_is(&terminal, &[]);
        terminal.wait_line("argdump apple ");
        terminal.clear_line();
    }
}

#[test]
fn answers_out_of_an_odd_form_give_the_order_of_fish() {
    let Some(home) = three_files() else { return };
    let mut terminal = home.start(&scripted(Fake::Native));
    for answer in [
        "v2\\0=2\\0=1\\0=0\\0.\\0",
        "v1\\0=2\\0=1\\0.\\0",
        "v1\\0=2\\0=1\\0=0\\0=0\\0.\\0",
        "v1\\0=02\\0=01\\0=00\\0.\\0",
        "v1\\0=2\\0=1\\0=x\\0.\\0",
        "v1\\0=2\\0=1\\0=0\\0rm\\0.\\0",
        "v1\\0=2\\0=1\\0=0 1..3\\0.\\0",
        "v1\\0=2\\0=1\\0=-1\\0.\\0",
        "v1\\0.\\0",
        ".\\0",
        "v1",
    ] {
        home.program("tabsense-fake", &format!("#!/bin/sh\nprintf '{answer}'\n"));
        tab_shows(&mut terminal, "argdump ", &NATIVE);
        terminal.clear_line();
    }
}

#[test]
fn an_answer_that_names_one_twice_loses_none() {
    let Some(home) = three_files() else { return };
    home.program(
        "tabsense-fake",
        "#!/bin/sh\nprintf 'v1\\0=2\\0=2\\0=9\\0.\\0'\n",
    );
    let options = Options::fake(Fake::Same).before(QUIET);
    let mut terminal = home.start(&options);
    tab_shows(&mut terminal, "argdump ", &["cherry", "apple", "banana"]);
}

#[test]
fn a_right_answer_with_a_wrong_status_is_not_used() {
    let Some(home) = three_files() else { return };
    home.program(
        "tabsense-fake",
        "#!/bin/sh\nprintf 'v1\\0=2\\0=1\\0=0\\0.\\0'\nexit 3\n",
    );
    let mut terminal = home.start(&Options::fake(Fake::Same).before(QUIET));
    tab_shows(&mut terminal, "argdump ", &NATIVE);
}

#[test]
fn a_client_that_complains_is_not_heard() {
    let Some(home) = three_files() else { return };
    home.program(
        "tabsense-fake",
        "#!/bin/sh\necho oops >&2\necho oops\nkill -KILL $$\n",
    );
    let mut terminal = home.start(&Options::fake(Fake::Same).before(QUIET));
    tab_shows(&mut terminal, "argdump ", &NATIVE);
    terminal.clear_line();
    terminal.run("argdump x");
    let text = terminal.text();
    assert!(
        !text.contains("oops") && !text.contains("SIGKILL"),
        "{text}"
    );
}

#[test]
fn a_removed_client_leaves_fish_as_it_was() {
    let Some(home) = three_files() else { return };
    let mut terminal = home.start(&scripted(Fake::Reverse));
    tab_shows(&mut terminal, "argdump ", &["cherry", "banana", "apple"]);
    terminal.clear_line();
    std::fs::remove_file(home.root().join("bin/tabsense-fake")).expect("remove the client");
    tab_shows(&mut terminal, "argdump ", &NATIVE);
    terminal.clear_line();
    terminal.run("argdump x");
    terminal.run("");
    let text = terminal.text();
    let prompts = text.lines().filter(|line| line.starts_with('p')).count();
    assert_eq!(
        text.lines().filter(|line| !line.is_empty()).count(),
        prompts + 1,
        "{text}"
    );
}

#[test]
fn a_slow_prompt_client_is_not_waited_for_and_leaves_no_job() {
    let Some(home) = three_files() else { return };
    let held = home.root().join("held");
    home.program(
        "tabsense-fake",
        &format!(
            "#!/bin/sh\n: > '{0}'\nwhile [ -e '{0}' ]; do sleep 0.05; done\n",
            held.display()
        ),
    );
    let mut terminal = home.start(&Options::fake(Fake::Same).before(QUIET));
    eventually("the first prompt called the client", || {
        held.exists().then_some(())
    });
    // The client hangs: prompts come all the same.
    terminal.run("true");
    terminal.run("sleep 100 &");
    terminal.run("set mine $last_pid");
    terminal.run("argdump (count (jobs -p)) (test $mine = $last_pid; echo $status)");
    assert_eq!(home.next_arguments(0), [b"1".to_vec(), b"0".to_vec()]);
    std::fs::remove_file(&held).expect("let the client go");
    terminal.run("kill $mine; disown $mine");
    assert!(
        !terminal.text().contains("has ended"),
        "{}",
        terminal.text()
    );
}

//! Whatever the client does, TAB gives at least what bash itself gives.

use super::{client, list, scripted, tab_shows, three_files};
use crate::common::{ENTER, Fake, Home, Shell, TAB, eventually};

const NATIVE: [&str; 3] = ["apple", "banana", "cherry"];

/// A completion function whose own order is not the alphabet's.
const FUNCTION: &str = "_f() { compopt -o nosort; COMPREPLY=(mm zz aa); }\ncomplete -F _f listed";

#[test]
fn every_bad_answer_gives_the_order_of_bash() {
    let Some(home) = three_files() else { return };
    let mut terminal = home.start(&scripted(Fake::Native).after(FUNCTION));
    for fake in Fake::BAD {
        home.answer(fake);
        tab_shows(&mut terminal, "argdump ", &NATIVE);
        terminal.clear_line();
        tab_shows(&mut terminal, "listed ", &["mm", "zz", "aa"]);
        terminal.clear_line();
        terminal.press(format!("argdump b{TAB}"));
        terminal.wait_line("argdump banana ");
        terminal.clear_line();
    }
}

#[test]
fn answers_out_of_an_odd_form_give_the_order_of_bash() {
    let Some(home) = three_files() else { return };
    let mut terminal = home.start(&scripted(Fake::Native));
    for answer in [
        "v2\\0=2\\0=1\\0=0\\0.\\0",
        "v1\\0=2\\0=1\\0.\\0",
        "v1\\0=2\\0=1\\0=0\\0=0\\0.\\0",
        "v1\\0=2\\0=2\\0=0\\0.\\0",
        "v1\\0=2\\0=1\\0=x\\0.\\0",
        "v1\\0=2\\0=1\\0=3\\0.\\0",
        "v1\\0=2\\0=1\\0=0\\0rm\\0.\\0",
        "v1\\0=2\\0=1\\0=a[$(touch PWNED)]\\0.\\0",
        "v1\\0=2\\0=1\\0=-1\\0.\\0",
        "v1\\0=2\\0=1\\0=999999999999999999999\\0.\\0",
        "v1\\n=2\\n=1\\n=0\\n.\\n",
        "v1\\0.\\0",
        ".\\0",
        "v1",
    ] {
        client(&home, &format!("#!/bin/sh\nprintf '{answer}'\n"));
        tab_shows(&mut terminal, "argdump ", &NATIVE);
        terminal.clear_line();
    }
    assert!(!home.work().join("PWNED").exists());
}

#[test]
fn a_right_answer_with_a_wrong_status_is_not_used() {
    let Some(home) = three_files() else { return };
    client(
        &home,
        "#!/bin/sh\nprintf 'v1\\0=2\\0=1\\0=0\\0.\\0'\nexit 3\n",
    );
    let mut terminal = home.start(&scripted(Fake::Same));
    tab_shows(&mut terminal, "argdump ", &NATIVE);
}

#[test]
fn a_client_that_complains_is_not_heard() {
    let Some(home) = three_files() else { return };
    client(
        &home,
        "#!/bin/sh\necho oops >&2\necho oops\nkill -SEGV $$\n",
    );
    let mut terminal = home.start(&scripted(Fake::Same));
    tab_shows(&mut terminal, "argdump ", &NATIVE);
    terminal.clear_line();
    terminal.run("argdump x");
    let text = terminal.text();
    assert!(
        !text.contains("oops") && !text.to_lowercase().contains("fault"),
        "{text}"
    );
}

#[test]
fn a_removed_client_leaves_bash_as_it_was() {
    let Some(home) = three_files() else { return };
    // A handler for unknown commands must not hear of us either.
    let handler = "command_not_found_handle() { echo \"unknown $1\"; }";
    let mut terminal = home.start(&scripted(Fake::Reverse).before(handler));
    tab_shows(&mut terminal, "argdump ", &["cherry", "banana", "apple"]);
    terminal.clear_line();
    std::fs::remove_file(home.root().join("bin/tabsense-fake")).expect("remove the client");
    tab_shows(&mut terminal, "argdump ", &NATIVE);
    terminal.clear_line();
    terminal.run("TABSENSE_BIN=tabsense-gone");
    tab_shows(&mut terminal, "argdump ", &NATIVE);
    terminal.clear_line();
    terminal.run("argdump x");
    terminal.run("");
    let text = terminal.text();
    assert!(
        !text.contains("unknown") && !text.contains("No such file"),
        "{text}"
    );
}

#[test]
fn a_slow_prompt_client_is_not_waited_for_and_leaves_no_job() {
    let Some(home) = three_files() else { return };
    let held = home.root().join("held");
    client(
        &home,
        &format!(
            "#!/bin/sh\n: > '{0}'\nwhile [ -e '{0}' ]; do sleep 0.05; done\n",
            held.display()
        ),
    );
    let mut terminal = home.start(&scripted(Fake::Same));
    eventually("the first prompt called the client", || {
        held.exists().then_some(())
    });
    terminal.run("true");
    terminal.run("sleep 100 & mine=$!");
    terminal.run("argdump $(jobs -p | wc -l) $((mine == $!))");
    assert_eq!(home.next_arguments(0), [b"1".to_vec(), b"1".to_vec()]);
    std::fs::remove_file(&held).expect("let the client go");
    terminal.run("kill $mine; wait $mine 2> /dev/null; true");
    terminal.run("jobs");
    let text = terminal.text();
    assert!(!text.contains("Done") && !text.contains("[2]"), "{text}");
}

#[test]
fn tab_leaves_the_last_background_process_and_the_status_alone() {
    let Some(home) = three_files() else { return };
    let mut terminal = home.start(&scripted(Fake::Reverse));
    terminal.run("sleep 100 & mine=$!");
    terminal.run("(exit 7)");
    terminal.press(format!("argdump $? $((mine == $!)) b{TAB}"));
    terminal.wait_line("argdump $? $((mine == $!)) banana ");
    terminal.press(ENTER);
    assert_eq!(
        home.next_arguments(0),
        [b"7".to_vec(), b"1".to_vec(), b"banana".to_vec()]
    );
}

#[test]
fn a_removed_directory_disturbs_nothing() {
    let Some(home) = Home::new(Shell::Bash) else {
        return;
    };
    home.files(&["gone/deep/"]);
    let mut terminal = home.start(&scripted(Fake::Reverse));
    terminal.run("cd gone/deep");
    std::fs::remove_dir_all(home.work().join("gone")).expect("remove it");
    terminal.run("");
    terminal.press(format!("argdump {TAB}{TAB}x{ENTER}"));
    assert_eq!(home.next_arguments(0), [b"x".to_vec()]);
    terminal.wait_prompt();
    terminal.run("cd /");
    terminal.run("argdump $?");
    assert_eq!(home.next_arguments(1), [b"0".to_vec()]);
    let text = terminal.text();
    assert!(
        !text.contains("tabsense") && !text.contains("bash:"),
        "{text}"
    );
}

#[test]
fn directories_that_cannot_be_read_offer_no_text() {
    let Some(home) = Home::new(Shell::Bash) else {
        return;
    };
    home.files(&["locked/inner"]);
    let mut terminal = home.start(&scripted(Fake::Reverse));
    terminal.run("chmod 111 locked");
    terminal.press(format!("argdump locked/inn{TAB}{TAB}"));
    terminal.press(ENTER);
    home.next_arguments(0);
    let text = terminal.text();
    assert!(!text.contains("denied"), "{text}");
    assert!(list(&terminal.screen()).is_empty());
    terminal.run("chmod 755 locked");
}

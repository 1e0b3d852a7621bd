//! What the worker learns from one person: adapted weights, and a word that may be inserted at once.

use std::process::Output;

use serde_json::Value;

use super::deciding::{CONFIG, bad, good, home};
use super::hook;
use super::store::{status, tell, wait_commands};
use crate::common::{Home, eventually};

/// A history from which nothing can be learned: no command comes twice.
fn import(home: &Home, commands: usize) {
    let lines: String = (0..commands).map(|n| format!("say word{n}\n")).collect();
    home.write(".bash_history", &lines);
    good(home, &["import", "bash"]);
}

#[test]
fn a_short_history_is_refused_with_what_is_needed() {
    let Some(home) = home() else { return };
    let _worker = home.worker();
    import(&home, 12);
    let said = bad(&home.tabsense(&["adapt", "--json"]));
    assert!(
        said.contains("12 commands are too few, 1000 are needed"),
        "{said}"
    );
    let told = status(&home);
    assert_eq!(told["adapted"], false);
    assert_eq!(told["adaptation"], "as it came: never adapted");
}

#[test]
fn what_is_no_better_is_judged_and_not_kept_and_a_reset_forgets_it() {
    let Some(home) = home() else { return };
    let _worker = home.worker();
    import(&home, 1000);
    let told: Value = serde_json::from_str(&good(&home, &["adapt", "--json"])).expect("JSON");
    assert_eq!(told["version"], 1, "{told}");
    assert_eq!(told["replayed"], 1000, "{told}");
    assert_eq!(told["weights"], serde_json::json!({}), "{told}");
    for blend in ["lines", "words", "directories"] {
        let judged = &told["judged"][blend];
        assert_eq!(judged["kept"], false, "{blend}: {told}");
        for number in ["cases", "gain", "error"] {
            assert!(judged[number].is_number(), "{blend}: {told}");
        }
    }
    let why = "as it came: on 1000 commands nothing was better by more than chance";
    let now = status(&home);
    assert_eq!(now["adapted"], false, "{now}");
    let said = now["adaptation"].as_str().expect("text");
    assert!(said.starts_with(why), "{said}");
    let said = good(&home, &["worker", "status"]);
    assert!(said.contains(why), "{said}");

    assert_eq!(good(&home, &["adapt", "--reset", "--json"]), "{}\n");
    assert_eq!(status(&home)["adaptation"], "as it came: never adapted");
    assert_eq!(
        good(&home, &["adapt", "--reset"]),
        "the ranking is as it came\n"
    );
}

/// Presses TAB after `make st`, as a shell of its own or as one that did so before.
fn press(home: &Home, session: &str, takes_sure: &str) -> Output {
    let header = format!(
        "shell=bash\0session={session}\0line=make st\0cursor=7\0cwd=/tmp\0word=st\0base=\0\
         {takes_sure}\0"
    );
    let candidates = "status\0staging\0stable\0";
    hook(home, "complete", (header + candidates).as_bytes())
}

/// The records of the first answer that begins with this one; each press in another shell, since
/// no word is called sure twice, and commands are learned in the background.
#[track_caller]
fn answer(home: &Home, name: &str, first: &str) -> (String, Vec<String>) {
    let mut tries = 0;
    eventually(&format!("an answer that begins with {first:?}"), || {
        tries += 1;
        let session = format!("{name}.{tries}");
        let output = press(home, &session, "sure=1\0");
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        let records: Vec<String> = text.split_terminator('\0').map(str::to_owned).collect();
        (records.get(1)? == first).then_some((session, records))
    })
}

fn run(home: &Home, command: &str) {
    let fields = ["shell=bash", "session=s1", "cwd=/tmp", "ran_in=/tmp"].map(str::to_owned);
    let ran = [format!("command={command}"), "exit=0".to_owned()];
    tell(home, &[&fields[..], &ran].concat());
}

/// A home where only staging was ever made, three times.
fn habit(settings: &str) -> Option<Home> {
    let home = home()?;
    home.write(
        CONFIG,
        &format!("[complete]\nmodel = \"off\"\ninsert_percent = 75\n{settings}"),
    );
    Some(home)
}

fn learn(home: &Home) {
    for _ in 0..3 {
        run(home, "make staging");
    }
    wait_commands(home, &["make staging"; 3]);
}

#[test]
fn what_was_always_taken_here_is_sure_once() {
    let Some(home) = habit("") else { return };
    let _worker = home.worker();
    learn(&home);
    let (session, records) = answer(&home, "a", "!sure");
    assert_eq!(records[..3], ["v1", "!sure", "=1"]);
    let mut rest = records[2..].to_vec();
    rest.sort();
    assert_eq!(rest, [".", "=0", "=1", "=2"], "every candidate once");
    // The same word in the same shell again: the list.
    let again = eventually("an answer", || {
        let output = press(&home, &session, "sure=1\0");
        (output.status.code() == Some(0)).then_some(output.stdout)
    });
    assert!(again.starts_with(b"v1\0=1\0"), "{}", again.escape_ascii());
    // A script that does not know of it is not told.
    let old = eventually("an answer", || {
        let output = press(&home, "old", "");
        (output.status.code() == Some(0)).then_some(output.stdout)
    });
    assert!(old.starts_with(b"v1\0=1\0"), "{}", old.escape_ascii());
    // Nor does that answer use up the word for one that does.
    let knows = eventually("an answer", || {
        let output = press(&home, "old", "sure=1\0");
        (output.status.code() == Some(0)).then_some(output.stdout)
    });
    assert!(
        knows.starts_with(b"v1\0!sure\0"),
        "{}",
        knows.escape_ascii()
    );
}

#[test]
fn a_word_with_an_exception_is_not_sure() {
    let Some(home) = habit("") else { return };
    let _worker = home.worker();
    learn(&home);
    answer(&home, "a", "!sure");
    run(&home, "make status");
    answer(&home, "b", "=1");
}

#[test]
fn the_settings_turn_it_off() {
    let Some(home) = habit("insert = \"never\"\n") else {
        return;
    };
    let _worker = home.worker();
    learn(&home);
    let (_, records) = answer(&home, "a", "=1");
    assert!(!records.contains(&"!sure".to_owned()), "{records:?}");
}

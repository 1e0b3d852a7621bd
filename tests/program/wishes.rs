//! `tabsense do`: what is filled in, what is told beside the answer, and the first answer of a worker.

use super::deciding::{bad, good, text};
use super::feed;
use super::phrases::{OWN, by_words, by_words_in, json, press, say, sure, sure_phrase};
use crate::common::{Options, Shell, eventually};

#[test]
fn the_key_puts_the_command_on_the_line_of_each_shell() {
    for shell in [Shell::Zsh, Shell::Bash, Shell::Fish] {
        let Some(home) = by_words_in(shell) else {
            continue;
        };
        let _worker = home.worker();
        // The first phrase may take longer than a key.
        json(&home, "disk usage");
        let mut terminal = home.start(&Options::real());
        terminal.press("disk usage\x1b\r");
        // By words alone nothing is sure: the best are told, and the key goes through them.
        terminal.wait_text("Show disk usage: df -h");
        terminal.press("\x1b\r");
        terminal.wait_line("df -h");
    }
}

#[test]
fn many_mistakes_take_one_line_and_all_of_them_only_when_asked_for() {
    let Some(home) = by_words() else { return };
    let mistakes: String = (1..=7)
        .map(|number| format!("[[shortcut]]\nid = \"blit{number}\"\n"))
        .collect();
    home.write(OWN, &mistakes);
    let lines = |arguments: &[&str]| {
        let output = say(&home, arguments);
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        let about = told.lines().filter(|line| line.contains("shortcuts.toml:"));
        about.map(str::to_owned).collect::<Vec<_>>()
    };
    let told = lines(&["disk", "usage"]);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].contains("and 6 more (hint: `tabsense do --explain`"),
        "{told:?}"
    );
    assert_eq!(lines(&["disk", "usage", "--explain"]).len(), 8);
    let (records, _) = press(&home, "disk usage", "");
    let about = |record: &&String| record.contains("shortcuts.toml:");
    assert_eq!(records.iter().filter(about).count(), 1, "{records:?}");
    assert!(records[1].starts_with("message="), "{records:?}");
}

#[test]
fn a_bare_word_behind_the_verb_fills_the_slot_that_is_left() {
    let Some(home) = by_words() else { return };
    let command = |phrase: &str, id: &str| {
        let answer = json(&home, phrase);
        let choices = answer["choices"].as_array().expect("a list").iter();
        let mut wanted = choices.filter(|choice| choice["id"] == id);
        let choice = wanted
            .next()
            .unwrap_or_else(|| panic!("no {id} in {answer}"));
        choice["command"].as_str().map(str::to_owned)
    };
    let kill = |phrase: &str| command(phrase, "kill_by_name");
    assert_eq!(kill("kill firefox").as_deref(), Some("pkill -x firefox"));
    let all = kill("kill every program");
    assert_eq!(all.as_deref(), Some("pkill -x <&program>"));
    home.write(
        OWN,
        "[[shortcut]]\nid = \"blit\"\ntitle = \"blit lamp\"\n\
         command = [{ run = \"lamp\", on = \"lamp on\", off = \"lamp off\" }]\n\
         [[shortcut]]\nid = \"frob\"\ntitle = \"frob site\"\ncommand = \"serve {port=8000}\"\n",
    );
    for (phrase, id, line) in [
        ("turn the blit lamp on", "blit", "lamp on"),
        ("blit lamp aus", "blit", "lamp off"),
        ("blit lamp", "blit", "lamp"),
        ("frob site", "frob", "serve 8000"),
        ("frob site on port 9090", "frob", "serve 9090"),
    ] {
        assert_eq!(command(phrase, id).as_deref(), Some(line), "{phrase}");
    }
}

#[test]
fn the_first_phrase_after_a_start_waits_for_the_model() {
    let Some(home) = sure() else { return };
    sure_phrase(&home);
    // A machine that is busy with other tests may need more than one try.
    eventually("the first answer is the model's", || {
        good(&home, &["worker", "stop"]);
        (json(&home, "open the mail")["decided"] == true).then_some(())
    });
}

#[test]
fn the_key_asks_the_model_also_for_the_first_phrase_of_a_worker() {
    let Some(home) = sure() else { return };
    sure_phrase(&home);
    // A machine that is busy with other tests may need more than one try.
    eventually("the first press is the model's", || {
        good(&home, &["worker", "restart"]);
        let (records, status) = press(&home, "open the mail", "");
        let is_loading = records.iter().any(|record| record.contains("being loaded"));
        if is_loading {
            let told = [
                "v1",
                "message=the model is still being loaded: press again",
                ".",
            ];
            assert_eq!(
                (records, status),
                (told.map(str::to_owned).to_vec(), Some(0))
            );
            return None;
        }
        let is_sure = |record: &String| record.starts_with("line=");
        records.iter().any(is_sure).then_some(())
    });
}

#[test]
fn a_pause_is_told_to_whoever_asks_in_words() {
    let Some(home) = by_words() else { return };
    good(&home, &["worker", "start"]);
    good(&home, &["pause"]);
    let (records, status) = press(&home, "disk usage", "");
    assert_eq!(
        records,
        ["v1", "message=paused (hint: `tabsense resume`)", "."]
    );
    assert_eq!(status, Some(0));
    assert_eq!(
        press(&home, "  , ", ""),
        (Vec::new(), Some(3)),
        "no words, no answer"
    );
    let said = bad(&say(&home, &["disk", "usage"]));
    assert!(
        said.contains("paused") && said.contains("tabsense resume"),
        "{said}"
    );
    let status = good(&home, &["worker", "status"]);
    assert!(
        status.contains("paused (hint: `tabsense resume`)"),
        "{status}"
    );
    good(&home, &["resume"]);
    assert!(!good(&home, &["worker", "status"]).contains("paused"));
}

#[test]
fn a_worker_that_cannot_run_is_not_said_to_be_starting() {
    let Some(home) = by_words() else { return };
    let said = |name: &str, place: &str| {
        let mut command = home.command(&home.client());
        command.args(["do", "--hook"]).env(name, place);
        if name == "HOME" {
            command
                .env_remove("XDG_RUNTIME_DIR")
                .env_remove("XDG_DATA_HOME");
        }
        let input = b"shell=bash\0session=t\0cwd=/\0line=disk usage\0unit=chars\0\0";
        let output = feed(command, input);
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    home.write(
        "other/.local/share/tabsense",
        "a file where a directory should be",
    );
    let other = home.home().join("other");
    for told in [
        said("HOME", "/nowhere/at/all"),
        said("HOME", text(&other)),
        said("TABSENSE_WORKER", "/nowhere/tabsensed"),
    ] {
        assert!(!told.contains("press again"), "{told:?}");
        assert!(
            told.contains("message=") && told.contains("`tabsense doctor`"),
            "{told:?}"
        );
    }
}

#[test]
fn a_file_goes_where_the_phrase_says_and_is_never_what_stands_behind_to() {
    let Some(home) = by_words() else { return };
    for name in ["src/x", "docs/x"] {
        home.write(&format!("work/{name}"), "");
    }
    home.write("work/main.rs", "");
    let command = |phrase: &str| {
        let answer = json(&home, phrase);
        let choices = answer["choices"].as_array().expect("a list").iter();
        let mut wanted = choices.filter(|choice| choice["id"] == "rename_file");
        let choice = wanted
            .next()
            .unwrap_or_else(|| panic!("no rename in {answer}"));
        choice["command"].as_str().expect("a command").to_owned()
    };
    for (phrase, line) in [
        ("move file.txt to src", "mv -n file.txt src"),
        ("rename file main.rs to src", "mv -n main.rs src"),
        ("rename the file to b c.txt", "mv -n <&old> b\\ c.txt"),
        (
            "verschiebe die Datei notiz.txt nach docs",
            "mv -n notiz.txt docs",
        ),
    ] {
        assert_eq!(command(phrase), line, "{phrase}");
    }
}

//! `tabsense do`, its hook, and `tabsense eval shortcuts`.

use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::deciding::{CONFIG, bad, good, text};
use super::{NATIVE, hook};
use crate::common::{Home, Shell, eventually};

pub(super) const OWN: &str = ".config/tabsense/shortcuts.toml";

/// A home in which words alone are compared.
pub(super) fn by_words() -> Option<Home> {
    by_words_in(Shell::Bash)
}

pub(super) fn by_words_in(shell: Shell) -> Option<Home> {
    let home = Home::new(shell)?;
    home.write(
        CONFIG,
        "[complete]\nmodel = \"off\"\n[do]\nmodel = \"off\"\n",
    );
    Some(home)
}

/// A tiny checkpoint with random weights that is always sure of something: its logits are those of
/// the model crate's, 64 times as far from each other.
fn sure_checkpoint(home: &Home) -> PathBuf {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/model/tests/golden/separate");
    let to = home.root().join("sure");
    for file in [
        "model.safetensors",
        "rl_agent_config.json",
        "encoder/config.json",
        "tokenizer/tokenizer.json",
        "tokenizer/tokenizer_config.json",
    ] {
        let place = to.join(file);
        std::fs::create_dir_all(place.parent().expect("a parent")).expect("directory");
        std::fs::copy(from.join(file), place).expect("copied");
    }
    let file = to.join("model.safetensors");
    let mut weights = std::fs::read(&file).expect("there");
    let (length, rest) = weights.split_first_chunk_mut::<8>().expect("a header");
    let (header, data) = rest.split_at_mut(u64::from_le_bytes(*length) as usize);
    let header: Value = serde_json::from_slice(header).expect("JSON");
    let place = |at: usize| header["scorer.3.weight"]["data_offsets"][at].as_u64();
    let (start, end) = (place(0).expect("a start"), place(1).expect("an end"));
    for half in data[start as usize..end as usize].chunks_exact_mut(2) {
        let bits = u16::from_le_bytes([half[0], half[1]]);
        let exponent = bits >> 10 & 31;
        if exponent > 0 {
            let larger = bits & !(31 << 10) | (exponent + 6).min(30) << 10;
            half.copy_from_slice(&larger.to_le_bytes());
        }
    }
    std::fs::write(&file, weights).expect("written");
    to
}

/// A home whose model is always sure of something.
pub(super) fn sure() -> Option<Home> {
    let home = Home::new(Shell::Bash)?;
    let model = sure_checkpoint(&home);
    let settings = format!(
        "[complete]\nmodel = \"off\"\n[do]\nmodel = {:?}\nthreshold = 60\n",
        text(&model)
    );
    home.write(CONFIG, &settings);
    Some(home)
}

pub(super) fn say(home: &Home, arguments: &[&str]) -> Output {
    home.tabsense(&[&["do"], arguments].concat())
}

#[track_caller]
pub(super) fn json(home: &Home, phrase: &str) -> Value {
    let output = say(home, &[phrase, "--json"]);
    assert!(output.stderr.is_empty(), "{output:?}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// A phrase of which the model is sure that something is meant, with the answer. Which one it is
/// depends on random numbers.
pub(super) fn sure_phrase(home: &Home) -> (&'static str, Value) {
    let phrases = [
        "free the port",
        "show my address",
        "open the mail",
        "make it louder",
        "what takes the space",
        "take a picture of the screen",
        "lock it",
        "undo what I did",
    ];
    // What has not been read yet may be nearer.
    eventually("all texts are read", || {
        (json(home, "x")["unread"] == 0).then_some(())
    });
    eventually("the model answers", || {
        phrases.iter().find_map(|phrase| {
            let answer = json(home, phrase);
            (answer["verdict"] == "sure").then_some((*phrase, answer))
        })
    })
}

/// Gives the shortcut that the model is sure of another command.
fn replace(home: &Home, answer: &Value, risk: &str, command: &str) {
    let best = &answer["choices"][0];
    let own = format!(
        "[[shortcut]]\nid = {}\ntitle = {}\nrisk = {risk:?}\ncommand = {command:?}\n",
        best["id"], best["text"]
    );
    home.write(OWN, &own);
    eventually("it is read", || {
        (json(home, "x")["unread"] == 0).then_some(())
    });
}

#[test]
fn without_a_model_the_likeliest_are_offered_and_never_taken() {
    let Some(home) = by_words() else { return };
    let output = say(&home, &["show", "disk", "usage"]);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        told.starts_with("not sure (by words alone; the model: off"),
        "{told}"
    );
    assert!(told.lines().count() <= 4, "{told}");
    let answer = json(&home, "disk usage");
    assert_eq!(answer["verdict"], "unsure");
    assert_eq!(answer["choices"][0]["id"], "disk_usage");
    assert_eq!(answer["decided"], false);
    assert!(answer.get("id").is_none(), "{answer}");
    let output = say(&home, &["xyzzy"]);
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        told.starts_with("nothing fits (by words alone; the model: off"),
        "{told}"
    );
    assert_eq!(say(&home, &[]).status.code(), Some(2));
}

#[test]
fn the_words_fill_the_command_and_what_they_do_not_say_is_left_open() {
    let Some(home) = by_words() else { return };
    home.files(&["backup.tar.gz"]);
    home.write(
        OWN,
        "[[shortcut]]\nid = \"blit_it\"\ntitle = \"blit frob\"\ncommand = \"blit {port} {path:archive}\"\n",
    );
    let of = |phrase: &str| {
        let answer = json(&home, phrase);
        let choices = answer["choices"].as_array().expect("a list").iter();
        let mut own = choices.filter(|choice| choice["id"] == "blit_it");
        own.next().unwrap_or_else(|| panic!("{answer}")).clone()
    };
    let whole = of("blit frob backup.tar.gz on port 3000");
    assert_eq!(whole["command"], "blit 3000 backup.tar.gz");
    assert_eq!(whole["slots"]["port"], "3000");
    let open = of("blit frob backup.tar.gz");
    assert_eq!(open["command"], "blit <&port> backup.tar.gz");
    assert_eq!(
        (&open["cursor"], &open["placeholder"]),
        (&5.into(), &7.into())
    );
    assert_eq!(open["slots"]["port"], Value::Null);
}

#[test]
fn the_users_own_file_counts_at_once_and_its_mistakes_are_told_with_their_line() {
    let Some(home) = by_words() else { return };
    let first = || json(&home, "blit frob")["choices"][0]["id"].clone();
    assert_ne!(first(), "mine");
    let own = "[[shortcut]]\nid = \"mine\"\ntitle = \"blit frob\"\ncommand = \"x\"\n";
    home.write(OWN, own);
    assert_eq!(first(), "mine");
    home.write(OWN, &format!("{own}comand = 1\n"));
    let answer = json(&home, "blit frob");
    let problem = answer["problems"][0].as_str().expect("a problem");
    assert!(
        problem.contains("shortcuts.toml:5: unknown key `comand`"),
        "{problem}"
    );
    let told = say(&home, &["blit frob"]);
    assert!(
        String::from_utf8_lossy(&told.stdout).contains(problem),
        "{told:?}"
    );
}

#[test]
fn the_project_in_the_working_directory_is_known() {
    let Some(home) = by_words() else { return };
    home.write("work/Makefile", "## Blit the frob\nblitfrob:\n\ttrue\n");
    home.write(
        "work/.git/config",
        "[alias]\n\tfrobnicate = log --oneline\n",
    );
    let first = |phrase: &str| {
        let answer = json(&home, phrase);
        let best = answer["choices"][0].clone();
        (best["id"].clone(), best["command"].clone())
    };
    let found = first("blit the frob");
    assert_eq!(found, ("make:blitfrob".into(), "make blitfrob".into()));
    let found = first("frobnicate");
    assert_eq!(found, ("git:frobnicate".into(), "git frobnicate".into()));
    home.write("work/Cargo.toml", "[package]\n");
    home.write(
        OWN,
        "[[shortcut]]\nid = \"qq\"\ntitle = \"quux\"\nproject = \"test\"\n",
    );
    assert_eq!(first("quux").1, "cargo test");
    let elsewhere = say(&home, &["quux", "--cwd", "/", "--json"]);
    let elsewhere: Value = serde_json::from_slice(&elsewhere.stdout).expect("JSON");
    let why = elsewhere["choices"][0]["unavailable"]
        .as_str()
        .expect("a reason");
    assert!(why.contains("no project that can be tested"), "{why}");
}

#[test]
fn cached_pages_of_tldr_are_offered_with_their_origin() {
    let Some(home) = by_words() else { return };
    home.write(
        ".cache/tlrc/pages.en/common/blit.md",
        "# blit\n\n> Blit.\n\n- Frobnicate the quux:\n\n`blit --frob {{path/to/quux}}`\n",
    );
    let told = eventually("the pages are read", || {
        let output = say(&home, &["frobnicate the quux", "--explain"]);
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        told.contains("tldr:blit").then_some(told)
    });
    assert!(told.contains("CC BY 4.0"), "{told}");
    assert!(told.contains("blit --frob <&quux>"), "{told}");
}

#[test]
fn what_the_model_is_sure_of_is_printed_and_nothing_runs() {
    let Some(home) = sure() else { return };
    let (phrase, answer) = sure_phrase(&home);
    assert_eq!(answer["decided"], true);
    assert_eq!(answer["id"], answer["choices"][0]["id"]);
    assert!(
        answer["probability"].as_f64().expect("a number") >= 0.6,
        "{answer}"
    );
    let mark = home.root().join("ran");
    replace(&home, &answer, "read", &format!("touch {}", text(&mark)));
    let told = good(&home, &["do", phrase]);
    let command = format!(
        "touch {}\n  {}, ",
        text(&mark),
        answer["id"].as_str().expect("an id")
    );
    assert!(
        told.starts_with(&command) && told.ends_with(" % (read)\n"),
        "{told}"
    );
    let told = good(&home, &["do", phrase, "--explain"]);
    for part in [
        "shortcuts.toml (read)",
        "none of these",
        "nearness",
        "decide ",
    ] {
        assert!(told.contains(part), "no {part:?} in {told}");
    }
    assert!(!mark.exists());
}

#[test]
fn what_only_reads_runs_when_told_to_and_all_else_wants_a_yes() {
    let Some(home) = sure() else { return };
    let (phrase, answer) = sure_phrase(&home);
    for shell in ["bash", "sh", "zsh"] {
        let Some(shell) = Some(shell).filter(|shell| *shell != "sh" && there(shell)) else {
            continue;
        };
        replace(&home, &answer, "read", "echo ran; exit 9");
        let output = say(&home, &[phrase, "--run", "--shell", shell]);
        assert_eq!(output.stdout, b"ran\n", "{output:?}");
        assert_eq!(output.status.code(), Some(9), "the command's own status");
    }
    for risk in ["write", "destructive"] {
        replace(&home, &answer, risk, "echo ran");
        let output = say(&home, &[phrase, "--run"]);
        assert_eq!(output.status.code(), Some(6), "{output:?}");
        assert!(output.stdout.is_empty(), "{output:?}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            said.contains("nobody is there to say yes") && said.contains(risk),
            "{said}"
        );
    }
    replace(&home, &answer, "read", "cd / && pwd");
    let output = say(&home, &[phrase, "--run"]);
    assert_eq!(output.status.code(), Some(7), "{output:?}");
    assert_eq!(output.stdout, b"cd / && pwd\n", "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains("only your shell itself can do `cd`"),
        "{said}"
    );
    replace(&home, &answer, "read", "echo {port}");
    let output = say(&home, &[phrase, "--run"]);
    assert_eq!(output.status.code(), Some(6), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("does not say the port"), "{said}");
}

fn there(program: &str) -> bool {
    std::env::split_paths("/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin")
        .any(|directory| directory.join(program).exists())
}

/// The records that the hook prints, and its status.
pub(super) fn press(home: &Home, line: &str, names: &str) -> (Vec<String>, Option<i32>) {
    let input = format!(
        "shell=bash\0session=t\0cwd={}\0line={line}\0unit=chars\0\0{names}",
        text(&home.work())
    );
    let output = hook(home, "do", input.as_bytes());
    assert!(output.stderr.is_empty(), "{output:?}");
    let said = String::from_utf8(output.stdout).expect("UTF-8");
    let records = said.split_terminator('\0').map(str::to_owned).collect();
    (records, output.status.code())
}

#[test]
fn the_hook_puts_a_sure_command_on_the_line() {
    let Some(home) = sure() else { return };
    let (phrase, answer) = sure_phrase(&home);
    replace(&home, &answer, "destructive", "rm {port} 窗");
    for line in [phrase.to_owned(), format!(", {phrase}")] {
        let (records, status) = press(&home, &line, "");
        assert_eq!(status, Some(0), "{records:?}");
        assert_eq!(records[0], "v1");
        assert_eq!(records.last().expect("an end"), ".");
        for record in [
            "line=rm <&port> 窗",
            "cursor=3",
            "select=7",
            "risk=destructive",
        ] {
            assert!(
                records.iter().any(|found| found == record),
                "{record}: {records:?}"
            );
        }
    }
}

#[test]
fn the_hook_offers_what_is_not_sure_and_leaves_the_line_alone_otherwise() {
    let Some(home) = by_words() else { return };
    let names = "a\tblit\tfrob the quux\0";
    eventually("the worker answers", || {
        let (records, _) = press(&home, "disk usage", "");
        let mut choices = records
            .iter()
            .filter(|record| record.starts_with("choice="));
        choices.next().map(|_| ())
    });
    let (records, status) = press(&home, "frob the quux", names);
    assert_eq!((status, records[1].as_str()), (Some(0), "message=not sure"));
    assert_eq!(records[2], "choice=4\t0\tblit\tblit");
    assert_eq!(press(&home, "  , ", ""), (Vec::new(), NATIVE));
    let (records, status) = press(&home, "xyzzy", "");
    assert_eq!(
        (records, status),
        (
            ["v1", "message=nothing fits", "."]
                .map(str::to_owned)
                .to_vec(),
            NATIVE
        )
    );
}

#[test]
fn the_hook_waits_for_no_worker() {
    let Some(home) = by_words() else { return };
    let said = |message: &str| {
        let records = ["v1", &format!("message={message}"), "."].map(str::to_owned);
        (records.to_vec(), Some(0))
    };
    let starting = said("the worker is starting: press again");
    assert_eq!(press(&home, "disk usage", ""), starting);
    let worker = home.worker();
    worker.freeze();
    let start = Instant::now();
    let late = said("no answer in time: press again");
    assert_eq!(press(&home, "disk usage", ""), late);
    let took = start.elapsed();
    assert!(took < Duration::from_millis(1000), "{took:?}");
    worker.thaw();
}

#[test]
fn a_model_that_cannot_be_used_is_told_and_words_are_compared() {
    let Some(home) = Home::new(Shell::Bash) else {
        return;
    };
    let cached = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/model/tests/golden/cached");
    for (model, why) in [
        (Path::new("/absent"), "/absent/"),
        (&cached, "needs separate"),
    ] {
        let settings = format!(
            "[complete]\nmodel = \"off\"\n[do]\nmodel = {:?}\n",
            text(model)
        );
        home.write(CONFIG, &settings);
        good(&home, &["worker", "restart"]);
        let told = eventually("the model is refused", || {
            let answer = json(&home, "disk usage");
            let told = answer["model"].as_str().expect("a text").to_owned();
            (!told.contains("still being loaded")).then_some((told, answer))
        });
        assert!(told.0.contains(why), "{told:?}");
        assert_eq!(told.1["choices"][0]["id"], "disk_usage");
    }
}

#[test]
fn phrases_are_measured_in_the_form_that_is_documented() {
    let Some(home) = by_words() else { return };
    home.write(
        "work/cases.jsonl",
        "{\"text\": \"disk usage\", \"lang\": \"en\", \"id\": \"disk_usage\"}\n\
         {\"text\": \"打开邮件\", \"lang\": \"zh\", \"id\": \"launch_mail\"}\n\
         {\"text\": \"xyzzy\", \"lang\": \"en\", \"id\": null}\n",
    );
    let output = home.tabsense(&["eval", "shortcuts", "cases.jsonl", "--json"]);
    assert!(output.status.success(), "{output:?}");
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(report["cases"], 3);
    for (language, top1) in [("en", 1.0), ("zh", 1.0)] {
        let of = &report["languages"][language];
        assert_eq!(
            (&of["cases"], &of["top1"]),
            (&1.into(), &top1.into()),
            "{report}"
        );
        assert_eq!(
            (&of["accepted_top1"], &of["top3"]),
            (&0.0.into(), &1.0.into()),
            "{report}"
        );
    }
    assert_eq!(report["false_accepts"], 0.0);
    assert!(report["ece"].as_f64().is_some_and(|ece| ece <= 1.0));
    assert!(report["latency_ms"]["p50"].as_f64() <= report["latency_ms"]["p99"].as_f64());
    let told = home.tabsense(&["eval", "shortcuts", "cases.jsonl"]);
    assert!(
        String::from_utf8_lossy(&told.stdout).contains("wrongly accepted 0.0%"),
        "{told:?}"
    );
    home.write("work/bad.jsonl", "{\"text\": 1}\n");
    let said = bad(&home.tabsense(&["eval", "shortcuts", "bad.jsonl"]));
    assert!(
        said.contains("bad.jsonl: ") && said.contains("line 1"),
        "{said}"
    );
}

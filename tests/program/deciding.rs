//! `tabsense model` and `tabsense decide`.

use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::Value;

use super::{answered, feed};
use crate::common::{Home, Shell, Worker, eventually};

pub(super) const CONFIG: &str = ".config/tabsense/config.toml";

pub(super) const QUESTIONS: &str = r#"{
    "where": {"type": "choice", "instructions": "Which directory?",
              "criteria": ["docs/", "downloads/", "src", "a name with spaces"]},
    "ready": {"type": "noul", "instructions": "Is the line complete?"}}"#;

pub(super) fn home() -> Option<Home> {
    Home::new(Shell::Bash)
}

/// A tiny checkpoint of the model crate's tests, with the reference's answers beside it.
fn golden(layout: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("crates/model/tests/golden")
        .join(layout)
}

/// A copy of it that a test may damage, called `name`.
pub(super) fn checkpoint(home: &Home, name: &str) -> PathBuf {
    let to = home.root().join(name);
    for file in [
        "model.safetensors",
        "rl_agent_config.json",
        "expected.json",
        "encoder/config.json",
        "tokenizer/tokenizer.json",
        "tokenizer/tokenizer_config.json",
    ] {
        let to = to.join(file);
        std::fs::create_dir_all(to.parent().expect("a parent")).expect("directory");
        std::fs::copy(golden("cached").join(file), to).expect("copied");
    }
    to
}

pub(super) fn text(path: &Path) -> &str {
    path.to_str().expect("a path of the test")
}

pub(super) fn configure(home: &Home, model: &Path) {
    home.write(CONFIG, &format!("[complete]\nmodel = {:?}\n", text(model)));
}

/// What a command that succeeds prints.
#[track_caller]
pub(super) fn good(home: &Home, arguments: &[&str]) -> String {
    let output = home.tabsense(arguments);
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    assert!(output.stderr.is_empty(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// What a command that fails says; it prints nothing else.
#[track_caller]
pub(super) fn bad(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(output.stdout.is_empty(), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.starts_with("tabsense: "), "{said}");
    said
}

/// What the status says of the model once it is no longer being loaded.
#[track_caller]
pub(super) fn model(home: &Home) -> String {
    eventually("the model is loaded or refused", || {
        let output = home.tabsense(&["worker", "status", "--json"]);
        let status: Value = serde_json::from_slice(&output.stdout).ok()?;
        let model = status["model"].as_str()?.to_owned();
        (model != "loading").then_some(model)
    })
}

#[test]
fn a_checkpoint_is_described_and_meets_what_is_expected_of_it() {
    let Some(home) = home() else { return };
    for (layout, layers, budget, cases) in [
        ("sequential", "3 layers", "96 tokens", 7),
        ("parallel", "3 layers", "96 tokens", 7),
        ("cached", "3 layers", "96 tokens", 7),
        ("separate", "2 BERT layers", "32 tokens", 4),
    ] {
        let directory = golden(layout);
        let told = good(&home, &["model", "info", text(&directory)]);
        for part in [layout, text(&directory), layers, "of 32", budget] {
            assert!(told.contains(part), "no {part:?} in {told}");
        }
        let told = good(&home, &["model", "verify", text(&directory)]);
        assert!(told.ends_with("good\n"), "{told}");
        for way in ["cpu, floats", "cpu, 8 bits", "cpu, as on TAB"] {
            let way = format!("{way}: {cases} ");
            assert!(told.contains(&way), "no {way:?} in {told}");
        }
        assert!(told.contains("cpu against "), "{told}");
    }
    let told = good(&home, &["model", "bench", text(&golden("cached"))]);
    for row in ["load", "128 tokens at once", "64 tokens of options"] {
        assert!(told.contains(row), "no {row:?} in {told}");
    }
}

#[test]
fn programs_get_the_same_reports_as_json() {
    let Some(home) = home() else { return };
    let json = |arguments: &[&str]| -> Value {
        let told = good(&home, &[&["model"], arguments, &["--json"]].concat());
        serde_json::from_str(&told).expect("JSON")
    };
    let listed = json(&["list"]);
    assert_eq!(listed["models"][0]["model"], "builtin");
    assert_eq!(listed["models"][0]["chosen"], true);
    let directory = golden("separate");
    let info = json(&["info", text(&directory)]);
    assert_eq!(info["layout"], "separate");
    assert_eq!(info["encoder"]["family"], "bert");
    assert_eq!(info["budgets"]["all"], 32);
    let rows = json(&["bench", text(&directory)]);
    let passes: Vec<&str> = (rows["rows"].as_array().expect("rows").iter())
        .filter_map(|row| row["pass"].as_str())
        .collect();
    assert!(passes.contains(&"a phrase of 16 tokens"), "{passes:?}");
}

#[test]
fn the_built_in_model_brings_its_expected_answers() {
    let Some(home) = home() else { return };
    let told = good(&home, &["model", "verify", "builtin", "--json"]);
    let told: Value = serde_json::from_str(&told).expect("JSON");
    assert_eq!(told["good"], true, "{told}");
    for met in told["against_expected"].as_array().expect("ways") {
        assert!(met["cases"].as_u64() >= Some(7), "{met}");
        assert_eq!(met["other_choice"], 0, "{met}");
        assert!(met["largest_difference"].as_f64() < Some(0.05), "{met}");
    }
}

#[test]
fn the_built_in_model_stands_in_for_one_that_is_too_large() {
    let Some(home) = home() else { return };
    let large = checkpoint(&home, "large");
    // Nothing of it is read: its size alone tells.
    let weights = std::fs::File::options()
        .write(true)
        .open(large.join("model.safetensors"))
        .expect("weights");
    weights.set_len(200 << 20).expect("grown");
    configure(&home, &large);
    home.worker();
    let told = model(&home);
    assert!(
        told.starts_with("builtin, ") && told.contains("large is too large for worker.memory_mb"),
        "{told}"
    );
    answered(&home);
}

#[test]
fn a_checkpoint_that_answers_otherwise_than_expected_does_not_verify() {
    let Some(home) = home() else { return };
    let directory = checkpoint(&home, "c");
    let file = directory.join("expected.json");
    let mut expected: Value =
        serde_json::from_slice(&std::fs::read(&file).expect("there")).expect("JSON");
    let logit = &mut expected[0]["rows"][0]["logits"][0];
    *logit = Value::from(logit.as_f64().expect("a logit") + 0.2);
    std::fs::write(&file, expected.to_string()).expect("written");
    let output = home.tabsense(&["model", "verify", text(&directory)]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        told.contains("logit 0.20000 ") && told.contains("WRONG"),
        "{told}"
    );
}

#[test]
fn a_quantised_copy_is_smaller_loads_and_keeps_what_it_is_told_to() {
    let Some(home) = home() else { return };
    let from = golden("cached");
    let sizes = ["8", "4"].map(|bits| {
        let to = home.root().join(bits);
        let arguments = [
            "model",
            "quantize",
            text(&from),
            text(&to),
            "--bits",
            bits,
            "--group-size",
            "16",
            "--keep",
            "layers.0*Wqkv",
        ];
        let told = good(&home, &arguments);
        assert!(
            told.contains("kept encoder.layers.0.attn.Wqkv.weight\n"),
            "{told}"
        );
        assert!(!told.contains("layers.1.attn.Wqkv"), "{told}");
        assert!(told.contains("the same choice in "), "{told}");
        good(&home, &["model", "info", text(&to)]);
        let again = bad(&home.tabsense(&arguments));
        assert!(
            again.contains(text(&to)) && again.contains("hint: "),
            "{again}"
        );
        std::fs::metadata(to.join("model.safetensors"))
            .expect("weights")
            .len()
    });
    let whole = std::fs::metadata(from.join("model.safetensors")).expect("weights");
    assert!(sizes[1] < sizes[0] && sizes[0] < whole.len(), "{sizes:?}");
    let out = home.root().join("out");
    let odd = [
        "model",
        "quantize",
        text(&from),
        text(&out),
        "--group-size",
        "x",
    ];
    assert!(bad(&home.tabsense(&odd)).contains("`x`"));
    assert!(!out.exists());
}

#[test]
fn the_list_has_what_is_built_in_chosen_and_in_the_hugging_face_cache() {
    let Some(home) = home() else { return };
    assert_eq!(
        good(&home, &["model", "list"]),
        "* builtin  (comes with tabsense)\n"
    );
    let directory = checkpoint(&home, "mine");
    let repository = home.home().join(".cache/huggingface/hub/models--org--laya");
    std::fs::create_dir_all(repository.join("refs")).expect("directory");
    std::fs::create_dir_all(repository.join("snapshots")).expect("directory");
    std::fs::write(repository.join("refs/main"), "abc").expect("written");
    let snapshot = repository.join("snapshots/abc");
    std::os::unix::fs::symlink(checkpoint(&home, "blobs"), &snapshot).expect("link");
    configure(&home, &directory);
    let told = good(&home, &["model", "list"]);
    let expected = format!(
        "  builtin  (comes with tabsense)\n* {}  (set in config.toml)\n  {}  (org/laya)\n",
        directory.display(),
        snapshot.display()
    );
    assert_eq!(told, expected);
    good(&home, &["model", "use", text(&snapshot)]);
    let told = good(&home, &["model", "list"]);
    assert!(told.ends_with(&format!("* {}  (org/laya)\n", snapshot.display())));
    assert_eq!(told.lines().count(), 2, "{told}");
}

#[test]
fn a_choice_changes_one_line_and_is_in_force_at_once() {
    let Some(home) = home() else { return };
    let mine = "# mine\ndeadline_ms   = 60\n\n[ complete ]   # ranking\nadd = true\n";
    home.write(CONFIG, mine);
    let directory = checkpoint(&home, "tiny");
    let first = home.worker().pid();
    for (choice, told) in [
        ("off", "off (set in config.toml)"),
        (text(&directory), "tiny, "),
        ("builtin", "builtin, "),
    ] {
        let printed = good(&home, &["model", "use", choice]);
        assert!(printed.starts_with(&format!("model: {told}")), "{printed}");
        assert!(model(&home).starts_with(told), "{}", model(&home));
        let config = std::fs::read_to_string(home.home().join(CONFIG)).expect("there");
        let line = format!("model = {choice:?}\n");
        assert_eq!(config.replace(&line, ""), mine, "{config}");
        assert!(config.contains(&line), "{config}");
    }
    assert_ne!(Worker::pid_in(&home), Some(first));
    answered(&home);
}

#[test]
fn a_choice_without_a_worker_starts_none() {
    let Some(home) = home() else { return };
    assert_eq!(good(&home, &["model", "use", "off"]), "model: off\n");
    assert_eq!(Worker::pid_in(&home), None);
    let config = std::fs::read_to_string(home.home().join(CONFIG)).expect("there");
    assert_eq!(config, "[complete]\nmodel = \"off\"\n");
}

#[test]
fn what_cannot_be_chosen_leaves_the_settings_alone() {
    let Some(home) = home() else { return };
    let directory = checkpoint(&home, "c");
    let kept = |config: &str, choice: &Path| {
        home.write(CONFIG, config);
        let said = bad(&home.tabsense(&["model", "use", text(choice)]));
        let now = std::fs::read_to_string(home.home().join(CONFIG)).expect("there");
        assert_eq!(now, config);
        assert!(said.contains("  hint: "), "{said}");
        said
    };
    let said = kept("# mine\n", &home.root().join("absent"));
    assert!(said.contains("absent/encoder/config.json: "), "{said}");
    let said = kept("deadline_ms = 50\n[complete\n", &directory);
    assert!(said.contains("config.toml:2: "), "{said}");
    let said = kept("complete = 1\n", &directory);
    assert!(said.contains("write it by hand"), "{said}");
}

#[test]
fn a_decision_is_that_of_the_reference() {
    let Some(home) = home() else { return };
    configure(&home, &golden("cached"));
    home.write("work/q.json", QUESTIONS);
    home.write("work/state", "cd do");
    let expected = std::fs::read(golden("cached").join("expected.json")).expect("there");
    let expected: Value = serde_json::from_slice(&expected).expect("JSON");
    let json = ["--questions", "q.json", "--json"];
    let plain = good(
        &home,
        &[&["decide", "--state", "cd do"], &json[..]].concat(),
    );
    let got: Value = serde_json::from_str(&plain).expect("JSON");
    assert_eq!(got.as_object().expect("an object").len(), 1);
    alike(&got["answers"], &expected[0]["answers"]);

    let from_file = good(
        &home,
        &[&["decide", "--state", "@state"], &json[..]].concat(),
    );
    assert_eq!(from_file, plain);
    let mut command = home.command(&home.client());
    command.args(["decide", "--state", "-"]).args(json);
    let output = feed(command, b"cd do");
    assert_eq!(String::from_utf8_lossy(&output.stdout), plain);

    let short = good(
        &home,
        &["decide", "--state", "cd do", "--questions", "q.json"],
    );
    let answers = &got["answers"];
    for (line, id, label) in [(0, "where", "docs/"), (1, "ready", "true")] {
        let told = short.lines().nth(line).expect("a line");
        let share = told
            .strip_prefix(&format!("{id}: {label} ("))
            .and_then(|rest| rest.strip_suffix(" %)"))
            .and_then(|share| share.parse::<f64>().ok())
            .unwrap_or_else(|| panic!("{told}"));
        let exact = answers[id]["answer_confidence"].as_f64().expect("a share");
        assert!((share - exact * 100.0).abs() < 0.06, "{told}: {exact}");
    }
    assert_eq!(short.lines().count(), 2, "{short}");
}

/// The same document. A logit may be off by 0.05 in 8 bits: two of them, one up and one down, move
/// a probability by 0.025 at most.
#[track_caller]
fn alike(got: &Value, expected: &Value) {
    match (got, expected) {
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().expect("float"), b.as_f64().expect("float"));
            assert!((a - b).abs() < 0.025, "{a} is not {b}");
        }
        (Value::Object(a), Value::Object(b)) => {
            assert!(a.keys().eq(b.keys()), "{got} is not {expected}");
            a.iter().for_each(|(key, value)| alike(value, &b[key]));
        }
        _ => assert_eq!(got, expected),
    }
}

#[test]
fn a_question_that_cannot_be_asked_is_told_by_its_name_with_what_to_change() {
    let Some(home) = home() else { return };
    configure(&home, &golden("cached"));
    let ask = |questions: &str| {
        home.write("work/q.json", questions);
        bad(&home.tabsense(&["decide", "--state", "x", "--questions", "q.json", "--json"]))
    };
    for (questions, parts) in [
        ("{", ["questions: not JSON", "line 1"]),
        (
            "[]",
            [
                "expected an object of questions, got a list",
                "\"type\": \"choice\"",
            ],
        ),
        ("{}", ["no question is asked", "\"type\": \"choice\""]),
        (
            r#"{"tone": {"instructions": "x"}}"#,
            ["question \"tone\": type is missing", "hint: choice"],
        ),
        (
            r#"{"tone": {"type": "mood", "instructions": "x"}}"#,
            ["\"tone\": unknown type", "hint: choice"],
        ),
        (
            r#"{"tone": {"type": "noul"}}"#,
            ["\"tone\": instructions are missing", "hint: say what"],
        ),
        (
            r#"{"tone": {"type": "choice", "instructions": "x", "criteria": []}}"#,
            ["\"tone\": criteria are empty", "hint: give at least one"],
        ),
        (
            r#"{"a": {"type": "noul", "instructions": "x"}, "b": {"type": "score", "instructions": "x"}}"#,
            [
                "question \"b\": criteria must be a list of levels",
                "hint: ",
            ],
        ),
    ] {
        let said = ask(questions);
        for part in parts {
            assert!(said.contains(part), "{questions}: no {part:?} in {said}");
        }
        assert!(said.contains("  hint: "), "{said}");
    }
    let said = bad(&home.tabsense(&["decide", "--state", "x", "--questions", "absent.json"]));
    assert!(said.contains("absent.json: No such file"), "{said}");
    let said = bad(&home.tabsense(&["decide", "--state", "@gone", "--questions", "q.json"]));
    assert!(said.contains("gone: No such file"), "{said}");
    home.write("work/q.json", QUESTIONS);
    good(&home, &["decide", "--state", "x", "--questions", "q.json"]);
}

#[test]
fn without_a_model_nothing_is_decided_and_the_error_says_how_to_get_one() {
    let Some(home) = home() else { return };
    home.write("work/q.json", QUESTIONS);
    for (model, why) in [
        ("off", "off (set in config.toml)"),
        ("/absent", "/absent/encoder/"),
    ] {
        configure(&home, Path::new(model));
        good(&home, &["worker", "restart"]);
        let said = bad(&home.tabsense(&["decide", "--state", "x", "--questions", "q.json"]));
        assert!(
            said.contains(&format!("no decision model: {why}")),
            "{said}"
        );
        assert!(
            said.contains("hint: `tabsense model use builtin`"),
            "{said}"
        );
    }
}

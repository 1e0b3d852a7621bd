//! The numbers that scripts read: `worker status`, `eval`, `bench`.

use std::collections::BTreeSet;

use serde_json::Value;

use super::answered;
use crate::common::{Home, Shell};

#[track_caller]
fn json(home: &Home, arguments: &[&str]) -> Value {
    let output = home.tabsense(arguments);
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn keys(value: &Value) -> BTreeSet<&str> {
    value
        .as_object()
        .expect("an object")
        .keys()
        .map(String::as_str)
        .collect()
}

#[test]
fn the_workers_status_has_the_keys_that_scripts_read() {
    let Some(home) = Home::new(Shell::Bash) else {
        return;
    };
    let worker = home.worker();
    answered(&home);
    let status = json(&home, &["worker", "status", "--json"]);
    assert_eq!(status["pid"], worker.pid());
    for number in [
        "uptime_s", "requests", "p50_ms", "p95_ms", "p99_ms", "rss_mb",
    ] {
        assert!(status[number].is_number(), "{number} in {status}");
    }
    for text in ["version", "model"] {
        assert!(
            status[text].as_str().is_some_and(|text| !text.is_empty()),
            "{text} in {status}"
        );
    }
    assert!(status["requests"].as_u64() >= Some(1), "{status}");
    assert!(status["rss_mb"].as_f64() > Some(1.0), "{status}");
    let output = home.tabsense(&["worker", "status"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains(&format!("pid {}", worker.pid())), "{text}");
}

/// Two people; one repeats a round of three commands and visits directories.
fn histories() -> String {
    let user = |name: &str, count: usize| {
        let commands: Vec<Value> = (0..count)
            .map(|n| {
                let command = match n % 4 {
                    0 => "git status".to_owned(),
                    1 => format!("vim file{}.rs", n % 7),
                    2 => "cargo test".to_owned(),
                    _ => format!("cd /srv/app{}", n % 3),
                };
                serde_json::json!({
                    "t": 1_700_000_000 + n * 60, "cmd": command, "cwd": "/srv", "exit": 0,
                })
            })
            .collect();
        serde_json::json!({
            "user": name, "has_time": true, "repeat_share": 0.8, "commands": commands,
        })
    };
    format!("{}\n{}\n", user("a", 160), user("b", 130))
}

#[test]
fn replaying_histories_gives_every_key_for_every_method() {
    let Some(home) = Home::new(Shell::Bash) else {
        return;
    };
    home.write("work/hist.jsonl", &histories());
    let report = json(&home, &["eval", "history", "hist.jsonl", "--json"]);
    assert!(keys(&report).is_superset(&BTreeSet::from(["users", "cases", "methods"])));
    assert_eq!(report["users"], 2);
    assert_eq!(report["cases"], 60 + 30, "the first hundred only train");
    let mut expected: BTreeSet<String> = BTreeSet::new();
    for place in [
        "next", "prefix1", "prefix2", "prefix3", "prefix4", "word", "cd0", "cd1", "cd2",
    ] {
        for top in ["top1", "top3", "top5"] {
            expected.insert(format!("{place}.{top}"));
        }
    }
    let needed = |key: &str| match key.split_once('.') {
        Some(("next" | "cd0" | "cd1" | "cd2", _)) => true,
        Some((_, top)) => top != "top5",
        None => false,
    };
    expected.retain(|key| needed(key));
    expected.extend(["saved.line".to_owned(), "saved.word".to_owned()]);
    for method in [
        "tabsense",
        "tabsense-nomodel",
        "recency",
        "successor",
        "frequency",
        "frecency",
    ] {
        let found = &report["methods"][method];
        assert_eq!(keys(found), BTreeSet::from(["macro", "micro"]), "{method}");
        for average in ["macro", "micro"] {
            let shares = &found[average];
            for (key, share) in shares.as_object().expect("an object") {
                let share = share.as_f64().expect("a share");
                assert!(
                    (0.0..=1.0).contains(&share),
                    "{method} {average} {key} {share}"
                );
            }
        }
    }
    let ours = &report["methods"]["tabsense"]["macro"];
    for key in &expected {
        assert!(ours[key].is_number(), "no {key} in {ours}");
    }
    let text = home.tabsense(&["eval", "history", "hist.jsonl"]);
    assert!(text.status.success() && !text.stdout.is_empty(), "{text:?}");
}

fn cases() -> String {
    let case = |id: usize, kind: &str| {
        serde_json::json!({
            "id": id.to_string(), "kind": kind, "typed": 1, "cwd": "/srv",
            "listing": ["alpha.txt", "archive.zip", "apps/"],
            "recent": [{"cmd": "unzip archive.zip", "cwd": "/srv", "exit": 0}],
            "line": "unzip a", "candidates": ["alpha.txt", "apps/", "archive.zip"],
            "answer": "archive.zip",
        })
    };
    (0..4)
        .map(|n| format!("{}\n", case(n, if n < 3 { "path" } else { "cd" })))
        .collect()
}

#[test]
fn completion_cases_give_shares_for_every_method_and_kind() {
    let Some(home) = Home::new(Shell::Bash) else {
        return;
    };
    home.write("work/cases.jsonl", &cases());
    let report = json(&home, &["eval", "completion", "cases.jsonl", "--json"]);
    assert_eq!(keys(&report), BTreeSet::from(["cases", "methods"]));
    assert_eq!(report["cases"], 4);
    let methods = keys(&report["methods"]);
    assert_eq!(
        methods,
        BTreeSet::from(["tabsense", "tabsense-nomodel", "native"])
    );
    for method in methods {
        let found = &report["methods"][method];
        let mut expected = BTreeSet::from(["top1", "top3", "mrr", "by_kind"]);
        // The shell's order has no probabilities.
        expected.extend((method != "native").then_some("calibration"));
        assert_eq!(keys(found), expected);
        assert_eq!(keys(&found["by_kind"]), BTreeSet::from(["path", "cd"]));
        let path = &found["by_kind"]["path"];
        assert_eq!(keys(path), BTreeSet::from(["cases", "top1", "mrr"]));
        assert_eq!(path["cases"], 3);
    }
    assert_eq!(report["methods"]["native"]["top1"], 0.0);
    assert_eq!(report["methods"]["native"]["top3"], 1.0);
    assert_eq!(
        report["methods"]["tabsense"]["top1"], 1.0,
        "what unzip took before"
    );
}

#[test]
fn packed_files_are_read_as_well() {
    let Some(home) = Home::new(Shell::Bash) else {
        return;
    };
    for (name, text, kind) in [
        ("hist.jsonl", histories(), "history"),
        ("cases.jsonl", cases(), "completion"),
    ] {
        home.write(&format!("work/{name}"), &text);
        let plain = json(&home, &["eval", kind, name, "--json"]);
        let packed = home
            .command("gzip".as_ref())
            .arg(name)
            .status()
            .expect("gzip");
        assert!(packed.success());
        assert_eq!(
            json(&home, &["eval", kind, &format!("{name}.gz"), "--json"]),
            plain
        );
    }
}

#[test]
fn a_bad_row_is_named_by_its_line() {
    let Some(home) = Home::new(Shell::Bash) else {
        return;
    };
    home.write("work/bad.jsonl", &format!("{}{{\"id\": \"x\"}}\n", cases()));
    home.write("work/empty.jsonl", "");
    home.write("work/fake.gz", "not packed");
    for (kind, file, part) in [
        ("completion", "bad.jsonl", "bad.jsonl: line 5"),
        ("history", "bad.jsonl", "bad.jsonl: line 1"),
        ("history", "empty.jsonl", "empty.jsonl: "),
        ("history", "absent.jsonl", "absent.jsonl: No such file"),
        ("completion", "fake.gz", "fake.gz: "),
        ("history", ".", ".: "),
    ] {
        let output = home.tabsense(&["eval", kind, file, "--json"]);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains(part), "{file}: {said}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn a_quick_benchmark_tells_every_stage() {
    let Some(home) = Home::new(Shell::Bash) else {
        return;
    };
    let report = json(&home, &["bench", "--quick", "--json"]);
    assert_eq!(
        keys(&report),
        BTreeSet::from(["machine", "rows", "worker_rss_mb"])
    );
    assert!(
        report["machine"]
            .as_str()
            .is_some_and(|machine| !machine.is_empty())
    );
    assert!(
        report["worker_rss_mb"].as_f64() > Some(1.0),
        "{}",
        report["worker_rss_mb"]
    );
    let rows = report["rows"].as_array().expect("rows");
    for row in rows {
        assert!(
            row["scenario"].is_string() && row["stage"].is_string(),
            "{row}"
        );
        assert!(row["model"].is_boolean(), "{row}");
        for number in ["n", "p50_ms", "p95_ms", "p99_ms"] {
            assert!(row[number].is_number(), "{row}");
        }
    }
    let has = |scenario: &str, stage: &str| {
        rows.iter()
            .any(|row| row["scenario"] == scenario && row["stage"] == stage)
    };
    for scenario in [
        "tab-10",
        "tab-64",
        "tab-1000",
        "listing-100",
        "history-1000",
        "fresh-worker",
    ] {
        assert!(has(scenario, "total"), "no {scenario}");
    }
    for scenario in ["start-first", "start-cold", "start-warm"] {
        assert!(has(scenario, "first answer"), "no {scenario}");
    }
    for stage in ["bare", "with tabsense", "added"] {
        assert!(has("prompt-bash", stage), "no {stage}");
    }
    // On a machine that is too busy the model is not asked.
    assert_eq!(has("tab-64", "forward"), has("tab-64", "tokenise"));
    for stage in [
        "client start",
        "connect",
        "encode",
        "queue",
        "gather",
        "rank",
        "reply",
        "print",
        "total",
    ] {
        assert!(has("tab-64", stage), "no {stage}");
    }
}

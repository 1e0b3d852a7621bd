use std::fmt::Write;

use tabsense_rank::eval::history::Scored;
use tabsense_rank::eval::{EvalError, completion, history, read_cases, read_users};
use tabsense_rank::{Decide, Question, Weights};

/// A user who does the same four things over and over.
fn user(rounds: usize) -> String {
    let mut commands = String::new();
    for round in 0..rounds {
        let steps = [
            ("~", "cd work"),
            ("~/work", "make"),
            ("~/work", "make test"),
            ("~/work", "cd ~"),
        ];
        for (cwd, cmd) in steps {
            let comma = if commands.is_empty() { "" } else { "," };
            let t = 1_700_000_000 + round * 60;
            write!(
                commands,
                r#"{comma}{{"t":{t},"cmd":"{cmd}","cwd":"{cwd}"}}"#
            )
            .unwrap();
        }
    }
    format!(r#"{{"user":"u","has_time":true,"repeat_share":0.9,"commands":[{commands}]}}"#)
}

const CASES: &str = r#"{"id":"1","kind":"path","typed":0,"cwd":"~/p","listing":["a.txt","b.zip"],"recent":[{"cmd":"ls","cwd":"~/p","exit":0}],"line":"unzip ","candidates":["a.txt","b.zip","c.md"],"answer":"b.zip"}
{"id":"2","kind":"cd","typed":0,"cwd":null,"listing":[],"recent":[],"line":"frobnicate ","candidates":["x1","x2","x3"],"answer":"x3"}
"#;

/// Always for the last option.
struct Last(usize);

impl Decide for Last {
    fn logits(&mut self, question: &Question<'_>) -> Option<Vec<f32>> {
        self.0 += 1;
        Some(
            (0..question.options.len())
                .map(|n| 100.0 * n as f32)
                .collect(),
        )
    }
}

#[test]
fn a_replay_reports_every_key_for_every_method() {
    let users = read_users(user(60).as_bytes()).unwrap();
    let report = history::evaluate(&users, &Weights::default(), None, Scored::All).unwrap();
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!((&json["users"], &json["cases"]), (&1.into(), &140.into()));
    let mut keys: Vec<String> = [
        "next.top1",
        "next.top3",
        "next.top5",
        "word.top1",
        "word.top3",
        "saved.line",
        "saved.word",
    ]
    .map(str::to_owned)
    .to_vec();
    keys.extend((1..=4).flat_map(|n| [1, 3].map(|k| format!("prefix{n}.top{k}"))));
    keys.extend((0..=2).flat_map(|n| [1, 3, 5].map(|k| format!("cd{n}.top{k}"))));
    let methods = [
        "tabsense",
        "tabsense-nomodel",
        "recency",
        "successor",
        "frequency",
        "frecency",
    ];
    for method in methods {
        for mean in ["macro", "micro"] {
            for key in &keys {
                let share = json["methods"][method][mean][key].as_f64();
                let share = share.unwrap_or_else(|| panic!("{method} {mean} {key} is missing"));
                assert!(
                    (0.0..=1.0).contains(&share),
                    "{method} {mean} {key} = {share}"
                );
            }
        }
    }
    let shares = &json["methods"]["tabsense"];
    assert_eq!(shares, &json["methods"]["tabsense-nomodel"]);
    assert!(
        shares["macro"]["next.top1"].as_f64().unwrap() > 0.9,
        "{shares}"
    );
    assert!(shares["macro"]["saved.word"].as_f64() >= shares["macro"]["saved.line"].as_f64());
    assert!(report.to_string().contains("prefix1.top1"));
}

#[test]
fn a_model_is_asked_and_changes_only_its_own_method() {
    let users = read_users(user(30).as_bytes()).unwrap();
    let mut model = Last(0);
    let mut weights = Weights::default();
    (weights.model.line, weights.model.word, weights.model.path) = (1.0, 1.0, 1.0);
    let with = history::evaluate(&users, &weights, Some(&mut model), Scored::All).unwrap();
    let without = history::evaluate(&users, &weights, None, Scored::All).unwrap();
    assert!(model.0 > 0);
    assert_eq!(
        with.all.methods["tabsense-nomodel"],
        without.all.methods["tabsense-nomodel"]
    );
    assert_ne!(
        with.all.methods["tabsense"],
        with.all.methods["tabsense-nomodel"]
    );
    let cases = read_cases(CASES.as_bytes()).unwrap();
    let report = completion::evaluate(&cases, &weights, Some(&mut model)).unwrap();
    assert_eq!(report.methods["tabsense"].by_kind["cd"].top1, 1.0);
    assert_eq!(report.methods["tabsense"].by_kind["path"].top1, 0.0);
}

#[test]
fn completion_cases_are_ranked_and_reported_by_kind() {
    let cases = read_cases(CASES.as_bytes()).unwrap();
    let report = completion::evaluate(&cases, &Weights::default(), None).unwrap();
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["cases"], 2);
    assert_eq!(json["methods"]["tabsense"]["by_kind"]["path"]["top1"], 1.0);
    // Nothing is known about the second case: the native order stays.
    assert_eq!(json["methods"]["tabsense"]["by_kind"]["cd"]["top1"], 0.0);
    assert_eq!(
        json["methods"]["native"]["mrr"],
        (1.0 / 2.0 + 1.0 / 3.0) / 2.0
    );
    assert_eq!(json["methods"]["native"]["top3"], 1.0);
    assert!(report.to_string().contains("tabsense-nomodel"));
}

#[test]
fn equal_scores_count_against_the_ranking() {
    let mut weights = Weights::default();
    weights.of_mut(tabsense_rank::Blend::Words).fill(0.0);
    let cases = read_cases(CASES.as_bytes()).unwrap();
    let report = completion::evaluate(&cases, &weights, None).unwrap();
    assert_eq!(report.methods["tabsense"].mrr, 1.0 / 3.0);
}

#[test]
fn rows_that_do_not_fit_are_named_by_their_line() {
    let text = format!("{}\n\n{{\"user\":1}}\n", user(1));
    match read_users(text.as_bytes()) {
        Err(EvalError::Row { line, .. }) => assert_eq!(line, 3),
        other => panic!("{other:?}"),
    }
    assert!(matches!(read_cases(&b"\n"[..]), Err(EvalError::Empty)));
}

#[test]
fn a_sample_scores_the_same_few_commands_each_time() {
    let users = read_users(user(300).as_bytes()).unwrap();
    let sample =
        || history::evaluate(&users, &Weights::default(), None, Scored::Sample(200)).unwrap();
    let report = sample();
    assert!(
        (150..250).contains(&report.all.cases),
        "{}",
        report.all.cases
    );
    assert_eq!(report, sample());
}

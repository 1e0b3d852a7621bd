//! The reference runtime's own numbers: token ids, markers, logits and answers.

use std::path::{Path, PathBuf};

use tabsense_model::{Device, Json, Kind, Model, Options, Question, State, Stop, answers_json};

/// Checkpoints with expected answers: the small ones kept here, and the larger ones beside the
/// repository where they are at hand.
fn checkpoints() -> Vec<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let own = here.join("tests/golden");
    let beside = here.join("../../../shared/laya-reference");
    let mut found = Vec::new();
    for (root, needed) in [(own, true), (beside, false)] {
        let Ok(entries) = std::fs::read_dir(&root) else {
            assert!(!needed, "{} is missing", root.display());
            println!("skipped: {} is not here", root.display());
            continue;
        };
        let mut entries: Vec<PathBuf> = entries.map(|e| e.unwrap().path()).collect();
        entries.retain(|path| path.join("expected.json").exists());
        assert!(
            !entries.is_empty(),
            "{} holds no checkpoint",
            root.display()
        );
        entries.sort();
        found.extend(entries);
    }
    found
}

struct Case {
    name: String,
    state: State,
    questions: Vec<Question>,
    expected: Json,
}

fn cases(directory: &Path) -> Vec<Case> {
    let document = std::fs::read(directory.join("expected.json")).unwrap();
    let Json::List(rows) = Json::parse(&document).unwrap() else {
        panic!("no list of cases")
    };
    let case = |(i, expected): (usize, Json)| {
        let questions = expected.get("questions").unwrap().to_string();
        Case {
            name: format!("{} case {i}", directory.display()),
            state: State::json(expected.get("state").unwrap()),
            questions: Question::parse_all(questions.as_bytes()).unwrap(),
            expected,
        }
    };
    rows.into_iter().enumerate().map(case).collect()
}

fn numbers(value: &Json, key: &str) -> Vec<f64> {
    let Some(Json::List(items)) = value.get(key) else {
        panic!("no {key} in {value}")
    };
    items.iter().map(|n| n.number().unwrap()).collect()
}

fn load(directory: &Path, device: Device) -> Model {
    Model::load(
        directory,
        &Options {
            device,
            ..Options::default()
        },
    )
    .unwrap()
}

fn close(name: &str, got: &[f32], expected: &[f64], tolerance: f64) {
    assert_eq!(got.len(), expected.len(), "{name}");
    for (got, expected) in got.iter().zip(expected) {
        let off = (f64::from(*got) - expected).abs();
        assert!(off <= tolerance, "{name}: {got} for {expected}");
    }
}

/// Numbers in an answer differ in the last of four decimals at most.
fn same_answer(name: &str, got: &Json, expected: &Json) {
    match (got, expected) {
        (Json::Map(a), Json::Map(b)) => {
            let keys = |m: &[(String, Json)]| m.iter().map(|(k, _)| k.clone()).collect::<Vec<_>>();
            assert_eq!(keys(a), keys(b), "{name}");
            a.iter()
                .zip(b)
                .for_each(|((_, a), (_, b))| same_answer(name, a, b));
        }
        _ => match (got.number(), expected.number()) {
            (Some(a), Some(b)) => assert!((a - b).abs() < 2e-4, "{name}: {a} for {b}"),
            _ => assert_eq!(got, expected, "{name}"),
        },
    }
}

fn check_device(device: Device) {
    for directory in checkpoints() {
        let mut model = load(&directory, device);
        for case in cases(&directory) {
            let Some(Json::List(rows)) = case.expected.get("rows") else {
                panic!("no rows")
            };
            let mut answers = Vec::new();
            for (question, row) in case.questions.iter().zip(rows) {
                let name = format!("{} {}", case.name, question.id);
                let sequence = model.sequence(&case.state, question).unwrap();
                let ids: Vec<f64> = sequence.ids.iter().map(|id| f64::from(*id)).collect();
                assert_eq!(ids, numbers(row, "ids"), "{name}");
                let markers: Vec<f64> = sequence.markers.iter().map(|m| *m as f64).collect();
                assert_eq!(markers, numbers(row, "markers"), "{name}");
                let output = model.forward(&sequence, &Stop::NEVER).unwrap();
                close(&name, &output.logits, &numbers(row, "logits"), 1e-3);
                close(&name, &output.actions, &numbers(row, "act"), 1e-3);
                answers.push((
                    question,
                    model.answer(&case.state, question, &Stop::NEVER).unwrap(),
                ));
            }
            let got = answers_json(&answers);
            let expected = case.expected.get("answers").unwrap();
            same_answer(&case.name, got.get("answers").unwrap(), expected);
        }
    }
}

#[test]
fn plain_code_gives_the_numbers_of_the_reference_runtime() {
    check_device(Device::Reference);
}

#[test]
fn one_pass_equals_two_pieces() {
    let cached = checkpoints().into_iter().filter(|d| named(d, "cached"));
    let mut compared = 0;
    for directory in cached {
        for device in [Device::Reference] {
            let mut model = load(&directory, device);
            for case in cases(&directory) {
                for question in case.questions.iter().filter(|q| q.order.is_none()) {
                    let whole = model.sequence(&case.state, question).unwrap();
                    let whole = model.forward(&whole, &Stop::NEVER).unwrap();
                    let (kind, text) = (question.kind, &question.instructions);
                    let state = model.state_piece(kind, text, &case.state).unwrap();
                    let start = state.ids.len();
                    let options = model.options_piece(kind, &question.options, start).unwrap();
                    model.backend().prepare(3, &state, &Stop::NEVER).unwrap();
                    let pieces = model.backend().options(3, &options, &Stop::NEVER).unwrap();
                    let whole_logits: Vec<f64> =
                        whole.logits.iter().map(|v| f64::from(*v)).collect();
                    close(&case.name, &pieces.logits, &whole_logits, 1e-4);
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 0);
}

#[test]
fn the_order_of_options_does_not_matter_where_they_are_blind_to_each_other() {
    let blind = |d: &PathBuf| named(d, "cached") || named(d, "parallel");
    for directory in checkpoints().into_iter().filter(blind) {
        for device in [Device::Reference] {
            let mut model = load(&directory, device);
            let options: Vec<String> = ["docs/", "downloads/", "src", "a longer name"]
                .map(str::to_owned)
                .into();
            let state = State::text("cd do");
            let mut question = Question::choice("q", "Which directory?", &options);
            assert_eq!(question.kind, Kind::Choice);
            let straight = model.answer(&state, &question, &Stop::NEVER).unwrap();
            for order in [[3, 2, 1, 0], [1, 3, 0, 2]] {
                question.order = Some(order.to_vec());
                let turned = model.answer(&state, &question, &Stop::NEVER).unwrap();
                let expected: Vec<f64> = straight
                    .probabilities
                    .iter()
                    .map(|p| f64::from(*p))
                    .collect();
                close("permuted", &turned.probabilities, &expected, 1e-5);
            }
        }
    }
}

fn named(directory: &Path, layout: &str) -> bool {
    directory
        .file_name()
        .is_some_and(|name| name.to_string_lossy().ends_with(layout))
}

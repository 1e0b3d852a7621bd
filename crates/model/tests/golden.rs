//! The reference runtime's own numbers: token ids, markers, logits and answers.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tabsense_model::{
    Device, Isa, Json, Kind, Model, Options, Precision, Question, State, Stop, answers_json,
};

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

fn load(directory: &Path, options: &Options) -> Model {
    Model::load(directory, options).unwrap()
}

/// The reference backend, and the CPU backend on every instruction set of this machine.
fn backends(precision: Precision) -> Vec<Options> {
    let cpu = |isa| Options {
        device: Device::Cpu,
        isa: Some(isa),
        precision,
        ..Options::default()
    };
    let mut all: Vec<Options> = Isa::available().into_iter().map(cpu).collect();
    all.push(Options {
        device: Device::Reference,
        ..Options::default()
    });
    #[cfg(feature = "mlx")]
    if precision == Precision::Float {
        all.push(mlx(precision));
    }
    all
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

/// Ids, markers, logits and answers as the reference runtime gave them.
fn check_exact(options: &Options) {
    for directory in checkpoints() {
        let mut model = load(&directory, options);
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
    check_exact(&Options {
        device: Device::Reference,
        ..Options::default()
    });
}

#[test]
fn float_kernels_give_the_numbers_of_the_reference_runtime() {
    for options in backends(Precision::Float) {
        check_exact(&options);
    }
}

#[test]
fn the_default_stays_near_the_reference_runtime() {
    for options in backends(Precision::Auto) {
        check_near(&options, |_| 0.05);
    }
}

/// 8 bits everywhere, also in matrices that the default keeps as floats for being small. Their
/// rounding grows with the logits, which one checkpoint multiplies by 40.
#[test]
fn eight_bit_kernels_stay_near_the_reference_runtime() {
    for options in backends(Precision::Eight) {
        check_near(&options, |largest| 0.05f64.max(0.005 * largest));
    }
}

/// The checkpoint that ships, as it ranks on TAB: nearer than 8-bit activations are anywhere.
#[test]
fn what_ranks_on_tab_stays_near_floats() {
    let builtin = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/builtin");
    for options in backends(Precision::EightFast) {
        check_near_in(&builtin, &options, |_| 0.005);
    }
}

/// And what `EightFast` makes of models that are too small for 8-bit activations.
#[test]
fn the_fastest_arithmetic_stays_near_the_reference_runtime() {
    for options in backends(Precision::EightFast) {
        check_near(&options, |_| 0.05);
    }
}

/// The other one: what phrases are understood by.
#[test]
fn what_understands_phrases_stays_near_floats() {
    let shortcuts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/shortcuts");
    for options in backends(Precision::Eight) {
        check_near_in(&shortcuts, &options, |_| 0.05);
    }
}

fn check_near(options: &Options, allowed: impl Fn(f64) -> f64) {
    for directory in checkpoints() {
        check_near_in(&directory, options, &allowed);
    }
}

fn check_near_in(directory: &Path, options: &Options, allowed: impl Fn(f64) -> f64) {
    let mut model = load(directory, options);
    for case in cases(directory) {
        let Some(Json::List(rows)) = case.expected.get("rows") else {
            panic!("no rows")
        };
        for (question, row) in case.questions.iter().zip(rows) {
            let sequence = model.sequence(&case.state, question).unwrap();
            let got = model.forward(&sequence, &Stop::NEVER).unwrap().logits;
            let expected = numbers(row, "logits");
            let mut sorted = expected.clone();
            sorted.sort_by(f64::total_cmp);
            let tolerance = allowed(sorted[sorted.len() - 1].abs().max(sorted[0].abs()));
            close(&case.name, &got, &expected, tolerance);
            let best = |values: &[f64]| {
                let top = values.iter().copied().fold(f64::MIN, f64::max);
                values.iter().position(|v| *v == top).unwrap()
            };
            let margin = sorted
                .iter()
                .rev()
                .nth(1)
                .map_or(f64::MAX, |s| sorted[sorted.len() - 1] - s);
            if margin > 2.0 * tolerance {
                let got: Vec<f64> = got.iter().map(|v| f64::from(*v)).collect();
                assert_eq!(best(&got), best(&expected), "{}", case.name);
            }
        }
    }
}

#[test]
fn one_pass_equals_two_pieces() {
    let cached = checkpoints().into_iter().filter(|d| named(d, "cached"));
    let mut compared = 0;
    for directory in cached {
        for options in backends(Precision::Eight) {
            let mut model = load(&directory, &options);
            for case in cases(&directory) {
                for question in case.questions.iter().filter(|q| q.order.is_none()) {
                    let whole = model.sequence(&case.state, question).unwrap();
                    let whole = model.forward(&whole, &Stop::NEVER).unwrap();
                    let (kind, text) = (question.kind, &question.instructions);
                    let state = model.state_piece(kind, text, &case.state).unwrap();
                    let start = state.ids.len();
                    let piece = model.options_piece(kind, &question.options, start).unwrap();
                    model.backend().prepare(3, &state, &Stop::NEVER).unwrap();
                    let pieces = model.backend().options(3, &piece, &Stop::NEVER).unwrap();
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
fn threads_that_share_the_options_change_no_number() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/builtin");
    let names: Vec<String> = (0..24).map(|n| format!("chapter-{n}.md")).collect();
    let logits = |isa, threads| {
        let options = Options {
            device: Device::Cpu,
            isa: Some(isa),
            threads: Some(threads),
            ..Options::default()
        };
        let mut model = load(&directory, &options);
        let text = State::text("@ ~/book\n$ vim ");
        let state = model.state_piece(Kind::Choice, "next word", &text).unwrap();
        model.backend().prepare(0, &state, &Stop::NEVER).unwrap();
        let mut of = |count: usize| {
            let options = model.options_piece(Kind::Choice, &names[..count], state.ids.len());
            let stop = Stop {
                flag: None,
                deadline: Some(Instant::now() + Duration::from_secs(3600)),
            };
            let output = model.backend().options(0, &options.unwrap(), &stop);
            output.unwrap().logits
        };
        [1, 2, 9, 24].map(&mut of)
    };
    for isa in Isa::available() {
        let alone = logits(isa, 1);
        assert_eq!(alone[3].len(), 24);
        for threads in [2, 3] {
            assert_eq!(logits(isa, threads), alone, "{}", isa.name());
        }
    }
}

#[test]
fn the_order_of_options_does_not_matter_where_they_are_blind_to_each_other() {
    let blind = |d: &PathBuf| {
        ["cached", "parallel", "separate"]
            .iter()
            .any(|l| named(d, l))
    };
    for directory in checkpoints().into_iter().filter(blind) {
        for options in backends(Precision::Eight) {
            let mut model = load(&directory, &options);
            let names: Vec<String> = ["docs/", "downloads/", "src", "a longer name"]
                .map(str::to_owned)
                .into();
            let state = State::text("cd do");
            let mut question = Question::choice("q", "Which directory?", &names);
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
                close("permuted", &turned.probabilities, &expected, 1e-4);
            }
        }
    }
}

/// The vectors that the other implementation made, and its logits from vectors alone.
#[test]
fn vectors_and_their_comparison_are_those_of_the_reference() {
    let separate = checkpoints().into_iter().filter(|d| named(d, "separate"));
    let mut compared = 0;
    for directory in separate {
        for (precision, near) in [(Precision::Float, 1e-3), (Precision::Eight, 0.05)] {
            for options in backends(precision) {
                compared += check_pieces(&directory, &options, near);
            }
        }
    }
    assert!(compared > 0);
}

/// Runs all questions of a `separate` checkpoint piece by piece.
fn check_pieces(directory: &Path, options: &Options, near: f64) -> usize {
    let mut model = load(directory, options);
    let hidden = model.encoder().hidden;
    let document = cases(directory);
    for case in &document {
        let (Some(Json::List(rows)), Some(Json::Text(state))) =
            (case.expected.get("rows"), case.expected.get("state"))
        else {
            panic!("no rows or state")
        };
        let (question, row) = (&case.questions[0], &rows[0]);
        let Some(Json::List(expected)) = row.get("vectors") else {
            panic!("no vectors")
        };
        let phrase = model.phrase(state, &Stop::NEVER).unwrap();
        let vectors = model.vectors(&question.options, &Stop::NEVER).unwrap();
        let all = std::iter::once(&phrase.vector[..]).chain(vectors.chunks_exact(hidden));
        for (vector, expected) in all.zip(expected) {
            let Json::List(expected) = expected else {
                panic!("no vector")
            };
            let expected: Vec<f64> = expected.iter().map(|v| v.number().unwrap()).collect();
            close(&case.name, vector, &expected, near);
            let length = vector.iter().map(|v| v * v).sum::<f32>();
            assert!((length - hidden as f32).abs() < 1e-3, "{length}");
        }
        let vectors: Vec<&[f32]> = vectors.chunks_exact(hidden).collect();
        let output = model.compare(&phrase, &vectors, &Stop::NEVER).unwrap();
        close(&case.name, &output.logits, &numbers(row, "logits"), near);
        let whole = model
            .sequence(&State::text(state.as_str()), question)
            .unwrap();
        let whole = model.forward(&whole, &Stop::NEVER).unwrap();
        let whole: Vec<f64> = whole.logits.iter().map(|v| f64::from(*v)).collect();
        close(&case.name, &output.logits, &whole, 1e-4);
    }
    document.len()
}

#[test]
fn a_vector_depends_on_its_text_alone() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/separate");
    for options in backends(Precision::Eight) {
        let mut model = load(&directory, &options);
        // More tokens than go through the encoder at once.
        let texts: Vec<String> = (0..90).map(|i| format!("text number {i}")).collect();
        let together = model.vectors(&texts, &Stop::NEVER).unwrap();
        for (text, vector) in texts.iter().zip(together.chunks_exact(32)).step_by(7) {
            let alone = model.vectors(&[text], &Stop::NEVER).unwrap();
            let vector: Vec<f64> = vector.iter().map(|v| f64::from(*v)).collect();
            close(text, &alone, &vector, 1e-5);
        }
        assert!(model.vectors::<&str>(&[], &Stop::NEVER).unwrap().is_empty());
    }
}

#[test]
fn pieces_of_another_layout_or_width_are_refused() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut cached = load(&here.join("cached"), &Options::default());
    let refused = cached.phrase("x", &Stop::NEVER).unwrap_err().to_string();
    assert!(refused.contains("cached has no vectors"), "{refused}");
    let mut model = load(&here.join("separate"), &Options::default());
    let phrase = model.phrase("x", &Stop::NEVER).unwrap();
    for options in [&[][..], &[&[0.0; 31][..]][..]] {
        assert!(model.compare(&phrase, options, &Stop::NEVER).is_err());
    }
    let state = model.state_piece(Kind::Choice, "?", &State::text("x"));
    assert!(state.is_err());
}

fn named(directory: &Path, layout: &str) -> bool {
    directory
        .file_name()
        .is_some_and(|name| name.to_string_lossy().ends_with(layout))
}

#[cfg(feature = "mlx")]
fn mlx(precision: Precision) -> Options {
    Options {
        device: Device::Mlx,
        precision,
        ..Options::default()
    }
}

#[cfg(feature = "mlx")]
#[test]
fn mlx_gives_the_numbers_of_the_reference_runtime() {
    check_exact(&mlx(Precision::Float));
}

#[cfg(feature = "mlx")]
#[test]
fn mlx_stays_near_the_reference_runtime_in_16_bits() {
    check_near(&mlx(Precision::Half), |largest| {
        0.05f64.max(0.005 * largest)
    });
}

/// 8-bit and 4-bit matrices by MLX's own kernels, others in floats: mixed precision. MLX rounds
/// what was rounded once more, with scales of its own.
#[cfg(feature = "mlx")]
#[test]
fn mlx_runs_quantised_and_mixed_checkpoints() {
    let cached = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/cached");
    for (bits, keep, bound) in [(8, vec![], 0.03), (4, vec!["Wqkv".to_owned()], 0.1)] {
        let parent = tempfile::tempdir().unwrap();
        let to = parent.path().join("out");
        let how = tabsense_model::Quantize {
            bits,
            group: Some(16),
            keep,
        };
        tabsense_model::quantize(&cached, &to, &how).unwrap();
        let mut mlx = load(&to, &mlx(Precision::Float));
        let mut plain = load(&to, &backends(Precision::Float)[0]);
        let mut largest = 0.0f32;
        for case in cases(&cached) {
            let sequence = plain.sequence(&case.state, &case.questions[0]).unwrap();
            let got = mlx.forward(&sequence, &Stop::NEVER).unwrap().logits;
            let expected = plain.forward(&sequence, &Stop::NEVER).unwrap().logits;
            let off = got.iter().zip(&expected).map(|(a, b)| (a - b).abs());
            largest = off.fold(largest, f32::max);
        }
        assert!(largest < bound, "{bits} bits: {largest}");
    }
}

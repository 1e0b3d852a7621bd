//! Comparing a model with expected numbers, or with another model.

use std::path::Path;

use crate::answer::Answer;
use crate::backend::Stop;
use crate::error::{Error, Result};
use crate::json::Json;
use crate::model::{Model, State};
use crate::question::Question;

/// A question about a state, with what a reference made of it where that is known.
pub struct Case {
    /// What is asked about.
    pub state: State,
    /// What is asked.
    pub question: Question,
    /// Numbers of the reference.
    pub expected: Option<Expected>,
}

/// What the reference runtime made of a case.
pub struct Expected {
    /// Token numbers of the sequence.
    pub ids: Vec<u32>,
    /// Places of the options' marks.
    pub markers: Vec<usize>,
    /// Raw logits in slot order.
    pub logits: Vec<f32>,
}

/// How far a model is from what is expected.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Verification {
    /// Cases that were run.
    pub cases: usize,
    /// Cases with other token numbers or markers than expected.
    pub other_tokens: usize,
    /// Cases with another best option.
    pub other_choice: usize,
    /// Largest difference of a logit.
    pub largest_difference: f32,
}

/// How far two models are from each other.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Fidelity {
    /// Cases that were run.
    pub cases: usize,
    /// Share of cases with the same best option, 0 to 1.
    pub agreement: f64,
    /// Largest change of a probability, 0 to 1.
    pub largest_change: f32,
}

/// Reads the cases of `expected.json` in a checkpoint's directory; none if there is no such file.
///
/// # Errors
/// [`Error::Config`] for a document of another form, [`Error::Question`].
pub fn goldens(directory: &Path) -> Result<Vec<Case>> {
    let file = directory.join("expected.json");
    if !file.exists() {
        return Ok(Vec::new());
    }
    let wrong = |field: &str| Error::Config {
        file: file.clone(),
        field: field.to_owned(),
        reason: "missing or of another form".to_owned(),
    };
    let text = std::fs::read(&file).map_err(|e| Error::io(&file, e))?;
    let Ok(Json::List(rows)) = Json::parse(&text) else {
        return Err(wrong("document"));
    };
    let mut cases = Vec::new();
    for row in &rows {
        let state = State::json(row.get("state").ok_or_else(|| wrong("state"))?);
        let Some(Json::List(numbers)) = row.get("rows") else {
            return Err(wrong("rows"));
        };
        for numbers in numbers {
            let Some(Json::Text(id)) = numbers.get("question") else {
                return Err(wrong("rows.question"));
            };
            let definition = row.get("questions").and_then(|all| all.get(id));
            let question = Question::parse(id, definition.ok_or_else(|| wrong("questions"))?)?;
            let list = |key: &str| floats(numbers.get(key)).ok_or_else(|| wrong(key));
            let expected = Expected {
                ids: list("ids")?.into_iter().map(|v| v as u32).collect(),
                markers: list("markers")?.into_iter().map(|v| v as usize).collect(),
                logits: list("logits")?.into_iter().map(|v| v as f32).collect(),
            };
            cases.push(Case {
                state: state.clone(),
                question,
                expected: Some(expected),
            });
        }
    }
    Ok(cases)
}

fn floats(value: Option<&Json>) -> Option<Vec<f64>> {
    match value {
        Some(Json::List(items)) => items.iter().map(Json::number).collect(),
        _ => None,
    }
}

/// A few questions of each kind, for models that bring none of their own.
pub fn samples() -> Vec<Case> {
    const STATES: [&str; 4] = [
        "@ work/site\n> git clone https://example.org/garden.git\n$ cd",
        "@ downloads\n> wget https://example.org/rose-1.2.tar.gz\n$ tar xf",
        "I was billed twice. Please send the money back.",
        "把窗口移到左边",
    ];
    const QUESTIONS: &str = r#"{
        "name": {"type": "choice", "instructions": "next word",
            "criteria": ["garden/", "docs/", "rose-1.2.tar.gz", "notes.txt", "src/main.rs"]},
        "topic": {"type": "choice", "instructions": "What is this about?", "criteria": {
            "shell": "a command line", "money": "payments and refunds", "window": "moving a window"}},
        "sure": {"type": "score", "instructions": "How clear is it?", "criteria": ["low", "middle", "high"]},
        "asks": {"type": "noul", "instructions": "Does someone ask for something?"}}"#;
    // The text is a constant that a test parses.
    let questions = Question::parse_all(QUESTIONS.as_bytes()).unwrap_or_default();
    let case = |state: &str, question: &Question| Case {
        state: State::text(state),
        question: question.clone(),
        expected: None,
    };
    STATES
        .iter()
        .flat_map(|state| questions.iter().map(|q| case(state, q)))
        .collect()
}

/// Runs the cases that have expected numbers.
///
/// # Errors
/// As [`Model::answer`].
pub fn verify(model: &mut Model, cases: &[Case]) -> Result<Verification> {
    let mut found = Verification::default();
    for case in cases {
        let Some(expected) = &case.expected else {
            continue;
        };
        found.cases += 1;
        let sequence = model.sequence(&case.state, &case.question)?;
        if sequence.ids != expected.ids || sequence.markers != expected.markers {
            found.other_tokens += 1;
            continue;
        }
        let got = model.forward(&sequence, &Stop::NEVER)?.logits;
        found.other_choice += usize::from(best(&got) != best(&expected.logits));
        for (got, expected) in got.iter().zip(&expected.logits) {
            found.largest_difference = found.largest_difference.max((got - expected).abs());
        }
    }
    Ok(found)
}

/// Runs the cases on both models and compares their answers.
///
/// # Errors
/// As [`Model::answer`].
pub fn compare(a: &mut Model, b: &mut Model, cases: &[Case]) -> Result<Fidelity> {
    let (mut same, mut largest_change) = (0, 0.0f32);
    for case in cases {
        let ask = |model: &mut Model| -> Result<Answer> {
            model.answer(&case.state, &case.question, &Stop::NEVER)
        };
        let (first, second) = (ask(a)?, ask(b)?);
        same += usize::from(first.best() == second.best());
        for (p, q) in first.probabilities.iter().zip(&second.probabilities) {
            largest_change = largest_change.max((p - q).abs());
        }
    }
    let agreement = if cases.is_empty() {
        1.0
    } else {
        same as f64 / cases.len() as f64
    };
    Ok(Fidelity {
        cases: cases.len(),
        agreement,
        largest_change,
    })
}

fn best(logits: &[f32]) -> Option<usize> {
    (0..logits.len()).max_by(|a, b| logits[*a].total_cmp(&logits[*b]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Device, Options};

    fn golden(layout: &str) -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/golden")
            .join(layout)
    }

    #[test]
    fn goldens_are_met() {
        let mut model = Model::load(&golden("parallel"), &Options::default()).unwrap();
        let cases = goldens(&golden("parallel")).unwrap();
        let found = verify(&mut model, &cases).unwrap();
        assert_eq!(
            (found.cases, found.other_tokens, found.other_choice),
            (7, 0, 0)
        );
        assert!(found.largest_difference < 0.05, "{found:?}");
    }

    #[test]
    fn goldens_of_separate_texts_are_met() {
        let mut model = Model::load(&golden("separate"), &Options::default()).unwrap();
        let cases = goldens(&golden("separate")).unwrap();
        assert!(!cases.is_empty());
        let found = verify(&mut model, &cases).unwrap();
        assert_eq!(
            (found.cases, found.other_tokens, found.other_choice),
            (cases.len(), 0, 0)
        );
        assert!(found.largest_difference < 0.05, "{found:?}");
    }

    #[test]
    fn a_model_that_is_another_is_told_apart() {
        let mut model = Model::load(&golden("cached"), &Options::default()).unwrap();
        let found = verify(&mut model, &goldens(&golden("parallel")).unwrap()).unwrap();
        assert!(found.other_tokens > 0);
    }

    #[test]
    fn two_backends_agree_on_the_samples() {
        let load = |device| Options {
            device,
            ..Options::default()
        };
        let mut a = Model::load(&golden("cached"), &load(Device::Reference)).unwrap();
        let mut b = Model::load(&golden("cached"), &load(Device::Cpu)).unwrap();
        let found = compare(&mut a, &mut b, &samples()).unwrap();
        assert_eq!((found.cases, found.agreement), (16, 1.0));
        assert!(found.largest_change < 0.02, "{found:?}");
    }
}

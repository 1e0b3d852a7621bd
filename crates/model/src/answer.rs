//! From logits to answers: temperature, probabilities, confidence, and the reference's JSON.

use crate::backend::Output;
use crate::config::{AgentConfig, Kind};
use crate::json::Json;
use crate::question::Question;

/// The answer to one question.
#[derive(Debug, Clone)]
pub struct Answer {
    /// Probability of every option, in the order of the question.
    pub probabilities: Vec<f32>,
    /// 1 minus the normalised entropy (`choice`, `score`); the likelier side (`noul`).
    pub confidence: f32,
    /// Probability of the answer given: what the temperatures are fitted for.
    pub answer_confidence: f32,
    /// Probability of the first action, "act now"; 1 if the model knows no actions.
    pub act_probability: f32,
}

/// Temperature for a kind of question with `options` options.
pub fn temperature(config: &AgentConfig, kind: Kind, options: usize) -> f32 {
    let size = match options {
        0..=2 => "2",
        3..=5 => "3-5",
        6..=10 => "6-10",
        _ => "11+",
    };
    let bucket = format!("{}:{size}", kind.name());
    let found = config
        .temperature_by_options
        .iter()
        .find(|(name, _)| *name == bucket);
    found.map_or(config.temperature[kind as usize], |(_, t)| *t)
}

/// Softmax of `logits / temperature`.
pub fn softmax(logits: &[f32], temperature: f32) -> Vec<f32> {
    let top = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max) / temperature;
    let mut p: Vec<f32> = logits
        .iter()
        .map(|z| (z / temperature - top).exp())
        .collect();
    let sum: f32 = p.iter().sum();
    p.iter_mut().for_each(|v| *v /= sum);
    p
}

/// 1 minus the Shannon entropy over its maximum; 1 for fewer than two options.
pub fn concentration(probabilities: &[f32]) -> f32 {
    if probabilities.len() < 2 {
        return 1.0;
    }
    let entropy: f32 = probabilities
        .iter()
        .map(|p| -p * p.clamp(1e-12, 1.0).ln())
        .sum();
    (1.0 - entropy / (probabilities.len() as f32).ln()).clamp(0.0, 1.0)
}

impl Answer {
    /// Turns a model's output, in slot order, into the answer to `question`.
    pub fn new(output: &Output, question: &Question, config: &AgentConfig) -> Self {
        let count = output.logits.len();
        let shown = softmax(&output.logits, temperature(config, question.kind, count));
        let mut probabilities = vec![0.0; count];
        for (slot, p) in shown.into_iter().enumerate() {
            probabilities[question.shown(slot)] = p;
        }
        let top = probabilities.iter().copied().fold(0.0, f32::max);
        let confidence = match question.kind {
            Kind::Noul => top,
            Kind::Choice | Kind::Score => concentration(&probabilities),
        };
        let act_probability = softmax(&output.actions, 1.0)
            .first()
            .copied()
            .unwrap_or(1.0);
        Self {
            probabilities,
            confidence,
            answer_confidence: top.min(1.0),
            act_probability,
        }
    }

    /// Index of the likeliest option, the first of equals.
    pub fn best(&self) -> usize {
        let top = self.answer_confidence;
        self.probabilities
            .iter()
            .position(|p| *p >= top)
            .unwrap_or(0)
    }

    /// The answer as the reference writes it, rounded to four decimals.
    pub fn to_json(&self, question: &Question) -> Json {
        let text = |key: &str, value: Json| (key.to_owned(), value);
        let mut members = vec![text("type", Json::from(question.kind.name()))];
        match question.kind {
            Kind::Choice => {
                members.push(text("choice", question.labels[self.best()].clone()));
                members.push(self.named(question.labels.iter().map(Json::text)));
            }
            Kind::Score => {
                let level = |(i, p): (usize, &f32)| i as f64 * f64::from(*p);
                let score = self.probabilities.iter().enumerate().map(level).sum();
                members.push(text("score", rounded(score)));
                let legend = question.labels.iter().enumerate();
                let legend = legend
                    .map(|(i, label)| (i.to_string(), label.clone()))
                    .collect();
                members.push(text("legend", Json::Map(legend)));
                members.push(self.named((0..self.probabilities.len()).map(|i| i.to_string())));
            }
            Kind::Noul => members.push(text("noul", rounded(self.probabilities[1].into()))),
        }
        members.push(text("confidence", rounded(self.confidence.into())));
        members.push(text(
            "answer_confidence",
            rounded(self.answer_confidence.into()),
        ));
        let act = text("act_probability", rounded(self.act_probability.into()));
        members.push(text("action", Json::Map(vec![act])));
        Json::Map(members)
    }

    fn named(&self, names: impl Iterator<Item = String>) -> (String, Json) {
        let values = self.probabilities.iter().map(|p| rounded((*p).into()));
        (
            "probabilities".to_owned(),
            Json::Map(names.zip(values).collect()),
        )
    }
}

/// The document of all answers: `{"answers": {id: …}}`.
pub fn answers_json(answers: &[(&Question, Answer)]) -> Json {
    let members = answers
        .iter()
        .map(|(q, answer)| (q.id.clone(), answer.to_json(q)));
    Json::Map(vec![("answers".to_owned(), Json::Map(members.collect()))])
}

fn rounded(value: f64) -> Json {
    // The formatter rounds the exact binary value half to even, as Python's `round` does.
    Json::Float(format!("{value:.4}").parse().unwrap_or(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(text: &str) -> Question {
        Question::parse("q", &Json::parse(text.as_bytes()).unwrap()).unwrap()
    }

    fn config() -> AgentConfig {
        AgentConfig {
            head_layers: 1,
            max_len: 64,
            head_max_len: 32,
            option_max_len: 48,
            actions: 2,
            layout: crate::config::Layout::Sequential,
            temperature: [2.0, 1.0, 1.0],
            temperature_by_options: vec![("choice:3-5".to_owned(), 0.5)],
            warnings: Vec::new(),
        }
    }

    #[test]
    fn a_bucket_goes_before_the_kind() {
        let config = config();
        assert_eq!(temperature(&config, Kind::Choice, 2), 2.0);
        assert_eq!(temperature(&config, Kind::Choice, 4), 0.5);
        assert_eq!(temperature(&config, Kind::Noul, 2), 1.0);
    }

    #[test]
    fn probabilities_return_to_the_order_of_the_question() {
        let q = question(
            r#"{"type":"choice","instructions":"i","criteria":["a","b"],"option_order":[1,0]}"#,
        );
        let output = Output {
            logits: vec![4.0, 0.0],
            actions: vec![0.0, 0.0],
        };
        let answer = Answer::new(&output, &q, &config());
        assert_eq!(answer.best(), 1);
        let json = answer.to_json(&q).to_string();
        assert!(
            json.starts_with(
                r#"{"type": "choice", "choice": "b", "probabilities": {"a": 0.1192, "b": 0.8808}"#
            ),
            "{json}"
        );
    }

    #[test]
    fn a_score_is_the_mean_level() {
        let q = question(r#"{"type":"score","instructions":"i","criteria":["low","high"]}"#);
        let output = Output {
            logits: vec![0.0, 0.0],
            actions: vec![1.0, 1.0],
        };
        let json = Answer::new(&output, &q, &config()).to_json(&q).to_string();
        assert_eq!(
            json,
            r#"{"type": "score", "score": 0.5, "legend": {"0": "low", "1": "high"}, "probabilities": {"0": 0.5, "1": 0.5}, "confidence": 0.0, "answer_confidence": 0.5, "action": {"act_probability": 0.5}}"#
        );
    }
}

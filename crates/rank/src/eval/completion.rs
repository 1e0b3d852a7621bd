//! Completion cases: at which place does a ranking put the candidate that was meant?
//!
//! Each case stands alone: the index holds nothing but the case's recent commands. A candidate
//! with the same score as the answer counts as ranked before it.

use std::collections::BTreeMap;

use serde::Serialize;

use super::calibration::{Calibration, Judgement};
use super::{Case, EvalError};
use crate::candidate::{Candidate, Context, Event, Kind, Match, Ranked, Recent, Slot};
use crate::confidence::settle;
use crate::decide::{Decide, model_weight, refine};
use crate::index::Index;
use crate::weights::Weights;
use crate::words::{explain_words, rank_words};

/// Shares over some cases.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct KindShares {
    /// How many cases.
    pub cases: usize,
    /// Share with the answer in the first place.
    pub top1: f64,
    /// Mean of 1 / place.
    pub mrr: f64,
}

/// A method's shares.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Method {
    /// Share with the answer in the first place.
    pub top1: f64,
    /// Share with the answer in the first three places.
    pub top3: f64,
    /// Mean of 1 / place.
    pub mrr: f64,
    /// By kind of case.
    pub by_kind: BTreeMap<String, KindShares>,
    /// How honest its chances are; absent for the native order, which has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Calibration>,
}

/// What the cases give.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Report {
    /// How many cases.
    pub cases: usize,
    /// By method: `tabsense`, `tabsense-nomodel`, `native`.
    pub methods: BTreeMap<String, Method>,
}

/// Ranks all cases: with a model if one is given, and without.
pub fn evaluate(
    cases: &[Case],
    weights: &Weights,
    mut model: Option<&mut dyn Decide>,
) -> Result<Report, EvalError> {
    if cases.is_empty() {
        return Err(EvalError::Empty);
    }
    let mut places: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let mut judgements: BTreeMap<&str, Vec<Judgement>> = BTreeMap::new();
    for case in cases {
        let native = case.candidates.iter().position(|c| *c == case.answer);
        let (statistics, _) = scores(case, weights, None);
        let (judged, weight) = match &mut model {
            Some(model) => scores(case, weights, Some(&mut **model)),
            None => (statistics.clone(), 0.0),
        };
        if let Some(answer) = native {
            let said = [
                ("tabsense", &judged, weight),
                ("tabsense-nomodel", &statistics, 0.0),
            ];
            for (name, scores, weight) in said {
                judgements.entry(name).or_default().push(Judgement {
                    scores: scores.clone(),
                    answer,
                    weight,
                });
            }
        }
        let last = case.candidates.len();
        places
            .entry("native")
            .or_default()
            .push(native.unwrap_or(last));
        places
            .entry("tabsense-nomodel")
            .or_default()
            .push(place(case, &statistics, 0.0));
        places
            .entry("tabsense")
            .or_default()
            .push(place(case, &judged, weight));
    }
    let methods = places.into_iter().map(|(name, places)| {
        let mut method = method(cases, &places);
        method.calibration = judgements.get(name).map(|all| Calibration::of(all));
        (name.to_owned(), method)
    });
    Ok(Report {
        cases: cases.len(),
        methods: methods.collect(),
    })
}

/// Feature values of a case's candidates and the place of its answer; `None` if the answer is not
/// among them. For fitting.
pub fn explain(case: &Case, weights: &Weights) -> Option<(Vec<Vec<f32>>, usize)> {
    let answer = case.candidates.iter().position(|c| *c == case.answer)?;
    let values = with_place(case, |index, context, slot, candidates| {
        explain_words(index, weights, context, slot, candidates)
    });
    Some((values, answer))
}

/// The candidates' scores, and the weight with which the model was heard.
fn scores(case: &Case, weights: &Weights, model: Option<&mut dyn Decide>) -> (Vec<f32>, f32) {
    let (ranked, heard) = with_place(case, |index, context, slot, candidates| {
        let mut ranked = rank_words(index, weights, context, slot, candidates);
        let heard = model.map_or(0.0, |model| {
            let weight = model_weight(weights, index, slot, candidates);
            refine(&mut ranked, candidates, context, slot, weight, model)
        });
        (ranked, heard)
    });
    let mut scores = vec![f32::NEG_INFINITY; case.candidates.len()];
    for entry in ranked {
        scores[entry.position] = entry.score;
    }
    (scores, heard)
}

/// Calls `rank` with the case as the ranking functions want it.
fn with_place<T>(
    case: &Case,
    rank: impl FnOnce(&Index, &Context<'_>, &Slot<'_>, &[Candidate]) -> T,
) -> T {
    let cwd = case.cwd.as_deref().unwrap_or_default().as_bytes();
    let recent: Vec<Recent<'_>> = case
        .recent
        .iter()
        .map(|r| Recent {
            command: r.cmd.as_bytes(),
            cwd: r.cwd.as_deref().unwrap_or_default().as_bytes(),
            exit: r.exit,
        })
        .collect();
    let mut index = Index::new();
    for r in &recent {
        index.observe(&Event {
            command: r.command,
            cwd: r.cwd,
            exit: r.exit,
            ..Event::default()
        });
    }
    let listing: Vec<&[u8]> = case.listing.iter().map(|n| n.as_bytes()).collect();
    let context = Context {
        cwd,
        home: b"~",
        recent: &recent,
        listing: &listing,
        ..Context::default()
    };
    let (front, typed) = match case.line.rfind(' ') {
        Some(at) => (&case.line[..at], &case.line[at + 1..]),
        None => ("", case.line.as_str()),
    };
    let words: Vec<&[u8]> = front.split_ascii_whitespace().map(str::as_bytes).collect();
    let slot = Slot {
        words: &words,
        typed: typed.as_bytes(),
    };
    let candidates: Vec<Candidate> = (0..)
        .zip(&case.candidates)
        .map(|(n, text)| candidate(case, text, n))
        .collect();
    rank(&index, &context, &slot, &candidates)
}

fn candidate(case: &Case, text: &str, native: u32) -> Candidate {
    let kind = match case.kind.as_str() {
        "command" => Kind::Command,
        "subcommand" => Kind::Word,
        _ if text.ends_with('/') => Kind::Directory,
        _ => Kind::File,
    };
    Candidate {
        text: text.as_bytes().to_vec(),
        kind,
        description: Vec::new(),
        native: Some(native),
        modified: None,
        quality: Match::Prefix,
    }
}

/// The answer's place from 0 in the order that is shown, ties counted against it.
fn place(case: &Case, scores: &[f32], weight: f32) -> usize {
    let Some(answer) = case.candidates.iter().position(|c| *c == case.answer) else {
        return scores.len();
    };
    let entry = |(position, &score)| Ranked { position, score };
    let mut ranked: Vec<Ranked> = scores.iter().enumerate().map(entry).collect();
    let is_answer = |entry: &Ranked| entry.position == answer;
    ranked.sort_by(|a, b| (b.score.total_cmp(&a.score)).then(is_answer(a).cmp(&is_answer(b))));
    settle(&mut ranked, weight);
    ranked.iter().position(is_answer).unwrap_or(scores.len())
}

fn method(cases: &[Case], places: &[usize]) -> Method {
    let mut by_kind: BTreeMap<String, KindShares> = BTreeMap::new();
    let (mut all, mut top3) = (KindShares::default(), 0.0);
    for (case, place) in cases.iter().zip(places) {
        let first = f64::from(u8::from(*place == 0));
        top3 += f64::from(u8::from(*place < 3));
        for shares in [&mut all, by_kind.entry(case.kind.clone()).or_default()] {
            shares.cases += 1;
            shares.top1 += first;
            shares.mrr += 1.0 / (*place as f64 + 1.0);
        }
    }
    for shares in by_kind.values_mut().chain([&mut all]) {
        shares.top1 /= shares.cases as f64;
        shares.mrr /= shares.cases as f64;
    }
    Method {
        top1: all.top1,
        top3: top3 / cases.len() as f64,
        mrr: all.mrr,
        by_kind,
        calibration: None,
    }
}

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
        let statistics = judged(case, weights, None);
        let both = match &mut model {
            Some(model) => judged(case, weights, Some(&mut **model)),
            None => statistics.clone(),
        };
        let last = case.candidates.len();
        let mut note = |name, place| places.entry(name).or_default().push(place);
        note("native", native.unwrap_or(last));
        note("tabsense-nomodel", statistics.place);
        note("tabsense", both.place);
        for (name, judged) in [("tabsense", both), ("tabsense-nomodel", statistics)] {
            let Some(answer) = native else { continue };
            judgements.entry(name).or_default().push(Judgement {
                scores: judged.scores,
                answer,
                weight: judged.heard,
            });
        }
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

/// What a ranking made of a case.
#[derive(Clone)]
struct Judged {
    /// In the order of the candidates.
    scores: Vec<f32>,
    /// The weight with which the model was heard.
    heard: f32,
    /// The answer's place from 0 in the order that is shown, ties counted against it.
    place: usize,
}

fn judged(case: &Case, weights: &Weights, model: Option<&mut dyn Decide>) -> Judged {
    let is_answer = |entry: &Ranked| case.candidates[entry.position] == case.answer;
    with_place(case, |index, context, slot, candidates| {
        let mut ranked = rank_words(index, weights, context, slot, candidates);
        let heard = model.map_or(0.0, |model| {
            let weight = model_weight(weights, index, slot, candidates);
            refine(&mut ranked, candidates, context, slot, weight, model)
        });
        let mut scores = vec![f32::NEG_INFINITY; candidates.len()];
        for entry in &ranked {
            scores[entry.position] = entry.score;
        }
        ranked.sort_by(|a, b| {
            let by_score = b.score.total_cmp(&a.score);
            by_score.then(is_answer(a).cmp(&is_answer(b)))
        });
        settle(&mut ranked, candidates, heard);
        let place = ranked.iter().position(is_answer);
        Judged {
            scores,
            heard,
            place: place.unwrap_or(candidates.len()),
        }
    })
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

//! How sure a ranking is of its first candidate.
//!
//! The scores are log-odds up to a factor that depends on how many candidates there are and on the
//! weight with which a model was heard: the *temperature*. The chance of a candidate is the softmax over
//! `score / temperature`. The temperatures minimise the mean of -ln(chance of the answer) on
//! completion cases (Guo et al., "On Calibration of Modern Neural Networks", 2017);
//! `tabsense eval completion --json` reports the best ones for its cases.

use crate::candidate::{Candidate, Ranked, are_files};

/// How many temperatures there are.
pub(crate) const BUCKETS: usize = 4;

/// Numbers of candidates that have a temperature of their own: up to so many.
const UP_TO: [usize; BUCKETS] = [2, 5, 10, usize::MAX];

/// Temperatures of statistics alone, by number of candidates.
const STATISTICS: [f32; BUCKETS] = [1.65, 1.65, 1.3, 0.95];
/// What a model's weight adds to them: it is too sure of itself by so much.
const JUDGED: f32 = 1.1;

/// A candidate stands out that is more likely than one drawn by lot, or, among few, as likely as that.
/// On completion cases the rest in the shell's order costs .004 of the mean reciprocal rank.
const STANDS_OUT: f32 = 1.0;
const LIKELY: f32 = 0.25;
/// Of files, which come in numbered rows, it must be so many times as likely.
const FILE_STANDS_OUT: f32 = 2.0;

/// The chances of the first two candidates.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Confidence {
    /// Of the first, 0 to 1.
    pub first: f32,
    /// Of the second; 0 if there is none.
    pub second: f32,
}

/// Which of the temperatures a number of candidates has.
pub(crate) fn bucket(candidates: usize) -> usize {
    UP_TO
        .iter()
        .position(|most| candidates <= *most)
        .unwrap_or(0)
}

/// The temperature of so many candidates, of which a model was heard with a weight; 0 = not heard.
pub(crate) fn temperature(candidates: usize, weight: f32) -> f32 {
    STATISTICS[bucket(candidates)] + JUDGED * weight
}

/// How likely each of a ranking is, best first, beside the first of them.
fn beside_first(ranked: &[Ranked], weight: f32) -> Vec<f32> {
    let temperature = temperature(ranked.len(), weight);
    let best = ranked.first().map_or(0.0, |best| best.score);
    let part = |entry: &Ranked| ((entry.score - best) / temperature).exp();
    ranked.iter().map(part).collect()
}

/// The chances of the first two of a ranking, best first. `weight` is what [`crate::refine`] returned;
/// 0 = statistics alone.
pub fn confidence(ranked: &[Ranked], weight: f32) -> Confidence {
    let parts = beside_first(ranked, weight);
    let total: f32 = parts.iter().sum();
    let chance = |place: usize| parts.get(place).map_or(0.0, |part| part / total);
    Confidence {
        first: chance(0),
        second: chance(1),
    }
}

/// Puts all but the candidates that stand out back into the order in which the shell gave them, which
/// people can read. The first keeps its place, and so do those behind it that are likely enough.
/// `weight` is what [`crate::refine`] returned. The scores stay with their candidates.
pub fn settle(ranked: &mut [Ranked], candidates: &[Candidate], weight: f32) {
    let parts = beside_first(ranked, weight);
    let times = match are_files(candidates) {
        true => FILE_STANDS_OUT,
        false => STANDS_OUT,
    };
    let least = parts.iter().sum::<f32>() * LIKELY.min(times / ranked.len() as f32);
    let ahead = parts.iter().take_while(|part| **part >= least).count();
    if let Some(behind) = ranked.get_mut(ahead.max(1)..) {
        behind.sort_by_key(|entry| entry.position);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidate::{Kind, Match};

    fn ranked(scores: &[f32]) -> Vec<Ranked> {
        let entry = |(position, score): (usize, &f32)| Ranked {
            position,
            score: *score,
        };
        scores.iter().enumerate().map(entry).collect()
    }

    #[test]
    fn equal_candidates_share_and_a_lone_one_is_certain() {
        let all = confidence(&ranked(&[3.0; 4]), 0.0);
        assert!((all.first - 0.25).abs() < 1e-6 && (all.second - 0.25).abs() < 1e-6);
        let one = confidence(&ranked(&[-7.0]), 1.0);
        assert_eq!((one.first, one.second), (1.0, 0.0));
        assert_eq!(confidence(&[], 1.0), Confidence::default());
    }

    #[test]
    fn what_does_not_stand_out_keeps_the_order_of_the_shell() {
        let order = |kind: Kind, scores: &[f32]| {
            let mut ranked = ranked(scores);
            let candidate = Candidate {
                text: b"x".to_vec(),
                kind,
                description: Vec::new(),
                native: None,
                modified: None,
                quality: Match::Prefix,
            };
            ranked.sort_by(|a, b| b.score.total_cmp(&a.score));
            settle(&mut ranked, &vec![candidate; scores.len()], 0.0);
            let places: Vec<usize> = ranked.iter().map(|entry| entry.position).collect();
            places
        };
        // Numbered files that differ by little more than a breath, and words that do.
        let breath = [0.0, 0.4, 0.9, 0.6, 0.0, 0.2];
        assert_eq!(order(Kind::File, &breath), [2, 0, 1, 3, 4, 5]);
        assert_eq!(order(Kind::Word, &breath), [2, 3, 1, 0, 4, 5]);
        // Two that are meant often, the less likely of them given first.
        let often = [0.0, 0.2, 4.0, 0.1, 0.0, 0.3, 5.0, 0.2, 0.1, 0.0];
        assert_eq!(order(Kind::File, &often), [6, 2, 0, 1, 3, 4, 5, 7, 8, 9]);
        assert_eq!(order(Kind::File, &[1.0]), [0]);
        assert_eq!(order(Kind::File, &[]), [0; 0]);
    }

    #[test]
    fn a_wider_lead_is_surer() {
        let near = confidence(&ranked(&[1.0, 0.5, 0.0]), 1.0);
        let far = confidence(&ranked(&[4.0, 0.5, 0.0]), 1.0);
        assert!(far.first > near.first && far.second < near.second);
    }
}

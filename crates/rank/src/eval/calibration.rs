//! How honest the chances are that a ranking gives itself.

use serde::Serialize;

use crate::confidence::{BUCKETS, bucket, temperature};

/// Bins of the expected calibration error.
const BINS: usize = 15;
/// Fewer cases give no temperature.
const FEWEST: usize = 25;

/// One ranking: the scores of all candidates, and which was meant.
#[derive(Debug, Clone)]
pub(super) struct Judgement {
    pub(super) scores: Vec<f32>,
    pub(super) answer: usize,
    /// With which a model was heard; 0 = not.
    pub(super) weight: f32,
}

/// How honest the chances of the first candidates are.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Calibration {
    /// Expected calibration error in 15 equal bins (Naeini et al., 2015): the mean difference
    /// between how likely the first candidate was said to be and how often it was right.
    pub ece: f64,
    /// Share of the cases in which the first candidate was said to be at least 0.9 likely.
    pub sure: f64,
    /// Share of those in which it was right.
    pub sure_right: f64,
    /// The temperatures that fit these cases best: for 2, up to 5, up to 10 and more candidates;
    /// 0 where there are too few cases.
    pub best_temperatures: [f32; BUCKETS],
}

impl Calibration {
    pub(super) fn of(all: &[Judgement]) -> Self {
        let mut bins = [(0.0_f64, 0.0_f64, 0.0_f64); BINS];
        let (mut sure, mut right) = (0.0, 0.0);
        for judgement in all {
            let temperature = temperature(judgement.scores.len(), judgement.weight);
            let (said, is_right) = judgement.first(temperature);
            let bin = &mut bins[((said * BINS as f64) as usize).min(BINS - 1)];
            *bin = (bin.0 + 1.0, bin.1 + said, bin.2 + is_right);
            if said >= 0.9 {
                sure += 1.0;
                right += is_right;
            }
        }
        let count = all.len().max(1) as f64;
        let apart = bins.iter().map(|(_, said, right)| (said - right).abs());
        Self {
            ece: apart.sum::<f64>() / count,
            sure: sure / count,
            sure_right: if sure > 0.0 { right / sure } else { 0.0 },
            best_temperatures: std::array::from_fn(|at| best_temperature(all, at)),
        }
    }
}

impl Judgement {
    /// The chance of the likeliest candidate, and 1 if it alone is the one that was meant.
    fn first(&self, temperature: f32) -> (f64, f64) {
        let most = self
            .scores
            .iter()
            .copied()
            .fold(f32::NEG_INFINITY, f32::max);
        let part = |score: &f32| f64::from((score - most) / temperature).exp();
        let total: f64 = self.scores.iter().map(part).sum();
        let best = self.scores.iter().filter(|score| **score >= most).count();
        let is_right = best == 1 && self.scores[self.answer] >= most;
        (1.0 / total, f64::from(u8::from(is_right)))
    }

    /// -ln of the chance of what was meant.
    fn loss(&self, temperature: f32) -> f64 {
        let most = self
            .scores
            .iter()
            .copied()
            .fold(f32::NEG_INFINITY, f32::max);
        let part = |score: &f32| f64::from((score - most) / temperature);
        let total: f64 = self.scores.iter().map(|score| part(score).exp()).sum();
        total.ln() - part(&self.scores[self.answer])
    }
}

fn best_temperature(all: &[Judgement], at: usize) -> f32 {
    let these: Vec<&Judgement> = all
        .iter()
        .filter(|j| bucket(j.scores.len()) == at)
        .collect();
    if these.len() < FEWEST {
        return 0.0;
    }
    let loss = |t: &f32| these.iter().map(|j| j.loss(*t)).sum::<f64>();
    // From 0.37 to 4.5 in steps of 5 %.
    let tried = (-20..=30).map(|step| (step as f32 * 0.05).exp());
    tried
        .map(|t| (loss(&t), t))
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .map_or(0.0, |(_, t)| t)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two candidates; the first is ahead by `lead` and right in nine of ten.
    fn nine_of_ten(lead: f32) -> Vec<Judgement> {
        (0..100)
            .map(|n| Judgement {
                scores: vec![lead, 0.0],
                answer: usize::from(n % 10 == 0),
                weight: 0.0,
            })
            .collect()
    }

    #[test]
    fn chances_that_come_true_have_no_error() {
        let temperature = temperature(2, 0.0);
        let honest = Calibration::of(&nine_of_ten(9.0_f32.ln() * temperature));
        assert!(honest.ece < 1e-6, "{honest:?}");
        let boasting = Calibration::of(&nine_of_ten(20.0));
        assert!((boasting.ece - 0.1).abs() < 1e-3, "{boasting:?}");
        assert_eq!((boasting.sure, boasting.sure_right), (1.0, 0.9));
    }

    #[test]
    fn the_best_temperature_makes_boasting_honest() {
        let lead = 3.0 * 9.0_f32.ln();
        let best = Calibration::of(&nine_of_ten(lead)).best_temperatures;
        assert!((best[0] - 3.0).abs() < 0.15, "{best:?}");
        assert_eq!(best[1..], [0.0; BUCKETS - 1]);
    }
}

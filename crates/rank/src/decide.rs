//! The border to a decision model: plain data in, one logit per option out.

use crate::candidate::Context;

/// What a model is asked: which option does the next key press mean?
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// Where and when.
    pub context: &'a Context<'a>,
    /// The line up to the cursor.
    pub line: &'a [u8],
    /// The options, as they would stand in the line.
    pub options: &'a [&'a [u8]],
}

/// A model that judges options.
pub trait Decide {
    /// One logit per option, in their order; `None` if the model has no answer in time.
    fn logits(&mut self, question: &Question<'_>) -> Option<Vec<f32>>;
}

/// Adds `weight * ln softmax(logits)` to scores. Leaves them alone when the numbers do not match
/// or any logit is not finite.
pub fn blend(scores: &mut [f32], logits: &[f32], weight: f32) {
    if scores.len() != logits.len() || logits.iter().any(|l| !l.is_finite()) {
        return;
    }
    let most = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let sum: f32 = logits.iter().map(|l| (l - most).exp()).sum();
    for (score, logit) in scores.iter_mut().zip(logits) {
        *score += weight * (logit - most - sum.ln());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logits_are_added_as_log_probabilities() {
        let mut scores = [0.0, 0.0];
        blend(&mut scores, &[0.0, 0.0], 2.0);
        assert!((scores[0] - 2.0 * 0.5_f32.ln()).abs() < 1e-6);
        let before = scores;
        blend(&mut scores, &[f32::NAN, 0.0], 1.0);
        blend(&mut scores, &[1.0], 1.0);
        assert_eq!(scores, before);
    }
}

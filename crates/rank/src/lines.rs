//! Prediction of the whole next line.

use crate::candidate::{Context, ScoredLine};
use crate::index::Index;
use crate::weights::Weights;

/// The `k` most likely next lines that start with `prefix` (which may be empty), best first.
pub fn rank_lines(
    index: &Index,
    weights: &Weights,
    context: &Context<'_>,
    prefix: &[u8],
    k: usize,
) -> Vec<ScoredLine> {
    let now = index.events();
    let mut lines: Vec<ScoredLine> = index
        .lines
        .iter()
        .filter(|(line, _)| line.starts_with(prefix))
        .map(|(line, used)| {
            let here = index.places.get(&(context.cwd.to_vec(), line.clone()));
            let place = here.map_or(0.0, |u| u.at(now) as f32);
            let score = weights.frecency * used.at(now) as f32 + weights.place * place;
            ScoredLine {
                text: line.clone(),
                score,
                count: used.count,
            }
        })
        .collect();
    lines.sort_by(|a, b| {
        b.score
            .total_cmp(&a.score)
            .then_with(|| a.text.cmp(&b.text))
    });
    lines.truncate(k);
    lines
}

//! Ranking of directories to go to.

use crate::candidate::{Context, ScoredDirectory};
use crate::index::Index;
use crate::weights::Weights;

/// The `k` directories most likely wanted by `cd`, best first. Their last name starts with
/// `typed`, upper and lower case alike; the current directory is left out.
pub fn rank_directories(
    index: &Index,
    weights: &Weights,
    context: &Context<'_>,
    typed: &[u8],
    k: usize,
) -> Vec<ScoredDirectory> {
    let now = index.events();
    let mut found: Vec<ScoredDirectory> = index
        .directories
        .iter()
        .filter(|(path, _)| !path.is_empty() && path.as_slice() != context.cwd)
        .filter(|(path, _)| {
            let name = path.rsplit(|b| *b == b'/').next().unwrap_or_default();
            name.len() >= typed.len() && name[..typed.len()].eq_ignore_ascii_case(typed)
        })
        .map(|(path, used)| ScoredDirectory {
            path: path.clone(),
            score: weights.frecency * used.at(now) as f32,
            visits: used.count,
        })
        .collect();
    found.sort_by(|a, b| {
        b.score
            .total_cmp(&a.score)
            .then_with(|| a.path.cmp(&b.path))
    });
    found.truncate(k);
    found
}

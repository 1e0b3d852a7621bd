//! Fitting the weights: softmax regression over sets of candidates of which one was chosen.
//!
//! The chance of candidate `i` is `exp(w . x_i) / sum_j exp(w . x_j)`; the weights maximise the
//! weighted mean log-chance of what was chosen, with a pull towards where they started. Minimised
//! with Adam (Kingma and Ba, 2015) over shuffled batches; the same seed gives the same weights.

use crate::weights::Blend;

/// Candidates kept per choice: the chosen one and the best of the others.
const KEPT: usize = 32;

/// One choice among candidates.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// Feature values, candidate after candidate; the chosen one first.
    pub values: Vec<f32>,
    /// How much it counts.
    pub weight: f32,
}

/// How to fit.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Passes over the choices.
    pub epochs: usize,
    /// Step size at the start; it falls to a twentieth.
    pub rate: f32,
    /// Strength of the pull towards the starting weights.
    pub pull: f32,
    /// Seed of the shuffling.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            epochs: 8,
            rate: 0.02,
            pull: 1e-4,
            seed: 1,
        }
    }
}

/// SplitMix64 (Steele, Lea and Flood, 2014): small, seeded, the same everywhere.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// A sequence that depends on the seed alone.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `end`, which must not be 0.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % end as u64) as usize
    }
}

impl Choice {
    /// Keeps the chosen candidate and those that the weights rank highest.
    pub(crate) fn new(vectors: &[Vec<f32>], chosen: usize, weights: &[f32]) -> Self {
        let score = |v: &Vec<f32>| v.iter().zip(weights).map(|(v, w)| v * w).sum::<f32>();
        let mut others: Vec<(f32, usize)> = (0..vectors.len())
            .filter(|at| *at != chosen)
            .map(|at| (score(&vectors[at]), at))
            .collect();
        others.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut values = vectors[chosen].clone();
        for (_, at) in others.iter().take(KEPT - 1) {
            values.extend_from_slice(&vectors[*at]);
        }
        Self {
            values,
            weight: 1.0,
        }
    }
}

/// Fits weights to choices, starting from `start`; none falls below its bound in `least`.
pub fn fit(choices: &[Choice], start: &[f32], least: &[f32], options: Options) -> Vec<f32> {
    const BATCH: usize = 64;
    let n = start.len();
    let (mut weights, mut first, mut second) = (start.to_vec(), vec![0.0; n], vec![0.0; n]);
    let mut order: Vec<usize> = (0..choices.len()).collect();
    let mut random = Random::new(options.seed);
    let steps = (options.epochs * choices.len().div_ceil(BATCH)).max(1);
    let mut step = 0;
    for _ in 0..options.epochs {
        for at in (1..order.len()).rev() {
            order.swap(at, random.below(at + 1));
        }
        for batch in order.chunks(BATCH) {
            let mut slope = vec![0.0_f32; n];
            for at in batch {
                add_slope(&choices[*at], &weights, &mut slope);
            }
            step += 1;
            let left = 1.0 - step as f32 / steps as f32;
            let rate = options.rate * (0.05 + 0.95 * left);
            for i in 0..n {
                let pull = options.pull * (weights[i] - start[i]);
                let slope = slope[i] / batch.len() as f32 + pull;
                first[i] = 0.9 * first[i] + 0.1 * slope;
                second[i] = 0.999 * second[i] + 0.001 * slope * slope;
                let mean = first[i] / (1.0 - 0.9_f32.powi(step));
                let spread: f32 = second[i] / (1.0 - 0.999_f32.powi(step));
                let step = rate * mean / (spread.sqrt() + 1e-8);
                weights[i] = (weights[i] - step).max(least[i]);
            }
        }
    }
    weights
}

/// Weighted mean of -ln(chance of what was chosen), and share of choices where it is the best.
pub fn loss(choices: &[Choice], weights: &[f32]) -> (f32, f32) {
    let (mut sum, mut first, mut total) = (0.0, 0.0, 0.0);
    for choice in choices {
        let chances = chances(choice, weights);
        sum -= choice.weight * chances[0].max(1e-30).ln();
        let best = chances.iter().skip(1).all(|c| *c < chances[0]);
        first += if best { choice.weight } else { 0.0 };
        total += choice.weight;
    }
    (sum / total, first / total)
}

/// Whether what was chosen is alone at the top.
pub(crate) fn is_first(choice: &Choice, weights: &[f32]) -> bool {
    let chances = chances(choice, weights);
    chances.iter().skip(1).all(|c| *c < chances[0])
}

fn chances(choice: &Choice, weights: &[f32]) -> Vec<f32> {
    let rows = choice.values.chunks_exact(weights.len());
    let mut chances: Vec<f32> = rows
        .map(|row| row.iter().zip(weights).map(|(v, w)| v * w).sum())
        .collect();
    let most = chances.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    chances.iter_mut().for_each(|c| *c = (*c - most).exp());
    let total: f32 = chances.iter().sum();
    chances.iter_mut().for_each(|c| *c /= total);
    chances
}

fn add_slope(choice: &Choice, weights: &[f32], slope: &mut [f32]) {
    let mut factors = chances(choice, weights);
    factors[0] -= 1.0;
    for (factor, row) in factors
        .iter()
        .zip(choice.values.chunks_exact(weights.len()))
    {
        for (slope, value) in slope.iter_mut().zip(row) {
            *slope += choice.weight * factor * value;
        }
    }
}

/// Bounds for [`fit`]: evidence for a candidate must not count against it, even if the sum of
/// others would make up for that on some histories. Weights of such features stay at 0 or above.
pub fn least(blend: Blend) -> Vec<f32> {
    let never_against = match blend {
        Blend::Lines => {
            "Fast FastShare BurstShare Slow Count Habit HabitNext After AfterShare AfterNewest \
             AfterTwoShare AfterThreeShare AfterHereShare SkipShare Pair Head Here HereShare \
             HereSlowShare HereAge AroundShare StartShare Chained Mixed Hour Template TemplateNew \
             Stock Carried CarryHabit NextHead AfterHead HeadHere InHead InHeadHere HeadNewest \
             Factored Prior"
        }
        Blend::Words => {
            "LineShare Line PlaceShare Place HereShare OptionShare Newest First FirstAfter Kind \
             Mentioned Made Follows Alike PriorFirst PriorNext Marker Markers PriorSub PriorNextSub \
             PriorKind PriorPairKind PriorOptionKind PriorName PriorPairName RecentParts LineParts \
             HereParts Visited FromHere Taken"
        }
        Blend::Directories => {
            "Frecency FrecencyShare Visits FromShare From FromNewest FromCount Zoxide Mentioned Made \
             LineShare Line Used"
        }
    };
    let bound = |name: &&str| {
        let against = never_against.split_ascii_whitespace().all(|n| n != *name);
        if against { f32::NEG_INFINITY } else { 0.0 }
    };
    blend.features().iter().map(bound).collect()
}

//! Fitting the network over the features of a line together with the blend's weights.
//!
//! Evidence that must not count against a line does not in the network either: see `bound`.
//!
//! Minimises, with Adam over shuffled batches, the mean of `(1 - AIM) * -ln p + AIM * -q`: `p` is
//! the chance of the chosen line, `q` the same with scores stretched by [`SHARP`]. The second part
//! counts what comes first more than what is far behind anyway.

use super::fit::{Choice, Random};
use crate::lines::Vector;
use crate::lines::network::{Network, Unit};
use crate::weights::Line;

const UNITS: usize = 24;
/// Steps of the blend's weights are so much smaller.
const LINEAR: f32 = 0.3;
const DECAY: f32 = 1e-4;
const AIM: f32 = 0.5;
const SHARP: f32 = 1.5;
const N: usize = Line::COUNT;
/// Where the parts lie among the parameters.
const OUT: usize = N;
const BIAS: usize = OUT + UNITS;
const WEIGHTS: usize = BIAS + UNITS;
const ALL: usize = WEIGHTS + UNITS * N;

/// How to fit.
#[derive(Debug, Clone, Copy)]
pub struct Bending {
    /// Passes over the choices.
    pub epochs: usize,
    /// Choices of one step.
    pub batch: usize,
    /// Step size at the start; it falls to a twentieth.
    pub rate: f32,
    /// Seed of the shuffling and of the first weights.
    pub seed: u64,
}

impl Default for Bending {
    fn default() -> Self {
        Self {
            epochs: 10,
            batch: 256,
            rate: 0.004,
            seed: 1,
        }
    }
}

/// Fits a network and the weights beside it, starting from weights that were fitted alone. None of
/// the weights falls below its bound in `least`.
pub fn bend(choices: &[Choice], start: &[f32], least: &[f32], how: Bending) -> (Vec<f32>, Network) {
    let mut random = Random::new(how.seed);
    let mut network = standard(choices);
    let mut parameters = vec![0.0_f32; ALL];
    parameters[..N].copy_from_slice(start);
    for weight in &mut parameters[WEIGHTS..] {
        // Sum of uniform draws: near enough to a normal one.
        let sum: f32 = (0..4)
            .map(|_| random.below(1000) as f32 / 1000.0 - 0.5)
            .sum();
        *weight = sum * 1.7 / (N as f32).sqrt();
    }
    parameters[OUT..BIAS].fill(0.05);
    for (at, parameter) in parameters.iter_mut().enumerate() {
        if bound(at, least) == 0.0 {
            *parameter = parameter.abs();
        }
    }
    let mean_weight = choices.iter().map(|c| c.weight).sum::<f32>() / choices.len().max(1) as f32;
    let mut order: Vec<usize> = (0..choices.len()).collect();
    let steps = (how.epochs * choices.len().div_ceil(how.batch)).max(1);
    let (mut first, mut second, mut step) = (vec![0.0_f32; ALL], vec![0.0_f32; ALL], 0);
    for _ in 0..how.epochs {
        for at in (1..order.len()).rev() {
            order.swap(at, random.below(at + 1));
        }
        for batch in order.chunks(how.batch) {
            let mut slope = vec![0.0_f32; ALL];
            for at in batch {
                let choice = &choices[*at];
                let part = choice.weight / mean_weight / batch.len() as f32;
                add_slope(choice, &network, &parameters, part, &mut slope);
            }
            step += 1;
            let left = 1.0 - step as f32 / steps as f32;
            let rate = how.rate * (0.05 + 0.95 * left);
            for i in 0..ALL {
                let mut slope = slope[i];
                if i >= N {
                    slope += DECAY * parameters[i];
                }
                first[i] = 0.9 * first[i] + 0.1 * slope;
                second[i] = 0.999 * second[i] + 0.001 * slope * slope;
                let mean = first[i] / (1.0 - 0.9_f32.powi(step));
                let spread = second[i] / (1.0 - 0.999_f32.powi(step));
                let rate = if i < N { LINEAR * rate } else { rate };
                let step = rate * mean / (spread.sqrt() + 1e-8);
                parameters[i] = (parameters[i] - step).max(bound(i, least));
            }
        }
    }
    network.units = (0..UNITS)
        .map(|unit| Unit {
            bias: parameters[BIAS + unit],
            out: parameters[OUT + unit],
            weights: of_unit(&parameters, unit),
        })
        .collect();
    let mut weights = parameters[..N].to_vec();
    weights[Line::Network as usize] = 1.0;
    (weights, network)
}

/// The bound of a parameter. No unit takes away, and none is held down by evidence that must not
/// count against a line: so such evidence cannot count against it in the network either.
fn bound(at: usize, least: &[f32]) -> f32 {
    match at {
        ..OUT => least[at],
        OUT..BIAS => 0.0,
        BIAS..WEIGHTS => f32::NEG_INFINITY,
        _ => least[(at - WEIGHTS) % N],
    }
}

fn of_unit(parameters: &[f32], unit: usize) -> Vector {
    let from = WEIGHTS + unit * N;
    let mut weights = [0.0; N];
    weights.copy_from_slice(&parameters[from..from + N]);
    // It does not see itself.
    weights[Line::Network as usize] = 0.0;
    weights
}

fn rows(choice: &Choice) -> impl Iterator<Item = Vector> {
    choice.values.chunks_exact(N).map(|row| {
        let mut values = [0.0; N];
        values.copy_from_slice(row);
        values[Line::Network as usize] = 0.0;
        values
    })
}

/// Mean and spread of each feature; one that hardly varies is not looked at.
fn standard(choices: &[Choice]) -> Network {
    let (mut sum, mut squares, mut count) = ([0.0_f64; N], [0.0_f64; N], 0.0_f64);
    for row in choices.iter().flat_map(rows) {
        for i in 0..N {
            sum[i] += f64::from(row[i]);
            squares[i] += f64::from(row[i]).powi(2);
        }
        count += 1.0;
    }
    let mut network = Network::default();
    for i in 0..N {
        let mean = sum[i] / count.max(1.0);
        let spread = (squares[i] / count.max(1.0) - mean * mean).max(0.0).sqrt();
        network.mean[i] = mean as f32;
        network.scale[i] = if spread > 1e-3 {
            (1.0 / spread) as f32
        } else {
            0.0
        };
    }
    network
}

fn softmax(scores: &[f32], sharp: f32) -> Vec<f32> {
    let most = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut chances: Vec<f32> = scores.iter().map(|s| ((s - most) * sharp).exp()).collect();
    let total: f32 = chances.iter().sum();
    chances.iter_mut().for_each(|c| *c /= total);
    chances
}

fn add_slope(choice: &Choice, network: &Network, parameters: &[f32], part: f32, slope: &mut [f32]) {
    let rows: Vec<(Vector, Vector, [f32; UNITS])> = rows(choice)
        .map(|values| {
            let x = network.standardised(&values);
            let mut hidden = [0.0; UNITS];
            for (unit, hidden) in hidden.iter_mut().enumerate() {
                let weights = &parameters[WEIGHTS + unit * N..][..N];
                let sum: f32 = weights.iter().zip(&x).map(|(w, x)| w * x).sum();
                *hidden = (parameters[BIAS + unit] + sum).tanh();
            }
            (values, x, hidden)
        })
        .collect();
    let score = |(values, _, hidden): &(Vector, Vector, [f32; UNITS])| -> f32 {
        let plain: f32 = values
            .iter()
            .zip(&parameters[..N])
            .map(|(v, w)| v * w)
            .sum();
        let bent: f32 = hidden
            .iter()
            .zip(&parameters[OUT..BIAS])
            .map(|(h, o)| h * o)
            .sum();
        plain + bent
    };
    let scores: Vec<f32> = rows.iter().map(score).collect();
    let (plain, sharp) = (softmax(&scores, 1.0), softmax(&scores, SHARP));
    for (at, (values, x, hidden)) in rows.iter().enumerate() {
        let chosen = f32::from(u8::from(at == 0));
        let factor = part
            * ((1.0 - AIM) * (plain[at] - chosen)
                + AIM * 4.0 * SHARP * sharp[0] * (sharp[at] - chosen));
        for i in 0..N {
            slope[i] += factor * values[i];
        }
        for unit in 0..UNITS {
            slope[OUT + unit] += factor * hidden[unit];
            let inner = factor * parameters[OUT + unit] * (1.0 - hidden[unit] * hidden[unit]);
            slope[BIAS + unit] += inner;
            let weights = &mut slope[WEIGHTS + unit * N..][..N];
            for (slope, x) in weights.iter_mut().zip(x) {
                *slope += inner * x;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::fit::least;
    use crate::weights::Blend;

    /// The chosen line has exactly one of two features, the others both or none: no sum can tell.
    /// They are features that may count either way.
    fn either_or(n: usize) -> Vec<Choice> {
        let mut random = Random::new(7);
        let row = |a: f32, b: f32| {
            let mut values = [0.0; N];
            values[Line::Length as usize] = a;
            values[Line::Rhythm as usize] = b;
            values
        };
        (0..n)
            .map(|_| {
                let chosen = if random.below(2) == 0 {
                    row(1.0, 0.0)
                } else {
                    row(0.0, 1.0)
                };
                let values = [chosen, row(1.0, 1.0), row(0.0, 0.0)].concat();
                Choice {
                    values,
                    weight: 1.0,
                }
            })
            .collect()
    }

    #[test]
    fn evidence_for_a_line_never_counts_against_it() {
        let how = Bending {
            epochs: 5,
            batch: 32,
            rate: 0.03,
            seed: 1,
        };
        // What was chosen has less evidence every time.
        let mut random = Random::new(3);
        let choices: Vec<Choice> = (0..128)
            .map(|_| {
                let mut values = [[0.0; N]; 2];
                values[1][Line::After as usize] = 1.0 + random.below(3) as f32;
                Choice {
                    values: values.concat(),
                    weight: 1.0,
                }
            })
            .collect();
        let (_, network) = bend(&choices, &[0.0; N], &least(Blend::Lines), how);
        let of = |after: f32| {
            let mut values = [0.0; N];
            values[Line::After as usize] = after;
            network.of(&values)
        };
        assert!(of(0.0) <= of(1.0) && of(1.0) <= of(3.0));
    }

    #[test]
    fn what_no_sum_can_tell_is_learnt() {
        let choices = either_or(256);
        let how = Bending {
            epochs: 40,
            batch: 32,
            rate: 0.03,
            seed: 1,
        };
        let (weights, network) = bend(&choices, &[0.0; N], &least(Blend::Lines), how);
        let score = |row: &[f32]| {
            let mut values = [0.0; N];
            values.copy_from_slice(row);
            values[Line::Network as usize] = network.of(&values);
            values.iter().zip(&weights).map(|(v, w)| v * w).sum::<f32>()
        };
        let right = choices.iter().filter(|choice| {
            let scores: Vec<f32> = choice.values.chunks_exact(N).map(score).collect();
            scores[0] > scores[1] && scores[0] > scores[2]
        });
        assert_eq!(right.count(), choices.len());
    }
}

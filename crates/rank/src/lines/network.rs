//! A small network over the features of a line, for what a sum cannot say: that one kind of
//! evidence counts for more, or less, beside another.
//!
//! It has one hidden layer: `sum over units of out * tanh(bias + sum over features of weight *
//! clamp((value - mean) * scale, -4, 4))`, and what it says is itself one feature of the blend
//! ([`Line::Network`]). Its numbers (`network.tsv`) are fitted together with the weights of the
//! blend, see `examples/fit.rs`. tanh and the clamp bound what it can say, whatever the history.
//!
//! The file: lines of fields parted by tabs. `mean` and `scale` are followed by `NAME=NUMBER`
//! fields, each `unit` by its bias, its out and `NAME=NUMBER` fields. Numbers not named are 0.

use std::fmt::Write;
use std::sync::{Arc, LazyLock};

use super::Vector;
use crate::weights::Line;

static BUILT_IN: LazyLock<Arc<Network>> =
    LazyLock::new(|| Arc::new(Network::parse(include_str!("network.tsv"))));

/// Standardised values stay within so many standard deviations.
pub(crate) const FARTHEST: f32 = 4.0;

/// One hidden unit.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Unit {
    pub(crate) bias: f32,
    pub(crate) out: f32,
    pub(crate) weights: Vector,
}

/// A network with one hidden layer and one output.
#[derive(Debug, Clone, PartialEq)]
pub struct Network {
    pub(crate) mean: Vector,
    pub(crate) scale: Vector,
    pub(crate) units: Vec<Unit>,
}

impl Default for Network {
    /// A network that says nothing.
    fn default() -> Self {
        Self {
            mean: [0.0; Line::COUNT],
            scale: [0.0; Line::COUNT],
            units: Vec::new(),
        }
    }
}

impl Network {
    /// The one that is built in.
    pub fn built_in() -> Arc<Self> {
        Arc::clone(&BUILT_IN)
    }

    /// Reads the text of a file; what does not fit is passed over.
    pub fn parse(text: &str) -> Self {
        let mut network = Self::default();
        for line in text.lines() {
            let mut fields = line.split('\t');
            let kind = fields.next().unwrap_or_default();
            match kind {
                "mean" => network.mean = numbers(fields),
                "scale" => network.scale = numbers(fields),
                "unit" => {
                    let mut number = || fields.next().and_then(|f| f.parse().ok()).unwrap_or(0.0);
                    let (bias, out) = (number(), number());
                    network.units.push(Unit {
                        bias,
                        out,
                        weights: numbers(fields),
                    });
                }
                _ => {}
            }
        }
        network
    }

    /// The text of its file.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        let mut row = |head: String, values: &Vector| {
            text.push_str(&head);
            for (name, value) in Line::NAMES.iter().zip(values).filter(|(_, v)| **v != 0.0) {
                let _ = write!(text, "\t{name}={value:.4}");
            }
            text.push('\n');
        };
        row("mean".to_owned(), &self.mean);
        row("scale".to_owned(), &self.scale);
        for unit in &self.units {
            row(
                format!("unit\t{:.4}\t{:.4}", unit.bias, unit.out),
                &unit.weights,
            );
        }
        text
    }

    /// What it says of a line whose other features have these values.
    pub(crate) fn of(&self, values: &Vector) -> f32 {
        let x = self.standardised(values);
        self.units
            .iter()
            .map(|unit| unit.out * unit.activation(&x))
            .sum()
    }

    pub(crate) fn standardised(&self, values: &Vector) -> Vector {
        let mut x = [0.0; Line::COUNT];
        for at in 0..Line::COUNT {
            x[at] = ((values[at] - self.mean[at]) * self.scale[at]).clamp(-FARTHEST, FARTHEST);
        }
        x[Line::Network as usize] = 0.0;
        x
    }
}

impl Unit {
    pub(crate) fn activation(&self, x: &Vector) -> f32 {
        let sum: f32 = self.weights.iter().zip(x).map(|(w, x)| w * x).sum();
        (self.bias + sum).tanh()
    }
}

fn numbers<'a>(fields: impl Iterator<Item = &'a str>) -> Vector {
    let mut values = [0.0; Line::COUNT];
    for (name, value) in fields.filter_map(|field| field.split_once('=')) {
        let at = Line::NAMES.iter().position(|known| *known == name);
        if let (Some(at), Ok(value)) = (at, value.parse()) {
            values[at] = value;
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_is_written_and_read_again() {
        let mut network = Network::default();
        network.mean[0] = 0.25;
        network.scale[0] = 2.0;
        let mut weights = [0.0; Line::COUNT];
        weights[0] = -1.5;
        network.units.push(Unit {
            bias: 0.5,
            out: -0.75,
            weights,
        });
        assert_eq!(Network::parse(&network.to_text()), network);
        let mut values = [0.0; Line::COUNT];
        values[0] = 1.25;
        let expected = -0.75 * (0.5_f32 - 1.5 * 2.0).tanh();
        assert!((network.of(&values) - expected).abs() < 1e-6);
        // However far away a value is, it says no more than at the edge.
        values[0] = 1e9;
        assert!(network.of(&values).abs() <= 0.75);
    }

    #[test]
    fn the_built_in_one_knows_only_features_that_exist() {
        for field in include_str!("network.tsv").split(['\t', '\n']) {
            if let Some((name, _)) = field.split_once('=') {
                assert!(Line::NAMES.contains(&name), "{name}");
            }
        }
    }
}

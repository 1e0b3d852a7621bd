//! Times of one scenario, by stage.

use std::collections::BTreeMap;

use serde::Serialize;

/// The order in which a request goes through its stages.
const ORDER: [&str; 15] = [
    "client start",
    "connect",
    "encode",
    "queue",
    "gather",
    "rank",
    "tokenise",
    "forward",
    "reply",
    "print",
    "total",
    "first answer",
    "with model",
    "bare",
    "with tabsense",
];

/// One stage of one scenario.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// Such as `tab-64`.
    pub scenario: String,
    /// Whether the decision model took part.
    pub model: bool,
    /// Such as `total`.
    pub stage: String,
    /// Requests.
    pub n: usize,
    /// Median in milliseconds.
    pub p50_ms: f64,
    /// 95th percentile in milliseconds.
    pub p95_ms: f64,
    /// 99th percentile in milliseconds.
    pub p99_ms: f64,
}

/// Times in microseconds.
#[derive(Debug, Default)]
pub(crate) struct Samples(BTreeMap<String, Vec<u64>>);

impl Samples {
    /// Adds one time.
    pub(crate) fn add(&mut self, stage: &str, micros: u64) {
        self.0.entry(stage.to_owned()).or_default().push(micros);
    }

    /// Takes over all times of another one.
    pub(crate) fn absorb(&mut self, other: Self) {
        for (stage, times) in other.0 {
            self.0.entry(stage).or_default().extend(times);
        }
    }

    /// Rows in the order of the stages.
    pub(crate) fn rows(mut self, scenario: &str) -> Vec<Row> {
        let model = ["forward", "with model"]
            .iter()
            .any(|stage| self.0.contains_key(*stage));
        let known = ORDER
            .iter()
            .filter_map(|&stage| Some((stage, self.0.remove(stage)?)));
        known
            .map(|(stage, mut times)| {
                times.sort_unstable();
                Row {
                    scenario: scenario.to_owned(),
                    model,
                    stage: stage.to_owned(),
                    n: times.len(),
                    p50_ms: percentile(&times, 50),
                    p95_ms: percentile(&times, 95),
                    p99_ms: percentile(&times, 99),
                }
            })
            .collect()
    }
}

/// The nearest-rank percentile of sorted microseconds, in milliseconds.
fn percentile(sorted: &[u64], percent: usize) -> f64 {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted
        .get(rank - 1)
        .map_or(0.0, |&micros| micros as f64 / 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_taken_by_nearest_rank() {
        let times: Vec<u64> = (1..=100).map(|n| n * 1000).collect();
        assert_eq!(
            [50, 95, 99].map(|p| percentile(&times, p)),
            [50.0, 95.0, 99.0]
        );
        assert_eq!(percentile(&[7000], 99), 7.0);
    }

    #[test]
    fn rows_follow_the_way_of_a_request() {
        let mut samples = Samples::default();
        for stage in ["total", "rank", "client start"] {
            samples.add(stage, 1000);
        }
        let rows = samples.rows("x");
        let stages: Vec<&str> = rows.iter().map(|row| row.stage.as_str()).collect();
        assert_eq!(stages, ["client start", "rank", "total"]);
        assert!(rows.iter().all(|row| !row.model && row.n == 1));
    }
}

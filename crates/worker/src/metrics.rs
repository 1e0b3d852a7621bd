//! How many requests there were and how long they took.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The latest requests that percentiles are taken over.
const KEPT: usize = 1024;

/// Counts and times of completion requests.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    requests: AtomicU64,
    latest: Mutex<Vec<u32>>,
}

impl Metrics {
    /// Notes one request, from frame read to answer ready.
    pub(crate) fn note(&self, took: Duration) {
        let n = self.requests.fetch_add(1, Ordering::Relaxed) as usize;
        let micros = u32::try_from(took.as_micros()).unwrap_or(u32::MAX);
        let mut latest = self
            .latest
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        if latest.len() < KEPT {
            latest.push(micros);
        } else {
            latest[n % KEPT] = micros;
        }
    }

    /// Requests so far.
    pub(crate) fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// The given percentiles in milliseconds; 0 before the first request.
    pub(crate) fn percentiles<const N: usize>(&self, percents: [f64; N]) -> [f64; N] {
        let mut latest = self
            .latest
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
            .clone();
        latest.sort_unstable();
        percents.map(|percent| {
            let last = latest.len().saturating_sub(1) as f64;
            let at = (last * percent / 100.0).round() as usize;
            latest
                .get(at)
                .map_or(0.0, |&micros| f64::from(micros) / 1000.0)
        })
    }
}

/// Resident memory of this process in MB (2^20 bytes).
pub(crate) fn rss_mb() -> f64 {
    memory_stats::memory_stats().map_or(0.0, |stats| stats.physical_mem as f64 / 1_048_576.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_the_latest_requests() {
        let metrics = Metrics::default();
        assert_eq!(metrics.percentiles([50.0]), [0.0]);
        for millis in 1..=100 {
            metrics.note(Duration::from_millis(millis));
        }
        assert_eq!(metrics.percentiles([0.0, 50.0, 99.0]), [1.0, 51.0, 99.0]);
        for _ in 0..KEPT {
            metrics.note(Duration::from_millis(7));
        }
        assert_eq!(metrics.percentiles([0.0, 50.0, 100.0]), [7.0, 7.0, 7.0]);
        assert_eq!(metrics.requests(), 100 + KEPT as u64);
    }
}

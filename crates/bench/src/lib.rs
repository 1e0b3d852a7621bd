//! How fast it is, measured from outside: real client processes against a real worker, in a home
//! of their own that is removed afterwards.
//!
//! A row is one stage of one scenario. `total` is what the shell waits for: from starting the
//! client's process to its end. The other stages are told by the client and the worker in requests of
//! their own, since telling takes time. `paused` is a client that ends at once: what a process costs. A start
//! (`starts.rs`) has rows of its own: from the TAB that finds no worker to the first answer, and to
//! the first in which the decision model took part. So do the shells' first prompts (`prompts.rs`), with
//! and without us.

mod home;
mod prompts;
mod samples;
mod scenario;
mod starts;

use std::fmt::Write as _;
use std::path::PathBuf;

use serde::Serialize;

pub use samples::Row;

/// What to measure with.
#[derive(Debug, Clone)]
pub struct Options {
    /// The client's program.
    pub client: PathBuf,
    /// The worker's program.
    pub worker: PathBuf,
    /// What to measure.
    pub part: Part,
    /// How much of it.
    pub effort: Effort,
    /// A checkpoint's directory, or `builtin`.
    pub model: String,
}

/// What to measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Everything.
    All,
    /// Only when a shell's first prompt stands.
    Prompts,
}

/// How much to measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// 1000 requests a scenario and kind, all sizes: minutes.
    Full,
    /// 50 requests a scenario, small sizes: seconds.
    Quick,
}

/// All rows.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// Processor, cores and system.
    pub machine: String,
    /// One for each stage of each scenario.
    pub rows: Vec<Row>,
    /// Resident memory of the worker after the largest scenario, in MB (2^20 bytes); 0 when there was none.
    pub worker_rss_mb: f64,
}

/// Why nothing could be measured.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or process failed.
    #[error("{what}: {error}")]
    Io {
        /// The file or program.
        what: String,
        /// What went wrong.
        error: std::io::Error,
    },
    /// A program ended badly.
    #[error("`{what}` failed: {said}")]
    Failed {
        /// The command.
        what: String,
        /// Its last words.
        said: String,
    },
}

/// Measures everything.
///
/// # Errors
/// When the programs cannot be run or the home cannot be made.
pub fn run(options: &Options) -> Result<Report, Error> {
    let mut rows = Vec::new();
    let mut worker_rss_mb = 0.0_f64;
    if options.part == Part::All {
        for scenario in scenario::all(options.effort) {
            let measured = scenario.measure(options)?;
            worker_rss_mb = worker_rss_mb.max(measured.worker_rss_mb);
            rows.extend(measured.rows);
        }
        rows.extend(starts::measure(options)?);
    }
    rows.extend(prompts::measure(options)?);
    Ok(Report {
        machine: machine(),
        rows,
        worker_rss_mb,
    })
}

/// Processor, cores and system of this machine.
fn machine() -> String {
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpuinfo
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(": "))
        .map_or("unknown processor", |(_, name)| name);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!(
        "{model}, {cores} cores, {} {}",
        std::env::consts::OS,
        std::env::consts::ARCH
    )
}

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut table = format!(
            "{}\n\n{:<18} {:<13} {:>6} {:>9} {:>9} {:>9}\n",
            self.machine, "scenario", "stage", "n", "p50 ms", "p95 ms", "p99 ms"
        );
        for row in &self.rows {
            writeln!(
                table,
                "{:<18} {:<13} {:>6} {:>9.3} {:>9.3} {:>9.3}",
                row.scenario, row.stage, row.n, row.p50_ms, row.p95_ms, row.p99_ms
            )?;
        }
        if self.worker_rss_mb > 0.0 {
            write!(table, "\nworker: {:.0} MB resident\n", self.worker_rss_mb)?;
        }
        f.write_str(&table)
    }
}

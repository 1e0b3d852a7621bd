//! Measuring: replays of histories, and completion cases, against simple methods.
//!
//! Nothing here opens files: readers are handed in. See [`history`] and [`completion`].

pub mod adapt;
pub mod baselines;
pub mod bend;
mod calibration;
mod cd;
pub mod choices;
pub mod completion;
pub mod fit;
pub mod history;
mod offers;
mod render;
mod rows;
mod typing;

pub use calibration::Calibration;
pub use rows::{Case, CaseRecent, Command, User, read_cases, read_users};

/// Why an evaluation could not run.
#[derive(Debug, thiserror::Error)]
pub enum EvalError {
    /// The input could not be read.
    #[error("line {line}: cannot be read: {source}")]
    Read {
        /// Number of the line, from 1.
        line: usize,
        /// What the reader said.
        source: std::io::Error,
    },
    /// A line is not what was expected.
    #[error("line {line}: not a row of this kind of file: {source}")]
    Row {
        /// Number of the line, from 1.
        line: usize,
        /// What does not fit.
        source: serde_json::Error,
    },
    /// There is nothing to measure.
    #[error("no rows (hint: the file holds one JSON object per line)")]
    Empty,
}

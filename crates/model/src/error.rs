//! What can go wrong with a checkpoint, a question or a pass.

use std::path::PathBuf;

/// Result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Every message names the file, field, tensor or question it is about.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file could not be read or written.
    #[error("{path}: {source}", path = .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A configuration file holds a missing, wrong or unsupported value.
    #[error("{file}: {field}: {reason}", file = .file.display())]
    Config {
        /// The configuration file.
        file: PathBuf,
        /// Dotted path of the field, or `document` for the file as a whole.
        field: String,
        /// What is wrong, with the value.
        reason: String,
    },
    /// The weights file is damaged, or a tensor is missing or has another shape.
    #[error("{file}: tensor {name}: {reason}", file = .file.display())]
    Tensor {
        /// The weights file.
        file: PathBuf,
        /// Name of the tensor.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// The tokenizer could not be loaded or did not accept a text.
    #[error("{file}: {reason}", file = .file.display())]
    Tokenizer {
        /// The tokenizer file.
        file: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A question cannot be asked as it is.
    #[error("question {id:?}: {reason}")]
    Question {
        /// The identifier under which the question was given.
        id: String,
        /// What is wrong and what to do.
        reason: String,
    },
    /// A document of questions is not what it should be.
    #[error("questions: {0}")]
    Questions(String),
    /// The pass was given up: a newer request came, or the time was over.
    #[error("stopped before the answer was ready")]
    Stopped,
    /// A sequence or a call that this model cannot run.
    #[error("cannot run: {0}")]
    Input(String),
    /// No backend could be started; every attempt with its reason.
    #[error("no backend: {0}")]
    NoBackend(String),
    /// The model would need more memory than allowed.
    #[error("{file}: needs about {needed} bytes, the cap is {cap} (hint: use a smaller model)", file = .file.display())]
    TooLarge {
        /// The weights file.
        file: PathBuf,
        /// Bytes needed, estimated from the weights file.
        needed: u64,
        /// Bytes allowed.
        cap: u64,
    },
    /// The backend itself failed.
    #[error("backend {backend}: {reason}")]
    Backend {
        /// Name of the backend.
        backend: &'static str,
        /// What it said.
        reason: String,
    },
}

impl Error {
    pub(crate) fn io(path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        Self::Io {
            path: path.into(),
            source,
        }
    }
}

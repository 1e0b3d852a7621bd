//! Errors of the command line, and the one place that prints them.

use std::fmt::Display;
use std::io::{self, ErrorKind};

/// What went wrong, and what to do about it.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    hint: Option<String>,
    quiet: bool,
}

impl Failure {
    /// A failure without advice.
    pub(crate) fn new(message: impl Display) -> Self {
        Self {
            message: message.to_string(),
            hint: None,
            quiet: false,
        }
    }

    /// The same with advice.
    pub(crate) fn hint(mut self, hint: impl Display) -> Self {
        self.hint = Some(hint.to_string());
        self
    }

    /// Says it on standard error.
    pub(crate) fn print(&self) {
        if self.quiet {
            return;
        }
        let mut text = format!("tabsense: {}\n", self.message);
        if let Some(hint) = &self.hint {
            text.push_str(&format!("  hint: {hint}\n"));
        }
        let _ = io::Write::write_all(&mut io::stderr().lock(), text.as_bytes());
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        // A reader that has seen enough (`| head`) is no failure worth words.
        let quiet = error.kind() == ErrorKind::BrokenPipe;
        Self {
            message: error.to_string(),
            hint: None,
            quiet,
        }
    }
}

impl From<tabsense_config::PathsError> for Failure {
    fn from(error: tabsense_config::PathsError) -> Self {
        Self::new(error)
    }
}

//! Where a request's time goes, for `tabsense bench`.
//!
//! When `TABSENSE_STAGES` holds the monotonic clock's nanoseconds at the client's start, the stages
//! are written to standard error, one `name=microseconds` a line. Shells never set it.

use std::io::Write;

use rustix::time::{ClockId, clock_gettime};
use tabsense_protocol::{Reply, reply};

/// The stages so far; empty and free of cost unless they are wanted.
pub(crate) struct Stages {
    last_ns: Option<u64>,
    text: String,
}

impl Stages {
    /// Begins with the time since the process was started.
    pub(crate) fn from_env() -> Self {
        let started = std::env::var("TABSENSE_STAGES")
            .ok()
            .and_then(|text| text.parse().ok());
        let mut stages = Self {
            last_ns: started,
            text: String::new(),
        };
        stages.note("client start");
        stages
    }

    /// Whether anybody wants to know.
    pub(crate) fn are_wanted(&self) -> bool {
        self.last_ns.is_some()
    }

    /// Ends a stage.
    pub(crate) fn note(&mut self, name: &str) {
        if let Some(last) = self.last_ns {
            let now = monotonic_ns();
            self.text
                .push_str(&format!("{name}={}\n", now.saturating_sub(last) / 1000));
            self.last_ns = Some(now);
        }
    }

    /// Ends the wait for the worker: its own stages, and what is left is the way there and back.
    pub(crate) fn note_reply(&mut self, reply: &Reply) {
        let Some(last) = self.last_ns else { return };
        let now = monotonic_ns();
        let mut rest = now.saturating_sub(last) / 1000;
        if let Some(reply::Body::Completed(completed)) = &reply.body {
            for stage in &completed.stages {
                rest = rest.saturating_sub(stage.micros);
                self.text
                    .push_str(&format!("{}={}\n", stage.name, stage.micros));
            }
        }
        self.text.push_str(&format!("reply={rest}\n"));
        self.last_ns = Some(now);
    }

    /// Tells them.
    pub(crate) fn print(&self) {
        if self.are_wanted() {
            let _ = std::io::stderr().lock().write_all(self.text.as_bytes());
        }
    }
}

fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    u64::try_from(now.tv_sec).unwrap_or_default() * 1_000_000_000
        + u64::try_from(now.tv_nsec).unwrap_or_default()
}

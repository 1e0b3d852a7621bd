//! The end of every hook: whatever hangs, the process is gone when its time is up.

#[cfg(target_os = "linux")]
mod timers;
mod watchdog;

use std::process::ExitCode;
use std::time::{Duration, Instant};

#[cfg(target_os = "linux")]
use timers::Timers;
use watchdog::Watchdog;

/// Exit status for "use the shell's own completion".
pub(crate) const NATIVE: u8 = 3;

/// A socket takes no timeout of zero, and a timer of zero never ends.
const LEAST: Duration = Duration::from_millis(1);

/// Ends the process with a status of the caller's choice at the deadline.
///
/// A file system that hangs, a worker that sends one byte a second, and a stopped worker are all the same
/// to it. It uses the monotonic clock.
#[derive(Debug)]
pub(crate) struct Deadline {
    start: Instant,
    limit: Duration,
    watch: Watch,
}

/// Who ends the process.
#[derive(Debug)]
enum Watch {
    /// The kernel, which costs a request next to nothing.
    #[cfg(target_os = "linux")]
    Timers(Timers),
    /// A thread, where the system has no such timers or none to spare.
    Thread(Watchdog),
}

impl Deadline {
    /// Starts the clock; `status` is the exit status when time is up.
    pub(crate) fn start(millis: u64, status: u8) -> Self {
        let start = Instant::now();
        let limit = Duration::from_millis(millis);
        let watch = Watch::start(start, limit, status);
        Self {
            start,
            limit,
            watch,
        }
    }

    /// Changes the limit, counted from the same start.
    pub(crate) fn set(&mut self, millis: u64) {
        let limit = Duration::from_millis(millis);
        if limit == self.limit {
            return;
        }
        self.limit = limit;
        let left = self.left();
        match &mut self.watch {
            // It was set before and is there to be set again.
            #[cfg(target_os = "linux")]
            Watch::Timers(timers) => drop(timers.set(left)),
            Watch::Thread(watchdog) => watchdog.set(self.start + self.limit),
        }
    }

    /// What is left; at least one millisecond.
    pub(crate) fn left(&self) -> Duration {
        self.limit.saturating_sub(self.start.elapsed()).max(LEAST)
    }
}

impl Watch {
    fn start(start: Instant, limit: Duration, status: u8) -> Self {
        #[cfg(target_os = "linux")]
        if let Ok(timers) = Timers::start(limit, status) {
            return Self::Timers(timers);
        }
        Self::Thread(Watchdog::start(start + limit, status))
    }
}

/// The exit status for "use the shell's own completion".
pub(crate) fn native() -> ExitCode {
    ExitCode::from(NATIVE)
}

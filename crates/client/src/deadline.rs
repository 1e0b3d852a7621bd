//! The end of every hook: whatever hangs, the process is gone when its time is up.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// Exit status for "use the shell's own completion".
pub(crate) const NATIVE: u8 = 3;

/// Ends the process with a status of the caller's choice at the deadline.
///
/// A thread of its own: a file system that hangs, a worker that sends one byte a second, and a
/// stopped worker are all the same to it. It uses the monotonic clock.
#[derive(Debug)]
pub(crate) struct Deadline {
    start: Instant,
    millis: Arc<AtomicU64>,
    watchdog: Option<Thread>,
}

impl Deadline {
    /// Starts the clock; `status` is the exit status when time is up.
    pub(crate) fn start(millis: u64, status: u8) -> Self {
        let start = Instant::now();
        let millis = Arc::new(AtomicU64::new(millis));
        let limit = Arc::clone(&millis);
        let watchdog = thread::Builder::new().stack_size(64 << 10).spawn(move || {
            loop {
                let limit = Duration::from_millis(limit.load(Ordering::Relaxed));
                match limit.checked_sub(start.elapsed()) {
                    Some(left) if !left.is_zero() => thread::park_timeout(left),
                    _ => std::process::exit(status.into()),
                }
            }
        });
        // Without a thread to spare the socket's own timeouts still hold.
        Self {
            start,
            millis,
            watchdog: watchdog.ok().map(|handle| handle.thread().clone()),
        }
    }

    /// Changes the limit, counted from the same start.
    pub(crate) fn set(&self, millis: u64) {
        self.millis.store(millis, Ordering::Relaxed);
        if let Some(watchdog) = &self.watchdog {
            watchdog.unpark();
        }
    }

    /// What is left; at least one millisecond, since a socket takes no timeout of zero.
    pub(crate) fn left(&self) -> Duration {
        let limit = Duration::from_millis(self.millis.load(Ordering::Relaxed));
        limit
            .saturating_sub(self.start.elapsed())
            .max(Duration::from_millis(1))
    }
}

/// The exit status for "use the shell's own completion".
pub(crate) fn native() -> ExitCode {
    ExitCode::from(NATIVE)
}

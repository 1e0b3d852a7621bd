//! A thread that ends the process when its time is up.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Thread};
use std::time::Instant;

#[derive(Debug)]
pub(super) struct Watchdog {
    end: Arc<Mutex<Instant>>,
    /// Without a thread to spare the socket's own timeouts still hold.
    thread: Option<Thread>,
}

impl Watchdog {
    pub(super) fn start(end: Instant, status: u8) -> Self {
        let end = Arc::new(Mutex::new(end));
        let seen = Arc::clone(&end);
        let spawned = thread::Builder::new().stack_size(64 << 10).spawn(move || {
            loop {
                let end = *seen.lock().unwrap_or_else(PoisonError::into_inner);
                match end.checked_duration_since(Instant::now()) {
                    Some(left) if !left.is_zero() => thread::park_timeout(left),
                    _ => std::process::exit(status.into()),
                }
            }
        });
        let thread = spawned.ok().map(|handle| handle.thread().clone());
        Self { end, thread }
    }

    /// Changes when the process ends.
    pub(super) fn set(&mut self, end: Instant) {
        *self.end.lock().unwrap_or_else(PoisonError::into_inner) = end;
        if let Some(thread) = &self.thread {
            thread.unpark();
        }
    }
}

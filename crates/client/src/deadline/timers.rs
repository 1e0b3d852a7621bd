//! Two timers of the kernel, in place of a thread that waits: to start one and to end it takes as long as
//! the worker's whole answer.
//!
//! The first timer has a signal's handler end the process. No handler runs in a call that only death
//! interrupts, such as one to a file server that is gone; that is what the second is for.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use nix::sys::signal::{SigEvent, SigSet, SigevNotify, Signal};
use nix::sys::timer::{Expiration, Timer, TimerSetTimeFlags};
use nix::time::ClockId;

/// What the handler has to end the process with the caller's status: on a busy machine it may wait for a
/// processor.
const GRACE: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub(super) struct Timers {
    end: Timer,
    kill: Timer,
}

impl Timers {
    /// Ends the process with `status` after `limit`.
    ///
    /// # Errors
    /// When there may be no more timers.
    pub(super) fn start(limit: Duration, status: u8) -> io::Result<Self> {
        let (end, kill) = (timer(Signal::SIGALRM)?, timer(Signal::SIGKILL)?);
        let mut timers = Self { end, kill };
        let always = Arc::new(AtomicBool::new(true));
        let signal = Signal::SIGALRM as i32;
        signal_hook::flag::register_conditional_shutdown(signal, status.into(), always)?;
        // A starter may have kept it from its children.
        SigSet::from(Signal::SIGALRM).thread_unblock()?;
        timers.set(limit)?;
        Ok(timers)
    }

    /// Changes what is left.
    pub(super) fn set(&mut self, left: Duration) -> nix::Result<()> {
        for (timer, after) in [(&mut self.end, left), (&mut self.kill, left + GRACE)] {
            timer.set(
                Expiration::OneShot(after.into()),
                TimerSetTimeFlags::empty(),
            )?;
        }
        Ok(())
    }
}

fn timer(signal: Signal) -> nix::Result<Timer> {
    let notify = SigevNotify::SigevSignal {
        signal,
        si_value: 0,
    };
    Timer::new(ClockId::CLOCK_MONOTONIC, SigEvent::new(notify))
}

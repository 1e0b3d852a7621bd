//! The start of the program where C's own `main` is used, with what Rust's would have done for it.
//!
//! Before `main` Rust looks up the stack's end in `/proc/self/maps` and installs handlers that tell a
//! stack overflow from other faults, for each thread anew. That is a twentieth of the two or three
//! milliseconds that a TAB takes, and a process that lives no longer has no use for it. The rest of
//! Rust's start is here: standard streams are open, and a closed pipe is an error and no signal.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use rustix::fs::{Mode, OFlags, open};
use rustix::io::{Errno, fcntl_getfd};

/// Runs `program` as Rust's own start would, and ends the process with its status.
pub fn enter(program: fn() -> ExitCode) -> ! {
    open_standard_streams();
    ignore_closed_pipes();
    let status = catch_unwind(AssertUnwindSafe(program)).map_or(PANICKED, code);
    // Writes what is still buffered.
    std::process::exit(status)
}

/// Status of Rust programs that panicked.
const PANICKED: i32 = 101;

/// The number within; the standard library tells it to nobody else.
fn code(status: ExitCode) -> i32 {
    let is_same = |number: &u8| ExitCode::from(*number) == status;
    (0..=u8::MAX).find(is_same).unwrap_or(1).into()
}

/// A file that is opened where a standard stream was closed would be written to in its place.
fn open_standard_streams() {
    for stream in [
        rustix::stdio::stdin(),
        rustix::stdio::stdout(),
        rustix::stdio::stderr(),
    ] {
        if fcntl_getfd(stream) != Err(Errno::BADF) {
            continue;
        }
        // The lowest number that is free is the one just looked at.
        match open("/dev/null", OFlags::RDWR, Mode::empty()) {
            Ok(null) => std::mem::forget(null),
            Err(_) => std::process::abort(),
        }
    }
}

#[expect(unsafe_code, reason = "the standard library offers it to nobody else")]
fn ignore_closed_pipes() {
    // SAFETY: no other thread runs yet, and ignoring a signal calls nothing.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_keeps_its_number() {
        for number in 0..=u8::MAX {
            assert_eq!(code(ExitCode::from(number)), i32::from(number));
        }
    }
}

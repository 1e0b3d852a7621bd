//! The request that a prompt hook gives to the worker it starts, so that it need not wait.
//!
//! Many shells may start at once: one of their workers lives, the others pass their requests on.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use tabsense_protocol::request::Body;
use tabsense_protocol::{HEADER_LEN, MAX_PAYLOAD, Request, encode, read_frame};

/// How long the living worker may take to read what is passed on.
const WRITE_LIMIT: Duration = Duration::from_secs(1);

/// The request on standard input, which is closed afterwards; none when it is not whole.
pub(crate) fn receive() -> Option<Request> {
    let limit = (HEADER_LEN + MAX_PAYLOAD) as u64;
    let request: Request = read_frame(&mut io::stdin().lock().take(limit)).ok()?;
    close_standard_input();
    matches!(request.body, Some(Body::Prompt(_))).then_some(request)
}

/// Gives the request to the worker that serves the socket.
pub(crate) fn pass_on(request: &Request, socket: &Path) -> io::Result<()> {
    let mut stream = UnixStream::connect(socket)?;
    stream.set_write_timeout(Some(WRITE_LIMIT))?;
    stream.write_all(&encode(request))
}

/// Puts the null device in the place of the pipe.
#[expect(
    unsafe_code,
    reason = "the number of standard input must name another file"
)]
fn close_standard_input() {
    use std::os::fd::{FromRawFd, IntoRawFd, OwnedFd};
    let Ok(null) = std::fs::File::open("/dev/null") else {
        return;
    };
    // SAFETY: standard input is open as long as the process lives; ownership is given up again
    // below, so that it is not closed here.
    let mut input = unsafe { OwnedFd::from_raw_fd(0) };
    let _ = rustix::io::dup2(&null, &mut input);
    let _ = input.into_raw_fd();
}

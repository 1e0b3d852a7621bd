//! One connection to the worker.

use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use tabsense_config::{Paths, PathsError, socket_dir};
use tabsense_protocol::{FrameError, Reply, Request, encode, read_frame};

/// A connected socket.
#[derive(Debug)]
pub(crate) struct Connection(UnixStream);

impl Connection {
    /// Connects to the worker of these places, whose directory is looked at first.
    pub(crate) fn to(paths: &Paths) -> io::Result<Self> {
        match socket_dir(paths) {
            Ok(_) => Self::open(&paths.socket()),
            Err(PathsError::Io { error, .. }) => Err(error),
            Err(refused) => Err(io::Error::new(io::ErrorKind::PermissionDenied, refused)),
        }
    }

    /// Connects without ever waiting: a worker that does not accept has a full backlog, and that
    /// is an error at once.
    pub(crate) fn open(socket: &Path) -> io::Result<Self> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let fd = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        rustix::net::connect(&fd, &SocketAddrUnix::new(socket)?)?;
        let stream = UnixStream::from(fd);
        stream.set_nonblocking(false)?;
        Ok(Self(stream))
    }

    /// Sends a request and waits at most `timeout` for each step of the answer.
    pub(crate) fn ask(
        &mut self,
        request: &Request,
        timeout: Duration,
    ) -> Result<Reply, FrameError> {
        self.0.set_read_timeout(Some(timeout))?;
        self.tell(request, timeout)?;
        read_frame(&mut self.0)
    }

    /// Sends a request and waits for nothing.
    pub(crate) fn tell(&mut self, request: &Request, timeout: Duration) -> io::Result<()> {
        self.0.set_write_timeout(Some(timeout))?;
        self.0.write_all(&encode(request))
    }
}

/// Whether an error means that the worker is there and too busy, or stopped, to answer.
pub(crate) fn is_silence(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
    )
}

/// Whether an error from [`Connection::open`] means that no worker serves this socket.
pub(crate) fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused
    )
}

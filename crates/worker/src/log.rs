//! The log: a small file that never fills a disk.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

/// A log larger than this is begun anew; the old one is kept once, beside it.
const LARGEST: u64 = 256 << 10;

/// At most this many lines a second are written; a trouble that repeats says no more.
const LINES_A_SECOND: u32 = 10;

/// Starts logging: to standard error in the foreground, else to the file.
pub(crate) fn start(file: &Path, level: &str, foreground: bool) {
    let filter = EnvFilter::try_new(level).unwrap_or_else(|_| EnvFilter::new("warn"));
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(false);
    let started = if foreground {
        builder.with_writer(io::stderr).try_init()
    } else {
        let log = Log(Mutex::new(State::new(file.to_owned())));
        builder.with_writer(log).try_init()
    };
    // A second start within one process (tests) keeps the first.
    drop(started);
}

struct Log(Mutex<State>);

struct State {
    path: PathBuf,
    second: Instant,
    lines: u32,
}

impl State {
    fn new(path: PathBuf) -> Self {
        Self {
            path,
            second: Instant::now(),
            lines: 0,
        }
    }

    /// The file for one line; nothing when there were too many or it cannot be opened.
    fn open(&mut self) -> Option<File> {
        if self.second.elapsed() > Duration::from_secs(1) {
            self.second = Instant::now();
            self.lines = 0;
        }
        self.lines += 1;
        if self.lines > LINES_A_SECOND {
            return None;
        }
        let options = || {
            let mut options = OpenOptions::new();
            options.append(true).create(true).mode(0o600);
            options
        };
        let file = options().open(&self.path).ok()?;
        if file.metadata().ok()?.len() < LARGEST {
            return Some(file);
        }
        let mut old = self.path.clone().into_os_string();
        old.push(".1");
        std::fs::rename(&self.path, old).ok()?;
        options().open(&self.path).ok()
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Line;

    fn make_writer(&'a self) -> Line {
        let mut state = self
            .0
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        Line(state.open())
    }
}

/// Where one line goes.
struct Line(Option<File>);

impl Write for Line {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        if let Some(file) = &mut self.0 {
            // A full disk is no reason to complain about the log.
            let _ = file.write(buffer);
        }
        Ok(buffer.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeating_trouble_writes_few_lines() {
        let dir = tempfile::tempdir().expect("tempdir");
        let mut state = State::new(dir.path().join("log"));
        let opened = (0..1000).filter(|_| state.open().is_some()).count();
        assert!(opened < 100, "{opened}");
    }

    #[test]
    fn a_large_log_is_begun_anew() {
        let dir = tempfile::tempdir().expect("tempdir");
        let path = dir.path().join("log");
        std::fs::write(&path, vec![b'x'; LARGEST as usize]).expect("written");
        let file = State::new(path).open().expect("a fresh file");
        assert_eq!(file.metadata().expect("metadata").len(), 0);
        assert!(dir.path().join("log.1").exists());
    }

    #[test]
    fn a_log_that_cannot_be_written_is_no_error() {
        let mut state = State::new(PathBuf::from("/nonexistent/dir/log"));
        let mut line = Line(state.open());
        assert_eq!(line.write(b"text").expect("ignored"), 4);
    }
}

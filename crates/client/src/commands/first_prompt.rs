//! The word to the worker that a shell is about to show its first prompt.
//!
//! The scripts tell it by a process in the background, for which a large shell takes milliseconds before
//! the prompt stands. `tabsense init` runs in the same directory anyway, so where a worker is there it tells
//! that, and the script, which reads whose start it was, need not.

use std::io::IsTerminal;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::Duration;

use rustix::fs::FileType;
use tabsense_config::{Paths, was_imported};
use tabsense_protocol::request::Prompt;
use tabsense_protocol::{Request, request};

use crate::cli::ShellName;
use crate::hook::{connect, is_paused};
use crate::records;

/// A worker whose socket is full is told by the script, in the background.
const LIMIT: Duration = Duration::from_millis(5);

/// Tells the worker, and gives the shell's process id. `None`: nothing was told, and the script does it.
///
/// Nothing is started, and a shell whose own history has not been taken over tells it by itself: only the
/// script knows where that history is, and whether there shall be one.
pub(super) fn tell(shell: ShellName) -> Option<u32> {
    if !is_read_by_a_shell() {
        return None;
    }
    let paths = Paths::from_env().ok().filter(|paths| !is_paused(paths))?;
    if !was_imported(&paths.imported(), shell.name()) {
        return None;
    }
    let parent = rustix::process::getppid()?;
    let prompt = Prompt {
        shell: records::shell(shell.name().as_bytes()).into(),
        cwd: directory()?.into_os_string().into_vec(),
        home: paths.home.clone().into_os_string().into_vec(),
        ..Prompt::default()
    };
    let request = Request::new(Vec::new(), request::Body::Prompt(prompt));
    connect(&paths).ok()?.tell(&request, LIMIT).ok()?;
    u32::try_from(parent.as_raw_nonzero().get()).ok()
}

/// Whether this is the line in an rc file: a shell at a terminal reads what is printed. What a person has
/// written to a file, or looks at, is always the same.
fn is_read_by_a_shell() -> bool {
    let is_pipe = rustix::fs::fstat(std::io::stdout())
        .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Fifo);
    is_pipe && std::io::stdin().is_terminal()
}

/// The working directory as the shell writes it, which may lead over links.
fn directory() -> Option<PathBuf> {
    let here = std::fs::metadata(".").ok()?;
    std::env::var_os("PWD")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
        .filter(|path| {
            std::fs::metadata(path)
                .is_ok_and(|there| (there.dev(), there.ino()) == (here.dev(), here.ino()))
        })
        .or_else(|| std::env::current_dir().ok())
}

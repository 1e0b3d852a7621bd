//! How much later a shell's first prompt stands: each installed shell is started in a pseudo-terminal,
//! without our line in its rc file and with it, in turn.

use std::fs::File;
use std::io::Read;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{ioctl_tiocsctty, setsid};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::home::{Home, io};
use crate::samples::{Row, Samples};
use crate::{Effort, Error, Options};

/// What the prompt is in all rc files here.
const PROMPT: &[u8] = b"READY> ";

/// The stages of each row: without us, with us.
const BARE: &str = "bare";
const WITH: &str = "with tabsense";

/// Starts that are not counted: they write what a shell keeps, such as zsh's list of completions.
const WARM_UP: usize = 3;

/// A shell that shows no prompt for so long is not measured.
const LIMIT: Timespec = Timespec {
    tv_sec: 10,
    tv_nsec: 0,
};

/// Between two starts: what the last one left in the background has ended.
const PAUSE: Duration = Duration::from_millis(30);

/// Where distributions put bash-completion.
const BASH_COMPLETION: &str = "/usr/share/bash-completion/bash_completion";

/// A shell and what its rc file holds.
struct Setup {
    scenario: &'static str,
    shell: &'static str,
    arguments: &'static [&'static str],
    /// The rc file's place in the shell's directory of settings.
    file: &'static str,
    rc: &'static str,
    init: &'static str,
    /// A file without which there is nothing to measure.
    needs: Option<&'static str>,
}

const SETUPS: [Setup; 4] = [
    Setup {
        scenario: "prompt-zsh",
        shell: "zsh",
        arguments: &["-d", "-i"],
        file: ".zshrc",
        rc: "PS1='READY> '\nautoload -Uz compinit && compinit -u\n",
        init: "eval \"$(\"$TABSENSE_BENCH_CLIENT\" init zsh)\"\n",
        needs: None,
    },
    Setup {
        scenario: "prompt-bash",
        shell: "bash",
        arguments: &["--noprofile", "-i"],
        file: ".bashrc",
        rc: "PS1='READY> '\n",
        init: "eval \"$(\"$TABSENSE_BENCH_CLIENT\" init bash)\"\n",
        needs: None,
    },
    Setup {
        scenario: "prompt-bash-compl",
        shell: "bash",
        arguments: &["--noprofile", "-i"],
        file: ".bashrc",
        rc: "PS1='READY> '\n. /usr/share/bash-completion/bash_completion\n",
        init: "eval \"$(\"$TABSENSE_BENCH_CLIENT\" init bash)\"\n",
        needs: Some(BASH_COMPLETION),
    },
    Setup {
        scenario: "prompt-fish",
        shell: "fish",
        arguments: &["-i"],
        file: ".config/fish/config.fish",
        rc: "function fish_prompt; echo -n 'READY> '; end\n",
        init: "$TABSENSE_BENCH_CLIENT init fish | source\n",
        needs: None,
    },
];

/// Rows of each shell that is installed: `bare`, `with tabsense`, and `added`, which is how much later each
/// percentile comes.
pub(crate) fn measure(options: &Options) -> Result<Vec<Row>, Error> {
    let rounds = match options.effort {
        Effort::Full => 60,
        Effort::Quick => 5,
    };
    let home = Home::new(options, "off")?;
    home.tabsense(&["worker", "start"])?;
    let mut rows = Vec::new();
    for setup in SETUPS {
        if setup.needs.is_some_and(|file| !Path::new(file).exists()) || !is_installed(setup.shell) {
            continue;
        }
        let bare = settings(&home, &setup, BARE, "")?;
        let with = settings(&home, &setup, WITH, setup.init)?;
        let mut samples = Samples::default();
        for round in 0..WARM_UP + rounds {
            for (stage, directory) in [(BARE, &bare), (WITH, &with)] {
                let micros = start(&home, &setup, directory, &options.client)?;
                if round >= WARM_UP {
                    samples.add(stage, micros);
                }
            }
        }
        let mut measured = samples.rows(setup.scenario);
        measured.extend(added(&measured));
        rows.extend(measured);
    }
    Ok(rows)
}

fn is_installed(shell: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| directory.join(shell).is_file())
}

/// What comes on top, from the rows without us and with us.
fn added(rows: &[Row]) -> Option<Row> {
    let [bare, with] = rows else { return None };
    Some(Row {
        scenario: with.scenario.clone(),
        model: false,
        stage: "added".to_owned(),
        n: with.n,
        p50_ms: with.p50_ms - bare.p50_ms,
        p95_ms: with.p95_ms - bare.p95_ms,
        p99_ms: with.p99_ms - bare.p99_ms,
    })
}

/// A directory with the rc file.
fn settings(home: &Home<'_>, setup: &Setup, stage: &str, init: &str) -> Result<PathBuf, Error> {
    let directory = home.path(setup.scenario).join(stage.replace(' ', "-"));
    let file = directory.join(setup.file);
    let parent = file.parent().unwrap_or(&directory);
    std::fs::create_dir_all(parent).map_err(io(parent.display()))?;
    std::fs::write(&file, [setup.rc, init].concat()).map_err(io(file.display()))?;
    Ok(directory)
}

/// Starts the shell, waits for its first prompt and ends it. Microseconds.
fn start(home: &Home<'_>, setup: &Setup, settings: &Path, client: &Path) -> Result<u64, Error> {
    let (ours, theirs) = terminal().map_err(|error| io("pseudo-terminal")(error.into()))?;
    let theirs = File::from(theirs);
    let copy = || {
        let copy = theirs.try_clone().map_err(io("pseudo-terminal"))?;
        Ok(Stdio::from(copy))
    };
    let rc = settings.join(setup.file);
    let mut command = Command::new(setup.shell);
    if setup.shell == "bash" {
        command.arg("--rcfile").arg(&rc);
    }
    home.surround(&mut command)
        .args(setup.arguments)
        .env("TABSENSE_BENCH_CLIENT", client)
        .env("ZDOTDIR", settings)
        .env("XDG_CONFIG_HOME", settings.join(".config"))
        .env("TERM", "xterm-256color")
        .env("LANG", "C.UTF-8")
        .stdin(copy()?)
        .stdout(copy()?)
        .stderr(copy()?);
    own_terminal(&mut command);
    let begun = Instant::now();
    let mut child = command.spawn().map_err(io(setup.shell))?;
    drop((command, theirs));
    let seen = wait_for_prompt(&mut File::from(ours));
    let micros = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX);
    end(&mut child);
    match seen.map_err(io(setup.shell))? {
        Ok(()) => Ok(micros),
        Err(said) => Err(Error::Failed {
            what: format!("{} {}", setup.shell, setup.arguments.join(" ")),
            said: format!("no prompt: {}", said.escape_ascii()),
        }),
    }
}

/// Both ends of a new pseudo-terminal.
fn terminal() -> rustix::io::Result<(OwnedFd, OwnedFd)> {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&ours)?;
    unlockpt(&ours)?;
    let size = Winsize {
        ws_row: 24,
        ws_col: 80,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(&ours, size)?;
    let name = ptsname(&ours, Vec::new())?;
    let flags = rustix::fs::OFlags::RDWR | rustix::fs::OFlags::NOCTTY | rustix::fs::OFlags::CLOEXEC;
    let theirs = rustix::fs::open(&*name, flags, rustix::fs::Mode::empty())?;
    Ok((ours, theirs))
}

/// Makes the terminal on standard input the program's own, as a terminal window does.
#[expect(
    unsafe_code,
    reason = "a session can only be begun between fork and exec"
)]
fn own_terminal(command: &mut Command) {
    // SAFETY: two system calls, which allocate nothing and take no lock; standard input is open.
    unsafe {
        command.pre_exec(|| {
            setsid()?;
            ioctl_tiocsctty(BorrowedFd::borrow_raw(0))?;
            Ok(())
        });
    }
}

/// Reads until the prompt stands. Gives what was said instead when it does not come.
fn wait_for_prompt(terminal: &mut File) -> std::io::Result<Result<(), Vec<u8>>> {
    let mut seen = Vec::new();
    let mut buffer = [0; 4096];
    while !seen.windows(PROMPT.len()).any(|part| part == PROMPT) {
        let mut fds = [PollFd::new(terminal, PollFlags::IN)];
        if poll(&mut fds, Some(&LIMIT))? == 0 {
            return Ok(Err(seen));
        }
        match terminal.read(&mut buffer) {
            // The shell has ended: Linux says so by an error.
            Ok(0) | Err(_) => return Ok(Err(seen)),
            Ok(count) => seen.extend_from_slice(&buffer[..count]),
        }
    }
    Ok(Ok(()))
}

fn end(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
    std::thread::sleep(PAUSE);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_is_seen_and_an_end_without_one_is_told() {
        let (ours, theirs) = terminal().expect("a pseudo-terminal");
        let mut writer = File::from(theirs);
        let mut reader = File::from(ours);
        std::io::Write::write_all(&mut writer, b"hello READY> ").expect("write");
        assert_eq!(wait_for_prompt(&mut reader).expect("read"), Ok(()));
        std::io::Write::write_all(&mut writer, b"bye").expect("write");
        drop(writer);
        assert_eq!(
            wait_for_prompt(&mut reader).expect("read"),
            Err(b"bye".to_vec())
        );
    }

    #[test]
    fn what_is_added_is_the_difference_of_each_percentile() {
        let mut samples = Samples::default();
        samples.add(BARE, 4000);
        samples.add(WITH, 10_500);
        let row = added(&samples.rows("x")).expect("a row");
        assert_eq!((row.stage.as_str(), row.n, row.p50_ms), ("added", 1, 6.5));
    }
}

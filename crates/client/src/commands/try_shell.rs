//! `tabsense try`: a shell with everything on, in a home that is thrown away afterwards.
//!
//! The home holds links to what is in the real one, so that paths work; rc files, history, socket
//! and store are its own. The user's history is only read.

use std::ffi::OsStr;
use std::fs::{DirBuilder, Permissions};
use std::io::{ErrorKind, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use tabsense_config::Paths;
use tabsense_protocol::request::Import;

use super::{Outcome, history, init, pause, print, worker};
use crate::cli::ShellName;
use crate::failure::Failure;

pub(super) fn run(shell: Option<ShellName>) -> Outcome {
    let shell = match shell {
        Some(shell) => shell,
        None => own_shell()?,
    };
    let real = dirs::home_dir().ok_or_else(|| Failure::new("no home directory"))?;
    let places = history::places();
    let home = Throwaway::create(&real)?;
    let end = Ends::register()?;
    home.move_in(&real);
    let paths = Paths::from_env()?;
    write_rc(&home.0, shell)?;
    let outcome = play(&paths, &home.0, shell, places, end);
    // A prompt hook that is still on its way must not start another worker.
    let _ = pause::pause();
    worker::stop(&paths)?;
    drop(home);
    outcome
}

/// The signals that would end this process: whatever ends the shell must leave time to clean up
/// behind it.
struct Ends(UnixStream);

impl Ends {
    fn register() -> Result<Self, Failure> {
        // The keyboard's signals are the shell's own business.
        let ignored = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGQUIT] {
            signal_hook::flag::register(signal, Arc::clone(&ignored))?;
        }
        let (writer, reader) = UnixStream::pair()?;
        for signal in [SIGHUP, SIGTERM] {
            signal_hook::low_level::pipe::register(signal, writer.try_clone()?)?;
        }
        Ok(Self(reader))
    }

    /// Passes them on to the shell as a hang-up, which ends an interactive shell and its jobs.
    fn pass_on(mut self, shell: &Arc<Mutex<Option<Pid>>>) {
        let shell = Arc::clone(shell);
        std::thread::spawn(move || {
            while self.0.read_exact(&mut [0]).is_ok() {
                let shell = shell.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(shell) = *shell {
                    let _ = kill_process(shell, Signal::HUP);
                }
            }
        });
    }
}

fn play(
    paths: &Paths,
    home: &Path,
    shell: ShellName,
    places: Vec<tabsense_protocol::request::Variable>,
    end: Ends,
) -> Outcome {
    let import = Import {
        source: "auto".to_owned(),
        file: Vec::new(),
        variables: places,
    };
    let known: u64 = history::import_files(paths, import)?
        .iter()
        .map(|file| file.added)
        .sum();
    print(format!(
        "tabsense: {} with ranked TAB, on {known} commands of your history. \
         Nothing is kept; leave with `exit`.\n",
        shell.name()
    ))?;
    let mut command = Command::new(shell.name());
    match shell {
        ShellName::Zsh => command.args(["-d", "-i"]),
        ShellName::Fish => command.arg("-i"),
        ShellName::Bash => command.arg("--rcfile").arg(home.join(".bashrc")).arg("-i"),
    };
    let mut child = command.spawn().map_err(|error| {
        Failure::new(format!("could not start {}: {error}", shell.name()))
            .hint("name another: `tabsense try bash`")
    })?;
    let pid = Pid::from_child(&child);
    let alive = Arc::new(Mutex::new(Some(pid)));
    end.pass_on(&alive);
    // Its number stays its own until it has been waited for.
    let _ = waitid(
        WaitId::Pid(pid),
        WaitIdOptions::EXITED | WaitIdOptions::NOWAIT,
    );
    *alive.lock().unwrap_or_else(PoisonError::into_inner) = None;
    let code = child
        .wait()?
        .code()
        .and_then(|code| u8::try_from(code).ok());
    Ok(ExitCode::from(code.unwrap_or(1)))
}

/// The shell that `SHELL` names.
fn own_shell() -> Result<ShellName, Failure> {
    let shell = std::env::var_os("SHELL").unwrap_or_default();
    match Path::new(&shell).file_name().and_then(OsStr::to_str) {
        Some("zsh") => Ok(ShellName::Zsh),
        Some("fish") => Ok(ShellName::Fish),
        Some("bash") => Ok(ShellName::Bash),
        _ => Err(Failure::new(format!(
            "SHELL is {shell:?}, which is none of zsh, fish and bash"
        ))
        .hint("name one: `tabsense try zsh`")),
    }
}

/// A home that is removed with everything in it.
struct Throwaway(PathBuf);

impl Throwaway {
    fn create(real: &Path) -> Result<Self, Failure> {
        let base = std::env::temp_dir();
        let dir = (0..100)
            .map(|n| base.join(format!("tabsense-try-{}-{n}", std::process::id())))
            .find_map(|dir| match DirBuilder::new().mode(0o700).create(&dir) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => None,
                made => Some(made.map(|()| dir)),
            })
            .ok_or_else(|| Failure::new("no free name for a throw-away home"))?
            .map_err(|error| Failure::new(format!("{}: {error}", base.display())))?;
        let home = Self(dir);
        for sub in [".run", ".data", ".config", ".cache", ".state"] {
            DirBuilder::new().mode(0o700).create(home.0.join(sub))?;
        }
        // Without these, fish starts a program that reads all manual pages and outlives the shell.
        for place in [".data", ".cache"] {
            std::fs::create_dir_all(home.0.join(place).join("fish/generated_completions"))?;
        }
        for entry in std::fs::read_dir(real).into_iter().flatten().flatten() {
            let name = entry.file_name();
            if !name.as_bytes().starts_with(b".") {
                let _ = std::os::unix::fs::symlink(entry.path(), home.0.join(name));
            }
        }
        Ok(home)
    }

    /// Makes it the home of this process and of all it starts.
    fn move_in(&self, real: &Path) {
        copy_history(real, &self.0);
        let set = |name: &str, value: &Path| set_variable(name, Some(value));
        set("HOME", &self.0);
        set("ZDOTDIR", &self.0);
        set("XDG_RUNTIME_DIR", &self.0.join(".run"));
        set("XDG_DATA_HOME", &self.0.join(".data"));
        set("XDG_CONFIG_HOME", &self.0.join(".config"));
        set("XDG_CACHE_HOME", &self.0.join(".cache"));
        set("XDG_STATE_HOME", &self.0.join(".state"));
        set("TABSENSE_TRY", Path::new("1"));
        set_variable("HISTFILE", None);
    }
}

impl Drop for Throwaway {
    fn drop(&mut self) {
        // Links are removed, not followed.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[expect(unsafe_code, reason = "the environment is what makes the home a home")]
fn set_variable(name: &str, value: Option<&Path>) {
    // SAFETY: no other thread runs: the signal handlers only set a flag.
    unsafe {
        match value {
            Some(value) => std::env::set_var(name, value),
            None => std::env::remove_var(name),
        }
    }
}

/// So that the arrow keys work as well; what the shell appends goes to the copies.
fn copy_history(real: &Path, home: &Path) {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let histfile = variable("HISTFILE");
    let zdotdir = variable("ZDOTDIR").unwrap_or_else(|| real.to_owned());
    let data = variable("XDG_DATA_HOME").unwrap_or_else(|| real.join(".local/share"));
    let zsh = histfile
        .clone()
        .unwrap_or_else(|| zdotdir.join(".zsh_history"));
    let bash = histfile.unwrap_or_else(|| real.join(".bash_history"));
    let fish = home.join(".data/fish");
    let _ = std::fs::create_dir_all(&fish);
    for (from, to) in [
        (zsh, home.join(".zsh_history")),
        (bash, home.join(".bash_history")),
        (data.join("fish/fish_history"), fish.join("fish_history")),
    ] {
        if std::fs::copy(from, &to).is_ok() {
            let _ = std::fs::set_permissions(&to, Permissions::from_mode(0o600));
        }
    }
}

fn write_rc(home: &Path, shell: ShellName) -> Result<(), Failure> {
    let (file, before) = match shell {
        ShellName::Zsh => (home.join(".zshrc"), ZSHRC),
        ShellName::Bash => (home.join(".bashrc"), BASHRC),
        ShellName::Fish => (home.join(".config/fish/config.fish"), ""),
    };
    if let Some(parent) = file.parent() {
        std::fs::create_dir_all(parent)?;
    }
    let text = [before.as_bytes(), &init::script(shell, None)?].concat();
    std::fs::write(&file, text)
        .map_err(|error| Failure::new(format!("{}: {error}", file.display())))
}

const ZSHRC: &str = "\
HISTFILE=$HOME/.zsh_history HISTSIZE=50000 SAVEHIST=50000
setopt inc_append_history extended_history
autoload -Uz compinit && compinit -u
zstyle ':completion:*' menu select
PROMPT='%F{cyan}%~%f %# '
";

const BASHRC: &str = "\
HISTFILE=$HOME/.bash_history HISTSIZE=50000 HISTFILESIZE=50000
PS1='\\[\\e[36m\\]\\w\\[\\e[0m\\] \\$ '
for __tabsense_try in /usr/share/bash-completion/bash_completion \\
    /opt/homebrew/etc/profile.d/bash_completion.sh /usr/local/etc/profile.d/bash_completion.sh; do
    if [ -r \"$__tabsense_try\" ]; then . \"$__tabsense_try\"; break; fi
done
unset __tabsense_try
";

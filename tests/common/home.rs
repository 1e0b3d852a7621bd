//! A home directory of its own for each test, with all XDG places inside.

use super::options::{Client, Options};
use super::{Shell, Terminal, Worker, eventually, fake};
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Prints its arguments as hex to a file, one line a call, and their number to the terminal.
const ARGDUMP: &str = r#"#!/bin/sh
line=
for argument; do
  hex=$(printf '%s.' "$argument" | od -An -v -tx1 | tr -d ' \n')
  line="$line ${hex%2e}"
done
printf '[%s\n' "$line]" >> '@OUT@'
echo "argdump: $#"
"#;

/// A throw-away home directory. Dropping it ends every process that was started inside.
pub(crate) struct Home {
    directory: tempfile::TempDir,
    shell: Shell,
    program: PathBuf,
}

impl Home {
    /// A fresh home for `shell`. `None` when the shell is not installed.
    pub(crate) fn new(shell: Shell) -> Option<Self> {
        let program = shell.program()?;
        let directory = tempfile::Builder::new()
            .prefix("ts-")
            .tempdir()
            .expect("temporary directory");
        let home = Self {
            directory,
            shell,
            program,
        };
        for part in [
            "home/work",
            "home/.config/fish",
            "home/.local/share",
            "home/.local/state",
            "bin",
            "run",
            "calls",
        ] {
            fs::create_dir_all(home.root().join(part))
                .expect("create a directory of the test home");
        }
        fs::set_permissions(home.runtime(), fs::Permissions::from_mode(0o700))
            .expect("mode of the runtime directory");
        let out = home.root().join("argdump.out");
        home.program(
            "argdump",
            &ARGDUMP.replace("@OUT@", &out.display().to_string()),
        );
        home.program("tabsense-fake", &fake::script(home.root()));
        Some(home)
    }

    /// The directory that holds everything of this test.
    pub(crate) fn root(&self) -> &Path {
        self.directory.path()
    }

    /// `$HOME`.
    pub(crate) fn home(&self) -> PathBuf {
        self.root().join("home")
    }

    /// Where shells start, below `$HOME`.
    pub(crate) fn work(&self) -> PathBuf {
        self.home().join("work")
    }

    /// `$XDG_RUNTIME_DIR`.
    pub(crate) fn runtime(&self) -> PathBuf {
        self.root().join("run")
    }

    pub(crate) fn shell(&self) -> Shell {
        self.shell
    }

    /// The client under test.
    pub(crate) fn client(&self) -> PathBuf {
        PathBuf::from(env!("CARGO_BIN_EXE_tabsense"))
    }

    /// Writes an executable script onto the shells' PATH.
    pub(crate) fn program(&self, name: &str, text: &str) {
        let path = self.root().join("bin").join(name);
        fs::write(&path, text).expect("write a program of the test home");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("make it executable");
    }

    /// A client that hangs when a part of the script is asked for. Gives the file that it makes then, and whose
    /// end it waits for, and the line that puts it in place; `$fast` is the client before.
    pub(crate) fn slow_client(&self) -> (PathBuf, String) {
        let held = self.root().join("held");
        let file = held.display();
        self.program(
            "slow",
            &format!(
                "#!/bin/sh\n[ \"$1\" = init ] || exit 3\n: > '{file}'\nwhile [ -e '{file}' ]; do sleep 0.05; done\n"
            ),
        );
        let slow = self.root().join("bin/slow");
        let line = format!("fast=$TABSENSE_BIN; TABSENSE_BIN={}", slow.display());
        (held, line)
    }

    /// Creates files below the work directory; a name that ends in `/` becomes a directory.
    pub(crate) fn files<N: AsRef<[u8]>>(&self, names: &[N]) {
        for name in names {
            let name = name.as_ref();
            let path = self.work().join(std::ffi::OsStr::from_bytes(name));
            if name.ends_with(b"/") {
                fs::create_dir_all(&path).expect("create a directory");
                continue;
            }
            fs::create_dir_all(path.parent().expect("a parent"))
                .expect("create the parent directory");
            fs::write(&path, b"").expect("create a file");
        }
    }

    /// Writes a text file below `$HOME`.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.home().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("create the parent directory");
        fs::write(path, text).expect("write a file of the test home");
    }

    /// The environment of everything that runs in this home: nothing of the caller's is left.
    pub(crate) fn environment(&self) -> Vec<(String, OsString)> {
        let home = self.home();
        let mut path = self.root().join("bin").into_os_string();
        path.push(":/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin");
        vec![
            ("HOME".into(), home.clone().into()),
            ("ZDOTDIR".into(), home.clone().into()),
            ("XDG_CONFIG_HOME".into(), home.join(".config").into()),
            ("XDG_DATA_HOME".into(), home.join(".local/share").into()),
            ("XDG_STATE_HOME".into(), home.join(".local/state").into()),
            ("XDG_CACHE_HOME".into(), home.join(".cache").into()),
            ("XDG_RUNTIME_DIR".into(), self.runtime().into()),
            ("TMPDIR".into(), self.root().into()),
            ("PATH".into(), path),
            ("TERM".into(), "xterm-256color".into()),
            ("LANG".into(), "C.UTF-8".into()),
            ("SHELL".into(), self.program.clone().into()),
            ("USER".into(), "tester".into()),
            ("LOGNAME".into(), "tester".into()),
        ]
    }

    /// Starts the shell in a terminal and waits for its first numbered prompt.
    #[track_caller]
    pub(crate) fn start(&self, options: &Options) -> Terminal {
        let mut terminal = self.start_unattended(options);
        terminal.wait_prompt();
        terminal
    }

    /// Starts the shell in a terminal without waiting for a prompt (for rc files with their own).
    #[track_caller]
    pub(crate) fn start_unattended(&self, options: &Options) -> Terminal {
        self.start_shell(self.shell, &self.program, options)
    }

    /// As [`Home::start_unattended`], with another shell than the home's own; `program` is where it is.
    #[track_caller]
    pub(crate) fn start_shell(&self, shell: Shell, program: &Path, options: &Options) -> Terminal {
        // Written once: another shell of this test may be reading it.
        let rc = self.rc_text(shell, options);
        let known = fs::read_to_string(self.home().join(shell.rc_file()));
        if known.ok().as_ref() != Some(&rc) {
            self.write(shell.rc_file(), &rc);
        }
        self.without_model();
        if let Client::Fake(fake) = options.client {
            self.answer(fake);
        }
        let args = options
            .args
            .clone()
            .unwrap_or_else(|| shell.arguments(&self.home()));
        let mut command = portable_pty::CommandBuilder::new(program);
        command.args(args);
        command.env_clear();
        for (key, value) in self.environment() {
            command.env(key, value);
        }
        for (key, value) in &options.env {
            match value {
                Some(value) => command.env(key, value),
                None => command.env_remove(key),
            }
        }
        command.cwd(options.cwd.clone().unwrap_or_else(|| self.work()));
        Terminal::spawn(command)
    }

    fn rc_text(&self, shell: Shell, options: &Options) -> String {
        let init = match options.client {
            Client::Bare => String::new(),
            Client::Fake(_) => shell.source_line(&self.root().join("bin/tabsense-fake")),
            Client::Real => shell.init_line(&self.client()),
        };
        let prompt = shell.prompt_lines();
        match &options.rc {
            Some(rc) => rc.replace("{init}", &init).replace("{prompt}", prompt),
            None => format!("{prompt}{}{init}{}", options.before, options.after),
        }
    }

    /// Runs the client of this home to its end.
    pub(crate) fn tabsense(&self, args: &[&str]) -> std::process::Output {
        self.command(&self.client())
            .args(args)
            .output()
            .expect("run tabsense")
    }

    /// A program with this home's environment, in the work directory.
    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .envs(self.environment())
            .current_dir(self.work());
        command
    }

    /// Turns the model off where the test has no settings of its own.
    fn without_model(&self) {
        let settings = ".config/tabsense/config.toml";
        if !self.home().join(settings).exists() {
            self.write(settings, "[complete]\nmodel = \"off\"\n");
        }
    }

    /// The worker of this home, started and ready, ranking by statistics alone unless the test has
    /// said otherwise: what the model prefers may change with each training.
    #[track_caller]
    pub(crate) fn worker(&self) -> Worker<'_> {
        self.without_model();
        Worker::start(self)
    }

    /// What every call of `argdump` so far was given: calls, arguments, bytes.
    pub(crate) fn arguments(&self) -> Vec<Vec<Vec<u8>>> {
        let text = fs::read_to_string(self.root().join("argdump.out")).unwrap_or_default();
        text.split_inclusive('\n')
            .filter_map(|line| line.strip_prefix('[')?.strip_suffix("]\n"))
            .map(parse_call)
            .collect()
    }

    /// Waits for one more call of `argdump` than `before` and gives its arguments.
    #[track_caller]
    pub(crate) fn next_arguments(&self, before: usize) -> Vec<Vec<u8>> {
        eventually("argdump is called", || {
            self.arguments().into_iter().nth(before)
        })
    }

    /// Types `line` in the shell without the product and gives what `argdump` got from it.
    #[track_caller]
    pub(crate) fn oracle(&self, options: &Options, keys: &[u8]) -> Vec<Vec<u8>> {
        let bare = Options {
            client: Client::Bare,
            ..options.clone()
        };
        let mut terminal = self.start(&bare);
        let before = self.arguments().len();
        terminal.press(keys);
        terminal.press(super::ENTER);
        self.next_arguments(before)
    }
}

fn parse_call(line: &str) -> Vec<Vec<u8>> {
    // Each argument follows one blank, so an empty argument is an empty piece.
    line.split(' ').skip(1).map(unhex).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).expect("a hex digit") as u8;
    text.as_bytes()
        .chunks(2)
        .map(|pair| digit(pair[0]) << 4 | digit(pair[1]))
        .collect()
}

impl Drop for Home {
    fn drop(&mut self) {
        super::worker::end_processes(self);
    }
}

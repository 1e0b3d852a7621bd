//! The shells under test: where they are, how they start, how their rc file begins.

use std::path::{Path, PathBuf};

/// A shell under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shell {
    Zsh,
    Bash,
    Fish,
}

impl Shell {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Zsh => "zsh",
            Self::Bash => "bash",
            Self::Fish => "fish",
        }
    }

    /// The shell's program. `None` when it is not installed, after saying so; in CI that is a failure.
    pub(crate) fn program(self) -> Option<PathBuf> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let found = std::env::split_paths(&path)
            .map(|directory| directory.join(self.name()))
            .find(|program| program.is_file());
        if found.is_none() {
            let name = self.name();
            assert!(
                std::env::var_os("CI").is_none(),
                "{name} is not installed (hint: the test command installs it)"
            );
            eprintln!("skipped: {name} is not installed");
        }
        found
    }

    /// The files of the source tree that are read at the start, in their order.
    pub(crate) fn scripts(self) -> [PathBuf; 2] {
        match self {
            Self::Zsh | Self::Bash => ["tabsense", "tabsense-hooks"],
            Self::Fish => ["tabsense", "tabsense-do"],
        }
        .map(|part| self.script(part))
    }

    /// The files that are read when they are needed first.
    pub(crate) fn parts(self) -> Vec<PathBuf> {
        match self {
            Self::Zsh => &["tabsense-tab", "tabsense-do"][..],
            Self::Bash => &["tabsense-tab", "tabsense-tab-order", "tabsense-do"],
            Self::Fish => &[],
        }
        .iter()
        .map(|part| self.script(part))
        .collect()
    }

    fn script(self, part: &str) -> PathBuf {
        let name = format!("{part}.{}", self.name());
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("shell")
            .join(name)
    }

    /// Everything that this shell may read, as text.
    pub(crate) fn script_text(self) -> String {
        let files = self.scripts().into_iter().chain(self.parts());
        let read = |path| std::fs::read_to_string(path).expect("a part of the script");
        files.map(read).collect()
    }

    /// A line that reads the script from the source tree, as at a start.
    pub(crate) fn source_scripts(self) -> String {
        let source = |path: PathBuf| format!("source '{}'", path.display());
        self.scripts().map(source).join("; ")
    }

    /// The rc file's place below the home directory.
    pub(crate) fn rc_file(self) -> &'static str {
        match self {
            Self::Zsh => ".zshrc",
            Self::Bash => ".bashrc",
            Self::Fish => ".config/fish/config.fish",
        }
    }

    /// Arguments for an interactive shell that reads only the rc file of its test home.
    pub(super) fn arguments(self, home: &Path) -> Vec<String> {
        match self {
            Self::Zsh => vec!["-d".into(), "-i".into()],
            Self::Bash => {
                let rc = home.join(self.rc_file()).display().to_string();
                vec!["--noprofile".into(), "--rcfile".into(), rc, "-i".into()]
            }
            Self::Fish => vec!["-i".into()],
        }
    }

    /// Rc lines that number the prompts `p1> `, `p2> ` ..., so that a new one is told from an old one.
    pub(super) fn prompt_lines(self) -> &'static str {
        match self {
            Self::Zsh => {
                "typeset -gi __test_prompt=0\n\
                 precmd() { __test_prompt=$(( __test_prompt + 1 )); PS1=\"p$__test_prompt> \"; }\n\
                 autoload -Uz compinit && compinit -u -d ~/.zcompdump\n"
            }
            Self::Bash => {
                "__test_prompt=0\n\
                 PROMPT_COMMAND='__test_prompt=$((__test_prompt + 1)); PS1=\"p$__test_prompt> \"'\n"
            }
            Self::Fish => {
                "set -g fish_greeting\n\
                 set -g __test_prompt 0\n\
                 function __test_count --on-event fish_prompt; set -g __test_prompt (math $__test_prompt + 1); end\n\
                 function fish_prompt; echo -n \"p$__test_prompt> \"; end\n\
                 function fish_right_prompt; end\n\
                 function fish_mode_prompt; end\n\
                 function fish_title; end\n"
            }
        }
    }

    /// The rc line a person writes to turn the product on.
    pub(crate) fn init_line(self, client: &Path) -> String {
        let client = client.display();
        match self {
            Self::Zsh => format!("eval \"$('{client}' init zsh)\"\n"),
            Self::Bash => format!("eval \"$('{client}' init bash)\"\n"),
            Self::Fish => format!("'{client}' init fish | source\n"),
        }
    }

    /// Rc lines that load the script from the source tree with another client program.
    pub(super) fn source_line(self, client: &Path) -> String {
        let (client, script) = (client.display(), self.source_scripts());
        match self {
            Self::Zsh | Self::Bash => format!("TABSENSE_BIN='{client}'\n{script}\n"),
            Self::Fish => format!("set -g TABSENSE_BIN '{client}'\n{script}\n"),
        }
    }
}

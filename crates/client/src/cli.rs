//! The command line as `clap` sees it; completions are generated from it.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};

/// TAB completion ranked by what you do, where you are and what is there.
///
/// Try it without changing anything: `tabsense try`. To keep it, put one line into your shell's rc
/// file: `eval "$(tabsense init zsh)"` (zsh, bash) or `tabsense init fish | source` (fish).
#[derive(Debug, Parser)]
#[command(name = "tabsense", version, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// A supported shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ShellName {
    /// zsh
    Zsh,
    /// fish
    Fish,
    /// bash 4.4 or later
    Bash,
}

impl ShellName {
    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Zsh => "zsh",
            Self::Fish => "fish",
            Self::Bash => "bash",
        }
    }
}

/// What a script leaves out at the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScriptPart {
    /// The order of what TAB offers
    Tab,
    /// Words into commands
    Do,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Open a shell with everything on, on your own history, that leaves nothing behind
    Try {
        /// The shell; yours by default
        shell: Option<ShellName>,
    },
    /// Print the script that turns tabsense on
    Init {
        /// The shell
        shell: ShellName,
        /// Print a part that the script reads when it is needed
        #[arg(long, hide = true)]
        part: Option<ScriptPart>,
    },
    /// Rank the completions of a line
    Complete(CompleteArgs),
    /// Look after the worker
    Worker {
        #[command(subcommand)]
        command: WorkerCommand,
    },
    /// Read a shell's history file, Atuin's or zoxide's database
    Import {
        /// What to read; everything that is found by default
        #[arg(default_value = "auto")]
        source: ImportSource,
        /// The file, when it is not in its usual place
        file: Option<PathBuf>,
    },
    /// Take commands out of the history
    Forget {
        /// The command, exactly as it was typed
        #[arg(required_unless_present = "all")]
        command: Option<OsString>,
        /// Everything that was ever recorded
        #[arg(long, conflicts_with = "command")]
        all: bool,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
    /// Explain
    Why {
        /// Why a command is not in the history, or not as it was typed
        #[arg(long, value_name = "COMMAND")]
        not_recorded: OsString,
    },
    /// Adapt the ranking to you by replaying your history; it also happens by itself once a day
    Adapt {
        /// Go back to the ranking as it came
        #[arg(long)]
        reset: bool,
        /// For programs
        #[arg(long)]
        json: bool,
    },
    /// Stop recording and ranking until `resume`
    Pause,
    /// Go on after `pause`
    Resume,
    /// Show the settings in force, or where they come from
    Config {
        #[command(subcommand)]
        command: Option<ConfigCommand>,
    },
    /// Check every part and say how to mend what fails
    Doctor {
        /// For programs
        #[arg(long)]
        json: bool,
    },
    /// Measure how good the ranking is
    Eval {
        #[command(subcommand)]
        command: EvalCommand,
    },
    /// Measure how fast it is
    Bench {
        /// For programs
        #[arg(long)]
        json: bool,
        /// Fewer requests, small sizes only
        #[arg(long)]
        quick: bool,
        /// Only how much later the first prompt of each shell stands
        #[arg(long)]
        prompts: bool,
        /// A checkpoint's directory
        #[arg(long, default_value = "builtin")]
        model: OsString,
    },
    /// Look after the decision model
    Model {
        #[command(subcommand)]
        command: ModelCommand,
    },
    /// Let the decision model answer questions about a text, for scripts
    Decide {
        /// What is asked about: a text, @FILE, or - for standard input; a JSON list or object is
        /// read as one
        #[arg(long, value_name = "TEXT|@FILE|-", allow_hyphen_values = true)]
        state: OsString,
        /// The questions: {"id": {"type": "choice", "instructions": "…", "criteria": ["…"]}, …}
        #[arg(long, value_name = "FILE")]
        questions: PathBuf,
        /// For programs
        #[arg(long)]
        json: bool,
    },
    /// Say in your own words what you want; prints the command for it and never runs it unasked
    Do(DoArgs),
    /// Take out what init, import and the worker put on this machine
    Uninstall {
        /// Delete the recorded history, too
        #[arg(long)]
        purge: bool,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
    /// Write the completions of this command line into a directory
    #[command(hide = true)]
    Completions {
        /// The directory
        directory: PathBuf,
    },
    /// For the shells' prompt hooks: `prompt --hook`
    #[command(hide = true)]
    Prompt,
}

/// What `tabsense do` tells by its exit status.
const DO_STATUS: &str = "\
Exit status:
  0  what is meant was found (with --run: the command's own status)
  1  an error, 2 a wrong command line
  3  not sure: up to three shortcuts are offered
  4  nothing fits
  5  what is meant cannot be done here
  6  not run: it was declined, nobody was there to ask, or the phrase lacks something
  7  not run: only the shell itself can do it (cd, exec ...); the command is printed

Your own shortcuts go into shortcuts.toml beside the settings (`tabsense config path`).";

#[derive(Debug, clap::Args)]
#[command(after_help = DO_STATUS)]
pub(crate) struct DoArgs {
    /// What you want, in English, Chinese, German, French, Spanish or Japanese
    #[arg(required = true)]
    pub(crate) phrase: Vec<OsString>,
    /// Run it when it is sure: at once if it only reads, else after asking
    #[arg(long)]
    pub(crate) run: bool,
    /// For programs
    #[arg(long, conflicts_with = "run")]
    pub(crate) json: bool,
    /// Tell why
    #[arg(long, conflicts_with = "run")]
    pub(crate) explain: bool,
    /// The shell that the command is for; yours by default
    #[arg(long)]
    pub(crate) shell: Option<ShellName>,
    /// The working directory; the current one by default
    #[arg(long)]
    pub(crate) cwd: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CompleteArgs {
    /// The shell whose syntax the line is in
    #[arg(long)]
    pub(crate) shell: ShellName,
    /// The line
    #[arg(long)]
    pub(crate) line: OsString,
    /// The cursor's offset in characters; the end by default
    #[arg(long)]
    pub(crate) cursor: Option<usize>,
    /// The working directory; the current one by default
    #[arg(long)]
    pub(crate) cwd: Option<PathBuf>,
    /// For programs
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum WorkerCommand {
    /// Start it; TAB does so by itself
    Start,
    /// Stop it
    Stop,
    /// Stop it and start it again
    Restart,
    /// Say how it is
    Status {
        /// For programs
        #[arg(long)]
        json: bool,
    },
    /// Run it here, in the foreground
    Run,
}

/// What can be imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ImportSource {
    /// Everything that is found
    Auto,
    /// `.zsh_history`
    Zsh,
    /// `.bash_history`
    Bash,
    /// `fish_history`
    Fish,
    /// Atuin's `history.db`
    Atuin,
    /// zoxide's `db.zo`
    Zoxide,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ModelCommand {
    /// Show the models on this machine; * marks the one in use
    List {
        /// For programs
        #[arg(long)]
        json: bool,
    },
    /// Show what a checkpoint is
    Info {
        /// A checkpoint's directory, or `builtin`
        model: OsString,
        /// For programs
        #[arg(long)]
        json: bool,
    },
    /// Choose the model that ranks
    Use {
        /// A checkpoint's directory, `builtin`, or `off`
        model: OsString,
    },
    /// Compare a checkpoint with its expected answers, and what can run it with each other
    Verify {
        /// A checkpoint's directory, or `builtin`
        model: OsString,
        /// For programs
        #[arg(long)]
        json: bool,
    },
    /// Write a smaller copy of a checkpoint and say what that changes
    Quantize(QuantizeArgs),
    /// Measure how fast a checkpoint is here
    Bench {
        /// A checkpoint's directory, or `builtin`; the model in use by default
        model: Option<OsString>,
        /// For programs
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct QuantizeArgs {
    /// A checkpoint's directory, or `builtin`
    pub(crate) model: OsString,
    /// The new directory
    pub(crate) out: PathBuf,
    /// Bits of a weight
    #[arg(long, default_value = "8", value_parser = ["8", "4"])]
    pub(crate) bits: String,
    /// Weights that share a scale; `row` for a whole row, the fastest to run
    #[arg(long, default_value = "64")]
    pub(crate) group_size: String,
    /// Matrices to leave as they are: part of a name, * for anything; may be repeated
    #[arg(long, value_name = "PATTERN")]
    pub(crate) keep: Vec<String>,
    /// For programs
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Print where the settings file is
    Path,
    /// Print the page that documents every key
    Reference,
}

#[derive(Debug, Subcommand)]
pub(crate) enum EvalCommand {
    /// Replay histories: JSON lines, one user a line (.gz too)
    History {
        #[command(flatten)]
        file: EvalFile,
        /// Score about so many commands of each user, always the same ones; all by default
        #[arg(long, value_name = "N")]
        sample: Option<usize>,
    },
    /// Rank completion cases: JSON lines, one case a line (.gz too)
    Completion(EvalFile),
    /// Choose shortcuts for phrases: JSON lines, {"text": …, "lang": …, "id": … or null} (.gz too)
    Shortcuts(EvalFile),
}

#[derive(Debug, clap::Args)]
pub(crate) struct EvalFile {
    /// A checkpoint's directory; the model in the settings by default
    #[arg(long)]
    pub(crate) model: Option<PathBuf>,

    /// The file
    pub(crate) file: PathBuf,
    /// For programs
    #[arg(long)]
    pub(crate) json: bool,
}

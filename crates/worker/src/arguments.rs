//! The worker's own command line. People use `tabsense`, which starts this.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// The worker of tabsense; `tabsense worker start` starts it.
#[derive(Debug, Parser)]
#[command(name = "tabsensed", version)]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Task {
    /// Serve the socket
    Run(Run),
    /// Measure how good the ranking is
    #[command(subcommand)]
    Eval(Eval),
    /// Measure how fast it is
    Bench(Bench),
    /// Look at decision models
    #[command(subcommand)]
    Model(ModelTask),
}

#[derive(Debug, Subcommand)]
pub(crate) enum ModelTask {
    /// Tell which checkpoints are on this machine
    List {
        #[command(flatten)]
        shown: Shown,
    },
    /// Tell what a checkpoint is
    Info {
        model: String,
        #[command(flatten)]
        shown: Shown,
    },
    /// Compare a checkpoint with its expected answers, and its backends with each other
    Verify {
        model: String,
        #[command(flatten)]
        shown: Shown,
    },
    /// Write a smaller copy
    Quantize(Quantize),
    /// Measure how fast a checkpoint is
    Bench {
        /// The model in the settings by default
        model: Option<String>,
        #[command(flatten)]
        shown: Shown,
    },
}

/// How a report is shown.
#[derive(Debug, clap::Args)]
pub(crate) struct Shown {
    /// For programs
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Quantize {
    /// 8 or 4
    #[arg(long)]
    pub(crate) bits: u8,
    /// Columns that share a scale; `row` for one scale a row
    #[arg(long)]
    pub(crate) group_size: String,
    /// Matrices to leave as they are
    #[arg(long)]
    pub(crate) keep: Vec<String>,
    #[command(flatten)]
    pub(crate) shown: Shown,
    pub(crate) model: String,
    pub(crate) out: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Bench {
    /// For programs
    #[arg(long)]
    pub(crate) json: bool,
    /// Fewer requests, small sizes only
    #[arg(long)]
    pub(crate) quick: bool,
    /// Only how much later the first prompt of each shell stands
    #[arg(long)]
    pub(crate) prompts: bool,
    /// A checkpoint's directory, or `builtin`
    #[arg(long)]
    pub(crate) model: String,
    /// The client's program
    #[arg(long)]
    pub(crate) client: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Run {
    /// Wait for an older worker that has been told to stop
    #[arg(long)]
    pub(crate) replace: bool,
    /// Take one request from standard input; pass it on when another worker is alive
    #[arg(long)]
    pub(crate) told: bool,
    /// Log to standard error
    #[arg(long)]
    pub(crate) foreground: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Eval {
    /// Replay histories
    History {
        #[command(flatten)]
        file: EvalFile,
        /// Score about so many commands of each user
        #[arg(long)]
        sample: Option<usize>,
    },
    /// Rank completion cases
    Completion(EvalFile),
    /// Choose shortcuts for phrases
    Shortcuts(EvalFile),
}

#[derive(Debug, clap::Args)]
pub(crate) struct EvalFile {
    /// A checkpoint's directory; the model in the settings by default
    #[arg(long)]
    pub(crate) model: Option<PathBuf>,

    /// JSON lines, .gz too
    pub(crate) file: PathBuf,
    /// For programs
    #[arg(long)]
    pub(crate) json: bool,
}

/// Reads the command line; `Err` is the exit status after help or an error was printed.
pub(crate) fn parse() -> Result<Task, ExitCode> {
    match Arguments::try_parse() {
        Ok(arguments) => Ok(arguments.task),
        Err(error) => {
            let _ = error.print();
            Err(ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2)))
        }
    }
}

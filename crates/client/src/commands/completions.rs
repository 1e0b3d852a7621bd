//! `tabsense completions DIRECTORY`: the completions of this command line, generated.

use std::path::Path;
use std::process::ExitCode;

use clap::CommandFactory;
use clap_complete::Shell;

use super::Outcome;
use crate::cli::Cli;
use crate::failure::Failure;

/// Writes `tabsense.bash`, `tabsense.fish` and `_tabsense`.
pub(super) fn write(directory: &Path) -> Outcome {
    std::fs::create_dir_all(directory)
        .map_err(|error| Failure::new(format!("{}: {error}", directory.display())))?;
    for shell in [Shell::Bash, Shell::Fish, Shell::Zsh] {
        clap_complete::generate_to(shell, &mut Cli::command(), "tabsense", directory)
            .map_err(|error| Failure::new(format!("{}: {error}", directory.display())))?;
    }
    Ok(ExitCode::SUCCESS)
}

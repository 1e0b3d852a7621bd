//! `tabsense config`

use std::process::ExitCode;

use tabsense_config::{Paths, Settings, reference};

use super::{Outcome, print};
use crate::cli::ConfigCommand;

pub(super) fn run(command: Option<&ConfigCommand>) -> Outcome {
    match command {
        Some(ConfigCommand::Reference) => print(reference())?,
        Some(ConfigCommand::Path) => print(format!("{}\n", Paths::from_env()?.config.display()))?,
        None => return show(&Paths::from_env()?),
    }
    Ok(ExitCode::SUCCESS)
}

/// The settings in force; the exit status says whether the file is good.
fn show(paths: &Paths) -> Outcome {
    let (settings, problems) = Settings::load(&paths.config);
    let mut text = String::new();
    for (key, value, set) in settings.effective() {
        let origin = if set { "" } else { "  # default" };
        text.push_str(&format!("{} = {value}{origin}\n", key.path()));
    }
    for problem in &problems {
        text.push_str(&format!("\n{problem}\n"));
    }
    print(text)?;
    Ok(if problems.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

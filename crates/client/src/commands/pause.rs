//! `tabsense pause` and `tabsense resume`: a file says whether anything happens at all.

use std::fs::File;
use std::io::ErrorKind;
use std::process::ExitCode;

use tabsense_config::Paths;

use super::Outcome;
use crate::failure::Failure;

pub(super) fn pause() -> Outcome {
    let paths = Paths::from_env()?;
    paths.create_data()?;
    File::create(paths.paused())
        .map_err(|error| Failure::new(format!("{}: {error}", paths.paused().display())))?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn resume() -> Outcome {
    let paths = Paths::from_env()?;
    match std::fs::remove_file(paths.paused()) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(Failure::new(format!(
            "{}: {error}",
            paths.paused().display()
        ))),
        _ => Ok(ExitCode::SUCCESS),
    }
}

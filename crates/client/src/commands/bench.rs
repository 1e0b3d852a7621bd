//! `tabsense eval` and `tabsense bench`: both need what only the worker's program links, so they
//! become it.

use std::ffi::OsStr;
use std::os::unix::process::CommandExt;
use std::process::Command;

use super::Outcome;
use crate::cli::{EvalCommand, EvalFile};
use crate::failure::Failure;
use crate::start::worker_program;

pub(super) fn eval(command: &EvalCommand) -> Outcome {
    let (what, EvalFile { model, file, json }, sample) = match command {
        EvalCommand::History { file, sample } => ("history", file, *sample),
        EvalCommand::Completion(args) => ("completion", args, None),
        EvalCommand::Shortcuts(args) => ("shortcuts", args, None),
    };
    let mut program = Command::new(worker_program());
    program
        .arg("eval")
        .arg(what)
        .args(json.then_some("--json"))
        .args(sample.map(|sample| format!("--sample={sample}")))
        .args(
            model
                .iter()
                .flat_map(|model| ["--model".as_ref(), model.as_os_str()]),
        )
        .arg("--")
        .arg(file);
    Err(become_program(program))
}

/// `flags` that are given go to the worker's program as they are.
pub(super) fn bench(flags: &[(bool, &str)], model: &OsStr) -> Outcome {
    let mut program = Command::new(worker_program());
    program
        .arg("bench")
        .args(flags.iter().filter(|flag| flag.0).map(|flag| flag.1))
        .arg("--model")
        .arg(model);
    if let Ok(client) = std::env::current_exe() {
        program.arg("--client").arg(client);
    }
    Err(become_program(program))
}

/// Returns only when that fails.
pub(super) fn become_program(mut program: Command) -> Failure {
    let error = program.exec();
    Failure::new(format!(
        "could not run {}: {error}",
        program.get_program().display()
    ))
    .hint("`tabsensed` must lie beside `tabsense` or in PATH")
}

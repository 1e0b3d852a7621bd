//! `tabsense model`: the worker's program does what needs a model; choosing one is done here.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use tabsense_config::{EditError, Paths, set_text};
use tabsense_protocol::request;

use super::bench::become_program;
use super::worker;
use super::{ANSWER_LIMIT, Outcome, START_LIMIT, ask, connect, print};
use crate::cli::{ModelCommand, QuantizeArgs};
use crate::failure::Failure;
use crate::start::worker_program;

pub(super) fn run(command: &ModelCommand) -> Outcome {
    match command {
        ModelCommand::Use { model } => choose(model),
        ModelCommand::List { json } => Err(task("list", *json, None)),
        ModelCommand::Info { model, json } => Err(task("info", *json, Some(named(model)?))),
        ModelCommand::Verify { model, json } => Err(task("verify", *json, Some(named(model)?))),
        ModelCommand::Bench { model, json } => {
            let model = model.as_deref().map(named).transpose()?;
            Err(task("bench", *json, model))
        }
        ModelCommand::Quantize(args) => Err(quantize(args)?),
    }
}

/// Becomes `tabsensed model WHAT`; returns only when that fails.
fn task(what: &str, json: bool, model: Option<OsString>) -> Failure {
    let mut program = program(what);
    program.args(json.then_some("--json")).args(model);
    become_program(program)
}

fn program(what: &str) -> Command {
    let mut program = Command::new(worker_program());
    program.arg("model").arg(what);
    program
}

fn quantize(args: &QuantizeArgs) -> Result<Failure, Failure> {
    let mut program = program("quantize");
    program
        .args(["--bits", &args.bits])
        .args(["--group-size", &args.group_size])
        .args(args.json.then_some("--json"));
    for pattern in &args.keep {
        program.arg(format!("--keep={pattern}"));
    }
    program.arg("--").arg(named(&args.model)?).arg(&args.out);
    Ok(become_program(program))
}

/// `builtin` and `off` as they are, a directory as an absolute path.
fn named(model: &OsStr) -> Result<OsString, Failure> {
    if model == "builtin" || model == "off" {
        return Ok(model.to_owned());
    }
    std::path::absolute(model)
        .map(PathBuf::into_os_string)
        .map_err(|error| Failure::new(format!("{}: {error}", model.display())))
}

/// Writes the choice into the settings and lets a running worker start again with it.
fn choose(model: &OsStr) -> Outcome {
    let paths = Paths::from_env()?;
    let model = named(model)?;
    let Some(value) = model.to_str() else {
        return Err(Failure::new(format!(
            "{} is not UTF-8 and cannot be written into the settings",
            model.display()
        ))
        .hint("a link with another name can"));
    };
    if value != "off" && !can_be_loaded(&model)? {
        // What is wrong with it has been said.
        return Ok(ExitCode::FAILURE);
    }
    set_text(&paths.config, "complete", "model", value)
        .map_err(|error| edit_failure(&error, value))?;
    if connect(&paths).is_err() {
        return done(value);
    }
    worker::stop(&paths)?;
    ask(
        &paths,
        request::Body::Status(request::Status {}),
        ANSWER_LIMIT,
    )?;
    done(&settled(&paths)?)
}

fn done(model: &str) -> Outcome {
    print(format!("model: {model}\n"))?;
    Ok(ExitCode::SUCCESS)
}

fn edit_failure(error: &EditError, value: &str) -> Failure {
    let hint = match error {
        EditError::Io { .. } => "nothing was changed".to_owned(),
        EditError::Unreadable { .. } => {
            "nothing was changed; `tabsense config` tells what is wrong with the file".to_owned()
        }
        EditError::Unusual { .. } => {
            format!("write it by hand: `model = {value:?}` below `[complete]`")
        }
    };
    Failure::new(error).hint(hint)
}

/// Whether the worker's program can load it. What is wrong goes to standard error.
fn can_be_loaded(model: &OsStr) -> Result<bool, Failure> {
    let mut program = program("info");
    let status = program.arg(model).stdout(Stdio::null()).status();
    let status = status.map_err(|error| {
        Failure::new(format!(
            "could not run {}: {error}",
            program.get_program().display()
        ))
        .hint("`tabsensed` must lie beside `tabsense` or in PATH")
    })?;
    Ok(status.success())
}

/// What the worker says of its model once it is no longer loading it.
fn settled(paths: &Paths) -> Result<String, Failure> {
    let end = Instant::now() + START_LIMIT;
    loop {
        let (status, _) = worker::status(paths)?;
        if status.model != "loading" || Instant::now() > end {
            return Ok(status.model);
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

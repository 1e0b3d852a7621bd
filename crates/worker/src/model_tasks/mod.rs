//! `tabsensed model`: what `tabsense model` does with checkpoints. Nothing here uses the network.

mod about;
mod check;
mod shrink;
mod speed;

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::Value;
use tabsense_config::{Paths, Settings};
use tabsense_model::{Error, Fidelity, Model, Options, is_checkpoint};

use crate::arguments::{ModelTask, Shown};
use crate::judge;

/// A report for people and for programs, and whether what it tells is good.
struct Told {
    text: String,
    json: Value,
    good: bool,
}

/// Why there is no report, and what to do.
struct Trouble {
    message: String,
    hint: String,
}

type Outcome = Result<Told, Trouble>;

/// Carries the task out and prints what it found.
pub(crate) fn run(task: &ModelTask) -> ExitCode {
    let (shown, outcome) = match task {
        ModelTask::List { shown } => (shown, about::list()),
        ModelTask::Info { model, shown } => (shown, about::info(model)),
        ModelTask::Verify { model, shown } => (shown, check::verify(model)),
        ModelTask::Quantize(how) => (&how.shown, shrink::quantize(how)),
        ModelTask::Bench { model, shown } => (shown, speed::bench(model.as_deref())),
    };
    let (written, good) = match outcome {
        Ok(told) => (print(&told, shown), told.good),
        Err(Trouble { message, hint }) => {
            let mut text = format!("tabsense: {message}\n");
            if !hint.is_empty() {
                let _ = writeln!(text, "  hint: {hint}");
            }
            (std::io::stderr().lock().write_all(text.as_bytes()), false)
        }
    };
    if good && written.is_ok() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn print(told: &Told, shown: &Shown) -> std::io::Result<()> {
    let text = match shown.json {
        true => format!("{:#}\n", told.json),
        false => told.text.clone(),
    };
    std::io::stdout().lock().write_all(text.as_bytes())
}

impl Told {
    fn good(text: String, json: Value) -> Outcome {
        Ok(Self {
            text,
            json,
            good: true,
        })
    }
}

impl Trouble {
    fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: hint.into(),
        }
    }

    /// What is wrong with a checkpoint, with the usual reasons for it.
    fn with(directory: &Path, error: &Error) -> Self {
        let text = error.to_string();
        // The model's own hint is better than a general one.
        if let Some((message, hint)) = text.rsplit_once(" (hint: ") {
            return Self::new(message, hint.trim_end_matches(')'));
        }
        Self::new(text, usual_reason(directory))
    }
}

fn usual_reason(directory: &Path) -> &'static str {
    if is_checkpoint(directory) {
        return "";
    }
    "a checkpoint is a directory with model.safetensors, rl_agent_config.json, \
     encoder/config.json and tokenizer/; `tabsense model list` shows those on this machine"
}

fn places() -> Result<(Paths, Settings), Trouble> {
    let paths = Paths::from_env().map_err(|error| Trouble::new(error.to_string(), ""))?;
    let (settings, _) = Settings::load(&paths.config);
    Ok((paths, settings))
}

/// Where the model lies that the user calls `named`.
fn resolve(named: &str) -> Result<PathBuf, Trouble> {
    let (paths, _) = places()?;
    if named == "off" {
        return Err(Trouble::new("off is no checkpoint", "name a directory"));
    }
    judge::directory(named, &paths).map_err(|error| Trouble::new(error.to_string(), ""))
}

fn load(directory: &Path, options: &Options) -> Result<Model, Trouble> {
    Model::load(directory, options).map_err(|error| Trouble::with(directory, &error))
}

/// What runs a model, for people.
fn backend(model: &mut Model) -> String {
    let backend = model.backend();
    let (name, detail) = (backend.name(), backend.detail());
    format!("{name} {detail}").trim_end().to_owned()
}

fn fidelity(found: &Fidelity) -> String {
    format!(
        "the same choice in {:.1} % of {} cases, largest change of a probability {:.4}",
        found.agreement * 100.0,
        found.cases,
        found.largest_change,
    )
}

fn weights_size(directory: &Path) -> u64 {
    std::fs::metadata(directory.join("model.safetensors")).map_or(0, |data| data.len())
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

fn millis(time: std::time::Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

//! `tabsensed eval` and `tabsensed bench`: open, print; `tabsense-rank` and `tabsense-bench` do
//! the measuring.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::ExitCode;

use flate2::read::MultiGzDecoder;
use tabsense_bench::{Effort, Part};
use tabsense_config::{Paths, Settings};
use tabsense_rank::eval::history::Scored;
use tabsense_rank::eval::{EvalError, completion, history, read_cases, read_users};
use tabsense_rank::{Decide, Weights};

use crate::arguments::{Bench, Eval, EvalFile};
use crate::judge::Judge;
use crate::shortcuts;

/// Measures the ranking and prints.
pub(crate) fn run(what: &Eval) -> ExitCode {
    let (Eval::History { file: asked, .. } | Eval::Completion(asked) | Eval::Shortcuts(asked)) =
        what;
    let text = open(&asked.file).and_then(|reader| measure(what, reader));
    print(&text.map_err(|error| format!("{}: {error}", asked.file.display())))
}

/// Measures the speed and prints.
pub(crate) fn bench(what: &Bench) -> ExitCode {
    let effort = if what.quick {
        Effort::Quick
    } else {
        Effort::Full
    };
    let part = if what.prompts {
        Part::Prompts
    } else {
        Part::All
    };
    let report = std::env::current_exe()
        .map_err(|error| error.to_string())
        .and_then(|worker| {
            let options = tabsense_bench::Options {
                client: what.client.clone(),
                worker,
                part,
                effort,
                model: what.model.clone(),
            };
            tabsense_bench::run(&options).map_err(|error| error.to_string())
        });
    print(&report.map(|report| shown(&report, what.json)))
}

fn print(text: &Result<String, String>) -> ExitCode {
    let written = match text {
        Ok(text) => std::io::stdout().lock().write_all(text.as_bytes()),
        Err(error) => writeln!(std::io::stderr().lock(), "tabsense: {error}"),
    };
    if text.is_ok() && written.is_ok() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// The model that the settings name; the evaluation goes without one that cannot be had, and says
/// so.
fn model(asked: &EvalFile) -> Option<Judge> {
    let judge = match &asked.model {
        Some(directory) if directory.as_os_str() != "builtin" => Judge::load(directory),
        _ => {
            let paths = Paths::from_env().ok()?;
            let (settings, _) = Settings::load(&paths.config);
            Judge::start(&settings, &paths)
        }
    };
    if let Err(why) = judge.patient().map(drop) {
        let _ = writeln!(std::io::stderr().lock(), "tabsense: without a model: {why}");
        return None;
    }
    Some(judge)
}

fn measure(what: &Eval, reader: Box<dyn BufRead>) -> Result<String, String> {
    let weights = Weights::default();
    match what {
        Eval::History { file, sample } => with_model(file, |model| {
            let scored = sample.map_or(Scored::All, Scored::Sample);
            let report = history::evaluate(&read_users(reader)?, &weights, model, scored)?;
            Ok(shown(&report, file.json))
        }),
        Eval::Completion(asked) => with_model(asked, |model| {
            let report = completion::evaluate(&read_cases(reader)?, &weights, model)?;
            Ok(shown(&report, asked.json))
        }),
        Eval::Shortcuts(asked) => {
            shortcuts::eval(reader, asked.model.as_deref()).map(|report| shown(&report, asked.json))
        }
    }
}

/// Evaluates with the model that ranks, if there is one.
fn with_model(
    asked: &EvalFile,
    evaluate: impl FnOnce(Option<&mut dyn Decide>) -> Result<String, EvalError>,
) -> Result<String, String> {
    let judge = model(asked);
    let mut voice = judge.as_ref().and_then(|judge| judge.patient().ok());
    let model = voice.as_mut().map(|voice| voice as &mut dyn Decide);
    evaluate(model).map_err(|error| error.to_string())
}

/// A report for people, or for programs.
fn shown(report: &(impl serde::Serialize + std::fmt::Display), json: bool) -> String {
    if !json {
        return report.to_string();
    }
    match serde_json::to_string_pretty(report) {
        Ok(text) => text + "\n",
        Err(error) => unreachable!("a report of numbers is always JSON: {error}"),
    }
}

/// Opens a file, unpacking it when its name ends in `.gz`.
fn open(file: &Path) -> Result<Box<dyn BufRead>, String> {
    let opened = File::open(file)
        .map_err(|error| format!("{error}\n  hint: name a file of JSON lines, .gz too"))?;
    Ok(
        match file.extension().is_some_and(|extension| extension == "gz") {
            true => Box::new(BufReader::new(MultiGzDecoder::new(opened))),
            false => Box::new(BufReader::new(opened)),
        },
    )
}

//! `tabsensed eval`: opens the file; `tabsense-rank` does the measuring.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::ExitCode;

use flate2::read::MultiGzDecoder;
use tabsense_rank::eval;

use crate::arguments::{Eval, EvalFile};

/// Measures and prints.
pub(crate) fn run(what: &Eval) -> ExitCode {
    let (Eval::History(EvalFile { file, .. }) | Eval::Completion(EvalFile { file, .. })) = what;
    let text = open(file).and_then(|mut reader| measure(what, &mut reader));
    match text {
        Ok(text) => match std::io::stdout().lock().write_all(text.as_bytes()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        },
        Err(error) => {
            let message = format!("tabsense: {}: {error}\n", file.display());
            let _ = std::io::stderr().lock().write_all(message.as_bytes());
            ExitCode::FAILURE
        }
    }
}

fn measure(what: &Eval, reader: &mut dyn BufRead) -> Result<String, String> {
    match what {
        Eval::History(EvalFile { json, .. }) => {
            let report = eval::history(reader).map_err(|error| error.to_string())?;
            Ok(if *json { json_text(&report) } else { report.to_string() })
        }
        Eval::Completion(EvalFile { json, .. }) => {
            let report = eval::completion(reader).map_err(|error| error.to_string())?;
            Ok(if *json { json_text(&report) } else { report.to_string() })
        }
    }
}

fn json_text(report: &impl serde::Serialize) -> String {
    match serde_json::to_string_pretty(report) {
        Ok(text) => text + "\n",
        Err(error) => unreachable!("a report of numbers is always JSON: {error}"),
    }
}

/// Opens a file, unpacking it when its name ends in `.gz`.
fn open(file: &Path) -> Result<Box<dyn BufRead>, String> {
    let opened = File::open(file).map_err(|error| error.to_string())?;
    Ok(match file.extension().is_some_and(|extension| extension == "gz") {
        true => Box::new(BufReader::new(MultiGzDecoder::new(opened))),
        false => Box::new(BufReader::new(opened)),
    })
}

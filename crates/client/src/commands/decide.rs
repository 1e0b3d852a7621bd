//! `tabsense decide`: reads state and questions, and lets the worker's model answer.

use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use tabsense_config::Paths;
use tabsense_protocol::reply::{self, Decided};
use tabsense_protocol::{MAX_PAYLOAD, request};

use super::{Outcome, ask, print, unexpected};
use crate::failure::Failure;

/// Longer than the worker waits for a model to be loaded and to answer.
const DECIDE_LIMIT: Duration = Duration::from_secs(100);

/// What a frame needs beside state and questions, and more.
const FRAME_ROOM: usize = 1024;

pub(super) fn run(state: &OsStr, questions: &Path, json: bool) -> Outcome {
    let paths = Paths::from_env()?;
    let asked = request::Decide {
        state: read_state(state)?,
        questions: read(questions).map_err(|failure| {
            failure.hint("a JSON file with the questions; `tabsense decide --help` shows one")
        })?,
    };
    if asked.state.len() + asked.questions.len() > MAX_PAYLOAD - FRAME_ROOM {
        return Err(Failure::new(format!(
            "state and questions have {} bytes together, {} are the limit",
            asked.state.len() + asked.questions.len(),
            MAX_PAYLOAD - FRAME_ROOM
        ))
        .hint("a model reads no more than the start of a text (the end of a list)"));
    }
    match ask(&paths, request::Body::Decide(asked), DECIDE_LIMIT)?.body {
        Some(reply::Body::Decided(decided)) => {
            print(if json {
                decided.json + "\n"
            } else {
                as_text(&decided)
            })?;
            Ok(ExitCode::SUCCESS)
        }
        _ => Err(unexpected()),
    }
}

fn as_text(decided: &Decided) -> String {
    let line = |answer: &reply::DecidedAnswer| {
        let percent = answer.probability * 100.0;
        format!("{}: {} ({percent:.1} %)\n", answer.id, answer.label)
    };
    decided.answers.iter().map(line).collect()
}

fn read_state(state: &OsStr) -> Result<Vec<u8>, Failure> {
    match state.as_bytes() {
        b"-" => {
            let mut text = Vec::new();
            std::io::stdin().lock().read_to_end(&mut text)?;
            Ok(text)
        }
        [b'@', file @ ..] => read(Path::new(OsStr::from_bytes(file)))
            .map_err(|failure| failure.hint("what follows the `@` is a file with the state")),
        text => Ok(text.to_owned()),
    }
}

fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(file).map_err(|error| Failure::new(format!("{}: {error}", file.display())))
}

//! `tabsense adapt`: the worker does it; this asks and waits.

use std::process::ExitCode;
use std::time::Duration;

use tabsense_config::Paths;
use tabsense_protocol::{reply, request};

use super::{Outcome, ask, print, unexpected};

/// A long history on a slow machine takes minutes.
const LIMIT: Duration = Duration::from_secs(900);

pub(super) fn run(reset: bool, json: bool) -> Outcome {
    let paths = Paths::from_env()?;
    let body = request::Body::Adapt(request::Adapt { reset });
    let Some(reply::Body::Adapted(adapted)) = ask(&paths, body, LIMIT)?.body else {
        return Err(unexpected());
    };
    let text = if json { adapted.json } else { adapted.text };
    print(text + "\n")?;
    Ok(ExitCode::SUCCESS)
}

//! `tabsense import`, `forget` and `why`: all of them ask the worker, which alone opens the store.

use std::ffi::OsString;
use std::io::{BufRead, IsTerminal, Write};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::ValueEnum;
use tabsense_config::{Paths, Settings};
use tabsense_protocol::reply::{self, ImportedFile};
use tabsense_protocol::request::{self, Forget, Import, Look, Variable};

use super::{ANSWER_LIMIT, Outcome, ask, print, unexpected};
use crate::cli::ImportSource;
use crate::failure::Failure;
use crate::hook::is_paused_here;
use crate::records::shell;

/// A million lines take seconds; a slow disk may take longer.
const IMPORT_LIMIT: Duration = Duration::from_secs(600);

/// What says where the shells keep their histories.
const PLACES: [&str; 8] = [
    "HOME",
    "ZDOTDIR",
    "HISTFILE",
    "XDG_DATA_HOME",
    "XDG_CONFIG_HOME",
    "ATUIN_DB_PATH",
    "_ZO_DATA_DIR",
    "fish_history",
];

/// What says which commands a shell records.
const RULES: [&str; 5] = [
    "HISTCONTROL",
    "HISTIGNORE",
    "HISTORY_IGNORE",
    "fish_private_mode",
    "HISTFILE",
];

pub(super) fn import(source: ImportSource, file: Option<PathBuf>) -> Outcome {
    let paths = Paths::from_env()?;
    let source = source
        .to_possible_value()
        .map_or_else(String::new, |v| v.get_name().to_owned());
    if file.is_some() && source == "auto" {
        return Err(Failure::new("a file needs its kind")
            .hint("for example `tabsense import zsh ~/.zsh_history`"));
    }
    let file = match file {
        Some(file) => readable(&file, &source)?.into_os_string().into_vec(),
        None => Vec::new(),
    };
    let imported = import_files(
        &paths,
        Import {
            source,
            file,
            variables: variables(&PLACES),
        },
    )?;
    if imported.is_empty() {
        return Err(
            Failure::new("no history was found").hint("name a file: `tabsense import zsh FILE`")
        );
    }
    print(imported.iter().map(import_line).collect::<String>())?;
    let failed = imported.iter().any(|file| !file.error.is_empty());
    Ok(if failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// The whole path of a file that is there and may be read.
fn readable(file: &Path, source: &str) -> Result<PathBuf, Failure> {
    let path = std::path::absolute(file);
    path.and_then(|path| std::fs::File::open(&path).map(|_| path))
        .map_err(|error| {
            Failure::new(format!("{}: {error}", file.display())).hint(format!(
                "`tabsense import {source}` takes the file in its usual place"
            ))
        })
}

/// Lets the worker import, and waits for it.
pub(super) fn import_files(paths: &Paths, import: Import) -> Result<Vec<ImportedFile>, Failure> {
    match ask(paths, request::Body::Import(import), IMPORT_LIMIT)?.body {
        Some(reply::Body::Imported(imported)) => Ok(imported.files),
        _ => Err(unexpected()),
    }
}

/// The places of this environment, for [`Import`].
pub(super) fn places() -> Vec<Variable> {
    variables(&PLACES)
}

fn variables(names: &[&str]) -> Vec<Variable> {
    names
        .iter()
        .filter_map(|&name| {
            let value = std::env::var_os(name)?.into_vec();
            Some(Variable {
                name: name.to_owned(),
                value,
            })
        })
        .collect()
}

fn import_line(file: &ImportedFile) -> String {
    let name = String::from_utf8_lossy(&file.file);
    if !file.error.is_empty() {
        return format!("{}: {}\n", file.source, file.error);
    }
    let unreadable = match file.skipped {
        0 => String::new(),
        skipped => format!(", {skipped} unreadable"),
    };
    format!(
        "{}: {name}: {} read, {} new{unreadable}\n",
        file.source, file.read, file.added
    )
}

pub(super) fn forget(command: Option<OsString>, all: bool, yes: bool) -> Outcome {
    let paths = Paths::from_env()?;
    if all && !yes && !confirm("delete everything that was recorded?")? {
        return Ok(ExitCode::FAILURE);
    }
    let command = command.unwrap_or_default().into_vec();
    let forget = Forget {
        command,
        everything: all,
    };
    match ask(&paths, request::Body::Forget(forget), ANSWER_LIMIT)?.body {
        Some(reply::Body::Done(done)) => {
            print(format!("{} forgotten\n", done.count))?;
            Ok(if done.count == 0 && !all {
                ExitCode::FAILURE
            } else {
                ExitCode::SUCCESS
            })
        }
        _ => Err(unexpected()),
    }
}

pub(super) fn why_not_recorded(command: OsString) -> Outcome {
    let paths = Paths::from_env()?;
    let name = std::env::var("SHELL").unwrap_or_default();
    let name = name.rsplit('/').next().unwrap_or_default();
    let look = Look {
        command: command.into_vec(),
        variables: variables(&RULES),
        shell: shell(name.as_bytes()).into(),
    };
    let Some(reply::Body::Looked(looked)) =
        ask(&paths, request::Body::Look(look), ANSWER_LIMIT)?.body
    else {
        return Err(unexpected());
    };
    let mut reasons = looked.reasons;
    reasons.extend(standing_reasons(&paths));
    let mut text = match looked.count {
        0 => "not recorded\n".to_owned(),
        1 => "recorded once\n".to_owned(),
        count => format!("recorded {count} times\n"),
    };
    text.push_str(&format!(
        "as: {}\n",
        String::from_utf8_lossy(&looked.stored).escape_debug()
    ));
    for reason in &reasons {
        text.push_str(&format!("because: {reason}\n"));
    }
    if looked.count == 0 && reasons.is_empty() {
        text.push_str(
            "because: no rule keeps it out; it was not run in a shell with tabsense on, or \
             it was forgotten\n",
        );
    }
    print(text)?;
    Ok(ExitCode::SUCCESS)
}

/// What keeps every command out, as long as it stands.
fn standing_reasons(paths: &Paths) -> Vec<String> {
    let mut reasons = Vec::new();
    if paths.paused().exists() {
        reasons.push("tabsense is paused; `tabsense resume` goes on".to_owned());
    }
    if is_paused_here() {
        reasons.push("TABSENSE_PAUSE is set in this shell".to_owned());
    }
    if !Settings::load(&paths.config).0.history_record() {
        let file = paths.config.display();
        reasons.push(format!("`history.record` is false in {file}"));
    }
    reasons
}

/// Asks on the terminal; without one the answer is no.
pub(super) fn confirm(question: &str) -> Result<bool, Failure> {
    if !std::io::stdin().is_terminal() {
        return Err(Failure::new(format!("nobody is there to ask: {question}"))
            .hint("`--yes` answers beforehand"));
    }
    let mut stderr = std::io::stderr().lock();
    write!(stderr, "{question} [y/N] ")?;
    stderr.flush()?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

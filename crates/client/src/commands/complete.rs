//! `tabsense complete` for people and scripts: what TAB would offer, printed.

use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::process::ExitCode;

use tabsense_config::Paths;
use tabsense_protocol::reply::{self, Completed, Kind};
use tabsense_protocol::request::{self, Complete};

use super::{ANSWER_LIMIT, Outcome, ask, print, unexpected};
use crate::cli::CompleteArgs;
use crate::failure::Failure;
use crate::phrase::printable;
use crate::records::{byte_offset, shell};

/// What the worker may take when nobody waits for a key.
const BUDGET_MS: u32 = 1000;

pub(super) fn run(args: CompleteArgs) -> Outcome {
    let paths = Paths::from_env()?;
    let cwd = match args.cwd {
        Some(cwd) => std::path::absolute(&cwd)
            .map_err(|error| Failure::new(format!("{}: {error}", cwd.display())))?,
        None => std::env::current_dir()
            .map_err(|error| Failure::new(format!("no working directory: {error}")))?,
    };
    let line = args.line.into_vec();
    let cursor = args
        .cursor
        .map_or(line.len(), |cursor| byte_offset(&line, cursor));
    let complete = Complete {
        shell: shell(args.shell.name().as_bytes()).into(),
        cursor: cursor as u64,
        line,
        cwd: cwd.into_os_string().into_vec(),
        home: paths.home.as_os_str().as_bytes().to_vec(),
        add: true,
        budget_ms: BUDGET_MS,
        path: std::env::var_os("PATH").unwrap_or_default().into_vec(),
        ..Complete::default()
    };
    let reply = ask(&paths, request::Body::Complete(complete), ANSWER_LIMIT)?;
    let Some(reply::Body::Completed(completed)) = reply.body else {
        return Err(unexpected());
    };
    print(if args.json {
        as_json(&completed)
    } else {
        as_text(&completed)
    })?;
    Ok(ExitCode::SUCCESS)
}

fn as_json(completed: &Completed) -> Vec<u8> {
    let candidates: Vec<_> = completed
        .ranked
        .iter()
        .map(|ranked| {
            serde_json::json!({
                "text": String::from_utf8_lossy(&ranked.text),
                "kind": kind_name(ranked.kind()),
                "description": String::from_utf8_lossy(&ranked.description),
                "score": ranked.score,
            })
        })
        .collect();
    let value = serde_json::json!({ "start": completed.start, "confidence": completed.confidence,
        "sure": completed.sure, "candidates": candidates });
    format!("{value:#}\n").into_bytes()
}

fn as_text(completed: &Completed) -> Vec<u8> {
    let mut text = Vec::new();
    for ranked in &completed.ranked {
        text.extend_from_slice(printable(&ranked.text).as_bytes());
        if !ranked.description.is_empty() {
            text.push(b'\t');
            text.extend_from_slice(printable(&ranked.description).as_bytes());
        }
        text.push(b'\n');
    }
    text
}

fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Word => "word",
        Kind::File => "file",
        Kind::Directory => "directory",
        Kind::Command => "command",
        Kind::Option => "option",
        Kind::Line => "line",
    }
}

//! The hot path: what the shells start on every TAB and at every prompt.
//!
//! Nothing here prints a message. Anything that goes wrong means "use the shell's own completion".

use std::io::{Read, Write};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use tabsense_config::{Paths, Settings};
use tabsense_protocol::reply::{self, Completed, Kind};
use tabsense_protocol::request::Shell;
use tabsense_protocol::{MAX_PAYLOAD, Reply, Request, is_older, request};

use crate::connection::{Connection, is_absent};
use crate::deadline::{Deadline, NATIVE, native};
use crate::records::Records;
use crate::stages::Stages;
use crate::start::{Mode, start_worker, start_worker_with};

/// Used until the settings have been read.
const DEADLINE_MS: u64 = 50;

/// A prompt hook gives up after this long. It is never waited for, so it may take its time on a
/// machine that is busy, but it must not pile up where a file system hangs.
const PROMPT_MS: u64 = 1000;

/// An older worker takes the word to stop within this time, or the next TAB tells it.
const STOP_LIMIT: Duration = Duration::from_millis(5);

/// `tabsense complete --hook`: ranks the candidates on standard input.
pub(crate) fn complete() -> ExitCode {
    let mut deadline = Deadline::start(DEADLINE_MS, NATIVE);
    answer(&mut deadline).unwrap_or_else(native)
}

fn answer(deadline: &mut Deadline) -> Option<ExitCode> {
    let mut stages = Stages::from_env();
    let paths = Paths::from_env().ok().filter(|paths| !is_paused(paths))?;
    let (settings, _) = Settings::load(&paths.config);
    deadline.set(settings.deadline_ms());

    let input = read_input()?;
    let records = Records::parse(&input);
    if records.candidates() > settings.complete_max_candidates() {
        return None;
    }
    let home = paths.home.clone().into_os_string().into_vec();
    let path = std::env::var_os("PATH").unwrap_or_default().into_vec();
    let mut complete = records.complete(home, path, settings.complete_add());

    stages.note("encode");

    let mut connection = match connect(&paths) {
        Ok(connection) => connection,
        Err(why) => {
            if why == Unreachable::Absent {
                let _ = start_worker(Mode::IfAbsent);
            }
            return None;
        }
    };
    stages.note("connect");
    complete.budget_ms = u32::try_from(deadline.left().as_millis()).unwrap_or(u32::MAX);
    complete.stages = stages.are_wanted();
    complete.sure = records.takes_sure() && settings.complete_inserts();
    let takes_sure = complete.sure;
    let request = Request::new(records.session(), request::Body::Complete(complete));
    let mut reply = connection.ask(&request, deadline.left()).ok()?;
    stages.note_reply(&reply);
    if let Some(reply::Body::Completed(completed)) = &mut reply.body {
        // A worker of an older release does not ask whether it may be sure.
        completed.sure &= takes_sure;
    }
    let printed = print_reply(&reply);
    stages.note("print");
    stages.print();
    replace_if_older(&mut connection, &reply);
    printed
}

/// `tabsense prompt --hook`: tells the worker that a prompt is shown, and returns.
pub(crate) fn prompt() -> ExitCode {
    let _deadline = Deadline::start(PROMPT_MS, 0);
    tell();
    ExitCode::SUCCESS
}

fn tell() -> Option<()> {
    let paths = Paths::from_env().ok().filter(|paths| !is_paused(paths))?;
    let input = read_input()?;
    let records = Records::parse(&input);
    let mut prompt = records.prompt(paths.home.clone().into_os_string().into_vec());
    if prompt.shell() == Shell::Fish && prompt.histfile.is_empty() {
        prompt.histfile = named_history(&paths.home).unwrap_or_default();
    }
    let (settings, _) = Settings::load(&paths.config);
    if !settings.history_record() {
        prompt.ran = None;
    }
    let request = Request::new(records.session(), request::Body::Prompt(prompt));
    match connect(&paths) {
        // One that is ending may hang up.
        Ok(mut connection) => connection
            .tell(&request, Duration::from_millis(PROMPT_MS))
            .or_else(|_| start_worker_with(&request))
            .ok(),
        // The worker gets it on its way, so that not even the first command is lost.
        Err(Unreachable::Absent) => start_worker_with(&request).ok(),
        Err(Unreachable::Refused) => None,
    }
}

/// fish's history where the variable `fish_history` gives it another name than usual.
fn named_history(home: &Path) -> Option<Vec<u8>> {
    let name = std::env::var_os("fish_history")
        .filter(|name| !name.is_empty() && name != "default")
        .filter(|name| !name.as_encoded_bytes().contains(&b'/'))?;
    let mut file = name;
    file.push("_history");
    let data = std::env::var_os("XDG_DATA_HOME")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
        .unwrap_or_else(|| home.join(".local/share"));
    Some(data.join("fish").join(file).into_os_string().into_vec())
}

/// Whether the user has said pause, here or everywhere.
pub(crate) fn is_paused(paths: &Paths) -> bool {
    is_paused_here() || paths.paused().exists()
}

/// Whether the environment, and so this shell alone, says pause.
pub(crate) fn is_paused_here() -> bool {
    std::env::var_os("TABSENSE_PAUSE").is_some_and(|value| !value.is_empty())
}

/// Standard input, unless it is more than a frame holds.
pub(crate) fn read_input() -> Option<Vec<u8>> {
    let mut input = Vec::new();
    let limit = MAX_PAYLOAD as u64;
    let read = std::io::stdin()
        .lock()
        .take(limit + 1)
        .read_to_end(&mut input)
        .ok()?;
    (read as u64 <= limit).then_some(input)
}

/// Why there is no connection.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unreachable {
    /// No worker serves the socket: one may be started.
    Absent,
    /// Something is in the way: starting another worker would not help.
    Refused,
}

/// Connects to the worker, without ever waiting.
pub(crate) fn connect(paths: &Paths) -> Result<Connection, Unreachable> {
    Connection::to(paths).map_err(|error| match is_absent(&error) {
        true => Unreachable::Absent,
        false => Unreachable::Refused,
    })
}

fn print_reply(reply: &Reply) -> Option<ExitCode> {
    let Some(reply::Body::Completed(completed)) = &reply.body else {
        return None;
    };
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(&answer_records(completed)).ok()?;
    stdout.flush().ok()?;
    Some(ExitCode::SUCCESS)
}

/// The answer for the scripts: `v1`, then `!sure` if the first candidate may be inserted at once,
/// one record a candidate, and `.` as the sign that all is there.
fn answer_records(completed: &Completed) -> Vec<u8> {
    let mut out = b"v1\0".to_vec();
    if completed.sure {
        out.extend_from_slice(b"!sure\0");
    }
    for ranked in &completed.ranked {
        if let Some(native) = ranked.native {
            out.extend_from_slice(format!("={native}\0").as_bytes());
            continue;
        }
        if ranked.text.contains(&0) {
            continue;
        }
        out.extend_from_slice(&[b'+', kind_letter(ranked.kind()), b'\t']);
        out.extend_from_slice(&ranked.text);
        out.push(0);
        if !ranked.description.is_empty() && !ranked.description.contains(&0) {
            out.push(b'?');
            out.extend_from_slice(&ranked.description);
            out.push(0);
        }
    }
    out.extend_from_slice(b".\0");
    out
}

fn kind_letter(kind: Kind) -> u8 {
    match kind {
        Kind::Directory => b'd',
        Kind::File => b'f',
        Kind::Line => b'l',
        Kind::Word | Kind::Command | Kind::Option => b'w',
    }
}

/// A worker of an older release, left over from before an upgrade, makes room for ours.
pub(crate) fn replace_if_older(connection: &mut Connection, reply: &Reply) {
    if !is_older(&reply.release, tabsense_protocol::RELEASE) {
        return;
    }
    let stop = Request::new(Vec::new(), request::Body::Stop(request::Stop {}));
    if connection.tell(&stop, STOP_LIMIT).is_ok() {
        let _ = start_worker(Mode::Replace);
    }
}

#[cfg(test)]
mod tests {
    use tabsense_protocol::reply::Ranked;

    use super::*;

    #[test]
    fn an_answer_is_written_as_records_with_an_end_mark() {
        let native = Ranked {
            native: Some(1),
            ..Ranked::default()
        };
        let added = Ranked {
            text: b"~/a b/".to_vec(),
            kind: Kind::Directory.into(),
            description: b"visited".to_vec(),
            ..Ranked::default()
        };
        let completed = Completed {
            ranked: vec![native, added],
            ..Completed::default()
        };
        assert_eq!(
            answer_records(&completed),
            b"v1\0=1\0+d\t~/a b/\0?visited\0.\0"
        );
    }

    #[test]
    fn an_answer_says_when_its_first_candidate_is_sure() {
        let native = |native| Ranked {
            native: Some(native),
            ..Ranked::default()
        };
        let completed = Completed {
            ranked: vec![native(1), native(0)],
            sure: true,
            ..Completed::default()
        };
        assert_eq!(answer_records(&completed), b"v1\0!sure\0=1\0=0\0.\0");
    }

    #[test]
    fn an_empty_answer_still_has_its_end_mark() {
        assert_eq!(answer_records(&Completed::default()), b"v1\0.\0");
    }

    #[test]
    fn a_text_that_cannot_travel_is_left_out() {
        let bad = Ranked {
            text: b"a\0b".to_vec(),
            ..Ranked::default()
        };
        let completed = Completed {
            ranked: vec![bad],
            ..Completed::default()
        };
        assert_eq!(answer_records(&completed), b"v1\0.\0");
    }
}

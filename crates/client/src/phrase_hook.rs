//! `tabsense do --hook`: what a key in the shell turns the words on the line into.
//!
//! On standard input come the records of the other hooks, with the keys `line`, `cwd`, `shell` and
//! `unit`, and behind the header one record for each name of the user's own: `a` (alias), `b` (abbreviation) or `f` (function), TAB, the name, TAB, its text.
//!
//! The answer is `key=value` records between `v1` and `.`: `line`, `cursor`, `select`, `id`, `risk`,
//! `probability`, `message`; or `message` and up to three `choice`s. Exit status 3 means: leave the
//! line alone. Nothing is ever executed.

use std::io::Write;
use std::os::unix::ffi::OsStringExt;
use std::process::ExitCode;
use std::time::Duration;

use tabsense_config::{Paths, Settings};
use tabsense_protocol::reply::{self, Choice, Chosen};
use tabsense_protocol::request::{self, Do, Name, NameKind};
use tabsense_protocol::{Reply, Request};

use crate::connection::Connection;
use crate::deadline::{Deadline, NATIVE, native};
use crate::hook::{Unreachable, connect, is_paused, read_input, replace_if_older};
use crate::phrase::{Verdict, printable, problem, request, resume};
use crate::records::{Records, char_offset, shell};
use crate::start::{Mode, start_worker};

/// How long somebody who pressed a key waits for an answer.
const KEY_MS: u64 = 200;

/// The same for the first phrase of a worker, which loads its model then.
const FIRST_MS: u64 = 600;

/// What a busy machine is given beyond that to say that there was no answer.
const LAST_WORD_MS: u64 = 50;

/// Where more is told about a worker that cannot run.
const DOCTOR: &str = "(hint: `tabsense doctor` tells more)";

/// Names and bytes of a text that are passed on.
const NAMES: usize = 2000;
const TEXT: usize = 1000;

/// Answers what is on standard input.
pub(crate) fn run() -> ExitCode {
    let mut deadline = Deadline::start(KEY_MS + LAST_WORD_MS, NATIVE);
    answer(&mut deadline).unwrap_or_else(native)
}

/// In what offsets are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Chars,
    Bytes,
}

fn answer(deadline: &mut Deadline) -> Option<ExitCode> {
    let input = read_input()?;
    let records = Records::parse(&input);
    let asked = asked(&records)?;
    let paths = match Paths::from_env() {
        Ok(paths) => paths,
        Err(why) => return say(&format!("{why} {DOCTOR}")),
    };
    if is_paused(&paths) {
        return say(&format!("paused ({})", resume()));
    }
    let (settings, _) = Settings::load(&paths.config);
    let unit = match records.get("unit") {
        Some(b"bytes") => Unit::Bytes,
        _ => Unit::Chars,
    };
    let asked = Do {
        home: paths.home.clone().into_os_string().into_vec(),
        ..asked
    };
    let mut connection = match connect(&paths) {
        Ok(connection) => connection,
        Err(Unreachable::Absent) => return say(&started(&paths)),
        Err(Unreachable::Refused) => {
            return say(&format!("the worker cannot be reached {DOCTOR}"));
        }
    };
    let Some(mut reply) = ask(&mut connection, &records, &asked, deadline) else {
        return say("no answer in time: press again");
    };
    if is_loading(&reply.body) {
        // The first phrase of a worker: what words alone would offer is no answer to keep.
        deadline.set(FIRST_MS + LAST_WORD_MS);
        let again = ask(&mut connection, &records, &asked, deadline);
        match again.filter(|reply| !is_loading(&reply.body)) {
            Some(ready) => reply = ready,
            None => return say("the model is still being loaded: press again"),
        }
    }
    let printed = print(&reply.body, &settings, unit);
    replace_if_older(&mut connection, &reply);
    printed
}

/// Asks the worker, as long as the deadline allows.
fn ask(
    connection: &mut Connection,
    records: &Records<'_>,
    asked: &Do,
    deadline: &Deadline,
) -> Option<Reply> {
    let patience = deadline
        .left()
        .saturating_sub(Duration::from_millis(LAST_WORD_MS));
    let asked = Do {
        budget_ms: u32::try_from(patience.as_millis()).unwrap_or(u32::MAX),
        ..asked.clone()
    };
    let request = Request::new(records.session(), request::Body::Do(asked));
    connection.ask(&request, patience).ok()
}

/// Whether the model would have answered a little later.
fn is_loading(body: &Option<reply::Body>) -> bool {
    let Some(reply::Body::Chosen(chosen)) = body else {
        return false;
    };
    !chosen.decided && chosen.model.contains("being loaded")
}

/// Starts the worker, and says so or why it cannot run.
fn started(paths: &Paths) -> String {
    if let Err(why) = paths.create_runtime() {
        return format!("{why} {DOCTOR}");
    }
    match start_worker(Mode::IfAbsent) {
        Ok(()) => "the worker is starting: press again".to_owned(),
        Err(why) => format!("could not start the worker: {why} {DOCTOR}"),
    }
}

/// The request without the home directory; none for an empty line.
fn asked(records: &Records<'_>) -> Option<Do> {
    let line = records.bytes("line");
    let line = line.trim_ascii();
    let phrase = line.strip_prefix(b",").unwrap_or(line).trim_ascii();
    if phrase.is_empty() {
        return None;
    }
    let shell = shell(records.get("shell").unwrap_or_default());
    let names = records.body().iter().take(NAMES);
    Some(Do {
        names: names.filter_map(|record| name(record)).collect(),
        ..request(
            phrase.to_vec(),
            shell.into(),
            records.bytes("cwd"),
            Vec::new(),
        )
    })
}

fn name(record: &[u8]) -> Option<Name> {
    let mut parts = record.splitn(3, |byte| *byte == b'\t');
    let kind = match parts.next()? {
        b"a" => NameKind::Alias,
        b"b" => NameKind::Abbreviation,
        b"f" => NameKind::Function,
        _ => return None,
    };
    let name = parts.next()?.to_vec();
    let text = parts.next().unwrap_or_default();
    Some(Name {
        kind: kind.into(),
        name,
        text: text[..text.len().min(TEXT)].to_vec(),
    })
}

fn print(body: &Option<reply::Body>, settings: &Settings, unit: Unit) -> Option<ExitCode> {
    let Some(reply::Body::Chosen(chosen)) = body else {
        return None;
    };
    let (records, status) = told(chosen, settings, unit);
    write(records)?;
    Some(status)
}

/// Shows a message and leaves the line alone.
fn say(message: &str) -> Option<ExitCode> {
    write(vec![text("message", message)])?;
    Some(ExitCode::SUCCESS)
}

/// Prints the records of an answer between its first and its last.
fn write(records: Vec<Vec<u8>>) -> Option<()> {
    let mut out = b"v1\0".to_vec();
    for record in records {
        out.extend(record);
        out.push(0);
    }
    out.extend(b".\0");
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(&out).ok()?;
    stdout.flush().ok()
}

/// The records of an answer and the exit status. What is wrong with the user's own shortcuts is a part
/// of the message, there being one.
fn told(chosen: &Chosen, settings: &Settings, unit: Unit) -> (Vec<Vec<u8>>, ExitCode) {
    let (mut records, status) = decided(chosen, settings, unit);
    if let Some(problem) = problem(&chosen.problems) {
        let said = records
            .iter_mut()
            .find(|record| record.starts_with(b"message="));
        match said {
            Some(message) => message.extend(format!("; {problem}").into_bytes()),
            None => records.push(text("message", &problem)),
        }
    }
    (records, status)
}

fn decided(chosen: &Chosen, settings: &Settings, unit: Unit) -> (Vec<Vec<u8>>, ExitCode) {
    match Verdict::of(chosen, settings) {
        Verdict::Sure(best) if best.unavailable.is_empty() => (line(best, unit), ExitCode::SUCCESS),
        Verdict::Sure(best) => {
            let message = format!("{}: {}", best.id, best.unavailable);
            (vec![text("message", &message)], ExitCode::SUCCESS)
        }
        Verdict::Unsure(choices) => {
            let usable = choices.iter().filter(|choice| is_usable(choice));
            let offered: Vec<Vec<u8>> = usable.map(|choice| offer(choice, unit)).collect();
            let message = format!("not sure{}", without_model(chosen));
            let records = [vec![text("message", &message)], offered].concat();
            (records, ExitCode::SUCCESS)
        }
        Verdict::Nothing => {
            let message = format!("nothing fits{}", without_model(chosen));
            (vec![text("message", &message)], native())
        }
    }
}

/// Says so when words alone answered though there is a model; one that is switched off is no news.
fn without_model(chosen: &Chosen) -> String {
    match chosen.decided || chosen.model.starts_with("off") {
        true => String::new(),
        false => format!(" without the model: {}", chosen.model),
    }
}

fn is_usable(choice: &Choice) -> bool {
    choice.unavailable.is_empty() && !choice.command.is_empty() && !choice.command.contains(&0)
}

fn line(choice: &Choice, unit: Unit) -> Vec<Vec<u8>> {
    let (cursor, select) = places(choice, unit);
    let mut records = vec![
        [b"line=".as_slice(), &choice.command].concat(),
        text("cursor", &cursor.to_string()),
        text("select", &select.to_string()),
        text("id", &choice.id),
        text("risk", risk_name(choice.risk())),
        text("probability", &format!("{:.3}", choice.probability)),
    ];
    if choice.risk() == reply::Risk::Destructive {
        records.push(text("message", &format!("{}: destructive", choice.title)));
    }
    records
}

fn offer(choice: &Choice, unit: Unit) -> Vec<u8> {
    let (cursor, select) = places(choice, unit);
    let label = printable(choice.title.as_bytes());
    let head = format!("choice={cursor}\t{select}\t{label}\t");
    [head.as_bytes(), &choice.command].concat()
}

/// Where the cursor goes, and the length of the placeholder there.
fn places(choice: &Choice, unit: Unit) -> (usize, usize) {
    let start = usize::try_from(choice.cursor).unwrap_or(usize::MAX);
    let end = start.saturating_add(usize::try_from(choice.placeholder).unwrap_or(0));
    let place = |bytes: usize| match unit {
        Unit::Bytes => bytes.min(choice.command.len()),
        Unit::Chars => char_offset(&choice.command, bytes),
    };
    (place(start), place(end) - place(start))
}

fn text(key: &str, value: &str) -> Vec<u8> {
    format!("{key}={}", printable(value.as_bytes())).into_bytes()
}

/// The name of a risk.
pub(crate) fn risk_name(risk: reply::Risk) -> &'static str {
    match risk {
        reply::Risk::Read => "read",
        reply::Risk::Write => "write",
        reply::Risk::Destructive => "destructive",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(command: &str, probability: f32) -> Choice {
        Choice {
            id: "kill_port".to_owned(),
            title: "Kill\tport".to_owned(),
            risk: reply::Risk::Write.into(),
            command: command.into(),
            cursor: command.find("<&").unwrap_or(command.len()) as u64,
            placeholder: if command.contains("<&") { 7 } else { 0 },
            probability,
            ..Choice::default()
        }
    }

    fn told_of(choices: Vec<Choice>) -> Vec<String> {
        let chosen = Chosen {
            choices,
            decided: true,
            ..Chosen::default()
        };
        let (records, _) = told(&chosen, &Settings::default(), Unit::Chars);
        let text = |record: Vec<u8>| String::from_utf8(record).expect("UTF-8");
        records.into_iter().map(text).collect()
    }

    #[test]
    fn a_sure_answer_is_a_line_with_the_cursor_on_what_is_missing() {
        let records = told_of(vec![choice("端口 <&port> x", 0.97)]);
        let expected = [
            "line=端口 <&port> x",
            "cursor=3",
            "select=7",
            "id=kill_port",
            "risk=write",
            "probability=0.970",
        ];
        assert_eq!(records, expected);
    }

    #[test]
    fn an_unsure_answer_offers() {
        let choices = vec![choice("one", 0.5), choice("two", 0.3)];
        let records = told_of(choices);
        assert_eq!(
            records,
            [
                "message=not sure",
                "choice=3\t0\tKill\u{fffd}port\tone",
                "choice=3\t0\tKill\u{fffd}port\ttwo"
            ]
        );
        let records = told_of(Vec::new());
        assert_eq!(records, ["message=nothing fits"]);
    }

    #[test]
    fn the_message_tells_of_mistakes_in_the_users_file_and_of_a_missing_model() {
        let chosen = |decided: bool, model: &str| Chosen {
            choices: vec![choice("one", 0.97)],
            problems: vec!["f:1: a".to_owned(), "f:2: b".to_owned()],
            decided,
            model: model.to_owned(),
            ..Chosen::default()
        };
        let message = |chosen: &Chosen| {
            let (records, _) = told(chosen, &Settings::default(), Unit::Chars);
            let mut said = records
                .iter()
                .filter(|record| record.starts_with(b"message="));
            let first = String::from_utf8_lossy(said.next().expect("a message")).into_owned();
            assert_eq!(said.next(), None);
            first
        };
        let sure = message(&chosen(true, "m"));
        assert!(sure.starts_with("message=f:1: a, and 1 more"), "{sure}");
        let absent = message(&chosen(false, "no such file"));
        let start = "message=not sure without the model: no such file; f:1: a";
        assert!(absent.starts_with(start), "{absent}");
        let off = message(&chosen(false, "off (set in config.toml)"));
        assert!(off.starts_with("message=not sure; f:1: a"), "{off}");
    }

    #[test]
    fn a_model_that_is_being_loaded_is_worth_waiting_for_and_no_other_is() {
        for (decided, model, expected) in [
            (false, "the model is still being loaded", true),
            (false, "the model is being loaded", true),
            (false, "off (set in config.toml)", false),
            (false, "no such file", false),
            (true, "shortcuts, cpu", false),
        ] {
            let chosen = Chosen {
                decided,
                model: model.to_owned(),
                ..Chosen::default()
            };
            let body = Some(reply::Body::Chosen(chosen));
            assert_eq!(is_loading(&body), expected, "{model}");
        }
        assert!(!is_loading(&None));
    }

    #[test]
    fn what_cannot_be_done_here_puts_nothing_on_the_line() {
        let gone = Choice {
            unavailable: "not available here: it needs x".to_owned(),
            ..choice("", 0.99)
        };
        let records = told_of(vec![gone]);
        assert_eq!(
            records,
            ["message=kill_port: not available here: it needs x"]
        );
    }

    #[test]
    fn the_line_loses_its_comma_and_names_come_with_their_kind() {
        let of = |input: &[u8]| asked(&Records::parse(input));
        let input =
            b"shell=fish\0cwd=/w\0line=, open my mail \0\0a\tgs\tgit status\0f\tmkcd\0x\ty\tz\0";
        let asked = of(input).expect("a request");
        assert_eq!(asked.phrase, b"open my mail");
        assert_eq!(
            (asked.cwd.as_slice(), asked.shell()),
            (&b"/w"[..], request::Shell::Fish)
        );
        let names: Vec<(&[u8], &[u8])> = asked
            .names
            .iter()
            .map(|name| (name.name.as_slice(), name.text.as_slice()))
            .collect();
        assert_eq!(names, [(&b"gs"[..], &b"git status"[..]), (b"mkcd", b"")]);
        assert!(of(b"line=  ,  \0\0").is_none());
    }
}

//! `tabsense doctor`: checks every part and says how to mend what fails.

use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Instant;

use tabsense_config::{Holder, Paths, Settings, holder, socket_dir};
use tabsense_protocol::request::{self, Complete};
use tabsense_protocol::{RELEASE, reply};

use super::uninstall::rc_files;
use super::{ANSWER_LIMIT, Outcome, ask, print, worker};
use crate::start::worker_program;

/// The longest path that fits a socket's address on every system.
const SOCKET_PATH_MAX: usize = 103;

/// Plugins that also take TAB over, and what happens then.
const CLASHES: [(&str, &str); 4] = [
    (
        "fzf-tab",
        "fzf-tab shows its own list; tabsense leaves TAB to it",
    ),
    (
        "zsh-autocomplete",
        "zsh-autocomplete redraws its list at each key; use one of the two",
    ),
    (
        "ble.sh",
        "ble.sh has its own completion; tabsense leaves TAB to it",
    ),
    (
        "inshellisense",
        "inshellisense wraps the shell; start tabsense inside it",
    ),
];

/// What the scripts export when someone else answers TAB in the shell that `doctor` runs in.
const NATIVE_HERE: &str = "__tabsense_native";

/// How one check went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Good,
    Note,
    Bad,
}

struct Check {
    name: &'static str,
    verdict: Verdict,
    message: String,
    hint: String,
}

fn good(name: &'static str, message: impl Into<String>) -> Check {
    Check {
        name,
        verdict: Verdict::Good,
        message: message.into(),
        hint: String::new(),
    }
}

fn note(name: &'static str, message: impl Into<String>, hint: impl Into<String>) -> Check {
    Check {
        name,
        verdict: Verdict::Note,
        message: message.into(),
        hint: hint.into(),
    }
}

fn bad(name: &'static str, message: impl Into<String>, hint: impl Into<String>) -> Check {
    Check {
        name,
        verdict: Verdict::Bad,
        message: message.into(),
        hint: hint.into(),
    }
}

pub(super) fn run(json: bool) -> Outcome {
    let mut checks = vec![program()];
    match Paths::from_env() {
        Ok(paths) => check_places(&paths, &mut checks),
        Err(error) => checks.push(bad("directories", error.to_string(), "")),
    }
    let failed = checks.iter().any(|check| check.verdict == Verdict::Bad);
    print(if json {
        as_json(&checks)
    } else {
        as_text(&checks)
    })?;
    Ok(if failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

fn check_places(paths: &Paths, checks: &mut Vec<Check>) {
    settings(paths, checks);
    checks.push(pause(paths));
    checks.push(directories(paths));
    checks.extend(the_worker(paths));
    for shell in ["zsh", "fish", "bash"] {
        checks.push(shell_version(shell));
    }
    checks.push(rc_lines(paths));
    checks.extend(clashes(paths));
}

fn program() -> Check {
    let program = worker_program();
    let hint = "install both programs into one directory";
    match Command::new(&program).arg("--version").output() {
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stdout);
            let release = text.trim().rsplit(' ').next().unwrap_or_default();
            if release == RELEASE {
                return good("programs", format!("tabsense and tabsensed {RELEASE}"));
            }
            let message = format!(
                "tabsense is {RELEASE}, {} is {release:?}",
                program.display()
            );
            bad("programs", message, hint)
        }
        Err(error) => bad("programs", format!("{}: {error}", program.display()), hint),
    }
}

fn settings(paths: &Paths, checks: &mut Vec<Check>) {
    let (settings, problems) = Settings::load(&paths.config);
    if problems.is_empty() {
        let set = settings
            .effective()
            .iter()
            .filter(|(_, _, set)| *set)
            .count();
        checks.push(good(
            "settings",
            format!("{} ({set} set)", paths.config.display()),
        ));
    }
    for problem in problems {
        let message = format!("{}: {}", problem.place(), problem.message);
        checks.push(bad("settings", message, problem.hint));
    }
}

fn pause(paths: &Paths) -> Check {
    if paths.paused().exists() {
        return note(
            "pause",
            "paused: nothing is recorded or ranked",
            "`tabsense resume` goes on",
        );
    }
    good("pause", "not paused")
}

fn directories(paths: &Paths) -> Check {
    let socket = paths.socket();
    if socket.as_os_str().len() > SOCKET_PATH_MAX {
        let message = format!("{} is too long for a socket", socket.display());
        return bad(
            "directories",
            message,
            "set XDG_RUNTIME_DIR to a shorter private directory",
        );
    }
    if let Err(error) = paths.create_runtime().and_then(|()| paths.create_data()) {
        return bad("directories", error.to_string(), "");
    }
    match socket_dir(paths) {
        Ok(dir) => good("directories", private(paths, dir)),
        Err(error) => bad("directories", error.to_string(), ""),
    }
}

/// A worker that another shell started may serve elsewhere.
fn private(paths: &Paths, dir: &Path) -> String {
    let elsewhere = holder(paths)
        .filter(|worker| worker.socket() != paths.socket())
        .map(|worker| format!("; the worker serves {}", worker.socket().display()));
    format!(
        "{} is private{}",
        dir.display(),
        elsewhere.unwrap_or_default()
    )
}

fn the_worker(paths: &Paths) -> Vec<Check> {
    let complete = Complete {
        line: b"cd ".to_vec(),
        cursor: 3,
        cwd: b"/".to_vec(),
        budget_ms: 1000,
        ..Complete::default()
    };
    if let Err(failure) = worker_up(paths) {
        return vec![failure];
    }
    let start = Instant::now();
    let reply = ask(paths, request::Body::Complete(complete), ANSWER_LIMIT);
    let millis = start.elapsed().as_secs_f64() * 1000.0;
    let mut checks = match reply.map(|reply| reply.body) {
        Ok(Some(reply::Body::Completed(_))) => {
            vec![good(
                "answer",
                format!("the worker ranks in {millis:.1} ms"),
            )]
        }
        _ => vec![bad(
            "answer",
            "the worker does not rank",
            "`tabsense worker restart`",
        )],
    };
    if let Ok((status, release)) = worker::status(paths) {
        if release == RELEASE {
            let message = format!(
                "pid {}, {:.0} MB, {}",
                status.pid, status.rss_mb, status.model
            );
            checks.insert(0, good("worker", message));
        } else {
            let message = format!("the worker is {release}, this is {RELEASE}");
            checks.insert(0, bad("worker", message, "`tabsense worker restart`"));
        }
        checks.push(match status.trouble.as_str() {
            "" => good("history", format!("{} commands", status.history)),
            trouble => bad(
                "history",
                trouble,
                format!("its log is {}", paths.log().display()),
            ),
        });
    }
    checks
}

fn worker_up(paths: &Paths) -> Result<(), Check> {
    let ping = request::Body::Status(request::Status {});
    ask(paths, ping, ANSWER_LIMIT).map(drop).map_err(|_| {
        match holder(paths).filter(Holder::is_worker) {
            Some(worker) => bad(
                "worker",
                format!("the worker (pid {}) does not answer", worker.pid()),
                "`tabsense worker restart` ends it and starts another",
            ),
            None => bad(
                "worker",
                format!("no worker answers at {}", paths.socket().display()),
                "`tabsense worker run` says why",
            ),
        }
    })
}

fn shell_version(shell: &'static str) -> Check {
    let Ok(output) = Command::new(shell).arg("--version").output() else {
        return good(shell, "not installed");
    };
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().next().unwrap_or_default().to_owned();
    let oldest = match shell {
        "bash" => (4, 4),
        "zsh" => (5, 3),
        _ => (3, 4),
    };
    match version(&line) {
        Some(found) if found >= oldest => good(shell, line),
        Some((major, minor)) => note(
            shell,
            format!("{shell} {major}.{minor} keeps its own completion"),
            format!("{shell} {}.{} or later is needed", oldest.0, oldest.1),
        ),
        None => note(shell, format!("could not read its version: {line:?}"), ""),
    }
}

/// The first `MAJOR.MINOR` in a text.
fn version(text: &str) -> Option<(u32, u32)> {
    text.split(|c: char| !c.is_ascii_digit() && c != '.')
        .find_map(|word| {
            let (major, rest) = word.split_once('.')?;
            Some((major.parse().ok()?, rest.split('.').next()?.parse().ok()?))
        })
}

fn rc_text(file: &Path) -> Option<String> {
    let text = String::from_utf8_lossy(&std::fs::read(file).ok()?).into_owned();
    let code = text
        .lines()
        .filter(|line| !line.trim_start().starts_with('#'));
    Some(code.collect::<Vec<_>>().join("\n"))
}

/// Whether this shell is that of `tabsense try`, whose rc file holds the script itself.
fn is_trial() -> bool {
    std::env::var_os("TABSENSE_TRY").is_some()
}

fn rc_lines(paths: &Paths) -> Check {
    if is_trial() {
        return good("rc files", "on for this shell alone");
    }
    let on: Vec<String> = rc_files(&paths.home)
        .iter()
        .filter(|file| rc_text(file).is_some_and(|text| text.contains("tabsense init")))
        .map(|file| file.display().to_string())
        .collect();
    if on.is_empty() {
        return note(
            "rc files",
            "no rc file turns tabsense on",
            "`eval \"$(tabsense init zsh)\"` in ~/.zshrc, the same with bash in ~/.bashrc, or \
             `tabsense init fish | source` in config.fish",
        );
    }
    good("rc files", format!("on in {}", on.join(", ")))
}

/// Each clash once: what this shell itself has seen, then what the rc files load.
fn clashes(paths: &Paths) -> Vec<Check> {
    let mut found = Vec::new();
    let here = std::env::var_os(NATIVE_HERE).unwrap_or_default();
    let here = here.to_string_lossy();
    if !here.is_empty() {
        let message = format!("this shell completes without tabsense: {here}");
        found.push(note("plugins", message, ""));
    }
    let files = match is_trial() {
        true => Vec::new(),
        false => rc_files(&paths.home),
    };
    for file in files {
        let Some(text) = rc_text(&file) else { continue };
        for (plugin, effect) in CLASHES {
            if text.contains(plugin) && !here.contains(plugin) {
                let message = format!("{} loads {plugin}: {effect}", file.display());
                found.push(note("plugins", message, ""));
            }
        }
    }
    found
}

fn as_json(checks: &[Check]) -> String {
    let rows: Vec<_> = checks
        .iter()
        .map(|check| {
            let verdict = match check.verdict {
                Verdict::Good => "good",
                Verdict::Note => "note",
                Verdict::Bad => "bad",
            };
            serde_json::json!({
                "name": check.name, "verdict": verdict,
                "message": check.message, "hint": check.hint,
            })
        })
        .collect();
    format!("{:#}\n", serde_json::json!({ "checks": rows }))
}

fn as_text(checks: &[Check]) -> String {
    let mut text = String::new();
    for check in checks {
        let mark = match check.verdict {
            Verdict::Good => "ok  ",
            Verdict::Note => "note",
            Verdict::Bad => "FAIL",
        };
        text.push_str(&format!("{mark}  {:<12}{}\n", check.name, check.message));
        if !check.hint.is_empty() {
            text.push_str(&format!("      hint: {}\n", check.hint));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::version;

    #[test]
    fn versions_are_read_from_what_the_shells_print() {
        let bash = "GNU bash, version 5.2.15(1)-release (x86_64-pc-linux-gnu)";
        assert_eq!(version(bash), Some((5, 2)));
        assert_eq!(version("GNU bash, version 3.2.57(1)-release"), Some((3, 2)));
        assert_eq!(version("zsh 5.9 (x86_64-debian-linux-gnu)"), Some((5, 9)));
        assert_eq!(version("fish, version 3.6.0"), Some((3, 6)));
        assert_eq!(version("no version"), None);
    }
}

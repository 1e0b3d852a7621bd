//! `tabsense do`: says what a phrase asks for, and runs it only when told to.

use std::io::{IsTerminal, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tabsense_config::{Paths, Settings};
use tabsense_protocol::reply::{self, Choice, Chosen, Risk};
use tabsense_protocol::request;

use super::history::confirm;
use super::{Outcome, ask, connect_or_start, print, unexpected};
use crate::cli::{DoArgs, ShellName};
use crate::failure::Failure;
use crate::hook::is_paused;
use crate::phrase::{Verdict, printable, problem, request, resume};
use crate::phrase_hook::risk_name;
use crate::records::shell;

/// How long a person waits for an answer. Only the first phrase after the worker has started needs
/// more than a moment: three quarters of this are for loading the model.
const LIMIT: Duration = Duration::from_secs(2);

/// What is left for the answer, however long starting the worker took.
const LEAST: Duration = Duration::from_millis(1500);

/// What a busy machine may add before the worker counts as gone.
const GRACE: Duration = Duration::from_secs(2);

const UNSURE: u8 = 3;
const NOTHING: u8 = 4;
const UNAVAILABLE: u8 = 5;
const DECLINED: u8 = 6;
const SHELL_ONLY: u8 = 7;

/// What changes the shell that runs it and nothing else: in a shell of its own it would be lost.
const SHELL_BUILTINS: [&str; 19] = [
    "cd", "pushd", "popd", "exec", "source", ".", "export", "unset", "alias", "unalias", "set",
    "setopt", "shopt", "umask", "ulimit", "hash", "rehash", "fg", "bg",
];

pub(super) fn run(args: &DoArgs) -> Outcome {
    let start = Instant::now();
    let paths = Paths::from_env()?;
    if is_paused(&paths) {
        return Err(Failure::new("paused").hint(resume().trim_start_matches("hint: ")));
    }
    let (settings, _) = Settings::load(&paths.config);
    let cwd = match &args.cwd {
        Some(cwd) => std::path::absolute(cwd)
            .map_err(|error| Failure::new(format!("{}: {error}", cwd.display())))?,
        None => std::env::current_dir()
            .map_err(|error| Failure::new(format!("no working directory: {error}")))?,
    };
    let words: Vec<&[u8]> = args.phrase.iter().map(|word| word.as_bytes()).collect();
    let shell_name = args.shell.or_else(own_shell).unwrap_or(ShellName::Bash);
    let mut asked = request(
        words.join(&b' '),
        shell(shell_name.name().as_bytes()).into(),
        cwd.clone().into_os_string().into_vec(),
        paths.home.as_os_str().as_bytes().to_vec(),
    );
    drop(connect_or_start(&paths)?);
    let left = LIMIT.saturating_sub(start.elapsed()).max(LEAST);
    asked.budget_ms = u32::try_from(left.as_millis()).unwrap_or(u32::MAX);
    let reply = ask(&paths, request::Body::Do(asked), left + GRACE)?;
    let Some(reply::Body::Chosen(chosen)) = reply.body else {
        return Err(unexpected());
    };
    let verdict = Verdict::of(&chosen, &settings);
    if args.run
        && let Verdict::Sure(best) = verdict
        && best.unavailable.is_empty()
    {
        return run_it(best, shell_name, &cwd);
    }
    print(match (args.json, args.explain) {
        (true, _) => format!("{:#}\n", as_json(&chosen, verdict)),
        (_, true) => as_text(&chosen, verdict) + &explained(&chosen, &settings),
        _ => as_text(&chosen, verdict),
    })?;
    Ok(status(verdict))
}

/// The shell of whoever asks.
fn own_shell() -> Option<ShellName> {
    let shell = PathBuf::from(std::env::var_os("SHELL")?);
    match shell.file_name()?.to_str()? {
        "zsh" => Some(ShellName::Zsh),
        "fish" => Some(ShellName::Fish),
        "bash" => Some(ShellName::Bash),
        _ => None,
    }
}

fn status(verdict: Verdict<'_>) -> ExitCode {
    match verdict {
        Verdict::Sure(best) if best.unavailable.is_empty() => ExitCode::SUCCESS,
        Verdict::Sure(_) => ExitCode::from(UNAVAILABLE),
        Verdict::Unsure(_) => ExitCode::from(UNSURE),
        Verdict::Nothing => ExitCode::from(NOTHING),
    }
}

/// Runs what only reads, asks before anything else; returns only when it does not run.
fn run_it(best: &Choice, shell: ShellName, cwd: &Path) -> Outcome {
    let said = format!(
        "{}, {} ({})\n  {}\n",
        best.id,
        percent(best.probability),
        risk_name(best.risk()),
        printable(&best.command)
    );
    let declined = |why: &str| {
        let _ = writeln!(std::io::stderr().lock(), "{said}tabsense: {why}");
        Ok(ExitCode::from(DECLINED))
    };
    if let Some(name) = shell_builtin(&best.command) {
        print(format!("{}\n", printable(&best.command)))?;
        let why = format!("not run: only your shell itself can do `{name}`");
        writeln!(std::io::stderr().lock(), "tabsense: {why}")?;
        return Ok(ExitCode::from(SHELL_ONLY));
    }
    let missing = best.slots.iter().find(|slot| slot.value.is_none());
    if let Some(slot) = missing {
        return declined(&format!(
            "not run: the phrase does not say the {}",
            slot.name
        ));
    }
    if best.risk() != Risk::Read {
        if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
            return declined("not run: nobody is there to say yes");
        }
        write!(std::io::stderr().lock(), "{said}")?;
        if !confirm("run it?")? {
            return Ok(ExitCode::from(DECLINED));
        }
    }
    let program = shell.name();
    let command = std::ffi::OsStr::from_bytes(&best.command);
    let error = Command::new(program)
        .arg("-c")
        .arg(command)
        .current_dir(cwd)
        .exec();
    Err(Failure::new(format!("could not run {program}: {error}"))
        .hint("name another shell: `--shell bash`"))
}

/// The command of the shell's own in a line that only this shell can run with effect: the first word of
/// the line or of what follows `&&`, `||` or `;`.
fn shell_builtin(line: &[u8]) -> Option<&'static str> {
    let line = String::from_utf8_lossy(line);
    let parts = line.split(['&', '|', ';']);
    let mut first = parts.filter_map(|part| part.split_whitespace().next());
    first.find_map(|word| SHELL_BUILTINS.into_iter().find(|name| *name == word))
}

fn percent(probability: f32) -> String {
    format!("{:.0} %", probability * 100.0)
}

fn as_text(chosen: &Chosen, verdict: Verdict<'_>) -> String {
    let mut text = match verdict {
        Verdict::Sure(best) if !best.unavailable.is_empty() => {
            let probability = percent(best.probability);
            format!("{}, {probability}: {}\n", best.id, best.unavailable)
        }
        Verdict::Sure(best) => {
            let (command, risk) = (printable(&best.command), risk_name(best.risk()));
            format!(
                "{command}\n  {}, {} ({risk})\n",
                best.id,
                percent(best.probability)
            )
        }
        Verdict::Unsure(choices) => {
            let rows: String = choices
                .iter()
                .map(|choice| row(choice, chosen.decided))
                .collect();
            format!("not sure{}; perhaps\n{rows}", by_words(chosen))
        }
        Verdict::Nothing => format!("nothing fits{}\n", by_words(chosen)),
    };
    if let Some(problem) = problem(&chosen.problems) {
        text.push_str(&format!("{problem}\n"));
    }
    text
}

/// Says so when the model did not answer.
fn by_words(chosen: &Chosen) -> String {
    match chosen.decided {
        true => String::new(),
        false => format!(" (by words alone; the model: {})", chosen.model),
    }
}

fn row(choice: &Choice, decided: bool) -> String {
    let sure = match decided {
        true => percent(choice.probability),
        false => String::new(),
    };
    // What it would need is told when it is what is meant.
    let line = match choice.unavailable.split(':').next().unwrap_or_default() {
        "" => printable(&choice.command),
        why => why.to_owned(),
    };
    format!(
        "{sure:>6}  {}: {line}\n",
        printable(choice.title.as_bytes())
    )
}

/// Why the answer is what it is.
fn explained(chosen: &Chosen, settings: &Settings) -> String {
    let mut text = format!(
        "\n{} shortcuts known, {} texts to be read; the model: {}\n\
         taken from {}, offered from {}; none of these {}\n",
        chosen.known,
        chosen.unread,
        chosen.model,
        percent(settings.do_threshold()),
        percent(settings.do_floor()),
        percent(chosen.none),
    );
    for choice in &chosen.choices {
        text.push_str(&format!(
            "\n{} {}, {} ({})\n  like “{}”: {} of the phrase's words, nearness {:.2}\n",
            percent(choice.probability),
            printable(choice.id.as_bytes()),
            choice.source,
            risk_name(choice.risk()),
            printable(choice.text.as_bytes()),
            percent(choice.words),
            choice.similarity,
        ));
        let line = match choice.unavailable.as_str() {
            "" => printable(&choice.command),
            why => why.to_owned(),
        };
        text.push_str(&format!("  {line}\n"));
        for slot in &choice.slots {
            let value = slot
                .value
                .as_deref()
                .map_or("missing".to_owned(), printable);
            text.push_str(&format!("  {}: {value}\n", printable(slot.name.as_bytes())));
        }
        if !choice.by.is_empty() {
            text.push_str(&format!("  because of {}\n", printable(&choice.by)));
        }
        if !choice.attribution.is_empty() {
            text.push_str(&format!("  {}\n", choice.attribution));
        }
    }
    if chosen.problems.len() > 1 {
        text.push('\n');
    }
    for problem in chosen.problems.iter().filter(|_| chosen.problems.len() > 1) {
        text.push_str(&format!("{}\n", printable(problem.as_bytes())));
    }
    text.push('\n');
    for stage in &chosen.stages {
        text.push_str(&format!(
            "{} {:.1} ms  ",
            stage.name,
            stage.micros as f64 / 1e3
        ));
    }
    text.trim_end().to_owned() + "\n"
}

fn as_json(chosen: &Chosen, verdict: Verdict<'_>) -> Value {
    let choices: Vec<Value> = chosen.choices.iter().map(choice_json).collect();
    let mut value = json!({
        "verdict": verdict.name(),
        "none": chosen.none,
        "decided": chosen.decided,
        "model": chosen.model,
        "known": chosen.known,
        "unread": chosen.unread,
        "problems": chosen.problems,
        "choices": choices,
    });
    if let Verdict::Sure(best) = verdict {
        for key in ["id", "probability", "command", "risk", "slots"] {
            value[key] = choice_json(best)[key].take();
        }
    }
    value
}

fn choice_json(choice: &Choice) -> Value {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let slots: serde_json::Map<String, Value> = choice
        .slots
        .iter()
        .map(|slot| (slot.name.clone(), json!(slot.value.as_deref().map(text))))
        .collect();
    let or_null = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    json!({
        "id": choice.id,
        "title": choice.title,
        "description": choice.description,
        "source": choice.source,
        "attribution": or_null(&choice.attribution),
        "risk": risk_name(choice.risk()),
        "probability": choice.probability,
        "command": choice.unavailable.is_empty().then(|| text(&choice.command)),
        "unavailable": or_null(&choice.unavailable),
        "cursor": choice.cursor,
        "placeholder": choice.placeholder,
        "slots": slots,
        "text": choice.text,
        "words": choice.words,
        "similarity": choice.similarity,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_the_shell_can_do_is_told_from_what_a_program_does() {
        for (line, builtin) in [
            ("cd ..", Some("cd")),
            ("mkdir -p x && cd x", Some("cd")),
            ("exec \"$SHELL\" -l", Some("exec")),
            ("source ~/.zshrc", Some("source")),
            ("git status", None),
            ("docker exec -it web sh", None),
            ("echo cd", None),
            ("find . -exec ls {} +", None),
        ] {
            assert_eq!(shell_builtin(line.as_bytes()), builtin, "{line}");
        }
    }

    #[test]
    fn an_answer_without_the_model_says_so() {
        let chosen = Chosen {
            model: "the model is still being loaded".to_owned(),
            ..Chosen::default()
        };
        let text = as_text(&chosen, Verdict::Nothing);
        assert!(
            text.contains("by words alone") && text.contains("still being loaded"),
            "{text}"
        );
        let sure = Chosen {
            decided: true,
            ..Chosen::default()
        };
        assert_eq!(as_text(&sure, Verdict::Nothing), "nothing fits\n");
    }
}

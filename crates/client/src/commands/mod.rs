//! One file a subcommand, and the way from the command line to it.

mod adapt;
mod bench;
mod complete;
mod completions;
mod config;
mod decide;
mod do_phrase;
mod doctor;
mod first_prompt;
mod history;
mod init;
mod model;
mod pause;
mod try_shell;
mod uninstall;
mod worker;

use std::ffi::OsStr;
use std::io::Write;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::{Parser, ValueEnum};
use tabsense_config::{Holder, Paths, holder, is_private};
use tabsense_protocol::{FrameError, Reply, Request, reply, request};

use crate::cli::{Cli, Command, ShellName};
use crate::connection::{Connection, is_absent, is_silence};
use crate::failure::Failure;
use crate::start::{Mode, start_worker};

/// What every subcommand returns.
type Outcome = Result<ExitCode, Failure>;

/// How long a person waits for a worker to come up.
const START_LIMIT: Duration = Duration::from_secs(5);

/// How long one start is given before the next is tried.
const TRY_LIMIT: Duration = Duration::from_millis(500);

/// How long a person waits for an answer.
const ANSWER_LIMIT: Duration = Duration::from_secs(5);

/// Parses the command line and runs what it asks for.
pub(crate) fn run() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    finish(dispatch(cli.command))
}

/// `tabsense init SHELL`, which each start of a shell waits for: nothing else is looked at, as the whole
/// command line takes longer to set up than the script to print.
pub(crate) fn init(shell: &OsStr) -> ExitCode {
    let name = shell
        .to_str()
        .and_then(|name| ShellName::from_str(name, false).ok());
    name.map_or_else(run, |shell| finish(init::run(shell)))
}

fn finish(outcome: Outcome) -> ExitCode {
    outcome.unwrap_or_else(|failure| {
        failure.print();
        ExitCode::FAILURE
    })
}

fn dispatch(command: Command) -> Outcome {
    match command {
        Command::Try { shell } => try_shell::run(shell),
        Command::Init { shell, part: None } => init::run(shell),
        Command::Init {
            shell,
            part: Some(part),
        } => init::part(shell, part),
        Command::Complete(args) => complete::run(args),
        Command::Worker { command } => worker::run(&command),
        Command::Import { source, file } => history::import(source, file),
        Command::Forget { command, all, yes } => history::forget(command, all, yes),
        Command::Why { not_recorded } => history::why_not_recorded(not_recorded),
        Command::Adapt { reset, json } => adapt::run(reset, json),
        Command::Pause => pause::pause(),
        Command::Resume => pause::resume(),
        Command::Config { command } => config::run(command.as_ref()),
        Command::Doctor { json } => doctor::run(json),
        Command::Eval { command } => bench::eval(&command),
        Command::Bench {
            json,
            quick,
            prompts,
            model,
        } => {
            let flags = [(json, "--json"), (quick, "--quick"), (prompts, "--prompts")];
            bench::bench(&flags, &model)
        }
        Command::Model { command } => model::run(&command),
        Command::Decide {
            state,
            questions,
            json,
        } => decide::run(&state, &questions, json),
        Command::Do(args) => do_phrase::run(&args),
        Command::Uninstall { purge, yes } => uninstall::run(purge, yes),
        Command::Completions { directory } => completions::write(&directory),
        Command::Prompt => Err(Failure::new("`prompt` is for the shells' hooks")
            .hint("`tabsense init zsh` prints the script that calls it")),
    }
}

/// Writes to standard output.
fn print(text: impl AsRef<[u8]>) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(text.as_ref())?;
    stdout.flush()?;
    Ok(())
}

/// Asks the running worker.
fn ask_running(paths: &Paths, body: request::Body, limit: Duration) -> Result<Reply, Failure> {
    let reply = connect(paths)?.ask(&Request::new(Vec::new(), body), limit);
    accepted(reply, paths)
}

/// Asks the worker, starting it when it is not running. Every request may be repeated.
fn ask(paths: &Paths, body: request::Body, limit: Duration) -> Result<Reply, Failure> {
    let request = Request::new(Vec::new(), body);
    match ask_living(connect_or_start(paths)?, &request, limit) {
        // It met the last moments of a worker.
        Err(FrameError::Io(error)) if has_hung_up(&error) => {
            let reply = ask_living(connect_or_start(paths)?, &request, limit);
            accepted(reply, paths)
        }
        reply => accepted(reply, paths),
    }
}

/// Asks a worker which, where its answer may take long, has shown first that it lives.
fn ask_living(
    mut connection: Connection,
    request: &Request,
    limit: Duration,
) -> Result<Reply, FrameError> {
    if limit > ANSWER_LIMIT {
        let status = request::Body::Status(request::Status {});
        connection.ask(&Request::new(Vec::new(), status), ANSWER_LIMIT)?;
    }
    connection.ask(request, limit)
}

fn has_hung_up(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
    matches!(error.kind(), BrokenPipe | ConnectionReset | UnexpectedEof)
}

/// The reply, unless there was none or it is a refusal.
fn accepted(reply: Result<Reply, FrameError>, paths: &Paths) -> Result<Reply, Failure> {
    let reply = reply.map_err(|error| match &error {
        FrameError::Io(io) if is_silence(io) => no_answer(paths),
        _ => Failure::new(format!(
            "the worker at {} did not answer: {error}",
            paths.socket().display()
        ))
        .hint("`tabsense worker restart`"),
    })?;
    if let Some(reply::Body::Refused(refused)) = &reply.body {
        let failure = Failure::new(&refused.message);
        return Err(match refused.hint.as_str() {
            "" => failure,
            hint => failure.hint(hint),
        });
    }
    Ok(reply)
}

/// The worker is there and says nothing.
fn no_answer(paths: &Paths) -> Failure {
    let which = match holder(paths).filter(Holder::is_worker) {
        Some(holder) => format!("(pid {})", holder.pid()),
        None => format!("at {}", paths.socket().display()),
    };
    Failure::new(format!("the worker {which} does not answer"))
        .hint("`tabsense worker restart` ends it and starts another")
}

/// Connects to the worker that runs, also where its socket lies in another shell's place.
fn open(paths: &Paths) -> std::io::Result<Connection> {
    Connection::to(paths).or_else(|error| match holder(paths) {
        Some(holder) if is_absent(&error) && holder.socket().parent().is_some_and(is_private) => {
            Connection::open(holder.socket())
        }
        _ => Err(error),
    })
}

/// The same; what is wrong is said in words.
fn connect(paths: &Paths) -> Result<Connection, Failure> {
    open(paths).map_err(|error| match &error {
        _ if is_absent(&error) => not_running(paths),
        _ if is_silence(&error) => no_answer(paths),
        _ => Failure::new(format!(
            "could not connect to the worker at {}: {error}",
            paths.socket().display()
        ))
        .hint("`tabsense worker restart`"),
    })
}

fn not_running(paths: &Paths) -> Failure {
    Failure::new(format!(
        "no worker is running at {}",
        paths.socket().display()
    ))
    .hint("`tabsense worker start`")
}

fn connect_or_start(paths: &Paths) -> Result<Connection, Failure> {
    paths.create_runtime()?;
    match Connection::to(paths) {
        Ok(connection) => return Ok(connection),
        Err(error) if is_silence(&error) => return Err(no_answer(paths)),
        Err(_) => {}
    }
    let end = Instant::now() + START_LIMIT;
    loop {
        start_worker(Mode::IfAbsent).map_err(|error| {
            Failure::new(format!("could not start the worker: {error}"))
                .hint("`tabsensed` must lie beside `tabsense` or in PATH")
        })?;
        // One that met the last moments of another has given up: then it is started again.
        match wait_for_worker(paths) {
            Err(error) if Instant::now() > end => {
                return Err(Failure::new(format!(
                    "the worker did not come up at {}: {error}",
                    paths.socket().display()
                ))
                .hint(format!("its log is {}", paths.log().display())));
            }
            Err(_) => {}
            Ok(connection) => return Ok(connection),
        }
    }
}

/// Waits a little for a worker to serve the socket.
fn wait_for_worker(paths: &Paths) -> std::io::Result<Connection> {
    let end = Instant::now() + TRY_LIMIT;
    loop {
        match Connection::to(paths) {
            Err(error) if Instant::now() > end => return Err(error),
            Err(_) => std::thread::sleep(Duration::from_millis(5)),
            opened => return opened,
        }
    }
}

/// An answer of a kind that was not asked for.
fn unexpected() -> Failure {
    Failure::new("the worker gave an answer of another kind").hint("`tabsense worker restart`")
}

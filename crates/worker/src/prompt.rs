//! What a prompt hook tells: the last command, and where the shell is now.

use std::borrow::Cow;
use std::sync::Arc;

use tabsense_history::{Record, redact};
use tabsense_protocol::request::{Prompt, Ran, Shell};

use crate::ahead;
use crate::offers::{Answer, taken};
use crate::places::Places;
use crate::recorder::Job;
use crate::sessions::Command;
use crate::state::Worker;

/// Commands up to this length are looked through for secrets at once, which takes less than a
/// millisecond.
const SHORT: usize = 4096;

/// Records what ran, and gets the listing and what the model may have to read ready. Waits for nothing.
pub(crate) fn note(worker: &Arc<Worker>, session: &[u8], prompt: Prompt) {
    let shell = prompt.shell();
    if worker.first_prompt(shell) {
        worker.recorder.send(Job::FirstRun {
            shell,
            histfile: prompt.histfile,
        });
    }
    match prompt.ran {
        Some(ran) => {
            let answers = match prompt.late {
                true => worker.lock_answers().take_aside(session),
                false => worker.lock_answers().take(session),
            };
            record(worker, session, shell, ran, answers);
        }
        None if prompt.late => worker.lock_answers().set_aside(session),
        // What ran may not be recorded, or nothing did.
        None => drop(worker.lock_answers().take(session)),
    }
    let places = Places::new(&prompt.cwd, &prompt.home);
    worker.listings.prefetch(&places.cwd);
    let (warm, session) = (Arc::clone(worker), session.to_vec());
    let ahead = move || ahead::read_likely(&warm, &session, &places);
    worker.recorder.send(Job::Then(Box::new(ahead)));
}

fn record(worker: &Arc<Worker>, session: &[u8], shell: Shell, ran: Ran, answers: Vec<Answer>) {
    // Secrets end here: neither memory nor disk sees them.
    let redacted = match ran.command.len() <= SHORT {
        true => redact(&ran.command),
        // Other requests go on elsewhere meanwhile; what is asked next here shall see the command.
        false => tokio::task::block_in_place(|| redact(&ran.command)),
    };
    let offers = match &redacted {
        Cow::Borrowed(command) => taken(answers, command, ran.start_ms),
        // Nothing is kept of what stood beside a secret.
        Cow::Owned(_) => Vec::new(),
    };
    let command = redacted.into_owned();
    let remembered = Command {
        command: command.clone(),
        cwd: ran.cwd.clone(),
        exit: ran.exit,
        start_ms: ran.start_ms,
    };
    worker.lock_sessions().push(session, remembered);
    let record = Record {
        command,
        cwd: ran.cwd,
        exit: ran.exit,
        start_ms: ran.start_ms,
        duration_ms: ran.duration_ms,
        session: session.to_vec(),
        shell: shell_name(shell).to_owned(),
        host: worker.host.clone(),
    };
    worker.recorder.send(Job::Record(record, offers));
}

/// The shell's name in the store.
pub(crate) fn shell_name(shell: Shell) -> &'static str {
    match shell {
        Shell::Zsh => "zsh",
        Shell::Fish => "fish",
        Shell::Bash => "bash",
        Shell::Unspecified => "",
    }
}

//! What a prompt hook tells: the last command, and where the shell is now.

use std::sync::Arc;

use tabsense_history::{Record, redact};
use tabsense_protocol::request::{Prompt, Ran, Shell};

use crate::places::path;
use crate::recorder::Job;
use crate::sessions::Command;
use crate::state::Worker;

/// Records what ran and gets the listing ready. Waits for nothing.
pub(crate) fn note(worker: &Arc<Worker>, session: &[u8], prompt: Prompt) {
    let shell = prompt.shell();
    if worker.first_prompt(shell) {
        worker.recorder.send(Job::FirstRun {
            shell,
            histfile: prompt.histfile,
        });
    }
    if let Some(ran) = prompt.ran {
        record(worker, session, shell, ran);
    }
    worker.listings.prefetch(&path(&prompt.cwd));
}

fn record(worker: &Arc<Worker>, session: &[u8], shell: Shell, ran: Ran) {
    // Secrets end here: neither memory nor disk sees them.
    let command = redact(&ran.command).into_owned();
    let remembered = Command {
        command: command.clone(),
        cwd: ran.cwd.clone(),
        exit: ran.exit,
    };
    worker.lock_sessions().push(session, remembered);
    worker.recorder.send(Job::Record(Record {
        command,
        cwd: ran.cwd,
        exit: ran.exit,
        start_ms: ran.start_ms,
        duration_ms: ran.duration_ms,
        session: session.to_vec(),
        shell: shell_name(shell).to_owned(),
        host: worker.host.clone(),
    }));
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

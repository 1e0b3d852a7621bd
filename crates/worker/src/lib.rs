//! The worker: a server on a Unix socket that keeps history, listings and statistics warm.
//!
//! A request passes through these files in this order: [`server`] reads the frame, [`complete`]
//! gathers and ranks, [`server`] writes the answer. [`prompt`] takes what the prompt hooks tell,
//! [`recorder`] owns the store, [`run`] owns the life of the process, [`lock`] sees to it that there is one.

mod adapt;
mod ahead;
mod arguments;
mod complete;
mod decide;
mod eval;
mod handover;
mod imports;
mod judge;
mod lock;
mod log;
mod memory;
mod metrics;
mod model_tasks;
mod offers;
mod places;
mod prompt;
mod recorder;
mod run;
mod server;
mod sessions;
mod shortcuts;
mod sources;
mod state;
mod sure;

use std::process::ExitCode;

/// Runs `tabsensed`.
pub fn main() -> ExitCode {
    match arguments::parse() {
        Ok(arguments::Task::Run(mode)) => run::run(&mode),
        Ok(arguments::Task::Eval(what)) => eval::run(&what),
        Ok(arguments::Task::Bench(options)) => eval::bench(&options),
        Ok(arguments::Task::Model(task)) => model_tasks::run(&task),
        Err(code) => code,
    }
}

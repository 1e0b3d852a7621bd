//! Everything `tabsense` does: the hooks that shells start, and the command line for people.
//!
//! The hooks ([`hook`]) are the hot path and come first: they parse nothing but two words and read
//! one small file. Work that needs the history, the ranking or the model is done by the worker;
//! this crate links none of it.

mod cli;
mod commands;
mod connection;
mod deadline;
mod failure;
mod hook;
mod phrase;
mod phrase_hook;
mod records;
mod stages;
mod start;

use std::process::ExitCode;

/// Runs `tabsense`.
pub fn main() -> ExitCode {
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    match words.as_slice() {
        [command, flag, ..] if flag == "--hook" => match command.to_str() {
            Some("complete") => hook::complete(),
            Some("prompt") => hook::prompt(),
            Some("do") => phrase_hook::run(),
            _ => commands::run(),
        },
        [command, shell] if command == "init" => commands::init(shell),
        _ => commands::run(),
    }
}

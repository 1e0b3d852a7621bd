//! zsh.

mod faults;
mod names;
mod options;
mod order;
mod record;
mod styles;
mod terminal;
mod worker;

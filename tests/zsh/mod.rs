//! zsh.

mod faults;
mod late;
mod meaning;
mod names;
mod options;
mod order;
mod plugins;
mod record;
mod styles;
mod sure;
mod terminal;
mod worker;

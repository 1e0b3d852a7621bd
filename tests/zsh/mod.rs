//! zsh.

mod terminal;

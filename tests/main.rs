//! Real shells in a pseudo-terminal: what a person sees when TAB is pressed.

mod bash;
mod common;
mod fish;
mod program;
mod zsh;

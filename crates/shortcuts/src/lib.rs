//! What people can ask for in their own words: the shortcuts, where they come from, how their
//! commands are filled, and which of them share words with a phrase.
//!
//! A [`Shortcut`] is one action: texts in several languages, commands for each platform, a
//! [`Risk`]. The built-in ones and the user's own come from TOML ([`parse`]); [`sources`] makes more
//! of what is there anyway: aliases, targets of the Makefile, applications, pages of tldr.
//! [`Index`] finds those that share words with a phrase. Which of them is meant is decided
//! elsewhere; [`Shortcut::command`] then makes a line of the one that was chosen: the platform's
//! variant is taken, the project looked at ([`project`]) and the slots filled from the phrase
//! ([`slots`]).
//!
//! Nothing here starts a program or evaluates text. Files are read up to a size, lists up to a
//! length.

mod builtin;
mod command;
mod lexical;
mod parse;
mod platform;
pub mod project;
mod shortcut;
pub mod slots;
pub mod sources;
mod template;

pub use builtin::builtin;
pub use command::{Here, Line, Unavailable};
pub use lexical::{Hit, Index, search};
pub use parse::parse;
pub use platform::{Desktop, Platform, System};
pub use shortcut::{Action, Localized, Risk, Shortcut, Source, SwitchWords, Text, Variant};
pub use template::{Filled, Kind, Slot, Template, TemplateError, Value};

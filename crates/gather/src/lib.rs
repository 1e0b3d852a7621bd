//! Where candidates come from: the shell line under the cursor, directory
//! listings, the commands in `PATH`, and the rules that match a typed prefix
//! with a name.
//!
//! Everything here blocks at most for the budget that the caller gives, starts
//! no program, and treats text as bytes: file names need not be UTF-8.

pub mod commands;
pub mod line;
pub mod listing;
pub mod matching;
pub mod path;
pub mod project;

pub use commands::{Command, Commands};
pub use line::{Dialect, Parsed, Position, Quote, Tilde, parse, quote};
pub use listing::{Entry, Hit, Limits, Listing, Listings, State, Unavailable};
pub use matching::{Matcher, quality};
pub use project::Projects;

//! Where tabsense keeps its things, and what the user can set.
//!
//! [`Paths`] says where everything lies and checks that it is this user's; [`Settings`] reads
//! `config.toml`. A bad value never stops anything: it is reported as a [`Problem`] and the default
//! is used. [`set_text`] changes one key and nothing else.

mod edit;
mod holder;
mod keys;
mod paths;
mod settings;

pub use edit::{EditError, set_text};
pub use holder::{Holder, holder, is_held, try_lock};
pub use keys::{KEYS, Key, reference};
pub use paths::{Paths, PathsError, is_private, socket_dir, was_imported};
pub use settings::{Problem, Settings};

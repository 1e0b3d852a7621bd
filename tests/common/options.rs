//! What a test's shell starts with.

use super::Fake;
use std::path::PathBuf;

/// Which client answers TAB.
#[derive(Clone, Copy, Debug)]
pub(super) enum Client {
    /// The product is not loaded: the shell as it is, to compare with.
    Bare,
    /// The script from the source tree with a scripted client.
    Fake(Fake),
    /// The rc line of the product with the real client and worker.
    Real,
}

/// What a test's shell starts with. Built by [`Options::bare`], [`Options::fake`] or [`Options::real`].
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(super) client: Client,
    pub(super) before: String,
    pub(super) after: String,
    pub(super) rc: Option<String>,
    pub(super) env: Vec<(String, Option<String>)>,
    pub(super) args: Option<Vec<String>>,
    pub(super) cwd: Option<PathBuf>,
}

impl Options {
    fn new(client: Client) -> Self {
        Self {
            client,
            before: String::new(),
            after: String::new(),
            rc: None,
            env: Vec::new(),
            args: None,
            cwd: None,
        }
    }

    /// The shell without the product.
    pub(crate) fn bare() -> Self {
        Self::new(Client::Bare)
    }

    /// The script from the source tree; a scripted client answers as `fake` says.
    pub(crate) fn fake(fake: Fake) -> Self {
        Self::new(Client::Fake(fake))
    }

    /// The product as people load it.
    pub(crate) fn real() -> Self {
        Self::new(Client::Real)
    }

    /// Adds rc lines before the init line (after the prompt and, in zsh, compinit).
    pub(crate) fn before(mut self, lines: &str) -> Self {
        self.before.push_str(lines);
        self.before.push('\n');
        self
    }

    /// Adds rc lines after the init line.
    pub(crate) fn after(mut self, lines: &str) -> Self {
        self.after.push_str(lines);
        self.after.push('\n');
        self
    }

    /// Replaces the whole rc file. `{init}` stands for the init line, `{prompt}` for the prompt lines.
    pub(crate) fn rc(mut self, text: &str) -> Self {
        self.rc = Some(text.to_owned());
        self
    }

    /// Sets an environment variable.
    pub(crate) fn env(mut self, key: &str, value: &str) -> Self {
        self.env.push((key.to_owned(), Some(value.to_owned())));
        self
    }

    /// Takes an environment variable out.
    pub(crate) fn env_remove(mut self, key: &str) -> Self {
        self.env.push((key.to_owned(), None));
        self
    }

    /// Replaces the shell's arguments.
    pub(crate) fn args(mut self, args: &[&str]) -> Self {
        self.args = Some(args.iter().map(|&arg| arg.to_owned()).collect());
        self
    }

    /// Starts in another directory than the home's work directory.
    pub(crate) fn cwd(mut self, directory: impl Into<PathBuf>) -> Self {
        self.cwd = Some(directory.into());
        self
    }
}

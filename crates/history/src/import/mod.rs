//! Readers of other tools' history. Each streams: memory does not grow with the file.
//!
//! Entries that cannot be read are skipped and counted, never a reason to stop. Commands are
//! given as they are in the file; [`crate::Store::import`] redacts them.

mod atuin;
mod bash;
mod fish;
mod lines;
pub mod zoxide;
mod zsh;

use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

pub use atuin::Atuin;
pub use bash::Bash;
pub use fish::Fish;
pub use zsh::{Zsh, metafy, unmetafy};

use crate::{Error, Record, Source};

/// A stream of entries in the order of the file.
pub trait Entries {
    /// The kind of file.
    fn source(&self) -> Source;

    /// The next entry, `None` at the end.
    ///
    /// # Errors
    /// [`Error::Io`] when the file cannot be read on; damaged entries are skipped instead.
    fn next_record(&mut self) -> Result<Option<Record>, Error>;

    /// Damaged entries and lines skipped so far.
    fn skipped(&self) -> u64;
}

/// A file that can be imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// zsh's history file, plain or extended.
    Zsh,
    /// bash's history file, with or without stamps.
    Bash,
    /// fish's `fish_history`.
    Fish,
    /// Atuin's `history.db`.
    Atuin,
    /// zoxide's `db.zo`: directories, see [`crate::Store::import_zoxide`].
    Zoxide,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 5] = [Self::Zsh, Self::Bash, Self::Fish, Self::Atuin, Self::Zoxide];

    /// Name for people and for the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Zsh => "zsh",
            Self::Bash => "bash",
            Self::Fish => "fish",
            Self::Atuin => "atuin",
            Self::Zoxide => "zoxide",
        }
    }

    /// The format with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// Where the tool keeps its file, after its own variables; `None` without a home.
    ///
    /// `HISTFILE` counts for the shell that the caller says it belongs to: pass it only for that
    /// one, since shells rarely export it and a child of another shell may inherit it.
    #[must_use]
    pub fn default_path(self, env: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
        let var = |name: &str| {
            env(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        let home = || var("HOME");
        let data = || {
            var("XDG_DATA_HOME")
                .filter(|path| path.is_absolute())
                .or_else(|| Some(home()?.join(".local/share")))
        };
        match self {
            Self::Zsh => {
                var("HISTFILE").or_else(|| Some(var("ZDOTDIR").or_else(home)?.join(".zsh_history")))
            }
            Self::Bash => var("HISTFILE").or_else(|| Some(home()?.join(".bash_history"))),
            Self::Fish => {
                let name = match var("fish_history") {
                    Some(name) if name != Path::new("default") => name.into_os_string(),
                    _ => OsString::from("fish"),
                };
                let mut file = name;
                file.push("_history");
                Some(data()?.join("fish").join(file))
            }
            Self::Atuin => match var("ATUIN_DB_PATH") {
                // As in its `config.toml`, a leading `~` is the home.
                Some(file) => match file.strip_prefix("~") {
                    Ok(rest) => Some(home()?.join(rest)),
                    Err(_) => Some(file),
                },
                None => Some(data()?.join("atuin/history.db")),
            },
            Self::Zoxide => {
                // Unlike the others, it follows the system's own habits on macOS.
                let usual = || match cfg!(target_os = "macos") {
                    true => Some(home()?.join("Library/Application Support")),
                    false => data(),
                };
                let directory = var("_ZO_DATA_DIR").or_else(|| Some(usual()?.join("zoxide")))?;
                Some(directory.join("db.zo"))
            }
        }
    }
}

/// Opens a file of commands.
///
/// # Errors
/// [`Error::Io`] when it cannot be opened, [`Error::Format`] for a directory, for a database that
/// is not Atuin's, and for zoxide, whose file has no commands.
pub fn open(format: Format, path: &Path) -> Result<Box<dyn Entries>, Error> {
    let fail = |reason: &str| Error::Format {
        path: path.to_owned(),
        format: format.name(),
        reason: reason.to_owned(),
    };
    if format == Format::Atuin {
        return Ok(Box::new(Atuin::open(path)?));
    }
    let file = File::open(path).map_err(|source| Error::io(path, source))?;
    let metadata = file.metadata().map_err(|source| Error::io(path, source))?;
    if metadata.is_dir() {
        return Err(fail("a directory"));
    }
    let reader = BufReader::with_capacity(1 << 16, file);
    match format {
        Format::Zsh => Ok(Box::new(Zsh::new(reader, path))),
        Format::Bash => Ok(Box::new(Bash::new(reader, path))),
        Format::Fish => Ok(Box::new(Fish::new(reader, path))),
        Format::Atuin | Format::Zoxide => Err(fail("it has directories, not commands")),
    }
}

/// Milliseconds of a stamp in seconds; 0 (unknown) for stamps before 1970 or out of range.
fn stamp_ms(seconds: &[u8]) -> i64 {
    std::str::from_utf8(seconds)
        .ok()
        .and_then(|text| text.trim().parse::<i64>().ok())
        .and_then(|seconds| seconds.checked_mul(1000))
        .filter(|&ms| ms > 0)
        .unwrap_or(0)
}

/// A reader's parts that every line format needs.
struct LineFile<R> {
    lines: lines::Lines<R>,
    path: PathBuf,
}

impl<R: BufRead> LineFile<R> {
    fn new(reader: R, path: &Path) -> Self {
        Self {
            lines: lines::Lines::new(reader),
            path: path.to_owned(),
        }
    }

    fn next(&mut self, line: &mut Vec<u8>) -> Result<bool, Error> {
        self.lines
            .next(line)
            .map_err(|source| Error::io(&self.path, source))
    }
}

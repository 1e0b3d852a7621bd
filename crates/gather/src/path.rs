//! From the typed word to the directory it points into.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use crate::line::Parsed;

/// What `..` in a path means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dots {
    /// The parent of the directory that is really there: for all arguments.
    Physical,
    /// One name less, as `cd` reads it.
    Logical,
}

/// Where a typed word looks for names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// What the user typed up to and including the last slash, unquoted but not
    /// expanded: it stays in front of each candidate.
    pub base: Vec<u8>,
    /// What the user typed behind it.
    pub last: Vec<u8>,
    /// The absolute directory to list.
    pub directory: PathBuf,
}

/// Splits a word behind its last slash.
#[must_use]
pub fn split(typed: &[u8]) -> (&[u8], &[u8]) {
    let behind = typed
        .iter()
        .rposition(|byte| *byte == b'/')
        .map_or(0, |at| at + 1);
    typed.split_at(behind)
}

/// The directory that the word at the cursor points into.
///
/// `None` when only the shell can tell (globs, substitutions, unknown
/// variables), when the word is a lone `~` or `$NAME`, or when a relative word
/// meets an unknown `cwd`. `variable` and `home` are as for [`Parsed::look_up`].
pub fn target<F>(
    parsed: &Parsed,
    cwd: &[u8],
    home: &[u8],
    dots: Dots,
    variable: F,
) -> Option<Target>
where
    F: Fn(&[u8]) -> Option<Vec<u8>>,
{
    let (base, last) = split(&parsed.typed);
    let open = parsed
        .variables
        .iter()
        .any(|variable| variable.at >= base.len());
    if open || (parsed.home && base.is_empty()) || (parsed.home && home.is_empty()) {
        return None;
    }
    let expanded = parsed.look_up(home, variable)?;
    let (directory, _) = split(&expanded);
    let directory = resolve(directory, cwd, dots)?;
    Some(Target {
        base: base.to_vec(),
        last: last.to_vec(),
        directory,
    })
}

/// Makes an expanded directory part absolute. `None` when it is relative and
/// `cwd` is not absolute, or when it holds a NUL.
#[must_use]
pub fn resolve(directory: &[u8], cwd: &[u8], dots: Dots) -> Option<PathBuf> {
    if directory.contains(&0) || cwd.contains(&0) {
        return None;
    }
    let joined = Path::new(OsStr::from_bytes(cwd)).join(OsStr::from_bytes(directory));
    if !joined.is_absolute() {
        return None;
    }
    if dots == Dots::Physical {
        return Some(joined.components().collect());
    }
    let mut logical = PathBuf::new();
    for component in joined.components() {
        if component == Component::ParentDir {
            logical.pop();
        } else {
            logical.push(component);
        }
    }
    Some(logical)
}

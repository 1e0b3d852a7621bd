//! Changing one key of `config.toml`, everything else staying byte for byte as it was.
//!
//! The file belongs to the user: comments, order and spacing are theirs.

use std::fs::OpenOptions;
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use toml::de::{DeTable, DeValue};

/// Why a key could not be set. The file is as it was.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// The file could not be read or written.
    #[error("{path}: {error}", path = .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        error: io::Error,
    },
    /// The file is no TOML, so nobody can tell where the key belongs.
    #[error("{path}:{line}: {message}", path = .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What the parser said.
        message: String,
    },
    /// The key stands in a form that is not changed by machine.
    #[error("{path}: could not set {key} there", path = .path.display())]
    Unusual {
        /// The file.
        path: PathBuf,
        /// `table.name`
        key: String,
    },
}

/// Sets `table.name` to a text in `file`, which is made when it is absent.
///
/// A link is followed, and the file is replaced as a whole: a reader sees the old or the new text.
///
/// # Errors
/// [`EditError`]; nothing is written then.
pub fn set_text(file: &Path, table: &str, name: &str, value: &str) -> Result<(), EditError> {
    let failed = |error| EditError::Io {
        path: file.to_owned(),
        error,
    };
    let old = match std::fs::read(file) {
        Ok(bytes) => String::from_utf8(bytes)
            .map_err(|error| failed(io::Error::new(ErrorKind::InvalidData, error)))?,
        Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
        Err(error) => return Err(failed(error)),
    };
    let new = edited(&old, table, name, value).map_err(|why| match why {
        Refusal::Unreadable(line, message) => EditError::Unreadable {
            path: file.to_owned(),
            line,
            message,
        },
        Refusal::Unusual => EditError::Unusual {
            path: file.to_owned(),
            key: format!("{table}.{name}"),
        },
    })?;
    if new == old {
        return Ok(());
    }
    replace(file, &new).map_err(failed)
}

fn replace(file: &Path, text: &str) -> io::Result<()> {
    if let Some(parent) = file.parent() {
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(parent)?;
    }
    let target = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let mut new = target.clone().into_os_string();
    new.push(format!(".new-{}", std::process::id()));
    let new = PathBuf::from(new);
    let permissions = std::fs::metadata(&target).map(|old| old.permissions());
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    if permissions.is_ok() {
        // What others may read of it is for the old file to say.
        options.mode(0o600);
    }
    let written = options
        .open(&new)
        .and_then(|mut out| {
            out.write_all(text.as_bytes())?;
            permissions.map_or(Ok(()), |permissions| out.set_permissions(permissions))
        })
        .and_then(|()| std::fs::rename(&new, &target));
    written.inspect_err(|_| drop(std::fs::remove_file(&new)))
}

#[derive(Debug, PartialEq, Eq)]
enum Refusal {
    /// Line and message.
    Unreadable(usize, String),
    Unusual,
}

/// The text with `table.name` set.
fn edited(text: &str, table: &str, name: &str, value: &str) -> Result<String, Refusal> {
    let root = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start.min(text.len()));
        let line = text.as_bytes()[..at]
            .iter()
            .filter(|&&b| b == b'\n')
            .count()
            + 1;
        Refusal::Unreadable(line, error.message().to_owned())
    })?;
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let quoted = toml::Value::String(value.to_owned()).to_string();
    let place = place(text, root.get_ref(), table, name)?;
    let (at, until, inserted) = match place {
        Place::Value(span) => (span.start, span.end, quoted),
        Place::Inline(at) => (at, at, format!(" {name} = {quoted},")),
        Place::Table(at) => (at, at, format!("{name} = {quoted}{end}")),
        Place::Dotted(at) => (at, at, format!("{table}.{name} = {quoted}{end}")),
        Place::Nowhere => {
            let gap = match text {
                "" => "",
                text if text.ends_with('\n') => end,
                _ => &end.repeat(2),
            };
            let new = format!("{gap}[{table}]{end}{name} = {quoted}{end}");
            (text.len(), text.len(), new)
        }
    };
    let new = format!("{}{inserted}{}", &text[..at], &text[until..]);
    if is_set(&new, table, name, value) {
        Ok(new)
    } else {
        Err(Refusal::Unusual)
    }
}

/// Where the value belongs.
enum Place {
    /// In place of this one.
    Value(std::ops::Range<usize>),
    /// Behind the `{` of an inline table.
    Inline(usize),
    /// On a line of its own below the table's header.
    Table(usize),
    /// On a line of its own before another key of the table, written `table.key`.
    Dotted(usize),
    /// In a table of its own at the end.
    Nowhere,
}

fn place(text: &str, root: &DeTable<'_>, table: &str, name: &str) -> Result<Place, Refusal> {
    let Some((key, found)) = root.iter().find(|(key, _)| key.get_ref() == table) else {
        return Ok(Place::Nowhere);
    };
    let DeValue::Table(entries) = found.get_ref() else {
        return Err(Refusal::Unusual);
    };
    if let Some((_, value)) = entries.iter().find(|(key, _)| key.get_ref() == name) {
        return match value.get_ref() {
            DeValue::Table(_) | DeValue::Array(_) => Err(Refusal::Unusual),
            _ => Ok(Place::Value(value.span())),
        };
    }
    let start = found.span().start;
    if text[start..].starts_with('{') {
        return Ok(Place::Inline(start + 1));
    }
    let line = text[..key.span().start].rfind('\n').map_or(0, |at| at + 1);
    let next = text[line..].find('\n').map(|at| line + at + 1);
    match text[line..].trim_start().strip_prefix('[') {
        None => Ok(Place::Dotted(line)),
        // `[table.part]` alone does not stop a `[table]` from following.
        Some(header) if header.split(']').next().is_some_and(|h| h.contains('.')) => {
            Ok(Place::Nowhere)
        }
        // A header that ends the file without a line break has nowhere to put a line below.
        Some(_) => next.map(Place::Table).ok_or(Refusal::Unusual),
    }
}

fn is_set(text: &str, table: &str, name: &str, value: &str) -> bool {
    let Ok(root) = text.parse::<toml::Table>() else {
        return false;
    };
    let found = root.get(table).and_then(|table| table.get(name));
    found.and_then(toml::Value::as_str) == Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(text: &str) -> String {
        edited(text, "complete", "model", "off").expect("can be set")
    }

    #[test]
    fn only_the_value_changes() {
        let text = "# mine\ndeadline_ms   = 40 # fast\n\n[ complete ] # here\n  add=false\n  \
                    model = 'builtin'   # why\n\n[worker]\nlog = \"info\"";
        assert_eq!(set(text), text.replace("'builtin'", "\"off\""));
    }

    #[test]
    fn a_missing_key_goes_below_its_header_or_to_the_end() {
        assert_eq!(set(""), "[complete]\nmodel = \"off\"\n");
        assert_eq!(set("a = 1\n"), "a = 1\n\n[complete]\nmodel = \"off\"\n");
        assert_eq!(set("a = 1"), "a = 1\n\n[complete]\nmodel = \"off\"\n");
        assert_eq!(
            set("[complete]\nadd = true\n[worker]\n"),
            "[complete]\nmodel = \"off\"\nadd = true\n[worker]\n"
        );
        assert_eq!(
            set("a = 1\r\n[complete]\r\nadd = true\r\n"),
            "a = 1\r\n[complete]\r\nmodel = \"off\"\r\nadd = true\r\n"
        );
    }

    #[test]
    fn other_spellings_of_a_table_are_kept() {
        assert_eq!(
            set("complete.add = true\n[worker]\n"),
            "complete.model = \"off\"\ncomplete.add = true\n[worker]\n"
        );
        assert_eq!(
            set("complete = {add = true}\n"),
            "complete = { model = \"off\",add = true}\n"
        );
        assert_eq!(
            set("complete = {model = \"x\"}\n"),
            "complete = {model = \"off\"}\n"
        );
        assert_eq!(
            set("[complete.part]\nx = 1\n"),
            "[complete.part]\nx = 1\n\n[complete]\nmodel = \"off\"\n"
        );
    }

    #[test]
    fn a_header_in_a_text_is_no_header() {
        let text = "note = \"\"\"\n[complete]\n\"\"\"\n";
        assert_eq!(set(text), format!("{text}\n[complete]\nmodel = \"off\"\n"));
    }

    #[test]
    fn every_path_is_read_back() {
        for value in ["/a b/\"q\"", "/back\\slash", "/it's", "/文", "/line\nbreak"] {
            let text = edited("", "complete", "model", value).expect("set");
            assert!(is_set(&text, "complete", "model", value), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_parsed_is_told_with_its_line_and_left_alone() {
        let directory = tempfile::tempdir().expect("tempdir");
        let file = directory.path().join("config.toml");
        std::fs::write(&file, "a = 1\nb = \n").expect("written");
        let error = set_text(&file, "complete", "model", "off").expect_err("refused");
        assert!(
            matches!(&error, EditError::Unreadable { line: 2, .. }),
            "{error}"
        );
        assert_eq!(std::fs::read(&file).expect("there"), b"a = 1\nb = \n");
        assert_eq!(
            edited("complete = 5\n", "complete", "model", "off"),
            Err(Refusal::Unusual)
        );
    }

    #[test]
    fn a_link_stays_a_link_and_the_mode_stays() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().expect("tempdir");
        let (file, link) = (
            directory.path().join("dotfiles.toml"),
            directory.path().join("config.toml"),
        );
        std::fs::write(&file, "a = 1\n").expect("written");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).expect("mode");
        std::os::unix::fs::symlink(&file, &link).expect("link");
        set_text(&link, "complete", "model", "off").expect("set");
        assert!(link.is_symlink());
        let text = std::fs::read_to_string(&file).expect("there");
        assert_eq!(text, "a = 1\n\n[complete]\nmodel = \"off\"\n");
        let mode = std::fs::metadata(&file)
            .expect("there")
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(
            std::fs::read_dir(directory.path()).expect("there").count(),
            2
        );
    }
}

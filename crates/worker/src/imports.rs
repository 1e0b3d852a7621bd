//! What imports, look-ups and directories taken over from zoxide mean to the store.

use std::ffi::{OsStr, OsString};
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use tabsense_config::was_imported;
use tabsense_gather::line::Tilde;
use tabsense_gather::{Dialect, Quote, quote};
use tabsense_history::import::{self, Format};
use tabsense_history::{Error, Record, Report, Store, ignore, redact};
use tabsense_protocol::reply::{ImportedFile, Looked};
use tabsense_protocol::request::{Import, Look, Shell, Variable};

/// A directory that zoxide ranks high counts as this many visits at most.
const VISITS: f64 = 10.0;

/// Reads the files that an import names or that lie in their usual places.
pub(crate) fn import(store: &mut Store, import: &Import) -> Vec<ImportedFile> {
    let named = (!import.file.is_empty()).then(|| PathBuf::from(OsStr::from_bytes(&import.file)));
    match Format::from_name(&import.source) {
        Some(format) => {
            let path = named.or_else(|| usual_place(format, &import.variables));
            path.map(|path| read(store, format, &path))
                .into_iter()
                .collect()
        }
        None => Format::ALL
            .into_iter()
            .filter_map(|format| {
                let path = usual_place(format, &import.variables)?;
                path.exists().then(|| read(store, format, &path))
            })
            .collect(),
    }
}

/// `HISTFILE` belongs to whichever shell its name says, else to none: most shells do not export
/// it, and children of another shell inherit it.
fn usual_place(format: Format, variables: &[Variable]) -> Option<PathBuf> {
    format.default_path(|name| {
        let value = &variables
            .iter()
            .find(|variable| variable.name == name)?
            .value;
        let fits = name != "HISTFILE" || belongs(format, value);
        fits.then(|| OsString::from_vec(value.clone()))
    })
}

/// What a shell's first prompt imports: the file that it says is its own, else the usual one.
pub(crate) fn first_import(shell: &str, home: OsString, histfile: &[u8]) -> Import {
    let own = Format::from_name(shell).is_some_and(|format| match format {
        // A shell started from another one inherits that one's file, when it was exported.
        Format::Bash => !says(histfile, "zsh") && !says(histfile, "fish"),
        _ => belongs(format, histfile),
    });
    let named = own && Path::new(OsStr::from_bytes(histfile)).is_file();
    let mut variables = vec![variable("HOME", home)];
    variables.extend(std::env::var_os("XDG_DATA_HOME").map(|it| variable("XDG_DATA_HOME", it)));
    Import {
        source: shell.to_owned(),
        file: if named { histfile.to_vec() } else { Vec::new() },
        variables,
    }
}

fn variable(name: &str, value: OsString) -> Variable {
    Variable {
        name: name.to_owned(),
        value: value.into_vec(),
    }
}

/// Notes that the shells' own histories are not to be taken over (again).
pub(crate) fn note_imported(list: &Path, shells: &[&str]) -> std::io::Result<()> {
    let mut file = OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .open(list)?;
    for shell in shells.iter().filter(|shell| !was_imported(list, shell)) {
        writeln!(file, "{shell}")?;
    }
    Ok(())
}

fn says(histfile: &[u8], shell: &str) -> bool {
    let name = Path::new(OsStr::from_bytes(histfile))
        .file_name()
        .unwrap_or_default();
    name.to_string_lossy().contains(shell)
}

fn belongs(format: Format, histfile: &[u8]) -> bool {
    match format {
        Format::Zsh => !says(histfile, "bash") && !says(histfile, "fish"),
        Format::Bash => says(histfile, "bash"),
        // Only the client names it, where it has another name than usual.
        Format::Fish => {
            let file = Path::new(OsStr::from_bytes(histfile));
            let folder = file.parent().and_then(Path::file_name);
            histfile.ends_with(b"_history") && folder.is_some_and(|name| name == "fish")
        }
        Format::Atuin | Format::Zoxide => false,
    }
}

fn read(store: &mut Store, format: Format, path: &Path) -> ImportedFile {
    let report = match format {
        Format::Zoxide => store.import_zoxide(path),
        _ => import::open(format, path).and_then(|mut entries| store.import(entries.as_mut())),
    };
    let (report, error) = match report {
        Ok(report) => (report, String::new()),
        Err(error) => (Report::default(), error.to_string()),
    };
    ImportedFile {
        source: format.name().to_owned(),
        file: path.as_os_str().as_bytes().to_vec(),
        read: report.read,
        added: report.added,
        skipped: report.skipped,
        error,
    }
}

/// zoxide's directories as the visits that led to them.
pub(crate) fn visits(store: &Store) -> Vec<Record> {
    let mut records = Vec::new();
    for visited in store.directories().unwrap_or_default() {
        let word = quote(&visited.path, Dialect::Bash, Quote::None, Tilde::Literal);
        let record = Record {
            command: [b"cd ".as_slice(), &word].concat(),
            start_ms: visited.last_s.saturating_mul(1000),
            exit: Some(0),
            ..Record::default()
        };
        let count = visited.rank.clamp(1.0, VISITS).round() as usize;
        records.extend(std::iter::repeat_n(record, count));
    }
    records
}

/// Whether a command is in the store and what keeps it out or changes it.
pub(crate) fn look(store: &Store, look: &Look) -> Result<Looked, Error> {
    let stored = redact(&look.command).into_owned();
    let mut count = 0;
    store.replay(u64::MAX, |record| {
        count += u64::from(record.command == stored);
    })?;
    let reasons = ignore::why_not_recorded(&look.command, &rules(look));
    Ok(Looked {
        count,
        stored,
        reasons: reasons.iter().map(ToString::to_string).collect(),
    })
}

/// The settings that the client sent, for the shell it named.
fn rules(look: &Look) -> ignore::Settings<'_> {
    let value = |shell: Shell, name: &str| {
        let applies = look.shell() == shell || look.shell() == Shell::Unspecified;
        let found = look
            .variables
            .iter()
            .find(|variable| applies && variable.name == name);
        found.map_or(&[][..], |variable| &variable.value)
    };
    let private = !value(Shell::Fish, "fish_private_mode").is_empty();
    ignore::Settings {
        histcontrol: value(Shell::Bash, "HISTCONTROL"),
        histignore: value(Shell::Bash, "HISTIGNORE"),
        history_ignore: value(Shell::Zsh, "HISTORY_IGNORE"),
        keeping: if private {
            ignore::Keeping::Private
        } else {
            ignore::Keeping::Normal
        },
        ..ignore::Settings::default()
    }
}

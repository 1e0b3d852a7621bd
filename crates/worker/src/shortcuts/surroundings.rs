//! Where and by whom a phrase is said.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use tabsense_protocol::request::{Do, NameKind};
use tabsense_shortcuts::sources::names::Name;
use tabsense_shortcuts::{Platform, Source};

use super::catalogue::Surroundings;
use crate::places::path;

/// Names that are looked at.
const NAMES: usize = 2000;

/// Reads a request.
pub(super) fn surroundings(ask: &Do) -> Surroundings {
    let home = path(&ask.home);
    let directory = |name: &str, usual: &str| {
        let named = PathBuf::from(OsStr::from_bytes(variable(ask, name)));
        match named.is_absolute() {
            true => named,
            false => home.join(usual),
        }
    };
    Surroundings {
        cwd: path(&ask.cwd),
        config_home: directory("XDG_CONFIG_HOME", ".config"),
        data_home: directory("XDG_DATA_HOME", ".local/share"),
        cache_home: directory("XDG_CACHE_HOME", ".cache"),
        data_dirs: text(variable(ask, "XDG_DATA_DIRS")),
        language: language(ask),
        names: names(ask),
        home,
    }
}

/// The machine, as the client sees it.
pub(super) fn platform(ask: &Do) -> Platform {
    let get = |name: &str| text(variable(ask, name));
    let session = match (get("XDG_SESSION_TYPE").as_str(), ask) {
        ("", ask) if !variable(ask, "WAYLAND_DISPLAY").is_empty() => "wayland".to_owned(),
        ("", ask) if !variable(ask, "DISPLAY").is_empty() => "x11".to_owned(),
        (said, _) => said.to_owned(),
    };
    Platform::new(&get("XDG_CURRENT_DESKTOP"), &session, &ask.path)
}

fn variable<'a>(ask: &'a Do, name: &str) -> &'a [u8] {
    let found = ask.variables.iter().find(|variable| variable.name == name);
    found.map_or(&[], |variable| &variable.value)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The user's language: `de` of `de_DE.UTF-8`; English for `C`.
fn language(ask: &Do) -> String {
    let said = ["LC_ALL", "LC_MESSAGES", "LANG"]
        .into_iter()
        .map(|name| variable(ask, name))
        .find(|value| !value.is_empty());
    let said = text(said.unwrap_or_default());
    let language = said.split(['_', '.', '@']).next().unwrap_or_default();
    match language {
        "" | "C" | "POSIX" => "en".to_owned(),
        language => language.to_lowercase(),
    }
}

fn names(ask: &Do) -> Vec<Name> {
    let name = |name: &tabsense_protocol::request::Name| {
        Some(Name {
            source: match name.kind() {
                NameKind::Alias => Source::Alias,
                NameKind::Abbreviation => Source::Abbreviation,
                NameKind::Function => Source::Function,
            },
            name: String::from_utf8(name.name.clone()).ok()?,
            text: text(&name.text),
        })
    };
    ask.names.iter().take(NAMES).filter_map(name).collect()
}

/// A directory that can be looked into: absolute, else the root.
pub(super) fn absolute(directory: &Path) -> &Path {
    match directory.is_absolute() {
        true => directory,
        false => Path::new("/"),
    }
}

#[cfg(test)]
mod tests {
    use tabsense_protocol::request::Variable;

    use super::*;

    #[test]
    fn variables_say_the_language_and_where_things_lie() {
        let variable = |name: &str, value: &str| Variable {
            name: name.to_owned(),
            value: value.into(),
        };
        let ask = |variables: Vec<Variable>| Do {
            home: b"/h".to_vec(),
            variables,
            ..Do::default()
        };
        let plain = surroundings(&ask(Vec::new()));
        assert_eq!(plain.language, "en");
        assert_eq!(plain.cache_home, Path::new("/h/.cache"));
        let said = ask(vec![
            variable("LC_ALL", ""),
            variable("LANG", "zh_CN.UTF-8"),
            variable("XDG_CACHE_HOME", "/c"),
            variable("XDG_DATA_HOME", "relative"),
            variable("DISPLAY", ":0"),
        ]);
        let there = surroundings(&said);
        assert_eq!(there.language, "zh");
        assert_eq!(there.cache_home, Path::new("/c"));
        assert_eq!(there.data_home, Path::new("/h/.local/share"));
        assert!(platform(&said).shows(tabsense_shortcuts::Desktop::X11));
    }
}

//! Applications, from their `.desktop` files (freedesktop.org's Desktop Entry Specification 1.5).

use std::path::{Path, PathBuf};

use super::{MOST, read};
use crate::shortcut::{Action, Localized, Risk, Shortcut, Source, SwitchWords, Text};

/// Directories of one place that are looked into.
const DEPTH: usize = 2;

/// The directories that hold applications, the user's first.
pub fn directories(data_home: &Path, data_dirs: &str) -> Vec<PathBuf> {
    let dirs = match data_dirs {
        "" => "/usr/local/share:/usr/share",
        dirs => dirs,
    };
    let shared = dirs
        .split(':')
        .filter(|dir| dir.starts_with('/'))
        .map(PathBuf::from);
    let usual = ["/var/lib/flatpak/exports/share", "/var/lib/snapd/desktop"];
    let mut all: Vec<PathBuf> = [data_home.to_owned()]
        .into_iter()
        .chain(shared)
        .chain(usual.map(PathBuf::from))
        .map(|dir| dir.join("applications"))
        .collect();
    let mut seen = std::collections::HashSet::new();
    all.retain(|dir| seen.insert(dir.clone()) && dir.is_dir());
    all
}

/// The applications in these directories; those of the same name in an earlier one win.
pub fn shortcuts(directories: &[PathBuf]) -> Vec<Shortcut> {
    let mut seen = std::collections::HashSet::new();
    let mut found = Vec::new();
    for directory in directories {
        let mut files = Vec::new();
        walk(directory, DEPTH, &mut files);
        for file in files {
            let Some(id) = file.file_stem().and_then(|stem| stem.to_str()) else {
                continue;
            };
            if found.len() < MOST
                && seen.insert(id.to_owned())
                && let Some(shortcut) = read::text(&file).and_then(|text| parse(id, &text))
            {
                found.push(shortcut);
            }
        }
    }
    found
}

fn walk(directory: &Path, depth: usize, files: &mut Vec<PathBuf>) {
    let mut names = read::names(directory);
    names.sort_unstable();
    for name in names {
        let path = directory.join(&name);
        if name.ends_with(".desktop") {
            files.push(path);
        } else if depth > 0 && path.is_dir() {
            walk(&path, depth - 1, files);
        }
    }
}

/// An application that is shown in menus, called `id`.
pub fn parse(id: &str, text: &str) -> Option<Shortcut> {
    let entry = entry(text);
    let get = |key: &str| {
        entry
            .iter()
            .find(|(name, _)| *name == key)
            .map(|(_, value)| *value)
    };
    let is_true = |key: &str| get(key) == Some("true");
    if get("Type") != Some("Application") || is_true("NoDisplay") || is_true("Hidden") {
        return None;
    }
    let command = command(get("Exec")?)?;
    let title = localized(&entry, "Name");
    get("Name")?;
    let mut description = localized(&entry, "Comment");
    if description.0.is_empty() {
        description = localized(&entry, "GenericName");
    }
    let keywords = localized(&entry, "Keywords")
        .0
        .into_iter()
        .map(|words| Text {
            text: words.text.replace(';', " ").trim().to_owned(),
            ..words
        });
    Some(Shortcut {
        id: format!("app:{id}"),
        title,
        description,
        examples: keywords.filter(|words| !words.text.is_empty()).collect(),
        risk: Risk::Write,
        action: Action::line(command),
        source: Source::Application,
        switch: SwitchWords::default(),
    })
}

/// Keys and values of the group that describes the application.
fn entry(text: &str) -> Vec<(&str, &str)> {
    text.lines()
        .skip_while(|line| line.trim() != "[Desktop Entry]")
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once('='))
        .map(|(key, value)| (key.trim(), value.trim()))
        .collect()
}

/// Languages whose texts are kept; a phrase in another one finds the plain text.
const LANGUAGES: [&str; 6] = ["en", "zh", "de", "fr", "es", "ja"];

/// `KEY` and `KEY[language]`; of several countries the first.
fn localized(entry: &[(&str, &str)], key: &str) -> Localized {
    let mut texts: Vec<Text> = Vec::new();
    for (name, value) in entry {
        let Some(rest) = name.strip_prefix(key) else {
            continue;
        };
        let language = match rest {
            "" => "en",
            rest => match rest
                .strip_prefix('[')
                .and_then(|rest| rest.strip_suffix(']'))
            {
                Some(locale) => locale.split(['_', '@', '.']).next().unwrap_or(locale),
                None => continue,
            },
        };
        let is_new = texts.iter().all(|text| text.language != language);
        if LANGUAGES.contains(&language) && is_new && !value.is_empty() {
            texts.push(Text {
                language: language.to_owned(),
                text: value.replace("\\s", " ").replace("\\n", " "),
            });
        }
    }
    Localized(texts)
}

/// The command of `Exec`: its own quoting taken off, field codes left out, quoted for shells anew.
fn command(exec: &str) -> Option<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut quoted = false;
    let mut begun = false;
    let mut chars = exec.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => {
                quoted = !quoted;
                begun = true;
            }
            '\\' if quoted => word.extend(chars.next()),
            '%' => match chars.next() {
                Some('%') => word.push('%'),
                // A file, a URL, an icon or a name that a launcher would fill in.
                _ => begun |= quoted,
            },
            c if c.is_whitespace() && !quoted => {
                if begun || !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
                begun = false;
            }
            c => word.push(c),
        }
    }
    if begun || !word.is_empty() {
        words.push(word);
    }
    let plain = |word: &String| !word.is_empty() && !word.contains(char::is_control);
    words.retain(|word| word != "@@" && word != "@@u");
    (!words.is_empty() && words.iter().all(plain)).then(|| {
        let each: Vec<String> = words.iter().map(|word| quoted_word(word)).collect();
        each.join(" ")
    })
}

/// A word that zsh, bash and fish all read back.
fn quoted_word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:+,@=".contains(c);
    match word.chars().all(is_plain) && !word.starts_with('=') {
        true => word.to_owned(),
        // Inside single quotes fish alone reads `\\` and `\'`, so both stand outside.
        false => {
            let mut out = String::from("'");
            for c in word.chars() {
                match c {
                    '\'' => out.push_str("'\\''"),
                    '\\' => out.push_str("'\\\\'"),
                    c => out.push(c),
                }
            }
            out + "'"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: &str = "[Desktop Entry]\nType=Application\nName=Files\nName[zh_CN]=文件\n\
        Name[zh_TW]=檔案\nName[xx]=no\nComment=Access and organize files\nComment[de]=Dateien\n\
        Keywords=folder;manager;\nKeywords[zh_CN]=文件夹;\nExec=nautilus --new-window %U\n\
        [Desktop Action new]\nName=New\nExec=other\n";

    #[test]
    fn an_application_has_its_names_comments_and_keywords_in_languages() {
        let app = parse("org.gnome.Nautilus", FILES).expect("an application");
        assert_eq!(app.id, "app:org.gnome.Nautilus");
        assert_eq!(
            (app.title.get("zh"), app.title.get("en")),
            ("文件", "Files")
        );
        assert_eq!(app.description.get("de"), "Dateien");
        assert_eq!(app.examples[0].text, "folder manager");
        assert_eq!(app.action, Action::line("nautilus --new-window"));
        assert!(parse("x", &FILES.replace("Type=", "NoDisplay=true\nType=")).is_none());
        assert!(parse("x", &FILES.replace("Application", "Link")).is_none());
        assert!(parse("x", "").is_none());
    }

    #[test]
    fn the_command_loses_field_codes_and_keeps_its_arguments() {
        for (exec, line) in [
            ("app %F", "app"),
            ("app --name=%c --x", "app --name= --x"),
            ("env A=b app", "env A=b app"),
            (
                r#""/opt/My App/run" --q "a \"b\" \$c""#,
                r#"'/opt/My App/run' --q 'a "b" $c'"#,
            ),
            (r#"sh -c "echo it's 100%%""#, r"sh -c 'echo it'\''s 100%'"),
            (
                "flatpak run --file-forwarding org.x @@u %U @@",
                "flatpak run --file-forwarding org.x",
            ),
        ] {
            assert_eq!(command(exec).as_deref(), Some(line), "{exec}");
        }
        assert_eq!(command("%U"), None);
    }

    #[test]
    fn the_users_own_file_hides_the_systems() {
        let dir = tempfile::tempdir().expect("tempdir");
        for (place, name) in [("own", "Mine"), ("shared", "Files")] {
            let apps = dir.path().join(place).join("applications");
            std::fs::create_dir_all(&apps).expect("made");
            let text = FILES.replace("Name=Files", &format!("Name={name}"));
            std::fs::write(apps.join("files.desktop"), text).expect("written");
        }
        let shared = dir.path().join("shared").display().to_string();
        let found = shortcuts(&directories(&dir.path().join("own"), &shared));
        let own: Vec<&str> = found
            .iter()
            .filter(|app| app.id == "app:files")
            .map(|app| app.title.get("en"))
            .collect();
        assert_eq!(own, ["Mine"]);
    }
}

//! Pages of tldr that a client has put on this machine (tealdeer, tlrc, the clients in Node, Python
//! and C). Nothing is fetched.
//!
//! A page (<https://github.com/tldr-pages/tldr/blob/main/contributing-guides/style-guide.md>) is a
//! title, a description, and examples: `- What it does:`, an empty line, and a command in
//! backquotes with `{{placeholders}}`.

use std::path::{Path, PathBuf};

use super::{read, risk_of};
use crate::platform::System;
use crate::shortcut::{Action, Localized, Shortcut, Source, SwitchWords, Text, Variant};
use crate::template::{Kind, Slot, Template};

/// Examples in all.
const MOST: usize = 50_000;

/// Where the clients keep their pages, below the cache directory or the home directory.
pub fn roots(home: &Path, cache: &Path) -> Vec<PathBuf> {
    let mut roots = vec![
        cache.join("tealdeer/tldr-pages"),
        cache.join("tlrc"),
        cache.join("tldr"),
        home.join(".tldr/cache"),
        home.join(".tldrc/tldr"),
    ];
    if cfg!(target_os = "macos") {
        let caches = home.join("Library/Caches");
        roots.extend([caches.join("tealdeer/tldr-pages"), caches.join("tlrc")]);
    }
    roots.retain(|root| root.is_dir());
    roots
}

/// The directories with pages for a system, in English and in `language`; of the first client that
/// has any.
pub fn directories(roots: &[PathBuf], language: &str, system: System) -> Vec<(String, PathBuf)> {
    let own = match system {
        System::Macos => "osx",
        System::Linux => "linux",
    };
    let mut languages = vec!["en"];
    languages.extend(Some(language).filter(|language| !["", "en"].contains(language)));
    let of_root = |root: &PathBuf| -> Vec<(String, PathBuf)> {
        let mut found = Vec::new();
        for language in &languages {
            let named = root.join(format!("pages.{language}"));
            let plain = root.join("pages");
            let pages = match (named.is_dir(), *language) {
                (false, "en") => plain,
                _ => named,
            };
            let each = ["common", own].map(|part| pages.join(part));
            let there = each.into_iter().filter(|directory| directory.is_dir());
            found.extend(there.map(|directory| ((*language).to_owned(), directory)));
        }
        found
    };
    roots
        .iter()
        .map(of_root)
        .find(|found| !found.is_empty())
        .unwrap_or_default()
}

/// The examples of all pages in these directories.
pub fn shortcuts(directories: &[(String, PathBuf)]) -> Vec<Shortcut> {
    let mut found = Vec::new();
    for (language, directory) in directories {
        let mut names = read::names(directory);
        names.sort_unstable();
        for name in names {
            let Some(page) = name.strip_suffix(".md") else {
                continue;
            };
            if found.len() >= MOST {
                return found;
            }
            let text = read::text(&directory.join(&name)).unwrap_or_default();
            found.extend(parse(page, language, &text));
        }
    }
    found
}

/// The examples of one page.
pub fn parse(page: &str, language: &str, text: &str) -> Vec<Shortcut> {
    let mut found = Vec::new();
    let mut said = None;
    for line in text.lines().map(str::trim) {
        if let Some(example) = line.strip_prefix("- ") {
            said = Some(plain(example));
        } else if let Some(command) = line
            .strip_prefix('`')
            .and_then(|line| line.strip_suffix('`'))
            && let Some(said) = said.take()
        {
            let text = Text {
                language: language.to_owned(),
                text: said,
            };
            found.push(Shortcut {
                id: format!("tldr:{page}:{language}:{}", found.len() + 1),
                title: Localized(vec![text]),
                description: Localized::default(),
                examples: Vec::new(),
                risk: risk_of(command),
                action: Action::everywhere(vec![Variant::bare(template(command))]),
                source: Source::Tldr,
                switch: SwitchWords::default(),
            });
        }
    }
    found
}

/// `[c]reate an archive:` without marks.
fn plain(example: &str) -> String {
    example
        .trim_end_matches([':', '：'])
        .chars()
        .filter(|c| !matches!(c, '[' | ']' | '`'))
        .collect()
}

/// A page's command: `{{path/to/file}}` is left open, of `{{[-l|--long]}}` the long form is taken.
fn template(command: &str) -> Template {
    let mut template = Template::default();
    let mut rest = command;
    while let Some((before, from)) = rest.split_once("{{") {
        template.push(before);
        // A brace of the command's own may stand before the two that close.
        let end = from
            .find("}}")
            .map(|at| match from[at..].starts_with("}}}") {
                true => at + 1,
                false => at,
            });
        let Some(end) = end else {
            template.push("{{");
            rest = from;
            continue;
        };
        match option(&from[..end]) {
            Some(option) => template.push(option),
            None => template.push_slot(slot(&from[..end])),
        }
        rest = &from[end + 2..];
    }
    template.push(rest);
    template
}

fn option(inner: &str) -> Option<&str> {
    let forms = inner.strip_prefix('[')?.strip_suffix(']')?;
    forms.rsplit('|').next()
}

fn slot(inner: &str) -> Slot {
    let lower = inner.to_lowercase();
    let has = |parts: &[&str]| parts.iter().any(|part| lower.contains(part));
    let kind = match lower.as_str() {
        _ if has(&["path/to", "file", "director"]) => Kind::Path,
        _ if has(&["port"]) => Kind::Port,
        _ if has(&["http", "url"]) => Kind::Url,
        _ if has(&["host", "example.com", "ip_address", "192.168"]) => Kind::Host,
        _ if has(&["pattern", "regex", "search"]) => Kind::Pattern,
        text if text.parse::<f64>().is_ok() => Kind::Number,
        _ => Kind::Name,
    };
    // The last part of `path/to/archive.tar` says what is meant.
    let label: String = lower
        .rsplit('/')
        .next()
        .unwrap_or(&lower)
        .chars()
        .map(|c| if c.is_alphanumeric() { c } else { '_' })
        .collect();
    Slot::new(kind, label.trim_matches('_'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tabsense_gather::Dialect;

    const PAGE: &str = "# tar\n\n> Archiving utility.\n> More: <https://x>.\n\n- [c]reate an archive:\n\n\
        `tar cf {{path/to/target.tar}} {{path/to/file1 path/to/file2 ...}}`\n\n\
        - List everything, `-v` too:\n\n`tar {{[-t|--list]}} -f {{x}} | awk '{print}'`\n\n- No command:\n";

    #[test]
    fn every_example_of_a_page_is_a_shortcut_with_open_places() {
        let found = parse("tar", "en", PAGE);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].title.get("en"), "create an archive");
        assert_eq!(found[1].title.get("en"), "List everything, -v too");
        let line = |at: usize| {
            let Action::Run { linux, .. } = &found[at].action else {
                panic!("a command");
            };
            let values = linux[0].run.slots().into_iter();
            let values = values.map(|slot| crate::Value { slot, value: None });
            let filled = linux[0].run.fill(values.collect(), Dialect::Zsh);
            String::from_utf8(filled.line).expect("UTF-8")
        };
        assert_eq!(line(0), "tar cf <&target_tar> <&file>");
        assert_eq!(line(1), "tar --list -f <&x> | awk '{print}'");
        assert!(found[0].source.attribution().is_some());
    }

    #[test]
    fn pages_of_every_client_are_found_in_english_and_the_users_language() {
        for (root, english) in [
            (".cache/tealdeer/tldr-pages", "pages.en"),
            (".cache/tlrc", "pages.en"),
            (".cache/tldr", "pages"),
            (".tldr/cache", "pages"),
            (".tldrc/tldr", "pages"),
        ] {
            let dir = tempfile::tempdir().expect("tempdir");
            let root = dir.path().join(root);
            for part in [english, "pages.de"] {
                for system in ["common", "linux", "windows"] {
                    let pages = root.join(part).join(system);
                    std::fs::create_dir_all(&pages).expect("made");
                    std::fs::write(pages.join(format!("{system}.md")), PAGE).expect("written");
                }
            }
            let roots = roots(dir.path(), &dir.path().join(".cache"));
            let ids = |language: &str| -> Vec<String> {
                let directories = directories(&roots, language, System::Linux);
                let found = shortcuts(&directories);
                found.into_iter().map(|shortcut| shortcut.id).collect()
            };
            let english = ids("en");
            assert_eq!(english.len(), 4, "{root:?}");
            assert_eq!(english[0], "tldr:common:en:1");
            assert_eq!(ids("de").len(), 8);
        }
    }
}

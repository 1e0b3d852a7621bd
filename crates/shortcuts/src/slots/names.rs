//! Names of things to come, and patterns to look for.

use std::ops::Range;

use super::common::{PLACES, PLAIN, SMALL, has};
use super::words::{Word, is_wide};
use super::{Found, Phrase, quoted};

/// The next word is a name.
const CALLED: &[&str] = &[
    "called",
    "named",
    "name",
    "as",
    "叫",
    "叫做",
    "名为",
    "命名为",
    "名叫",
    "namens",
    "genannt",
    "heißt",
    "appelé",
    "appelée",
    "nommé",
    "nommée",
    "nom",
    "llamado",
    "llamada",
    "nombre",
    "という名前",
    "名前",
];

/// The next word may be a name, when it looks like one or nothing else follows.
const THINGS: &[&str] = &[
    "branch",
    "container",
    "image",
    "user",
    "group",
    "package",
    "service",
    "process",
    "program",
    "zweig",
    "branche",
    "rama",
    "paquet",
    "paquete",
    "paket",
    "folder",
];

/// A name: quoted, behind "called" and the like, else a word that looks like an identifier.
pub(super) fn name(phrase: &Phrase<'_>, label: &str) -> Option<Found> {
    if let Some(found) = quoted::find(phrase) {
        return Some(found);
    }
    let words = phrase.words();
    let has_blanks = has(WITH_BLANKS, label);
    if (has_blanks || has(WITH_DASHES, label))
        && let Some(range) = called(phrase, &words)
    {
        let text = &phrase.text[range.clone()];
        let joined: Vec<&str> = text.split_whitespace().collect();
        let text = match has_blanks {
            true => text.to_owned(),
            false => joined.join("-"),
        };
        return Some((range, text.into_bytes()));
    }
    let behind = |marks: &[&str], fits: &dyn Fn(&Word<'_>) -> bool| {
        let at = words.iter().position(|word| is_mark(word, marks))?;
        words.get(at + 1).filter(|word| fits(word))
    };
    let any = |word: &Word<'_>| word.text.chars().all(is_part);
    let latin_amid_wide = || {
        let wide = words.iter().any(|word| word.text.starts_with(is_wide));
        let mut latin = words
            .iter()
            .filter(|word| any(word) && !word.text.starts_with(is_wide));
        let word = latin.next_back().filter(|_| wide)?;
        let is_plain = KNOWN.contains(&word.lower) || has(PLAIN, word.lower);
        (!is_plain).then_some(word)
    };
    let last = |word: &Word<'_>| {
        let is_plain = has(PLAIN, word.lower) || has(SMALL, word.lower);
        let is_word = any(word) && word.text.contains(char::is_alphabetic);
        is_word && !is_plain && words.last().is_some_and(|last| last == word)
    };
    let word = behind(CALLED, &any)
        .or_else(|| {
            words
                .iter()
                .rev()
                .find(|word| any(word) && is_identifier(word.text))
        })
        .or_else(latin_amid_wide)
        .or_else(|| behind(THINGS, &last))?;
    Some((word.range.clone(), word.text.as_bytes().to_vec()))
}

/// Labels of what people give names of several words.
const WITH_BLANKS: &str = "folder file project copy new result link";

/// Labels of what has names in which a dash stands for a blank.
const WITH_DASHES: &str = "branch tag";

/// Words behind a name of several words.
const AFTER: &str = "\
    and then that which for und dann für et puis pour y e luego para please pls thanks bitte svp stp";

/// All words behind "called" and the like, up to where something else is said.
fn called(phrase: &Phrase<'_>, words: &[Word<'_>]) -> Option<Range<usize>> {
    let at = words.iter().position(|word| is_mark(word, CALLED))?;
    let is_small = |word: &Word<'_>| has(SMALL, word.lower);
    let behind = words[at + 1..].iter().skip_while(|word| is_small(word));
    let mut name: Vec<&Word<'_>> = Vec::new();
    for word in behind {
        let joins = name.last().is_none_or(|last| {
            let between = &phrase.text[last.range.end..word.range.start];
            let is_wide_as = |other: &Word<'_>| other.text.starts_with(is_wide);
            between.trim().is_empty()
                && is_wide_as(word) == is_wide_as(last)
                && !word.text.starts_with('的')
        });
        let ends = has(PLACES, word.lower) || has(AFTER, word.lower);
        if ends || !joins || !word.text.chars().all(is_part) {
            break;
        }
        name.push(word);
    }
    let last = name.iter().rfind(|word| !is_small(word))?;
    Some(name.first()?.range.start..last.range.end)
}

/// Programs that people name in the middle of Chinese or Japanese words.
const KNOWN: &[&str] = &[
    "git", "docker", "npm", "cargo", "python", "linux", "mac", "ip",
];

fn is_mark(word: &Word<'_>, marks: &[&str]) -> bool {
    marks.iter().any(|mark| match mark.chars().next() {
        // A mark is the end of a run of characters that are written without blanks.
        Some(c) if is_wide(c) => word.lower.ends_with(mark),
        _ => word.lower == *mark,
    })
}

pub(super) fn is_part(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | '@' | '+' | ':')
}

pub(super) fn is_identifier(text: &str) -> bool {
    let joined = text.contains(['-', '_', '/', '.']) || text.contains(|c: char| c.is_ascii_digit());
    joined && text.contains(char::is_alphabetic) && text.starts_with(char::is_alphanumeric)
}

/// The next word is what to look for.
const LOOK_FOR: &[&str] = &[
    "for",
    "containing",
    "contains",
    "contain",
    "matching",
    "named",
    "called",
    "with",
    "包含",
    "含有",
    "叫",
    "名为",
    "搜索",
    "查找",
    "nach",
    "enthalten",
    "enthält",
    "mit",
    "contenant",
    "nommés",
    "contengan",
    "contienen",
    "llamados",
    "を含む",
];

/// Words behind those that are not yet it.
const FILLERS: &[&str] = &[
    "the", "a", "an", "all", "any", "text", "word", "string", "files", "file", "name", "pattern",
    "that", "der", "dem", "le", "el",
];

/// Words that end what is looked for.
const ENDS: &[&str] = &[
    "in",
    "on",
    "from",
    "under",
    "below",
    "inside",
    "within",
    "please",
    "file",
    "files",
    "folder",
    "everywhere",
    "here",
    "bitte",
    "im",
    "auf",
    "datei",
    "dateien",
    "dans",
    "sur",
    "en",
    "fichier",
    "fichiers",
    "archivo",
    "archivos",
    "文件",
    "的文件",
];

/// Endings of files that people look for by their kind.
const KINDS: &[&str] = &[
    "pdf", "png", "jpg", "jpeg", "gif", "svg", "mp3", "mp4", "mov", "mkv", "txt", "md", "csv",
    "json", "xml", "yaml", "toml", "html", "css", "js", "ts", "py", "rs", "go", "java", "c", "cpp",
    "rb", "sh", "log", "zip", "doc", "docx", "xlsx", "tmp", "bak", "pyc",
];

/// A pattern: quoted, with wildcards, the kind of files, else what stands behind "for" and the like.
pub(super) fn pattern(phrase: &Phrase<'_>) -> Option<Found> {
    if let Some(found) = quoted::find(phrase) {
        return Some(found);
    }
    let words = phrase.words();
    let wild = words.iter().find(|word| word.text.contains(['*', '[']));
    let by_word = || {
        let at = words.iter().rposition(|word| is_mark(word, LOOK_FOR))?;
        let behind = words[at + 1..]
            .iter()
            .skip_while(|word| FILLERS.contains(&word.lower));
        // A name may have several words; a preposition or the kind of thing ends it.
        let name = behind.take_while(|word| !ENDS.contains(&word.lower));
        let name: Vec<&Word<'_>> = name.collect();
        let range = name.first()?.range.start..name.last()?.range.end;
        Some((range.clone(), phrase.text[range].as_bytes().to_vec()))
    };
    if let Some(word) = wild {
        return Some((word.range.clone(), word.text.as_bytes().to_vec()));
    }
    if let Some(found) = kind_of_files(&words) {
        return Some(found);
    }
    by_word().filter(|(range, _)| phrase.is_free(range))
}

/// A pattern that finds a part of a name: `*notes*`; one with wildcards stays.
pub(super) fn anywhere(pattern: Vec<u8>) -> Vec<u8> {
    match pattern.iter().any(|byte| b"*?[".contains(byte)) {
        true => pattern,
        false => [b"*".as_slice(), &pattern, b"*"].concat(),
    }
}

/// `*.pdf` of "all pdf files".
fn kind_of_files(words: &[Word<'_>]) -> Option<Found> {
    const FILES: &[&str] = &[
        "file",
        "files",
        "文件",
        "datei",
        "dateien",
        "fichiers",
        "archivos",
        "ファイル",
        "文档",
    ];
    // "Logdateien", "PDF-Dateien"
    let joined = words.iter().find_map(|word| {
        let kind = ["dateien", "datei"]
            .iter()
            .find_map(|files| word.lower.strip_suffix(files))?;
        let kind = kind.trim_end_matches('-');
        let ending = KINDS.iter().find(|ending| **ending == kind)?;
        Some((word.range.clone(), format!("*.{ending}").into_bytes()))
    });
    if joined.is_some() {
        return joined;
    }
    let at = (0..words.len()).find(|&at| {
        let beside = [at.checked_sub(1), Some(at + 1)];
        let is_files = |word: &Word<'_>| FILES.iter().any(|files| word.lower.contains(files));
        KINDS.contains(&words[at].lower.trim_start_matches('.'))
            && beside
                .into_iter()
                .flatten()
                .filter_map(|at| words.get(at))
                .any(is_files)
    })?;
    let ending = words[at].lower.trim_start_matches('.');
    Some((words[at].range.clone(), format!("*.{ending}").into_bytes()))
}

//! Files and directories that a phrase names and that are there.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::common::{self, PLAIN, SMALL, has};
use super::{Found, Phrase, Scene, quoted};
use crate::sources::read;
use crate::template::Slot;

/// Ends of names of archives.
const ARCHIVES: &[&str] = &[
    ".zip", ".tar", ".gz", ".tgz", ".xz", ".txz", ".bz2", ".tbz", ".zst", ".7z", ".rar", ".jar",
    ".deb", ".rpm", ".iso",
];

/// What a slot's label wants.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    Any,
    File,
    Folder,
    Archive,
}

impl Wanted {
    fn of(label: &str) -> Self {
        match label {
            "file" | "image" | "video" | "script" => Self::File,
            "folder" | "directory" | "dir" => Self::Folder,
            "archive" => Self::Archive,
            _ => Self::Any,
        }
    }

    fn takes(self, path: &Path) -> bool {
        let Ok(data) = path.metadata() else {
            return false;
        };
        match self {
            Self::Any => true,
            Self::File => data.is_file(),
            Self::Folder => data.is_dir(),
            Self::Archive => data.is_file() && is_archive(&path.to_string_lossy()),
        }
    }
}

fn is_archive(name: &str) -> bool {
    let name = name.to_lowercase();
    ARCHIVES.iter().any(|end| name.ends_with(end))
}

/// A path that exists: quoted, a word, a name of the working directory anywhere in the phrase, or a
/// way to say "here" or "downloads".
pub(super) fn find(phrase: &Phrase<'_>, slot: &Slot, scene: &Scene<'_>) -> Option<Found> {
    let wanted = Wanted::of(&slot.label);
    // What need not be said may not have been said.
    match slot.default {
        Some(_) => anywhere(&without_plain(phrase, scene), wanted, scene),
        None => anywhere(phrase, wanted, scene),
    }
}

fn anywhere(phrase: &Phrase<'_>, wanted: Wanted, scene: &Scene<'_>) -> Option<Found> {
    if let Some((range, text)) = quoted::find(phrase) {
        let text = String::from_utf8_lossy(&text).into_owned();
        if let Some(path) = there(&text, wanted, scene) {
            return Some((range, path));
        }
    }
    by_word(phrase, wanted, scene)
        .or_else(|| by_name(phrase, wanted, scene))
        .or_else(|| by_place(phrase, wanted, scene))
}

/// A word that is a path; those that look like one before those that are a word of the language, too.
fn by_word(phrase: &Phrase<'_>, wanted: Wanted, scene: &Scene<'_>) -> Option<Found> {
    let words = phrase.words();
    let looks = |text: &str| text.contains(['/', '.', '~']);
    let (first, then): (Vec<_>, Vec<_>) = words.iter().partition(|word| looks(word.text));
    let found = |word: &&super::words::Word<'_>| {
        let path = there(word.text, wanted, scene)?;
        Some((word.range.clone(), path))
    };
    // Two words: a name with a blank in it is the longer one of the two.
    let whole = by_name(phrase, wanted, scene).filter(|(_, name)| name.contains(&b' '));
    whole
        .or_else(|| first.iter().copied().find_map(|word| found(&word)))
        .or_else(|| then.iter().copied().find_map(|word| found(&word)))
}

/// The longest name of the working directory that stands in the phrase.
fn by_name(phrase: &Phrase<'_>, wanted: Wanted, scene: &Scene<'_>) -> Option<Found> {
    let names = read::names(scene.cwd).into_iter();
    let found = names.filter_map(|name| {
        let start = phrase.text.find(&name)?;
        let range = start..start + name.len();
        let inside = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
        let cut = name.is_ascii()
            && (inside(phrase.text[..range.start].chars().next_back())
                || inside(phrase.text[range.end..].chars().next()));
        let fits = name.chars().count() > 1 && !cut && phrase.is_free(&range);
        (fits && wanted.takes(&scene.cwd.join(&name))).then(|| (range, safe(name.into_bytes())))
    });
    found.max_by_key(|(range, _)| range.len())
}

/// The phrase without the words that are names here and say something else: the `files` of "show hidden
/// files", where a directory is called so.
fn without_plain<'a>(phrase: &Phrase<'a>, scene: &Scene<'_>) -> Phrase<'a> {
    let mut rest = Phrase {
        text: phrase.text,
        lower: phrase.lower.clone(),
        taken: phrase.taken.clone(),
    };
    for word in phrase.words() {
        let is_plain = has(PLAIN, word.lower) || has(SMALL, word.lower);
        let before = phrase.lower[..word.range.start].trim_end();
        let before = before.rsplit(' ').next().unwrap_or_default();
        let is_place = has(common::PLACES, before);
        if is_plain && !is_place && there(word.text, Wanted::Any, scene).is_some() {
            rest.take(word.range);
        }
    }
    rest
}

const HERE: &[&str] = &[
    "this folder",
    "this directory",
    "current folder",
    "current directory",
    "here",
    "当前目录",
    "当前文件夹",
    "这个文件夹",
    "这个目录",
    "这里",
    "diesen ordner",
    "diesem ordner",
    "dieses verzeichnis",
    "hier",
    "ce dossier",
    "ici",
    "esta carpeta",
    "aquí",
    "このフォルダ",
    "ここ",
];

const PLACES: [(&[&str], &[&str]); 6] = [
    (
        &[
            "downloads",
            "download folder",
            "下载",
            "téléchargements",
            "descargas",
            "ダウンロード",
        ],
        &[
            "Downloads",
            "下载",
            "Téléchargements",
            "Descargas",
            "ダウンロード",
        ],
    ),
    (
        &["documents", "文档", "dokumente", "documentos", "書類"],
        &["Documents", "文档", "Dokumente", "Documentos"],
    ),
    (
        &[
            "desktop",
            "桌面",
            "schreibtisch",
            "bureau",
            "escritorio",
            "デスクトップ",
        ],
        &["Desktop", "桌面", "Schreibtisch", "Bureau", "Escritorio"],
    ),
    (
        &[
            "pictures",
            "photos",
            "图片",
            "照片",
            "bilder",
            "images",
            "imágenes",
            "写真",
        ],
        &["Pictures", "图片", "Bilder", "Images", "Imágenes"],
    ),
    (
        &[
            "music",
            "音乐",
            "musik",
            "musique",
            "música",
            "ミュージック",
        ],
        &["Music", "音乐", "Musik", "Musique", "Música"],
    ),
    (
        &["videos", "movies", "视频", "vidéos", "vídeos", "ビデオ"],
        &["Videos", "Movies", "视频", "Vidéos", "Vídeos"],
    ),
];

/// A place that has a name of its own.
pub(super) fn by_place(phrase: &Phrase<'_>, wanted: Wanted, scene: &Scene<'_>) -> Option<Found> {
    if !matches!(wanted, Wanted::Any | Wanted::Folder) {
        return None;
    }
    let said = |word: &str| {
        let start = phrase.lower.find(word)?;
        let range = start..start + word.len();
        phrase.is_free(&range).then_some(range)
    };
    if let Some(range) = HERE.iter().find_map(|word| said(word)) {
        return Some((range, b".".to_vec()));
    }
    PLACES.iter().find_map(|(words, names)| {
        let range = words.iter().find_map(|word| said(word))?;
        let path = names
            .iter()
            .map(|name| scene.home.join(name))
            .find(|path| path.is_dir())?;
        Some((range, path.as_os_str().as_bytes().to_vec()))
    })
}

/// The path that a text names, if it is there and of the kind that is wanted.
pub(super) fn there(text: &str, wanted: Wanted, scene: &Scene<'_>) -> Option<Vec<u8>> {
    let path = match text.strip_prefix("~/") {
        Some(rest) => scene.home.join(rest),
        None if text == "~" => scene.home.to_owned(),
        None => PathBuf::from(text),
    };
    wanted
        .takes(&scene.cwd.join(&path))
        .then(|| safe(path.as_os_str().as_bytes().to_vec()))
}

/// A name that no command takes for an option.
fn safe(path: Vec<u8>) -> Vec<u8> {
    match path.starts_with(b"-") {
        true => [b"./".as_slice(), &path].concat(),
        false => path,
    }
}

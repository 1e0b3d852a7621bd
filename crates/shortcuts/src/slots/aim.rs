//! Where something goes: the `docs` of "move notes.txt to docs", of 把 notes.txt 移到 docs and of
//! "notes.txtをdocsに移動".
//!
//! What stands behind such a word is never what is moved or copied, whether it exists or not. So it is
//! looked for first; what is moved is a path among the rest or, when none of it exists, the name before
//! the word.

use std::ops::Range;
use std::os::unix::ffi::OsStringExt;

use super::common::{PLAIN, SMALL, has};
use super::path::{self, Wanted};
use super::words::{Word, is_wide};
use super::{Found, Phrase, Scene, names, quoted};
use crate::sources::read;
use crate::template::{Kind, Slot, Value};

/// Labels of what is moved or copied, and of where it goes.
const WAYS: [(&str, &str); 4] = [
    ("old", "new"),
    ("folder", "copy"),
    ("source", "destination"),
    ("from", "to"),
];

/// Words before where something goes, and those that say as much only where none of these does.
const STRONG: &str = "to into nach vers hacia";
const WEAK: &str = "in onto inside under as in als dans à en sous a";

/// The same at the end of a run without blanks.
const WIDE: [&str; 8] = ["到", "进", "入", "成", "为", "至", "往", "叫"];

/// The same behind the place.
const BEHIND: [&str; 2] = ["に", "へ"];

/// Words before the directory that something is taken from.
const FROM: &str = "from von aus de du depuis desde";

/// Words that a name has before it rather than in it.
const KINDS: &str = "\
    folder directory dir file ordner verzeichnis datei dossier répertoire fichier carpeta \
    directorio archivo fichero";

/// The most words that are one name.
const LONGEST: usize = 3;

/// Where something goes in a phrase.
pub(super) struct Aim {
    /// The word for it and the place.
    range: Range<usize>,
    /// The place; none when it cannot be told from other words.
    place: Option<Found>,
    /// What stands before the word for it, when that can be a name.
    before: Option<Found>,
}

/// Whether a command moves or copies: the places of what is and of where it goes among its slots.
pub(super) fn way(slots: &[Value]) -> Option<(usize, usize)> {
    let at = |label: &str| slots.iter().position(|value| value.slot.label == label);
    WAYS.iter().find_map(|(from, to)| {
        let (from, to) = (at(from)?, at(to)?);
        let is_path = |slot: &Slot| slot.kind == Kind::Path;
        let takes = |slot: &Slot| matches!(slot.kind, Kind::Path | Kind::Name);
        (is_path(&slots[from].slot) && takes(&slots[to].slot)).then_some((from, to))
    })
}

impl Aim {
    /// Looks for it.
    pub(super) fn of(phrase: &Phrase<'_>, scene: &Scene<'_>) -> Option<Self> {
        let words = phrase.words();
        if let Some(at) = mark(&words) {
            return Some(behind(&words, at, phrase, scene));
        }
        if let Some(place) = amid(phrase, scene) {
            let before = words.iter().rev().filter_map(name);
            let mut before = before.filter(|(range, _)| range.end <= place.start);
            return Some(Self {
                place: Some(found(place.clone(), phrase, scene)),
                before: before.next(),
                range: place,
            });
        }
        let at = (1..words.len()).rfind(|&at| {
            let is_behind = BEHIND.iter().any(|mark| words[at].lower.starts_with(mark));
            is_behind && !words[at - 1].text.starts_with(is_wide)
        })?;
        let place = &words[at - 1];
        let before = words[..at - 1].iter().rev().find(|word| !is_particle(word));
        Some(Self {
            range: place.range.start..words[at].range.end,
            place: Some(found(place.range.clone(), phrase, scene)),
            before: before.and_then(|word| name(word)),
        })
    }

    /// Gives the place to its slot and keeps it from all others.
    pub(super) fn settle(&mut self, value: &mut Value, phrase: &mut Phrase<'_>) {
        if let Some(place) = self.place.take() {
            super::settle(value, Some(place), phrase);
        }
        phrase.take(self.range.clone());
    }

    /// Gives what stands before to a slot that no path was found for.
    pub(super) fn settle_before(self, value: &mut Value, phrase: &mut Phrase<'_>) {
        let told = quoted::find(phrase).filter(|(range, _)| range.end <= self.range.start);
        let found = told.or(self.before);
        super::settle(
            value,
            found.filter(|(range, _)| phrase.is_free(range)),
            phrase,
        );
    }
}

/// A name of the working directory beside such a word, amid others that no blanks part.
fn amid(phrase: &Phrase<'_>, scene: &Scene<'_>) -> Option<Range<usize>> {
    if !phrase.text.contains(is_wide) {
        return None;
    }
    let names = read::names(scene.cwd).into_iter();
    let places = names.filter_map(|name| {
        let at = phrase.text.rfind(&name)?;
        let range = at..at + name.len();
        let is_place = name.starts_with(is_wide)
            && (ends_wide(&phrase.text[..at])
                || BEHIND
                    .iter()
                    .any(|mark| phrase.text[range.end..].starts_with(mark)));
        (is_place && phrase.is_free(&range)).then_some(range)
    });
    places.max_by_key(Range::len)
}

/// The word that says where to: the last strong one, else the last weak one behind something else.
fn mark(words: &[Word<'_>]) -> Option<usize> {
    let last = |list: &str| {
        let is_mark = |&at: &usize| {
            let word = words[at].lower;
            has(list, word) || (list == STRONG && ends_wide(word))
        };
        (1..words.len().saturating_sub(1)).rfind(is_mark)
    };
    last(STRONG).or_else(|| last(WEAK).filter(|at| *at > 1))
}

fn ends_wide(word: &str) -> bool {
    WIDE.iter().any(|mark| word.ends_with(mark))
}

fn is_particle(word: &Word<'_>) -> bool {
    word.text.starts_with(is_wide)
}

/// What stands behind the word for it.
fn behind(words: &[Word<'_>], at: usize, phrase: &Phrase<'_>, scene: &Scene<'_>) -> Aim {
    let exists = |word: &Word<'_>| path::there(word.text, Wanted::Any, scene).is_some();
    let is_filler = |word: &Word<'_>| {
        (has(SMALL, word.lower) || has(PLAIN, word.lower) || has(KINDS, word.lower))
            && !exists(word)
    };
    let rest = &words[at + 1..];
    let first = rest.iter().position(|word| !is_filler(word));
    let run: Vec<&Word<'_>> = match first {
        Some(first) => rest[first..]
            .iter()
            .take_while(|word| !is_filler(word))
            .collect(),
        // "to app": an ordinary word alone is a name; "to another folder" is none.
        None => match rest.iter().filter(|word| !has(SMALL, word.lower)).count() {
            1 => rest
                .iter()
                .filter(|word| !has(SMALL, word.lower) && !has(KINDS, word.lower))
                .collect(),
            _ => Vec::new(),
        },
    };
    let range = words[at].range.start..rest.last().map_or(words[at].range.end, |w| w.range.end);
    let place = told(&run, &range, phrase, scene);
    let end = place
        .as_ref()
        .map_or(words[at].range.end, |(range, _)| range.end);
    let before = match is_particle(&words[at]) {
        true => words[..at].last(),
        // The first word is the verb.
        false => words[..at].last().filter(|_| at > 1),
    };
    let (range, before) = match taken_from(&words[..at], scene) {
        Some(from) => (from.start..end, from.name),
        None => (words[at].range.start..end, before.and_then(|w| name(w))),
    };
    Aim {
        range,
        place,
        before,
    }
}

/// The directory that something is taken from.
struct From {
    /// Where the word for it stands.
    start: usize,
    /// What is taken, in that directory.
    name: Option<Found>,
}

/// What is taken from a directory at the end of some words: the `src/a.txt` of "move a.txt from src".
fn taken_from(words: &[Word<'_>], scene: &Scene<'_>) -> Option<From> {
    let (directory, rest) = words.split_last()?;
    let path = path::there(directory.text, Wanted::Folder, scene)?;
    let is_kind = |word: &&Word<'_>| has(SMALL, word.lower) || has(KINDS, word.lower);
    let mark = rest.iter().rposition(|word| has(FROM, word.lower))?;
    if !rest[mark + 1..].iter().all(|word| is_kind(&word)) {
        return None;
    }
    let named = rest[..mark].last().and_then(name).filter(|_| mark > 1);
    let name = named.map(|(range, name)| (range, [path.as_slice(), b"/", &name].concat()));
    Some(From {
        start: rest[mark].range.start,
        name,
    })
}

/// The place that a run of words names.
fn told(
    run: &[&Word<'_>],
    within: &Range<usize>,
    phrase: &Phrase<'_>,
    scene: &Scene<'_>,
) -> Option<Found> {
    let inside = |found: &Found| within.start <= found.0.start && found.0.end <= within.end;
    if let Some(found) = quoted::find(phrase).filter(inside) {
        return Some(found);
    }
    let known = path::by_place(phrase, Wanted::Any, scene).filter(inside);
    if known.is_some() {
        return known;
    }
    let first = run.first()?;
    if path::there(first.text, Wanted::Any, scene).is_some() {
        return Some(found(first.range.clone(), phrase, scene));
    }
    let has_ending = |word: &Word<'_>| word.text.trim_start_matches('.').contains('.');
    let last = run.last()?;
    let is_one = run.len() <= LONGEST && (run.len() == 1 || !has_ending(first) || has_ending(last));
    let end = match (is_one, has_ending(first)) {
        (true, _) => last.range.end,
        (false, true) => first.range.end,
        (false, false) => return None,
    };
    let range = first.range.start..end;
    let text = &phrase.text[range.clone()];
    let text = text.strip_prefix('~').unwrap_or(text);
    let is_name = text.chars().all(|c| c == ' ' || names::is_part(c));
    is_name.then(|| found(range, phrase, scene))
}

/// A place as it is written, a path that is there made safe.
fn found(range: Range<usize>, phrase: &Phrase<'_>, scene: &Scene<'_>) -> Found {
    let text = &phrase.text[range.clone()];
    let path = path::there(text, Wanted::Any, scene).unwrap_or_else(|| {
        // What is not there yet may be at home all the same.
        match text.strip_prefix("~/") {
            Some(rest) => scene.home.join(rest).into_os_string().into_vec(),
            None => text.as_bytes().to_vec(),
        }
    });
    (range, path)
}

/// A word that can be the name of what is moved.
fn name(word: &Word<'_>) -> Option<Found> {
    let is_name = word.text.chars().all(names::is_part)
        && word.text.contains(char::is_alphabetic)
        && !has(SMALL, word.lower)
        && !has(PLAIN, word.lower)
        && !is_particle(word)
        && !word.text.starts_with('-');
    is_name.then(|| (word.range.clone(), word.text.as_bytes().to_vec()))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::{Clock, values};
    use super::*;

    /// Source and target, in a directory with `src`, `docs`, `main.rs` and 资料.
    #[track_caller]
    fn check(labels: (&str, &str), phrase: &str, expected: (Option<&str>, Option<&str>)) {
        let dir = tempfile::tempdir().expect("tempdir");
        for name in ["src", "docs", "资料"] {
            std::fs::create_dir_all(dir.path().join(name)).expect("made");
        }
        std::fs::write(dir.path().join("main.rs"), "").expect("written");
        let scene = Scene {
            cwd: dir.path(),
            home: Path::new("/nowhere"),
            now: Clock::new(10, 0),
        };
        let slots = [
            Slot::new(Kind::Path, labels.0),
            Slot::new(Kind::Name, labels.1),
        ];
        let found = values(&slots, phrase, &scene, None);
        let text = |at: usize| {
            let value: Option<&[u8]> = found[at].value.as_deref();
            value.map(|value| std::str::from_utf8(value).expect("UTF-8"))
        };
        assert_eq!((text(0), text(1)), expected, "{phrase}");
    }

    #[test]
    fn what_stands_behind_to_is_where_it_goes_and_never_what_is_moved() {
        for (phrase, old, new) in [
            ("move file.txt to src", Some("file.txt"), Some("src")),
            ("mv foo to src", Some("foo"), Some("src")),
            ("move foo into the docs folder", Some("foo"), Some("docs")),
            ("move to src", None, Some("src")),
            ("move it to src", None, Some("src")),
            (
                "verschiebe notiz.txt nach docs",
                Some("notiz.txt"),
                Some("docs"),
            ),
            (
                "verschieb notiz.txt in den Ordner docs",
                Some("notiz.txt"),
                Some("docs"),
            ),
            (
                "déplace notes.txt dans docs",
                Some("notes.txt"),
                Some("docs"),
            ),
            (
                "déplace notes.txt vers le dossier docs",
                Some("notes.txt"),
                Some("docs"),
            ),
            ("mueve notas.txt a docs", Some("notas.txt"), Some("docs")),
            ("把 notes.txt 移到 docs", Some("notes.txt"), Some("docs")),
            ("把notes.txt移动到docs", Some("notes.txt"), Some("docs")),
            ("notes.txtをdocsに移動", Some("notes.txt"), Some("docs")),
            ("notes.txt を docs へ移動", Some("notes.txt"), Some("docs")),
            ("move \"my file\" to docs", Some("my file"), Some("docs")),
            (
                "move the file notes.txt from src to docs",
                Some("src/notes.txt"),
                Some("docs"),
            ),
            ("move everything from src to docs", None, Some("docs")),
            (
                "verschiebe notiz.txt aus dem Ordner src nach docs",
                Some("src/notiz.txt"),
                Some("docs"),
            ),
            (
                "move foo.txt to ~/Downloads",
                Some("foo.txt"),
                Some("/nowhere/Downloads"),
            ),
        ] {
            check(("old", "new"), phrase, (old, new));
        }
    }

    #[test]
    fn what_is_there_goes_where_the_phrase_says() {
        for (phrase, old, new) in [
            ("move main.rs to src", "main.rs", "src"),
            ("verschiebe main.rs nach src", "main.rs", "src"),
            ("verschieb main.rs in den Ordner src", "main.rs", "src"),
            ("déplace main.rs dans src", "main.rs", "src"),
            ("mueve main.rs a src", "main.rs", "src"),
            ("把 main.rs 移到 src", "main.rs", "src"),
            ("把main.rs移到资料", "main.rs", "资料"),
            ("main.rsをsrcに移動して", "main.rs", "src"),
            ("main.rsを资料に移動して", "main.rs", "资料"),
            ("rename main.rs to lib.rs", "main.rs", "lib.rs"),
            ("rename main.rs to my lib.rs please", "main.rs", "lib.rs"),
            ("rename main.rs to b c.txt", "main.rs", "b c.txt"),
            ("rename main.rs to \"b c.txt\"", "main.rs", "b c.txt"),
            ("rename main.rs to b.txt instead", "main.rs", "b.txt"),
            ("move src into docs", "src", "docs"),
            ("rename src to app", "src", "app"),
        ] {
            check(("old", "new"), phrase, (Some(old), Some(new)));
        }
        check(
            ("old", "new"),
            "move main.rs to another folder",
            (Some("main.rs"), None),
        );
    }

    #[test]
    fn a_copy_goes_the_same_way() {
        for (phrase, folder, copy) in [
            ("copy folder backup to docs", "backup", "docs"),
            ("copy folder src to backup", "src", "backup"),
            ("copy a folder src to backup", "src", "backup"),
            ("copy src into docs", "src", "docs"),
            ("copy the folder src as src2", "src", "src2"),
            ("kopiere den Ordner src nach docs", "src", "docs"),
            ("把 src 复制到 docs", "src", "docs"),
        ] {
            check(("folder", "copy"), phrase, (Some(folder), Some(copy)));
        }
        check(
            ("folder", "copy"),
            "copy the src folder",
            (Some("src"), None),
        );
    }
}

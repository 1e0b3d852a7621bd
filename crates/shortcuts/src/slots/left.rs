//! The one thing in a phrase that nothing else accounts for: the `firefox` of "kill firefox", the
//! `ripgrep` of "安装 ripgrep".
//!
//! Each word is plain (what one does and to what kind of thing, and what the shortcut calls itself), small
//! (articles, prepositions, politeness) or open. When the open ones stand together, at one place, and
//! something else in the phrase is plain, they are the value. A name is a single word. Where something
//! may be lost, it must also be a word that no two shortcuts use. When in doubt, there is none: an open
//! slot is seen, a wrong one may not be.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::LazyLock;

use super::common::{
    PLACES, PLAIN, PROGRAMS, SMALL, THINGS, TOOLS, WHO, WIDE_PLAIN, WIDE_SMALL, has, longest,
};
use super::words::{self, Word, is_wide};
use super::{Found, Phrase};
use crate::builtin::builtin;
use crate::shortcut::{Risk, Shortcut, Source, Text};
use crate::template::{Kind, Slot};

/// Slots whose value is another thing than the one that the words are about, or a sentence of its own.
const OTHERS: &[&str] = &[
    "result", "copy", "remote", "link", "old", "new", "to", "from", "filter",
];

/// What words can be cut off the front of others in French.
const ELIDED: &[&str] = &["l'", "d'", "l’", "d’", "qu'", "qu’"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sort {
    Plain,
    Small,
    Who,
    Open,
}

struct Piece<'a> {
    range: Range<usize>,
    lower: &'a str,
    sort: Sort,
}

/// The value for a slot that is the only one left open.
pub(super) fn find(slot: &Slot, phrase: &Phrase<'_>, shortcut: &Shortcut) -> Option<Found> {
    let is_line = slot.kind == Kind::Text && slot.label == "command";
    let takes = matches!(slot.kind, Kind::Name | Kind::Pattern | Kind::Text);
    if !takes || is_line || OTHERS.contains(&slot.label.as_str()) {
        return None;
    }
    let with = |examples| {
        let own = own_words(shortcut, examples);
        let pieces = pieces(phrase, &own);
        let harmless = shortcut.risk == Risk::Read;
        only(slot.kind, harmless, &pieces, phrase)
    };
    let range = with(&[]).or_else(|| match shortcut.source {
        // Examples of the built-in ones hold values themselves.
        Source::Builtin => None,
        _ => with(&shortcut.examples),
    })?;
    let text = phrase.text[range.clone()].trim();
    if shortcut.risk == Risk::Destructive
        && !(is_telling(text) && (slot.kind != Kind::Pattern || is_pattern(text)))
    {
        return None;
    }
    Some((range, text.as_bytes().to_vec()))
}

/// Where the open pieces stand, if they are one value.
fn only(
    kind: Kind,
    harmless: bool,
    pieces: &[Piece<'_>],
    phrase: &Phrase<'_>,
) -> Option<Range<usize>> {
    // "where is python" says enough for what only reads.
    let asks = |piece: &Piece<'_>| harmless && piece.sort == Sort::Small;
    let says = |piece: &Piece<'_>| piece.sort == Sort::Plain || asks(piece);
    if !pieces.iter().any(says) {
        return None;
    }
    let is_open = |piece: &Piece<'_>| piece.sort == Sort::Open;
    let first = pieces.iter().position(is_open)?;
    let last = pieces.iter().rposition(is_open)?;
    let single = match kind {
        Kind::Name => match first == last {
            true => Some(first),
            false => beside_a_thing(pieces),
        },
        _ => None,
    };
    let (first, last) = match (kind, single) {
        (Kind::Name, None) => return None,
        (_, Some(only)) => (only, only),
        (_, None) => (first, last),
    };
    let joins = |piece: &Piece<'_>| match piece.sort {
        Sort::Open => true,
        Sort::Small => !has(PLACES, piece.lower),
        Sort::Plain | Sort::Who => false,
    };
    let before = first.checked_sub(1).map(|before| pieces[before].sort);
    // "create folder a b": an article does not stand there.
    let is_article = |at: usize| ["a", "an", "the"].contains(&pieces[at].lower);
    if first >= 2 && is_article(first - 1) && has(THINGS, pieces[first - 2].lower) {
        return None;
    }
    if before == Some(Sort::Who) || !pieces[first..=last].iter().all(joins) {
        return None;
    }
    let range = pieces[first].range.start..pieces[last].range.end;
    let text = &phrase.text[range.clone()];
    // "make a folder in src": that is where, not what.
    let is_place = first > 0 && has(PLACES, pieces[first - 1].lower);
    let fits = kind != Kind::Name || (!is_place && text.chars().all(super::names::is_part));
    (fits && phrase.is_free(&range)).then_some(range)
}

/// Whether a word can be the name of files rather than a word for what they are: "temporary files".
fn is_pattern(text: &str) -> bool {
    text.contains(|c: char| c.is_ascii_digit() || "._-*?".contains(c))
}

/// The one open word that stands beside a word for such a thing: "bounce the nginx service".
fn beside_a_thing(pieces: &[Piece<'_>]) -> Option<usize> {
    let is_thing = |at: usize| pieces.get(at).is_some_and(|piece| has(THINGS, piece.lower));
    let mut found = (0..pieces.len()).filter(|at| {
        let before = at.checked_sub(1).is_some_and(is_thing);
        let is_open = |at: usize| pieces.get(at).is_some_and(|piece| piece.sort == Sort::Open);
        // Of two words that stand together neither is the name.
        let is_single = !is_open(at + 1) && !at.checked_sub(1).is_some_and(is_open);
        is_open(*at) && is_single && (before || is_thing(at + 1))
    });
    let only = found.next()?;
    found.next().is_none().then_some(only)
}

fn pieces<'a>(phrase: &'a Phrase<'_>, own: &HashSet<String>) -> Vec<Piece<'a>> {
    let mut pieces = Vec::new();
    for word in phrase.words() {
        match word.text.starts_with(is_wide) {
            true => pieces.extend(wide_pieces(&word)),
            false => pieces.push(piece(&word, own)),
        }
    }
    let open = pieces.iter().filter(|piece| piece.sort == Sort::Open);
    if open.count() > 1
        && let Some(first) = pieces.first_mut()
        && has(TOOLS, first.lower)
    {
        first.sort = Sort::Plain;
    }
    pieces
}

fn piece<'a>(word: &Word<'a>, own: &HashSet<String>) -> Piece<'a> {
    let cut = ELIDED.iter().find(|start| word.lower.starts_with(**start));
    let cut = cut.map_or(0, |start| start.len());
    let lower = &word.lower[cut..];
    let sort = match lower {
        _ if has(WHO, lower) => Sort::Who,
        _ if has(SMALL, lower) => Sort::Small,
        _ if has(PLAIN, lower) || own.contains(stem(lower)) => Sort::Plain,
        _ => Sort::Open,
    };
    Piece {
        range: word.range.start + cut..word.range.end,
        lower,
        sort,
    }
}

/// A run without blanks, cut at the longest known words.
fn wide_pieces<'a>(word: &Word<'a>) -> Vec<Piece<'a>> {
    let mut pieces: Vec<Piece<'a>> = Vec::new();
    let mut at = 0;
    while let Some(c) = word.lower[at..].chars().next() {
        let rest = &word.lower[at..];
        let (plain, small) = (longest(WIDE_PLAIN, rest), longest(WIDE_SMALL, rest));
        let (length, sort) = match (plain, small) {
            (0, 0) => (c.len_utf8(), Sort::Open),
            (plain, small) if plain >= small => (plain, Sort::Plain),
            (_, small) => (small, Sort::Small),
        };
        let range = word.range.start + at..word.range.start + at + length;
        match pieces.last_mut() {
            Some(last) if last.sort == Sort::Open && sort == Sort::Open => {
                last.range.end = range.end;
            }
            _ => pieces.push(Piece {
                range,
                lower: &word.lower[at..at + length],
                sort,
            }),
        }
        at += length;
    }
    pieces
}

/// What a shortcut calls itself: the words of its titles, and those of its descriptions that other
/// shortcuts use as well. The others may be names: "a service such as nginx".
pub(super) fn own_words(shortcut: &Shortcut, examples: &[Text]) -> HashSet<String> {
    let titles = shortcut.title.0.iter().chain(examples);
    let mut own: HashSet<String> = titles.flat_map(|text| stems(&text.text)).collect();
    for text in &shortcut.description.0 {
        own.extend(stems(&text.text).filter(|stem| is_usual(stem)));
    }
    own
}

/// In how many built-in shortcuts a word stands.
static USUAL: LazyLock<HashMap<String, usize>> = LazyLock::new(|| {
    let mut counts = HashMap::new();
    for shortcut in builtin() {
        let texts = shortcut.title.0.iter().chain(&shortcut.description.0);
        let words: HashSet<String> = texts.flat_map(|text| stems(&text.text)).collect();
        for word in words {
            *counts.entry(word).or_default() += 1;
        }
    }
    counts
});

pub(super) fn is_usual(stem: &str) -> bool {
    USUAL.get(stem).is_some_and(|count| *count > 1)
}

/// Whether a word can only be a name: no ordinary one, and written in letters that commands have.
fn is_telling(text: &str) -> bool {
    let lower = text.to_lowercase();
    let is_program = has(PROGRAMS, &lower) || has(TOOLS, &lower);
    let is_word = text.is_ascii() && text.len() > 1 && text.contains(char::is_alphabetic);
    is_word && (is_program || !is_usual(stem(&lower)))
}

fn stems(text: &str) -> impl Iterator<Item = String> {
    let lower = text.to_lowercase();
    let words: Vec<String> = words::split(text, &lower)
        .iter()
        .filter(|word| !word.text.starts_with(is_wide))
        .map(|word| stem(word.lower).to_owned())
        .collect();
    words.into_iter()
}

/// A word without the commonest endings; the same for all forms is enough.
pub(super) fn stem(word: &str) -> &str {
    let ends = ["ing", "ed", "es", "en", "s", "e", "n"];
    let cut = ends.iter().filter_map(|end| word.strip_suffix(end));
    cut.into_iter()
        .find(|rest| rest.chars().count() >= 3)
        .unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::{Clock, Scene, values};
    use super::*;

    /// What the only slot of a built-in shortcut takes from a phrase.
    #[track_caller]
    fn check(id: &str, slot: (Kind, &str), cases: &[(&str, Option<&str>)]) {
        let shortcut = builtin().iter().find(|known| known.id == id).expect(id);
        let dir = tempfile::tempdir().expect("tempdir");
        let scene = Scene {
            cwd: dir.path(),
            home: Path::new("/nowhere"),
            now: Clock::new(10, 0),
        };
        for (phrase, expected) in cases {
            let slots = [Slot::new(slot.0, slot.1)];
            let found = values(&slots, phrase, &scene, Some(shortcut));
            let found = found[0].value.as_deref();
            let found = found.map(|value| std::str::from_utf8(value).expect("UTF-8"));
            assert_eq!(found, *expected, "{id}: {phrase}");
        }
    }

    #[test]
    fn a_name_behind_the_verb_is_taken_in_six_languages() {
        check(
            "package_install",
            (Kind::Name, "package"),
            &[
                ("install ripgrep", Some("ripgrep")),
                (
                    "can you please install the ripgrep package",
                    Some("ripgrep"),
                ),
                ("I need htop", Some("htop")),
                ("apt install ripgrep", Some("ripgrep")),
                ("install npm", Some("npm")),
                ("安装 ripgrep", Some("ripgrep")),
                ("帮我装一下ripgrep", Some("ripgrep")),
                ("installiere ripgrep", Some("ripgrep")),
                ("ripgrep bitte installieren", Some("ripgrep")),
                ("installe ripgrep", Some("ripgrep")),
                ("instala el paquete ripgrep", Some("ripgrep")),
                ("ripgrepをインストールして", Some("ripgrep")),
                ("install it", None),
                ("install a package", None),
                ("install visual studio code", None),
                ("安装一个软件", None),
            ],
        );
        check(
            "service_restart",
            (Kind::Name, "service"),
            &[
                ("restart nginx", Some("nginx")),
                ("bounce the nginx service", Some("nginx")),
                ("重启 nginx 服务", Some("nginx")),
            ],
        );
    }

    #[test]
    fn a_question_for_something_that_only_reads_says_enough() {
        check(
            "which_command",
            (Kind::Name, "command"),
            &[("where is python", Some("python")), ("python", None)],
        );
        check(
            "package_remove",
            (Kind::Name, "package"),
            &[("where is nodejs", None)],
        );
    }

    #[test]
    fn where_something_may_be_lost_only_a_word_that_must_be_a_name_is_taken() {
        check(
            "kill_by_name",
            (Kind::Name, "program"),
            &[
                ("kill firefox", Some("firefox")),
                ("Kill Firefox please", Some("Firefox")),
                ("firefox is frozen, kill it", Some("firefox")),
                ("杀掉 firefox", Some("firefox")),
                ("beende firefox", Some("firefox")),
                ("tue firefox", Some("firefox")),
                ("mata firefox", Some("firefox")),
                ("firefoxを終了", Some("firefox")),
                ("kill python", Some("python")),
                ("kill process 1234", None),
                ("kill everything", None),
                ("kill it", None),
                ("kill the music", None),
                ("kill that stupid app", None),
                ("kill all processes", None),
                ("terminate the program", None),
                ("nuke firefox", None),
                ("kill firefox and chrome", None),
                ("杀掉微信", None),
                ("把那个 app 杀掉", None),
            ],
        );
    }

    #[test]
    fn a_word_for_what_files_are_is_no_pattern_to_delete_by() {
        check(
            "delete_by_pattern",
            (Kind::Pattern, ""),
            &[
                ("delete all temporary files", None),
                ("supprime tous les fichiers temporaires", None),
                ("borra todos los archivos temporales", None),
                ("lösche alle Sicherungsdateien", None),
                ("lösche alle Logdateien", Some("*.log")),
                ("delete all core.1234 files", Some("core.1234")),
                ("delete every *.o file", Some("*.o")),
            ],
        );
    }

    #[test]
    fn of_two_words_that_stand_together_neither_is_the_name() {
        check(
            "make_directory",
            (Kind::Name, "folder"),
            &[
                ("create folder foo", Some("foo")),
                ("create a folder foo", Some("foo")),
                ("create folder a b", None),
                ("create folder foo bar", None),
                ("make a new folder in src", None),
            ],
        );
    }

    #[test]
    fn a_text_to_look_for_may_have_several_words() {
        check(
            "search_text_in_files",
            (Kind::Text, "words"),
            &[
                ("grep TODO", Some("TODO")),
                ("grep for TODO in the code", Some("TODO")),
                (
                    "search for connection reset by peer in all files",
                    Some("connection reset by peer"),
                ),
                ("search for foo in src", None),
                ("search the text", None),
                ("在代码里搜索 foo", Some("foo")),
                ("搜索包含预算的文件", Some("预算")),
                ("suche nach foo in allen Dateien", Some("foo")),
                ("cherche l'erreur dans le code", Some("erreur")),
                ("busca foo en los archivos", Some("foo")),
                ("コードからfooを検索", Some("foo")),
                ("where did we call init", None),
            ],
        );
    }

    #[test]
    fn a_pattern_goes_on_to_the_end_of_the_name() {
        check(
            "search_files",
            (Kind::Pattern, "name"),
            &[
                ("search for foo", Some("*foo*")),
                ("find files named notes", Some("*notes*")),
                ("find files named meeting notes", Some("*meeting notes*")),
                ("find notes", Some("*notes*")),
                ("搜索 foo", Some("*foo*")),
                ("帮我找一下发票", Some("*发票*")),
                ("find *.rs", Some("*.rs")),
                ("find all pdf files", Some("*.pdf")),
                ("find a file", None),
            ],
        );
    }

    #[test]
    fn the_examples_of_ones_own_shortcut_are_words_for_it() {
        let text = "[[shortcut]]\nid = \"x\"\ntitle = \"Deploy an app\"\n\
                    examples = [\"ship it\"]\ncommand = \"deploy {name}\"\n";
        let (shortcuts, _) = crate::parse(text, "f", Source::File);
        let scene = Scene {
            cwd: Path::new("/nowhere"),
            home: Path::new("/nowhere"),
            now: Clock::new(10, 0),
        };
        let of = |phrase: &str| {
            let slots = [Slot::new(Kind::Name, "")];
            values(&slots, phrase, &scene, Some(&shortcuts[0]))[0]
                .value
                .clone()
        };
        assert_eq!(of("deploy shop").as_deref(), Some(&b"shop"[..]));
        assert_eq!(of("ship shop").as_deref(), Some(&b"shop"[..]));
        assert_eq!(of("blast shop"), None);
    }
}

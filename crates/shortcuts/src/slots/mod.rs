//! Values for slots, found in a phrase by small parsers: numbers, times, paths that exist, quoted
//! text and what follows certain words.
//!
//! What one slot takes is not given to another, and the least ambiguous kinds choose first: the
//! `3000` of "on port 3000" is no number for somebody else, and the time is not a part of what one
//! wants to be reminded of.

mod aim;
mod common;
mod left;
mod names;
mod net;
mod number;
mod path;
mod quoted;
mod state;
mod text;
mod time;
mod unsaid;
mod words;

pub(crate) use words::is_wide;

use std::ops::Range;
use std::path::Path;

use crate::shortcut::Shortcut;
use crate::template::{Kind, Slot, Value};

pub use state::State;
pub use time::Clock;
pub use unsaid::unsaid;

/// Where a phrase is said.
#[derive(Debug, Clone, Copy)]
pub struct Scene<'a> {
    /// The working directory.
    pub cwd: &'a Path,
    /// The home directory.
    pub home: &'a Path,
    /// The time of day, here.
    pub now: Clock,
}

/// A value and the bytes of the phrase that it was made of.
type Found = (Range<usize>, Vec<u8>);

/// A value for each slot, as far as the phrase has them; else the slot's own, if it brings one.
///
/// When one slot alone is left open, it takes what neither the language nor `shortcut` accounts for.
pub fn values(
    slots: &[Slot],
    phrase: &str,
    scene: &Scene<'_>,
    shortcut: Option<&Shortcut>,
) -> Vec<Value> {
    let mut phrase = Phrase::new(phrase);
    let mut values: Vec<Value> = slots
        .iter()
        .map(|slot| Value {
            slot: slot.clone(),
            value: None,
        })
        .collect();
    let way = aim::way(&values).filter(|_| !phrase.text.is_empty());
    let mut aim = way.and_then(|_| aim::Aim::of(&phrase, scene));
    if let (Some((_, to)), Some(aim)) = (way, &mut aim) {
        aim.settle(&mut values[to], &mut phrase);
    }
    for kind in Kind::ALL {
        if kind == Kind::Time
            && let (Some((from, _)), Some(aim)) = (way, aim.take())
            && values[from].value.is_none()
        {
            aim.settle_before(&mut values[from], &mut phrase);
        }
        for value in values
            .iter_mut()
            .filter(|v| v.slot.kind == kind && v.value.is_none())
        {
            let found = find(&value.slot, &phrase, scene);
            settle(value, found, &mut phrase);
        }
    }
    for value in values.iter_mut().filter(|value| value.value.is_none()) {
        value.value = value.slot.default.clone().map(String::into_bytes);
    }
    let mut open = values.iter_mut().filter(|value| value.value.is_none());
    if let (Some(value), None, Some(shortcut)) = (open.next(), open.next(), shortcut) {
        let found = left::find(&value.slot, &phrase, shortcut);
        settle(value, found, &mut phrase);
    }
    values
}

/// Gives a slot what was found for it.
fn settle(value: &mut Value, found: Option<Found>, phrase: &mut Phrase<'_>) {
    let kind = value.slot.kind;
    // A program would read such a name as an option.
    let fits = |(_, found): &Found| !is_name(kind) || !found.starts_with(b"-");
    let Some((range, found)) = found.filter(fits) else {
        return;
    };
    phrase.take(range);
    value.value = Some(match (kind, value.slot.label.as_str()) {
        (Kind::Pattern, "name") => names::anywhere(found),
        _ => found,
    });
}

fn is_name(kind: Kind) -> bool {
    matches!(kind, Kind::Name | Kind::Host)
}

fn find(slot: &Slot, phrase: &Phrase<'_>, scene: &Scene<'_>) -> Option<Found> {
    match slot.kind {
        Kind::Url => net::url(phrase),
        Kind::Path => path::find(phrase, slot, scene),
        Kind::Time => time::find(phrase, &slot.label, scene.now),
        Kind::Port => net::port(phrase),
        Kind::Host => net::host(phrase),
        Kind::Number => number::find(phrase),
        Kind::Pattern => names::pattern(phrase),
        Kind::Name => names::name(phrase, &slot.label),
        Kind::Text => text::find(phrase, &slot.label),
    }
}

/// A phrase, and the parts of it that are used up.
struct Phrase<'a> {
    text: &'a str,
    /// The same in lower case, byte for byte as long: letters whose other case has another length
    /// stay.
    lower: String,
    taken: Vec<Range<usize>>,
}

impl<'a> Phrase<'a> {
    fn new(text: &'a str) -> Self {
        let mut lower = String::with_capacity(text.len());
        for c in text.chars() {
            let mut small = c.to_lowercase();
            match (small.next(), small.next()) {
                (Some(one), None) if one.len_utf8() == c.len_utf8() => lower.push(one),
                _ => lower.push(c),
            }
        }
        Self {
            text,
            lower,
            taken: Vec::new(),
        }
    }

    fn take(&mut self, range: Range<usize>) {
        self.taken.push(range);
    }

    fn is_free(&self, range: &Range<usize>) -> bool {
        self.taken
            .iter()
            .all(|taken| taken.end <= range.start || range.end <= taken.start)
    }

    /// The words that nobody has taken.
    fn words(&self) -> Vec<words::Word<'_>> {
        let all = words::split(self.text, &self.lower);
        all.into_iter()
            .filter(|word| self.is_free(&word.range))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a phrase gives for slots, `kind:label` each, at 10:00.
    #[track_caller]
    fn check(phrase: &str, slots: &[&str], expected: &[Option<&str>]) {
        let dir = tempfile::tempdir().expect("tempdir");
        std::fs::create_dir_all(dir.path().join("src")).expect("made");
        for name in ["backup.zip", "notes.txt", "My Files.tar.gz", "报告.pdf"] {
            std::fs::write(dir.path().join(name), "").expect("written");
        }
        let scene = Scene {
            cwd: dir.path(),
            home: Path::new("/nowhere"),
            now: Clock::new(10, 0),
        };
        let slots: Vec<Slot> = slots
            .iter()
            .map(|slot| {
                let (kind, label) = slot.split_once(':').unwrap_or((slot, ""));
                Slot::new(Kind::named(kind).expect("a kind"), label)
            })
            .collect();
        let found = values(&slots, phrase, &scene, None);
        let found: Vec<Option<&str>> = found
            .iter()
            .map(|value| value.value.as_deref())
            .map(|value| value.map(|value| std::str::from_utf8(value).expect("UTF-8")))
            .collect();
        assert_eq!(found, expected, "{phrase}");
    }

    #[test]
    fn a_reminder_has_a_time_and_a_text() {
        for (phrase, time, text) in [
            ("三点提醒我开会", "15:00", "开会"),
            ("remind me to call mom at 7:30pm", "19:30", "call mom"),
            (
                "Remind me at 5 to water the plants",
                "17:00",
                "water the plants",
            ),
            ("in ten minutes remind me to stretch", "10:10", "stretch"),
            (
                "erinnere mich um halb acht an die Wäsche",
                "19:30",
                "die Wäsche",
            ),
            ("rappelle-moi à 15h d'appeler Paul", "15:00", "appeler Paul"),
            (
                "recuérdame a las tres y media sacar la basura",
                "15:30",
                "sacar la basura",
            ),
            ("10分後に洗濯物をリマインド", "10:10", "洗濯物"),
            ("明天早上八点提醒我带护照", "08:00", "带护照"),
        ] {
            check(phrase, &["time:clock", "text"], &[Some(time), Some(text)]);
        }
    }

    #[test]
    fn a_timer_counts_seconds() {
        for (phrase, seconds) in [
            ("set a timer for 25 minutes", "1500"),
            ("十分钟后叫我", "600"),
            ("timer half an hour", "1800"),
            ("一个半小时的倒计时", "5400"),
            ("Timer auf acht Minuten", "480"),
            ("minuteur de 5 minutes", "300"),
            ("temporizador de diez minutos", "600"),
            ("3分タイマー", "180"),
            ("1h30 timer", "5400"),
            ("timer 90s", "90"),
        ] {
            check(phrase, &["time:duration"], &[Some(seconds)]);
        }
    }

    #[test]
    fn a_port_is_a_number_with_a_word_for_it_or_alone() {
        for (phrase, port) in [
            ("kill whatever runs on port 3000", "3000"),
            ("杀掉占用8080端口的进程", "8080"),
            ("what is on :5432", "5432"),
            ("free localhost:9000", "9000"),
            ("stop the 4 servers on port 8000", "8000"),
            ("kill 8081", "8081"),
        ] {
            check(phrase, &["port"], &[Some(port)]);
        }
        check("kill the port", &["port"], &[None]);
        check("port 99999", &["port"], &[None]);
    }

    #[test]
    fn paths_are_those_that_exist() {
        for (phrase, slot, path) in [
            (
                "extract backup.zip here",
                "path:archive",
                Some("backup.zip"),
            ),
            ("解压backup.zip", "path:archive", Some("backup.zip")),
            (
                "unpack My Files.tar.gz",
                "path:archive",
                Some("My Files.tar.gz"),
            ),
            (
                "count the lines of notes.txt",
                "path:file",
                Some("notes.txt"),
            ),
            ("打开报告.pdf", "path", Some("报告.pdf")),
            ("compress the src folder", "path:folder", Some("src")),
            ("zip this folder", "path:folder", Some(".")),
            ("压缩当前目录", "path:folder", Some(".")),
            ("extract missing.zip", "path:archive", None),
            ("count lines in src", "path:file", None),
        ] {
            check(phrase, &[slot], &[path]);
        }
    }

    #[test]
    fn names_patterns_hosts_and_addresses_are_told_by_their_looks_or_by_the_word_before() {
        for (phrase, slot, value) in [
            ("new branch called login-form", "name", Some("login-form")),
            ("create a branch fix/issue-7", "name", Some("fix/issue-7")),
            ("新建分支 feature_x", "name", Some("feature_x")),
            ("neuer Branch namens umbau", "name", Some("umbau")),
            ("make a new branch", "name", None),
            ("find files named *.rs", "pattern", Some("*.rs")),
            ("search for \"to do\" in the code", "pattern", Some("to do")),
            ("search the code for needle", "pattern", Some("needle")),
            ("搜索包含“预算”的文件", "pattern", Some("预算")),
            ("find all pdf files", "pattern", Some("*.pdf")),
            ("lösche alle Logdateien", "pattern", Some("*.log")),
            ("alle PDF-Dateien finden", "pattern", Some("*.pdf")),
            ("delete all tmp files", "pattern", Some("*.tmp")),
            ("ping example.com please", "host", Some("example.com")),
            ("ping 192.168.1.1", "host", Some("192.168.1.1")),
            (
                "download https://x.org/a?b=c.",
                "url",
                Some("https://x.org/a?b=c"),
            ),
            ("show the last twenty lines", "number", Some("20")),
            ("最近十二条提交", "number", Some("12")),
        ] {
            check(phrase, &[slot], &[value]);
        }
    }

    #[test]
    fn a_name_of_several_words_is_one_name_where_names_have_blanks() {
        for (phrase, name) in [
            ("make a folder called new project", Some("new project")),
            ("make a folder called stuff please", Some("stuff")),
            ("create a folder named tmp in docs", Some("tmp")),
            ("a folder called foo, then go there", Some("foo")),
            ("make a folder and name it rock and roll", Some("rock")),
            (
                "erstelle einen Ordner namens neues Projekt",
                Some("neues Projekt"),
            ),
            (
                "crée un dossier nommé nouveau projet",
                Some("nouveau projet"),
            ),
            (
                "crea una carpeta llamada nuevo proyecto",
                Some("nuevo proyecto"),
            ),
            ("新建文件夹 叫 我的 项目", Some("我的 项目")),
            ("新建一个名为 foo 的文件夹", Some("foo")),
            ("make a folder", None),
        ] {
            check(phrase, &["name:folder"], &[name]);
        }
        check(
            "new branch called login form",
            &["name:branch"],
            &[Some("login-form")],
        );
    }

    #[test]
    fn a_note_is_what_follows_or_what_is_quoted() {
        for (phrase, text) in [
            ("note: buy milk", Some("buy milk")),
            ("add \"buy milk\" to my todo list", Some("buy milk")),
            ("add buy milk to my todo list", Some("buy milk")),
            ("记一下 明天交房租", Some("明天交房租")),
            ("new note", None),
        ] {
            check(phrase, &["text"], &[text]);
        }
    }

    #[test]
    fn what_is_looked_for_is_no_note_and_a_message_follows_its_word() {
        check("grep for TODO in the code", &["text:words"], &[None]);
        check("grep \"a note\" here", &["text:words"], &[Some("a note")]);
        check(
            "commit everything with message fix typo",
            &["text:message"],
            &[Some("fix typo")],
        );
    }

    #[test]
    fn a_slot_with_a_value_of_its_own_is_never_open() {
        let slot = |default: Option<&str>| Slot {
            default: default.map(str::to_owned),
            ..Slot::new(Kind::Port, "")
        };
        let scene = Scene {
            cwd: Path::new("/nowhere"),
            home: Path::new("/nowhere"),
            now: Clock::new(10, 0),
        };
        let of = |phrase: &str, default| {
            values(&[slot(default)], phrase, &scene, None)[0]
                .value
                .clone()
        };
        assert_eq!(
            of("serve this", Some("8000")).as_deref(),
            Some(&b"8000"[..])
        );
        assert_eq!(
            of("serve on 9090", Some("8000")).as_deref(),
            Some(&b"9090"[..])
        );
        assert_eq!(of("serve this", None), None);
    }

    #[test]
    fn a_place_that_need_not_be_said_is_no_word_for_the_kind_of_thing() {
        let dir = tempfile::tempdir().expect("tempdir");
        for name in ["files", "src"] {
            std::fs::create_dir_all(dir.path().join(name)).expect("made");
        }
        let scene = Scene {
            cwd: dir.path(),
            home: Path::new("/nowhere"),
            now: Clock::new(10, 0),
        };
        let slot = Slot {
            default: Some(".".to_owned()),
            ..Slot::new(Kind::Path, "folder")
        };
        for (phrase, place) in [
            ("show hidden files", "."),
            ("show hidden files in src", "src"),
            ("show hidden files in files", "files"),
            ("src里的隐藏文件", "src"),
            ("versteckte Dateien in src anzeigen", "src"),
        ] {
            let found = values(std::slice::from_ref(&slot), phrase, &scene, None);
            assert_eq!(
                found[0].value.as_deref(),
                Some(place.as_bytes()),
                "{phrase}"
            );
        }
    }

    #[test]
    fn two_slots_of_a_kind_get_different_values() {
        check(
            "copy notes.txt to src",
            &["path:from", "path:to"],
            &[Some("notes.txt"), Some("src")],
        );
    }
}

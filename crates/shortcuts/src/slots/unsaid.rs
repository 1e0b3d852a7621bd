//! What a phrase says and a command leaves out: the `prod` of "kill port 3000 on server prod".

use super::common::{PLAIN, SMALL, WHO, has};
use super::left::{is_usual, own_words, stem};
use super::path::{self, Wanted};
use super::words::{Word, is_wide};
use super::{Phrase, Scene, names};
use crate::shortcut::{Risk, Shortcut};
use crate::template::{Filled, Kind, Value};

/// Words before the place, the source or the target of something.
const BEFORE: &str = "\
    on to from into onto of in at inside under auf nach von aus in unter sur de depuis dans vers \
    sous à en desde hacia";

/// The same with an article in it.
const JOINED: &str = "im ins am vom zum zur du au aux del al";

/// Words that may stand between those and a path, but hardly before a name.
const ARTICLES: &str = "\
    the a an my our this that der die das den dem des ein eine einen einem meinem meinen mein le la \
    les l un une mon ma mes el los las una mi mis";

/// The same at the ends of runs without blanks.
const WIDE_BEFORE: [&str; 4] = ["在", "到", "从", "往"];

/// Kinds of things that have names, and names that many of them have.
const NAMED: &str = "\
    server host serveur servidor branch zweig branche rama remote";
const USUAL_NAMES: &str = "prod production staging upstream";

/// Where a repository is pushed to and pulled from if nothing else is said.
const USUAL_REMOTES: &str = "origin github gitlab codeberg bitbucket remote";

/// Words for another machine than this one.
const ELSEWHERE: [&str; 8] = [
    "remote",
    "entfernten",
    "entfernte ",
    "distante",
    "remota",
    "remoto",
    "远程",
    "リモート",
];

/// Starts of words for ending something: whatever is named beside them is what shall end.
const ENDING: &str = "\
    close quit exit schließ beende ferme quitte cierra cerrar 关闭 关掉 退出 閉じ 終了";

/// Words that the phrase says and the line leaves out: paths that are there, and names behind words such
/// as "on" and "from".
pub fn unsaid(
    phrase: &str,
    filled: &Filled,
    shortcut: &Shortcut,
    scene: &Scene<'_>,
) -> Vec<String> {
    let phrase = Phrase::new(phrase);
    let words = phrase.words();
    let own = own_words(shortcut, &shortcut.examples);
    let line = Line::of(filled, &words);
    let mut behind = Behind::Nothing;
    let mut unsaid = elsewhere(&phrase, shortcut);
    for (at, word) in words.iter().enumerate() {
        if word.text.starts_with(is_wide) {
            let is_before = WIDE_BEFORE.iter().any(|mark| word.lower.ends_with(mark));
            behind = match is_before {
                true => Behind::Word,
                false => Behind::Nothing,
            };
            continue;
        }
        if let Some(next) = behind.next(word).filter(|_| at > 0) {
            behind = next;
            continue;
        }
        let is_own = own.contains(stem(word.lower));
        let is_plain = has(PLAIN, word.lower) || is_own;
        let is_place = behind != Behind::Nothing && !is_own;
        let is_last = words.get(at + 1).is_none_or(|next| !has(PLAIN, next.lower));
        let is_path = is_path(word, scene, is_plain, is_place);
        let is_name = at > 0 && !is_plain && is_last && line.lacks_name(word, behind);
        if (is_path || is_name) && !line.told.contains(word.lower.trim_end_matches('/')) {
            unsaid.push(word.text.to_owned());
        }
        if has(NAMED, word.lower) && behind != Behind::Nothing {
            behind = Behind::Kind;
        }
    }
    unsaid
}

/// What stands before a word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Behind {
    Nothing,
    /// Such as "on".
    Word,
    /// Such as "on the".
    Article,
    /// Such as "on server".
    Kind,
}

impl Behind {
    /// What stands before the word that follows `word`; none when `word` itself may be meant.
    fn next(self, word: &Word<'_>) -> Option<Self> {
        if has(BEFORE, word.lower) {
            return Some(Self::Word);
        }
        if has(JOINED, word.lower) {
            return Some(Self::Article);
        }
        if has(ARTICLES, word.lower) && self != Self::Nothing {
            return Some(Self::Article);
        }
        (has(SMALL, word.lower) || has(WHO, word.lower)).then_some(Self::Nothing)
    }
}

/// What a line says.
struct Line {
    /// All of it, in lower case.
    told: String,
    /// It goes to the usual remote and branch.
    is_sync: bool,
    /// The phrase begins like the line itself: "git push origin main".
    is_literal: bool,
    /// The phrase is about ending something.
    ends: bool,
    /// It has a place that is seen to be open, or a time that is written in another way.
    is_open: bool,
}

impl Line {
    fn of(filled: &Filled, words: &[Word<'_>]) -> Self {
        let is_time = |value: &Value| value.slot.kind == Kind::Time;
        Self {
            told: told(filled),
            is_sync: filled.line == b"git push" || filled.line == b"git pull",
            is_literal: is_literal(words, &filled.line),
            ends: words.iter().any(is_ending),
            is_open: filled.missing.is_some() || filled.values.iter().any(is_time),
        }
    }

    /// Whether a word that the line does not have is a name that matters.
    fn lacks_name(&self, word: &Word<'_>, behind: Behind) -> bool {
        if self.is_open || !is_written_like_a_name(word) {
            return false;
        }
        if self.is_literal {
            return !has(USUAL_REMOTES, word.lower);
        }
        let is_usual = is_usual(stem(word.lower));
        match behind {
            Behind::Kind => !is_usual,
            Behind::Word if self.is_sync => !is_usual && !has(USUAL_REMOTES, word.lower),
            Behind::Word => has(USUAL_NAMES, word.lower) || names::is_identifier(word.text),
            Behind::Article | Behind::Nothing => self.ends && !is_usual,
        }
    }
}

/// A word for another machine, where something may be lost on this one.
fn elsewhere(phrase: &Phrase<'_>, shortcut: &Shortcut) -> Vec<String> {
    if shortcut.risk != Risk::Destructive {
        return Vec::new();
    }
    let texts = shortcut.title.0.iter().chain(&shortcut.description.0);
    let texts: Vec<String> = texts
        .chain(&shortcut.examples)
        .map(|text| text.text.to_lowercase())
        .collect();
    let is_told = |word: &str| texts.iter().any(|text| text.contains(word));
    let words = ELSEWHERE
        .iter()
        .filter(|word| phrase.lower.contains(**word));
    words
        .filter(|word| !is_told(word))
        .map(|word| word.trim().to_owned())
        .collect()
}

/// All that a line says, in lower case.
fn told(filled: &Filled) -> String {
    let values = filled
        .values
        .iter()
        .filter_map(|value| value.value.as_deref());
    let all: Vec<_> = [filled.line.as_slice()]
        .into_iter()
        .chain(values)
        .map(String::from_utf8_lossy)
        .collect();
    all.join("\n").to_lowercase()
}

fn is_ending(word: &Word<'_>) -> bool {
    let mut ending = ENDING.split_ascii_whitespace();
    ending.any(|start| match start.starts_with(is_wide) {
        true => word.lower.contains(start),
        false => word.lower.starts_with(start),
    })
}

/// Whether the phrase begins like the line itself: "git push origin main", "pull origin main".
fn is_literal(words: &[Word<'_>], line: &[u8]) -> bool {
    let line = String::from_utf8_lossy(line);
    let mut line = line.split_whitespace();
    let (Some(program), Some(verb)) = (line.next(), line.next()) else {
        return false;
    };
    match words {
        [first, second, ..] if first.text == program => second.text == verb,
        [first, second, ..] => first.lower == verb && has(USUAL_REMOTES, second.lower),
        _ => false,
    }
}

/// Whether a word is a path that is there, and no word for something else.
fn is_path(word: &Word<'_>, scene: &Scene<'_>, is_plain: bool, is_behind: bool) -> bool {
    let looks = word.text.contains(['/', '.']) && word.text.contains(char::is_alphanumeric);
    (looks || !is_plain || is_behind) && path::there(word.text, Wanted::Any, scene).is_some()
}

/// Whether a word can be the name of a machine, a branch or a program.
fn is_written_like_a_name(word: &Word<'_>) -> bool {
    word.text.is_ascii()
        && word.text.len() > 1
        && word.text.contains(|c: char| c.is_ascii_alphabetic())
        && word.text.chars().all(names::is_part)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use tabsense_gather::Dialect;

    use super::super::{Clock, values};
    use super::*;
    use crate::builtin::builtin;
    use crate::template::Template;

    /// What the line of a built-in shortcut leaves out, in a directory with `src`, `tests` and `a.txt`.
    fn of(id: &str, command: &str, phrase: &str) -> Vec<String> {
        let dir = tempfile::tempdir().expect("tempdir");
        for name in ["src", "tests"] {
            std::fs::create_dir_all(dir.path().join(name)).expect("made");
        }
        std::fs::write(dir.path().join("a.txt"), "").expect("written");
        let scene = Scene {
            cwd: dir.path(),
            home: Path::new("/nowhere"),
            now: Clock::new(10, 0),
        };
        let shortcut = builtin().iter().find(|known| known.id == id).expect(id);
        let template = Template::parse(command).expect("a command");
        let values = values(&template.slots(), phrase, &scene, Some(shortcut));
        unsaid(
            phrase,
            &template.fill(values, Dialect::Bash),
            shortcut,
            &scene,
        )
    }

    #[test]
    fn paths_that_are_there_are_not_left_out_in_silence() {
        assert_eq!(of("disk_usage", "df -h", "disk usage of src"), ["src"]);
        assert_eq!(
            of("git_discard_changes", "git restore .", "discard a.txt"),
            ["a.txt"]
        );
        assert_eq!(of("disk_usage", "df -h", "空间 src"), ["src"]);
        assert!(of("count_lines", "wc -l {path:file}", "count lines of a.txt").is_empty());
        let run = "cargo test";
        assert!(
            of("run_tests", run, "run the tests").is_empty(),
            "a word for it"
        );
    }

    #[test]
    fn machines_branches_and_targets_are_not_left_out_in_silence() {
        for (id, command, phrase, names) in [
            (
                "kill_port",
                "kill {port}",
                "kill port 3000 on server prod",
                "prod",
            ),
            ("git_push", "git push", "push to origin dev-2", "dev-2"),
            ("git_push", "git push", "git push origin main", "main"),
            ("git_pull", "git pull", "pull from upstream", "upstream"),
            ("git_pull", "git pull", "pull origin main", "main"),
            ("list_processes", "ps aux", "list processes on prod", "prod"),
            (
                "compress_folder",
                "zip -r x.zip {path:folder}",
                "compress src to out.tar.gz",
                "out.tar.gz",
            ),
            (
                "git_delete_branch",
                "git branch -d {name:branch}",
                "delete remote branch feature",
                "remote",
            ),
            (
                "git_delete_branch",
                "git branch -d {name:branch}",
                "删除远程分支 feature",
                "远程",
            ),
            ("window_close", "wmctrl -c", "close firefox", "firefox"),
        ] {
            assert_eq!(of(id, command, phrase), [names], "{phrase}");
        }
        for (id, command, phrase) in [
            ("git_push", "git push", "push to origin"),
            ("git_push", "git push", "git push please"),
            (
                "git_push",
                "git push",
                "get my work on github so they see it",
            ),
            (
                "git_stash",
                "git stash",
                "put my changes aside for a minute",
            ),
            ("sleep", "suspend", "go into standby"),
            ("sleep", "suspend", "suspend it to ram"),
            ("kill_port", "kill {port}", "kill whatever is on port 3000"),
            (
                "kill_port",
                "kill {port}",
                "beende den Prozess auf Port 3000",
            ),
            ("git_blame", "git blame {path:file}", "who wrote parser.rs"),
            ("window_close", "wmctrl -c", "close the window in front"),
            ("empty_trash", "empty", "alles im papierkorb weg"),
            ("shutdown", "poweroff", "fahr den rechner runter"),
            ("git_stash", "git stash", "set it aside, not ready to comit"),
        ] {
            assert_eq!(of(id, command, phrase), [""; 0], "{phrase}");
        }
    }
}

//! Rules behind the model: when what seems sure had better be asked about.
//!
//! A command stands on the line before it runs, but whoever is in a hurry presses Enter. What the model
//! learned says little about negations, about numbers, or about a second thing that was said.

use std::path::Path;

use tabsense_shortcuts::slots::Scene;
use tabsense_shortcuts::{Kind, Line, Risk, Shortcut};

use super::question;
use super::verbs::Verbs;

/// What is left of a probability in doubt: too little to be taken.
pub(super) const LEFT: f32 = 0.5;

/// Words, or parts of words where a language has no spaces, that turn a wish around.
const NEGATIONS: [&str; 22] = [
    "don't",
    "dont",
    "don’t",
    "do not",
    "never",
    "without",
    "except",
    "cancel",
    "nicht",
    "kein",
    "ohne",
    "jamais",
    "sans",
    "不要",
    "别关",
    "别删",
    "别停",
    "别杀",
    "别重",
    "千万别",
    "取消",
    "ないで",
];

/// What is left of what does another deed than the phrase is about; the rest goes to the others.
const LEFT_OF_ASKED: f32 = 0.01;

/// The next day, which some slots can say.
const TOMORROW: [&str; 7] = [
    "tomorrow",
    "morgen",
    "demain",
    "mañana",
    "明天",
    "明日",
    "あした",
];

/// What has such a word and is no day.
const MORNINGS: [&str; 5] = [
    "morgens",
    "la mañana",
    "am morgen",
    "heute morgen",
    "guten morgen",
];

/// Other days than today and the next, which no clock time can say.
const DAYS: [&str; 36] = [
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "next week",
    "übermorgen",
    "montag",
    "dienstag",
    "mittwoch",
    "donnerstag",
    "freitag",
    "samstag",
    "sonntag",
    "lundi",
    "mardi",
    "mercredi",
    "jeudi",
    "vendredi",
    "samedi",
    "dimanche",
    "lunes",
    "martes",
    "miércoles",
    "jueves",
    "viernes",
    "sábado",
    "domingo",
    "后天",
    "周",
    "星期",
    "礼拜",
    "曜日",
    "来週",
];

/// Words of a phrase, and what a line has that heeds them.
type Heeded = (&'static [&'static str], &'static [&'static str]);

/// How a deed is meant.
const MANNERS: [Heeded; 2] = [
    (
        &[
            "force", "forcé", "fuerza", "forza", "erzwing", "强制", "強制", "强推",
        ],
        &["force", " -f", "kill", "stop", "-9"],
    ),
    (
        &["merged", "gemergte", "fusionné", "fusionad", "已合并"],
        &["merged"],
    ),
];

/// How far back, where a line has such an option.
const SPANS: [Heeded; 2] = [
    (
        &["month", "monat", "mois", " mes", "个月", "上月", "本月"],
        &["3", "month"],
    ),
    (
        &["week", "woche", "semaine", "semana", "周", "星期", "週"],
        &["7", "8", "week"],
    ),
];
const SPAN_OPTIONS: [&str; 3] = ["-mtime", "-mmin", "--since"];

/// Kinds of files that a phrase may look for.
const FILE_KINDS: [&str; 16] = [
    "csv", "docx", "gif", "html", "jpeg", "jpg", "json", "mkv", "mov", "mp3", "mp4", "pdf", "png",
    "txt", "xlsx", "yaml",
];

/// What a phrase by itself gives reason to doubt.
pub(super) struct Doubt {
    /// Whatever it may mean.
    always: bool,
    /// The wish is turned around.
    negated: bool,
    /// The phrase asks about something and for no deed.
    asks: bool,
    /// The deeds that the phrase names.
    verbs: Verbs,
}

impl Doubt {
    /// Looks at a phrase.
    pub(super) fn of(phrase: &str) -> Self {
        let lower = phrase.to_lowercase();
        Self {
            always: !phrase.chars().any(char::is_alphabetic) || is_command_line(phrase),
            negated: NEGATIONS.iter().any(|word| lower.contains(word)),
            asks: question::only_asks(&lower),
            verbs: Verbs::of(&lower),
        }
    }

    /// Whether the phrase asks about something and for no deed.
    pub(super) fn asks(&self) -> bool {
        self.asks
    }

    /// Gives the share of what does another deed than the phrase names to the others; the same with
    /// what loses something when the phrase only asks: "who uses port 3000" is no wish to end it. The
    /// shares and `none` together stay one.
    pub(super) fn share(&self, none: f32, shares: &mut [(&Shortcut, &mut f32)]) {
        let mut is_cut = false;
        for (shortcut, share) in shares.iter_mut() {
            let loses = self.asks && shortcut.risk == Risk::Destructive;
            if loses || self.verbs.are_others(shortcut) {
                **share *= LEFT_OF_ASKED;
                is_cut = true;
            }
        }
        let sum = none + shares.iter().map(|(_, share)| **share).sum::<f32>();
        for (_, share) in shares.iter_mut().filter(|_| is_cut && sum > 0.0) {
            **share /= sum;
        }
    }

    /// Whether a shortcut of this risk is not to be taken for sure, whatever the model says.
    pub(super) fn holds(&self, risk: Risk) -> bool {
        self.always || (self.negated && risk == Risk::Destructive)
    }
}

/// Whether the line leaves out or overrules what the phrase says.
pub(super) fn of_line(phrase: &str, risk: Risk, line: &Line, scene: &Scene<'_>) -> bool {
    let values = || line.filled.values.iter();
    let has_time = values().any(|value| value.slot.kind == Kind::Time && value.value.is_some());
    let lower = phrase.to_lowercase();
    let is_too_broad = |value: &[u8]| {
        let path = Path::new(std::str::from_utf8(value).unwrap_or_default());
        path == scene.home
            || path == scene.cwd
            || ["/", ".", "..", "~"]
                .iter()
                .any(|all| path == Path::new(all))
    };
    let told = String::from_utf8_lossy(&line.filled.line);
    let kept = numbers(&told);
    line.blind
        || (has_time && passes_over_a_day(&lower, line))
        || (risk == Risk::Destructive
            && values()
                .filter_map(|value| value.value.as_deref())
                .any(is_too_broad))
        || (!has_time && numbers(&lower).iter().any(|number| !kept.contains(number)))
        || leaves_out(&lower, &told.to_lowercase())
}

/// Whether the line does not have a file, a kind of file, a time or a manner that the phrase names.
fn leaves_out(phrase: &str, line: &str) -> bool {
    let has_any = |text: &str, words: &[&str]| words.iter().any(|word| text.contains(word));
    let is_unheeded = |(said, heeded): &Heeded| has_any(phrase, said) && !has_any(line, heeded);
    let mut words = phrase.split(|c: char| !c.is_ascii_alphanumeric());
    let mut paths = phrase
        .split_whitespace()
        .filter(|word| word.starts_with("~/") || word.trim_start_matches('.').starts_with('/'))
        .map(|path| path.trim_end_matches(|c: char| c.is_ascii_punctuation()))
        .filter_map(|path| path.rsplit('/').next());
    MANNERS.iter().any(is_unheeded)
        || (has_any(line, &SPAN_OPTIONS) && SPANS.iter().any(is_unheeded))
        || (line.starts_with("find")
            && words.any(|word| FILE_KINDS.contains(&word) && !line.contains(word)))
        || paths.any(|name| !line.contains(name))
}

/// Whether the phrase names a day that the line knows nothing of.
fn passes_over_a_day(lower: &str, line: &Line) -> bool {
    let rest = MORNINGS
        .iter()
        .fold(lower.to_owned(), |rest, morning| rest.replace(morning, " "));
    let is_told = line.filled.values.iter().any(|value| {
        let text = value.value.as_deref().unwrap_or_default();
        value.slot.kind == Kind::Time && text.ends_with(b"tomorrow")
    });
    let has = |days: &[&str]| days.iter().any(|day| rest.contains(day));
    has(&DAYS) || (!is_told && has(&TOMORROW))
}

/// The numbers that stand for themselves: not those in `mp3`, `h264` or `python3`.
fn numbers(text: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words = text.split(|c: char| !is_word(c));
    words
        .filter(|word| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit()))
        .collect()
}

/// Whether a phrase is written like a command: with an option, a variable, a pipe, an assignment.
/// Whoever types one wants that one, however near a shortcut may be.
fn is_command_line(phrase: &str) -> bool {
    let is_option = |word: &str| {
        let name = word.trim_start_matches('-');
        let dashes = word.len() - name.len();
        (1..=2).contains(&dashes) && name.starts_with(|c: char| c.is_ascii_alphabetic())
    };
    let is_assignment = |word: &str| {
        word.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        })
    };
    let is_variable = |word: &str| {
        let after = word.split('$').skip(1);
        after
            .into_iter()
            .any(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic() || "{(".contains(c)))
    };
    let joins = |word: &str| matches!(word, "|" | "||" | "&&" | ">" | ">>" | "<");
    let mut words = phrase.split_whitespace();
    words.any(|word| is_option(word) || is_assignment(word) || is_variable(word) || joins(word))
}

#[cfg(test)]
mod tests {
    use tabsense_shortcuts::slots::Clock;
    use tabsense_shortcuts::{Here, Platform, Source, System, builtin, parse};

    use super::*;

    #[test]
    fn what_loses_something_is_not_sure_when_the_wish_is_turned_around() {
        for phrase in [
            "don't kill port 3000",
            "do not shut down",
            "不要删除 node_modules",
            "lösche das nicht",
            "cancel shutdown",
            "千万别关机",
        ] {
            assert!(Doubt::of(phrase).holds(Risk::Destructive), "{phrase}");
            assert!(!Doubt::of(phrase).holds(Risk::Write), "{phrase}");
        }
        for phrase in ["kill whatever runs on port 3000", "特别慢，重启吧", "关机"] {
            assert!(!Doubt::of(phrase).holds(Risk::Destructive), "{phrase}");
        }
        assert!(Doubt::of("3000").holds(Risk::Read), "a number says nothing");
    }

    #[test]
    fn a_question_is_not_answered_by_what_loses_something() {
        let of = |id: &str| builtin().iter().find(|known| known.id == id).expect(id);
        let (kill_port, show_port) = (of("kill_port"), of("show_port"));
        let shares = |phrase: &str| {
            let (mut kill, mut show) = (0.75, 0.2);
            let mut shares = [(kill_port, &mut kill), (show_port, &mut show)];
            Doubt::of(phrase).share(0.05, &mut shares);
            (kill, show)
        };
        let (kill, show) = shares("Who uses port 3000?");
        assert!(show > 0.7 && kill < 0.05, "{kill} {show}");
        assert_eq!(shares("kill what uses port 3000"), (0.75, 0.2));
    }

    #[test]
    fn what_is_said_of_a_deed_stands_in_the_line_or_is_doubted() {
        for (phrase, line) in [
            ("force push", "git push"),
            ("fuerza el push", "git push"),
            ("强制推送", "git push"),
            ("delete merged branches", "git branch -d <&branch>"),
            ("format /dev/sda", "cargo fmt"),
            ("show ~/notes/today.md", "cat <&file>"),
            ("files changed this month", "find . -type f -mtime -1"),
            (
                "find all pdf files modified last week",
                "find . -type f -mtime -1",
            ),
            ("find the pdf files", "find . -type f"),
        ] {
            assert!(leaves_out(phrase, line), "{phrase}: {line}");
        }
        for (phrase, line) in [
            ("force push", "git push --force-with-lease"),
            ("force quit firefox", "pkill firefox"),
            ("push", "git push"),
            ("format the code in src/", "cargo fmt"),
            ("what is in /etc/hosts?", "cat /etc/hosts"),
            ("open the calendar of this week", "launch_calendar"),
            ("files changed last week", "find . -type f -mtime -7"),
            ("convert to pdf", "pandoc"),
            ("and/or", "ls"),
        ] {
            assert!(!leaves_out(phrase, line), "{phrase}: {line}");
        }
    }

    #[test]
    fn numbers_days_and_everything_at_once_are_not_passed_over() {
        let platform = Platform {
            system: System::Linux,
            desktops: Vec::new(),
            path: vec!["/usr/bin".into(), "/bin".into()],
        };
        let scene = Scene {
            cwd: Path::new("/"),
            home: Path::new("/root"),
            now: Clock::new(10, 0),
        };
        let here = Here {
            platform: &platform,
            scene,
            shell: tabsense_gather::Dialect::Bash,
        };
        let doubts = |command: &str, risk: Risk, phrase: &str| {
            let text = format!("[[shortcut]]\nid = \"x\"\ncommand = \"{command}\"\n");
            let (parsed, _) = parse(&text, "f", Source::File);
            let line = parsed[0].command(phrase, &here).expect("a line");
            of_line(phrase, risk, &line, &here.scene)
        };
        assert!(doubts("tail -n 20 f", Risk::Read, "last 50 lines"));
        assert!(!doubts(
            "tail -n 20 f",
            Risk::Read,
            "last 20 lines of the mp3 list"
        ));
        assert!(!doubts("kill {port}", Risk::Destructive, "kill port 3000"));
        assert!(doubts(
            "kill {port}",
            Risk::Destructive,
            "kill port 3000 and 4000"
        ));
        assert!(!doubts(
            "sleep {time:duration}",
            Risk::Write,
            "timer for 10 minutes"
        ));
        assert!(!doubts("at {time:clock}", Risk::Write, "wake me at 7"));
        assert!(doubts(
            "at {time:clock}",
            Risk::Write,
            "wake me at 7 tomorrow"
        ));
        assert!(!doubts(
            "at {time:when}",
            Risk::Write,
            "wake me at 7 tomorrow"
        ));
        assert!(!doubts(
            "at {time:when}",
            Risk::Write,
            "despiértame a las 7 de la mañana"
        ));
        assert!(doubts(
            "at {time:when}",
            Risk::Write,
            "wake me at 7 on friday"
        ));
        assert!(doubts(
            "rm -r {path}",
            Risk::Destructive,
            "delete the folder /"
        ));
    }

    #[test]
    fn what_is_written_like_a_command_is_told_from_words() {
        for line in [
            "ls -la",
            "git rebase -i HEAD~3",
            "echo $HOME",
            "cat a | wc -l",
            "alias gs='git status'",
            "make && make install",
            "export EDITOR=nano",
            "cargo build --release",
            "echo ${x}",
            "sort <in >> out",
        ] {
            assert!(is_command_line(line), "{line}");
        }
        for words in [
            "turn it down - now",
            "git push",
            "it costs $5",
            "3000 端口被谁占了",
            "what is 2 = 2",
            "well-known wi-fi off",
            "音量+",
            "- milk",
            "--",
            "c'est trop fort",
            "<&port>",
        ] {
            assert!(!is_command_line(words), "{words}");
        }
    }
}

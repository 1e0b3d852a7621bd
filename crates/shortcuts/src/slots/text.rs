//! What somebody wants to be noted or reminded of.

use std::ops::Range;

use super::{Found, Phrase, quoted, time};

/// What stands before it, longer ones first where one begins another.
const BEFORE: &[&str] = &[
    "remind me that i have to",
    "remind me that",
    "remind me to",
    "remind me about",
    "remind me of",
    "remind me",
    "don't let me forget to",
    "note that",
    "note to self",
    "take a note",
    "make a note",
    "write down",
    "jot down",
    "new note",
    "note",
    "add a todo",
    "add todo",
    "new todo",
    "todo",
    "to-do",
    "add a task",
    "new task",
    "task",
    "alarm for",
    "alarm",
    "put",
    "add",
    "提醒我",
    "记一下",
    "记下来",
    "记下",
    "记个",
    "备忘",
    "添加待办",
    "待办",
    "加个日程",
    "新建笔记",
    "erinnere mich daran",
    "erinnere mich an",
    "erinnere mich",
    "erinner mich",
    "notiere",
    "notiz",
    "rappelle-moi de",
    "rappelle-moi d'",
    "rappelle-moi",
    "note",
    "recuérdame que",
    "recuérdame",
    "apunta",
    "anota",
    "メモ",
];

/// What stands behind it, where the words for it come last.
const BEHIND: &[&str] = &[
    "to my todo list",
    "to my to-do list",
    "to the todo list",
    "to my todos",
    "to my list",
    "to the list",
    "on my todo list",
    "on my list",
    "to my notes",
    "to my calendar",
    "in my calendar",
    "in den kalender",
    "auf die liste",
    "à ma liste",
    "a mi lista",
    "をリマインド",
    "をメモ",
    "をリマインダーに追加",
    "をやることリストに追加",
    "を思い出させて",
    "加到待办",
    "加入待办",
];

/// Small words at the start of the rest that belong to the request.
const LINKS: &[&str] = &[
    "to ", "that ", "about ", ": ", ":", "：", "，", ",", "an ", "daran, ", "dass ", "de ", "d'",
    "que ", "に", "去", "要", "说", "- ",
];

/// What stands before what is said about a change.
const MESSAGE: &[&str] = &[
    "with the message",
    "with message",
    "message",
    "saying",
    "说明写",
    "说明",
    "mit der nachricht",
    "mit nachricht",
    "avec le message",
    "con el mensaje",
    "con mensaje",
    "メッセージ",
];

/// What stands before it for a slot: of words that are looked for or replaced, nothing does.
fn marks(label: &str) -> (&'static [&'static str], &'static [&'static str]) {
    match label {
        "words" | "old" | "new" | "command" => (&[], &[]),
        "message" => (MESSAGE, &[]),
        _ => (BEFORE, BEHIND),
    }
}

/// Text in quotation marks; else what follows the words that ask for it; without times.
pub(super) fn find(phrase: &Phrase<'_>, label: &str) -> Option<Found> {
    if let Some(found) = quoted::find(phrase) {
        return Some(found);
    }
    let range = rest(phrase, marks(label))?;
    let mut text = String::new();
    let times = time::all(phrase);
    let gone = |at: usize| {
        let holds = |range: &Range<usize>| range.contains(&at);
        times.iter().any(holds) || phrase.taken.iter().any(holds)
    };
    for (at, c) in phrase.text[range.clone()].char_indices() {
        if !gone(range.start + at) {
            text.push(c);
        }
    }
    let text = tidy(&text);
    (!text.is_empty()).then(|| (range, text.into_bytes()))
}

/// The part of the phrase that is not the request itself.
fn rest(phrase: &Phrase<'_>, (before, behind): (&[&str], &[&str])) -> Option<Range<usize>> {
    let lower = &phrase.lower;
    let mut found: Option<Range<usize>> = None;
    for words in before {
        if let Some(at) = starts(lower, words)
            && found.as_ref().is_none_or(|found| at < found.start)
        {
            found = Some(at..at + words.len());
        }
    }
    let start = found.map(|found| found.end);
    let end = behind.iter().find_map(|words| lower.find(words));
    match (start, end) {
        (None, None) => None,
        (start, end) => {
            let start = start.unwrap_or(0);
            Some(start..end.filter(|end| *end > start).unwrap_or(lower.len()))
        }
    }
}

/// Where words stand as words: their script may be written without blanks.
fn starts(text: &str, words: &str) -> Option<usize> {
    text.match_indices(words).map(|(at, _)| at).find(|at| {
        let is_letter = |c: char| c.is_alphanumeric() && !super::words::is_wide(c);
        let before = text[..*at].chars().next_back().is_some_and(is_letter);
        let behind = text[at + words.len()..]
            .chars()
            .next()
            .is_some_and(is_letter);
        let ends_open = words.ends_with('\'');
        let wide = words.starts_with(super::words::is_wide);
        wide || (!before && (!behind || ends_open))
    })
}

fn tidy(text: &str) -> String {
    let mut text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    loop {
        let trimmed = text.trim();
        let lower = trimmed.to_lowercase();
        let link = LINKS.iter().find(|link| lower.starts_with(*link));
        let next = match link {
            Some(link) => trimmed[link.len()..].to_owned(),
            None => trimmed
                .trim_end_matches(['.', '!', '。', '！', ','])
                .to_owned(),
        };
        if next == text {
            return text;
        }
        text = next;
    }
}

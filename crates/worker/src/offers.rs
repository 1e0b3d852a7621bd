//! What was offered at a prompt, until the command that was then run tells what was taken.
//!
//! No shell has to say more than it says anyway: the answers since the last prompt are remembered
//! here, and the prompt that follows brings the command. When it brings none (private mode, a
//! leading blank, the user's ignore settings), nothing is kept of them.

use std::collections::{HashMap, HashSet, VecDeque};

use tabsense_gather::{Dialect, line};
use tabsense_history::{Offer, Offered};
use tabsense_rank::eval::adapt::Shown;
use tabsense_rank::{Candidate, Kind, Match, Slot};

/// Answers that are remembered until the next prompt; the oldest go.
const ANSWERS: usize = 16;

/// Sessions that are remembered; the one heard of longest ago goes.
const SESSIONS: usize = 64;

/// Candidates of an answer that are remembered.
const CANDIDATES: usize = 64;

/// Candidates that are kept beside the one that was taken.
const KEPT: usize = 12;

/// Longer commands are not looked into.
const LONGEST: usize = 2048;

/// One answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) dialect: Dialect,
    /// The line up to the word that was completed.
    pub(crate) front: Vec<u8>,
    pub(crate) cwd: Vec<u8>,
    pub(crate) words: Vec<Vec<u8>>,
    pub(crate) typed: Vec<u8>,
    /// Best first, without the word's directory part.
    pub(crate) candidates: Vec<Offered>,
    /// Whether the first was called sure.
    pub(crate) sure: bool,
}

/// The answers since the last prompts.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    sessions: HashMap<Vec<u8>, VecDeque<Answer>>,
    order: VecDeque<Vec<u8>>,
}

impl Answers {
    /// Remembers an answer; of a line that starts with a blank only whether it was sure.
    pub(crate) fn note(&mut self, session: &[u8], mut answer: Answer) {
        if session.is_empty() {
            return;
        }
        answer.candidates.truncate(CANDIDATES);
        if answer.front.starts_with(b" ") {
            answer.candidates.clear();
        }
        if !self.sessions.contains_key(session) {
            if self.order.len() >= SESSIONS
                && let Some(oldest) = self.order.pop_front()
            {
                self.sessions.remove(&oldest);
            }
            self.order.push_back(session.to_vec());
        }
        let answers = self.sessions.entry(session.to_vec()).or_default();
        if answers.len() == ANSWERS {
            answers.pop_front();
        }
        answers.push_back(answer);
    }

    /// Whether the first candidate for this very word was called sure since the last prompt.
    pub(crate) fn was_sure(&self, session: &[u8], front: &[u8], typed: &[u8]) -> bool {
        let said = |answer: &Answer| answer.sure && answer.front == front && answer.typed == typed;
        self.sessions
            .get(session)
            .is_some_and(|answers| answers.iter().any(said))
    }

    /// The answers since the last prompt, which are remembered no longer.
    pub(crate) fn take(&mut self, session: &[u8]) -> Vec<Answer> {
        self.order.retain(|known| known != session);
        self.sessions
            .remove(session)
            .map_or_else(Vec::new, Vec::from)
    }

    /// Keeps the answers since the last prompt for the command that is told at a later one.
    pub(crate) fn set_aside(&mut self, session: &[u8]) {
        // Of a line that the shell dropped in the end.
        drop(self.take_aside(session));
        for answer in self.take(session) {
            self.note(&aside(session), answer);
        }
    }

    /// The answers that were set aside, which are remembered no longer.
    pub(crate) fn take_aside(&mut self, session: &[u8]) -> Vec<Answer> {
        self.take(&aside(session))
    }

    /// Forgets them all.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}

/// The name of a session's commands that are told late: no shell gives itself one with a NUL.
fn aside(session: &[u8]) -> Vec<u8> {
    [session, b"\0late"].concat()
}

/// What was taken of the answers, seen from the command that was then run: one offer for each word
/// that was completed.
pub(crate) fn taken(answers: Vec<Answer>, command: &[u8], at_ms: i64) -> Vec<Offer> {
    let mut done: HashSet<Vec<u8>> = HashSet::new();
    let mut offers = Vec::new();
    for answer in answers {
        if done.contains(&answer.front) {
            continue;
        }
        let Some(taken) = taken_place(&answer, command) else {
            continue;
        };
        done.insert(answer.front.clone());
        offers.push(offer(answer, taken, command, at_ms));
    }
    offers
}

fn offer(answer: Answer, taken: usize, command: &[u8], at_ms: i64) -> Offer {
    let mut offered = answer.candidates;
    let chosen = offered[taken].clone();
    offered.truncate(KEPT);
    let taken = taken.min(KEPT);
    if taken == KEPT {
        offered.push(chosen);
    }
    Offer {
        command: command.to_vec(),
        at_ms,
        cwd: answer.cwd,
        words: answer.words,
        typed: answer.typed,
        offered,
        taken,
    }
}

/// Which candidate the command has where the answer was given. A directory counts also when the
/// word goes on below it.
fn taken_place(answer: &Answer, command: &[u8]) -> Option<usize> {
    if !command.starts_with(&answer.front) || command.len() > LONGEST {
        return None;
    }
    let word = word_at(command, answer.front.len(), answer.dialect)?;
    let base = Slot {
        words: &[],
        typed: &answer.typed,
    }
    .base();
    let rest = word.strip_prefix(base)?;
    let fits = |candidate: &Offered| {
        let text = &candidate.text;
        let whole = trim(text) == trim(rest);
        whole || (text.ends_with(b"/") && rest.starts_with(text))
    };
    let found = answer.candidates.iter().enumerate();
    found
        .filter(|(_, candidate)| fits(candidate))
        .max_by_key(|(at, candidate)| (candidate.text.len(), std::cmp::Reverse(*at)))
        .map(|(at, _)| at)
}

fn trim(text: &[u8]) -> &[u8] {
    text.strip_suffix(b"/").unwrap_or(text)
}

/// The word that starts at an offset of a line, unquoted.
fn word_at(command: &[u8], start: usize, dialect: Dialect) -> Option<Vec<u8>> {
    let mut word = None;
    for cursor in start + 1..=command.len() {
        let parsed = line::parse(command, cursor, dialect);
        if parsed.start != start {
            break;
        }
        word = Some(parsed.typed);
    }
    word
}

/// The letter under which a kind is stored.
pub(crate) fn letter(kind: Kind) -> u8 {
    match kind {
        Kind::File => b'f',
        Kind::Directory => b'd',
        Kind::Command => b'c',
        Kind::Option => b'o',
        Kind::Word => b'w',
        Kind::Line => b'l',
    }
}

fn kind(letter: u8) -> Kind {
    match letter {
        b'f' => Kind::File,
        b'd' => Kind::Directory,
        b'c' => Kind::Command,
        b'o' => Kind::Option,
        b'l' => Kind::Line,
        _ => Kind::Word,
    }
}

/// A stored offer as the statistics want it.
pub(crate) fn shown(offer: Offer) -> Shown {
    let candidate = |offered: Offered| Candidate {
        text: offered.text,
        kind: kind(offered.kind),
        description: Vec::new(),
        native: offered.native,
        modified: None,
        quality: Match::Prefix,
    };
    Shown {
        time: offer.at_ms.div_euclid(1000),
        cwd: offer.cwd,
        words: offer.words,
        typed: offer.typed,
        offered: offer.offered.into_iter().map(candidate).collect(),
        taken: offer.taken,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(front: &str, typed: &str, candidates: &[&str]) -> Answer {
        let words = front.split_ascii_whitespace().map(|w| w.into());
        Answer {
            dialect: Dialect::Zsh,
            front: front.into(),
            cwd: b"/p".to_vec(),
            words: words.collect(),
            typed: typed.into(),
            candidates: candidates
                .iter()
                .map(|text| Offered {
                    kind: b'w',
                    native: Some(0),
                    text: text.as_bytes().to_vec(),
                })
                .collect(),
            sure: false,
        }
    }

    fn taken_text(answers: Vec<Answer>, command: &str) -> Vec<String> {
        taken(answers, command.as_bytes(), 1)
            .iter()
            .map(|offer| String::from_utf8_lossy(&offer.offered[offer.taken].text).into_owned())
            .collect()
    }

    #[test]
    fn the_command_tells_what_was_taken() {
        let git = answer("git ", "c", &["commit", "checkout", "clean"]);
        assert_eq!(
            taken_text(vec![git.clone()], "git checkout main"),
            ["checkout"]
        );
        // Something else altogether was run, or typed by hand.
        assert!(taken_text(vec![git.clone()], "ls").is_empty());
        assert!(taken_text(vec![git], "git cherry").is_empty());
    }

    #[test]
    fn quotes_and_directories_are_seen_through() {
        let file = answer("vim ", "src/", &["a b.rs", "main/"]);
        assert_eq!(
            taken_text(vec![file.clone()], r"vim src/a\ b.rs"),
            ["a b.rs"]
        );
        assert_eq!(
            taken_text(vec![file.clone()], "vim 'src/a b.rs' x"),
            ["a b.rs"]
        );
        assert_eq!(taken_text(vec![file], "vim src/main/lib.rs"), ["main/"]);
    }

    #[test]
    fn several_answers_for_one_word_are_one_offer() {
        let first = answer("git ", "", &["add", "commit", "checkout"]);
        let second = answer("git ", "c", &["commit", "checkout"]);
        let other = answer("git checkout ", "", &["main", "dev"]);
        let offers = taken(vec![first, second, other], b"git checkout dev", 1);
        assert_eq!(offers.len(), 2);
        assert_eq!((offers[0].offered.len(), offers[0].taken), (3, 2));
        assert_eq!(offers[1].taken, 1);
    }

    #[test]
    fn answers_wait_for_a_command_that_is_told_late() {
        let mut answers = Answers::default();
        let (first, second) = (
            answer("cat ", "", &["a", "b"]),
            answer("cat ", "", &["c", "d"]),
        );
        answers.note(b"s", answer("ls ", "", &["x", "y"]));
        answers.set_aside(b"s");
        answers.note(b"s", first);
        answers.set_aside(b"s");
        answers.note(b"s", second);
        // What was set aside before belongs to a line that was dropped.
        assert_eq!(taken_text(answers.take_aside(b"s"), "cat b"), ["b"]);
        assert!(answers.take_aside(b"s").is_empty());
        assert_eq!(taken_text(answers.take(b"s"), "cat c"), ["c"]);
    }

    #[test]
    fn a_long_list_is_cut_and_keeps_what_was_taken() {
        let names: Vec<String> = (0..40).map(|n| format!("n{n}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let offers = taken(vec![answer("x ", "", &names)], b"x n30", 1);
        assert_eq!(offers[0].offered.len(), KEPT + 1);
        assert_eq!(offers[0].offered[offers[0].taken].text, b"n30");
    }

    #[test]
    fn private_lines_are_not_remembered_and_a_prompt_ends_the_memory() {
        let mut answers = Answers::default();
        answers.note(b"s", answer(" git ", "c", &["commit"]));
        answers.note(b"", answer("git ", "c", &["commit"]));
        assert!(taken(answers.take(b"s"), b" git commit", 1).is_empty());
        let sure = Answer {
            sure: true,
            ..answer("git ", "c", &["commit"])
        };
        answers.note(b"s", sure.clone());
        assert!(answers.was_sure(b"s", b"git ", b"c"));
        assert!(!answers.was_sure(b"s", b"git ", b"co"));
        assert_eq!(answers.take(b"s"), [sure]);
        assert!(!answers.was_sure(b"s", b"git ", b"c"));
    }

    #[test]
    fn the_memory_is_bounded() {
        let mut answers = Answers::default();
        for n in 0..SESSIONS + 3 {
            answers.note(n.to_string().as_bytes(), answer("x ", "", &["a"]));
        }
        assert!(answers.take(b"0").is_empty());
        for _ in 0..ANSWERS + 3 {
            answers.note(b"s", answer("x ", "", &["a"; 100]));
        }
        let kept = answers.take(b"s");
        assert_eq!(
            (kept.len(), kept[0].candidates.len()),
            (ANSWERS, CANDIDATES)
        );
    }
}

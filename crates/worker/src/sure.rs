//! Whether the first of several candidates may be inserted at once, and whether the ranking is
//! worth anything at all.
//!
//! A shell inserts a word at once when nothing else fits; when several fit, people expect to see
//! them, and a word they did not want costs more keys than a list saves. So several candidates only
//! count as one when, for this person, nothing else ever was meant here:
//!
//! 1. Some of the word's last part is typed: a bare TAB asks what there is.
//! 2. The first candidate goes on from there: it is no guess, and more than what stands there.
//! 3. It was taken here at least [`OFTEN`] times, files and directories in this directory, and none
//!    of the others ever was. It was never passed over since it was taken last.
//! 4. It is as likely as the settings ask (0.9), and leads by [`MARGIN`]. The ranking's chances are
//!    those of people without a history; a habit has its own: after n times without exception the
//!    next one is like them with a chance of (n + 1) / (n + 2) (Laplace's rule of succession).
//! 5. The line deletes, overwrites or forces nothing, and ends at the cursor.
//! 6. It was not called sure for this very word since the last prompt: whoever took it back and
//!    pressed TAB again wants the list.

use tabsense_rank::{Candidate, Confidence, Kind, Match, Ranked, UsedHere};

/// How often the first candidate must have been taken here.
const OFTEN: u32 = 3;

/// How far the first must be ahead of the second.
const MARGIN: f32 = 0.5;

/// How far the ranking must have it ahead when the habit alone is likely enough.
const AGREES: f32 = 0.2;

/// Commands after which a wrong word does harm.
const HARMFUL: [&[u8]; 27] = [
    b"chgrp",
    b"chmod",
    b"chown",
    b"cp",
    b"crontab",
    b"dd",
    b"fdisk",
    b"halt",
    b"install",
    b"kill",
    b"killall",
    b"ln",
    b"mkfs",
    b"mv",
    b"pkill",
    b"poweroff",
    b"reboot",
    b"rename",
    b"rm",
    b"rmdir",
    b"rsync",
    b"scp",
    b"shred",
    b"shutdown",
    b"truncate",
    b"unlink",
    b"wipefs",
];

/// Words of a line after which a wrong word does harm, whatever the command.
const HARMFUL_WORDS: [&[u8]; 22] = [
    b"--delete",
    b"--force",
    b"--hard",
    b"--prune",
    b"--purge",
    b"-D",
    b"-X",
    b"-f",
    b"-fr",
    b"-rf",
    b"autoremove",
    b"clean",
    b"delete",
    b"destroy",
    b"drop",
    b"prune",
    b"purge",
    b"remove",
    b"reset",
    b"rm",
    b"uninstall",
    b"wipe",
];

/// One answer that is about to be given.
pub(crate) struct Answer<'a> {
    /// The words before the one that is completed.
    pub(crate) words: &'a [Vec<u8>],
    /// What is typed of the word's last part.
    pub(crate) typed: &'a [u8],
    /// What stands after the cursor.
    pub(crate) after: &'a [u8],
    pub(crate) candidates: &'a [Candidate],
    pub(crate) ranked: &'a [Ranked],
    /// In the order of `candidates`.
    pub(crate) used: &'a [UsedHere],
    pub(crate) confidence: Confidence,
}

impl Answer<'_> {
    /// Whether the first candidate may be inserted at once, if it is at least so likely.
    pub(crate) fn is_sure(&self, least: f32) -> bool {
        let [first, _, ..] = self.ranked else {
            // A lone candidate needs no word from us.
            return false;
        };
        self.is_likely(first, least)
            && self.goes_on(first)
            && self.is_habit(first)
            && !self.is_harmful()
    }

    fn is_likely(&self, first: &Ranked, least: f32) -> bool {
        let times = self.used[first.position].times as f32;
        let habit = (times + 1.0) / (times + 2.0);
        let Confidence { first, second } = self.confidence;
        let by_ranking = first >= least && first - second >= MARGIN;
        by_ranking || (habit >= least && first - second >= AGREES)
    }

    fn goes_on(&self, first: &Ranked) -> bool {
        let candidate = &self.candidates[first.position];
        !self.typed.is_empty()
            && candidate.quality == Match::Prefix
            && trim(&candidate.text) != trim(self.typed)
            && self.after.trim_ascii().is_empty()
    }

    fn is_habit(&self, first: &Ranked) -> bool {
        let own = self.used[first.position];
        let is_entry = matches!(
            self.candidates[first.position].kind,
            Kind::File | Kind::Directory
        );
        let others: u32 = self.used.iter().map(|used| used.times).sum::<u32>() - own.times;
        own.times >= OFTEN && others == 0 && own.passed_over == 0 && (own.in_directory || !is_entry)
    }

    fn is_harmful(&self) -> bool {
        let command = self.words.first().map_or(&b""[..], Vec::as_slice);
        let name = command.rsplit(|byte| *byte == b'/').next();
        let name = name.unwrap_or_default();
        let bad = |word: &Vec<u8>| HARMFUL_WORDS.contains(&word.as_slice());
        HARMFUL.contains(&name) || name.starts_with(b"mkfs") || self.words.iter().any(bad)
    }
}

fn trim(text: &[u8]) -> &[u8] {
    text.strip_suffix(b"/").unwrap_or(text)
}

/// Puts the shell's own candidates back into its order; what was added stays in front.
pub(crate) fn native_order(ranked: &mut [Ranked], candidates: &[Candidate]) {
    ranked.sort_by_key(|entry| candidates[entry.position].native);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(text: &str, kind: Kind) -> Candidate {
        Candidate {
            text: text.into(),
            kind,
            description: Vec::new(),
            native: Some(0),
            modified: None,
            quality: Match::Prefix,
        }
    }

    fn used(times: u32) -> UsedHere {
        UsedHere {
            times,
            in_directory: times > 0,
            passed_over: 0,
        }
    }

    /// `git ch` with two candidates of which the first was taken five times; `change` spoils it.
    fn is_sure(change: impl FnOnce(&mut Parts)) -> bool {
        let mut parts = Parts {
            words: vec![b"git".to_vec()],
            typed: b"ch".to_vec(),
            after: Vec::new(),
            candidates: vec![
                candidate("checkout", Kind::Word),
                candidate("cherry-pick", Kind::Word),
            ],
            used: vec![used(5), used(0)],
            confidence: Confidence {
                first: 0.95,
                second: 0.04,
            },
        };
        change(&mut parts);
        let ranked: Vec<Ranked> = (0..parts.candidates.len())
            .map(|position| Ranked {
                position,
                score: 0.0,
            })
            .collect();
        Answer {
            words: &parts.words,
            typed: &parts.typed,
            after: &parts.after,
            candidates: &parts.candidates,
            ranked: &ranked,
            used: &parts.used,
            confidence: parts.confidence,
        }
        .is_sure(0.9)
    }

    struct Parts {
        words: Vec<Vec<u8>>,
        typed: Vec<u8>,
        after: Vec<u8>,
        candidates: Vec<Candidate>,
        used: Vec<UsedHere>,
        confidence: Confidence,
    }

    #[test]
    fn what_was_always_meant_here_is_sure() {
        assert!(is_sure(|_| {}));
    }

    #[test]
    fn a_bare_tab_asks_for_the_list() {
        assert!(!is_sure(|parts| parts.typed.clear()));
    }

    #[test]
    fn a_word_that_is_whole_or_a_guess_is_not_inserted() {
        assert!(!is_sure(|parts| parts.typed = b"checkout".to_vec()));
        assert!(!is_sure(|parts| parts.candidates[0].quality = Match::Typo));
        assert!(!is_sure(|parts| parts.after = b" main".to_vec()));
    }

    #[test]
    fn it_takes_a_habit_without_exception() {
        assert!(!is_sure(|parts| parts.used[0] = used(OFTEN - 1)));
        assert!(!is_sure(|parts| parts.used[1] = used(1)));
        assert!(!is_sure(|parts| parts.used[0].passed_over = 1));
        let elsewhere = |parts: &mut Parts| {
            parts.candidates[0].kind = Kind::File;
            parts.used[0].in_directory = false;
        };
        assert!(!is_sure(elsewhere));
    }

    #[test]
    fn it_must_be_likely_and_far_ahead() {
        assert!(!is_sure(|parts| parts.confidence.first = 0.89));
        assert!(!is_sure(|parts| parts.confidence.second = 0.46));
        // Eight times without exception: nine in ten.
        let habit = |times: u32, first: f32| {
            is_sure(move |parts| {
                parts.used[0] = used(times);
                parts.confidence = Confidence {
                    first,
                    second: 1.0 - first,
                };
            })
        };
        assert!(habit(8, 0.65) && !habit(7, 0.65) && !habit(8, 0.55));
    }

    #[test]
    fn nothing_is_inserted_where_a_wrong_word_does_harm() {
        assert!(!is_sure(|parts| parts.words = vec![b"/bin/rm".to_vec()]));
        assert!(!is_sure(|parts| parts.words.push(b"--force".to_vec())));
    }

    #[test]
    fn a_lone_candidate_is_left_to_the_shell() {
        let alone = |parts: &mut Parts| {
            parts.candidates.truncate(1);
            parts.used.truncate(1);
        };
        assert!(!is_sure(alone));
    }

    #[test]
    fn the_native_order_can_be_put_back() {
        let mut candidates = vec![candidate("a", Kind::Word), candidate("b", Kind::Word)];
        candidates[1].native = Some(1);
        let mut ranked = [1, 0].map(|position| Ranked {
            position,
            score: 0.0,
        });
        native_order(&mut ranked, &candidates);
        assert_eq!(ranked.map(|entry| entry.position), [0, 1]);
    }
}

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
//! 5. The command is known to do no harm with a wrong word, nothing on the line deletes, overwrites or
//!    forces, the word is no target of a redirection, and the line ends at the cursor.
//! 6. It was not called sure for this very word since the last prompt: whoever took it back and
//!    pressed TAB again wants the list.

use tabsense_gather::Position;
use tabsense_rank::{Candidate, Confidence, Kind, Match, Ranked, UsedHere};

/// How often the first candidate must have been taken here.
const OFTEN: u32 = 3;

/// How far the first must be ahead of the second.
const MARGIN: f32 = 0.5;

/// How far the ranking must have it ahead when the habit alone is likely enough.
const AGREES: f32 = 0.2;

/// Commands whose arguments do no harm: they show, edit, search, build, or go somewhere. After all
/// others the list is shown, since nobody can know what overwrites.
const HARMLESS: [&str; 80] = [
    "ag",
    "bat",
    "bun",
    "cargo",
    "cat",
    "cd",
    "cmake",
    "code",
    "composer",
    "date",
    "diff",
    "dirs",
    "docker",
    "du",
    "echo",
    "emacs",
    "emacsclient",
    "eza",
    "fd",
    "feh",
    "fg",
    "file",
    "find",
    "gh",
    "git",
    "go",
    "gradle",
    "grep",
    "head",
    "helix",
    "help",
    "hx",
    "info",
    "java",
    "jobs",
    "journalctl",
    "jq",
    "just",
    "kak",
    "kubectl",
    "l",
    "la",
    "less",
    "ll",
    "ls",
    "make",
    "man",
    "micro",
    "more",
    "mosh",
    "mpv",
    "mvn",
    "nano",
    "ninja",
    "node",
    "npm",
    "npx",
    "nvim",
    "ping",
    "pnpm",
    "popd",
    "ps",
    "pushd",
    "python",
    "python3",
    "rg",
    "ruby",
    "ssh",
    "stat",
    "subl",
    "tail",
    "task",
    "tree",
    "vi",
    "vim",
    "wc",
    "which",
    "yarn",
    "z",
    "zathura",
];

/// Words that delete, overwrite or publish something, and are not inserted themselves.
const HARMFUL_WORDS: [&str; 22] = [
    "autoremove",
    "clean",
    "clear",
    "delete",
    "destroy",
    "drain",
    "drop",
    "prune",
    "publish",
    "purge",
    "remove",
    "reset",
    "rm",
    "rmi",
    "terminate",
    "truncate",
    "uninstall",
    "unlink",
    "unpublish",
    "unstage",
    "wipe",
    "yank",
];

/// Words that do so with what follows.
const HARMFUL_BEFORE: [&str; 16] = [
    "branch",
    "checkout",
    "cordon",
    "down",
    "kill",
    "mv",
    "push",
    "rebase",
    "restart",
    "restore",
    "revert",
    "rollback",
    "scale",
    "stop",
    "update-ref",
    "worktree",
];

/// Beginnings of long options that do so, or name what is written.
const HARMFUL_OPTIONS: [&str; 9] = [
    "--delete",
    "--force",
    "--hard",
    "--in-place",
    "--out",
    "--overwrite",
    "--prune",
    "--purge",
    "--remove",
];

/// Letters of short options that do so in one command or another.
const HARMFUL_LETTERS: &[u8] = b"OXo";

/// One answer that is about to be given.
pub(crate) struct Answer<'a> {
    /// What the word that is completed is.
    pub(crate) position: Position,
    /// The words before it.
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
            && self.is_harmless(first)
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

    /// Whether a wrong word deletes, overwrites and ends nothing.
    fn is_harmless(&self, first: &Ranked) -> bool {
        let word = trim(&self.candidates[first.position].text);
        match self.position {
            Position::Command => is_known(word),
            Position::Argument => {
                let command = self.words.first().map_or(&b""[..], Vec::as_slice);
                let is_bad = |word: &Vec<u8>| is_harmful(word) || is_one(&HARMFUL_BEFORE, word);
                is_known(command) && !self.words.iter().skip(1).any(is_bad) && !is_harmful(word)
            }
            Position::Redirection | Position::Assignment => false,
        }
    }
}

fn is_known(command: &[u8]) -> bool {
    let name = command.rsplit(|byte| *byte == b'/').next();
    let name = name.unwrap_or_default();
    is_one(&HARMLESS, name)
}

fn is_one(words: &[&str], word: &[u8]) -> bool {
    words.iter().any(|known| known.as_bytes() == word)
}

fn is_harmful(word: &[u8]) -> bool {
    let starts = |option: &&str| word.starts_with(option.as_bytes());
    match word {
        [b'-', b'-', _, ..] => HARMFUL_OPTIONS.iter().any(starts),
        [b'-', letters @ ..] if letters.first() != Some(&b'-') => letters
            .iter()
            .any(|letter| HARMFUL_LETTERS.contains(letter)),
        _ => is_one(&HARMFUL_WORDS, word),
    }
}

fn trim(text: &[u8]) -> &[u8] {
    text.strip_suffix(b"/").unwrap_or(text)
}

/// Puts what was never taken here back into the order that a completion function chose.
pub(crate) fn chosen_order(ranked: &mut [Ranked], used: &[UsedHere]) {
    ranked.sort_by_key(|entry| match used[entry.position].times {
        0 => entry.position + 1,
        // Stable: those that were stay as they are.
        _ => 0,
    });
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
            position: Position::Argument,
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
            position: parts.position,
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
        position: Position,
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
        let after = |line: &str, word: &str| {
            let words: Vec<Vec<u8>> = line.split(' ').map(|word| word.into()).collect();
            let text = word.to_owned();
            is_sure(move |parts| {
                parts.words = words;
                parts.typed = text[..1].into();
                parts.candidates[0] = candidate(&text, Kind::File);
            })
        };
        for line in [
            "git add",
            "/usr/bin/vim",
            "cat -n",
            "cd",
            "docker logs",
            "make -j4",
        ] {
            assert!(after(line, "banana"), "{line}");
        }
        for line in [
            "rm",
            "/bin/rm",
            "sudo cat",
            "mv",
            "gzip",
            "tee",
            "userdel",
            "dropdb",
            "sed -i s/a/b/",
            "./own-script",
            "docker rmi",
            "docker kill",
            "git branch -d",
            "git restore",
            "git checkout --",
            "git restore --staged",
            "git push --force-with-lease origin",
            "git reset --hard",
            "git clean -fd",
            "cargo uninstall",
            "gh release download -O",
            "go build -o",
            "kubectl delete pod",
            "npm unpublish",
            "git stash drop",
            "find . --delete",
        ] {
            assert!(!after(line, "banana"), "{line}");
        }
        assert!(
            !after("git", "reset") && !after("docker", "rmi") && !after("git commit", "--force")
        );
    }

    #[test]
    fn only_commands_and_their_arguments_are_inserted() {
        for position in [Position::Redirection, Position::Assignment] {
            assert!(!is_sure(|parts| parts.position = position));
        }
        let command = |name: &str| {
            let name = name.to_owned();
            is_sure(move |parts| {
                parts.position = Position::Command;
                parts.words.clear();
                parts.typed = name[..1].into();
                parts.candidates[0] = candidate(&name, Kind::Command);
            })
        };
        assert!(command("git") && !command("rm") && !command("mkfs.ext4"));
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
    fn in_an_order_that_was_chosen_only_what_was_taken_before_comes_ahead() {
        let mut ranked = [3, 1, 0, 2].map(|position| Ranked {
            position,
            score: 0.0,
        });
        chosen_order(&mut ranked, &[used(1), used(0), used(0), used(2)]);
        assert_eq!(ranked.map(|entry| entry.position), [3, 0, 1, 2]);
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

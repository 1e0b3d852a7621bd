//! Plain data that crosses the border of this crate.

use crate::feedback::Feedback;

/// What a candidate is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// A file (anything in a directory that is not a directory itself).
    File,
    /// A directory; its text ends in `/`.
    Directory,
    /// The name of a command: program, alias, function or builtin.
    Command,
    /// An option such as `--all`.
    Option,
    /// Any other word: a subcommand, a branch, a host.
    Word,
    /// A whole command line.
    Line,
}

/// Whether most of the candidates are files and directories.
pub(crate) fn are_files(candidates: &[Candidate]) -> bool {
    let is_file = |candidate: &&Candidate| matches!(candidate.kind, Kind::File | Kind::Directory);
    candidates.iter().filter(is_file).count() * 2 > candidates.len()
}

/// How the typed text matches a candidate, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Match {
    /// The candidate is what was typed.
    Exact,
    /// The candidate starts with what was typed.
    Prefix,
    /// The same, but for upper and lower case.
    PrefixCase,
    /// The typed letters start words inside the candidate (`fb` in `foo-bar`).
    WordStart,
    /// The candidate contains what was typed.
    Substring,
    /// The typed letters occur in the candidate, in order.
    Subsequence,
    /// The candidate's pinyin, full or initials, starts with what was typed.
    Pinyin,
    /// One letter is wrong, missing, extra or swapped.
    Typo,
}

/// Something that the next key press may insert.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Unquoted text; directories end in `/`.
    pub text: Vec<u8>,
    /// What it is.
    pub kind: Kind,
    /// What the shell says about it; may be empty. Not used for ranking.
    pub description: Vec<u8>,
    /// Place in the shell's own order; `None` for candidates that the engine added.
    pub native: Option<u32>,
    /// Modification time, seconds since 1970.
    pub modified: Option<i64>,
    /// How the typed text matches.
    pub quality: Match,
}

/// One command that was run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Event<'a> {
    /// The command line as it was typed.
    pub command: &'a [u8],
    /// Directory in which it was run; empty = unknown.
    pub cwd: &'a [u8],
    /// Exit status, if known.
    pub exit: Option<i32>,
    /// Start, seconds since 1970; 0 = unknown.
    pub start: i64,
    /// How long it ran, milliseconds.
    pub duration_ms: Option<u64>,
    /// The interactive shell it was typed in; events of one session follow each other.
    pub session: &'a [u8],
}

/// One of the commands before the one being typed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Recent<'a> {
    /// The command line as it was typed.
    pub command: &'a [u8],
    /// Directory in which it was run; empty = unknown.
    pub cwd: &'a [u8],
    /// Exit status, if known.
    pub exit: Option<i32>,
}

/// Where and when something is completed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Context<'a> {
    /// The current directory.
    pub cwd: &'a [u8],
    /// Root of the project (repository) that `cwd` is in.
    pub project_root: Option<&'a [u8]>,
    /// The home directory, in the same form as `cwd`.
    pub home: &'a [u8],
    /// The interactive shell.
    pub session: &'a [u8],
    /// Seconds since 1970; 0 = unknown.
    pub now: i64,
    /// Commands before this one in the same session, newest last.
    pub recent: &'a [Recent<'a>],
    /// Names in `cwd`; directories end in `/`. May be empty.
    pub listing: &'a [&'a [u8]],
    /// What became of lists that were offered before, if that is known.
    pub feedback: Option<&'a Feedback>,
}

/// The place in the line that is completed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Slot<'a> {
    /// Unquoted words of the simple command before the cursor's word.
    pub words: &'a [&'a [u8]],
    /// Unquoted text of the word up to the cursor, the directory part included.
    pub typed: &'a [u8],
}

impl<'a> Slot<'a> {
    /// The directory part of the word: what stands up to the last `/` typed, that `/` included.
    pub fn base(&self) -> &'a [u8] {
        let slash = self.typed.iter().rposition(|byte| *byte == b'/');
        &self.typed[..slash.map_or(0, |at| at + 1)]
    }
}

/// A candidate's place in a ranking.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranked {
    /// Index into the candidates that were given.
    pub position: usize,
    /// Higher is better; comparable within one ranking only.
    pub score: f32,
}

/// A whole line that may come next.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoredLine {
    /// The line.
    pub text: Vec<u8>,
    /// Higher is better; a log-odds against the other lines of the same ranking.
    pub score: f32,
    /// How often it was run before; 0 for a line that was put together from a template.
    pub count: u32,
}

/// A directory to go to.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoredDirectory {
    /// The directory, without a trailing `/`.
    pub path: Vec<u8>,
    /// Higher is better; comparable within one ranking only.
    pub score: f32,
    /// How often it was gone to; 0 for one that is only known from paths.
    pub visits: u32,
}

/// A word that a command took before.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoredWord {
    /// The word, unquoted.
    pub text: Vec<u8>,
    /// Higher is better; comparable within one answer only.
    pub score: f32,
    /// How often the command took it at this place.
    pub count: u32,
}

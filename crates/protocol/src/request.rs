//! What the client asks. Field numbers are part of the protocol and never reused.

/// One request.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Request {
    /// What the client can do: bits of [`crate::capability`].
    #[prost(uint64, tag = "1")]
    pub capabilities: u64,
    /// The client's release.
    #[prost(string, tag = "2")]
    pub release: String,
    /// Returned in the reply.
    #[prost(uint64, tag = "3")]
    pub id: u64,
    /// The interactive shell that asks; empty for scripts.
    #[prost(bytes = "vec", tag = "4")]
    pub session: Vec<u8>,
    /// What is asked.
    #[prost(oneof = "Body", tags = "10, 11, 12, 13, 14, 15, 16, 17, 18, 20")]
    pub body: Option<Body>,
}

impl Request {
    /// A request from this build.
    pub fn new(session: Vec<u8>, body: Body) -> Self {
        Self {
            capabilities: crate::capability::ALL,
            release: crate::RELEASE.to_owned(),
            id: 1,
            session,
            body: Some(body),
        }
    }
}

/// The kinds of request.
#[derive(Clone, PartialEq, prost::Oneof)]
pub enum Body {
    /// Rank candidates for a word.
    #[prost(message, tag = "10")]
    Complete(Complete),
    /// A prompt was shown: record and get ready. Never answered late, never waited for.
    #[prost(message, tag = "11")]
    Prompt(Prompt),
    /// How the worker is.
    #[prost(message, tag = "12")]
    Status(Status),
    /// Finish what is being answered and exit.
    #[prost(message, tag = "13")]
    Stop(Stop),
    /// Read histories into the store.
    #[prost(message, tag = "14")]
    Import(Import),
    /// Take commands out of the store.
    #[prost(message, tag = "15")]
    Forget(Forget),
    /// Whether a command is in the store, and what was redacted in it.
    #[prost(message, tag = "16")]
    Look(Look),
    /// Let the decision model answer questions; needs [`crate::capability::DECIDE`].
    #[prost(message, tag = "17")]
    Decide(Decide),
    /// Adapt the ranking to this user; needs [`crate::capability::ADAPT`].
    #[prost(message, tag = "18")]
    Adapt(Adapt),
    /// Find what a phrase asks for; needs [`crate::capability::DO`].
    #[prost(message, tag = "20")]
    Do(Do),
}

/// The shells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub enum Shell {
    /// Not said.
    Unspecified = 0,
    /// zsh
    Zsh = 1,
    /// fish
    Fish = 2,
    /// bash
    Bash = 3,
}

/// Rank candidates for the word before the cursor.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Complete {
    /// The shell whose syntax `line` is in.
    #[prost(enumeration = "Shell", tag = "1")]
    pub shell: i32,
    /// The whole edit buffer.
    #[prost(bytes = "vec", tag = "2")]
    pub line: Vec<u8>,
    /// The cursor's offset in `line`, in bytes.
    #[prost(uint64, tag = "3")]
    pub cursor: u64,
    /// The working directory.
    #[prost(bytes = "vec", tag = "4")]
    pub cwd: Vec<u8>,
    /// The home directory.
    #[prost(bytes = "vec", tag = "5")]
    pub home: Vec<u8>,
    /// What the shell says is being completed, unquoted. Absent: the worker reads the line itself.
    #[prost(bytes = "vec", optional, tag = "6")]
    pub word: Option<Vec<u8>>,
    /// The part of the word (unquoted) that stands before each candidate, such as `src/`.
    #[prost(bytes = "vec", tag = "7")]
    pub base: Vec<u8>,
    /// The shell's own candidates, in its order.
    #[prost(message, repeated, tag = "8")]
    pub candidates: Vec<Candidate>,
    /// Whether the worker may add candidates of its own.
    #[prost(bool, tag = "9")]
    pub add: bool,
    /// What is left until the client gives up, in milliseconds.
    #[prost(uint32, tag = "10")]
    pub budget_ms: u32,
    /// Whether the reply should carry stage times.
    #[prost(bool, tag = "11")]
    pub stages: bool,
    /// The `PATH` of the client, for commands when the shell sent none.
    #[prost(bytes = "vec", tag = "12")]
    pub path: Vec<u8>,
    /// Whether the first candidate would be inserted at once if the worker is sure of it.
    #[prost(bool, tag = "13")]
    pub sure: bool,
    /// Whether a completion function has chosen the order of the candidates: then only what was taken
    /// before comes ahead of the others.
    #[prost(bool, tag = "14")]
    pub ordered: bool,
}

/// One candidate of the shell.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Candidate {
    /// The text, unquoted.
    #[prost(bytes = "vec", tag = "1")]
    pub text: Vec<u8>,
    /// What the shell shows beside it.
    #[prost(bytes = "vec", tag = "2")]
    pub description: Vec<u8>,
}

/// A prompt was shown.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Prompt {
    /// The shell.
    #[prost(enumeration = "Shell", tag = "1")]
    pub shell: i32,
    /// The working directory now.
    #[prost(bytes = "vec", tag = "2")]
    pub cwd: Vec<u8>,
    /// The command that ran since the last prompt, if it may be recorded.
    #[prost(message, optional, tag = "3")]
    pub ran: Option<Ran>,
    /// The home directory.
    #[prost(bytes = "vec", tag = "4")]
    pub home: Vec<u8>,
    /// The shell's own history file; empty when not said.
    #[prost(bytes = "vec", tag = "5")]
    pub histfile: Vec<u8>,
    /// Without a command: whether it is told at a later prompt. With one: whether it ran before the
    /// prompt that said so.
    #[prost(bool, tag = "6")]
    pub late: bool,
}

/// A command that ran.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Ran {
    /// The command line as typed.
    #[prost(bytes = "vec", tag = "1")]
    pub command: Vec<u8>,
    /// Where it was started.
    #[prost(bytes = "vec", tag = "2")]
    pub cwd: Vec<u8>,
    /// Its exit status.
    #[prost(int32, optional, tag = "3")]
    pub exit: Option<i32>,
    /// When it was started, in milliseconds since 1970; 0 if unknown.
    #[prost(int64, tag = "4")]
    pub start_ms: i64,
    /// How long it ran, in milliseconds.
    #[prost(uint64, optional, tag = "5")]
    pub duration_ms: Option<u64>,
}

/// How the worker is.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Status {}

/// Finish and exit.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Stop {}

/// Read histories into the store.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Import {
    /// `zsh`, `bash`, `fish`, `atuin`, `zoxide`, or `auto` for all that are found.
    #[prost(string, tag = "1")]
    pub source: String,
    /// The file; empty for the usual place.
    #[prost(bytes = "vec", tag = "2")]
    pub file: Vec<u8>,
    /// The variables that say where the usual places are (`HOME`, `ZDOTDIR`, `HISTFILE`, ...).
    #[prost(message, repeated, tag = "3")]
    pub variables: Vec<Variable>,
}

/// One environment variable.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Variable {
    /// Its name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// Its value.
    #[prost(bytes = "vec", tag = "2")]
    pub value: Vec<u8>,
}

/// Take commands out of the store.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Forget {
    /// The command, exactly as recorded; ignored when `everything` is set.
    #[prost(bytes = "vec", tag = "1")]
    pub command: Vec<u8>,
    /// All of the history.
    #[prost(bool, tag = "2")]
    pub everything: bool,
}

/// Look a command up.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Look {
    /// The command line as typed.
    #[prost(bytes = "vec", tag = "1")]
    pub command: Vec<u8>,
    /// The shell's settings that decide what is recorded (`HISTCONTROL`, `HISTORY_IGNORE`, ...).
    #[prost(message, repeated, tag = "2")]
    pub variables: Vec<Variable>,
    /// The shell.
    #[prost(enumeration = "Shell", tag = "3")]
    pub shell: i32,
}

/// Let the decision model answer questions.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Decide {
    /// What is asked about: a text, or a JSON list or object. Bytes that are not UTF-8 are read as
    /// U+FFFD.
    #[prost(bytes = "vec", tag = "1")]
    pub state: Vec<u8>,
    /// The questions, as JSON: `{"id": {"type": …, "instructions": …, "criteria": …}, …}`.
    #[prost(bytes = "vec", tag = "2")]
    pub questions: Vec<u8>,
}

/// Adapt the ranking's weights to this user's history, or go back to the built-in ones. Answered
/// when that is done, which may take a minute.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Adapt {
    /// Whether to go back.
    #[prost(bool, tag = "1")]
    pub reset: bool,
}

/// Find the shortcut that a phrase asks for, and the command that does it here.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Do {
    /// What was said.
    #[prost(bytes = "vec", tag = "1")]
    pub phrase: Vec<u8>,
    /// The shell that the command is for.
    #[prost(enumeration = "Shell", tag = "2")]
    pub shell: i32,
    /// The working directory.
    #[prost(bytes = "vec", tag = "3")]
    pub cwd: Vec<u8>,
    /// The home directory.
    #[prost(bytes = "vec", tag = "4")]
    pub home: Vec<u8>,
    /// The `PATH` of the client: which programs there are.
    #[prost(bytes = "vec", tag = "5")]
    pub path: Vec<u8>,
    /// The variables that say what desktop this is and where things lie (`XDG_CURRENT_DESKTOP`,
    /// `XDG_SESSION_TYPE`, `XDG_DATA_DIRS`, `LANG`, ...).
    #[prost(message, repeated, tag = "6")]
    pub variables: Vec<Variable>,
    /// The names that the user has given things in the shell.
    #[prost(message, repeated, tag = "7")]
    pub names: Vec<Name>,
    /// What is left until the client gives up, in milliseconds.
    #[prost(uint32, tag = "8")]
    pub budget_ms: u32,
}

/// A name of the shell's user.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Name {
    /// What it is.
    #[prost(enumeration = "NameKind", tag = "1")]
    pub kind: i32,
    /// The name.
    #[prost(bytes = "vec", tag = "2")]
    pub name: Vec<u8>,
    /// What it stands for, or what is said about it; may be empty.
    #[prost(bytes = "vec", tag = "3")]
    pub text: Vec<u8>,
}

/// What a name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub enum NameKind {
    /// An alias.
    Alias = 0,
    /// An abbreviation of fish.
    Abbreviation = 1,
    /// A function.
    Function = 2,
}

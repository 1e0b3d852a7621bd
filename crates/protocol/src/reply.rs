//! What the worker answers. Field numbers are part of the protocol and never reused.

/// One reply.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Reply {
    /// What the worker can do: bits of [`crate::capability`].
    #[prost(uint64, tag = "1")]
    pub capabilities: u64,
    /// The worker's release.
    #[prost(string, tag = "2")]
    pub release: String,
    /// The `id` of the request.
    #[prost(uint64, tag = "3")]
    pub id: u64,
    /// The answer.
    #[prost(oneof = "Body", tags = "10, 11, 12, 13, 14, 15, 16, 18, 20")]
    pub body: Option<Body>,
}

impl Reply {
    /// A reply from this build to the request numbered `id`.
    pub fn new(id: u64, body: Body) -> Self {
        Self {
            capabilities: crate::capability::ALL,
            release: crate::RELEASE.to_owned(),
            id,
            body: Some(body),
        }
    }
}

/// The kinds of answer.
#[derive(Clone, PartialEq, prost::Oneof)]
pub enum Body {
    /// To [`crate::request::Complete`].
    #[prost(message, tag = "10")]
    Completed(Completed),
    /// To requests that have no answer of their own.
    #[prost(message, tag = "11")]
    Done(Done),
    /// To [`crate::request::Status`].
    #[prost(message, tag = "12")]
    Status(Box<Status>),
    /// The request was not carried out. Frozen: readable by every major.
    #[prost(message, tag = "13")]
    Refused(Refused),
    /// To [`crate::request::Import`].
    #[prost(message, tag = "14")]
    Imported(Imported),
    /// To [`crate::request::Look`].
    #[prost(message, tag = "15")]
    Looked(Looked),
    /// To [`crate::request::Decide`].
    #[prost(message, tag = "16")]
    Decided(Decided),
    /// To [`crate::request::Adapt`].
    #[prost(message, tag = "18")]
    Adapted(Adapted),
    /// To [`crate::request::Do`].
    #[prost(message, tag = "20")]
    Chosen(Chosen),
}

/// What a candidate is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub enum Kind {
    /// Anything that is none of the others: a subcommand, a branch, a host.
    Word = 0,
    /// A file.
    File = 1,
    /// A directory.
    Directory = 2,
    /// The name of a command.
    Command = 3,
    /// A flag.
    Option = 4,
    /// A whole command line.
    Line = 5,
}

/// Candidates, best first.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Completed {
    /// Every candidate that was sent, once, and those the worker added.
    #[prost(message, repeated, tag = "1")]
    pub ranked: Vec<Ranked>,
    /// Where the time went, when asked for.
    #[prost(message, repeated, tag = "2")]
    pub stages: Vec<Stage>,
    /// Offset in the line of the word that the candidates replace, in bytes.
    #[prost(uint64, tag = "3")]
    pub start: u64,
    /// How likely the first candidate is the one that is meant, 0 to 1; 0 from a worker that does
    /// not say.
    #[prost(float, tag = "4")]
    pub confidence: f32,
    /// Whether it is so likely that it may be inserted at once, without a list.
    #[prost(bool, tag = "5")]
    pub sure: bool,
}

/// One candidate of the answer.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Ranked {
    /// Its number among those that were sent; absent for one that the worker added.
    #[prost(uint32, optional, tag = "1")]
    pub native: Option<u32>,
    /// The text, for one that the worker added: the whole word, unquoted.
    #[prost(bytes = "vec", tag = "2")]
    pub text: Vec<u8>,
    /// What it is.
    #[prost(enumeration = "Kind", tag = "3")]
    pub kind: i32,
    /// What to show beside it.
    #[prost(bytes = "vec", tag = "4")]
    pub description: Vec<u8>,
    /// The blend's score; only differences within one answer mean something.
    #[prost(float, tag = "5")]
    pub score: f32,
}

/// Time spent in one stage.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Stage {
    /// `queue`, `gather`, `rank`, ...
    #[prost(string, tag = "1")]
    pub name: String,
    /// Microseconds.
    #[prost(uint64, tag = "2")]
    pub micros: u64,
}

/// Carried out.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Done {
    /// How many things were changed, where that can be counted.
    #[prost(uint64, tag = "1")]
    pub count: u64,
}

/// Why a request was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub enum Reason {
    /// Not said.
    Unspecified = 0,
    /// The peer speaks another major version.
    Protocol = 1,
    /// The request has no body that this worker knows.
    Unknown = 2,
    /// The request cannot be carried out; the message says why.
    Failed = 3,
    /// Too much is waiting; ask again later.
    Busy = 4,
}

/// Not carried out.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Refused {
    /// Why.
    #[prost(enumeration = "Reason", tag = "1")]
    pub reason: i32,
    /// The same for a person: lower case, no full stop.
    #[prost(string, tag = "2")]
    pub message: String,
    /// What to do about it; may be empty.
    #[prost(string, tag = "3")]
    pub hint: String,
}

/// How the worker is.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Status {
    /// Its process.
    #[prost(uint32, tag = "1")]
    pub pid: u32,
    /// Seconds since it started.
    #[prost(uint64, tag = "2")]
    pub uptime_s: u64,
    /// The decision model in use, or why none is.
    #[prost(string, tag = "3")]
    pub model: String,
    /// Completion requests answered since it started.
    #[prost(uint64, tag = "4")]
    pub requests: u64,
    /// Time from frame read to frame written, median of the latest requests, in milliseconds.
    #[prost(double, tag = "5")]
    pub p50_ms: f64,
    /// The same, 95th percentile.
    #[prost(double, tag = "6")]
    pub p95_ms: f64,
    /// The same, 99th percentile.
    #[prost(double, tag = "7")]
    pub p99_ms: f64,
    /// Resident memory in MB (2^20 bytes).
    #[prost(double, tag = "8")]
    pub rss_mb: f64,
    /// Commands in the store.
    #[prost(uint64, tag = "9")]
    pub history: u64,
    /// The store's trouble, if any; empty when it is well.
    #[prost(string, tag = "10")]
    pub trouble: String,
    /// Commands waiting to be written.
    #[prost(uint64, tag = "11")]
    pub waiting: u64,
    /// Whether the ranking is adapted to this user, and if not, why; for people.
    #[prost(string, tag = "12")]
    pub adaptation: String,
    /// Whether adapted weights are in use.
    #[prost(bool, tag = "13")]
    pub adapted: bool,
}

/// What adapting did.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Adapted {
    /// For people.
    #[prost(string, tag = "1")]
    pub text: String,
    /// For programs: one JSON object.
    #[prost(string, tag = "2")]
    pub json: String,
}

/// What an import did.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Imported {
    /// One for each file.
    #[prost(message, repeated, tag = "1")]
    pub files: Vec<ImportedFile>,
}

/// What an import did with one file.
#[derive(Clone, PartialEq, prost::Message)]
pub struct ImportedFile {
    /// `zsh`, `bash`, `fish`, `atuin` or `zoxide`.
    #[prost(string, tag = "1")]
    pub source: String,
    /// The file.
    #[prost(bytes = "vec", tag = "2")]
    pub file: Vec<u8>,
    /// Entries read.
    #[prost(uint64, tag = "3")]
    pub read: u64,
    /// Entries that were new.
    #[prost(uint64, tag = "4")]
    pub added: u64,
    /// Entries that could not be read.
    #[prost(uint64, tag = "5")]
    pub skipped: u64,
    /// Why the file could not be imported; empty when it could.
    #[prost(string, tag = "6")]
    pub error: String,
}

/// What is known of a command.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Looked {
    /// How often it is in the store.
    #[prost(uint64, tag = "1")]
    pub count: u64,
    /// How it is or would be stored, secrets redacted.
    #[prost(bytes = "vec", tag = "2")]
    pub stored: Vec<u8>,
    /// Why it is not recorded or not as typed; one sentence each.
    #[prost(string, repeated, tag = "3")]
    pub reasons: Vec<String>,
}

/// What the decision model answered.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Decided {
    /// `{"answers": {"id": …}}`, as the reference runtime writes it.
    #[prost(string, tag = "1")]
    pub json: String,
    /// The same in short, one for each question.
    #[prost(message, repeated, tag = "2")]
    pub answers: Vec<DecidedAnswer>,
}

/// One answer in short.
#[derive(Clone, PartialEq, prost::Message)]
pub struct DecidedAnswer {
    /// Under which the question was given.
    #[prost(string, tag = "1")]
    pub id: String,
    /// The label that is likeliest.
    #[prost(string, tag = "2")]
    pub label: String,
    /// How likely it is, 0 to 1.
    #[prost(float, tag = "3")]
    pub probability: f32,
}

/// What a phrase may ask for.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Chosen {
    /// The likeliest shortcuts, best first; none for a phrase that shares nothing with any.
    #[prost(message, repeated, tag = "1")]
    pub choices: Vec<Choice>,
    /// How likely it is that nothing fits, 0 to 1.
    #[prost(float, tag = "2")]
    pub none: f32,
    /// Whether the model decided. Without it words alone were compared, and nothing is sure.
    #[prost(bool, tag = "3")]
    pub decided: bool,
    /// The model, or why none decided.
    #[prost(string, tag = "4")]
    pub model: String,
    /// What is wrong with the user's own file, one sentence each.
    #[prost(string, repeated, tag = "5")]
    pub problems: Vec<String>,
    /// Where the time went.
    #[prost(message, repeated, tag = "6")]
    pub stages: Vec<Stage>,
    /// How many shortcuts were known.
    #[prost(uint64, tag = "7")]
    pub known: u64,
    /// How many of their texts the model has still to read in the background.
    #[prost(uint64, tag = "8")]
    pub unread: u64,
}

/// What can go wrong when a command runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub enum Risk {
    /// Something may be lost. The default: what is not known is not run unasked.
    Destructive = 0,
    /// Something is changed.
    Write = 1,
    /// Nothing that matters is changed.
    Read = 2,
}

/// One shortcut that may be meant.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Choice {
    /// Its name.
    #[prost(string, tag = "1")]
    pub id: String,
    /// A few words in the user's language.
    #[prost(string, tag = "2")]
    pub title: String,
    /// A sentence in the user's language; may be empty.
    #[prost(string, tag = "3")]
    pub description: String,
    /// Where it comes from, for people.
    #[prost(string, tag = "4")]
    pub source: String,
    /// Whom its texts are owed to; may be empty.
    #[prost(string, tag = "5")]
    pub attribution: String,
    /// What can go wrong.
    #[prost(enumeration = "Risk", tag = "6")]
    pub risk: i32,
    /// How likely it is meant, 0 to 1.
    #[prost(float, tag = "7")]
    pub probability: f32,
    /// The command, its slots filled; empty when it cannot be done here.
    #[prost(bytes = "vec", tag = "8")]
    pub command: Vec<u8>,
    /// Where the first placeholder stands in the command, in bytes; its end without one.
    #[prost(uint64, tag = "9")]
    pub cursor: u64,
    /// Bytes of that placeholder; 0 without one.
    #[prost(uint64, tag = "10")]
    pub placeholder: u64,
    /// What became of the slots.
    #[prost(message, repeated, tag = "11")]
    pub slots: Vec<FilledSlot>,
    /// Why it cannot be done here; empty when it can.
    #[prost(string, tag = "12")]
    pub unavailable: String,
    /// The text of the shortcut that the phrase was compared with.
    #[prost(string, tag = "13")]
    pub text: String,
    /// The share of the phrase's words that this text has, 0 to 1.
    #[prost(float, tag = "14")]
    pub words: f32,
    /// The cosine between phrase and text, when the model decided.
    #[prost(float, tag = "15")]
    pub similarity: f32,
    /// The file of the project that says so, if one does.
    #[prost(bytes = "vec", tag = "16")]
    pub by: Vec<u8>,
}

/// A slot of a command.
#[derive(Clone, PartialEq, prost::Message)]
pub struct FilledSlot {
    /// Its name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// Its value, unquoted; absent when the phrase has none.
    #[prost(bytes = "vec", optional, tag = "2")]
    pub value: Option<Vec<u8>>,
}

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
    #[prost(oneof = "Body", tags = "10, 11, 12, 13, 14, 15, 16")]
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

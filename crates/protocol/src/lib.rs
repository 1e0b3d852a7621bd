//! What client and worker say to each other. This page is the specification.
//!
//! # Frames
//!
//! Both directions carry frames, nothing else:
//!
//! ```text
//! +------+------+------+---------+----------------+----------------------+
//! | 'T'  | 'B'  | 'S'  | major   | length: u32 LE | payload: length bytes |
//! +------+------+------+---------+----------------+----------------------+
//! ```
//!
//! `payload` is one [`Request`] (client to worker) or one [`Reply`] (worker to client) in the
//! Protocol Buffers wire format (<https://protobuf.dev/programming-guides/encoding/>); the field
//! numbers are those in [`request`] and [`reply`]. `length` is at most [`MAX_PAYLOAD`]; a peer
//! that announces more is cut off without reading on.
//!
//! # Order
//!
//! The client sends one request and reads one reply; then it may send the next on the same
//! connection. [`request::Prompt`] and [`request::Stop`] need no waiting: the client may close at
//! once, the worker still acts on what it has read. A reply carries the `id` of its request.
//!
//! # Versions
//!
//! *Major* (the fourth byte) changes when old frames can no longer be understood. A worker that
//! meets another major answers in its own with [`reply::Refused`], whose field numbers are frozen,
//! and closes; a client that cannot read the answer treats the worker as absent.
//! Everything smaller is a *capability*: one bit in [`capability`], sent by both sides with every
//! message. Unknown fields are skipped and missing ones have the value zero, as Protocol Buffers
//! prescribe, so an older and a newer peer of one major understand each other; a peer asks
//! `capabilities` before it relies on something that came later.
//! The worker also states its release; a client of a newer release replaces it (it sends
//! [`request::Stop`] and starts its own).
//!
//! # Text
//!
//! Lines, names, directories and commands are bytes: file names need not be UTF-8. Offsets count
//! bytes. Versions and messages for people are UTF-8.
//!
//! # Trust
//!
//! The socket lies in a directory that only its owner may enter. Both sides still check every
//! length before they allocate, and the worker never evaluates text it is sent.

mod frame;
pub mod reply;
pub mod request;

pub use frame::{FIRST_READ, FrameError, HEADER_LEN, MAX_PAYLOAD, encode, payload_len, read_frame};
pub use prost::Message;
pub use reply::Reply;
pub use request::Request;

/// The major version: the fourth byte of every frame.
pub const MAJOR: u8 = 1;

/// The release of this build, as `MAJOR.MINOR.PATCH`.
pub const RELEASE: &str = env!("CARGO_PKG_VERSION");

/// What a peer can do beyond the first version, one bit each. None is ever reused.
pub mod capability {
    /// Ranked completion, prompts, status, stop: what every peer of this major can do.
    pub const BASE: u64 = 1;
    /// The worker imports histories on request.
    pub const IMPORT: u64 = 1 << 1;
    /// Answers carry stage times when the request asks for them.
    pub const STAGES: u64 = 1 << 2;
    /// The worker lets its decision model answer questions.
    pub const DECIDE: u64 = 1 << 3;
    /// The worker adapts the ranking on request.
    pub const ADAPT: u64 = 1 << 4;
    /// The worker finds what a phrase asks for.
    pub const DO: u64 = 1 << 8;

    /// What this build can do.
    pub const ALL: u64 = BASE | IMPORT | STAGES | DECIDE | ADAPT | DO;
}

/// Whether `theirs` is an older release than `ours` (both `MAJOR.MINOR.PATCH`; anything that
/// cannot be read counts as older than everything that can).
pub fn is_older(theirs: &str, ours: &str) -> bool {
    fn parts(release: &str) -> Option<[u64; 3]> {
        let mut numbers = release.split('.').map(str::parse);
        let mut next = || numbers.next()?.ok();
        Some([next()?, next()?, next()?])
    }
    parts(theirs) < parts(ours)
}

#[cfg(test)]
mod tests {
    use super::is_older;

    #[test]
    fn releases_compare_by_number_not_by_text() {
        assert!(is_older("0.9.0", "0.10.0"));
        assert!(!is_older("0.10.0", "0.9.9"));
        assert!(!is_older("1.2.3", "1.2.3"));
    }

    #[test]
    fn an_unreadable_release_is_older_than_any_other() {
        assert!(is_older("", "0.1.0"));
        assert!(!is_older("0.1.0", "nonsense"));
    }
}

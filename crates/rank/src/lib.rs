//! Ranking for shell completion: what is most likely wanted, given a person's own history.
//!
//! Everything here is pure: no file, clock, socket or environment is touched. The caller feeds
//! [`Index`] with [`Event`]s in the order in which they happened and asks for rankings with a
//! [`Context`] that says where and when. Text is bytes throughout: names need not be UTF-8.
//!
//! Directories must be given in one form only (all absolute, or all with `~` for home): an index
//! compares them byte by byte.

mod candidate;
mod confidence;
mod decide;
mod directories;
pub mod eval;
mod feedback;
mod index;
mod lines;
mod priors;
mod shell;
mod weights;
mod words;

pub use candidate::{
    Candidate, Context, Event, Kind, Match, Ranked, Recent, ScoredDirectory, ScoredLine,
    ScoredWord, Slot,
};
pub use confidence::{Confidence, confidence, settle};
pub use decide::{Asks, Decide, Question, SHORTLIST, before, blend, model_weight, refine};
pub use directories::{explain_directories, rank_directories};
pub use feedback::{Fate, Feedback, Offer};
pub use index::Index;
pub use lines::network::Network;
pub use lines::{Predictor, rank_lines};
pub use priors::Priors;
pub use weights::{Blend, ModelWeights, Weights};
pub use words::{UsedHere, argument_words, explain_words, rank_words, used_here};

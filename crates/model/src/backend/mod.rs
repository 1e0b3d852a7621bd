//! The border between the model and the machine: plain numbers in, plain numbers out.

pub(crate) mod cpu;
#[cfg(any(feature = "mlx", all(target_os = "macos", target_arch = "aarch64")))]
pub(crate) mod mlx;
pub(crate) mod reference;

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use crate::config::{EncoderConfig, Family, Kind, Layout};
use crate::error::{Error, Result};
use crate::sequence::Sequence;

/// What a pass yields.
#[derive(Debug, Clone, PartialEq)]
pub struct Output {
    /// One logit for each option, in slot order, before any temperature.
    pub logits: Vec<f32>,
    /// Logits of the action head; none if the checkpoint has no such head.
    pub actions: Vec<f32>,
}

/// One loaded model on one device. Owned by exactly one thread.
///
/// Every call has finished its work when it returns: nothing is left to a later one. Slots are
/// small numbers that the caller hands out; each holds one prepared state of a `cached` model.
pub trait Backend {
    /// `cpu`, `mlx` or `reference`.
    fn name(&self) -> &'static str;

    /// More about how it runs, such as the instruction set.
    fn detail(&self) -> String {
        String::new()
    }

    /// One pass over a whole sequence, in any layout.
    ///
    /// # Errors
    /// [`Error::Stopped`], [`Error::Input`], [`Error::Backend`].
    fn forward(&mut self, sequence: &Sequence, stop: &Stop) -> Result<Output>;

    /// Runs the state of a `cached` model and keeps it in `slot`, in place of what was there.
    ///
    /// # Errors
    /// As [`Self::forward`]; the slot is then empty.
    fn prepare(&mut self, slot: usize, state: &Sequence, stop: &Stop) -> Result<()>;

    /// What the options are in view of the state kept in `slot`, `[options, hidden]`. None depends
    /// on the others.
    ///
    /// # Errors
    /// As [`Self::forward`]; [`Error::Input`] for an empty slot.
    fn vectors(&mut self, slot: usize, options: &Sequence, stop: &Stop) -> Result<Vec<f32>>;

    /// Compares options by their [`Self::vectors`] for the same state.
    ///
    /// # Errors
    /// As [`Self::vectors`].
    fn choose(&mut self, slot: usize, vectors: &[f32], kind: Kind, stop: &Stop) -> Result<Output>;

    /// Scores options against the state kept in `slot`: both steps.
    ///
    /// # Errors
    /// As [`Self::vectors`].
    fn options(&mut self, slot: usize, options: &Sequence, stop: &Stop) -> Result<Output> {
        let vectors = self.vectors(slot, options, stop)?;
        self.choose(slot, &vectors, options.kind, stop)
    }

    /// Empties a slot.
    fn forget(&mut self, slot: usize);

    /// The last hidden states of all tokens, `[tokens, hidden]`: what a `separate` model makes of
    /// texts that do not see each other.
    ///
    /// # Errors
    /// As [`Self::forward`].
    fn encode(&mut self, pieces: &Sequence, stop: &Stop) -> Result<Vec<f32>>;

    /// The head of a `separate` model over a state's hidden states, `[tokens, hidden]`, and the
    /// options' vectors, `[options, hidden]`: one logit for each option.
    ///
    /// # Errors
    /// As [`Self::forward`].
    fn compare(&mut self, state: &[f32], options: &[f32], stop: &Stop) -> Result<Output>;
}

/// A whole pass of a `separate` model: what [`Backend::forward`] does for one.
pub(crate) fn separately(
    backend: &mut dyn Backend,
    hidden: usize,
    s: &Sequence,
    stop: &Stop,
) -> Result<Output> {
    let rows = backend.encode(s, stop)?;
    let mut pieces = s.pieces().into_iter();
    let state = match pieces.next() {
        Some(first) if s.owners[first.start] == 0 && pieces.len() == s.markers.len() => first,
        _ => {
            let reason = "a state and then its options were expected, each in one piece";
            return Err(Error::Input(reason.to_owned()));
        }
    };
    let piece = |tokens: Range<usize>| &rows[tokens.start * hidden..tokens.end * hidden];
    let options: Vec<f32> = pieces.flat_map(|p| pooled(piece(p), hidden)).collect();
    backend.compare(piece(state), &options, stop)
}

/// Row of the type embedding that a `separate` model adds to the tokens of a state.
pub(crate) const STATE_ROW: usize = 0;
/// The one that it adds to the options' vectors.
pub(crate) const OPTION_ROW: usize = 1;

/// The vector of a text: the mean of its hidden states, brought to the length `sqrt(hidden)`.
pub(crate) fn pooled(rows: &[f32], hidden: usize) -> Vec<f32> {
    let mut mean = vec![0.0f32; hidden];
    for row in rows.chunks_exact(hidden) {
        mean.iter_mut().zip(row).for_each(|(m, x)| *m += x);
    }
    let length = mean.iter().map(|m| m * m).sum::<f32>().sqrt();
    // A mean of zeros has no direction and stays as it is.
    if length > 0.0 {
        let scale = (hidden as f32).sqrt() / length;
        mean.iter_mut().for_each(|m| *m *= scale);
    }
    mean
}

/// Checks what [`Backend::compare`] and [`Backend::choose`] get.
pub(crate) fn check_rows(state: &[f32], options: &[f32], hidden: usize) -> Result<()> {
    let whole = |rows: &[f32]| !rows.is_empty() && rows.len().is_multiple_of(hidden);
    if whole(state) && whole(options) {
        return Ok(());
    }
    Err(Error::Input(format!(
        "{} numbers of a state and {} of options are not rows of {hidden}",
        state.len(),
        options.len()
    )))
}

/// The error for a slot that nothing was prepared in.
pub(crate) fn empty(slot: usize) -> Error {
    Error::Input(format!("slot {slot} holds no state"))
}

/// When to give up a pass. Looked at between layers.
#[derive(Default)]
pub struct Stop<'a> {
    /// Set by someone who no longer needs the answer.
    pub flag: Option<&'a AtomicBool>,
    /// After which the answer is of no use.
    pub deadline: Option<Instant>,
}

impl Stop<'_> {
    /// Runs to the end.
    pub const NEVER: Stop<'static> = Stop {
        flag: None,
        deadline: None,
    };

    /// # Errors
    /// [`Error::Stopped`] when the pass is to be given up.
    pub fn check(&self) -> Result<()> {
        let cancelled = self.flag.is_some_and(|flag| flag.load(Ordering::Relaxed));
        if cancelled || self.deadline.is_some_and(|end| Instant::now() >= end) {
            return Err(Error::Stopped);
        }
        Ok(())
    }
}

/// Whether a token of one owner sees a token of another; owner 0 is shared by all options.
pub(crate) fn sees(layout: Layout, from: u32, to: u32) -> bool {
    match layout {
        Layout::Sequential => true,
        Layout::Parallel => from == 0 || to == 0 || from == to,
        Layout::Cached => to == 0 || from == to,
        Layout::Separate => from == to,
    }
}

/// Checks what every backend relies on.
pub(crate) fn check(
    sequence: &Sequence,
    encoder: &EncoderConfig,
    options: OptionsNeeded,
) -> Result<()> {
    let vocabulary = encoder.vocab;
    let len = sequence.ids.len();
    let wrong = |reason: &str| Err(Error::Input(reason.to_owned()));
    if len == 0 || sequence.positions.len() != len || sequence.owners.len() != len {
        return wrong("a sequence needs one position and one owner for each of its tokens");
    }
    if sequence.markers.iter().any(|m| *m >= len) {
        return wrong("a marker lies outside the sequence");
    }
    if let Some(id) = sequence.ids.iter().find(|id| **id as usize >= vocabulary) {
        let reason = format!("token {id} is outside the vocabulary of {vocabulary}");
        return Err(Error::Input(reason));
    }
    let last = sequence.positions.iter().max().map_or(0, |p| *p as usize);
    if encoder.family == Family::Bert && last >= encoder.max_positions {
        let most = encoder.max_positions;
        let reason = format!("position {last} is outside the {most} that the encoder knows");
        return Err(Error::Input(reason));
    }
    match options {
        OptionsNeeded::Some if sequence.markers.is_empty() => wrong("there is no option"),
        _ => Ok(()),
    }
}

/// Whether a sequence must hold options.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum OptionsNeeded {
    Some,
    None,
}

/// What the action head reads beside the first token: the best probability, its lead, the
/// normalised entropy, and the number of options over 255.
pub(crate) fn action_features(logits: &[f32]) -> [f32; 4] {
    let p = crate::answer::softmax(logits, 1.0);
    let (mut first, mut second) = (0.0f32, 0.0f32);
    for &p in &p {
        if p > first {
            (first, second) = (p, first);
        } else if p > second {
            second = p;
        }
    }
    let count = p.len().max(2) as f32;
    let entropy: f32 = p.iter().map(|p| -p * p.max(1e-9).ln()).sum();
    [first, first - second, entropy / count.ln(), count / 255.0]
}

//! The border between the model and the machine: plain numbers in, plain numbers out.

pub(crate) mod cpu;
#[cfg(any(feature = "mlx", all(target_os = "macos", target_arch = "aarch64")))]
pub(crate) mod mlx;
pub(crate) mod reference;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use crate::config::Layout;
use crate::error::{Error, Result};
use crate::sequence::Sequence;

/// What a pass yields.
#[derive(Debug, Clone, PartialEq)]
pub struct Output {
    /// One logit for each option, in slot order, before any temperature.
    pub logits: Vec<f32>,
    /// Logits of the action head.
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

    /// Scores options against the state kept in `slot`.
    ///
    /// # Errors
    /// As [`Self::forward`]; [`Error::Input`] for an empty slot.
    fn options(&mut self, slot: usize, options: &Sequence, stop: &Stop) -> Result<Output>;

    /// Empties a slot.
    fn forget(&mut self, slot: usize);
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
    }
}

/// Checks what every backend relies on.
pub(crate) fn check(sequence: &Sequence, vocabulary: usize, options: OptionsNeeded) -> Result<()> {
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

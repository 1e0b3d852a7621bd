//! What is kept between the decisions of a `cached` model: states, and the options seen with each.
//!
//! Neither a state nor an option depends on the other options. So the next key, or TAB once more, pays
//! for what was not there before.

use std::collections::HashMap;

use crate::backend::{Backend, Output, Stop};
use crate::config::Kind;
use crate::error::Result;
use crate::sequence::Sequence;

/// States that are kept: one for each of the shells typing at a time.
const SLOTS: usize = 8;

/// Options that are kept with a state.
const OPTIONS: usize = 256;

/// The states that a backend keeps.
#[derive(Default)]
pub(super) struct Slots {
    slots: Vec<Slot>,
    /// Counts uses.
    clock: u64,
}

/// A state that the backend keeps; its number is its place in the list.
struct Slot {
    state: Vec<u32>,
    kind: Kind,
    used: u64,
    /// Vectors of options, by their tokens.
    options: HashMap<Box<[u32]>, Vec<f32>>,
}

impl Slots {
    /// The slot that holds a state, running it first if none does.
    pub(super) fn of(
        &mut self,
        state: Sequence,
        backend: &mut dyn Backend,
        stop: &Stop,
    ) -> Result<usize> {
        self.clock += 1;
        let same = |slot: &Slot| slot.state == state.ids && slot.kind == state.kind;
        if let Some(slot) = self.slots.iter().position(same) {
            self.slots[slot].used = self.clock;
            return Ok(slot);
        }
        // An empty state matches no piece, should this pass be stopped.
        let fresh = Slot {
            state: Vec::new(),
            kind: state.kind,
            used: self.clock,
            options: HashMap::new(),
        };
        let slot = if self.slots.len() < SLOTS {
            self.slots.push(fresh);
            self.slots.len() - 1
        } else {
            let oldest = (0..SLOTS).min_by_key(|i| self.slots[*i].used).unwrap_or(0);
            self.slots[oldest] = fresh;
            oldest
        };
        backend.prepare(slot, &state, stop)?;
        self.slots[slot].state = state.ids;
        Ok(slot)
    }

    /// Scores options against a state, running those that were not seen with it yet.
    pub(super) fn choose(
        &mut self,
        slot: usize,
        options: &Sequence,
        backend: &mut dyn Backend,
        stop: &Stop,
    ) -> Result<Output> {
        let seen = &mut self.slots[slot].options;
        let tokens: Vec<&[u32]> = options
            .pieces()
            .into_iter()
            .map(|piece| &options.ids[piece])
            .collect();
        if seen.len() + tokens.len() > OPTIONS {
            seen.clear();
        }
        let unseen: Vec<usize> = (0..tokens.len())
            .filter(|&option| !seen.contains_key(tokens[option]))
            .collect();
        if !unseen.is_empty() {
            let vectors = backend.vectors(slot, &options.only(&unseen), stop)?;
            let each = vectors.chunks_exact(vectors.len() / unseen.len());
            for (option, vector) in unseen.into_iter().zip(each) {
                seen.insert(tokens[option].into(), vector.to_vec());
            }
        }
        let vectors: Vec<f32> = tokens.iter().flat_map(|t| &seen[*t]).copied().collect();
        backend.choose(slot, &vectors, options.kind, stop)
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self, backend: &mut dyn Backend) {
        for slot in 0..self.slots.len() {
            backend.forget(slot);
        }
        self.slots.clear();
    }
}

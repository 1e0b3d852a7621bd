//! Memory that passes use again and again.

use std::ops::Range;

use crate::kernels::{Buffer, Isa, Quantised, SLACK, Span, split_heads, transpose_into};

/// A state that ran: keys and values of every layer, and the first token's last hidden state.
#[derive(Default)]
pub(super) struct Kept {
    pub(super) len: usize,
    pub(super) layers: Vec<KeysValues>,
    pub(super) first: Vec<f32>,
}

/// Keys turned by RoPE, one row for each channel; values, for each head one row for each token.
#[derive(Default)]
pub(super) struct KeysValues {
    pub(super) keys: Buffer,
    pub(super) values: Buffer,
    tokens: usize,
}

impl KeysValues {
    /// Keeps what the rows of `kv` hold: all keys of a token, then its values.
    pub(super) fn fill(&mut self, isa: Isa, kv: &[f32], d: usize, head: usize) {
        let tokens = kv.len() / (2 * d);
        self.tokens = tokens;
        let stride = stride(tokens);
        let keys = self.keys.room(d * stride + SLACK);
        transpose_into(isa, kv, 2 * d, d, keys, stride);
        let values = self.values.room(tokens * d + SLACK);
        split_heads(&kv[d..], 2 * d, d, head, values);
    }

    /// A run of its tokens.
    pub(super) fn span(&self, d: usize, head: usize, run: Range<usize>, position: u32) -> Span<'_> {
        let stride = stride(self.tokens);
        Span {
            keys: self.keys.first(d * stride + SLACK),
            key_stride: stride,
            values: self.values.first(self.tokens * d + SLACK),
            value_head: self.tokens * head,
            value_stride: head,
            start: run.start,
            len: run.len(),
            position,
        }
    }
}

/// Floats from one channel of keys to the next. An odd number of lines, for the channels of one
/// token not to compete for the same places in the cache.
fn stride(tokens: usize) -> usize {
    (tokens.div_ceil(16) | 1) * 16
}

/// Working memory, kept from pass to pass.
#[derive(Default)]
pub(super) struct Work {
    pub(super) quantised: Quantised,
    pub(super) x: Vec<f32>,
    pub(super) normed: Buffer,
    pub(super) queries: Buffer,
    pub(super) mixed: Buffer,
    pub(super) wide: Buffer,
    pub(super) gated: Buffer,
    pub(super) kv: Buffer,
    pub(super) keys_values: KeysValues,
    pub(super) scores: Buffer,
}

//! The matrix products of a pass by a kept library, the crate `gemm`, in floats.
//!
//! Products alone: no norms, softmax, gates or positions. A pass by it cannot take less. Attention
//! is computed in full, as with a mask; otherwise the same work is left out as in a pass of ours.

use gemm::Parallelism;

use crate::random::Shape;

/// Weights of a model, its input, and what its products are written to.
pub(crate) struct Peer {
    shape: Shape,
    weights: Vec<Weights>,
    head: Vec<Weights>,
    input: Vec<f32>,
    output: Vec<f32>,
}

/// Of one layer: queries, keys and values; what follows attention; into and out of the inner layer.
type Weights = [Vec<f32>; 4];

/// Longest sequence.
const TOKENS: usize = 512;
/// Channels of an attention head.
const WIDTH: usize = 64;

impl Peer {
    pub(crate) fn new(shape: Shape) -> Self {
        let (d, inner) = (shape.hidden, shape.inner);
        let mut seed = 1u32;
        let mut floats = |len: usize| -> Vec<f32> {
            let mut next = || {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (seed >> 8) as f32 / (1 << 23) as f32 - 1.0
            };
            (0..len).map(|_| next()).collect()
        };
        let mut layer = |into: usize, out: usize| -> Weights {
            [3 * d * d, d * d, into * d, d * out].map(&mut floats)
        };
        Self {
            weights: (0..shape.layers).map(|_| layer(2 * inner, inner)).collect(),
            head: (0..shape.head_layers)
                .map(|_| layer(4 * d, 4 * d))
                .collect(),
            input: floats(TOKENS * 4 * d.max(TOKENS)),
            output: vec![0.0; TOKENS * 4 * d.max(TOKENS)],
            shape,
        }
    }

    /// A state that is kept.
    pub(crate) fn state(&mut self, tokens: usize) {
        let last = self.shape.layers - 1;
        for layer in 0..=last {
            let rows = if layer == last { 1 } else { tokens };
            self.layer(layer, tokens, tokens, rows);
        }
    }

    /// Options against a kept state.
    pub(crate) fn options(&mut self, past: usize, tokens: usize, options: usize) {
        let last = self.shape.layers - 1;
        for layer in 0..=last {
            let rows = if layer == last { options } else { tokens };
            self.layer(layer, tokens, past + tokens, rows);
        }
        for layer in 0..self.shape.head_layers {
            self.head_layer(layer, options + 1, options + 1);
        }
    }

    /// A whole sequence.
    pub(crate) fn joint(&mut self, tokens: usize, options: usize) {
        for layer in 0..self.shape.layers {
            self.layer(layer, tokens, tokens, tokens);
        }
        let last = self.shape.head_layers - 1;
        for layer in 0..=last {
            let rows = if layer == last { options + 1 } else { tokens };
            self.head_layer(layer, tokens, rows);
        }
    }

    fn layer(&mut self, layer: usize, tokens: usize, keys: usize, rows: usize) {
        let (x, y) = (&self.input, &mut self.output);
        let widths = [2 * self.shape.inner, self.shape.inner];
        whole_layer(
            &self.weights[layer],
            self.shape.hidden,
            widths,
            [tokens, keys, rows],
            x,
            y,
        );
    }

    fn head_layer(&mut self, layer: usize, tokens: usize, rows: usize) {
        let (x, y) = (&self.input, &mut self.output);
        let d = self.shape.hidden;
        whole_layer(
            &self.head[layer],
            d,
            [4 * d, 4 * d],
            [tokens, tokens, rows],
            x,
            y,
        );
    }
}

fn whole_layer(
    [qkv, mixed, into, out]: &Weights,
    d: usize,
    [wide, inner]: [usize; 2],
    [tokens, keys, rows]: [usize; 3],
    x: &[f32],
    y: &mut [f32],
) {
    let (query, key_value) = qkv.split_at(d * d);
    product(rows, d, d, x, d, query, (d, 1), y, d);
    product(tokens, d, 2 * d, x, d, key_value, (2 * d, 1), y, 2 * d);
    for head in 0..d / WIDTH {
        let channels = &x[head * WIDTH..];
        // Keys lie token by token: their product is with the transposed.
        product(rows, WIDTH, keys, channels, d, channels, (1, d), y, keys);
        product(
            rows,
            keys,
            WIDTH,
            x,
            keys,
            channels,
            (d, 1),
            &mut y[head * WIDTH..],
            d,
        );
    }
    product(rows, d, d, x, d, mixed, (d, 1), y, d);
    product(rows, d, wide, x, d, into, (wide, 1), y, wide);
    product(rows, inner, d, x, inner, out, (d, 1), y, d);
}

/// `a`, `[rows, depth]`, times `b`, `[depth, columns]`, with the distances of rows and of columns.
#[expect(clippy::too_many_arguments, reason = "three matrices and how they lie")]
#[expect(unsafe_code, reason = "the library takes pointers")]
fn product(
    rows: usize,
    depth: usize,
    columns: usize,
    a: &[f32],
    a_stride: usize,
    b: &[f32],
    (b_row, b_column): (usize, usize),
    out: &mut [f32],
    out_stride: usize,
) {
    assert!(a.len() >= (rows - 1) * a_stride + depth);
    assert!(b.len() > (depth - 1) * b_row + (columns - 1) * b_column);
    assert!(out.len() >= (rows - 1) * out_stride + columns);
    // SAFETY: all places between the first and the last of each matrix lie within its slice.
    unsafe {
        gemm::gemm(
            rows,
            columns,
            depth,
            out.as_mut_ptr(),
            1,
            out_stride as isize,
            false,
            a.as_ptr(),
            1,
            a_stride as isize,
            b.as_ptr(),
            b_column as isize,
            b_row as isize,
            0.0,
            1.0,
            false,
            false,
            false,
            Parallelism::None,
        );
    }
}

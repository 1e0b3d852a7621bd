//! Norms, gates and positions.

use super::simd::{ROUND, Simd};
use super::{Isa, Op};
use crate::parameters::Norm;

/// Layer norm of every row of `x` into `out`.
pub(crate) fn norm(isa: Isa, x: &[f32], parameters: &Norm, eps: f32, out: &mut [f32]) {
    struct Normed<'a> {
        x: &'a [f32],
        weight: &'a [f32],
        bias: Option<&'a [f32]>,
        eps: f32,
        out: &'a mut [f32],
    }
    impl Op for Normed<'_> {
        type Out = ();
        #[inline(always)]
        fn run<S: Simd>(self, s: S) {
            let width = self.weight.len();
            for (x, out) in self
                .x
                .chunks_exact(width)
                .zip(self.out.chunks_exact_mut(width))
            {
                norm_row(s, x, self.weight, self.eps, out);
                if let Some(bias) = self.bias {
                    out.iter_mut().zip(bias).for_each(|(y, b)| *y += b);
                }
            }
        }
    }
    isa.run(Normed {
        x,
        weight: &parameters.weight,
        bias: parameters.bias.as_deref(),
        eps,
        out,
    });
}

#[inline(always)]
fn norm_row<S: Simd>(s: S, x: &[f32], weight: &[f32], eps: f32, out: &mut [f32]) {
    let count = x.len() as f32;
    let body = x.len() / S::LANES * S::LANES;
    let mut sum = s.splat(0.0);
    for chunk in x[..body].chunks_exact(S::LANES) {
        sum = s.add(sum, s.load(chunk));
    }
    let mean = (s.sum(sum) + x[body..].iter().sum::<f32>()) / count;
    let middle = s.splat(mean);
    let mut squares = s.splat(0.0);
    for chunk in x[..body].chunks_exact(S::LANES) {
        let off = s.sub(s.load(chunk), middle);
        squares = s.fma(off, off, squares);
    }
    let tail: f32 = x[body..].iter().map(|v| (v - mean) * (v - mean)).sum();
    let scale = 1.0 / ((s.sum(squares) + tail) / count + eps).sqrt();
    let factor = s.splat(scale);
    let vectors = x[..body]
        .chunks_exact(S::LANES)
        .zip(weight[..body].chunks_exact(S::LANES));
    for ((x, w), out) in vectors.zip(out[..body].chunks_exact_mut(S::LANES)) {
        s.store(
            out,
            s.mul(s.mul(s.sub(s.load(x), middle), factor), s.load(w)),
        );
    }
    for i in body..x.len() {
        out[i] = (x[i] - mean) * scale * weight[i];
    }
}

/// 2 to the power of `x`, for `x <= 0`; relative error below 3e-7. The method is that of Cephes:
/// a power of two times a polynomial for the rest. What is smaller than 2^-100 becomes that: in
/// products with numbers below the smallest normal one, processors are very slow.
#[inline(always)]
pub(super) fn exp2<S: Simd>(s: S, x: S::F) -> S::F {
    let x = s.max(x, s.splat(-100.0));
    let shifted = s.add(x, s.splat(ROUND));
    let r = s.sub(x, s.sub(shifted, s.splat(ROUND)));
    let mut y = s.splat(1.535_336_2e-4);
    for c in [
        1.339_887_4e-3,
        9.618_437e-3,
        5.550_332_5e-2,
        2.402_264_8e-1,
        6.931_472e-1,
        1.0,
    ] {
        y = s.fma(y, r, s.splat(c));
    }
    s.mul(y, s.power(shifted))
}

/// GELU by the error function (Abramowitz and Stegun, 7.1.26).
#[inline(always)]
fn gelu_vector<S: Simd>(s: S, x: S::F) -> S::F {
    let size = s.abs(x);
    let z = s.mul(size, s.splat(std::f32::consts::FRAC_1_SQRT_2));
    let one = s.splat(1.0);
    let t = s.div(one, s.fma(z, s.splat(0.327_591_1), one));
    let mut poly = s.splat(1.061_405_4);
    for c in [-1.453_152, 1.421_413_7, -0.284_496_74, 0.254_829_6] {
        poly = s.fma(poly, t, s.splat(c));
    }
    let square = s.mul(s.mul(z, s.splat(-std::f32::consts::LOG2_E)), z);
    let erf = s.sub(one, s.mul(s.mul(poly, t), exp2(s, square)));
    s.mul(s.splat(0.5), s.fma(size, erf, x))
}

/// Gates every row of `2 * width` numbers into `width`: `gelu(first half) * second half`.
pub(crate) fn gate(isa: Isa, x: &[f32], width: usize, out: &mut [f32]) {
    struct Gated<'a> {
        x: &'a [f32],
        width: usize,
        out: &'a mut [f32],
    }
    impl Op for Gated<'_> {
        type Out = ();
        #[inline(always)]
        fn run<S: Simd>(self, s: S) {
            let rows = self.x.chunks_exact(2 * self.width);
            for (x, out) in rows.zip(self.out.chunks_exact_mut(self.width)) {
                let (value, gate) = x.split_at(self.width);
                let body = self.width / S::LANES * S::LANES;
                let vectors = value
                    .chunks_exact(S::LANES)
                    .zip(gate.chunks_exact(S::LANES));
                for ((value, gate), out) in vectors.zip(out.chunks_exact_mut(S::LANES)) {
                    let active = gelu_vector(s, s.load(value));
                    s.store(out, s.mul(active, s.load(gate)));
                }
                if body < self.width {
                    map(s, &value[body..], &mut out[body..]);
                    let rest = out[body..].iter_mut().zip(&gate[body..]);
                    rest.for_each(|(y, g)| *y *= g);
                }
            }
        }
    }
    isa.run(Gated { x, width, out });
}

/// GELU of every number of `x` into `out`.
pub(crate) fn gelu(isa: Isa, x: &[f32], out: &mut [f32]) {
    struct Gelu<'a> {
        x: &'a [f32],
        out: &'a mut [f32],
    }
    impl Op for Gelu<'_> {
        type Out = ();
        #[inline(always)]
        fn run<S: Simd>(self, s: S) {
            map(s, self.x, self.out);
        }
    }
    isa.run(Gelu { x, out });
}

#[inline(always)]
fn map<S: Simd>(s: S, x: &[f32], out: &mut [f32]) {
    let body = x.len() / S::LANES * S::LANES;
    for (x, out) in x[..body]
        .chunks_exact(S::LANES)
        .zip(out.chunks_exact_mut(S::LANES))
    {
        s.store(out, gelu_vector(s, s.load(x)));
    }
    if body < x.len() {
        let mut lanes = [0.0; 16];
        let rest = x.len() - body;
        lanes[..rest].copy_from_slice(&x[body..]);
        let y = gelu_vector(s, s.load(&lanes));
        s.store(&mut lanes, y);
        out[body..x.len()].copy_from_slice(&lanes[..rest]);
    }
}

/// Negative numbers become 0.
pub(crate) fn relu(isa: Isa, x: &mut [f32]) {
    struct Relu<'a>(&'a mut [f32]);
    impl Op for Relu<'_> {
        type Out = ();
        #[inline(always)]
        fn run<S: Simd>(self, _: S) {
            self.0
                .iter_mut()
                .for_each(|v| *v = if *v > 0.0 { *v } else { 0.0 });
        }
    }
    isa.run(Relu(x));
}

/// Cosines and sines of RoPE for every position used so far.
pub(crate) struct Turns {
    base: f64,
    half: usize,
    /// For each position the cosines of `half` channels, then their sines.
    table: Vec<f32>,
}

impl Turns {
    pub(crate) fn new(base: f64, half: usize) -> Self {
        Self {
            base,
            half,
            table: Vec::new(),
        }
    }

    /// Makes the table long enough for positions below `positions`.
    pub(crate) fn reach(&mut self, positions: usize) {
        let half = self.half;
        let speed = |c: usize| self.base.powf(-(c as f64) / half as f64);
        let speeds: Vec<f64> = (0..half).map(speed).collect();
        for position in self.table.len() / (2 * half)..positions {
            self.table
                .extend(speeds.iter().map(|s| (position as f64 * s).cos() as f32));
            self.table
                .extend(speeds.iter().map(|s| (position as f64 * s).sin() as f32));
        }
    }
}

/// RoPE: turns the two halves of every head in each row of `x`. Row `i`, `stride` numbers long,
/// stands at `positions[i]` and begins with `heads` heads; the rest of it stays as it is.
pub(crate) fn rotate(
    isa: Isa,
    x: &mut [f32],
    stride: usize,
    heads: usize,
    positions: &[u32],
    turns: &Turns,
) {
    struct Rotate<'a> {
        x: &'a mut [f32],
        stride: usize,
        heads: usize,
        positions: &'a [u32],
        turns: &'a Turns,
    }
    impl Op for Rotate<'_> {
        type Out = ();
        #[inline(always)]
        fn run<S: Simd>(self, _: S) {
            let half = self.turns.half;
            for (row, position) in self.x.chunks_exact_mut(self.stride).zip(self.positions) {
                let turn = &self.turns.table[*position as usize * 2 * half..][..2 * half];
                let (cos, sin) = turn.split_at(half);
                for head in row[..self.heads * 2 * half].chunks_exact_mut(2 * half) {
                    let (first, second) = head.split_at_mut(half);
                    for c in 0..half {
                        let (a, b) = (first[c], second[c]);
                        first[c] = a * cos[c] - b * sin[c];
                        second[c] = b * cos[c] + a * sin[c];
                    }
                }
            }
        }
    }
    isa.run(Rotate {
        x,
        stride,
        heads,
        positions,
        turns,
    });
}

/// Writes the rows of `x` (`stride` apart, `width` numbers each) as columns of `out`, whose rows
/// are `out_stride` apart.
pub(crate) fn transpose_into(
    isa: Isa,
    x: &[f32],
    stride: usize,
    width: usize,
    out: &mut [f32],
    out_stride: usize,
) {
    struct Transpose<'a> {
        x: &'a [f32],
        stride: usize,
        width: usize,
        out: &'a mut [f32],
        out_stride: usize,
    }
    impl Op for Transpose<'_> {
        type Out = ();
        #[inline(always)]
        fn run<S: Simd>(self, _: S) {
            let rows = self.x.len().div_ceil(self.stride);
            for block in (0..self.width).step_by(16) {
                let end = (block + 16).min(self.width);
                for row in 0..rows {
                    let from = &self.x[row * self.stride + block..row * self.stride + end];
                    for (c, v) in from.iter().enumerate() {
                        self.out[(block + c) * self.out_stride + row] = *v;
                    }
                }
            }
        }
    }
    isa.run(Transpose {
        x,
        stride,
        width,
        out,
        out_stride,
    });
}

/// Writes heads one after the other, each with one row of `head` numbers for every token; `x` holds
/// the `width` numbers of all heads of each token, `stride` apart.
pub(crate) fn split_heads(x: &[f32], stride: usize, width: usize, head: usize, out: &mut [f32]) {
    let tokens = x.len().div_ceil(stride);
    let rows = out
        .chunks_exact_mut(tokens * head)
        .zip((0..width).step_by(head));
    for (out, first) in rows {
        for (to, from) in out.chunks_exact_mut(head).zip(x.chunks(stride)) {
            to.copy_from_slice(&from[first..first + head]);
        }
    }
}

//! Activations as whole numbers.

use super::simd::Simd;
use super::{Isa, Op};

/// In how many bits activations are quantised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Activations {
    /// Up to 16: no loss that matters.
    Wide,
    /// 8: half the work on AVX-512, some loss.
    Narrow,
}

/// Rows of activations as whole numbers, each row with its scale.
#[derive(Default)]
pub(crate) struct Quantised {
    pub(super) wide: Vec<i16>,
    pub(super) narrow: Vec<u8>,
    pub(super) scale: Vec<f32>,
    pub(super) rows: usize,
    pub(super) stride: usize,
}

/// Largest number for activations that meet `columns` weights of up to 127 in sums of 32 bits.
pub(crate) fn limit(columns: usize, activations: Activations) -> f32 {
    match activations {
        Activations::Narrow => 127.0,
        Activations::Wide => (i32::MAX as usize / (127 * columns.max(1))).min(32_767) as f32,
    }
}

/// Numbers in a row after padding.
pub(super) fn stride(columns: usize, activations: Activations) -> usize {
    match activations {
        Activations::Wide => columns.next_multiple_of(2),
        Activations::Narrow => columns.next_multiple_of(4),
    }
}

impl Quantised {
    /// Quantises the rows of `x`, each with `columns` numbers.
    pub(crate) fn fill(&mut self, isa: Isa, x: &[f32], columns: usize, activations: Activations) {
        self.rows = x.len() / columns;
        self.stride = stride(columns, activations);
        let len = self.rows * self.stride;
        self.scale.resize(self.rows, 0.0);
        match activations {
            Activations::Wide => self.wide.resize(self.wide.len().max(len), 0),
            Activations::Narrow => self.narrow.resize(self.narrow.len().max(len), 0),
        }
        isa.run(Fill {
            to: self,
            x,
            columns,
            activations,
        });
    }
}

struct Fill<'a> {
    to: &'a mut Quantised,
    x: &'a [f32],
    columns: usize,
    activations: Activations,
}

impl Op for Fill<'_> {
    type Out = ();

    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let most = limit(self.columns, self.activations);
        for (row, x) in self.x.chunks_exact(self.columns).enumerate() {
            let largest = largest(s, x);
            // A row of zeros has no scale; any will do.
            let scale = if largest > 0.0 { largest / most } else { 1.0 };
            self.to.scale[row] = scale;
            let span = row * self.to.stride..(row + 1) * self.to.stride;
            match self.activations {
                Activations::Wide => wide(s, x, 1.0 / scale, &mut self.to.wide[span]),
                Activations::Narrow => narrow(s, x, 1.0 / scale, &mut self.to.narrow[span]),
            }
        }
    }
}

#[inline(always)]
fn largest<S: Simd>(s: S, x: &[f32]) -> f32 {
    let chunks = x.chunks_exact(S::LANES);
    let tail = chunks
        .remainder()
        .iter()
        .fold(0.0f32, |m, v| m.max(v.abs()));
    let mut most = s.splat(0.0);
    for chunk in chunks {
        most = s.max(s.abs(s.load(chunk)), most);
    }
    s.largest(most).max(tail)
}

#[inline(always)]
fn wide<S: Simd>(s: S, x: &[f32], inverse: f32, out: &mut [i16]) {
    let factor = s.splat(inverse);
    let (chunks, tail) = x.split_at(x.len() / S::LANES * S::LANES);
    let (body, rest) = out.split_at_mut(chunks.len());
    for (x, out) in chunks
        .chunks_exact(S::LANES)
        .zip(body.chunks_exact_mut(S::LANES))
    {
        s.store_i16(out, s.mul(s.load(x), factor));
    }
    rest.fill(0);
    for (x, out) in tail.iter().zip(rest) {
        *out = (x * inverse).round_ties_even() as i16;
    }
}

#[inline(always)]
fn narrow<S: Simd>(s: S, x: &[f32], inverse: f32, out: &mut [u8]) {
    let factor = s.splat(inverse);
    let (chunks, tail) = x.split_at(x.len() / S::LANES * S::LANES);
    let (body, rest) = out.split_at_mut(chunks.len());
    for (x, out) in chunks
        .chunks_exact(S::LANES)
        .zip(body.chunks_exact_mut(S::LANES))
    {
        s.store_u8(out, s.mul(s.load(x), factor));
    }
    rest.fill(128);
    for (x, out) in tail.iter().zip(rest) {
        *out = ((x * inverse).round_ties_even() + 128.0) as u8;
    }
}

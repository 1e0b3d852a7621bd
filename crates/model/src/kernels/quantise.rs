//! Activations as whole numbers.

use super::simd::Simd;
use super::{Isa, Op};

/// In how many bits activations are quantised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Activations {
    /// Up to 16, one scale a row: no loss that matters.
    Wide,
    /// 8, each row cut into groups of so many columns (a multiple of 4) with a scale and a zero of
    /// their own, so that one large number spoils its group alone: half the work with VNNI, two
    /// thirds on AVX2 (where there is no zero, and more loss), some loss, and the less of both the
    /// larger or smaller the groups.
    Narrow(usize),
}

/// Rows of activations as whole numbers, with their scales.
#[derive(Default)]
pub(crate) struct Quantised {
    pub(super) wide: Vec<i16>,
    pub(super) narrow: Vec<u8>,
    /// One for each row, or for each group of each row.
    pub(super) scale: Vec<f32>,
    /// For each group of each row its zero times its scale.
    pub(super) shift: Vec<f32>,
    /// For each group of each row, where activations are centred, the sum of its numbers times -128.
    pub(super) start: Vec<i32>,
    pub(super) rows: usize,
    pub(super) stride: usize,
}

/// Largest number for wide activations that meet `columns` weights of up to 127 in sums of 32 bits.
pub(crate) fn limit(columns: usize) -> f32 {
    (i32::MAX as usize / (127 * columns.max(1))).min(32_767) as f32
}

/// Scale and zero of a group between `low` (at most 0) and `high` (at least 0): both ends stay
/// within 8 bits however they round.
pub(super) fn group_scale(low: f32, high: f32) -> (f32, u8) {
    let scale = (high - low) / 254.0;
    if scale <= 0.0 {
        return (1.0, 0);
    }
    (scale, (-low * (1.0 / scale)).round_ties_even() as u8)
}

/// Scale of a group around 0 by the [`largest_pair`] of it: no two neighbours of one sign come to more
/// than 128 however they round.
pub(super) fn centred_scale(pair: f32) -> f32 {
    if pair > 0.0 { pair / 127.0 } else { 1.0 }
}

/// Columns of a group, and groups of a row.
pub(super) fn groups(columns: usize, group: usize) -> (usize, usize) {
    let group = group.min(columns.next_multiple_of(4));
    (group, columns.div_ceil(group))
}

/// Numbers in a row after padding.
pub(super) fn stride(columns: usize, activations: Activations) -> usize {
    match activations {
        Activations::Wide => columns.next_multiple_of(2),
        Activations::Narrow(_) => columns.next_multiple_of(4),
    }
}

impl Quantised {
    /// Quantises the rows of `x`, each with `columns` numbers.
    pub(crate) fn fill(&mut self, isa: Isa, x: &[f32], columns: usize, activations: Activations) {
        self.rows = x.len() / columns;
        self.stride = stride(columns, activations);
        let len = self.rows * self.stride;
        match activations {
            Activations::Wide => {
                self.scale.resize(self.rows, 0.0);
                self.wide.resize(self.wide.len().max(len), 0);
            }
            Activations::Narrow(group) => {
                let (_, groups) = groups(columns, group);
                self.scale.resize(self.rows * groups, 0.0);
                self.shift.resize(self.rows * groups, 0.0);
                self.start.resize(self.rows * groups, 0);
                self.narrow.resize(self.narrow.len().max(len), 0);
            }
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
        let stride = self.to.stride;
        let to = self.to;
        let rows = self.x.chunks_exact(self.columns).enumerate();
        match self.activations {
            Activations::Wide => {
                let most = limit(self.columns);
                for (row, x) in rows {
                    let largest = largest(s, x);
                    // A row of zeros has no scale; any will do.
                    let scale = if largest > 0.0 { largest / most } else { 1.0 };
                    to.scale[row] = scale;
                    let out = &mut to.wide[row * stride..(row + 1) * stride];
                    wide(s, x, 1.0 / scale, out);
                }
            }
            Activations::Narrow(group) => {
                let (columns, groups) = groups(self.columns, group);
                for (row, x) in rows {
                    let out = &mut to.narrow[row * stride..(row + 1) * stride];
                    let parts = x.chunks(columns).zip(out.chunks_mut(columns));
                    for (group, (x, out)) in parts.enumerate() {
                        let at = row * groups + group;
                        let (scale, zero) = if S::CENTRED {
                            (centred_scale(largest_pair(s, x)), 0)
                        } else {
                            let (low, high) = extent(s, x);
                            group_scale(low, high)
                        };
                        to.scale[at] = scale;
                        to.shift[at] = scale * f32::from(zero);
                        narrow(s, x, 1.0 / scale, zero, out);
                        if S::CENTRED {
                            let sum: i32 = out.iter().map(|a| i32::from(*a as i8)).sum();
                            to.start[at] = -128 * sum;
                        }
                    }
                }
            }
        }
    }
}

/// The smallest number and the largest, 0 among them.
#[inline(always)]
fn extent<S: Simd>(s: S, x: &[f32]) -> (f32, f32) {
    let none = s.splat(0.0);
    let (mut high, mut low) = (none, none);
    let chunks = x.chunks_exact(S::LANES);
    let tail = chunks.remainder();
    for chunk in chunks {
        let x = s.load(chunk);
        high = s.max(x, high);
        low = s.max(s.sub(none, x), low);
    }
    let tail_high = tail.iter().fold(0.0f32, |m, v| m.max(*v));
    let tail_low = tail.iter().fold(0.0f32, |m, v| m.max(-v));
    (
        -s.largest(low).max(tail_low),
        s.largest(high).max(tail_high),
    )
}

/// The largest sum of two neighbours without regard to those below 0, or to those above it.
#[inline(always)]
fn largest_pair<S: Simd>(s: S, x: &[f32]) -> f32 {
    let none = s.splat(0.0);
    let mut most = none;
    let chunks = x.chunks_exact(S::LANES);
    let tail = chunks.remainder();
    for chunk in chunks {
        let x = s.load(chunk);
        let above = s.neighbours(s.max(x, none));
        let below = s.neighbours(s.max(s.sub(none, x), none));
        most = s.max(s.max(above, below), most);
    }
    tail.chunks(2).fold(s.largest(most), |most, pair| {
        let above: f32 = pair.iter().map(|x| x.max(0.0)).sum();
        let below: f32 = pair.iter().map(|x| (-x).max(0.0)).sum();
        most.max(above).max(below)
    })
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
fn narrow<S: Simd>(s: S, x: &[f32], inverse: f32, zero: u8, out: &mut [u8]) {
    let factor = s.splat(inverse);
    let (chunks, tail) = x.split_at(x.len() / S::LANES * S::LANES);
    let (body, rest) = out.split_at_mut(chunks.len());
    for (x, out) in chunks
        .chunks_exact(S::LANES)
        .zip(body.chunks_exact_mut(S::LANES))
    {
        s.store_u8(out, s.mul(s.load(x), factor), zero);
    }
    // What padding meets are weights of 0.
    rest.fill(0);
    for (x, out) in tail.iter().zip(rest) {
        *out = ((x * inverse).round_ties_even() as i32 + i32::from(zero)) as u8;
    }
}

//! Softmax attention of a few queries over runs of keys.

use super::matmul::{product, with_rows};
use super::ops::exp;
use super::simd::{PANEL, Simd};
use super::{Isa, Op};

/// Floats that must follow the last used one in keys and values, for whole vectors to be read.
pub(crate) const SLACK: usize = 32;

/// A run of tokens that queries look at.
pub(crate) struct Span<'a> {
    /// One row for each channel of each head, one column for each token; then [`SLACK`].
    pub(crate) keys: &'a [f32],
    pub(crate) key_stride: usize,
    /// One row for each token, one column for each channel of each head; then [`SLACK`].
    pub(crate) values: &'a [f32],
    pub(crate) value_stride: usize,
    /// First token of the run, in `keys` and `values`.
    pub(crate) start: usize,
    pub(crate) len: usize,
    /// Position of the first token; the others follow one by one.
    pub(crate) position: u32,
}

/// Queries that all see the same runs, up to their windows.
pub(crate) struct Attend<'a> {
    /// One row for each query, with the channels of all heads.
    pub(crate) queries: &'a [f32],
    pub(crate) positions: &'a [u32],
    pub(crate) heads: usize,
    /// Channels of a head.
    pub(crate) width: usize,
    /// How far a query sees to either side.
    pub(crate) window: Option<u32>,
    pub(crate) spans: &'a [Span<'a>],
}

/// Attends, and writes one row for each query. `scratch` is working memory.
pub(crate) fn attend(isa: Isa, a: &Attend, scratch: &mut Vec<f32>, out: &mut [f32]) {
    let channels = a.heads * a.width;
    assert_eq!(a.queries.len(), a.positions.len() * channels);
    assert_eq!(out.len(), a.queries.len());
    for span in a.spans {
        let end = span.start + span.len;
        assert!(span.keys.len() >= (channels - 1) * span.key_stride + end + SLACK);
        assert!(end == 0 || span.values.len() >= (end - 1) * span.value_stride + channels + SLACK);
    }
    let keys: usize = a.spans.iter().map(|span| span.len).sum();
    let stride = keys + SLACK;
    if scratch.len() < 6 * stride {
        scratch.resize(6 * stride, 0.0);
    }
    isa.run(Run {
        a,
        scores: scratch,
        stride,
        out,
    });
}

struct Run<'a> {
    a: &'a Attend<'a>,
    scores: &'a mut [f32],
    stride: usize,
    out: &'a mut [f32],
}

impl Op for Run<'_> {
    type Out = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, s: S) {
        for head in 0..self.a.heads {
            let mut first = 0;
            while first < self.a.positions.len() {
                let rows = (self.a.positions.len() - first).min(S::ROWS);
                with_rows!(rows, block(s, &mut self, head, first));
                first += rows;
            }
        }
    }
}

/// `M` queries of one head.
#[inline(always)]
fn block<S: Simd, const M: usize>(s: S, run: &mut Run, head: usize, first: usize) {
    let positions = &run.a.positions[first..first + M];
    let reach = run.a.window.map(|w| {
        let (low, high) = bounds(positions);
        (low.saturating_sub(w), high + w)
    });
    let mut total = 0;
    for span in run.a.spans {
        let (from, to) = clip(span, reach);
        if from == to {
            continue;
        }
        scores::<S, M>(s, run, head, first, span, from..to, total);
        if let Some(w) = run.a.window {
            for (r, position) in positions.iter().enumerate() {
                let row = &mut run.scores[r * run.stride + total..][..to - from];
                let (a, b) = clip(span, Some((position.saturating_sub(w), position + w)));
                let (a, b) = (a.clamp(from, to) - from, b.clamp(from, to) - from);
                row[..a].fill(f32::NEG_INFINITY);
                row[b.max(a)..].fill(f32::NEG_INFINITY);
            }
        }
        total += to - from;
    }
    let scale = 1.0 / (run.a.width as f32).sqrt();
    let mut inverse = [0.0; M];
    for (r, inverse) in inverse.iter_mut().enumerate() {
        let row = &mut run.scores[r * run.stride..][..total.next_multiple_of(S::LANES)];
        row[total..].fill(f32::NEG_INFINITY);
        *inverse = 1.0 / softmax(s, row, scale);
    }
    values::<S, M>(s, run, head, first, reach, &inverse);
}

#[inline(always)]
fn bounds(positions: &[u32]) -> (u32, u32) {
    positions
        .iter()
        .fold((u32::MAX, 0), |(low, high), p| (low.min(*p), high.max(*p)))
}

/// The part of a run, counted from its start, between two positions (inclusive).
#[inline(always)]
fn clip(span: &Span, reach: Option<(u32, u32)>) -> (usize, usize) {
    let Some((low, high)) = reach else {
        return (0, span.len);
    };
    let from = (low.saturating_sub(span.position) as usize).min(span.len);
    let to = ((high + 1).saturating_sub(span.position) as usize).min(span.len);
    (from, to.max(from))
}

/// Dot products of the queries with a part of a run, to column `column` of the scores.
#[inline(always)]
fn scores<S: Simd, const M: usize>(
    s: S,
    run: &mut Run,
    head: usize,
    first: usize,
    span: &Span,
    part: std::ops::Range<usize>,
    column: usize,
) {
    let channels = run.a.heads * run.a.width;
    let queries = &run.a.queries[first * channels + head * run.a.width..];
    let keys = &span.keys[head * run.a.width * span.key_stride + span.start + part.start..];
    for at in (0..part.len()).step_by(2 * S::LANES) {
        let mut tile = [[0.0f32; PANEL]; M];
        // SAFETY: `M` queries lie `channels` apart; `attend` checked that keys go on for `SLACK`
        // floats past the last token, and two vectors are no longer.
        unsafe {
            let (q, k) = (queries.as_ptr(), keys[at..].as_ptr());
            product::<S, M, 2>(s, q, channels, k, span.key_stride, run.a.width, &mut tile);
        }
        for (r, tile) in tile.iter().enumerate() {
            let to = &mut run.scores[r * run.stride + column + at..][..2 * S::LANES];
            s.store(to, s.load(tile));
            s.store(&mut to[S::LANES..], s.load(&tile[S::LANES..]));
        }
    }
}

/// Turns scores into weights that are yet to be divided by the sum, which is returned.
#[inline(always)]
fn softmax<S: Simd>(s: S, row: &mut [f32], scale: f32) -> f32 {
    let mut most = s.splat(f32::NEG_INFINITY);
    for chunk in row.chunks_exact(S::LANES) {
        most = s.max(s.load(chunk), most);
    }
    let (factor, shift) = (s.splat(scale), s.splat(-s.largest(most) * scale));
    let mut sum = s.splat(0.0);
    for chunk in row.chunks_exact_mut(S::LANES) {
        let p = exp(s, s.fma(s.load(chunk), factor, shift));
        sum = s.add(sum, p);
        s.store(chunk, p);
    }
    s.sum(sum)
}

/// Sums the values of all runs by the weights in the scores.
#[inline(always)]
fn values<S: Simd, const M: usize>(
    s: S,
    run: &mut Run,
    head: usize,
    first: usize,
    reach: Option<(u32, u32)>,
    inverse: &[f32; M],
) {
    let width = run.a.width;
    let channels = run.a.heads * width;
    for at in (0..width).step_by(2 * S::LANES) {
        let mut all = [[0.0f32; 2 * 16]; M];
        let mut column = 0;
        for span in run.a.spans {
            let (from, to) = clip(span, reach);
            if from == to {
                continue;
            }
            let mut tile = [[0.0f32; PANEL]; M];
            let start = (span.start + from) * span.value_stride + head * width + at;
            // SAFETY: rows of scores lie `stride` apart and hold these columns; `attend` checked
            // that values go on for `SLACK` floats past the last channel.
            unsafe {
                let p = run.scores[column..].as_ptr();
                let v = span.values[start..].as_ptr();
                product::<S, M, 2>(s, p, run.stride, v, span.value_stride, to - from, &mut tile);
            }
            for (all, tile) in all.iter_mut().zip(&tile) {
                for v in 0..2 {
                    let to = &mut all[v * S::LANES..];
                    let sum = s.add(s.load(to), s.load(&tile[v * S::LANES..]));
                    s.store(to, sum);
                }
            }
            column += to - from;
        }
        let real = (2 * S::LANES).min(width - at);
        for (r, all) in all.iter().enumerate() {
            let start = (first + r) * channels + head * width + at;
            let out = &mut run.out[start..start + real];
            out.iter_mut()
                .zip(all)
                .for_each(|(o, v)| *o = v * inverse[r]);
        }
    }
}

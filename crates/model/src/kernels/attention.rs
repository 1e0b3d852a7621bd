//! Softmax attention of a few queries over runs of keys.

use std::ops::Range;

use super::buffer::Buffer;
use super::matmul::{product, share, with_rows};
use super::ops::exp2;
use super::simd::{Simd, for_rows};
use super::{Isa, Op};

/// Floats that must follow the last used one in keys and values, for whole vectors to be read.
pub(crate) const SLACK: usize = 32;

/// A run of tokens that queries look at.
pub(crate) struct Span<'a> {
    /// One row for each channel of each head, one column for each token; then [`SLACK`].
    pub(crate) keys: &'a [f32],
    pub(crate) key_stride: usize,
    /// For each head one row for each token, one column for each channel; then [`SLACK`].
    pub(crate) values: &'a [f32],
    /// From head to head.
    pub(crate) value_head: usize,
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

/// Blocks of queries that share a look at the keys: these then need not come from beyond the
/// first-level cache for each.
const BLOCKS: usize = 2;
/// Queries in all blocks at most.
const TOGETHER: usize = 8 * BLOCKS;

/// Attends, and writes one row for each query. `scratch` is working memory.
pub(crate) fn attend(isa: Isa, a: &Attend, scratch: &mut Buffer, out: &mut [f32]) {
    let channels = a.heads * a.width;
    assert_eq!(a.queries.len(), a.positions.len() * channels);
    assert_eq!(out.len(), a.queries.len());
    for span in a.spans {
        let end = span.start + span.len;
        assert!(span.keys.len() >= (channels - 1) * span.key_stride + end + SLACK);
        let last = (a.heads - 1) * span.value_head + end.saturating_sub(1) * span.value_stride;
        assert!(end == 0 || span.values.len() >= last + a.width + SLACK);
    }
    // Each run begins at a whole vector.
    let keys = a.spans.iter().map(|span| span.len.next_multiple_of(16));
    let stride = keys.sum::<usize>() + SLACK;
    isa.run(Run {
        a,
        scores: scratch.room(TOGETHER * stride),
        stride,
        out,
    });
}

struct Run<'a> {
    a: &'a Attend<'a>,
    /// One row for each query of a group.
    scores: &'a mut [f32],
    stride: usize,
    out: &'a mut [f32],
}

impl Op for Run<'_> {
    type Out = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, s: S) {
        let all = self.a.positions.len();
        for head in 0..self.a.heads {
            let mut first = 0;
            while first < all {
                let rows = share(all - first, BLOCKS * S::QUERIES);
                group(s, &mut self, head, first..first + rows);
                first += rows;
            }
        }
    }
}

/// Calls a function for each block of a group of queries: with its number of rows, and the row of
/// the group that it begins at.
macro_rules! blocks {
    ($simd:ident, $queries:ident, |$rows:ident, $from:ident| $call:expr) => {
        let mut $from = 0;
        while $from < $queries.len() {
            let $rows = share($queries.len() - $from, $simd::QUERIES);
            $call;
            $from += $rows;
        }
    };
}

/// A few blocks of queries of one head.
#[inline(always)]
fn group<S: Simd>(s: S, run: &mut Run, head: usize, queries: Range<usize>) {
    let positions = &run.a.positions[queries.clone()];
    let reach = run.a.window.map(|w| {
        let (low, high) = bounds(positions);
        (low.saturating_sub(w), high + w)
    });
    let mut total = 0;
    for span in run.a.spans {
        let seen = clip(span, reach);
        for at in seen.clone().step_by(2 * S::LANES) {
            let column = total + at - seen.start;
            blocks!(S, queries, |rows, from| with_rows!(
                rows,
                S::QUERIES,
                scores(
                    s,
                    run,
                    head,
                    (queries.start + from, from),
                    span,
                    (at, column)
                )
            ));
        }
        if let Some(w) = run.a.window {
            for (r, position) in positions.iter().enumerate() {
                let row = &mut run.scores[r * run.stride + total..][..seen.len()];
                let own = clip(span, Some((position.saturating_sub(w), position + w)));
                let end = own.end.clamp(seen.start, seen.end) - seen.start;
                let start = own.start.clamp(seen.start, seen.end) - seen.start;
                row[..start].fill(f32::NEG_INFINITY);
                row[end.max(start)..].fill(f32::NEG_INFINITY);
            }
        }
        let end = total + seen.len();
        total = end.next_multiple_of(S::LANES);
        for row in run.scores.chunks_exact_mut(run.stride).take(queries.len()) {
            row[end..total].fill(f32::NEG_INFINITY);
        }
    }
    let scale = std::f32::consts::LOG2_E / (run.a.width as f32).sqrt();
    let mut inverse = [0.0; TOGETHER];
    for (r, inverse) in inverse[..queries.len()].iter_mut().enumerate() {
        let row = &mut run.scores[r * run.stride..][..total];
        *inverse = 1.0 / softmax(s, row, scale);
    }
    for channel in (0..run.a.width).step_by(2 * S::LANES) {
        blocks!(S, queries, |rows, from| with_rows!(
            rows,
            S::QUERIES,
            values(
                s,
                run,
                head,
                (queries.start + from, from),
                channel,
                reach,
                &inverse
            )
        ));
    }
}

#[inline(always)]
fn bounds(positions: &[u32]) -> (u32, u32) {
    positions
        .iter()
        .fold((u32::MAX, 0), |(low, high), p| (low.min(*p), high.max(*p)))
}

/// The part of a run, counted from its start, between two positions (inclusive).
#[inline(always)]
fn clip(span: &Span, reach: Option<(u32, u32)>) -> Range<usize> {
    let Some((low, high)) = reach else {
        return 0..span.len;
    };
    let from = (low.saturating_sub(span.position) as usize).min(span.len);
    let to = ((high + 1).saturating_sub(span.position) as usize).min(span.len);
    from..to.max(from)
}

/// Dot products of the queries with two vectors of keys from `at` in a run, to column `column` of
/// the scores.
#[inline(always)]
fn scores<S: Simd, const M: usize>(
    s: S,
    run: &mut Run,
    head: usize,
    (first, row): (usize, usize),
    span: &Span,
    (at, column): (usize, usize),
) {
    let channels = run.a.heads * run.a.width;
    let queries = &run.a.queries[first * channels + head * run.a.width..];
    let keys = &span.keys[head * run.a.width * span.key_stride + span.start + at..];
    // SAFETY: `M` queries lie `channels` apart; `attend` checked that keys go on for `SLACK`
    // floats past the last token, and two vectors are no longer.
    let tile = unsafe {
        let (q, k) = (queries.as_ptr(), keys.as_ptr());
        product::<S, M, 2>(s, q, channels, k, span.key_stride, run.a.width)
    };
    let to = &mut run.scores[row * run.stride..][..M * run.stride];
    for_rows!(M, |ROW| {
        let to = &mut to[ROW * run.stride + column..][..2 * S::LANES];
        s.store(to, tile[ROW][0]);
        s.store(&mut to[S::LANES..], tile[ROW][1]);
    });
}

/// Turns scores into weights that are yet to be divided by the sum, which is returned. Scores are
/// multiplied by `scale` to become exponents of 2.
#[inline(always)]
fn softmax<S: Simd>(s: S, row: &mut [f32], scale: f32) -> f32 {
    // Side by side, as each step waits for the one before.
    let mut most = [s.splat(f32::NEG_INFINITY); 4];
    let four = row.chunks_exact(4 * S::LANES);
    for chunk in four.remainder().chunks_exact(S::LANES) {
        most[0] = s.max(s.load(chunk), most[0]);
    }
    for chunk in four {
        for (v, most) in most.iter_mut().enumerate() {
            *most = s.max(s.load(&chunk[v * S::LANES..]), *most);
        }
    }
    let most = s.max(s.max(most[0], most[1]), s.max(most[2], most[3]));
    let (factor, shift) = (s.splat(scale), s.splat(-s.largest(most) * scale));
    let mut sum = s.splat(0.0);
    for chunk in row.chunks_exact_mut(S::LANES) {
        let p = exp2(s, s.fma(s.load(chunk), factor, shift));
        sum = s.add(sum, p);
        s.store(chunk, p);
    }
    s.sum(sum)
}

/// Sums two vectors of channels of the values of all runs by the weights in the scores.
#[inline(always)]
fn values<S: Simd, const M: usize>(
    s: S,
    run: &mut Run,
    head: usize,
    (first, row): (usize, usize),
    channel: usize,
    reach: Option<(u32, u32)>,
    inverse: &[f32; TOGETHER],
) {
    let mut all = [[s.splat(0.0); 2]; M];
    let mut column = 0;
    for span in run.a.spans {
        let seen = clip(span, reach);
        let from = (span.start + seen.start) * span.value_stride;
        let weights = &run.scores[row * run.stride..][..M * run.stride];
        // SAFETY: rows of scores lie `stride` apart and hold these columns; `attend` checked that
        // values go on for `SLACK` floats past the last channel.
        let tile = unsafe {
            let p = weights[column..].as_ptr();
            let v = span.values[head * span.value_head + from + channel..].as_ptr();
            product::<S, M, 2>(s, p, run.stride, v, span.value_stride, seen.len())
        };
        for_rows!(M, |ROW| {
            all[ROW][0] = s.add(all[ROW][0], tile[ROW][0]);
            all[ROW][1] = s.add(all[ROW][1], tile[ROW][1]);
        });
        column = (column + seen.len()).next_multiple_of(S::LANES);
    }
    let (width, channels) = (run.a.width, run.a.heads * run.a.width);
    let real = (2 * S::LANES).min(width - channel);
    for_rows!(M, |ROW| {
        let start = (first + ROW) * channels + head * width + channel;
        let out = &mut run.out[start..start + real];
        let factor = s.splat(inverse[row + ROW]);
        let sums = [s.mul(all[ROW][0], factor), s.mul(all[ROW][1], factor)];
        if real == 2 * S::LANES {
            s.store(out, sums[0]);
            s.store(&mut out[S::LANES..], sums[1]);
        } else {
            let mut lanes = [0.0; 32];
            s.store(&mut lanes, sums[0]);
            s.store(&mut lanes[S::LANES..], sums[1]);
            out.copy_from_slice(&lanes[..real]);
        }
    });
}

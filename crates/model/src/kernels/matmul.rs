//! Products of activations with packed weights.

use std::sync::Arc;

use memmap2::{Mmap, MmapMut};

use super::quantise::{self, Activations, Quantised};
use super::simd::{Group, MOST, PANEL, Simd, for_rows};
use super::{Isa, Op};
use crate::helpers::Helpers;
use crate::weights::Matrix;

/// How weights are held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// Floats.
    Float,
    /// Whole numbers of 8 bits, one scale for each output.
    Whole(Activations),
}

/// Whether a product replaces what is there or is added to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Write {
    Replace,
    Add,
}

/// Rows for each thread, and products of two numbers, below which a second thread costs more than it
/// saves: it has to be woken each time.
const ROWS_EACH: usize = 32;
const PRODUCTS_EACH: usize = 1 << 25;

/// A linear layer, its weights in panels of columns as the inner loops read them.
pub(crate) struct Packed {
    /// They share the rows of a product.
    helpers: Arc<Helpers>,
    outputs: usize,
    columns: usize,
    /// Padded to whole panels.
    bias: Vec<f32>,
    weights: Weights,
}

enum Weights {
    Float(Vec<f32>),
    Whole {
        bytes: Mmap,
        scale: Vec<f32>,
        /// Narrow: for each panel and each group of columns, the sum of each output's weights.
        sums: Vec<f32>,
        activations: Activations,
    },
}

impl Packed {
    /// Packs the given rows of a matrix.
    pub(crate) fn new(
        isa: Isa,
        matrix: &Matrix,
        rows: std::ops::Range<usize>,
        bias: Option<&[f32]>,
        format: Format,
    ) -> std::io::Result<Self> {
        let (outputs, columns) = (rows.len(), matrix.columns);
        let padded = outputs.next_multiple_of(isa.panel());
        let mut full_bias = vec![0.0; padded];
        if let Some(bias) = bias {
            full_bias[..outputs].copy_from_slice(&bias[rows.clone()]);
        }
        let weights = match format {
            Format::Float => pack_float(isa, matrix, rows),
            Format::Whole(activations) => pack_whole(isa, matrix, rows, activations)?,
        };
        Ok(Self {
            helpers: Arc::default(),
            outputs,
            columns,
            bias: full_bias,
            weights,
        })
    }

    /// Lets these threads have a share in a product that is large enough.
    pub(crate) fn with_helpers(self, helpers: Arc<Helpers>) -> Self {
        Self { helpers, ..self }
    }

    /// Numbers in a row of the result.
    pub(crate) fn outputs(&self) -> usize {
        self.outputs
    }

    /// How activations must be quantised for [`Self::apply`], if at all.
    pub(crate) fn activations(&self) -> Option<Activations> {
        match &self.weights {
            Weights::Float(_) => None,
            Weights::Whole { activations, .. } => Some(*activations),
        }
    }

    /// Multiplies every row of `x` with the matrix. For whole numbers `quantised` holds the same
    /// rows as [`Quantised::fill`] made them; else it is not looked at.
    pub(crate) fn apply(
        &self,
        isa: Isa,
        x: &[f32],
        quantised: &Quantised,
        out: &mut [f32],
        write: Write,
    ) {
        let rows = out.len() / self.outputs;
        assert_eq!(out.len(), rows * self.outputs);
        match &self.weights {
            Weights::Float(_) => assert_eq!(x.len(), rows * self.columns),
            Weights::Whole { activations, .. } => {
                assert_eq!(quantised.rows, rows);
                assert_eq!(
                    quantised.stride,
                    quantise::stride(self.columns, *activations)
                );
            }
        }
        let products = rows * self.outputs * self.columns;
        let worth = (rows / ROWS_EACH).min(products / PRODUCTS_EACH);
        let threads = worth.clamp(1, self.helpers.count() + 1);
        let each = rows.div_ceil(threads).next_multiple_of(ROWS_EACH);
        let part = |(number, out)| Apply {
            packed: self,
            x,
            quantised,
            out,
            write,
            first: number * each,
        };
        let parts = out.chunks_mut(each * self.outputs).enumerate().map(part);
        if threads == 1 {
            return parts.for_each(|part| isa.run(part));
        }
        self.helpers.share(parts, |part| isa.run(part));
    }
}

fn pack_float(isa: Isa, matrix: &Matrix, rows: std::ops::Range<usize>) -> Weights {
    let (panel, columns) = (isa.panel(), matrix.columns);
    let mut panels = vec![0.0; rows.len().next_multiple_of(panel) * columns];
    let mut values = vec![0.0; columns];
    for (n, row) in rows.enumerate() {
        matrix.row(row, &mut values);
        let start = n / panel * panel * columns + n % panel;
        for (k, value) in values.iter().enumerate() {
            panels[start + k * panel] = *value;
        }
    }
    Weights::Float(panels)
}

fn pack_whole(
    isa: Isa,
    matrix: &Matrix,
    rows: std::ops::Range<usize>,
    activations: Activations,
) -> std::io::Result<Weights> {
    let panel = isa.panel();
    let columns = quantise::stride(matrix.columns, activations);
    let group = match activations {
        Activations::Wide => isa.together().min(columns),
        Activations::Narrow(_) => 4,
    };
    let padded = rows.len().next_multiple_of(panel);
    let mut bytes = MmapMut::map_anon((padded * columns).max(1))?;
    let mut scale = vec![0.0; padded];
    let (of_group, groups) = match activations {
        Activations::Wide => (1, 0),
        Activations::Narrow(group) => quantise::groups(matrix.columns, group),
    };
    let centred = matches!(activations, Activations::Narrow(_)) && isa.centres();
    let mut sums = vec![0.0; padded * groups];
    let mut numbers = vec![0u8; columns];
    let mut values = vec![0.0; matrix.columns];
    for (n, row) in rows.enumerate() {
        numbers.fill(0);
        scale[n] = whole_row(matrix, row, &mut values, &mut numbers[..matrix.columns]);
        for (g, numbers) in numbers.chunks(of_group).take(groups).enumerate() {
            let sum: i32 = numbers.iter().map(|b| i32::from(*b as i8)).sum();
            sums[(n / panel * groups + g) * panel + n % panel] = sum as f32;
        }
        if centred {
            numbers.iter_mut().for_each(|number| *number ^= 0x80);
        }
        let start = n / panel * panel * columns + n % panel * group;
        for (k, numbers) in numbers.chunks_exact(group).enumerate() {
            bytes[start + k * panel * group..][..group].copy_from_slice(numbers);
        }
    }
    let bytes = bytes.make_read_only()?;
    // Without permission to lock, the weights may be paged out as any memory may.
    #[cfg(unix)]
    let _ = bytes.lock();
    Ok(Weights::Whole {
        bytes,
        scale,
        sums,
        activations,
    })
}

/// The numbers of one row, as stored or rounded here. Returns the scale.
fn whole_row(matrix: &Matrix, row: usize, values: &mut [f32], numbers: &mut [u8]) -> f32 {
    if let Some((stored, scale)) = matrix.eight_bit_row(row) {
        numbers.copy_from_slice(stored);
        return scale;
    }
    matrix.row(row, values);
    let largest = values.iter().fold(0.0f32, |m, v| m.max(v.abs()));
    let scale = if largest > 0.0 { largest / 127.0 } else { 1.0 };
    for (number, value) in numbers.iter_mut().zip(values) {
        *number = (*value / scale).round_ties_even() as i8 as u8;
    }
    scale
}

struct Apply<'a> {
    packed: &'a Packed,
    x: &'a [f32],
    quantised: &'a Quantised,
    out: &'a mut [f32],
    write: Write,
    /// The row of the input that is the first of `out`.
    first: usize,
}

/// How many of so many rows to take next, at most `most`: parts of about the same size, as small
/// ones are slow.
#[inline(always)]
pub(super) fn share(rows: usize, most: usize) -> usize {
    rows.div_ceil(rows.div_ceil(most))
}

/// Calls a function with the number of rows as a constant. More than `$most` never come: code for
/// them would only take registers and room.
macro_rules! with_rows {
    ($rows:expr, $most:expr, $call:ident($($arg:expr),*)) => {
        match $rows {
            1 => $call::<S, 1>($($arg),*),
            2 => $call::<S, 2>($($arg),*),
            3 => $call::<S, 3>($($arg),*),
            4 => $call::<S, 4>($($arg),*),
            5 if $most > 4 => $call::<S, 5>($($arg),*),
            6 if $most > 5 => $call::<S, 6>($($arg),*),
            7 if $most > 6 => $call::<S, 7>($($arg),*),
            8 if $most > 7 => $call::<S, 8>($($arg),*),
            rows => unreachable!("{rows} rows"),
        }
    };
}
pub(super) use with_rows;

impl Op for Apply<'_> {
    type Out = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, s: S) {
        let width = S::LANES * S::VECTORS;
        let all = self.out.len() / self.packed.outputs;
        for panel in 0..self.packed.outputs.div_ceil(width) {
            let mut row = 0;
            while row < all {
                let rows = share(all - row, S::ROWS);
                with_rows!(rows, S::ROWS, block(s, &mut self, panel, row));
                row += rows;
            }
        }
    }
}

/// `M` rows times one panel. A panel of usual width stays in the first-level cache for all rows.
#[inline(always)]
fn block<S: Simd, const M: usize>(s: S, a: &mut Apply, panel: usize, row: usize) {
    let width = S::LANES * S::VECTORS;
    let columns = a.packed.columns;
    let first = panel * width;
    let from_row = a.first + row;
    match &a.packed.weights {
        Weights::Float(panels) => {
            let x = &a.x[from_row * columns..(from_row + M) * columns];
            let w = &panels[first * columns..(first + width) * columns];
            let (x, w) = (x.as_ptr(), w.as_ptr());
            let mut tile = [[s.splat(0.0); MOST]; M];
            // SAFETY: `x` holds `M` rows of `columns`, `w` as many rows of `width`.
            unsafe {
                match S::VECTORS {
                    4 => tile = product::<S, M, 4>(s, x, columns, w, width, columns),
                    _ => {
                        let half = product::<S, M, 2>(s, x, columns, w, width, columns);
                        for_rows!(M, |ROW| {
                            tile[ROW][..2].copy_from_slice(&half[ROW]);
                        });
                    }
                }
            }
            finish(s, &tile, a, first, row, [1.0; M], None);
        }
        Weights::Whole {
            bytes,
            scale,
            sums,
            activations,
        } => {
            let stride = a.quantised.stride;
            let w = &bytes[first * stride..(first + width) * stride];
            let w = w.as_ptr().cast::<i8>();
            let span = from_row * stride..(from_row + M) * stride;
            let scale = Some(&scale[first..first + width]);
            match activations {
                Activations::Wide => {
                    // SAFETY: both slices are cut: to `M` rows, or `width` columns, of `stride`.
                    let tile = unsafe {
                        let x = a.quantised.wide[span].as_ptr();
                        s.dot_wide::<M>(x, stride, w, stride / 2)
                    };
                    let scales = std::array::from_fn(|r| a.quantised.scale[from_row + r]);
                    finish(s, &tile, a, first, row, scales, scale);
                }
                Activations::Narrow(group) => {
                    let (size, groups) = quantise::groups(columns, *group);
                    let (x, of_group) = (a.quantised.narrow[span].as_ptr(), |all: &[f32], g| {
                        std::array::from_fn(|r| all[(from_row + r) * groups + g])
                    });
                    let mut tile = [[s.splat(0.0); MOST]; M];
                    for g in 0..groups {
                        let from = g * size;
                        let quads = size.min(stride - from) / 4;
                        let at = (panel * groups + g) * width;
                        let group = Group {
                            scale: of_group(&a.quantised.scale, g),
                            shift: of_group(&a.quantised.shift, g),
                            start: std::array::from_fn(|r| {
                                a.quantised.start[(from_row + r) * groups + g]
                            }),
                            sums: &sums[at..at + width],
                        };
                        // SAFETY: as above; a group lies within the rows and columns.
                        unsafe {
                            let (x, w) = (x.add(from), w.add(from * width));
                            s.dot_narrow::<M>(x, stride, w, quads, &group, &mut tile);
                        }
                    }
                    // The groups have been scaled.
                    finish(s, &tile, a, first, row, [1.0; M], scale);
                }
            }
        }
    }
}

/// Scales a tile, adds the bias, and puts it where it belongs.
#[inline(always)]
fn finish<S: Simd, const M: usize>(
    s: S,
    tile: &[[S::F; MOST]; M],
    a: &mut Apply,
    first: usize,
    row: usize,
    row_scale: [f32; M],
    scale: Option<&[f32]>,
) {
    let width = S::LANES * S::VECTORS;
    let outputs = a.packed.outputs;
    let real = width.min(outputs - first);
    let bias = &a.packed.bias[first..first + width];
    let mut done = [0.0f32; PANEL];
    for_rows!(M, |ROW| {
        let start = (row + ROW) * outputs + first;
        let out = &mut a.out[start..start + real];
        let factor = s.splat(row_scale[ROW]);
        for (v, tile) in tile[ROW][..S::VECTORS].iter().enumerate() {
            let at = v * S::LANES;
            let factor = match scale {
                Some(scale) => s.mul(factor, s.load(&scale[at..])),
                None => factor,
            };
            let mut y = s.fma(*tile, factor, s.load(&bias[at..]));
            if real == width {
                if a.write == Write::Add {
                    y = s.add(y, s.load(&out[at..]));
                }
                s.store(&mut out[at..], y);
            } else {
                s.store(&mut done[at..], y);
            }
        }
        if real < width {
            match a.write {
                Write::Replace => out.copy_from_slice(&done[..real]),
                Write::Add => out.iter_mut().zip(&done).for_each(|(o, d)| *o += d),
            }
        }
    });
}

/// `M` rows of `a` times `depth` rows of `b`, `V` vectors wide.
///
/// # Safety
/// `a` holds `M` rows of `depth` floats, `a_stride` apart; `b` holds `depth` rows of `V` vectors,
/// `b_stride` apart.
#[inline(always)]
pub(super) unsafe fn product<S: Simd, const M: usize, const V: usize>(
    s: S,
    a: *const f32,
    a_stride: usize,
    b: *const f32,
    b_stride: usize,
    depth: usize,
) -> [[S::F; V]; M] {
    let mut sums = [[s.splat(0.0); V]; M];
    for k in 0..depth {
        // SAFETY: the caller promises row `k` of `b`.
        let row = unsafe { std::slice::from_raw_parts(b.add(k * b_stride), V * S::LANES) };
        let b: [S::F; V] = std::array::from_fn(
            #[inline(always)]
            |v| s.load(&row[v * S::LANES..]),
        );
        for_rows!(M, |ROW| {
            // SAFETY: the caller promises `depth` floats in each of `M` rows.
            let x = s.splat(unsafe { *a.add(ROW * a_stride + k) });
            for v in 0..V {
                sums[ROW][v] = s.fma(x, b[v], sums[ROW][v]);
            }
        });
    }
    sums
}

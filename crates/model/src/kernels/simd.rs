//! The vector type that all operations are written against.

/// Floats in a register, and the operations on them.
///
/// A value of an implementing type is the proof that the machine has its instructions: it is made
/// in one place only, inside a function compiled for them.
pub(super) trait Simd: Copy {
    /// Floats in a vector.
    const LANES: usize;
    /// Vectors side by side in the inner loop of a matrix product.
    const VECTORS: usize;
    /// Rows in the inner loop of a product with packed weights.
    const ROWS: usize;
    /// Queries in the inner loops of attention, which are two vectors wide.
    const QUERIES: usize;
    /// Weights of a column that lie side by side in a panel for [`Self::dot_wide`]; all of them if
    /// there are fewer.
    const TOGETHER: usize = 2;
    /// Whether activations of 8 bits have signs and no zero of their own, and weights 128 more than
    /// they are.
    const CENTRED: bool = false;
    /// A vector.
    type F: Copy;

    fn splat(self, x: f32) -> Self::F;
    /// Reads the first [`Self::LANES`] of `x`.
    fn load(self, x: &[f32]) -> Self::F;
    /// Writes the first [`Self::LANES`] of `x`.
    fn store(self, x: &mut [f32], v: Self::F);
    fn add(self, a: Self::F, b: Self::F) -> Self::F;
    fn sub(self, a: Self::F, b: Self::F) -> Self::F;
    fn mul(self, a: Self::F, b: Self::F) -> Self::F;
    fn div(self, a: Self::F, b: Self::F) -> Self::F;
    fn max(self, a: Self::F, b: Self::F) -> Self::F;
    /// `a * b + c`, fused where the machine can.
    fn fma(self, a: Self::F, b: Self::F, c: Self::F) -> Self::F;
    fn abs(self, a: Self::F) -> Self::F;
    /// Each number plus the other of its pair.
    fn neighbours(self, a: Self::F) -> Self::F;
    /// 2 to the power of `n`, for `a = n + ROUND` with a whole number `n`.
    fn power(self, a: Self::F) -> Self::F;
    fn sum(self, a: Self::F) -> f32;
    fn largest(self, a: Self::F) -> f32;
    /// Rounds to whole numbers of 16 bits.
    fn store_i16(self, x: &mut [i16], v: Self::F);
    /// Rounds, adds `zero`, and keeps 8 bits.
    fn store_u8(self, x: &mut [u8], v: Self::F, zero: u8);

    /// Products of `M` rows of activations with one panel of weights, as floats; of each row the
    /// first [`Self::VECTORS`] hold something.
    ///
    /// # Safety
    /// `a` holds `M` rows of `2 * pairs` numbers, `stride` apart; `w` holds as many weights of
    /// `LANES * VECTORS` columns: for each [`Self::TOGETHER`] rows of the matrix, those of every
    /// column side by side.
    unsafe fn dot_wide<const M: usize>(
        self,
        a: *const i16,
        stride: usize,
        w: *const i8,
        pairs: usize,
    ) -> [[Self::F; MOST]; M];

    /// Adds the products of one group of activations of 8 bits, four rows of the matrix at a time.
    ///
    /// # Safety
    /// As [`Self::dot_wide`], with `4 * quads` for `2 * pairs` and 4 rows together.
    unsafe fn dot_narrow<const M: usize>(
        self,
        a: *const u8,
        stride: usize,
        w: *const i8,
        quads: usize,
        group: &Group<M>,
        out: &mut [[Self::F; MOST]; M],
    );
}

/// What makes whole numbers of a group of columns real ones.
pub(super) struct Group<'a, const M: usize> {
    /// For each row.
    pub(super) scale: [f32; M],
    /// For each row its zero times its scale; 0 if [`Simd::CENTRED`].
    pub(super) shift: [f32; M],
    /// If [`Simd::CENTRED`], for each row what its sums begin with: what the 128 come to, negated.
    pub(super) start: [i32; M],
    /// For each column of the panel the sum of the group's weights.
    pub(super) sums: &'a [f32],
}

/// [`Simd::dot_narrow`] in plain code.
///
/// # Safety
/// As there.
#[inline(always)]
pub(super) unsafe fn dot_narrow_plainly<S: Simd, const M: usize>(
    s: S,
    a: *const u8,
    stride: usize,
    w: *const i8,
    quads: usize,
    group: &Group<M>,
    out: &mut [[S::F; MOST]; M],
) {
    let columns = S::LANES * S::VECTORS;
    for (row, out) in out.iter_mut().enumerate() {
        let mut all = [0.0; PANEL];
        for (c, all) in all[..columns].iter_mut().enumerate() {
            let mut sum = 0;
            for at in 0..4 * quads {
                // SAFETY: the caller promises both buffers to be this long.
                let (a, w) = unsafe {
                    let w = w.add(4 * (at / 4 * columns + c) + at % 4);
                    (*a.add(row * stride + at), *w)
                };
                sum += i32::from(a) * i32::from(w);
            }
            *all = sum as f32 * group.scale[row] - group.shift[row] * group.sums[c];
        }
        for (v, out) in out[..S::VECTORS].iter_mut().enumerate() {
            *out = s.add(*out, s.load(&all[v * S::LANES..]));
        }
    }
}

/// Runs a block for every row number below `M` (up to 8), unrolled: sums that are reached by a
/// number known to the compiler stay in registers, those in a loop do not.
macro_rules! for_rows {
    ($rows:ident, |$row:ident| $block:block) => {
        $crate::kernels::simd::for_rows!(@ $rows, $row, $block, 0 1 2 3 4 5 6 7)
    };
    (@ $rows:ident, $row:ident, $block:block, $($number:literal)*) => {
        $(if $number < $rows {
            const $row: usize = $number;
            $block
        })*
    };
}
pub(super) use for_rows;

/// Vectors in the widest panel.
pub(super) const MOST: usize = 4;
/// Columns of the widest panel.
pub(super) const PANEL: usize = 64;
/// Added to a float below 2^22 it leaves the rounded number in the low bits (1.5 * 2^23).
pub(super) const ROUND: f32 = 12_582_912.0;

/// Plain arrays, in code that compilers turn into vector instructions.
#[derive(Clone, Copy)]
pub(super) struct Portable;

const LANES: usize = 4;
/// Weights that are brought to 16 bits at a time.
const CHUNK: usize = 256;

/// In this form, sums of a fixed number of neighbours, compilers find the instruction that multiplies
/// and adds pairs; and more surely in a function of its own.
#[inline(never)]
fn dot(a: &[i16], w: &[i16]) -> i32 {
    let sum = |a: &[i16], w: &[i16]| {
        let products = a.iter().zip(w).map(|(a, w)| i32::from(*a) * i32::from(*w));
        products.sum::<i32>()
    };
    let ((a, a_rest), (w, w_rest)) = (a.as_chunks::<32>(), w.as_chunks::<32>());
    let body = a.iter().zip(w).map(|(a, w)| sum(a, w));
    body.sum::<i32>() + sum(a_rest, w_rest)
}

#[inline(always)]
fn each(f: impl Fn(usize) -> f32) -> [f32; LANES] {
    std::array::from_fn(f)
}

impl Simd for Portable {
    const LANES: usize = LANES;
    const VECTORS: usize = 2;
    const ROWS: usize = 4;
    const QUERIES: usize = 4;
    const TOGETHER: usize = usize::MAX;
    type F = [f32; LANES];

    #[inline(always)]
    fn splat(self, x: f32) -> Self::F {
        [x; LANES]
    }
    #[inline(always)]
    fn load(self, x: &[f32]) -> Self::F {
        each(|i| x[i])
    }
    #[inline(always)]
    fn store(self, x: &mut [f32], v: Self::F) {
        x[..LANES].copy_from_slice(&v);
    }
    #[inline(always)]
    fn add(self, a: Self::F, b: Self::F) -> Self::F {
        each(|i| a[i] + b[i])
    }
    #[inline(always)]
    fn sub(self, a: Self::F, b: Self::F) -> Self::F {
        each(|i| a[i] - b[i])
    }
    #[inline(always)]
    fn mul(self, a: Self::F, b: Self::F) -> Self::F {
        each(|i| a[i] * b[i])
    }
    #[inline(always)]
    fn div(self, a: Self::F, b: Self::F) -> Self::F {
        each(|i| a[i] / b[i])
    }
    #[inline(always)]
    fn max(self, a: Self::F, b: Self::F) -> Self::F {
        each(|i| if a[i] > b[i] { a[i] } else { b[i] })
    }
    #[inline(always)]
    fn fma(self, a: Self::F, b: Self::F, c: Self::F) -> Self::F {
        // Where fusing is not part of every machine of the target, it would be a slow call.
        if cfg!(any(target_arch = "aarch64", target_feature = "fma")) {
            return each(|i| a[i].mul_add(b[i], c[i]));
        }
        each(|i| a[i] * b[i] + c[i])
    }
    #[inline(always)]
    fn abs(self, a: Self::F) -> Self::F {
        each(|i| a[i].abs())
    }
    #[inline(always)]
    fn neighbours(self, a: Self::F) -> Self::F {
        each(|i| a[i] + a[i ^ 1])
    }
    #[inline(always)]
    fn power(self, a: Self::F) -> Self::F {
        each(|i| f32::from_bits((a[i].to_bits() << 23).wrapping_add(0x3f80_0000)))
    }
    #[inline(always)]
    fn sum(self, a: Self::F) -> f32 {
        (a[0] + a[1]) + (a[2] + a[3])
    }
    #[inline(always)]
    fn largest(self, a: Self::F) -> f32 {
        a[0].max(a[1]).max(a[2].max(a[3]))
    }
    #[inline(always)]
    fn store_i16(self, x: &mut [i16], v: Self::F) {
        for i in 0..LANES {
            x[i] = (v[i] + ROUND).to_bits() as i16;
        }
    }
    #[inline(always)]
    fn store_u8(self, x: &mut [u8], v: Self::F, zero: u8) {
        for i in 0..LANES {
            x[i] = ((v[i] + ROUND).to_bits() as u8).wrapping_add(zero);
        }
    }

    #[inline(always)]
    unsafe fn dot_wide<const M: usize>(
        self,
        a: *const i16,
        stride: usize,
        w: *const i8,
        pairs: usize,
    ) -> [[Self::F; MOST]; M] {
        let mut sums = [[0i32; LANES * Portable::VECTORS]; M];
        let mut short = [0i16; CHUNK];
        for column in 0..LANES * Portable::VECTORS {
            for start in (0..2 * pairs).step_by(CHUNK) {
                let len = CHUNK.min(2 * pairs - start);
                // SAFETY: the caller promises this many weights, and so many numbers in each row.
                let (w, a) = unsafe {
                    let w = w.add(column * 2 * pairs + start);
                    (std::slice::from_raw_parts(w, len), a.add(start))
                };
                let short = &mut short[..len];
                short.iter_mut().zip(w).for_each(|(s, w)| *s = (*w).into());
                for (row, sums) in sums.iter_mut().enumerate() {
                    // SAFETY: as above.
                    let a = unsafe { std::slice::from_raw_parts(a.add(row * stride), len) };
                    sums[column] += dot(a, short);
                }
            }
        }
        let mut out = [[[0.0; LANES]; MOST]; M];
        for (out, sums) in out.iter_mut().zip(&sums) {
            for (out, sums) in out.iter_mut().zip(sums.chunks_exact(LANES)) {
                *out = each(|i| sums[i] as f32);
            }
        }
        out
    }

    #[inline(always)]
    unsafe fn dot_narrow<const M: usize>(
        self,
        a: *const u8,
        stride: usize,
        w: *const i8,
        quads: usize,
        group: &Group<M>,
        out: &mut [[Self::F; MOST]; M],
    ) {
        // SAFETY: the caller promises the same.
        unsafe { dot_narrow_plainly(self, a, stride, w, quads, group, out) }
    }
}

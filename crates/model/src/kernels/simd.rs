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
    /// `a` holds `M` rows of `2 * pairs` numbers, `stride` apart; `w` holds `pairs` times
    /// `2 * LANES * VECTORS` numbers: for each pair of rows of the matrix, the two weights of every
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
    /// As [`Self::dot_wide`], with 4 for 2.
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
    /// For each row its zero times its scale.
    pub(super) shift: [f32; M],
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

#[inline(always)]
fn each(f: impl Fn(usize) -> f32) -> [f32; LANES] {
    std::array::from_fn(f)
}

impl Simd for Portable {
    const LANES: usize = LANES;
    const VECTORS: usize = 2;
    const ROWS: usize = 4;
    const QUERIES: usize = 4;
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
        const COLUMNS: usize = LANES * Portable::VECTORS;
        let mut sums = [[0i32; COLUMNS]; M];
        for pair in 0..pairs {
            // SAFETY: the caller promises this many weights; an array of bytes has no alignment.
            let w = unsafe { &*w.add(pair * 2 * COLUMNS).cast::<[i8; 2 * COLUMNS]>() };
            let w: [i16; 2 * COLUMNS] = std::array::from_fn(|i| i16::from(w[i]));
            for_rows!(M, |ROW| {
                // SAFETY: the caller promises `M` rows of `2 * pairs` numbers.
                let two = unsafe { *a.add(ROW * stride + 2 * pair).cast::<[i16; 2]>() };
                // In this form compilers find the instruction that multiplies and adds pairs.
                let a: [i16; 2 * COLUMNS] = std::array::from_fn(|i| two[i % 2]);
                let products: [i32; 2 * COLUMNS] =
                    std::array::from_fn(|i| i32::from(a[i]) * i32::from(w[i]));
                for (c, sum) in sums[ROW].iter_mut().enumerate() {
                    *sum += products[2 * c] + products[2 * c + 1];
                }
            });
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

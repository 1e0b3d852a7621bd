//! AVX-512 with VNNI, and AVX2 with FMA, alone or with VNNI of the same width.

use std::arch::asm;
use std::arch::x86_64::*;

use super::simd::{Group, MOST, PANEL, Simd, for_rows};
use super::{Isa, Kind, Op};

/// Proof of AVX-512 F, BW, DQ, VL and VNNI, AVX2 and FMA.
#[derive(Clone, Copy)]
pub(super) struct Avx512(());

/// Proof of AVX2 and FMA, and where so said of AVX-VNNI.
#[derive(Clone, Copy)]
pub(super) struct Avx2<const VNNI: bool>(());

pub(super) fn run_avx512<O: Op>(isa: Isa, op: O) -> O::Out {
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma")]
    fn inner<O: Op>(op: O) -> O::Out {
        op.run(Avx512(()))
    }
    assert!(isa.0 == Kind::Avx512);
    // SAFETY: an `Isa` of this kind is made only after all these features were detected.
    unsafe { inner(op) }
}

pub(super) fn run_avx2<O: Op>(isa: Isa, op: O) -> O::Out {
    #[target_feature(enable = "avx2,fma")]
    fn inner<O: Op>(op: O) -> O::Out {
        op.run(Avx2::<false>(()))
    }
    assert!(isa.0 == Kind::Avx2);
    // SAFETY: an `Isa` of this kind is made only after both features were detected.
    unsafe { inner(op) }
}

pub(super) fn run_avx_vnni<O: Op>(isa: Isa, op: O) -> O::Out {
    #[target_feature(enable = "avx2,fma,avxvnni")]
    fn inner<O: Op>(op: O) -> O::Out {
        op.run(Avx2::<true>(()))
    }
    assert!(isa.0 == Kind::AvxVnni);
    // SAFETY: an `Isa` of this kind is made only after all these features were detected.
    unsafe { inner(op) }
}

/// `vpdpwssd`. As an intrinsic, LLVM takes it apart into a product and a sum wherever it holds the
/// chain of sums for the bottleneck, which doubles the work of a unit that is busy all the time.
#[inline]
#[target_feature(enable = "avx512f,avx512vnni")]
fn multiply_add_pairs(mut sum: __m512i, a: __m512i, w: __m512i) -> __m512i {
    // SAFETY: the instruction is part of the features above, and touches registers alone.
    unsafe {
        asm!(
            "vpdpwssd {sum}, {a}, {w}",
            sum = inout(zmm_reg) sum,
            a = in(zmm_reg) a,
            w = in(zmm_reg) w,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    sum
}

/// The same, of half the width and part of another set.
#[inline]
#[target_feature(enable = "avx2,avxvnni")]
fn multiply_add_pairs_256(mut sum: __m256i, a: __m256i, w: __m256i) -> __m256i {
    // SAFETY: as above.
    unsafe {
        asm!(
            "{{vex}} vpdpwssd {sum}, {a}, {w}",
            sum = inout(ymm_reg) sum,
            a = in(ymm_reg) a,
            w = in(ymm_reg) w,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    sum
}

/// Methods that are one intrinsic each.
macro_rules! intrinsics {
    ($($name:ident($($arg:ident: $type:ty),*) -> $out:ty = $body:expr;)*) => {$(
        #[inline(always)]
        fn $name(self, $($arg: $type),*) -> $out {
            // SAFETY: `self` proves the instructions; nothing here touches memory.
            unsafe { $body }
        }
    )*};
}

impl Simd for Avx512 {
    const LANES: usize = 16;
    const VECTORS: usize = 4;
    const ROWS: usize = 6;
    const QUERIES: usize = 8;
    type F = __m512;

    intrinsics! {
        splat(x: f32) -> __m512 = _mm512_set1_ps(x);
        add(a: __m512, b: __m512) -> __m512 = _mm512_add_ps(a, b);
        sub(a: __m512, b: __m512) -> __m512 = _mm512_sub_ps(a, b);
        mul(a: __m512, b: __m512) -> __m512 = _mm512_mul_ps(a, b);
        div(a: __m512, b: __m512) -> __m512 = _mm512_div_ps(a, b);
        max(a: __m512, b: __m512) -> __m512 = _mm512_max_ps(a, b);
        fma(a: __m512, b: __m512, c: __m512) -> __m512 = _mm512_fmadd_ps(a, b, c);
        abs(a: __m512) -> __m512 = _mm512_abs_ps(a);
        neighbours(a: __m512) -> __m512 = _mm512_add_ps(a, _mm512_permute_ps(a, 0b10_11_00_01));
        power(a: __m512) -> __m512 = _mm512_castsi512_ps(_mm512_add_epi32(
            _mm512_slli_epi32(_mm512_castps_si512(a), 23),
            _mm512_set1_epi32(0x3f80_0000),
        ));
        sum(a: __m512) -> f32 = _mm512_reduce_add_ps(a);
        largest(a: __m512) -> f32 = _mm512_reduce_max_ps(a);
    }

    #[inline(always)]
    fn load(self, x: &[f32]) -> __m512 {
        let x = &x[..Self::LANES];
        // SAFETY: `self` proves the instructions, and the slice is long enough.
        unsafe { _mm512_loadu_ps(x.as_ptr()) }
    }
    #[inline(always)]
    fn store(self, x: &mut [f32], v: __m512) {
        let x = &mut x[..Self::LANES];
        // SAFETY: as in `load`.
        unsafe { _mm512_storeu_ps(x.as_mut_ptr(), v) }
    }
    #[inline(always)]
    fn store_i16(self, x: &mut [i16], v: __m512) {
        let x = &mut x[..Self::LANES];
        // SAFETY: as in `load`; 16 numbers of 2 bytes are written.
        unsafe {
            let short = _mm512_cvtepi32_epi16(_mm512_cvtps_epi32(v));
            _mm256_storeu_si256(x.as_mut_ptr().cast(), short);
        }
    }
    #[inline(always)]
    fn store_u8(self, x: &mut [u8], v: __m512, zero: u8) {
        let x = &mut x[..Self::LANES];
        // SAFETY: as in `load`; 16 bytes are written.
        unsafe {
            let zero = _mm512_set1_epi32(zero.into());
            let shifted = _mm512_add_epi32(_mm512_cvtps_epi32(v), zero);
            _mm_storeu_si128(x.as_mut_ptr().cast(), _mm512_cvtepi32_epi8(shifted));
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
        // SAFETY: `self` proves the instructions; the caller promises the lengths of both buffers;
        // no access needs alignment.
        unsafe {
            let mut sums = [[_mm512_setzero_si512(); 4]; M];
            for pair in 0..pairs {
                let w = w.add(pair * 128);
                let w: [__m512i; 4] = std::array::from_fn(|v| {
                    _mm512_cvtepi8_epi16(_mm256_loadu_si256(w.add(32 * v).cast()))
                });
                for_rows!(M, |ROW| {
                    let two = a
                        .add(ROW * stride + 2 * pair)
                        .cast::<i32>()
                        .read_unaligned();
                    let two = _mm512_set1_epi32(two);
                    for (sum, w) in sums[ROW].iter_mut().zip(&w) {
                        *sum = multiply_add_pairs(*sum, two, *w);
                    }
                });
            }
            // By way of `array::map` it is a call for each vector, through memory.
            let mut out = [[_mm512_setzero_ps(); MOST]; M];
            for_rows!(M, |ROW| {
                for (out, sum) in out[ROW].iter_mut().zip(sums[ROW]) {
                    *out = _mm512_cvtepi32_ps(sum);
                }
            });
            out
        }
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
        // SAFETY: as in `dot_wide`.
        unsafe {
            let mut sums = [[_mm512_setzero_si512(); 4]; M];
            for quad in 0..quads {
                let w = w.add(quad * 256);
                let w: [__m512i; 4] =
                    std::array::from_fn(|v| _mm512_loadu_si512(w.add(64 * v).cast()));
                for_rows!(M, |ROW| {
                    let four = a
                        .add(ROW * stride + 4 * quad)
                        .cast::<i32>()
                        .read_unaligned();
                    let four = _mm512_set1_epi32(four);
                    for (sum, w) in sums[ROW].iter_mut().zip(&w) {
                        *sum = _mm512_dpbusd_epi32(*sum, four, *w);
                    }
                });
            }
            let weights = &group.sums[..PANEL];
            let weights: [__m512; 4] =
                std::array::from_fn(|v| _mm512_loadu_ps(weights.as_ptr().add(16 * v)));
            for_rows!(M, |ROW| {
                let scale = _mm512_set1_ps(group.scale[ROW]);
                let shift = _mm512_set1_ps(group.shift[ROW]);
                for v in 0..4 {
                    let all = _mm512_fnmadd_ps(shift, weights[v], out[ROW][v]);
                    let sum = _mm512_cvtepi32_ps(sums[ROW][v]);
                    out[ROW][v] = _mm512_fmadd_ps(scale, sum, all);
                }
            });
        }
    }
}

impl<const VNNI: bool> Avx2<VNNI> {
    /// [`Simd::dot_narrow`] where activations are [`Simd::CENTRED`] and 128 was added to weights. The
    /// unsigned factor of the instruction that multiplies bytes are the weights: the sums of two
    /// products then stay within its 16 bits, for activations are so scaled that two neighbours of
    /// one sign add up to no more than 128.
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    unsafe fn dot_centred<const M: usize>(
        self,
        a: *const i8,
        stride: usize,
        w: *const u8,
        quads: usize,
        group: &Group<M>,
        out: &mut [[__m256; MOST]; M],
    ) {
        // SAFETY: `self` proves the instructions; the caller promises the lengths of both buffers;
        // no access needs alignment.
        unsafe {
            let ones = _mm256_set1_epi16(1);
            let mut sums = [[_mm256_setzero_si256(); 2]; M];
            for_rows!(M, |ROW| {
                sums[ROW] = [_mm256_set1_epi32(group.start[ROW]); 2];
            });
            for quad in 0..quads {
                let w = w.add(quad * 64);
                let w: [__m256i; 2] =
                    std::array::from_fn(|v| _mm256_loadu_si256(w.add(32 * v).cast()));
                for_rows!(M, |ROW| {
                    let four = a
                        .add(ROW * stride + 4 * quad)
                        .cast::<i32>()
                        .read_unaligned();
                    let four = _mm256_set1_epi32(four);
                    for (sum, w) in sums[ROW].iter_mut().zip(&w) {
                        let pairs = _mm256_maddubs_epi16(*w, four);
                        *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(pairs, ones));
                    }
                });
            }
            for_rows!(M, |ROW| {
                let scale = _mm256_set1_ps(group.scale[ROW]);
                for v in 0..2 {
                    let sum = _mm256_cvtepi32_ps(sums[ROW][v]);
                    out[ROW][v] = _mm256_fmadd_ps(scale, sum, out[ROW][v]);
                }
            });
        }
    }
}

impl<const VNNI: bool> Simd for Avx2<VNNI> {
    const CENTRED: bool = !VNNI;
    const LANES: usize = 8;
    const VECTORS: usize = 2;
    const ROWS: usize = 6;
    const QUERIES: usize = 6;
    type F = __m256;

    intrinsics! {
        splat(x: f32) -> __m256 = _mm256_set1_ps(x);
        add(a: __m256, b: __m256) -> __m256 = _mm256_add_ps(a, b);
        sub(a: __m256, b: __m256) -> __m256 = _mm256_sub_ps(a, b);
        mul(a: __m256, b: __m256) -> __m256 = _mm256_mul_ps(a, b);
        div(a: __m256, b: __m256) -> __m256 = _mm256_div_ps(a, b);
        max(a: __m256, b: __m256) -> __m256 = _mm256_max_ps(a, b);
        fma(a: __m256, b: __m256, c: __m256) -> __m256 = _mm256_fmadd_ps(a, b, c);
        abs(a: __m256) -> __m256 = _mm256_andnot_ps(_mm256_set1_ps(-0.0), a);
        neighbours(a: __m256) -> __m256 = _mm256_add_ps(a, _mm256_permute_ps(a, 0b10_11_00_01));
        power(a: __m256) -> __m256 = _mm256_castsi256_ps(_mm256_add_epi32(
            _mm256_slli_epi32(_mm256_castps_si256(a), 23),
            _mm256_set1_epi32(0x3f80_0000),
        ));
        sum(a: __m256) -> f32 = {
            let half = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
            let two = _mm_add_ps(half, _mm_movehl_ps(half, half));
            _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)))
        };
        largest(a: __m256) -> f32 = {
            let half = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
            let two = _mm_max_ps(half, _mm_movehl_ps(half, half));
            _mm_cvtss_f32(_mm_max_ss(two, _mm_shuffle_ps(two, two, 1)))
        };
    }

    #[inline(always)]
    fn load(self, x: &[f32]) -> __m256 {
        let x = &x[..Self::LANES];
        // SAFETY: `self` proves the instructions, and the slice is long enough.
        unsafe { _mm256_loadu_ps(x.as_ptr()) }
    }
    #[inline(always)]
    fn store(self, x: &mut [f32], v: __m256) {
        let x = &mut x[..Self::LANES];
        // SAFETY: as in `load`.
        unsafe { _mm256_storeu_ps(x.as_mut_ptr(), v) }
    }
    #[inline(always)]
    fn store_i16(self, x: &mut [i16], v: __m256) {
        let x = &mut x[..Self::LANES];
        // SAFETY: as in `load`; 8 numbers of 2 bytes are written.
        unsafe {
            let whole = _mm256_cvtps_epi32(v);
            let (low, high) = (
                _mm256_castsi256_si128(whole),
                _mm256_extracti128_si256(whole, 1),
            );
            _mm_storeu_si128(x.as_mut_ptr().cast(), _mm_packs_epi32(low, high));
        }
    }
    #[inline(always)]
    fn store_u8(self, x: &mut [u8], v: __m256, zero: u8) {
        let x = &mut x[..Self::LANES];
        // SAFETY: as in `load`; 8 bytes are written. Packing saturates, and changes nothing of what
        // 8 bits hold.
        unsafe {
            let whole = _mm256_add_epi32(_mm256_cvtps_epi32(v), _mm256_set1_epi32(zero.into()));
            let whole = _mm256_and_si256(whole, _mm256_set1_epi32(0xff));
            let (low, high) = (
                _mm256_castsi256_si128(whole),
                _mm256_extracti128_si256(whole, 1),
            );
            let short = _mm_packs_epi32(low, high);
            _mm_storel_epi64(x.as_mut_ptr().cast(), _mm_packus_epi16(short, short));
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
        // SAFETY: `self` proves the instructions; the caller promises the lengths of both buffers;
        // no access needs alignment.
        unsafe {
            let mut sums = [[_mm256_setzero_si256(); 2]; M];
            for pair in 0..pairs {
                let w = w.add(pair * 32);
                let w: [__m256i; 2] = std::array::from_fn(|v| {
                    _mm256_cvtepi8_epi16(_mm_loadu_si128(w.add(16 * v).cast()))
                });
                for_rows!(M, |ROW| {
                    let two = a
                        .add(ROW * stride + 2 * pair)
                        .cast::<i32>()
                        .read_unaligned();
                    let two = _mm256_set1_epi32(two);
                    for (sum, w) in sums[ROW].iter_mut().zip(&w) {
                        *sum = if VNNI {
                            multiply_add_pairs_256(*sum, two, *w)
                        } else {
                            _mm256_add_epi32(*sum, _mm256_madd_epi16(two, *w))
                        };
                    }
                });
            }
            let mut out = [[_mm256_setzero_ps(); MOST]; M];
            for_rows!(M, |ROW| {
                for (out, sum) in out[ROW].iter_mut().zip(sums[ROW]) {
                    *out = _mm256_cvtepi32_ps(sum);
                }
            });
            out
        }
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
        if !VNNI {
            // SAFETY: the caller promises the same.
            unsafe { self.dot_centred(a.cast(), stride, w.cast(), quads, group, out) }
            return;
        }
        // SAFETY: as in `dot_wide`.
        unsafe {
            let mut sums = [[_mm256_setzero_si256(); 2]; M];
            for quad in 0..quads {
                let w = w.add(quad * 64);
                let w: [__m256i; 2] =
                    std::array::from_fn(|v| _mm256_loadu_si256(w.add(32 * v).cast()));
                for_rows!(M, |ROW| {
                    let four = a
                        .add(ROW * stride + 4 * quad)
                        .cast::<i32>()
                        .read_unaligned();
                    let four = _mm256_set1_epi32(four);
                    for (sum, w) in sums[ROW].iter_mut().zip(&w) {
                        *sum = _mm256_dpbusd_avx_epi32(*sum, four, *w);
                    }
                });
            }
            let weights = &group.sums[..16];
            let weights: [__m256; 2] =
                std::array::from_fn(|v| _mm256_loadu_ps(weights.as_ptr().add(8 * v)));
            for_rows!(M, |ROW| {
                let scale = _mm256_set1_ps(group.scale[ROW]);
                let shift = _mm256_set1_ps(group.shift[ROW]);
                for v in 0..2 {
                    let all = _mm256_fnmadd_ps(shift, weights[v], out[ROW][v]);
                    let sum = _mm256_cvtepi32_ps(sums[ROW][v]);
                    out[ROW][v] = _mm256_fmadd_ps(scale, sum, all);
                }
            });
        }
    }
}

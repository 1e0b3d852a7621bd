//! The arithmetic of the CPU backend, for the instruction sets that matter and for all others.
//!
//! Everything is written once against [`Simd`], a vector type of a few lanes, and compiled for
//! each instruction set: AVX-512 with VNNI, AVX2 with FMA (and with AVX-VNNI, as processors have it
//! that lack AVX-512), and a portable one of plain arrays that the compiler turns into whatever the
//! target has. [`Isa`] is chosen at run time. The only code
//! that differs in more than its vector type is the integer dot product.
//!
//! # Integer matrix product
//! Weights are whole numbers of 8 bits with one scale for each output. Activations are quantised
//! row by row when they are used, to as many of 16 bits as the 32-bit sums allow
//! ([`quantise::limit`]); their rounding then costs nothing in accuracy, which 8 bits would. All
//! instruction sets add up the same whole numbers, so their sums are equal bit by bit. Where speed
//! goes before accuracy (wide models), activations of 8 bits save up to half of the work again: with VNNI
//! with a scale and a zero for every row or part of one, with AVX2 with a scale alone.

#![expect(
    unsafe_code,
    reason = "vector instructions, and inner loops without bounds checks"
)]

mod attention;
mod buffer;
mod matmul;
mod ops;
mod quantise;
mod simd;
#[cfg(target_arch = "x86_64")]
mod x86;

#[cfg(test)]
mod tests;

pub(crate) use attention::{Attend, SLACK, Span, attend};
pub(crate) use buffer::Buffer;
pub(crate) use matmul::{Format, Packed, Write};
pub(crate) use ops::{Turns, gate, gelu, norm, relu, rotate, split_heads, transpose_into};
pub(crate) use quantise::{Activations, Quantised};

use simd::{Portable, Simd};

/// An instruction set that this machine has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Isa(Kind);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    #[cfg(target_arch = "x86_64")]
    Avx512,
    #[cfg(target_arch = "x86_64")]
    AvxVnni,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    Portable,
}

impl Isa {
    /// All that this machine has, best first.
    pub fn available() -> Vec<Self> {
        #[allow(unused_mut, reason = "only x86 has more than one")]
        let mut found = vec![Self(Kind::Portable)];
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                found.insert(0, Self(Kind::Avx2));
                if is_x86_feature_detected!("avxvnni") {
                    found.insert(0, Self(Kind::AvxVnni));
                }
                let more = is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512vnni");
                if more {
                    found.insert(0, Self(Kind::Avx512));
                }
            }
        }
        found
    }

    /// The best.
    pub fn best() -> Self {
        Self::available()[0]
    }

    /// One by its name, if this machine has it.
    pub fn named(name: &str) -> Option<Self> {
        Self::available().into_iter().find(|isa| isa.name() == name)
    }

    /// `avx512-vnni`, `avx-vnni`, `avx2` or `portable`.
    pub fn name(self) -> &'static str {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => "avx512-vnni",
            #[cfg(target_arch = "x86_64")]
            Kind::AvxVnni => "avx-vnni",
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => "avx2",
            Kind::Portable => "portable",
        }
    }

    /// Columns of a matrix that are packed together.
    fn panel(self) -> usize {
        struct Panel;
        impl Op for Panel {
            type Out = usize;
            #[inline(always)]
            fn run<S: Simd>(self, _: S) -> usize {
                S::LANES * S::VECTORS
            }
        }
        self.run(Panel)
    }

    /// Weights of a column that are packed side by side, for wide activations.
    fn together(self) -> usize {
        struct Together;
        impl Op for Together {
            type Out = usize;
            #[inline(always)]
            fn run<S: Simd>(self, _: S) -> usize {
                S::TOGETHER
            }
        }
        self.run(Together)
    }

    /// How activations of 8 bits are rounded: see [`Simd::CENTRED`].
    fn centres(self) -> bool {
        struct Centres;
        impl Op for Centres {
            type Out = bool;
            #[inline(always)]
            fn run<S: Simd>(self, _: S) -> bool {
                S::CENTRED
            }
        }
        self.run(Centres)
    }

    /// Whether there is a product of 8-bit activations that is faster than the usual one.
    pub(crate) fn has_narrow(self) -> bool {
        self.0 != Kind::Portable
    }

    /// Runs an operation compiled for this instruction set.
    #[inline]
    fn run<O: Op>(self, op: O) -> O::Out {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => x86::run_avx512(self, op),
            #[cfg(target_arch = "x86_64")]
            Kind::AvxVnni => x86::run_avx_vnni(self, op),
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => x86::run_avx2(self, op),
            Kind::Portable => op.run(Portable),
        }
    }
}

/// Something to compute with any vector type. `run` is always inlined, so that it is compiled with
/// the instructions of the caller.
trait Op {
    type Out;
    fn run<S: Simd>(self, simd: S) -> Self::Out;
}

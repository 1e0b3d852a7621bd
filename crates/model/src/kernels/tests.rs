//! Every instruction set against scalar code, on random shapes.

use std::sync::Arc;

use super::quantise::{centred_scale, group_scale, limit};
use super::simd::Simd;
use super::*;
use crate::helpers::Helpers;
use crate::parameters::Norm;
use crate::weights::{Matrix, Weights};

/// Small and good enough for test data (Marsaglia's xorshift).
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        (self.bits() >> 33) as usize % n
    }

    /// Between -1 and 1.
    fn float(&mut self) -> f32 {
        (self.bits() >> 40) as f32 / (1 << 23) as f32 - 1.0
    }

    fn floats(&mut self, len: usize) -> Vec<f32> {
        (0..len).map(|_| self.float()).collect()
    }
}

fn close(name: &str, got: &[f32], expected: &[f32], tolerance: f32) {
    assert_eq!(got.len(), expected.len(), "{name}");
    for (i, (got, expected)) in got.iter().zip(expected).enumerate() {
        let off = (got - expected).abs();
        assert!(
            off <= tolerance * (1.0 + expected.abs()),
            "{name} [{i}]: {got} for {expected}"
        );
    }
}

/// A matrix in a weights file, as the backend sees it.
fn matrix(values: &[f32], rows: usize, columns: usize) -> Matrix {
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    let view =
        safetensors::tensor::TensorView::new(safetensors::Dtype::F32, vec![rows, columns], &bytes);
    let file = tempfile::NamedTempFile::new().unwrap();
    safetensors::serialize_to_file([("m", view.unwrap())], None, file.path()).unwrap();
    Weights::open(file.path())
        .unwrap()
        .matrix("m", rows, columns)
        .unwrap()
}

/// The product as `Packed::apply` defines it: rounded weights and activations, exact sums.
fn product(
    isa: Isa,
    x: &[f32],
    w: &[f32],
    columns: usize,
    bias: &[f32],
    format: Format,
) -> Vec<f32> {
    let quantise = |row: &[f32], most: f32| {
        let largest = row.iter().fold(0.0f32, |m, v| m.max(v.abs()));
        let scale = if largest > 0.0 { largest / most } else { 1.0 };
        (
            row.iter()
                .map(|v| (v / scale).round_ties_even() as i64)
                .collect::<Vec<_>>(),
            scale,
        )
    };
    let mut out = Vec::new();
    for x in x.chunks_exact(columns) {
        for (w, bias) in w.chunks_exact(columns).zip(bias) {
            out.push(match format {
                Format::Float => {
                    let sum: f64 = x
                        .iter()
                        .zip(w)
                        .map(|(x, w)| f64::from(*x) * f64::from(*w))
                        .sum();
                    sum as f32 + bias
                }
                Format::Whole(Activations::Narrow(group)) => {
                    let (w, w_scale) = quantise(w, 127.0);
                    let groups = x.chunks(group).zip(w.chunks(group));
                    let sum: f64 = groups.map(|(x, w)| group_product(isa, x, w)).sum();
                    (sum * f64::from(w_scale)) as f32 + bias
                }
                Format::Whole(Activations::Wide) => {
                    let (x, x_scale) = quantise(x, limit(columns));
                    let (w, w_scale) = quantise(w, 127.0);
                    let sum: i64 = x.iter().zip(&w).map(|(x, w)| x * w).sum();
                    sum as f32 * (x_scale * w_scale) + bias
                }
            });
        }
    }
    out
}

/// Activations of 8 bits between the ends of their group, or around 0.
fn group_product(isa: Isa, x: &[f32], w: &[i64]) -> f64 {
    let (scale, zero) = if isa.centres() {
        let part = |pair: &[f32], sign: f32| pair.iter().map(|v| (sign * v).max(0.0)).sum();
        let sums = x.chunks(2).flat_map(|p| [part(p, 1.0), part(p, -1.0)]);
        (centred_scale(sums.fold(0.0, f32::max)), 0)
    } else {
        let low = x.iter().copied().fold(0.0, f32::min);
        let high = x.iter().copied().fold(0.0, f32::max);
        group_scale(low, high)
    };
    let whole: Vec<i64> = x
        .iter()
        .map(|v| (v * (1.0 / scale)).round_ties_even() as i64)
        .collect();
    if isa.centres() {
        for pair in whole.chunks(2) {
            let above: i64 = pair.iter().map(|v| *v.max(&0)).sum();
            let below: i64 = pair.iter().map(|v| *v.min(&0)).sum();
            assert!(above <= 128 && below >= -128, "{pair:?}");
        }
    } else {
        let within = |v: &i64| (0..=255).contains(&(v + i64::from(zero)));
        assert!(whole.iter().all(within));
    }
    let sum: i64 = whole.iter().zip(w).map(|(x, w)| x * w).sum();
    sum as f64 * f64::from(scale)
}

#[test]
fn products_equal_scalar_code() {
    let mut random = Random(7);
    let formats = [
        Format::Float,
        Format::Whole(Activations::Wide),
        Format::Whole(Activations::Narrow(64)),
        Format::Whole(Activations::Narrow(usize::MAX)),
    ];
    for round in 0..40 {
        let (rows, columns, outputs) = (
            1 + random.below(14),
            1 + random.below(200),
            1 + random.below(150),
        );
        let mut x = random.floats(rows * columns);
        if round == 0 {
            x.fill(0.0);
        }
        let w = random.floats(outputs * columns);
        let bias = random.floats(outputs);
        let before = random.floats(rows * outputs);
        let stored = matrix(&w, outputs, columns);
        for format in formats {
            for isa in Isa::available() {
                let expected = product(isa, &x, &w, columns, &bias, format);
                let name = format!("{} {format:?} {rows}x{columns}x{outputs}", isa.name());
                let packed = Packed::new(isa, &stored, 0..outputs, Some(&bias), format).unwrap();
                let mut quantised = Quantised::default();
                if let Some(activations) = packed.activations() {
                    quantised.fill(isa, &x, columns, activations);
                }
                let mut out = before.clone();
                packed.apply(isa, &x, &quantised, &mut out, Write::Replace);
                close(&name, &out, &expected, 2e-4);
                packed.apply(isa, &x, &quantised, &mut out, Write::Add);
                let twice: Vec<f32> = expected.iter().map(|v| 2.0 * v).collect();
                close(&name, &out, &twice, 4e-4);
            }
        }
    }
}

#[test]
fn threads_share_a_product_without_changing_it() {
    let mut random = Random(13);
    let (rows, columns, outputs) = (101, 70, 66);
    let x = random.floats(rows * columns);
    let stored = matrix(&random.floats(outputs * columns), outputs, columns);
    let formats = [
        Format::Float,
        Format::Whole(Activations::Wide),
        Format::Whole(Activations::Narrow(64)),
    ];
    for isa in Isa::available() {
        for format in formats {
            let results = [1, 2, 3].map(|threads| {
                let packed = Packed::new(isa, &stored, 0..outputs, None, format).unwrap();
                let packed = packed.with_helpers(Arc::new(Helpers::new(threads - 1)));
                let mut quantised = Quantised::default();
                if let Some(activations) = packed.activations() {
                    quantised.fill(isa, &x, columns, activations);
                }
                let mut out = vec![0.0; rows * outputs];
                packed.apply(isa, &x, &quantised, &mut out, Write::Replace);
                out
            });
            assert_eq!(results[0], results[1], "{} {format:?}", isa.name());
            assert_eq!(results[0], results[2], "{} {format:?}", isa.name());
        }
    }
}

#[test]
fn whole_sums_are_equal_on_all_instruction_sets() {
    let mut random = Random(11);
    let (rows, columns, outputs) = (9, 1153, 70);
    let x = random.floats(rows * columns);
    let stored = matrix(&random.floats(outputs * columns), outputs, columns);
    let mut first: Option<Vec<f32>> = None;
    for isa in Isa::available() {
        let format = Format::Whole(Activations::Wide);
        let packed = Packed::new(isa, &stored, 0..outputs, None, format).unwrap();
        let mut quantised = Quantised::default();
        quantised.fill(isa, &x, columns, Activations::Wide);
        let mut out = vec![0.0; rows * outputs];
        packed.apply(isa, &x, &quantised, &mut out, Write::Replace);
        close(isa.name(), &out, first.get_or_insert(out.clone()), 1e-6);
    }
}

#[test]
fn largest_numbers_do_not_overflow() {
    let formats = [Activations::Wide, Activations::Narrow(64)].map(Format::Whole);
    // Neighbours of one sign and of two.
    let signs = [[1.0, 1.0, 1.0, 1.0], [1.0, 1.0, -1.0, -1.0], [-1.0; 4]];
    for (columns, signs) in [2, 64, 516, 3072]
        .into_iter()
        .flat_map(|c| signs.map(|s| (c, s)))
    {
        let row: Vec<f32> = signs.into_iter().cycle().take(columns).collect();
        let x = row.repeat(3);
        // Some outputs add up all that is above 0, some the rest, some everything with its sign.
        let w: Vec<f32> = (0..20 * columns)
            .map(|i| [1.0, -1.0, row[i % columns], -row[i % columns]][i / columns % 4])
            .collect();
        let stored = matrix(&w, 20, columns);
        for isa in Isa::available() {
            for format in formats {
                let packed = Packed::new(isa, &stored, 0..20, None, format).unwrap();
                let mut quantised = Quantised::default();
                quantised.fill(isa, &x, columns, packed.activations().unwrap());
                let mut out = vec![0.0; 60];
                packed.apply(isa, &x, &quantised, &mut out, Write::Replace);
                let expected = product(isa, &x, &w, columns, &[0.0; 20], format);
                close(isa.name(), &out, &expected, 1e-5);
                let exact: f32 = row.iter().zip(&w[2 * columns..]).map(|(x, w)| x * w).sum();
                close(isa.name(), &out[2..3], &[exact], 0.01);
            }
        }
    }
}

#[test]
fn norms_and_gates_equal_scalar_code() {
    let mut random = Random(3);
    for _ in 0..20 {
        let (rows, width) = (1 + random.below(5), 2 + random.below(90));
        let x: Vec<f32> = random
            .floats(rows * width)
            .iter()
            .map(|v| 6.0 * v)
            .collect();
        let (weight, bias) = (random.floats(width), random.floats(width));
        let mut normed = Vec::new();
        for x in x.chunks_exact(width) {
            let mean = x.iter().sum::<f32>() / width as f32;
            let variance = x.iter().map(|v| (v - mean).powi(2)).sum::<f32>() / width as f32;
            let scale = 1.0 / (variance + 1e-5).sqrt();
            normed.extend((0..width).map(|i| (x[i] - mean) * scale * weight[i] + bias[i]));
        }
        let exact: Vec<f32> = x
            .iter()
            .map(|v| crate::backend::reference::gelu(*v))
            .collect();
        let wide: Vec<f32> = random
            .floats(rows * 2 * width)
            .iter()
            .map(|v| 4.0 * v)
            .collect();
        let gates = wide.chunks_exact(2 * width).flat_map(|row| {
            (0..width).map(|i| crate::backend::reference::gelu(row[i]) * row[i + width])
        });
        let gates: Vec<f32> = gates.collect();
        let parameters = Norm {
            weight,
            bias: Some(bias),
        };
        for isa in Isa::available() {
            let mut out = vec![0.0; rows * width];
            norm(isa, &x, &parameters, 1e-5, &mut out);
            close(isa.name(), &out, &normed, 1e-4);
            gelu(isa, &x, &mut out);
            close(isa.name(), &out, &exact, 1e-5);
            gate(isa, &wide, width, &mut out);
            close(isa.name(), &out, &gates, 1e-5);
            out.copy_from_slice(&x);
            relu(isa, &mut out);
            assert!(out.iter().zip(&x).all(|(y, x)| *y == x.max(0.0)));
        }
    }
}

#[test]
fn powers_are_those_of_two_and_never_subnormal() {
    struct Powers<'a>(&'a mut [f32]);
    impl Op for Powers<'_> {
        type Out = ();
        #[inline(always)]
        fn run<S: Simd>(self, s: S) {
            for lanes in self.0.chunks_exact_mut(S::LANES) {
                s.store(lanes, ops::exp2(s, s.load(lanes)));
            }
        }
    }
    let x: Vec<f32> = (0..1600).map(|i| i as f32 * -0.0625).collect();
    let far = [-100.5, -126.5, -149.0, -1e6, f32::NEG_INFINITY];
    for isa in Isa::available() {
        let mut out = x.clone();
        isa.run(Powers(&mut out));
        for (x, y) in x.iter().zip(&out) {
            let exact = f64::from(*x).exp2();
            assert!((f64::from(*y) / exact - 1.0).abs() < 3e-7, "{x}: {y}");
        }
        let mut out = [0.0; 16].map(|_: f32| -200.0);
        out[..far.len()].copy_from_slice(&far);
        isa.run(Powers(&mut out));
        // Small enough to count for nothing, large enough for products with it to be normal.
        assert!(out.iter().all(|y| *y > 1e-31 && *y < 1e-30), "{out:?}");
    }
}

#[test]
fn turns_equal_scalar_code() {
    let mut random = Random(5);
    let (heads, half, rows) = (3, 9, 4);
    let stride = heads * 2 * half + 5;
    let positions = [0, 3, 3, 200];
    let x = random.floats(rows * stride);
    let mut turns = Turns::new(10_000.0, half);
    turns.reach(201);
    let mut expected = x.clone();
    for (row, position) in positions.iter().enumerate() {
        for head in 0..heads {
            for c in 0..half {
                let at = row * stride + head * 2 * half + c;
                let angle = f64::from(*position) / 10_000f64.powf(c as f64 / half as f64);
                let (sin, cos) = (angle.sin() as f32, angle.cos() as f32);
                expected[at] = x[at] * cos - x[at + half] * sin;
                expected[at + half] = x[at + half] * cos + x[at] * sin;
            }
        }
    }
    for isa in Isa::available() {
        let mut out = x.clone();
        rotate(isa, &mut out, stride, heads, &positions, &turns);
        close(isa.name(), &out, &expected, 1e-5);
    }
}

#[test]
fn attention_equals_scalar_code() {
    let mut random = Random(9);
    for round in 0..40 {
        let (heads, width) = (1 + random.below(3), [2, 16, 24, 32, 64][random.below(5)]);
        let channels = heads * width;
        let window = (round % 2 == 0).then(|| 1 + random.below(12) as u32);
        // Two stores of keys, as for a kept state and new options; runs in the second.
        let lens = [1 + random.below(50), 3 + random.below(40)];
        let cut = 1 + random.below(lens[1] - 1);
        let stores: Vec<Vec<f32>> = lens
            .iter()
            .map(|len| random.floats(2 * len * channels))
            .collect();
        let split = |store: &[f32], len: usize| {
            let stride = len + 3;
            let mut keys = vec![0.0; channels * stride + SLACK];
            let isa = Isa::best();
            transpose_into(
                isa,
                &store[..len * channels],
                channels,
                channels,
                &mut keys,
                stride,
            );
            let mut values = store[len * channels..].to_vec();
            values.resize(len * channels + SLACK, 0.0);
            (keys, stride, values)
        };
        let split: Vec<_> = stores
            .iter()
            .zip(lens)
            .map(|(s, len)| split(s, len))
            .collect();
        let runs = [
            (0, 0, lens[0], 0u32),
            (1, 0, cut, lens[0] as u32),
            (1, cut, lens[1] - cut, 7),
        ];
        let spans: Vec<Span> = runs
            .iter()
            .map(|(store, start, len, position)| Span {
                keys: &split[*store].0,
                key_stride: split[*store].1,
                values: &split[*store].2,
                value_head: width,
                value_stride: channels,
                start: *start,
                len: *len,
                position: *position,
            })
            .collect();
        let rows = 1 + random.below(9);
        let queries = random.floats(rows * channels);
        let positions: Vec<u32> = (0..rows).map(|_| random.below(lens[0]) as u32).collect();
        let mut expected = vec![0.0; rows * channels];
        for row in 0..rows {
            for head in 0..heads {
                let part = head * width..(head + 1) * width;
                let q = &queries[row * channels..][part.clone()];
                let mut seen: Vec<(f32, &[f32])> = Vec::new();
                for (store, start, len, position) in runs {
                    for i in 0..len {
                        let far = positions[row].abs_diff(position + i as u32);
                        if window.is_some_and(|w| far > w) {
                            continue;
                        }
                        let token = (start + i) * channels;
                        let k = &stores[store][token..][part.clone()];
                        let v = &stores[store][lens[store] * channels + token..][part.clone()];
                        let dot: f32 = q.iter().zip(k).map(|(a, b)| a * b).sum();
                        seen.push((dot / (width as f32).sqrt(), v));
                    }
                }
                let top = seen.iter().fold(f32::MIN, |m, (s, _)| m.max(*s));
                let sum: f32 = seen.iter().map(|(s, _)| (s - top).exp()).sum();
                for (score, v) in seen {
                    for (c, v) in v.iter().enumerate() {
                        expected[row * channels + part.start + c] += (score - top).exp() / sum * v;
                    }
                }
            }
        }
        for isa in Isa::available() {
            let a = Attend {
                queries: &queries,
                positions: &positions,
                heads,
                width,
                window,
                spans: &spans,
            };
            let mut out = vec![0.0; rows * channels];
            attend(isa, &a, &mut Buffer::default(), &mut out);
            close(isa.name(), &out, &expected, 1e-4);
        }
    }
}

//! Writing a checkpoint with its matrices in 8 or 4 bits, and telling what that changes.
//!
//! The form on disk is described where it is read, at the top of `weights.rs`: for each matrix
//! `NAME.q8` or `NAME.q4`, and `NAME.scale`. Vectors, and what decides in the end (scorer, action
//! head, kinds of question), stay as they are. The metadata of the file names the form:
//! `tabsense_quantized: 1`, `bits`, `group`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use safetensors::Dtype;
use safetensors::tensor::TensorView;

use crate::error::{Error, Result};
use crate::model::{Device, Model, Options};
use crate::verify::{Fidelity, compare, goldens, samples};
use crate::weights::{Matrix, Weights};
use crate::{backend::cpu::Precision, weights};

/// How to quantise.
#[derive(Debug, Clone)]
pub struct Quantize {
    /// 8 or 4.
    pub bits: u8,
    /// Columns that share a scale; none for one scale a row, the fastest to run.
    pub group: Option<usize>,
    /// Matrices to leave as they are: a text their name contains, with `*` for anything.
    pub keep: Vec<String>,
}

/// What came out.
#[derive(Debug, Clone)]
pub struct Report {
    /// Size of the weights before, in bytes.
    pub bytes_before: u64,
    /// Size of the weights after, in bytes.
    pub bytes_after: u64,
    /// Names of the matrices that were left as they are.
    pub kept: Vec<String>,
    /// Answers of the new checkpoint against those of the old one in floats.
    pub fidelity: Fidelity,
}

impl Report {
    /// Share of equal best options below which a checkpoint should not be used.
    pub const AGREEMENT: f64 = 0.98;

    /// Whether the new checkpoint answers as the old one.
    pub fn is_faithful(&self) -> bool {
        self.fidelity.agreement >= Self::AGREEMENT
    }
}

/// Matrices that are small and decide in the end.
const ALWAYS_KEPT: [&str; 4] = [
    "scorer.",
    "act_head.",
    "type_emb.",
    "encoder.embeddings.token_type_embeddings.",
];

struct Stored {
    name: String,
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

/// Writes a quantised copy of the checkpoint `from` as the new directory `to`, and compares both
/// on the cases of `from` and on samples.
///
/// # Errors
/// What is wrong with `from`, a `to` that is there already, or a setting that cannot be.
pub fn quantize(from: &Path, to: &Path, how: &Quantize) -> Result<Report> {
    if !matches!(how.bits, 4 | 8) {
        return Err(Error::Input(format!(
            "{} bits (hint: use 8 or 4)",
            how.bits
        )));
    }
    if how.group == Some(0) {
        return Err(Error::Input("groups of 0 columns".to_owned()));
    }
    if to.exists() {
        let exists = std::io::Error::from(std::io::ErrorKind::AlreadyExists);
        return Err(Error::io(to, exists));
    }
    let exact = Options {
        device: Device::Cpu,
        precision: Precision::Float,
        ..Options::default()
    };
    let mut before = Model::load(from, &exact)?;
    // Written beside its place and moved there when whole.
    let part = PathBuf::from(format!("{}.part", to.display()));
    let written = write(from, &part, how).and_then(|kept| {
        std::fs::rename(&part, to).map_err(|e| Error::io(to, e))?;
        Ok(kept)
    });
    let kept = written.inspect_err(|_| drop(std::fs::remove_dir_all(&part)))?;
    let mut after = Model::load(
        to,
        &Options {
            device: Device::Cpu,
            ..Options::default()
        },
    )?;
    let mut cases = goldens(from)?;
    cases.extend(samples());
    let size = |directory: &Path| {
        let file = directory.join("model.safetensors");
        std::fs::metadata(&file)
            .map(|m| m.len())
            .map_err(|e| Error::io(&file, e))
    };
    Ok(Report {
        bytes_before: size(from)?,
        bytes_after: size(to)?,
        kept,
        fidelity: compare(&mut before, &mut after, &cases)?,
    })
}

fn write(from: &Path, to: &Path, how: &Quantize) -> Result<Vec<String>> {
    for directory in ["encoder", "tokenizer"] {
        let directory = to.join(directory);
        std::fs::create_dir_all(&directory).map_err(|e| Error::io(&directory, e))?;
    }
    for file in [
        "rl_agent_config.json",
        "encoder/config.json",
        "tokenizer/tokenizer.json",
        "tokenizer/tokenizer_config.json",
    ] {
        std::fs::copy(from.join(file), to.join(file)).map_err(|e| Error::io(to.join(file), e))?;
    }
    let weights = Weights::open(&from.join("model.safetensors"))?;
    let (mut stored, mut kept) = (Vec::new(), Vec::new());
    for name in weights.names() {
        let always = ALWAYS_KEPT.iter().any(|part| name.starts_with(part));
        match weights.dense_matrix(name) {
            Some(matrix) if !always && !how.keep.iter().any(|p| matches_pattern(name, p)) => {
                stored.extend(quantised(name, &matrix, how));
            }
            other => {
                let Some((dtype, shape, bytes)) = weights.raw(name) else {
                    continue;
                };
                let (shape, bytes) = (shape.to_vec(), bytes.to_vec());
                stored.push(Stored {
                    name: name.to_owned(),
                    dtype,
                    shape,
                    bytes,
                });
                kept.extend(other.map(|_| name.to_owned()));
            }
        }
    }
    let metadata = HashMap::from([
        ("tabsense_quantized".to_owned(), "1".to_owned()),
        ("bits".to_owned(), how.bits.to_string()),
        (
            "group".to_owned(),
            how.group.map_or("row".to_owned(), |g| g.to_string()),
        ),
    ]);
    let file = to.join("model.safetensors");
    let failed = |e: safetensors::SafeTensorError| weights::damaged(&file, e.to_string());
    let mut views = Vec::new();
    for s in &stored {
        let view = TensorView::new(s.dtype, s.shape.clone(), &s.bytes).map_err(failed)?;
        views.push((s.name.as_str(), view));
    }
    safetensors::serialize_to_file(views, Some(metadata), &file).map_err(failed)?;
    Ok(kept)
}

/// A matrix as whole numbers and scales.
fn quantised(name: &str, matrix: &Matrix, how: &Quantize) -> [Stored; 2] {
    let (rows, columns) = (matrix.rows, matrix.columns);
    let groups = how
        .group
        .map_or(1, |group| columns.div_ceil(group.min(columns)));
    // The reader finds the run from the number of groups, so equal runs are used.
    let run = columns.div_ceil(groups);
    let groups = columns.div_ceil(run);
    let (mut bytes, mut scales) = (Vec::new(), Vec::new());
    let mut values = vec![0.0; columns];
    for row in 0..rows {
        matrix.row(row, &mut values);
        let mut numbers = Vec::with_capacity(columns);
        for run in values.chunks(run) {
            let scale = best_scale(run, how.bits);
            scales.extend(scale.to_le_bytes());
            numbers.extend(run.iter().map(|v| whole(*v, scale, how.bits)));
        }
        match how.bits {
            8 => bytes.extend(numbers.iter().map(|n| *n as u8)),
            _ => bytes.extend(numbers.chunks(2).map(|pair| {
                let half = |n: i8| (n + 8) as u8;
                half(pair[0]) | half(pair.get(1).copied().unwrap_or(0)) << 4
            })),
        }
    }
    let (dtype, stored) = match how.bits {
        8 => (Dtype::I8, columns),
        _ => (Dtype::U8, columns.div_ceil(2)),
    };
    let numbers = format!("{name}.q{}", how.bits);
    let (scale, shape) = (format!("{name}.scale"), vec![rows, groups]);
    [
        Stored {
            name: numbers,
            dtype,
            shape: vec![rows, stored],
            bytes,
        },
        Stored {
            name: scale,
            dtype: Dtype::F32,
            shape,
            bytes: scales,
        },
    ]
}

fn whole(value: f32, scale: f32, bits: u8) -> i8 {
    let (low, high) = if bits == 8 {
        (-127.0, 127.0)
    } else {
        (-8.0, 7.0)
    };
    (value / scale).round_ties_even().clamp(low, high) as i8
}

/// The scale with the smallest squared error: with 4 bits, cutting the largest values a little
/// pays for finer steps elsewhere; with 8 it does not.
fn best_scale(values: &[f32], bits: u8) -> f32 {
    let largest = values.iter().fold(0.0f32, |m, v| m.max(v.abs()));
    if largest == 0.0 {
        return 1.0;
    }
    if bits == 8 {
        return largest / 127.0;
    }
    let error = |scale: f32| -> f32 {
        values
            .iter()
            .map(|v| (v - f32::from(whole(*v, scale, bits)) * scale).powi(2))
            .sum()
    };
    let tried = (0..8).map(|i| largest / 7.0 * (1.0 - 0.04 * i as f32));
    tried
        .min_by(|a, b| error(*a).total_cmp(&error(*b)))
        .unwrap_or(largest / 7.0)
}

/// Whether `name` contains the pattern, in which `*` stands for any text.
fn matches_pattern(name: &str, pattern: &str) -> bool {
    let mut rest = name;
    pattern.split('*').all(|part| match rest.find(part) {
        Some(at) => {
            rest = &rest[at + part.len()..];
            true
        }
        None => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn golden(layout: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/golden")
            .join(layout)
    }

    fn run(layout: &str, bits: u8, group: Option<usize>, keep: &[&str]) -> (Report, PathBuf) {
        let parent = tempfile::tempdir().unwrap().keep();
        let to = parent.join("out");
        let keep = keep.iter().map(|p| (*p).to_owned()).collect();
        let report = quantize(&golden(layout), &to, &Quantize { bits, group, keep }).unwrap();
        (report, parent)
    }

    #[test]
    fn eight_bits_answer_as_before() {
        for layout in ["sequential", "parallel", "cached", "separate"] {
            let (report, parent) = run(layout, 8, None, &[]);
            // Random weights leave near ties, of which one may tip.
            assert!(report.fidelity.agreement > 0.9, "{report:?}");
            assert!(report.fidelity.largest_change < 0.03, "{report:?}");
            assert!(report.bytes_after < report.bytes_before);
            std::fs::remove_dir_all(parent).unwrap();
        }
    }

    #[test]
    fn four_bits_in_groups_are_smaller_and_less_exact() {
        let (eight, parent) = run("cached", 8, Some(16), &[]);
        std::fs::remove_dir_all(parent).unwrap();
        let (four, parent) = run("cached", 4, Some(16), &[]);
        std::fs::remove_dir_all(parent).unwrap();
        assert!(four.bytes_after < eight.bytes_after);
        assert!(four.fidelity.largest_change > eight.fidelity.largest_change);
        assert!(four.fidelity.largest_change < 0.5);
    }

    #[test]
    fn kept_matrices_stay_as_they_are() {
        let (report, parent) = run("cached", 4, Some(32), &["layers.0*Wqkv", "embeddings"]);
        let weights = Weights::open(&parent.join("out/model.safetensors")).unwrap();
        for name in [
            "encoder.layers.0.attn.Wqkv.weight",
            "encoder.embeddings.tok_embeddings.weight",
        ] {
            assert!(weights.dense_matrix(name).is_some(), "{name}");
            assert!(report.kept.iter().any(|kept| kept == name), "{name}");
        }
        assert!(
            weights
                .dense_matrix("encoder.layers.1.attn.Wqkv.weight")
                .is_none()
        );
        std::fs::remove_dir_all(parent).unwrap();
    }

    #[test]
    fn nothing_is_overwritten() {
        let there = tempfile::tempdir().unwrap();
        let how = Quantize {
            bits: 8,
            group: None,
            keep: Vec::new(),
        };
        let error = quantize(&golden("cached"), there.path(), &how).unwrap_err();
        assert!(matches!(error, Error::Io { .. }), "{error}");
    }

    #[test]
    fn patterns_are_found_anywhere_in_a_name() {
        for (pattern, expected) in [
            ("Wqkv", true),
            ("layers.1.*weight", true),
            ("layers.2", false),
            ("weight*layers", false),
        ] {
            assert_eq!(
                matches_pattern("encoder.layers.1.attn.Wqkv.weight", pattern),
                expected
            );
        }
    }
}

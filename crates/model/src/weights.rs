//! The weights file: safetensors, read or mapped into memory and converted row by row.
//!
//! A matrix `NAME` is stored dense (`F32`, `F16`, `BF16`) or quantised, as two tensors:
//!
//! | tensor | type | shape | meaning |
//! |---|---|---|---|
//! | `NAME.q8` | `I8` | `[rows, columns]` | whole numbers -127 to 127 |
//! | `NAME.q4` | `U8` | `[rows, ceil(columns / 2)]` | two numbers -8 to 7 a byte, each stored plus 8, the even column in the low half |
//! | `NAME.scale` | `F32` | `[rows, groups]` | a value is its number times the scale of its group |
//!
//! A row is cut into `groups` runs of `ceil(columns / groups)` columns. [`crate::quantize`] writes it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::ops::{Deref, Range};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memmap2::Mmap;
use safetensors::{Dtype, SafeTensors};

use crate::error::{Error, Result};

/// A weights file and where each tensor lies in it.
pub(crate) struct Weights {
    file: PathBuf,
    map: Arc<Bytes>,
    tensors: BTreeMap<String, Entry>,
}

struct Entry {
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Range<usize>,
}

/// A matrix in the file, row-major; a linear layer's rows are its outputs.
#[derive(Clone)]
pub(crate) struct Matrix {
    map: Arc<Bytes>,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    values: Values,
}

#[derive(Clone)]
enum Values {
    Dense {
        dtype: Dtype,
        bytes: Range<usize>,
    },
    Eight {
        bytes: Range<usize>,
        scale: Vec<f32>,
    },
    Four {
        bytes: Range<usize>,
        scale: Vec<f32>,
    },
    /// Rows of several matrices of equal width, one after another.
    Stacked(Vec<Matrix>),
}

impl Weights {
    /// Maps `file` and reads its directory of tensors.
    pub(crate) fn open(file: &Path) -> Result<Self> {
        let handle = File::open(file).map_err(|e| Error::io(file, e))?;
        let map = Bytes::of(&handle, READ_LIMIT).map_err(|e| Error::io(file, e))?;
        let damaged = |reason| damaged(file, reason);
        if map.starts_with(LFS_POINTER) {
            let reason = "a git-lfs pointer, not the weights (hint: `git lfs pull` fetches them)";
            return Err(damaged(reason.to_owned()));
        }
        let (header, metadata) =
            SafeTensors::read_metadata(&map).map_err(|e| damaged(e.to_string()))?;
        let start = 8 + header;
        let mut tensors = BTreeMap::new();
        for (name, info) in metadata.tensors() {
            let (from, to) = info.data_offsets;
            let bytes = start + from..start + to;
            if bytes.end > map.len() {
                return Err(damaged(format!(
                    "tensor {name} lies past the end of the file"
                )));
            }
            let entry = Entry {
                dtype: info.dtype,
                shape: info.shape.clone(),
                bytes,
            };
            if tensors.insert(canonical(&name), entry).is_some() {
                return Err(damaged(format!("tensor {name} is there under two names")));
            }
        }
        Ok(Self {
            file: file.to_owned(),
            map: Arc::new(map),
            tensors,
        })
    }

    /// Names of all tensors, as the MLX port spells them.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.tensors.keys().map(String::as_str)
    }

    /// Whether a tensor has two dimensions, is dense, and so can be quantised.
    pub(crate) fn dense_matrix(&self, name: &str) -> Option<Matrix> {
        let entry = self.tensors.get(name)?;
        match entry.shape[..] {
            [rows, columns] if width(entry.dtype).is_some() => {
                self.matrix(name, rows, columns).ok()
            }
            _ => None,
        }
    }

    /// Type, shape and bytes of a tensor as they are.
    pub(crate) fn raw(&self, name: &str) -> Option<(Dtype, &[usize], &[u8])> {
        let entry = self.tensors.get(name)?;
        Some((entry.dtype, &entry.shape, &self.map[entry.bytes.clone()]))
    }

    pub(crate) fn error(&self, name: &str, reason: impl Into<String>) -> Error {
        Error::Tensor {
            file: self.file.clone(),
            name: name.to_owned(),
            reason: reason.into(),
        }
    }

    /// A vector of `len` floats.
    pub(crate) fn vector(&self, name: &str, len: usize) -> Result<Vec<f32>> {
        let entry = self.dense(name, &[len])?;
        let mut out = vec![0.0; len];
        decode(entry.dtype, &self.map[entry.bytes.clone()], &mut out);
        Ok(out)
    }

    /// A matrix of the given shape, dense or quantised.
    pub(crate) fn matrix(&self, name: &str, rows: usize, columns: usize) -> Result<Matrix> {
        let values = match (self.tensors.contains_key(name), self.packed(name)) {
            (false, Some((bits, packed))) => self.quantised(name, rows, columns, bits, packed)?,
            _ => {
                let entry = self.dense(name, &[rows, columns])?;
                Values::Dense {
                    dtype: entry.dtype,
                    bytes: entry.bytes.clone(),
                }
            }
        };
        Ok(Matrix {
            map: self.map.clone(),
            rows,
            columns,
            values,
        })
    }

    fn packed(&self, name: &str) -> Option<(u8, &Entry)> {
        let find = |suffix| self.tensors.get(&format!("{name}.{suffix}"));
        find("q8")
            .map(|e| (8, e))
            .or_else(|| find("q4").map(|e| (4, e)))
    }

    fn dense(&self, name: &str, shape: &[usize]) -> Result<&Entry> {
        let entry = self
            .tensors
            .get(name)
            .ok_or_else(|| self.error(name, "missing"))?;
        if entry.shape != shape {
            let reason = format!(
                "shape {:?}, the configuration asks for {shape:?}",
                entry.shape
            );
            return Err(self.error(name, reason));
        }
        match width(entry.dtype) {
            Some(_) => Ok(entry),
            None => Err(self.error(name, format!("unsupported type {:?}", entry.dtype))),
        }
    }

    fn quantised(
        &self,
        name: &str,
        rows: usize,
        columns: usize,
        bits: u8,
        entry: &Entry,
    ) -> Result<Values> {
        let (dtype, stored) = match bits {
            8 => (Dtype::I8, columns),
            _ => (Dtype::U8, columns.div_ceil(2)),
        };
        let part = format!("{name}.q{bits}");
        if entry.dtype != dtype || entry.shape != [rows, stored] {
            let reason = format!(
                "{:?} {:?}, the configuration asks for {dtype:?} [{rows}, {stored}]",
                entry.dtype, entry.shape
            );
            return Err(self.error(&part, reason));
        }
        let part = format!("{name}.scale");
        let scales = self
            .tensors
            .get(&part)
            .ok_or_else(|| self.error(&part, "missing"))?;
        let groups = match scales.shape[..] {
            [r, groups] if r == rows && (1..=columns).contains(&groups) => groups,
            _ => {
                let reason = format!("shape {:?} for {rows} rows", scales.shape);
                return Err(self.error(&part, reason));
            }
        };
        if scales.dtype != Dtype::F32 {
            return Err(self.error(&part, format!("unsupported type {:?}", scales.dtype)));
        }
        let mut scale = vec![0.0; rows * groups];
        decode(scales.dtype, &self.map[scales.bytes.clone()], &mut scale);
        let bytes = entry.bytes.clone();
        Ok(match bits {
            8 => Values::Eight { bytes, scale },
            _ => Values::Four { bytes, scale },
        })
    }
}

impl Matrix {
    /// The rows of `parts` under each other; there is at least one, and all have as many columns.
    pub(crate) fn stacked(parts: Vec<Self>) -> Self {
        debug_assert!(parts.iter().all(|part| part.columns == parts[0].columns));
        Self {
            map: parts[0].map.clone(),
            rows: parts.iter().map(|part| part.rows).sum(),
            columns: parts[0].columns,
            values: Values::Stacked(parts),
        }
    }

    /// The stacked matrix that holds a row, and the row's number in it.
    fn part(parts: &[Self], mut row: usize) -> (&Self, usize) {
        for part in parts {
            if row < part.rows {
                return (part, row);
            }
            row -= part.rows;
        }
        unreachable!("row {row} past the last of a stacked matrix")
    }

    /// Writes row `row` as floats.
    pub(crate) fn row(&self, row: usize, out: &mut [f32]) {
        debug_assert_eq!(out.len(), self.columns);
        match &self.values {
            Values::Dense { dtype, bytes } => {
                let size = width(*dtype).unwrap_or(4) * self.columns;
                let start = bytes.start + row * size;
                decode(*dtype, &self.map[start..start + size], out);
            }
            Values::Eight { bytes, scale } => {
                let start = bytes.start + row * self.columns;
                let numbers = &self.map[start..start + self.columns];
                self.scaled(row, scale, out, |c| f32::from(numbers[c] as i8));
            }
            Values::Four { bytes, scale } => {
                let stored = self.columns.div_ceil(2);
                let start = bytes.start + row * stored;
                let numbers = &self.map[start..start + stored];
                self.scaled(row, scale, out, |c| {
                    f32::from((numbers[c / 2] >> (4 * (c % 2))) & 15) - 8.0
                });
            }
            Values::Stacked(parts) => {
                let (part, row) = Self::part(parts, row);
                part.row(row, out);
            }
        }
    }

    fn scaled(&self, row: usize, scale: &[f32], out: &mut [f32], number: impl Fn(usize) -> f32) {
        let groups = scale.len() / self.rows;
        let run = self.columns.div_ceil(groups);
        for (g, scale) in scale[row * groups..(row + 1) * groups].iter().enumerate() {
            let columns = g * run..((g + 1) * run).min(self.columns);
            for (out, c) in out[columns.clone()].iter_mut().zip(columns) {
                *out = number(c) * scale;
            }
        }
    }

    /// All rows as floats.
    pub(crate) fn to_f32(&self) -> Vec<f32> {
        let mut out = vec![0.0; self.rows * self.columns];
        for (row, out) in out.chunks_exact_mut(self.columns).enumerate() {
            self.row(row, out);
        }
        out
    }

    /// In how many bits the matrix is stored, if not as floats.
    #[cfg(any(feature = "mlx", all(target_os = "macos", target_arch = "aarch64")))]
    pub(crate) fn bits(&self) -> Option<u8> {
        match &self.values {
            Values::Dense { .. } => None,
            Values::Eight { .. } => Some(8),
            Values::Four { .. } => Some(4),
            // The one with the most bits decides; floats count as most.
            Values::Stacked(parts) => parts
                .iter()
                .map(Self::bits)
                .reduce(|a, b| a.zip(b).map(|(a, b)| a.max(b)))?,
        }
    }

    /// Numbers and scale of a row that is stored in 8 bits with one scale.
    pub(crate) fn eight_bit_row(&self, row: usize) -> Option<(&[u8], f32)> {
        match &self.values {
            Values::Eight { bytes, scale } if scale.len() == self.rows => {
                let start = bytes.start + row * self.columns;
                Some((&self.map[start..start + self.columns], scale[row]))
            }
            Values::Stacked(parts) => {
                let (part, row) = Self::part(parts, row);
                part.eight_bit_row(row)
            }
            _ => None,
        }
    }
}

/// A file that as a whole is not what it should be.
pub(crate) fn damaged(file: &Path, reason: String) -> Error {
    Error::Tensor {
        file: file.to_owned(),
        name: "(header)".to_owned(),
        reason,
    }
}

/// PyTorch spells a few parameters otherwise than the MLX port; both are accepted.
fn canonical(name: &str) -> String {
    let name = name.replace(".in_proj_weight", ".in_proj.weight");
    let name = name.replace(".in_proj_bias", ".in_proj.bias");
    for part in ["scorer.", "act_head."] {
        if let Some(rest) = name.strip_prefix(part)
            && !rest.starts_with("layers.")
        {
            return format!("{part}layers.{rest}");
        }
    }
    name
}

fn width(dtype: Dtype) -> Option<usize> {
    match dtype {
        Dtype::F32 => Some(4),
        Dtype::F16 | Dtype::BF16 => Some(2),
        _ => None,
    }
}

fn decode(dtype: Dtype, bytes: &[u8], out: &mut [f32]) {
    match dtype {
        Dtype::F32 => {
            for (v, b) in out.iter_mut().zip(bytes.chunks_exact(4)) {
                *v = f32::from_le_bytes([b[0], b[1], b[2], b[3]]);
            }
        }
        Dtype::BF16 => {
            for (v, b) in out.iter_mut().zip(bytes.chunks_exact(2)) {
                *v = f32::from_bits(u32::from(u16::from_le_bytes([b[0], b[1]])) << 16);
            }
        }
        _ => {
            for (v, b) in out.iter_mut().zip(bytes.chunks_exact(2)) {
                *v = half(u16::from_le_bytes([b[0], b[1]]));
            }
        }
    }
}

/// IEEE 754 half to single precision.
fn half(bits: u16) -> f32 {
    let sign = u32::from(bits >> 15) << 31;
    let exponent = u32::from(bits >> 10) & 31;
    let fraction = u32::from(bits) & 0x3ff;
    let magnitude = match exponent {
        // Subnormal: the fraction counts in steps of 2^-24.
        0 => return f32::from_bits(sign | (fraction as f32 / 16_777_216.0).to_bits()),
        31 => 0x7f80_0000 | (fraction << 13),
        _ => ((exponent + 112) << 23) | (fraction << 13),
    };
    f32::from_bits(sign | magnitude)
}

/// How a file starts that git-lfs has put in place of a large one.
const LFS_POINTER: &[u8] = b"version https://git-lfs";

/// Files of up to this many bytes are read: it takes no longer than to convert them, and nobody
/// can take the bytes away again.
const READ_LIMIT: u64 = 64 << 20;

/// A file's bytes.
enum Bytes {
    Read(Vec<u8>),
    Mapped(Mmap),
}

impl Bytes {
    /// Reads a file of up to `limit` bytes, and maps a larger one.
    fn of(file: &File, limit: u64) -> std::io::Result<Self> {
        let size = file.metadata()?.len();
        if size > limit {
            return map_file(file).map(Self::Mapped);
        }
        let mut bytes = Vec::with_capacity(size as usize);
        file.take(limit).read_to_end(&mut bytes)?;
        Ok(Self::Read(bytes))
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Read(bytes) => bytes,
            Self::Mapped(map) => map,
        }
    }
}

#[expect(unsafe_code, reason = "a file mapping is what makes loading cheap")]
fn map_file(file: &File) -> std::io::Result<Mmap> {
    // SAFETY: the mapping is private and read-only, and no reference into it leaves this crate.
    // Another process that truncates the file while it is mapped can end this one (SIGBUS), as
    // with every mapped file; checkpoints are replaced by renaming, never rewritten in place.
    unsafe { Mmap::map(file) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_the_same_read_or_mapped() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/cached");
        let path = path.join("model.safetensors");
        let open = |limit| Bytes::of(&File::open(&path).unwrap(), limit).unwrap();
        let (read, mapped) = (open(READ_LIMIT), open(100));
        assert!(matches!(
            (&read, &mapped),
            (Bytes::Read(_), Bytes::Mapped(_))
        ));
        assert_eq!(read[..], mapped[..]);
        assert_eq!(read[..], std::fs::read(&path).unwrap()[..]);
    }

    #[test]
    fn half_precision_reads_exactly() {
        let cases = [
            (0x0000, 0.0),
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x7bff, 65504.0),
            (0x0001, 5.960_464_5e-8),
            (0x0400, 6.103_515_6e-5),
            (0xfc00, f32::NEG_INFINITY),
        ];
        for (bits, value) in cases {
            assert_eq!(half(bits), value, "{bits:#06x}");
        }
    }

    #[test]
    fn pytorch_names_become_mlx_names() {
        let cases = [
            (
                "head.layers.0.self_attn.in_proj_weight",
                "head.layers.0.self_attn.in_proj.weight",
            ),
            ("scorer.3.bias", "scorer.layers.3.bias"),
            ("scorer.layers.3.bias", "scorer.layers.3.bias"),
            ("act_head.0.weight", "act_head.layers.0.weight"),
            (
                "encoder.layers.0.attn.Wo.weight",
                "encoder.layers.0.attn.Wo.weight",
            ),
        ];
        for (from, to) in cases {
            assert_eq!(canonical(from), to);
        }
    }
}

//! Layers and small functions on MLX's arrays.

use mlx_rs::error::Exception;
use mlx_rs::{Array, Dtype, fast, nn, ops, transforms};

use crate::error::Error;
use crate::parameters::{Linear, Norm};

/// Columns that share a scale when MLX quantises.
const GROUPS: [i32; 2] = [64, 32];

/// A linear layer: weights as floats or as MLX packs them.
pub(super) struct Product {
    weight: Weight,
    bias: Option<Array>,
}

enum Weight {
    Dense(Array),
    Packed {
        numbers: Array,
        scales: Array,
        biases: Array,
        group: i32,
        bits: i32,
    },
}

pub(super) struct MlxNorm {
    weight: Array,
    bias: Option<Array>,
    eps: f32,
}

pub(super) type Mlxed<T> = std::result::Result<T, Exception>;

#[expect(clippy::needless_pass_by_value, reason = "the form that map_err takes")]
pub(super) fn failed(e: Exception) -> Error {
    Error::Backend {
        backend: "mlx",
        reason: e.to_string(),
    }
}

pub(super) fn shape(dimensions: &[usize]) -> Vec<i32> {
    dimensions.iter().map(|d| *d as i32).collect()
}

/// GELU of the one times the other, as one kernel.
pub(super) fn gated(value: &Array, gate: &Array) -> Mlxed<Array> {
    let both = |(value, gate): (&Array, &Array)| nn::gelu(value)?.multiply(gate);
    // MLX keeps what it compiled; any length of input runs it.
    transforms::compile::compile(both, true)((value, gate))
}

/// Rows of `width` numbers.
pub(super) fn rows(values: &[f32], width: usize) -> Array {
    Array::from_slice(values, &shape(&[values.len() / width, width]))
}

pub(super) fn vector(values: &[f32]) -> Array {
    Array::from_slice(values, &shape(&[values.len()]))
}

fn of_type(values: Option<&[f32]>, dtype: Dtype) -> Mlxed<Option<Array>> {
    values
        .map(|values| vector(values).as_dtype(dtype))
        .transpose()
}

impl Product {
    /// Matrices that the checkpoint holds in few bits are packed in as many by MLX itself; the
    /// others, and all scales and offsets, become floats of the type `dtype`.
    pub(super) fn new(linear: &Linear, dtype: Dtype) -> Mlxed<Self> {
        let matrix = &linear.weight;
        let dense = rows(&matrix.to_f32(), matrix.columns).as_dtype(dtype)?;
        let group = GROUPS
            .into_iter()
            .find(|g| matrix.columns.is_multiple_of(*g as usize));
        let weight = match (matrix.bits(), group) {
            (Some(bits), Some(group)) if matrix.rows.is_multiple_of(32) => {
                let bits = i32::from(bits);
                let (numbers, scales, biases) = ops::quantize(&dense, group, bits)?;
                transforms::eval([&numbers, &scales, &biases])?;
                Weight::Packed {
                    numbers,
                    scales,
                    biases,
                    group,
                    bits,
                }
            }
            _ => {
                let turned = dense.transpose()?;
                transforms::eval([&turned])?;
                Weight::Dense(turned)
            }
        };
        Ok(Self {
            weight,
            bias: of_type(linear.bias.as_deref(), dtype)?,
        })
    }

    pub(super) fn apply(&self, x: &Array) -> Mlxed<Array> {
        let y = match &self.weight {
            Weight::Dense(weight) => x.matmul(weight)?,
            Weight::Packed {
                numbers,
                scales,
                biases,
                group,
                bits,
            } => ops::quantized_matmul(x, numbers, scales, biases, true, *group, *bits)?,
        };
        match &self.bias {
            Some(bias) => y.add(bias),
            None => Ok(y),
        }
    }
}

impl MlxNorm {
    pub(super) fn new(norm: &Norm, eps: f32, dtype: Dtype) -> Mlxed<Self> {
        Ok(Self {
            weight: vector(&norm.weight).as_dtype(dtype)?,
            bias: of_type(norm.bias.as_deref(), dtype)?,
            eps,
        })
    }

    pub(super) fn apply(&self, x: &Array) -> Mlxed<Array> {
        match &self.bias {
            Some(bias) => fast::layer_norm(x, &self.weight, bias, self.eps),
            None => fast::layer_norm(x, &self.weight, None, self.eps),
        }
    }
}

/// `[tokens, heads * width]` to `[1, heads, tokens, width]`.
pub(super) fn heads(x: &Array, heads: usize) -> Mlxed<Array> {
    let (tokens, channels) = (x.shape()[0], x.shape()[1]);
    let heads = heads as i32;
    x.reshape(&[1, tokens, heads, channels / heads])?
        .transpose_axes(&[0, 2, 1, 3])
}

pub(super) fn attention(q: &Array, k: &Array, v: &Array, mask: Option<&Array>) -> Mlxed<Array> {
    let scale = 1.0 / (q.shape()[3] as f32).sqrt();
    let mixed = match mask {
        Some(mask) => fast::scaled_dot_product_attention(q, k, v, scale, mask, None)?,
        None => fast::scaled_dot_product_attention(q, k, v, scale, None, None)?,
    };
    let (heads, tokens, width) = (mixed.shape()[1], mixed.shape()[2], mixed.shape()[3]);
    mixed
        .transpose_axes(&[0, 2, 1, 3])?
        .reshape(&[tokens, heads * width])
}

/// RoPE with the halves of each head apart.
pub(super) fn rotate(x: &Array, (cos, sin): &(Array, Array)) -> Mlxed<Array> {
    let halves = x.split_equal(2, -1)?;
    let (a, b) = (&halves[0], &halves[1]);
    let first = a.multiply(cos)?.subtract(b.multiply(sin)?)?;
    let second = b.multiply(cos)?.add(a.multiply(sin)?)?;
    ops::concatenate(&[&first, &second], -1)
}

pub(super) fn pick(x: &Array, rows: &[usize]) -> Mlxed<Array> {
    let rows: Vec<i32> = rows.iter().map(|row| *row as i32).collect();
    x.take_axis(Array::from_slice(&rows, &[rows.len() as i32]), 0)
}

/// Runs what an array needs, and reads it.
pub(super) fn floats(x: &Array) -> Mlxed<Vec<f32>> {
    let x = x.as_dtype(Dtype::Float32)?.reshape(&[-1])?;
    x.eval()?;
    Ok(x.as_slice::<f32>().to_vec())
}

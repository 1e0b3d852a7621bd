//! The model on MLX: Metal on Apple Silicon, MLX's processor device elsewhere (for tests).
//!
//! MLX builds graphs and runs them when their values are read. Every call here reads its results
//! before it returns, so nothing is left to run in someone else's time. Arrays belong to the thread
//! that made them: the backend is made in the thread that owns the model.

use std::collections::HashMap;

use mlx_rs::error::Exception;
use mlx_rs::{Array, Dtype, fast, memory, nn, ops, transforms};

use super::{Backend, OptionsNeeded, Output, Stop, action_features, check, sees};
use crate::config::{AgentConfig, Attention, EncoderConfig, Layout};
use crate::error::{Error, Result};
use crate::parameters::{HEAD_EPS, Linear, Norm, Parameters};
use crate::sequence::Sequence;
use crate::weights::Matrix;

/// Memory that MLX may keep for buffers to come, in bytes.
const CACHE: usize = 64 << 20;
/// Columns that share a scale when MLX quantises.
const GROUPS: [i32; 2] = [64, 32];

/// The MLX backend.
pub(crate) struct Mlx {
    encoder: EncoderConfig,
    agent: AgentConfig,
    embedding: Matrix,
    embedding_norm: Array,
    final_norm: Array,
    layers: Vec<Layer>,
    kinds: Vec<f32>,
    head: Vec<HeadLayer>,
    scorer: (MlxNorm, Product, Product),
    action: (Product, Product),
    slots: HashMap<usize, Kept>,
}

/// A linear layer: weights as floats or as MLX packs them.
struct Product {
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

struct MlxNorm {
    weight: Array,
    bias: Array,
}

struct Layer {
    attention_norm: Option<Array>,
    qkv: Product,
    attention_out: Product,
    mlp_norm: Array,
    mlp_in: Product,
    mlp_out: Product,
}

struct HeadLayer {
    norm1: MlxNorm,
    qkv: Product,
    out: Product,
    norm2: MlxNorm,
    up: Product,
    down: Product,
}

/// A state that ran: keys and values `[1, heads, tokens, width]` of every layer, positions, and
/// the first token's last hidden state.
struct Kept {
    layers: Vec<(Array, Array)>,
    first: Array,
    tokens: usize,
}

type Mlxed<T> = std::result::Result<T, Exception>;

#[expect(clippy::needless_pass_by_value, reason = "the form that map_err takes")]
fn failed(e: Exception) -> Error {
    Error::Backend {
        backend: "mlx",
        reason: e.to_string(),
    }
}

fn shape(dimensions: &[usize]) -> Vec<i32> {
    dimensions.iter().map(|d| *d as i32).collect()
}

fn vector(values: &[f32]) -> Array {
    Array::from_slice(values, &shape(&[values.len()]))
}

impl Product {
    /// Matrices that the checkpoint holds in few bits are packed in as many by MLX itself.
    fn new(matrix: &Matrix, bias: Option<&[f32]>) -> Mlxed<Self> {
        let dense = Array::from_slice(&matrix.to_f32(), &shape(&[matrix.rows, matrix.columns]));
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
            _ => Weight::Dense(dense.transpose()?),
        };
        Ok(Self {
            weight,
            bias: bias.map(vector),
        })
    }

    fn linear(linear: &Linear) -> Mlxed<Self> {
        Self::new(&linear.weight, Some(&linear.bias))
    }

    fn apply(&self, x: &Array) -> Mlxed<Array> {
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
    fn new(norm: &Norm) -> Self {
        Self {
            weight: vector(&norm.weight),
            bias: vector(&norm.bias),
        }
    }

    fn apply(&self, x: &Array) -> Mlxed<Array> {
        fast::layer_norm(x, &self.weight, &self.bias, HEAD_EPS)
    }
}

impl Mlx {
    pub(crate) fn new(encoder: EncoderConfig, agent: AgentConfig, p: Parameters) -> Result<Self> {
        Self::build(encoder, agent, p).map_err(failed)
    }

    fn build(encoder: EncoderConfig, agent: AgentConfig, p: Parameters) -> Mlxed<Self> {
        memory::set_cache_limit(CACHE)?;
        let mut layers = Vec::new();
        for l in &p.layers {
            layers.push(Layer {
                attention_norm: l.attention_norm.as_deref().map(vector),
                qkv: Product::new(&l.qkv, None)?,
                attention_out: Product::new(&l.attention_out, None)?,
                mlp_norm: vector(&l.mlp_norm),
                mlp_in: Product::new(&l.mlp_in, None)?,
                mlp_out: Product::new(&l.mlp_out, None)?,
            });
        }
        let mut head = Vec::new();
        for l in &p.head {
            head.push(HeadLayer {
                norm1: MlxNorm::new(&l.norm1),
                qkv: Product::linear(&l.qkv)?,
                out: Product::linear(&l.out)?,
                norm2: MlxNorm::new(&l.norm2),
                up: Product::linear(&l.up)?,
                down: Product::linear(&l.down)?,
            });
        }
        Ok(Self {
            layers,
            head,
            scorer: (
                MlxNorm::new(&p.scorer_norm),
                Product::linear(&p.scorer_hidden)?,
                Product::linear(&p.scorer_out)?,
            ),
            action: (
                Product::linear(&p.action_hidden)?,
                Product::linear(&p.action_out)?,
            ),
            embedding_norm: vector(&p.embedding_norm),
            final_norm: vector(&p.final_norm),
            embedding: p.embedding,
            kinds: p.kinds,
            encoder,
            agent,
            slots: HashMap::new(),
        })
    }

    /// The graph of the encoder: hidden states `[tokens, hidden]`, and keys and values of `s`.
    fn encode(&self, s: &Sequence, past: Option<&Kept>) -> Mlxed<(Array, Vec<(Array, Array)>)> {
        let c = &self.encoder;
        let (tokens, d) = (s.ids.len(), c.hidden);
        let mut rows = vec![0.0; tokens * d];
        for (row, id) in rows.chunks_exact_mut(d).zip(&s.ids) {
            self.embedding.row(*id as usize, row);
        }
        let x = Array::from_slice(&rows, &shape(&[tokens, d]));
        let mut x = fast::layer_norm(&x, &self.embedding_norm, None, c.eps)?;
        let turns = [Attention::Full, Attention::Sliding].map(|kind| self.turns(s, kind));
        let masks = [Attention::Full, Attention::Sliding]
            .map(|kind| self.mask(s, past.map_or(0, |kept| kept.tokens), kind));
        let mut seen = Vec::new();
        for (index, layer) in self.layers.iter().enumerate() {
            let sliding = usize::from(c.layers[index] == Attention::Sliding);
            let normed = match &layer.attention_norm {
                Some(weight) => fast::layer_norm(&x, weight, None, c.eps)?,
                None => x.clone(),
            };
            let qkv = layer.qkv.apply(&normed)?.split_equal(3, -1)?;
            let q = rotate(&heads(&qkv[0], c.heads)?, &turns[sliding])?;
            let k = rotate(&heads(&qkv[1], c.heads)?, &turns[sliding])?;
            let v = heads(&qkv[2], c.heads)?;
            let (mut all_k, mut all_v) = (k.clone(), v.clone());
            if let Some(kept) = past {
                let (past_k, past_v) = &kept.layers[index];
                all_k = ops::concatenate(&[past_k, &k], 2)?;
                all_v = ops::concatenate(&[past_v, &v], 2)?;
            }
            let mixed = attention(&q, &all_k, &all_v, Some(&masks[sliding]))?;
            x = x.add(layer.attention_out.apply(&mixed)?)?;
            let normed = fast::layer_norm(&x, &layer.mlp_norm, None, c.eps)?;
            let inner = layer.mlp_in.apply(&normed)?.split_equal(2, -1)?;
            let gated = nn::gelu(&inner[0])?.multiply(&inner[1])?;
            x = x.add(layer.mlp_out.apply(&gated)?)?;
            seen.push((k, v));
        }
        Ok((fast::layer_norm(&x, &self.final_norm, None, c.eps)?, seen))
    }

    /// Cosines and sines of each token's position, `[1, 1, tokens, width / 2]`.
    fn turns(&self, s: &Sequence, kind: Attention) -> (Array, Array) {
        let half = self.encoder.head_dim() / 2;
        let base = self.encoder.base(kind);
        let angle = |p: &u32, c: usize| f64::from(*p) * base.powf(-(c as f64) / half as f64);
        let table = |f: fn(f64) -> f64| {
            let row = |p| (0..half).map(move |c| f(angle(p, c)) as f32);
            let values: Vec<f32> = s.positions.iter().flat_map(row).collect();
            Array::from_slice(&values, &shape(&[1, 1, s.ids.len(), half]))
        };
        (table(f64::cos), table(f64::sin))
    }

    /// What each token sees, `[1, 1, tokens, past + tokens]`. The past is a state: shared, at
    /// positions from 0 on.
    fn mask(&self, s: &Sequence, past: usize, kind: Attention) -> Array {
        let reach = self.encoder.window as u32 / 2;
        let keys = (0..past as u32).map(|p| (p, 0));
        let keys: Vec<(u32, u32)> = keys
            .chain(s.positions.iter().copied().zip(s.owners.iter().copied()))
            .collect();
        let mut visible = Vec::with_capacity(s.ids.len() * keys.len());
        for (position, owner) in s.positions.iter().zip(&s.owners) {
            visible.extend(keys.iter().map(|(p, o)| {
                let near = kind == Attention::Full || p.abs_diff(*position) <= reach;
                near && sees(self.agent.layout, *owner, *o)
            }));
        }
        Array::from_slice(&visible, &shape(&[1, 1, s.ids.len(), keys.len()]))
    }

    /// Head, scorer and action head over rows `[CLS]` first; reads the results.
    fn decide(&self, rows: &Array, markers: &[usize], s: &Sequence) -> Mlxed<Output> {
        let d = self.encoder.hidden;
        let kind = vector(&self.kinds[s.kind as usize * d..][..d]);
        let mut x = rows.add(&kind)?;
        let count = (d / 64).max(1);
        for layer in &self.head {
            let qkv = layer
                .qkv
                .apply(&layer.norm1.apply(&x)?)?
                .split_equal(3, -1)?;
            let [q, k, v] = [0, 1, 2].map(|i| heads(&qkv[i], count));
            x = x.add(layer.out.apply(&attention(&q?, &k?, &v?, None)?)?)?;
            let inner = nn::relu(layer.up.apply(&layer.norm2.apply(&x)?)?)?;
            x = x.add(layer.down.apply(&inner)?)?;
        }
        let (norm, hidden, out) = &self.scorer;
        let options = pick(&x, markers)?;
        let logits = out.apply(&nn::gelu(hidden.apply(&norm.apply(&options)?)?)?)?;
        let logits = floats(&logits)?;
        let mut pooled = floats(&pick(&x, &[0])?)?;
        pooled.extend(action_features(&logits));
        let pooled = Array::from_slice(&pooled, &shape(&[1, pooled.len()]));
        let (hidden, out) = &self.action;
        let actions = floats(&out.apply(&nn::gelu(hidden.apply(&pooled)?)?)?)?;
        Ok(Output { logits, actions })
    }

    fn run(&self, s: &Sequence) -> Mlxed<Output> {
        let (x, _) = self.encode(s, None)?;
        if self.agent.layout != Layout::Cached {
            return self.decide(&x, &s.markers, s);
        }
        let rows: Vec<usize> = std::iter::once(0)
            .chain(s.markers.iter().copied())
            .collect();
        let markers: Vec<usize> = (1..rows.len()).collect();
        self.decide(&pick(&x, &rows)?, &markers, s)
    }

    fn keep(&self, state: &Sequence) -> Mlxed<Kept> {
        let (x, layers) = self.encode(state, None)?;
        let first = pick(&x, &[0])?;
        transforms::eval(layers.iter().flat_map(|(k, v)| [k, v]).chain([&first]))?;
        Ok(Kept {
            layers,
            first,
            tokens: state.ids.len(),
        })
    }

    fn score(&self, kept: &Kept, s: &Sequence) -> Mlxed<Output> {
        let (x, _) = self.encode(s, Some(kept))?;
        let rows = ops::concatenate(&[&kept.first, &pick(&x, &s.markers)?], 0)?;
        let markers: Vec<usize> = (1..=s.markers.len()).collect();
        self.decide(&rows, &markers, s)
    }
}

impl Backend for Mlx {
    fn name(&self) -> &'static str {
        "mlx"
    }

    fn detail(&self) -> String {
        let device = mlx_rs::Device::try_default().map(|device| device.to_string());
        device.unwrap_or_default()
    }

    fn forward(&mut self, s: &Sequence, stop: &Stop) -> Result<Output> {
        check(s, self.encoder.vocab, OptionsNeeded::Some)?;
        stop.check()?;
        self.run(s).map_err(failed)
    }

    fn prepare(&mut self, slot: usize, state: &Sequence, stop: &Stop) -> Result<()> {
        self.slots.remove(&slot);
        check(state, self.encoder.vocab, OptionsNeeded::None)?;
        stop.check()?;
        let kept = self.keep(state).map_err(failed)?;
        self.slots.insert(slot, kept);
        Ok(())
    }

    fn options(&mut self, slot: usize, s: &Sequence, stop: &Stop) -> Result<Output> {
        check(s, self.encoder.vocab, OptionsNeeded::Some)?;
        stop.check()?;
        let empty = || Error::Input(format!("slot {slot} holds no state"));
        let kept = self.slots.get(&slot).ok_or_else(empty)?;
        self.score(kept, s).map_err(failed)
    }

    fn forget(&mut self, slot: usize) {
        self.slots.remove(&slot);
    }
}

/// `[tokens, heads * width]` to `[1, heads, tokens, width]`.
fn heads(x: &Array, heads: usize) -> Mlxed<Array> {
    let (tokens, channels) = (x.shape()[0], x.shape()[1]);
    let heads = heads as i32;
    x.reshape(&[1, tokens, heads, channels / heads])?
        .transpose_axes(&[0, 2, 1, 3])
}

fn attention(q: &Array, k: &Array, v: &Array, mask: Option<&Array>) -> Mlxed<Array> {
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
fn rotate(x: &Array, (cos, sin): &(Array, Array)) -> Mlxed<Array> {
    let halves = x.split_equal(2, -1)?;
    let (a, b) = (&halves[0], &halves[1]);
    let first = a.multiply(cos)?.subtract(b.multiply(sin)?)?;
    let second = b.multiply(cos)?.add(a.multiply(sin)?)?;
    ops::concatenate(&[&first, &second], -1)
}

fn pick(x: &Array, rows: &[usize]) -> Mlxed<Array> {
    let rows: Vec<i32> = rows.iter().map(|row| *row as i32).collect();
    x.take_axis(Array::from_slice(&rows, &[rows.len() as i32]), 0)
}

/// Runs what an array needs, and reads it.
fn floats(x: &Array) -> Mlxed<Vec<f32>> {
    let x = x.as_dtype(Dtype::Float32)?.reshape(&[-1])?;
    x.eval()?;
    Ok(x.as_slice::<f32>().to_vec())
}

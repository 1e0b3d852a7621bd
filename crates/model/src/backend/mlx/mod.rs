//! The model on MLX: Metal on Apple Silicon, MLX's processor device elsewhere (for tests).
//!
//! MLX builds graphs and runs them when their values are read. Every call here reads its results
//! before it returns, so nothing is left to run in someone else's time. Arrays belong to the thread
//! that made them: the backend is made in the thread that owns the model.
//!
//! Weights are cast once, to 16-bit floats on Metal and to 32-bit ones elsewhere, except those
//! that the checkpoint holds in 8 or 4 bits: `quantized_matmul` reads them as they are. So a
//! checkpoint of mixed precision (`quantize --keep`) runs in mixed precision.

mod parts;

use std::collections::HashMap;

use mlx_rs::{Array, Dtype, memory, nn, ops, transforms};

use self::parts::{
    MlxNorm, Mlxed, Product, attention, failed, floats, gated, heads, pick, rotate, rows, shape,
    vector,
};
use super::cpu::Precision;
use super::{
    Backend, OPTION_ROW, OptionsNeeded, Output, STATE_ROW, Stop, action_features, check,
    check_rows, empty, sees, separately,
};
use crate::config::{AgentConfig, Attention, EncoderConfig, Family, Kind, Layout};
use crate::error::Result;
use crate::parameters::{Embedding, HEAD_EPS, Parameters};
use crate::sequence::Sequence;

/// Memory that MLX may keep for buffers to come, in bytes.
const CACHE: usize = 64 << 20;

/// The MLX backend.
pub(crate) struct Mlx {
    /// Type of the numbers between the layers.
    dtype: Dtype,
    encoder: EncoderConfig,
    agent: AgentConfig,
    embedding: Embedding,
    embedding_norm: MlxNorm,
    final_norm: Option<MlxNorm>,
    layers: Vec<Layer>,
    kinds: Vec<f32>,
    head: Vec<HeadLayer>,
    scorer: (MlxNorm, Product, Product),
    action: Option<(Product, Product)>,
    slots: HashMap<usize, Kept>,
}

struct Layer {
    attention_norm: Option<MlxNorm>,
    qkv: Product,
    attention_out: Product,
    mlp_norm: MlxNorm,
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

/// What tokens of one layer look at, and how their positions count.
struct Attending<'a> {
    /// Cosines and sines of RoPE.
    turns: Option<&'a (Array, Array)>,
    mask: &'a Array,
    past: Option<&'a (Array, Array)>,
}

/// A state that ran: keys and values `[1, heads, tokens, width]` of every layer, positions, and
/// the first token's last hidden state.
struct Kept {
    layers: Vec<(Array, Array)>,
    first: Array,
    tokens: usize,
}

impl Mlx {
    pub(crate) fn new(
        encoder: EncoderConfig,
        agent: AgentConfig,
        p: Parameters,
        precision: Precision,
    ) -> Result<Self> {
        let dtype = match precision {
            Precision::Half => Dtype::Float16,
            Precision::Auto | Precision::EightFast if has_metal() => Dtype::Float16,
            _ => Dtype::Float32,
        };
        Self::build(encoder, agent, p, dtype).map_err(failed)
    }

    fn build(
        encoder: EncoderConfig,
        agent: AgentConfig,
        p: Parameters,
        dtype: Dtype,
    ) -> Mlxed<Self> {
        memory::set_cache_limit(CACHE)?;
        let before = memory::active_memory()?;
        let eps = encoder.eps;
        let norm = |n| MlxNorm::new(n, eps, dtype);
        let head_norm = |n| MlxNorm::new(n, HEAD_EPS, dtype);
        let product = |l| Product::new(l, dtype);
        let mut layers = Vec::new();
        for l in &p.layers {
            layers.push(Layer {
                attention_norm: l.attention_norm.as_ref().map(norm).transpose()?,
                qkv: product(&l.qkv)?,
                attention_out: product(&l.attention_out)?,
                mlp_norm: norm(&l.mlp_norm)?,
                mlp_in: product(&l.mlp_in)?,
                mlp_out: product(&l.mlp_out)?,
            });
        }
        let mut head = Vec::new();
        for l in &p.head {
            head.push(HeadLayer {
                norm1: head_norm(&l.norm1)?,
                qkv: product(&l.qkv)?,
                out: product(&l.out)?,
                norm2: head_norm(&l.norm2)?,
                up: product(&l.up)?,
                down: product(&l.down)?,
            });
        }
        let model = Self {
            dtype,
            layers,
            head,
            scorer: (
                head_norm(&p.scorer_norm)?,
                product(&p.scorer_hidden)?,
                product(&p.scorer_out)?,
            ),
            action: match &p.action {
                Some(a) => Some((product(&a.hidden)?, product(&a.out)?)),
                None => None,
            },
            embedding_norm: norm(&p.embedding_norm)?,
            final_norm: p.final_norm.as_ref().map(norm).transpose()?,
            embedding: p.embedding,
            kinds: p.kinds,
            encoder,
            agent,
            slots: HashMap::new(),
        };
        let weights = memory::active_memory()?.saturating_sub(before);
        // Keeps the weights from being paged out. Only Metal on macOS 15 has it; without it all
        // else is as before.
        let _ = memory::set_wired_limit(weights + CACHE);
        Ok(model)
    }

    /// The graph of the encoder: hidden states `[tokens, hidden]`, and keys and values of `s`.
    fn layers(&self, s: &Sequence, past: Option<&Kept>) -> Mlxed<(Array, Vec<(Array, Array)>)> {
        let d = self.encoder.hidden;
        let mut embedded = vec![0.0; s.ids.len() * d];
        let tokens = s.ids.iter().zip(&s.positions);
        for (row, (id, position)) in embedded.chunks_exact_mut(d).zip(tokens) {
            self.embedding.row(*id, *position, row);
        }
        let embedded = rows(&embedded, d).as_dtype(self.dtype)?;
        let mut x = self.embedding_norm.apply(&embedded)?;
        let kinds = [Attention::Full, Attention::Sliding];
        let turns = match self.encoder.family {
            Family::ModernBert => {
                let [full, sliding] = kinds.map(|kind| self.turns(s, kind));
                Some([full?, sliding?])
            }
            Family::Bert => None,
        };
        let masks = kinds.map(|kind| self.mask(s, past.map_or(0, |kept| kept.tokens), kind));
        let mut seen = Vec::new();
        for (index, layer) in self.layers.iter().enumerate() {
            let sliding = usize::from(self.encoder.layers[index] == Attention::Sliding);
            let attention = Attending {
                turns: turns.as_ref().map(|turns| &turns[sliding]),
                mask: &masks[sliding],
                past: past.map(|kept| &kept.layers[index]),
            };
            let (y, own) = match self.encoder.family {
                Family::ModernBert => self.modern_bert_layer(layer, &x, &attention)?,
                Family::Bert => self.bert_layer(layer, &x, &attention)?,
            };
            x = y;
            seen.push(own);
        }
        if let Some(last) = &self.final_norm {
            x = last.apply(&x)?;
        }
        Ok((x, seen))
    }

    fn modern_bert_layer(
        &self,
        layer: &Layer,
        x: &Array,
        attention: &Attending,
    ) -> Mlxed<(Array, (Array, Array))> {
        let normed = match &layer.attention_norm {
            Some(before) => before.apply(x)?,
            None => x.clone(),
        };
        let (mixed, own) = self.attend(layer, &normed, attention)?;
        let x = x.add(mixed)?;
        let inner = layer.mlp_in.apply(&layer.mlp_norm.apply(&x)?)?;
        let inner = inner.split_equal(2, -1)?;
        let gated = gated(&inner[0], &inner[1])?;
        Ok((x.add(layer.mlp_out.apply(&gated)?)?, own))
    }

    fn bert_layer(
        &self,
        layer: &Layer,
        x: &Array,
        attention: &Attending,
    ) -> Mlxed<(Array, (Array, Array))> {
        let (mixed, own) = self.attend(layer, x, attention)?;
        let mut x = x.add(mixed)?;
        if let Some(after) = &layer.attention_norm {
            x = after.apply(&x)?;
        }
        let inner = nn::gelu(layer.mlp_in.apply(&x)?)?;
        let x = x.add(layer.mlp_out.apply(&inner)?)?;
        Ok((layer.mlp_norm.apply(&x)?, own))
    }

    /// What attention adds to each token, and the tokens' keys and values.
    fn attend(&self, layer: &Layer, x: &Array, a: &Attending) -> Mlxed<(Array, (Array, Array))> {
        let count = self.encoder.heads;
        let qkv = layer.qkv.apply(x)?.split_equal(3, -1)?;
        let (mut q, mut k) = (heads(&qkv[0], count)?, heads(&qkv[1], count)?);
        if let Some(turns) = a.turns {
            q = rotate(&q, turns)?;
            k = rotate(&k, turns)?;
        }
        let v = heads(&qkv[2], count)?;
        let mixed = match a.past {
            Some((past_k, past_v)) => {
                let all_k = ops::concatenate(&[past_k, &k], 2)?;
                let all_v = ops::concatenate(&[past_v, &v], 2)?;
                attention(&q, &all_k, &all_v, Some(a.mask))?
            }
            None => attention(&q, &k, &v, Some(a.mask))?,
        };
        Ok((layer.attention_out.apply(&mixed)?, (k, v)))
    }

    /// Cosines and sines of each token's position, `[1, 1, tokens, width / 2]`.
    fn turns(&self, s: &Sequence, kind: Attention) -> Mlxed<(Array, Array)> {
        let half = self.encoder.head_dim() / 2;
        let base = self.encoder.base(kind);
        let angle = |p: &u32, c: usize| f64::from(*p) * base.powf(-(c as f64) / half as f64);
        let table = |f: fn(f64) -> f64| {
            let row = |p| (0..half).map(move |c| f(angle(p, c)) as f32);
            let values: Vec<f32> = s.positions.iter().flat_map(row).collect();
            Array::from_slice(&values, &shape(&[1, 1, s.ids.len(), half])).as_dtype(self.dtype)
        };
        Ok((table(f64::cos)?, table(f64::sin)?))
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

    /// Adds the type embedding in row `row` of the table.
    fn with_kind(&self, rows: &Array, row: usize) -> Mlxed<Array> {
        let d = self.encoder.hidden;
        let kind = vector(&self.kinds[row * d..][..d]).as_dtype(self.dtype)?;
        rows.as_dtype(self.dtype)?.add(kind)
    }

    /// Head, scorer and action head over rows to which their kinds have been added, `[CLS]` first;
    /// reads the results.
    fn decide(&self, mut x: Array, markers: &[usize]) -> Mlxed<Output> {
        let d = self.encoder.hidden;
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
        let actions = match &self.action {
            Some((hidden, out)) => {
                let mut pooled = floats(&pick(&x, &[0])?)?;
                pooled.extend(action_features(&logits));
                let pooled = rows(&pooled, pooled.len()).as_dtype(self.dtype)?;
                floats(&out.apply(&nn::gelu(hidden.apply(&pooled)?)?)?)?
            }
            None => Vec::new(),
        };
        Ok(Output { logits, actions })
    }

    fn run(&self, s: &Sequence) -> Mlxed<Output> {
        let (x, _) = self.layers(s, None)?;
        let x = self.with_kind(&x, s.kind as usize)?;
        if self.agent.layout != Layout::Cached {
            return self.decide(x, &s.markers);
        }
        let rows: Vec<usize> = std::iter::once(0)
            .chain(s.markers.iter().copied())
            .collect();
        let markers: Vec<usize> = (1..rows.len()).collect();
        self.decide(pick(&x, &rows)?, &markers)
    }

    fn keep(&self, state: &Sequence) -> Mlxed<Kept> {
        let (x, layers) = self.layers(state, None)?;
        let first = pick(&x, &[0])?;
        transforms::eval(layers.iter().flat_map(|(k, v)| [k, v]).chain([&first]))?;
        Ok(Kept {
            layers,
            first,
            tokens: state.ids.len(),
        })
    }

    fn choose_by(&self, kept: &Kept, vectors: &[f32], kind: Kind) -> Mlxed<Output> {
        let options = rows(vectors, self.encoder.hidden).as_dtype(self.dtype)?;
        let all = ops::concatenate(&[&kept.first, &options], 0)?;
        let markers: Vec<usize> = (1..=vectors.len() / self.encoder.hidden).collect();
        self.decide(self.with_kind(&all, kind as usize)?, &markers)
    }

    fn score_vectors(&self, state: &[f32], options: &[f32]) -> Mlxed<Output> {
        let d = self.encoder.hidden;
        let (tokens, count) = (state.len() / d, options.len() / d);
        let state = self.with_kind(&rows(state, d), STATE_ROW)?;
        let options = self.with_kind(&rows(options, d), OPTION_ROW)?;
        let markers: Vec<usize> = (tokens..tokens + count).collect();
        self.decide(ops::concatenate(&[&state, &options], 0)?, &markers)
    }
}

impl Backend for Mlx {
    fn name(&self) -> &'static str {
        "mlx"
    }

    fn detail(&self) -> String {
        let device = mlx_rs::Device::try_default().map(|device| device.to_string());
        let numbers = match self.dtype {
            Dtype::Float16 => "16-bit floats",
            _ => "floats",
        };
        format!("{}, {numbers}", device.unwrap_or_default())
    }

    fn forward(&mut self, s: &Sequence, stop: &Stop) -> Result<Output> {
        check(s, &self.encoder, OptionsNeeded::Some)?;
        stop.check()?;
        if self.agent.layout == Layout::Separate {
            let hidden = self.encoder.hidden;
            return separately(self, hidden, s, stop);
        }
        self.run(s).map_err(failed)
    }

    fn prepare(&mut self, slot: usize, state: &Sequence, stop: &Stop) -> Result<()> {
        self.slots.remove(&slot);
        check(state, &self.encoder, OptionsNeeded::None)?;
        stop.check()?;
        let kept = self.keep(state).map_err(failed)?;
        self.slots.insert(slot, kept);
        Ok(())
    }

    fn vectors(&mut self, slot: usize, s: &Sequence, stop: &Stop) -> Result<Vec<f32>> {
        check(s, &self.encoder, OptionsNeeded::Some)?;
        stop.check()?;
        let kept = self.slots.get(&slot).ok_or_else(|| empty(slot))?;
        let states = self.layers(s, Some(kept));
        let vectors = states.and_then(|(x, _)| floats(&pick(&x, &s.markers)?));
        vectors.map_err(failed)
    }

    fn choose(&mut self, slot: usize, vectors: &[f32], kind: Kind, stop: &Stop) -> Result<Output> {
        let kept = self.slots.get(&slot).ok_or_else(|| empty(slot))?;
        check_rows(vectors, vectors, self.encoder.hidden)?;
        stop.check()?;
        self.choose_by(kept, vectors, kind).map_err(failed)
    }

    fn forget(&mut self, slot: usize) {
        self.slots.remove(&slot);
    }

    fn encode(&mut self, pieces: &Sequence, stop: &Stop) -> Result<Vec<f32>> {
        check(pieces, &self.encoder, OptionsNeeded::None)?;
        stop.check()?;
        let states = self.layers(pieces, None).and_then(|(x, _)| floats(&x));
        states.map_err(failed)
    }

    fn compare(&mut self, state: &[f32], options: &[f32], stop: &Stop) -> Result<Output> {
        check_rows(state, options, self.encoder.hidden)?;
        stop.check()?;
        self.score_vectors(state, options).map_err(failed)
    }
}

/// Whether MLX runs on Metal, whose 16-bit floats are as fast as its memory.
fn has_metal() -> bool {
    cfg!(target_os = "macos")
}

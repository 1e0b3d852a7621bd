//! The model in plain scalar code: what every other backend is measured against.
//!
//! Architecture: ModernBERT (Warner et al., 2024, arXiv:2412.13663) without offsets, then the
//! decision head of Laya: pre-norm layers with ReLU, a scorer for each option's marker, and an
//! action head on the first token.

use std::collections::HashMap;

use super::{Backend, OptionsNeeded, Output, Stop, action_features, check, sees};
use crate::config::{AgentConfig, Attention, EncoderConfig, Layout};
use crate::error::{Error, Result};
use crate::parameters::{EncoderLayer, HEAD_EPS, HeadLayer, Norm, Parameters};
use crate::sequence::Sequence;
use crate::weights::Matrix;

type Rows = Vec<Vec<f32>>;

/// A linear layer.
struct Dense {
    weight: Rows,
    bias: Option<Vec<f32>>,
}

/// The reference backend; slow, clear.
pub(crate) struct Reference {
    encoder: EncoderConfig,
    agent: AgentConfig,
    parameters: Parameters,
    layers: Vec<[Dense; 4]>,
    head: Vec<[Dense; 4]>,
    tail: [Dense; 4],
    slots: HashMap<usize, Kept>,
}

/// A state that ran: keys and values of every layer, and the first token's last hidden state.
struct Kept {
    layers: Vec<Seen>,
    first: Vec<f32>,
}

/// Tokens that later tokens can look at, in one layer.
#[derive(Clone, Default)]
struct Seen {
    keys: Rows,
    values: Rows,
    positions: Vec<u32>,
    owners: Vec<u32>,
}

impl Dense {
    fn plain(matrix: &Matrix) -> Self {
        let rows = matrix
            .to_f32()
            .chunks_exact(matrix.columns)
            .map(<[f32]>::to_vec)
            .collect();
        Self {
            weight: rows,
            bias: None,
        }
    }

    fn with_bias(linear: &crate::parameters::Linear) -> Self {
        Self {
            bias: Some(linear.bias.clone()),
            ..Self::plain(&linear.weight)
        }
    }

    fn apply(&self, x: &[f32]) -> Vec<f32> {
        let dot = |row: &Vec<f32>| row.iter().zip(x).map(|(w, x)| w * x).sum::<f32>();
        let mut y: Vec<f32> = self.weight.iter().map(dot).collect();
        if let Some(bias) = &self.bias {
            add(&mut y, bias);
        }
        y
    }
}

impl Reference {
    pub(crate) fn new(encoder: EncoderConfig, agent: AgentConfig, p: Parameters) -> Self {
        let layer =
            |l: &EncoderLayer| [&l.qkv, &l.attention_out, &l.mlp_in, &l.mlp_out].map(Dense::plain);
        let head = |l: &HeadLayer| [&l.qkv, &l.out, &l.up, &l.down].map(Dense::with_bias);
        let tail = [
            &p.scorer_hidden,
            &p.scorer_out,
            &p.action_hidden,
            &p.action_out,
        ];
        Self {
            layers: p.layers.iter().map(layer).collect(),
            head: p.head.iter().map(head).collect(),
            tail: tail.map(Dense::with_bias),
            encoder,
            agent,
            parameters: p,
            slots: HashMap::new(),
        }
    }

    /// Runs the encoder over `s`, whose tokens also see `past`. Returns the hidden states after
    /// the last norm, and what later tokens can see.
    fn encode(&self, s: &Sequence, past: &[Seen], stop: &Stop) -> Result<(Rows, Vec<Seen>)> {
        let eps = self.encoder.eps;
        let mut x: Rows = s.ids.iter().map(|id| self.embed(*id)).collect();
        let mut seen = Vec::new();
        for (i, layer) in self.parameters.layers.iter().enumerate() {
            stop.check()?;
            let kind = self.encoder.layers[i];
            let [qkv, out, mlp_in, mlp_out] = &self.layers[i];
            let normed: Rows = match &layer.attention_norm {
                Some(weight) => x.iter().map(|x| norm(x, weight, None, eps)).collect(),
                None => x.clone(),
            };
            let mut all = past.get(i).cloned().unwrap_or_default();
            let mut queries = Vec::new();
            for (t, x) in normed.iter().enumerate() {
                let mut y = qkv.apply(x);
                let mut k = y.split_off(self.encoder.hidden);
                let v = k.split_off(self.encoder.hidden);
                self.rotate(&mut y, s.positions[t], kind);
                self.rotate(&mut k, s.positions[t], kind);
                queries.push(y);
                all.keys.push(k);
                all.values.push(v);
            }
            all.positions.extend(&s.positions);
            all.owners.extend(&s.owners);
            for (t, x) in x.iter_mut().enumerate() {
                let visible = |j: usize| {
                    let far = s.positions[t].abs_diff(all.positions[j]) as usize;
                    sees(self.agent.layout, s.owners[t], all.owners[j])
                        && (kind == Attention::Full || far <= self.encoder.window / 2)
                };
                let y = attend(
                    &queries[t],
                    &all.keys,
                    &all.values,
                    self.encoder.heads,
                    visible,
                );
                add(x, &out.apply(&y));
                let y = mlp_in.apply(&norm(x, &layer.mlp_norm, None, eps));
                let (value, gate) = y.split_at(self.encoder.intermediate);
                let y: Vec<f32> = value.iter().zip(gate).map(|(v, g)| gelu(*v) * g).collect();
                add(x, &mlp_out.apply(&y));
            }
            seen.push(all);
        }
        let last = |x: &Vec<f32>| norm(x, &self.parameters.final_norm, None, eps);
        Ok((x.iter().map(last).collect(), seen))
    }

    fn embed(&self, id: u32) -> Vec<f32> {
        let mut x = vec![0.0; self.encoder.hidden];
        self.parameters.embedding.row(id as usize, &mut x);
        norm(&x, &self.parameters.embedding_norm, None, self.encoder.eps)
    }

    /// RoPE: the two halves of each head turn together, slower from channel to channel.
    fn rotate(&self, x: &mut [f32], position: u32, kind: Attention) {
        let half = self.encoder.head_dim() / 2;
        let base = self.encoder.base(kind);
        for head in x.chunks_exact_mut(2 * half) {
            for c in 0..half {
                let angle = f64::from(position) / base.powf(c as f64 / half as f64);
                let (sin, cos) = (angle.sin() as f32, angle.cos() as f32);
                let (a, b) = (head[c], head[c + half]);
                head[c] = a * cos - b * sin;
                head[c + half] = b * cos + a * sin;
            }
        }
    }

    /// Head, scorer and action head over `rows`; `markers` index into them, row 0 is `[CLS]`.
    fn decide(&self, mut rows: Rows, markers: &[usize], s: &Sequence) -> Output {
        let d = self.encoder.hidden;
        let kind = &self.parameters.kinds[s.kind as usize * d..][..d];
        rows.iter_mut().for_each(|x| add(x, kind));
        let heads = (d / 64).max(1);
        for (layer, [qkv, out, up, down]) in self.parameters.head.iter().zip(&self.head) {
            let (mut queries, mut keys, mut values) = (Vec::new(), Vec::new(), Vec::new());
            for x in &rows {
                let mut y = qkv.apply(&with_norm(x, &layer.norm1));
                let mut k = y.split_off(d);
                values.push(k.split_off(d));
                keys.push(k);
                queries.push(y);
            }
            for (x, query) in rows.iter_mut().zip(&queries) {
                add(
                    x,
                    &out.apply(&attend(query, &keys, &values, heads, |_| true)),
                );
                let mut y = up.apply(&with_norm(x, &layer.norm2));
                y.iter_mut().for_each(|v| *v = v.max(0.0));
                add(x, &down.apply(&y));
            }
        }
        let [hidden, score, action_hidden, action_out] = &self.tail;
        let logit = |m: &usize| {
            let y = hidden.apply(&with_norm(&rows[*m], &self.parameters.scorer_norm));
            score.apply(&y.into_iter().map(gelu).collect::<Vec<_>>())[0]
        };
        let logits: Vec<f32> = markers.iter().map(logit).collect();
        let pooled = [&rows[0][..], &action_features(&logits)].concat();
        let y: Vec<f32> = action_hidden.apply(&pooled).into_iter().map(gelu).collect();
        Output {
            actions: action_out.apply(&y),
            logits,
        }
    }
}

impl Backend for Reference {
    fn name(&self) -> &'static str {
        "reference"
    }

    fn forward(&mut self, s: &Sequence, stop: &Stop) -> Result<Output> {
        check(s, self.encoder.vocab, OptionsNeeded::Some)?;
        let (rows, _) = self.encode(s, &[], stop)?;
        if self.agent.layout != Layout::Cached {
            return Ok(self.decide(rows, &s.markers, s));
        }
        let compared = std::iter::once(&0)
            .chain(&s.markers)
            .map(|i| rows[*i].clone())
            .collect();
        let markers: Vec<usize> = (1..=s.markers.len()).collect();
        Ok(self.decide(compared, &markers, s))
    }

    fn prepare(&mut self, slot: usize, state: &Sequence, stop: &Stop) -> Result<()> {
        self.slots.remove(&slot);
        check(state, self.encoder.vocab, OptionsNeeded::None)?;
        let (mut rows, layers) = self.encode(state, &[], stop)?;
        self.slots.insert(
            slot,
            Kept {
                layers,
                first: rows.swap_remove(0),
            },
        );
        Ok(())
    }

    fn options(&mut self, slot: usize, s: &Sequence, stop: &Stop) -> Result<Output> {
        check(s, self.encoder.vocab, OptionsNeeded::Some)?;
        let empty = || Error::Input(format!("slot {slot} holds no state"));
        let kept = self.slots.get(&slot).ok_or_else(empty)?;
        let (rows, _) = self.encode(s, &kept.layers, stop)?;
        let mut compared = vec![kept.first.clone()];
        compared.extend(s.markers.iter().map(|m| rows[*m].clone()));
        let markers: Vec<usize> = (1..=s.markers.len()).collect();
        Ok(self.decide(compared, &markers, s))
    }

    fn forget(&mut self, slot: usize) {
        self.slots.remove(&slot);
    }
}

fn add(x: &mut [f32], y: &[f32]) {
    x.iter_mut().zip(y).for_each(|(x, y)| *x += y);
}

fn with_norm(x: &[f32], parameters: &Norm) -> Vec<f32> {
    norm(x, &parameters.weight, Some(&parameters.bias), HEAD_EPS)
}

fn norm(x: &[f32], weight: &[f32], bias: Option<&[f32]>, eps: f32) -> Vec<f32> {
    let count = x.len() as f32;
    let mean = x.iter().sum::<f32>() / count;
    let variance = x.iter().map(|v| (v - mean) * (v - mean)).sum::<f32>() / count;
    let scale = 1.0 / (variance + eps).sqrt();
    let mut y: Vec<f32> = x
        .iter()
        .zip(weight)
        .map(|(v, w)| (v - mean) * scale * w)
        .collect();
    if let Some(bias) = bias {
        add(&mut y, bias);
    }
    y
}

/// Softmax attention of one query over the visible keys, head by head.
fn attend(
    query: &[f32],
    keys: &[Vec<f32>],
    values: &[Vec<f32>],
    heads: usize,
    visible: impl Fn(usize) -> bool,
) -> Vec<f32> {
    let width = query.len() / heads;
    let shown: Vec<usize> = (0..keys.len()).filter(|j| visible(*j)).collect();
    let mut out = vec![0.0; query.len()];
    for h in 0..heads {
        let part = h * width..(h + 1) * width;
        let q = &query[part.clone()];
        let dot = |j: &usize| {
            q.iter()
                .zip(&keys[*j][part.clone()])
                .map(|(a, b)| a * b)
                .sum()
        };
        let scores: Vec<f32> = shown.iter().map(dot).collect();
        let p = crate::answer::softmax(&scores, (width as f32).sqrt());
        for (p, j) in p.iter().zip(&shown) {
            for (o, v) in out[part.clone()].iter_mut().zip(&values[*j][part.clone()]) {
                *o += p * v;
            }
        }
    }
    out
}

/// GELU by the error function.
pub(crate) fn gelu(x: f32) -> f32 {
    0.5 * x * (1.0 + erf(f64::from(x) * std::f64::consts::FRAC_1_SQRT_2) as f32)
}

/// Abramowitz and Stegun, 7.1.26: absolute error below 1.5e-7.
fn erf(x: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.327_591_1 * x.abs());
    let poly = ((((1.061_405_429 * t - 1.453_152_027) * t + 1.421_413_741) * t - 0.284_496_736)
        * t
        + 0.254_829_592)
        * t;
    (1.0 - poly * (-x * x).exp()).copysign(x)
}

//! The model in plain scalar code: what every other backend is measured against.
//!
//! Architecture: ModernBERT (Warner et al., 2024, arXiv:2412.13663) without offsets, or BERT
//! (Devlin et al., 2018, arXiv:1810.04805), then the decision head of Laya: pre-norm layers with
//! ReLU, a scorer for each option's marker, and an action head on the first token.

use std::collections::HashMap;

use super::{
    Backend, OPTION_ROW, OptionsNeeded, Output, STATE_ROW, Stop, action_features, check,
    check_rows, empty, sees, separately,
};
use crate::config::{AgentConfig, Attention, EncoderConfig, Family, Kind, Layout};
use crate::error::Result;
use crate::parameters::{EncoderLayer, HEAD_EPS, HeadLayer, Linear, Norm, Parameters};
use crate::sequence::Sequence;

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
    scorer: [Dense; 2],
    action: Option<[Dense; 2]>,
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
    fn new(linear: &Linear) -> Self {
        let matrix = &linear.weight;
        let rows = matrix.to_f32();
        Self {
            weight: rows
                .chunks_exact(matrix.columns)
                .map(<[f32]>::to_vec)
                .collect(),
            bias: linear.bias.clone(),
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
            |l: &EncoderLayer| [&l.qkv, &l.attention_out, &l.mlp_in, &l.mlp_out].map(Dense::new);
        let head = |l: &HeadLayer| [&l.qkv, &l.out, &l.up, &l.down].map(Dense::new);
        Self {
            layers: p.layers.iter().map(layer).collect(),
            head: p.head.iter().map(head).collect(),
            scorer: [&p.scorer_hidden, &p.scorer_out].map(Dense::new),
            action: p
                .action
                .as_ref()
                .map(|a| [&a.hidden, &a.out].map(Dense::new)),
            encoder,
            agent,
            parameters: p,
            slots: HashMap::new(),
        }
    }

    /// Runs the encoder over `s`, whose tokens also see `past`. Returns the hidden states after
    /// the last norm, and what later tokens can see.
    fn layers(&self, s: &Sequence, past: &[Seen], stop: &Stop) -> Result<(Rows, Vec<Seen>)> {
        let eps = self.encoder.eps;
        let tokens = s.ids.iter().zip(&s.positions);
        let mut x: Rows = tokens.map(|(id, place)| self.embed(*id, *place)).collect();
        let mut seen = Vec::new();
        for (i, layer) in self.parameters.layers.iter().enumerate() {
            stop.check()?;
            let mut all = past.get(i).cloned().unwrap_or_default();
            match self.encoder.family {
                Family::ModernBert => {
                    let normed: Rows = match &layer.attention_norm {
                        Some(n) => x.iter().map(|x| norm(x, n, eps)).collect(),
                        None => x.clone(),
                    };
                    let mixed = self.attention(i, &normed, s, &mut all);
                    for (x, mixed) in x.iter_mut().zip(&mixed) {
                        add(x, mixed);
                        let inner = self.inner(i, &norm(x, &layer.mlp_norm, eps));
                        add(x, &inner);
                    }
                }
                Family::Bert => {
                    let mixed = self.attention(i, &x, s, &mut all);
                    for (x, mixed) in x.iter_mut().zip(&mixed) {
                        add(x, mixed);
                        if let Some(n) = &layer.attention_norm {
                            *x = norm(x, n, eps);
                        }
                        let inner = self.inner(i, x);
                        add(x, &inner);
                        *x = norm(x, &layer.mlp_norm, eps);
                    }
                }
            }
            seen.push(all);
        }
        if let Some(n) = &self.parameters.final_norm {
            x.iter_mut().for_each(|x| *x = norm(x, n, eps));
        }
        Ok((x, seen))
    }

    /// What attention adds to each token of `s`; `all` are the earlier tokens that they see, to
    /// which their own keys and values are added.
    fn attention(&self, index: usize, input: &Rows, s: &Sequence, all: &mut Seen) -> Rows {
        let kind = self.encoder.layers[index];
        let [qkv, out, _, _] = &self.layers[index];
        let mut queries = Vec::new();
        for (x, position) in input.iter().zip(&s.positions) {
            let mut y = qkv.apply(x);
            let mut k = y.split_off(self.encoder.hidden);
            let v = k.split_off(self.encoder.hidden);
            if self.encoder.family == Family::ModernBert {
                self.rotate(&mut y, *position, kind);
                self.rotate(&mut k, *position, kind);
            }
            queries.push(y);
            all.keys.push(k);
            all.values.push(v);
        }
        all.positions.extend(&s.positions);
        all.owners.extend(&s.owners);
        let mix = |(t, query): (usize, &Vec<f32>)| {
            let visible = |j: usize| {
                let far = s.positions[t].abs_diff(all.positions[j]) as usize;
                sees(self.agent.layout, s.owners[t], all.owners[j])
                    && (kind == Attention::Full || far <= self.encoder.window / 2)
            };
            out.apply(&attend(
                query,
                &all.keys,
                &all.values,
                self.encoder.heads,
                visible,
            ))
        };
        queries.iter().enumerate().map(mix).collect()
    }

    /// What the inner layer adds to a token.
    fn inner(&self, index: usize, x: &[f32]) -> Vec<f32> {
        let [_, _, mlp_in, mlp_out] = &self.layers[index];
        let y = mlp_in.apply(x);
        let y: Vec<f32> = match self.encoder.family {
            Family::Bert => y.into_iter().map(gelu).collect(),
            Family::ModernBert => {
                let (value, gate) = y.split_at(self.encoder.intermediate);
                value.iter().zip(gate).map(|(v, g)| gelu(*v) * g).collect()
            }
        };
        mlp_out.apply(&y)
    }

    fn embed(&self, id: u32, position: u32) -> Vec<f32> {
        let mut x = vec![0.0; self.encoder.hidden];
        self.parameters.embedding.row(id, position, &mut x);
        norm(&x, &self.parameters.embedding_norm, self.encoder.eps)
    }

    /// Adds the type embedding in row `row` of the table.
    fn add_kind(&self, rows: &mut [Vec<f32>], row: usize) {
        let d = self.encoder.hidden;
        let kind = &self.parameters.kinds[row * d..][..d];
        rows.iter_mut().for_each(|x| add(x, kind));
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

    /// Head, scorer and action head over `rows`, to which their kinds have been added; `markers`
    /// index into them, row 0 is `[CLS]`.
    fn decide(&self, mut rows: Rows, markers: &[usize]) -> Output {
        let d = self.encoder.hidden;
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
        let [hidden, score] = &self.scorer;
        let logit = |m: &usize| {
            let y = hidden.apply(&with_norm(&rows[*m], &self.parameters.scorer_norm));
            score.apply(&y.into_iter().map(gelu).collect::<Vec<_>>())[0]
        };
        let logits: Vec<f32> = markers.iter().map(logit).collect();
        let act = |[hidden, out]: &[Dense; 2]| {
            let pooled = [&rows[0][..], &action_features(&logits)].concat();
            let y: Vec<f32> = hidden.apply(&pooled).into_iter().map(gelu).collect();
            out.apply(&y)
        };
        Output {
            actions: self.action.as_ref().map(act).unwrap_or_default(),
            logits,
        }
    }
}

impl Backend for Reference {
    fn name(&self) -> &'static str {
        "reference"
    }

    fn forward(&mut self, s: &Sequence, stop: &Stop) -> Result<Output> {
        check(s, &self.encoder, OptionsNeeded::Some)?;
        if self.agent.layout == Layout::Separate {
            let hidden = self.encoder.hidden;
            return separately(self, hidden, s, stop);
        }
        let (mut rows, _) = self.layers(s, &[], stop)?;
        self.add_kind(&mut rows, s.kind as usize);
        if self.agent.layout != Layout::Cached {
            return Ok(self.decide(rows, &s.markers));
        }
        let compared = std::iter::once(&0)
            .chain(&s.markers)
            .map(|i| rows[*i].clone())
            .collect();
        let markers: Vec<usize> = (1..=s.markers.len()).collect();
        Ok(self.decide(compared, &markers))
    }

    fn prepare(&mut self, slot: usize, state: &Sequence, stop: &Stop) -> Result<()> {
        self.slots.remove(&slot);
        check(state, &self.encoder, OptionsNeeded::None)?;
        let (mut rows, layers) = self.layers(state, &[], stop)?;
        self.slots.insert(
            slot,
            Kept {
                layers,
                first: rows.swap_remove(0),
            },
        );
        Ok(())
    }

    fn vectors(&mut self, slot: usize, s: &Sequence, stop: &Stop) -> Result<Vec<f32>> {
        check(s, &self.encoder, OptionsNeeded::Some)?;
        let kept = self.slots.get(&slot).ok_or_else(|| empty(slot))?;
        let (rows, _) = self.layers(s, &kept.layers, stop)?;
        Ok(s.markers.iter().flat_map(|m| rows[*m].clone()).collect())
    }

    fn choose(&mut self, slot: usize, vectors: &[f32], kind: Kind, stop: &Stop) -> Result<Output> {
        let kept = self.slots.get(&slot).ok_or_else(|| empty(slot))?;
        let d = self.encoder.hidden;
        check_rows(&kept.first, vectors, d)?;
        stop.check()?;
        let mut compared = vec![kept.first.clone()];
        compared.extend(vectors.chunks_exact(d).map(<[f32]>::to_vec));
        let markers: Vec<usize> = (1..compared.len()).collect();
        self.add_kind(&mut compared, kind as usize);
        Ok(self.decide(compared, &markers))
    }

    fn forget(&mut self, slot: usize) {
        self.slots.remove(&slot);
    }

    fn encode(&mut self, pieces: &Sequence, stop: &Stop) -> Result<Vec<f32>> {
        check(pieces, &self.encoder, OptionsNeeded::None)?;
        let (rows, _) = self.layers(pieces, &[], stop)?;
        Ok(rows.concat())
    }

    fn compare(&mut self, state: &[f32], options: &[f32], stop: &Stop) -> Result<Output> {
        let d = self.encoder.hidden;
        check_rows(state, options, d)?;
        stop.check()?;
        let rows = |x: &[f32]| x.chunks_exact(d).map(<[f32]>::to_vec).collect::<Rows>();
        let (mut all, mut options) = (rows(state), rows(options));
        self.add_kind(&mut all, STATE_ROW);
        self.add_kind(&mut options, OPTION_ROW);
        let markers: Vec<usize> = (all.len()..all.len() + options.len()).collect();
        all.append(&mut options);
        Ok(self.decide(all, &markers))
    }
}

fn add(x: &mut [f32], y: &[f32]) {
    x.iter_mut().zip(y).for_each(|(x, y)| *x += y);
}

fn with_norm(x: &[f32], parameters: &Norm) -> Vec<f32> {
    norm(x, parameters, HEAD_EPS)
}

fn norm(x: &[f32], Norm { weight, bias }: &Norm, eps: f32) -> Vec<f32> {
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

//! The decision head, the scorer and the action head.

use super::encoder::pick;
use super::work::Work;
use super::{Packer, apply, quantise};
use crate::backend::{Output, action_features};
use crate::kernels::{Attend, Isa, Packed, Write, attend, gelu, norm, relu};
use crate::parameters::{ACTION_FEATURES, HEAD_EPS, Norm, Parameters};

pub(super) struct Head {
    layers: Vec<Layer>,
    kinds: Vec<f32>,
    scorer_norm: Norm,
    scorer_hidden: Packed,
    scorer_out: Packed,
    /// Inner and outer layer of the action head.
    action: Option<[Packed; 2]>,
}

struct Layer {
    norm1: Norm,
    query: Packed,
    key_value: Packed,
    out: Packed,
    norm2: Norm,
    up: Packed,
    down: Packed,
}

/// Channels of one attention head of the decision head, where the width allows.
const HEAD_WIDTH: usize = 64;

impl Head {
    pub(super) fn pack(p: &Parameters, packer: &Packer, d: usize) -> std::io::Result<Self> {
        let layer = |l: &crate::parameters::HeadLayer| {
            let bias = l.qkv.bias.as_deref();
            Ok(Layer {
                norm1: l.norm1.clone(),
                query: packer.rows(&l.qkv.weight, 0..d, bias)?,
                key_value: packer.rows(&l.qkv.weight, d..3 * d, bias)?,
                out: packer.linear(&l.out)?,
                norm2: l.norm2.clone(),
                up: packer.linear(&l.up)?,
                down: packer.linear(&l.down)?,
            })
        };
        Ok(Self {
            layers: p.head.iter().map(layer).collect::<std::io::Result<_>>()?,
            kinds: p.kinds.clone(),
            scorer_norm: p.scorer_norm.clone(),
            scorer_hidden: packer.exact(&p.scorer_hidden)?,
            scorer_out: packer.exact(&p.scorer_out)?,
            action: match &p.action {
                Some(action) => Some([packer.exact(&action.hidden)?, packer.exact(&action.out)?]),
                None => None,
            },
        })
    }

    /// Adds the type embedding in row `kind` of the table to rows of hidden states.
    pub(super) fn add_kind(&self, rows: &mut [f32], d: usize, kind: usize) {
        let kind = &self.kinds[kind * d..][..d];
        for row in rows.chunks_exact_mut(d) {
            row.iter_mut().zip(kind).for_each(|(x, k)| *x += k);
        }
    }

    /// Logits from the hidden states in `w.x`, to which their kinds have been added: row 0 is
    /// `[CLS]`, `markers` are the options.
    pub(super) fn decide(&self, isa: Isa, d: usize, w: &mut Work, markers: &[usize]) -> Output {
        let wanted: Vec<usize> = std::iter::once(0).chain(markers.iter().copied()).collect();
        if self.layers.is_empty() {
            pick(&mut w.x, &wanted, d);
        }
        for (i, layer) in self.layers.iter().enumerate() {
            let last = i + 1 == self.layers.len();
            let rows = if last { Some(&wanted[..]) } else { None };
            layer.run(isa, d, w, rows);
        }
        self.score(isa, d, w)
    }

    /// From the rows of `[CLS]` and the options to logits.
    fn score(&self, isa: Isa, d: usize, w: &mut Work) -> Output {
        let options = &w.x[d..];
        let count = options.len() / d;
        let normed = w.normed.room(count * d);
        norm(isa, options, &self.scorer_norm, HEAD_EPS, normed);
        let wide = w.wide.room(count * d);
        apply(
            isa,
            &self.scorer_hidden,
            normed,
            d,
            &mut w.quantised,
            wide,
            Write::Replace,
        );
        gelu(isa, wide, normed);
        let mut logits = vec![0.0; count];
        apply(
            isa,
            &self.scorer_out,
            normed,
            d,
            &mut w.quantised,
            &mut logits,
            Write::Replace,
        );

        let actions = match &self.action {
            Some(layers) => act(isa, d, layers, &logits, w),
            None => Vec::new(),
        };
        Output { logits, actions }
    }
}

/// The action head on the row of `[CLS]` and what it reads of the logits.
fn act(isa: Isa, d: usize, [inner, outer]: &[Packed; 2], logits: &[f32], w: &mut Work) -> Vec<f32> {
    let pooled = [&w.x[..d], &action_features(logits)].concat();
    let units = inner.outputs();
    let hidden = w.wide.room(units);
    let (width, q) = (d + ACTION_FEATURES, &mut w.quantised);
    apply(isa, inner, &pooled, width, q, hidden, Write::Replace);
    let active = w.normed.room(units);
    gelu(isa, hidden, active);
    let mut actions = vec![0.0; outer.outputs()];
    apply(isa, outer, active, units, q, &mut actions, Write::Replace);
    actions
}

impl Layer {
    /// One layer over all rows of `w.x`; afterwards only the `wanted` ones are left.
    fn run(&self, isa: Isa, d: usize, w: &mut Work, wanted: Option<&[usize]>) {
        let tokens = w.x.len() / d;
        let normed = w.normed.room(tokens * d);
        norm(isa, &w.x, &self.norm1, HEAD_EPS, normed);
        quantise(isa, normed, d, &self.key_value, &mut w.quantised);
        let kv = w.kv.room(tokens * 2 * d);
        self.key_value
            .apply(isa, normed, &w.quantised, kv, Write::Replace);
        let heads = (d / HEAD_WIDTH).max(1);
        let width = d / heads;
        w.keys_values.fill(isa, kv, d, width);

        let mut rows = tokens;
        if let Some(wanted) = wanted.filter(|wanted| wanted.len() < tokens) {
            rows = wanted.len();
            pick(&mut w.x, wanted, d);
            for (to, from) in wanted.iter().enumerate() {
                normed.copy_within(from * d..(from + 1) * d, to * d);
            }
            quantise(isa, &normed[..rows * d], d, &self.query, &mut w.quantised);
        }
        let queries = w.queries.room(rows * d);
        self.query.apply(
            isa,
            &normed[..rows * d],
            &w.quantised,
            queries,
            Write::Replace,
        );
        let span = w.keys_values.span(d, width, 0..tokens, 0);
        let attention = Attend {
            queries,
            positions: &vec![0; rows],
            heads,
            width,
            window: None,
            spans: &[span],
        };
        let mixed = w.mixed.room(rows * d);
        attend(isa, &attention, &mut w.scores, mixed);
        let q = &mut w.quantised;
        apply(isa, &self.out, mixed, d, q, &mut w.x, Write::Add);

        let normed = w.normed.room(rows * d);
        norm(isa, &w.x, &self.norm2, HEAD_EPS, normed);
        let wide = w.wide.room(rows * 4 * d);
        apply(isa, &self.up, normed, d, q, wide, Write::Replace);
        relu(isa, wide);
        apply(isa, &self.down, wide, 4 * d, q, &mut w.x, Write::Add);
    }
}

//! The encoder's layers.

use super::work::{Kept, KeysValues, Work};
use super::{Cpu, Packer, apply, quantise};
use crate::backend::{Stop, sees};
use crate::config::{Attention, Family, Layout};
use crate::error::Result;
use crate::kernels::{Attend, Buffer, Isa, Packed, Write, attend, gate, gelu, norm, rotate};
use crate::parameters::{EncoderLayer, Norm};
use crate::sequence::Sequence;

pub(super) struct Layer {
    attention_norm: Option<Norm>,
    query: Packed,
    key_value: Packed,
    attention_out: Packed,
    mlp_norm: Norm,
    mlp_in: Packed,
    mlp_out: Packed,
}

impl Layer {
    pub(super) fn pack(l: &EncoderLayer, packer: &Packer, d: usize) -> std::io::Result<Self> {
        let bias = l.qkv.bias.as_deref();
        Ok(Self {
            attention_norm: l.attention_norm.clone(),
            query: packer.uneven(&l.qkv.weight, 0..d, bias)?,
            key_value: packer.uneven(&l.qkv.weight, d..3 * d, bias)?,
            attention_out: packer.linear(&l.attention_out)?,
            mlp_norm: l.mlp_norm.clone(),
            mlp_in: packer.linear(&l.mlp_in)?,
            mlp_out: packer.uneven(&l.mlp_out.weight, 0..d, l.mlp_out.bias.as_deref())?,
        })
    }
}

/// A run of tokens of one owner at consecutive positions.
struct Segment {
    start: usize,
    len: usize,
    owner: u32,
    position: u32,
}

impl Cpu {
    /// Runs all layers over `s`, whose tokens also see `past`. Afterwards `work.x` holds the
    /// hidden states after the last norm: of all tokens, or of the `wanted` ones. Keys and values
    /// go to `keep`.
    pub(super) fn run_layers(
        &mut self,
        s: &Sequence,
        past: Option<&Kept>,
        wanted: Option<&[usize]>,
        keep: Option<&mut Kept>,
        stop: &Stop,
    ) -> Result<()> {
        self.reach(s);
        let mut work = std::mem::take(&mut self.work);
        let ran = self.run_in(&mut work, s, past, wanted, keep, stop);
        self.work = work;
        ran
    }

    /// Gets the positions of `s` ready, as [`Self::run_in`] needs them.
    pub(super) fn reach(&mut self, s: &Sequence) {
        let reach = s.positions.iter().max().map_or(0, |p| *p as usize + 1);
        for turns in self.turns.iter_mut().flatten() {
            turns.reach(reach);
        }
    }

    /// As [`Self::run_layers`], in the given memory, after [`Self::reach`].
    pub(super) fn run_in(
        &self,
        work: &mut Work,
        s: &Sequence,
        past: Option<&Kept>,
        wanted: Option<&[usize]>,
        mut keep: Option<&mut Kept>,
        stop: &Stop,
    ) -> Result<()> {
        self.embed(s, work);
        let segments = segments(s);
        if let Some(keep) = &mut keep {
            keep.layers
                .resize_with(self.layers.len(), KeysValues::default);
        }
        let all: Vec<usize> = (0..s.ids.len()).collect();
        let last = self.layers.len() - 1;
        for index in 0..=last {
            stop.check()?;
            let rows = if index == last {
                wanted.unwrap_or(&all)
            } else {
                &all
            };
            let pass = Pass {
                cpu: self,
                layer: &self.layers[index],
                kind: self.encoder.layers[index],
                s,
                segments: &segments,
                past: past.map(|kept| (&kept.layers[index], kept.len)),
                rows,
            };
            pass.run(
                work,
                keep.as_deref_mut().map(|kept| &mut kept.layers[index]),
            );
        }
        if let Some(last) = &self.final_norm {
            norm_in_place(self.isa, last, self.encoder.eps, work);
        }
        Ok(())
    }

    fn embed(&self, s: &Sequence, work: &mut Work) {
        let d = self.encoder.hidden;
        let Work { x, normed, .. } = work;
        let normed = normed.room(s.ids.len() * d);
        let tokens = s.ids.iter().zip(&s.positions);
        for (row, (id, position)) in normed.chunks_exact_mut(d).zip(tokens) {
            self.embedding.row(*id, *position, row);
        }
        x.resize(s.ids.len() * d, 0.0);
        norm(self.isa, normed, &self.embedding_norm, self.encoder.eps, x);
    }
}

/// Norms the rows of `w.x`; afterwards `w.normed` begins with the same numbers.
fn norm_in_place(isa: Isa, parameters: &Norm, eps: f32, w: &mut Work) {
    let normed = w.normed.room(w.x.len());
    norm(isa, &w.x, parameters, eps, normed);
    w.x.copy_from_slice(normed);
}

/// One layer over one sequence.
struct Pass<'a> {
    cpu: &'a Cpu,
    layer: &'a Layer,
    kind: Attention,
    s: &'a Sequence,
    segments: &'a [Segment],
    past: Option<(&'a KeysValues, usize)>,
    /// Tokens that go on after this layer, in order.
    rows: &'a [usize],
}

impl Pass<'_> {
    fn run(&self, w: &mut Work, keep: Option<&mut KeysValues>) {
        let (isa, d, eps) = (self.cpu.isa, self.cpu.encoder.hidden, self.cpu.encoder.eps);
        let post = self.cpu.encoder.family == Family::Bert;
        let tokens = self.s.ids.len();
        let all = self.rows.len() == tokens;

        // Keys and values of all tokens, queries of those that go on.
        let normed = w.normed.room(tokens * d);
        match &self.layer.attention_norm {
            Some(before) if !post => norm(isa, &w.x, before, eps, normed),
            _ => normed.copy_from_slice(&w.x),
        }
        quantise(isa, normed, d, &self.layer.key_value, &mut w.quantised);
        let kv = w.kv.room(tokens * 2 * d);
        self.layer
            .key_value
            .apply(isa, normed, &w.quantised, kv, Write::Replace);
        if !all {
            pick(&mut w.x, self.rows, d);
            pick_slice(normed, self.rows, d);
            quantise(
                isa,
                &normed[..self.rows.len() * d],
                d,
                &self.layer.query,
                &mut w.quantised,
            );
        }
        let rows = self.rows.len();
        let queries = w.queries.room(rows * d);
        let query = &self.layer.query;
        query.apply(
            isa,
            &normed[..rows * d],
            &w.quantised,
            queries,
            Write::Replace,
        );

        let positions: Vec<u32> = self.rows.iter().map(|r| self.s.positions[*r]).collect();
        if let Some([full, sliding]) = &self.cpu.turns {
            let turns = match self.kind {
                Attention::Full => full,
                Attention::Sliding => sliding,
            };
            let heads = self.cpu.encoder.heads;
            rotate(isa, queries, d, heads, &positions, turns);
            rotate(isa, kv, 2 * d, heads, &self.s.positions, turns);
        }
        let own = keep.unwrap_or(&mut w.keys_values);
        own.fill(isa, kv, d, self.cpu.encoder.head_dim());

        // Attention.
        let mixed = w.mixed.room(rows * d);
        self.attention(queries, &positions, own, &mut w.scores, mixed);
        let q = &mut w.quantised;
        apply(
            isa,
            &self.layer.attention_out,
            mixed,
            d,
            q,
            &mut w.x,
            Write::Add,
        );

        // Inner layer.
        match &self.layer.attention_norm {
            Some(after) if post => norm_in_place(isa, after, eps, w),
            _ => norm(
                isa,
                &w.x,
                &self.layer.mlp_norm,
                eps,
                w.normed.room(rows * d),
            ),
        }
        let q = &mut w.quantised;
        let normed = w.normed.first(rows * d);
        let (mlp_in, mlp_out) = (&self.layer.mlp_in, &self.layer.mlp_out);
        let inner = self.cpu.encoder.intermediate;
        let wide = w.wide.room(rows * mlp_in.outputs());
        apply(isa, mlp_in, normed, d, q, wide, Write::Replace);
        let active = w.gated.room(rows * inner);
        match self.cpu.encoder.family {
            Family::ModernBert => gate(isa, wide, inner, active),
            Family::Bert => gelu(isa, wide, active),
        }
        apply(isa, mlp_out, active, inner, q, &mut w.x, Write::Add);
        if post {
            norm_in_place(isa, &self.layer.mlp_norm, eps, w);
        }
    }

    /// Queries of each segment against the runs that the segment sees.
    fn attention(
        &self,
        queries: &[f32],
        positions: &[u32],
        own: &KeysValues,
        scores: &mut Buffer,
        out: &mut [f32],
    ) {
        let encoder = &self.cpu.encoder;
        let (d, head) = (encoder.hidden, encoder.head_dim());
        let window = match self.kind {
            Attention::Full => None,
            Attention::Sliding => Some(encoder.window as u32 / 2),
        };
        let mut spans = Vec::with_capacity(self.segments.len() + 1);
        let mut first = 0;
        for segment in self.segments {
            let end = segment.start + segment.len;
            let rows = self.rows[first..].iter().take_while(|r| **r < end).count();
            if rows == 0 {
                continue;
            }
            spans.clear();
            let past = self.past;
            spans.extend(past.map(|(past, len)| past.span(d, head, 0..len, 0)));
            spans.extend(self.seen_by(segment).map(|seen| {
                let tokens = seen.start..seen.start + seen.len;
                own.span(d, head, tokens, seen.position)
            }));
            let attention = Attend {
                queries: &queries[first * d..(first + rows) * d],
                positions: &positions[first..first + rows],
                heads: encoder.heads,
                width: head,
                window,
                spans: &spans,
            };
            let out = &mut out[first * d..(first + rows) * d];
            attend(self.cpu.isa, &attention, scores, out);
            first += rows;
        }
    }

    fn seen_by(&self, segment: &Segment) -> impl Iterator<Item = &Segment> {
        let (layout, owner): (Layout, u32) = (self.cpu.agent.layout, segment.owner);
        self.segments
            .iter()
            .filter(move |other| sees(layout, owner, other.owner))
    }
}

fn segments(s: &Sequence) -> Vec<Segment> {
    let mut found: Vec<Segment> = Vec::new();
    for (i, (owner, position)) in s.owners.iter().zip(&s.positions).enumerate() {
        match found.last_mut() {
            Some(last) if last.owner == *owner && last.position + last.len as u32 == *position => {
                last.len += 1;
            }
            _ => found.push(Segment {
                start: i,
                len: 1,
                owner: *owner,
                position: *position,
            }),
        }
    }
    found
}

/// Keeps the given rows, in order.
pub(super) fn pick(x: &mut Vec<f32>, rows: &[usize], width: usize) {
    pick_slice(x, rows, width);
    x.truncate(rows.len() * width);
}

fn pick_slice(x: &mut [f32], rows: &[usize], width: usize) {
    for (to, from) in rows.iter().enumerate() {
        x.copy_within(from * width..(from + 1) * width, to * width);
    }
}

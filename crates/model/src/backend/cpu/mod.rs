//! The model on any CPU, by the kernels of [`crate::kernels`].
//!
//! Work that cannot reach the answer is left out: in the last layer only the tokens that someone
//! reads afterwards (markers, and `[CLS]`) get queries and an inner layer.

mod encoder;
mod head;

use std::collections::HashMap;

use super::{Backend, OptionsNeeded, Output, Stop, check};
use crate::config::{AgentConfig, Attention, EncoderConfig, Layout};
use crate::error::{Error, Result};
use crate::kernels::{Activations, Format, Isa, Packed, Quantised, Turns, Write};
use crate::parameters::{Linear, Parameters};
use crate::sequence::Sequence;
use crate::weights::Matrix;

/// How exactly the CPU backend computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Precision {
    /// 8-bit weights, and the fastest activations that a model of this size bears.
    #[default]
    Auto,
    /// Floats throughout.
    Float,
    /// 8-bit weights in every large matrix, activations of up to 16 bits.
    Eight,
    /// 8-bit weights in every large matrix, 8-bit activations where that is faster.
    EightFast,
}

/// From this width on `Auto` takes 8-bit activations: rounding averages out over more columns,
/// and the time counts.
const FAST_FROM: usize = 512;
/// `Auto` keeps matrices with fewer columns as floats: their rounding does not average out, and
/// they cost next to nothing.
const WHOLE_FROM: usize = 128;

/// The CPU backend.
pub(crate) struct Cpu {
    encoder: EncoderConfig,
    agent: AgentConfig,
    isa: Isa,
    precision: Precision,
    embedding: Matrix,
    embedding_norm: Vec<f32>,
    final_norm: Vec<f32>,
    layers: Vec<encoder::Layer>,
    turns: [Turns; 2],
    head: head::Head,
    slots: HashMap<usize, Kept>,
    work: Work,
}

/// A state that ran: keys and values of every layer, and the first token's last hidden state.
#[derive(Default)]
struct Kept {
    len: usize,
    layers: Vec<KeysValues>,
    first: Vec<f32>,
}

/// Keys turned by RoPE, one row for each channel; values, one row for each token.
#[derive(Default)]
struct KeysValues {
    keys: Vec<f32>,
    stride: usize,
    values: Vec<f32>,
}

/// Working memory, kept from pass to pass.
#[derive(Default)]
struct Work {
    quantised: Quantised,
    x: Vec<f32>,
    normed: Vec<f32>,
    queries: Vec<f32>,
    mixed: Vec<f32>,
    wide: Vec<f32>,
    gated: Vec<f32>,
    kv: Vec<f32>,
    keys: Vec<f32>,
    scores: Vec<f32>,
}

impl Cpu {
    pub(crate) fn new(
        encoder: EncoderConfig,
        agent: AgentConfig,
        p: Parameters,
        isa: Isa,
        precision: Precision,
    ) -> Result<Self> {
        let failed = |e: std::io::Error| Error::Backend {
            backend: "cpu",
            reason: e.to_string(),
        };
        let packer = Packer {
            isa,
            precision,
            hidden: encoder.hidden,
        };
        let half = encoder.head_dim() / 2;
        let turns =
            [Attention::Full, Attention::Sliding].map(|k| Turns::new(encoder.base(k), half));
        let layers = p
            .layers
            .iter()
            .map(|l| encoder::Layer::pack(l, &packer, encoder.hidden));
        Ok(Self {
            layers: layers.collect::<std::io::Result<_>>().map_err(failed)?,
            head: head::Head::pack(&p, &packer, encoder.hidden).map_err(failed)?,
            embedding: p.embedding,
            embedding_norm: p.embedding_norm,
            final_norm: p.final_norm,
            turns,
            encoder,
            agent,
            isa,
            precision,
            slots: HashMap::new(),
            work: Work::default(),
        })
    }

    /// Hidden states of the first token and of the markers, as the head of a `cached` model
    /// compares them.
    fn compare(&mut self, first: Option<&[f32]>, s: &Sequence) -> Output {
        let d = self.encoder.hidden;
        if let Some(first) = first {
            self.work.x.splice(0..0, first.iter().copied());
        }
        let markers: Vec<usize> = (1..=s.markers.len()).collect();
        debug_assert_eq!(self.work.x.len(), (markers.len() + 1) * d);
        self.head
            .decide(self.isa, d, &mut self.work, &markers, s.kind)
    }
}

impl Backend for Cpu {
    fn name(&self) -> &'static str {
        "cpu"
    }

    fn detail(&self) -> String {
        let bits = match self.precision {
            Precision::Float => "float",
            _ => "8-bit",
        };
        format!("{}, {bits}", self.isa.name())
    }

    fn forward(&mut self, s: &Sequence, stop: &Stop) -> Result<Output> {
        check(s, self.encoder.vocab, OptionsNeeded::Some)?;
        if self.agent.layout == Layout::Cached {
            let wanted: Vec<usize> = std::iter::once(0)
                .chain(s.markers.iter().copied())
                .collect();
            self.encode(s, None, Some(&wanted), None, stop)?;
            return Ok(self.compare(None, s));
        }
        self.encode(s, None, None, None, stop)?;
        stop.check()?;
        let d = self.encoder.hidden;
        Ok(self
            .head
            .decide(self.isa, d, &mut self.work, &s.markers, s.kind))
    }

    fn prepare(&mut self, slot: usize, state: &Sequence, stop: &Stop) -> Result<()> {
        let mut kept = self.slots.remove(&slot).unwrap_or_default();
        check(state, self.encoder.vocab, OptionsNeeded::None)?;
        self.encode(state, None, Some(&[0]), Some(&mut kept), stop)?;
        kept.len = state.ids.len();
        kept.first.clear();
        kept.first.extend_from_slice(&self.work.x);
        self.slots.insert(slot, kept);
        Ok(())
    }

    fn options(&mut self, slot: usize, s: &Sequence, stop: &Stop) -> Result<Output> {
        check(s, self.encoder.vocab, OptionsNeeded::Some)?;
        let empty = || Error::Input(format!("slot {slot} holds no state"));
        // Taken out for the time of the pass, and back in whatever becomes of it.
        let kept = self.slots.remove(&slot).ok_or_else(empty)?;
        let ran = self.encode(s, Some(&kept), Some(&s.markers), None, stop);
        let output = ran.map(|()| self.compare(Some(&kept.first), s));
        self.slots.insert(slot, kept);
        output
    }

    fn forget(&mut self, slot: usize) {
        self.slots.remove(&slot);
    }
}

/// Packs matrices as the precision asks.
struct Packer {
    isa: Isa,
    precision: Precision,
    hidden: usize,
}

impl Packer {
    fn format(&self, columns: usize) -> Format {
        let fast = if self.isa.has_narrow() {
            Activations::Narrow
        } else {
            Activations::Wide
        };
        match self.precision {
            Precision::Float => Format::Float,
            Precision::Eight => Format::Whole(Activations::Wide),
            Precision::EightFast => Format::Whole(fast),
            Precision::Auto if columns < WHOLE_FROM || !self.isa.gains_by_whole() => Format::Float,
            Precision::Auto if self.hidden >= FAST_FROM => Format::Whole(fast),
            Precision::Auto => Format::Whole(Activations::Wide),
        }
    }

    fn rows(
        &self,
        matrix: &Matrix,
        rows: std::ops::Range<usize>,
        bias: Option<&[f32]>,
    ) -> std::io::Result<Packed> {
        Packed::new(self.isa, matrix, rows, bias, self.format(matrix.columns))
    }

    fn matrix(&self, matrix: &Matrix) -> std::io::Result<Packed> {
        self.rows(matrix, 0..matrix.rows, None)
    }

    fn linear(&self, linear: &Linear) -> std::io::Result<Packed> {
        self.rows(&linear.weight, 0..linear.weight.rows, Some(&linear.bias))
    }

    /// What decides in the end is kept exact; it is small.
    fn exact(&self, linear: &Linear) -> std::io::Result<Packed> {
        let (matrix, bias) = (&linear.weight, Some(&linear.bias[..]));
        Packed::new(self.isa, matrix, 0..matrix.rows, bias, Format::Float)
    }
}

/// Makes room for `len` numbers, whose values do not matter.
fn room(buffer: &mut Vec<f32>, len: usize) -> &mut [f32] {
    if buffer.len() < len {
        buffer.resize(len, 0.0);
    }
    &mut buffer[..len]
}

/// Quantises `x` for the given layers, which share their input.
fn quantise(isa: Isa, x: &[f32], columns: usize, for_layer: &Packed, quantised: &mut Quantised) {
    if let Some(activations) = for_layer.activations() {
        quantised.fill(isa, x, columns, activations);
    }
}

/// One product with its own quantised input.
fn apply(
    isa: Isa,
    layer: &Packed,
    x: &[f32],
    columns: usize,
    quantised: &mut Quantised,
    out: &mut [f32],
    write: Write,
) {
    quantise(isa, x, columns, layer, quantised);
    layer.apply(isa, x, quantised, out, write);
}

//! The model on any CPU, by the kernels of [`crate::kernels`].
//!
//! Work that cannot reach the answer is left out: in the last layer only the tokens that someone
//! reads afterwards (markers, and `[CLS]`) get queries and an inner layer.

mod encoder;
mod head;
mod parts;
mod work;

use std::collections::HashMap;
use std::sync::Arc;

use super::{
    Backend, OPTION_ROW, OptionsNeeded, Output, STATE_ROW, Stop, check, check_rows, empty,
    separately,
};
use crate::config::{AgentConfig, Attention, EncoderConfig, Family, Kind, Layout};
use crate::error::{Error, Result};
use crate::helpers::Helpers;
use crate::kernels::{Activations, Format, Isa, Packed, Quantised, Turns, Write};
use crate::parameters::{Embedding, Linear, Norm, Parameters};
use crate::sequence::Sequence;
use crate::weights::Matrix;
use work::{Kept, Work};

/// How exactly the CPU backend computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Precision {
    /// 8-bit weights, and the fastest activations that a model of this size bears.
    #[default]
    Auto,
    /// Floats throughout.
    Float,
    /// 16-bit floats on MLX; on the CPU as `Float`.
    Half,
    /// 8-bit weights in every large matrix, activations of up to 16 bits.
    Eight,
    /// 8-bit weights in every large matrix, 8-bit activations where that is faster and the time
    /// counts: not in narrow `cached` models, which keep the state and pay for the options alone.
    EightFast,
}

impl Precision {
    /// What it comes to for a model of some layout and width.
    ///
    /// In narrow models the rounding of activations to 8 bits does not average out. Measured on the
    /// built-in model, 33000 logits of completion cases against floats: with 8 bits everywhere the
    /// mean error (root of the mean square) is 0.020 and the largest 0.26; with 16 bits 0.0001 and
    /// 0.002, and 64 options take a third more time. No kind of matrix stands out: 8 bits in one alone
    /// give a mean of 0.011 (queries, keys and values), 0.009 (a layer's last matrix), 0.008 (its
    /// first), 0.007 (after attention) or 0.006 (the head), and the largest error is 0.04 to 0.1, for a few
    /// hundredths of the time.
    fn settled(self, layout: Layout, hidden: usize) -> Self {
        match self {
            Self::EightFast if hidden < WHOLE_FROM => Self::Auto,
            Self::EightFast if layout == Layout::Cached && hidden < FAST_FROM => Self::Eight,
            _ => self,
        }
    }
}

/// From this width on `Auto` takes 8-bit activations: rounding averages out over more columns,
/// and the time counts.
const FAST_FROM: usize = 512;
/// `Auto` keeps matrices with fewer columns as floats: their rounding does not average out, and
/// they cost next to nothing.
const WHOLE_FROM: usize = 128;

/// Columns that share a scale in 8 bits where the numbers are uneven.
///
/// Measured on an earlier built-in model, 4000 logits against floats, with one scale a row the mean error
/// is 0.028; what goes into the layers' last matrices makes 57 % of its square, what goes into
/// queries, keys and values 21 %. With groups of 64 in these two it is 0.016, for a twelfth of the
/// time; with groups everywhere 0.014, for a sixth.
const GROUP: usize = 64;

/// The CPU backend.
pub(crate) struct Cpu {
    encoder: EncoderConfig,
    agent: AgentConfig,
    isa: Isa,
    precision: Precision,
    embedding: Embedding,
    embedding_norm: Norm,
    final_norm: Option<Norm>,
    layers: Vec<encoder::Layer>,
    /// Of full and of sliding layers; BERT has none.
    turns: Option<[Turns; 2]>,
    head: head::Head,
    slots: HashMap<usize, Kept>,
    work: Work,
    helpers: Arc<Helpers>,
    /// One for each helper.
    works: Vec<Work>,
}

impl Cpu {
    pub(crate) fn new(
        encoder: EncoderConfig,
        agent: AgentConfig,
        p: Parameters,
        isa: Isa,
        precision: Precision,
        threads: usize,
    ) -> Result<Self> {
        let failed = |e: std::io::Error| Error::Backend {
            backend: "cpu",
            reason: e.to_string(),
        };
        let helpers = Arc::new(Helpers::new(threads.saturating_sub(1)));
        let packer = Packer {
            isa,
            precision: precision.settled(agent.layout, encoder.hidden),
            helpers: Arc::clone(&helpers),
            hidden: encoder.hidden,
        };
        let half = encoder.head_dim() / 2;
        let turns = match encoder.family {
            Family::Bert => None,
            Family::ModernBert => Some(
                [Attention::Full, Attention::Sliding].map(|k| Turns::new(encoder.base(k), half)),
            ),
        };
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
            helpers,
            works: Vec::new(),
        })
    }

    /// The head over the hidden states in `work.x`, for the kind of question `kind`.
    fn decide(&mut self, markers: &[usize], kind: usize) -> Output {
        let d = self.encoder.hidden;
        self.head.add_kind(&mut self.work.x, d, kind);
        self.head.decide(self.isa, d, &mut self.work, markers)
    }
}

impl Backend for Cpu {
    fn name(&self) -> &'static str {
        "cpu"
    }

    fn detail(&self) -> String {
        let bits = match self.precision {
            Precision::Float | Precision::Half => "float",
            _ => "8-bit",
        };
        format!("{}, {bits}", self.isa.name())
    }

    fn forward(&mut self, s: &Sequence, stop: &Stop) -> Result<Output> {
        check(s, &self.encoder, OptionsNeeded::Some)?;
        if self.agent.layout == Layout::Cached {
            let wanted: Vec<usize> = std::iter::once(0)
                .chain(s.markers.iter().copied())
                .collect();
            self.run_layers(s, None, Some(&wanted), None, stop)?;
            let markers: Vec<usize> = (1..wanted.len()).collect();
            return Ok(self.decide(&markers, s.kind as usize));
        }
        if self.agent.layout == Layout::Separate {
            let hidden = self.encoder.hidden;
            return separately(self, hidden, s, stop);
        }
        self.run_layers(s, None, None, None, stop)?;
        stop.check()?;
        Ok(self.decide(&s.markers, s.kind as usize))
    }

    fn prepare(&mut self, slot: usize, state: &Sequence, stop: &Stop) -> Result<()> {
        let mut kept = self.slots.remove(&slot).unwrap_or_default();
        check(state, &self.encoder, OptionsNeeded::None)?;
        self.run_layers(state, None, Some(&[0]), Some(&mut kept), stop)?;
        kept.len = state.ids.len();
        kept.first.clear();
        kept.first.extend_from_slice(&self.work.x);
        self.slots.insert(slot, kept);
        Ok(())
    }

    fn vectors(&mut self, slot: usize, s: &Sequence, stop: &Stop) -> Result<Vec<f32>> {
        check(s, &self.encoder, OptionsNeeded::Some)?;
        // Taken out for the time of the pass, and back in whatever becomes of it.
        let kept = self.slots.remove(&slot).ok_or_else(|| empty(slot))?;
        let ran = self.run_options(s, &kept, stop);
        self.slots.insert(slot, kept);
        ran
    }

    fn choose(&mut self, slot: usize, vectors: &[f32], kind: Kind, stop: &Stop) -> Result<Output> {
        let kept = self.slots.get(&slot).ok_or_else(|| empty(slot))?;
        let d = self.encoder.hidden;
        check_rows(&kept.first, vectors, d)?;
        stop.check()?;
        self.work.x.clear();
        self.work.x.extend_from_slice(&kept.first);
        self.work.x.extend_from_slice(vectors);
        let markers: Vec<usize> = (1..=vectors.len() / d).collect();
        Ok(self.decide(&markers, kind as usize))
    }

    fn forget(&mut self, slot: usize) {
        self.slots.remove(&slot);
    }

    fn encode(&mut self, pieces: &Sequence, stop: &Stop) -> Result<Vec<f32>> {
        check(pieces, &self.encoder, OptionsNeeded::None)?;
        self.run_layers(pieces, None, None, None, stop)?;
        Ok(self.work.x.clone())
    }

    fn compare(&mut self, state: &[f32], options: &[f32], stop: &Stop) -> Result<Output> {
        let d = self.encoder.hidden;
        check_rows(state, options, d)?;
        stop.check()?;
        let x = &mut self.work.x;
        x.clear();
        x.extend_from_slice(state);
        x.extend_from_slice(options);
        let (tokens, rows) = (state.len() / d, x.len() / d);
        self.head.add_kind(&mut x[..tokens * d], d, STATE_ROW);
        self.head.add_kind(&mut x[tokens * d..], d, OPTION_ROW);
        let markers: Vec<usize> = (tokens..rows).collect();
        Ok(self.head.decide(self.isa, d, &mut self.work, &markers))
    }
}

/// Packs matrices as the precision asks.
struct Packer {
    isa: Isa,
    precision: Precision,
    helpers: Arc<Helpers>,
    hidden: usize,
}

impl Packer {
    fn format(&self, columns: usize, group: usize) -> Format {
        let fast = if self.isa.has_narrow() {
            Activations::Narrow(group)
        } else {
            Activations::Wide
        };
        match self.precision {
            Precision::Float | Precision::Half => Format::Float,
            Precision::Eight => Format::Whole(Activations::Wide),
            Precision::EightFast => Format::Whole(fast),
            Precision::Auto if columns < WHOLE_FROM => Format::Float,
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
        self.pack(matrix, rows, bias, usize::MAX)
    }

    /// As [`Self::rows`], for a matrix whose input holds a few numbers much larger than the rest.
    fn uneven(
        &self,
        matrix: &Matrix,
        rows: std::ops::Range<usize>,
        bias: Option<&[f32]>,
    ) -> std::io::Result<Packed> {
        self.pack(matrix, rows, bias, GROUP)
    }

    fn pack(
        &self,
        matrix: &Matrix,
        rows: std::ops::Range<usize>,
        bias: Option<&[f32]>,
        group: usize,
    ) -> std::io::Result<Packed> {
        let format = self.format(matrix.columns, group);
        let packed = Packed::new(self.isa, matrix, rows, bias, format)?;
        Ok(packed.with_helpers(Arc::clone(&self.helpers)))
    }

    fn linear(&self, linear: &Linear) -> std::io::Result<Packed> {
        let bias = linear.bias.as_deref();
        self.rows(&linear.weight, 0..linear.weight.rows, bias)
    }

    /// What decides in the end is kept exact; it is small.
    fn exact(&self, linear: &Linear) -> std::io::Result<Packed> {
        let (matrix, bias) = (&linear.weight, linear.bias.as_deref());
        Packed::new(self.isa, matrix, 0..matrix.rows, bias, Format::Float)
    }
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

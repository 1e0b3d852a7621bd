//! All parameters of a model by their role, with shapes checked against the configuration.

use std::collections::BTreeSet;

use crate::config::{AgentConfig, EncoderConfig};
use crate::error::Result;
use crate::weights::{Matrix, Weights};

/// Units of the action head's inner layer.
pub(crate) const ACTION_UNITS: usize = 256;
/// Numbers about the answer that the action head reads beside the first token.
pub(crate) const ACTION_FEATURES: usize = 4;
/// Added to the variance in the norms of head and scorer (PyTorch's default).
pub(crate) const HEAD_EPS: f32 = 1e-5;

/// A layer norm with an offset.
pub(crate) struct Norm {
    pub(crate) weight: Vec<f32>,
    pub(crate) bias: Vec<f32>,
}

/// A linear layer with an offset; the matrix has one row for each output.
pub(crate) struct Linear {
    pub(crate) weight: Matrix,
    pub(crate) bias: Vec<f32>,
}

/// One ModernBERT layer; no offsets anywhere.
pub(crate) struct EncoderLayer {
    /// Missing in the first layer, which takes the embeddings as they are.
    pub(crate) attention_norm: Option<Vec<f32>>,
    pub(crate) qkv: Matrix,
    pub(crate) attention_out: Matrix,
    pub(crate) mlp_norm: Vec<f32>,
    /// Values in the first half of the rows, gates in the second.
    pub(crate) mlp_in: Matrix,
    pub(crate) mlp_out: Matrix,
}

/// One layer of the decision head.
pub(crate) struct HeadLayer {
    pub(crate) norm1: Norm,
    pub(crate) qkv: Linear,
    pub(crate) out: Linear,
    pub(crate) norm2: Norm,
    pub(crate) up: Linear,
    pub(crate) down: Linear,
}

/// Everything a backend needs to run a model.
pub(crate) struct Parameters {
    pub(crate) embedding: Matrix,
    pub(crate) embedding_norm: Vec<f32>,
    pub(crate) layers: Vec<EncoderLayer>,
    pub(crate) final_norm: Vec<f32>,
    /// `[3, hidden]`, one row for each kind of question.
    pub(crate) kinds: Vec<f32>,
    pub(crate) head: Vec<HeadLayer>,
    pub(crate) scorer_norm: Norm,
    pub(crate) scorer_hidden: Linear,
    pub(crate) scorer_out: Linear,
    pub(crate) action_hidden: Linear,
    pub(crate) action_out: Linear,
}

impl Parameters {
    /// Collects and checks all tensors; one that no part of the model uses is an error, since it
    /// means another architecture.
    pub(crate) fn read(w: &Weights, encoder: &EncoderConfig, agent: &AgentConfig) -> Result<Self> {
        let mut reader = Reader {
            weights: w,
            used: BTreeSet::from(["temperature".to_owned()]),
        };
        let parameters = reader.parameters(encoder, agent)?;
        let part = |name: &str| {
            [".q8", ".q4", ".scale"]
                .iter()
                .find_map(|s| name.strip_suffix(s))
                .map(str::to_owned)
        };
        for name in w.names() {
            let whole = part(name).unwrap_or_else(|| name.to_owned());
            if !reader.used.contains(&whole) {
                return Err(w.error(name, "not part of this architecture"));
            }
        }
        Ok(parameters)
    }
}

struct Reader<'a> {
    weights: &'a Weights,
    used: BTreeSet<String>,
}

impl Reader<'_> {
    fn parameters(&mut self, encoder: &EncoderConfig, agent: &AgentConfig) -> Result<Parameters> {
        let d = encoder.hidden;
        let layers = (0..encoder.layers.len())
            .map(|i| self.encoder_layer(i, encoder))
            .collect();
        let head = (0..agent.head_layers)
            .map(|i| self.head_layer(i, d))
            .collect();
        Ok(Parameters {
            embedding: self.matrix("encoder.embeddings.tok_embeddings.weight", encoder.vocab, d)?,
            embedding_norm: self.vector("encoder.embeddings.norm.weight", d)?,
            layers: Result::from_iter::<Vec<_>>(layers)?,
            final_norm: self.vector("encoder.final_norm.weight", d)?,
            kinds: self.matrix("type_emb.weight", 3, d)?.to_f32(),
            head: Result::from_iter::<Vec<_>>(head)?,
            scorer_norm: self.norm("scorer.layers.0", d)?,
            scorer_hidden: self.linear("scorer.layers.1", d, d)?,
            scorer_out: self.linear("scorer.layers.3", 1, d)?,
            action_hidden: self.linear("act_head.layers.0", ACTION_UNITS, d + ACTION_FEATURES)?,
            action_out: self.linear("act_head.layers.2", agent.actions, ACTION_UNITS)?,
        })
    }

    fn encoder_layer(&mut self, index: usize, c: &EncoderConfig) -> Result<EncoderLayer> {
        let at = |part: &str| format!("encoder.layers.{index}.{part}.weight");
        let (d, inner) = (c.hidden, c.intermediate);
        Ok(EncoderLayer {
            attention_norm: match index {
                0 => None,
                _ => Some(self.vector(&at("attn_norm"), d)?),
            },
            qkv: self.matrix(&at("attn.Wqkv"), 3 * d, d)?,
            attention_out: self.matrix(&at("attn.Wo"), d, d)?,
            mlp_norm: self.vector(&at("mlp_norm"), d)?,
            mlp_in: self.matrix(&at("mlp.Wi"), 2 * inner, d)?,
            mlp_out: self.matrix(&at("mlp.Wo"), d, inner)?,
        })
    }

    fn head_layer(&mut self, index: usize, d: usize) -> Result<HeadLayer> {
        let at = |part: &str| format!("head.layers.{index}.{part}");
        Ok(HeadLayer {
            norm1: self.norm(&at("norm1"), d)?,
            qkv: self.linear(&at("self_attn.in_proj"), 3 * d, d)?,
            out: self.linear(&at("self_attn.out_proj"), d, d)?,
            norm2: self.norm(&at("norm2"), d)?,
            up: self.linear(&at("linear1"), 4 * d, d)?,
            down: self.linear(&at("linear2"), d, 4 * d)?,
        })
    }

    fn vector(&mut self, name: &str, len: usize) -> Result<Vec<f32>> {
        self.used.insert(name.to_owned());
        self.weights.vector(name, len)
    }

    fn matrix(&mut self, name: &str, rows: usize, columns: usize) -> Result<Matrix> {
        self.used.insert(name.to_owned());
        self.weights.matrix(name, rows, columns)
    }

    fn norm(&mut self, name: &str, len: usize) -> Result<Norm> {
        Ok(Norm {
            weight: self.vector(&format!("{name}.weight"), len)?,
            bias: self.vector(&format!("{name}.bias"), len)?,
        })
    }

    fn linear(&mut self, name: &str, rows: usize, columns: usize) -> Result<Linear> {
        Ok(Linear {
            weight: self.matrix(&format!("{name}.weight"), rows, columns)?,
            bias: self.vector(&format!("{name}.bias"), rows)?,
        })
    }
}

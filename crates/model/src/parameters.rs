//! All parameters of a model by their role, with shapes checked against the configuration.

use std::collections::BTreeSet;

use crate::config::{AgentConfig, EncoderConfig, Family, Layout};
use crate::error::Result;
use crate::weights::{Matrix, Weights};

/// Units of the action head's inner layer.
pub(crate) const ACTION_UNITS: usize = 256;
/// Numbers about the answer that the action head reads beside the first token.
pub(crate) const ACTION_FEATURES: usize = 4;
/// Added to the variance in the norms of head and scorer (PyTorch's default).
pub(crate) const HEAD_EPS: f32 = 1e-5;

/// A layer norm.
#[derive(Clone)]
pub(crate) struct Norm {
    pub(crate) weight: Vec<f32>,
    pub(crate) bias: Option<Vec<f32>>,
}

/// A linear layer; the matrix has one row for each output.
pub(crate) struct Linear {
    pub(crate) weight: Matrix,
    pub(crate) bias: Option<Vec<f32>>,
}

/// What tokens are before the first norm.
pub(crate) struct Embedding {
    tokens: Matrix,
    /// BERT: one row for each position, the first token type added.
    places: Option<Vec<f32>>,
}

/// One encoder layer. ModernBERT norms what goes into each part; BERT the sum of a part and what
/// went into it.
pub(crate) struct EncoderLayer {
    /// Missing in ModernBERT's first layer, which takes the embeddings as they are.
    pub(crate) attention_norm: Option<Norm>,
    pub(crate) qkv: Linear,
    pub(crate) attention_out: Linear,
    pub(crate) mlp_norm: Norm,
    /// ModernBERT: values in the first half of the rows, gates in the second.
    pub(crate) mlp_in: Linear,
    pub(crate) mlp_out: Linear,
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
    pub(crate) embedding: Embedding,
    pub(crate) embedding_norm: Norm,
    pub(crate) layers: Vec<EncoderLayer>,
    /// BERT has none: its layers end with one.
    pub(crate) final_norm: Option<Norm>,
    /// `[3, hidden]`, one row for each kind of question.
    pub(crate) kinds: Vec<f32>,
    pub(crate) head: Vec<HeadLayer>,
    pub(crate) scorer_norm: Norm,
    pub(crate) scorer_hidden: Linear,
    pub(crate) scorer_out: Linear,
    /// A `separate` checkpoint may leave it out.
    pub(crate) action: Option<Action>,
}

/// The action head.
pub(crate) struct Action {
    pub(crate) hidden: Linear,
    pub(crate) out: Linear,
}

impl Embedding {
    /// Writes what a token at a position is. Positions matter to BERT alone.
    pub(crate) fn row(&self, id: u32, position: u32, out: &mut [f32]) {
        self.tokens.row(id as usize, out);
        if let Some(places) = &self.places {
            let place = &places[position as usize * out.len()..][..out.len()];
            out.iter_mut().zip(place).for_each(|(x, p)| *x += p);
        }
    }
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
        let layers = (0..encoder.layers.len()).map(|i| match encoder.family {
            Family::ModernBert => self.modern_bert_layer(i, encoder),
            Family::Bert => self.bert_layer(i, encoder),
        });
        let layers = layers.collect::<Result<_>>()?;
        let head = (0..agent.head_layers).map(|i| self.head_layer(i, d));
        let head = head.collect::<Result<_>>()?;
        let (embedding_norm, final_norm) = match encoder.family {
            Family::ModernBert => (
                self.plain_norm("encoder.embeddings.norm.weight", d)?,
                Some(self.plain_norm("encoder.final_norm.weight", d)?),
            ),
            Family::Bert => (self.norm("encoder.embeddings.LayerNorm", d)?, None),
        };
        Ok(Parameters {
            embedding: self.embedding(encoder)?,
            embedding_norm,
            layers,
            final_norm,
            kinds: self.matrix("type_emb.weight", 3, d)?.to_f32(),
            head,
            scorer_norm: self.norm("scorer.layers.0", d)?,
            scorer_hidden: self.linear("scorer.layers.1", d, d)?,
            scorer_out: self.linear("scorer.layers.3", 1, d)?,
            action: self.action(d, agent)?,
        })
    }

    fn embedding(&mut self, c: &EncoderConfig) -> Result<Embedding> {
        let (d, at) = (c.hidden, |part: &str| {
            format!("encoder.embeddings.{part}.weight")
        });
        if c.family == Family::ModernBert {
            return Ok(Embedding {
                tokens: self.matrix(&at("tok_embeddings"), c.vocab, d)?,
                places: None,
            });
        }
        let places = self.matrix(&at("position_embeddings"), c.max_positions, d)?;
        let types = self.matrix(&at("token_type_embeddings"), c.token_types, d)?;
        let (mut places, types) = (places.to_f32(), types.to_f32());
        for place in places.chunks_exact_mut(d) {
            place.iter_mut().zip(&types).for_each(|(p, t)| *p += t);
        }
        Ok(Embedding {
            tokens: self.matrix(&at("word_embeddings"), c.vocab, d)?,
            places: Some(places),
        })
    }

    fn action(&mut self, d: usize, agent: &AgentConfig) -> Result<Option<Action>> {
        let there = self
            .weights
            .names()
            .any(|name| name.starts_with("act_head."));
        if agent.layout == Layout::Separate && !there {
            return Ok(None);
        }
        Ok(Some(Action {
            hidden: self.linear("act_head.layers.0", ACTION_UNITS, d + ACTION_FEATURES)?,
            out: self.linear("act_head.layers.2", agent.actions, ACTION_UNITS)?,
        }))
    }

    fn modern_bert_layer(&mut self, index: usize, c: &EncoderConfig) -> Result<EncoderLayer> {
        let at = |part: &str| format!("encoder.layers.{index}.{part}.weight");
        let (d, inner) = (c.hidden, c.intermediate);
        Ok(EncoderLayer {
            attention_norm: match index {
                0 => None,
                _ => Some(self.plain_norm(&at("attn_norm"), d)?),
            },
            qkv: self.plain_linear(&at("attn.Wqkv"), 3 * d, d)?,
            attention_out: self.plain_linear(&at("attn.Wo"), d, d)?,
            mlp_norm: self.plain_norm(&at("mlp_norm"), d)?,
            mlp_in: self.plain_linear(&at("mlp.Wi"), 2 * inner, d)?,
            mlp_out: self.plain_linear(&at("mlp.Wo"), d, inner)?,
        })
    }

    /// Names as in Hugging Face's `BertModel`, without its pooler.
    fn bert_layer(&mut self, index: usize, c: &EncoderConfig) -> Result<EncoderLayer> {
        let at = |part: &str| format!("encoder.encoder.layer.{index}.{part}");
        let (d, inner) = (c.hidden, c.intermediate);
        let mut parts = Vec::new();
        let mut bias = Vec::new();
        for part in ["query", "key", "value"] {
            let one = self.linear(&at(&format!("attention.self.{part}")), d, d)?;
            parts.push(one.weight);
            bias.extend(one.bias.unwrap_or_default());
        }
        Ok(EncoderLayer {
            attention_norm: Some(self.norm(&at("attention.output.LayerNorm"), d)?),
            qkv: Linear {
                weight: Matrix::stacked(parts),
                bias: Some(bias),
            },
            attention_out: self.linear(&at("attention.output.dense"), d, d)?,
            mlp_norm: self.norm(&at("output.LayerNorm"), d)?,
            mlp_in: self.linear(&at("intermediate.dense"), inner, d)?,
            mlp_out: self.linear(&at("output.dense"), d, inner)?,
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
            bias: Some(self.vector(&format!("{name}.bias"), len)?),
        })
    }

    fn plain_norm(&mut self, name: &str, len: usize) -> Result<Norm> {
        Ok(Norm {
            weight: self.vector(name, len)?,
            bias: None,
        })
    }

    fn linear(&mut self, name: &str, rows: usize, columns: usize) -> Result<Linear> {
        Ok(Linear {
            weight: self.matrix(&format!("{name}.weight"), rows, columns)?,
            bias: Some(self.vector(&format!("{name}.bias"), rows)?),
        })
    }

    fn plain_linear(&mut self, name: &str, rows: usize, columns: usize) -> Result<Linear> {
        Ok(Linear {
            weight: self.matrix(name, rows, columns)?,
            bias: None,
        })
    }
}

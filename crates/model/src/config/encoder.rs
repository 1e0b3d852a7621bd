//! `encoder/config.json`.

use std::path::Path;

use super::fields::{Fields, positive};
use crate::error::Result;
use crate::json::Json;

/// Whether a layer looks at all tokens or at a window around each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attention {
    /// Every visible token.
    Full,
    /// Visible tokens at most `local_attention / 2` positions away.
    Sliding,
}

/// Which encoder it is (`model_type`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// ModernBERT: norms before each part, no offsets, RoPE, gated inner layers, windows.
    ModernBert,
    /// BERT: norms after each part, offsets, learned positions, plain GELU, no windows.
    Bert,
}

impl Family {
    /// The name in `model_type`.
    pub fn name(self) -> &'static str {
        match self {
            Self::ModernBert => "modernbert",
            Self::Bert => "bert",
        }
    }
}

/// Shape of the encoder.
#[derive(Debug, Clone)]
pub struct EncoderConfig {
    /// Which encoder it is.
    pub family: Family,
    /// Rows of the embedding table.
    pub vocab: usize,
    /// Width of a hidden state.
    pub hidden: usize,
    /// Width of the inner layer.
    pub intermediate: usize,
    /// Attention heads; `hidden / heads` is whole, and even in ModernBERT.
    pub heads: usize,
    /// What each layer sees, first layer first.
    pub layers: Vec<Attention>,
    /// Width of the sliding window; a token sees half of it to either side. Not used by BERT.
    pub window: usize,
    /// RoPE base of full layers. Not used by BERT.
    pub full_base: f64,
    /// RoPE base of sliding layers. Not used by BERT.
    pub sliding_base: f64,
    /// Added to the variance in the encoder's norms.
    pub eps: f32,
    /// Longest sequence; in BERT the rows of the table of positions.
    pub max_positions: usize,
    /// Rows of BERT's table of token types, of which the first is used; 0 in ModernBERT.
    pub token_types: usize,
}

impl EncoderConfig {
    /// Reads `encoder/config.json`.
    ///
    /// # Errors
    /// [`Error::Config`] with the field, [`Error::Io`].
    pub fn read(file: &Path) -> Result<Self> {
        Self::from_fields(&Fields::read(file)?)
    }

    fn from_fields(f: &Fields) -> Result<Self> {
        match f.get("model_type") {
            Some(Json::Text(name)) if name == Family::Bert.name() => Self::bert(f),
            Some(Json::Text(name)) if name != Family::ModernBert.name() => {
                let reason = format!("unsupported {name:?}, use \"modernbert\" or \"bert\"");
                Err(f.error("model_type", reason))
            }
            _ => Self::modern_bert(f),
        }
    }

    fn modern_bert(f: &Fields) -> Result<Self> {
        f.must_be("model_type", Family::ModernBert.name())?;
        f.must_be("hidden_activation", "gelu")?;
        for bias in ["norm_bias", "attention_bias", "mlp_bias"] {
            f.must_be_false(bias)?;
        }
        let (hidden, heads) = split(f)?;
        if !(hidden / heads).is_multiple_of(2) {
            let reason = format!("{heads} heads do not split hidden_size {hidden} into even parts");
            return Err(f.error("num_attention_heads", reason));
        }
        Ok(Self {
            family: Family::ModernBert,
            vocab: f.size("vocab_size")?,
            hidden,
            intermediate: f.size("intermediate_size")?,
            heads,
            layers: layer_types(f)?,
            window: f.size_or("local_attention", 128)?,
            full_base: rope_base(f, "full_attention", "global_rope_theta", 160_000.0)?,
            sliding_base: rope_base(f, "sliding_attention", "local_rope_theta", 10_000.0)?,
            eps: f.positive_or("norm_eps", 1e-5)? as f32,
            max_positions: f.size_or("max_position_embeddings", 8192)?,
            token_types: 0,
        })
    }

    /// Fields and defaults as in Hugging Face's `BertConfig`.
    fn bert(f: &Fields) -> Result<Self> {
        f.must_be("hidden_act", "gelu")?;
        f.must_be("position_embedding_type", "absolute")?;
        f.must_be_false("is_decoder")?;
        let (hidden, heads) = split(f)?;
        Ok(Self {
            family: Family::Bert,
            vocab: f.size("vocab_size")?,
            hidden,
            intermediate: f.size("intermediate_size")?,
            heads,
            layers: vec![Attention::Full; f.size("num_hidden_layers")?],
            window: 0,
            full_base: 0.0,
            sliding_base: 0.0,
            eps: f.positive_or("layer_norm_eps", 1e-12)? as f32,
            max_positions: f.size_or("max_position_embeddings", 512)?,
            token_types: f.size_or("type_vocab_size", 2)?,
        })
    }

    /// Width of one attention head.
    pub fn head_dim(&self) -> usize {
        self.hidden / self.heads
    }

    /// RoPE base of a layer.
    pub fn base(&self, kind: Attention) -> f64 {
        match kind {
            Attention::Full => self.full_base,
            Attention::Sliding => self.sliding_base,
        }
    }
}

/// Width and heads, which must split it.
fn split(f: &Fields) -> Result<(usize, usize)> {
    let (hidden, heads) = (f.size("hidden_size")?, f.size("num_attention_heads")?);
    if !hidden.is_multiple_of(heads) {
        let reason = format!("{heads} heads do not split hidden_size {hidden} into equal parts");
        return Err(f.error("num_attention_heads", reason));
    }
    Ok((hidden, heads))
}

fn layer_types(f: &Fields) -> Result<Vec<Attention>> {
    let count = f.size("num_hidden_layers")?;
    let Some(value) = f.get("layer_types") else {
        let every = f.size_or("global_attn_every_n_layers", 3)?;
        let kind = |i: usize| match i.is_multiple_of(every) {
            true => Attention::Full,
            false => Attention::Sliding,
        };
        return Ok((0..count).map(kind).collect());
    };
    let Json::List(items) = value else {
        return Err(f.error(
            "layer_types",
            format!("expected a list, got {}", value.kind()),
        ));
    };
    if items.len() != count {
        let reason = format!("{} entries for num_hidden_layers {count}", items.len());
        return Err(f.error("layer_types", reason));
    }
    items
        .iter()
        .enumerate()
        .map(|(i, item)| match item {
            Json::Text(t) if t == "full_attention" => Ok(Attention::Full),
            Json::Text(t) if t == "sliding_attention" => Ok(Attention::Sliding),
            other => Err(f.error(
                &format!("layer_types[{i}]"),
                format!("unknown value {other}"),
            )),
        })
        .collect()
}

/// Newer configurations hold the bases in `rope_parameters.<kind>.rope_theta`.
fn rope_base(f: &Fields, kind: &str, fallback: &str, default: f64) -> Result<f64> {
    let parameters = f.get("rope_parameters").and_then(|p| p.get(kind));
    let field = format!("rope_parameters.{kind}.rope_type");
    match parameters.and_then(|p| p.get("rope_type")) {
        None | Some(Json::Null) => {}
        Some(Json::Text(t)) if t == "default" => {}
        Some(other) => return Err(f.error(&field, format!("unsupported {other}, use \"default\""))),
    }
    match parameters.and_then(|p| p.get("rope_theta")) {
        None | Some(Json::Null) => f.positive_or(fallback, default),
        Some(value) => positive(value)
            .ok_or_else(|| f.error(&field, format!("not a positive number: {value}"))),
    }
}

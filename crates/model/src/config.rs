//! The two configuration files of a checkpoint: `rl_agent_config.json` and `encoder/config.json`.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::json::Json;

/// How the options of a question are laid out; see the crate documentation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Options one after another; every token sees every token.
    Sequential,
    /// Options share positions and do not see each other.
    Parallel,
    /// The state comes first and does not see the options.
    Cached,
}

impl Layout {
    /// The name in `option_layout`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sequential => "sequential",
            Self::Parallel => "parallel",
            Self::Cached => "cached",
        }
    }
}

/// Kind of a question; the number is its row in the type embedding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// One of several labels.
    Choice = 0,
    /// A level on an ordered scale.
    Score = 1,
    /// Does a statement hold: false or true.
    Noul = 2,
}

impl Kind {
    /// All kinds in the order of their numbers.
    pub const ALL: [Self; 3] = [Self::Choice, Self::Score, Self::Noul];

    /// The name in questions and sequences.
    pub fn name(self) -> &'static str {
        match self {
            Self::Choice => "choice",
            Self::Score => "score",
            Self::Noul => "noul",
        }
    }
}

/// Whether a layer looks at all tokens or at a window around each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attention {
    /// Every visible token.
    Full,
    /// Visible tokens at most `local_attention / 2` positions away.
    Sliding,
}

/// Shape of the ModernBERT encoder.
#[derive(Debug, Clone)]
pub struct EncoderConfig {
    /// Rows of the embedding table.
    pub vocab: usize,
    /// Width of a hidden state.
    pub hidden: usize,
    /// Width of the gated inner layer.
    pub intermediate: usize,
    /// Attention heads; `hidden / heads` is even.
    pub heads: usize,
    /// What each layer sees, first layer first.
    pub layers: Vec<Attention>,
    /// Width of the sliding window; a token sees half of it to either side.
    pub window: usize,
    /// RoPE base of full layers.
    pub full_base: f64,
    /// RoPE base of sliding layers.
    pub sliding_base: f64,
    /// Added to the variance in the encoder's norms.
    pub eps: f32,
    /// Longest sequence.
    pub max_positions: usize,
}

/// Head, budgets and calibration.
#[derive(Debug, Clone)]
pub struct AgentConfig {
    /// Layers of the decision head.
    pub head_layers: usize,
    /// Longest sequence in tokens.
    pub max_len: usize,
    /// Tokens for question and options together (`cached`: for the question).
    pub head_max_len: usize,
    /// Tokens of one option's text. Always 48, except where a `cached` checkpoint names its own.
    pub option_max_len: usize,
    /// Rows of the action head's output.
    pub actions: usize,
    /// How options are laid out.
    pub layout: Layout,
    /// Temperature by [`Kind`].
    pub temperature: [f32; 3],
    /// Temperature by bucket, such as `choice:3-5`; goes before `temperature`.
    pub temperature_by_options: Vec<(String, f32)>,
    /// What was wrong with the temperatures but could be mended; for `verify` and logs.
    pub warnings: Vec<String>,
}

/// Temperatures outside this range would distort probabilities and are pulled to its ends.
const TEMPERATURES: std::ops::RangeInclusive<f64> = 0.5..=5.0;
/// Tokens of one option's text in the reference.
pub(crate) const OPTION_TOKENS: usize = 48;

impl EncoderConfig {
    /// Reads `encoder/config.json`.
    ///
    /// # Errors
    /// [`Error::Config`] with the field, [`Error::Io`].
    pub fn read(file: &Path) -> Result<Self> {
        Self::from_fields(&Fields::read(file)?)
    }

    fn from_fields(f: &Fields) -> Result<Self> {
        f.must_be("model_type", "modernbert")?;
        f.must_be("hidden_activation", "gelu")?;
        for bias in ["norm_bias", "attention_bias", "mlp_bias"] {
            f.must_be_false(bias)?;
        }
        let hidden = f.size("hidden_size")?;
        let heads = f.size("num_attention_heads")?;
        if !hidden.is_multiple_of(heads) || !(hidden / heads).is_multiple_of(2) {
            let reason = format!("{heads} heads do not split hidden_size {hidden} into even parts");
            return Err(f.error("num_attention_heads", reason));
        }
        Ok(Self {
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

impl AgentConfig {
    /// Reads `rl_agent_config.json` and checks its budgets against the encoder.
    ///
    /// # Errors
    /// [`Error::Config`] with the field, [`Error::Io`].
    pub fn read(file: &Path, encoder: &EncoderConfig) -> Result<Self> {
        let f = Fields::read(file)?;
        f.required("encoder")?;
        let layout = layout(&f)?;
        let max_len = f.size_or("max_len", 512)?;
        let head_max_len = f.size_or("head_max_len", 192)?;
        if head_max_len <= 4 || head_max_len >= max_len {
            let reason = format!("{head_max_len} must be above 4 and below max_len {max_len}");
            return Err(f.error("head_max_len", reason));
        }
        if max_len > encoder.max_positions {
            let most = encoder.max_positions;
            let reason = format!("{max_len} is above the encoder's max_position_embeddings {most}");
            return Err(f.error("max_len", reason));
        }
        let option_max_len = option_budget(&f, layout, max_len, head_max_len)?;
        let mut warnings = Vec::new();
        let temperature = temperatures(&f, &mut warnings)?;
        let temperature_by_options = temperatures_by_options(&f, &mut warnings)?;
        Ok(Self {
            head_layers: f.count("head_layers")?,
            max_len,
            head_max_len,
            option_max_len,
            actions: actions(&f)?,
            layout,
            temperature,
            temperature_by_options,
            warnings,
        })
    }
}

fn layout(f: &Fields) -> Result<Layout> {
    match f.get("option_layout") {
        None => Ok(Layout::Sequential),
        Some(Json::Text(t)) if t == "sequential" => Ok(Layout::Sequential),
        Some(Json::Text(t)) if t == "parallel" => Ok(Layout::Parallel),
        Some(Json::Text(t)) if t == "cached" => Ok(Layout::Cached),
        Some(other) => {
            let reason = format!("unknown {other}, use \"sequential\", \"parallel\" or \"cached\"");
            Err(f.error("option_layout", reason))
        }
    }
}

fn option_budget(f: &Fields, layout: Layout, max_len: usize, head_max: usize) -> Result<usize> {
    if layout != Layout::Cached {
        return Ok(OPTION_TOKENS);
    }
    let tokens = f.size_or("option_max_len", OPTION_TOKENS)?;
    // The state's [SEP] and the option's [MASK] take two more places.
    if head_max + tokens + 2 > max_len {
        let reason = format!("head_max_len {head_max} + option_max_len {tokens} leave no state");
        return Err(f.error("max_len", reason));
    }
    Ok(tokens)
}

fn actions(f: &Fields) -> Result<usize> {
    match f.get("act_costs") {
        None => Ok(1),
        Some(Json::Map(costs)) => Ok(costs.len() + 1),
        Some(other) => Err(f.error(
            "act_costs",
            format!("expected an object, got {}", other.kind()),
        )),
    }
}

fn temperatures(f: &Fields, warnings: &mut Vec<String>) -> Result<[f32; 3]> {
    let Some(value) = f.get("temperature") else {
        return Ok([1.0; 3]);
    };
    match value {
        Json::List(items) if items.len() == 3 => {
            let read = |i: usize| clamp(&format!("temperature[{i}]"), &items[i], warnings);
            let mut read = read;
            Ok([read(0), read(1), read(2)])
        }
        other => Err(f.error(
            "temperature",
            format!("expected a list of 3 numbers, got {other}"),
        )),
    }
}

fn temperatures_by_options(f: &Fields, warnings: &mut Vec<String>) -> Result<Vec<(String, f32)>> {
    let field = "temperature_by_options";
    match f.get(field) {
        None => Ok(Vec::new()),
        Some(Json::Map(members)) => Ok(members
            .iter()
            .map(|(bucket, value)| {
                (
                    bucket.clone(),
                    clamp(&format!("{field}.{bucket}"), value, warnings),
                )
            })
            .collect()),
        Some(other) => Err(f.error(field, format!("expected an object, got {}", other.kind()))),
    }
}

/// A usable temperature: 1 in place of what is no finite number, else pulled into the range.
fn clamp(field: &str, value: &Json, warnings: &mut Vec<String>) -> f32 {
    let number = match value {
        Json::Text(text) => text.trim().parse().ok(),
        other => other.number(),
    };
    let applied = match number.filter(|n: &f64| n.is_finite()) {
        Some(n) => n.clamp(*TEMPERATURES.start(), *TEMPERATURES.end()),
        None => 1.0,
    };
    if number != Some(applied) {
        warnings.push(format!(
            "{field}: {value} is no usable temperature, {applied} is used"
        ));
    }
    applied as f32
}

/// One configuration file, with errors that name it and the field.
struct Fields {
    file: PathBuf,
    document: Json,
}

impl Fields {
    fn read(file: &Path) -> Result<Self> {
        let text = std::fs::read(file).map_err(|source| Error::io(file, source))?;
        let document = Json::parse(&text).map_err(|e| Error::Config {
            file: file.to_owned(),
            field: "document".to_owned(),
            reason: format!("not JSON: {e}"),
        })?;
        let fields = Self {
            file: file.to_owned(),
            document,
        };
        match fields.document {
            Json::Map(_) => Ok(fields),
            _ => Err(fields.error("document", "expected an object".to_owned())),
        }
    }

    fn error(&self, field: &str, reason: String) -> Error {
        Error::Config {
            file: self.file.clone(),
            field: field.to_owned(),
            reason,
        }
    }

    /// A field that is there and not null.
    fn get(&self, field: &str) -> Option<&Json> {
        self.document
            .get(field)
            .filter(|value| **value != Json::Null)
    }

    fn required(&self, field: &str) -> Result<&Json> {
        self.get(field)
            .ok_or_else(|| self.error(field, "missing".to_owned()))
    }

    fn whole(&self, field: &str, value: &Json) -> Result<usize> {
        match value {
            Json::Int(n) if (0..=1 << 24).contains(n) => Ok(*n as usize),
            other => Err(self.error(field, format!("expected a whole number, got {other}"))),
        }
    }

    fn count(&self, field: &str) -> Result<usize> {
        self.whole(field, self.required(field)?)
    }

    fn size(&self, field: &str) -> Result<usize> {
        match self.count(field)? {
            0 => Err(self.error(field, "must not be 0".to_owned())),
            n => Ok(n),
        }
    }

    fn size_or(&self, field: &str, default: usize) -> Result<usize> {
        match self.get(field) {
            Some(_) => self.size(field),
            None => Ok(default),
        }
    }

    fn positive_or(&self, field: &str, default: f64) -> Result<f64> {
        match self.get(field) {
            None => Ok(default),
            Some(value) => positive(value)
                .ok_or_else(|| self.error(field, format!("not a positive number: {value}"))),
        }
    }

    fn must_be(&self, field: &str, only: &str) -> Result<()> {
        match self.get(field) {
            None => Ok(()),
            Some(Json::Text(t)) if t == only => Ok(()),
            Some(other) => Err(self.error(field, format!("unsupported {other}, use \"{only}\""))),
        }
    }

    fn must_be_false(&self, field: &str) -> Result<()> {
        match self.get(field) {
            None | Some(Json::Bool(false)) => Ok(()),
            Some(other) => Err(self.error(field, format!("unsupported {other}, use false"))),
        }
    }
}

fn positive(value: &Json) -> Option<f64> {
    value.number().filter(|n| n.is_finite() && *n > 0.0)
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;

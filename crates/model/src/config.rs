//! The two configuration files of a checkpoint: `rl_agent_config.json` and `encoder/config.json`.

mod encoder;
mod fields;

use std::path::Path;

pub use encoder::{Attention, EncoderConfig, Family};
use fields::Fields;

use crate::error::Result;
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
    /// State and options are encoded each alone; only the head sees them together.
    Separate,
}

impl Layout {
    /// The name in `option_layout`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sequential => "sequential",
            Self::Parallel => "parallel",
            Self::Cached => "cached",
            Self::Separate => "separate",
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

/// Head, budgets and calibration.
#[derive(Debug, Clone)]
pub struct AgentConfig {
    /// Layers of the decision head.
    pub head_layers: usize,
    /// Longest sequence in tokens (`separate`: longest state, with its two special tokens).
    pub max_len: usize,
    /// Tokens for question and options together (`cached`: for the question; `separate`: 0, for
    /// the question is not read).
    pub head_max_len: usize,
    /// Tokens of one option's text. Always 48, except where a `cached` or `separate` checkpoint
    /// names its own.
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
        let head_max_len = question_budget(&f, layout, max_len)?;
        if max_len > encoder.max_positions {
            let most = encoder.max_positions;
            let reason = format!("{max_len} is above the encoder's max_position_embeddings {most}");
            return Err(f.error("max_len", reason));
        }
        let option_max_len = option_budget(&f, layout, max_len, head_max_len)?;
        if layout == Layout::Separate && option_max_len + 2 > encoder.max_positions {
            let most = encoder.max_positions;
            let reason = format!("{option_max_len} + 2 is above max_position_embeddings {most}");
            return Err(f.error("option_max_len", reason));
        }
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
        Some(Json::Text(t)) if t == "separate" => Ok(Layout::Separate),
        Some(other) => {
            let known = "\"sequential\", \"parallel\", \"cached\" or \"separate\"";
            let reason = format!("unknown {other}, use {known}");
            Err(f.error("option_layout", reason))
        }
    }
}

fn question_budget(f: &Fields, layout: Layout, max_len: usize) -> Result<usize> {
    if layout == Layout::Separate {
        return match max_len {
            // The two special tokens and one of text.
            0..3 => Err(f.error("max_len", format!("{max_len} leave no state"))),
            _ => Ok(0),
        };
    }
    let tokens = f.size_or("head_max_len", 192)?;
    if tokens <= 4 || tokens >= max_len {
        let reason = format!("{tokens} must be above 4 and below max_len {max_len}");
        return Err(f.error("head_max_len", reason));
    }
    Ok(tokens)
}

fn option_budget(f: &Fields, layout: Layout, max_len: usize, head_max: usize) -> Result<usize> {
    match layout {
        Layout::Sequential | Layout::Parallel => return Ok(OPTION_TOKENS),
        Layout::Separate => return f.size_or("option_max_len", OPTION_TOKENS),
        Layout::Cached => {}
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

#[cfg(test)]
mod tests;

//! Which checkpoints there are, and what one is.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tabsense_model::{
    AgentConfig, Attention, EncoderConfig, Family, Layout, hub_cache, in_hub_cache, is_checkpoint,
};

use super::{Outcome, Told, backend, load, millis, places, resolve, size, weights_size};
use crate::judge;

pub(super) fn list() -> Outcome {
    let (_, settings) = places()?;
    let chosen = settings.model();
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let hub = hub_cache(variable).map_or_else(Vec::new, |cache| in_hub_cache(&cache));
    let mut rows = vec![("builtin".to_owned(), "comes with tabsense".to_owned())];
    let in_hub = hub.iter().any(|(_, path)| path.as_os_str() == &*chosen);
    if chosen == "off" {
        rows.push((chosen.clone(), "set in config.toml".to_owned()));
    } else if chosen != "builtin" && !in_hub {
        let note = match is_checkpoint(Path::new(&chosen)) {
            true => "set in config.toml",
            false => "set in config.toml, but no checkpoint is there",
        };
        rows.push((chosen.clone(), note.to_owned()));
    }
    rows.extend(
        hub.into_iter()
            .map(|(name, path)| (path.display().to_string(), name)),
    );
    let mut text = String::new();
    for (model, note) in &rows {
        let mark = if *model == chosen { '*' } else { ' ' };
        let _ = writeln!(text, "{mark} {model}  ({note})");
    }
    let rows = rows
        .iter()
        .map(|(model, note)| json!({"model": model, "note": note, "chosen": *model == chosen}));
    Told::good(text, json!({"models": rows.collect::<Value>()}))
}

pub(super) fn info(named: &str) -> Outcome {
    let directory = resolve(named)?;
    let mut model = load(&directory, &judge::options())?;
    let bytes = weights_size(&directory);
    let (encoder, agent) = (model.encoder().clone(), model.agent().clone());
    let (backend, load_ms) = (backend(&mut model), millis(model.load_time()));
    let mut text = String::new();
    let mut row = |name: &str, value: &str| {
        let _ = writeln!(text, "{name:<12}{value}");
    };
    row("directory", &directory.display().to_string());
    row("layout", agent.layout.name());
    row("encoder", &shape(&encoder));
    row("head", &format!("{} layers", agent.head_layers));
    row("budgets", &budgets(&agent));
    row("weights", &size(bytes));
    row("backend", &backend);
    row("loaded in", &format!("{load_ms:.0} ms"));
    for warning in &agent.warnings {
        row("warning", warning);
    }
    let json = json!({
        "directory": directory.display().to_string(),
        "layout": agent.layout.name(),
        "encoder": {
            "family": encoder.family.name(),
            "layers": encoder.layers.len(),
            "sliding": sliding(&encoder),
            "hidden": encoder.hidden,
            "heads": encoder.heads,
            "vocabulary": encoder.vocab,
        },
        "head_layers": agent.head_layers,
        "budgets": {
            "all": agent.max_len,
            "question": agent.head_max_len,
            "option": agent.option_max_len,
        },
        "weights_bytes": bytes,
        "backend": backend,
        "load_ms": load_ms,
        "warnings": agent.warnings,
    });
    Told::good(text, json)
}

fn sliding(encoder: &EncoderConfig) -> usize {
    let sliding = |kind: &&Attention| matches!(kind, Attention::Sliding);
    encoder.layers.iter().filter(sliding).count()
}

fn shape(encoder: &EncoderConfig) -> String {
    let kind = match encoder.family {
        Family::ModernBert => format!(
            "layers ({} sliding, window {})",
            sliding(encoder),
            encoder.window
        ),
        Family::Bert => "BERT layers".to_owned(),
    };
    format!(
        "{} {kind} of {} with {} heads, {} tokens known",
        encoder.layers.len(),
        encoder.hidden,
        encoder.heads,
        encoder.vocab,
    )
}

fn budgets(agent: &AgentConfig) -> String {
    match agent.layout {
        Layout::Separate => format!(
            "{} tokens for a state, {} for an option",
            agent.max_len, agent.option_max_len
        ),
        _ => format!(
            "{} tokens in all, {} for the question, {} for an option",
            agent.max_len, agent.head_max_len, agent.option_max_len
        ),
    }
}

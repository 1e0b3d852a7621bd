//! How long the passes of a model take on this machine.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tabsense_model::{Kind, Layout, Model, Result, Sequence, Stop};

use super::{Outcome, Told, Trouble, backend, load, millis, places, resolve};
use crate::judge;

/// Passes of each row, and how long a row may take before it ends with fewer.
const PASSES: usize = 200;
const ROW_LIMIT: Duration = Duration::from_secs(2);

/// Lengths of whole passes, in tokens.
const WHOLE: [usize; 3] = [64, 128, 256];

/// Tokens of a kept state, and of the options that come after it.
const KEPT: usize = 128;
const FRESH: [usize; 2] = [16, 64];

/// Tokens of one option, its `[MASK]` included.
const OPTION: usize = 4;

/// What a `separate` model compares: tokens of a phrase, and options.
const PHRASE: usize = 16;
const OPTIONS: usize = 64;

/// A line of the table: a pass, and its times in order.
struct Row {
    pass: String,
    times: Vec<Duration>,
}

impl Row {
    fn new(pass: impl Into<String>, times: Vec<Duration>) -> Self {
        Self {
            pass: pass.into(),
            times,
        }
    }

    /// Milliseconds that `share` percent of the passes do not take longer than.
    fn at(&self, share: usize) -> f64 {
        let last = self.times.len() - 1;
        millis(self.times[(self.times.len() * share / 100).min(last)])
    }
}

pub(super) fn bench(named: Option<&str>) -> Outcome {
    let (_, settings) = places()?;
    let named = named.map_or_else(|| settings.model(), str::to_owned);
    if named == "off" {
        return Err(Trouble::new(
            "the model is off (set in config.toml)",
            "`tabsense model bench builtin`",
        ));
    }
    let directory = resolve(&named)?;
    let mut model = load(&directory, &judge::options())?;
    let rows = measure(&mut model).map_err(|error| Trouble::with(&directory, &error))?;
    let backend = backend(&mut model);
    let mut text = format!(
        "{backend}\n{:<36}{:>8}{:>10}{:>10}\n",
        "", "passes", "p50 ms", "p99 ms"
    );
    let mut told = Vec::new();
    for row in &rows {
        let (pass, passes, p50, p99) = (&row.pass, row.times.len(), row.at(50), row.at(99));
        let _ = writeln!(text, "{pass:<36}{passes:>8}{p50:>10.2}{p99:>10.2}");
        told.push(json!({"pass": pass, "passes": passes, "p50_ms": p50, "p99_ms": p99}));
    }
    Told::good(
        text,
        json!({"directory": directory.display().to_string(), "backend": backend, "rows": Value::from(told)}),
    )
}

fn measure(model: &mut Model) -> Result<Vec<Row>> {
    let mut rows = vec![Row::new("load", vec![model.load_time()])];
    let longest = model.encoder().max_positions;
    for tokens in WHOLE.into_iter().filter(|&tokens| tokens <= longest) {
        let sequence = piece(model, 0, tokens);
        let times = time(|| model.forward(&sequence, &Stop::NEVER).map(drop))?;
        rows.push(Row::new(format!("{tokens} tokens at once"), times));
    }
    match model.agent().layout {
        Layout::Cached if KEPT + OPTION <= longest => kept(model, &mut rows)?,
        Layout::Separate => separate(model, &mut rows)?,
        _ => {}
    }
    Ok(rows)
}

fn kept(model: &mut Model, rows: &mut Vec<Row>) -> Result<()> {
    let state = Sequence {
        markers: Vec::new(),
        owners: vec![0; KEPT],
        ..piece(model, 0, KEPT)
    };
    let times = time(|| model.backend().prepare(0, &state, &Stop::NEVER))?;
    rows.push(Row::new(format!("a state of {KEPT} tokens"), times));
    for tokens in FRESH {
        let options = piece(model, KEPT, tokens);
        let times = time(|| model.backend().options(0, &options, &Stop::NEVER).map(drop))?;
        let pass = format!("{tokens} tokens of options after it");
        rows.push(Row::new(pass, times));
    }
    Ok(())
}

fn separate(model: &mut Model, rows: &mut Vec<Row>) -> Result<()> {
    let cls = model.tokens().cls;
    let alone = |model: &Model, tokens: usize, count: usize| {
        let tokens = tokens.min(model.encoder().max_positions);
        Sequence {
            ids: vec![cls; tokens * count],
            positions: (0..count).flat_map(|_| 0..tokens as u32).collect(),
            owners: (0..count as u32)
                .flat_map(|owner| std::iter::repeat_n(owner, tokens))
                .collect(),
            markers: Vec::new(),
            kind: Kind::Choice,
        }
    };
    let phrase = alone(model, PHRASE, 1);
    let times = time(|| model.backend().encode(&phrase, &Stop::NEVER).map(drop))?;
    rows.push(Row::new(format!("a phrase of {PHRASE} tokens"), times));
    let options = alone(model, OPTION, OPTIONS);
    let times = time(|| model.backend().encode(&options, &Stop::NEVER).map(drop))?;
    let pass = format!("{OPTIONS} options of {OPTION} tokens, once");
    rows.push(Row::new(pass, times));
    let phrase = model.backend().encode(&phrase, &Stop::NEVER)?;
    let options = vec![0.5; OPTIONS * model.encoder().hidden];
    let times = time(|| {
        let compared = model.backend().compare(&phrase, &options, &Stop::NEVER);
        compared.map(drop)
    })?;
    rows.push(Row::new(
        format!("it and {OPTIONS} options compared"),
        times,
    ));
    Ok(())
}

/// A piece of `tokens` tokens after `start` others: options of [`OPTION`] tokens each.
fn piece(model: &mut Model, start: usize, tokens: usize) -> Sequence {
    let (cls, mask) = (model.tokens().cls, model.tokens().mask);
    let head = usize::from(start == 0) * OPTION;
    let at = |token: usize| (token - head) % OPTION;
    let part = |token: usize| if token < head { None } else { Some(at(token)) };
    Sequence {
        ids: (0..tokens)
            .map(|token| if part(token) == Some(0) { mask } else { cls })
            .collect(),
        positions: (0..tokens)
            .map(|token| part(token).map_or(token, |at| start + head + at) as u32)
            .collect(),
        owners: (0..tokens)
            .map(|token| part(token).map_or(0, |_| (token - head) / OPTION + 1) as u32)
            .collect(),
        markers: (0..tokens)
            .filter(|&token| part(token) == Some(0))
            .collect(),
        kind: Kind::Choice,
    }
}

/// Times of a pass, sorted; the first, which fills caches, is left out.
fn time(mut pass: impl FnMut() -> Result<()>) -> Result<Vec<Duration>> {
    pass()?;
    let end = Instant::now() + ROW_LIMIT;
    let mut times = Vec::with_capacity(PASSES);
    while times.len() < PASSES && (times.is_empty() || Instant::now() < end) {
        let start = Instant::now();
        pass()?;
        times.push(start.elapsed());
    }
    times.sort_unstable();
    Ok(times)
}

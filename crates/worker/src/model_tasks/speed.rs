//! How long the passes of a model take on this machine.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use tabsense_model::{Kind, Layout, Model, Result, Sequence, Stop};

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

/// A table of times.
pub(super) fn measure(model: &mut Model) -> Result<String> {
    let (name, detail) = (model.backend().name(), model.backend().detail());
    let mut text = format!(
        "{name} {detail}\n{:<36}{:>8}{:>10}{:>10}\n",
        "", "passes", "p50 ms", "p99 ms"
    );
    let load = super::millis(model.load_time());
    let _ = writeln!(text, "{:<36}{:>8}{load:>10.2}", "load", 1);
    let longest = model.encoder().max_positions;
    for tokens in WHOLE.into_iter().filter(|&tokens| tokens <= longest) {
        let sequence = piece(model, 0, tokens);
        let times = time(|| model.forward(&sequence, &Stop::NEVER).map(drop))?;
        row(&mut text, &format!("{tokens} tokens at once"), &times);
    }
    if model.agent().layout == Layout::Cached && KEPT + OPTION <= longest {
        kept(model, &mut text)?;
    }
    Ok(text)
}

fn kept(model: &mut Model, text: &mut String) -> Result<()> {
    let state = Sequence {
        markers: Vec::new(),
        owners: vec![0; KEPT],
        ..piece(model, 0, KEPT)
    };
    let times = time(|| model.backend().prepare(0, &state, &Stop::NEVER))?;
    row(text, &format!("a state of {KEPT} tokens"), &times);
    for tokens in FRESH {
        let options = piece(model, KEPT, tokens);
        let times = time(|| model.backend().options(0, &options, &Stop::NEVER).map(drop))?;
        row(
            text,
            &format!("{tokens} tokens of options after it"),
            &times,
        );
    }
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

fn row(text: &mut String, name: &str, times: &[Duration]) {
    let at = |share: usize| super::millis(times[(times.len() * share / 100).min(times.len() - 1)]);
    let _ = writeln!(
        text,
        "{name:<36}{:>8}{:>10.2}{:>10.2}",
        times.len(),
        at(50),
        at(99)
    );
}

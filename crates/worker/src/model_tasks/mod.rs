//! `tabsensed model`: what `tabsense model` does with checkpoints. Nothing here uses the network.

mod speed;

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use tabsense_config::{Paths, Settings};
use tabsense_model::{
    Attention, Case, Device, Error, Fidelity, Model, Options, Precision, Report, Verification,
    compare, goldens, hub_cache, in_hub_cache, is_checkpoint, quantize, samples, verify,
};

use crate::arguments::{ModelTask, Quantize};
use crate::judge;

/// Largest difference of a logit from the reference that floats may show.
const FLOAT_BOUND: f32 = 1e-3;

/// The same for 8-bit weights.
const EIGHT_BIT_BOUND: f32 = 0.05;

/// Larger weights take the scalar reference backend minutes.
const REFERENCE_BYTES: u64 = 64 << 20;

/// A report, and whether what it tells is good.
struct Told {
    text: String,
    good: bool,
}

/// Why there is no report, and what to do.
struct Trouble {
    message: String,
    hint: String,
}

type Outcome = Result<Told, Trouble>;

/// Carries the task out and prints what it found.
pub(crate) fn run(task: &ModelTask) -> ExitCode {
    let outcome = match task {
        ModelTask::List => list(),
        ModelTask::Info { model } => info(model),
        ModelTask::Verify { model } => check(model),
        ModelTask::Quantize(how) => shrink(how),
        ModelTask::Bench { model } => speed(model.as_deref()),
    };
    let (written, good) = match outcome {
        Ok(Told { text, good }) => (std::io::stdout().lock().write_all(text.as_bytes()), good),
        Err(Trouble { message, hint }) => {
            let mut text = format!("tabsense: {message}\n");
            if !hint.is_empty() {
                let _ = writeln!(text, "  hint: {hint}");
            }
            (std::io::stderr().lock().write_all(text.as_bytes()), false)
        }
    };
    if good && written.is_ok() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

impl Told {
    fn good(text: String) -> Outcome {
        Ok(Self { text, good: true })
    }
}

impl Trouble {
    fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: hint.into(),
        }
    }

    /// What is wrong with a checkpoint, with the usual reasons for it.
    fn with(directory: &Path, error: &Error) -> Self {
        let text = error.to_string();
        // The model's own hint is better than a general one.
        if let Some((message, hint)) = text.rsplit_once(" (hint: ") {
            return Self::new(message, hint.trim_end_matches(')'));
        }
        Self::new(text, usual_reason(directory))
    }
}

fn usual_reason(directory: &Path) -> &'static str {
    if is_checkpoint(directory) {
        return "";
    }
    "a checkpoint is a directory with model.safetensors, rl_agent_config.json, \
     encoder/config.json and tokenizer/; `tabsense model list` shows those on this machine"
}

fn places() -> Result<(Paths, Settings), Trouble> {
    let paths = Paths::from_env().map_err(|error| Trouble::new(error.to_string(), ""))?;
    let (settings, _) = Settings::load(&paths.config);
    Ok((paths, settings))
}

/// Where the model lies that the user calls `named`.
fn resolve(named: &str) -> Result<PathBuf, Trouble> {
    let (paths, _) = places()?;
    if named == "off" {
        return Err(Trouble::new("off is no checkpoint", "name a directory"));
    }
    judge::directory(named, &paths).map_err(|error| Trouble::new(error.to_string(), ""))
}

fn load(directory: &Path, options: &Options) -> Result<Model, Trouble> {
    Model::load(directory, options).map_err(|error| Trouble::with(directory, &error))
}

fn list() -> Outcome {
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
    for (model, note) in rows {
        let mark = if model == chosen { '*' } else { ' ' };
        let _ = writeln!(text, "{mark} {model}  ({note})");
    }
    Told::good(text)
}

fn info(named: &str) -> Outcome {
    let directory = resolve(named)?;
    let mut model = load(&directory, &judge::options())?;
    let bytes = weights_size(&directory);
    let (encoder, agent) = (model.encoder().clone(), model.agent().clone());
    let sliding = |kind: &&Attention| matches!(kind, Attention::Sliding);
    let mut text = String::new();
    let mut row = |name: &str, value: String| {
        let _ = writeln!(text, "{name:<12}{value}");
    };
    row("directory", directory.display().to_string());
    row("layout", agent.layout.name().to_owned());
    row(
        "encoder",
        format!(
            "{} layers ({} sliding, window {}) of {} with {} heads, {} tokens known",
            encoder.layers.len(),
            encoder.layers.iter().filter(sliding).count(),
            encoder.window,
            encoder.hidden,
            encoder.heads,
            encoder.vocab,
        ),
    );
    row("head", format!("{} layers", agent.head_layers));
    row(
        "budgets",
        format!(
            "{} tokens in all, {} for the question, {} for an option",
            agent.max_len, agent.head_max_len, agent.option_max_len
        ),
    );
    row("weights", size(bytes));
    let backend = model.backend();
    let (name, detail) = (backend.name(), backend.detail());
    row("backend", format!("{name} {detail}").trim_end().to_owned());
    row("loaded in", format!("{:.0} ms", millis(model.load_time())));
    for warning in &agent.warnings {
        row("warning", warning.clone());
    }
    Told::good(text)
}

fn check(named: &str) -> Outcome {
    let directory = resolve(named)?;
    let wrong = |error: Error| Trouble::with(&directory, &error);
    let mut float = load(&directory, &cpu(Precision::Float))?;
    let mut eight = load(&directory, &cpu(Precision::Auto))?;
    let mut on_tab = load(&directory, &cpu(judge::options().precision))?;
    let mut text = format!("{} loads\n", directory.display());
    for warning in &float.agent().warnings {
        let _ = writeln!(text, "warning: {warning}");
    }
    let mut cases = goldens(&directory).map_err(wrong)?;
    let mut good = true;
    if cases.is_empty() {
        text.push_str("no expected.json beside it: nothing to compare its answers with\n");
    } else {
        for (name, model, bound) in [
            ("cpu, floats", &mut float, FLOAT_BOUND),
            ("cpu, 8 bits", &mut eight, EIGHT_BIT_BOUND),
        ] {
            let found = verify(model, &cases).map_err(wrong)?;
            good &= meets(&found, bound);
            let _ = writeln!(text, "{name}: {}", against_reference(&found, bound));
        }
        // On TAB exactness is traded for time, which is no fault of the checkpoint.
        let found = verify(&mut on_tab, &cases).map_err(wrong)?;
        let _ = writeln!(text, "cpu, as on TAB: {} (not judged)", differences(&found));
    }
    cases.extend(samples());
    let agree =
        compare_all(&directory, &mut float, &mut on_tab, &cases, &mut text).map_err(wrong)?;
    good &= agree;
    let verdict = if good { "good" } else { "not as it should be" };
    let _ = writeln!(text, "{verdict}");
    Ok(Told { text, good })
}

fn meets(found: &Verification, bound: f32) -> bool {
    found.other_tokens == 0 && found.largest_difference <= bound
}

fn against_reference(found: &Verification, bound: f32) -> String {
    let verdict = if meets(found, bound) { "ok" } else { "WRONG" };
    format!("{} (up to {bound} is fine): {verdict}", differences(found))
}

fn differences(found: &Verification) -> String {
    format!(
        "{} expected answers: {} with other tokens, {} with another choice, largest difference of a \
         logit {:.5}",
        found.cases, found.other_tokens, found.other_choice, found.largest_difference,
    )
}

/// Floats against 8 bits, and against another backend where there is one; whether the backends
/// agree. What 8 bits change is told and not judged: near ties may tip.
fn compare_all(
    directory: &Path,
    float: &mut Model,
    on_tab: &mut Model,
    cases: &[Case],
    text: &mut String,
) -> Result<bool, Error> {
    let mut told = |name: &str, found: &Fidelity| {
        let _ = writeln!(text, "{name}: {}", fidelity(found));
    };
    told("as on TAB against floats", &compare(float, on_tab, cases)?);
    let Some(mut other) = other_backend(directory) else {
        text.push_str("no second backend: the reference one is too slow for this size\n");
        return Ok(true);
    };
    let found = compare(float, &mut other, cases)?;
    told(&format!("cpu against {}", other.backend().name()), &found);
    Ok(found.agreement >= Report::AGREEMENT)
}

fn fidelity(found: &Fidelity) -> String {
    format!(
        "the same choice in {:.1} % of {} cases, largest change of a probability {:.4}",
        found.agreement * 100.0,
        found.cases,
        found.largest_change,
    )
}

/// MLX where it was built in; else the scalar reference, for weights small enough.
fn other_backend(directory: &Path) -> Option<Model> {
    let with = |device| Options {
        device,
        ..Options::default()
    };
    Model::load(directory, &with(Device::Mlx)).ok().or_else(|| {
        (weights_size(directory) <= REFERENCE_BYTES)
            .then(|| Model::load(directory, &with(Device::Reference)).ok())?
    })
}

fn cpu(precision: Precision) -> Options {
    Options {
        device: Device::Cpu,
        precision,
        ..Options::default()
    }
}

fn shrink(how: &Quantize) -> Outcome {
    let directory = resolve(&how.model)?;
    let group = match how.group_size.as_str() {
        "row" => None,
        number => Some(number.parse().map_err(|_| {
            Trouble::new(
                format!("a group of `{number}` columns"),
                "a number such as 64, or `row`",
            )
        })?),
    };
    let options = tabsense_model::Quantize {
        bits: how.bits,
        group,
        keep: how.keep.clone(),
    };
    let report = quantize(&directory, &how.out, &options).map_err(|error| match error {
        Error::Io { ref path, .. } if *path == how.out && how.out.exists() => {
            Trouble::new(error.to_string(), "name a directory that is not there yet")
        }
        error => Trouble::with(&directory, &error),
    })?;
    let mut text = format!(
        "{}: {}, was {}\n",
        how.out.display(),
        size(report.bytes_after),
        size(report.bytes_before),
    );
    for name in &report.kept {
        let _ = writeln!(text, "kept {name}");
    }
    let _ = writeln!(text, "{}", fidelity(&report.fidelity));
    if !report.is_faithful() {
        let _ = writeln!(
            text,
            "below {:.0} %: not faithful (hint: 8 bits, smaller groups, or --keep for what matters)",
            Report::AGREEMENT * 100.0,
        );
    }
    Told::good(text)
}

fn speed(named: Option<&str>) -> Outcome {
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
    let text = speed::measure(&mut model).map_err(|error| Trouble::with(&directory, &error))?;
    Told::good(text)
}

fn weights_size(directory: &Path) -> u64 {
    std::fs::metadata(directory.join("model.safetensors")).map_or(0, |data| data.len())
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

fn millis(time: std::time::Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

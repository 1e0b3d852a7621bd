//! Whether a checkpoint answers as is expected of it, on everything that can run it here.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};
use tabsense_model::{
    Case, Device, Error, Fidelity, Model, Options, Precision, Report, Verification, compare,
    goldens, samples,
};

use super::{Outcome, Told, Trouble, fidelity, load, resolve, weights_size};
use crate::judge;

/// Largest difference of a logit from the reference that floats may show.
const FLOAT_BOUND: f32 = 1e-3;

/// The same for 8-bit weights.
const EIGHT_BIT_BOUND: f32 = 0.05;

/// Larger weights take the scalar reference backend minutes.
const REFERENCE_BYTES: u64 = 64 << 20;

/// As many cases as it is given.
const REFERENCE_CASES: usize = 8;

/// What has been found so far.
struct Findings {
    text: String,
    expected: Vec<Value>,
    each_other: Vec<Value>,
    good: bool,
}

pub(super) fn verify(named: &str) -> Outcome {
    let directory = resolve(named)?;
    let wrong = |error: Error| Trouble::with(&directory, &error);
    let mut float = load(&directory, &cpu(Precision::Float))?;
    let mut eight = load(&directory, &cpu(Precision::Auto))?;
    let mut on_tab = load(&directory, &cpu(judge::options().precision))?;
    let mut found = Findings {
        text: format!("{} loads\n", directory.display()),
        expected: Vec::new(),
        each_other: Vec::new(),
        good: true,
    };
    let warnings = float.agent().warnings.clone();
    for warning in &warnings {
        let _ = writeln!(found.text, "warning: {warning}");
    }
    let mut cases = goldens(&directory).map_err(wrong)?;
    if cases.is_empty() {
        let none = "no expected.json beside it: nothing to compare its answers with\n";
        found.text.push_str(none);
    } else {
        for (way, model, bound) in [
            ("cpu, floats", &mut float, Some(FLOAT_BOUND)),
            ("cpu, 8 bits", &mut eight, Some(EIGHT_BIT_BOUND)),
            // On TAB exactness is traded for time, which is no fault of the checkpoint.
            ("cpu, as on TAB", &mut on_tab, None),
        ] {
            let met = tabsense_model::verify(model, &cases).map_err(wrong)?;
            found.against_expected(way, &met, bound);
        }
    }
    cases.extend(samples());
    compare_all(&directory, &mut float, &mut on_tab, &cases, &mut found).map_err(wrong)?;
    let verdict = if found.good {
        "good"
    } else {
        "not as it should be"
    };
    let _ = writeln!(found.text, "{verdict}");
    let json = json!({
        "directory": directory.display().to_string(),
        "warnings": warnings,
        "against_expected": found.expected,
        "against_each_other": found.each_other,
        "good": found.good,
    });
    Ok(Told {
        text: found.text,
        json,
        good: found.good,
    })
}

impl Findings {
    /// Notes how far a model is from its expected answers; without a bound it is not judged.
    fn against_expected(&mut self, way: &str, met: &Verification, bound: Option<f32>) {
        let ok = bound.map(|bound| met.other_tokens == 0 && met.largest_difference <= bound);
        self.good &= ok.unwrap_or(true);
        let told = differences(met);
        let _ = match bound {
            None => writeln!(self.text, "{way}: {told} (not judged)"),
            Some(bound) => {
                let verdict = if ok == Some(true) { "ok" } else { "WRONG" };
                writeln!(
                    self.text,
                    "{way}: {told} (up to {bound} is fine): {verdict}"
                )
            }
        };
        self.expected.push(json!({
            "way": way,
            "cases": met.cases,
            "other_tokens": met.other_tokens,
            "other_choice": met.other_choice,
            "largest_difference": met.largest_difference,
            "bound": bound,
            "ok": ok,
        }));
    }

    fn against_each_other(&mut self, way: &str, found: &Fidelity) {
        let _ = writeln!(self.text, "{way}: {}", fidelity(found));
        self.each_other.push(json!({
            "way": way,
            "cases": found.cases,
            "agreement": found.agreement,
            "largest_change": found.largest_change,
        }));
    }
}

fn differences(found: &Verification) -> String {
    format!(
        "{} expected answers: {} with other tokens, {} with another choice, largest difference of a \
         logit {:.5}",
        found.cases, found.other_tokens, found.other_choice, found.largest_difference,
    )
}

/// Floats against 8 bits, and against another backend where there is one; the backends must agree.
/// What 8 bits change is told and not judged: near ties may tip.
fn compare_all(
    directory: &Path,
    float: &mut Model,
    on_tab: &mut Model,
    cases: &[Case],
    found: &mut Findings,
) -> Result<(), Error> {
    let eight = compare(float, on_tab, cases)?;
    found.against_each_other("as on TAB against floats", &eight);
    let Some(mut other) = other_backend(directory) else {
        let none = "no second backend: the reference one is too slow for this size\n";
        found.text.push_str(none);
        return Ok(());
    };
    let name = other.backend().name();
    let most = if name == "reference" {
        REFERENCE_CASES
    } else {
        usize::MAX
    };
    let backends = compare(float, &mut other, &cases[..cases.len().min(most)])?;
    let way = format!("cpu against {name}");
    found.against_each_other(&way, &backends);
    found.good &= backends.agreement >= Report::AGREEMENT;
    Ok(())
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

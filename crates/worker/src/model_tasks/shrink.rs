//! A smaller copy of a checkpoint.

use std::fmt::Write as _;

use serde_json::json;
use tabsense_model::{Error, Report, quantize as write};

use super::{Outcome, Told, Trouble, fidelity, resolve, size};
use crate::arguments::Quantize;

pub(super) fn quantize(how: &Quantize) -> Outcome {
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
    let report = write(&directory, &how.out, &options).map_err(|error| match error {
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
    let json = json!({
        "directory": how.out.display().to_string(),
        "bytes": report.bytes_after,
        "bytes_before": report.bytes_before,
        "kept": report.kept,
        "cases": report.fidelity.cases,
        "agreement": report.fidelity.agreement,
        "largest_change": report.fidelity.largest_change,
        "faithful": report.is_faithful(),
    });
    Told::good(text, json)
}

//! Evaluates the built-in weights: `eval history|completion FILE [--json]`, .gz files too.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use tabsense_rank::Weights;
use tabsense_rank::eval::{completion, history, read_cases, read_users};

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [what, file, rest @ ..] = arguments.as_slice() else {
        return Err("usage: eval history|completion FILE [--json]".into());
    };
    let json = rest.iter().any(|a| a == "--json");
    let weights = Weights::default();
    let (text, table) = match what.as_str() {
        "history" => {
            let report = history::evaluate(&read_users(open(file)?)?, &weights, None)?;
            (serde_json::to_string(&report)?, report.to_string())
        }
        "completion" => {
            let report = completion::evaluate(&read_cases(open(file)?)?, &weights, None)?;
            (serde_json::to_string(&report)?, report.to_string())
        }
        other => return Err(format!("unknown evaluation {other:?}").into()),
    };
    println!("{}", if json { text } else { table });
    Ok(())
}

fn open(file: &str) -> Result<Box<dyn BufRead>, Failure> {
    let path = Path::new(file);
    let reader = File::open(path).map_err(|e| format!("{file}: {e}"))?;
    if path.extension().is_some_and(|e| e == "gz") {
        return Ok(Box::new(BufReader::new(flate2::read::MultiGzDecoder::new(
            reader,
        ))));
    }
    Ok(Box::new(BufReader::new(reader)))
}

//! `tabsense eval shortcuts`: how good and how fast the choice among the built-in shortcuts is.
//!
//! A phrase is offered its likeliest shortcuts as a user would be: none when the likeliest is below
//! the floor. It is accepted when the likeliest reaches the threshold.

use std::collections::BTreeMap;
use std::fmt;
use std::io::BufRead;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use tabsense_config::{Paths, Settings};
use tabsense_protocol::request::Do;

use super::choose::{Choices, Verdict, choose};
use super::mind::Mind;
use super::set::Set;
use super::surroundings::surroundings;
use super::{Shortcuts, answer};

/// Bins of the calibration error.
const BINS: usize = 15;

/// Shortcuts that are offered when none is sure.
const OFFERED: usize = 3;

/// A line of the file.
#[derive(Debug, Deserialize)]
struct Case {
    text: String,
    lang: String,
    id: Option<String>,
}

/// What is measured.
#[derive(Debug, Serialize, PartialEq)]
pub(crate) struct Report {
    /// Lines of the file.
    cases: usize,
    /// By language; lines that ask for something.
    languages: BTreeMap<String, Language>,
    /// The share of the lines that ask for nothing there is, of which something was accepted.
    false_accepts: f64,
    /// Expected calibration error of the likeliest answer, "none of these" included.
    ece: f64,
    /// From the phrase to the commands that are offered, in the worker.
    latency_ms: Latency,
}

/// How the phrases of a language fare.
#[derive(Debug, Default, Serialize, PartialEq)]
struct Language {
    cases: usize,
    /// The share whose shortcut is offered first.
    top1: f64,
    /// The share whose shortcut is accepted.
    accepted_top1: f64,
    /// The share whose shortcut is among the three that are offered.
    top3: f64,
}

#[derive(Debug, Default, Serialize, PartialEq)]
struct Latency {
    p50: f64,
    p99: f64,
}

/// Measures; `model` is a checkpoint other than the one in the settings.
pub(crate) fn eval(reader: Box<dyn BufRead>, model: Option<&Path>) -> Result<Report, String> {
    let paths = Paths::from_env().map_err(|error| error.to_string())?;
    let (settings, _) = Settings::load(&paths.config);
    let shortcuts = Shortcuts::new(&settings, &paths);
    let mind = match model {
        Some(directory) if directory.as_os_str() != "builtin" => Ok(Mind::load(directory)),
        _ => Mind::start(&settings, &paths),
    };
    let builtin = Arc::clone(shortcuts.catalogue().builtin());
    let mind = mind.and_then(|mind| mind.wait(None).map(|_| mind));
    let mind = match mind {
        Ok(mind) => {
            mind.read(&builtin);
            mind.store(&builtin);
            Some(mind)
        }
        Err(why) => {
            eprintln_quietly(&format!("tabsense: without a model: {why}"));
            None
        }
    };
    let cases = read(reader, &builtin)?;
    let limits = (settings.do_threshold(), settings.do_floor());
    let sets = [builtin];
    let mut tally = Tally::default();
    for case in &cases {
        let start = Instant::now();
        let (choices, outcome) = choose(&sets, &case.text, mind.as_deref(), None);
        let ask = Do::default();
        let there = surroundings(&ask);
        answer::choices(&choices, &case.text, &ask, &there);
        tally.times.push(start.elapsed().as_secs_f64() * 1e3);
        outcome.map_err(|why| format!("{}: {why}", case.text))?;
        tally.add(case, &choices, limits);
    }
    Ok(tally.report(cases.len()))
}

fn eprintln_quietly(text: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

fn read(reader: Box<dyn BufRead>, builtin: &Set) -> Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    for (number, line) in (1..).zip(reader.lines()) {
        let line = line.map_err(|error| format!("line {number}: {error}"))?;
        if line.trim().is_empty() {
            continue;
        }
        let case: Case = serde_json::from_str(&line).map_err(|error| {
            format!(
                "line {number}: {error} (hint: {{\"text\": …, \"lang\": …, \"id\": … or null}})"
            )
        })?;
        let is_known = |id: &String| builtin.shortcuts.iter().any(|s| s.id == *id);
        if let Some(id) = case.id.as_ref().filter(|id| !is_known(id)) {
            return Err(format!("line {number}: there is no shortcut `{id}`"));
        }
        cases.push(case);
    }
    match cases.is_empty() {
        true => Err("there is no case in it".to_owned()),
        false => Ok(cases),
    }
}

/// Sums over the cases so far.
#[derive(Default)]
struct Tally {
    languages: BTreeMap<String, [usize; 4]>,
    nothing: usize,
    false_accepts: usize,
    /// Cases, right answers and the sum of probabilities of each bin.
    bins: [(usize, usize, f64); BINS],
    times: Vec<f64>,
}

impl Tally {
    fn add(&mut self, case: &Case, choices: &Choices, (threshold, floor): (f32, f32)) {
        let verdict = choices.verdict(threshold, floor);
        let offered: Vec<&str> = match verdict {
            Verdict::Nothing => Vec::new(),
            Verdict::Sure | Verdict::Unsure => {
                let best = choices.candidates.iter().take(OFFERED);
                best.map(|candidate| candidate.shortcut().id.as_str())
                    .collect()
            }
        };
        let accepted = verdict == Verdict::Sure;
        self.calibrate(case, choices);
        let Some(id) = case.id.as_deref() else {
            self.nothing += 1;
            self.false_accepts += usize::from(accepted);
            return;
        };
        let first = offered.first() == Some(&id);
        let [cases, top1, accepted_top1, top3] =
            self.languages.entry(case.lang.clone()).or_default();
        *cases += 1;
        *top1 += usize::from(first);
        *accepted_top1 += usize::from(first && accepted);
        *top3 += usize::from(offered.contains(&id));
    }

    fn calibrate(&mut self, case: &Case, choices: &Choices) {
        let best = choices.candidates.first();
        let best = best.map(|best| (best.probability, Some(best.shortcut().id.as_str())));
        let (probability, answer) = match best {
            Some((probability, id)) if probability > choices.none => (probability, id),
            _ => (choices.none, None),
        };
        let probability = f64::from(probability).clamp(0.0, 1.0);
        let bin = ((probability * BINS as f64) as usize).min(BINS - 1);
        let (cases, right, sum) = &mut self.bins[bin];
        *cases += 1;
        *right += usize::from(answer == case.id.as_deref());
        *sum += probability;
    }

    fn report(mut self, cases: usize) -> Report {
        let share = |part: usize, whole: usize| part as f64 / whole.max(1) as f64;
        let language = |[cases, top1, accepted, top3]: [usize; 4]| Language {
            cases,
            top1: share(top1, cases),
            accepted_top1: share(accepted, cases),
            top3: share(top3, cases),
        };
        let gap = |(_, right, sum): &(usize, usize, f64)| (*right as f64 - sum).abs();
        self.times.sort_by(f64::total_cmp);
        let percentile = |percent: f64| {
            let last = self.times.len().saturating_sub(1) as f64;
            let at = (last * percent / 100.0).round() as usize;
            self.times.get(at).copied().unwrap_or(0.0)
        };
        Report {
            cases,
            false_accepts: share(self.false_accepts, self.nothing),
            ece: self.bins.iter().map(gap).sum::<f64>() / cases.max(1) as f64,
            latency_ms: Latency {
                p50: percentile(50.0),
                p99: percentile(99.0),
            },
            languages: self
                .languages
                .into_iter()
                .map(|(name, counts)| (name, language(counts)))
                .collect(),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<10}{:>8}{:>10}{:>10}{:>10}",
            "", "cases", "accepted", "first", "in three"
        )?;
        for (name, language) in &self.languages {
            writeln!(
                f,
                "{name:<10}{:>8}{:>9.1}%{:>9.1}%{:>9.1}%",
                language.cases,
                language.accepted_top1 * 100.0,
                language.top1 * 100.0,
                language.top3 * 100.0,
            )?;
        }
        writeln!(f, "wrongly accepted {:.1}%", self.false_accepts * 100.0)?;
        writeln!(f, "calibration error {:.3}", self.ece)?;
        let Latency { p50, p99 } = self.latency_ms;
        writeln!(f, "p50 {p50:.1} ms, p99 {p99:.1} ms, {} cases", self.cases)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    fn builtin() -> Set {
        Set::new(tabsense_shortcuts::builtin().to_vec(), true)
    }

    #[test]
    fn a_line_that_is_no_case_is_told_with_its_number() {
        let set = builtin();
        let of = |text: &'static str| read(Box::new(Cursor::new(text)), &set).map(|c| c.len());
        let good = "{\"text\": \"mail\", \"lang\": \"en\", \"id\": \"launch_mail\"}\n\n\
                    {\"text\": \"hi\", \"lang\": \"en\", \"id\": null}\n";
        assert_eq!(of(good), Ok(2));
        let error = of("{\"text\": \"x\"}").expect_err("a field is missing");
        assert!(
            error.starts_with("line 1: ") && error.contains("hint"),
            "{error}"
        );
        let error = of("{\"text\": \"x\", \"lang\": \"en\", \"id\": \"fly\"}").expect_err("no id");
        assert_eq!(error, "line 1: there is no shortcut `fly`");
        assert!(of("").is_err());
    }

    #[test]
    fn without_a_model_the_order_is_measured_and_nothing_is_accepted() {
        let sets = [Arc::new(builtin())];
        let mut tally = Tally::default();
        let case = |text: &str, id: Option<&str>| Case {
            text: text.to_owned(),
            lang: "en".to_owned(),
            id: id.map(str::to_owned),
        };
        for case in [
            case("open mail", Some("launch_mail")),
            case("open mail", Some("go_home")),
            case("xyzzy", None),
        ] {
            let (choices, _) = choose(&sets, &case.text, None, None);
            tally.add(&case, &choices, (0.5, 0.2));
            tally.times.push(1.0);
        }
        let report = tally.report(3);
        let english = &report.languages["en"];
        assert_eq!((english.cases, english.top1), (2, 0.5));
        assert_eq!((english.accepted_top1, report.false_accepts), (0.0, 0.0));
        assert_eq!(report.latency_ms, Latency { p50: 1.0, p99: 1.0 });
        assert!(report.ece > 0.0 && report.ece <= 1.0);
        let json = serde_json::to_value(&report).expect("JSON");
        let keys: Vec<&String> = json.as_object().expect("an object").keys().collect();
        assert_eq!(
            keys,
            ["cases", "ece", "false_accepts", "languages", "latency_ms"]
        );
    }
}

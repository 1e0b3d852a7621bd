//! Makes the default weights anew from histories and completion cases.
//!
//! ```text
//! fit HISTORY.jsonl.gz [--cases CASES.jsonl=PRIORS.tsv]... [--left-out-users] [--left-out-cases]
//!     [--test CASES]... [--adapt] [--write WEIGHTS.rs]
//! ```
//!
//! HISTORY holds one user per line (see `eval::history`); each CASES file holds completion cases
//! of projects that its PRIORS table was counted without (`models/priors/count.py --folds 4
//! --without 0`). Lines are fitted first, since the other blends look at likely lines.
//! `--left-out-users` also fits without each sixth of the users, `--left-out-cases` without each
//! file of cases, and they report what those weights reach on what was left out. `--test` reports
//! on cases that no fitting sees. `--adapt` adapts the built-in weights to the first two thirds of
//! each history, as the worker does, and reports what that gives on the rest. `--write` puts the weights into
//! `crates/rank/src/weights.rs` and the network into `lines/network.tsv` beside it. The same input gives the same weights.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::sync::Arc;

use tabsense_rank::eval::adapt::{Verdict, adapt};
use tabsense_rank::eval::bend::{Bending, bend};
use tabsense_rank::eval::choices::{self, Sample};
use tabsense_rank::eval::fit::{self, Choice, Options};
use tabsense_rank::eval::history::Scored;
use tabsense_rank::eval::{Case, User, completion, history, read_cases, read_users};
use tabsense_rank::{Blend, Priors, Weights};

type Failure = Box<dyn std::error::Error>;

/// Choices taken from one user, at most about so many.
const LINES_PER_USER: usize = 6000;
const BENT_PER_USER: usize = 20_000;
const WORDS_PER_USER: usize = 800;
const USER_FOLDS: usize = 6;

struct CaseFile {
    cases: Vec<Case>,
    priors: Arc<Priors>,
}

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let users = read_users(open(&arguments.next().ok_or("no history given")?)?)?;
    let (mut files, mut users_out, mut cases_out, mut write) = (Vec::new(), false, false, None);
    let mut tests = Vec::new();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--left-out-users" => users_out = true,
            "--left-out-cases" => cases_out = true,
            "--write" => write = arguments.next(),
            "--test" => tests.extend(arguments.next()),
            "--adapt" => {
                report_adapted(&users);
                return Ok(());
            }
            "--cases" => {
                let value = arguments.next().unwrap_or_default();
                let (cases, priors) = value.split_once('=').ok_or("--cases CASES=PRIORS")?;
                let priors = Arc::new(Priors::parse(&fs::read_to_string(priors)?));
                files.push(CaseFile {
                    cases: read_cases(open(cases)?)?,
                    priors,
                });
            }
            other => return Err(format!("unknown argument {other:?}").into()),
        }
    }
    let all = fit_all(&users, &files, &|_| true, &|_| true);
    print_weights(&all);
    if let Some(path) = write {
        write_weights(Path::new(&path), &all)?;
    }
    for file in &tests {
        let report = completion::evaluate(&read_cases(open(file)?)?, &all, None)?;
        println!("{file}:\n\n{report}");
    }
    if cases_out {
        report_cases_left_out(&users, &files)?;
    }
    if users_out {
        report_users_left_out(&users);
    }
    Ok(())
}

/// Where fitting starts: the same whatever the current defaults are, so that users who are left
/// out have no part in it. What the data cannot tell (exit status, modification time and quality of
/// the match are not in it) keeps these numbers.
fn start() -> Weights {
    let given: [(Blend, &[(&str, f32)]); 3] = [
        (
            Blend::Lines,
            &[
                ("Chained", 1.0),
                ("Fast", 0.2),
                ("Template", 0.5),
                ("Failed", -1.0),
                ("Repair", 0.3),
            ],
        ),
        (
            Blend::Words,
            &[
                ("LineShare", 2.0),
                ("Line", 0.3),
                ("Kind", 0.3),
                ("Mentioned", 1.0),
                ("PriorFirst", 0.5),
                ("PriorNext", 0.5),
                ("PriorSub", 0.5),
                ("PriorKind", 0.5),
                ("Fresh", 0.5),
                ("FreshDay", 0.3),
                ("Quality", -8.0),
                ("Taken", 0.3),
                ("PassedOver", -1.0),
                ("Visited", 0.1),
                ("Native", -0.01),
            ],
        ),
        (
            Blend::Directories,
            &[("From", 1.0), ("Frecency", 0.3), ("Made", 1.0)],
        ),
    ];
    let mut weights = Weights::default();
    weights.set_network(Arc::default());
    for (blend, values) in given {
        weights.of_mut(blend).fill(0.0);
        for (name, value) in values {
            if let Some(at) = blend.features().iter().position(|feature| feature == name) {
                weights.of_mut(blend)[at] = *value;
            }
        }
    }
    weights
}

/// Fits all three blends to the users and case files that are let in.
fn fit_all(
    users: &[User],
    files: &[CaseFile],
    user_in: &(dyn Fn(usize) -> bool + Sync),
    file_in: &dyn Fn(usize) -> bool,
) -> Weights {
    let mut weights = start();
    // Each round meets the negatives that the one before ranked high.
    for round in 0..3 {
        let choices = by_user(users, user_in, &|user| {
            choices::line_choices(user, &weights, &Sample::whole(user, LINES_PER_USER, round))
        });
        refit(&mut weights, Blend::Lines, &choices, "lines");
    }
    let choices = by_user(users, user_in, &|user| {
        choices::directory_choices(user, &weights, &Sample::whole(user, usize::MAX, 1))
    });
    refit(&mut weights, Blend::Directories, &choices, "directories");
    let mut choices = by_user(users, user_in, &|user| {
        choices::word_choices(user, &weights, &Sample::whole(user, WORDS_PER_USER, 1))
    });
    for (_, file) in files.iter().enumerate().filter(|(at, _)| file_in(*at)) {
        let mut with_priors = weights.clone();
        with_priors.set_priors(Arc::clone(&file.priors));
        choices.extend(choices::case_choices(&file.cases, &with_priors));
    }
    refit(&mut weights, Blend::Words, &choices, "words");
    // Last: the other blends look at likely lines, and lines that the network has learnt by heart
    // would look more certain to them than those of a person it has never seen.
    let choices = by_user(users, user_in, &|user| {
        choices::line_choices(user, &weights, &Sample::whole(user, BENT_PER_USER, 3))
    });
    let start = weights.of(Blend::Lines).to_vec();
    let (fitted, network) = bend(
        &choices,
        &start,
        &fit::least(Blend::Lines),
        Bending::default(),
    );
    eprintln!("network: {} choices", choices.len());
    weights.of_mut(Blend::Lines).copy_from_slice(&fitted);
    weights.set_network(Arc::new(network));
    weights
}

fn by_user(
    users: &[User],
    user_in: &(dyn Fn(usize) -> bool + Sync),
    choices_of: &(dyn Fn(&User) -> Vec<Choice> + Sync),
) -> Vec<Choice> {
    let half = users.len().div_ceil(2);
    let part = |from: usize, to: usize| {
        let mut all = Vec::new();
        for (at, user) in users
            .iter()
            .enumerate()
            .take(to)
            .skip(from)
            .filter(|(at, _)| user_in(*at))
        {
            let mut choices = choices_of(user);
            // Between one vote per user and one per choice.
            let mut weight = 40.0 / (choices.len() as f32 + 100.0).sqrt();
            // A history without repeats tells little about what is repeated.
            if user.repeat_share < history::REPEATING {
                weight *= 0.25;
            }
            choices.iter_mut().for_each(|c| c.weight = weight);
            all.push((at, choices));
        }
        all
    };
    let mut all = std::thread::scope(|scope| {
        let other = scope.spawn(|| part(half, users.len()));
        let mut all = part(0, half);
        all.extend(
            other
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
        );
        all
    });
    all.sort_by_key(|(at, _)| *at);
    all.into_iter().flat_map(|(_, choices)| choices).collect()
}

fn refit(weights: &mut Weights, blend: Blend, choices: &[Choice], name: &str) {
    let before = fit::loss(choices, weights.of(blend));
    let fitted = fit::fit(
        choices,
        weights.of(blend),
        &fit::least(blend),
        Options::default(),
    );
    let after = fit::loss(choices, &fitted);
    eprintln!(
        "{name}: {} choices, loss {:.4} -> {:.4}, first {:.4} -> {:.4}",
        choices.len(),
        before.0,
        after.0,
        before.1,
        after.1
    );
    weights.of_mut(blend).copy_from_slice(&fitted);
    // The shell's order decides between equals and never more than that.
    if blend == Blend::Words
        && let Some(native) = blend.features().iter().position(|f| *f == "Native")
    {
        weights.of_mut(blend)[native] = weights.of(blend)[native].clamp(-0.2, -0.01);
    }
}

fn report_users_left_out(users: &[User]) {
    let folds: Vec<Weights> = (0..USER_FOLDS)
        .map(|fold| fit_all(users, &[], &|at| at % USER_FOLDS != fold, &|_| false))
        .collect();
    let scores = history::evaluate_users(users, |at| &folds[at % USER_FOLDS], Scored::All);
    println!(
        "\nHistories, each user left out of the fitting:\n\n{}",
        history::report(&scores)
    );
}

fn report_adapted(users: &[User]) {
    println!(
        "user, gains that were judged in lines, words, directories; gain on the rest in lines"
    );
    let start = Weights::default();
    let (mut sum, mut kept) = (0.0, 0);
    for user in users {
        let cut = user.commands.len() * 2 / 3;
        let mut first = user.clone();
        first.commands.truncate(cut);
        let outcome = match adapt(&first, &[], &start, None, &|| false) {
            Ok(outcome) => outcome,
            Err(why) => {
                println!("{} {why}", user.user);
                continue;
            }
        };
        let shown = |verdict: &Verdict| {
            let mark = if verdict.is_gain() {
                "kept"
            } else {
                "not kept"
            };
            let percent = |share: f64| 100.0 * share;
            format!(
                "{:+.2} ± {:.2} % {mark}",
                percent(verdict.gain),
                percent(verdict.error)
            )
        };
        let rest = Sample {
            from: cut,
            ..Sample::whole(user, usize::MAX, 1)
        };
        let scores = history::per_command(user, &rest, &[&start, &outcome.weights]);
        let gains: Vec<f64> = scores.iter().map(|s| s[1] - s[0]).collect();
        let on_rest = Verdict::of(&gains);
        sum += on_rest.gain;
        kept += usize::from(outcome.lines.is_gain());
        println!(
            "{} {}; {}; {}; {}",
            user.user,
            shown(&outcome.lines),
            shown(&outcome.words),
            shown(&outcome.directories),
            shown(&on_rest)
        );
    }
    println!(
        "lines kept for {kept}; mean gain on the rest {:+.2} %",
        100.0 * sum / users.len() as f64
    );
}

fn report_cases_left_out(users: &[User], files: &[CaseFile]) -> Result<(), Failure> {
    for (out, file) in files.iter().enumerate() {
        let mut weights = fit_all(users, files, &|_| true, &|at| at != out);
        weights.set_priors(Arc::clone(&file.priors));
        let report = completion::evaluate(&file.cases, &weights, None)?;
        println!("Cases {out}, left out of the fitting and of the priors:\n\n{report}");
    }
    Ok(())
}

fn print_weights(weights: &Weights) {
    for blend in [Blend::Lines, Blend::Words, Blend::Directories] {
        println!("{blend:?}");
        for (name, weight) in blend.features().iter().zip(weights.of(blend)) {
            println!("    {name} = {weight:.4}");
        }
    }
}

/// Replaces the numbers in the lines `Name = number,` of each blend.
fn write_weights(path: &Path, weights: &Weights) -> Result<(), Failure> {
    let source = fs::read_to_string(path)?;
    let mut out = String::new();
    let mut blend = None;
    for line in source.lines() {
        let text = line.trim();
        blend = match text {
            "Line {" => Some(Blend::Lines),
            "Word {" => Some(Blend::Words),
            "Directory {" => Some(Blend::Directories),
            "}" => None,
            _ => blend,
        };
        let place = blend
            .zip(text.split_once(" = "))
            .and_then(|(blend, (name, _))| {
                let at = blend
                    .features()
                    .iter()
                    .position(|feature| *feature == name)?;
                Some((name, weights.of(blend)[at]))
            });
        match place {
            Some((name, weight)) => out.push_str(&format!("        {name} = {weight:.4},\n")),
            None => out.push_str(&format!("{line}\n")),
        }
    }
    fs::write(path, out)?;
    let network = path.with_file_name("lines").join("network.tsv");
    fs::write(network, weights.network().to_text())?;
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

//! Reports as tables for people.

use std::collections::BTreeMap;
use std::fmt;

use super::{completion, history};

impl fmt::Display for history::Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Shares in %, mean over users / over all cases.")?;
        group(f, "all users", &self.all)?;
        if self.repeating.users > 0 && self.repeating.users < self.all.users {
            group(f, "users whose shell keeps repeats", &self.repeating)?;
        }
        Ok(())
    }
}

fn group(f: &mut fmt::Formatter<'_>, name: &str, group: &history::Group) -> fmt::Result {
    writeln!(
        f,
        "\n{name}: {} users, {} commands\n",
        group.users, group.cases
    )?;
    write!(f, "{:<13}", "")?;
    for method in group.methods.keys() {
        write!(f, " {method:>16}")?;
    }
    writeln!(f)?;
    let keys: Vec<&String> = group
        .methods
        .values()
        .flat_map(|m| m.micro.keys())
        .collect();
    let keys: BTreeMap<(usize, &str), &String> = keys
        .into_iter()
        .map(|key| ((order(key), key.as_str()), key))
        .collect();
    for key in keys.values() {
        write!(f, "{key:<13}")?;
        for method in group.methods.values() {
            let share = |shares: &history::Shares| 100.0 * shares.get(*key).unwrap_or(&0.0);
            let cell = format!(
                "{:.1} / {:.1}",
                share(&method.r#macro),
                share(&method.micro)
            );
            write!(f, " {cell:>16}")?;
        }
        writeln!(f)?;
    }
    Ok(())
}

fn order(key: &str) -> usize {
    let starts = ["next", "prefix", "word", "saved", "cd"];
    starts
        .iter()
        .position(|start| key.starts_with(start))
        .unwrap_or(starts.len())
}

impl fmt::Display for completion::Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} cases\n", self.cases)?;
        writeln!(
            f,
            "{:<18} {:<12} {:>6} {:>7} {:>7} {:>7}",
            "method", "kind", "cases", "top1", "top3", "mrr"
        )?;
        for (name, m) in &self.methods {
            writeln!(
                f,
                "{name:<18} {:<12} {:>6} {:>7.3} {:>7.3} {:>7.3}",
                "all", self.cases, m.top1, m.top3, m.mrr
            )?;
            for (kind, k) in &m.by_kind {
                writeln!(
                    f,
                    "{name:<18} {kind:<12} {:>6} {:>7.3} {:>7} {:>7.3}",
                    k.cases, k.top1, "", k.mrr
                )?;
            }
            if let Some(calibration) = &m.calibration {
                writeln!(
                    f,
                    "{name:<18} says 0.9 or more in {:.1} % of the cases, {:.1} % of them right; \
                     calibration error {:.3}",
                    100.0 * calibration.sure,
                    100.0 * calibration.sure_right,
                    calibration.ece
                )?;
            }
        }
        Ok(())
    }
}

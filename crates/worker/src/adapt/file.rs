//! The file with the weights that are adapted to this user.
//!
//! JSON, for reading: what was kept and how it was judged, then every weight by its name. A file
//! of another version, or made from other built-in weights, is not used: its numbers would mean
//! something else.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use tabsense_rank::eval::adapt::{Helps, Outcome, Verdict};
use tabsense_rank::{Blend, Weights};

/// The version of the file's form.
const VERSION: u32 = 1;

/// The blends and their names in the file.
pub(crate) const BLENDS: [(Blend, &str); 3] = [
    (Blend::Lines, "lines"),
    (Blend::Words, "words"),
    (Blend::Directories, "directories"),
];

/// Larger files are not ours.
const LARGEST: u64 = 1 << 20;

/// What was found out at one time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Adapted {
    version: u32,
    /// Of the built-in weights that the run started from.
    built_in: String,
    /// When, in seconds since 1970.
    pub(crate) at: i64,
    /// Commands in the store at that time.
    pub(crate) history: u64,
    /// Commands that were replayed.
    pub(crate) replayed: usize,
    /// How each blend was judged.
    pub(crate) judged: BTreeMap<String, Judged>,
    /// Whether the model helps, if it was asked.
    pub(crate) model: Option<ModelJudged>,
    /// The weights of the blends that were kept, by name.
    weights: BTreeMap<String, BTreeMap<String, f32>>,
}

/// How one blend was judged on the later part of the history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Judged {
    pub(crate) cases: usize,
    pub(crate) gain: f64,
    pub(crate) error: f64,
    pub(crate) kept: bool,
}

/// How the model was judged there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ModelJudged {
    pub(crate) cases: usize,
    /// Mean reciprocal rank without it, and with it.
    pub(crate) without: f64,
    pub(crate) with: f64,
    pub(crate) kept: bool,
}

/// Why a file is not used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unusable {
    /// There is none.
    #[error("never adapted")]
    Absent,
    /// It cannot be read, or is no such file.
    #[error("{0} is damaged and ignored: {1}")]
    Damaged(String, String),
    /// It was made by another release.
    #[error("{0} was made by another release and is ignored")]
    Other(String),
}

impl Adapted {
    pub(crate) fn new(outcome: &Outcome, at: i64, history: u64, replayed: usize) -> Self {
        let verdicts = [outcome.lines, outcome.words, outcome.directories];
        let named = || BLENDS.iter().zip(verdicts);
        Self {
            version: VERSION,
            built_in: fingerprint(),
            at,
            history,
            replayed,
            judged: named()
                .map(|((_, name), verdict)| ((*name).to_owned(), Judged::from(verdict)))
                .collect(),
            model: outcome.model.map(ModelJudged::from),
            weights: named()
                .filter(|(_, verdict)| verdict.is_gain())
                .map(|((blend, name), _)| ((*name).to_owned(), by_name(&outcome.weights, *blend)))
                .collect(),
        }
    }

    /// Reads a file.
    pub(crate) fn read(file: &Path) -> Result<Self, Unusable> {
        let damaged = |why: String| Unusable::Damaged(file.display().to_string(), why);
        match std::fs::metadata(file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(Unusable::Absent),
            Err(error) => return Err(damaged(error.to_string())),
            Ok(data) if data.len() > LARGEST => return Err(damaged("it is too large".to_owned())),
            Ok(_) => {}
        }
        let text = std::fs::read(file).map_err(|error| damaged(error.to_string()))?;
        let version: Version =
            serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()))?;
        if version.version != VERSION || version.built_in != fingerprint() {
            return Err(Unusable::Other(file.display().to_string()));
        }
        let read: Self =
            serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()))?;
        match read.unknown_weight() {
            Some(name) => Err(damaged(format!("{name} is no weight"))),
            None => Ok(read),
        }
    }

    /// A name that is no feature's, or a weight that is no number to count with.
    fn unknown_weight(&self) -> Option<String> {
        self.weights.iter().find_map(|(blend, weights)| {
            let known = BLENDS.iter().find(|(_, name)| name == blend);
            let Some((blend, _)) = known else {
                return Some(blend.clone());
            };
            weights
                .iter()
                .find(|(name, weight)| {
                    !weight.is_finite() || !blend.features().contains(&name.as_str())
                })
                .map(|(name, _)| name.clone())
        })
    }

    /// Writes the file: all of it, or nothing.
    pub(crate) fn write(&self, file: &Path) -> io::Result<()> {
        let new = file.with_extension("new");
        let written = std::fs::File::create(&new).and_then(|mut out| {
            let text = serde_json::to_string_pretty(self).map_err(io::Error::other)?;
            out.write_all(text.as_bytes())?;
            out.write_all(b"\n")
        });
        let placed = written.and_then(|()| std::fs::rename(&new, file));
        if placed.is_err() {
            let _ = std::fs::remove_file(&new);
        }
        placed
    }

    /// The weights to rank with.
    pub(crate) fn weights(&self) -> Weights {
        let mut weights = Weights::default();
        for (blend, name) in BLENDS {
            for (feature, weight) in self.weights.get(name).into_iter().flatten() {
                let at = blend.features().iter().position(|known| known == feature);
                if let Some(at) = at {
                    weights.of_mut(blend)[at] = *weight;
                }
            }
        }
        if self.model.as_ref().is_some_and(|model| !model.kept) {
            weights.model = Default::default();
        }
        weights
    }

    /// Names of the blends that were kept.
    pub(crate) fn kept(&self) -> Vec<&str> {
        self.weights.keys().map(String::as_str).collect()
    }
}

#[derive(Deserialize)]
struct Version {
    version: u32,
    built_in: String,
}

impl From<Verdict> for Judged {
    fn from(verdict: Verdict) -> Self {
        Self {
            cases: verdict.cases,
            gain: verdict.gain,
            // JSON knows no infinity.
            error: verdict.error.min(1e9),
            kept: verdict.is_gain(),
        }
    }
}

impl From<Helps> for ModelJudged {
    fn from(helps: Helps) -> Self {
        Self {
            cases: helps.cases,
            without: helps.without,
            with: helps.with,
            kept: helps.keep(),
        }
    }
}

fn by_name(weights: &Weights, blend: Blend) -> BTreeMap<String, f32> {
    let names = blend.features().iter().map(|name| (*name).to_owned());
    names.zip(weights.of(blend).iter().copied()).collect()
}

/// Tells one set of built-in weights from another.
fn fingerprint() -> String {
    let weights = Weights::default();
    let mut hasher = DefaultHasher::new();
    for (blend, _) in BLENDS {
        blend.features().hash(&mut hasher);
        for weight in weights.of(blend) {
            weight.to_bits().hash(&mut hasher);
        }
    }
    weights.network().to_text().hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gain(gain: f64) -> Verdict {
        Verdict {
            cases: 500,
            gain,
            error: 0.001,
        }
    }

    fn outcome() -> Outcome {
        let mut weights = Weights::default();
        weights.of_mut(Blend::Lines)[2] += 0.5;
        weights.of_mut(Blend::Words)[3] += 0.25;
        Outcome {
            weights,
            lines: gain(0.01),
            words: gain(0.0),
            directories: Verdict::of(&[]),
            model: Some(Helps {
                cases: 100,
                without: 0.5,
                with: 0.4,
            }),
        }
    }

    #[test]
    fn what_is_written_is_read_and_only_what_was_kept_is_used() {
        let data = tempfile::tempdir().expect("tempdir");
        let file = data.path().join("adapted.json");
        let adapted = Adapted::new(&outcome(), 1_700_000_000, 5000, 4900);
        adapted.write(&file).expect("written");
        let read = Adapted::read(&file).expect("read");
        assert_eq!(read, adapted);
        let (weights, default) = (read.weights(), Weights::default());
        let lines = Blend::Lines;
        assert!((weights.of(lines)[2] - default.of(lines)[2] - 0.5).abs() < 1e-6);
        assert_eq!(weights.of(Blend::Words), default.of(Blend::Words));
        assert_eq!(read.kept(), ["lines"]);
        // It did not help: no weight of it is left.
        assert_eq!(weights.model, Default::default());
    }

    #[test]
    fn a_file_that_is_absent_damaged_or_foreign_is_told_apart() {
        let data = tempfile::tempdir().expect("tempdir");
        let file = data.path().join("adapted.json");
        assert_eq!(Adapted::read(&file), Err(Unusable::Absent));
        let adapted = Adapted::new(&outcome(), 1, 1, 1);
        let text = serde_json::to_string(&adapted).expect("text");
        let wrong = |text: String| {
            std::fs::write(&file, text).expect("written");
            Adapted::read(&file).expect_err("unusable")
        };
        let cut = wrong(text[..text.len() / 2].to_owned());
        assert!(matches!(cut, Unusable::Damaged(..)), "{cut}");
        let other = wrong(text.replace("\"version\":1", "\"version\":2"));
        assert!(matches!(other, Unusable::Other(_)), "{other}");
        let built_in = wrong(text.replace(&fingerprint(), "0123"));
        assert!(matches!(built_in, Unusable::Other(_)), "{built_in}");
        let unknown = wrong(text.replace("\"Habit\"", "\"Hobbit\""));
        assert!(unknown.to_string().contains("Hobbit"), "{unknown}");
    }
}

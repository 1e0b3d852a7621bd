//! Which shortcut a phrase means.
//!
//! First a shortlist: the shortcuts that share the most telling words with the phrase, and those
//! whose texts the model finds nearest. Then one decision of the model among these and "none of
//! these", each option told by its nearest text; its logits over the checkpoint's temperature are
//! the probabilities. Without a model the words alone give an order, and nothing is sure.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use tabsense_model::{Phrase, Refused, softmax};
use tabsense_shortcuts::{Hit, Risk, Shortcut, Source, search};

use super::doubt::{self, Doubt};
use super::mind::Mind;
use super::set::{Set, Vector};

/// Options that the model decides among.
const SHORTLIST: usize = 16;

/// How many of them may come from the model's own sense of nearness alone.
const NEAREST: usize = 11;

/// How many may be examples of tldr, of which there are thousands.
const PAGES: usize = 4;

/// Hits of the word search that are looked at.
const HITS: usize = 48;

/// Texts of a shortcut that are read while somebody waits.
const READ_NOW: usize = 2;

/// The share of a phrase's words that an example of tldr must have to be offered.
const PAGE_WORDS: f32 = 0.5;

/// A number for how sure words alone can be: always below what is taken.
const WORDS_ALONE: f32 = 0.45;

/// A shortcut that may be meant.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    set: Arc<Set>,
    place: usize,
    /// The number of the text that stands for it.
    text: usize,
    /// The share of the phrase's words that one of its texts has.
    pub(crate) words: f32,
    score: f32,
    /// The cosine between phrase and text.
    pub(crate) similarity: f32,
    pub(crate) probability: f32,
}

impl Candidate {
    pub(crate) fn shortcut(&self) -> &Shortcut {
        &self.set.shortcuts[self.place]
    }

    pub(crate) fn text(&self) -> &str {
        self.set.text(self.text)
    }
}

/// What a phrase may mean.
#[derive(Debug, Clone, Default)]
pub(crate) struct Choices {
    /// The likeliest first.
    pub(crate) candidates: Vec<Candidate>,
    /// How likely it is that nothing fits.
    pub(crate) none: f32,
    /// Whether the model decided.
    pub(crate) decided: bool,
}

/// The choices for a phrase; `mind` is the model, once it is loaded. `Err` beside them says why it
/// did not decide.
pub(crate) fn choose(
    sets: &[Arc<Set>],
    phrase: &str,
    mind: Option<&Mind>,
    deadline: Option<Instant>,
) -> (Choices, Result<(), Refused>) {
    let found = by_words(sets, phrase);
    let Some(mind) = mind else {
        return (by_words_alone(found, phrase), Ok(()));
    };
    match decide(sets, phrase, found.clone(), mind, deadline) {
        Ok(choices) => (choices, Ok(())),
        Err(why) => (by_words_alone(found, phrase), Err(why)),
    }
}

/// The shortcuts of all sets that share words with the phrase, best first.
fn by_words(sets: &[Arc<Set>], phrase: &str) -> Vec<Candidate> {
    let indexes: Vec<_> = sets.iter().map(|set| &set.index).collect();
    let candidate = |hit: Hit| Candidate {
        set: Arc::clone(&sets[hit.index]),
        place: hit.shortcut,
        text: hit.text,
        words: hit.coverage,
        score: hit.score,
        similarity: 0.0,
        probability: 0.0,
    };
    let mut pages = 0;
    let mut fits = |candidate: &Candidate| {
        if candidate.shortcut().source != Source::Tldr {
            return true;
        }
        pages += 1;
        pages <= PAGES && candidate.words >= PAGE_WORDS
    };
    let mut found: Vec<Candidate> = search(&indexes, phrase, HITS)
        .into_iter()
        .map(candidate)
        .filter(|candidate| !is_hidden(sets, candidate))
        .collect();
    found.retain(&mut fits);
    found
}

/// Whether a shortcut of an earlier set has the same id.
fn is_hidden(sets: &[Arc<Set>], candidate: &Candidate) -> bool {
    let id = &candidate.shortcut().id;
    let earlier = sets
        .iter()
        .take_while(|set| !Arc::ptr_eq(set, &candidate.set));
    // Only the user's own file uses the ids of the built-in ones.
    earlier
        .filter(|set| {
            set.shortcuts
                .first()
                .is_some_and(|s| s.source == Source::File)
        })
        .any(|set| set.shortcuts.iter().any(|shortcut| shortcut.id == *id))
}

fn by_words_alone(mut found: Vec<Candidate>, phrase: &str) -> Choices {
    found.truncate(SHORTLIST);
    let best = found.first().map_or(1.0, |best| best.score);
    for candidate in &mut found {
        candidate.probability = WORDS_ALONE * candidate.words * candidate.score / best;
    }
    if Doubt::of(phrase).asks() {
        let loses = |candidate: &Candidate| candidate.shortcut().risk == Risk::Destructive;
        found.iter_mut().filter(|c| loses(c)).for_each(|candidate| {
            candidate.probability *= doubt::LEFT;
        });
    }
    found.sort_by(|a, b| b.probability.total_cmp(&a.probability));
    Choices {
        none: 1.0 - found.first().map_or(0.0, |best| best.probability),
        candidates: found,
        decided: false,
    }
}

fn decide(
    sets: &[Arc<Set>],
    text: &str,
    words: Vec<Candidate>,
    mind: &Mind,
    deadline: Option<Instant>,
) -> Result<Choices, Refused> {
    let _asking = mind.ask();
    let phrase = mind.phrase(text, deadline)?;
    let near = nearest(sets, &phrase);
    let mut candidates = shortlist(words, near);
    let options = tell(&mut candidates, &phrase, mind, deadline)?;
    let decided = mind.compare(phrase, &options, deadline)?;
    let mut probabilities = softmax(&decided.logits, decided.temperature);
    let none = probabilities.pop().unwrap_or(0.0);
    let doubt = Doubt::of(text);
    let shortcuts = candidates.iter().map(Candidate::shortcut);
    let mut shares: Vec<_> = shortcuts.zip(&mut probabilities).collect();
    doubt.share(none, &mut shares);
    for (candidate, probability) in candidates.iter_mut().zip(probabilities) {
        candidate.probability = match doubt.holds(candidate.shortcut().risk) {
            true => probability * doubt::LEFT,
            false => probability,
        };
    }
    let none = 1.0
        - candidates
            .iter()
            .map(|candidate| candidate.probability)
            .sum::<f32>();
    candidates.sort_by(|a, b| b.probability.total_cmp(&a.probability));
    Ok(Choices {
        candidates,
        none,
        decided: true,
    })
}

/// The shortcuts with the nearest texts among those that have been read, nearest first.
fn nearest(sets: &[Arc<Set>], phrase: &Phrase) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = Vec::new();
    for set in sets.iter().filter(|set| set.is_read) {
        for place in 0..set.shortcuts.len() {
            if let Some((text, similarity)) = nearest_text(set, place, phrase) {
                found.push(Candidate {
                    set: Arc::clone(set),
                    place,
                    text,
                    words: 0.0,
                    score: 0.0,
                    similarity,
                    probability: 0.0,
                });
            }
        }
    }
    let farther = |a: &Candidate, b: &Candidate| b.similarity.total_cmp(&a.similarity);
    if found.len() > HITS {
        found.select_nth_unstable_by(HITS, farther);
        found.truncate(HITS);
    }
    found.sort_by(farther);
    found.retain(|candidate| !is_hidden(sets, candidate));
    found
}

/// The text of a shortcut that is nearest, with its cosine.
fn nearest_text(set: &Set, place: usize, phrase: &Phrase) -> Option<(usize, f32)> {
    set.meanings_of(place)
        .filter_map(|text| Some((text, cosine(set.vector(text)?, phrase))))
        .max_by(|a, b| a.1.total_cmp(&b.1))
}

/// Both have the length of the square root of their width.
fn cosine(vector: &Vector, phrase: &Phrase) -> f32 {
    /// Sums that go on side by side, which is what a processor is good at.
    const LANES: usize = 16;
    let mut sums = [0.0_f32; LANES];
    let (left, _) = vector.as_chunks::<LANES>();
    let (right, _) = phrase.vector.as_chunks::<LANES>();
    for (a, b) in left.iter().zip(right) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let whole = left.len() * LANES;
    let rest: f32 = vector[whole..]
        .iter()
        .zip(&phrase.vector[whole..])
        .map(|(a, b)| a * b)
        .sum();
    (sums.iter().sum::<f32>() + rest) / vector.len() as f32
}

/// The nearest ones, and those with the most telling words.
fn shortlist(words: Vec<Candidate>, near: Vec<Candidate>) -> Vec<Candidate> {
    let mut seen: HashSet<(usize, usize)> = HashSet::new();
    let mut list: Vec<Candidate> = Vec::with_capacity(SHORTLIST);
    let key = |candidate: &Candidate| (Arc::as_ptr(&candidate.set) as usize, candidate.place);
    for mut candidate in near.iter().take(NEAREST).cloned() {
        let same = words.iter().find(|found| key(found) == key(&candidate));
        if let Some(found) = same {
            (candidate.words, candidate.score) = (found.words, found.score);
        }
        seen.insert(key(&candidate));
        list.push(candidate);
    }
    let rest = words.into_iter().chain(near.into_iter().skip(NEAREST));
    for candidate in rest {
        if list.len() >= SHORTLIST {
            break;
        }
        if seen.insert(key(&candidate)) {
            list.push(candidate);
        }
    }
    list
}

/// The vector of the nearest text of each candidate; what has not been read is read now, as much as
/// one can wait for.
fn tell(
    candidates: &mut [Candidate],
    phrase: &Phrase,
    mind: &Mind,
    deadline: Option<Instant>,
) -> Result<Vec<Vector>, Refused> {
    read_missing(candidates, mind, deadline)?;
    let mut options = Vec::with_capacity(candidates.len());
    for candidate in candidates {
        let near = nearest_text(&candidate.set, candidate.place, phrase);
        if let Some((text, similarity)) = near {
            (candidate.text, candidate.similarity) = (text, similarity);
        }
        let vector = candidate.set.vector(candidate.text);
        options.push(Arc::clone(vector.ok_or(Refused::Loading)?));
    }
    Ok(options)
}

/// Reads the text that shares words with the phrase, and the first text, of every candidate of which
/// nothing has been read.
fn read_missing(
    candidates: &[Candidate],
    mind: &Mind,
    deadline: Option<Instant>,
) -> Result<(), Refused> {
    let mut missing: Vec<(&Arc<Set>, usize)> = Vec::new();
    for Candidate {
        set, place, text, ..
    } in candidates
    {
        let meanings = set.meanings_of(*place);
        let mut texts: Vec<usize> = meanings.clone().filter(|any| any == text).collect();
        texts.extend(meanings.clone().find(|first| first != text));
        if texts.iter().all(|text| set.vector(*text).is_none()) {
            missing.extend(texts.into_iter().take(READ_NOW).map(|text| (set, text)));
        }
    }
    let texts: Vec<&str> = missing.iter().map(|(set, text)| set.text(*text)).collect();
    let vectors = mind.vectors(&texts, deadline)?;
    for ((set, text), vector) in missing.into_iter().zip(vectors) {
        set.keep(text, vector);
    }
    Ok(())
}

/// Whether the first of some choices is to be taken, offered, or nothing is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Sure,
    Unsure,
    Nothing,
}

impl Choices {
    /// What is to be made of the choices.
    pub(crate) fn verdict(&self, threshold: f32, floor: f32) -> Verdict {
        let best = self.candidates.first().map_or(0.0, |best| best.probability);
        let floor = match self.decided {
            true => floor,
            // Words alone make no probabilities; what shares any is worth a look.
            false => 0.0,
        };
        match best.partial_cmp(&threshold) {
            Some(Ordering::Greater | Ordering::Equal) if self.decided => Verdict::Sure,
            _ if best > 0.0 && best >= floor => Verdict::Unsure,
            _ => Verdict::Nothing,
        }
    }
}

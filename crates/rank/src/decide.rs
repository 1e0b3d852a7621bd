//! The border to a decision model: plain data in, one logit per option out.

use crate::candidate::{Candidate, Context, Ranked, Slot, are_files};
use crate::index::Index;
use crate::weights::Weights;

/// What the options of a question are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asks {
    /// Words, or the last part of one, that may stand at the end of the line.
    Word,
    /// Whole lines that begin with the line.
    Line,
}

/// What a model is asked: which option does the next key press mean?
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// What the options are.
    pub asks: Asks,
    /// Where and when.
    pub context: &'a Context<'a>,
    /// The words before the one that is completed, one blank between, then that word's directory
    /// part. Empty at the start of a line.
    pub before: &'a [u8],
    /// The options, as they would stand in the line.
    pub options: &'a [&'a [u8]],
}

/// A model that judges options.
pub trait Decide {
    /// One logit per option, in their order; `None` if the model has no answer in time.
    fn logits(&mut self, question: &Question<'_>) -> Option<Vec<f32>>;
}

/// The best candidates that a model judges; it leaves the order of the others alone.
///
/// On completion cases 24 rank as well as 64 (top-1 .693 against .695), for a third of the time.
pub const SHORTLIST: usize = 24;

/// Bytes of the candidates' names that a model reads at most, as its time grows with them: fewer
/// candidates where names are long.
const SHORTLIST_BYTES: usize = 1024;

/// How far below the least likely of the shortlist a candidate is taken to be that was not in it.
const UNSEEN: f32 = 1.0;

/// The share of a model's weight that stays where much is known of a person.
const LEFT: f32 = 0.05;
/// Runs of a command after which half of the weight is gone.
const RUNS: f32 = 15.0;
/// What a long history takes away at commands that were never run, and how long is half long.
const STRANGE: f32 = 8.0;
const LONG: f32 = 100.0;

/// The weight of a model's log-probabilities at a place: all of [`Weights::model`] where nothing is
/// known of what this person does there, little where much is.
///
/// For commands and words it is `weight (0.05 + 0.95 / (1 + (n / 15)^2 + 8 e / (e + 100)))`, with n, how
/// often the command (and subcommand) was run, and e, how many commands were: the best of its form on
/// completion cases, where both are below ten, and on words of replayed histories, which the whole
/// weight ranks worse than none. In which file one works changes more: there it stays.
pub fn model_weight(
    weights: &Weights,
    index: &Index,
    slot: &Slot<'_>,
    candidates: &[Candidate],
) -> f32 {
    if are_files(candidates) {
        return weights.model.path;
    }
    let most = match slot.words {
        [] => weights.model.command,
        _ => weights.model.word,
    };
    let runs = index.uses(slot.words) as f32;
    let all = index.uses(&[]) as f32;
    let known = (runs / RUNS).powi(2) + STRANGE * all / (all + LONG);
    most * (LEFT + (1.0 - LEFT) / (1.0 + known))
}

/// Lets a model reorder the best [`SHORTLIST`] of a ranking, with the weight that [`model_weight`]
/// gives. Returns the weight with which it was heard: 0 when the model has no answer, and `ranked` is
/// as it was.
pub fn refine(
    ranked: &mut [Ranked],
    candidates: &[Candidate],
    context: &Context<'_>,
    slot: &Slot<'_>,
    weight: f32,
    model: &mut dyn Decide,
) -> f32 {
    if weight == 0.0 {
        return 0.0;
    }
    let Some(asked) = Asked::new(ranked, candidates, context, slot, model) else {
        return 0.0;
    };
    asked.apply(ranked, weight);
    weight
}

/// What a model said about the best of a ranking.
pub(crate) struct Asked {
    /// Places in the ranking, in the order in which the model saw them.
    order: Vec<usize>,
    logits: Vec<f32>,
}

impl Asked {
    pub(crate) fn new(
        ranked: &[Ranked],
        candidates: &[Candidate],
        context: &Context<'_>,
        slot: &Slot<'_>,
        model: &mut dyn Decide,
    ) -> Option<Self> {
        let mut left = SHORTLIST_BYTES;
        let fits = |entry: &&Ranked| {
            let name = last_part(&candidates[entry.position].text);
            left.checked_sub(name.len())
                .map(|rest| left = rest)
                .is_some()
        };
        let shown = ranked.iter().take(SHORTLIST).take_while(fits).count();
        if shown < 2 {
            return None;
        }
        // In native order: what stands first must not tell the model what statistics think.
        let mut order: Vec<usize> = (0..shown).collect();
        order.sort_unstable_by_key(|&place| ranked[place].position);
        let options: Vec<&[u8]> = order
            .iter()
            .map(|&place| last_part(&candidates[ranked[place].position].text))
            .collect();
        let before = before(slot);
        let question = Question {
            asks: Asks::Word,
            context,
            before: &before,
            options: &options,
        };
        let logits = model.logits(&question)?;
        (logits.len() == shown).then_some(Self { order, logits })
    }

    /// Adds what it said to the scores of the ranking that it was asked about, and sorts it anew.
    pub(crate) fn apply(&self, ranked: &mut [Ranked], weight: f32) {
        let shown = self.order.len();
        let mut scores: Vec<f32> = vec![0.0; shown];
        blend(&mut scores, &self.logits, weight);
        let least = scores.iter().copied().fold(0.0, f32::min) - weight * UNSEEN;
        for (&place, gained) in self.order.iter().zip(&scores) {
            ranked[place].score += gained;
        }
        for rest in &mut ranked[shown..] {
            rest.score += least;
        }
        ranked.sort_by(|a, b| b.score.total_cmp(&a.score));
    }
}

/// What stands before the part of the word that the candidates replace: [`Question::before`].
pub fn before(slot: &Slot<'_>) -> Vec<u8> {
    let directory = slot.base();
    let mut before = slot.words.join(&b' ');
    if !directory.is_empty() {
        if !before.is_empty() {
            before.push(b' ');
        }
        before.extend_from_slice(directory);
    }
    before
}

/// A candidate without its directory part; a directory keeps the slash at its end.
fn last_part(text: &[u8]) -> &[u8] {
    let inner = text.strip_suffix(b"/").unwrap_or(text);
    let start = inner
        .iter()
        .rposition(|&byte| byte == b'/')
        .map_or(0, |at| at + 1);
    &text[start..]
}

/// Adds `weight * ln softmax(logits)` to scores. Leaves them alone when the numbers do not match
/// or any logit is not finite.
pub fn blend(scores: &mut [f32], logits: &[f32], weight: f32) {
    if scores.len() != logits.len() || logits.iter().any(|l| !l.is_finite()) {
        return;
    }
    let most = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let sum: f32 = logits.iter().map(|l| (l - most).exp()).sum();
    for (score, logit) in scores.iter_mut().zip(logits) {
        *score += weight * (logit - most - sum.ln());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidate::Kind;

    struct Prefers(&'static [u8]);

    impl Decide for Prefers {
        fn logits(&mut self, question: &Question<'_>) -> Option<Vec<f32>> {
            let likes = |option: &&[u8]| if *option == self.0 { 30.0 } else { 0.0 };
            Some(question.options.iter().map(likes).collect())
        }
    }

    fn ranking(texts: &[&str]) -> (Vec<Candidate>, Vec<Ranked>) {
        let candidates = texts
            .iter()
            .map(|text| Candidate {
                text: text.as_bytes().to_vec(),
                kind: crate::Kind::Word,
                description: Vec::new(),
                native: None,
                modified: None,
                quality: crate::Match::Prefix,
            })
            .collect();
        let ranked = (0..texts.len()).map(|position| Ranked {
            position,
            score: -(position as f32),
        });
        (candidates, ranked.collect())
    }

    #[test]
    fn a_model_moves_what_it_prefers_to_the_top() {
        let (candidates, mut ranked) = ranking(&["src/a", "src/b", "src/c/"]);
        let slot = Slot {
            words: &[b"cat"],
            typed: b"src/",
        };
        refine(
            &mut ranked,
            &candidates,
            &Context::default(),
            &slot,
            1.0,
            &mut Prefers(b"c/"),
        );
        let order: Vec<usize> = ranked.iter().map(|entry| entry.position).collect();
        assert_eq!(order, [2, 0, 1]);
    }

    #[test]
    fn a_model_counts_less_the_more_is_known_of_what_was_done_there_but_not_for_files() {
        let (mut words, _) = ranking(&["a", "b", "c"]);
        let weights = Weights::default();
        let mut index = Index::new();
        let weight = |index: &Index, words: &[&[u8]], candidates: &[Candidate]| {
            let slot = Slot { words, typed: b"" };
            model_weight(&weights, index, &slot, candidates)
        };
        let places: [&[&[u8]]; 4] = [&[], &[b"git"], &[b"git", b"log"], &[b"sudo", b"make"]];
        for place in places {
            assert_eq!(weight(&index, place, &words), 2.0);
        }
        let run = |index: &mut Index, command: &[u8]| {
            for _ in 0..60 {
                index.observe(&crate::Event {
                    command,
                    ..crate::Event::default()
                });
            }
        };
        run(&mut index, b"git add x");
        let [line, git, log, make] = places.map(|place| weight(&index, place, &words));
        assert!(line < 0.3 && git < 0.3, "{line} {git}");
        assert!(log > 2.0 * git && log == make, "{log} {make}");
        run(&mut index, b"sudo make");
        let [_, _, log_later, make] = places.map(|place| weight(&index, place, &words));
        assert!(make < 0.3 && log_later < log, "{make} {log_later}");
        assert!(log_later > make);
        words.iter_mut().for_each(|file| file.kind = Kind::File);
        assert_eq!(weight(&index, &[b"git"], &words), 0.25);
    }

    #[test]
    fn what_a_model_was_not_shown_stays_behind_what_it_was() {
        let texts: Vec<String> = (0..SHORTLIST + 5).map(|n| format!("w{n}")).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let (candidates, mut ranked) = ranking(&texts);
        refine(
            &mut ranked,
            &candidates,
            &Context::default(),
            &Slot::default(),
            1.0,
            &mut Prefers(b"w9"),
        );
        assert_eq!(ranked[0].position, 9);
        let tail: Vec<usize> = ranked[SHORTLIST..]
            .iter()
            .map(|entry| entry.position)
            .collect();
        assert_eq!(tail, (SHORTLIST..SHORTLIST + 5).collect::<Vec<_>>());
    }

    #[test]
    fn of_long_names_a_model_reads_fewer() {
        struct Counts(Option<usize>);
        impl Decide for Counts {
            fn logits(&mut self, question: &Question<'_>) -> Option<Vec<f32>> {
                self.0 = Some(question.options.len());
                Some(vec![0.0; question.options.len()])
            }
        }
        let asked = |length: usize| {
            let texts: Vec<String> = (0..SHORTLIST * 2)
                .map(|n| format!("directory/{n:0length$}"))
                .collect();
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let (candidates, mut ranked) = ranking(&texts);
            let mut model = Counts(None);
            let (context, slot) = (Context::default(), Slot::default());
            refine(&mut ranked, &candidates, &context, &slot, 1.0, &mut model);
            model.0
        };
        assert_eq!(asked(10), Some(SHORTLIST));
        assert_eq!(asked(100), Some(SHORTLIST_BYTES / 100));
        assert_eq!(asked(600), None);
    }

    #[test]
    fn a_silent_model_changes_nothing() {
        struct Silent;
        impl Decide for Silent {
            fn logits(&mut self, _: &Question<'_>) -> Option<Vec<f32>> {
                None
            }
        }
        let (candidates, mut ranked) = ranking(&["a", "b"]);
        let before = ranked.clone();
        refine(
            &mut ranked,
            &candidates,
            &Context::default(),
            &Slot::default(),
            1.0,
            &mut Silent,
        );
        assert_eq!(ranked, before);
    }

    #[test]
    fn the_question_stands_before_the_last_part_of_the_word() {
        let slot = |words, typed| before(&Slot { words, typed });
        assert_eq!(slot(&[], b"gi"), b"");
        assert_eq!(slot(&[b"git"], b"st"), b"git");
        assert_eq!(slot(&[b"cat"], b"src/bin/m"), b"cat src/bin/");
        assert_eq!(slot(&[], b"./x"), b"./");
    }

    #[test]
    fn logits_are_added_as_log_probabilities() {
        let mut scores = [0.0, 0.0];
        blend(&mut scores, &[0.0, 0.0], 2.0);
        assert!((scores[0] - 2.0 * 0.5_f32.ln()).abs() < 1e-6);
        let before = scores;
        blend(&mut scores, &[f32::NAN, 0.0], 1.0);
        blend(&mut scores, &[1.0], 1.0);
        assert_eq!(scores, before);
    }
}

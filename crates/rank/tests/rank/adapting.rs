use tabsense_rank::eval::adapt::{self, NotAdapted, SHORTEST, Shown, adapt};
use tabsense_rank::eval::{Command, User};
use tabsense_rank::{
    Blend, Candidate, Context, Decide, Feedback, Index, Kind, Match, Offer, Question, Slot,
    Weights, rank_words,
};

/// Numbers that look random and are the same each time.
fn number(n: usize, below: usize) -> usize {
    let mut z = (n as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    ((z ^ (z >> 32)) % below as u64) as usize
}

fn user(commands: impl Iterator<Item = String>) -> User {
    let command = |(n, cmd): (i64, String)| Command {
        t: Some(1_700_000_000 + n),
        cmd,
        cwd: Some("/p".to_owned()),
        exit: None,
        session: None,
    };
    adapt::user((0..).zip(commands).map(command).collect())
}

/// Runs every command twice, which hardly anybody does.
fn twice() -> User {
    user((0..SHORTEST).map(|n| format!("c{}", number(n / 2, 40))))
}

#[test]
fn a_habit_that_nobody_else_has_is_learnt() {
    let start = Weights::default();
    let outcome = adapt(&twice(), &[], &start, None, &|| false).unwrap();
    assert!(outcome.lines.is_gain(), "{:?}", outcome.lines);
    assert_ne!(outcome.weights.of(Blend::Lines), start.of(Blend::Lines));
}

#[test]
fn nothing_is_kept_where_nothing_can_be_learnt() {
    let noise = user((0..SHORTEST).map(|n| format!("c{}", number(n, 40))));
    let start = Weights::default();
    let outcome = adapt(&noise, &[], &start, None, &|| false).unwrap();
    assert!(!outcome.lines.is_gain(), "{:?}", outcome.lines);
    for blend in [Blend::Lines, Blend::Words, Blend::Directories] {
        assert_eq!(outcome.weights.of(blend), start.of(blend));
    }
}

#[test]
fn too_little_history_is_said_to_be_so() {
    let few = user((0..10).map(|n| format!("c{n}")));
    let why = adapt(&few, &[], &Weights::default(), None, &|| false).unwrap_err();
    assert_eq!(why, NotAdapted::TooFew(10));
}

/// Prefers the last option, which is as good as chance.
struct Last;

impl Decide for Last {
    fn logits(&mut self, question: &Question<'_>) -> Option<Vec<f32>> {
        let last = question.options.len() - 1;
        Some(
            (0..=last)
                .map(|n| if n == last { 9.0 } else { 0.0 })
                .collect(),
        )
    }
}

#[test]
fn a_model_that_does_not_help_is_found_out() {
    // One subcommand nearly always: statistics know it, the model does not.
    let words = ["clone", "clean", "config"];
    let commands = user((0..SHORTEST).map(|n| match number(n, 12) {
        rare @ 0..3 => format!("git {}", words[rare]),
        _ => "git commit".to_owned(),
    }));
    let mut model = Last;
    let outcome = adapt(
        &commands,
        &[],
        &Weights::default(),
        Some(&mut model),
        &|| false,
    )
    .unwrap();
    let helps = outcome.model.unwrap();
    assert!(helps.cases >= 60, "{helps:?}");
    assert!(!helps.keep(), "{helps:?}");
}

fn candidate(text: &str, native: u32) -> Candidate {
    Candidate {
        text: text.as_bytes().to_vec(),
        kind: Kind::Word,
        description: Vec::new(),
        native: Some(native),
        modified: None,
        quality: Match::Prefix,
    }
}

#[test]
fn lists_that_were_offered_are_among_the_choices() {
    let shown = |n: usize| Shown {
        time: 1_700_000_000 + n as i64,
        cwd: b"/p".to_vec(),
        words: vec![b"frob".to_vec()],
        typed: Vec::new(),
        offered: vec![candidate("a", 0), candidate("b", 1)],
        taken: 1,
    };
    let shown: Vec<Shown> = (200..SHORTEST).map(shown).collect();
    let outcome = adapt(&twice(), &shown, &Weights::default(), None, &|| false).unwrap();
    // Every third is in the later part.
    assert!(outcome.words.cases > 250, "{:?}", outcome.words);
}

#[test]
fn what_is_passed_over_again_and_again_goes_back_and_what_is_taken_comes_first() {
    let (index, weights) = (Index::new(), Weights::default());
    let candidates = [candidate("alpha", 0), candidate("beta", 1)];
    let slot = Slot {
        words: &[b"frob"],
        typed: b"",
    };
    let mut feedback = Feedback::default();
    let first = |feedback: &Feedback| {
        let context = Context {
            cwd: b"/p",
            feedback: Some(feedback),
            ..Context::default()
        };
        rank_words(&index, &weights, &context, &slot, &candidates)[0].position
    };
    assert_eq!(first(&feedback), 0);
    for _ in 0..3 {
        feedback.observe(&Offer {
            cwd: b"/p",
            slot,
            first: (b"alpha", Kind::Word),
            taken: (b"beta", Kind::Word),
        });
    }
    assert_eq!(first(&feedback), 1);
}

use proptest::collection::vec;
use proptest::prelude::*;
use tabsense_rank::{
    Candidate, Context, Event, Index, Kind, Match, Recent, Slot, Weights, rank_directories,
    rank_lines, rank_words,
};

const KINDS: [Kind; 6] = [
    Kind::File,
    Kind::Directory,
    Kind::Command,
    Kind::Option,
    Kind::Word,
    Kind::Line,
];
const MATCHES: [Match; 3] = [Match::Exact, Match::Subsequence, Match::Typo];

fn word() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => "(ls|git|cd|vim|mkdir|add|src|a\\.c|b/|-r|~/x|\\.\\.|\"q r\")".prop_map(String::into_bytes),
        1 => vec(any::<u8>(), 0..6),
    ]
}

fn line() -> impl Strategy<Value = Vec<u8>> {
    vec(word(), 0..4).prop_map(|words| words.join(&b' '))
}

#[derive(Debug, Clone)]
struct Ran {
    command: Vec<u8>,
    cwd: Vec<u8>,
    exit: Option<i32>,
    start: i64,
    session: Vec<u8>,
}

fn ran() -> impl Strategy<Value = Ran> {
    let cwd = prop_oneof![Just("/p"), Just("/p/src"), Just(""), Just("/")];
    let start = prop_oneof![
        Just(0),
        0..4_000_000_000_i64,
        Just(i64::MIN),
        Just(i64::MAX)
    ];
    (line(), cwd, any::<Option<i32>>(), start, 0..3_u8).prop_map(
        |(command, cwd, exit, start, session)| Ran {
            command,
            cwd: cwd.as_bytes().to_vec(),
            exit,
            start,
            session: vec![session],
        },
    )
}

fn index_of(history: &[Ran]) -> Index {
    let mut index = Index::new();
    for ran in history {
        index.observe(&Event {
            command: &ran.command,
            cwd: &ran.cwd,
            exit: ran.exit,
            start: ran.start,
            duration_ms: None,
            session: &ran.session,
        });
    }
    index
}

fn recent(history: &[Ran]) -> Vec<Recent<'_>> {
    let newest = &history[history.len().saturating_sub(8)..];
    newest
        .iter()
        .map(|r| Recent {
            command: &r.command,
            cwd: &r.cwd,
            exit: r.exit,
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn words_are_permuted_with_finite_scores_the_same_each_time(
        history in vec(ran(), 0..40),
        before in vec(word(), 0..4),
        typed in word(),
        texts in vec((word(), 0..6_usize, 0..3_usize, any::<Option<i64>>()), 0..20),
        now in any::<i64>(),
    ) {
        let index = index_of(&history);
        let recent = recent(&history);
        let now = now.clamp(i64::MIN / 4, i64::MAX / 4);
        let context =
            Context { cwd: b"/p", home: b"/h", now, recent: &recent, ..Context::default() };
        let candidates: Vec<Candidate> = (0..).zip(texts).map(|(n, (text, kind, quality, modified))| {
            let modified = modified.map(|m| m.clamp(i64::MIN / 4, i64::MAX / 4));
            let native = (n % 3 > 0).then_some(n);
            let (kind, quality) = (KINDS[kind], MATCHES[quality]);
            Candidate { text, kind, description: Vec::new(), native, modified, quality }
        }).collect();
        let words: Vec<&[u8]> = before.iter().map(Vec::as_slice).collect();
        let slot = Slot { words: &words, typed: &typed };
        let weights = Weights::default();
        let ranked = rank_words(&index, &weights, &context, &slot, &candidates);
        let mut positions: Vec<usize> = ranked.iter().map(|r| r.position).collect();
        positions.sort_unstable();
        prop_assert_eq!(positions, (0..candidates.len()).collect::<Vec<_>>());
        prop_assert!(ranked.iter().all(|r| r.score.is_finite()), "{:?}", ranked);
        prop_assert!(ranked.is_sorted_by(|a, b| a.score >= b.score));
        let again = rank_words(&index_of(&history), &weights, &context, &slot, &candidates);
        prop_assert_eq!(ranked, again);
    }

    #[test]
    fn lines_start_with_the_prefix_once_each_with_finite_scores(
        history in vec(ran(), 0..60),
        prefix in line(),
        forgotten in 0..60_usize,
    ) {
        let mut index = index_of(&history);
        let gone = history.get(forgotten).map(|r| r.command.trim_ascii().to_vec());
        if let Some(gone) = &gone {
            index.forget(gone);
        }
        let recent = recent(&history);
        let context = Context { cwd: b"/p/src", home: b"/h", recent: &recent, ..Context::default() };
        for prefix in [&prefix[..prefix.len().min(2)], b""] {
            let lines = rank_lines(&index, &Weights::default(), &context, prefix, 500);
            prop_assert!(lines.iter().all(|l| l.text.starts_with(prefix) && l.score.is_finite()));
            prop_assert!(lines.iter().all(|l| l.count == 0 || Some(&l.text) != gone.as_ref()));
            let mut texts: Vec<_> = lines.iter().map(|l| &l.text).collect();
            texts.sort();
            texts.dedup();
            prop_assert_eq!(texts.len(), lines.len());
            let again = rank_lines(&index, &Weights::default(), &context, prefix, 500);
            prop_assert_eq!(lines, again);
        }
    }

    #[test]
    fn directories_have_finite_scores_and_are_offered_once(
        history in vec(ran(), 0..60),
        typed in word(),
    ) {
        let index = index_of(&history);
        let recent = recent(&history);
        let context = Context { cwd: b"/p", home: b"/h", recent: &recent, ..Context::default() };
        let found = rank_directories(&index, &Weights::default(), &context, &typed, 100);
        prop_assert!(found.iter().all(|d| d.score.is_finite() && d.path != b"/p"));
        let mut paths: Vec<_> = found.iter().map(|d| &d.path).collect();
        paths.sort();
        paths.dedup();
        prop_assert_eq!(paths.len(), found.len());
    }
}

//! Times and memory with a long history: `quick_bench [EVENTS]` (default 1 000 000).
//!
//! The history is made up, with about one new command line in three events, a few hundred
//! directories and many sessions. Prints time per observed event, memory, and p50/p99/worst time of
//! each kind of query.

use std::time::Instant;

use tabsense_rank::eval::fit::Random;
use tabsense_rank::{
    Candidate, Context, Event, Index, Kind, Match, Recent, Slot, Weights, rank_directories,
    rank_lines, rank_words,
};

const HEADS: [&str; 12] = [
    "git commit -m",
    "git checkout",
    "vim",
    "cd",
    "ls",
    "make",
    "cargo test",
    "docker run",
    "ssh",
    "grep -rn",
    "kubectl get",
    "python3",
];
const QUERIES: usize = 300;

fn main() {
    let events = std::env::args()
        .nth(1)
        .and_then(|n| n.parse().ok())
        .unwrap_or(1_000_000);
    let mut random = Random::new(7);
    let made: Vec<(String, String, String)> = (0..events)
        .map(|n| {
            (
                command(&mut random),
                directory(&mut random),
                (n / 400).to_string(),
            )
        })
        .collect();
    let mut index = Index::new();
    let start = Instant::now();
    for (n, (command, cwd, session)) in (0..).zip(&made) {
        index.observe(&Event {
            command: command.as_bytes(),
            cwd: cwd.as_bytes(),
            exit: Some(i32::from(n % 17 == 0)),
            start: 1_600_000_000 + n * 90,
            duration_ms: None,
            session: session.as_bytes(),
        });
    }
    let taken = start.elapsed();
    println!(
        "{} events, {} distinct: observed in {:.2} s, {:.1} MB held",
        index.events(),
        index.distinct(),
        taken.as_secs_f64(),
        index.bytes() as f64 / 1e6
    );
    queries(&index, &made, &mut random);
}

fn queries(index: &Index, made: &[(String, String, String)], random: &mut Random) {
    let weights = Weights::default();
    let candidates: Vec<Candidate> = (0..1000).map(candidate).collect();
    let kinds = [
        "lines \"\"",
        "lines \"g\"",
        "lines \"git commit -m \"",
        "words 64",
        "words 1000",
        "directories",
    ];
    for (which, name) in kinds.iter().enumerate() {
        let mut times: Vec<f64> = (0..QUERIES)
            .map(|_| {
                let at = 8 + random.below(made.len() - 8);
                let recent: Vec<Recent<'_>> = made[at - 8..at]
                    .iter()
                    .map(|(command, cwd, _)| Recent {
                        command: command.as_bytes(),
                        cwd: cwd.as_bytes(),
                        exit: Some(0),
                    })
                    .collect();
                let context = Context {
                    cwd: made[at].1.as_bytes(),
                    home: b"/home/me",
                    now: 1_700_000_000,
                    recent: &recent,
                    ..Context::default()
                };
                let slot = Slot {
                    words: &[b"vim"],
                    typed: b"",
                };
                let start = Instant::now();
                let found = match which {
                    0 => rank_lines(index, &weights, &context, b"", 10).len(),
                    1 => rank_lines(index, &weights, &context, b"g", 10).len(),
                    2 => rank_lines(index, &weights, &context, b"git commit -m ", 10).len(),
                    3 => rank_words(index, &weights, &context, &slot, &candidates[..64]).len(),
                    4 => rank_words(index, &weights, &context, &slot, &candidates).len(),
                    _ => rank_directories(index, &weights, &context, b"", 10).len(),
                };
                let taken = start.elapsed().as_secs_f64() * 1e3;
                assert!(found > 0, "{name} finds nothing");
                taken
            })
            .collect();
        times.sort_by(f64::total_cmp);
        println!(
            "{name:<24} p50 {:.3} ms  p99 {:.3} ms  worst {:.3} ms",
            times[QUERIES / 2],
            times[QUERIES * 99 / 100],
            times[QUERIES - 1]
        );
    }
}

fn command(random: &mut Random) -> String {
    let head = HEADS[random.below(HEADS.len())];
    // A third of the lines are new, the others come from a few thousand.
    let argument = if random.below(3) == 0 {
        random.below(1 << 40)
    } else {
        random.below(400)
    };
    format!("{head} src/some-file-{argument}.rs")
}

fn directory(random: &mut Random) -> String {
    format!("/home/me/work/project-{}/src", random.below(300))
}

fn candidate(n: u32) -> Candidate {
    Candidate {
        text: format!("some-file-{n}.rs").into_bytes(),
        kind: Kind::File,
        description: Vec::new(),
        native: Some(n),
        modified: Some(1_699_000_000 + i64::from(n)),
        quality: Match::Prefix,
    }
}

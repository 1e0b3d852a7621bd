//! Queueing, stopping and surviving, on a backend that waits until it is told to go on.

mod likely;

use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};

use super::*;
use crate::backend::cpu::Precision;
use crate::backend::{Backend, Output, Stop};
use crate::config::Kind;
use crate::sequence::Sequence;

/// Announces each pass, then waits for a word: an answer, a panic, or to watch for its stop.
struct Puppet {
    begun: Sender<&'static str>,
    orders: Receiver<Order>,
    acts_in_warm_up: bool,
}

#[derive(Clone, Copy)]
enum Order {
    Answer,
    Panic,
    UntilStopped,
}

impl Puppet {
    fn act(&mut self, what: &'static str, stop: &Stop) -> Result<()> {
        self.begun.send(what).unwrap();
        match self.orders.recv().unwrap() {
            Order::Answer => Ok(()),
            Order::Panic => panic!("as ordered"),
            Order::UntilStopped => loop {
                stop.check()?;
                std::thread::yield_now();
            },
        }
    }
}

impl Backend for Puppet {
    fn name(&self) -> &'static str {
        "puppet"
    }
    fn forward(&mut self, s: &Sequence, stop: &Stop) -> Result<Output> {
        if self.acts_in_warm_up {
            self.act("forward", stop)?;
        }
        Ok(Output {
            logits: vec![0.0; s.markers.len()],
            actions: vec![0.0; 2],
        })
    }
    fn prepare(&mut self, _: usize, _: &Sequence, stop: &Stop) -> Result<()> {
        self.act("prepare", stop)
    }
    fn vectors(&mut self, _: usize, s: &Sequence, stop: &Stop) -> Result<Vec<f32>> {
        self.act("options", stop)?;
        Ok(vec![1.0; s.markers.len() * 32])
    }
    fn choose(&mut self, _: usize, vectors: &[f32], _: Kind, _: &Stop) -> Result<Output> {
        Ok(Output {
            logits: vec![1.0; vectors.len() / 32],
            actions: vec![0.0; 2],
        })
    }
    fn forget(&mut self, _: usize) {}
    fn encode(&mut self, s: &Sequence, stop: &Stop) -> Result<Vec<f32>> {
        self.act("encode", stop)?;
        Ok(vec![1.0; s.ids.len() * 32])
    }
    fn compare(&mut self, _: &[f32], options: &[f32], stop: &Stop) -> Result<Output> {
        self.act("compare", stop)?;
        Ok(Output {
            logits: vec![1.0; options.len() / 32],
            actions: Vec::new(),
        })
    }
}

struct Stage {
    runner: Runner,
    begun: Receiver<&'static str>,
    orders: Sender<Order>,
    outcomes: (Sender<Outcome>, Receiver<Outcome>),
}

type Outcome = (&'static str, std::result::Result<Decided, Refused>);

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/cached")
}

fn ready(runner: &Runner) {
    while let Status::Loading = runner.status() {
        std::thread::yield_now();
    }
}

impl Stage {
    fn new() -> Self {
        Self::with(false)
    }

    fn with(acts_in_warm_up: bool) -> Self {
        let (begin, begun) = channel();
        let (orders, ordered) = channel();
        let runner = Runner::start_with(move || {
            let mut model = Model::load(&golden(), &Options::default())?;
            model.replace_backend(Box::new(Puppet {
                begun: begin,
                orders: ordered,
                acts_in_warm_up,
            }));
            Ok(model)
        });
        ready(&runner);
        Self {
            runner,
            begun,
            orders,
            outcomes: channel(),
        }
    }

    /// Sends a decision whose outcome is told under `name`.
    fn send(&self, name: &'static str, session: &str, state: &str, deadline: Option<Instant>) {
        self.send_options(name, session, state, &[b"one", b"two\xff"], deadline);
    }

    fn send_options(
        &self,
        name: &'static str,
        session: &str,
        state: &str,
        options: &[&[u8]],
        deadline: Option<Instant>,
    ) {
        let outcomes = self.outcomes.0.clone();
        let decision = Decision {
            session: session.into(),
            question: "next".into(),
            state: State::text(state),
            options: options.iter().map(|option| option.to_vec()).collect(),
            deadline,
        };
        self.runner.submit(decision, move |outcome| {
            drop(outcomes.send((name, outcome)));
        });
    }

    fn begins(&self, what: &str) {
        assert_eq!(self.begun.recv().unwrap(), what);
    }

    fn order(&self, order: Order) {
        self.orders.send(order).unwrap();
    }

    fn outcome(&self) -> Outcome {
        self.outcomes.1.recv().unwrap()
    }
}

#[test]
fn a_state_and_each_option_are_run_once_for_all_decisions() {
    let stage = Stage::new();
    stage.send("first", "a", "state", None);
    stage.begins("prepare");
    stage.order(Order::Answer);
    stage.begins("options");
    stage.order(Order::Answer);
    let (name, outcome) = stage.outcome();
    assert_eq!((name, outcome.unwrap().logits), ("first", vec![1.0, 1.0]));
    stage.send("second", "b", "state", None);
    assert!(matches!(stage.outcome(), ("second", Ok(_))));
    stage.send_options("third", "b", "state", &[b"three", b"one"], None);
    stage.begins("options");
    stage.order(Order::Answer);
    assert!(matches!(stage.outcome(), ("third", Ok(_))));
    // With another state an option is another one.
    stage.send("fourth", "b", "other", None);
    stage.begins("prepare");
    stage.order(Order::Answer);
    stage.begins("options");
    stage.order(Order::Answer);
    assert!(matches!(stage.outcome(), ("fourth", Ok(_))));
}

#[test]
fn a_newer_decision_stops_the_running_one_of_its_session() {
    let stage = Stage::new();
    stage.send("old", "a", "1", None);
    stage.begins("prepare");
    stage.order(Order::UntilStopped);
    stage.send("new", "a", "2", None);
    assert_eq!(stage.outcome(), ("old", Err(Refused::Superseded)));
    stage.begins("prepare");
    stage.order(Order::Answer);
    stage.begins("options");
    stage.order(Order::Answer);
    assert!(matches!(stage.outcome(), ("new", Ok(_))));
}

#[test]
fn a_newer_decision_takes_the_place_of_a_waiting_one() {
    let stage = Stage::new();
    stage.send("running", "a", "1", None);
    stage.begins("prepare");
    stage.send("old", "b", "2", None);
    stage.send("new", "b", "3", None);
    assert_eq!(stage.outcome(), ("old", Err(Refused::Superseded)));
    for _ in 0..4 {
        stage.order(Order::Answer);
    }
    assert!(matches!(stage.outcome(), ("running", Ok(_))));
    assert!(matches!(stage.outcome(), ("new", Ok(_))));
}

#[test]
fn the_fifth_that_would_wait_is_refused_at_once() {
    let stage = Stage::new();
    stage.send("running", "0", "s", None);
    stage.begins("prepare");
    for session in ["1", "2", "3", "4"] {
        stage.send("waiting", session, "s", None);
    }
    stage.send("fifth", "5", "s", None);
    assert_eq!(stage.outcome(), ("fifth", Err(Refused::Busy)));
    for _ in 0..6 {
        stage.order(Order::Answer);
    }
    assert!(matches!(stage.outcome(), ("running", Ok(_))));
    for _ in 0..4 {
        assert!(matches!(stage.outcome(), ("waiting", Ok(_))));
    }
}

#[test]
fn a_state_that_waits_to_be_prepared_gives_way_to_decisions() {
    let stage = Stage::new();
    stage.send("running", "0", "s", None);
    stage.begins("prepare");
    stage.runner.prepare(Decision {
        question: "next".into(),
        state: State::text("another"),
        ..Decision::default()
    });
    for session in ["1", "2", "3", "4"] {
        stage.send("waiting", session, "s", None);
    }
    stage.order(Order::Answer);
    stage.begins("options");
    stage.order(Order::Answer);
    assert!(matches!(stage.outcome(), ("running", Ok(_))));
    // All that is left had been seen: the other state did not run.
    for _ in 0..4 {
        assert!(matches!(stage.outcome(), ("waiting", Ok(_))));
    }
    assert!(stage.begun.try_recv().is_err());
}

#[test]
fn a_panic_ends_one_request_and_not_the_thread() {
    let stage = Stage::new();
    stage.send("first", "a", "s", None);
    stage.begins("prepare");
    stage.order(Order::Panic);
    assert!(matches!(
        stage.outcome(),
        ("first", Err(Refused::Failed(_)))
    ));
    stage.send("second", "a", "s", None);
    stage.begins("prepare");
    stage.order(Order::Answer);
    stage.begins("options");
    stage.order(Order::Answer);
    assert!(matches!(stage.outcome(), ("second", Ok(_))));
}

#[test]
fn what_is_late_is_not_begun() {
    let stage = Stage::new();
    stage.send("late", "a", "s", Some(Instant::now()));
    assert_eq!(stage.outcome(), ("late", Err(Refused::Late)));
}

#[test]
fn who_waits_when_the_runner_goes_is_told() {
    let Stage {
        runner,
        begun,
        orders,
        outcomes,
    } = Stage::new();
    let stage = Stage {
        runner,
        begun,
        orders,
        outcomes,
    };
    stage.send("running", "a", "1", None);
    stage.begins("prepare");
    stage.send("waiting", "b", "2", None);
    stage.order(Order::UntilStopped);
    let Stage {
        runner, outcomes, ..
    } = stage;
    drop(runner);
    assert_eq!(
        outcomes.1.recv().unwrap(),
        ("running", Err(Refused::Superseded))
    );
    assert!(matches!(
        outcomes.1.recv().unwrap(),
        ("waiting", Err(Refused::Gone(_)))
    ));
}

#[test]
fn a_checkpoint_that_does_not_load_is_reported() {
    let runner = Runner::start("/nonexistent".into(), Options::default());
    ready(&runner);
    let Status::Failed(reason) = runner.status() else {
        panic!("{:?}", runner.status())
    };
    assert!(
        reason.starts_with("/nonexistent/encoder/config.json: "),
        "{reason}"
    );
    assert_eq!(
        runner.decide(Decision::default()),
        Err(Refused::Gone(reason))
    );
}

#[test]
fn a_real_model_answers_through_the_thread() {
    let runner = Runner::start(golden(), Options::default());
    ready(&runner);
    let decision = Decision {
        question: "next".into(),
        state: State::text("cd do"),
        options: vec![b"docs/".to_vec(), b"downloads/".to_vec()],
        ..Decision::default()
    };
    runner.prepare(decision.clone());
    let first = runner.decide(decision.clone()).unwrap();
    let again = runner.decide(decision).unwrap();
    assert_eq!(first.logits, again.logits);
    assert_eq!((first.logits.len(), first.temperature), (2, 1.2));
    let (send, receive) = mpsc::channel();
    let text = br#"{"q": {"type": "noul", "instructions": "Ready?"}}"#;
    let questions = Question::parse_all(text).unwrap();
    runner.ask(State::text("x"), questions, None, move |got| {
        drop(send.send(got));
    });
    assert_eq!(receive.recv().unwrap().unwrap()[0].probabilities.len(), 2);
}

#[test]
fn expected_times_come_from_the_nearest_longer_pass() {
    let millis = Duration::from_millis;
    let info = Info {
        directory: PathBuf::new(),
        layout: Layout::Cached,
        hidden: 32,
        backend: String::new(),
        load_time: Duration::ZERO,
        passes: vec![(64, millis(2)), (128, millis(5))],
    };
    assert_eq!(info.expected(10), Some(millis(2)));
    assert_eq!(info.expected(65), Some(millis(5)));
    assert_eq!(info.expected(256), Some(millis(10)));
}

#[test]
fn a_separate_model_answers_through_the_thread() {
    let directory = golden().with_file_name("separate");
    let runner = Runner::start(directory, Options::default());
    ready(&runner);
    let Status::Ready(info) = runner.status() else {
        panic!("{:?}", runner.status())
    };
    assert_eq!((info.layout, info.hidden), (Layout::Separate, 32));
    let (send, vectors) = mpsc::channel();
    let texts = vec!["one".to_owned(), "two".to_owned()];
    runner.vectors(texts, None, move |got| drop(send.send(got)));
    let vectors = vectors.recv().unwrap().unwrap();
    let (send, phrase) = mpsc::channel();
    runner.phrase("one".to_owned(), None, move |got| drop(send.send(got)));
    let phrase = phrase.recv().unwrap().unwrap();
    assert_eq!(phrase.vector.len(), 32);
    for (options, expected) in [(vectors.clone(), Some(2)), (vectors[1..].to_vec(), None)] {
        let (send, compared) = mpsc::channel();
        runner.compare(phrase.clone(), options, None, move |got| {
            drop(send.send(got));
        });
        let compared = compared.recv().unwrap().map(|decided| decided.logits.len());
        assert_eq!(compared.ok(), expected);
    }
    let decision = Decision {
        state: State::text("one"),
        options: vec![b"one".to_vec(), b"two".to_vec()],
        ..Decision::default()
    };
    assert_eq!(runner.decide(decision).unwrap().logits.len(), 2);
}

#[test]
fn pieces_wait_and_are_late_as_decisions_are() {
    let stage = Stage::new();
    stage.send("running", "0", "s", None);
    stage.begins("prepare");
    let (send, outcomes) = mpsc::channel();
    let ask = |deadline| {
        let send = send.clone();
        let reply = move |got: std::result::Result<Vec<f32>, _>| drop(send.send(got));
        stage.runner.vectors(vec!["x".to_owned()], deadline, reply);
    };
    (0..WAITING).for_each(|_| ask(Some(Instant::now())));
    ask(None);
    assert_eq!(outcomes.recv().unwrap(), Err(Refused::Busy));
    stage.order(Order::Answer);
    stage.begins("options");
    stage.order(Order::Answer);
    for _ in 0..WAITING {
        assert_eq!(outcomes.recv().unwrap(), Err(Refused::Late));
    }
}

#[test]
fn the_warm_up_makes_way_and_goes_on_afterwards() {
    let stage = Stage::with(true);
    stage.begins("forward");
    stage.order(Order::UntilStopped);
    stage.send("first", "a", "s", None);
    stage.begins("prepare");
    stage.order(Order::Answer);
    stage.begins("options");
    stage.order(Order::Answer);
    assert!(matches!(stage.outcome(), ("first", Ok(_))));
    // The golden checkpoint's sequences have at most 96 tokens: one length fits.
    for _ in 0..3 {
        stage.begins("forward");
        stage.order(Order::Answer);
    }
    stage.send("second", "a", "t", None);
    stage.begins("prepare");
    stage.order(Order::Answer);
    stage.begins("options");
    stage.order(Order::Answer);
    assert!(matches!(stage.outcome(), ("second", Ok(_))));
    let Status::Ready(info) = stage.runner.status() else {
        panic!("{:?}", stage.runner.status())
    };
    let lengths: Vec<usize> = info.passes.iter().map(|(tokens, _)| *tokens).collect();
    assert_eq!(lengths, [64]);
}

#[test]
fn options_that_are_kept_answer_as_those_that_are_run() {
    let decide = |runner: &Runner, options: &[&str]| {
        let decision = Decision {
            state: State::text("> cargo build"),
            options: options
                .iter()
                .map(|text| text.as_bytes().to_vec())
                .collect(),
            ..Decision::default()
        };
        runner.decide(decision).unwrap().logits
    };
    let started = |precision| {
        let options = Options {
            precision,
            ..Options::default()
        };
        let runner = Runner::start_with(move || Model::load(&golden(), &options));
        ready(&runner);
        runner
    };
    for precision in [Precision::Float, Precision::EightFast] {
        let wanted = ["run", "test", "run --release", "打开"];
        let fresh = decide(&started(precision), &wanted);
        let runner = started(precision);
        decide(&runner, &["test", "fmt", "run"]);
        assert_eq!(decide(&runner, &wanted), fresh);
        // More than are kept.
        for n in 0..100 {
            decide(
                &runner,
                &["run", &format!("a{n}"), &format!("b{n}"), &format!("c{n}")],
            );
        }
        assert_eq!(decide(&runner, &wanted), fresh);
    }
}

//! The thread as its users see it.

use std::path::Path;
use std::sync::{Arc, RwLock};

use tabsense_config::{Paths, Settings};
use tabsense_history::Record;
use tabsense_protocol::{reply, request};

use super::{Job, Memory, Recorder};

fn start(dir: &Path) -> Recorder {
    let paths = Paths {
        home: dir.to_owned(),
        runtime: dir.join("run"),
        data: dir.join("data"),
        config: dir.join("config.toml"),
    };
    let memory = Memory {
        index: Arc::new(RwLock::default()),
        feedback: Arc::new(RwLock::default()),
    };
    Recorder::start(paths, Settings::default(), memory).expect("a thread")
}

fn record(recorder: &Recorder, command: &str, start_ms: i64) {
    let record = Record {
        command: command.as_bytes().to_vec(),
        start_ms,
        ..Record::default()
    };
    recorder.send(Job::Record(record, Vec::new()));
}

/// Answers when all before it is done.
async fn forget(recorder: &Recorder, command: &str) {
    let forget = request::Forget {
        command: command.as_bytes().to_vec(),
        ..request::Forget::default()
    };
    let answer = recorder.ask(|answer| Job::Forget(forget, answer)).await;
    assert!(matches!(answer, reply::Body::Done(_)), "{answer:?}");
}

#[tokio::test]
async fn the_count_follows_what_is_written_and_forgotten() {
    let dir = tempfile::tempdir().expect("tempdir");
    let recorder = start(dir.path());
    for at in 1..=5 {
        record(&recorder, "make", at * 10_000);
        record(&recorder, "ls", at * 10_000);
    }
    // Known already.
    record(&recorder, "ls", 10_000);
    forget(&recorder, "nothing").await;
    assert_eq!(recorder.state().count, 10);
    forget(&recorder, "make").await;
    assert_eq!(recorder.state().count, 5);
    record(&recorder, "make", 9_000_000_000_000);
    forget(&recorder, "nothing").await;
    assert_eq!(recorder.state().count, 6);
}

#[tokio::test]
async fn a_store_is_counted_when_it_is_opened() {
    let dir = tempfile::tempdir().expect("tempdir");
    let recorder = start(dir.path());
    record(&recorder, "make", 10_000);
    let _ = recorder.ask(Job::Finish).await;
    let recorder = start(dir.path());
    record(&recorder, "ls", 20_000);
    forget(&recorder, "nothing").await;
    assert_eq!(recorder.state().count, 2);
}

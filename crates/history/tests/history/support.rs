//! What several tests need.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tabsense_history::import::Entries;
use tabsense_history::{Error, Record, Source, Store};

/// Entries from memory.
pub(crate) struct Given {
    source: Source,
    records: std::vec::IntoIter<Record>,
}

impl Given {
    pub(crate) fn new(source: Source, records: Vec<Record>) -> Self {
        Self {
            source,
            records: records.into_iter(),
        }
    }
}

impl Entries for Given {
    fn source(&self) -> Source {
        self.source
    }

    fn next_record(&mut self) -> Result<Option<Record>, Error> {
        Ok(self.records.next())
    }

    fn skipped(&self) -> u64 {
        0
    }
}

pub(crate) fn entry(shell: &str, command: &str, start_ms: i64) -> Record {
    Record {
        command: command.as_bytes().to_vec(),
        start_ms,
        shell: shell.to_owned(),
        ..Record::default()
    }
}

pub(crate) fn live(command: &str, start_ms: i64) -> Record {
    Record {
        cwd: b"/srv/app".to_vec(),
        exit: Some(0),
        duration_ms: Some(12),
        session: b"77.1".to_vec(),
        host: "box".to_owned(),
        ..entry("zsh", command, start_ms)
    }
}

pub(crate) fn all(store: &Store) -> Vec<Record> {
    let mut records = Vec::new();
    store
        .replay(u64::MAX, |record| records.push(record.clone()))
        .expect("replay");
    records
}

pub(crate) fn commands(store: &Store) -> Vec<String> {
    all(store)
        .iter()
        .map(|record| String::from_utf8_lossy(&record.command).into_owned())
        .collect()
}

pub(crate) fn read(entries: &mut dyn Entries) -> Vec<Record> {
    let mut records = Vec::new();
    while let Some(record) = entries.next_record().expect("readable") {
        records.push(record);
    }
    records
}

/// Calls `ready` until it answers, at most half a minute.
pub(crate) fn wait<T>(what: &str, mut ready: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        if let Some(value) = ready() {
            return value;
        }
        assert!(Instant::now() < deadline, "gave up waiting: {what}");
        std::thread::yield_now();
    }
}

pub(crate) fn integrity(path: &Path) -> String {
    let connection = rusqlite::Connection::open(path).expect("open");
    connection
        .query_row("PRAGMA integrity_check", (), |row| row.get(0))
        .expect("check")
}

/// All bytes of all files under a directory.
pub(crate) fn bytes_under(directory: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    for file in files(directory) {
        bytes.extend(std::fs::read(file).expect("read"));
    }
    bytes
}

pub(crate) fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).expect("list");
    let mut paths: Vec<_> = entries
        .map(|entry| entry.expect("entry").path())
        .filter(|path| path.is_file())
        .collect();
    paths.sort();
    paths
}

pub(crate) fn has(bytes: &[u8], part: &str) -> bool {
    bytes
        .windows(part.len())
        .any(|window| window == part.as_bytes())
}

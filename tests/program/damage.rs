//! Killed workers and damaged databases.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use super::answered;
use super::store::{self, commands, database, integrity, ran, rows, status, wait_commands};
use crate::common::{Home, Shell, eventually};

/// How often the worker is killed.
const KILLS: u64 = 20;

fn home() -> Option<Home> {
    Home::new(Shell::Bash)
}

#[test]
fn a_worker_that_is_killed_again_and_again_leaves_a_whole_database() {
    let Some(home) = home() else { return };
    let mut acknowledged = 0;
    for round in 0..KILLS {
        let worker = home.worker();
        let told = AtomicU64::new(0);
        thread::scope(|scope| {
            let senders: Vec<_> = (0..4)
                .map(|sender| {
                    let (home, told) = (&home, &told);
                    scope.spawn(move || {
                        for n in 0..4 {
                            let start = format!("start={}", 1_700_000_000 + round);
                            ran(home, "bash", &format!("r{round} s{sender} n{n}"), &[&start]);
                            told.fetch_add(1, Ordering::Relaxed);
                        }
                    })
                })
                .collect();
            // Each time somewhere else in what is sent.
            eventually("some are sent", || {
                (told.load(Ordering::Relaxed) >= round * 7 % 16).then_some(())
            });
            acknowledged = status(&home)["history"].as_u64().unwrap_or(acknowledged);
            worker.kill();
            for sender in senders {
                sender.join().expect("a sender");
            }
        });
        assert_eq!(integrity(&home), "ok", "round {round}");
        let found = commands(&home);
        assert!(
            found.len() as u64 >= acknowledged,
            "{} < {acknowledged}",
            found.len()
        );
        let different: HashSet<&String> = found.iter().collect();
        assert_eq!(different.len(), found.len(), "a record was stored twice");
    }
    answered(&home);
}

/// A home whose database holds one command, and whose worker has ended.
fn with_history() -> Option<Home> {
    let home = home()?;
    let _worker = home.worker();
    ran(&home, "bash", "before", &[]);
    wait_commands(&home, &["before"]);
    assert!(home.tabsense(&["worker", "stop"]).status.success());
    Some(home)
}

/// What may happen to a file.
#[derive(Debug)]
enum Damage {
    Zeros,
    Cut,
    Directory,
}

impl Damage {
    fn inflict(&self, home: &Home) {
        let path = database(home);
        match self {
            Self::Zeros => {
                let mut bytes = std::fs::read(&path).expect("read");
                bytes[..16].fill(0);
                std::fs::write(&path, bytes).expect("written");
            }
            Self::Cut => {
                let file = std::fs::File::options()
                    .write(true)
                    .open(&path)
                    .expect("open");
                file.set_len(5000).expect("cut");
            }
            Self::Directory => {
                std::fs::remove_file(&path).expect("removed");
                std::fs::create_dir(&path).expect("made");
                std::fs::write(path.join("inside"), "x").expect("written");
            }
        }
    }
}

fn aside(home: &Home) -> Vec<PathBuf> {
    std::fs::read_dir(store::directory(home))
        .expect("the data directory")
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.to_string_lossy().contains("history.corrupt-"))
        .filter(|path| {
            !["wal", "shm"]
                .iter()
                .any(|end| path.to_string_lossy().ends_with(end))
        })
        .collect()
}

#[test]
fn a_damaged_database_is_kept_aside_and_named_and_a_new_one_begun() {
    for damage in [Damage::Zeros, Damage::Cut, Damage::Directory] {
        let Some(home) = with_history() else { return };
        damage.inflict(&home);
        let bad = std::fs::read(database(&home)).ok();
        ran(&home, "bash", "after", &[]);
        answered(&home);
        wait_commands(&home, &["after"]);
        let kept = aside(&home);
        assert_eq!(kept.len(), 1, "{damage:?}: {kept:?}");
        assert_eq!(
            std::fs::read(&kept[0]).ok(),
            bad,
            "{damage:?}: nothing is lost"
        );
        let name = kept[0].to_string_lossy().into_owned();
        let trouble = status(&home)["trouble"].as_str().map(str::to_owned);
        assert!(
            trouble.is_some_and(|text| text.contains(&name)),
            "{damage:?}: {}",
            status(&home)
        );
        let doctor = String::from_utf8_lossy(&home.tabsense(&["doctor"]).stdout).into_owned();
        assert!(doctor.contains(&name), "{damage:?}: {doctor}");
        assert_eq!(integrity(&home), "ok");
    }
}

#[test]
fn an_empty_file_is_a_new_database() {
    let Some(home) = with_history() else { return };
    std::fs::write(database(&home), b"").expect("emptied");
    ran(&home, "bash", "after", &[]);
    wait_commands(&home, &["after"]);
    answered(&home);
    assert_eq!(integrity(&home), "ok");
}

#[test]
fn a_lost_log_of_a_killed_worker_costs_the_last_commands_at_most() {
    let Some(home) = with_history() else { return };
    let worker = home.worker();
    ran(&home, "bash", "in the log", &[]);
    wait_commands(&home, &["before", "in the log"]);
    worker.kill();
    let mut log = database(&home).into_os_string();
    log.push("-wal");
    std::fs::remove_file(&log).expect("a log");
    // The last threads of the killed one may still hold its socket for a moment.
    answered(&home);
    ran(&home, "bash", "after", &[]);
    eventually("the next command", || {
        commands(&home).contains(&"after".to_owned()).then_some(())
    });
    assert_eq!(rows(&home)[0].command, "before");
    assert_eq!(integrity(&home), "ok");
    assert!(aside(&home).is_empty());
}

#[test]
fn a_database_that_is_deleted_under_a_living_worker_is_begun_anew() {
    let Some(home) = with_history() else { return };
    let worker = home.worker();
    ran(&home, "bash", "gone with the file", &[]);
    wait_commands(&home, &["before", "gone with the file"]);
    std::fs::remove_dir_all(store::directory(&home)).expect("deleted");
    ran(&home, "bash", "after", &[]);
    wait_commands(&home, &["after"]);
    eventually("no trouble", || {
        (status(&home)["trouble"] == "").then_some(())
    });
    assert_eq!(worker.serving(), Some(worker.pid()));
}

#[test]
fn a_database_that_is_damaged_under_a_living_worker_never_harms_the_shell() {
    let Some(home) = with_history() else { return };
    let worker = home.worker();
    ran(&home, "bash", "one more", &[]);
    wait_commands(&home, &["before", "one more"]);
    let size = std::fs::metadata(database(&home)).expect("there").len();
    let noise: Vec<u8> = (0..size).map(|n| (n * 31 % 251) as u8).collect();
    // In place, so that the worker's open file changes.
    let file = std::fs::File::options()
        .write(true)
        .open(database(&home))
        .expect("open");
    std::os::unix::fs::FileExt::write_all_at(&file, &noise, 0).expect("written");
    for n in 0..5 {
        ran(&home, "bash", &format!("after {n}"), &[]);
        answered(&home);
    }
    assert!(home.tabsense(&["worker", "restart"]).status.success());
    ran(&home, "bash", "last", &[]);
    eventually("recording goes on", || {
        commands(&home).contains(&"last".to_owned()).then_some(())
    });
    assert_eq!(integrity(&home), "ok");
    assert_ne!(worker.serving(), Some(worker.pid()));
}

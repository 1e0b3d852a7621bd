//! Locked, damaged, replaced, read-only and full: typed errors or recovery, never lost rows.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use rusqlite::Connection;
use tabsense_history::import::Entries;
use tabsense_history::{Error, Record, Source, Store};

use crate::support::{commands, entry, files, integrity, live, wait};

/// A directory, and in it a store with one row, closed.
fn closed() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("history.db");
    Store::open(&path)
        .unwrap()
        .insert(&[live("first", 1_700_000_000_000)])
        .unwrap();
    (directory, path)
}

fn second() -> [Record; 1] {
    [live("second", 1_700_000_100_000)]
}

#[test]
fn files_and_directories_are_private() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a/b/history.db");
    let mut store = Store::open(&path).unwrap();
    store.insert(&second()).unwrap();
    for file in files(path.parent().unwrap()) {
        assert_eq!(
            fs::metadata(&file).unwrap().mode() & 0o777,
            0o600,
            "{}",
            file.display()
        );
    }
    assert_eq!(
        fs::metadata(path.parent().unwrap()).unwrap().mode() & 0o777,
        0o700
    );
    drop(store);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    drop(Store::open(&path).unwrap());
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
}

#[test]
fn a_locked_file_is_busy_and_later_takes_the_row() {
    let (_directory, path) = closed();
    let mut store = Store::open(&path).unwrap();
    let holder = Connection::open(&path).unwrap();
    holder.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let mut late = Store::open(&path).expect("opening needs no write lock");
    assert!(matches!(store.insert(&second()), Err(Error::Busy { .. })));
    assert!(matches!(late.insert(&second()), Err(Error::Busy { .. })));
    assert_eq!(commands(&store), ["first"]);
    holder.execute_batch("COMMIT").unwrap();
    assert_eq!(store.insert(&second()).unwrap(), 1);
    assert_eq!(commands(&late), ["first", "second"]);
}

#[test]
fn a_file_locked_against_reading_is_not_taken_for_an_empty_one() {
    let (directory, path) = closed();
    let holder = Connection::open(&path).unwrap();
    holder
        .query_row("PRAGMA locking_mode = EXCLUSIVE", (), |_| Ok(()))
        .unwrap();
    holder
        .query_row("PRAGMA journal_mode = DELETE", (), |_| Ok(()))
        .unwrap();
    holder.execute_batch("BEGIN EXCLUSIVE").unwrap();
    assert!(matches!(Store::open(&path), Err(Error::Busy { .. })));
    drop(holder);
    assert_eq!(commands(&Store::open(&path).unwrap()), ["first"]);
    assert_eq!(files(directory.path()), [path]);
}

#[test]
fn a_newer_file_stays_as_it_is() {
    let (directory, path) = closed();
    Connection::open(&path)
        .unwrap()
        .execute_batch("PRAGMA user_version = 9999")
        .unwrap();
    let before = fs::read(&path).unwrap();
    let error = Store::open(&path).unwrap_err();
    assert!(matches!(error, Error::Newer { found: 9999, .. }), "{error}");
    assert_eq!(fs::read(&path).unwrap(), before);
    assert_eq!(files(directory.path()), [path]);
}

#[test]
fn a_database_of_another_program_stays_as_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("history.db");
    Connection::open(&path)
        .unwrap()
        .execute_batch("CREATE TABLE note (x)")
        .unwrap();
    let before = fs::read(&path).unwrap();
    assert!(matches!(Store::open(&path), Err(Error::Foreign { .. })));
    assert_eq!(fs::read(&path).unwrap(), before);
}

/// Damages a closed store, opens it, and returns what the file moved aside holds.
fn recover(damage: impl Fn(&Path)) -> Vec<u8> {
    let (directory, path) = closed();
    damage(&path);
    let mut store = Store::open(&path).unwrap();
    let aside = store.recovered().expect("moved aside").to_owned();
    assert_eq!(store.count().unwrap(), 0);
    assert_eq!(store.insert(&second()).unwrap(), 1);
    let name = aside.file_name().unwrap().to_str().unwrap();
    assert!(name.starts_with("history.corrupt-"), "{name}");
    assert_eq!(aside.parent(), Some(directory.path()));
    drop(store);
    let again = Store::open(&path).unwrap();
    assert_eq!(
        (again.recovered(), commands(&again)),
        (None, vec!["second".to_owned()])
    );
    fs::read(&aside).unwrap_or_default()
}

#[test]
fn a_zeroed_header_is_moved_aside() {
    let kept = recover(|path| {
        let mut bytes = fs::read(path).unwrap();
        bytes[..16].fill(0);
        fs::write(path, bytes).unwrap();
    });
    assert!(kept.len() > 4096, "nothing of it is deleted");
}

#[test]
fn a_truncated_file_is_moved_aside() {
    let kept = recover(|path| {
        fs::OpenOptions::new()
            .write(true)
            .open(path)
            .unwrap()
            .set_len(5000)
            .unwrap();
    });
    assert_eq!(kept.len(), 5000);
    assert_eq!(recover(|path| fs::write(path, "short").unwrap()), b"short");
}

#[test]
fn a_directory_in_its_place_is_moved_aside() {
    recover(|path| {
        fs::remove_file(path).unwrap();
        fs::create_dir(path).unwrap();
        fs::write(path.join("kept"), "x").unwrap();
    });
}

#[test]
fn an_empty_file_is_filled() {
    let (_directory, path) = closed();
    fs::write(&path, "").unwrap();
    let mut store = Store::open(&path).unwrap();
    assert_eq!(store.recovered(), None, "there is nothing to keep");
    assert_eq!(store.insert(&second()).unwrap(), 1);
}

/// A store of two rows as kill -9 leaves it: the second row is in the log only.
fn killed() -> (tempfile::TempDir, PathBuf) {
    let (directory, path) = closed();
    let mut store = Store::open(&path).unwrap();
    store.insert(&second()).unwrap();
    let left = tempfile::tempdir().unwrap();
    for file in files(directory.path()) {
        fs::copy(&file, left.path().join(file.file_name().unwrap())).unwrap();
    }
    let path = left.path().join("history.db");
    (left, path)
}

#[test]
fn an_emptied_file_keeps_its_log_aside() {
    let (directory, path) = killed();
    let log = fs::read(directory.path().join("history.db-wal")).unwrap();
    assert!(!log.is_empty());
    fs::write(&path, "").unwrap();
    let store = Store::open(&path).unwrap();
    let aside = store.recovered().expect("moved aside").to_owned();
    assert_eq!(fs::read(format!("{}-wal", aside.display())).unwrap(), log);
}

#[test]
fn a_log_left_behind_is_read_back() {
    let (_directory, path) = killed();
    assert_eq!(
        commands(&Store::open_read_only(&path).unwrap()),
        ["first", "second"]
    );
    assert_eq!(commands(&Store::open(&path).unwrap()), ["first", "second"]);
}

#[test]
fn damage_inside_is_reported_and_a_check_begins_afresh() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("history.db");
    let many: Vec<_> = (0..2_000)
        .map(|i| live(&format!("echo {i}"), 1_700_000_000_000 + i * 3000))
        .collect();
    Store::open(&path).unwrap().insert(&many).unwrap();
    let mut bytes = fs::read(&path).unwrap();
    let length = bytes.len();
    bytes[8192..length].fill(0xa5);
    fs::write(&path, bytes).unwrap();
    let mut store = Store::open(&path).unwrap();
    let error = store.insert(&[live("x", 1)]).unwrap_err();
    assert!(matches!(error, Error::Corrupt { .. }), "{error}");
    drop(store);
    let store = Store::open_checked(&path).unwrap();
    assert!(store.recovered().is_some());
    assert_eq!(store.count().unwrap(), 0);
}

#[test]
fn a_check_keeps_a_healthy_file() {
    let (directory, path) = closed();
    let store = Store::open_checked(&path).unwrap();
    assert_eq!(
        (store.recovered(), commands(&store)),
        (None, vec!["first".to_owned()])
    );
    drop(store);
    assert_eq!(files(directory.path()), [path]);
}

#[test]
fn a_missing_log_costs_at_most_its_own_rows() {
    let (directory, path) = killed();
    fs::remove_file(directory.path().join("history.db-wal")).unwrap();
    let store = Store::open(&path).unwrap();
    assert_eq!(
        (store.recovered(), commands(&store)),
        (None, vec!["first".to_owned()])
    );
}

#[test]
fn rows_are_not_written_to_a_file_that_is_gone() {
    let (_directory, path) = closed();
    let mut store = Store::open(&path).unwrap();
    fs::remove_file(&path).unwrap();
    assert!(matches!(
        store.insert(&second()),
        Err(Error::Replaced { .. })
    ));
    assert_eq!(Store::open(&path).unwrap().insert(&second()).unwrap(), 1);
}

#[test]
fn reading_only_leaves_no_trace() {
    let (directory, path) = closed();
    let before = fs::read(&path).unwrap();
    let mut store = Store::open_read_only(&path).unwrap();
    assert_eq!(commands(&store), ["first"]);
    assert!(matches!(
        store.insert(&second()),
        Err(Error::ReadOnly { .. })
    ));
    assert_eq!(files(directory.path()), std::slice::from_ref(&path));
    assert_eq!(fs::read(&path).unwrap(), before);
    let missing = Store::open_read_only(&directory.path().join("no.db"));
    assert!(matches!(missing, Err(Error::Io { .. })));
}

const CHILD: &str = "TABSENSE_HISTORY_CHILD";

/// This test again in a process of its own, started through `shell` with "$@" as the command.
fn again(test: &str, path: &Path, shell: &str) -> Child {
    Command::new("sh")
        .args(["-c", shell, "sh"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(CHILD, path)
        .env("DIR", path.parent().unwrap())
        .spawn()
        .unwrap()
}

fn child_path() -> Option<PathBuf> {
    std::env::var_os(CHILD).map(PathBuf::from)
}

#[test]
fn a_read_only_mount_is_read_and_writing_says_so() {
    if let Some(path) = child_path() {
        let mut store = Store::open(&path).unwrap();
        assert!(!store.is_writable());
        assert_eq!(commands(&store), ["first"]);
        assert!(matches!(
            store.insert(&second()),
            Err(Error::ReadOnly { .. })
        ));
        let new = path.with_file_name("new.db");
        assert!(matches!(Store::open(&new), Err(Error::ReadOnly { .. })));
        return;
    }
    let can_mount = Command::new("unshare").args(["-rm", "true"]).status();
    if !can_mount.is_ok_and(|status| status.success()) {
        eprintln!("skipped: mount namespaces are not allowed here");
        return;
    }
    let (directory, path) = closed();
    let shell = "exec unshare -rm sh -c \
        'mount --bind \"$DIR\" \"$DIR\" && mount -o remount,bind,ro \"$DIR\" && exec \"$@\"' sh \"$@\"";
    let status = again(
        "faults::a_read_only_mount_is_read_and_writing_says_so",
        &path,
        shell,
    )
    .wait();
    assert!(status.unwrap().success());
    assert_eq!(files(directory.path()), std::slice::from_ref(&path));
    assert_eq!(Store::open(&path).unwrap().insert(&second()).unwrap(), 1);
}

#[test]
fn a_full_disk_is_an_error_and_earlier_rows_stay() {
    if let Some(path) = child_path() {
        let mut store = Store::open(&path).unwrap();
        let failed = (0_i64..100_000).find_map(|i| {
            let name = format!("echo {i} {}", "x".repeat(500));
            store
                .insert(&[live(&name, 1_700_000_000_000 + i * 5_000)])
                .err()
        });
        let error = failed.expect("the limit was reached");
        assert!(
            !matches!(error, Error::Corrupt { .. } | Error::Busy { .. }),
            "{error}"
        );
        assert!(store.count().unwrap() > 10);
        return;
    }
    let (_directory, path) = closed();
    let shell = "trap '' XFSZ; ulimit -f 1024; exec \"$@\"";
    let status = again(
        "faults::a_full_disk_is_an_error_and_earlier_rows_stay",
        &path,
        shell,
    )
    .wait();
    assert!(status.unwrap().success());
    let mut store = Store::open(&path).unwrap();
    assert_eq!(store.recovered(), None);
    let before = store.count().unwrap();
    assert!(before > 10);
    assert_eq!(store.insert(&second()).unwrap(), 1);
    drop(store);
    assert_eq!(integrity(&path), "ok");
}

/// Entries made while they are asked for; the first `shared` are always the same.
struct Endless {
    next: i64,
    shared: i64,
}

impl Entries for Endless {
    fn source(&self) -> Source {
        Source::Zsh
    }

    fn next_record(&mut self) -> Result<Option<Record>, Error> {
        self.next += 1;
        if self.next > self.shared {
            return Ok(None);
        }
        Ok(Some(entry(
            "zsh",
            &format!("echo {}", self.next % 900),
            1_600_000_000_000 + self.next / 2 * 1000,
        )))
    }

    fn skipped(&self) -> u64 {
        0
    }
}

const ENTRIES: i64 = 60_000;

#[test]
fn an_import_killed_midway_is_completed_by_the_next() {
    if let Some(path) = child_path() {
        let mut store = Store::open(&path).unwrap();
        let report = store.import(&mut Endless {
            next: 0,
            shared: ENTRIES,
        });
        assert!(report.is_ok());
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("history.db");
    drop(Store::open(&path).unwrap());
    let name = "faults::an_import_killed_midway_is_completed_by_the_next";
    let mut child = again(name, &path, "exec \"$@\"");
    let reader = Store::open(&path).unwrap();
    wait("the first batch", || {
        (reader.count().unwrap() > 0).then_some(())
    });
    child.kill().unwrap();
    child.wait().unwrap();
    let left = reader.count().unwrap();
    drop(reader);
    assert!(left < ENTRIES as u64, "killed too late: {left}");
    let mut store = Store::open(&path).unwrap();
    assert_eq!(store.recovered(), None);
    let report = store
        .import(&mut Endless {
            next: 0,
            shared: ENTRIES,
        })
        .unwrap();
    assert_eq!((report.known, report.added), (left, ENTRIES as u64 - left));
    assert_eq!(
        store
            .import(&mut Endless {
                next: 0,
                shared: ENTRIES
            })
            .unwrap()
            .added,
        0
    );
    drop(store);
    assert_eq!(integrity(&path), "ok");
}

#[test]
fn acknowledged_rows_survive_a_kill() {
    if let Some(path) = child_path() {
        let mut store = Store::open(&path).unwrap();
        for i in 0_i64.. {
            if store
                .insert(&[live(&format!("echo {i}"), 1_700_000_000_000 + i * 5_000)])
                .is_ok()
            {
                fs::write(path.with_extension("acknowledged"), i.to_string()).unwrap();
            }
        }
        return;
    }
    for round in 0..5 {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("history.db");
        let mut child = again(
            "faults::acknowledged_rows_survive_a_kill",
            &path,
            "exec \"$@\"",
        );
        let acknowledged = || -> Option<u64> {
            fs::read_to_string(path.with_extension("acknowledged"))
                .ok()?
                .parse()
                .ok()
        };
        wait("rows", || acknowledged().filter(|&rows| rows > 20 * round));
        child.kill().unwrap();
        child.wait().unwrap();
        let store = Store::open(&path).unwrap();
        let rows = store.count().unwrap();
        // The note itself may be cut by the kill.
        if let Some(last) = acknowledged() {
            assert!(rows > last, "{rows} rows, number {last} was acknowledged");
        }
        assert!(rows > 20 * round);
        drop(store);
        assert_eq!(integrity(&path), "ok");
    }
}

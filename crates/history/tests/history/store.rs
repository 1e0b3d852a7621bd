//! Writing, replaying, importing and forgetting.

use std::sync::Barrier;

use tabsense_history::{Error, Forget, Record, Report, Source, Store, Visited};

use crate::support::{Given, all, bytes_under, commands, entry, has, integrity, live, wait};

fn import(store: &mut Store, source: Source, records: &[Record]) -> Report {
    store
        .import(&mut Given::new(source, records.to_vec()))
        .expect("import")
}

#[test]
fn a_record_comes_back_with_every_detail() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("history.db");
    let mut record = live("make\n  -j2", 1_700_000_000_123);
    record.command.extend_from_slice(b" \xff\xfe");
    record.cwd = b"/tmp/\xe9".to_vec();
    Store::open(&path)
        .unwrap()
        .insert(std::slice::from_ref(&record))
        .unwrap();
    assert_eq!(all(&Store::open(&path).unwrap()), [record]);
}

#[test]
fn unknown_details_stay_unknown() {
    let mut store = Store::in_memory().unwrap();
    let record = Record {
        command: b"ls".to_vec(),
        ..Record::default()
    };
    store.insert(std::slice::from_ref(&record)).unwrap();
    assert_eq!(all(&store), [record]);
}

#[test]
fn replay_gives_the_newest_in_order() {
    let mut store = Store::in_memory().unwrap();
    let records: Vec<_> = (1..=9)
        .map(|i| live(&format!("c{i}"), i * 10_000))
        .collect();
    store.insert(&records).unwrap();
    let mut seen = Vec::new();
    store
        .replay(3, |record| seen.push(record.command.clone()))
        .unwrap();
    assert_eq!(seen, [b"c7", b"c8", b"c9"]);
    assert_eq!(
        store
            .replay(0, |_| panic!("nothing was asked for"))
            .unwrap(),
        0
    );
    assert_eq!(store.count().unwrap(), 9);
}

#[test]
fn live_rows_keep_their_order_when_the_clock_steps_back() {
    let mut store = Store::in_memory().unwrap();
    for (name, start) in [
        ("a", 5_000_000),
        ("b", 90_000_000),
        ("c", 6_000_000),
        ("d", 6_000_000),
    ] {
        store.insert(&[live(name, start)]).unwrap();
    }
    assert_eq!(commands(&store), ["a", "b", "c", "d"]);
}

#[test]
fn imports_are_placed_by_their_time_and_odd_stamps_do_no_harm() {
    let mut store = Store::in_memory().unwrap();
    store.insert(&[live("now", 1_700_000_000_000)]).unwrap();
    let records = [
        entry("zsh", "unknown", 0),
        entry("zsh", "negative", -5_000),
        entry("zsh", "old", 1_600_000_000_000),
        entry("zsh", "far", i64::MAX),
    ];
    import(&mut store, Source::Zsh, &records);
    assert_eq!(
        commands(&store),
        ["unknown", "negative", "old", "now", "far"]
    );
    assert_eq!(import(&mut store, Source::Zsh, &records).added, 0);
}

#[test]
fn the_same_live_record_is_stored_once() {
    let mut store = Store::in_memory().unwrap();
    let record = live("make", 1_700_000_000_000);
    assert_eq!(store.insert(&[record.clone(), record.clone()]).unwrap(), 1);
    assert_eq!(store.insert(&[record]).unwrap(), 0);
    let other = Record {
        session: b"78.1".to_vec(),
        ..live("make", 1_700_000_000_000)
    };
    assert_eq!(store.insert(&[other]).unwrap(), 1);
}

#[test]
fn importing_again_longer_or_cut_adds_nothing_twice() {
    let mut file: Vec<_> = (0..50)
        .map(|i| {
            entry(
                "zsh",
                &format!("git log {}", i % 7),
                1_700_000_000_000 + i / 3 * 1000,
            )
        })
        .collect();
    let mut store = Store::in_memory().unwrap();
    assert_eq!(import(&mut store, Source::Zsh, &file).added, 50);
    let again = import(&mut store, Source::Zsh, &file);
    assert_eq!((again.added, again.known, again.read), (0, 50, 50));
    assert_eq!(import(&mut store, Source::Zsh, &file[20..]).added, 0);
    file.push(entry("zsh", "git log 0", 1_700_000_900_000));
    assert_eq!(import(&mut store, Source::Zsh, &file[10..]).added, 1);
    assert_eq!(store.count().unwrap(), 51);
}

#[test]
fn repeats_within_one_second_are_all_kept() {
    let mut store = Store::in_memory().unwrap();
    let file = vec![entry("zsh", "ls", 1_700_000_000_000); 3];
    assert_eq!(import(&mut store, Source::Zsh, &file).added, 3);
    assert_eq!(import(&mut store, Source::Zsh, &file).added, 0);
}

#[test]
fn entries_without_a_start_are_counted() {
    let mut store = Store::in_memory().unwrap();
    let file: Vec<_> = ["ls", "cd x", "ls", "make", "ls"]
        .map(|c| entry("bash", c, 0))
        .to_vec();
    assert_eq!(import(&mut store, Source::Bash, &file).added, 5);
    assert_eq!(import(&mut store, Source::Bash, &file[2..]).added, 0);
    let longer = [
        file.clone(),
        vec![entry("bash", "ls", 0), entry("bash", "new", 0)],
    ]
    .concat();
    assert_eq!(import(&mut store, Source::Bash, &longer).added, 2);
    assert_eq!(
        commands(&store),
        ["ls", "cd x", "ls", "make", "ls", "ls", "new"]
    );
}

#[test]
fn a_file_without_stamps_does_not_double_what_was_recorded_live() {
    let mut store = Store::in_memory().unwrap();
    let first = [entry("bash", "ls", 0)];
    import(&mut store, Source::Bash, &first);
    let typed = Record {
        shell: "bash".to_owned(),
        ..live("ls", 1_700_000_000_000)
    };
    store.insert(&[typed]).unwrap();
    let grown = [entry("bash", "ls", 0), entry("bash", "ls", 0)];
    assert_eq!(import(&mut store, Source::Bash, &grown).added, 0);
    assert_eq!(store.count().unwrap(), 2);
}

#[test]
fn an_import_does_not_double_what_was_recorded_live() {
    let mut store = Store::in_memory().unwrap();
    let record = live("cargo test", 1_700_000_000_900);
    store.insert(std::slice::from_ref(&record)).unwrap();
    let file = [
        entry("zsh", "cargo test", 1_700_000_000_000),
        entry("zsh", "cargo test", 1_700_000_060_000),
    ];
    let report = import(&mut store, Source::Zsh, &file);
    assert_eq!((report.added, report.known), (1, 1));
    assert_eq!(all(&store)[0], record, "the richer row stays");
    assert_eq!(import(&mut store, Source::Zsh, &file).added, 0);
}

#[test]
fn one_live_row_stands_for_one_entry_near_it() {
    const S: i64 = 1_700_000_000;
    // Seconds of the live rows, of the file's entries, and how many of those are new.
    for (rows, file, new) in [
        ([101].as_slice(), [100, 101, 102, 103].as_slice(), 3),
        (&[101, 103, 105], &[101, 103, 105], 0),
        (&[102, 103, 104], &[100, 101, 102, 103], 1),
        (&[98, 100], &[100, 102], 0),
        (&[100], &[100, 100, 101], 2),
        (&[100], &[103, 106], 2),
    ] {
        let mut store = Store::in_memory().unwrap();
        for second in rows {
            store.insert(&[live("make", (S + second) * 1000)]).unwrap();
        }
        let file: Vec<Record> = file
            .iter()
            .flat_map(|second| {
                ["make", "other"].map(|name| entry("zsh", name, (S + second) * 1000))
            })
            .collect();
        let others = file.len() as u64 / 2;
        let added = import(&mut store, Source::Zsh, &file).added - others;
        assert_eq!(added, new, "{rows:?}");
        assert_eq!(import(&mut store, Source::Zsh, &file).added, 0, "{rows:?}");
    }
}

#[test]
fn a_live_record_completes_the_row_an_import_was_quicker_to_add() {
    let mut store = Store::in_memory().unwrap();
    let file = [entry("zsh", "cargo test", 1_700_000_000_000)];
    import(&mut store, Source::Zsh, &file);
    let record = live("cargo test", 1_700_000_000_400);
    assert_eq!(store.insert(std::slice::from_ref(&record)).unwrap(), 0);
    assert_eq!(all(&store), [record]);
    assert_eq!(import(&mut store, Source::Zsh, &file).added, 0);
}

#[test]
fn two_tools_histories_of_the_same_shell_are_one() {
    let detailed = [
        live("make", 1_700_000_000_250),
        live("make", 1_700_000_001_250),
    ];
    let plain = [
        entry("zsh", "make", 1_700_000_000_000),
        entry("zsh", "make", 1_700_000_001_000),
    ];
    let mut store = Store::in_memory().unwrap();
    import(&mut store, Source::Zsh, &plain);
    assert_eq!(import(&mut store, Source::Atuin, &detailed).added, 0);
    assert!(all(&store).iter().all(|record| record.cwd == b"/srv/app"));
    for _ in 0..2 {
        assert_eq!(import(&mut store, Source::Zsh, &plain).added, 0);
        assert_eq!(import(&mut store, Source::Atuin, &detailed).added, 0);
    }
    let mut store = Store::in_memory().unwrap();
    import(&mut store, Source::Atuin, &detailed);
    assert_eq!(import(&mut store, Source::Zsh, &plain).added, 0);
}

#[test]
fn secrets_never_reach_the_disk() {
    let directory = tempfile::tempdir().unwrap();
    let mut store = Store::open(&directory.path().join("history.db")).unwrap();
    store
        .insert(&[live("deploy --password hunter2secret", 1_700_000_000_000)])
        .unwrap();
    let report = import(
        &mut store,
        Source::Zsh,
        &[
            entry("zsh", "deploy --password hunter2secret", 1_700_000_000_000),
            entry("zsh", "X_TOKEN=hunter2secret make", 1_700_000_100_000),
        ],
    );
    assert_eq!((report.added, report.known, report.redacted), (1, 1, 2));
    assert_eq!(
        commands(&store),
        ["deploy --password ***", "X_TOKEN=*** make"]
    );
    assert!(!has(&bytes_under(directory.path()), "hunter2secret"));
}

#[test]
fn forgotten_commands_leave_no_bytes_and_stay_away() {
    let directory = tempfile::tempdir().unwrap();
    let mut store = Store::open(&directory.path().join("history.db")).unwrap();
    let file = [
        entry("zsh", "visit zanzibar", 1_700_000_000_000),
        entry("zsh", "visit", 0),
    ];
    import(&mut store, Source::Zsh, &file);
    store
        .insert(&[live("visit zanzibar", 1_700_000_900_000)])
        .unwrap();
    assert_eq!(store.forget(Forget::Command(b"visit zanzibar")).unwrap(), 2);
    let report = import(&mut store, Source::Zsh, &file);
    assert_eq!((report.added, report.known, report.forgotten), (0, 1, 1));
    assert_eq!(commands(&store), ["visit"]);
    assert!(!has(&bytes_under(directory.path()), "zanzibar"));
}

#[test]
fn a_forgotten_command_that_is_typed_again_is_recorded_again() {
    let mut store = Store::in_memory().unwrap();
    store.forget(Forget::Command(b"make")).unwrap();
    let future = live("make", i64::MAX / 2);
    assert_eq!(
        store
            .insert(&[live("make", 1_700_000_000_000), future])
            .unwrap(),
        1
    );
}

#[test]
fn forgetting_by_pattern_takes_whole_commands_only() {
    let mut store = Store::in_memory().unwrap();
    for (i, command) in ["ssh prod", "ssh prod ls", "assh prod", "echo ssh prod"]
        .iter()
        .enumerate()
    {
        store
            .insert(&[live(command, 1_700_000_000_000 + 10_000 * i as i64)])
            .unwrap();
    }
    assert_eq!(store.forget(Forget::Pattern(b"ssh *")).unwrap(), 2);
    assert_eq!(commands(&store), ["assh prod", "echo ssh prod"]);
    let report = import(&mut store, Source::Zsh, &[entry("zsh", "ssh prod ls", 0)]);
    assert_eq!(report.forgotten, 1);
}

#[test]
fn deleting_all_leaves_no_bytes() {
    let directory = tempfile::tempdir().unwrap();
    let mut store = Store::open(&directory.path().join("history.db")).unwrap();
    store
        .insert(&[live("visit zanzibar", 1_700_000_000_000)])
        .unwrap();
    assert_eq!(store.delete_all().unwrap(), 1);
    assert_eq!(store.count().unwrap(), 0);
    assert!(!has(&bytes_under(directory.path()), "zanzibar"));
    assert!(!has(&bytes_under(directory.path()), "/srv/app"));
}

#[test]
fn directories_of_zoxide_are_raised_not_doubled() {
    let mut store = Store::in_memory().unwrap();
    let visited = |path: &str, rank, last_s| Visited {
        path: path.into(),
        rank,
        last_s,
    };
    assert_eq!(
        store
            .import_directories(&[visited("/a", 4.0, 10), visited("/b", 9.5, 20)])
            .unwrap(),
        2
    );
    assert_eq!(
        store.import_directories(&[visited("/a", 12.0, 9)]).unwrap(),
        0
    );
    assert_eq!(
        store.directories().unwrap(),
        [visited("/a", 12.0, 10), visited("/b", 9.5, 20)]
    );
}

#[test]
fn many_openers_and_writers_share_one_new_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("data/history.db");
    let barrier = Barrier::new(8);
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let (path, barrier) = (&path, &barrier);
            scope.spawn(move || {
                barrier.wait();
                let mut store = wait("open", || Store::open(path).ok());
                for i in 0..25 {
                    let record = live(&format!("echo {writer} {i}"), 1_700_000_000_000 + i * 5_000);
                    wait("insert", || {
                        match store.insert(std::slice::from_ref(&record)) {
                            Ok(added) => Some(added),
                            Err(Error::Busy { .. }) => None,
                            Err(error) => panic!("{error}"),
                        }
                    });
                }
            });
        }
    });
    assert_eq!(Store::open(&path).unwrap().count().unwrap(), 200);
    assert_eq!(integrity(&path), "ok");
    let aside = std::fs::read_dir(path.parent().unwrap()).unwrap().count();
    assert_eq!(
        aside, 1,
        "only the database is left when all have closed it"
    );
}

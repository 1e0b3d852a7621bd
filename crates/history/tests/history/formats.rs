//! The files of other tools, byte for byte.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use tabsense_history::import::{self, Bash, Entries, Fish, Format, Zsh, metafy, unmetafy};
use tabsense_history::{Error, Record, Store};

use crate::support::read;

fn zsh(bytes: &[u8]) -> Vec<Record> {
    read(&mut Zsh::new(bytes, Path::new("h")))
}

fn bash(bytes: &[u8]) -> Vec<Record> {
    read(&mut Bash::new(bytes, Path::new("h")))
}

fn fish(bytes: &[u8]) -> Vec<Record> {
    read(&mut Fish::new(bytes, Path::new("h")))
}

fn text(records: &[Record]) -> Vec<&[u8]> {
    records
        .iter()
        .map(|record| record.command.as_slice())
        .collect()
}

fn seconds(records: &[Record]) -> Vec<i64> {
    records
        .iter()
        .map(|record| record.start_ms / 1000)
        .collect()
}

#[test]
fn zsh_metafied_bytes_are_restored() {
    // As zsh 5.9 writes 漢 (e6 bc a2), ã (c3 a3, no escape), 83 80 ff.
    let file = b": 1700000101:0;ls \xe6\xbc\x83\x82\n: 1700000102:0;ls \xc3\xa3\n: 1700000103:0;ls \x83\xa3\x80\xff\n";
    let records = zsh(file);
    assert_eq!(
        text(&records),
        ["ls 漢".as_bytes(), "ls ã".as_bytes(), b"ls \x83\x80\xff"]
    );
    assert_eq!(
        seconds(&records),
        [1_700_000_101, 1_700_000_102, 1_700_000_103]
    );
}

#[test]
fn zsh_lines_and_backslashes_are_as_zsh_reads_them() {
    let file = b": 1700000201:3;while read x; do\\\n\tprint $x\\\ndone\n\
        : 1700000202:0;ls a \\\\\n b\n\
        : 1700000203:0;ends\\ \n\
        : 1700000204:0;twice\\\\ \n\
        : 1700000205:0;blank\\  \n\
        : 1700000206:0;: 1700000000:1;inner\n\
        \\: colon\n\
        : not a stamp\n\
        plain";
    let records = zsh(file);
    let expected: [&[u8]; 9] = [
        b"while read x; do\n\tprint $x\ndone",
        b"ls a \\\n b",
        b"ends\\",
        b"twice\\\\",
        b"blank\\ ",
        b": 1700000000:1;inner",
        b": colon",
        b": not a stamp",
        b"plain",
    ];
    assert_eq!(text(&records), expected);
    assert_eq!(
        (records[0].start_ms, records[0].duration_ms),
        (1_700_000_201_000, Some(3_000))
    );
    assert_eq!((records[8].start_ms, records[8].duration_ms), (0, None));
}

#[test]
fn zsh_stamps_out_of_range_are_unknown() {
    let file = b": 0:0;a\n: -5:0;b\n: 2147483648:0;c\n: 9223372036854775807:0;d\n: 99999999999999999999:-3;e\n";
    let records = zsh(file);
    assert_eq!(text(&records), [b"a", b"b", b"c", b"d", b"e"]);
    assert_eq!(seconds(&records), [0, 0, 2_147_483_648, 0, 0]);
}

#[test]
fn damaged_lines_are_skipped_and_counted() {
    let mut file = b"good\nbad\0\0\0\n".to_vec();
    file.extend(std::iter::repeat_n(b'x', 3 << 20));
    file.extend_from_slice(b"\n: 1700000001:0;\nlast\\");
    let mut entries = Zsh::new(file.as_slice(), Path::new("h"));
    assert_eq!(text(&read(&mut entries)), [b"good".as_slice(), b"last\\"]);
    assert_eq!(entries.skipped(), 3);
}

#[test]
fn an_endless_multi_line_entry_does_not_fill_the_memory() {
    let mut file = b"aaaaaaa\\\n".repeat(400_000);
    file.extend_from_slice(b"end\nnext\n");
    let mut entries = Zsh::new(file.as_slice(), Path::new("h"));
    let records = read(&mut entries);
    assert_eq!(records.last().unwrap().command, b"next");
    assert!(entries.skipped() > 0);
    assert!(records.iter().all(|record| record.command.len() <= 1 << 20));
}

#[test]
fn bash_without_stamps_has_one_command_a_line() {
    let records = bash(b"ls\n\n#123 note\n#42\necho \xff\r\nlast");
    let expected: [&[u8]; 5] = [b"ls", b"#123 note", b"#42", b"echo \xff", b"last"];
    assert_eq!(text(&records), expected);
    assert_eq!(seconds(&records), [0; 5]);
}

#[test]
fn bash_with_stamps_has_commands_of_several_lines() {
    let file = b"#1700000301\nfor x in 1; do\n\n  echo $x\ndone\n#1700000302\n#123 note\n#1700000303\n#7\n#1700000304\n#1700000305\nlast\n";
    let records = bash(file);
    let expected: [&[u8]; 4] = [
        b"for x in 1; do\n\n  echo $x\ndone",
        b"#123 note",
        b"#7",
        b"last",
    ];
    assert_eq!(text(&records), expected);
    assert_eq!(
        seconds(&records),
        [1_700_000_301, 1_700_000_302, 1_700_000_303, 1_700_000_305]
    );
}

#[test]
fn bash_stamps_that_begin_later_date_one_line_each() {
    let records = bash(b"old\nolder\n#1700000401\nnew\nplain\n#99999999999999999999\nodd\n");
    assert_eq!(
        text(&records),
        [b"old".as_slice(), b"older", b"new", b"plain", b"odd"]
    );
    assert_eq!(seconds(&records), [0, 0, 1_700_000_401, 0, 0]);
}

#[test]
fn fish_escapes_only_backslash_and_line_feed() {
    let file = b"- cmd: ls a\\nls b\n  when: 1700000501\n\
        - cmd: echo \"1\\\\n2\"\n  when: 1700000502\n  paths:\n    - cmd: x\n    - when\n\
        - cmd: k: v # - cmd: y\n  when: 1700000503\n\
        - cmd: \\q end\\\n  when: nonsense\n\
        - cmd: \xff\n";
    let records = fish(file);
    let expected: [&[u8]; 5] = [
        b"ls a\nls b",
        b"echo \"1\\n2\"",
        b"k: v # - cmd: y",
        b"\\q end\\",
        b"\xff",
    ];
    assert_eq!(text(&records), expected);
    assert_eq!(
        seconds(&records),
        [1_700_000_501, 1_700_000_502, 1_700_000_503, 0, 0]
    );
}

#[test]
fn fish_lines_outside_entries_are_counted() {
    let mut entries = Fish::new(
        b"junk\n- cmd: a\n  when: 5\nmore junk\n".as_slice(),
        Path::new("h"),
    );
    assert_eq!(text(&read(&mut entries)), [b"a"]);
    assert_eq!(entries.skipped(), 2);
}

fn atuin(directory: &Path, deleted: &str) -> PathBuf {
    let path = directory.join("history.db");
    let connection = rusqlite::Connection::open(&path).unwrap();
    let sql = format!(
        "CREATE TABLE history (id TEXT PRIMARY KEY, timestamp INTEGER NOT NULL,
            duration INTEGER NOT NULL, exit INTEGER NOT NULL, command TEXT NOT NULL,
            cwd TEXT NOT NULL, session TEXT NOT NULL, hostname TEXT NOT NULL {deleted});
        INSERT INTO history (id, timestamp, duration, exit, command, cwd, session, hostname) VALUES
            ('a', 1700000601250000000, 1500000000, 2, 'make x', '/srv', 's1', 'box:me'),
            ('b', 1700000602000000000, -1, -1, 'old', 'unknown', 's2', 'box:me'),
            ('c', 'text', 0, 0, 'broken', '/', 's', 'h');"
    );
    connection.execute_batch(&sql).unwrap();
    path
}

#[test]
fn atuin_rows_keep_their_details() {
    let directory = tempfile::tempdir().unwrap();
    let path = atuin(directory.path(), "");
    let before = std::fs::read(&path).unwrap();
    let mut entries = import::open(Format::Atuin, &path).unwrap();
    let records = read(&mut *entries);
    let expected = Record {
        command: b"make x".to_vec(),
        cwd: b"/srv".to_vec(),
        exit: Some(2),
        start_ms: 1_700_000_601_250,
        duration_ms: Some(1_500),
        session: b"s1".to_vec(),
        shell: String::new(),
        host: "box".to_owned(),
    };
    assert_eq!(records[0], expected);
    assert_eq!(
        (
            records[1].cwd.len(),
            records[1].exit,
            records[1].duration_ms
        ),
        (0, None, None)
    );
    assert_eq!((records.len(), entries.skipped()), (2, 1));
    drop(entries);
    assert_eq!(
        std::fs::read(&path).unwrap(),
        before,
        "the source stays as it is"
    );
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[test]
fn atuin_rows_deleted_there_are_left_out_and_its_open_log_is_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = atuin(directory.path(), ", deleted_at INTEGER");
    let writer = rusqlite::Connection::open(&path).unwrap();
    writer
        .query_row("PRAGMA journal_mode = WAL", (), |_| Ok(()))
        .unwrap();
    writer
        .execute("UPDATE history SET deleted_at = 5 WHERE id = 'a'", ())
        .unwrap();
    let mut entries = import::open(Format::Atuin, &path).unwrap();
    assert_eq!(text(&read(&mut *entries)), [b"old"]);
}

#[test]
fn databases_of_others_are_not_taken_for_atuins() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.db");
    rusqlite::Connection::open(&path)
        .unwrap()
        .execute_batch("CREATE TABLE t (x)")
        .unwrap();
    assert!(matches!(
        import::open(Format::Atuin, &path),
        Err(Error::Format { .. })
    ));
    std::fs::write(&path, "not a database, but long enough to look at").unwrap();
    assert!(matches!(
        import::open(Format::Atuin, &path),
        Err(Error::Corrupt { .. })
    ));
    assert!(matches!(
        import::open(Format::Zsh, directory.path()),
        Err(Error::Format { .. })
    ));
    assert!(matches!(
        import::open(Format::Zsh, &directory.path().join("no")),
        Err(Error::Io { .. })
    ));
}

fn zoxide(version: u32, entries: &[(&[u8], f64, u64)]) -> Vec<u8> {
    let mut bytes = version.to_le_bytes().to_vec();
    bytes.extend((entries.len() as u64).to_le_bytes());
    for (path, rank, last) in entries {
        bytes.extend((path.len() as u64).to_le_bytes());
        bytes.extend_from_slice(path);
        bytes.extend(rank.to_le_bytes());
        bytes.extend(last.to_le_bytes());
    }
    bytes
}

#[test]
fn zoxide_directories_are_read_and_broken_files_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db.zo");
    let mut store = Store::in_memory().unwrap();
    let good = zoxide(
        3,
        &[(b"/srv/a\xff", 8.25, 1_700_000_000), (b"/nan", f64::NAN, 1)],
    );
    std::fs::write(&path, &good).unwrap();
    assert_eq!(store.import_zoxide(&path).unwrap().added, 1);
    let report = store.import_zoxide(&path).unwrap();
    assert_eq!((report.added, report.known), (0, 1));
    let visited = store.directories().unwrap();
    assert_eq!(
        (visited[0].path.as_slice(), visited[0].last_s),
        (b"/srv/a\xff".as_slice(), 1_700_000_000)
    );
    for bad in [
        &good[..good.len() - 3],
        &zoxide(2, &[]),
        b"",
        &[3, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255],
    ] {
        std::fs::write(&path, bad).unwrap();
        assert!(
            matches!(store.import_zoxide(&path), Err(Error::Format { .. })),
            "{bad:?}"
        );
    }
}

#[test]
fn default_paths_follow_the_tools_own_variables() {
    let path = |format: Format, variables: &[(&str, &str)]| {
        let variables = variables.to_vec();
        format.default_path(move |name| {
            variables
                .iter()
                .find(|(key, _)| *key == name)
                .map(|(_, value)| OsString::from(value))
        })
    };
    let expected = |text: &str| Some(PathBuf::from(text));
    let home = ("HOME", "/h");
    assert_eq!(path(Format::Zsh, &[home]), expected("/h/.zsh_history"));
    assert_eq!(
        path(Format::Zsh, &[home, ("ZDOTDIR", "/z")]),
        expected("/z/.zsh_history")
    );
    assert_eq!(
        path(Format::Bash, &[home, ("HISTFILE", "/f")]),
        expected("/f")
    );
    assert_eq!(
        path(Format::Bash, &[home, ("HISTFILE", "")]),
        expected("/h/.bash_history")
    );
    assert_eq!(
        path(Format::Fish, &[home]),
        expected("/h/.local/share/fish/fish_history")
    );
    assert_eq!(
        path(Format::Fish, &[home, ("fish_history", "work")]),
        expected("/h/.local/share/fish/work_history")
    );
    assert_eq!(
        path(Format::Atuin, &[home, ("XDG_DATA_HOME", "/d")]),
        expected("/d/atuin/history.db")
    );
    for (file, found) in [("/a/x.db", "/a/x.db"), ("~/x.db", "/h/x.db")] {
        assert_eq!(
            path(Format::Atuin, &[home, ("ATUIN_DB_PATH", file)]),
            expected(found)
        );
    }
    assert_eq!(
        path(Format::Fish, &[home, ("fish_history", "default")]),
        expected("/h/.local/share/fish/fish_history")
    );
    let usual = match cfg!(target_os = "macos") {
        true => "/h/Library/Application Support/zoxide/db.zo",
        false => "/h/.local/share/zoxide/db.zo",
    };
    assert_eq!(path(Format::Zoxide, &[home]), expected(usual));
    assert_eq!(
        path(Format::Zoxide, &[("_ZO_DATA_DIR", "/o")]),
        expected("/o/db.zo")
    );
    assert_eq!(path(Format::Fish, &[("XDG_DATA_HOME", "relative")]), None);
}

proptest! {
    #[test]
    fn zsh_metafying_goes_both_ways(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
        let written = metafy(&bytes);
        prop_assert!(!written.contains(&0));
        prop_assert_eq!(unmetafy(&written), bytes);
    }

    #[test]
    fn no_file_makes_a_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        for text in [bytes.clone(), [b": 1:2;", bytes.as_slice()].concat(), [b"- cmd: ", bytes.as_slice()].concat()] {
            let lines = text.split(|&byte| byte == b'\n').count();
            prop_assert!(zsh(&text).len() <= lines);
            prop_assert!(bash(&text).len() <= lines);
            prop_assert!(fish(&text).len() <= lines);
        }
    }
}

//! A database that is locked, or that is not ours to write.

use super::store::{self, commands, integrity, open, ran, status, wait_commands};
use super::{answered, workers};
use crate::common::{Home, Shell, eventually};

fn home() -> Option<Home> {
    Home::new(Shell::Bash)
}

/// The version and the names of all tables.
fn schema(home: &Home) -> (i64, Vec<String>) {
    let connection = open(home).expect("open");
    let version = connection.query_row("PRAGMA user_version", (), |row| row.get(0));
    let mut statement = connection
        .prepare("SELECT name FROM sqlite_schema ORDER BY 1")
        .expect("sql");
    let names = statement.query_map((), |row| row.get(0)).expect("names");
    (
        version.expect("version"),
        names.map(|name| name.expect("name")).collect(),
    )
}

/// What lies beside the database, its own companions left out.
fn others(home: &Home) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(store::directory(home))
        .expect("the data directory")
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with("history"))
        .filter(|name| !["history.db", "history.db-wal", "history.db-shm"].contains(&name.as_str()))
        .collect();
    names.sort();
    names
}

fn log(home: &Home) -> String {
    std::fs::read_to_string(store::directory(home).join("worker.log")).unwrap_or_default()
}

#[test]
fn while_the_database_is_locked_tab_works_and_commands_wait() {
    let Some(home) = home() else { return };
    let first = home.worker();
    ran(&home, "bash", "before", &[]);
    wait_commands(&home, &["before"]);
    let before = schema(&home);

    let holder = open(&home).expect("open");
    holder.execute_batch("BEGIN EXCLUSIVE").expect("locked");
    for n in 0..3 {
        ran(&home, "bash", &format!("lost or late {n}"), &[]);
        answered(&home);
    }
    eventually("3 wait", || (status(&home)["waiting"] == 3).then_some(()));
    assert!(
        status(&home)["trouble"]
            .as_str()
            .is_some_and(|text| text.contains("locked"))
    );
    // A second worker finds the database locked from its start.
    first.kill();
    answered(&home);
    for n in 0..2 {
        ran(&home, "bash", &format!("late {n}"), &[]);
        answered(&home);
    }
    eventually("2 wait", || (status(&home)["waiting"] == 2).then_some(()));
    holder.execute_batch("COMMIT").expect("unlocked");
    ran(&home, "bash", "after", &[]);
    eventually("all that waited is there", || {
        let found = commands(&home);
        let mut kept: Vec<&str> = found
            .iter()
            .map(String::as_str)
            .filter(|text| !text.starts_with("lost"))
            .collect();
        kept.sort_unstable();
        (kept == ["after", "before", "late 0", "late 1"]).then_some(())
    });
    eventually("no trouble any more", || {
        (status(&home)["trouble"] == "").then_some(())
    });
    assert_eq!(schema(&home), before);
    assert_eq!(integrity(&home), "ok");
    assert_eq!(others(&home), Vec::<String>::new());
    assert!(log(&home).lines().count() <= 10, "{}", log(&home));
}

#[test]
fn a_database_that_is_locked_at_the_first_prompt_still_gets_the_shells_history() {
    let Some(home) = home() else { return };
    let _worker = home.worker();
    assert!(home.tabsense(&["worker", "stop"]).status.success());
    home.write(".bash_history", "from the file\n");
    let (version, _) = schema(&home);
    let holder = open(&home).expect("open");
    let lock = format!(
        "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; PRAGMA user_version = {version};"
    );
    holder.execute_batch(&lock).expect("locked");
    ran(&home, "bash", "typed", &[]);
    eventually("the command waits", || {
        (status(&home)["waiting"] == 1).then_some(())
    });
    answered(&home);
    holder.execute_batch("COMMIT").expect("unlocked");
    drop(holder);
    wait_commands(&home, &["from the file", "typed"]);
}

#[test]
fn a_database_of_a_newer_release_or_another_program_is_left_untouched() {
    for (change, told) in [
        ("PRAGMA user_version = 9999", "newer"),
        ("PRAGMA application_id = 7", "another program"),
    ] {
        let Some(home) = home() else { return };
        let _worker = home.worker();
        ran(&home, "bash", "before", &[]);
        wait_commands(&home, &["before"]);
        assert!(home.tabsense(&["worker", "stop"]).status.success());
        open(&home)
            .and_then(|c| c.execute_batch(change))
            .expect("changed");
        let bytes = std::fs::read(store::database(&home)).expect("there");

        for n in 0..3 {
            ran(&home, "bash", &format!("after {n}"), &[]);
            answered(&home);
        }
        let trouble = eventually("the trouble is told", || {
            let status = status(&home);
            (status["waiting"] == 3).then(|| status["trouble"].as_str().map(str::to_owned))?
        });
        assert!(trouble.contains(told), "{trouble}");
        let doctor = home.tabsense(&["doctor"]);
        assert_eq!(doctor.status.code(), Some(1));
        assert!(
            String::from_utf8_lossy(&doctor.stdout).contains(told),
            "{doctor:?}"
        );
        let import = home.tabsense(&["import", "bash", "/etc/hostname"]);
        assert_eq!(import.status.code(), Some(1), "{import:?}");
        assert!(
            String::from_utf8_lossy(&import.stderr).contains(told),
            "{import:?}"
        );
        assert!(home.tabsense(&["worker", "stop"]).status.success());
        assert_eq!(std::fs::read(store::database(&home)).expect("there"), bytes);
        assert_eq!(others(&home), Vec::<String>::new());
        let lines = log(&home);
        assert_eq!(
            lines.lines().filter(|line| line.contains(told)).count(),
            1,
            "{lines}"
        );
        assert_eq!(workers(&home), Vec::<u32>::new());
    }
}

//! From the prompt hook to the store.

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::thread;

use super::store::{self, Row, commands, integrity, ran, rows, tell, wait_commands};
use super::{answered, feed, hook, press_tab, workers};
use crate::common::{Home, Shell, eventually};

fn home() -> Option<Home> {
    Home::new(Shell::Bash)
}

#[test]
fn what_a_prompt_hook_tells_is_in_the_store() {
    let Some(home) = home() else { return };
    let _worker = home.worker();
    let more = [
        "ran_in=/srv/app",
        "exit=2",
        "start=1700000000.25",
        "duration_ms=1500",
    ];
    ran(&home, "zsh", "make -j2\nmake install", &more);
    wait_commands(&home, &["make -j2\nmake install"]);
    let expected = Row {
        command: "make -j2\nmake install".into(),
        cwd: Some("/srv/app".into()),
        exit: Some(2),
        start_ms: 1_700_000_000_250,
        duration_ms: Some(1500),
        shell: "zsh".into(),
        source: "live".into(),
    };
    assert_eq!(rows(&home), [expected]);
}

#[test]
fn the_very_first_command_is_recorded_though_no_worker_was_there() {
    let Some(home) = home() else { return };
    ran(&home, "bash", "first", &[]);
    wait_commands(&home, &["first"]);
    let pid = eventually("a worker", || workers(&home).first().copied());
    let input = std::fs::read_link(format!("/proc/{pid}/fd/0")).expect("standard input");
    assert_eq!(input, std::path::Path::new("/dev/null"));
    answered(&home);
    assert_eq!(workers(&home), [pid]);
}

#[test]
fn commands_that_meet_the_end_of_a_worker_are_recorded_by_the_next() {
    let Some(home) = home() else { return };
    let mut expected = Vec::new();
    for n in 0..8 {
        thread::scope(|scope| {
            scope.spawn(|| home.tabsense(&["worker", "stop"]));
            ran(&home, "bash", &format!("echo {n}"), &[]);
        });
        expected.push(format!("echo {n}"));
    }
    eventually(&format!("8 rows, not {:?}", commands(&home)), || {
        let mut found = commands(&home);
        found.sort();
        (found == expected).then_some(())
    });
}

#[test]
fn sixteen_shells_at_once_before_there_is_a_database_lose_nothing() {
    let Some(home) = home() else { return };
    for round in 0..3 {
        let _ = home.tabsense(&["worker", "stop"]);
        let _ = std::fs::remove_dir_all(store::directory(&home));
        let _ = std::fs::remove_dir_all(home.runtime().join("tabsense"));
        thread::scope(|scope| {
            for n in 1..=16 {
                let home = &home;
                scope.spawn(move || {
                    let shell = ["zsh", "bash", "fish"][n % 3];
                    tell(
                        home,
                        &[
                            format!("shell={shell}"),
                            format!("session={n}"),
                            "cwd=/".into(),
                        ],
                    );
                    let tab = press_tab(home);
                    assert!(matches!(tab.status.code(), Some(0 | 3)), "{tab:?}");
                    assert!(tab.stderr.is_empty(), "{tab:?}");
                    tell(
                        home,
                        &[
                            format!("shell={shell}"),
                            format!("session={n}"),
                            "cwd=/".into(),
                            format!("command=echo {n}"),
                        ],
                    );
                });
            }
        });
        let mut expected: Vec<String> = (1..=16).map(|n| format!("echo {n}")).collect();
        expected.sort();
        eventually(
            &format!("16 rows in round {round}, not {:?}", commands(&home)),
            || {
                let mut found = commands(&home);
                found.sort();
                (found == expected).then_some(())
            },
        );
        eventually("one worker is left", || {
            (workers(&home).len() == 1).then_some(())
        });
        assert_eq!(integrity(&home), "ok");
        answered(&home);
        assert_eq!(workers(&home).len(), 1);
    }
}

#[test]
fn secrets_reach_no_file() {
    let Some(home) = home() else { return };
    home.write(
        ".config/tabsense/config.toml",
        "[worker]\nlog = \"debug\"\n",
    );
    home.write(".bash_history", "export API_TOKEN=zzSecretA8271\n");
    tell(&home, &["shell=bash".into(), "cwd=/".into()]);
    for (command, stored) in [
        (
            "curl -u me:zzSecretB9931 https://example.org",
            "curl -u me:*** https://example.org",
        ),
        ("mysql -pzzSecretC7720 db", "mysql -p*** db"),
        (
            "git clone https://me:zzSecretD1188@example.org/x",
            "git clone https://me:***@example.org/x",
        ),
        ("PASSWORD=zzSecretE5512 ./run", "PASSWORD=*** ./run"),
    ] {
        ran(&home, "bash", command, &[]);
        eventually(&format!("{stored} among {:?}", commands(&home)), || {
            commands(&home)
                .iter()
                .any(|found| found == stored)
                .then_some(())
        });
    }
    assert!(commands(&home).contains(&"export API_TOKEN=***".to_owned()));
    assert!(home.tabsense(&["worker", "restart"]).status.success());
    assert_eq!(store::files_with(&home, b"zzSecret"), Vec::<String>::new());
    let offered = home
        .tabsense(&["complete", "--shell", "bash", "--line", "mysql "])
        .stdout;
    assert!(!String::from_utf8_lossy(&offered).contains("zzSecret"));
}

#[test]
fn whatever_the_clock_says_commands_stay_in_the_order_they_came() {
    let Some(home) = home() else { return };
    let _worker = home.worker();
    let starts = [
        "1700000000",
        "0",
        "-5",
        "2147483648",
        "4102444800",
        "9223372036854775807",
        "1e300",
        "nan",
        "what",
        "",
        "1700000001.5",
        "-1e300",
    ];
    let mut expected = Vec::new();
    for (n, start) in starts.iter().enumerate() {
        let command = format!("step {n}");
        let duration = if n % 2 == 0 {
            "duration_ms=-20"
        } else {
            "duration_ms=7"
        };
        ran(
            &home,
            "bash",
            &command,
            &[&format!("start={start}"), duration],
        );
        expected.push(command.clone());
        eventually(&format!("{command} is stored"), || {
            (commands(&home).len() == expected.len()).then_some(())
        });
    }
    assert_eq!(commands(&home), expected);
    assert!(
        rows(&home)
            .iter()
            .all(|row| row.duration_ms.is_none_or(|ms| ms >= 0))
    );
    // The same order after a restart, and a future that ranks nothing for ever.
    assert!(home.tabsense(&["worker", "restart"]).status.success());
    answered(&home);
    assert_eq!(commands(&home), expected);
}

#[test]
fn a_command_from_the_future_does_not_outrank_daily_ones() {
    let Some(home) = home() else { return };
    let _worker = home.worker();
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .expect("after 1970")
        .as_secs();
    let future = format!("start={}", now + 30 * 86_400);
    ran(&home, "bash", "ssh future-host", &[&future]);
    for n in 0..6 {
        ran(
            &home,
            "bash",
            "ssh daily-host",
            &[&format!("start={}", now - 600 + n * 60)],
        );
    }
    eventually("7 rows", || (commands(&home).len() == 7).then_some(()));
    let output = home.tabsense(&["complete", "--shell", "bash", "--line", "ssh "]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(text.lines().next(), Some("daily-host"), "{text}");
}

#[test]
fn odd_and_huge_commands_are_taken_or_left_and_the_next_one_is_recorded() {
    let Some(home) = home() else { return };
    let _worker = home.worker();
    let mut expected = Vec::new();
    for command in [
        "printf '\\033[31m'",
        "echo '打字 \u{1f600}'",
        "a\tb",
        "=x=y=",
    ] {
        ran(&home, "fish", command, &[]);
        expected.push(command);
    }
    let large = "x".repeat(100_000);
    ran(&home, "fish", &large, &[]);
    expected.push(&large);
    wait_commands(&home, &expected);
    let huge = format!("shell=bash\0cwd=/\0command={}\0\0", "y".repeat(9 << 20));
    assert_eq!(
        hook(&home, "prompt", huge.as_bytes()).status.code(),
        Some(0)
    );
    for broken in [
        b"".as_slice(),
        b"\0",
        b"=\0\0",
        b"command=\xff\xfe\0\0",
        b"no records",
    ] {
        assert_eq!(hook(&home, "prompt", broken).status.code(), Some(0));
    }
    ran(&home, "bash", "the last one", &[]);
    eventually("the next one", || {
        commands(&home)
            .contains(&"the last one".to_owned())
            .then_some(())
    });
}

#[test]
fn a_client_that_dies_while_it_sends_harms_nobody() {
    let Some(home) = home() else { return };
    let worker = home.worker();
    let socket = home.runtime().join("tabsense/worker.sock");
    let run = tabsense_protocol::request::Ran {
        command: b"half".to_vec(),
        ..Default::default()
    };
    let shown = tabsense_protocol::request::Prompt {
        ran: Some(run),
        ..Default::default()
    };
    let body = tabsense_protocol::request::Body::Prompt(shown);
    let frame = tabsense_protocol::encode(&tabsense_protocol::Request::new(Vec::new(), body));
    for length in 0..frame.len() {
        let mut stream = UnixStream::connect(&socket).expect("connect");
        stream.write_all(&frame[..length]).expect("write");
    }
    ran(&home, "bash", "whole", &[]);
    wait_commands(&home, &["whole"]);
    assert_eq!(worker.serving(), Some(worker.pid()));
}

#[test]
fn a_prompt_hook_never_waits_for_a_stopped_worker() {
    let Some(home) = home() else { return };
    let worker = home.worker();
    worker.freeze();
    ran(&home, "bash", "while stopped", &[]);
    worker.thaw();
    wait_commands(&home, &["while stopped"]);
    let mut command = home.command(&home.client());
    command
        .args(["prompt", "--hook"])
        .env("TABSENSE_PAUSE", "1");
    assert!(
        feed(command, b"shell=bash\0cwd=/\0command=hidden\0\0")
            .status
            .success()
    );
    ran(&home, "bash", "shown", &[]);
    wait_commands(&home, &["while stopped", "shown"]);
}

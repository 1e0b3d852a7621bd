//! Directories and lists that are far too large.

use std::time::{Duration, Instant};

use super::space::Mount;
use super::store::status;
use super::{assert_native, feed, hook};
use crate::common::{Home, Shell, eventually};

const ENTRIES: usize = 200_000;

/// The deadline is 50 ms; a test machine may be busy, but it is never a second.
const GENEROUS: Duration = Duration::from_secs(1);

#[test]
fn two_hundred_thousand_files_cost_neither_the_deadline_nor_memory() {
    let Some(home) = Home::new(Shell::Bash) else {
        return;
    };
    let big = home.work().join("big");
    std::fs::create_dir(&big).expect("made");
    // Where that is allowed, in memory: some disks take a minute for this.
    let _mount = Mount::new(&big, "size=100m,nr_inodes=300000");
    for n in 0..ENTRIES {
        std::fs::File::create(big.join(format!("file{n:06}"))).expect("a file");
    }
    let _worker = home.worker();
    let small = status(&home)["rss_mb"].as_f64().expect("memory");
    let request = format!(
        "shell=zsh\0session=t\0line=ls file12345\0cursor=12\0cwd={}\0\0file123451\0file123450\0",
        big.display()
    );
    // Each press is answered or native, never late; and soon all are answered.
    eventually("TAB is answered in the large directory", || {
        let start = Instant::now();
        let output = hook(&home, "complete", request.as_bytes());
        assert!(start.elapsed() < GENEROUS, "{:?}", start.elapsed());
        match output.status.code() {
            Some(0) => Some(()),
            _ => {
                assert_native(&output);
                None
            }
        }
    });
    let cwd = big.to_string_lossy().into_owned();
    let arguments = [
        "complete",
        "--shell",
        "bash",
        "--line",
        "ls file12345",
        "--cwd",
        &cwd,
    ];
    eventually("all that fit are found", || {
        let output = home.tabsense(&arguments);
        (String::from_utf8_lossy(&output.stdout).lines().count() == 10).then_some(())
    });
    let grown = status(&home)["rss_mb"].as_f64().expect("memory") - small;
    assert!(grown < 100.0, "the worker grew by {grown} MB");
}

#[test]
fn a_list_beyond_the_limit_is_left_to_the_shell_within_little_memory() {
    let Some(home) = Home::new(Shell::Bash) else {
        return;
    };
    let _worker = home.worker();
    let mut input = b"shell=zsh\0session=t\0line=ls \0cursor=3\0cwd=/\0\0".to_vec();
    for n in 0..ENTRIES {
        input.extend_from_slice(format!("file{n:06}\0").as_bytes());
    }
    // Address space is more than what is resident; the libraries are in it, too.
    let script = format!(
        "ulimit -v 65536; exec {} complete --hook",
        home.client().display()
    );
    for _ in 0..3 {
        let mut command = home.command("/bin/bash".as_ref());
        command.args(["-c", &script]);
        let start = Instant::now();
        assert_native(&feed(command, &input));
        assert!(start.elapsed() < GENEROUS, "{:?}", start.elapsed());
    }
}

#[test]
fn a_long_list_within_the_limit_comes_back_whole() {
    let Some(home) = Home::new(Shell::Bash) else {
        return;
    };
    let _worker = home.worker();
    home.write(".config/tabsense/config.toml", "deadline_ms = 200\n");
    let mut input = b"shell=zsh\0session=t\0line=ls \0cursor=3\0cwd=/\0\0".to_vec();
    for n in 0..5000 {
        input.extend_from_slice(format!("file{n:06}\0").as_bytes());
    }
    let output = eventually("an answer", || {
        let output = hook(&home, "complete", &input);
        (output.status.code() == Some(0)).then_some(output)
    });
    let mut numbers: Vec<usize> = output
        .stdout
        .split(|&byte| byte == 0)
        .filter_map(|record| {
            std::str::from_utf8(record)
                .ok()?
                .strip_prefix('=')?
                .parse()
                .ok()
        })
        .collect();
    numbers.sort_unstable();
    assert!(
        numbers.into_iter().eq(0..5000),
        "each candidate exactly once"
    );
}

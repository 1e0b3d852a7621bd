//! A file system that does not answer: `strace` holds the worker's system calls up.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::{answered, hook};
use crate::common::{Home, Shell, eventually};

/// The deadline is 50 ms; a traced worker is slow, but the client is not.
const GENEROUS: Duration = Duration::from_secs(1);

/// `strace` on a process; detached when dropped.
struct Slow(Child);

impl Slow {
    /// Lets every look at `path` by the process take eight seconds.
    fn new(process: u32, path: &Path) -> Option<Self> {
        let found = Command::new("strace").arg("-V").output();
        if !cfg!(target_os = "linux") || found.is_err() {
            assert!(
                std::env::var_os("CI").is_none() || !cfg!(target_os = "linux"),
                "no strace"
            );
            eprintln!("skipped: strace is not installed");
            return None;
        }
        let mut child = Command::new("strace")
            .args(["-f", "-o", "/dev/null", "-p", &process.to_string(), "-P"])
            .arg(path)
            .args([
                "-e",
                "inject=openat,statx,newfstatat,getdents64:delay_enter=8000000",
            ])
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("strace");
        let mut said = BufReader::new(child.stderr.take().expect("stderr"));
        let mut line = String::new();
        while !line.contains("attached") {
            line.clear();
            if said.read_line(&mut line).unwrap_or(0) == 0 {
                eprintln!("skipped: strace may not attach here");
                let _ = child.wait();
                return None;
            }
        }
        // It must be able to go on talking.
        thread::spawn(move || said.lines().for_each(drop));
        Some(Self(child))
    }
}

impl Drop for Slow {
    fn drop(&mut self) {
        if let Ok(pid) = i32::try_from(self.0.id()).map(Pid::from_raw)
            && let Some(pid) = pid
        {
            let _ = kill_process(pid, Signal::INT);
        }
        let _ = self.0.wait();
    }
}

fn threads(process: u32) -> usize {
    std::fs::read_dir(format!("/proc/{process}/task")).map_or(0, Iterator::count)
}

/// What the worker finds in a directory by itself, with a second's time.
fn found(home: &Home, directory: &Path) -> Vec<u8> {
    let cwd = directory.to_string_lossy().into_owned();
    let arguments = [
        "complete", "--shell", "bash", "--line", "cat ins", "--cwd", &cwd,
    ];
    home.tabsense(&arguments).stdout
}

#[test]
fn a_directory_that_does_not_answer_holds_nobody_else_up() {
    let Some(home) = Home::new(Shell::Bash) else {
        return;
    };
    home.files(&["slow/inside", "quick/inside"]);
    let directory = home.work().join("slow");
    let worker = home.worker();
    answered(&home);
    let request = format!(
        "shell=bash\0session=t\0line=cat in\0cursor=6\0cwd={}\0\0inside\0",
        directory.display()
    );
    let Some(slow) = Slow::new(worker.pid(), &directory) else {
        return;
    };
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..3 {
                    let start = Instant::now();
                    let output = hook(&home, "complete", request.as_bytes());
                    assert!(matches!(output.status.code(), Some(0 | 3)), "{output:?}");
                    assert!(start.elapsed() < GENEROUS, "{:?}", start.elapsed());
                }
            });
        }
    });
    // Calls are still held up, and everything else is served.
    assert!(
        found(&home, &directory).is_empty(),
        "strace holds nothing up"
    );
    let start = Instant::now();
    let input = format!("shell=bash\0session=t\0cwd={}\0\0", directory.display());
    assert!(hook(&home, "prompt", input.as_bytes()).status.success());
    assert!(start.elapsed() < GENEROUS, "{:?}", start.elapsed());
    answered(&home);
    assert!(
        threads(worker.pid()) <= 32,
        "{} threads",
        threads(worker.pid())
    );
    assert_eq!(worker.serving(), Some(worker.pid()));
    drop(slow);
    eventually("the directory is there again", || {
        (found(&home, &directory) == b"inside\n").then_some(())
    });
}

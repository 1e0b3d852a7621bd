//! The two programs without a shell around them.

mod adapting;
mod asking;
mod borders;
mod configuring;
mod confined;
mod crowd;
mod damage;
mod deciding;
mod doctoring;
mod ending;
mod explaining;
mod hanging;
mod importing;
mod large;
mod life;
mod locking;
mod measuring;
mod network;
mod phrases;
mod places;
mod recording;
mod slow;
mod space;
mod spoiling;
mod store;
mod stubs;
mod terminals;
mod trying;
mod uninstalling;
mod users;
mod wishes;

use std::io::Write;
use std::process::{Command, Output, Stdio};

use crate::common::{Home, eventually};

/// The status that means "use the shell's own completion".
const NATIVE: Option<i32> = Some(3);

/// Runs `tabsense complete --hook` on `cd ` with two candidates.
fn press_tab(home: &Home) -> Output {
    hook(home, "complete", LINE)
}

const LINE: &[u8] = b"shell=bash\0session=t\0line=cd \0cursor=3\0cwd=/\0\0one\0two\0";

/// Runs one of the hooks with `input` on standard input.
fn hook(home: &Home, which: &str, input: &[u8]) -> Output {
    let mut command = home.command(&home.client());
    command.args([which, "--hook"]);
    feed(command, input)
}

/// Runs a program to its end with `input` on its standard input.
fn feed(mut command: Command, input: &[u8]) -> Output {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("start the client");
    // A client that gives up early closes its end; that is its right.
    let _ = child.stdin.take().expect("stdin").write_all(input);
    child.wait_with_output().expect("the client ends")
}

/// Runs this program of the system quietly; whether it succeeded.
fn system(program: &str, arguments: &[&std::ffi::OsStr]) -> bool {
    let output = Command::new(program).args(arguments).output();
    output.is_ok_and(|output| output.status.success())
}

/// The living processes of the worker's program that this test home's clients started.
fn workers(home: &Home) -> Vec<u32> {
    let mark = format!("XDG_RUNTIME_DIR={}", home.runtime().display());
    processes(mark.as_bytes())
        .into_iter()
        .filter(|pid| {
            let name = std::fs::read_to_string(format!("/proc/{pid}/comm"));
            name.is_ok_and(|name| name == "tabsensed\n")
        })
        .collect()
}

/// The living processes with an environment entry that starts with these bytes.
fn processes(entry: &[u8]) -> Vec<u32> {
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    all.filter_map(|process| process.file_name().to_str()?.parse().ok())
        .filter(|pid: &u32| {
            let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment
                .split(|&byte| byte == 0)
                .any(|found| found.starts_with(entry))
        })
        .collect()
}

#[track_caller]
fn assert_native(output: &Output) {
    assert_eq!(output.status.code(), NATIVE, "{output:?}");
    assert!(
        output.stdout.is_empty() && output.stderr.is_empty(),
        "{output:?}"
    );
}

/// Presses TAB until it is answered: on a busy machine one press may be late.
#[track_caller]
fn answered(home: &Home) -> Output {
    let output = eventually("TAB is answered", || {
        let output = press_tab(home);
        (output.status.code() != NATIVE).then_some(output)
    });
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(
        output.stdout.starts_with(b"v1\0") && output.stdout.ends_with(b".\0"),
        "{output:?}"
    );
    assert!(output.stderr.is_empty(), "{output:?}");
    output
}

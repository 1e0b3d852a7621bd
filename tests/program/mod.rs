//! The two programs without a shell around them.

mod asking;
mod borders;
mod configuring;
mod doctoring;
mod explaining;
mod importing;
mod life;
mod measuring;
mod network;
mod store;
mod stubs;

use std::io::Write;
use std::process::{Output, Stdio};

use crate::common::{Home, eventually};

/// The status that means "use the shell's own completion".
const NATIVE: Option<i32> = Some(3);

/// Runs `tabsense complete --hook` on `cd ` with two candidates.
fn press_tab(home: &Home) -> Output {
    hook(home, "complete", b"shell=bash\0session=t\0line=cd \0cursor=3\0cwd=/\0\0one\0two\0")
}

/// Runs one of the hooks with `input` on standard input.
fn hook(home: &Home, which: &str, input: &[u8]) -> Output {
    let mut child = home
        .command(&home.client())
        .args([which, "--hook"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("start the client");
    // A client that gives up early closes its end; that is its right.
    let _ = child.stdin.take().expect("stdin").write_all(input);
    child.wait_with_output().expect("the client ends")
}

#[track_caller]
fn assert_native(output: &Output) {
    assert_eq!(output.status.code(), NATIVE, "{output:?}");
    assert!(output.stdout.is_empty() && output.stderr.is_empty(), "{output:?}");
}

/// Presses TAB until it is answered: on a busy machine one press may be late.
#[track_caller]
fn answered(home: &Home) -> Output {
    let output = eventually("TAB is answered", || {
        let output = press_tab(home);
        (output.status.code() != NATIVE).then_some(output)
    });
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(output.stdout.starts_with(b"v1\0") && output.stdout.ends_with(b".\0"), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
    output
}

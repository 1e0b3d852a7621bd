//! Checkpoints that are not what they should be: the worker goes on without, and says why.

use std::path::{Path, PathBuf};

use super::deciding::{CONFIG, QUESTIONS, bad, checkpoint, configure, good, home, model, text};
use super::hook;
use super::store::{self, ran};
use crate::common::eventually;

/// A way to spoil a checkpoint, and the file that must be named then.
type Fault = (&'static str, fn(&Path), &'static str);

fn change(file: PathBuf, from: &str, to: &str) {
    let text = std::fs::read_to_string(&file).expect("there");
    assert!(text.contains(from), "{text}");
    std::fs::write(file, text.replace(from, to)).expect("written");
}

fn cut(directory: &Path, length: u64) {
    let file = std::fs::File::options()
        .write(true)
        .open(directory.join("model.safetensors"))
        .expect("weights");
    file.set_len(length).expect("cut");
}

fn write_weights(directory: &Path, bytes: &[u8]) {
    std::fs::write(directory.join("model.safetensors"), bytes).expect("written");
}

const FAULTS: [Fault; 13] = [
    (
        "absent",
        |d| std::fs::remove_dir_all(d).expect("removed"),
        "encoder/config.json",
    ),
    (
        "empty",
        |d| {
            std::fs::remove_dir_all(d).expect("removed");
            std::fs::create_dir(d).expect("made");
        },
        "encoder/config.json",
    ),
    (
        "no weights",
        |d| std::fs::remove_file(d.join("model.safetensors")).expect("removed"),
        "model.safetensors",
    ),
    ("cut to nothing", |d| cut(d, 0), "model.safetensors"),
    ("cut to 7 bytes", |d| cut(d, 7), "model.safetensors"),
    ("cut to 1000 bytes", |d| cut(d, 1000), "model.safetensors"),
    ("cut to a half", |d| cut(d, 40_000), "model.safetensors"),
    (
        "a header of 2^63 bytes",
        |d| write_weights(d, b"\xff\xff\xff\xff\xff\xff\xff\x7f{}"),
        "model.safetensors",
    ),
    (
        "a git-lfs pointer",
        |d| {
            write_weights(
                d,
                b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n",
            );
        },
        "git-lfs pointer",
    ),
    (
        "no tokenizer",
        |d| std::fs::remove_file(d.join("tokenizer/tokenizer.json")).expect("removed"),
        "tokenizer/tokenizer.json",
    ),
    (
        "fewer words than the tokenizer has",
        |d| {
            change(
                d.join("encoder/config.json"),
                "\"vocab_size\": 320",
                "\"vocab_size\": 300",
            );
        },
        "tok_embeddings",
    ),
    (
        "another hidden size",
        |d| {
            change(
                d.join("encoder/config.json"),
                "\"hidden_size\": 32",
                "\"hidden_size\": 64",
            );
        },
        "model.safetensors",
    ),
    (
        "no JSON",
        |d| std::fs::write(d.join("rl_agent_config.json"), "{").expect("written"),
        "rl_agent_config.json",
    ),
];

#[test]
fn with_a_broken_checkpoint_statistics_rank_and_the_status_says_why() {
    let Some(home) = home() else { return };
    home.write(CONFIG, "[complete]\nmodel = \"off\"\n");
    ran(&home, "bash", "cat two", &[]);
    store::wait_commands(&home, &["cat two"]);
    for (name, spoil, named) in FAULTS {
        let directory = checkpoint(&home, "spoilt");
        spoil(&directory);
        configure(&home, &directory);
        let log = store::directory(&home).join("worker.log");
        let _ = std::fs::remove_file(&log);
        good(&home, &["worker", "restart"]);
        let told = model(&home);
        assert!(
            told.starts_with("off: ") && told.contains(named),
            "{name}: {told}"
        );
        const LINE: &[u8] = b"shell=bash\0session=t\0line=cat \0cursor=4\0cwd=/\0\0one\0two\0";
        eventually("statistics rank", || {
            let output = hook(&home, "complete", LINE);
            output.stdout.starts_with(b"v1\0=1\0=0\0").then_some(())
        });
        let logged = std::fs::read_to_string(&log).expect("a log");
        let lines = logged.lines().filter(|line| line.contains(named));
        assert_eq!(lines.count(), 1, "{name}: {logged}");
        let said = bad(&home.tabsense(&["model", "info", text(&directory)]));
        assert!(said.contains(named), "{name}: {said}");
    }
    let directory = checkpoint(&home, "spoilt");
    good(&home, &["worker", "restart"]);
    assert!(model(&home).starts_with("spoilt, "), "{}", model(&home));
    assert!(directory.exists());
}

#[test]
fn weights_that_shrink_under_a_running_worker_do_not_end_it() {
    let Some(home) = home() else { return };
    let directory = checkpoint(&home, "c");
    configure(&home, &directory);
    home.write("work/q.json", QUESTIONS);
    let worker = home.worker();
    let ask = |state| {
        good(
            &home,
            &["decide", "--state", state, "--questions", "q.json"],
        )
    };
    ask("cd do");
    cut(&directory, 0);
    ask("words that were never looked up before 打开 é");
    assert_eq!(worker.serving(), Some(worker.pid()));
}

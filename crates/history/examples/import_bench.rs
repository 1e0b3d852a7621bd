//! Imports a generated zsh history and prints time, rows and peak memory.
//!
//! `cargo run --release -p tabsense-history --example import_bench [ENTRIES]`, default 1 000 000.

use std::error::Error;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use tabsense_history::import::{self, Format};
use tabsense_history::{Record, Store, redact};

fn main() -> Result<(), Box<dyn Error>> {
    let entries: u64 = std::env::args()
        .nth(1)
        .map_or(Ok(1_000_000), |text| text.parse())?;
    let directory = std::env::temp_dir().join(format!("tabsense-import-{}", std::process::id()));
    fs::create_dir(&directory)?;
    let outcome = measure(&directory, entries);
    fs::remove_dir_all(&directory)?;
    outcome
}

fn measure(directory: &Path, entries: u64) -> Result<(), Box<dyn Error>> {
    let file = directory.join("zsh_history");
    generate(&file, entries)?;
    let database = directory.join("history.db");
    let mut store = Store::open(&database)?;
    for round in ["first import", "second import"] {
        let start = Instant::now();
        let report = store.import(&mut *import::open(Format::Zsh, &file)?)?;
        println!(
            "{round}: {:.2} s, {report:?}",
            start.elapsed().as_secs_f64()
        );
    }
    let start = Instant::now();
    let mut bytes = 0;
    store.replay(u64::MAX, |record| bytes += record.command.len())?;
    println!(
        "replay: {:.2} s, {bytes} bytes of commands",
        start.elapsed().as_secs_f64()
    );
    let start = Instant::now();
    let one = Record {
        command: b"echo one".to_vec(),
        start_ms: 1,
        ..Record::default()
    };
    store.insert(std::slice::from_ref(&one))?;
    println!(
        "one row more: {:.2} ms",
        start.elapsed().as_secs_f64() * 1e3
    );
    let start = Instant::now();
    let checked = Store::open_checked(&database)?.count()?;
    println!(
        "full check: {:.2} s, {checked} rows",
        start.elapsed().as_secs_f64()
    );
    let line =
        b"kubectl -n prod exec -it deploy/web -- env A_TOKEN=x sh -c 'echo \"a b\" | grep c'";
    let start = Instant::now();
    for _ in 0..100_000 {
        std::hint::black_box(redact(std::hint::black_box(line)));
    }
    println!("redact: {:.2} us", start.elapsed().as_secs_f64() * 10.0);
    let size = fs::metadata(&database)?.len() >> 20;
    println!(
        "database: {size} MiB, source: {} MiB",
        fs::metadata(&file)?.len() >> 20
    );
    println!("peak memory: {} MiB", peak_kib()? >> 10);
    Ok(())
}

fn generate(path: &Path, entries: u64) -> std::io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    for i in 1..=entries {
        let (start, message, user) = (1_600_000_000 + i, i % 50_000, i % 97);
        writeln!(
            file,
            ": {start}:0;git commit -m \"msg {message}\" --author=u{user}"
        )?;
    }
    file.flush()
}

/// `VmHWM` of `/proc/self/status`: peak resident memory in KiB.
fn peak_kib() -> Result<u64, Box<dyn Error>> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    Ok(number.ok_or("no VmHWM in /proc/self/status")?.parse()?)
}

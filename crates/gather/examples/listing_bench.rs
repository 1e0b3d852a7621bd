//! Times of the listing cache for directories of 100, 10 000 and 200 000 entries.
//!
//! `cargo run --release -p tabsense-gather --example listing_bench`

use std::fs::File;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use tabsense_gather::{Commands, Listing, Listings, State};
use tabsense_rank::Match;

const LONG: Duration = Duration::from_secs(60);
const REPEATS: usize = 200;

/// Median and 99th percentile of some runs.
fn measure(repeats: usize, mut run: impl FnMut()) -> String {
    let mut times: Vec<Duration> = (0..repeats)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed()
        })
        .collect();
    times.sort();
    let p99 = times[(repeats * 99 / 100).min(repeats - 1)];
    format!(
        "{:>10.3} ms  p99 {:>9.3} ms",
        milliseconds(times[repeats / 2]),
        milliseconds(p99)
    )
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn complete(listings: &Listings, directory: &Path) -> Listing {
    loop {
        match listings.list(directory, LONG) {
            Ok(listing) if listing.state() == State::Complete => return listing,
            Ok(_) => {}
            Err(error) => panic!("{}: {error}", directory.display()),
        }
    }
}

fn directory(count: usize) -> std::io::Result<()> {
    let memory = tempfile::tempdir_in("/dev/shm");
    let home = memory.or_else(|_| tempfile::tempdir())?;
    for number in 0..count {
        File::create(home.path().join(format!("file{number:06}")))?;
    }
    println!("{count} entries");
    let cold = measure(5, || drop(complete(&Listings::default(), home.path())));
    println!("  read to the end          {cold}");
    let budget = Duration::from_millis(10);
    let first = measure(5, || {
        drop(black_box(Listings::default().list(home.path(), budget)));
    });
    println!("  first answer in 10 ms    {first}");
    let listings = Listings::default();
    let listing = complete(&listings, home.path());
    println!(
        "  memory                   {:>10.3} MB",
        listings.bytes() as f64 / 1e6
    );
    let warm = measure(REPEATS, || {
        drop(black_box(listings.list(home.path(), budget)));
    });
    println!("  known and unchanged      {warm}");
    let mut number = 0;
    let changed = measure(20, || {
        number += 1;
        File::create(home.path().join(format!("new{number}"))).expect("file");
        drop(black_box(listings.list(home.path(), budget)));
    });
    println!("  changed at each request  {changed}");
    for (typed, floor) in [
        ("file0123", Match::Prefix),
        ("file0123", Match::Typo),
        ("fiel01", Match::Typo),
        ("zq", Match::Typo),
        ("", Match::Prefix),
    ] {
        let search = measure(REPEATS, || {
            drop(black_box(listing.search(typed.as_bytes(), floor, 1000)));
        });
        println!("  search {:<17} {search}", format!("{typed:?} {floor:?}"));
    }
    Ok(())
}

fn main() -> std::io::Result<()> {
    for count in [100, 10_000, 200_000] {
        directory(count)?;
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::os::unix::ffi::OsStrExt::as_bytes(path.as_os_str());
    let cold = measure(5, || {
        drop(Commands::gather(&Listings::default(), path, LONG));
    });
    println!("commands in PATH\n  read to the end          {cold}");
    let listings = Listings::default();
    let warm = measure(REPEATS, || drop(Commands::gather(&listings, path, LONG)));
    println!("  known and unchanged      {warm}");
    Ok(())
}

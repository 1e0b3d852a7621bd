//! What is measured.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use crate::home::{Home, file, io};
use crate::samples::{Row, Samples};
use crate::{Effort, Error, Options};

/// Requests that are not counted: they warm what stays warm.
const WARM_UP: usize = 20;

/// A typical list, where the number of candidates is not what is varied.
const TYPICAL: usize = 64;

/// Between two keys of a fast typist, where several type at once.
const KEY: Duration = Duration::from_millis(80);

/// One situation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Scenario {
    name: String,
    requests: usize,
    candidates: usize,
    entries: usize,
    history: usize,
    shells: usize,
    /// Whether each request is the first on its line.
    first: bool,
    /// Whether a prompt with a new command comes before each.
    prompts: bool,
    fresh: bool,
    /// Whether there is a decision model.
    model: bool,
    /// Whether the client shall end at once: what a process costs.
    paused: bool,
}

pub(crate) struct Measured {
    pub(crate) rows: Vec<Row>,
    pub(crate) worker_rss_mb: f64,
}

/// All situations.
pub(crate) fn all(effort: Effort) -> Vec<Scenario> {
    let (requests, largest) = match effort {
        Effort::Full => (1000, usize::MAX),
        Effort::Quick => (50, 10_000),
    };
    let base = Scenario {
        name: String::new(),
        requests,
        candidates: TYPICAL,
        entries: 100,
        history: 1000,
        shells: 1,
        first: true,
        prompts: false,
        fresh: false,
        model: true,
        paused: false,
    };
    let named = |name: String, change: &dyn Fn(&mut Scenario)| {
        let mut scenario = Scenario {
            name,
            ..base.clone()
        };
        change(&mut scenario);
        scenario
    };
    let mut scenarios = vec![named("paused".into(), &|s| {
        (s.model, s.paused) = (false, true);
    })];
    for model in [false, true] {
        for n in [10, 64, 1000] {
            scenarios.push(named(format!("tab-{n}"), &|s| {
                (s.candidates, s.model) = (n, model);
            }));
        }
    }
    scenarios.push(named("again-64".into(), &|s| s.first = false));
    for (name, strange) in [("likely-64", false), ("strange-64", true)] {
        scenarios.push(named(name.into(), &|s| {
            (s.first, s.prompts) = (strange, true);
        }));
    }
    for n in [100, 10_000, 200_000].into_iter().filter(|&n| n <= largest) {
        scenarios.push(named(format!("listing-{n}"), &|s| s.entries = n));
    }
    for n in [1000, 100_000, 1_000_000]
        .into_iter()
        .filter(|&n| n <= largest)
    {
        scenarios.push(named(format!("history-{n}"), &|s| s.history = n));
    }
    scenarios.push(named("shells-4".into(), &|s| s.shells = 4));
    // A fresh worker answers its first request once; each costs a start.
    scenarios.push(named("fresh-worker".into(), &|s| {
        s.fresh = true;
        s.requests = requests.min(50);
    }));
    scenarios
}

impl Scenario {
    pub(crate) fn measure(&self, options: &Options) -> Result<Measured, Error> {
        let home = Home::new(options, if self.model { &options.model } else { "off" })?;
        let directory = home.listing(self.entries)?;
        home.tabsense(&["worker", "start"])?;
        home.history(self.history)?;
        let input = |request| {
            let line = match (self.prompts, self.first) {
                // The command after which the same follows mostly, and one that was never run.
                (true, false) => "vim file".to_owned(),
                (true, true) => format!("emacs +{request} file"),
                (false, true) => format!("vim +{request} file"),
                (false, false) => "vim +0 file".to_owned(),
            };
            input(&directory, self.candidates, &line)
        };
        let mut samples = Samples::default();
        if self.fresh {
            for n in 0..self.requests {
                home.tabsense(&["worker", "restart"])?;
                self.request(&home, &input(n), n % 2 == 1, &mut samples)?;
            }
        } else {
            for n in 0..WARM_UP {
                told(&home, &input(n))?;
            }
            for measured in self.shells_at_once(&home, &input)? {
                samples.absorb(measured);
            }
        }
        let worker_rss_mb = home.worker_rss_mb()?;
        Ok(Measured {
            rows: samples.rows(&self.name),
            worker_rss_mb,
        })
    }

    /// One request: its total, or its stages.
    fn request(
        &self,
        home: &Home<'_>,
        input: &[u8],
        tells: bool,
        samples: &mut Samples,
    ) -> Result<(), Error> {
        if !tells {
            samples.add("total", total(home, input, self.paused)?);
        } else if !self.paused {
            for (stage, micros) in told(home, input)?.stages {
                samples.add(&stage, micros);
            }
        }
        Ok(())
    }

    fn shells_at_once(
        &self,
        home: &Home<'_>,
        input: &(impl Fn(usize) -> Vec<u8> + Sync),
    ) -> Result<Vec<Samples>, Error> {
        let shell = |shell| {
            let mut samples = Samples::default();
            let requests = (WARM_UP..WARM_UP + 2 * self.requests).skip(shell);
            for (turn, n) in requests.step_by(self.shells).enumerate() {
                if self.prompts {
                    prompt(home, n)?;
                    thread::sleep(KEY);
                }
                self.request(home, &input(n), turn % 2 == 1, &mut samples)?;
                if self.shells > 1 {
                    thread::sleep(KEY);
                }
            }
            Ok(samples)
        };
        thread::scope(|scope| {
            let shells: Vec<_> = (0..self.shells)
                .map(|number| scope.spawn(move || shell(number)))
                .collect();
            shells
                .into_iter()
                .map(|shell| match shell.join() {
                    Ok(samples) => samples,
                    Err(panic) => std::panic::resume_unwind(panic),
                })
                .collect()
        })
    }
}

/// What a shell script writes to the client for a line.
pub(crate) fn input(directory: &Path, candidates: usize, line: &str) -> Vec<u8> {
    let mut input = format!(
        "shell=bash\0session=bench\0line={line}\0cursor={}\0cwd={}\0add=1\0\0",
        line.len(),
        directory.display()
    )
    .into_bytes();
    for n in 0..candidates {
        input.extend_from_slice(format!("{}\0", file(n)).as_bytes());
    }
    input
}

/// One TAB as a shell has it: a client's life from outside, in microseconds.
fn total(home: &Home<'_>, input: &[u8], paused: bool) -> Result<u64, Error> {
    let mut command = hook(home, input)?;
    if paused {
        command.env("TABSENSE_PAUSE", "1");
    }
    let start = Instant::now();
    let output = command.spawn().and_then(|child| child.wait_with_output());
    let micros = start.elapsed().as_micros();
    output.map_err(io("tabsense complete"))?;
    Ok(u64::try_from(micros).unwrap_or(u64::MAX))
}

/// What one client did.
pub(crate) struct Told {
    /// Whether it printed an answer.
    pub(crate) answered: bool,
    /// Its stages in microseconds.
    pub(crate) stages: Vec<(String, u64)>,
}

/// One TAB of which the client tells its stages. That takes it a while, so its total counts for nothing.
pub(crate) fn told(home: &Home<'_>, input: &[u8]) -> Result<Told, Error> {
    let mut command = hook(home, input)?;
    command
        .env("TABSENSE_STAGES", monotonic_ns().to_string())
        .stderr(Stdio::piped());
    let output = command.output().map_err(io("tabsense complete"))?;
    let told = String::from_utf8_lossy(&output.stderr);
    let stages = told.lines().filter_map(|line| line.split_once('='));
    Ok(Told {
        answered: output.status.success(),
        stages: stages
            .map(|(stage, micros)| (stage.to_owned(), micros.parse().unwrap_or_default()))
            .collect(),
    })
}

/// The client as a shell starts it at TAB.
fn hook(home: &Home<'_>, input: &[u8]) -> Result<Command, Error> {
    let file: PathBuf = home
        .root()
        .join(format!("input-{:?}", thread::current().id()));
    std::fs::write(&file, input).map_err(io("input"))?;
    let mut command = home.client();
    command
        .args(["complete", "--hook"])
        .stdin(std::fs::File::open(&file).map_err(io("input"))?)
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    Ok(command)
}

/// A prompt after a command that was not run before.
fn prompt(home: &Home<'_>, number: usize) -> Result<(), Error> {
    let directory = home.path("work");
    let (directory, file) = (directory.display(), file(number));
    let told = format!(
        "shell=bash\0session=bench\0cwd={directory}/100\0command=vim {file}\0ran_in={directory}/100\0\
         exit=0\0start={}\0duration_ms=1000\0\0",
        1_800_000_000 + number * 60
    );
    let mut child = home
        .client()
        .args(["prompt", "--hook"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(io("tabsense prompt"))?;
    let written = match child.stdin.take() {
        Some(mut stdin) => stdin.write_all(told.as_bytes()),
        None => Ok(()),
    };
    written
        .and_then(|()| child.wait())
        .map(drop)
        .map_err(io("tabsense prompt"))
}

/// The clock that client and bench share.
fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    u64::try_from(now.tv_sec).unwrap_or_default() * 1_000_000_000
        + u64::try_from(now.tv_nsec).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_full_run_covers_every_promised_size_with_a_thousand_requests() {
        let scenarios = all(Effort::Full);
        for name in [
            "tab-10",
            "tab-64",
            "tab-1000",
            "listing-100",
            "listing-10000",
            "listing-200000",
            "history-1000",
            "history-100000",
            "history-1000000",
            "likely-64",
            "strange-64",
            "shells-4",
        ] {
            let found = scenarios.iter().find(|scenario| scenario.name == name);
            assert!(
                found.is_some_and(|scenario| scenario.requests >= 1000),
                "{name}"
            );
        }
        assert!(scenarios.iter().any(|scenario| scenario.fresh));
    }
}

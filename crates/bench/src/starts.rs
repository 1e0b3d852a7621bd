//! From no worker at all to an answer: the first TAB after login starts it.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

#[cfg(target_os = "linux")]
use rustix::fs::{Advice, fadvise};

use crate::home::{Home, io};
use crate::samples::{Row, Samples};
use crate::scenario::{input, told};
use crate::{Effort, Error, Options};

/// How long is waited for the model, which is not asked where it is too slow, and for any answer.
const MODEL_LIMIT: Duration = Duration::from_secs(3);
const LIMIT: Duration = Duration::from_secs(20);

/// Between two requests, so that asking does not take the time of what is being started.
const PAUSE: Duration = Duration::from_millis(2);

/// What there is before a start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    /// Nothing of an earlier start: the model has yet to be unpacked.
    Nothing,
    /// Its files, and none of them in memory: as after a reboot.
    Files,
    /// Its files in memory.
    Memory,
}

impl Before {
    const ALL: [Self; 3] = [Self::Nothing, Self::Files, Self::Memory];

    fn scenario(self) -> &'static str {
        match self {
            Self::Nothing => "start-first",
            Self::Files => "start-cold",
            Self::Memory => "start-warm",
        }
    }
}

/// Rows of all kinds of start: `first answer` from statistics alone, `with model` when the model
/// took part.
pub(crate) fn measure(options: &Options) -> Result<Vec<Row>, Error> {
    let rounds = match options.effort {
        Effort::Full => 20,
        Effort::Quick => 2,
    };
    let home = Home::new(options, &options.model)?;
    let directory = home.listing(100)?;
    home.tabsense(&["worker", "start"])?;
    home.history(1000)?;
    let input = input(&directory, 64, "vim +0 file");
    let mut rows = Vec::new();
    for before in Before::ALL {
        let mut samples = Samples::default();
        for _ in 0..rounds {
            home.tabsense(&["worker", "stop"])?;
            make(before, &home, options)?;
            start(&home, &input, &mut samples)?;
        }
        rows.extend(samples.rows(before.scenario()));
    }
    Ok(rows)
}

/// Asks until the model has answered, or is taken not to. The first request finds nobody and starts
/// the worker.
fn start(home: &Home<'_>, input: &[u8], samples: &mut Samples) -> Result<(), Error> {
    let begun = Instant::now();
    let mut answered = false;
    while begun.elapsed() < if answered { MODEL_LIMIT } else { LIMIT } {
        let told = told(home, input)?;
        let micros = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX);
        let stage = |name: &str| told.stages.iter().any(|(stage, _)| stage == name);
        if told.answered && !answered {
            answered = true;
            samples.add("first answer", micros);
        }
        if told.answered && stage("forward") {
            samples.add("with model", micros);
            return Ok(());
        }
        std::thread::sleep(PAUSE);
    }
    if answered {
        return Ok(());
    }
    Err(Error::Failed {
        what: "tabsense complete".to_owned(),
        said: format!("no answer in {} s", LIMIT.as_secs()),
    })
}

fn make(before: Before, home: &Home<'_>, options: &Options) -> Result<(), Error> {
    let models = home.path(".local/share/tabsense/models");
    match before {
        Before::Memory => Ok(()),
        Before::Nothing if models.exists() => {
            std::fs::remove_dir_all(&models).map_err(io(models.display()))
        }
        Before::Nothing => Ok(()),
        Before::Files => {
            let mut files = vec![options.worker.clone()];
            for directory in [models, PathBuf::from(&options.model)] {
                if directory.is_dir() {
                    collect(&directory, &mut files).map_err(io(directory.display()))?;
                }
            }
            files.iter().try_for_each(|file| forget(file))
        }
    }
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

/// Asks the system to drop a file from memory; what is yet to be written goes to the disk first.
fn forget(path: &Path) -> Result<(), Error> {
    let file = File::open(path).map_err(io(path.display()))?;
    file.sync_all().map_err(io(path.display()))?;
    drop_pages(&file).map_err(io(path.display()))
}

#[cfg(target_os = "linux")]
fn drop_pages(file: &File) -> std::io::Result<()> {
    Ok(fadvise(file, 0, None, Advice::DontNeed)?)
}

/// Elsewhere there is no way that needs no privileges: the numbers are those of a warm start.
#[cfg(not(target_os = "linux"))]
fn drop_pages(_: &File) -> std::io::Result<()> {
    Ok(())
}

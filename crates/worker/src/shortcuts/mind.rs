//! The model that compares phrases with shortcuts, and what it made of texts so far.
//!
//! It is loaded when the first phrase comes, beside the model that ranks completions and on a thread
//! of its own. A text's vector depends on nothing but the text, so each is made once; those of the
//! built-in shortcuts are kept on disk.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tabsense_config::{Paths, Settings};
use tabsense_model::{Decided, Error, Info, Layout, Model, Phrase, Refused, Runner, Status};

use super::disk;
use super::set::{Set, Vector};
use crate::judge;
use crate::judge::builtin::SHORTCUTS;

/// Texts that are given to the model at a time, so that a phrase need not wait for long.
const CHUNK: usize = 4;

/// Vectors of texts that are not built in which are remembered.
const REMEMBERED: usize = 8000;

/// How often a model that is being loaded is looked at.
const LOOK: Duration = Duration::from_millis(2);

/// How often the reading of texts looks whether a phrase still waits.
const STEP_BACK: Duration = Duration::from_millis(5);

/// The option that stands for all that is not there.
const NONE: &str = "none of these";

/// Why there is no decision yet.
pub(super) const LOADING: &str = "the model is still being loaded";

/// A model and its memory.
pub(crate) struct Mind {
    runner: Runner,
    memory: Arc<Mutex<Memory>>,
    reader: Sender<Arc<Set>>,
    ready: Mutex<Option<Info>>,
    /// Phrases that are being answered.
    asking: AtomicUsize,
}

/// Somebody waits for the answer to a phrase, as long as this lives.
pub(crate) struct Asking<'a>(&'a AtomicUsize);

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What is known of texts.
struct Memory {
    vectors: HashMap<u64, Vector>,
    /// Where those of the built-in texts are kept.
    file: Option<PathBuf>,
    /// How many of them the file has.
    on_disk: usize,
}

impl Memory {
    fn remember(&mut self, text: &str, vector: &Vector) {
        if self.vectors.len() > self.on_disk + REMEMBERED {
            self.vectors.clear();
        }
        self.vectors.insert(disk::hash(text), Arc::clone(vector));
    }
}

impl Mind {
    /// Starts loading the model that the settings name; `Err` says why there is none.
    pub(crate) fn start(settings: &Settings, paths: &Paths) -> Result<Arc<Self>, String> {
        match settings.do_model().as_str() {
            "off" => Err("off (set in config.toml)".to_owned()),
            "builtin" => {
                let paths = paths.clone();
                let place = SHORTCUTS.place(&paths.data);
                let file = place.parent().map(|named| named.join("vectors"));
                let unpack = move || {
                    paths.create_data().map_err(io::Error::other)?;
                    SHORTCUTS.unpack(&paths.data)
                };
                Ok(Self::load_from(unpack, file))
            }
            directory => Ok(Self::load(Path::new(directory))),
        }
    }

    /// Loads the checkpoint in a directory.
    pub(crate) fn load(directory: &Path) -> Arc<Self> {
        let directory = directory.to_owned();
        Self::load_from(move || Ok(directory), None)
    }

    /// Loads a checkpoint; vectors are kept in `file`, if one is named.
    fn load_from(
        directory: impl FnOnce() -> io::Result<PathBuf> + Send + 'static,
        file: Option<PathBuf>,
    ) -> Arc<Self> {
        let runner = Runner::start_with(move || {
            let load = || {
                let directory = directory().map_err(|source| Error::Io {
                    path: PathBuf::from("the built-in model"),
                    source,
                })?;
                Model::load(&directory, &judge::options())
            };
            load().inspect_err(|error| tracing::warn!("no model for shortcuts: {error}"))
        });
        let vectors = file.as_deref().map(disk::read).unwrap_or_default();
        let memory = Memory {
            on_disk: vectors.len(),
            vectors,
            file,
        };
        let (reader, sets) = mpsc::channel::<Arc<Set>>();
        let mind = Arc::new(Self {
            runner,
            memory: Arc::new(Mutex::new(memory)),
            reader,
            ready: Mutex::default(),
            asking: AtomicUsize::new(0),
        });
        let weak = Arc::downgrade(&mind);
        let read_all = move || {
            for set in sets {
                let Some(mind) = weak.upgrade() else { return };
                mind.read(&set);
            }
        };
        // Without a thread to spare, texts are read when a phrase needs them.
        let _ = std::thread::Builder::new()
            .name("shortcut texts".to_owned())
            .spawn(read_all);
        mind
    }

    /// Whether the model may still come.
    pub(crate) fn is_loading(&self) -> bool {
        matches!(self.runner.status(), Status::Loading)
    }

    /// Waits until the model is loaded; `Err` says why it is not.
    pub(crate) fn wait(&self, deadline: Option<Instant>) -> Result<Info, String> {
        if let Some(info) = self.ready().clone() {
            return Ok(info);
        }
        loop {
            match self.runner.status() {
                Status::Ready(info) if info.layout != Layout::Separate => {
                    return Err(format!(
                        "the checkpoint {} has the layout {} (hint: `tabsense do` needs separate)",
                        info.directory.display(),
                        info.layout.name()
                    ));
                }
                Status::Ready(info) => {
                    *self.ready() = Some(info.clone());
                    return Ok(info);
                }
                Status::Failed(why) => return Err(why),
                Status::Loading if deadline.is_some_and(|end| Instant::now() >= end) => {
                    return Err(LOADING.to_owned());
                }
                Status::Loading => std::thread::sleep(LOOK),
            }
        }
    }

    /// Stops the reading of texts in the background while a phrase is answered.
    pub(crate) fn ask(&self) -> Asking<'_> {
        self.asking.fetch_add(1, Ordering::Relaxed);
        Asking(&self.asking)
    }

    /// Has the texts of a set read in the background.
    pub(crate) fn read_later(&self, set: &Arc<Set>) {
        if set.is_read {
            let _ = self.reader.send(Arc::clone(set));
        }
    }

    /// What a phrase is to the model.
    pub(crate) fn phrase(&self, text: &str, deadline: Option<Instant>) -> Result<Phrase, Refused> {
        let text = text.to_owned();
        wait_for(|reply| self.runner.phrase(text, deadline, reply))
    }

    /// One logit for each option, and one more for "none of these".
    pub(crate) fn compare(
        &self,
        phrase: Phrase,
        options: &[Vector],
        deadline: Option<Instant>,
    ) -> Result<Decided, Refused> {
        let none = self.vectors(&[NONE], deadline)?;
        let numbers = options.iter().chain(&none).flat_map(|v| v.iter().copied());
        let numbers = numbers.collect();
        wait_for(|reply| self.runner.compare(phrase, numbers, deadline, reply))
    }

    /// What texts are to the model: remembered, or made now.
    pub(crate) fn vectors(
        &self,
        texts: &[&str],
        deadline: Option<Instant>,
    ) -> Result<Vec<Vector>, Refused> {
        let known: Vec<Option<Vector>> = {
            let memory = self.memory();
            let find = |text: &&str| memory.vectors.get(&disk::hash(text)).cloned();
            texts.iter().map(find).collect()
        };
        let missing: Vec<&str> = texts
            .iter()
            .zip(&known)
            .filter(|(_, known)| known.is_none())
            .map(|(text, _)| *text)
            .collect();
        let mut made = self.make(&missing, deadline)?.into_iter();
        let all = known.into_iter().map(|known| known.or_else(|| made.next()));
        // There is one for each that was missing.
        Ok(all.flatten().collect())
    }

    fn make(&self, texts: &[&str], deadline: Option<Instant>) -> Result<Vec<Vector>, Refused> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let owned = texts.iter().map(|text| (*text).to_owned()).collect();
        let numbers = wait_for(|reply| self.runner.vectors(owned, deadline, reply))?;
        let hidden = (numbers.len() / texts.len()).max(1);
        let made: Vec<Vector> = numbers.chunks_exact(hidden).map(Arc::from).collect();
        let mut memory = self.memory();
        for (text, vector) in texts.iter().zip(&made) {
            memory.remember(text, vector);
        }
        Ok(made)
    }

    /// Reads all texts of a set that are not read yet, a few at a time.
    pub(crate) fn read(&self, set: &Set) {
        if self.wait(None).is_err() {
            return;
        }
        let unread = set.unread();
        for numbers in unread.chunks(CHUNK) {
            while self.asking.load(Ordering::Relaxed) > 0 {
                std::thread::sleep(STEP_BACK);
            }
            let texts: Vec<&str> = numbers.iter().map(|number| set.text(*number)).collect();
            let vectors = loop {
                match self.vectors(&texts, None) {
                    Err(Refused::Busy) => std::thread::sleep(STEP_BACK),
                    outcome => break outcome,
                }
            };
            match vectors {
                Ok(vectors) => vectors
                    .into_iter()
                    .zip(numbers)
                    .for_each(|(vector, number)| set.keep(*number, vector)),
                Err(why) => return tracing::warn!("texts of shortcuts were not read: {why}"),
            }
        }
    }

    /// Puts the vectors of the built-in shortcuts on the disk, unless they are there.
    pub(crate) fn store(&self, builtin: &Set) {
        let mut memory = self.memory();
        let texts: Vec<&str> = (0..builtin.index.texts())
            .map(|number| builtin.text(number))
            .chain([NONE])
            .collect();
        let Some(file) = memory.file.clone().filter(|_| memory.on_disk < texts.len()) else {
            return;
        };
        let pairs: Vec<(u64, Vector)> = texts
            .iter()
            .map(|text| disk::hash(text))
            .filter_map(|hash| Some((hash, Arc::clone(memory.vectors.get(&hash)?))))
            .collect();
        match disk::write(&file, &pairs) {
            Ok(()) => memory.on_disk = texts.len(),
            Err(error) => tracing::warn!("{}: {error}", file.display()),
        }
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ready(&self) -> MutexGuard<'_, Option<Info>> {
        self.ready.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Asks the model's thread and waits for the reply.
fn wait_for<T: Send + 'static>(
    ask: impl FnOnce(Box<dyn FnOnce(Result<T, Refused>) + Send>),
) -> Result<T, Refused> {
    let (send, receive) = mpsc::sync_channel(1);
    ask(Box::new(move |outcome| drop(send.send(outcome))));
    receive
        .recv()
        .unwrap_or_else(|_| Err(Refused::Gone("the model's thread has ended".to_owned())))
}

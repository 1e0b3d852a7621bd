//! All shortcuts that are known where a phrase is said.
//!
//! The built-in ones are read once, the user's own whenever their file changes. Everything else is
//! looked at by two threads in the background ([`kept`]): a request waits a moment for what is quick
//! (the project, git), and takes what is there.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use tabsense_config::Problem;
use tabsense_shortcuts::sources::names::{self, Name};
use tabsense_shortcuts::sources::{apps, git, project, read, tldr};
use tabsense_shortcuts::{Shortcut, Source, System, builtin, parse};

use super::kept::{Files, Kept, Pace, ReadAll, Stamp, stamp};
use super::set::Set;

/// How long a request waits for what is being looked at.
const PATIENCE: Duration = Duration::from_millis(25);

/// Where and by whom a phrase is said, as far as it decides what is known.
#[derive(Debug, Clone, Default)]
pub(crate) struct Surroundings {
    pub(crate) cwd: PathBuf,
    pub(crate) home: PathBuf,
    /// `XDG_CONFIG_HOME`, `XDG_DATA_HOME` and `XDG_CACHE_HOME`, or where they usually are.
    pub(crate) config_home: PathBuf,
    pub(crate) data_home: PathBuf,
    pub(crate) cache_home: PathBuf,
    pub(crate) data_dirs: String,
    /// Such as `en`.
    pub(crate) language: String,
    pub(crate) names: Vec<Name>,
}

/// What is known somewhere.
pub(crate) struct Known {
    /// The sets; an id of an earlier one hides that of a later one.
    pub(crate) sets: Vec<Arc<Set>>,
    /// Those that were not there before.
    pub(crate) new: Vec<Arc<Set>>,
    /// What is wrong with the user's own file.
    pub(crate) problems: Vec<String>,
}

/// Everything that has been read.
pub(crate) struct Catalogue {
    file: PathBuf,
    builtin: OnceLock<Arc<Set>>,
    own: Mutex<Own>,
    kept: Kept,
    seen: Mutex<HashSet<usize>>,
}

/// The user's file as it was read.
#[derive(Default)]
struct Own {
    stamp: Option<Stamp>,
    set: Option<Arc<Set>>,
    problems: Vec<String>,
}

impl Catalogue {
    /// A catalogue of nothing yet; `file` is the user's own.
    pub(crate) fn new(file: PathBuf) -> Self {
        Self {
            file,
            builtin: OnceLock::new(),
            own: Mutex::default(),
            kept: Kept::new(),
            seen: Mutex::default(),
        }
    }

    /// The built-in shortcuts.
    pub(crate) fn builtin(&self) -> &Arc<Set> {
        self.builtin
            .get_or_init(|| Arc::new(Set::new(builtin().to_vec(), true)))
    }

    /// What is known there, waiting for it at most a moment and never beyond `deadline`.
    pub(crate) fn known(&self, there: &Surroundings, deadline: Instant) -> Known {
        let keys = self.look(there);
        let (own, problems) = self.own();
        let patience = deadline.min(Instant::now() + PATIENCE);
        let mut sets: Vec<Arc<Set>> = own.into_iter().collect();
        let found = self.kept.wait(&keys, patience);
        sets.extend(found.into_iter().filter(|set| !set.shortcuts.is_empty()));
        sets.push(Arc::clone(self.builtin()));
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = |set: &&Arc<Set>| seen.insert(Arc::as_ptr(set) as usize);
        let new = sets.iter().filter(is_new).cloned().collect();
        // Addresses of sets that are gone may be given to others.
        let there: HashSet<usize> = self.kept.all().chain(addresses(&sets)).collect();
        seen.retain(|address| there.contains(address));
        Known {
            sets,
            new,
            problems,
        }
    }

    /// Has everything looked at that may have changed; the keys by which it is found.
    fn look(&self, there: &Surroundings) -> Vec<u64> {
        let Surroundings { cwd, home, .. } = there.clone();
        let mut keys = Vec::new();
        let mut look = |key: u64, pace, files: Files, read: ReadAll| {
            keys.push(key);
            self.kept.look(key, pace, files, read);
        };
        if !there.names.is_empty() {
            let names = there.names.clone();
            let key = key("names", &names);
            let files: Files = Box::new(Vec::new);
            look(
                key,
                Pace::Once,
                files,
                Box::new(move |_| names::shortcuts(&names)),
            );
        }
        let (at, up) = (cwd.clone(), home.clone());
        look(
            key("project", &(&cwd, &home)),
            Pace::Quick,
            Box::new(move || project::files(&at, &up)),
            Box::new(project::shortcuts),
        );
        let (at, up, config) = (cwd.clone(), home.clone(), there.config_home.clone());
        look(
            key("git", &(&cwd, &home, &config)),
            Pace::Quick,
            Box::new(move || git::files(&at, &up, &config)),
            Box::new(move |files| git::shortcuts(files, &home)),
        );
        let (data, dirs) = (there.data_home.clone(), there.data_dirs.clone());
        look(
            key("apps", &(&data, &dirs)),
            Pace::Slow,
            Box::new(move || apps::directories(&data, &dirs)),
            Box::new(apps::shortcuts),
        );
        let roots = tldr::roots(&there.home, &there.cache_home);
        if !roots.is_empty() {
            let (language, system) = (there.language.clone(), system());
            let directories = move || tldr::directories(&roots, &language, system);
            let paths = directories.clone();
            look(
                key("tldr", &(&there.home, &there.cache_home, &there.language)),
                Pace::Long,
                Box::new(move || paths().into_iter().map(|(_, path)| path).collect()),
                Box::new(move |_| tldr::shortcuts(&directories())),
            );
        }
        if system() == System::Macos {
            let files: Files = Box::new(Vec::new);
            look(
                key("mac", &()),
                Pace::Slow,
                files,
                Box::new(|_| super::mac::shortcuts()),
            );
        }
        keys
    }

    /// The user's own shortcuts, read anew when the file has changed.
    fn own(&self) -> (Option<Arc<Set>>, Vec<String>) {
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        let now = stamp(std::slice::from_ref(&self.file));
        if own.stamp.as_ref() != Some(&now) {
            let (shortcuts, problems) = read_own(&self.file);
            own.set = (!shortcuts.is_empty()).then(|| Arc::new(Set::new(shortcuts, true)));
            own.problems = problems;
            own.stamp = Some(now);
        }
        (own.set.clone(), own.problems.clone())
    }
}

fn key(kind: &str, of: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    (kind, of).hash(&mut hasher);
    hasher.finish()
}

fn addresses(sets: &[Arc<Set>]) -> impl Iterator<Item = usize> {
    sets.iter().map(|set| Arc::as_ptr(set) as usize)
}

fn system() -> System {
    match cfg!(target_os = "macos") {
        true => System::Macos,
        false => System::Linux,
    }
}

/// The shortcuts of the user's file, and what is wrong with it.
fn read_own(file: &Path) -> (Vec<Shortcut>, Vec<String>) {
    if !file.exists() {
        return Default::default();
    }
    let name = file.display().to_string();
    let Some(text) = read::text(file) else {
        let why = format!("{name}: not read (hint: it must be UTF-8 of at most 1 MB)");
        return (Vec::new(), vec![why]);
    };
    let (shortcuts, problems) = parse(&text, &name, Source::File);
    let told = |problem: Problem| {
        let place = problem.place();
        format!("{place}: {} (hint: {})", problem.message, problem.hint)
    };
    (shortcuts, problems.into_iter().map(told).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(known: &Known) -> Vec<String> {
        let sets = known.sets.iter();
        sets.flat_map(|set| &set.shortcuts)
            .filter(|shortcut| shortcut.source != Source::Builtin)
            .filter(|shortcut| shortcut.source != Source::Application)
            .map(|shortcut| shortcut.id.clone())
            .collect()
    }

    fn patient() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    #[test]
    fn what_is_there_is_known_and_a_change_is_seen_at_once() {
        let dir = tempfile::tempdir().expect("tempdir");
        let file = dir.path().join("shortcuts.toml");
        let catalogue = Catalogue::new(file.clone());
        let there = Surroundings {
            cwd: dir.path().join("work"),
            home: dir.path().to_owned(),
            ..Surroundings::default()
        };
        std::fs::create_dir(&there.cwd).expect("made");
        assert_eq!(ids(&catalogue.known(&there, patient())), [""; 0]);

        let good = "[[shortcut]]\nid = \"mine\"\ncommand = \"x\"\n";
        std::fs::write(&file, good).expect("written");
        let known = catalogue.known(&there, patient());
        assert_eq!(ids(&known), ["mine"]);
        // What the machine has installed may come at any time, and is new then.
        let own_is_new =
            |known: &Known| known.new.iter().any(|set| Arc::ptr_eq(set, &known.sets[0]));
        assert!(own_is_new(&known));
        assert!(!own_is_new(&catalogue.known(&there, patient())));

        std::fs::write(&file, format!("{good}[[shortcut]]\nid = 5\n")).expect("written");
        let known = catalogue.known(&there, patient());
        assert_eq!(ids(&known), ["mine"]);
        assert!(
            known.problems[0].contains("shortcuts.toml:5: id takes"),
            "{:?}",
            known.problems
        );
        assert!(known.problems[0].contains("(hint: "));
        std::fs::remove_file(&file).expect("removed");
        assert_eq!(ids(&catalogue.known(&there, patient())), [""; 0]);
    }

    #[test]
    fn the_users_names_and_the_built_in_shortcuts_are_there() {
        let dir = tempfile::tempdir().expect("tempdir");
        let catalogue = Catalogue::new(dir.path().join("none"));
        let there = Surroundings {
            cwd: dir.path().to_owned(),
            names: vec![Name {
                source: Source::Alias,
                name: "gs".to_owned(),
                text: "git status".to_owned(),
            }],
            ..Surroundings::default()
        };
        // The first may come before the threads in the background have answered.
        let found = (0..1000).find(|_| ids(&catalogue.known(&there, patient())) == ["alias:gs"]);
        assert!(found.is_some());
        let known = catalogue.known(&there, patient());
        let last = known.sets.last().expect("a set");
        assert!(
            last.shortcuts
                .iter()
                .any(|shortcut| shortcut.id == "git_status")
        );
    }
}

//! Where everything lies, and whether it is ours.
//!
//! Nothing is created or used below a directory that belongs to somebody else: under `sudo -E` or
//! after a plain `su` the variables still name the first user's directories.

use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Where the socket lies, below the data, without a private `XDG_RUNTIME_DIR`.
const RUN: &str = "run";

/// The places of one user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    /// The home directory.
    pub home: PathBuf,
    /// Holds the socket, the lock and the pause mark; mode 0700.
    pub runtime: PathBuf,
    /// Holds the history store and the log.
    pub data: PathBuf,
    /// `config.toml`
    pub config: PathBuf,
}

/// Why no places could be found.
#[derive(Debug, thiserror::Error)]
pub enum PathsError {
    /// There is no home directory.
    #[error("no home directory (hint: set HOME)")]
    NoHome,
    /// A directory belongs to another user.
    #[error(
        "{path} belongs to user {owner}, this process runs as user {us} \
             (hint: start the shell with its own HOME, for example `sudo -i`)"
    )]
    NotOurs {
        /// The directory.
        path: PathBuf,
        /// Its owner.
        owner: u32,
        /// The effective user.
        us: u32,
    },
    /// A directory that must be private is open to others.
    #[error("{path} has mode {mode:03o}, others may enter it (hint: chmod 700 {path})")]
    Open {
        /// The directory.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// A directory could not be made or looked at.
    #[error("{path}: {error}")]
    Io {
        /// The directory.
        path: PathBuf,
        /// What went wrong.
        error: io::Error,
    },
}

impl Paths {
    /// The places that the environment names; nothing is created.
    ///
    /// # Errors
    /// When there is no home directory or it is not ours.
    pub fn from_env() -> Result<Self, PathsError> {
        let home = dirs::home_dir()
            .filter(|home| home.is_absolute())
            .ok_or(PathsError::NoHome)?;
        let data = dirs::data_local_dir()
            .ok_or(PathsError::NoHome)?
            .join("tabsense");
        let config = dirs::config_dir()
            .ok_or(PathsError::NoHome)?
            .join("tabsense/config.toml");
        check_owner(&home)?;
        let runtime = match std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from) {
            Some(dir) if is_private(&dir) => dir.join("tabsense"),
            _ => data.join(RUN),
        };
        Ok(Self {
            home,
            runtime,
            data,
            config,
        })
    }

    /// The worker's socket.
    pub fn socket(&self) -> PathBuf {
        self.runtime.join("worker.sock")
    }

    /// Locked by the worker that serves [`Paths::socket`] as long as it lives.
    pub fn lock(&self) -> PathBuf {
        self.runtime.join("worker.lock")
    }

    /// Locked by the worker that has the data, wherever it serves: of two shells, one may have an
    /// `XDG_RUNTIME_DIR` and one may not.
    pub fn shared_lock(&self) -> PathBuf {
        self.data.join(RUN).join("worker.lock")
    }

    /// Both locks, the one of the data first.
    pub fn locks(&self) -> [PathBuf; 2] {
        [self.shared_lock(), self.lock()]
    }

    /// Exists while tabsense is paused.
    pub fn paused(&self) -> PathBuf {
        self.data.join("paused")
    }

    /// Names the shells whose own history was taken over at their first prompt, one a line.
    pub fn imported(&self) -> PathBuf {
        self.data.join("imported")
    }

    /// The user's own shortcuts, beside the settings.
    pub fn shortcuts(&self) -> PathBuf {
        self.config.with_file_name("shortcuts.toml")
    }

    /// The history store.
    pub fn history(&self) -> PathBuf {
        self.data.join("history.db")
    }

    /// The weights that are adapted to this user.
    pub fn adapted(&self) -> PathBuf {
        self.data.join("adapted.json")
    }

    /// The worker's log.
    pub fn log(&self) -> PathBuf {
        self.data.join("worker.log")
    }

    /// Makes the runtime directory, private to this user.
    ///
    /// # Errors
    /// When it cannot be made, is somebody else's or is open to others.
    pub fn create_runtime(&self) -> Result<(), PathsError> {
        self.create_private(&self.runtime)?;
        check_private(&self.runtime)
    }

    /// Makes the directory of [`Paths::shared_lock`], private to this user.
    ///
    /// # Errors
    /// When it cannot be made, is somebody else's or is open to others.
    pub fn create_shared(&self) -> Result<(), PathsError> {
        let dir = self.data.join(RUN);
        self.create_private(&dir)?;
        check_private(&dir)
    }

    /// Makes the data directory, private to this user.
    ///
    /// # Errors
    /// When it cannot be made or is somebody else's.
    pub fn create_data(&self) -> Result<(), PathsError> {
        self.create_private(&self.data)?;
        check_owner(&self.data)
    }

    /// A missing home is not made: it is a service account's, or not mounted yet.
    fn create_private(&self, dir: &Path) -> Result<(), PathsError> {
        if dir.starts_with(&self.home) {
            metadata(&self.home)?;
        }
        check_parent(dir)?;
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(dir)
            .map_err(|error| PathsError::Io {
                path: dir.to_owned(),
                error,
            })
    }
}

/// The directory of the socket, checked: ours and closed to others. Used by the client on each
/// request.
///
/// # Errors
/// When it is absent, somebody else's or open to others; when the socket is a link to that of a
/// worker elsewhere, and that place is no longer ours, as if there were none.
pub fn socket_dir(paths: &Paths) -> Result<&Path, PathsError> {
    check_private(&paths.runtime)?;
    let socket = paths.socket();
    match std::fs::read_link(&socket) {
        Ok(live) if !live.parent().is_some_and(is_private) => Err(PathsError::Io {
            path: socket,
            error: io::ErrorKind::NotFound.into(),
        }),
        _ => Ok(&paths.runtime),
    }
}

/// Whether a directory is ours and closed to others.
pub fn is_private(dir: &Path) -> bool {
    dir.is_absolute() && check_private(dir).is_ok()
}

fn metadata(path: &Path) -> Result<std::fs::Metadata, PathsError> {
    std::fs::symlink_metadata(path).map_err(|error| PathsError::Io {
        path: path.to_owned(),
        error,
    })
}

fn check_private(dir: &Path) -> Result<(), PathsError> {
    let data = metadata(dir)?;
    let mode = data.mode() & 0o777;
    if !data.is_dir() {
        let error = io::Error::from(io::ErrorKind::NotADirectory);
        return Err(PathsError::Io {
            path: dir.to_owned(),
            error,
        });
    }
    ours(dir, data.uid())?;
    if mode & 0o077 != 0 {
        return Err(PathsError::Open {
            path: dir.to_owned(),
            mode,
        });
    }
    Ok(())
}

/// A home may be a link, so the owner is that of what it leads to.
fn check_owner(dir: &Path) -> Result<(), PathsError> {
    match std::fs::metadata(dir) {
        Ok(data) => ours(dir, data.uid()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(PathsError::Io {
            path: dir.to_owned(),
            error,
        }),
    }
}

/// Nothing is made inside what belongs to another user, be it that we could, as root can. Where
/// the system's own directories are concerned, making it shows whether we may.
fn check_parent(dir: &Path) -> Result<(), PathsError> {
    let existing = dir
        .ancestors()
        .find_map(|parent| Some((parent, std::fs::metadata(parent).ok()?)));
    match existing {
        Some((parent, data)) if data.uid() != 0 => ours(parent, data.uid()),
        _ => Ok(()),
    }
}

fn ours(path: &Path, owner: u32) -> Result<(), PathsError> {
    let us = rustix::process::geteuid().as_raw();
    if owner == us {
        return Ok(());
    }
    Err(PathsError::NotOurs {
        path: path.to_owned(),
        owner,
        us,
    })
}

/// Whether a shell's own history was taken over before, by the list at [`Paths::imported`].
pub fn was_imported(list: &Path, shell: &str) -> bool {
    std::fs::read_to_string(list).is_ok_and(|text| text.lines().any(|line| line == shell))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_shell_is_known_by_a_line_of_its_own() {
        let directory = tempfile::tempdir().expect("a directory");
        let list = directory.path().join("imported");
        std::fs::write(&list, "zsh\nfish\n").expect("a list");
        assert!(was_imported(&list, "fish"));
        assert!(!was_imported(&list, "bash"));
        std::fs::remove_file(&list).expect("remove the list");
        assert!(!was_imported(&list, "fish"));
    }

    fn paths(root: &Path) -> Paths {
        Paths {
            home: root.to_owned(),
            runtime: root.join("run/t"),
            data: root.join("data"),
            config: root.join("c"),
        }
    }

    #[test]
    fn the_runtime_directory_is_made_private() {
        let root = tempfile::tempdir().expect("tempdir");
        let paths = paths(root.path());
        assert!(matches!(socket_dir(&paths), Err(PathsError::Io { .. })));
        paths.create_runtime().expect("created");
        assert_eq!(
            metadata(&paths.runtime).expect("there").mode() & 0o777,
            0o700
        );
        assert_eq!(socket_dir(&paths).expect("ours"), paths.runtime);
    }

    #[test]
    fn a_runtime_directory_that_others_may_enter_is_refused() {
        let root = tempfile::tempdir().expect("tempdir");
        let paths = paths(root.path());
        paths.create_runtime().expect("created");
        for mode in [0o755, 0o710, 0o707, 0o770] {
            let open = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(&paths.runtime, open).expect("chmod");
            assert!(
                matches!(socket_dir(&paths), Err(PathsError::Open { .. })),
                "{mode:o}"
            );
        }
    }

    #[test]
    fn a_missing_home_is_not_created() {
        let root = tempfile::tempdir().expect("tempdir");
        let home = root.path().join("absent");
        let paths = Paths {
            data: home.join("data"),
            ..paths(&home)
        };
        assert!(paths.create_data().is_err());
        assert!(!home.exists());
    }

    #[test]
    fn a_link_in_place_of_the_runtime_directory_is_refused() {
        let root = tempfile::tempdir().expect("tempdir");
        let paths = paths(root.path());
        std::fs::create_dir_all(root.path().join("run")).expect("parent");
        std::os::unix::fs::symlink(root.path(), &paths.runtime).expect("link");
        assert!(socket_dir(&paths).is_err());
    }

    #[test]
    fn a_socket_that_leads_to_where_others_may_enter_is_none() {
        let root = tempfile::tempdir().expect("tempdir");
        let paths = paths(root.path());
        paths.create_runtime().expect("created");
        paths.create_shared().expect("created");
        let elsewhere = paths.shared_lock().with_file_name("worker.sock");
        std::os::unix::fs::symlink(&elsewhere, paths.socket()).expect("link");
        assert_eq!(socket_dir(&paths).expect("ours"), paths.runtime);
        let open = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(paths.data.join(RUN), open).expect("chmod");
        let refused = socket_dir(&paths).expect_err("open to others");
        assert!(
            matches!(&refused, PathsError::Io { error, .. } if error.kind() == io::ErrorKind::NotFound),
            "{refused}"
        );
    }

    #[test]
    fn nothing_is_made_inside_a_directory_of_another_user() {
        if !rustix::process::geteuid().is_root() {
            eprintln!("skipped: only root can give a directory away");
            return;
        }
        let root = tempfile::tempdir().expect("tempdir");
        let theirs = root.path().join("theirs");
        std::fs::create_dir(&theirs).expect("made");
        std::os::unix::fs::chown(&theirs, Some(12345), None).expect("chown");
        let paths = Paths {
            data: theirs.join("share/tabsense"),
            runtime: theirs.join("share/tabsense/run"),
            ..paths(root.path())
        };
        assert!(matches!(
            paths.create_data(),
            Err(PathsError::NotOurs { owner: 12345, .. })
        ));
        assert!(paths.create_runtime().is_err());
        assert_eq!(std::fs::read_dir(&theirs).expect("there").count(), 0);
    }

    #[test]
    fn a_directory_of_another_user_is_refused() {
        if !rustix::process::geteuid().is_root() {
            eprintln!("skipped: only root can give a directory away");
            return;
        }
        let root = tempfile::tempdir().expect("tempdir");
        let paths = paths(root.path());
        paths.create_runtime().expect("created");
        paths.create_data().expect("created");
        for dir in [&paths.runtime, &paths.data] {
            std::os::unix::fs::chown(dir, Some(12345), None).expect("chown");
        }
        assert!(matches!(
            socket_dir(&paths),
            Err(PathsError::NotOurs { owner: 12345, .. })
        ));
        assert!(matches!(
            paths.create_data(),
            Err(PathsError::NotOurs { owner: 12345, .. })
        ));
    }
}

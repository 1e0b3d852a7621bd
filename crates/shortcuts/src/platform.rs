//! What this machine is and has.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Directories of `PATH` that are looked at.
const DIRECTORIES: usize = 64;

/// The systems that commands are written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum System {
    /// macOS
    Macos,
    /// Linux, and what is like it.
    Linux,
}

/// A desktop, or the protocol under it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is its own name")]
pub enum Desktop {
    Gnome,
    Kde,
    Sway,
    Hyprland,
    Xfce,
    X11,
    Wayland,
}

impl Desktop {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Gnome,
        Self::Kde,
        Self::Sway,
        Self::Hyprland,
        Self::Xfce,
        Self::X11,
        Self::Wayland,
    ];

    /// Its name in the files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gnome => "gnome",
            Self::Kde => "kde",
            Self::Sway => "sway",
            Self::Hyprland => "hyprland",
            Self::Xfce => "xfce",
            Self::X11 => "x11",
            Self::Wayland => "wayland",
        }
    }

    /// The one of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|desktop| desktop.name() == name)
    }
}

/// A machine as one request sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Platform {
    /// The system.
    pub system: System,
    /// What `XDG_CURRENT_DESKTOP` and `XDG_SESSION_TYPE` say.
    pub desktops: Vec<Desktop>,
    /// Where programs are looked for.
    pub path: Vec<PathBuf>,
}

impl Platform {
    /// This system, with the desktop and the `PATH` of whoever asks.
    pub fn new(current_desktop: &str, session_type: &str, path: &[u8]) -> Self {
        let system = match cfg!(target_os = "macos") {
            true => System::Macos,
            false => System::Linux,
        };
        let named = current_desktop
            .split(':')
            .chain([session_type])
            .map(str::to_lowercase)
            .filter_map(|name| match name.as_str() {
                "plasma" => Some(Desktop::Kde),
                // Shells on top of GNOME have its tools.
                "unity" | "ubuntu" | "cinnamon" | "x-cinnamon" | "budgie" => Some(Desktop::Gnome),
                name => Desktop::named(name),
            });
        let path = path
            .split(|byte| *byte == b':')
            .filter(|part| part.starts_with(b"/"))
            .take(DIRECTORIES)
            .map(|part| PathBuf::from(OsStr::from_bytes(part)));
        Self {
            system,
            desktops: named.collect(),
            path: path.collect(),
        }
    }

    /// Whether a desktop is the one in use.
    pub fn shows(&self, desktop: Desktop) -> bool {
        self.desktops.contains(&desktop)
    }

    /// Whether a program can be started.
    pub fn has(&self, program: &str) -> bool {
        let is_program = |path: &Path| {
            use std::os::unix::fs::PermissionsExt;
            path.metadata()
                .is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
        };
        match program.starts_with('/') {
            true => is_program(Path::new(program)),
            false => self
                .path
                .iter()
                .any(|directory| is_program(&directory.join(program))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_desktop_is_what_the_session_says() {
        let platform = Platform::new("ubuntu:GNOME", "wayland", b"");
        assert!(platform.shows(Desktop::Gnome) && platform.shows(Desktop::Wayland));
        assert!(!platform.shows(Desktop::X11));
        assert!(Platform::new("KDE", "x11", b"").shows(Desktop::Kde));
        assert_eq!(Platform::new("", "tty", b"").desktops, []);
    }

    #[test]
    fn a_program_is_an_executable_file_in_an_absolute_directory_of_the_path() {
        let dir = tempfile::tempdir().expect("tempdir");
        let file = dir.path().join("tool");
        std::fs::write(&file, "").expect("written");
        let path = [b".:relative:", dir.path().as_os_str().as_bytes()].concat();
        let platform = Platform::new("", "", &path);
        assert!(!platform.has("tool"));
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).expect("chmod");
        assert!(platform.has("tool"));
        assert!(!platform.has("other"));
        assert_eq!(platform.path.len(), 1);
    }
}

//! The models that come with the program, put where they can be mapped into memory.

use std::io;
use std::path::{Path, PathBuf};

/// A checkpoint in the program.
#[derive(Debug)]
pub(crate) struct Embedded {
    name: &'static str,
    /// Of all its bytes, made when the program was built; tells one checkpoint from another.
    digest: &'static str,
    files: &'static [(&'static str, &'static [u8])],
}

/// The checkpoint in a directory of `models`, with files that not all checkpoints have.
macro_rules! embedded {
    ($name:literal, $digest:expr $(, $more:literal)*) => {
        Embedded {
            name: $name,
            digest: $digest,
            files: embedded!(
                @ $name,
                "model.safetensors",
                "rl_agent_config.json",
                "encoder/config.json",
                "tokenizer/tokenizer.json",
                "tokenizer/tokenizer_config.json"
                $(, $more)*
            ),
        }
    };
    (@ $name:literal, $($file:literal),*) => {
        &[$((
            $file,
            include_bytes!(concat!("../../../../models/", $name, "/", $file)),
        )),*]
    };
}

/// What ranks completions.
pub(crate) const RANKING: Embedded =
    embedded!("builtin", env!("TABSENSE_RANKING_DIGEST"), "expected.json");

/// What decides which shortcut a phrase means.
pub(crate) const SHORTCUTS: Embedded = embedded!("shortcuts", env!("TABSENSE_SHORTCUTS_DIGEST"));

impl Embedded {
    /// Where the checkpoint lies below `data`, once it is unpacked.
    pub(crate) fn place(&self, data: &Path) -> PathBuf {
        let named = format!("{}-{}", self.name, self.digest);
        data.join("models").join(named).join(self.name)
    }

    /// Writes the checkpoint below `data` unless this very one is there, and says where it is.
    ///
    /// The directory appears under its name only when it is whole; those of other releases go.
    pub(crate) fn unpack(&self, data: &Path) -> io::Result<PathBuf> {
        let directory = self.place(data);
        if self.is_whole(&directory) {
            return Ok(directory);
        }
        let models = data.join("models");
        self.remove_all(&models)?;
        let new = models.join(format!("{}-new-{}", self.name, std::process::id()));
        let named = directory.parent().unwrap_or(&models);
        let written = self
            .write_all(&new.join(self.name))
            .and_then(|()| std::fs::rename(&new, named));
        if let Err(error) = written {
            // Half a model on a full disk would be in the way of the history.
            let _ = self.remove_all(&models);
            return Err(error);
        }
        Ok(directory)
    }

    fn write_all(&self, directory: &Path) -> io::Result<()> {
        for (name, bytes) in self.files {
            let file = directory.join(name);
            if let Some(parent) = file.parent() {
                std::fs::create_dir_all(parent)?;
            }
            std::fs::write(&file, bytes)?;
        }
        Ok(())
    }

    /// Removes this checkpoint and those of the same name of other releases.
    fn remove_all(&self, models: &Path) -> io::Result<()> {
        if !models.exists() {
            return Ok(());
        }
        let ours = |name: &std::ffi::OsStr| {
            let name = name.to_string_lossy();
            // Before there were two, the temporary name said nothing about which it was.
            name.starts_with(&format!("{}-", self.name)) || name.starts_with("new-")
        };
        for entry in std::fs::read_dir(models)? {
            let entry = entry?;
            if ours(&entry.file_name()) {
                std::fs::remove_dir_all(entry.path())?;
            }
        }
        Ok(())
    }

    fn is_whole(&self, directory: &Path) -> bool {
        self.files.iter().all(|(name, bytes)| {
            std::fs::metadata(directory.join(name))
                .is_ok_and(|data| data.len() == bytes.len() as u64)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_is_unpacked_once_and_mended_when_cut() {
        let data = tempfile::tempdir().expect("tempdir");
        let directory = RANKING.unpack(data.path()).expect("unpacked");
        let weights = directory.join("model.safetensors");
        let written = std::fs::metadata(&weights)
            .expect("weights")
            .modified()
            .expect("time");
        assert_eq!(RANKING.unpack(data.path()).expect("there"), directory);
        let again = std::fs::metadata(&weights)
            .expect("weights")
            .modified()
            .expect("time");
        assert_eq!(written, again);

        std::fs::write(&weights, b"cut").expect("cut");
        RANKING.unpack(data.path()).expect("mended");
        assert_eq!(
            std::fs::metadata(&weights).expect("weights").len(),
            RANKING.files[0].1.len() as u64
        );
    }

    #[test]
    fn weights_of_the_same_length_are_told_apart_and_unpacked() {
        let small = |digest, weights| Embedded {
            name: "builtin",
            digest,
            files: weights,
        };
        let old = small("1", &[("model.safetensors", b"0001")]);
        let new = small("2", &[("model.safetensors", b"0002")]);
        let data = tempfile::tempdir().expect("tempdir");
        let place = old.unpack(data.path()).expect("unpacked");
        let next = new.unpack(data.path()).expect("unpacked");
        let weights = std::fs::read(next.join("model.safetensors")).expect("there");
        assert_eq!(weights, b"0002");
        assert!(!place.exists());
        assert_ne!(RANKING.digest, SHORTCUTS.digest);
        assert_eq!(RANKING.digest.len(), 16);
    }

    #[test]
    fn models_of_other_releases_go() {
        let data = tempfile::tempdir().expect("tempdir");
        let old = data.path().join("models/builtin-0123");
        let other = data.path().join("models/shortcuts-0123");
        for directory in [&old, &other] {
            std::fs::create_dir_all(directory).expect("old");
        }
        RANKING.unpack(data.path()).expect("unpacked");
        assert!(!old.exists() && other.exists());
    }
}

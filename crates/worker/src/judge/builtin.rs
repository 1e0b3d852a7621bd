//! The models that come with the program, put where they can be mapped into memory.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};

/// A checkpoint in the program.
#[derive(Debug)]
pub(crate) struct Embedded {
    name: &'static str,
    files: &'static [(&'static str, &'static [u8])],
}

/// The checkpoint in a directory of `models`, with files that not all checkpoints have.
macro_rules! embedded {
    ($name:literal $(, $more:literal)*) => {
        Embedded {
            name: $name,
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
pub(crate) const RANKING: Embedded = embedded!("builtin", "expected.json");

/// What decides which shortcut a phrase means.
pub(crate) const SHORTCUTS: Embedded = embedded!("shortcuts");

impl Embedded {
    /// Where the checkpoint lies below `data`, once it is unpacked.
    pub(crate) fn place(&self, data: &Path) -> PathBuf {
        let named = format!("{}-{:016x}", self.name, self.fingerprint());
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

    /// Tells one checkpoint from another.
    fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        for (name, bytes) in self.files {
            (name, bytes.len(), &bytes[..bytes.len().min(4096)]).hash(&mut hasher);
            bytes[bytes.len() / 2..]
                .iter()
                .take(4096)
                .for_each(|byte| byte.hash(&mut hasher));
        }
        hasher.finish()
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

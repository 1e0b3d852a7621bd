//! The model that comes with the program, put where it can be mapped into memory.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};

/// The files of the checkpoint, as they lie in `models/builtin`.
const FILES: [(&str, &[u8]); 5] = [
    (
        "model.safetensors",
        include_bytes!("../../../../models/builtin/model.safetensors"),
    ),
    (
        "rl_agent_config.json",
        include_bytes!("../../../../models/builtin/rl_agent_config.json"),
    ),
    (
        "encoder/config.json",
        include_bytes!("../../../../models/builtin/encoder/config.json"),
    ),
    (
        "tokenizer/tokenizer.json",
        include_bytes!("../../../../models/builtin/tokenizer/tokenizer.json"),
    ),
    (
        "tokenizer/tokenizer_config.json",
        include_bytes!("../../../../models/builtin/tokenizer/tokenizer_config.json"),
    ),
];

/// Writes the checkpoint below `data` unless this very one is there, and says where it is.
///
/// The directory appears under its name only when it is whole; those of other releases go.
pub(super) fn unpack(data: &Path) -> io::Result<PathBuf> {
    let models = data.join("models");
    let directory = models
        .join(format!("builtin-{:016x}", fingerprint()))
        .join("builtin");
    if is_whole(&directory) {
        return Ok(directory);
    }
    if models.exists() {
        std::fs::remove_dir_all(&models)?;
    }
    let new = models.join(format!("new-{}", std::process::id()));
    let named = directory.parent().unwrap_or(&models);
    let written = write_all(&new.join("builtin")).and_then(|()| std::fs::rename(&new, named));
    if let Err(error) = written {
        // Half a model on a full disk would be in the way of the history.
        let _ = std::fs::remove_dir_all(&models);
        return Err(error);
    }
    Ok(directory)
}

fn write_all(directory: &Path) -> io::Result<()> {
    for (name, bytes) in FILES {
        let file = directory.join(name);
        if let Some(parent) = file.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(&file, bytes)?;
    }
    Ok(())
}

fn is_whole(directory: &Path) -> bool {
    FILES.iter().all(|(name, bytes)| {
        std::fs::metadata(directory.join(name)).is_ok_and(|data| data.len() == bytes.len() as u64)
    })
}

/// Tells one checkpoint from another.
fn fingerprint() -> u64 {
    let mut hasher = DefaultHasher::new();
    for (name, bytes) in FILES {
        (name, bytes.len(), &bytes[..bytes.len().min(4096)]).hash(&mut hasher);
        bytes[bytes.len() / 2..]
            .iter()
            .take(4096)
            .for_each(|byte| byte.hash(&mut hasher));
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_is_unpacked_once_and_mended_when_cut() {
        let data = tempfile::tempdir().expect("tempdir");
        let directory = unpack(data.path()).expect("unpacked");
        let weights = directory.join("model.safetensors");
        let written = std::fs::metadata(&weights)
            .expect("weights")
            .modified()
            .expect("time");
        assert_eq!(unpack(data.path()).expect("there"), directory);
        let again = std::fs::metadata(&weights)
            .expect("weights")
            .modified()
            .expect("time");
        assert_eq!(written, again);

        std::fs::write(&weights, b"cut").expect("cut");
        unpack(data.path()).expect("mended");
        assert_eq!(
            std::fs::metadata(&weights).expect("weights").len(),
            FILES[0].1.len() as u64
        );
    }

    #[test]
    fn models_of_other_releases_go() {
        let data = tempfile::tempdir().expect("tempdir");
        let old = data.path().join("models/builtin-0123");
        std::fs::create_dir_all(&old).expect("old");
        unpack(data.path()).expect("unpacked");
        assert!(!old.exists());
    }
}

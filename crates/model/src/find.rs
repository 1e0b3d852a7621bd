//! Where checkpoints may lie on this machine. Nothing is ever downloaded.

use std::path::{Path, PathBuf};

/// Files without which a directory is no checkpoint.
const NEEDED: [&str; 5] = [
    "model.safetensors",
    "rl_agent_config.json",
    "encoder/config.json",
    "tokenizer/tokenizer.json",
    "tokenizer/tokenizer_config.json",
];

/// Whether a directory has all files of a checkpoint.
pub fn is_checkpoint(directory: &Path) -> bool {
    NEEDED.iter().all(|file| directory.join(file).is_file())
}

/// Directories of the Hugging Face cache, by the variables that move it.
///
/// See <https://huggingface.co/docs/huggingface_hub/guides/manage-cache>.
pub fn hub_cache(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    let set = |name: &str| variable(name).filter(|path| !path.as_os_str().is_empty());
    set("HF_HUB_CACHE")
        .or_else(|| set("HF_HOME").map(|home| home.join("hub")))
        .or_else(|| set("XDG_CACHE_HOME").map(|cache| cache.join("huggingface/hub")))
        .or_else(|| set("HOME").map(|home| home.join(".cache/huggingface/hub")))
}

/// All checkpoints in a Hugging Face cache: repositories' main snapshots, and folders in them.
pub fn in_hub_cache(cache: &Path) -> Vec<(String, PathBuf)> {
    let mut found = Vec::new();
    for repository in children(cache) {
        let name = repository
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let Some(name) = name
            .strip_prefix("models--")
            .map(|name| name.replace("--", "/"))
        else {
            continue;
        };
        let Ok(commit) = std::fs::read_to_string(repository.join("refs/main")) else {
            continue;
        };
        let snapshot = repository.join("snapshots").join(commit.trim());
        if is_checkpoint(&snapshot) {
            found.push((name.clone(), snapshot.clone()));
        }
        for folder in children(&snapshot)
            .into_iter()
            .filter(|folder| is_checkpoint(folder))
        {
            let part = folder
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            found.push((format!("{name}/{part}"), folder));
        }
    }
    found.sort();
    found
}

fn children(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten();
    entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checkpoint(directory: &Path) {
        for file in NEEDED {
            let file = directory.join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, "").unwrap();
        }
    }

    #[test]
    fn snapshots_of_the_hub_cache_are_found() {
        let cache = tempfile::tempdir().unwrap();
        let repository = cache.path().join("models--org--laya");
        std::fs::create_dir_all(repository.join("refs")).unwrap();
        std::fs::write(repository.join("refs/main"), "abc\n").unwrap();
        let snapshot = repository.join("snapshots/abc");
        checkpoint(&snapshot);
        checkpoint(&snapshot.join("small"));
        std::fs::create_dir_all(snapshot.join("encoder")).unwrap();
        std::fs::create_dir_all(cache.path().join("datasets--org--x")).unwrap();
        let names: Vec<String> = in_hub_cache(cache.path())
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        assert_eq!(names, ["org/laya", "org/laya/small"]);
        std::fs::remove_file(snapshot.join("small/model.safetensors")).unwrap();
        assert_eq!(in_hub_cache(cache.path()).len(), 1);
    }

    #[test]
    fn the_nearest_variable_names_the_cache() {
        let with = |known: &'static [(&str, &str)]| {
            hub_cache(|name| {
                known
                    .iter()
                    .find(|(n, _)| *n == name)
                    .map(|(_, path)| PathBuf::from(path))
            })
        };
        assert_eq!(
            with(&[("HF_HUB_CACHE", "/c"), ("HF_HOME", "/h")]),
            Some("/c".into())
        );
        assert_eq!(
            with(&[("HF_HOME", "/h"), ("HOME", "/u")]),
            Some("/h/hub".into())
        );
        assert_eq!(
            with(&[("HOME", "/u")]),
            Some("/u/.cache/huggingface/hub".into())
        );
        assert_eq!(with(&[]), None);
    }
}

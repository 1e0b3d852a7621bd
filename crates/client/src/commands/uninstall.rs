//! `tabsense uninstall`: takes out what init, import and the worker put on this machine.

use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use tabsense_config::{Holder, Paths, is_private};

use super::history::confirm;
use super::{Outcome, print, worker};
use crate::failure::Failure;

/// Where the shells' rc files lie.
pub(super) fn rc_files(home: &Path) -> Vec<PathBuf> {
    let variable = |name| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|p| p.is_absolute())
    };
    let zsh = variable("ZDOTDIR").unwrap_or_else(|| home.to_owned());
    let fish = variable("XDG_CONFIG_HOME")
        .unwrap_or_else(|| home.join(".config"))
        .join("fish");
    let mut files = vec![
        zsh.join(".zshrc"),
        home.join(".bashrc"),
        home.join(".bash_profile"),
        home.join(".profile"),
        fish.join("config.fish"),
    ];
    let parts = std::fs::read_dir(fish.join("conf.d"));
    let mut parts: Vec<PathBuf> = parts
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "fish")
        })
        .collect();
    parts.sort();
    files.extend(parts);
    files
}

pub(super) fn run(purge: bool, yes: bool) -> Outcome {
    let paths = Paths::from_env()?;
    let (mut cleaned, mut left) = (false, Vec::new());
    for file in rc_files(&paths.home) {
        cleaned |= clean_rc(&file, yes, &mut left)?;
    }
    let lock = paths.shared_lock();
    let elsewhere = Holder::read(&lock);
    worker::stop(&paths)?;
    remove_directory(&paths.runtime)?;
    lock.parent().map_or(Ok(()), remove_directory)?;
    if let Some(worker) = elsewhere {
        remove_runtime(worker.socket())?;
    }
    remove_data(&paths, purge, yes)?;
    if cleaned {
        print("shells that are open still have it, and start its worker again: close them\n")?;
    }
    if left.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    print(left.concat())?;
    Ok(ExitCode::FAILURE)
}

/// Removes what a worker left in another shell's runtime directory, and that when nothing else is there.
fn remove_runtime(socket: &Path) -> Result<(), Failure> {
    let Some(dir) = socket.parent().filter(|dir| is_private(dir)) else {
        return Ok(());
    };
    for name in ["worker.sock", "worker.lock"] {
        remove_file(&dir.join(name))?;
    }
    let _ = std::fs::remove_dir(dir);
    Ok(())
}

/// What one line of an rc file has to do with us.
#[derive(Debug, PartialEq, Eq)]
enum Line {
    Ours,
    Mentions,
    Other,
}

fn classify(line: &[u8]) -> Line {
    let text = String::from_utf8_lossy(line);
    let text = text.trim();
    if !text.contains("tabsense init") || text.starts_with('#') {
        return Line::Other;
    }
    let program = |rest: &str| {
        let mut words = rest.split_whitespace();
        let first = words.next().is_some_and(|word| {
            let word = word.trim_matches(['"', '\'']);
            word == "tabsense" || word.ends_with("/tabsense")
        });
        first && words.next() == Some("init") && words.count() == 1
    };
    let inner = [("eval \"$(", ")\""), ("source <(", ")"), ("", "| source")]
        .iter()
        .find_map(|(start, end)| text.strip_prefix(start)?.strip_suffix(end));
    if inner.is_some_and(program) {
        Line::Ours
    } else {
        Line::Mentions
    }
}

/// The file without our lines, every other byte as it was; and the lines that only the user can
/// judge.
fn without_our_lines(text: &[u8]) -> (Vec<u8>, Vec<String>) {
    let mut kept = Vec::with_capacity(text.len());
    let mut unclear = Vec::new();
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        match classify(line) {
            Line::Ours => continue,
            Line::Mentions => unclear.push(String::from_utf8_lossy(line).trim().to_owned()),
            Line::Other => {}
        }
        kept.extend_from_slice(line);
    }
    (kept, unclear)
}

/// Takes our lines out of a file; whether there were any.
fn clean_rc(file: &Path, yes: bool, left: &mut Vec<String>) -> Result<bool, Failure> {
    let text = match std::fs::read(file) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        Err(error) => {
            left.push(format!("{}: not looked at: {error}\n", file.display()));
            return Ok(false);
        }
    };
    let (kept, unclear) = without_our_lines(&text);
    let name = file.display();
    for line in unclear {
        left.push(format!("{name}: please take out by hand: {line}\n"));
    }
    if kept == text {
        return Ok(false);
    }
    // A link stays a link: what it leads to is changed, and the question says where that is.
    let target = file.canonicalize()?;
    if !yes
        && !confirm(&format!(
            "take tabsense's line out of {}?",
            target.display()
        ))?
    {
        left.push(format!("{name}: left as it is\n"));
        return Ok(false);
    }
    match write_atomically(&target, &kept) {
        Ok(()) => {
            print(format!("{name}: taken out\n"))?;
            Ok(true)
        }
        Err(error) => {
            let by_hand = |line| format!("{name}: {error}; please take out by hand: {line}\n");
            left.extend(ours(&text).into_iter().map(by_hand));
            Ok(false)
        }
    }
}

/// The lines that are ours, as they stand there.
fn ours(text: &[u8]) -> Vec<String> {
    text.split(|&byte| byte == b'\n')
        .filter(|line| classify(line) == Line::Ours)
        .map(|line| String::from_utf8_lossy(line).trim().to_owned())
        .collect()
}

/// Writes beside the file and renames, so that a full disk leaves the old one.
fn write_atomically(file: &Path, text: &[u8]) -> std::io::Result<()> {
    let permissions = std::fs::metadata(file)?.permissions();
    if permissions.readonly() {
        return Err(ErrorKind::PermissionDenied.into());
    }
    let mut name = file.as_os_str().to_owned();
    name.push(".tabsense-new");
    let new = PathBuf::from(name);
    let mut out = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        // What others may read of it is for the old file to say.
        .mode(0o600)
        .open(&new)?;
    let written = (|| {
        out.write_all(text)?;
        out.set_permissions(permissions)?;
        out.sync_all()?;
        std::fs::rename(&new, file)
    })();
    if written.is_err() {
        let _ = std::fs::remove_file(&new);
    }
    written
}

fn remove_data(paths: &Paths, purge: bool, yes: bool) -> Result<(), Failure> {
    let mut old_log = paths.log().into_os_string();
    old_log.push(".1");
    for file in [paths.log(), old_log.into(), paths.paused()] {
        remove_file(&file)?;
    }
    remove_models(&paths.data.join("models"))?;
    if !holds_history(&paths.data) {
        remove_file(&paths.imported())?;
        let _ = std::fs::remove_dir(&paths.data);
        return Ok(());
    }
    let data = paths.data.display();
    let question = format!("delete the recorded history in {data}?");
    if !purge || (!yes && !confirm(&question)?) {
        return print(format!(
            "the history in {data} is kept; `--purge` deletes it\n"
        ));
    }
    remove_directory(&paths.data)
}

/// Removes the built-in models that the worker unpacked; others in their directory stay.
fn remove_models(models: &Path) -> Result<(), Failure> {
    let entries = std::fs::read_dir(models);
    for entry in entries.into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with("builtin-") || name.starts_with("shortcuts-") {
            remove_directory(&entry.path())?;
        }
    }
    // Fails where there are others.
    let _ = std::fs::remove_dir(models);
    Ok(())
}

/// Also a damaged one that was kept aside counts.
fn holds_history(data: &Path) -> bool {
    let entries = std::fs::read_dir(data);
    entries
        .into_iter()
        .flatten()
        .flatten()
        .any(|entry| entry.file_name().as_encoded_bytes().starts_with(b"history"))
}

fn remove_file(file: &Path) -> Result<(), Failure> {
    match std::fs::remove_file(file) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(Failure::new(format!("{}: {error}", file.display())))
        }
        _ => Ok(()),
    }
}

fn remove_directory(dir: &Path) -> Result<(), Failure> {
    match std::fs::remove_dir_all(dir) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(Failure::new(format!("{}: {error}", dir.display())))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_that_the_readme_gives_are_ours() {
        for line in [
            "eval \"$(tabsense init zsh)\"\n",
            "  eval \"$(/opt/x/tabsense init bash)\"",
            "source <(tabsense init zsh)\r\n",
            "tabsense init fish | source\n",
        ] {
            assert_eq!(classify(line.as_bytes()), Line::Ours, "{line}");
        }
    }

    #[test]
    fn other_lines_that_name_us_are_left_to_the_user() {
        for line in [
            "[ -x ~/bin/tabsense ] && eval \"$(tabsense init zsh)\"",
            "eval \"$(tabsense init zsh; starship init zsh)\"",
            "if true; tabsense init fish | source; end",
        ] {
            assert_eq!(classify(line.as_bytes()), Line::Mentions, "{line}");
        }
        assert_eq!(classify(b"# eval \"$(tabsense init zsh)\""), Line::Other);
    }

    #[test]
    fn every_other_byte_of_the_file_stays() {
        let text = b"a\r\n\xff\neval \"$(tabsense init bash)\"\nlast without newline";
        let (kept, unclear) = without_our_lines(text);
        assert_eq!(kept, b"a\r\n\xff\nlast without newline");
        assert!(unclear.is_empty());
    }
}

//! Files and directories, as much of them as is good for anybody.

use std::io::Read;
use std::path::Path;

/// Bytes of a file that are read; a larger one is left out.
const LARGEST: u64 = 1 << 20;

/// Names of a directory that are read.
const NAMES: usize = 5000;

/// The text of a regular file, unless it is too large or no UTF-8.
pub fn text(file: &Path) -> Option<String> {
    // Opening a FIFO would wait for somebody who writes; a device would never end.
    let data = std::fs::metadata(file).ok()?;
    if !data.is_file() || data.len() > LARGEST {
        return None;
    }
    let opened = std::fs::File::open(file).ok()?;
    let mut text = String::new();
    opened.take(LARGEST).read_to_string(&mut text).ok()?;
    Some(text)
}

/// The names in a directory that are UTF-8, in no order.
pub fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).into_iter().flatten();
    entries
        .take(NAMES)
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_too_large_or_no_text_is_left_out() {
        let dir = tempfile::tempdir().expect("tempdir");
        let file = dir.path().join("f");
        std::fs::write(&file, "text").expect("written");
        assert_eq!(text(&file).as_deref(), Some("text"));
        std::fs::write(&file, b"\xff").expect("written");
        assert_eq!(text(&file), None);
        let large = std::fs::File::create(&file).expect("made");
        large.set_len(LARGEST + 1).expect("grown");
        assert_eq!(text(&file), None);
        assert_eq!(text(dir.path()), None);
        let fifo = dir.path().join("fifo");
        let made = std::process::Command::new("mkfifo").arg(&fifo).status();
        assert!(made.expect("mkfifo").success());
        assert_eq!(text(&fifo), None, "and nobody waits");
        std::fs::remove_file(&fifo).expect("removed");
        assert_eq!(names(dir.path()), ["f"]);
    }
}

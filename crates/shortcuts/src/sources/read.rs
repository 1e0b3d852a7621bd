//! Files and directories, as much of them as is good for anybody.

use std::io::Read;
use std::path::Path;

/// Bytes of a file that are read; a larger one is left out.
const LARGEST: u64 = 1 << 20;

/// Names of a directory that are read.
const NAMES: usize = 5000;

/// The text of a regular file, unless it is too large or no UTF-8.
pub fn text(file: &Path) -> Option<String> {
    let opened = std::fs::File::open(file).ok()?;
    // A FIFO or a device would never end.
    let data = opened.metadata().ok().filter(std::fs::Metadata::is_file)?;
    if data.len() > LARGEST {
        return None;
    }
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
        assert_eq!(names(dir.path()), ["f"]);
    }
}

//! Vectors in a file: `TSV1`, numbers of a vector (u32), then a text's hash (u64) and its numbers
//! (f32) for each; all little-endian. A file that is not whole is not there.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;

use super::set::Vector;

const MAGIC: &[u8; 4] = b"TSV1";

/// Larger than all that is ever written.
const LARGEST: u64 = 256 << 20;

/// FNV-1a with 64 bits (<http://www.isthe.com/chongo/tech/comp/fnv/>): the same in every release.
pub(super) fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The vectors in a file; none if it cannot be read.
pub(super) fn read(file: &Path) -> HashMap<u64, Vector> {
    let size = std::fs::metadata(file).map_or(0, |data| data.len());
    if size == 0 || size > LARGEST {
        return HashMap::new();
    }
    let bytes = std::fs::read(file).unwrap_or_default();
    parse(&bytes).unwrap_or_default()
}

fn parse(bytes: &[u8]) -> Option<HashMap<u64, Vector>> {
    let rest = bytes.strip_prefix(MAGIC)?;
    let (head, rows) = rest.split_first_chunk::<4>()?;
    let width = usize::try_from(u32::from_le_bytes(*head)).ok()?;
    let row = width.checked_mul(4)?.checked_add(8)?;
    if width == 0 || rows.len() % row != 0 {
        return None;
    }
    let vectors = rows.chunks_exact(row).filter_map(|row| {
        let (hash, numbers) = row.split_first_chunk::<8>()?;
        let numbers = numbers
            .as_chunks::<4>()
            .0
            .iter()
            .map(|number| f32::from_le_bytes(*number));
        Some((u64::from_le_bytes(*hash), numbers.collect()))
    });
    Some(vectors.collect())
}

/// Writes vectors; the file appears under its name when it is whole.
pub(super) fn write(file: &Path, vectors: &[(u64, Vector)]) -> io::Result<()> {
    let width = vectors.first().map_or(0, |(_, vector)| vector.len());
    let mut bytes = Vec::with_capacity(8 + vectors.len() * (8 + 4 * width));
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&u32::try_from(width).unwrap_or(0).to_le_bytes());
    for (hash, vector) in vectors {
        bytes.extend_from_slice(&hash.to_le_bytes());
        bytes.extend(vector.iter().flat_map(|number| number.to_le_bytes()));
    }
    let new = file.with_extension(format!("new-{}", std::process::id()));
    let written = std::fs::File::create(&new)
        .and_then(|mut opened| opened.write_all(&bytes))
        .and_then(|()| std::fs::rename(&new, file));
    if written.is_err() {
        let _ = std::fs::remove_file(&new);
    }
    written
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    /// As [`read`] gives them.
    fn pairs(vectors: &[(u64, Vector)]) -> HashMap<u64, Vector> {
        let pair = |(hash, vector): &(u64, Vector)| (*hash, Arc::clone(vector));
        vectors.iter().map(pair).collect()
    }

    #[test]
    fn vectors_are_read_as_they_were_written_and_never_in_part() {
        let dir = tempfile::tempdir().expect("tempdir");
        let file = dir.path().join("vectors");
        let vectors: Vec<(u64, Vector)> = vec![
            (hash("a"), Arc::from([1.0, -2.5])),
            (hash("窗口"), Arc::from([0.0, f32::MIN_POSITIVE])),
        ];
        write(&file, &vectors).expect("written");
        assert_eq!(read(&file), pairs(&vectors));
        assert_eq!(std::fs::read_dir(dir.path()).expect("there").count(), 1);
        let whole = std::fs::read(&file).expect("there");
        for end in [0, 3, 8, 9, whole.len() - 1] {
            std::fs::write(&file, &whole[..end]).expect("cut");
            assert_eq!(read(&file), HashMap::new(), "{end}");
        }
        assert_eq!(read(dir.path()), HashMap::new());
    }
}

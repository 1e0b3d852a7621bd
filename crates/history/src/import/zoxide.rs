//! zoxide's `db.zo` (`src/db/mod.rs` in zoxide 0.9): bincode 1, little endian, fixed integers:
//! u32 version 3, u64 number of directories, and for each u64 length, path, f64 rank, u64 last
//! visit in seconds.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::{Error, Visited};

const VERSION: u32 = 3;

/// Largest file read, as in zoxide itself.
const MAX_BYTES: u64 = 32 << 20;

/// Directories in the order of the file; those with an impossible rank are left out.
///
/// # Errors
/// [`Error::Io`] when it cannot be read, [`Error::Format`] when it is not of version 3 or cut.
pub fn read(path: &Path) -> Result<Vec<Visited>, Error> {
    let fail = |source| Error::io(path, source);
    let file = File::open(path).map_err(fail)?;
    let mut bytes = Vec::new();
    file.take(MAX_BYTES).read_to_end(&mut bytes).map_err(fail)?;
    parse(&bytes).map_err(|reason| Error::Format {
        path: path.to_owned(),
        format: "zoxide",
        reason,
    })
}

fn parse(bytes: &[u8]) -> Result<Vec<Visited>, String> {
    let mut rest = bytes;
    let version = u32::from_le_bytes(array(&mut rest)?);
    if version != VERSION {
        return Err(format!("version {version}, not {VERSION}"));
    }
    let count = u64::from_le_bytes(array(&mut rest)?);
    let mut directories = Vec::new();
    for _ in 0..count {
        let length = u64::from_le_bytes(array(&mut rest)?);
        let path = usize::try_from(length)
            .ok()
            .and_then(|length| rest.split_off(..length))
            .ok_or_else(|| format!("cut in a path of {length} bytes"))?;
        let rank = f64::from_le_bytes(array(&mut rest)?);
        let last = u64::from_le_bytes(array(&mut rest)?);
        if rank.is_finite() && rank >= 0.0 && path.starts_with(b"/") {
            let last_s = i64::try_from(last).unwrap_or(0);
            directories.push(Visited {
                path: path.to_vec(),
                rank,
                last_s,
            });
        }
    }
    Ok(directories)
}

fn array<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N], String> {
    let (head, tail) = rest.split_first_chunk().ok_or("cut in a number")?;
    *rest = tail;
    Ok(*head)
}

//! Which mount a path lies on and whether it is a network file system, read
//! from `/proc/self/mountinfo` (see proc_pid_mountinfo(5)). Reading that table
//! touches no mount. Elsewhere than on Linux every path counts as local.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The table is read again when it is older than this.
const FRESH: Duration = Duration::from_secs(5);

/// File systems whose calls may wait for another machine or a user's process.
const NETWORK: &[&str] = &[
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "smbfs",
    "9p",
    "afs",
    "autofs",
    "ceph",
    "coda",
    "davfs",
    "glusterfs",
    "gfs2",
    "lustre",
    "ocfs2",
    "orangefs",
    "beegfs",
    "virtiofs",
    "vboxsf",
];

#[derive(Debug)]
pub(crate) struct Mount {
    pub root: PathBuf,
    pub network: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Mounts {
    table: Vec<Mount>,
    read: Option<Instant>,
}

impl Mounts {
    /// The mount with the longest root that `path` starts with.
    pub(crate) fn find(&mut self, path: &Path) -> Option<&Mount> {
        if self.read.is_none_or(|read| read.elapsed() > FRESH) {
            let text = std::fs::read("/proc/self/mountinfo").unwrap_or_default();
            self.table = parse(&text);
            self.read = Some(Instant::now());
        }
        self.table
            .iter()
            .filter(|mount| path.starts_with(&mount.root))
            .max_by_key(|mount| mount.root.as_os_str().len())
    }
}

fn parse(text: &[u8]) -> Vec<Mount> {
    text.split(|byte| *byte == b'\n')
        .filter_map(parse_line)
        .collect()
}

/// `36 35 98:0 /root /mount/point options [optional…] - type source options`
fn parse_line(line: &[u8]) -> Option<Mount> {
    let mut fields = line.split(|byte| *byte == b' ');
    let root = unescape(fields.nth(4)?);
    let kind = fields.skip_while(|field| *field != b"-").nth(1)?;
    let kind = std::str::from_utf8(kind).ok()?;
    let network = NETWORK.contains(&kind) || kind == "fuse" || kind.starts_with("fuse.");
    Some(Mount {
        root: PathBuf::from(OsString::from_vec(root)),
        network,
    })
}

/// Blanks and backslashes are written as three octal digits.
fn unescape(field: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(field.len());
    let mut rest = field;
    while let [first, tail @ ..] = rest {
        let code = tail
            .get(..3)
            .filter(|code| *first == b'\\' && code.iter().all(u8::is_ascii_digit));
        let Some(code) = code else {
            out.push(*first);
            rest = tail;
            continue;
        };
        let value = code
            .iter()
            .fold(0_u32, |value, digit| value * 8 + u32::from(digit - b'0'));
        out.push(value.to_le_bytes()[0]);
        rest = &tail[3..];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_network_types_and_escaped_blanks() {
        let table = parse(
            b"22 1 0:20 / / rw - ext4 /dev/vda rw\n\
              36 22 0:50 / /mnt/my\\040share rw shared:1 master:2 - nfs4 host:/x rw\n\
              37 22 0:51 / /home/u/remote rw - fuse.sshfs u@h: rw\n",
        );
        assert_eq!(table.len(), 3);
        assert!(!table[0].network);
        assert_eq!(table[1].root, Path::new("/mnt/my share"));
        assert!(table[1].network && table[2].network);
    }
}

//! A scripted client: records what the shell script sends and answers as the test says.
//!
//! It is bash, which the tests need anyway and which reads NUL-terminated records of any bytes.

use super::{Home, eventually};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// How the scripted client answers `complete --hook`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fake {
    /// The candidates in reverse order.
    Reverse,
    /// The candidates as they came.
    Same,
    /// Reverse order, then a directory of the engine's own, `~/elsewhere/`.
    Added,
    /// Reverse order, and the first is sure.
    Sure,
    /// The order of the shell, and the first is sure.
    SureSame,
    /// Two directories of the engine's own, of which the first, `~/elsewhere/`, is sure.
    SureOwn,
    /// Status 3: the shell's own completion.
    Native,
    /// Status 1 and half an answer.
    Fail,
    /// Bytes that are no answer.
    Garbage,
    /// An answer without its end record.
    Truncated,
    /// An answer that names a candidate twice and one that was never sent.
    Wrong,
    /// Nothing at all, with status 0.
    Silent,
}

impl Fake {
    /// All ways of answering that a script must treat as "use native".
    pub(crate) const BAD: [Self; 6] = [
        Self::Native,
        Self::Fail,
        Self::Garbage,
        Self::Truncated,
        Self::Wrong,
        Self::Silent,
    ];

    fn word(self) -> &'static str {
        match self {
            Self::Reverse => "reverse",
            Self::Same => "same",
            Self::Added => "added",
            Self::Sure => "sure",
            Self::SureSame => "sure-same",
            Self::SureOwn => "sure-own",
            Self::Native => "native",
            Self::Fail => "fail",
            Self::Garbage => "garbage",
            Self::Truncated => "truncated",
            Self::Wrong => "wrong",
            Self::Silent => "silent",
        }
    }
}

const SCRIPT: &str = r#"#!/usr/bin/env bash
LC_ALL=C
root='@ROOT@'
if [[ $1 == init ]]; then
  # What the script reads when it is needed first: `init SHELL --part NAME`.
  printf '# tabsense %s \n' "$4"
  cat "@SHELL@/tabsense-$4"*".$2"
  exit
fi
mode=$(<"$root/fake-mode")
records=$root/calls/.$$
cat > "$records"
mv "$records" "$root/calls/${EPOCHREALTIME/./}.$$.$1"
if [[ $1 == do ]]; then
  cat "$root/do-answer"
  exit "$(<"$root/do-status")"
fi
[[ $1 == complete ]] || exit 0
count=0 state=header pairs=0
while IFS= read -r -d '' record; do
  if [[ $state == header ]]; then
    [[ $record == pairs=1 ]] && pairs=1
    [[ -z $record ]] && state=candidates
    continue
  fi
  count=$((count + 1))
done < "$root"/calls/*."$$.$1"
[[ $pairs == 1 ]] && count=$((count / 2))
down() { for ((i = count - 1; i >= 0; i--)); do printf '=%d\0' "$i"; done; }
up() { for ((i = 0; i < count; i++)); do printf '=%d\0' "$i"; done; }
case $mode in
  reverse) printf 'v1\0'; down; printf '.\0' ;;
  same) printf 'v1\0'; up; printf '.\0' ;;
  added) printf 'v1\0'; down; printf '+d\t~/elsewhere/\0?from history\0.\0' ;;
  sure) printf 'v1\0!sure\0'; down; printf '.\0' ;;
  sure-same) printf 'v1\0!sure\0'; up; printf '.\0' ;;
  sure-own) printf 'v1\0!sure\0'; down; printf '+d\t~/elsewhere/\0?from history\0+d\t~/elsewhat/\0.\0' ;;
  native) exit 3 ;;
  fail) printf 'v1\0'; down; exit 1 ;;
  garbage) printf '\377\376%s\n\0\0' "$(seq 1 2000)" ;;
  truncated) printf 'v1\0'; down ;;
  wrong) printf 'v1\0=0\0=0\0=%d\0.\0' "$count" ;;
  silent) ;;
esac
"#;

pub(super) fn script(root: &Path) -> String {
    SCRIPT
        .replace("@ROOT@", &root.display().to_string())
        .replace("@SHELL@", concat!(env!("CARGO_MANIFEST_DIR"), "/shell"))
}

/// What the script sent in one call.
#[derive(Clone, Debug, Default)]
pub(crate) struct Request {
    /// The `key=value` records.
    pub(crate) header: BTreeMap<String, Vec<u8>>,
    /// The records after the empty one (text and description in turn when `pairs` is 1).
    pub(crate) records: Vec<Vec<u8>>,
}

impl Request {
    fn parse(bytes: &[u8]) -> Self {
        let mut request = Self::default();
        // What no NUL ends is no record: zsh puts a line break after all it sends.
        let pieces = bytes.split_inclusive(|&byte| byte == 0);
        let mut records = pieces.filter_map(|record| record.strip_suffix(&[0]));
        for record in records.by_ref().take_while(|record| !record.is_empty()) {
            let equals = record
                .iter()
                .position(|&byte| byte == b'=')
                .expect("key=value");
            let key = String::from_utf8_lossy(&record[..equals]).into_owned();
            request.header.insert(key, record[equals + 1..].to_vec());
        }
        request.records = records.map(<[u8]>::to_vec).collect();
        request
    }

    /// A header value as text; empty when the key was not sent.
    pub(crate) fn get(&self, key: &str) -> String {
        String::from_utf8_lossy(self.header.get(key).map_or(&[], Vec::as_slice)).into_owned()
    }

    /// The candidates' texts.
    pub(crate) fn candidates(&self) -> Vec<String> {
        let step = if self.get("pairs") == "1" { 2 } else { 1 };
        self.records
            .iter()
            .step_by(step)
            .map(|record| String::from_utf8_lossy(record).into_owned())
            .collect()
    }

    /// The candidates' descriptions (`pairs` is 1).
    pub(crate) fn descriptions(&self) -> Vec<String> {
        self.records
            .iter()
            .skip(1)
            .step_by(2)
            .map(|record| String::from_utf8_lossy(record).into_owned())
            .collect()
    }
}

impl Home {
    /// Says how the scripted client answers from now on.
    pub(crate) fn answer(&self, fake: Fake) {
        fs::write(self.root().join("fake-mode"), fake.word()).expect("write the mode");
    }

    /// Says what the scripted client answers to `do --hook`: its status and the records between the
    /// first and the last one.
    pub(crate) fn meaning(&self, status: u8, records: &[&str]) {
        let whole = [&["v1"], records, &["."]].concat();
        let text: String = whole.iter().map(|record| format!("{record}\0")).collect();
        fs::write(self.root().join("do-answer"), text).expect("write the answer");
        fs::write(self.root().join("do-status"), status.to_string()).expect("write the status");
    }

    /// Has the scripted client answer every phrase with one command that has a place left open.
    pub(crate) fn means_disk_usage(&self) {
        self.meaning(
            0,
            &[
                "line=du -sh <&path> | sort -h",
                "cursor=7",
                "select=7",
                "id=disk_usage",
                "risk=read",
                "probability=0.93",
            ],
        );
    }

    /// What the scripted client was sent so far by `tabsense VERB`, in order.
    pub(crate) fn requests(&self, verb: &str) -> Vec<Request> {
        let calls = fs::read_dir(self.root().join("calls")).expect("the calls");
        let mut names: Vec<_> = calls.flatten().map(|call| call.path()).collect();
        names.retain(|path| path.extension().is_some_and(|kind| kind == verb));
        names.sort();
        names
            .iter()
            .map(|path| Request::parse(&fs::read(path).expect("a call")))
            .collect()
    }

    /// Waits until a call of `tabsense VERB` satisfies `ready` and gives it.
    #[track_caller]
    pub(crate) fn wait_request(
        &self,
        verb: &str,
        what: &str,
        mut ready: impl FnMut(&Request) -> bool,
    ) -> Request {
        eventually(what, || {
            self.requests(verb)
                .into_iter()
                .find(|request| ready(request))
        })
    }
}

//! Lines that were never typed: the previous command's words put into a known pattern.
//!
//! After `vim a.c`, `git add a.c` and now `vim b.c`, the line `git add b.c` is likely though it
//! was never typed. Patterns are read off the history each time; a few stock ones are built in.

use std::collections::HashMap;

use super::evidence::Evidence;
use crate::candidate::Context;
use crate::index::Index;
use crate::index::intern::NONE;
use crate::index::log::Chain;
use crate::shell::{self, Word};

const ROWS: usize = 160;
const MOST: usize = 24;
const HALF_LIFE: f32 = 30.0;

/// A line made from a pattern.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Generated {
    pub(crate) text: Vec<u8>,
    /// Share of the earlier uses of the pattern's first command that were followed like this.
    pub(crate) template: f32,
    /// Whether a stock pattern gives it.
    pub(crate) stock: bool,
}

/// Lines that follow from the previous command by a pattern, likeliest first.
pub(crate) fn lines(index: &Index, context: &Context<'_>, evidence: &Evidence) -> Vec<Generated> {
    let Some(last) = context.recent.last() else {
        return Vec::new();
    };
    let last = last.command.trim_ascii();
    let previous = shell::words(last);
    let mut found: HashMap<Vec<u8>, f32> = HashMap::new();
    let total = learned(index, evidence, last, &previous, &mut found);
    let mut lines: Vec<Generated> = found
        .into_iter()
        .map(|(text, weight)| Generated {
            text,
            template: weight / (total + 1.0),
            stock: false,
        })
        .collect();
    if let Some(text) = stock(&previous) {
        match lines.iter_mut().find(|l| l.text == text) {
            Some(line) => line.stock = true,
            None => lines.push(Generated {
                text,
                template: 0.0,
                stock: true,
            }),
        }
    }
    lines.sort_by(|a, b| {
        let key = |l: &Generated| l.template + f32::from(u8::from(l.stock));
        key(b).total_cmp(&key(a)).then_with(|| a.text.cmp(&b.text))
    });
    lines.truncate(MOST);
    lines
}

fn learned(
    index: &Index,
    evidence: &Evidence,
    last: &[u8],
    previous: &[Word],
    found: &mut HashMap<Vec<u8>, f32>,
) -> f32 {
    let Some(stat) = index.head_stats.get(evidence.head as usize) else {
        return 0.0;
    };
    let log = &index.log;
    let mut pairs: Vec<((u32, u32), f32)> = Vec::new();
    let mut total = 0.0;
    for row in log.walk(Chain::Head, stat.last, ROWS) {
        let after = log.after[row];
        if after == NONE || log.command[row] == NONE || log.command[after as usize] == NONE {
            continue;
        }
        let weight = (-(pairs.len() as f32) / HALF_LIFE).exp2();
        total += weight;
        pairs.push(((log.command[row], log.command[after as usize]), weight));
    }
    pairs.sort_unstable_by_key(|p| p.0);
    pairs.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
    let mut first = (NONE, Vec::new());
    for ((from, to), weight) in pairs {
        if first.0 != from {
            first = (from, shell::words(index.commands.text(from)));
        }
        let pattern = Pattern {
            text: index.commands.text(from),
            words: &first.1,
        };
        if let Some(text) = pattern.apply(index.commands.text(to), last, previous) {
            *found.entry(text).or_default() += weight;
        }
    }
    total
}

/// How a word of the next command came from one of the command before.
#[derive(Debug, Clone, Copy)]
enum Made {
    Whole,
    Base,
    Stem,
}

impl Made {
    fn of(word: &[u8], source: &[u8]) -> Option<Self> {
        let (word, source) = (
            crate::index::trim_slash(word),
            crate::index::trim_slash(source),
        );
        if word == source {
            return Some(Made::Whole);
        }
        let base = shell::base_name(source);
        if word == base {
            return Some(Made::Base);
        }
        (word == shell::stem(base)).then_some(Made::Stem)
    }

    /// The same way applied to another word; `None` when that would need quoting.
    fn apply(self, line: &[u8], word: &Word) -> Option<Vec<u8>> {
        let raw = &line[word.range.clone()];
        let plain = raw == word.text;
        match self {
            Made::Whole => Some(raw.to_vec()),
            Made::Base if plain => Some(shell::base_name(&word.text).to_vec()),
            Made::Stem if plain => Some(shell::stem(shell::base_name(&word.text)).to_vec()),
            _ => None,
        }
    }
}

/// A command of the past, what followed it is turned into what may follow the current one.
struct Pattern<'a> {
    text: &'a [u8],
    words: &'a [Word],
}

impl Pattern<'_> {
    fn apply(&self, followed_by: &[u8], last: &[u8], previous: &[Word]) -> Option<Vec<u8>> {
        if let Some(front) = followed_by.strip_suffix(self.text)
            && front.ends_with(b" ")
        {
            return Some([front, last].concat());
        }
        let mut text = Vec::new();
        let mut copied = 0;
        for word in shell::words(followed_by).iter().skip(1) {
            let Some((at, made)) = self.source(&word.text) else {
                continue;
            };
            let same_place = if self.words.len() == previous.len() {
                at
            } else if at + 1 == self.words.len() {
                previous.len().checked_sub(1)?
            } else {
                return None;
            };
            let replacement =
                made.apply(last, previous.get(same_place).filter(|_| same_place > 0)?)?;
            if replacement.is_empty() || replacement.starts_with(b"-") {
                return None;
            }
            text.extend_from_slice(&followed_by[copied..word.range.start]);
            text.extend_from_slice(&replacement);
            copied = word.range.end;
        }
        if copied == 0 {
            return None;
        }
        text.extend_from_slice(&followed_by[copied..]);
        Some(text)
    }

    /// Which argument a word was made from.
    fn source(&self, word: &[u8]) -> Option<(usize, Made)> {
        if word.len() < 2 || word.starts_with(b"-") {
            return None;
        }
        let arguments = self.words.iter().enumerate().skip(1);
        arguments
            .filter(|(_, w)| w.text.len() > 1)
            .find_map(|(at, source)| Made::of(word, &source.text).map(|made| (at, made)))
    }
}

/// Into the directory that was just made, cloned or unpacked.
fn stock(previous: &[Word]) -> Option<Vec<u8>> {
    let skipped = shell::wrapped(&previous.iter().map(|w| &w.text[..]).collect::<Vec<_>>());
    let words: Vec<&[u8]> = previous[skipped..].iter().map(|w| &w.text[..]).collect();
    let target = made_directory(&words)?;
    let plain = target
        .iter()
        .all(|b| b.is_ascii_alphanumeric() || b"-_./+@,:~".contains(b));
    (plain && !target.is_empty() && !target.starts_with(b"-")).then(|| [b"cd ", target].concat())
}

/// The directory that a command leaves behind, if its words say so.
pub(crate) fn made_directory<'a>(words: &[&'a [u8]]) -> Option<&'a [u8]> {
    let arguments: Vec<&[u8]> = words
        .iter()
        .skip(1)
        .filter(|w| !w.starts_with(b"-"))
        .copied()
        .collect();
    match (*words.first()?, arguments.as_slice()) {
        (b"mkdir" | b"take", [.., target]) => Some(crate::index::trim_slash(target)),
        (b"git" | b"gh" | b"hg", [.., b"clone", url]) => {
            let name = shell::base_name(url);
            let name = name.strip_suffix(b".git").unwrap_or(name);
            Some(name.rsplit(|b| *b == b':').next().unwrap_or(name))
        }
        (b"git" | b"hg", [b"clone", _, target]) => Some(crate::index::trim_slash(target)),
        (b"unzip" | b"unrar" | b"7z", [.., archive]) => {
            Some(shell::stem(shell::base_name(archive)))
        }
        (b"tar", [.., archive]) if words.get(1).is_some_and(|o| o.contains(&b'x')) => {
            let name = shell::base_name(archive);
            let cut = name
                .windows(4)
                .position(|w| w == b".tar")
                .unwrap_or(name.len());
            Some(&name[..cut])
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(from: &str, to: &str, last: &str) -> Option<String> {
        let words = shell::words(from.as_bytes());
        let pattern = Pattern {
            text: from.as_bytes(),
            words: &words,
        };
        let previous = shell::words(last.as_bytes());
        let text = pattern.apply(to.as_bytes(), last.as_bytes(), &previous)?;
        Some(String::from_utf8(text).unwrap())
    }

    #[test]
    fn a_pattern_carries_the_argument_over() {
        let line = applied("vim a.c", "git add a.c", "vim b.c");
        assert_eq!(line.as_deref(), Some("git add b.c"));
        let line = applied("tar xf x/one.tar.gz", "cd one", "tar xf y/two.tar.gz");
        assert_eq!(line.as_deref(), Some("cd two"));
        let line = applied("apt update", "sudo apt update", "apt install x");
        assert_eq!(line.as_deref(), Some("sudo apt install x"));
        assert_eq!(applied("vim a.c", "make", "vim b.c"), None);
        assert_eq!(applied("vim a.c", "cat a.c", "vim"), None);
    }

    #[test]
    fn quoted_words_stay_quoted() {
        let line = applied("vim a.c", "cat a.c", "vim 'b c'");
        assert_eq!(line.as_deref(), Some("cat 'b c'"));
    }

    #[test]
    fn directories_that_were_made_are_entered() {
        let of = |line: &str| {
            let text = stock(&shell::words(line.as_bytes()))?;
            Some(String::from_utf8(text).unwrap())
        };
        assert_eq!(of("mkdir -p a/b").as_deref(), Some("cd a/b"));
        assert_eq!(
            of("git clone https://x.y/z/tool.git").as_deref(),
            Some("cd tool")
        );
        assert_eq!(
            of("git clone git@host:tool.git here").as_deref(),
            Some("cd here")
        );
        assert_eq!(of("tar xzf got-1.2.tar.gz").as_deref(), Some("cd got-1.2"));
        assert_eq!(of("unzip got.zip").as_deref(), Some("cd got"));
        assert_eq!(of("ls"), None);
    }
}

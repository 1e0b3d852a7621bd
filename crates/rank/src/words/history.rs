//! What the command took before, read off its newest uses.

use crate::candidate::Slot;
use crate::index::Index;
use crate::index::intern::NONE;
use crate::index::log::Chain;
use crate::index::trim_slash;
use crate::lines::evidence::TextMap;
use crate::shell;

/// Uses of the command that are looked at.
const ROWS: usize = 256;
/// Half-life, in uses of the command.
const HALF_LIFE: f32 = 40.0;

/// Decayed counts of one word.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Used {
    /// At this place of the command.
    pub(crate) place: f32,
    /// At any place.
    pub(crate) any: f32,
    /// At any place, run in this directory.
    pub(crate) here: f32,
    /// After the same option.
    pub(crate) option: f32,
    /// How often at this place, not decayed.
    pub(crate) count: u32,
    /// Uses of the command since the newest one with this word; 1 = the newest use.
    pub(crate) age: u32,
}

/// The words and kinds of names that a command took.
#[derive(Debug, Default)]
pub(crate) struct Uses {
    words: TextMap<Used>,
    pub(crate) totals: Used,
    kinds: TextMap<f32>,
    pub(crate) kinds_total: f32,
}

impl Uses {
    pub(crate) fn gather(index: &Index, cwd: &[u8], slot: &Slot<'_>) -> Self {
        let mut uses = Self::default();
        let words = &slot.words[shell::wrapped(slot.words)..];
        let cwd = index.directory(cwd).unwrap_or(NONE);
        let Some(first) = words.first() else {
            uses.first_words(index, cwd);
            return uses;
        };
        let head = index.heads.get(first).unwrap_or(NONE);
        let Some(stat) = index.head_stats.get(head as usize) else {
            return uses;
        };
        let option = words.last().filter(|w| w.starts_with(b"-"));
        for (k, row) in index.log.walk(Chain::Head, stat.last, ROWS).enumerate() {
            let command = index.log.command[row];
            if command == NONE {
                continue;
            }
            let all = shell::words(index.commands.text(command));
            let skipped = shell::wrapped(&all.iter().map(|w| &w.text[..]).collect::<Vec<_>>());
            let taken = &all[skipped.min(all.len())..];
            let same_sub = words.len() < 2 || taken.get(1).is_some_and(|w| w.text == words[1]);
            let here = cwd != NONE && index.log.cwd[row] == cwd;
            let weight = (-(k as f32) / HALF_LIFE).exp2();
            for (place, word) in taken.iter().enumerate().skip(1) {
                let at_place = place == words.len() && same_sub;
                let after = option.is_some_and(|o| taken[place - 1].text == **o);
                uses.add(&word.text, weight, [at_place, here, after], k as u32 + 1);
            }
        }
        uses
    }

    /// First words of the newest commands.
    fn first_words(&mut self, index: &Index, cwd: u32) {
        let log = &index.log;
        for (k, row) in (0..log.len()).rev().take(ROWS).enumerate() {
            let command = log.command[row];
            if command == NONE {
                continue;
            }
            let head = index.heads.text(index.stats[command as usize].head);
            let here = cwd != NONE && log.cwd[row] == cwd;
            let weight = (-(k as f32) / HALF_LIFE).exp2();
            self.add(head, weight, [true, here, false], k as u32 + 1);
        }
    }

    fn add(&mut self, text: &[u8], weight: f32, [place, here, option]: [bool; 3], age: u32) {
        let amount = |is: bool| if is { weight } else { 0.0 };
        let used = self.words.entry(trim_slash(text).to_vec()).or_default();
        for used in [used, &mut self.totals] {
            used.any += weight;
            used.place += amount(place);
            used.here += amount(here);
            used.option += amount(option);
            used.count += u32::from(place);
            if used.age == 0 {
                used.age = age;
            }
        }
        if !text.starts_with(b"-") {
            *self
                .kinds
                .entry(shell::name_kind(text).to_ascii_lowercase())
                .or_default() += weight;
            self.kinds_total += weight;
        }
    }

    /// All words, in no order.
    pub(crate) fn words(&self) -> impl Iterator<Item = (&[u8], Used)> {
        self.words
            .iter()
            .map(|(text, used)| (text.as_slice(), *used))
    }

    pub(crate) fn of(&self, text: &[u8]) -> Used {
        self.words
            .get(trim_slash(text))
            .copied()
            .unwrap_or_default()
    }

    /// Decayed count of names of the kind that `text` has: its extension, directory, or plain.
    pub(crate) fn of_kind(&self, text: &[u8]) -> f32 {
        let count = |kind: &[u8]| self.kinds.get(kind).copied().unwrap_or(0.0);
        let class = class(text);
        // People leave out the last slash: half of the plain names count as directories.
        if class == b"/" {
            count(b"/") + 0.5 * count(b"")
        } else {
            count(&class)
        }
    }
}

/// `/`, the extension in lower case with its dot, or nothing for a plain name.
fn class(text: &[u8]) -> Vec<u8> {
    match shell::name_kind(text) {
        b"/" => b"/".to_vec(),
        kind if kind.starts_with(b".") => kind.to_ascii_lowercase(),
        _ => Vec::new(),
    }
}

//! What commands are used with by people at large: for the time before there is a history.
//!
//! The table (`models/priors/priors.tsv`) is counted by `models/priors/count.py` from public
//! documentation. Each line is `TABLE<TAB>KEY<TAB>ITEM<TAB>COUNT`, where COUNT is a sum over
//! projects of the square root of the count in each.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::{Arc, LazyLock};

use crate::index::intern;
use crate::lines::evidence::NumberHasher;

static TABLE: &str = include_str!("../../../models/priors/priors.tsv");
static BUILT_IN: LazyLock<Arc<Priors>> = LazyLock::new(|| Arc::new(Priors::parse(TABLE)));

/// What a count is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Table {
    /// First words; no key.
    First,
    /// First words after the first word of the command before.
    Next,
    /// First words in a directory that holds a name.
    Marker,
    /// Subcommands of a first word.
    Sub,
    /// Subcommands after the subcommand used before with the same first word (`git add`).
    NextSub,
    /// Kinds of names that a first word takes.
    Kind,
    /// Kinds of names that a first word and subcommand take.
    PairKind,
    /// Kinds of names after an option of a first word.
    OptionKind,
    /// Names, whatever the command; no key.
    Name,
    /// Names that a first word takes.
    CommandName,
}

impl Table {
    fn letter(self) -> u8 {
        match self {
            Table::First => b'F',
            Table::Next => b'N',
            Table::Marker => b'M',
            Table::Sub => b'S',
            Table::NextSub => b'T',
            Table::Kind => b'K',
            Table::PairKind => b'P',
            Table::OptionKind => b'O',
            Table::Name => b'A',
            Table::CommandName => b'C',
        }
    }
}

type Counts = HashMap<u64, f32, BuildHasherDefault<NumberHasher>>;

/// Counts over public documentation.
#[derive(Debug, Default)]
pub struct Priors {
    counts: Counts,
    totals: Counts,
}

impl Priors {
    /// The table that is built in.
    pub fn built_in() -> Arc<Self> {
        Arc::clone(&BUILT_IN)
    }

    /// Reads a table; lines that do not have the four fields are passed over.
    pub fn parse(text: &str) -> Self {
        let mut priors = Self::default();
        for line in text.lines() {
            let mut fields = line.split('\t');
            let (Some(table), Some(key), Some(item), Some(count)) =
                (fields.next(), fields.next(), fields.next(), fields.next())
            else {
                continue;
            };
            let (Some(letter), Ok(count)) = (table.bytes().next(), count.parse::<f32>()) else {
                continue;
            };
            let whole = number(letter, key.as_bytes());
            *priors.totals.entry(whole).or_default() += count;
            *priors
                .counts
                .entry(part(whole, item.as_bytes()))
                .or_default() += count;
        }
        priors
    }

    /// The count of an item under a key.
    pub(crate) fn count(&self, table: Table, key: &[u8], item: &[u8]) -> f32 {
        let whole = number(table.letter(), key);
        self.counts.get(&part(whole, item)).copied().unwrap_or(0.0)
    }

    /// The sum of the counts under a key.
    pub(crate) fn total(&self, table: Table, key: &[u8]) -> f32 {
        self.totals
            .get(&number(table.letter(), key))
            .copied()
            .unwrap_or(0.0)
    }

    /// (count + weight * chance) / (total + weight): the share, backed off to `chance`.
    pub(crate) fn chance(
        &self,
        table: Table,
        key: &[u8],
        item: &[u8],
        weight: f32,
        chance: f32,
    ) -> f32 {
        (self.count(table, key, item) + weight * chance) / (self.total(table, key) + weight)
    }
}

fn number(letter: u8, key: &[u8]) -> u64 {
    intern::hash(key) ^ u64::from(letter).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

fn part(whole: u64, item: &[u8]) -> u64 {
    whole.rotate_left(17) ^ intern::hash(item)
}

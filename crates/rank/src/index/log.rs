//! The commands that were run, as columns, each row linked to rows before it.

use super::intern::{NONE, push_tight};

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Unknown,
    Success,
    Failure,
}

impl Outcome {
    pub(crate) fn of(exit: Option<i32>) -> Self {
        match exit {
            None => Outcome::Unknown,
            Some(0) => Outcome::Success,
            Some(_) => Outcome::Failure,
        }
    }
}

/// Links to the newest row before this one that shares something with it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Chain {
    /// The same command line.
    Command,
    /// The same first two words.
    Pair,
    /// The same first word.
    Head,
    /// The same directory.
    Directory,
}

/// One row to add.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    pub(crate) command: u32,
    pub(crate) cwd: u32,
    /// Seconds since 1970, cut to 32 bits; 0 = unknown.
    pub(crate) time: u32,
    pub(crate) outcome: Outcome,
    /// Row before this one in the same session.
    pub(crate) before: u32,
    /// In the order of [`Chain`].
    pub(crate) links: [u32; 4],
}

/// 41 bytes per row. Rows never move and are never taken out; a forgotten row has no command.
#[derive(Debug, Default)]
pub(crate) struct Log {
    pub(crate) command: Vec<u32>,
    pub(crate) cwd: Vec<u32>,
    pub(crate) time: Vec<u32>,
    pub(crate) outcome: Vec<Outcome>,
    pub(crate) before: Vec<u32>,
    pub(crate) after: Vec<u32>,
    links: [Vec<u32>; 4],
}

impl Log {
    pub(crate) fn len(&self) -> usize {
        self.command.len()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.command.capacity() * 41
    }

    pub(crate) fn push(&mut self, row: Row) {
        let number = self.len() as u32;
        push_tight(&mut self.command, row.command);
        push_tight(&mut self.cwd, row.cwd);
        push_tight(&mut self.time, row.time);
        push_tight(&mut self.outcome, row.outcome);
        push_tight(&mut self.before, row.before);
        push_tight(&mut self.after, NONE);
        for (column, link) in self.links.iter_mut().zip(row.links) {
            push_tight(column, link);
        }
        if row.before != NONE {
            self.after[row.before as usize] = number;
        }
    }

    /// Rows from `newest` back along a chain, at most `limit` of them.
    pub(crate) fn walk(
        &self,
        chain: Chain,
        newest: u32,
        limit: usize,
    ) -> impl Iterator<Item = usize> + '_ {
        let links = &self.links[chain as usize];
        let mut next = newest;
        std::iter::from_fn(move || {
            if next == NONE {
                return None;
            }
            let row = next as usize;
            next = links[row];
            Some(row)
        })
        .take(limit)
    }

    /// The command of the row before `row` in its session.
    pub(crate) fn command_before(&self, row: usize) -> u32 {
        match self.before[row] {
            NONE => NONE,
            before => self.command[before as usize],
        }
    }
}

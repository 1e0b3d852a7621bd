//! Commands that are not written yet, and the lists that were offered for them.

use std::collections::VecDeque;

use tabsense_history::{Offer, Record};

/// Commands that wait for a store that cannot be written; the oldest go.
const COMMANDS: usize = 10_000;

/// Lists that wait with them, as many as the store keeps; the oldest go.
const OFFERS: usize = 2_000;

/// What waits, oldest first.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    records: VecDeque<Record>,
    offers: VecDeque<Offer>,
}

impl Waiting {
    pub(super) fn push(&mut self, record: Record, offers: Vec<Offer>) {
        if self.records.len() == COMMANDS
            && let Some(oldest) = self.records.pop_front()
        {
            // They were added in the same order.
            while self
                .offers
                .front()
                .is_some_and(|offer| is_of(offer, &oldest))
            {
                self.offers.pop_front();
            }
        }
        self.records.push_back(record);
        self.offers.extend(offers);
        let surplus = self.offers.len().saturating_sub(OFFERS);
        self.offers.drain(..surplus);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.records.len()
    }

    pub(super) fn records(&mut self) -> &[Record] {
        self.records.make_contiguous()
    }

    pub(super) fn offers(&mut self) -> &[Offer] {
        self.offers.make_contiguous()
    }

    /// Takes the commands out that are not `wanted`, and all lists; returns how many commands.
    pub(super) fn retain(&mut self, wanted: impl Fn(&Record) -> bool) -> usize {
        let before = self.records.len();
        self.records.retain(wanted);
        self.offers.clear();
        before - self.records.len()
    }

    pub(super) fn clear(&mut self) {
        self.records.clear();
        self.offers.clear();
    }
}

/// Whether a list was offered for this run of a command.
fn is_of(offer: &Offer, record: &Record) -> bool {
    offer.at_ms == record.start_ms && offer.command == record.command
}

#[cfg(test)]
mod tests {
    use super::*;

    fn push(waiting: &mut Waiting, at: usize, offers: usize) {
        let start_ms = i64::try_from(at).expect("small");
        let command = format!("c{at}").into_bytes();
        let offer = Offer {
            command: command.clone(),
            at_ms: start_ms,
            ..Offer::default()
        };
        let record = Record {
            command,
            start_ms,
            ..Record::default()
        };
        waiting.push(record, vec![offer; offers]);
    }

    #[test]
    fn the_newest_commands_and_lists_wait() {
        let mut waiting = Waiting::default();
        for at in 0..COMMANDS + 5 {
            push(&mut waiting, at, 1);
        }
        assert_eq!(waiting.len(), COMMANDS);
        assert_eq!(waiting.records()[0].command, b"c5");
        assert_eq!(waiting.offers().len(), OFFERS);
        let first = format!("c{}", COMMANDS + 5 - OFFERS);
        assert_eq!(waiting.offers()[0].command, first.as_bytes());
    }

    #[test]
    fn lists_go_with_their_commands() {
        let mut waiting = Waiting::default();
        push(&mut waiting, 0, 2);
        push(&mut waiting, 1, 1);
        for at in 2..COMMANDS {
            push(&mut waiting, at, 0);
        }
        assert_eq!(waiting.offers().len(), 3);
        push(&mut waiting, COMMANDS, 0);
        assert_eq!(waiting.offers().len(), 1);
        push(&mut waiting, COMMANDS + 1, 0);
        assert!(waiting.offers().is_empty());
    }

    #[test]
    fn nothing_that_is_forgotten_waits() {
        let mut waiting = Waiting::default();
        push(&mut waiting, 1, 1);
        push(&mut waiting, 2, 1);
        assert_eq!(waiting.retain(|record| record.command != b"c1"), 1);
        assert_eq!(waiting.records()[0].command, b"c2");
        assert!(waiting.offers().is_empty());
        waiting.clear();
        assert!(waiting.is_empty());
    }
}

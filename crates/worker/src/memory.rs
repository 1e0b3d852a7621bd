//! What the recorder's thread teaches the statistics that requests read.

use std::sync::{Arc, PoisonError, RwLock, RwLockWriteGuard};

use tabsense_history::{Offer, Record};
use tabsense_rank::{Event, Feedback, Index, Slot};

use crate::offers::shown;

/// The statistics, and what became of lists that were offered.
pub(crate) struct Memory {
    pub(crate) index: Arc<RwLock<Index>>,
    /// A snapshot: a request keeps the one it began with.
    pub(crate) feedback: Arc<RwLock<Arc<Feedback>>>,
}

impl Memory {
    pub(crate) fn write_index(&self) -> RwLockWriteGuard<'_, Index> {
        self.index.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the statistics empty.
    pub(crate) fn clear(&self) {
        *self.write_index() = Index::new();
    }

    /// Takes commands in.
    pub(crate) fn observe(&self, records: &[Record]) {
        let mut index = self.write_index();
        for record in records {
            index.observe(&Event {
                command: &record.command,
                cwd: &record.cwd,
                exit: record.exit,
                start: record.start_ms.div_euclid(1000),
                duration_ms: record.duration_ms,
                session: &record.session,
            });
        }
    }

    /// Takes in what became of lists that were offered.
    pub(crate) fn heed(&self, offers: &[Offer]) {
        if offers.is_empty() {
            return;
        }
        let mut feedback = self
            .feedback
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        let feedback = Arc::make_mut(&mut feedback);
        for offer in offers {
            let shown = shown(offer.clone());
            let words: Vec<&[u8]> = shown.words.iter().map(Vec::as_slice).collect();
            let (Some(first), Some(taken)) =
                (shown.offered.first(), shown.offered.get(shown.taken))
            else {
                continue;
            };
            feedback.observe(&tabsense_rank::Offer {
                cwd: &shown.cwd,
                slot: Slot {
                    words: &words,
                    typed: &shown.typed,
                },
                first: (&first.text, first.kind),
                taken: (&taken.text, taken.kind),
            });
        }
    }

    /// Forgets what became of lists that were offered.
    pub(crate) fn ignore_offers(&self) {
        *self
            .feedback
            .write()
            .unwrap_or_else(PoisonError::into_inner) = Arc::default();
    }
}

//! The options of one state, shared by threads.
//!
//! Options do not see each other, so they fall into parts that run from the first layer to the last
//! without a word between them, and give the same numbers as all in one pass. Parts are handed out one
//! by one: a thread that gets no processor takes none, and the others do its share.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::Cpu;
use super::work::{Kept, Work};
use crate::backend::Stop;
use crate::error::Result;
use crate::sequence::Sequence;

/// Tokens for which waking another thread pays.
const LEAST: usize = 32;
/// Parts for each thread at most. With more than one, a thread that is held up holds up less; with many,
/// the weights come too often from beyond the second-level cache.
const EACH: usize = 2;

impl Cpu {
    /// The last hidden states of the options' markers in `s`, in view of `kept`.
    pub(super) fn run_options(
        &mut self,
        s: &Sequence,
        kept: &Kept,
        stop: &Stop,
    ) -> Result<Vec<f32>> {
        // What nobody waits for leaves the other processors alone.
        let threads = stop.deadline.map_or(1, |_| self.helpers.count() + 1);
        let parts = parts(s, threads);
        if parts.len() < 2 {
            self.run_layers(s, Some(kept), Some(&s.markers), None, stop)?;
            return Ok(self.work.x.clone());
        }
        self.reach(s);
        let mut works = std::mem::take(&mut self.works);
        works.resize_with(threads - 1, Work::default);
        let mut own = std::mem::take(&mut self.work);
        let (cpu, next) = (&*self, AtomicUsize::new(0));
        let run = |work: &mut Work| {
            let mut done = Vec::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(part) = parts.get(number) else {
                    return Ok(done);
                };
                cpu.run_in(work, part, Some(kept), Some(&part.markers), None, stop)?;
                done.push((number, work.x.clone()));
            }
        };
        let done = Mutex::new(Vec::new());
        let shares = std::iter::once(&mut own).chain(&mut works);
        self.helpers.share(shares, |work| {
            let ran = run(work);
            done.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(ran);
        });
        let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        let done: Result<Vec<_>> = done.into_iter().collect();
        (self.work, self.works) = (own, works);
        let mut done: Vec<(usize, Vec<f32>)> = done?.into_iter().flatten().collect();
        done.sort_unstable_by_key(|(number, _)| *number);
        Ok(done.into_iter().flat_map(|(_, rows)| rows).collect())
    }
}

/// Cuts options into parts of about the same size, as many for each thread; none where that does not
/// pay.
fn parts(s: &Sequence, threads: usize) -> Vec<Sequence> {
    let tokens = s.ids.len();
    let count = (tokens / LEAST).min(EACH * threads) / threads * threads;
    if threads < 2 || count < 2 {
        return Vec::new();
    }
    let mut parts: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (option, piece) in s.pieces().into_iter().enumerate() {
        parts[piece.start * count / tokens].push(option);
    }
    parts.retain(|options| !options.is_empty());
    parts.iter().map(|options| s.only(options)).collect()
}

//! Threads that take a share of a pass.
//!
//! They live as long as the model and sleep between passes. A kernel that has an idle processor does not
//! always wake a thread there: on virtual machines it often lets it wait behind the one that woke it, and
//! nothing is gained. So on Linux a helper may run everywhere but on the processor that waits for it.

use std::sync::{Mutex, MutexGuard, TryLockError};

use rayon::{ThreadPool, ThreadPoolBuilder};

/// Threads beside the one that computes.
#[derive(Debug, Default)]
pub(crate) struct Helpers {
    /// None where there shall be no helpers, or no thread could be had.
    pool: Option<ThreadPool>,
    /// Held while they work.
    busy: Mutex<()>,
    #[cfg(target_os = "linux")]
    places: places::Places,
}

impl Helpers {
    /// As many as asked for, or none.
    pub(crate) fn new(count: usize) -> Self {
        if count == 0 {
            return Self::default();
        }
        #[cfg(target_os = "linux")]
        let places = places::Places::default();
        let builder = ThreadPoolBuilder::new()
            .num_threads(count)
            .thread_name(|_| "model helper".to_owned());
        #[cfg(target_os = "linux")]
        let builder = builder.start_handler(places.note());
        Self {
            pool: builder.build().ok(),
            busy: Mutex::default(),
            #[cfg(target_os = "linux")]
            places,
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.pool
            .as_ref()
            .map_or(0, ThreadPool::current_num_threads)
    }

    /// Runs `work` on every share, on the first of them here, and returns when all are done. Within a share, or
    /// while another thread is served, all of them run here.
    pub(crate) fn share<T: Send>(
        &self,
        shares: impl IntoIterator<Item = T>,
        work: impl Fn(T) + Sync,
    ) {
        let mut shares = shares.into_iter();
        let (Some(pool), Some(_busy)) = (&self.pool, self.take()) else {
            return shares.for_each(work);
        };
        let Some(own) = shares.next() else {
            return;
        };
        #[cfg(target_os = "linux")]
        self.places.leave_this_processor();
        let work = &work;
        pool.in_place_scope(|scope| {
            for share in shares {
                scope.spawn(move |_| work(share));
            }
            work(own);
        });
    }

    /// The helpers, unless they have something to do.
    fn take(&self) -> Option<MutexGuard<'_, ()>> {
        match self.busy.try_lock() {
            Ok(taken) => Some(taken),
            Err(TryLockError::Poisoned(panicked)) => Some(panicked.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

#[cfg(target_os = "linux")]
mod places {
    use std::sync::{Arc, Mutex, PoisonError};

    use rustix::thread::{Pid, gettid, sched_getaffinity, sched_getcpu, sched_setaffinity};

    /// Where the helpers run.
    #[derive(Debug, Default)]
    pub(super) struct Places {
        helpers: Arc<Mutex<Vec<Pid>>>,
    }

    impl Places {
        /// What each helper does when it starts.
        pub(super) fn note(&self) -> impl Fn(usize) + Send + Sync + 'static {
            let helpers = Arc::clone(&self.helpers);
            move |_| {
                helpers
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(gettid());
            }
        }

        /// Keeps the helpers off the processor that this thread runs on. Where that is the only one, or the
        /// system refuses, they run where it lets them.
        pub(super) fn leave_this_processor(&self) {
            let Ok(mut others) = sched_getaffinity(None) else {
                return;
            };
            others.unset(sched_getcpu());
            let helpers = self.helpers.lock().unwrap_or_else(PoisonError::into_inner);
            for helper in helpers.iter() {
                let _ = sched_setaffinity(Some(*helper), &others);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn every_share_is_done_once_however_many_helpers_there_are() {
        for helpers in [0, 1, 3].map(Helpers::new) {
            for shares in [0, 1, 2, 9] {
                let done: Vec<AtomicUsize> = (0..shares).map(|_| AtomicUsize::new(0)).collect();
                helpers.share(&done, |share| {
                    share.fetch_add(1, Ordering::Relaxed);
                });
                let done: Vec<usize> = done.into_iter().map(AtomicUsize::into_inner).collect();
                assert_eq!(done, vec![1; shares], "{} helpers", helpers.count());
            }
        }
    }

    #[test]
    fn shares_of_a_share_are_done_by_whoever_has_it() {
        let helpers = Helpers::new(1);
        let done = Mutex::new(Vec::new());
        helpers.share([0, 10], |outer| {
            let here = std::thread::current().id();
            helpers.share([1, 2], |inner| {
                assert_eq!(std::thread::current().id(), here);
                done.lock().unwrap().push(outer + inner);
            });
        });
        let mut done = done.into_inner().unwrap();
        done.sort_unstable();
        assert_eq!(done, [1, 2, 11, 12]);
    }

    #[test]
    fn a_panic_of_a_helper_reaches_the_one_that_waits_and_the_helper_lives_on() {
        let helpers = Helpers::new(1);
        let fails = || helpers.share([0, 1], |share| assert_eq!(share, 0, "the helper's share"));
        let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(fails));
        assert!(failed.is_err());
        let sum = AtomicUsize::new(0);
        helpers.share([1, 2], |share| {
            sum.fetch_add(share, Ordering::Relaxed);
        });
        assert_eq!(sum.into_inner(), 3);
    }
}

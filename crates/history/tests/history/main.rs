//! Behaviour of the history crate, through its public interface.

mod faults;
mod formats;
mod ignoring;
mod leaks;
mod offers;
mod redaction;
mod shells;
mod store;
mod support;

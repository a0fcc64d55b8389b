//! Schedulability tests and bounds: what can be promised for a system before it runs.
//!
//! [`check()`] judges a whole [`tactus_model::System`]. Below it lie the tests of the field, one file per theorem, in
//! the symbols of the paper: [`uniprocessor`], [`global`] and [`mc2`]. They are pure functions of integers
//! (nanoseconds) and exact fractions; no decision is taken on a rounded number, and where a number has to be
//! rounded it is rounded against the system. A bound is a promise: it may be too long, never too short.
#![forbid(unsafe_code)]
// The papers' symbols are kept: a task is τ, as in the theorem that the code is read against.
#![allow(mixed_script_confusables, confusable_idents)]

pub mod arrivals;
pub mod blocking;
pub mod check;
pub mod colouring;
pub mod disk;
pub mod effort;
pub mod generate;
pub mod global;
pub mod inflation;
pub mod mailbox;
pub mod mc2;
pub mod mixed;
pub mod overhead;
pub mod partitioned;
pub mod requests;
pub mod reservation;
pub mod streams;
pub mod task;
pub mod terms;
pub mod uniprocessor;
pub mod utilisation;

pub use check::{
    assignment, check, check_with_cache, sensitivity, sensitivity_with_cache, slot_supplies, AdmissionVerdict,
    CacheDelay, ChainVerdict, ChannelVerdict, Check, CoreLoad, Declared, Finding, Growth, Reloads, SlotSupply,
    TaskCheck, TaskVerdict, Unassigned,
};
pub use colouring::{colouring, Colouring, ColouringError};
pub use disk::{disks, DiskCheck, DiskClientVerdict};
pub use tactus_task::{Bound, Slot, Table};

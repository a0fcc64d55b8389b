//! What a scheduler component has of the machine, as safe types: its regions, its trace, its plan, the pages of its tasks and
//! those that parent and child schedulers share.
//!
//! **Why they are safe.** The kernel maps each of these at a fixed address of [`tactus_abi::layout`], in a window in which no
//! Rust object lies. Each accessor stays inside its window, whatever it is given. Where nothing is mapped, because the component
//! is no scheduler or has no such core, the access faults and the kernel stops the component, as it does after a panic. What
//! the kernel or another component may write meanwhile is read and written in whole words.

mod own_region;
mod pages;
mod per_core;
mod thread_region;
mod trace_ring;

pub use crate::exclusive::{Borrowed, Exclusive};
pub use own_region::{Locked, OwnRegion};
pub use pages::{
    child_counts, event_rights, held_sections, holds_nothing, plan, publish_awaited, publish_counts, publish_job,
    publish_locked, publish_miss, published_job, release_sections, task_cards, watched_rows, StoppedSet,
};
pub use per_core::{Once, PerCore};
pub use thread_region::{SlotReport, ThreadRegion};
pub use trace_ring::{ReservedWriter, RingWriter, TraceRing, RESERVED};

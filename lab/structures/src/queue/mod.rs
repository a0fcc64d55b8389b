//! Queues of ready tasks that are compared, and those that policies use: [`BinaryHeap`], and [`FirstHeap`] in a [`PlainHeap`].

mod bitmap;
mod calendar;
mod pairing;
mod plain;
mod red_black;

pub use bitmap::Bitmap;
pub use calendar::Calendar;
pub use pairing::PairingHeap;
pub use plain::PlainHeap;
pub use red_black::RedBlackTree;
pub use tactus_structures::queue::{BinaryHeap, Entry, FirstHeap, ReadyQueue};

/// No task, in a table of tasks.
pub(crate) const NIL: u32 = u32::MAX;

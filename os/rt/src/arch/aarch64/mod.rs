//! AArch64.

pub mod calls;
pub mod clock;
pub mod counters;
pub mod entry;
#[cfg(feature = "hostile")]
pub mod hostile;
#[cfg(feature = "marks")]
pub mod marks;
pub mod sequences;
pub mod spend;
pub mod word;

//! More memory than the shared cache holds.

use core::sync::atomic::AtomicU64;

/// A line of a cache.
#[repr(align(64))]
pub struct Line(pub AtomicU64);

/// A quarter more than the megabyte of the shared level.
pub static LINES: [Line; 20 << 10] = [const { Line(AtomicU64::new(0)) }; 20 << 10];

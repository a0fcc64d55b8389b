//! What the readers read: 512 KiB, half of a shared cache of a megabyte.

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tactus_rt::time::Duration;

/// A line of a cache each.
#[repr(align(64))]
struct Line(AtomicU64);

static LINES: [Line; 8192] = [const { Line(AtomicU64::new(1)) }; 8192];

/// What a line from memory takes, as `miss-cost` in the system files.
pub const COST: Duration = Duration::from_nanos(200);

/// Reads a word of each line.
pub fn read() {
    let sum: u64 = core::hint::black_box(&LINES).iter().map(|line| line.0.load(Relaxed)).sum();
    assert_eq!(sum, 8192);
}

//! What components count, and how the host finds it again: pages that begin with [`MAGIC`].
//!
//! Each component counts in pages of its own, those things alone that it does; the host looks through the machine's memory and
//! adds them up. Counting costs the same few instructions whatever is counted.

use core::sync::atomic::{AtomicU64, Ordering};

/// What the first word of pages in use is. Written at run time, so that no program's file holds it.
pub const MAGIC: u64 = u64::from_le_bytes(*b"TACTPKTS");
/// How many bins each series has.
pub const BINS: usize = 64;

/// What is counted. Of two that follow each other, the second is for the second stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(usize)]
pub enum Series {
    /// Packets that arrived.
    Arrived = 0,
    /// Packets for which the queue between driver and upcall had no place.
    Dropped = 2,
    /// Packets whose protocol work was done.
    Upcalls = 4,
    /// Packets for which the mailbox had no place.
    Refused = 6,
    /// Packets that the task handled.
    Handled = 8,
    /// Interrupts of the device.
    Interrupts = 10,
    /// Rounds of the background loop, one for each [`BACKGROUND_WORK`] instructions.
    Background = 11,
}

/// Number of series.
pub const ALL: usize = 12;
/// Instructions of one round of the background loop.
pub const BACKGROUND_WORK: u64 = 10_000;

/// A component's counts.
#[repr(C, align(4096))]
pub struct Counts {
    magic: AtomicU64,
    counts: [[AtomicU64; BINS]; ALL],
}

impl Counts {
    /// Nothing counted.
    pub const fn new() -> Counts {
        Counts { magic: AtomicU64::new(0), counts: [const { [const { AtomicU64::new(0) }; BINS] }; ALL] }
    }

    /// Counts one of the series; `stream` is 0 or 1. The last bin takes all that comes later.
    pub fn add(&self, series: Series, stream: usize, bin: u64) {
        let bin = (bin as usize).min(BINS - 1);
        if let Some(count) = self.counts.get(series as usize + stream).map(|bins| &bins[bin]) {
            count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        }
        self.magic.store(MAGIC, Ordering::Relaxed);
    }
}

impl Default for Counts {
    fn default() -> Self {
        Counts::new()
    }
}

/// Counts as the host reads them: by series, then by bin.
pub type Totals = [[u64; BINS]; ALL];

/// Adds the counts that begin at the start of `bytes`; false if none begin there.
pub fn add_from(bytes: &[u8], totals: &mut Totals) -> bool {
    let word = |at: usize| bytes.get(at..at + 8)?.try_into().ok().map(u64::from_le_bytes);
    if word(0) != Some(MAGIC) {
        return false;
    }
    for (place, total) in totals.iter_mut().flatten().enumerate() {
        *total += word(8 + 8 * place).unwrap_or(0);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_counted_is_read_back_from_memory() {
        let counts = Counts::new();
        counts.add(Series::Handled, 1, 3);
        counts.add(Series::Handled, 1, 3);
        counts.add(Series::Interrupts, 0, 1_000);
        let mut bytes = [0; 8 + 8 * ALL * BINS];
        bytes[..8].copy_from_slice(&MAGIC.to_le_bytes());
        for (place, count) in counts.counts.iter().flatten().enumerate() {
            bytes[8 + 8 * place..][..8].copy_from_slice(&count.load(Ordering::Relaxed).to_le_bytes());
        }
        let mut totals = [[0; BINS]; ALL];
        assert!(add_from(&bytes, &mut totals) && add_from(&bytes, &mut totals));
        assert_eq!(totals[Series::Handled as usize + 1][3], 4);
        assert_eq!(totals[Series::Interrupts as usize][BINS - 1], 2);
        assert_eq!(totals.iter().flatten().sum::<u64>(), 6);
        assert!(!add_from(&[0; 64], &mut totals));
    }
}

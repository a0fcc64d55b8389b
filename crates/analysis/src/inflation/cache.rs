//! Cache-related preemption and migration delay: the bound from the size of the working set.
//!
//! Gracioli (EPOS), section 6.6: a job that resumes may have to load every line of its working set again, each at the cost
//! of a miss in the last cache: ⌈WSS/line⌉·cost. That is all of one preemption where each level below the first has room for the working
//! set ([`tactus_cache::room`]), and no bound elsewhere; prefetching hides much of it.

use tactus_time::Duration;

/// What a miss costs on a machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Misses {
    /// Bytes in a cache line; greater than zero.
    pub line: u64,
    /// Cycles of one miss in the last cache.
    pub cycles: u64,
    /// Cycles per second; greater than zero.
    pub hertz: u64,
}

impl Misses {
    /// The machine of the EPOS measurements (i7-2600): 64 bytes, 200 cycles, 3.4 GHz.
    pub const I7_2600: Misses = Misses { line: 64, cycles: 200, hertz: 3_400_000_000 };

    /// The longest that a resumed job spends on reloading a working set of so many bytes, rounded up.
    pub fn delay(&self, working_set: u64) -> Duration {
        let lines = u128::from(working_set.div_ceil(self.line.max(1)));
        let ns = (lines * u128::from(self.cycles) * 1_000_000_000).div_ceil(u128::from(self.hertz.max(1)));
        Duration::from_nanos(u64::try_from(ns).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_delay_is_120_5_us_at_128_kib_and_9_64_ms_at_10_mib() {
        let delay = |bytes| Misses::I7_2600.delay(bytes).as_nanos();
        assert_eq!(delay(128 << 10).div_ceil(100), 1_205, "120.5 µs");
        assert_eq!((delay(10 << 20) + 5_000) / 10_000, 964, "9.64 ms");
        // The whole published row, in tenths of a microsecond.
        let row = [4, 32, 64, 128, 256, 512, 1024, 8192, 10_240].map(|k| (delay(k << 10) + 50) / 100);
        assert_eq!(row, [38, 301, 602, 1205, 2409, 4819, 9638, 77_101, 96_376]);
    }
}

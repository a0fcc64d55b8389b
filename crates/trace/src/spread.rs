//! Least, middle and greatest of many lengths.

use crate::Distribution;
use tactus_time::Duration;

impl Distribution {
    /// The figures of `lengths`, which are sorted on the way; nothing if there are none.
    ///
    /// Median and p99 are by nearest rank: the shortest of the lengths that at least half, or 99 of 100, do not exceed.
    pub fn of(lengths: &mut [Duration]) -> Option<Distribution> {
        lengths.sort_unstable();
        let rank = |of_100: usize| lengths[(lengths.len() * of_100).div_ceil(100) - 1];
        let (min, max) = (*lengths.first()?, *lengths.last()?);
        let total = lengths.iter().fold(0u64, |sum, l| sum.saturating_add(l.as_nanos()));
        Some(Distribution {
            count: lengths.len() as u64,
            min,
            median: rank(50),
            p99: rank(99),
            max,
            total: Duration::from_nanos(total),
        })
    }

    /// The average; the total divided by the count, rounded down.
    pub fn mean(&self) -> Duration {
        self.total / self.count.max(1)
    }
}

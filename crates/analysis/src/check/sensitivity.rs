//! How much has to go: the largest factor by which all execution times may be multiplied so that a test passes.

use crate::task::Sporadic;
use tactus_time::Duration;

/// The largest n ≤ 1000 so that the set with all execution times times n/1000 (rounded up) passes; `None` if even
/// n = 1 fails. The tests are monotone in execution times, so a binary search finds it.
pub(crate) fn largest_scale(tasks: &[Sporadic], mut passes: impl FnMut(&[Sporadic]) -> bool) -> Option<u64> {
    let mut scaled = |n: u64| {
        let set: Vec<Sporadic> = tasks.iter().map(|τ| Sporadic { execution: scale(τ.execution, n), ..*τ }).collect();
        passes(&set)
    };
    if !scaled(1) {
        return None;
    }
    let (mut low, mut high) = (1, 1001);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if scaled(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(low)
}

/// `time` · n / 1000, rounded up.
pub(crate) fn scale(time: Duration, n: u64) -> Duration {
    let scaled = (u128::from(time.as_nanos()) * u128::from(n)).div_ceil(1000);
    Duration::from_nanos(u64::try_from(scaled).unwrap_or(u64::MAX))
}

/// What to do, from the largest passing factor.
pub(crate) fn remedy(scale: Option<u64>, where_: &str) -> String {
    match scale {
        Some(n) if n < 1000 => format!(
            "shorten execution times{where_} by {}.{} % (the largest factor that passes is 0.{n:03}), or lengthen periods",
            (1000 - n) / 10,
            (1000 - n) % 10,
        ),
        _ => format!("lengthen periods or deadlines, or move tasks{where_} elsewhere"),
    }
}

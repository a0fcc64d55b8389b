//! The least budget of a server that makes sense on a machine with measured costs.
//!
//! Every period a server costs two entries of the scheduler, its replenishment and its exhaustion, and what its tasks lose
//! in the caches. A budget of o or less gives its tasks nothing that this work does not take from somebody; how much
//! longer than o it has to be is the caller's, as the largest part of (Q + o) that may go to overhead.

use crate::overhead::entry;
use crate::reservation::design::Price;
use std::fmt;
use tactus_model::Costs;
use tactus_time::Duration;

/// o: the system's work per period of a server. `cache` is what one loss of cache contents costs.
pub fn per_period(costs: &Costs, cache: Duration) -> Duration {
    entry(costs) * 2 + cache
}

/// The least Q with o/(Q + o) ≤ `percent` %, and at least one nanosecond. A percentage of zero or over 100 is taken as one
/// and 100.
pub fn least(costs: &Costs, cache: Duration, percent: u64) -> Duration {
    let o = u128::from(per_period(costs, cache).as_nanos());
    let percent = u128::from(percent.clamp(1, 100));
    let q = (o * (100 - percent)).div_ceil(percent).max(1);
    Duration::from_nanos(u64::try_from(q).unwrap_or(u64::MAX))
}

/// The price of servers for [`crate::reservation::design`].
pub fn price(costs: &Costs, cache: Duration, percent: u64) -> Price {
    Price { per_period: per_period(costs, cache), least_budget: least(costs, cache, percent) }
}

/// A budget that is too small to make sense.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooSmall {
    /// What was asked for.
    pub budget: Duration,
    /// The least that makes sense.
    pub least: Duration,
    /// o.
    pub per_period: Duration,
}

impl fmt::Display for TooSmall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "a budget of {} does not pay: the system's own work takes {} in every period of the server; give at least {} (and a longer period)",
            self.budget, self.per_period, self.least
        )
    }
}

impl std::error::Error for TooSmall {}

/// Refuses a budget below the least one.
pub fn refuse_below(budget: Duration, costs: &Costs, cache: Duration, percent: u64) -> Result<(), TooSmall> {
    let least = least(costs, cache, percent);
    if budget < least {
        return Err(TooSmall { budget, least, per_period: per_period(costs, cache) });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_below_what_its_overhead_allows_is_refused() {
        let us = Duration::from_micros;
        let costs = Costs { release: us(3), schedule: us(5), switch: us(2), inter_core: us(4), complete: us(1) };
        // E = 12 µs, o = 24 + 6 = 30 µs; at 10 % at most, Q ≥ 270 µs.
        assert_eq!(least(&costs, us(6), 10), us(270));
        assert_eq!(refuse_below(us(270), &costs, us(6), 10), Ok(()));
        let refusal = refuse_below(us(269), &costs, us(6), 10).unwrap_err();
        assert!(refusal.to_string().contains("at least 270 us") || refusal.to_string().contains("270 µs"), "{refusal}");
        assert_eq!(least(&Costs::default(), Duration::ZERO, 10), Duration::from_nanos(1));
    }
}

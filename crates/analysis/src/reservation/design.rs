//! The cheapest server for given tasks: least budget for a period, least bandwidth over periods.
//!
//! Lipari and Bini, "A methodology for designing hierarchical scheduling systems", J. Embedded Computing 1(2), 2005;
//! Shin and Lee 2003, section 5. For one period the supply grows with the budget at every t, so a binary search over
//! budgets finds the least one that passes, to the nanosecond. Over periods the bandwidth is not monotone, so the
//! periods to try are the caller's; short periods need less bandwidth and pay more overhead, which is why the cost of
//! a replenishment is part of the price: (Q + o)/P.

use crate::effort::Effort;
use crate::reservation::local::{schedulable, Local};
use crate::reservation::supply::Server;
use crate::task::Sporadic;
use tactus_task::ServerKind;
use tactus_time::Duration;

/// What the tasks inside are, and how they are scheduled.
#[derive(Clone, Copy, Debug)]
pub struct Workload<'t> {
    /// The most urgent first under fixed priorities.
    pub tasks: &'t [Sporadic],
    /// How.
    pub policy: Local,
    /// The longest time that a less urgent task inside may block.
    pub blocking: Duration,
}

/// What a server costs and may not go below.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Price {
    /// o: the system's own work per period of the server.
    pub per_period: Duration,
    /// The least budget that makes sense.
    pub least_budget: Duration,
}

/// A server and its price.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Design {
    /// The server.
    pub server: Server,
    /// (Q + o)/P in millionths, rounded up.
    pub bandwidth: u64,
}

/// The least budget, to the nanosecond, with which a server of this kind and period serves the workload; `None` if
/// even the whole processor does not do, or the effort runs out in every try.
pub fn least_budget(workload: &Workload, kind: ServerKind, period: Duration, effort: Effort) -> Option<Duration> {
    let passes = |q: u64| {
        let server = Server::new(kind, Duration::from_nanos(q), period);
        schedulable(workload.tasks, workload.policy, workload.blocking, &server, &mut effort.clone())
    };
    let (mut low, mut high) = (0, period.as_nanos());
    if !passes(high) {
        return None;
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if passes(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(Duration::from_nanos(high))
}

/// The cheapest of the given periods; among equals the longest period. `None` if none does.
pub fn least_bandwidth(
    workload: &Workload,
    kind: ServerKind,
    periods: impl IntoIterator<Item = Duration>,
    price: Price,
    effort: Effort,
) -> Option<Design> {
    let mut best: Option<Design> = None;
    for period in periods {
        let Some(budget) = least_budget(workload, kind, period, effort) else { continue };
        let budget = budget.max(price.least_budget);
        let with_cost = u128::from(budget.as_nanos()) + u128::from(price.per_period.as_nanos());
        if with_cost > u128::from(period.as_nanos()) {
            continue;
        }
        let bandwidth = (with_cost * 1_000_000).div_ceil(u128::from(period.as_nanos())) as u64;
        let better = best.is_none_or(|b| (bandwidth, b.server.period) < (b.bandwidth, period));
        if better {
            best = Some(Design { server: Server::new(kind, budget, period), bandwidth });
        }
    }
    best
}

/// Periods worth trying: 64 steps up to the shortest deadline. A longer one leaves no window in that deadline unless
/// the server has nearly the whole processor.
pub fn usual_periods(tasks: &[Sporadic]) -> Vec<Duration> {
    let shortest = tasks.iter().map(|τ| τ.deadline.as_nanos()).min().unwrap_or(0);
    let mut all: Vec<Duration> =
        (1..=64u64).map(|i| Duration::from_nanos((u128::from(shortest) * u128::from(i) / 64) as u64)).collect();
    all.retain(|p| !p.is_zero());
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_budget_passes_and_one_nanosecond_less_does_not() {
        let ms = Duration::from_millis;
        let tasks = [Sporadic::implicit(ms(2), ms(20)), Sporadic::implicit(ms(6), ms(50))];
        for policy in [Local::FixedPriority, Local::EarliestDeadline] {
            let workload = Workload { tasks: &tasks, policy, blocking: Duration::ZERO };
            let q = least_budget(&workload, ServerKind::Periodic, ms(8), Effort::default()).unwrap();
            let passes = |q| {
                let server = Server::new(ServerKind::Periodic, q, ms(8));
                schedulable(&tasks, policy, Duration::ZERO, &server, &mut Effort::default())
            };
            assert!(passes(q) && !passes(q - Duration::from_nanos(1)), "{policy:?} {q}");
        }
    }

    #[test]
    fn replenishments_that_cost_make_longer_periods_cheaper() {
        let ms = Duration::from_millis;
        let us = Duration::from_micros;
        let tasks = [Sporadic::implicit(ms(2), ms(20)), Sporadic::implicit(ms(6), ms(50))];
        let workload = Workload { tasks: &tasks, policy: Local::FixedPriority, blocking: Duration::ZERO };
        let design = |per_period| {
            let price = Price { per_period, ..Price::default() };
            let periods = usual_periods(&tasks).into_iter().step_by(6);
            least_bandwidth(&workload, ServerKind::Periodic, periods, price, Effort::default()).unwrap()
        };
        let (free, dear) = (design(Duration::ZERO), design(us(100)));
        assert!(free.server.period < dear.server.period, "{free:?} {dear:?}");
        assert!(free.bandwidth < dear.bandwidth && free.bandwidth >= 220_000);
    }
}

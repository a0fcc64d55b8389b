//! Supply functions: the least service that a reservation gives in any window in which it has work.
//!
//! Shin and Lee, "Periodic resource model for compositional real-time guarantees", RTSS 2003 (sbf, lsbf); Easwaran,
//! Anand and Lee, "Compositional analysis framework using EDP resource models", RTSS 2007 (budget by a deadline);
//! Davis and Burns, "Hierarchical fixed priority pre-emptive scheduling", RTSS 2005 (deferrable and sporadic servers);
//! Mok, Feng and Chen, "Resource partition for real-time systems", RTAS 2001 (bounded delay).
//!
//! A server gives Q every P, at the latest by its deadline D after each replenishment. The worst window opens when one
//! budget was used up at once and the next comes as late as possible: nothing for P + D − 2Q, then Q in every P. This
//! holds for these kinds: a periodic server spends its budget at the start of the period; a deferrable one is drained there; a sporadic one is drained and gets Q back P after it began; a hard CBS that wakes with q left
//! has a deadline at most P − Q + q away, by which q is served. A polling server
//! loses its budget at once and not in the course of Q, so that its blackout is P + D − Q. The kinds differ in what they cost others
//! ([`Server::as_task`]).

use crate::task::{to_duration, Sporadic, Withheld};
use tactus_task::{ServerKind, WhenIdle};
use tactus_time::Duration;

/// A share of a processor.
pub trait Supply {
    /// sbf(t): the least service in any window of length t that opens when work waits. Never falls, never grows faster
    /// than t, and sbf(a + b) ≥ sbf(a) + sbf(b).
    fn least(&self, window: Duration) -> Duration;
    /// α = Q/P: the service Q that it gives per P in the long run.
    fn share(&self) -> (Duration, Duration);
    /// Δ of the linear bound lsbf(t) = α·max(0, t − Δ) ≤ sbf(t): the longest time without service.
    fn delay(&self) -> Duration;
    /// lsbf(t), rounded down.
    fn least_linear(&self, window: Duration) -> Duration {
        let (q, p) = self.share();
        line(q, p, self.delay(), window)
    }
}

/// ⌊q/p · max(0, t − Δ)⌋.
fn line(q: Duration, p: Duration, delay: Duration, window: Duration) -> Duration {
    let t = u128::from(window.saturating_sub(delay).as_nanos());
    to_duration((u128::from(q.as_nanos()) * t / u128::from(p.as_nanos().max(1))) as i128)
}

/// A share as the tests for one processor take it: what is withheld of a window.
pub struct Inside<'s>(pub &'s dyn Supply);

impl Withheld for Inside<'_> {
    fn at_most(&self, window: Duration) -> Duration {
        window.saturating_sub(self.0.least(window))
    }
}

/// A processor of one's own.
pub struct Whole;

impl Supply for Whole {
    fn least(&self, window: Duration) -> Duration {
        window
    }
    fn share(&self) -> (Duration, Duration) {
        (Duration::from_nanos(1), Duration::from_nanos(1))
    }
    fn delay(&self) -> Duration {
        Duration::ZERO
    }
}

/// Nothing for `blackout`, then `budget` at the start of every `period`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Recurring {
    /// Q.
    pub budget: Duration,
    /// P; greater than zero, at least Q.
    pub period: Duration,
    /// The longest time without service.
    pub blackout: Duration,
}

impl Supply for Recurring {
    fn least(&self, window: Duration) -> Duration {
        let t = window.saturating_sub(self.blackout).as_nanos();
        let (q, p) = (self.budget.as_nanos(), self.period.as_nanos().max(1));
        Duration::from_nanos((t / p).saturating_mul(q).saturating_add((t % p).min(q)))
    }
    fn share(&self) -> (Duration, Duration) {
        (self.budget, self.period)
    }
    fn delay(&self) -> Duration {
        self.blackout
    }
}

/// α = share.0 / share.1 of a processor, behind by at most Δ: Y(t) ≥ α·max(0, t − Δ).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BoundedDelay {
    /// α as a fraction of two durations, at most one.
    pub share: (Duration, Duration),
    /// Δ.
    pub delay: Duration,
}

impl BoundedDelay {
    /// The server that realises it (JUNIPER D3.6; Lipari and Bini, "A methodology for designing hierarchical scheduling
    /// systems", 2005): Q = αΔ/(2(1−α)), P = Δ/(2(1−α)). Q is rounded up and P down, so the guarantee holds.
    ///
    /// `None` for α ≥ 1 (no server is needed), α = 0, or Δ too short for a nanosecond.
    pub fn server(&self) -> Option<Server> {
        let (q, p) = (u128::from(self.share.0.as_nanos()), u128::from(self.share.1.as_nanos()));
        let delay = u128::from(self.delay.as_nanos());
        if q == 0 || q >= p {
            return None;
        }
        let ns = |n: u128| u64::try_from(n).ok().map(Duration::from_nanos);
        let period = delay * p / (2 * (p - q));
        let budget = (delay * q).div_ceil(2 * (p - q));
        (budget > 0 && budget <= period).then_some(())?;
        Some(Server::new(ServerKind::HardBandwidth, ns(budget)?, ns(period)?))
    }
}

impl Supply for BoundedDelay {
    fn least(&self, window: Duration) -> Duration {
        line(self.share.0, self.share.1, self.delay, window)
    }
    fn share(&self) -> (Duration, Duration) {
        self.share
    }
    fn delay(&self) -> Duration {
        self.delay
    }
}

/// A server (Q, P, D).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Server {
    /// Which rule it follows.
    pub kind: ServerKind,
    /// Q.
    pub budget: Duration,
    /// P; greater than zero.
    pub period: Duration,
    /// D: its scheduler guarantees that a budget is served at the latest this long after its replenishment; Q ≤ D ≤ P.
    pub deadline: Duration,
}

impl Server {
    /// A server whose deadline is its period.
    pub const fn new(kind: ServerKind, budget: Duration, period: Duration) -> Server {
        Server { kind, budget, period, deadline: period }
    }

    /// What it supplies if its budget is always served within `response` of its replenishment.
    ///
    /// [`super::tree`] tells which kind this is sound for beneath which scheduler.
    pub fn supply(&self, response: Duration) -> Recurring {
        let gone = if self.kind.when_idle() == WhenIdle::Forfeit { Duration::ZERO } else { self.budget };
        let blackout = (self.period + response).saturating_sub(self.budget + gone);
        Recurring { budget: self.budget, period: self.period, blackout }
    }

    /// How its peers see it: a deferrable server may spend late in one period and at once in the next, as a task with
    /// jitter P − Q (Strosnider, Lehoczky and Sha 1995); periodic and sporadic ones interfere no more than a sporadic task
    /// (Q, P, D). A CBS under EDF needs more care, see [`super::tree`].
    pub fn as_task(&self) -> Sporadic {
        let jitter = match self.kind {
            ServerKind::Deferrable | ServerKind::PriorityInheriting => self.period.saturating_sub(self.budget),
            _ => Duration::ZERO,
        };
        Sporadic { execution: self.budget, period: self.period, deadline: self.deadline, jitter }
    }
}

impl Supply for Server {
    fn least(&self, window: Duration) -> Duration {
        self.supply(self.deadline).least(window)
    }
    fn share(&self) -> (Duration, Duration) {
        (self.budget, self.period)
    }
    fn delay(&self) -> Duration {
        self.supply(self.deadline).blackout
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ns(n: u64) -> Duration {
        Duration::from_nanos(n)
    }

    /// Shin and Lee 2003, equation 5, as printed.
    fn printed(q: i64, p: i64, t: i64) -> i64 {
        let k = (-((-(t - (p - q))).div_euclid(p))).max(1);
        if ((k + 1) * p - 2 * q..=(k + 1) * p - q).contains(&t) {
            t - (k + 1) * (p - q)
        } else {
            (k - 1) * q
        }
    }

    #[test]
    fn the_supply_of_a_periodic_server_is_the_printed_one() {
        for (q, p) in [(1, 5), (3, 5), (4, 5), (2, 7), (5, 5)] {
            let server = Server::new(ServerKind::Periodic, ns(q), ns(p));
            for t in 0..60 {
                let sbf = server.least(ns(t)).as_nanos() as i64;
                assert_eq!(sbf, printed(q as i64, p as i64, t as i64), "({q}, {p}) at {t}");
                assert!(server.least_linear(ns(t)) <= server.least(ns(t)));
            }
        }
    }

    #[test]
    fn the_junipers_platforms_have_the_published_budgets_and_20_ms_of_delay() {
        // Table 1: α = 0.72 and 0.22, Δ = 20 ms; Q = 25.714 and 2.8205 ms, P = 35.714 and 12.8205 ms.
        let ms = Duration::from_millis;
        for (percent, q, p) in [(72, 25_714, 35_714), (22, 2_820, 12_820)] {
            let server = BoundedDelay { share: (ns(percent), ns(100)), delay: ms(20) }.server().unwrap();
            assert_eq!((server.budget.as_nanos() / 1000, server.period.as_nanos() / 1000), (q, p));
            let exact = ms(20).as_nanos();
            assert!((exact - 2..=exact).contains(&server.delay().as_nanos()), "{:?}", server.delay());
            assert!(u128::from(server.budget.as_nanos()) * 100 >= u128::from(server.period.as_nanos() * percent));
        }
    }
}

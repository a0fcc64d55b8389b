//! The sporadic server: what is used returns one period after it could be used first, in the pieces in which it was used (Sprunt, Sha and
//! Lehoczky 1989, with the corrections of Stanovich et al., RTAS 2010).

use super::replenishments::{Replenishment, Replenishments};
use super::rules::{Lengths, Rules};
use tactus_time::{Duration, Instant};

#[derive(Clone, Default, Debug)]
pub(super) struct Sporadic {
    pub(super) replenishments: Replenishments,
    /// Of the first replenishment.
    used: Duration,
}

impl Sporadic {
    /// Sends each replenishment that is used up to one period after its own time. What was used beyond takes the next replenishment from
    /// its beginning.
    fn use_up(&mut self, of: Lengths, now: Instant) {
        if !self.left(of, now).is_zero() {
            return;
        }
        while let Some(head) = self.replenishments.first().filter(|head| head.amount <= self.used) {
            self.replenishments.take_first();
            self.used = self.used.saturating_sub(head.amount);
            self.replenishments.insert(Replenishment { amount: head.amount, at: head.at.saturating_add(of.period) });
        }
        if let Some(head) = self.replenishments.first().filter(|head| head.at > now && !self.used.is_zero()) {
            self.replenishments.delay_first(head.at.saturating_add(self.used));
        }
    }
}

impl Rules for Sporadic {
    fn restart(&mut self, of: Lengths, now: Instant) {
        self.used = Duration::ZERO;
        self.replenishments.clear();
        self.replenishments.insert(Replenishment { amount: of.full, at: now });
    }
    fn left(&self, _: Lengths, now: Instant) -> Duration {
        match self.replenishments.first() {
            Some(head) if head.at <= now => head.amount.saturating_sub(self.used),
            _ => Duration::ZERO,
        }
    }
    fn next(&self, _: Lengths, now: Instant) -> Instant {
        self.replenishments.first().filter(|head| head.at > now).map_or(Instant::NEVER, |head| head.at)
    }
    fn deadline(&self, of: Lengths) -> Instant {
        self.replenishments.first().map_or(Instant::ZERO, |head| head.at).saturating_add(of.period)
    }
    /// Nothing has to be done: what is due counts from its time on.
    fn refresh(&mut self, of: Lengths, now: Instant) -> Option<Duration> {
        Some(self.left(of, now)).filter(|left| !left.is_zero())
    }
    fn charge(&mut self, of: Lengths, now: Instant, ran: Duration) -> bool {
        self.used = self.used.checked_add(ran).unwrap_or(Duration::MAX);
        self.use_up(of, now);
        self.left(of, now).is_zero()
    }
    fn wake(&mut self, of: Lengths, now: Instant) {
        if !self.left(of, now).is_zero() {
            self.replenishments.new_phase(now, self.used);
        }
    }
    fn block(&mut self, of: Lengths, now: Instant) {
        if let Some(head) = self.replenishments.first().filter(|head| !self.used.is_zero() && head.at <= now) {
            let (rest, later) = (head.amount.saturating_sub(self.used), head.at.saturating_add(of.period));
            self.replenishments.split(rest, Replenishment { amount: self.used.min(head.amount), at: later });
            self.used = Duration::ZERO;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Budget, State, Supply};
    use super::*;
    use proptest::prelude::*;
    use tactus_task::ServerKind;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }
    fn at(n: u64) -> Instant {
        Instant::ZERO + ms(n)
    }
    fn budget(budget: Duration, period: Duration) -> Budget {
        Budget::new(&Supply { kind: ServerKind::Sporadic, budget, period, write_backs: None })
    }
    fn list(budget: &Budget) -> alloc::vec::Vec<Replenishment> {
        let State::Sporadic(sporadic) = &budget.state else { return alloc::vec::Vec::new() };
        sporadic.replenishments.iter().copied().collect()
    }

    /// The replenishment list of VCPU1 (20 of 50) in Figure 4 of West, Li and Missimer, row by row.
    #[test]
    fn the_list_of_vcpu1_is_that_of_figure_4() {
        let mut budget = budget(ms(20), ms(50));
        let rows = |budget: &Budget| -> alloc::vec::Vec<(u64, u64)> {
            list(budget).iter().map(|c| (c.amount.as_nanos() / 1_000_000, c.at.as_nanos() / 1_000_000)).collect()
        };
        budget.wake(at(0));
        assert_eq!(rows(&budget), [(20, 0)]);
        budget.charge(at(1), ms(1));
        budget.charge(at(28), ms(17));
        budget.block(at(28));
        assert_eq!(rows(&budget), [(2, 0), (18, 50)]);
        budget.wake(at(40));
        assert_eq!(rows(&budget), [(2, 40), (18, 50)]);
        budget.charge(at(41), ms(1));
        budget.charge(at(52), ms(1));
        assert_eq!(rows(&budget), [(18, 50), (2, 90)]);
        budget.charge(at(68), ms(16));
        budget.block(at(68));
        assert_eq!(rows(&budget), [(2, 50), (2, 90), (16, 100)]);
        budget.wake(at(80));
        assert_eq!(rows(&budget), [(2, 80), (2, 90), (16, 100)]);
        budget.charge(at(81), ms(1));
        budget.charge(at(92), ms(1));
        assert_eq!(rows(&budget), [(2, 90), (16, 100), (2, 130)]);
        budget.charge(at(94), ms(2));
        assert_eq!(rows(&budget), [(16, 100), (2, 130), (2, 140)]);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Invariant I1: whatever happens, and however full the list, what is left and what is to come are the budget.
        #[test]
        fn what_is_left_and_what_is_to_come_are_the_whole_budget(
            full in 1u64..200, longer in 0u64..400, steps in prop::collection::vec((0u8..4, 1u64..9), 1..400),
        ) {
            let time = Duration::from_nanos;
            let (full, period) = (time(full), time(full + longer));
            let mut budget = budget(full, period);
            let (mut now, mut awake) = (Instant::ZERO, false);
            for (what, length) in steps {
                match what {
                    0 if awake => budget.block(now),
                    0 => budget.wake(now),
                    // Runs for as long as it may, and now and then is stopped a little late.
                    1 | 2 if awake && budget.eligible(now) => {
                        let ran = time(length).min(budget.left(now)).checked_add(time(u64::from(what == 2))).unwrap_or_default();
                        now += ran;
                        budget.charge(now, ran);
                    }
                    _ => now += time(length),
                }
                awake ^= what == 0;
                let list = list(&budget);
                let sum = list.iter().fold(Duration::ZERO, |sum, replenishment| sum + replenishment.amount);
                prop_assert_eq!(sum, full);
                let times: alloc::vec::Vec<Instant> = list.iter().map(|replenishment| replenishment.at).collect();
                prop_assert!(times.is_sorted(), "{:?}", times);
                prop_assert!(times.len() <= crate::tree::parameters::MAX_REPLENISHMENTS);
            }
        }
    }
}

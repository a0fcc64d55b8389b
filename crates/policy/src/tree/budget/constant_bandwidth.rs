//! The constant-bandwidth server (Abeni and Buttazzo 1998). Used up, a soft one has a later deadline at once, a hard one waits until its
//! present deadline.

use super::rules::{signed, unsigned, Lengths, Rules};
use tactus_time::{Duration, Instant};

/// What is left until a deadline.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct UntilDeadline {
    /// Below zero by as much as was used beyond the end.
    pub(super) left: i64,
    pub(super) deadline: Instant,
}

impl UntilDeadline {
    /// Full from `now` on.
    pub(super) fn restart(&mut self, of: Lengths, now: Instant) {
        (self.left, self.deadline) = (signed(of.full), now.saturating_add(of.period));
    }

    /// A debt is paid by the budgets that follow, each one period later. A server that was kept waiting beyond its deadline
    /// does not catch up on what it missed, or it would disturb others then.
    pub(super) fn postpone(&mut self, of: Lengths, now: Instant) {
        // One step, where a debt of many budgets would take many.
        let full = signed(of.full).max(1);
        let steps = (-self.left).max(0) / full + 1;
        self.left = self.left.saturating_add(full.saturating_mul(steps));
        let steps = Duration::from_nanos(of.period.as_nanos().saturating_mul(steps as u64));
        self.deadline = self.deadline.saturating_add(steps);
        if self.deadline <= now {
            self.restart(of, now);
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct ConstantBandwidth {
    budget: UntilDeadline,
    hard: bool,
    /// A hard one is used up before its deadline.
    waits: bool,
}

impl ConstantBandwidth {
    pub(super) fn soft() -> ConstantBandwidth {
        ConstantBandwidth { budget: UntilDeadline::default(), hard: false, waits: false }
    }

    pub(super) fn hard() -> ConstantBandwidth {
        ConstantBandwidth { hard: true, ..ConstantBandwidth::soft() }
    }
}

impl Rules for ConstantBandwidth {
    fn restart(&mut self, of: Lengths, now: Instant) {
        self.budget.restart(of, now);
        self.waits = false;
    }
    fn left(&self, _: Lengths, _: Instant) -> Duration {
        if self.waits {
            return Duration::ZERO;
        }
        unsigned(self.budget.left)
    }
    fn next(&self, _: Lengths, _: Instant) -> Instant {
        if self.waits {
            return self.budget.deadline;
        }
        Instant::NEVER
    }
    fn deadline(&self, _: Lengths) -> Instant {
        self.budget.deadline
    }
    fn refresh(&mut self, of: Lengths, now: Instant) -> Option<Duration> {
        if !self.waits || now < self.budget.deadline {
            return None;
        }
        self.budget.postpone(of, now);
        self.waits = false;
        Some(of.full)
    }
    fn charge(&mut self, of: Lengths, now: Instant, ran: Duration) -> bool {
        self.budget.left -= signed(ran);
        if self.budget.left > 0 {
            return false;
        }
        if self.hard && now < self.budget.deadline {
            self.waits = true;
        } else {
            self.budget.postpone(of, now);
        }
        true
    }
    /// What is left may be used until the deadline only if that keeps within the bandwidth.
    fn wake(&mut self, of: Lengths, now: Instant) {
        if self.waits {
            return;
        }
        let UntilDeadline { left, deadline } = self.budget;
        let (left, until) = (u128::from(left.max(0) as u64), u128::from(deadline.since(now).as_nanos()));
        let (full, period) = (u128::from(of.full.as_nanos()), u128::from(of.period.as_nanos()));
        if deadline <= now || left * period > until * full {
            self.budget.restart(of, now);
        }
    }
}

//! The budget of one server on one core: what remains, when more comes, what is charged, when it is used up. All kinds
//! of servers are this one type; they differ in when a replenishment falls due and how much it brings.
//!
//! A budget knows nothing of queues. Its owner tells it four things, each with the time: so much was used
//! ([`Budget::charge`]), there is work again ([`Budget::wake`]), there is none ([`Budget::block`]), time has passed
//! ([`Budget::refresh`]); and asks whether work may run ([`Budget::eligible`]) and for how long ([`Budget::left`]).
//!
//! **Misses.** A budget of lines from memory is kept as the least time in which memory can serve them, and charged that time for each line
//! that was counted. So it cannot be used up earlier than what is left of it says, and its owner looks at the counter then, and again.
//! Two looks are a part of the period apart at least ([`MOST_LOOKS`]); what is used beyond the end meanwhile is a debt that the
//! periods which follow pay. A budget of lines written back beside it is kept in the same way; whoever has used up either waits for the
//! next period.
//!
//! **Reclaiming** (GRUB: Lipari and Baruah, "Greedy reclamation of unused bandwidth in constant-bandwidth servers", ECRTS 2000).
//! A server of Q per P has bandwidth U = Q/P, deadline D and virtual time V = D - q/U, where q is what remains of its budget.
//! While it runs, q falls at the rate of the sum of all active servers' bandwidths. It is *contending* while it has work;
//! without work it stays *non-contending* until time has reached V, and is *inactive* from then on, or from the next instant
//! at which the core has nothing to run. Contending and non-contending servers are active. An inactive server that gets work
//! starts with V = now and D = now + P. The owner keeps the sum ([`Budget::activity`]) and sets the rate ([`Budget::set_rate`]).

use super::parameters::Supply;
use super::replenishments::{Replenishment, Replenishments};
use super::timetable::Table;
use tactus_task::{ServerKind, MOST_LOOKS};
use tactus_time::{Duration, Instant};

/// A whole processor, as a bandwidth.
pub(super) const ONE: u64 = 1 << 32;

/// The state of a budget.
#[derive(Clone, Debug)]
pub struct Budget {
    kind: ServerKind,
    full: Duration,
    period: Duration,
    /// What is left; below zero by as much as was used beyond the end, which the next replenishment pays for. Unused by
    /// the sporadic server as corrected, whose list says it all.
    left: i64,
    /// Periodic kinds: the next boundary. Constant bandwidth: the deadline. Priority inheriting: since when it may run, or when it may again.
    at: Instant,
    /// Sporadic kinds: what was used since the replenishment or the activation that `since` tells of. Yielding: what was counted. Misses: what
    /// was written back and is not paid.
    used: Duration,
    since: Instant,
    /// Constant bandwidth: waits for its deadline. Priority inheriting: has begun a budget. Reclaiming: non-contending. Yielding: gives way.
    /// Misses: came to an end, which nobody has asked for yet.
    flag: bool,
    /// Reclaiming: the rate at which it is charged, in parts of [`ONE`].
    rate: u64,
    /// Reclaiming: what was charged beyond whole nanoseconds, in parts of [`ONE`].
    fraction: u64,
    /// The bandwidth for which its owner counts it as active.
    counted: u64,
    replenishments: Replenishments,
    /// Misses: how much may be written back; without end where nothing says so.
    writes: Duration,
    /// Windows: the table.
    table: Option<Table>,
}

impl Budget {
    /// A full budget at time zero.
    pub fn new(supply: &Supply) -> Budget {
        let mut budget = Budget {
            kind: supply.kind,
            full: supply.budget,
            period: supply.period,
            left: 0,
            at: Instant::ZERO,
            used: Duration::ZERO,
            since: Instant::ZERO,
            flag: false,
            rate: ONE,
            fraction: 0,
            counted: 0,
            replenishments: Replenishments::for_kind(supply.kind),
            writes: supply.write_backs.unwrap_or(Duration::MAX),
            table: None,
        };
        budget.begin_anew(None, Instant::ZERO);
        budget
    }

    /// Begins anew at `now`, full, perhaps with another budget and period. Gives the budget.
    pub(super) fn begin_anew(&mut self, length: Option<(Duration, Duration)>, now: Instant) -> Duration {
        (self.full, self.period) = length.unwrap_or((self.full, self.period));
        self.left = signed(self.full);
        self.at = match self.kind {
            ServerKind::PriorityInheriting => now,
            _ => now.saturating_add(self.period),
        };
        (self.used, self.since, self.flag, self.fraction) = (Duration::ZERO, now, false, 0);
        self.replenishments.clear();
        if self.kind == ServerKind::Sporadic {
            self.replenishments.insert(Replenishment { amount: self.full, at: now });
        }
        self.full
    }

    /// A partition has the windows of this table from now on.
    pub(super) fn follow(&mut self, table: Table) {
        self.table = Some(table);
    }

    /// The whole budget.
    pub fn full(&self) -> Duration {
        self.full
    }

    /// A priority-inheriting server works for another one from now on: its budget is this, in that one's period. What it has
    /// used since it began counts as before.
    pub fn inherit(&mut self, budget: Duration, period: Duration) {
        (self.full, self.period) = (budget, period);
        self.left = signed(budget).saturating_sub(signed(self.used));
    }

    /// A full budget, and its period.
    pub(super) fn lengths(&self) -> (Duration, Duration) {
        (self.full, self.period)
    }

    /// Whether it changes by time whether or not there is work, so that its owner has to look at it at [`Budget::next`].
    pub(crate) fn ticks_on(&self) -> bool {
        match self.kind {
            ServerKind::Periodic | ServerKind::Polling => true,
            ServerKind::YieldingToChanged | ServerKind::YieldingToMisses => true,
            ServerKind::Reclaiming => self.flag,
            _ => false,
        }
    }

    /// Its bandwidth in parts of [`ONE`], rounded up.
    fn bandwidth(&self) -> u64 {
        let whole = u128::from(self.full.as_nanos()) * u128::from(ONE);
        whole.div_ceil(u128::from(self.period.as_nanos().max(1))) as u64
    }

    /// By how much the bandwidth that is active on its core grows and shrinks since this was asked last. A server that does
    /// not reclaim counts always, one that is not in use never.
    pub(super) fn activity(&mut self, awake: bool, unused: bool) -> (u64, u64) {
        let inactive = self.kind == ServerKind::Reclaiming && !awake && !self.flag;
        let counts = if unused || inactive { 0 } else { self.bandwidth() };
        (counts, core::mem::replace(&mut self.counted, counts))
    }

    /// Charges it at this rate from now on, in parts of [`ONE`] and at most that; for one that reclaims.
    pub(super) fn set_rate(&mut self, active: u64) {
        self.rate = active.clamp(1, ONE);
    }

    /// The core has nothing to run: a server that reclaims becomes inactive.
    pub(super) fn processor_idle(&mut self) {
        self.flag &= self.kind != ServerKind::Reclaiming;
    }

    /// What remains of a reclaiming budget, in parts of a nanosecond.
    fn remaining(&self) -> u128 {
        let whole = u128::from(u64::try_from(self.left).unwrap_or(0)) << 32;
        whole.saturating_sub(u128::from(self.fraction))
    }

    /// The first instant that is not before the virtual time of a reclaiming server.
    fn zero_lag(&self) -> Instant {
        let ahead = self.remaining().saturating_mul(u128::from(self.period.as_nanos()))
            / (u128::from(self.full.as_nanos().max(1)) << 32);
        Instant::from_nanos(self.at.as_nanos().saturating_sub(u64::try_from(ahead).unwrap_or(u64::MAX)))
    }

    /// Charges a reclaiming budget for what ran at its rate.
    fn charge_at_rate(&mut self, ran: Duration) {
        let charge = u128::from(ran.as_nanos()) * u128::from(self.rate) + u128::from(self.fraction);
        self.fraction = (charge % u128::from(ONE)) as u64;
        self.left = self.left.saturating_sub(i64::try_from(charge >> 32).unwrap_or(i64::MAX));
    }

    /// Whether it is used up while it is the most urgent and has no work: at once, or as time passes.
    pub(crate) fn when_idle(&self) -> WhenIdle {
        match self.kind {
            ServerKind::Periodic => WhenIdle::Drain,
            ServerKind::Polling => WhenIdle::Forfeit,
            _ => WhenIdle::Preserve,
        }
    }

    /// Whether it is charged for lines from memory instead of time.
    #[inline]
    pub(super) fn is_of_misses(&self) -> bool {
        self.kind == ServerKind::Misses
    }

    /// One of misses: lines were asked for and written back, each of which takes memory so long.
    pub(super) fn charge_lines(&mut self, line: Duration, asked: u32, written: u32) {
        self.left = self.left.saturating_sub(signed(line * u64::from(asked)));
        self.used = self.used.checked_add(line * u64::from(written)).unwrap_or(Duration::MAX);
        self.flag |= (asked > 0 || written > 0) && self.is_out_of_lines();
    }

    /// One of misses: whether what it was charged since this was asked last brought it to an end.
    pub(super) fn came_to_an_end(&mut self) -> bool {
        core::mem::take(&mut self.flag)
    }

    /// One of misses: whether nothing is left of one of its budgets.
    fn is_out_of_lines(&self) -> bool {
        self.left <= 0 || self.used >= self.writes
    }

    /// Whether it gives way to a counter.
    pub(super) fn yields(&self) -> bool {
        self.kind.yields()
    }

    /// One that gives way to a counter: so many events were counted in the period that is over.
    pub(super) fn note_sample(&mut self, events: u32) {
        self.used = Duration::from_nanos(events.into());
    }

    /// One that gives way to a counter: a period is over. Whether it gave way before, and whether it gives way from now on.
    pub(super) fn end_sampled_period(&mut self, now: Instant) -> (bool, bool) {
        let periods = now.since(self.at) / self.period + 1;
        self.at = self.at.saturating_add(self.period * periods);
        let gave_way = core::mem::replace(&mut self.flag, self.used > self.full);
        self.used = Duration::ZERO;
        (gave_way, self.flag)
    }

    /// Whether work may run at `now`.
    pub fn eligible(&self, now: Instant) -> bool {
        !self.left(now).is_zero()
    }

    /// For how long work may run from `now` on before [`charge`](Budget::charge) has to be called.
    pub fn left(&self, now: Instant) -> Duration {
        let left = Duration::from_nanos(u64::try_from(self.left).unwrap_or(0));
        match self.kind {
            ServerKind::Sporadic => match self.replenishments.first() {
                Some(head) if head.at <= now => head.amount.saturating_sub(self.used),
                _ => Duration::ZERO,
            },
            ServerKind::PriorityInheriting => match self.flag {
                true => left,
                false if self.at <= now => self.full,
                false => Duration::ZERO,
            },
            ServerKind::SoftBandwidth | ServerKind::HardBandwidth if self.flag => Duration::ZERO,
            ServerKind::Reclaiming => {
                let time = self.remaining().div_ceil(u128::from(self.rate));
                Duration::from_nanos(u64::try_from(time).unwrap_or(u64::MAX))
            }
            ServerKind::Windows => match self.table.as_ref().map(|table| table.position(now)) {
                Some(position) if position.inside => position.until.since(now),
                _ => Duration::ZERO,
            },
            ServerKind::Misses => match left.min(self.writes.saturating_sub(self.used)) {
                none if none.is_zero() => none,
                left => left.max(self.period / MOST_LOOKS),
            },
            ServerKind::YieldingToChanged | ServerKind::YieldingToMisses if self.flag => Duration::ZERO,
            ServerKind::YieldingToChanged | ServerKind::YieldingToMisses => Duration::MAX,
            _ => left,
        }
    }

    /// When a replenishment comes that can make it eligible or give it another deadline; never, if none is to come.
    pub fn next(&self, now: Instant) -> Instant {
        match self.kind {
            ServerKind::Periodic | ServerKind::Polling | ServerKind::Deferrable => self.at,
            ServerKind::YieldingToChanged | ServerKind::YieldingToMisses => self.at,
            ServerKind::Misses => {
                // As many budgets later as the larger debt takes whole.
                let asked = u64::try_from(-self.left).unwrap_or(0) / self.full.as_nanos().max(1);
                let debt = asked.max(self.used.saturating_sub(self.writes) / self.writes);
                self.at.saturating_add(Duration::from_nanos(self.period.as_nanos().saturating_mul(debt)))
            }
            ServerKind::SoftBandwidth | ServerKind::HardBandwidth if self.flag => self.at,
            ServerKind::SoftBandwidth | ServerKind::HardBandwidth => Instant::NEVER,
            ServerKind::Reclaiming if self.flag => self.zero_lag(),
            ServerKind::Reclaiming => Instant::NEVER,
            ServerKind::Sporadic => self.replenishments.first().map_or(Instant::NEVER, |head| match head.at <= now {
                true => Instant::NEVER,
                false => head.at,
            }),
            ServerKind::PriorityInheriting if !self.flag && self.at > now => self.at,
            ServerKind::PriorityInheriting => Instant::NEVER,
            ServerKind::Windows => self.table.as_ref().map_or(Instant::NEVER, |table| table.position(now).until),
        }
    }

    /// The deadline that it has among servers and tasks that are ordered by deadlines.
    pub fn deadline(&self) -> Instant {
        let from = match self.kind {
            ServerKind::Periodic | ServerKind::Polling | ServerKind::Deferrable | ServerKind::Misses => return self.at,
            ServerKind::SoftBandwidth | ServerKind::HardBandwidth | ServerKind::Reclaiming => return self.at,
            ServerKind::Sporadic => self.replenishments.first().map_or(Instant::ZERO, |head| head.at),
            // Since when it might run, whether or not it has begun.
            ServerKind::PriorityInheriting => self.at,
            // Partitions are never compared: no two have a core at once.
            ServerKind::Windows => Instant::ZERO,
            // Whoever has a deadline goes first.
            ServerKind::YieldingToChanged | ServerKind::YieldingToMisses => return Instant::NEVER,
        };
        from.saturating_add(self.period)
    }

    /// Makes due what has come up to `now`. What arrived, if anything.
    pub fn refresh(&mut self, now: Instant) -> Option<Duration> {
        match self.kind {
            ServerKind::Periodic | ServerKind::Polling | ServerKind::Deferrable => {
                if now < self.at {
                    return None;
                }
                let whole = now.since(self.at) / self.period;
                self.at = self.at.saturating_add(self.period).saturating_add(self.period * whole);
                // A debt of the last period is paid by this one; it is at most a notice that came late.
                self.left = signed(self.full) + self.left.min(0);
                Some(self.full)
            }
            ServerKind::Misses => {
                if now < self.at {
                    return None;
                }
                let periods = now.since(self.at) / self.period + 1;
                self.at = self.at.saturating_add(self.period * periods);
                // A debt may be of several budgets.
                let paid = signed(self.full).saturating_mul(i64::try_from(periods).unwrap_or(i64::MAX));
                self.left = self.left.min(0).saturating_add(paid).min(signed(self.full));
                self.used = self.used.saturating_sub(self.writes.checked_mul(periods).unwrap_or(Duration::MAX));
                Some(self.full).filter(|_| !self.is_out_of_lines())
            }
            // Its owner looks at what was counted.
            ServerKind::YieldingToChanged | ServerKind::YieldingToMisses => None,
            ServerKind::SoftBandwidth | ServerKind::HardBandwidth => {
                if !self.flag || now < self.at {
                    return None;
                }
                self.postpone(now);
                self.flag = false;
                Some(self.full)
            }
            ServerKind::Reclaiming => {
                self.flag &= now < self.zero_lag();
                None
            }
            // Nothing has to be done: what is due counts from its time on.
            ServerKind::Sporadic | ServerKind::PriorityInheriting | ServerKind::Windows => {
                Some(self.left(now)).filter(|left| !left.is_zero())
            }
        }
    }

    /// A debt is paid by the budgets that follow, each one period later. A server that was kept waiting beyond its deadline
    /// does not catch up on what it missed, or it would disturb others then.
    fn postpone(&mut self, now: Instant) {
        // One step, where a debt of many budgets would take many.
        let full = signed(self.full).max(1);
        let steps = (-self.left).max(0) / full + 1;
        self.left = self.left.saturating_add(full.saturating_mul(steps));
        let steps = Duration::from_nanos(self.period.as_nanos().saturating_mul(steps as u64));
        self.at = self.at.saturating_add(steps);
        if self.at <= now {
            self.at = now.saturating_add(self.period);
            self.left = signed(self.full);
        }
    }

    /// TaskState has run under this budget for the last `ran` up to `now`. Whether the budget came to an end.
    pub fn charge(&mut self, now: Instant, ran: Duration) -> bool {
        if ran.is_zero() {
            return false;
        }
        match self.kind {
            ServerKind::Sporadic => {
                self.used = self.used.checked_add(ran).unwrap_or(Duration::MAX);
                self.use_up(now);
                !self.eligible(now)
            }
            ServerKind::PriorityInheriting => {
                if !self.flag {
                    self.flag = true;
                    self.since = Instant::from_nanos(now.as_nanos().saturating_sub(ran.as_nanos()));
                    self.used = Duration::ZERO;
                    self.left = signed(self.full);
                }
                self.used = self.used.checked_add(ran).unwrap_or(Duration::MAX);
                self.left -= signed(ran);
                if self.left <= 0 {
                    self.close();
                }
                self.left <= 0
            }
            ServerKind::Reclaiming => {
                self.charge_at_rate(ran);
                let exhausted = self.remaining() == 0;
                if exhausted {
                    self.postpone(now);
                }
                exhausted
            }
            ServerKind::SoftBandwidth | ServerKind::HardBandwidth => {
                self.left -= signed(ran);
                if self.left > 0 {
                    return false;
                }
                if self.kind == ServerKind::HardBandwidth && now < self.at {
                    self.flag = true;
                } else {
                    self.postpone(now);
                }
                true
            }
            ServerKind::Periodic | ServerKind::Polling | ServerKind::Deferrable => {
                self.left -= signed(ran);
                self.left <= 0
            }
            ServerKind::Windows => !self.eligible(now),
            ServerKind::Misses | ServerKind::YieldingToChanged | ServerKind::YieldingToMisses => false,
        }
    }

    /// There is work again after there was none.
    pub fn wake(&mut self, now: Instant) {
        self.refresh(now);
        match self.kind {
            ServerKind::SoftBandwidth | ServerKind::HardBandwidth if !self.flag => {
                // The rule of the constant-bandwidth server (Abeni and Buttazzo 1998): what is left may be used until
                // the deadline only if that keeps within the bandwidth.
                let (left, until) = (u128::from(self.left.max(0) as u64), u128::from(self.at.since(now).as_nanos()));
                let (full, period) = (u128::from(self.full.as_nanos()), u128::from(self.period.as_nanos()));
                if self.at <= now || left * period > until * full {
                    self.at = now.saturating_add(self.period);
                    self.left = signed(self.full);
                }
            }
            ServerKind::Reclaiming if self.flag => self.flag = false,
            ServerKind::Reclaiming => {
                (self.at, self.left, self.fraction) = (now.saturating_add(self.period), signed(self.full), 0);
            }
            ServerKind::PriorityInheriting if !self.flag => self.at = self.at.max(now),
            ServerKind::Sporadic if self.eligible(now) => self.replenishments.new_phase(now, self.used),
            _ => {}
        }
    }

    /// There is no more work.
    pub fn block(&mut self, now: Instant) {
        match self.kind {
            ServerKind::Polling => self.left = self.left.min(0),
            ServerKind::Reclaiming => self.flag = now < self.zero_lag(),
            ServerKind::PriorityInheriting if self.flag => self.close(),
            ServerKind::Sporadic => {
                if let Some(head) = self.replenishments.first().filter(|head| !self.used.is_zero() && head.at <= now) {
                    let (rest, later) = (head.amount.saturating_sub(self.used), head.at.saturating_add(self.period));
                    self.replenishments.split(rest, Replenishment { amount: self.used.min(head.amount), at: later });
                    self.used = Duration::ZERO;
                }
            }
            _ => {}
        }
    }

    /// Uses up what is left while there is no work, for the kinds that do.
    pub(crate) fn drain(&mut self, elapsed: Duration) {
        self.left = self.left.saturating_sub(signed(elapsed)).max(0);
    }

    /// What was used returns one period after it was begun, in its own share: `since + used / (full / period)`.
    fn close(&mut self) {
        let (used, period) = (u128::from(self.used.as_nanos()), u128::from(self.period.as_nanos()));
        let wait = (used * period).div_ceil(u128::from(self.full.as_nanos().max(1)));
        self.at = self.since.saturating_add(Duration::from_nanos(u64::try_from(wait).unwrap_or(u64::MAX)));
        self.used = Duration::ZERO;
        self.flag = false;
    }

    /// Sends each replenishment that is used up to one period after its own time. What was used beyond takes the next replenishment from
    /// its beginning.
    fn use_up(&mut self, now: Instant) {
        if self.eligible(now) {
            return;
        }
        while let Some(head) = self.replenishments.first().filter(|head| head.amount <= self.used) {
            self.replenishments.take_first();
            self.used = self.used.saturating_sub(head.amount);
            self.replenishments.insert(Replenishment { amount: head.amount, at: head.at.saturating_add(self.period) });
        }
        if let Some(head) = self.replenishments.first().filter(|head| head.at > now && !self.used.is_zero()) {
            self.replenishments.delay_first(head.at.saturating_add(self.used));
        }
    }
}

/// What becomes of a budget that is the most urgent and has no work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum WhenIdle {
    /// Nothing.
    Preserve,
    /// It goes by like time that is used.
    Drain,
    /// It is gone.
    Forfeit,
}

fn signed(length: Duration) -> i64 {
    i64::try_from(length.as_nanos()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }
    fn at(n: u64) -> Instant {
        Instant::ZERO + ms(n)
    }

    /// The replenishment list of VCPU1 (20 of 50) in Figure 4 of West, Li and Missimer, row by row.
    #[test]
    fn the_list_of_vcpu1_is_that_of_figure_4() {
        let mut budget =
            Budget::new(&Supply { kind: ServerKind::Sporadic, budget: ms(20), period: ms(50), write_backs: None });
        let rows = |budget: &Budget| -> alloc::vec::Vec<(u64, u64)> {
            let replenishments = budget.replenishments.iter();
            replenishments.map(|c| (c.amount.as_nanos() / 1_000_000, c.at.as_nanos() / 1_000_000)).collect()
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
            budget in 1u64..200, longer in 0u64..400, steps in prop::collection::vec((0u8..4, 1u64..9), 1..400),
        ) {
            let time = Duration::from_nanos;
            let (full, period) = (time(budget), time(budget + longer));
            let mut budget = Budget::new(&Supply { kind: ServerKind::Sporadic, budget: full, period, write_backs: None });
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
                let sum = budget.replenishments.iter().fold(Duration::ZERO, |sum, replenishment| sum + replenishment.amount);
                prop_assert_eq!(sum, full);
                let times: alloc::vec::Vec<Instant> = budget.replenishments.iter().map(|replenishment| replenishment.at).collect();
                prop_assert!(times.is_sorted(), "{:?}", times);
                prop_assert!(times.len() <= super::super::MAX_REPLENISHMENTS);
            }
        }

        /// Whatever the kind: work that runs for as long as it may never has more than the budget at once.
        #[test]
        fn nobody_may_run_for_longer_than_the_budget(
            kind in 0usize..8, budget in 1u64..50, longer in 0u64..100, steps in prop::collection::vec((0u8..3, 1u64..40), 1..200),
        ) {
            let kind = [
                ServerKind::Periodic, ServerKind::Polling, ServerKind::Deferrable, ServerKind::Sporadic,
                ServerKind::SoftBandwidth, ServerKind::HardBandwidth,
                ServerKind::PriorityInheriting, ServerKind::Reclaiming,
            ][kind];
            let time = Duration::from_nanos;
            let full = time(budget);
            let mut budget = Budget::new(&Supply { kind, budget: full, period: time(budget + longer), write_backs: None });
            let (mut now, mut awake) = (Instant::ZERO, false);
            for (what, length) in steps {
                budget.refresh(now);
                prop_assert!(budget.left(now) <= full);
                match what {
                    0 if awake => budget.block(now),
                    0 => budget.wake(now),
                    1 if awake => {
                        let ran = time(length).min(budget.left(now));
                        now += ran;
                        budget.charge(now, ran);
                    }
                    _ => now += time(length),
                }
                awake ^= what == 0;
            }
        }
    }
}

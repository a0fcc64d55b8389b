//! The budget of one server on one core: what remains, when more comes, what is charged, when it is used up.
//!
//! A budget knows nothing of queues. Its owner tells it four things, each with the time: so much was used
//! ([`Budget::charge`]), there is work again ([`Budget::wake`]), there is none ([`Budget::block`]), time has passed
//! ([`Budget::refresh`]); and asks whether work may run ([`Budget::eligible`]) and for how long ([`Budget::left`]).
//!
//! Kinds of servers differ in their [`Rules`], each kind or family of kinds with what it has to remember in a file of its own.

mod boundaries;
mod constant_bandwidth;
mod misses;
mod priority_inheriting;
mod reclaiming;
mod replenishments;
mod rules;
mod sporadic;
mod sporadic_polling;
mod windows;
mod yielding;

use self::boundaries::AtBoundaries;
use self::constant_bandwidth::ConstantBandwidth;
use self::misses::Misses;
use self::priority_inheriting::PriorityInheriting;
use self::reclaiming::Reclaiming;
use self::rules::{Lengths, Rules, ONE};
use self::sporadic::Sporadic;
use self::sporadic_polling::SporadicPolling;
use self::windows::Windows;
use self::yielding::Yielding;
use super::parameters::Supply;
use super::timetable::Table;
use tactus_task::{ServerKind, WhenIdle};
use tactus_time::{Duration, Instant};

/// What a kind remembers. The tag is a byte of its own: where it hides in unused values of a field, each call has to work it out.
#[derive(Clone, Debug)]
#[repr(u8)]
enum State {
    AtBoundaries(AtBoundaries),
    Sporadic(Sporadic),
    SporadicPolling(SporadicPolling),
    ConstantBandwidth(ConstantBandwidth),
    PriorityInheriting(PriorityInheriting),
    Reclaiming(Reclaiming),
    Windows(Windows),
    Misses(Misses),
    Yielding(Yielding),
}

/// Calls the rules of whatever kind it is.
macro_rules! rules {
    ($state:expr, $rules:ident => $call:expr) => {
        match $state {
            State::AtBoundaries($rules) => $call,
            State::Sporadic($rules) => $call,
            State::SporadicPolling($rules) => $call,
            State::ConstantBandwidth($rules) => $call,
            State::PriorityInheriting($rules) => $call,
            State::Reclaiming($rules) => $call,
            State::Windows($rules) => $call,
            State::Misses($rules) => $call,
            State::Yielding($rules) => $call,
        }
    };
}

/// The state of a budget.
#[derive(Clone, Debug)]
pub struct Budget {
    of: Lengths,
    state: State,
    /// The bandwidth for which its owner counts it as active.
    counted: u64,
}

impl Budget {
    /// A full budget at time zero.
    pub fn new(supply: &Supply) -> Budget {
        let state = match supply.kind {
            ServerKind::Periodic | ServerKind::Polling | ServerKind::Deferrable => {
                State::AtBoundaries(AtBoundaries::new(supply.kind.when_idle()))
            }
            ServerKind::Sporadic => State::Sporadic(Sporadic::default()),
            ServerKind::SporadicPolling => State::SporadicPolling(SporadicPolling::default()),
            ServerKind::SoftBandwidth => State::ConstantBandwidth(ConstantBandwidth::soft()),
            ServerKind::HardBandwidth => State::ConstantBandwidth(ConstantBandwidth::hard()),
            ServerKind::PriorityInheriting => State::PriorityInheriting(PriorityInheriting::default()),
            ServerKind::Reclaiming => State::Reclaiming(Reclaiming::default()),
            ServerKind::Windows => State::Windows(Windows::default()),
            ServerKind::Misses => State::Misses(Misses::new(supply.write_backs)),
            ServerKind::YieldingToChanged | ServerKind::YieldingToMisses => State::Yielding(Yielding::default()),
        };
        let of = Lengths { full: supply.budget, period: supply.period };
        let mut budget = Budget { of, state, counted: 0 };
        budget.restart(None, Instant::ZERO);
        budget
    }

    /// Restarts it at `now`, full, perhaps with another budget and period. Gives the budget.
    pub(super) fn restart(&mut self, lengths: Option<(Duration, Duration)>, now: Instant) -> Duration {
        if let Some((full, period)) = lengths {
            self.of = Lengths { full, period };
        }
        rules!(&mut self.state, it => it.restart(self.of, now));
        self.of.full
    }

    /// A full budget, and its period.
    pub(super) fn lengths(&self) -> (Duration, Duration) {
        (self.of.full, self.of.period)
    }

    /// A partition has the windows of this table from now on.
    pub(super) fn follow(&mut self, table: Table) {
        if let State::Windows(it) = &mut self.state {
            it.follow(table);
        }
    }

    /// Whether it changes by time whether or not there is work, so that its owner has to look at it at [`Budget::next`].
    pub(crate) fn ticks_on(&self) -> bool {
        rules!(&self.state, it => it.ticks_on())
    }

    /// By how much the bandwidth that is active on its core grows and shrinks since this was asked last. A server that does
    /// not reclaim counts always, one that is not in use never.
    pub(super) fn activity(&mut self, awake: bool, unused: bool) -> (u64, u64) {
        let inactive = matches!(&self.state, State::Reclaiming(it) if !awake && !it.is_non_contending());
        let counts = if unused || inactive { 0 } else { self.bandwidth() };
        (counts, core::mem::replace(&mut self.counted, counts))
    }

    /// Its bandwidth in parts of [`ONE`], rounded up.
    fn bandwidth(&self) -> u64 {
        let whole = u128::from(self.of.full.as_nanos()) * u128::from(ONE);
        whole.div_ceil(u128::from(self.of.period.as_nanos().max(1))) as u64
    }

    /// Its part that reclaims, if its kind does.
    pub(super) fn reclaiming(&mut self) -> Option<&mut Reclaiming> {
        match &mut self.state {
            State::Reclaiming(it) => Some(it),
            _ => None,
        }
    }

    /// Its lines from memory, if it is charged for those instead of time.
    pub(super) fn misses(&mut self) -> Option<&mut Misses> {
        match &mut self.state {
            State::Misses(it) => Some(it),
            _ => None,
        }
    }

    /// One that gives way to a counter: what was counted.
    pub(super) fn yielding(&mut self) -> Option<&mut Yielding> {
        match &mut self.state {
            State::Yielding(it) => Some(it),
            _ => None,
        }
    }

    /// Whether it is used up while it is the most urgent and has no work: at once, or as time passes.
    pub(crate) fn when_idle(&self) -> WhenIdle {
        match &self.state {
            State::AtBoundaries(it) => it.when_idle(),
            _ => WhenIdle::Preserve,
        }
    }

    /// Uses up what is left while there is no work, for the kinds that do.
    pub(crate) fn drain(&mut self, elapsed: Duration) {
        if let State::AtBoundaries(it) = &mut self.state {
            it.drain(elapsed);
        }
    }

    /// Whether work may run at `now`.
    pub fn eligible(&self, now: Instant) -> bool {
        !self.left(now).is_zero()
    }

    /// For how long work may run from `now` on before [`charge`](Budget::charge) has to be called.
    pub fn left(&self, now: Instant) -> Duration {
        rules!(&self.state, it => it.left(self.of, now))
    }

    /// When a replenishment comes that can make it eligible or give it another deadline; never, if none is to come.
    pub fn next(&self, now: Instant) -> Instant {
        rules!(&self.state, it => it.next(self.of, now))
    }

    /// The deadline that it has among servers and tasks that are ordered by deadlines.
    pub fn deadline(&self) -> Instant {
        rules!(&self.state, it => it.deadline(self.of))
    }

    /// Makes due what has come up to `now`. What arrived, if anything.
    pub fn refresh(&mut self, now: Instant) -> Option<Duration> {
        rules!(&mut self.state, it => it.refresh(self.of, now))
    }

    /// A job has run under this budget for the last `ran` up to `now`. Whether the budget came to an end.
    pub fn charge(&mut self, now: Instant, ran: Duration) -> bool {
        // Lines are charged when they are counted.
        if ran.is_zero() && !matches!(self.state, State::Misses(_)) {
            return false;
        }
        rules!(&mut self.state, it => it.charge(self.of, now, ran))
    }

    /// There is work again after there was none.
    pub fn wake(&mut self, now: Instant) {
        self.refresh(now);
        rules!(&mut self.state, it => it.wake(self.of, now));
    }

    /// There is no more work.
    pub fn block(&mut self, now: Instant) {
        rules!(&mut self.state, it => it.block(self.of, now));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Whatever the kind: work that runs for as long as it may never has more than the budget at once.
        #[test]
        fn nobody_may_run_for_longer_than_the_budget(
            kind in prop::sample::select(ServerKind::ALL.into_iter().filter(|kind| kind.has_time_budget()).collect::<alloc::vec::Vec<_>>()), budget in 1u64..50, longer in 0u64..100, steps in prop::collection::vec((0u8..3, 1u64..40), 1..200),
        ) {
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

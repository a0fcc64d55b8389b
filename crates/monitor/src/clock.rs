//! The stepper of monitors with a clock. Nothing here allocates; the clock is passed in.
//!
//! A monitor has one timer at most: the awaited event must come no later than [`TimedStepper::expiry`]. Whoever owns the clock
//! calls [`TimedStepper::expire`] when that has passed, so that a verdict does not wait for the next event.
//!
//! Times are those of the events, which never go back. "At most d later" includes the instant exactly d later.

use crate::step::Step;
use crate::table::Table;
use crate::verdict::Verdict;
use tactus_time::{Duration, Instant};

/// The most events of a chain whose latency is bounded.
pub const MOST_STAGES: usize = 8;

/// Class bit: the condition that the rule is about holds after the event.
pub const CONDITION: u8 = 1;
/// Class bit: what the rule demands of it holds after the event.
pub const DEMAND: u8 = 2;
/// Class bit: the property is violated by this event, whatever the time. Of responses and freshness only.
pub const BROKEN: u8 = 4;

/// What a monitor with a clock watches. A *condition* and a *demand* say what is and what was, of events and states.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// After the condition, the demand at some event at most this much later; the same event counts.
    Response(Duration),
    /// From the condition on, the demand at every event at most this much later, the same event included.
    Invariance(Duration),
    /// With the condition, the demand at some event at most this much earlier; the same event counts.
    Freshness(Duration),
    /// From one event with the condition to the next, no less than this.
    LeastDistance(Duration),
    /// From one event with the condition to the next, no more than this. Before the first, no time is counted.
    GreatestDistance(Duration),
    /// From the first event of a chain to the last, along the data: no more than this. Class bit `i` is the `i`-th event; each takes
    /// the stamp that the one before it left, as the reader of an unqueued channel does.
    Latency {
        /// The number of events, 2 to [`MOST_STAGES`].
        stages: u8,
        /// The greatest age at the last event.
        length: Duration,
    },
}

/// What does not change about a monitor with a clock.
#[derive(Clone, Copy, Debug)]
pub struct TimedDescriptor<'t> {
    /// The transitions of its automata.
    pub table: Table<'t>,
    /// The class of each state.
    pub classes: &'t [u8],
    /// The state before the first event.
    pub initial: u32,
    /// What it watches.
    pub rule: Rule,
    /// Whether it starts anew after a verdict; otherwise it stops.
    pub reset: bool,
}

/// A monitor with a clock, at work.
#[derive(Clone, Copy, Debug)]
pub struct TimedStepper<'t> {
    descriptor: TimedDescriptor<'t>,
    state: u32,
    /// The instants that the rule remembers; [`Instant::NEVER`] for none. All but a chain use the first only.
    stamps: [Instant; MOST_STAGES],
    stopped: bool,
    /// The state in which the event, or the time, that brought the last verdict found it.
    left: u32,
}

const NONE: Instant = Instant::NEVER;

impl<'t> TimedStepper<'t> {
    /// A monitor that has seen no event.
    pub const fn new(descriptor: TimedDescriptor<'t>) -> Self {
        let initial = descriptor.initial;
        TimedStepper { state: initial, descriptor, stamps: [NONE; MOST_STAGES], stopped: false, left: initial }
    }
    /// The state of its automata.
    pub const fn state(&self) -> u32 {
        self.state
    }
    /// The state in which the event, or the time, that brought the last verdict found the monitor.
    pub const fn left(&self) -> u32 {
        self.left
    }
    /// The last instant at which the awaited event is in time, if one is awaited.
    pub fn expiry(&self) -> Option<Instant> {
        let (Rule::Response(length) | Rule::GreatestDistance(length)) = self.descriptor.rule else { return None };
        (self.stamps[0] != NONE && !self.stopped).then(|| self.stamps[0].saturating_add(length))
    }
    /// Tells that it is `now` and nothing happened. False is concluded if [`TimedStepper::expiry`] is earlier than `now`.
    pub fn expire(&mut self, now: Instant) -> Step {
        if self.stopped {
            return Step::Stopped;
        }
        match self.expiry() {
            Some(expiry) if expiry < now => self.conclude(self.state),
            _ => Step::Continues,
        }
    }
    /// Takes one event, by its column, and the time at which it happens. An event without a column changes nothing but may show
    /// that another one did not come in time.
    pub fn step(&mut self, event: u32, now: Instant) -> Step {
        if self.stopped {
            return Step::Stopped;
        }
        if let late @ Step::Concluded(_) = self.expire(now) {
            return late;
        }
        if event >= self.descriptor.table.layout().events {
            return Step::Continues;
        }
        let left = self.state;
        self.state = self.descriptor.table.next(left, event);
        let class = self.descriptor.classes.get(self.state as usize).copied().unwrap_or(0);
        if self.allows(class, now) {
            Step::Continues
        } else {
            self.conclude(left)
        }
    }
    /// Forgets all events.
    pub fn restart(&mut self) {
        *self = TimedStepper::new(self.descriptor);
    }

    fn conclude(&mut self, left: u32) -> Step {
        if self.descriptor.reset {
            self.restart();
        } else {
            self.stopped = true;
        }
        self.left = left;
        Step::Concluded(Verdict::False)
    }

    fn allows(&mut self, class: u8, now: Instant) -> bool {
        let (condition, demand) = (class & CONDITION != 0, class & DEMAND != 0);
        let stamp = self.stamps[0];
        let within = |length: Duration| stamp != NONE && now.since(stamp) <= length;
        match self.descriptor.rule {
            Rule::Response(_) => {
                if demand {
                    self.stamps[0] = NONE;
                } else if condition && stamp == NONE {
                    self.stamps[0] = now;
                }
                class & BROKEN == 0
            }
            Rule::Invariance(length) => {
                let bound = condition || within(length);
                if condition {
                    self.stamps[0] = now;
                }
                demand || !bound
            }
            Rule::Freshness(length) => {
                if demand {
                    self.stamps[0] = now;
                }
                class & BROKEN == 0 && (!condition || demand || within(length))
            }
            Rule::LeastDistance(length) => {
                let early = condition && stamp != NONE && now.since(stamp) < length;
                if condition {
                    self.stamps[0] = now;
                }
                !early
            }
            Rule::GreatestDistance(_) => {
                if condition {
                    self.stamps[0] = now;
                }
                true
            }
            Rule::Latency { stages, length } => {
                // The last first: one event that is two of the chain takes what was there before it.
                let holds = |stage: usize| class >> stage & 1 == 1;
                let last = (stages as usize).clamp(2, MOST_STAGES) - 1;
                let origin = self.stamps[last - 1];
                let late = holds(last) && origin != NONE && now.since(origin) > length;
                for stage in (1..last).rev().filter(|&stage| holds(stage)) {
                    self.stamps[stage] = self.stamps[stage - 1];
                }
                if holds(0) {
                    self.stamps[0] = now;
                }
                !late
            }
        }
    }
}

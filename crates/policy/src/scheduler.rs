//! The scheduler that is any one of the policies in the list.

use crate::clustered::Clustered;
use crate::jobs::{DeadlineMonotonic, EarliestDeadline, FixedPriority, RateMonotonic};
use crate::list::policies;
use crate::mc2::Containers;
use crate::mixed::Modes;
use crate::partitioned::Partitioned;
use crate::tree::Servers;
use crate::{check, Decision, Event, Input as Fact, Policy, PolicyConfig, PolicyConfigError, PolicySpec, ResourceSet};
use alloc::vec::Vec;
use tactus_record::Sink;
use tactus_time::{Instant, TaskId};

/// Makes [`Scheduler`] and [`CoreState`] from the list.
macro_rules! schedulers {
    ($($(#[doc = $says:literal])* $number:literal $name:ident $(($parameters:ty))? => $policy:ty : $program:literal,)*) => {
        #[repr(u8)]
        enum Shared {
            $($name($policy),)*
        }

        #[repr(u8)]
        enum Own {
            $($name(<$policy as Policy>::Core),)*
        }

        fn make(setup: &PolicyConfig) -> Result<(Scheduler, Vec<CoreState>), PolicyConfigError> {
            match &setup.kind {
                $(PolicySpec::$name { .. } => {
                    <$policy>::check(setup)?;
                    let (shared, cores) = <$policy>::new(setup);
                    let cores = cores.into_iter().map(|core| CoreState(Own::$name(core))).collect();
                    Ok((Scheduler(Shared::$name(shared)), cores))
                })*
            }
        }

        impl Scheduler {
            /// Lets the visitor see the policy and its part of the core's state, each in its own type: what the visitor
            /// does around a decision is compiled together with it, once for each policy.
            ///
            /// # Panics
            /// If `core` was made together with a scheduler of another kind.
            #[inline(always)]
            pub fn visit<V: Visitor>(&self, core: &mut CoreState, visitor: V) -> V::Output {
                match (&self.0, &mut core.0) {
                    $((Shared::$name(shared), Own::$name(core)) => visitor.visit(shared, core),)*
                    _ => panic!("the core's state belongs to a scheduler of another kind"),
                }
            }
        }
    };
}

policies! { schedulers }

/// The policy of one system: what all its cores share.
pub struct Scheduler(Shared);

/// What belongs to one core. Its owner is the only one to touch it.
pub struct CoreState(Own);

/// Something to be done with a policy, whichever it is.
pub trait Visitor {
    /// What comes of it.
    type Output;

    /// Does it.
    fn visit<P: Policy>(self, policy: &P, core: &mut P::Core) -> Self::Output;
}

/// One decision.
struct Handle<'a, S> {
    now: Instant,
    event: Event,
    records: &'a mut S,
}

/// The end of a time-out, the short way.
struct Expire<'a, S> {
    now: Instant,
    records: &'a mut S,
}

/// An arrival, the short way.
struct Arrive<'a, S> {
    now: Instant,
    arrival: (TaskId, Instant),
    /// Only where its job has the core at once; then whether that is idle.
    first: Option<bool>,
    records: &'a mut S,
}

/// The end of a critical section, the short way.
struct Unlock<'a, S> {
    now: Instant,
    records: &'a mut S,
}

/// A fact before a decision.
struct Tell(Fact);

impl Visitor for Tell {
    type Output = ();

    fn visit<P: Policy>(self, policy: &P, core: &mut P::Core) {
        policy.input(core, self.0);
    }
}

impl<S: Sink> Visitor for Expire<'_, S> {
    type Output = Option<Decision>;

    fn visit<P: Policy>(self, policy: &P, core: &mut P::Core) -> Option<Decision> {
        policy.expire(core, self.now, self.records)
    }
}

impl<S: Sink> Visitor for Arrive<'_, S> {
    type Output = Option<Decision>;

    fn visit<P: Policy>(self, policy: &P, core: &mut P::Core) -> Option<Decision> {
        match self.first {
            Some(is_idle) => policy.arrive_first(core, self.now, self.arrival, is_idle, self.records),
            None => policy.arrive(core, self.now, self.arrival, self.records),
        }
    }
}

impl<S: Sink> Visitor for Unlock<'_, S> {
    type Output = Option<Decision>;

    fn visit<P: Policy>(self, policy: &P, core: &mut P::Core) -> Option<Decision> {
        policy.unlock(core, self.now, self.records)
    }
}

impl<S: Sink> Visitor for Handle<'_, S> {
    type Output = Decision;

    fn visit<P: Policy>(self, policy: &P, core: &mut P::Core) -> Decision {
        policy.handle(core, self.now, self.event, self.records)
    }
}

impl Policy for Scheduler {
    type Core = CoreState;

    const RESOURCES: bool = true;
    const EXPIRES: bool = true;

    /// # Panics
    /// If `core` was made together with a scheduler of another kind.
    fn handle<S: Sink>(&self, core: &mut CoreState, now: Instant, event: Event, records: &mut S) -> Decision {
        self.visit(core, Handle { now, event, records })
    }

    /// # Panics
    /// As [`Scheduler::visit`].
    fn input(&self, core: &mut CoreState, input: Fact) {
        self.visit(core, Tell(input));
    }

    fn awaits_unlock(&self, core: &CoreState) -> bool {
        match (&self.0, &core.0) {
            (Shared::Resources(shared), Own::Resources(core)) => shared.awaits_unlock(core),
            _ => false,
        }
    }

    fn is_loaded(&self, core: &mut CoreState, slot: u16) -> bool {
        match (&self.0, &mut core.0) {
            (Shared::ReconfigurableTree(shared), Own::ReconfigurableTree(core)) => shared.is_loaded(core, slot),
            _ => false,
        }
    }

    fn locked<'c>(&self, core: &'c CoreState) -> &'c ResourceSet {
        match (&self.0, &core.0) {
            (Shared::Resources(shared), Own::Resources(core)) => shared.locked(core),
            _ => ResourceSet::NONE,
        }
    }

    /// # Panics
    /// As [`Scheduler::visit`].
    fn expire<S: Sink>(&self, core: &mut CoreState, now: Instant, records: &mut S) -> Option<Decision> {
        self.visit(core, Expire { now, records })
    }

    fn may_arrive(&self, core: &CoreState, task: TaskId) -> bool {
        match (&self.0, &core.0) {
            (Shared::Servers(shared), Own::Servers(core)) => shared.may_arrive(core, task),
            (Shared::Resources(shared), Own::Resources(core)) => shared.may_arrive(core, task),
            _ => false,
        }
    }

    /// # Panics
    /// As [`Scheduler::visit`].
    fn arrive<S: Sink>(
        &self,
        core: &mut CoreState,
        now: Instant,
        arrival: (TaskId, Instant),
        records: &mut S,
    ) -> Option<Decision> {
        self.visit(core, Arrive { now, arrival, first: None, records })
    }

    /// # Panics
    /// As [`Scheduler::visit`].
    fn arrive_first<S: Sink>(
        &self,
        core: &mut CoreState,
        now: Instant,
        arrival: (TaskId, Instant),
        is_idle: bool,
        records: &mut S,
    ) -> Option<Decision> {
        self.visit(core, Arrive { now, arrival, first: Some(is_idle), records })
    }

    /// # Panics
    /// As [`Scheduler::visit`].
    fn unlock<S: Sink>(&self, core: &mut CoreState, now: Instant, records: &mut S) -> Option<Decision> {
        self.visit(core, Unlock { now, records })
    }
}

impl Scheduler {
    /// Makes the scheduler and the state of each core, in core order. All memory that it will ever need is taken here.
    ///
    /// # Errors
    /// If the set-up breaks a rule; the first one found.
    pub fn new(setup: &PolicyConfig) -> Result<(Scheduler, Vec<CoreState>), PolicyConfigError> {
        check::check(setup)?;
        make(setup)
    }
}

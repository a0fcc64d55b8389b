//! Where policies are listed: one line for each in [`Scheduler::new`].

use crate::jobs::Rule;
use crate::{check, global, mc2, partitioned};
use crate::{Decision, Event, Kind, Policy, Setup, SetupError};
use alloc::vec::Vec;
use tactus_record::Sink;
use tactus_time::Instant;

/// The policy of one system: what all its cores share.
pub struct Scheduler(Shared);

enum Shared {
    Partitioned,
    Global(global::Global),
    Mc2(mc2::Containers),
}

/// What belongs to one core. Its owner is the only one to touch it.
pub struct CoreState(Own);

enum Own {
    Partitioned(partitioned::Core),
    Global(global::Core),
    Mc2(mc2::Core),
}

impl Scheduler {
    /// Makes the scheduler and the state of each core, in core order. All memory that it will ever need is taken here.
    ///
    /// # Errors
    /// If the set-up breaks a rule; the first one found.
    pub fn new(setup: &Setup) -> Result<(Scheduler, Vec<CoreState>), SetupError> {
        check::check(setup)?;
        Ok(match &setup.kind {
            Kind::PartitionedRm => partition(partitioned::cores(setup, Rule::RateMonotonic)),
            Kind::PartitionedEdf => partition(partitioned::cores(setup, Rule::EarliestDeadline)),
            Kind::GlobalRm => globe(global::new(setup, Rule::RateMonotonic)),
            Kind::GlobalEdf => globe(global::new(setup, Rule::EarliestDeadline)),
            Kind::Mc2(parameters) => mixed(mc2::new(setup, parameters)),
        })
    }
}

fn partition(cores: Vec<partitioned::Core>) -> (Scheduler, Vec<CoreState>) {
    (Scheduler(Shared::Partitioned), cores.into_iter().map(|core| CoreState(Own::Partitioned(core))).collect())
}

fn globe((shared, cores): (global::Global, Vec<global::Core>)) -> (Scheduler, Vec<CoreState>) {
    (Scheduler(Shared::Global(shared)), cores.into_iter().map(|core| CoreState(Own::Global(core))).collect())
}

fn mixed((shared, cores): (mc2::Containers, Vec<mc2::Core>)) -> (Scheduler, Vec<CoreState>) {
    (Scheduler(Shared::Mc2(shared)), cores.into_iter().map(|core| CoreState(Own::Mc2(core))).collect())
}

impl Policy for Scheduler {
    type Core = CoreState;

    /// # Panics
    /// If `core` was made together with a scheduler of another kind.
    #[inline]
    fn handle(&self, core: &mut CoreState, now: Instant, event: Event, records: &mut dyn Sink) -> Decision {
        match (&self.0, &mut core.0) {
            (Shared::Partitioned, Own::Partitioned(core)) => core.handle(now, event, records),
            (Shared::Global(shared), Own::Global(core)) => shared.handle(core, now, event, records),
            (Shared::Mc2(shared), Own::Mc2(core)) => shared.handle(core, now, event, records),
            _ => panic!("the core's state belongs to a scheduler of another kind"),
        }
    }
}

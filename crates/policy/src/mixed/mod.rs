//! Two levels of criticality on each core by itself: critical jobs (HI, level A) beside others (LO). While every critical
//! job keeps to its LO time, all are served. Once one does not, its core gives up its LO tasks until it has nothing left to do.
//!
//! - **AMC** (adaptive mixed criticality: Baruah, Burns and Davis, RTSS 2011): fixed priorities.
//! - **EDF-VD** (Baruah et al., ECRTS 2012): by deadlines, critical tasks by earlier virtual ones as long as all are served.
//!
//! What the sources leave open, and what is done here:
//! - a core changes its mode when a critical job has used its LO time and is not finished, **not** for other cores;
//! - LO jobs that are released and unfinished then are dropped at once, begun or not, and those that come later at their release;
//! - it goes back at the first instant at which no job is left that was released before (an idle instant, as the sources'
//!   proofs need it): a LO job that is released at that very instant is served;
//! - budgets are enforced: a LO job ends when it has used its LO time, a critical one when it has used its HI time. A
//!   critical job without a longer HI time ends as well, and changes no mode: there is nothing that it could be given.
//!
//! The tasks may change while the system runs (`reconfigure`).

mod core;
mod parameters;
mod reconfigure;

use crate::{check, Decision, Event, Policy, PolicyConfig, PolicyConfigError, PolicySpec, Reconfigurable};
use alloc::vec::Vec;
use core::Core;
pub use parameters::{Dual, DualNow, Mixed, MixedOrder};
use tactus_record::Sink;
use tactus_time::{CoreId, Instant, Level, TaskId};

/// What the cores share: nothing.
pub struct Modes;

impl Modes {
    /// Finds the first thing that is wrong.
    pub(crate) fn check(setup: &PolicyConfig) -> Result<(), PolicyConfigError> {
        let mixed = parameters(setup);
        if mixed.tasks.len() != setup.tasks.len() {
            return Err(PolicyConfigError::DualCount(mixed.tasks.len()));
        }
        check::cores_of_tasks(setup, |_| true)?;
        for (n, (task, dual)) in setup.tasks.iter().zip(&mixed.tasks).enumerate() {
            let id = TaskId(n as u16);
            if task.budget.is_zero() || dual.low.is_zero() {
                return Err(PolicyConfigError::ZeroBudget(id));
            }
            if dual.low > task.budget || (task.level != Level::A && dual.low != task.budget) {
                return Err(PolicyConfigError::LowBudget(id));
            }
        }
        match &setup.kind {
            PolicySpec::ReconfigurableMixed(all) => reconfigure::check(setup, all),
            _ => Ok(()),
        }
    }

    /// Makes all cores. The set-up must have been checked.
    pub(crate) fn new(setup: &PolicyConfig) -> (Self, Vec<Core>) {
        let core = |n| {
            let mut core = Core::new(setup, parameters(setup), CoreId(n as u8));
            if let PolicySpec::ReconfigurableMixed(all) = &setup.kind {
                core.attach(setup, all);
            }
            core
        };
        (Modes, (0..setup.cores).map(core).collect())
    }
}

/// The parameters in a set-up for such a policy.
fn parameters(setup: &PolicyConfig) -> &Mixed {
    match &setup.kind {
        PolicySpec::Mixed(mixed) | PolicySpec::ReconfigurableMixed(Reconfigurable { policy: mixed, .. }) => mixed,
        other => unreachable!("the list of policies takes two levels for {other:?}"),
    }
}

impl Policy for Modes {
    type Core = Core;

    fn handle<S: Sink>(&self, core: &mut Core, now: Instant, event: Event, records: &mut S) -> Decision {
        core.handle(now, event, records)
    }
}

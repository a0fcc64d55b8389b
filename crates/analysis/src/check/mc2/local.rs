//! What is known of a core's levels A and B, and of the whole system, at one set of allowances.

use crate::arrivals::Instants;
use crate::global::tardiness::{Supply, Unbounded};
use crate::mc2::supply::Curve;
use crate::mc2::table::{Plan, Refusal};
use crate::task::Sporadic;
use tactus_model::System;
use tactus_time::{Duration, Level};

/// What one core's levels A and B come to.
pub(super) struct Local {
    pub core: usize,
    pub level_a: Vec<usize>,
    pub level_b: Vec<usize>,
    pub plan: Result<Plan, Refusal>,
    /// The level-B tasks and what the table takes, as the test sees them.
    pub sporadic: Vec<Sporadic>,
    pub curve: Curve,
    /// Response bounds in the order of `level_b`; nothing where the test gives none.
    pub responses: Option<Vec<Duration>>,
}

/// The whole system at one set of allowances.
pub(super) struct Analysis {
    pub locals: Vec<Local>,
    pub level_c: Vec<usize>,
    /// Tardiness bounds in the order of `level_c`.
    pub late: Result<Vec<Duration>, Unbounded>,
    pub supply: Vec<Supply>,
    pub sporadic: Vec<Sporadic>,
}

pub(super) fn of_level(system: &System, level: Level, core: Option<usize>) -> Vec<usize> {
    let fits = |n: &usize| {
        let t = &system.tasks[*n];
        t.level == Some(level) && core.is_none_or(|core| t.core.is_some_and(|c| c.index() == core))
    };
    (0..system.tasks.len()).filter(fits).collect()
}

/// The release instants of all tasks and the slot boundaries of all tables.
pub(super) fn instants(system: &System, locals: &[Local]) -> Instants {
    let releases = system.tasks.iter().map(|t| (t.offset, t.period));
    let boundaries = locals.iter().filter_map(|l| l.plan.as_ref().ok()).flat_map(|plan| {
        let table = plan.table();
        table.slots.into_iter().flat_map(move |s| [(s.start, table.cycle), (s.end, table.cycle)])
    });
    Instants::of(releases.chain(boundaries), system.duration)
}

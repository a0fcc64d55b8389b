//! Jobs whose laxities lie near each other: which of them goes first, the system's own work may turn.

use super::{steps, Divergence, Step};
use tactus_policy::PolicyConfig;
use tactus_record::EventKind;
use tactus_task::TaskOrder;
use tactus_time::{Duration, Instant, TaskId};
use tactus_trace::Trace;

/// Where the runs part by running two jobs that one queue orders by laxity: the last instants at which each of them could begin what
/// it has left in the free run, the earlier one first.
pub fn latest_starts(
    setup: &PolicyConfig,
    demand: &mut impl FnMut(TaskId, u32) -> Option<Duration>,
    expected: &Trace,
    divergence: &Divergence,
) -> Option<(Instant, Instant)> {
    let (a, b) = (divergence.expected?, divergence.found?);
    let queue = |step: &Step| {
        let tree = setup.kind.tree()?;
        let server = tree.places.get(step.task.index())?.server;
        let core = setup.tasks.get(step.task.index())?.core;
        let ordered = tree.servers.get(usize::from(server))?.order == TaskOrder::LeastLaxity;
        ordered.then_some((server, core))
    };
    if (a.task, a.job) == (b.task, b.job) || queue(&a)? != queue(&b)? {
        return None;
    }
    let now = divergence.time();
    let mut latest_start = |step: &Step| {
        let own = |task, job| (task, job) == (Some(step.task), step.job);
        let records = expected.cores.iter().flatten();
        let mut releases = records.filter(|r| r.kind == EventKind::Release && r.time <= now && own(r.task, r.job));
        let deadline =
            Instant::from_nanos(releases.next()?.arg).saturating_add(setup.tasks[step.task.index()].deadline);
        let left = demand(step.task, step.job)?.saturating_sub(steps::charged(expected, step, now));
        Some(Instant::from_nanos(deadline.as_nanos().saturating_sub(left.as_nanos())))
    };
    let (a, b) = (latest_start(&a)?, latest_start(&b)?);
    Some((a.min(b), a.max(b)))
}

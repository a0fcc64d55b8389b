//! A task by itself in a server of which each budget is there again one period after its first use: what is asked of Linux's SCHED_DEADLINE.
//!
//! Let a job arrive at *t*, and the one before at *t* − T or earlier. If T is no less than the server's period P and its response *r*, the last
//! budget has been served, and is there again; so the server wakes with a whole budget Q, due at *t* + P, and that is served by
//! *t* + *r* (Abeni and Buttazzo 1998 for constant bandwidth; Sprunt, Sha and Lehoczky 1989 for sporadic servers). If the job and the system's
//! own work within *r* take no more than Q, it ends by then. Where T is P but for what an arrival may be noticed late, that comes on top: each
//! deadline of the server is then at most so much later than a period after an arrival, and it is so after the next one. The black-out that a supply bound counts, a budget just used up, does not come.

use super::domain::Domain;
use super::judge::OfServer;
use crate::task::Withheld;
use tactus_task::{Replenished, WhenIdle};
use tactus_time::Duration;

/// The response of a task with these execution times, where it is alone in such a server and fits its budget.
pub(super) fn response(domain: &Domain, servers: &[OfServer], times: &[Duration], n: usize) -> Option<Duration> {
    let system = domain.system;
    let home = system.home(n)?;
    let it = &system.scheduling.servers[home];
    let returns = match it.kind.replenished() {
        Replenished::AfterPeriod | Replenished::AtDeadline => it.kind.when_idle() == WhenIdle::Preserve,
        Replenished::AtBoundaries | Replenished::ByTable | Replenished::AfterShare => false,
        Replenished::Immediately | Replenished::Counted => false,
    };
    let shared = it.cores.iter().nth(1).is_some()
        || (0..system.tasks.len()).any(|other| other != n && system.home(other) == Some(home))
        || system.scheduling.servers.iter().any(|other| other.parent == Some(home));
    if !returns || shared {
        return None;
    }
    let found = servers.iter().find(|found| found.server == home && found.untested.is_none() && !found.fails())?;
    let (work, served) = (domain.of_core(found.core), found.response?);
    // An arrival is noticed an entry late at most. So a budget that is there again may come that much after the next arrival.
    let every = system.tasks[n].period;
    let late = if every < it.period.checked_add(work.entry)? { work.entry } else { Duration::ZERO };
    let response = served.checked_add(late)?;
    // The last budget may have been overrun by an entry, which this one pays for.
    let taken = times[n].checked_add(work.completion)?.checked_add(work.at_most(served))?.checked_add(work.entry)?;
    (every >= response.max(it.period) && taken <= it.budget).then_some(response)
}

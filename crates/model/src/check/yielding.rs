//! The rules for best-effort work that gives way to a counter of its core: a server of kind yielding.

use super::counter::{demand_keys, Words};
use crate::draft::{Draft, DraftServer, Given};
use crate::problem::Collector;
use crate::{Scheduling, ServerKind, System, INSTRUCTIONS_PER_PERIOD, SHORTEST_QUANTUM};
use tactus_time::{CoreId, Duration};

/// The kind, with what is counted.
pub(super) fn kind(server: &DraftServer) -> Option<ServerKind> {
    Some(match (server.kind.value()?, &server.event) {
        (kind, Given::Is(event)) if kind.yields() => ServerKind::yielding_to(event.value),
        (kind, _) => kind,
    })
}

/// It goes behind all others, so that it has no priority.
pub(super) fn priority(server: &DraftServer, out: &mut Collector) -> Option<u32> {
    let Given::Is(at) = &server.priority else { return Some(0) };
    let why = "it has a priority, and is of kind yielding, which goes behind all others";
    out.refuse(at.place, &server.subject, why, "remove it");
    None
}

/// Refuses the keys of this kind on servers of others.
pub(super) fn refuse_keys(server: &DraftServer, out: &mut Collector) -> Option<()> {
    let place = [server.event.get().map(|at| at.place), server.threshold.get().map(|at| at.place)];
    let Some(place) = place.into_iter().flatten().next() else { return Some(()) };
    let why = "only a server of kind yielding gives way to the events of a counter";
    out.refuse(place, &server.subject, why, "choose that kind, or remove it");
    None
}

/// The threshold, kept as a nanosecond for each event, and the period.
///
/// Between two samples the machine executes so many instructions that sampling does not take all its time.
pub(super) fn supply(server: &DraftServer, shift: u8, out: &mut Collector) -> Option<(Duration, Duration)> {
    let subject = server.subject.as_str();
    let time = !server.budget.is_absent() || !server.alpha.is_absent() || !server.delta.is_absent();
    let lines = server.misses.is_absent() && server.write_backs.is_absent();
    if time || !server.share.is_absent() || !server.works_for.is_absent() || !lines {
        let why = "it is of kind yielding, which has what others leave, and it has a budget as well";
        out.refuse(server.place, subject, why, "leave threshold and period, or choose another kind");
        return None;
    }
    demand_keys(
        server,
        [
            (server.threshold.is_absent(), "threshold", "threshold = 4"),
            (server.period.is_absent(), "period", "period = \"10 ms\""),
        ],
        out,
    );
    let (threshold, period) = (server.threshold.get()?, server.period.get()?);
    let least = SHORTEST_QUANTUM.max(Duration::from_nanos(INSTRUCTIONS_PER_PERIOD << shift));
    if period.value < least {
        let limit = format!("less than {least}, in which the counter is sampled once");
        out.out_of_range(period.place, subject, "period", period.value, limit, "lengthen it");
        return None;
    }
    let most = period.value.as_nanos();
    if threshold.value == 0 || threshold.value > most {
        let limit = match threshold.value {
            0 => "none, which any event exceeds".to_string(),
            _ => format!("more than one for each nanosecond of its period of {}", period.value),
        };
        out.out_of_range(threshold.place, subject, "threshold", threshold.value, limit, "choose a number between them");
        return None;
    }
    Some((Duration::from_nanos(threshold.value), period.value))
}

/// By task, how many accesses of a job find a line changed by another core; empty if the file says so of none.
pub(super) fn of_tasks(draft: &Draft, scheduling: &Scheduling, out: &mut Collector) -> Vec<Option<u32>> {
    let counted = scheduling.servers.iter().any(|server| server.kind == ServerKind::YieldingToChanged);
    let mut found = Vec::new();
    for task in &draft.tasks {
        let number = match &task.hitm {
            Given::Is(at) if !counted => {
                let why = "it has hitm, and no server of kind yielding counts that";
                out.refuse(at.place, &task.subject, why, "remove it");
                None
            }
            Given::Is(at) => {
                let number = u32::try_from(at.value).ok();
                if number.is_none() {
                    let limit = format!("more than {}", u32::MAX);
                    out.out_of_range(at.place, &task.subject, "hitm", at.value, limit, "lower it");
                }
                number
            }
            Given::Absent | Given::Broken => None,
        };
        found.push(number);
    }
    if found.iter().all(Option::is_none) {
        found.clear();
    }
    found
}

/// A counter is a core's: besides what [`Words::check`] says, the server has tasks of single cores inside, and is the only such on its cores.
pub(super) fn check(system: &System, out: &mut Collector) {
    let words = Words {
        kind: "yielding",
        of_core: "the counter",
        background: ("and goes on when it should give way", "remove \"background\""),
    };
    let servers = &system.scheduling.servers;
    for (n, server) in servers.iter().enumerate().filter(|(_, server)| server.kind.yields()) {
        words.check(system, n, out);
        let queues = system.scheduling.queues(Some(server), server.spread, server.cores);
        if queues.iter().any(|queue| queue.iter().nth(1).is_some()) {
            let remedy = "choose a partitioned policy: each core has its counter";
            words.refuse(server, "and cores share its queue", remedy, out);
        }
        let on_both = |core: &CoreId| server.cores.contains(*core);
        let others = servers[..n].iter().filter(|other| other.kind.yields());
        if let Some(core) = others.flat_map(|other| other.cores.iter()).find(on_both) {
            let why = format!("and so is another one on core {}, where one sample decides", core.0);
            words.refuse(server, &why, "put the tasks into one server", out);
        }
    }
}

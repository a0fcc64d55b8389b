//! The rules for budgets of misses: what a line takes from memory or back, how many of either a server has, and how many a task's jobs.

use super::counter::{demand_keys, Words};
use crate::draft::{At, Draft, DraftServer, DraftTask, Given};
use crate::problem::Collector;
use crate::{MemoryTimes, ServerKind, System, Task, INSTRUCTIONS_PER_PERIOD, SHORTEST_QUANTUM};
use tactus_task::MOST_LOOKS;
use tactus_time::Duration;

/// What a line from memory takes.
pub(super) fn times(draft: &Draft, out: &mut Collector) -> Option<MemoryTimes> {
    let (line, cost) = (&draft.platform.line, &draft.platform.miss_cost);
    if let Given::Is(at) = line {
        if at.value.is_zero() {
            out.out_of_range(at.place, "[machine]", "memory-line", at.value, "no time at all", "raise it");
        }
    }
    let write_back = &draft.platform.write_back_cost;
    if let (Given::Is(at), true) = (write_back, cost.is_absent()) {
        let why = "write-back-cost is given, but not what a line asked for costs";
        out.refuse(at.place, "[machine]", why, "add a line like miss-cost = \"200 ns\"");
    }
    let Given::Is(cost) = cost else {
        return line.value().map(|line| MemoryTimes { line, cost: None, write_back: None });
    };
    if line.is_absent() {
        let why = "miss-cost is given, but not how fast a core may ask for lines";
        out.refuse(cost.place, "[machine]", why, "add a line like memory-line = \"30 ns\"");
    }
    let line = line.value()?;
    for (key, at) in [("miss-cost", Some(cost)), ("write-back-cost", write_back.get())] {
        if let Some(at) = at.filter(|at| at.value < line) {
            let limit = format!("less than memory-line, {line}, for which each keeps others from memory");
            out.out_of_range(at.place, "[machine]", key, at.value, limit, "raise it");
        }
    }
    Some(MemoryTimes { line, cost: Some(cost.value), write_back: write_back.value() })
}

/// The budget of a server of kind misses, as the least time in which memory serves it, and its period.
///
/// Between two looks at the counter the machine executes so many instructions that looking does not take all its time.
pub(super) fn supply(
    server: &DraftServer,
    (line, shift): (Option<Duration>, u8),
    out: &mut Collector,
) -> Option<(Duration, Duration)> {
    let subject = server.subject.as_str();
    let time = !server.budget.is_absent() || !server.alpha.is_absent() || !server.delta.is_absent();
    if time || !server.share.is_absent() || !server.works_for.is_absent() {
        let why = "its budget is one of misses, and it has one of time as well";
        out.refuse(server.place, subject, why, "leave misses and period, or choose another kind");
        return None;
    }
    demand_keys(
        server,
        [
            (server.misses.is_absent(), "misses", "misses = 2000"),
            (server.period.is_absent(), "period", "period = \"1 ms\""),
        ],
        out,
    );
    let (misses, period) = (server.misses.get()?, server.period.get()?);
    let Some(line) = line.filter(|line| !line.is_zero()) else {
        let why = "its budget is one of misses, and nothing says how fast a core may ask for lines";
        out.refuse(misses.place, subject, why, "add a line like memory-line = \"30 ns\" under [machine]");
        return None;
    };
    let least = SHORTEST_QUANTUM.max(Duration::from_nanos(INSTRUCTIONS_PER_PERIOD << shift)) * MOST_LOOKS;
    if period.value < least {
        let limit = format!("less than {least}, in which the counter is looked at {MOST_LOOKS} times");
        out.out_of_range(period.place, subject, "period", period.value, limit, "lengthen it");
        return None;
    }
    Some((time_of(("misses", misses), (subject, period.value, line), out)?, period.value))
}

/// The budget of lines written back of a server of kind misses, in the same way; nothing inside if it has none.
pub(super) fn write_backs(
    server: &DraftServer,
    line: Option<Duration>,
    out: &mut Collector,
) -> Option<Option<Duration>> {
    let written = match &server.write_backs {
        Given::Is(at) if server.kind.value()? == ServerKind::Misses => at,
        Given::Broken => return None,
        _ => return Some(None),
    };
    let (period, line) = (server.period.value()?, line.filter(|line| !line.is_zero())?);
    time_of(("write-backs", written), (&server.subject, period, line), out).map(Some)
}

/// The least time in which memory serves so many lines, if they fit into the period.
fn time_of(
    (key, lines): (&'static str, &At<u64>),
    (subject, period, line): (&str, Duration, Duration),
    out: &mut Collector,
) -> Option<Duration> {
    let most = period / line;
    if lines.value == 0 || lines.value > most {
        let limit = match lines.value {
            0 => "none, so that nothing in it could run".to_string(),
            _ => format!("more than the {most} lines that memory serves in its period of {period}"),
        };
        out.out_of_range(lines.place, subject, key, lines.value, limit, "choose a number between them");
        return None;
    }
    Some(line * lines.value)
}

/// By task, the most lines that a job asks memory for, or makes it take back, by one key; empty if the file says so of none.
pub(super) fn of_tasks(
    draft: &Draft,
    tasks: &[Task],
    (key, said): (&'static str, fn(&DraftTask) -> &Given<u64>),
    out: &mut Collector,
) -> Vec<Option<u32>> {
    let mut found = Vec::new();
    for (drafted, task) in draft.tasks.iter().zip(tasks) {
        let Given::Is(at) = said(drafted) else {
            found.push(None);
            continue;
        };
        let Some(line) = draft.platform.line.value().filter(|line| !line.is_zero()) else {
            let why = format!("it has {key}, and nothing says how fast a core may ask for lines");
            out.refuse(at.place, &drafted.subject, why, "add a line like memory-line = \"30 ns\" under [machine]");
            continue;
        };
        let time = task.execution.iter().flatten().copied().max().unwrap_or_default();
        let most = u64::from(u32::MAX).min(time / line);
        if at.value > most {
            let limit = format!("more than the {most} lines that memory serves in its execution time of {time}");
            out.out_of_range(at.place, &drafted.subject, key, at.value, limit, "lower it");
        }
        found.push(u32::try_from(at.value).ok());
    }
    if found.iter().all(Option::is_none) {
        found.clear();
    }
    found
}

/// A budget of misses is a core's: it lies in the root, has tasks inside, and the system does not change.
pub(super) fn check(system: &System, out: &mut Collector) {
    let words = Words {
        kind: "misses",
        of_core: "the budget",
        background: ("and goes on without budget", "remove \"background\", with which nothing would be regulated"),
    };
    for n in 0..system.scheduling.servers.len() {
        if system.scheduling.servers[n].kind == ServerKind::Misses {
            words.check(system, n, out);
        }
    }
}

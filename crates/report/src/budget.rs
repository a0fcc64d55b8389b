//! What each server had of its budget over time, on each of its cores.
//!
//! A server begins with its whole budget, and what runs inside it takes from that. Where the kind records its replenishments, they
//! and the exhaustions are read from the trace. Where it does not, the kind's rule says when budget comes: at each boundary of a
//! period, or each piece one period after its use began (under `pibs`, after as much of a period as it was of the budget; under
//! `cbs-soft`, at once when nothing remains). A budget of misses falls when a look at the counter finds lines. A polling
//! or periodic server forfeits its budget while it has no work; there the line stays until the boundary, as if it had been kept.

use crate::history::{History, Stretch};
use tactus_record::{EventKind, InputKind, Record};
use tactus_task::{Replenished, ServerKind};
use tactus_time::{CoreId, TaskId};
use tactus_trace::check::TreeView;
use tactus_trace::{Trace, View};

/// The budget that is shown as full: a level is a number of such parts.
pub(crate) const FULL: u64 = 250;

/// The budget of a server on one core.
#[derive(Debug)]
pub(crate) struct Budget {
    /// The server's name.
    pub name: String,
    /// The core.
    pub core: u8,
    /// The whole budget at the start (ns).
    pub full: u64,
    /// The period at the start (ns).
    pub period: u64,
    /// Instants (ns) and what is there from then on, in parts of [`FULL`]; straight lines between them.
    pub points: Vec<(u64, u64)>,
}

/// The budgets of all servers that have one, by server, then by core.
pub(crate) fn read(view: &View, trace: &Trace, history: &History) -> Vec<Budget> {
    let Some(tree) = &view.tree else { return Vec::new() };
    let mut out = Vec::new();
    for (number, server) in tree.servers.iter().enumerate().skip(1) {
        // At which rate a reclaiming server is charged, no record tells. A partition has windows and no budget; what gives way to a
        // counter has a threshold.
        let has_line =
            |kind: ServerKind| !matches!(kind, ServerKind::Reclaiming | ServerKind::Windows) && !kind.yields();
        let supply = server.supply.filter(|(.., kind)| has_line(*kind));
        let Some((budget, period, kind)) = supply else { continue };
        for core in server.cores.iter() {
            let records = trace.cores.get(core.index()).map_or(&[][..], Vec::as_slice);
            let runs = history.cores.get(core.index()).map_or(&[][..], |on_core| on_core.runs.as_slice());
            let full = budget.as_nanos().max(1);
            let mut events = events(tree, number, records, runs);
            if !server.records_budget() {
                by_rule(&mut events, kind, (full, period.as_nanos().max(1)), history.end);
            }
            // What runs from an instant on comes after what came in it.
            events.sort_by_key(|(time, event)| (*time, matches!(event, Event::Runs(_))));
            let points = points(full, &events);
            let CoreId(core) = core;
            out.push(Budget { name: server.name.clone(), core, full, period: period.as_nanos(), points });
        }
    }
    out
}

/// What changes a budget.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Event {
    /// Something inside the server ran from then on for this long (ns).
    Runs(u64),
    /// This much of it went at once (ns): the lines of a budget of misses that a look at the counter found.
    Used(u64),
    /// The budget is used up.
    Exhausted,
    /// This much came (ns).
    Came(u64),
}

/// The events of one server on one core, in no order.
fn events(tree: &TreeView, server: usize, records: &[Record], runs: &[Stretch]) -> Vec<(u64, Event)> {
    let inside = |task: u16| tree.above(TaskId(task)).any(|above| above == server);
    let of_misses = matches!(tree.servers[server].supply, Some((.., ServerKind::Misses)));
    let ran = runs.iter().filter(|s| inside(s.task) && !of_misses).map(|s| (s.start, Event::Runs(s.end - s.start)));
    let lines = records.iter().filter(|r| {
        let misses = r.kind == EventKind::Input && r.level == InputKind::Misses as u8;
        of_misses && misses && r.task.is_some_and(|task| inside(task.0))
    });
    let used = lines.map(|r| (r.time.as_nanos(), Event::Used(r.arg.saturating_mul(tree.line.as_nanos()))));
    let told = records.iter().filter(|r| r.job as usize == server).filter_map(|r| match r.kind {
        EventKind::ServerExhausted => Some((r.time.as_nanos(), Event::Exhausted)),
        EventKind::ServerReplenish => Some((r.time.as_nanos(), Event::Came(r.arg))),
        _ => None,
    });
    ran.chain(used).chain(told).collect()
}

/// Puts the replenishments by the rule of a kind (its budget and period in ns) in place of recorded ones.
fn by_rule(events: &mut Vec<(u64, Event)>, kind: ServerKind, (budget, period): (u64, u64), end: u64) {
    events.retain(|(_, event)| matches!(event, Event::Runs(_)));
    let length = |(start, event): &(u64, Event)| match event {
        Event::Runs(length) => Some((*start, *length)),
        _ => None,
    };
    let runs: Vec<(u64, u64)> = events.iter().filter_map(length).collect();
    let mut came = Vec::new();
    match kind.replenished() {
        Replenished::AtBoundaries => came.extend((1..=end / period).map(|n| (n * period, budget))),
        // As soon as it is used up, it is whole again.
        Replenished::Immediately => {
            let mut used = 0;
            for (start, length) in runs {
                let empty = (1..).map(|n| n * budget - used).take_while(|after| *after <= length);
                came.extend(empty.map(|after| (start + after, budget)));
                used = (used + length) % budget;
            }
        }
        // What begins to run when the deadline is past has a later one.
        Replenished::AtDeadline => {
            let mut deadline = 0;
            for (start, length) in runs {
                deadline = start.max(deadline);
                while deadline < start + length {
                    came.push((deadline, budget));
                    deadline += period;
                }
            }
        }
        Replenished::AfterShare => {
            let wait = |used: u64| u128::from(used) * u128::from(period) / u128::from(budget);
            came.extend(runs.into_iter().map(|(start, used)| (start + wait(used) as u64, used)));
        }
        Replenished::AfterPeriod => came.extend(runs.into_iter().map(|(start, used)| (start + period, used))),
        // No rule gives these.
        Replenished::ByTable | Replenished::Counted => {}
    }
    events.extend(came.into_iter().filter(|(time, _)| *time <= end).map(|(time, much)| (time, Event::Came(much))));
}

/// The line of a budget that is `full` (ns) at the start.
fn points(full: u64, events: &[(u64, Event)]) -> Vec<(u64, u64)> {
    let mut line = Line { full, remaining: full, at: 0, until: 0, points: vec![(0, FULL)] };
    for (time, event) in events {
        line.go_to(*time);
        match event {
            Event::Runs(length) => line.until = time.saturating_add(*length),
            Event::Used(much) => line.set(line.remaining.saturating_sub(*much)),
            Event::Exhausted => line.set(0),
            Event::Came(much) => line.set(line.remaining.saturating_add(*much).min(full)),
        }
    }
    line.go_to(line.until);
    line.points
}

/// A budget as it is followed through time.
struct Line {
    full: u64,
    remaining: u64,
    at: u64,
    /// Until when something inside the server runs.
    until: u64,
    points: Vec<(u64, u64)>,
}

impl Line {
    fn go_to(&mut self, time: u64) {
        let end = self.until.min(time);
        if end > self.at {
            self.mark(self.at);
            let used = end - self.at;
            // It is empty before the run ends if it goes on in the background, or after its exhaustion was noticed late.
            if used > self.remaining && self.remaining > 0 {
                let empty = self.at + self.remaining;
                self.remaining = 0;
                self.mark(empty);
            }
            self.remaining = self.remaining.saturating_sub(used);
            self.mark(end);
        }
        self.at = self.at.max(time);
    }

    fn set(&mut self, remaining: u64) {
        self.mark(self.at);
        self.remaining = remaining;
        self.mark(self.at);
    }

    /// The level at an instant. Points that say what the two before them say are left out.
    fn mark(&mut self, time: u64) {
        let level = (u128::from(self.remaining) * u128::from(FULL)).div_ceil(u128::from(self.full)) as u64;
        if self.points.last() != Some(&(time, level)) {
            self.points.push((time, level));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_takes_from_the_budget_and_what_comes_fills_it() {
        let events = [
            (0, Event::Runs(10)),
            (20, Event::Runs(20)),
            (30, Event::Exhausted),
            (30, Event::Runs(10)),
            (50, Event::Came(15)),
            (60, Event::Came(99)),
        ];
        let of = |part: u64| (part * FULL).div_ceil(20);
        let line = points(20, &events);
        let expected = [
            (0, of(20)),
            (10, of(10)),
            (20, of(10)),
            (30, 0),
            (40, 0),
            (50, 0),
            (50, of(15)),
            (60, of(15)),
            (60, of(20)),
        ];
        assert_eq!(line, expected);
    }

    #[test]
    fn budgets_without_records_come_by_the_rule_of_the_kind() {
        let of = |kind| {
            let mut events = vec![(10, Event::Runs(4)), (30, Event::Came(99))];
            by_rule(&mut events, kind, (8, 20), 45);
            events.split_off(1)
        };
        assert_eq!(of(ServerKind::Polling), [(20, Event::Came(8)), (40, Event::Came(8))]);
        assert_eq!(of(ServerKind::SoftBandwidth), []);
        assert_eq!(of(ServerKind::Sporadic), [(30, Event::Came(4))]);
        assert_eq!(of(ServerKind::PriorityInheriting), [(20, Event::Came(4))]);
        assert_eq!(of(ServerKind::HardBandwidth), [(10, Event::Came(8))]);
    }

    #[test]
    fn a_run_beyond_the_budget_stays_at_nothing() {
        assert_eq!(points(5, &[(10, Event::Runs(20))]), [(0, FULL), (10, FULL), (15, 0), (30, 0)]);
    }
}

//! What monitors cost: a step inside the operation that causes an event, and what the root scheduler's telling adds to an entry.
//!
//! An event that the kernel sees is stepped in the call that causes it, which whoever makes the call pays for: it is part of what the
//! job executes. One that the root scheduler tells of makes its entry longer, and so counts in every bound: each such event
//! happens once in an entry at most. Where cores share a group of monitors, each waits for one step of every other core.
//!
//! A violation whose handler is a task's job makes a scheduler decide once more: at the end of the entry that told of the event, on
//! the caller of the call that caused it, or in an entry of the handler's core, of which the analysis counts two for each of its periods.

use tactus_model::{Costs, System};
use tactus_monitor::{alphabet, Action, Built, Encoding, Integrity, Monitor, Occurrence};
use tactus_time::Duration;

/// Instructions of the emulated machine, upper bounds; `tests/scenarios/tests/all/monitors.rs` holds them against a run.
const TELL: u64 = 300;
/// From the cause of an event in the kernel to the first monitor, and from the last one on.
const EVENT: u64 = 500;
/// A step in a plain table.
const PLAIN: u64 = 60;
/// A step in any other.
const PACKED: u64 = 150;
/// A step with a clock.
const TIMED: u64 = 350;
/// A look at what a monitor awaits.
const AWAITED: u64 = 150;
/// A verdict's record, and the way of a violation to the root that is to release a job for it: more than an event and a call take.
const RELEASE: u64 = 600;

/// What one monitor takes.
#[derive(Clone, Debug)]
pub struct MonitorCost {
    /// Its name.
    pub name: String,
    /// States of its table.
    pub states: u32,
    /// Bytes of its table.
    pub bytes: u32,
    /// How the table is laid out.
    pub encoding: Encoding,
    /// Whether it has a clock.
    pub timed: bool,
    /// A step at most.
    pub step: Duration,
    /// Its events that lengthen an entry of the root scheduler.
    pub told: usize,
}

fn instructions(system: &System, count: u64) -> Duration {
    Duration::from_nanos(count << system.machine.shift.min(6))
}

fn step(built: &Built) -> u64 {
    match built {
        Built::Timed(_) => TIMED,
        Built::Untimed { encoded, .. } if encoded.layout.encoding == Encoding::Plain => PLAIN,
        Built::Untimed { .. } => PACKED,
    }
}

fn is_told(what: &Occurrence) -> bool {
    what.kind.integrity() == Integrity::Scheduler
}

/// What each monitor takes, in file order.
pub fn costs_of(system: &System) -> Vec<MonitorCost> {
    let one = |monitor: &Monitor| {
        let built = monitor.build().ok()?;
        let layout = *built.layout();
        Some(MonitorCost {
            name: monitor.name.clone(),
            states: layout.states,
            bytes: layout.bytes,
            encoding: layout.encoding,
            timed: matches!(built, Built::Timed(_)),
            step: instructions(system, step(&built)),
            told: monitor.events.iter().filter(|(_, what)| is_told(what)).count(),
        })
    };
    system.monitors.iter().filter_map(one).collect()
}

/// How much longer an entry of the root scheduler is for what it tells monitors, at most.
pub fn longer_entry(system: &System) -> Duration {
    let built: Vec<(&Monitor, Built)> = system.monitors.iter().filter_map(|it| Some((it, it.build().ok()?))).collect();
    if built.is_empty() {
        return Duration::ZERO;
    }
    let cores = system.sharing_cores().max(1) as u64;
    let steps = |what: &Occurrence| -> u64 {
        built.iter().map(|(it, built)| it.events.iter().filter(|(_, of)| of == what).count() as u64 * step(built)).sum()
    };
    let told = alphabet(&system.monitors).into_iter().filter(|what| is_told(what));
    let events: u64 = told.map(|what| TELL + EVENT + steps(what) * cores).sum();
    let awaited = built.iter().filter(|(_, it)| matches!(it, Built::Timed(_))).count() as u64 * AWAITED * cores;
    instructions(system, events + TELL + awaited)
}

/// What an event that the kernel sees adds to the call that causes it, at most.
pub fn longest_event(system: &System, costs: &Costs) -> Duration {
    let steps: u64 = system.monitors.iter().filter_map(|it| it.build().ok()).map(|it| step(&it)).sum();
    let entry = costs.complete + costs.schedule + costs.switch;
    let again = if releases(system, |_| true) { instructions(system, RELEASE) + entry } else { Duration::ZERO };
    instructions(system, EVENT + steps * system.sharing_cores().max(1) as u64) + again
}

/// What a switch takes where the root tells monitors of events: `costs` with all that an entry is longer for.
pub(crate) fn with_monitors(system: &System, costs: Costs) -> Costs {
    let switch = costs.switch + longer_entry(system);
    let again = match releases(system, |it| it.events.iter().any(|(_, what)| is_told(what))) {
        true => instructions(system, RELEASE) + costs.schedule + switch,
        false => Duration::ZERO,
    };
    Costs { switch: switch + again, ..costs }
}

/// Whether a violation of such a monitor releases a job.
fn releases(system: &System, of: impl Fn(&Monitor) -> bool) -> bool {
    system.monitors.iter().any(|it| matches!(it.action, Action::Run(_)) && of(it))
}

#[cfg(test)]
mod tests {
    use super::{longest_event, with_monitors};
    use std::path::Path;
    use tactus_model::{Costs, System};
    use tactus_time::Duration;

    fn system(event: &str, action: &str) -> System {
        let text = format!(
            "[system]\ncores = 1\nduration = '1 s'\n[policy]\nkind = 'partitioned-edf'\n[[task]]\nname = 'nav'\ncore = 0\n\
             period = '10 ms'\nexecution = '5 ms'\n[[task]]\nname = 'alarm'\ncore = 0\nrelease = 'sporadic'\nperiod = '10 ms'\n\
             execution = '1 ms'\n[[monitor]]\nname = 'm'\nproperty = 'always not go'\nevents = {{ go = '{event}' }}\n\
             on-violation = '{action}'\n"
        );
        System::parse_toml(&text, Path::new("x.toml")).unwrap_or_else(|problems| panic!("{problems}"))
    }

    #[test]
    fn a_violation_with_a_handler_costs_one_more_decision_and_no_other_costs_any() {
        let us = Duration::from_micros;
        let costs = Costs { release: us(4), schedule: us(6), switch: us(2), inter_core: us(5), complete: us(3) };
        let longer = |event: &str, action: &str| {
            let system = system(event, action);
            (with_monitors(&system, costs).switch, longest_event(&system, &costs))
        };
        let (noted, handled) = (longer("start nav", "note"), longer("start nav", "run alarm"));
        assert!(handled.0 > noted.0 + us(8), "{noted:?} {handled:?}");
        assert!(handled.1 > noted.1 + us(11), "{noted:?} {handled:?}");
        // What the kernel sees makes no entry of the scheduler longer, but the call that causes it.
        let (noted, handled) = (longer("fault nav", "note"), longer("fault nav", "run alarm"));
        assert_eq!(noted.0, handled.0);
        assert!(handled.1 > noted.1 + us(11), "{noted:?} {handled:?}");
    }
}

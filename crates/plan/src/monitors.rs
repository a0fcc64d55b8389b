//! What monitors cost: a step inside the operation that causes an event, and what the root scheduler's telling adds to an entry.
//!
//! An event that the kernel sees is stepped in the call that causes it, which whoever makes the call pays for: it is part of what the
//! job executes. One that the root scheduler tells of makes its entry longer, and so counts in every bound: each such event
//! happens once in an entry at most. Where cores share a group of monitors, each waits for one step of every other core.

use tactus_model::System;
use tactus_monitor::{alphabet, Built, Encoding, Integrity, Monitor, Occurrence};
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
    let cores = system.cores.max(1) as u64;
    let steps = |what: &Occurrence| -> u64 {
        built.iter().map(|(it, built)| it.events.iter().filter(|(_, of)| of == what).count() as u64 * step(built)).sum()
    };
    let told = alphabet(&system.monitors).into_iter().filter(|what| is_told(what));
    let events: u64 = told.map(|what| TELL + EVENT + steps(what) * cores).sum();
    let awaited = built.iter().filter(|(_, it)| matches!(it, Built::Timed(_))).count() as u64 * AWAITED * cores;
    instructions(system, events + TELL + awaited)
}

/// What an event that the kernel sees adds to the call that causes it, at most.
pub fn longest_event(system: &System) -> Duration {
    let steps: u64 = system.monitors.iter().filter_map(|it| it.build().ok()).map(|it| step(&it)).sum();
    instructions(system, EVENT + steps * system.cores.max(1) as u64)
}

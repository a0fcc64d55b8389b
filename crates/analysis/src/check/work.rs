//! What the system's own work takes of a core by itself, or of cores with one queue: when the scheduler is entered, and for whom.

use super::rank::Rank;
use crate::arrivals::{Alone, Instants};
use crate::reservation::charge::Work;
use tactus_model::{Overrun, Release, Slot, System};
use tactus_time::{CoreId, Duration, TaskId};

/// The instants at which jobs of these tasks are released, and at which arrivals of them are noticed.
pub(super) fn instants(system: &System, places: &[usize]) -> Instants {
    let timed = places.iter().filter(|&&n| release(system, n) == Release::Periodic);
    let timed = Instants::of(timed.map(|&n| (system.tasks[n].offset, system.tasks[n].period)), system.duration);
    timed.and(places.iter().flat_map(|&n| entries(system, n)))
}

/// What releases a task.
pub(super) fn release(system: &System, n: usize) -> Release {
    system.scheduling.places.get(n).map_or(Release::Periodic, |place| place.release)
}

/// How often the scheduler is entered for releases of a task that time does not release: once for each job, and once more where a
/// device interrupts, whose early interrupt waits until its job may be released. There is one at most, since the line is silent from
/// then on until the next job acknowledges it. (What a job raises, or releases by its end, is part of its own calls.) A task that
/// handles violations of monitors is entered for as a device's is: they happen on any core, and one may come too early.
pub(super) fn entries(system: &System, n: usize) -> impl Iterator<Item = Alone> {
    let from_outside = || system.scheduling.places[n].interrupt.is_some() || system.handles(TaskId(n as u16));
    let count = match release(system, n) {
        Release::Periodic => 0,
        // A timer expiry at an instant of its own.
        Release::Jittered(_) => 1,
        Release::Sporadic(_) | Release::Bursts(..) | Release::After(..) => 1 + usize::from(from_outside()),
    };
    let jitter = release(system, n).burst().map_or(Duration::ZERO, |burst| burst.jitter);
    std::iter::repeat_n(Alone { period: system.tasks[n].period, jitter }, count)
}

/// Entries for the tasks of a program that may be in a slot of the core, as (how many, in what time): each is released no more often than its
/// server is replenished, which the loader sees to.
pub(super) fn of_slots(system: &System, core: CoreId) -> impl Iterator<Item = (u64, Duration)> + '_ {
    let server = |slot: &Slot| &system.scheduling.servers[slot.server];
    let here = system.slots.iter().filter(move |slot| server(slot).cores.contains(core));
    here.map(move |slot| (slot.tasks.len() as u64, server(slot).period))
}

/// What recurs: each job that is killed, each wait of a job, and each call of a loader's means an entry in each period; in as many of
/// them as jobs of the task may be under way at a time.
pub(super) fn recurring(system: &System, n: usize) -> impl Iterator<Item = Duration> + '_ {
    let kills = system.scheduling.places.get(n).is_some_and(|place| place.overrun == Overrun::Kill);
    let count = usize::from(kills) + system.slot_calls(n) + system.scheduling.waits_of(n).len();
    let task = &system.tasks[n];
    let jitter = release(system, n).burst().map_or(Duration::ZERO, |burst| burst.jitter);
    let under_way = task.deadline.checked_add(jitter).unwrap_or(Duration::MAX).div_ceil(task.period).max(1) as usize;
    std::iter::repeat_n(task.period, count * under_way)
}

/// What the system takes of a core: an entry for each release instant, for what recurs and for each turn.
pub(super) fn work<'i>(
    system: &System,
    places: &[usize],
    instants: &'i Instants,
    rank: Rank,
    entry: Duration,
) -> Work<'i> {
    let mut work = Work { entry, completion: entry, instants: Some((instants, entry)), recurring: Vec::new() };
    work.recurring.extend(places.iter().flat_map(|&n| recurring(system, n)).map(|period| (entry, period)));
    if rank.is_timed() {
        work.recurring.push((entry, system.scheduling.quantum));
    }
    work
}

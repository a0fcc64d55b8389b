//! How much the jobs of each task may have the root scheduler record, which the scheduler keeps them to and trace rings are sized for.

use tactus_abi::image::{role, NO_COMPONENT};
use tactus_abi::layout::MAX_THREADS;
use tactus_abi::shared::quota::{ARRIVALS, ARRIVALS_PER_PERIOD, CALLS};
use tactus_abi::shared::{restart, ComponentCard, DEEPEST_SECTION};
use tactus_model::System;
use tactus_time::Duration;

/// Records of a call, with the decision that follows.
const RECORDS_PER_CALL: u64 = 6;
/// Records of an arrival that has no job.
const RECORDS_PER_ARRIVAL: u64 = 4;
/// Records of a deadline that a process misses, of which one is noticed in each period of its task at most.
const RECORDS_PER_MISS: u64 = 1;
/// Records of a look at what a job holds, at most: one that it left, one for each that it entered, and as many that it may not.
const RECORDS_PER_LOOK: u64 = 2 * (1 + DEEPEST_SECTION as u64);
/// How often a core looks at that for each time that a job comes to it: when it comes and when it goes.
const LOOKS: u64 = 2;
/// Records of an entry in which a component is set back: the core is entered and left.
const RECORDS_PER_ENTRY: u64 = 3;
/// Records of a restart beside that, but for those of its threads.
const RECORDS_PER_RESTART: u64 = 12;
/// Records of one of the component's threads that its fault ends.
const RECORDS_PER_THREAD: u64 = 4;

/// Calls of a job of the task, beside its end: what the file declares, and a few more.
pub(crate) fn calls(system: &System, task: usize) -> u64 {
    let scheduling = &system.scheduling;
    let bodies = scheduling.programs.get(task).map_or(&[][..], |program| &program.bodies);
    let steps = bodies.iter().map(Vec::len).max().unwrap_or(0);
    let sections = 2 * scheduling.sections_of(task).len();
    let waits = scheduling.waits_of(task).len();
    (steps + sections + waits) as u64 + system.request_calls(task) + CALLS
}

/// Arrivals of the task beyond those of its periods.
pub(crate) fn arrivals(system: &System, task: usize) -> u64 {
    let burst = system.scheduling.places.get(task).and_then(|place| place.release.burst());
    let jitter = burst.map_or(Duration::ZERO, |burst| burst.jitter);
    let period = system.tasks[task].period.max(Duration::from_nanos(1));
    ARRIVALS.saturating_add(4 * jitter.div_ceil(period))
}

/// Records that calls of the task's jobs cause beside what jobs do cause, if it has so many.
pub(crate) fn records(system: &System, task: usize, jobs: u64) -> u64 {
    let scheduling = &system.scheduling;
    let sections = scheduling.sections_of(task).len() as u64;
    let calls = if system.event_rights(task).is_empty() && sections == 0 && scheduling.waits_of(task).is_empty() {
        0
    } else {
        (CALLS + 2 * sections) * RECORDS_PER_CALL
    };
    let released = scheduling.places.get(task).is_some_and(|place| place.release.is_from_outside());
    let early =
        if released { jobs.saturating_mul(ARRIVALS_PER_PERIOD - 1).saturating_add(arrivals(system, task)) } else { 0 };
    let misses = if system.may_be_process(task) { RECORDS_PER_MISS } else { 0 };
    jobs.saturating_mul(calls + misses).saturating_add(early.saturating_mul(RECORDS_PER_ARRIVAL))
}

/// Records of looks at what jobs hold for each time that a job comes to a core.
pub(crate) fn records_of_looks(system: &System) -> u64 {
    if system.scheduling.sections.is_empty() {
        0
    } else {
        LOOKS * RECORDS_PER_LOOK
    }
}

/// Records of all restarts that the file allows, and of what is loaded late, were all on one core. `pages`, `threads`: how many pages of a
/// component are filled again, and how many threads can be in it.
pub(crate) fn records_of_restarts(
    cards: &[ComponentCard],
    pages: impl Fn(usize) -> u64,
    threads: impl Fn(usize) -> u64,
    duration: Duration,
) -> u64 {
    let (mut steps, mut rest) = (0_u64, 0_u64);
    for (component, card) in cards.iter().enumerate() {
        let late = u64::from(card.role & role::LATE != 0);
        let times = match card.restarted_by {
            NO_COMPONENT => 0,
            _ => duration
                .as_nanos()
                .div_ceil(card.restart_nanos.max(1))
                .saturating_add(1)
                .saturating_mul(card.restarts.into()),
        };
        let of_steps =
            (MAX_THREADS.div_ceil(restart::THREADS_PER_STEP) as u64 + pages(component)).div_ceil(restart::STEPS) + 2;
        steps = steps.saturating_add(of_steps.saturating_mul(times + late));
        rest = rest.saturating_add(times.saturating_mul(RECORDS_PER_RESTART + RECORDS_PER_THREAD * threads(component)));
    }
    // There is one entry for all, and a pause behind it.
    let most = duration.as_nanos() / restart::PAUSE + 1;
    steps.min(most).saturating_mul(RECORDS_PER_ENTRY).saturating_add(rest)
}

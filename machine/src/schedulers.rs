//! Systems with a scheduler for each server: what each is made from, their traces made one, and the replay of each.

use crate::failure::Failure;
use tactus_abi::turns::Turns;
use tactus_image::TURN_INSTRUCTIONS;
use tactus_model::{Body, Schedulers, System};
use tactus_policy::{PolicyConfig, PolicySpec, SchedulerPlan};
use tactus_record::EventKind;
use tactus_sim::lockstep::{lockstep, Agreement};
use tactus_time::{Duration, Instant, TaskId};
use tactus_trace::{merge, Trace};

/// The program that every one of them runs, the root's among them.
pub const PROGRAM: &str = "tactus-per-server";

/// The package of the root schedulers that decide for all of a system.
pub const PACKAGE: &str = "tactus-scheduler";

/// The root scheduler's program: of the one that decides for all, that which is compiled with this policy alone.
pub fn program(system: &System, policy: &PolicySpec) -> String {
    match system.scheduling.schedulers {
        Schedulers::Single => format!("{PACKAGE}-{}", policy.program()),
        Schedulers::PerServer => PROGRAM.to_string(),
    }
}

/// The set-up of each scheduler, the root's first; the system's own if there is one scheduler.
pub fn of(system: &System, setup: &PolicyConfig) -> Result<Vec<PolicyConfig>, Failure> {
    if system.scheduling.schedulers == Schedulers::Single {
        return Ok(vec![setup.clone()]);
    }
    tactus_policy::divide(setup).map_err(|error| Failure::Input(format!("{}: {error}", system.source.display())))
}

fn plan(setup: &PolicyConfig) -> Option<&SchedulerPlan> {
    match &setup.kind {
        PolicySpec::PerServer(plan) => Some(plan),
        _ => None,
    }
}

/// Those below the root's, for the image.
pub fn children(system: &System, setups: &[PolicyConfig]) -> Vec<tactus_image::ChildScheduler> {
    let parent = |child: usize| {
        let is_below = |plan: &SchedulerPlan| plan.children.iter().any(|it| usize::from(it.plan) == child);
        setups.iter().filter_map(plan).position(is_below).and_then(|parent| parent.checked_sub(1))
    };
    let plans = setups.iter().enumerate().skip(1).filter_map(|(n, setup)| Some((n, setup, plan(setup)?)));
    let made = plans.map(|(n, setup, plan)| tactus_image::ChildScheduler {
        name: system.scheduling.servers[usize::from(plan.servers[0]) - 1].name.clone(),
        parent: parent(n),
        plan: setup.encode(),
        tasks: plan.tasks.clone(),
    });
    made.collect()
}

/// The trace of the whole system, from those of its schedulers.
pub fn whole(system: &System, traces: &[Trace]) -> Trace {
    match traces {
        [only] => only.clone(),
        several => merge(several, system.tasks.len()),
    }
}

/// Replays each scheduler by itself. `allowed`: how late what is due may be noticed. The inner error tells of the first that
/// decided otherwise.
pub fn replay(
    system: &System,
    setup: &PolicyConfig,
    traces: &[Trace],
    allowed: Duration,
) -> Result<Result<Agreement, String>, Failure> {
    // How long the user's own components compute is theirs to know; and a job that awaits events is done when it has done its steps.
    let eventful = |task: TaskId| system.scheduling.programs.get(task.index()).is_some_and(|it| !it.order.is_empty());
    let known = |task: TaskId| system.tasks.get(task.index()).filter(|it| it.body == Body::Workload && !eventful(task));
    let demand = |task: TaskId, job| Some(known(task)?.demand(system.seed, task, job));
    let mut all = Agreement::default();
    for (n, (setup, trace)) in of(system, setup)?.iter().zip(traces).enumerate() {
        let replayed = lockstep(setup, demand, trace, allowed).map_err(|error| Failure::Machine(error.to_string()))?;
        let own = match replayed {
            Ok(own) => own,
            Err(wrong) if traces.len() == 1 => return Ok(Err(wrong.to_string())),
            Err(wrong) => return Ok(Err(format!("scheduler {n}: {wrong}"))),
        };
        if n == 0 {
            all = own;
            continue;
        }
        (all.calls, all.records, all.jobs) = (all.calls + own.calls, all.records + own.records, all.jobs + own.jobs);
        for (all, own) in all.lateness.iter_mut().zip(own.lateness) {
            (all.count, all.max) = (all.count + own.count, all.max.max(own.max));
        }
    }
    Ok(Ok(all))
}

/// How late the machine may notice something: the longest turn of the scheduler in this run, what other cores of the emulated machine have
/// before a core sees its timer, and as long as one of them was in its scheduler without a pause, since there it does not stand back.
pub fn allowed(system: &System, trace: &Trace) -> Duration {
    let turn = u64::from(TURN_INSTRUCTIONS) << system.machine.shift;
    let turns = Turns { turn, cores: system.sharing_cores() as u64 };
    let stretch = if turns.cores > 1 { longest_stretch(trace, Duration::from_nanos(turn)) } else { Duration::ZERO };
    longest_turn(system, trace) + Duration::from_nanos(turns.latest()) + stretch
}

/// The longest time from an event to what is decided upon it. Several schedulers decide one after another.
pub fn longest_turn(system: &System, trace: &Trace) -> Duration {
    match system.scheduling.schedulers {
        Schedulers::Single => longest_turn_of_one(trace),
        Schedulers::PerServer => longest_stretch(trace, Duration::from_nanos(BETWEEN << system.machine.shift)),
    }
}

/// The most instructions from the decision of a scheduler to the one of the next below or above it, in ns at one each.
const BETWEEN: u64 = 2_000;

/// The longest turn of one scheduler in a trace.
fn longest_turn_of_one(trace: &Trace) -> Duration {
    let mut longest = Duration::ZERO;
    for records in &trace.cores {
        let mut entered = Instant::ZERO;
        for record in records {
            match record.kind {
                EventKind::Enter => entered = record.time,
                EventKind::Leave => longest = longest.max(record.time.since(entered)),
                _ => {}
            }
        }
    }
    longest
}

/// The longest time that a core was in its scheduler again and again, with pauses of no more than this.
fn longest_stretch(trace: &Trace, pause: Duration) -> Duration {
    let mut longest = Duration::ZERO;
    for records in &trace.cores {
        let (mut began, mut left) = (Instant::ZERO, None::<Instant>);
        for record in records {
            match record.kind {
                EventKind::Enter if left.is_none_or(|left| record.time.since(left) > pause) => began = record.time,
                EventKind::Leave => {
                    left = Some(record.time);
                    longest = longest.max(record.time.since(began));
                }
                _ => {}
            }
        }
    }
    longest
}

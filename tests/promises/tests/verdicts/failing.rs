//! Runs in the simulator in which components are stopped: the policy is told as the kernel's scheduler tells it, and the trace has the
//! records that kernel and scheduler write.

use std::sync::Mutex;
use tactus_policy::{CoreState, Decision, Event, Input, Policy, PolicyConfig, ResourceSet, Running, Scheduler};
use tactus_record::{EntryReason, EventKind, FaultKind, Record, Sink};
use tactus_sim::{Arrivals, JobSteps, Keep, Simulation};
use tactus_task::Costs;
use tactus_time::{Duration, Instant, TaskId};
use tactus_trace::Trace;

/// What stops a component.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// It gives up by itself.
    Panic,
    /// It reads what it has not.
    Fault,
    /// A monitor has it stopped.
    Property,
    /// As the first, and it is restarted.
    Restarted,
    /// As the first, when it has been restarted as often as it may.
    Exhausted,
}

impl Stop {
    /// All of them.
    pub const ALL: [Stop; 5] = [Stop::Panic, Stop::Fault, Stop::Property, Stop::Restarted, Stop::Exhausted];
}

/// A job in which its component, which has no other task, is stopped where the job would have ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Failure {
    /// Whose job.
    pub task: TaskId,
    /// Which.
    pub job: u32,
    /// How.
    pub stop: Stop,
}

/// A policy that is told of failures instead of completions.
struct Failing<'f> {
    inner: Scheduler,
    failures: &'f [Failure],
    /// What failed, and when.
    seen: Mutex<Vec<(Failure, Instant)>>,
}

/// A core's state, and the job that it runs.
struct Core {
    inner: CoreState,
    running: Option<Running>,
}

impl Policy for Failing<'_> {
    type Core = Core;
    const RESOURCES: bool = true;

    fn handle<S: Sink>(&self, core: &mut Core, now: Instant, event: Event, records: &mut S) -> Decision {
        let ends = core.running.filter(|_| event == Event::Complete);
        let fails = |job: Running| self.failures.iter().find(|it| (it.task, it.job) == (job.task, job.job));
        let failure = ends.and_then(fails);
        if let Some(failure) = failure {
            self.seen.lock().expect("nobody panicked").push((*failure, now));
        }
        let event = match failure {
            Some(failure) if failure.stop != Stop::Restarted => Event::Remove,
            _ => event,
        };
        let decision = self.inner.handle(&mut core.inner, now, event, records);
        core.running = decision.run;
        decision
    }

    fn input(&self, core: &mut Core, input: Input) {
        self.inner.input(&mut core.inner, input);
    }

    fn awaits_unlock(&self, core: &Core) -> bool {
        self.inner.awaits_unlock(&core.inner)
    }

    fn locked<'c>(&self, core: &'c Core) -> &'c ResourceSet {
        self.inner.locked(&core.inner)
    }
}

/// Runs the system for `duration`; these jobs fail. Component `n` is that of task `n`.
pub fn run(
    setup: &PolicyConfig,
    duration: Duration,
    (demand, arrivals, steps): (impl FnMut(TaskId, u32) -> Duration, Vec<Arrivals<'_>>, JobSteps),
    costs: &Costs,
    failures: &[Failure],
) -> Trace {
    let (inner, cores) = Scheduler::new(setup).expect("a good set-up");
    let policy = Failing { inner, failures, seen: Mutex::default() };
    let cores = cores.into_iter().map(|inner| Core { inner, running: None }).collect();
    let mut keep = Keep::new(setup.cores);
    let mut simulation = Simulation::new(&policy, cores, setup.tasks.len(), demand, costs);
    for (task, mut all) in arrivals {
        let core = setup.tasks[task.index()].core.unwrap_or_default();
        simulation.arrive(task, core, move || all.next().unwrap_or(Instant::NEVER));
    }
    simulation.hold(steps.sections);
    simulation.wait(steps.waits);
    simulation.go_through(steps.programs);
    simulation.serve(steps.services);
    simulation.miss(steps.misses);
    simulation.write_back(steps.write_backs);
    simulation.sample(setup, steps.sampled);
    let end = Instant::ZERO + duration;
    simulation.run_until(end, &mut keep).expect("it gets on");
    simulation.end(end, &mut keep);
    let mut trace = keep.into_trace();
    let seen = policy.seen.lock().expect("nobody panicked").clone();
    for (failure, at) in seen {
        tell(&mut trace, failure, at);
    }
    trace
}

/// Puts into the trace what kernel and scheduler write about the failure.
fn tell(trace: &mut Trace, Failure { task, job, stop }: Failure, at: Instant) {
    let own = |r: &Record| r.kind == EventKind::Enter && (r.task, r.job, r.time) == (Some(task), job, at);
    let ends = |r: &Record| own(r) && r.level == EntryReason::Complete as u8;
    let found = trace.cores.iter_mut().find_map(|records| Some((records.iter().position(ends)?, records)));
    let (place, records) = found.expect("the job ended there");
    let component = u32::from(task.0);
    let kind = match stop {
        Stop::Fault => FaultKind::Read,
        Stop::Property => FaultKind::Property,
        Stop::Panic | Stop::Restarted | Stop::Exhausted => FaultKind::Panic,
    };
    let enter = records[place];
    let about = Record { arg: 0, ticket: 0, ..enter };
    let restarted = |given_up: bool| Record {
        kind: EventKind::Restarted,
        level: u8::from(given_up),
        job: component,
        task: None,
        arg: 3,
        ..about
    };
    match stop {
        Stop::Restarted => {
            records.insert(place + 1, restarted(false));
            records.insert(place + 1, Record { kind: EventKind::Aborted, level: 0, ..about });
        }
        _ => records[place].level = EntryReason::Fault as u8,
    }
    if stop == Stop::Exhausted {
        records.insert(place + 1, restarted(true));
    }
    records.insert(place, Record { kind: EventKind::Fault, level: kind as u8, job: component, ..about });
}

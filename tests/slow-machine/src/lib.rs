//! A machine for tests: cores without costs that run what a policy decides. Each entry can be made late, and events
//! without cause can be thrown in. It asserts nothing by itself; it keeps what happened for the tests to look at.

pub mod changes;
pub mod draw;
pub mod invariants;
pub mod levels;
pub mod systems;
pub mod trees;

use std::collections::{BTreeSet, HashMap};
use tactus_policy::{Decision, Event, Policy, PolicyConfig, Running, Scheduler};
use tactus_record::{Record, Sink};
use tactus_time::{CoreId, Duration, Instant, TaskId};

/// Keeps every record in the order of writing, over all cores.
#[derive(Default)]
pub struct Kept(pub Vec<Record>);

impl Sink for Kept {
    fn record(&mut self, record: Record) {
        self.0.push(record);
    }
}

/// Numbers that look random (Marsaglia's xorshift).
pub struct Chance(u64);

impl Chance {
    pub fn of(seed: u64) -> Chance {
        Chance(seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// The job on each core.
pub type OnCores = Vec<Option<(TaskId, u32)>>;

/// One call of the policy.
#[derive(Clone, Debug)]
pub struct Entry {
    pub core: usize,
    pub now: Instant,
    pub event: Event,
    pub decision: Decision,
    /// What every core runs after it.
    pub running: OnCores,
    /// Records written by it.
    pub records: Vec<Record>,
}

struct Core<S> {
    state: S,
    running: Option<Running>,
    since: Instant,
    /// What is due, and when the core will notice.
    timer: Option<Instant>,
    complete: Option<Instant>,
    notify: Option<Instant>,
    noise: Option<(Instant, Event)>,
}

/// How the machine departs from an ideal one. All draw from the caller's own source of chance.
pub struct Faults<'a> {
    /// How late the next entry is.
    pub delay: &'a mut dyn FnMut() -> Duration,
    /// When, from now, an event without cause hits the core next, and which.
    pub noise: &'a mut dyn FnMut() -> Option<(Duration, Event)>,
}

/// Runs the setup up to and including `end`; `demand` says what each job takes.
pub fn run(setup: &PolicyConfig, demand: &dyn Fn(TaskId, u32) -> Duration, end: Instant) -> Vec<Entry> {
    run_with(setup, demand, end, exact())
}

/// A machine without faults.
pub fn exact() -> Faults<'static> {
    // Closures that capture nothing take no memory, so nothing is leaked.
    Faults { delay: Box::leak(Box::new(|| Duration::ZERO)), noise: Box::leak(Box::new(|| None)) }
}

/// Runs with faults.
pub fn run_with(
    setup: &PolicyConfig,
    demand: &dyn Fn(TaskId, u32) -> Duration,
    end: Instant,
    faults: Faults,
) -> Vec<Entry> {
    let (scheduler, states) = Scheduler::new(setup).expect("the set-up is good");
    run_policy(&scheduler, states, demand, end, faults)
}

/// Runs any policy.
pub fn run_policy<P: Policy>(
    policy: &P,
    states: Vec<P::Core>,
    demand: &dyn Fn(TaskId, u32) -> Duration,
    end: Instant,
    mut faults: Faults,
) -> Vec<Entry> {
    let core = |state| Core {
        state,
        running: None,
        since: Instant::ZERO,
        timer: None,
        complete: None,
        notify: None,
        noise: None,
    };
    let mut cores: Vec<Core<P::Core>> = states.into_iter().map(core).collect();
    let mut done: HashMap<(TaskId, u32), Duration> = HashMap::new();
    let mut entries = Vec::new();
    for core in 0..cores.len() {
        enter(policy, &mut cores, core, Instant::ZERO, Event::Start, demand, &mut done, &mut faults, &mut entries);
    }
    // On equal times a completion comes before an event of another core, and that before a time-out.
    while let Some((now, kind, core)) = cores.iter().enumerate().filter_map(|(n, core)| next_of(core, n)).min() {
        if now > end {
            break;
        }
        let event = match kind {
            0 => Event::Complete,
            1 => Event::Notify,
            2 => Event::Timer,
            _ => cores[core].noise.expect("it was found there").1,
        };
        enter(policy, &mut cores, core, now, event, demand, &mut done, &mut faults, &mut entries);
    }
    entries
}

fn next_of<S>(core: &Core<S>, n: usize) -> Option<(Instant, u8, usize)> {
    let times = [core.complete, core.notify, core.timer, core.noise.map(|(at, _)| at)];
    times.into_iter().enumerate().filter_map(|(kind, at)| at.map(|at| (at, kind as u8, n))).min()
}

#[allow(clippy::too_many_arguments)]
fn enter<P: Policy>(
    policy: &P,
    cores: &mut [Core<P::Core>],
    n: usize,
    now: Instant,
    event: Event,
    demand: &dyn Fn(TaskId, u32) -> Duration,
    done: &mut HashMap<(TaskId, u32), Duration>,
    faults: &mut Faults,
    entries: &mut Vec<Entry>,
) {
    let core = &mut cores[n];
    // Late events may have been overtaken by others of the same core; time does not go back.
    let now = now.max(core.since);
    if let Some(job) = core.running {
        *done.entry((job.task, job.job)).or_default() += now.since(core.since);
    }
    core.since = now;
    let mut records = Kept::default();
    let decision = policy.handle(&mut core.state, now, event, &mut records);
    core.running = decision.run;
    core.complete = decision.run.map(|job| {
        let executed = done.get(&(job.task, job.job)).copied().unwrap_or_default();
        now + demand(job.task, job.job).saturating_sub(executed) + (faults.delay)()
    });
    core.timer = (decision.timer < Instant::NEVER).then(|| decision.timer.max(now) + (faults.delay)());
    if event == Event::Notify {
        core.notify = None;
    }
    if core.noise.is_none_or(|(at, _)| at <= now) {
        core.noise = (faults.noise)().map(|(after, event)| (now + after, event));
    }
    for other in decision.notify.iter() {
        let at = now + (faults.delay)();
        cores[other.index()].notify.get_or_insert(at);
    }
    let running = cores.iter().map(|core| core.running.map(|job| (job.task, job.job))).collect();
    entries.push(Entry { core: n, now, event, decision, running, records: records.0 });
}

/// What runs from each instant on, instants at which nothing changed left out.
pub fn timeline(entries: &[Entry]) -> Vec<(Instant, OnCores)> {
    let mut line: Vec<(Instant, OnCores)> = Vec::new();
    for entry in entries {
        match line.last_mut() {
            Some(last) if last.0 == entry.now => last.1 = entry.running.clone(),
            _ => line.push((entry.now, entry.running.clone())),
        }
    }
    line.dedup_by(|later, earlier| later.1 == earlier.1);
    line
}

/// What runs in each nanosecond before the end: tasks and jobs.
pub fn each_nanosecond(entries: &[Entry], end: u64) -> Vec<BTreeSet<(u16, u32)>> {
    let line = timeline(entries);
    let runs = |now: u64| {
        let at = line.iter().rev().find(|(from, _)| from.as_nanos() <= now).expect("the run starts at zero");
        at.1.iter().flatten().map(|(task, job)| (task.0, *job)).collect()
    };
    (0..end).map(runs).collect()
}

/// What a job takes, of at most so many nanoseconds: it differs from job to job.
pub fn time_of(most: u64, task: TaskId, job: u32) -> u64 {
    1 + (u64::from(job) * 7 + u64::from(task.0) * 3) % most.max(1)
}

/// Milliseconds as a time.
pub fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// The core with this number.
pub fn core(n: u8) -> Option<CoreId> {
    Some(CoreId(n))
}

//! The experiment of JUNIPER D3.6 on virtual platforms: two applications on two cores, each with its share, with tasks in
//! the background that outrank them in a plain order, or without. Once with virtual platforms (bounded-delay
//! multipartition), once with throttling as the baseline.
//!
//! **Throttling here** is what it is meant to be: per group and core a budget that is full at the start of each period,
//! fixed priorities among groups and background, exact times. Mainline Linux adds faults of its own (times at ticks,
//! budgets lent between cores, tasks left on a throttled core), which this baseline does not have: what it misses is
//! missed by the idea. [`linux`] is the literal one. Background tasks are bound to cores here, as tasks beside servers are.

pub mod linux;

use tactus_policy::{
    Overrun, PolicyConfig, PolicySpec, Server, ServerKind, Supply, Task, TaskOrder, TaskPlacement, Tree,
};
use tactus_record::{EventKind, Record, Sink};
use tactus_sim::{simulate_into, Costs, Error};
use tactus_time::{CoreId, CoreSet, Duration, Instant, Level, TaskId};

/// How the applications get their time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scheme {
    /// Hard constant-bandwidth servers on each core, by earliest deadline.
    Platforms,
    /// Budgets per period and fixed priorities.
    Throttling,
}

/// Table 2: the applications. Platform, priority, execution time, deadline and period (ms).
pub const APPLICATIONS: [(usize, u32, u64, u64); 5] =
    [(0, 13, 10, 60), (0, 12, 140, 270), (0, 11, 90, 520), (1, 15, 40, 270), (1, 14, 40, 520)];
/// Table 3: the background. Priority, execution time, deadline and period (ms), and the core that it is bound to here.
pub const BACKGROUND: [(u32, u64, u64, u8); 3] = [(18, 25, 100, 0), (17, 50, 200, 1), (16, 100, 400, 0)];
/// Table 1: budget and period of the two platforms (µs), for Δ = 20 ms and α = 0.72 and 0.22.
pub const PLATFORMS: [(u64, u64); 2] = [(25_714, 35_714), (2_820, 12_820)];
/// Table 4 of the source: mean misses in 120 s under throttling, without and with background.
pub const SOURCE: [[u32; 5]; 2] = [[6, 0, 0, 0, 0], [210, 222, 5, 0, 0]];

/// What one run did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Outcome {
    /// Jobs of each application task that were due within the run.
    pub jobs: [u32; 5],
    /// Of those, how many were not completed at their deadline.
    pub missed: [u32; 5],
    /// Calls of the scheduler.
    pub decisions: u64,
}

/// The system. `seed` draws the offset of each task within its period.
pub fn system(scheme: Scheme, background: bool, seed: u64) -> PolicyConfig {
    let mut offset = offsets(seed);
    let cores = CoreSet::first(2);
    let own = |cores: CoreSet| cores.iter().map(|core| CoreSet::from_bits(1 << core.0)).collect::<Vec<_>>();
    let server = |kind, order, priority, (budget, period): (u64, u64)| Server {
        parent: 0,
        cores,
        order,
        queues: vec![cores],
        quantum: Duration::ZERO,
        supply: Some(Supply {
            kind,
            budget: Duration::from_micros(budget),
            period: Duration::from_micros(period),
            write_backs: None,
        }),
        priority,
        background: false,
    };
    let (order, kind) = match scheme {
        Scheme::Platforms => (TaskOrder::EarliestDeadline, ServerKind::HardBandwidth),
        Scheme::Throttling => (TaskOrder::FixedPriority, ServerKind::Deferrable),
    };
    let root = Server { supply: None, queues: own(cores), order, ..server(kind, order, 0, (1, 1)) };
    // A group is as urgent as its most urgent task.
    let mut servers = vec![
        root,
        server(kind, TaskOrder::FixedPriority, 13, PLATFORMS[0]),
        server(kind, TaskOrder::FixedPriority, 15, PLATFORMS[1]),
    ];
    let mut tasks = Vec::new();
    let mut places = Vec::new();
    let task = |core, offset, period: u64, execution: u64| Task {
        level: Level::A,
        core,
        offset,
        period: Duration::from_millis(period),
        deadline: Duration::from_millis(period),
        budget: Duration::from_millis(execution),
    };
    for (platform, priority, execution, period) in APPLICATIONS {
        tasks.push(task(None, offset(period), period, execution));
        places.push(TaskPlacement { server: platform as u16 + 1, priority, overrun: Overrun::Continue });
    }
    if background {
        // Beside platforms, plain priorities come behind all deadlines: a server that lives on what is left.
        let rest = Server {
            queues: own(cores),
            background: true,
            ..server(ServerKind::HardBandwidth, TaskOrder::FixedPriority, 0, (50, 10_000_000))
        };
        let place = match scheme {
            Scheme::Platforms => servers.len() as u16,
            Scheme::Throttling => 0,
        };
        if scheme == Scheme::Platforms {
            servers.push(rest);
        }
        for (priority, execution, period, core) in BACKGROUND {
            tasks.push(task(Some(CoreId(core)), offset(period), period, execution));
            places.push(TaskPlacement { server: place, priority, overrun: Overrun::Continue });
        }
    }
    PolicyConfig {
        cores: 2,
        kind: PolicySpec::Servers(Tree {
            servers,
            places,
            releases: Vec::new(),
            waits: Vec::new(),
            line: Duration::ZERO,
            seed: 0,
        }),
        tasks,
    }
}

/// Draws offsets, each within a period that is told in ms.
fn offsets(seed: u64) -> impl FnMut(u64) -> Duration {
    let mut state = seed;
    move |period: u64| {
        // SplitMix64.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Duration::from_micros((z ^ (z >> 31)) % (period * 1000))
    }
}

/// Runs it for `duration`, without costs for the system's own work.
///
/// # Errors
/// None for these systems; those of a simulation.
pub fn run(scheme: Scheme, background: bool, seed: u64, duration: Duration) -> Result<Outcome, Error> {
    let setup = system(scheme, background, seed);
    let end = Instant::ZERO.saturating_add(duration);
    let mut tally = Tally { setup: &setup, done: [0; 5], outcome: Outcome::default() };
    let demand = |task: TaskId, _| setup.tasks[task.index()].budget;
    simulate_into(&setup, duration, demand, &Costs::default(), &mut tally)?;
    let Tally { done, mut outcome, .. } = tally;
    for (n, done) in done.into_iter().enumerate() {
        let task = &setup.tasks[n];
        let first = Instant::ZERO + task.offset + task.deadline;
        outcome.jobs[n] = if first > end { 0 } else { (end.since(first) / task.period) as u32 + 1 };
        // What was due and is not done.
        outcome.missed[n] += outcome.jobs[n].saturating_sub(done);
    }
    Ok(outcome)
}

struct Tally<'s> {
    setup: &'s PolicyConfig,
    done: [u32; 5],
    outcome: Outcome,
}

impl Sink for Tally<'_> {
    fn record(&mut self, record: Record) {
        self.outcome.decisions += u64::from(record.kind == EventKind::Enter);
        let Some(n) = record.task.map(TaskId::index).filter(|n| *n < 5 && record.kind == EventKind::Complete) else {
            return;
        };
        let task = &self.setup.tasks[n];
        let due = Instant::ZERO + task.offset + task.period * u64::from(record.job) + task.deadline;
        self.done[n] += 1;
        self.outcome.missed[n] += u32::from(record.time > due);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The companion test of the source's framework: a task is schedulable if some k has k · C + W within what the
    /// platform gives at parallelism k until its deadline. It passes for all five, so a miss would be a fault of ours.
    #[test]
    fn platforms_keep_every_deadline_beside_a_background_that_throttling_does_not_stand() {
        let length = Duration::from_secs(5);
        for seed in 1..=2 {
            for background in [false, true] {
                let outcome = run(Scheme::Platforms, background, seed, length).expect("a good system");
                assert_eq!(outcome.missed, [0; 5], "seed {seed}");
            }
        }
        let outcome = run(Scheme::Throttling, true, 1, length).expect("a good system");
        assert!(outcome.missed[0] + outcome.missed[1] > 0 && outcome.missed[3..] == [0, 0], "{outcome:?}");
    }
}

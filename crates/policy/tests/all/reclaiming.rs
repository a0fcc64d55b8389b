//! Servers that reclaim bandwidth (GRUB), against a model that goes tick by tick through virtual times as the paper defines them
//! (Lipari and Baruah, ECRTS 2000): it has no budget, no timer and no queue, and sorts all servers at every tick.

use crate::common::{core, run};
use proptest::prelude::*;
use tactus_policy::{
    Overrun, PolicyConfig, PolicyConfigError, PolicySpec, Scheduler, Server, ServerKind, Supply, Task, TaskOrder,
    TaskPlacement, Tree,
};
use tactus_time::{CoreSet, Duration, Instant, Level, TaskId};

/// All shares are so many parts of a processor, so that sums and virtual times are exact.
const PARTS: u64 = 64;
const END: u64 = 400;

#[derive(Clone, Debug)]
struct Given {
    kind: ServerKind,
    budget: u64,
    period: u64,
    /// Offset, distance and length of the jobs of each task; every second job is shorter.
    tasks: Vec<(u64, u64, u64)>,
}

impl Given {
    fn parts(&self) -> u64 {
        self.budget * (PARTS / self.period)
    }
}

fn demand(task: (u64, u64, u64), job: u64) -> u64 {
    if job % 2 == 1 {
        task.2.div_ceil(2)
    } else {
        task.2
    }
}

/// What is known of a server at a tick.
struct State {
    deadline: u64,
    /// Reclaiming: virtual time in parts of 1 / (PARTS · budget). Others: the budget.
    virtual_time: u64,
    budget: u64,
    active: bool,
    waits: bool,
    /// (absolute deadline, task, what remains), in no order.
    jobs: Vec<(u64, usize, u64)>,
}

struct Model {
    /// The task that runs in each tick, numbered over all servers.
    runs: Vec<Option<usize>>,
    /// When each job ends, by task.
    ends: Vec<Vec<u64>>,
    /// Whether a server with work was beyond its deadline by more than a tick for each server: the end of a budget is noticed
    /// less than a tick late.
    late: bool,
    /// How many ticks the model ran a reclaiming server while less than the whole bandwidth was active.
    reclaimed: u64,
}

/// Goes through all ticks.
fn model(given: &[Given]) -> Model {
    let first: Vec<usize> = given
        .iter()
        .scan(0, |sum, it| {
            *sum += it.tasks.len();
            Some(*sum - it.tasks.len())
        })
        .collect();
    let count = given.iter().map(|it| it.tasks.len()).sum();
    let mut out = Model { runs: Vec::new(), ends: vec![Vec::new(); count], late: false, reclaimed: 0 };
    let fresh = |it: &Given| State {
        deadline: it.period,
        virtual_time: 0,
        budget: it.budget,
        active: false,
        waits: false,
        jobs: Vec::new(),
    };
    let mut states: Vec<State> = given.iter().map(fresh).collect();
    let mut running: Option<(usize, usize)> = None;
    let mut rate = 0;
    for now in 0..END {
        // The tick that ends here.
        if let Some((s, j)) = running {
            let (it, state) = (&given[s], &mut states[s]);
            state.jobs[j].2 -= 1;
            if it.kind == ServerKind::Reclaiming {
                state.virtual_time += rate * it.period;
                if state.virtual_time >= state.deadline * PARTS * it.budget {
                    state.deadline += it.period;
                }
            } else {
                state.budget -= 1;
                match (state.budget, it.kind) {
                    (0, ServerKind::HardBandwidth) if now < state.deadline => state.waits = true,
                    (0, _) => (state.deadline, state.budget) = (state.deadline + it.period, it.budget),
                    _ => {}
                }
            }
            if state.jobs[j].2 == 0 {
                let (_, task, _) = state.jobs.remove(j);
                out.ends[first[s] + task].push(now);
            }
        }
        for (it, state) in given.iter().zip(&mut states) {
            if it.kind == ServerKind::Reclaiming {
                state.active &= !state.jobs.is_empty() || state.virtual_time > now * PARTS * it.budget;
            } else if state.waits && state.deadline == now {
                (state.waits, state.deadline, state.budget) = (false, now + it.period, it.budget);
            }
            let had_work = !state.jobs.is_empty();
            for (n, task) in it.tasks.iter().enumerate().filter(|(_, task)| now >= task.0) {
                if (now - task.0) % task.1 == 0 {
                    state.jobs.push((now + task.1, n, demand(*task, (now - task.0) / task.1)));
                }
            }
            if state.jobs.is_empty() || had_work {
                continue;
            }
            if it.kind == ServerKind::Reclaiming {
                if !state.active {
                    (state.virtual_time, state.deadline) = (now * PARTS * it.budget, now + it.period);
                }
                state.active = true;
            } else if !state.waits {
                let late = state.deadline <= now || state.budget * it.period > (state.deadline - now) * it.budget;
                if late {
                    (state.deadline, state.budget) = (now + it.period, it.budget);
                }
            }
        }
        let counts = |(it, state): &(&Given, &State)| it.kind != ServerKind::Reclaiming || state.active;
        rate = given.iter().zip(&states).filter(counts).map(|(it, _)| it.parts()).sum();
        let mut ready: Vec<(u64, usize)> = (0..given.len())
            .filter(|&s| !states[s].jobs.is_empty() && !states[s].waits)
            .map(|s| (states[s].deadline, s))
            .collect();
        ready.sort_unstable();
        running = ready.first().map(|&(_, s)| {
            let mut jobs: Vec<usize> = (0..states[s].jobs.len()).collect();
            jobs.sort_by_key(|&j| (states[s].jobs[j].0, states[s].jobs[j].1));
            (s, jobs[0])
        });
        out.late |= ready.iter().any(|(deadline, _)| *deadline + given.len() as u64 <= now);
        out.reclaimed +=
            u64::from(running.is_some_and(|(s, _)| given[s].kind == ServerKind::Reclaiming && rate < PARTS));
        out.runs.push(running.map(|(s, j)| first[s] + states[s].jobs[j].1));
        if running.is_none() {
            states.iter_mut().for_each(|state| state.active = false);
        }
    }
    out
}

fn ns(n: u64) -> Duration {
    Duration::from_nanos(n)
}

fn config(given: &[Given]) -> PolicyConfig {
    let root = Server {
        parent: 0,
        cores: CoreSet::first(1),
        order: TaskOrder::EarliestDeadline,
        queues: vec![CoreSet::first(1)],
        quantum: Duration::ZERO,
        supply: None,
        priority: 0,
        background: false,
    };
    let server = |it: &Given| Server {
        supply: Some(Supply { kind: it.kind, budget: ns(it.budget), period: ns(it.period), write_backs: None }),
        ..root.clone()
    };
    let servers = std::iter::once(root.clone()).chain(given.iter().map(server)).collect();
    let all = || given.iter().enumerate().flat_map(|(n, it)| it.tasks.iter().map(move |task| (n, *task)));
    let places = all().map(|(n, _)| TaskPlacement { server: n as u16 + 1, priority: 0, overrun: Overrun::Continue });
    let tasks = all().map(|(_, (offset, distance, length))| Task {
        level: Level::A,
        core: core(0),
        offset: ns(offset),
        period: ns(distance),
        deadline: ns(distance),
        budget: ns(length),
    });
    let tree = Tree {
        servers,
        places: places.collect(),
        releases: Vec::new(),
        waits: Vec::new(),
        line: Duration::ZERO,
        seed: 0,
    };
    PolicyConfig { cores: 1, kind: PolicySpec::Servers(tree), tasks: tasks.collect() }
}

/// The task that the policy runs in each tick.
fn decided(given: &[Given]) -> Vec<Option<usize>> {
    let tasks: Vec<(u64, u64, u64)> = given.iter().flat_map(|it| it.tasks.clone()).collect();
    let asked = |task: TaskId, job: u32| ns(demand(tasks[task.index()], u64::from(job)));
    let entries = run(&config(given), &asked, Instant::ZERO + ns(END));
    let mut runs = vec![None; END as usize];
    for (n, entry) in entries.iter().enumerate() {
        let until = entries.get(n + 1).map_or(END, |next| next.now.as_nanos());
        for tick in entry.now.as_nanos()..until.min(END) {
            runs[tick as usize] = entry.running[0].map(|(task, _)| task.index());
        }
    }
    runs
}

fn server(kinds: &'static [ServerKind]) -> impl Strategy<Value = Given> {
    let task = (0u64..40, 6u64..90, 1u64..14);
    (prop::sample::select(kinds), 3u32..7, 1u64..32, prop::collection::vec(task, 1..3)).prop_map(
        |(kind, power, share, tasks)| {
            let period = 1 << power;
            Given { kind, budget: (share % (period / 2)).max(1), period, tasks }
        },
    )
}

/// Servers whose shares are no more than a processor.
fn servers(kinds: &'static [ServerKind]) -> impl Strategy<Value = Vec<Given>> {
    prop::collection::vec(server(kinds), 1..6).prop_map(|mut all| {
        while all.iter().map(Given::parts).sum::<u64>() > PARTS {
            all.pop();
        }
        all
    })
}

const MIXED: &[ServerKind] =
    &[ServerKind::Reclaiming, ServerKind::Reclaiming, ServerKind::SoftBandwidth, ServerKind::HardBandwidth];

fn same_schedule(given: &[Given]) -> Result<Model, TestCaseError> {
    let wanted = model(given);
    let seen = decided(given);
    let differ = (0..END as usize).find(|&tick| wanted.runs[tick] != seen[tick]);
    prop_assert!(differ.is_none(), "tick {differ:?}: {:?} instead of {:?}", seen, wanted.runs);
    prop_assert!(!wanted.late, "a server was beyond its deadline");
    Ok(wanted)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn reclaiming_servers_make_the_schedule_of_virtual_times_and_keep_their_deadlines(given in servers(MIXED)) {
        same_schedule(&given)?;
    }

    /// Theorem 2 of the paper: a job of a server ends less than a period after it would on a processor of the server's
    /// share alone.
    #[test]
    fn a_job_ends_within_a_period_of_its_end_on_a_slower_processor_of_its_own(
        given in servers(&[ServerKind::Reclaiming]),
    ) {
        let single: Vec<Given> =
            given.into_iter().map(|it| Given { tasks: it.tasks[..1].to_vec(), ..it }).collect();
        let found = same_schedule(&single)?;
        for (it, ends) in single.iter().zip(&found.ends) {
            let task = it.tasks[0];
            // In parts of 1 / budget of a tick, as a job takes length · period / budget there.
            let mut alone = 0;
            for (job, end) in ends.iter().enumerate() {
                let job = job as u64;
                alone = alone.max((task.0 + job * task.1) * it.budget) + demand(task, job) * it.period;
                let limit = alone + (it.period + single.len() as u64) * it.budget;
                prop_assert!(end * it.budget <= limit, "job {} of {:?}", job, it);
            }
        }
    }
}

/// The generated systems do reclaim: otherwise the comparison says little.
#[test]
fn servers_get_what_others_leave() {
    let given = |kind| {
        vec![
            Given { kind, budget: 8, period: 32, tasks: vec![(0, 200, 40)] },
            Given { kind, budget: 16, period: 32, tasks: vec![(0, 64, 1)] },
            Given { kind: ServerKind::SoftBandwidth, budget: 8, period: 64, tasks: vec![(50, 400, 3)] },
        ]
    };
    let reclaiming = model(&given(ServerKind::Reclaiming));
    assert!(reclaiming.reclaimed > 20);
    assert_eq!(decided(&given(ServerKind::Reclaiming)), reclaiming.runs);
    let soft = model(&given(ServerKind::SoftBandwidth));
    assert_ne!(reclaiming.runs, soft.runs);
}

#[test]
fn a_core_that_shares_a_queue_cannot_reclaim() {
    let mut setup = config(&[Given { kind: ServerKind::Reclaiming, budget: 1, period: 2, tasks: vec![(0, 8, 1)] }]);
    setup.cores = 2;
    let PolicySpec::Servers(tree) = &mut setup.kind else { panic!("it is a tree") };
    tree.servers[0].cores = CoreSet::first(2);
    tree.servers[0].queues = vec![CoreSet::from_bits(1), CoreSet::from_bits(2)];
    tree.servers[1].cores = CoreSet::first(2);
    tree.servers[1].queues = vec![CoreSet::first(2)];
    setup.tasks[0].core = None;
    assert_eq!(Scheduler::new(&setup).err(), Some(PolicyConfigError::SharedReclaiming(1)));
}

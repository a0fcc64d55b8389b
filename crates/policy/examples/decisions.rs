//! How long a decision takes: a zero-cost machine drives a policy as fast as it can.
//!
//! `cargo run --release -p tactus-policy --example decisions -- <policy> <cores> <tasks> <jobs>`, policy one of `prm`,
//! `pdm`, `pfp`, `pedf`, `grm`, `gdm`, `gfp`, `gedf`, `cfp` and `cedf` (clusters of two), `mc2`, `amc`, `edf-vd`; or of the trees of servers `p-` or `g-` (partitioned, global) with `fp`, `rm`,
//! `dm`, `edf`, `llf`, `llf-at-release`, `sjf`, `fifo`, `rr`; or `cbs`, one hard server on each core. Prints jobs and decisions per second. For instructions, run the built example under
//! `valgrind --tool=callgrind`: the calls of `Expire::visit` (the short way of releases) and of `Handle::visit` (all else, nearly only
//! completions), with all that they call, are the policy alone, records written to nowhere; by their number it is the mean of one.

use std::time::Instant as WallClock;
use tactus_policy::{
    Clusters, CoreState, Decision, Dual, Event, Mc2, Mixed, MixedOrder, Overrun, Policy, PolicyConfig, PolicySpec,
    Priorities, Running, Scheduler, Server, ServerKind, Supply, Table, Task, TaskOrder, TaskPlacement, Tree, Visitor,
};
use tactus_record::NoSink;
use tactus_time::{CoreId, CoreSet, Duration, Instant, Level, TaskId};

/// Tasks with periods from 1 to 100 ms that load each core to nine tenths.
fn setup(policy: &str, cores: usize, tasks: usize) -> Option<(PolicyConfig, Vec<Duration>)> {
    let kind = match policy {
        "prm" => PolicySpec::PartitionedRm,
        "pdm" => PolicySpec::PartitionedDm,
        "gdm" => PolicySpec::GlobalDm,
        "pedf" => PolicySpec::PartitionedEdf,
        "grm" => PolicySpec::GlobalRm,
        "gedf" => PolicySpec::GlobalEdf,
        "pfp" => PolicySpec::PartitionedFp(priorities(tasks)),
        "gfp" => PolicySpec::GlobalFp(priorities(tasks)),
        "cedf" => PolicySpec::ClusteredEdf(pairs(cores, Priorities(Vec::new()))),
        "cfp" => PolicySpec::ClusteredFp(pairs(cores, priorities(tasks))),
        "mc2" => PolicySpec::Mc2(Mc2 {
            enforce: true,
            slack_shifting: true,
            allowance: Duration::ZERO,
            tables: vec![Table::default(); cores],
        }),
        "amc" | "edf-vd" => PolicySpec::Mixed(two_levels(policy, cores, tasks)),
        other => tree(other, cores, tasks)?,
    };
    let two_levels = matches!(kind, PolicySpec::Mixed(_));
    let global = policy.starts_with("g-");
    let mut demand = Vec::new();
    let mut list = Vec::new();
    for n in 0..tasks {
        let (period, budget) = period_and_budget(n, cores, tasks);
        demand.push(budget * 4 / 5);
        list.push(Task {
            level: match policy {
                "mc2" => [Level::B, Level::C, Level::C, Level::C][n % 4],
                _ if two_levels => [Level::A, Level::B][n % 2],
                _ => Level::A,
            },
            core: (!global).then_some(CoreId((n % cores) as u8)),
            offset: Duration::ZERO,
            period,
            deadline: period,
            budget,
        });
    }
    Some((PolicyConfig { cores, kind, tasks: list }, demand))
}

fn period_and_budget(n: usize, cores: usize, tasks: usize) -> (Duration, Duration) {
    let period = Duration::from_micros(1_000 + (n as u64 * 7_919) % 99_000);
    (period, period * 9 * cores as u64 / (10 * tasks as u64))
}

/// No job takes longer than its LO time, so that no mode changes.
fn two_levels(policy: &str, cores: usize, tasks: usize) -> Mixed {
    let dual = |n: usize| {
        let (period, budget) = period_and_budget(n, cores, tasks);
        Dual {
            low: if n % 2 == 0 { budget * 9 / 10 } else { budget },
            priority: priority(n),
            virtual_deadline: period * 3 / 4,
        }
    };
    let order = if policy == "amc" { MixedOrder::FixedPriority } else { MixedOrder::VirtualDeadline };
    Mixed { order, tasks: (0..tasks).map(dual).collect() }
}

/// Clusters of two cores.
fn pairs(cores: usize, priorities: Priorities) -> Clusters {
    let all = CoreSet::first(cores).bits();
    let sets = (0..cores).step_by(2).map(|n| CoreSet::from_bits((3 << n) & all)).collect();
    Clusters { sets, priorities }
}

/// By rates, so that hardly any deadline is missed.
fn priority(n: usize) -> u32 {
    (100_000 - (n * 7_919) % 99_000) as u32
}

fn priorities(tasks: usize) -> Priorities {
    Priorities((0..tasks).map(priority).collect())
}

/// A tree without servers, or with one server on each core.
fn tree(name: &str, cores: usize, tasks: usize) -> Option<PolicySpec> {
    let server = name == "cbs";
    let (spread, order) = if server { ("p", "edf") } else { name.split_once('-')? };
    let order = TaskOrder::ALL.into_iter().find(|it| it.key() == order)?;
    let each = (0..cores).map(|core| CoreSet::from_bits(1 << core)).collect();
    let root = Server {
        parent: 0,
        cores: CoreSet::first(cores),
        order,
        queues: if spread == "p" { each } else { vec![CoreSet::first(cores)] },
        quantum: Duration::from_millis(1),
        supply: None,
        priority: 0,
        background: false,
    };
    let kind = ServerKind::HardBandwidth;
    let supply =
        Supply { kind, budget: Duration::from_micros(9_500), period: Duration::from_millis(10), write_backs: None };
    let inside = server.then(|| Server { supply: Some(supply), ..root.clone() });
    let servers = std::iter::once(root).chain(inside).collect();
    let place =
        |n: usize| TaskPlacement { server: u16::from(server), priority: priority(n), overrun: Overrun::Continue };
    Some(PolicySpec::Servers(Tree {
        servers,
        places: (0..tasks).map(place).collect(),
        releases: Vec::new(),
        waits: Vec::new(),
        line: Duration::ZERO,
        seed: 0,
    }))
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |n: usize| arguments.get(n).and_then(|word| word.parse::<usize>().ok());
    let made = arguments.first().zip(number(1)).zip(number(2)).and_then(|((p, c), t)| setup(p, c, t));
    let (Some((setup, demand)), Some(jobs)) = (made, number(3)) else {
        eprintln!("usage: decisions <policy> <cores> <tasks> <jobs>");
        std::process::exit(2);
    };
    let (scheduler, mut cores) = match Scheduler::new(&setup) {
        Ok(made) => made,
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(2);
        }
    };
    let start = WallClock::now();
    let (completed, decisions) = drive(&scheduler, &mut cores, &demand, jobs);
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{completed} jobs, {decisions} decisions, {:.0} jobs/s, {:.0} ns a decision",
        completed as f64 / seconds,
        seconds * 1e9 / decisions as f64
    );
}

/// One call of the policy, as the scheduler component makes it.
fn decide(scheduler: &Scheduler, core: &mut CoreState, now: Instant, event: Event) -> Decision {
    let short = if event == Event::Timer { scheduler.visit(core, Expire(now)) } else { None };
    short.unwrap_or_else(|| scheduler.visit(core, Handle(now, event)))
}

/// The end of a time-out, the short way. On its own, compiled for each policy, as the component has it: so that a
/// profiler sees it.
struct Expire(Instant);

impl Visitor for Expire {
    type Output = Option<Decision>;

    #[inline(never)]
    fn visit<P: Policy>(self, policy: &P, core: &mut P::Core) -> Option<Decision> {
        policy.expire(core, self.0, &mut NoSink)
    }
}

/// Any decision.
struct Handle(Instant, Event);

impl Visitor for Handle {
    type Output = Decision;

    #[inline(never)]
    fn visit<P: Policy>(self, policy: &P, core: &mut P::Core) -> Decision {
        policy.handle(core, self.0, self.1, &mut NoSink)
    }
}

/// Runs until so many jobs are complete. Gives the number of jobs and of decisions.
fn drive(scheduler: &Scheduler, cores: &mut [CoreState], demand: &[Duration], jobs: usize) -> (usize, usize) {
    let mut running: Vec<Option<Running>> = vec![None; cores.len()];
    let mut timers = vec![Instant::ZERO; cores.len()];
    let mut notified = vec![Instant::NEVER; cores.len()];
    let mut finish = vec![Instant::NEVER; cores.len()];
    let (mut completed, mut decisions) = (0, 0);
    let mut started = vec![false; cores.len()];
    let of = |task: TaskId| demand[task.index()];
    while completed < jobs {
        let next = |core: &usize| finish[*core].min(notified[*core]).min(timers[*core]);
        let Some(core) = (0..cores.len()).min_by_key(next) else { break };
        let now = next(&core);
        let event = if !started[core] {
            Event::Start
        } else if finish[core] == now {
            completed += 1;
            Event::Complete
        } else if notified[core] == now {
            Event::Notify
        } else {
            Event::Timer
        };
        started[core] = true;
        if event == Event::Notify {
            notified[core] = Instant::NEVER;
        }
        let decision = decide(scheduler, &mut cores[core], now, event);
        decisions += 1;
        running[core] = decision.run;
        timers[core] = decision.timer;
        finish[core] = decision.run.map_or(Instant::NEVER, |job| now + of(job.task).saturating_sub(job.charged));
        for other in decision.notify.iter() {
            notified[other.index()] = now;
        }
    }
    (completed, decisions)
}

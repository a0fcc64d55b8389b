//! How long a decision takes: a zero-cost machine drives a policy as fast as it can.
//!
//! `cargo run --release -p tactus-policy --example decisions -- <policy> <cores> <tasks> <jobs>`, policy one of `prm`,
//! `pdm`, `pfp`, `pedf`, `grm`, `gdm`, `gfp`, `gedf`, `mc2`; or of the trees of servers `p-` or `g-` (partitioned, global) with `fp`, `rm`,
//! `dm`, `edf`, `llf`, `llf-at-release`, `sjf`, `fifo`, `rr`; or `cbs`, one hard server on each core. Prints jobs and decisions per second. For instructions, run the built example under
//! `valgrind --tool=callgrind` and divide what `callgrind_annotate --inclusive=yes` says of `decide` by the number of
//! decisions: that is the policy alone, records written to nowhere. Built as one unit
//! (`CARGO_PROFILE_RELEASE_CODEGEN_UNITS=1 CARGO_PROFILE_RELEASE_LTO=fat`) it takes about a sixth less.

use std::time::Instant as WallClock;
use tactus_policy::{
    CoreState, Decision, Event, Kind, Mc2, Overrun, Place, Policy, Priorities, Running, Scheduler, Server, Setup,
    Supplier, Supply, Table, Task, TaskOrder, Tree,
};
use tactus_record::NoSink;
use tactus_time::{CoreId, CoreSet, Duration, Instant, Level, TaskId};

/// Tasks with periods from 1 to 100 ms that load each core to nine tenths.
fn setup(policy: &str, cores: usize, tasks: usize) -> Option<(Setup, Vec<Duration>)> {
    let kind = match policy {
        "prm" => Kind::PartitionedRm,
        "pdm" => Kind::PartitionedDm,
        "gdm" => Kind::GlobalDm,
        "pedf" => Kind::PartitionedEdf,
        "grm" => Kind::GlobalRm,
        "gedf" => Kind::GlobalEdf,
        "pfp" => Kind::PartitionedFp(priorities(tasks)),
        "gfp" => Kind::GlobalFp(priorities(tasks)),
        "mc2" => Kind::Mc2(Mc2 {
            enforce: true,
            slack_shifting: true,
            allowance: Duration::ZERO,
            tables: vec![Table::default(); cores],
        }),
        other => tree(other, cores, tasks)?,
    };
    let global = policy.starts_with("g-");
    let mut demand = Vec::new();
    let mut list = Vec::new();
    for n in 0..tasks {
        let period = Duration::from_micros(1_000 + (n as u64 * 7_919) % 99_000);
        let budget = period * 9 * cores as u64 / (10 * tasks as u64);
        demand.push(budget * 4 / 5);
        list.push(Task {
            level: if policy == "mc2" { [Level::B, Level::C, Level::C, Level::C][n % 4] } else { Level::A },
            core: (!global).then_some(CoreId((n % cores) as u8)),
            offset: Duration::ZERO,
            period,
            deadline: period,
            budget,
        });
    }
    Some((Setup { cores, kind, tasks: list }, demand))
}

fn priorities(tasks: usize) -> Priorities {
    Priorities((0..tasks).map(|n| (n * 7_919 % 1_000) as u32).collect())
}

/// A tree without servers, or with one server on each core.
fn tree(name: &str, cores: usize, tasks: usize) -> Option<Kind> {
    let server = name == "cbs";
    let (spread, order) = if server { ("p", "edf") } else { name.split_once('-')? };
    let order = match order {
        "fp" => TaskOrder::FixedPriority,
        "rm" => TaskOrder::RateMonotonic,
        "dm" => TaskOrder::DeadlineMonotonic,
        "edf" => TaskOrder::EarliestDeadline,
        "llf" => TaskOrder::LeastLaxity,
        "llf-at-release" => TaskOrder::LaxityAtRelease,
        "sjf" => TaskOrder::ShortestJob,
        "fifo" => TaskOrder::FirstComeFirstServed,
        "rr" => TaskOrder::RoundRobin,
        _ => return None,
    };
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
    let kind = Supplier::ConstantBandwidth { hard: true };
    let supply = Supply { kind, budget: Duration::from_micros(9_500), period: Duration::from_millis(10) };
    let inside = server.then(|| Server { supply: Some(supply), ..root.clone() });
    let servers = std::iter::once(root).chain(inside).collect();
    let place = |n: usize| Place {
        server: u16::from(server),
        priority: (n * 7_919 % 1_000) as u32,
        overrun: Overrun::Continue,
    };
    Some(Kind::Servers(Tree { servers, places: (0..tasks).map(place).collect() }))
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

/// One call of the policy, on its own so that a profiler sees it.
#[inline(never)]
fn decide(scheduler: &Scheduler, core: &mut CoreState, now: Instant, event: Event) -> Decision {
    scheduler.handle(core, now, event, &mut NoSink)
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

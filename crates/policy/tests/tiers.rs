//! A tree cut into schedulers of their own decides as the whole tree does: same jobs, same instants, on a machine without
//! costs.

mod common;

use common::trees::trees;
use common::{run, OnCores};
use proptest::prelude::*;
use std::collections::HashMap;
use tactus_policy::{cut, CutError, Decision, Event, Kind, Overrun, Setup, Supplier, TaskOrder, Tier, TierPlan};
use tactus_record::NoSink;
use tactus_time::{CoreId, CoreSet, Duration, Instant, TaskId};

/// One scheduler on one core.
struct Scheduler {
    tier: Tier,
    plan: usize,
    decision: Option<Decision>,
    /// Since when it has had the core, or until when it had it.
    left: Instant,
    /// It told its parent that it has nothing to run until then.
    idle: Option<Instant>,
}

/// One core with all its schedulers.
struct Core {
    schedulers: Vec<Scheduler>,
    plans: Vec<TierPlan>,
    /// What each job has been given.
    done: HashMap<(TaskId, u32), Duration>,
    now: Instant,
    /// What ran from when on.
    line: Vec<(Instant, Option<(TaskId, u32)>)>,
}

impl Core {
    fn new(plans: &[TierPlan], core: usize) -> Core {
        let schedulers = plans.iter().enumerate().map(|(plan, it)| {
            let tier = Tier::new(it).expect("the plan is good").swap_remove(core);
            Scheduler { tier, plan, decision: None, left: Instant::ZERO, idle: None }
        });
        let schedulers = schedulers.collect();
        Core { schedulers, plans: plans.to_vec(), done: HashMap::new(), now: Instant::ZERO, line: Vec::new() }
    }

    /// The scheduler that the decision gives the core to.
    fn below(&self, at: usize) -> Option<usize> {
        let run = self.schedulers[at].decision?.run?;
        let below = self.plans[self.schedulers[at].plan].below.iter().find(|below| below.stands == run.task)?;
        Some(below.place.into())
    }

    /// From the root down to the one whose job runs.
    fn chain(&self) -> Vec<usize> {
        std::iter::successors(Some(0), |at| self.below(*at)).collect()
    }

    /// The scheduler decides, and those that it gives the core to.
    fn decide(&mut self, at: usize, event: Event) {
        let now = self.now;
        let it = &mut self.schedulers[at];
        let event = if it.decision.is_none() { Event::Start } else { event };
        let left = std::mem::replace(&mut it.left, now);
        let (decision, blinks) = it.tier.handle(left, now, event, &mut NoSink);
        (it.decision, it.idle) = (Some(decision), None);
        if decision.run.is_none() || blinks && at != 0 {
            it.idle = Some(if blinks { now } else { decision.timer });
        } else if let Some(below) = self.below(at) {
            self.decide(below, Event::Timer);
            self.let_decide(at, below);
        }
    }

    /// The parent decides if the one below has nothing to run.
    fn let_decide(&mut self, at: usize, below: usize) {
        if let Some(until) = self.schedulers[below].idle {
            self.schedulers[at].tier.doze(until);
            self.schedulers[at].left = self.now;
            self.decide(at, Event::Complete);
        }
    }

    /// Everybody above decides in turn where one has nothing to run.
    fn settle(&mut self, chain: &[usize]) {
        for pair in chain.windows(2).rev() {
            self.let_decide(pair[0], pair[1]);
        }
    }

    fn run(&mut self, demand: &dyn Fn(TaskId, u32) -> Duration, end: Instant) {
        self.decide(0, Event::Start);
        loop {
            let chain = self.chain();
            let last = *chain.last().expect("the root is there");
            let job = self.schedulers[last].decision.and_then(|decision| decision.run).map(|run| (run.task, run.job));
            self.line.push((self.now, job));
            let ends = job.map(|job| {
                let done = self.done.get(&job).copied().unwrap_or_default();
                self.now + demand(job.0, job.1).saturating_sub(done)
            });
            let timer = |at: &usize| self.schedulers[*at].decision.map_or(Instant::NEVER, |it| it.timer);
            let timers: Vec<Instant> = chain.iter().map(timer).collect();
            let timer = timers.iter().min().copied().unwrap_or(Instant::NEVER).max(self.now);
            let next = ends.map_or(timer, |ends| ends.min(timer));
            if next > end {
                return;
            }
            if let Some(job) = job {
                *self.done.entry(job).or_default() += next.since(self.now);
            }
            self.now = next;
            // Whoever is on the way to the job has had the core until now.
            chain.iter().for_each(|at| self.schedulers[*at].left = next);
            if ends == Some(next) {
                self.decide(last, Event::Complete);
                self.settle(&chain);
            } else {
                // Of time-outs at one instant the deepest comes first: so a budget that ends together with the work finds
                // that there is none. (On the machine no two things take no time.)
                let due = timers.iter().rposition(|timer| *timer <= next).expect("one is due");
                self.decide(chain[due], Event::Timer);
                self.settle(&chain[..=due]);
            }
        }
    }
}

/// Instants at which nothing changes left out, and all but the last of those at one instant.
fn line(all: impl IntoIterator<Item = (Instant, Option<(TaskId, u32)>)>) -> Vec<(Instant, Option<(TaskId, u32)>)> {
    let mut line: Vec<(Instant, Option<(TaskId, u32)>)> = Vec::new();
    for (at, job) in all {
        match line.last_mut() {
            Some(last) if last.0 == at => last.1 = job,
            _ => line.push((at, job)),
        }
    }
    line.dedup_by(|later, earlier| later.1 == earlier.1);
    line
}

/// The same tree with queues of one core each and without what keeps it from being cut.
fn divisible(mut setup: Setup) -> Setup {
    let cores = setup.cores;
    let Kind::Servers(tree) = &mut setup.kind else { return setup };
    let orders: Vec<TaskOrder> = tree.servers.iter().map(|it| tree.servers[usize::from(it.parent)].order).collect();
    for (server, order) in tree.servers.iter_mut().zip(orders) {
        let within = server.cores;
        server.queues = CoreSet::first(cores).iter().filter(|core| within.contains(*core)).map(alone).collect();
        if server.order == TaskOrder::LeastLaxity {
            server.order = TaskOrder::LaxityAtRelease;
        }
        if let Some(supply) = &mut server.supply {
            match supply.kind {
                Supplier::Periodic | Supplier::Polling if server.parent != 0 => supply.kind = Supplier::Deferrable,
                Supplier::PriorityInheriting if server.parent != 0 || order == TaskOrder::EarliestDeadline => {
                    supply.kind = Supplier::Sporadic;
                }
                _ => {}
            }
        }
    }
    for (n, (task, place)) in setup.tasks.iter_mut().zip(&mut tree.places).enumerate() {
        let cores: Vec<CoreId> = tree.servers[usize::from(place.server)].cores.iter().collect();
        task.core = task.core.or(Some(cores[n % cores.len()]));
        if place.overrun == Overrun::Kill {
            place.overrun = Overrun::Continue;
        }
    }
    setup
}

fn alone(core: CoreId) -> CoreSet {
    CoreSet::from_bits(1 << core.0)
}

/// The first difference between the whole tree and its parts.
fn difference(setup: &Setup, demand: &dyn Fn(TaskId, u32) -> Duration, end: Instant) -> Option<String> {
    let whole: Vec<(Instant, OnCores)> = run(setup, demand, end).into_iter().map(|it| (it.now, it.running)).collect();
    let plans = cut(setup).expect("it can be cut");
    for plan in &plans {
        assert_eq!(TierPlan::decode(&plan.encode()).as_ref(), Ok(plan));
    }
    for core in 0..setup.cores {
        let wanted = line(whole.iter().map(|(at, running)| (*at, running[core])));
        let mut parts = Core::new(&plans, core);
        parts.run(demand, end);
        let found = line(parts.line);
        let at = wanted.iter().zip(&found).position(|(a, b)| a != b);
        if let Some(at) = at.or((wanted.len() != found.len()).then(|| wanted.len().min(found.len()))) {
            let around = at.saturating_sub(2);
            let show = |it: &[(Instant, Option<(TaskId, u32)>)]| {
                format!("{:?}", &it[around.min(it.len())..(at + 2).min(it.len())])
            };
            return Some(format!("core {core}, entry {at}: whole {}, parts {}", show(&wanted), show(&found)));
        }
    }
    None
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_tree_cut_into_schedulers_decides_as_the_whole_tree(setup in trees(1000), odd in 1u64..40) {
        let setup = divisible(setup);
        // Some jobs take longer than they should.
        let demand = |task: TaskId, job: u32| {
            let wcet = setup.tasks[task.index()].budget.as_nanos();
            Duration::from_nanos((wcet * (odd + u64::from(job) * 7 % 40) / 40).max(1))
        };
        let found = difference(&setup, &demand, Instant::from_nanos(40_000));
        prop_assert!(found.is_none(), "{}\n{setup:#?}", found.unwrap_or_default());
    }
}

#[test]
fn what_cannot_be_cut_is_named() {
    let setup = Setup { cores: 1, kind: Kind::PartitionedEdf, tasks: Vec::new() };
    assert_eq!(cut(&setup), Err(CutError::NoTree));
}

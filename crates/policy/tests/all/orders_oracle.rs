//! Every order of tasks, partitioned, clustered and global, with every rule for overruns, beside a slow machine that
//! sorts all ready jobs in every nanosecond: the same jobs run at each instant, for random systems, also overloaded ones.

use crate::common::{each_nanosecond, invariants, run, time_of};
use proptest::prelude::*;
use std::collections::BTreeSet;
use tactus_policy::{Overrun, PolicyConfig, PolicySpec, Server, Task, TaskOrder, TaskPlacement, Tree};
use tactus_time::{CoreId, CoreSet, Duration, Instant, Level, TaskId};

const END: u64 = 120;

/// A job of the slow machine.
#[derive(Clone, Debug)]
struct Job {
    task: usize,
    number: u32,
    release: u64,
    done: u64,
    demand: u64,
    turn: u64,
    slice: u64,
}

/// The slow machine: what runs in each nanosecond. Nothing is kept sorted; all is looked at in each step.
fn by_sorting(setup: &PolicyConfig, demand: &dyn Fn(TaskId, u32) -> Duration) -> Vec<BTreeSet<(u16, u32)>> {
    let PolicySpec::Servers(tree) = &setup.kind else { panic!("{:?}", setup.kind) };
    let root = &tree.servers[0];
    let quantum = root.quantum.as_nanos();
    let mut jobs: Vec<Job> = Vec::new();
    let mut budget = vec![0u64; setup.tasks.len()];
    let mut turns = 0;
    let mut line = Vec::new();
    let mut running: Vec<(usize, u32)> = Vec::new();
    for now in 0..END {
        // What ran until now: turns that are over go to the end, finished jobs leave, and so do those to be killed.
        let finished = |job: &Job| job.done >= job.demand;
        let next_turn = |jobs: &mut Vec<Job>, task: usize, turns: &mut u64| {
            if let Some(next) = jobs.iter_mut().find(|job| job.task == task).filter(|job| job.slice == 0) {
                *turns += 1;
                (next.turn, next.slice) = (*turns, quantum);
            }
        };
        for (task, _) in std::mem::take(&mut running) {
            jobs.retain(|job| job.task != task || !finished(job));
            if tree.places[task].overrun == Overrun::Stop && budget[task] == 0 {
                // It has to wait, and comes back at the end.
                jobs.iter_mut().filter(|job| job.task == task).for_each(|job| job.slice = 0);
            } else {
                next_turn(&mut jobs, task, &mut turns);
            }
        }
        for (n, task) in setup.tasks.iter().enumerate() {
            let killed = |job: &Job| {
                tree.places[n].overrun == Overrun::Kill
                    && job.task == n
                    && job.release + task.deadline.as_nanos() <= now
            };
            jobs.retain(|job| !killed(job));
        }
        // Releases in the order of the tasks.
        for (n, task) in setup.tasks.iter().enumerate() {
            let Some(since) = now.checked_sub(task.offset.as_nanos()) else { continue };
            if since % task.period.as_nanos() != 0 {
                continue;
            }
            let number = (since / task.period.as_nanos()) as u32;
            budget[n] = task.budget.as_nanos();
            if tree.places[n].overrun == Overrun::Skip && jobs.iter().any(|job| job.task == n) {
                continue;
            }
            let demand = demand(TaskId(n as u16), number).as_nanos();
            jobs.push(Job { task: n, number, release: now, done: 0, demand, turn: 0, slice: 0 });
            next_turn(&mut jobs, n, &mut turns);
        }
        // One job of each task may run: its oldest.
        let mut seen = BTreeSet::new();
        let mut ready: Vec<usize> = (0..jobs.len()).filter(|j| seen.insert(jobs[*j].task)).collect();
        ready.retain(|j| tree.places[jobs[*j].task].overrun != Overrun::Stop || budget[jobs[*j].task] > 0);
        ready.sort_by_key(|j| {
            let job = &jobs[*j];
            let task = &setup.tasks[job.task];
            let wcet = task.budget.as_nanos();
            let deadline = (job.release + task.deadline.as_nanos()) as i64;
            let urgency = match root.order {
                TaskOrder::FixedPriority => -i64::from(tree.places[job.task].priority),
                TaskOrder::RateMonotonic => task.period.as_nanos() as i64,
                TaskOrder::DeadlineMonotonic => task.deadline.as_nanos() as i64,
                TaskOrder::EarliestDeadline => deadline,
                TaskOrder::LeastLaxity => (deadline - wcet.saturating_sub(job.done) as i64).max(0),
                TaskOrder::LaxityAtRelease => (deadline - wcet as i64).max(0),
                TaskOrder::ShortestJob => wcet as i64,
                TaskOrder::SlackMonotonic => task.deadline.as_nanos().saturating_sub(wcet) as i64,
                TaskOrder::FirstComeFirstServed => job.release as i64,
                TaskOrder::RoundRobin => job.turn as i64,
                TaskOrder::FixedPriorityRoundRobin => {
                    job.turn as i64 - i64::from(tree.places[job.task].priority) * 1_000_000
                }
            };
            (urgency, job.task)
        });
        for queue in &root.queues {
            let mine = |j: &&usize| setup.tasks[jobs[**j].task].core.is_none_or(|core| queue.contains(core));
            let chosen: Vec<usize> = ready.iter().filter(mine).take(queue.iter().count()).copied().collect();
            for j in chosen {
                running.push((jobs[j].task, jobs[j].number));
                jobs[j].done += 1;
                jobs[j].slice = jobs[j].slice.saturating_sub(1);
                budget[jobs[j].task] = budget[jobs[j].task].saturating_sub(1);
            }
        }
        line.push(running.iter().map(|(task, job)| (*task as u16, *job)).collect());
    }
    line
}

/// How cores share queues: each by itself, in two clusters, or all together.
fn queues(cores: u8, how: u8) -> Vec<CoreSet> {
    let set = |from: u8, to: u8| CoreSet::from_bits((from..to).fold(0, |all, core| all | 1 << core));
    match how {
        0 => (0..cores).map(|core| set(core, core + 1)).collect(),
        1 if cores > 1 => vec![set(0, cores / 2), set(cores / 2, cores)],
        _ => vec![set(0, cores)],
    }
}

fn systems() -> impl Strategy<Value = (PolicyConfig, Vec<u64>)> {
    (1u8..=4, 0usize..10, 0u8..3, 1u64..4, 1usize..=10)
        .prop_flat_map(|(cores, order, how, quantum, tasks)| {
            let task = (0..cores, 0u64..12, 2u64..25, 1u64..30, 1u64..8, 1u64..8, 0u32..5, 0u8..4);
            (Just((cores, TaskOrder::ALL[order], how, quantum)), prop::collection::vec(task, tasks))
        })
        .prop_map(|((cores, order, how, quantum), drawn)| {
            let queues = queues(cores, how);
            // Turns that end at one instant on several cores are given in the order in which the cores are served, which
            // the slow machine does not know.
            let queues = match order {
                order if order.takes_turns() => self::queues(cores, 0),
                _ => queues,
            };
            let several = queues.len() > 1;
            let most = drawn.iter().map(|task| task.4).collect();
            let overrun = [Overrun::Continue, Overrun::Skip, Overrun::Stop, Overrun::Kill];
            let rule = |n: u8| overrun[usize::from(n)];
            let places = drawn.iter().map(|task| TaskPlacement { server: 0, priority: task.6, overrun: rule(task.7) });
            let places: Vec<TaskPlacement> = places.collect();
            let tasks = drawn
                .iter()
                .map(|(core, offset, period, deadline, _, budget, _, overrun)| Task {
                    level: Level::A,
                    core: several.then_some(CoreId(*core)),
                    offset: Duration::from_nanos(*offset),
                    period: Duration::from_nanos(*period),
                    // A job that is to be killed is so before the next one is released.
                    deadline: Duration::from_nanos(if *overrun == 3 { (*deadline).min(*period) } else { *deadline }),
                    budget: Duration::from_nanos(*budget),
                })
                .collect();
            let cores = usize::from(cores);
            // Strict least laxity looks at each instant.
            let quantum = if order == TaskOrder::LeastLaxity { 1 } else { quantum };
            let root = Server {
                parent: 0,
                cores: CoreSet::first(cores),
                order,
                queues,
                quantum: Duration::from_nanos(quantum),
                supply: None,
                priority: 0,
                background: false,
            };
            let kind = PolicySpec::Servers(Tree {
                servers: vec![root],
                places,
                releases: Vec::new(),
                waits: Vec::new(),
                line: Duration::ZERO,
                seed: 0,
            });
            (PolicyConfig { cores, kind, tasks }, most)
        })
}

fn compare(setup: &PolicyConfig, most: &[u64]) -> Result<(), TestCaseError> {
    let demand = |task: TaskId, job: u32| {
        let most = most[task.index()];
        Duration::from_nanos(time_of(most, task, job))
    };
    let entries = run(setup, &demand, Instant::from_nanos(END));
    let (ours, theirs) = (each_nanosecond(&entries, END), by_sorting(setup, &demand));
    for now in 0..END as usize {
        prop_assert_eq!(&ours[now], &theirs[now], "at {}", now);
    }
    invariants::check(setup, &entries);
    let PolicySpec::Servers(tree) = &setup.kind else { panic!("{:?}", setup.kind) };
    for entry in &entries {
        let alone = tree.servers[0].queues.iter().any(|set| *set == CoreSet::from_bits(1 << entry.core));
        prop_assert!(!alone || entry.decision.notify.is_empty());
        prop_assert_eq!(entry.decision.ticket == 0, alone);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_same_jobs_run_at_each_instant_as_when_all_ready_jobs_are_sorted((setup, most) in systems()) {
        compare(&setup, &most)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    #[ignore = "takes minutes: evidence, not a daily test"]
    fn ten_thousand_random_systems_run_as_when_all_ready_jobs_are_sorted((setup, most) in systems()) {
        compare(&setup, &most)?;
    }
}

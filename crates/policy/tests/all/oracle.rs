//! Partitioned, clustered and global RM, DM, EDF and fixed priorities beside a slow machine that sorts all ready jobs at every instant: the same jobs
//! run at each instant, for random systems, also overloaded ones.

use crate::common::{each_nanosecond, invariants, run, time_of};
use proptest::prelude::*;
use std::collections::BTreeSet;
use tactus_policy::{Clusters, PolicyConfig, PolicySpec, Priorities, Task};
use tactus_time::{CoreId, CoreSet, Duration, Instant, Level, TaskId};

const END: u64 = 120;

#[derive(Clone, Debug)]
struct Job {
    task: usize,
    number: u32,
    release: u64,
    left: u64,
}

fn urgency(setup: &PolicyConfig, job: &Job) -> (u64, usize) {
    let task = &setup.tasks[job.task];
    match &setup.kind {
        PolicySpec::PartitionedRm | PolicySpec::ClusteredRm(_) | PolicySpec::GlobalRm => {
            (task.period.as_nanos(), job.task)
        }
        PolicySpec::PartitionedDm | PolicySpec::ClusteredDm(_) | PolicySpec::GlobalDm => {
            (task.deadline.as_nanos(), job.task)
        }
        PolicySpec::PartitionedFp(given) | PolicySpec::GlobalFp(given) => {
            (u64::from(u32::MAX - given.0[job.task]), job.task)
        }
        PolicySpec::ClusteredFp(given) => (u64::from(u32::MAX - given.priorities.0[job.task]), job.task),
        _ => (job.release + task.deadline.as_nanos(), job.task),
    }
}

fn is_partitioned(kind: &PolicySpec) -> bool {
    matches!(
        kind,
        PolicySpec::PartitionedRm
            | PolicySpec::PartitionedDm
            | PolicySpec::PartitionedEdf
            | PolicySpec::PartitionedFp(_)
    )
}

/// What runs in each nanosecond, worked out anew for each.
fn by_sorting(setup: &PolicyConfig, demand: &dyn Fn(TaskId, u32) -> Duration) -> Vec<BTreeSet<(u16, u32)>> {
    let partitioned = is_partitioned(&setup.kind);
    let mut jobs = Vec::new();
    for (n, task) in setup.tasks.iter().enumerate() {
        let mut release = task.offset.as_nanos();
        let mut number = 0;
        while release <= END {
            let left = demand(TaskId(n as u16), number).as_nanos();
            jobs.push(Job { task: n, number, release, left });
            release += task.period.as_nanos();
            number += 1;
        }
    }
    let mut line = Vec::new();
    for now in 0..END {
        // One job of each task may run: the oldest released one that has work left.
        let mut ready: Vec<usize> = (0..jobs.len())
            .filter(|j| jobs[*j].release <= now && jobs[*j].left > 0)
            .filter(|j| !jobs[..*j].iter().any(|older| older.task == jobs[*j].task && older.left > 0))
            .collect();
        ready.sort_by_key(|j| urgency(setup, &jobs[*j]));
        let chosen: Vec<usize> = if let Some(clusters) = setup.kind.clusters() {
            let of = |set: &CoreSet| {
                let inside = |j: &&usize| setup.tasks[jobs[**j].task].core.is_some_and(|core| set.contains(core));
                ready.iter().filter(inside).take(set.iter().count()).copied().collect::<Vec<_>>()
            };
            clusters.sets.iter().flat_map(of).collect()
        } else if partitioned {
            let mut taken = BTreeSet::new();
            ready.into_iter().filter(|j| taken.insert(setup.tasks[jobs[*j].task].core)).collect()
        } else {
            ready.into_iter().take(setup.cores).collect()
        };
        line.push(chosen.iter().map(|j| (jobs[*j].task as u16, jobs[*j].number)).collect());
        for j in chosen {
            jobs[j].left -= 1;
        }
    }
    line
}

/// Work of a job: between one and what the task asks at most, differing from job to job.
fn demand_of(most: &[u64]) -> impl Fn(TaskId, u32) -> Duration + '_ {
    |task, job| {
        let most = most[task.index()];
        Duration::from_nanos(time_of(most, task, job))
    }
}

fn kinds() -> impl Strategy<Value = PolicySpec> {
    // Priorities come out equal now and then.
    let priorities = || prop::collection::vec(prop_oneof![0u32..5, Just(u32::MAX)], 10).prop_map(Priorities);
    prop_oneof![
        Just(PolicySpec::PartitionedRm),
        Just(PolicySpec::GlobalRm),
        Just(PolicySpec::PartitionedDm),
        Just(PolicySpec::GlobalDm),
        Just(PolicySpec::PartitionedEdf),
        Just(PolicySpec::GlobalEdf),
        priorities().prop_map(PolicySpec::PartitionedFp),
        priorities().prop_map(PolicySpec::GlobalFp),
        clusters(0).prop_map(PolicySpec::ClusteredRm),
        clusters(0).prop_map(PolicySpec::ClusteredDm),
        clusters(0).prop_map(PolicySpec::ClusteredEdf),
        clusters(10).prop_map(PolicySpec::ClusteredFp),
    ]
}

/// Four cores in clusters: which one each is in.
fn clusters(tasks: usize) -> impl Strategy<Value = Clusters> {
    (prop::collection::vec(0usize..3, 4), prop::collection::vec(0u32..5, tasks)).prop_map(|(of, priorities)| {
        let set =
            |cluster| (0..4u8).filter(|core| of[usize::from(*core)] == cluster).fold(0, |all, core| all | 1 << core);
        let sets = (0..3).map(|cluster| CoreSet::from_bits(set(cluster))).collect();
        Clusters { sets, priorities: Priorities(priorities) }
    })
}

fn systems() -> impl Strategy<Value = (PolicyConfig, Vec<u64>)> {
    (1usize..=4, kinds(), 1usize..=10)
        .prop_flat_map(|(cores, kind, tasks)| {
            let task = (0..cores as u8, 0u64..12, 2u64..25, 1u64..30, 1u64..8);
            (Just(cores), Just(kind), prop::collection::vec(task, tasks))
        })
        .prop_map(|(cores, mut kind, tasks)| {
            match &mut kind {
                PolicySpec::PartitionedFp(given) | PolicySpec::GlobalFp(given) => given.0.truncate(tasks.len()),
                PolicySpec::ClusteredFp(given) => given.priorities.0.truncate(tasks.len()),
                _ => {}
            }
            if let PolicySpec::ClusteredRm(c)
            | PolicySpec::ClusteredDm(c)
            | PolicySpec::ClusteredEdf(c)
            | PolicySpec::ClusteredFp(c) = &mut kind
            {
                let there = CoreSet::first(cores).bits();
                c.sets = c.sets.iter().map(|set| CoreSet::from_bits(set.bits() & there)).collect();
                c.sets.retain(|set| *set != CoreSet::EMPTY);
            }
            let most = tasks.iter().map(|task| task.4).collect();
            let tasks = tasks
                .into_iter()
                .map(|(core, offset, period, deadline, _)| Task {
                    level: Level::A,
                    core: Some(CoreId(core)),
                    offset: Duration::from_nanos(offset),
                    period: Duration::from_nanos(period),
                    deadline: Duration::from_nanos(deadline),
                    budget: Duration::ZERO,
                })
                .collect();
            (PolicyConfig { cores, kind, tasks }, most)
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_same_jobs_run_at_each_instant_as_when_all_ready_jobs_are_sorted((setup, most) in systems()) {
        let demand = demand_of(&most);
        let entries = run(&setup, &demand, Instant::from_nanos(END));
        let (ours, theirs) = (each_nanosecond(&entries, END), by_sorting(&setup, &demand));
        for now in 0..END as usize {
            prop_assert_eq!(&ours[now], &theirs[now], "at {}", now);
        }
        invariants::check(&setup, &entries);
        let partitioned = is_partitioned(&setup.kind);
        invariants::work_conserving(&setup, &entries, &|task, core| {
            let (core, of) = (CoreId(core as u8), setup.tasks[task.index()].core);
            match setup.kind.clusters() {
                Some(clusters) => clusters.sets.iter().any(|set| set.contains(core) && of.is_some_and(|of| set.contains(of))),
                None => !partitioned || of == Some(core),
            }
        });
        for entry in &entries {
            prop_assert!(!partitioned || entry.decision.notify.is_empty());
            prop_assert_eq!(entry.decision.ticket == 0, partitioned);
        }
    }
}

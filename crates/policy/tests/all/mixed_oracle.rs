//! AMC and EDF-VD beside a slow machine that sorts all ready jobs in every nanosecond: the same jobs run at each instant, and
//! each core serves the same levels, for random systems, also overloaded ones and ones whose jobs exceed every budget.

use crate::common::{invariants, run, systems::mixed, time_of, timeline};
use proptest::prelude::*;
use tactus_policy::{MixedOrder, PolicyConfig, PolicySpec, Task};
use tactus_record::EventKind;
use tactus_time::{CoreId, Duration, Instant, Level, TaskId};

const END: u64 = 150;

/// What a core does in one nanosecond: the job that it runs, and whether it serves all levels.
type Doing = (Option<(u16, u32)>, bool);

#[derive(Clone, Debug)]
struct Job {
    task: usize,
    number: u32,
    release: u64,
    done: u64,
    demand: u64,
}

/// The slow machine for one core.
fn by_sorting(setup: &PolicyConfig, core: u8, demand: &dyn Fn(TaskId, u32) -> Duration) -> Vec<Doing> {
    let PolicySpec::Mixed(mixed) = &setup.kind else { panic!("{:?}", setup.kind) };
    let critical = |job: &Job| setup.tasks[job.task].level == Level::A;
    let own = |job: &Job| setup.tasks[job.task].budget.as_nanos();
    let low = |job: &Job| mixed.tasks[job.task].low.as_nanos();
    let mut jobs: Vec<Job> = Vec::new();
    let mut all = true;
    let mut line = Vec::new();
    for now in 0..END {
        // Jobs that ended, by themselves or by their budget.
        jobs.retain(|job| job.done < job.demand);
        if all && jobs.iter().any(|job| critical(job) && job.done >= low(job) && low(job) < own(job)) {
            all = false;
            jobs.retain(critical);
        }
        jobs.retain(|job| job.done < if all { low(job) } else { own(job) });
        // Before what is released now.
        all |= jobs.is_empty();
        for (n, task) in setup.tasks.iter().enumerate().filter(|(_, task)| task.core == Some(CoreId(core))) {
            let Some(since) = now.checked_sub(task.offset.as_nanos()) else { continue };
            if since % task.period.as_nanos() == 0 && (all || task.level == Level::A) {
                let number = (since / task.period.as_nanos()) as u32;
                let demand = demand(TaskId(n as u16), number).as_nanos();
                jobs.push(Job { task: n, number, release: now, done: 0, demand });
            }
        }
        // Of each task its oldest job, of these the most urgent.
        let urgency = |job: &Job| {
            let (task, dual) = (&setup.tasks[job.task], &mixed.tasks[job.task]);
            let deadline = if all && critical(job) { dual.virtual_deadline } else { task.deadline };
            let first = match mixed.order {
                MixedOrder::FixedPriority => -i64::from(dual.priority),
                MixedOrder::VirtualDeadline => (job.release + deadline.as_nanos()) as i64,
            };
            (first, job.task, job.number)
        };
        let oldest = |job: &&Job| !jobs.iter().any(|other| other.task == job.task && other.number < job.number);
        let chosen = jobs.iter().filter(oldest).min_by_key(|job| urgency(job)).map(|job| (job.task as u16, job.number));
        if let Some((task, number)) = chosen {
            let job = jobs.iter_mut().find(|job| (job.task as u16, job.number) == (task, number));
            job.expect("it was chosen").done += 1;
        }
        line.push((chosen, all));
    }
    line
}

fn systems() -> impl Strategy<Value = (PolicyConfig, Vec<u64>)> {
    let task = (0u8..3, 0u8..2, 0u64..12, 3u64..30, 1u64..30, 1u64..9, 1u64..12);
    (1u8..=3, any::<bool>(), prop::collection::vec(task, 1..=9)).prop_map(|(cores, deadlines, drawn)| {
        let most = drawn.iter().map(|task| task.6).collect();
        let tasks = drawn.iter().map(|(core, level, offset, period, deadline, budget, _)| Task {
            level: if *level == 0 { Level::A } else { Level::B },
            core: Some(CoreId(core % cores)),
            offset: Duration::from_nanos(*offset),
            period: Duration::from_nanos(*period),
            deadline: Duration::from_nanos(*deadline),
            budget: Duration::from_nanos(*budget),
        });
        let tasks: Vec<Task> = tasks.collect();
        let kind = PolicySpec::Mixed(mixed(deadlines, &tasks));
        (PolicyConfig { cores: cores.into(), kind, tasks }, most)
    })
}

fn compare(setup: &PolicyConfig, most: &[u64]) -> Result<(), TestCaseError> {
    let demand = |task: TaskId, job: u32| {
        let most = most[task.index()];
        Duration::from_nanos(time_of(most, task, job))
    };
    let entries = run(setup, &demand, Instant::from_nanos(END));
    let line = timeline(&entries);
    for core in 0..setup.cores {
        let modes: Vec<_> = entries
            .iter()
            .filter(|entry| entry.core == core)
            .flat_map(|entry| &entry.records)
            .filter(|record| record.kind == EventKind::Mode)
            .collect();
        for (now, (job, all)) in by_sorting(setup, core as u8, &demand).into_iter().enumerate() {
            let before = |time: Instant| time.as_nanos() <= now as u64;
            let at = line.iter().rev().find(|(from, _)| before(*from)).expect("the run starts at zero");
            let ours = at.1[core].map(|(task, job)| (task.0, job));
            prop_assert_eq!(ours, job, "core {} at {}", core, now);
            let serves = modes.iter().rev().find(|mode| before(mode.time)).is_none_or(|mode| mode.level > 0);
            prop_assert_eq!(serves, all, "mode of core {} at {}", core, now);
        }
    }
    invariants::check(setup, &entries);
    for entry in &entries {
        prop_assert!(entry.decision.notify.is_empty() && entry.decision.ticket == 0);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_same_jobs_run_in_the_same_modes_as_when_all_ready_jobs_are_sorted((setup, most) in systems()) {
        compare(&setup, &most)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    #[ignore = "takes minutes: evidence, not a daily test"]
    fn ten_thousand_random_systems_run_in_the_same_modes_as_when_all_ready_jobs_are_sorted((setup, most) in systems()) {
        compare(&setup, &most)?;
    }
}

//! Release jitter: the instants that the policy draws are those of the file, and a schedule with them is the one in which arrivals from outside
//! release the jobs at these instants.

use std::path::Path;
use tactus_formats::to_toml;
use tactus_generate::{featured, jittered, lasting};
use tactus_model::{Burst, Costs, EarlyArrival, Feature, Release, System};
use tactus_plan::plan;
use tactus_policy::{Partitions, PolicyConfig, PolicySpec, ReleaseInstants, ResourceTree, Scheduler, Tree};
use tactus_record::{EventKind, Record};
use tactus_sim::{simulate_with_steps, Arrivals};
use tactus_time::{Duration, Instant, TaskId};
use tactus_trace::{check, judge, schedule, Segment, Trace, Verdict};

fn tree(setup: &mut PolicyConfig) -> &mut Tree {
    match &mut setup.kind {
        PolicySpec::Servers(tree) | PolicySpec::Resources(ResourceTree { tree, .. }) => tree,
        PolicySpec::Partitions(Partitions { tree, .. }) => tree,
        other => panic!("jitter under {other:?}"),
    }
}

fn instants(system: &System, n: usize) -> Option<ReleaseInstants> {
    let (task, jitter) = (&system.tasks[n], system.scheduling.places[n].release.jitter()?);
    let (offset, period, seed) = (task.offset, task.period, system.seed);
    Some(ReleaseInstants { task: TaskId(n as u16), offset, period, jitter, seed })
}

fn run(system: &System, setup: &PolicyConfig, arrivals: Vec<Arrivals>) -> Trace {
    let demand = |task: TaskId, job| system.tasks[task.index()].demand(system.seed, task, job);
    let trace = simulate_with_steps(setup, system.duration, (demand, arrivals), system.job_steps(), &Costs::default());
    trace.unwrap_or_else(|error| panic!("{}: {error}", system.name))
}

/// The releases, and the stretches of time in which jobs have cores.
fn seen(trace: &Trace) -> (Vec<(TaskId, u32, u64)>, Vec<Segment>) {
    let release = |r: &Record| (r.kind == EventKind::Release).then(|| r.task.map(|task| (task, r.job, r.arg)))?;
    let mut releases: Vec<_> = trace.cores.iter().flatten().filter_map(release).collect();
    releases.sort_unstable();
    (releases, schedule(trace).into_iter().filter(|it| it.end > it.start).collect())
}

#[test]
fn jobs_with_jitter_are_scheduled_as_if_they_arrived_from_outside_at_the_instants_that_are_drawn() {
    let beside = [
        &[Feature::FixedPriority][..],
        &[Feature::EarliestDeadline, Feature::ArbitraryDeadline],
        &[Feature::FixedPriority, Feature::SectionCeiling, Feature::Offset],
        &[Feature::RateMonotonic, Feature::Wait],
        &[Feature::EarliestDeadline, Feature::ServerPeriodic],
        &[Feature::LeastLaxity, Feature::Kill],
    ];
    let (mut systems, mut jobs, mut together) = (0, 0, 0);
    for seed in 0..40 {
        for more in beside {
            let wanted = [&[Feature::Jitter, Feature::Jitter], more].concat();
            let Some(system) = featured(&wanted, seed, 0.7) else { continue };
            let mut setup = plan(&system, &tactus_analysis::check(&system, &Costs::default()), &Costs::default()).setup;
            // What no file may say together is not run.
            if Scheduler::new(&setup).is_err() {
                continue;
            }
            let drawn = run(&system, &setup, Vec::new());
            let due: Vec<ReleaseInstants> = (0..system.tasks.len()).filter_map(|n| instants(&system, n)).collect();
            for release in &mut tree(&mut setup).releases {
                if let Release::Jittered(jitter) = *release {
                    *release = Release::Bursts(EarlyArrival::Delay, Burst { jitter, distance: Duration::ZERO });
                }
            }
            let all = |it: &ReleaseInstants| -> Arrivals<'static> {
                let it = *it;
                (it.task, Box::new((0..).map(move |number| it.of(number))))
            };
            let arrived = run(&system, &setup, due.iter().map(all).collect());
            let (releases, segments) = seen(&drawn);
            assert!((&releases, &segments) == (&seen(&arrived).0, &seen(&arrived).1), "{}, {more:?}", system.name);
            for it in &due {
                let own: Vec<_> = releases.iter().filter(|(task, ..)| *task == it.task).collect();
                assert!(own.iter().all(|(_, job, at)| *at == it.of(*job).as_nanos()), "{}", system.name);
                together += own.windows(2).filter(|pair| pair[0].2 == pair[1].2).count();
                jobs += own.len();
            }
            systems += 1;
        }
    }
    println!("{systems} systems, {jobs} jobs with jitter, {together} with the one before them");
    assert!(systems > 150 && jobs > 1_000 && together > 20, "{systems} {jobs} {together}");
}

#[test]
fn a_release_that_the_jitter_does_not_allow_is_found() {
    let system = featured(&[Feature::Jitter, Feature::FixedPriority], 3, 0.5).expect("it can have both");
    let plan = plan(&system, &tactus_analysis::check(&system, &Costs::default()), &Costs::default());
    let good = run(&system, &plan.setup, Vec::new());
    assert_eq!(check::periodic(&plan.view, &good), []);
    let one = (0..system.tasks.len()).find_map(|n| instants(&system, n)).expect("a task has jitter");
    let altered = |by: i64| {
        let mut bad = good.clone();
        let its = |r: &&mut Record| r.kind == EventKind::Release && (r.task, r.job) == (Some(one.task), 2);
        let record = bad.cores.iter_mut().flatten().find(its).expect("the third job is released");
        let due = Instant::ZERO + one.offset + one.period * 2;
        let last = if by > 0 { due + one.jitter } else { due };
        record.arg = last.as_nanos().wrapping_add_signed(by);
        record.time = Instant::from_nanos(record.arg);
        check::periodic(&plan.view, &bad)
    };
    for by in [-1, 1] {
        let found = altered(by);
        assert!(found.iter().any(|it| it.task == Some(one.task) && it.job == Some(2)), "{by}: {found:?}");
    }
}

#[test]
fn random_systems_with_jitter_late_deadlines_and_offsets_can_be_written_and_keep_every_rule_and_promise() {
    let (mut seen, mut promises) = ([0; 3], 0);
    for seed in 0..48 {
        let mut system = jittered(seed);
        // A file's tasks all have a deadline in its run.
        lasting(&mut system, Duration::from_secs(4));
        let text = to_toml(&system).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let read = System::parse_toml(&text, Path::new("drawn.toml"));
        let read = read.unwrap_or_else(|problems| panic!("seed {seed}: {problems}\n{text}"));
        let of = |system: &System| -> Vec<_> {
            let one = |n: usize| {
                let task = &system.tasks[n];
                (task.offset, task.deadline, system.scheduling.places.get(n).map_or(Release::Periodic, |it| it.release))
            };
            (0..system.tasks.len()).map(one).collect()
        };
        assert_eq!(of(&read), of(&system), "seed {seed}");
        for (n, (offset, deadline, release)) in of(&system).into_iter().enumerate() {
            let has = [!offset.is_zero(), deadline > system.tasks[n].period, release.jitter().is_some()];
            seen = [0, 1, 2].map(|it| seen[it] + usize::from(has[it]));
        }
        lasting(&mut system, Duration::from_millis(300));
        let plan = plan(&system, &tactus_analysis::check(&system, &Costs::default()), &Costs::default());
        let trace = run(&system, &plan.setup, Vec::new());
        let wrong = check::all(&plan.view, &trace, Duration::ZERO);
        assert!(wrong.is_empty(), "seed {seed}: {:?}", wrong[0]);
        let summary = judge(&plan.view, &trace);
        assert!(!matches!(summary.verdict, Verdict::Broken(_)), "seed {seed}: {:?}", summary.verdict);
        promises += summary.tasks.iter().filter(|task| task.worst_over_bound.is_some()).count();
    }
    println!("tasks with offsets, late deadlines, jitter: {seen:?}; {promises} promises");
    assert!(seen.iter().all(|it| *it > 60) && promises > 150, "{seen:?} {promises}");
}

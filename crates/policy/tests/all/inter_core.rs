//! Whom a global policy sends an event: the statement of EPOS (Gracioli 2014) that an inter-processor interrupt goes to the core with the
//! least urgent job alone, and none where the local core is idle; partitioned policies send none.

use crate::common::{run, time_of, Entry};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::cell::Cell;
use tactus_policy::{PolicyConfig, PolicySpec, Task};
use tactus_record::EventKind;
use tactus_time::{CoreId, CoreSet, Duration, Instant, Level, TaskId};

const END: u64 = 400;

fn ns(n: u64) -> Duration {
    Duration::from_nanos(n)
}

/// Tasks of a global system on 1 to 8 cores.
fn systems() -> impl Strategy<Value = PolicyConfig> {
    let task = (0u64..30, 15u64..90, 1u64..30);
    (1usize..=8, any::<bool>(), prop::collection::vec(task, 1..14)).prop_map(|(cores, deadlines, tasks)| {
        let task = |(offset, period, budget): (u64, u64, u64)| Task {
            level: Level::A,
            core: None,
            offset: ns(offset),
            period: ns(period),
            deadline: ns(period),
            budget: ns(budget),
        };
        let kind = if deadlines { PolicySpec::GlobalEdf } else { PolicySpec::GlobalRm };
        PolicyConfig { cores, kind, tasks: tasks.into_iter().map(task).collect() }
    })
}

fn runs(setup: &PolicyConfig) -> Vec<Entry> {
    let demand = |task: TaskId, job| ns(time_of(setup.tasks[task.index()].budget.as_nanos(), task, job));
    run(setup, &demand, Instant::from_nanos(END))
}

/// How urgent a job is, the least first.
fn urgency(setup: &PolicyConfig, (task, job): (TaskId, u32)) -> (u64, TaskId) {
    let it = &setup.tasks[task.index()];
    match setup.kind {
        PolicySpec::GlobalEdf => ((it.offset + it.period * u64::from(job) + it.deadline).as_nanos(), task),
        _ => (it.period.as_nanos(), task),
    }
}

/// What was seen of releases of one job each.
#[derive(Default)]
struct Seen {
    local_idle: Cell<u32>,
    other_idle: Cell<u32>,
    displaced: Cell<u32>,
    displaced_here: Cell<u32>,
    waits: Cell<u32>,
}

impl Seen {
    fn look(&self, setup: &PolicyConfig, entries: &[Entry]) {
        let count = |cell: &Cell<u32>| cell.set(cell.get() + 1);
        for pair in entries.windows(2) {
            let [before, entry] = pair else { continue };
            let released: Vec<_> = entry.records.iter().filter(|record| record.kind == EventKind::Release).collect();
            let completes = entry.records.iter().any(|record| record.kind == EventKind::Complete);
            let [release] = released.as_slice() else { continue };
            if before.now == entry.now || completes {
                continue;
            }
            let job = (release.task.expect("a task's job"), release.job);
            if before.running.iter().flatten().any(|running| running.0 == job.0) {
                // It waits for the job before it.
                continue;
            }
            let told: Vec<usize> = entry.decision.notify.iter().map(CoreId::index).collect();
            let here = entry.decision.run.map(|run| (run.task, run.job));
            let idle = |core: usize| before.running[core].is_none();
            let least = (0..setup.cores)
                .filter(|core| !idle(*core))
                .max_by_key(|core| before.running[*core].map(|running| urgency(setup, running)));
            if idle(entry.core) {
                assert_eq!((told, here), (vec![], Some(job)), "the local core is idle at {}", entry.now);
                count(&self.local_idle);
            } else if (0..setup.cores).any(idle) {
                let [core] = told[..] else {
                    panic!("{told:?} are told at {}, and one idle core is enough", entry.now)
                };
                assert!(idle(core), "core {core} is told at {} and is not idle", entry.now);
                count(&self.other_idle);
            } else {
                let core = least.expect("all are busy");
                let running = before.running[core].expect("it is busy");
                match urgency(setup, job) < urgency(setup, running) {
                    true if core == entry.core => {
                        assert_eq!((told, here), (vec![], Some(job)), "at {}", entry.now);
                        count(&self.displaced_here);
                    }
                    true => {
                        assert_eq!(told, [core], "the least urgent job is displaced at {}", entry.now);
                        count(&self.displaced);
                    }
                    false => {
                        assert_eq!(told, [], "nobody is displaced at {}", entry.now);
                        count(&self.waits);
                    }
                }
            }
        }
    }
}

#[test]
fn an_event_goes_to_the_core_with_the_least_urgent_job_alone_and_to_none_where_the_local_core_is_idle() {
    let seen = Seen::default();
    let config = Config { cases: 3_000, failure_persistence: None, ..Config::default() };
    let look = |setup: PolicyConfig| {
        seen.look(&setup, &runs(&setup));
        Ok(())
    };
    TestRunner::new(config).run(&systems(), look).expect("events go where they are needed");
    let Seen { local_idle, other_idle, displaced, displaced_here, waits } = seen;
    println!("releases: {local_idle:?} beside an idle local core, {other_idle:?} to another idle one, {displaced:?} displace elsewhere, {displaced_here:?} here, {waits:?} wait");
    for count in [local_idle, other_idle, displaced, displaced_here, waits] {
        assert!(count.get() > 500, "{}", count.get());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn partitioned_policies_send_no_event_and_clusters_none_beyond_their_own(mut setup in systems(), kind in 0u8..3) {
        for (n, task) in setup.tasks.iter_mut().enumerate() {
            task.core = Some(CoreId((n % setup.cores) as u8));
        }
        let sets: Vec<CoreSet> = (0..setup.cores as u8).step_by(2).map(|n| CoreSet::from_bits((3 << n) & ((1u16 << setup.cores) - 1) as u8)).collect();
        setup.kind = match kind {
            0 => PolicySpec::PartitionedEdf,
            1 => PolicySpec::PartitionedRm,
            _ => PolicySpec::ClusteredEdf(tactus_policy::Clusters { sets: sets.clone(), priorities: tactus_policy::Priorities(Vec::new()) }),
        };
        for entry in runs(&setup) {
            let own = sets.iter().find(|set| set.contains(CoreId(entry.core as u8))).expect("a cluster");
            let allowed = if kind < 2 { CoreSet::EMPTY } else { *own };
            prop_assert!(entry.decision.notify.iter().all(|core| allowed.contains(core)), "core {} at {}", entry.core, entry.now);
        }
    }
}

//! Release jitter, deadlines beyond the period, and offsets, on the machine and when simulated.

use std::collections::BTreeMap;
use tactus_record::EventKind;
use tactus_scenarios::{file, Finished};
use tactus_time::TaskId;

/// The example in simulator and machine, of which every promise held.
fn both(example: &str) -> [Finished; 2] {
    let path = file(example);
    let runs = [Finished::simulate(&path, &[]), Finished::run(&path, &[])];
    for run in &runs {
        assert_eq!(run.summary.outcome(), "held", "{}", run.said.output);
    }
    runs
}

/// When each job of each task was released (ns).
fn releases(run: &Finished) -> BTreeMap<(TaskId, u32), u64> {
    let records = run.trace().cores.concat();
    records.iter().filter(|r| r.kind == EventKind::Release).filter_map(|r| Some(((r.task?, r.job), r.arg))).collect()
}

/// The most jobs of a task that were released and not complete at one time, where none ended before one that was released before it.
fn most_under_way(run: &Finished, task: u16) -> u32 {
    let mut records = run.trace().cores.concat();
    records.retain(|r| r.task == Some(TaskId(task)));
    records.sort_by_key(|r| r.time);
    let (mut released, mut ended, mut most) = (0, 0, 0);
    for r in records {
        match r.kind {
            EventKind::Release => released = r.job + 1,
            EventKind::Complete => {
                assert_eq!(r.job, ended, "a job that was released later ends first");
                ended += 1;
            }
            _ => {}
        }
        most = most.max(released - ended);
    }
    most
}

fn worst(run: &Finished, task: &str) -> u64 {
    run.summary.task(task).json()["response"]["max_ns"].as_u64().expect("a job ended") / 1_000_000
}

#[test]
fn jobs_with_jitter_are_released_late_by_the_same_draw_in_simulator_and_machine() {
    let [simulated, ran] = both("examples/jitter.toml");
    let all = releases(&ran);
    // Those of the last instants may be noticed after the end.
    let until = |all: &BTreeMap<_, u64>| all.iter().filter(|it| *it.1 < 999_000_000).map(|it| (*it.0, *it.1)).collect();
    let [one, other]: [Vec<((TaskId, u32), u64)>; 2] = [until(&all), until(&releases(&simulated))];
    assert_eq!(one, other);
    let late = |task: u16, period: u64| -> Vec<u64> {
        let own = all.iter().filter(move |((of, _), _)| *of == TaskId(task));
        own.map(|((_, job), at)| at - u64::from(*job) * period * 1_000_000).collect()
    };
    let (sensor, bus) = (late(0, 10), late(1, 20));
    let most = |late: &[u64], jitter: u64| late.iter().filter(|it| **it == jitter * 1_000_000).count();
    assert!(sensor.contains(&0) && sensor.iter().all(|it| *it <= 4_000_000) && most(&sensor, 4) > 15, "{sensor:?}");
    assert!(bus.contains(&0) && bus.iter().all(|it| *it <= 30_000_000) && most(&bus, 30) > 5, "{bus:?}");
    assert!(most_under_way(&ran, 1) >= 2, "no two jobs of `bus` were under way at a time");
}

#[test]
fn jobs_that_are_due_after_the_next_release_queue_in_their_order_and_are_in_time() {
    for run in both("examples/late-deadlines.toml") {
        assert_eq!(["first", "second", "batch", "samples"].map(|task| worst(&run, task)), [26, 118, 35, 39]);
        assert_eq!([1, 3].map(|task| most_under_way(&run, task)), [2, 4]);
    }
}

#[test]
fn tasks_that_could_not_begin_at_once_keep_their_deadlines_by_their_offsets() {
    for run in both("examples/offsets.toml") {
        assert_eq!(["left", "right"].map(|task| worst(&run, task)), [4, 4]);
        assert_eq!(releases(&run)[&(TaskId(1), 3)], 35_000_000);
    }
}

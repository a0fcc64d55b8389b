//! The events of a trace in the rig: in order for each job, in parallel otherwise.

use std::sync::Arc;
use tactus_record::{Kind, Record};
use tactus_rig::names::{run_named, DIRECTORIES};
use tactus_rig::replay::{About, ReplayError, Script};
use tactus_rig::{Settings, Source};
use tactus_time::{CoreId, Duration, Instant, Level, TaskId};
use tactus_trace::Trace;

fn record(time: u64, core: u8, kind: Kind, task: u16, job: u32, arg: u64) -> Record {
    Record {
        time: Instant::from_nanos(time),
        arg,
        job,
        task: Some(TaskId(task)),
        kind,
        level: Level::C as u8,
        core: CoreId(core),
        ticket: 0,
    }
}

/// Two cores; all is released on core 0, and completed on core 1, but for every fifth job, which uses up its budget there
/// and completes on core 0. So all that core 1 does waits for core 0, and all jobs are at their ends late.
fn trace(jobs: u32) -> (Trace, Vec<About>) {
    let mut cores = vec![Vec::new(), Vec::new()];
    for job in 0..jobs {
        let (task, at) = ((job % 7) as u16, u64::from(job) * 1_000);
        cores[0].push(record(at, 0, Kind::Release, task, job, at));
        if job % 5 == 0 {
            cores[1].push(record(at + 500_100, 1, Kind::Exhausted, task, job, 0));
            cores[0].push(record(at + 500_200, 0, Kind::Replenish, task, job, 0));
            cores[0].push(record(at + 500_300, 0, Kind::Complete, task, job, 0));
        } else {
            cores[1].push(record(at + 500_100, 1, Kind::Complete, task, job, 0));
        }
    }
    cores.iter_mut().for_each(|core| core.sort_by_key(|record: &Record| record.time));
    let about =
        |n: u64| About { deadline: Duration::from_nanos((n + 1) * 1_000_000), level: Some(Level::C), core: None };
    (Trace { cores, dropped: vec![0, 0] }, (0..7).map(about).collect())
}

#[test]
fn every_structure_replays_a_trace_in_which_cores_wait_for_one_another() {
    let (trace, tasks) = trace(300);
    let script = Arc::new(Script::of(&trace, &tasks).unwrap());
    assert_eq!((script.activations, script.blockings), (360, 360));
    for directory in DIRECTORIES {
        let settings = Settings {
            processors: 2,
            tasks: script.places,
            source: Source::Trace(script.clone()),
            ..Settings::default()
        };
        let finished = run_named(directory, "binary-heap", &settings, &mut |_| ()).unwrap().unwrap();
        let sum = tactus_rig::merge(&finished.samples);
        assert_eq!((sum.arrivals, sum.departures), (360, 360), "{directory}");
    }
}

#[test]
fn a_trace_that_lacks_records_or_releases_is_refused() {
    let (mut trace, tasks) = trace(3);
    assert!(matches!(Script::of(&trace, &tasks[..1]), Err(ReplayError::UnknownTask(_))));
    trace.dropped[1] = 4;
    assert_eq!(Script::of(&trace, &tasks).unwrap_err(), ReplayError::Incomplete(4));
    assert_eq!(Script::of(&Trace::default(), &tasks).unwrap_err(), ReplayError::NoEvents);
}

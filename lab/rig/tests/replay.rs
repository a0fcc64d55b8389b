//! The events of a trace in the rig: in order for each job, in parallel otherwise.

use std::sync::Arc;
use std::time::Duration;
use tactus_record::{EventKind, Record};
use tactus_rig::check::Broken;
use tactus_rig::names::{run_named, DIRECTORIES};
use tactus_rig::replay::{About, ReplayError, Script};
use tactus_rig::{Failed, Mode, Operation, Problem, Settings, Source};
use tactus_time::{CoreId, Instant, Level, TaskId};
use tactus_trace::Trace;

fn record(time: u64, core: u8, kind: EventKind, task: u16, job: u32, arg: u64) -> Record {
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

/// All is released on core 0, and completed on the others in turn, but for every fifth job, which uses up its budget there
/// and completes on core 0. So all that the other cores do waits for core 0, and all jobs are at their ends late.
fn trace(cores: u32, jobs: u32) -> (Trace, Vec<About>) {
    let mut records = vec![Vec::new(); cores as usize];
    for job in 0..jobs {
        let (task, at) = ((job % 7) as u16, u64::from(job) * 1_000);
        let other = 1 + job % (cores - 1);
        records[0].push(record(at, 0, EventKind::Release, task, job, at));
        let end = if job % 5 == 0 { EventKind::Exhausted } else { EventKind::Complete };
        records[other as usize].push(record(at + 500_100, other as u8, end, task, job, 0));
        if job % 5 == 0 {
            records[0].push(record(at + 500_200, 0, EventKind::Replenish, task, job, 0));
            records[0].push(record(at + 500_300, 0, EventKind::Complete, task, job, 0));
        }
    }
    records.iter_mut().for_each(|core| core.sort_by_key(|record: &Record| record.time));
    let about = |n: u64| About {
        deadline: tactus_time::Duration::from_nanos((n + 1) * 1_000_000),
        level: Some(Level::C),
        core: None,
    };
    (
        Trace { cores: records, dropped: vec![0; cores as usize], disks: Vec::new(), observed: Vec::new() },
        (0..7).map(about).collect(),
    )
}

#[test]
fn every_structure_replays_a_trace_in_which_cores_wait_for_one_another() {
    let (trace, tasks) = trace(2, 300);
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
    let (mut trace, tasks) = trace(2, 3);
    assert!(matches!(Script::of(&trace, &tasks[..1]), Err(ReplayError::UnknownTask(_))));
    trace.dropped[1] = 4;
    assert_eq!(Script::of(&trace, &tasks).unwrap_err(), ReplayError::Incomplete(4));
    assert_eq!(Script::of(&Trace::default(), &tasks).unwrap_err(), ReplayError::NoEvents);
}

/// The settings of a measured replay, with more processors than cores where the trace has them.
fn measured(script: Script) -> Settings {
    Settings {
        mode: Mode::Performance,
        processors: script.cores.len(),
        oversubscribe: true,
        tasks: script.places,
        source: Source::Trace(Arc::new(script)),
        ..Settings::default()
    }
}

#[test]
fn a_measured_replay_ends_soon_also_with_more_processors_than_cores() {
    let cores = std::thread::available_parallelism().map_or(1, usize::from) as u32;
    // On a computer that is busy with other things one of them may end before a look at the directory comes.
    let mut finds = 0;
    for (processors, directory) in [(2, "cpudl"), (2 * cores, "cpudl"), (2 * cores, "delegation"), (4 * cores, "marks")]
    {
        let (trace, tasks) = trace(processors.max(2), 2_000);
        let script = Script::of(&trace, &tasks).unwrap();
        let (activations, settings) = (script.activations, measured(script));
        let finished = match run_named(directory, "binary-heap", &settings, &mut |_| ()).unwrap() {
            Err(Failed::Problem(Problem::Lock(why))) => return println!("left out: {why}"),
            other => other.unwrap(),
        };
        println!("{directory}, {} processors: {:?}", settings.processors, finished.took);
        let sum = tactus_rig::merge(&finished.samples);
        assert_eq!((sum.arrivals, sum.departures), (activations, activations), "{directory}");
        assert_eq!(finished.bound, processors <= cores);
        finds += sum.durations[Operation::Find as usize].len();
        assert!(finished.took < Duration::from_secs(8), "{directory}: {:?}", finished.took);
    }
    assert!(finds > 0);
}

#[test]
fn a_replay_that_stands_still_is_reported() {
    let (trace, tasks) = trace(4, 50);
    let mut script = Script::of(&trace, &tasks).unwrap();
    // An event that waits for one that never comes.
    script.cores[2][3].turn += 100;
    for mode in [Mode::Testing, Mode::Performance] {
        let settings = Settings { mode, patience: Duration::from_secs(1), ..measured(script.clone()) };
        match run_named("scan", "binary-heap", &settings, &mut |_| ()).unwrap() {
            Err(Failed::Problem(Problem::Lock(why))) => println!("left out: {why}"),
            Err(Failed::Broken { broken: Broken::Stuck { cycles }, .. }) => assert!(cycles[2] <= 3, "{cycles:?}"),
            other => panic!("{other:?}"),
        }
    }
}

//! A scheduler that goes wild, deep in a tree and beside others, hurts nobody but what is inside its own server: with servers
//! whose schedulers are components of their own, on a kernel that looks at its own objects.
//!
//! By itself, since it builds the schedulers anew.

use std::collections::BTreeMap;
use std::path::Path;
use tactus_record::EventKind;
use tactus_scenarios::sketch::{file, server, task, RUN};
use tactus_scenarios::{Finished, Scratch};
use tactus_time::{Duration, Instant};
use tactus_trace::Trace;

/// Finished jobs of each task, with their times.
fn finished(trace: &Trace) -> BTreeMap<u16, Vec<(u32, Instant)>> {
    let mut jobs: BTreeMap<u16, Vec<(u32, Instant)>> = BTreeMap::new();
    for r in trace.cores.iter().flatten().filter(|r| r.kind == EventKind::Complete) {
        jobs.entry(r.task.map_or(u16::MAX, |task| task.0)).or_default().push((r.job, r.time));
    }
    jobs
}

/// A server that is called `wild` inside another one and one beside it.
fn with_wild() -> String {
    "schedulers = \"per-server\"\n".to_string()
        + &server("host", "kind = \"cbs-hard\"\npolicy = \"partitioned-fp\"\npriority = 5", 8, 20)
        + &server("wild", "parent = \"host\"\nkind = \"deferrable\"\npolicy = \"partitioned-fp\"\npriority = 9", 3, 20)
        + &server("wild-beside", "kind = \"deferrable\"\npolicy = \"partitioned-fp\"\npriority = 7", 4, 20)
        + &server("good", "kind = \"sporadic\"\npolicy = \"partitioned-edf\"\npriority = 3", 5, 40)
        + &task("root", 0, "priority = 8", [0, 10, 1])
        + &task("w", 0, "server = \"wild\"\npriority = 1", [1, 20, 3])
        + &task("wb", 0, "server = \"wild-beside\"\npriority = 1", [1, 20, 4])
        + &task("h", 0, "server = \"host\"\npriority = 1", [1, 40, 4])
        + &task("g", 0, "server = \"good\"", [1, 80, 4])
        + &task("low", 0, "priority = 1", [2, 80, 3])
}

/// Runs the file with schedulers called `wild` as they are, or gone wild.
fn with_features(file: &Path, features: &str) -> Finished {
    // No other thread of this process reads the environment: it has no other test.
    std::env::set_var("TACTUS_KERNEL_FEATURES", features);
    let run = Finished::run(file, &[]);
    std::env::remove_var("TACTUS_KERNEL_FEATURES");
    run
}

#[test]
fn a_scheduler_that_goes_wild_hurts_only_its_own_server() {
    let scratch = Scratch::new("wild");
    let file = file(&scratch, "with-wild", 1, "partitioned-fp", &with_wild());
    let [tame, wild] =
        ["", "tactus-per-server/wild,tactus-kernel/check"].map(|features| with_features(&file, features));
    let refused: u64 = wild.kernel().iter().map(|core| core.refused).sum();
    let (tame, wild) = (finished(&tame.trace()), finished(&wild.trace()));
    let begins = Instant::ZERO + Duration::from_millis(45);
    // Offsets and deadlines (ms).
    for (task, name, offset, deadline) in [(0, "root", 0, 10), (3, "h", 1, 40), (4, "g", 1, 80), (5, "low", 2, 80)] {
        let (tame, wild) = (&tame[&task], &wild[&task]);
        assert!(tame.len() >= 5, "{name} has {} jobs", tame.len());
        // Those that are due within the run.
        for (job, _) in tame {
            let due = Instant::ZERO + Duration::from_millis(offset + deadline * (u64::from(*job) + 1));
            let at = wild.iter().find(|(same, _)| same == job).map(|(_, at)| *at);
            let in_time = at.is_some_and(|at| at <= due) || due > Instant::ZERO + RUN;
            assert!(in_time, "{name} job {job} was late beside a wild scheduler: {at:?}");
        }
    }
    for (task, name) in [(1, "w"), (2, "wb")] {
        let after = wild.get(&task).map_or(0, |jobs| jobs.iter().filter(|(_, at)| *at > begins).count());
        assert!(after < tame[&task].len() / 2, "the scheduler of {name} did not go wild: {after} jobs");
    }
    println!("{refused} calls refused");
}

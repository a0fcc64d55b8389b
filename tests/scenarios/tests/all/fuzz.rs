//! Random calls with random numbers and pointers, from four components on four cores at once: the kernel refuses what it
//! must, stays on its feet, and all other tasks keep what they were promised.
//!
//! The long run, of ten million calls, takes some minutes:
//!
//! ```text
//! cargo test --release -p tactus-scenarios --test all fuzz:: -- --ignored --nocapture
//! ```

use tactus_scenarios::{file, Finished};

/// Runs the fuzzers for so long; gives the number of calls that the kernel refused. Calls that it granted, to the
/// service and of the kind that does nothing, are not counted.
fn fuzz(duration: &str) -> u64 {
    let run = Finished::run(&file("examples/hostile/fuzz.toml"), &["--duration", duration]);
    let summary = &run.summary;
    assert!(summary.accepted() && summary.held(), "{}", run.said.output);
    assert_eq!(run.said.status, 0);
    assert_eq!(summary.stopped(), [], "nobody did what it was stopped for");
    for task in summary.tasks().filter(|task| task.name().starts_with("control") || task.name().starts_with("guid")) {
        assert_eq!(task.missed(), 0, "{} missed deadlines", task.name());
    }
    for task in summary.tasks() {
        assert!(task.completed() > 0, "{} did nothing", task.name());
        assert!(task.worst_over_bound().is_none_or(|share| share <= 1.0), "{} broke its bound", task.name());
    }
    let cores = run.kernel();
    assert_eq!(cores.len(), 4, "each core tells its counts: {}", run.log);
    let refused: Vec<u64> = cores.iter().map(|core| core.refused).collect();
    let (longest, cause) = cores.iter().map(|core| (core.longest, &core.cause)).max().expect("there are cores");
    println!("{duration}: {} calls refused, by core {refused:?}; longest {longest} ns: {cause}", sum(&refused));
    assert!(refused.iter().all(|&count| count > 10_000), "every core was tried: {refused:?}");
    sum(&refused)
}

fn sum(counts: &[u64]) -> u64 {
    counts.iter().sum()
}

#[test]
fn three_hundred_thousand_random_calls_harm_nobody() {
    let refused = fuzz("500 ms");
    assert!(refused >= 300_000, "{refused} calls are too few");
}

#[test]
#[ignore = "takes some minutes; run by name"]
fn ten_million_random_calls_harm_nobody() {
    let refused = fuzz("12 s");
    assert!(refused >= 10_000_000, "{refused} calls are too few");
}

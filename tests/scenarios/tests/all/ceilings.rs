//! Published examples of jobs that keep their core from others, on the machine and when simulated: the same task has the core in
//! the middle of each column.

use std::path::Path;
use tactus_record::EventKind;
use tactus_scenarios::{file, Finished};
use tactus_time::{Duration, Instant};
use tactus_trace::Trace;

/// Who has core 0 in the middle of each column: `a` for the first task, a dot for nobody.
fn drawn(trace: &Trace, column: Duration, columns: u64) -> String {
    let at = |n: u64| {
        let middle = Instant::ZERO + column * n + column / 2;
        let given = trace.cores[0].iter().rfind(|r| r.kind == EventKind::Leave && r.time <= middle);
        given.and_then(|r| r.task).map_or('.', |task| char::from(b'a' + task.0 as u8))
    };
    (0..columns).map(at).collect()
}

/// Runs the example on both and requires this schedule and that every promise is held.
fn both(example: &Path, column: Duration, golden: &str) -> [Finished; 2] {
    let runs = [Finished::run(example, &[]), Finished::simulate(example, &[])];
    for run in &runs {
        assert_eq!(run.summary.outcome(), "held", "{}", run.said.output);
        assert_eq!(drawn(&run.trace(), column, golden.len() as u64), golden, "{}", run.said.output);
    }
    runs
}

/// Wang and Saksena 1999, tables 1 and 2. A column is 5 ms.
#[test]
fn preemption_thresholds_are_kept_on_the_machine_as_published() {
    let golden = "aaaabbbbccccccaaaacbbbb.....aaaabbbb";
    both(&file("examples/preemption-threshold.toml"), Duration::from_millis(5), golden);
}

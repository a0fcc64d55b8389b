//! Published examples of jobs that keep their core from others, on the machine and when simulated: the same task has the core in
//! the middle of each column.

use std::path::Path;
use tactus_record::{EntryReason, EventKind};
use tactus_scenarios::{file, tactus, Finished, Scratch};
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

/// Priority inversion (Sha, Rajkumar and Lehoczky 1990, section 1): `high` waits for one section of `low`, not for `middle`. A
/// column is 5 ms; a, b, c are `high`, `middle`, `low`.
#[test]
fn a_ceiling_keeps_a_middle_task_from_lengthening_an_inversion_on_the_machine() {
    let golden = "cccccccaaaabbbbbbbbbbbbcaaaacccc............aaaa";
    let runs = both(&file("examples/resources.toml"), Duration::from_millis(5), golden);
    let unlocks = |run: &Finished| {
        let entries = run.trace().cores.concat();
        entries.iter().filter(|r| r.kind == EventKind::Enter && r.level == EntryReason::Unlock as u8).count()
    };
    assert_eq!(unlocks(&runs[0]), unlocks(&runs[1]));
    assert!(unlocks(&runs[0]) >= 10, "{}", unlocks(&runs[0]));
}

#[test]
fn without_preemption_nobody_begins_in_a_section() {
    let scratch = Scratch::new("non-preemptive");
    let text = std::fs::read_to_string(file("examples/resources.toml")).expect("the example");
    let example = scratch.write("resources.toml", &text.replace("\"ceiling\"", "\"non-preemptive\""));
    both(&example, Duration::from_millis(5), "cccccccaaaabbbbbbbbbbbbcaaaacccc............aaaa");
}

/// A section that is longer than it declares: whoever waits is owed nothing, and the culprit is named.
#[test]
fn a_section_that_is_too_long_is_named() {
    let scratch = Scratch::new("long-section");
    let text = std::fs::read_to_string(file("examples/resources.toml")).expect("the example");
    let long = text.replace("length = \"25 ms\" }", "length = \"25 ms\", actual = \"45 ms\" }");
    let example = scratch.write("resources.toml", &long);
    for run in [Finished::run(&example, &[]), Finished::simulate(&example, &[])] {
        assert_eq!(run.summary.outcome(), "void", "{}", run.said.output);
        assert!(run.said.output.contains("void by low"), "{}", run.said.output);
        let exceeded = run.trace().cores.concat().iter().filter(|r| r.kind == EventKind::SectionExceeded).count();
        assert!(exceeded >= 10, "{exceeded}");
    }
}

#[test]
fn a_resource_of_two_cores_is_refused_with_the_remedy() {
    let said = tactus(["check".as_ref(), file("examples/broken/p4-resource-of-two-cores.toml").as_os_str()]);
    assert_eq!(said.status, 2, "{}", said.output);
    assert!(said.errors.contains("put all that use it on one core"), "{}", said.errors);
}

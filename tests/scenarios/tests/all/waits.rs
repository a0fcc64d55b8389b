//! Jobs that wait, on the machine and when simulated; and jobs that ask for more than they declare.

use tactus_record::EventKind;
use tactus_scenarios::{file, Finished, Scratch};
use tactus_time::{Duration, Instant};

/// In both each job of `sensor` waits once, each of `logger` twice, and nobody for longer than declared.
#[test]
fn jobs_wait_as_declared_and_every_promise_is_held() {
    for run in [Finished::run(&file("examples/waits.toml"), &[]), Finished::simulate(&file("examples/waits.toml"), &[])]
    {
        assert_eq!(run.summary.outcome(), "held", "{}", run.said.output);
        let records = run.trace().cores.concat();
        let count = |kind: EventKind| records.iter().filter(|r| r.kind == kind).count();
        assert_eq!((count(EventKind::Wait), count(EventKind::Wake), count(EventKind::WaitLimited)), (70, 70, 0));
        // The page's drawing: a column is 1 ms.
        let trace = run.trace();
        let at = |n: u64| {
            let middle = Instant::ZERO + Duration::from_micros(1_000 * n + 500);
            let given = trace.cores[0].iter().rfind(|r| r.kind == EventKind::Leave && r.time <= middle);
            given.and_then(|r| r.task).map_or('.', |task| char::from(b'a' + task.0 as u8))
        };
        assert_eq!((0..40).map(at).collect::<String>(), "abbbbaabbbbccccc....a....aaccccccc......");
        let worst = |task: &str| run.summary.task(task).json()["response"]["max_ns"].as_u64().map(|ns| ns / 1_000_000);
        assert_eq!(["sensor", "control", "logger"].map(worst), [7, 11, 59].map(Some), "{}", run.said.output);
    }
}

/// A job that asks for longer waits than it declares gets what it declares, and nobody else is late for it.
#[test]
fn a_job_that_asks_for_longer_waits_gets_what_it_declares() {
    let scratch = Scratch::new("long-waits");
    let text = std::fs::read_to_string(file("examples/waits.toml")).expect("the example");
    let long = text.replace("actual = \"4 ms\"", "actual = \"40 ms\"");
    let example = scratch.write("waits.toml", &long);
    for run in [Finished::run(&example, &[]), Finished::simulate(&example, &[])] {
        assert_eq!(run.summary.outcome(), "held", "{}", run.said.output);
        let limited = run.trace().cores.concat().iter().filter(|r| r.kind == EventKind::WaitLimited).count();
        assert_eq!(limited, 50, "{}", run.said.output);
    }
}

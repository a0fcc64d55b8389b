//! Events between cores whose tasks release each other.

use crate::{planned, run};
use tactus_record::{EventKind, Record};
use tactus_trace::check::Rule;
use tactus_trace::{judge, Verdict};

/// Completions on the first core release jobs on the second one; the third has nothing to do with them.
const SERVERS: &str = "
    [system]
    cores = 3
    duration = '100 ms'
    [policy]
    kind = 'partitioned-rm'
    [machine]
    overheads = false
    [[server]]
    name = 'first'
    kind = 'deferrable'
    budget = '4 ms'
    period = '10 ms'
    policy = 'global-edf'
    cores = [0]
    [[server]]
    name = 'second'
    kind = 'deferrable'
    budget = '4 ms'
    period = '10 ms'
    policy = 'global-edf'
    cores = [1]
    [[task]]
    name = 'before'
    server = 'first'
    period = '20 ms'
    execution = '1 ms'
    [[task]]
    name = 'behind'
    server = 'second'
    period = '20 ms'
    execution = '1 ms'
    after = 'before'
    [[task]]
    name = 'alone'
    core = 2
    period = '20 ms'
    execution = '1 ms'";

#[test]
fn a_completion_that_releases_a_job_on_another_core_is_told_there_and_strangers_are_told_nothing() {
    let (system, promised) = planned(SERVERS);
    let mut trace = run(&system, &promised);
    let sent = trace.cores[0].iter().filter(|r| r.kind == EventKind::Notify).count();
    assert!(sent > 0, "core 0 tells core 1");
    let verdict = judge(&promised.view, &trace).verdict;
    assert!(matches!(verdict, Verdict::Held | Verdict::NothingPromised), "{verdict:?}");
    let sent = trace.cores[0].iter().position(|r| r.kind == EventKind::Notify).expect("one was found");
    for stranger in [2, 3, 300] {
        trace.cores[0][sent] = Record { arg: stranger, ..trace.cores[0][sent] };
        match judge(&promised.view, &trace).verdict {
            Verdict::Broken(broken) => assert!(broken.cause.text.contains(&Rule::NoEvents.to_string()), "{broken:?}"),
            other => panic!("{other:?}"),
        }
    }
}

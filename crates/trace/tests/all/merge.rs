//! Traces of schedulers of their own, made one.

use tactus_record::{EventKind, Record};
use tactus_time::{CoreId, Instant, TaskId};
use tactus_trace::{in_order, merge, Trace};

/// Two tasks; the scheduler below is called 7.
const TASKS: usize = 2;
const BELOW: u16 = 7;

fn record(time: u64, kind: EventKind, task: Option<u16>, job: u32) -> Record {
    let (time, task) = (Instant::from_nanos(time), task.map(TaskId));
    Record { time, arg: 0, job, task, kind, level: 0, core: CoreId(0), ticket: 0 }
}

fn part(records: &[(u64, EventKind, Option<u16>, u32)]) -> Trace {
    let records = records.iter().map(|(time, kind, task, job)| record(*time, *kind, *task, *job)).collect();
    Trace { cores: vec![records], dropped: vec![1], disks: Vec::new(), observed: Vec::new() }
}

fn told(parts: &[Trace]) -> Vec<(u64, EventKind, Option<u16>, u32)> {
    let whole = merge(parts, TASKS);
    assert_eq!(whole.dropped, [parts.len() as u64]);
    whole.cores[0].iter().map(|r| (r.time.as_nanos(), r.kind, r.task.map(|task| task.0), r.job)).collect()
}

#[test]
fn who_takes_the_core_from_a_scheduler_takes_it_from_its_job_and_the_job_gets_it_back() {
    use EventKind::{Complete, Dispatch, Enter, Idle, Leave, Preempt, Release};
    let root = part(&[
        (0, Enter, None, 0),
        (0, Dispatch, Some(BELOW), 0),
        (2, Leave, Some(BELOW), 0),
        (20, Enter, Some(BELOW), 0),
        (20, Release, Some(1), 0),
        (20, Preempt, Some(BELOW), 0),
        (20, Dispatch, Some(1), 0),
        (22, Leave, Some(1), 0),
        (30, Enter, Some(1), 0),
        (30, Complete, Some(1), 0),
        (30, Dispatch, Some(BELOW), 0),
        (32, Leave, Some(BELOW), 0),
        (50, Enter, Some(BELOW), 0),
        (50, Complete, Some(BELOW), 0),
        (50, Idle, None, 0),
        (52, Leave, None, 0),
    ]);
    let below = part(&[
        (4, Enter, None, 0),
        (4, Release, Some(0), 0),
        (4, Dispatch, Some(0), 0),
        (6, Leave, Some(0), 0),
        (34, Enter, Some(0), 0),
        (36, Leave, Some(0), 0),
        (45, Enter, Some(0), 0),
        (45, Complete, Some(0), 0),
        (45, Idle, None, 0),
        (47, Leave, None, 0),
    ]);
    let expected = [
        (0, Enter, None, 0),
        (2, Leave, None, 0),
        (4, Enter, None, 0),
        (4, Release, Some(0), 0),
        (4, Dispatch, Some(0), 0),
        (6, Leave, Some(0), 0),
        (20, Enter, Some(0), 0),
        (20, Release, Some(1), 0),
        (20, Preempt, Some(0), 0),
        (20, Dispatch, Some(1), 0),
        (22, Leave, Some(1), 0),
        (30, Enter, Some(1), 0),
        (30, Complete, Some(1), 0),
        (32, Leave, None, 0),
        (34, Enter, Some(0), 0),
        (34, Dispatch, Some(0), 0),
        (36, Leave, Some(0), 0),
        (45, Enter, Some(0), 0),
        (45, Complete, Some(0), 0),
        (47, Leave, None, 0),
        (50, Enter, None, 0),
        (50, Idle, None, 0),
        (52, Leave, None, 0),
    ];
    assert_eq!(told(&[root, below]), expected);
}

#[test]
fn a_decision_that_was_interrupted_ends_there_and_what_it_chose_begins_when_it_is_given_the_core() {
    use EventKind::{Dispatch, Enter, Leave};
    let root = part(&[(10, Enter, Some(BELOW), 0), (12, Leave, Some(BELOW), 0)]);
    let below = part(&[
        (8, Enter, None, 0),
        (8, Dispatch, Some(0), 3),
        (14, Leave, Some(0), 3),
        (15, Enter, Some(0), 0),
        (17, Leave, Some(0), 3),
    ]);
    let expected = [
        (8, Enter, None, 0),
        (8, Dispatch, Some(0), 3),
        (10, Leave, Some(0), 3),
        (10, Enter, Some(0), 0),
        (12, Leave, Some(0), 3),
        (15, Enter, Some(0), 0),
        (17, Leave, Some(0), 3),
    ];
    assert_eq!(told(&[root, below]), expected);
}

#[test]
fn a_job_that_is_killed_has_not_the_core_any_more_and_one_that_waits_had_not() {
    use EventKind::{Dispatch, Dropped, Enter, Idle, Leave, Preempt};
    let root = part(&[
        (0, Enter, None, 0),
        (0, Dispatch, Some(BELOW), 0),
        (2, Leave, Some(BELOW), 0),
        (20, Enter, Some(BELOW), 0),
        (20, Preempt, Some(BELOW), 0),
        (20, Idle, None, 0),
        (22, Leave, None, 0),
    ]);
    let below = part(&[
        (4, Enter, None, 0),
        (4, Dispatch, Some(0), 0),
        (6, Leave, Some(0), 0),
        (10, Enter, Some(0), 0),
        (10, Dropped, Some(1), 4),
        (10, Dropped, Some(0), 0),
        (11, Leave, None, 0),
    ]);
    let preempted = told(&[root, below]).into_iter().filter(|it| it.1 == Preempt).count();
    assert_eq!(preempted, 0);
}

#[test]
fn decisions_of_several_cores_are_in_the_order_in_which_they_were_made() {
    use EventKind::{ChangeApplied, ChangeRequested, Dispatch, Enter, Leave, Preempt};
    let on = |core: u8, records: &[(u64, EventKind, Option<u16>, u32)]| -> Vec<Record> {
        part(records).cores[0].iter().map(|r| Record { core: CoreId(core), ..*r }).collect()
    };
    let order = |cores: [Vec<Record>; 2]| -> Vec<(u8, EventKind)> {
        let trace = Trace { cores: cores.to_vec(), dropped: vec![0; 2], disks: Vec::new(), observed: Vec::new() };
        let mut kinds = Vec::new();
        in_order(&trace, |r| kinds.push((r.core.0, r.kind)));
        kinds
    };
    // Core 0 was called first, and decided as of when core 1 had.
    let cores = [
        on(0, &[(3, Enter, None, 0), (8, ChangeApplied, None, 0), (9, Leave, None, 0)]),
        on(1, &[(7, Enter, None, 0), (7, ChangeRequested, None, 0), (8, Leave, None, 0)]),
    ];
    let [first, second] = [(1, [Enter, ChangeRequested, Leave]), (0, [Enter, ChangeApplied, Leave])];
    let wanted = [first, second].iter().flat_map(|(core, kinds)| kinds.map(|kind| (*core, kind))).collect::<Vec<_>>();
    assert_eq!(order(cores), wanted);
    // That the job lost core 1 is found out by the decision that gives it core 0.
    let cores = [
        on(0, &[(5, Enter, None, 0), (5, Dispatch, Some(0), 0), (6, Leave, Some(0), 0)]),
        on(1, &[(1, Enter, None, 0), (1, Dispatch, Some(0), 0), (2, Leave, Some(0), 0), (5, Preempt, Some(0), 0)]),
    ];
    let wanted = [(1, Enter), (1, Dispatch), (1, Leave), (1, Preempt), (0, Enter), (0, Dispatch), (0, Leave)];
    assert_eq!(order(cores), wanted);
}

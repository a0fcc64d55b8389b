//! Schedules of the real policies, drawn so that a person can check them by eye.

mod common;

use common::*;
use tactus_policy::{Kind, Setup};
use tactus_record::Kind as What;
use tactus_sim::{simulate, Costs};
use tactus_trace::Trace;

/// One character for each millisecond and core: the task that runs, or a dot.
fn draw(trace: &Trace, length: usize) -> Vec<String> {
    let draw = |records: &Vec<tactus_record::Record>| {
        let mut line = vec!['.'; length];
        for record in records {
            let from = (record.time.as_nanos() / 1_000_000) as usize;
            let mark = match (record.kind, record.task) {
                (What::Dispatch, Some(task)) => char::from(b'a' + task.0 as u8),
                (What::Preempt | What::Complete | What::Exhausted | What::Idle, _) => '.',
                _ => continue,
            };
            line[from.min(length)..].fill(mark);
        }
        line.into_iter().collect()
    };
    trace.cores.iter().map(draw).collect()
}

fn drawn(kind: Kind, cores: usize, tasks: Vec<tactus_policy::Task>, length: u64) -> Vec<String> {
    let setup = Setup { cores, kind, tasks };
    let trace = simulate(&setup, ms(length), budgets(&setup), &Costs::default()).unwrap();
    draw(&trace, length as usize)
}

#[test]
fn rate_monotonic_runs_the_shorter_period_first() {
    // (period, execution) = a (4, 1), b (5, 2), c (20, 7)
    let tasks = vec![task(Some(0), ms(4), ms(1)), task(Some(0), ms(5), ms(2)), task(Some(0), ms(20), ms(7))];
    assert_eq!(drawn(Kind::PartitionedRm, 1, tasks, 20), ["abbcabbcacbbaccbabcc"]);
}

#[test]
fn earliest_deadline_first_meets_what_rate_monotonic_misses() {
    // (period, execution) = a (5, 2), b (7, 4): utilisation 0.97, beyond the bound of rate-monotonic.
    let tasks = || vec![task(Some(0), ms(5), ms(2)), task(Some(0), ms(7), ms(4))];
    assert_eq!(drawn(Kind::PartitionedEdf, 1, tasks(), 35), ["aabbbbaabbbbaabaabbbaabbbbaabbaabb."]);
}

#[test]
fn global_edf_uses_every_core() {
    let tasks = vec![task(None, ms(4), ms(2)), task(None, ms(5), ms(3)), task(None, ms(6), ms(4))];
    assert_eq!(drawn(Kind::GlobalEdf, 2, tasks, 12), ["aaccccbbbcc.", "bbb.aaccaabb"]);
}

#[test]
fn a_late_job_delays_the_next_of_its_task_and_none_is_lost() {
    let setup = partitioned_edf(1, vec![task(Some(0), ms(4), ms(1))]);
    let mut long_first = |_, job| if job == 0 { ms(9) } else { ms(1) };
    let trace = simulate(&setup, ms(14), &mut long_first, &Costs::default()).unwrap();
    assert_eq!(draw(&trace, 14), ["aaaaaaaaaaa.a."]);
    let done: Vec<u64> = of_kind(&trace.cores[0], What::Complete).iter().map(|(t, ..)| t / 1_000_000).collect();
    assert_eq!(done, [9, 10, 11, 13]);
}

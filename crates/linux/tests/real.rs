//! A trace that Linux made: the example, of Debian's real-time kernel, whose threads are known to the instruction.

mod common;

use common::View;
use tactus_linux::{read, translate};
use tactus_time::Duration;
use tactus_trace::{judge, Bound, Verdict};

const TRACE: &str = include_str!("../../../examples/linux/trace.txt");

#[test]
fn the_jobs_of_a_real_time_kernel_are_those_of_its_program() {
    let recording = read(TRACE.as_bytes()).expect("a trace");
    assert_eq!((recording.switches(), recording.unread), (TRACE.matches(": sched_switch:").count(), 0));
    let millis = Duration::from_millis;
    let tasks = [("control", 5, 1, 2), ("steer", 10, 3, 5), ("log", 20, 3, 9)];
    let mut view =
        View::of(tasks.iter().map(|(name, period, ..)| ((*name).to_string(), period * 1_000_000)).collect()).0;
    for (view, (_, _, work, bound)) in view.tasks.iter_mut().zip(tasks) {
        view.promise = Some(Bound::Response(millis(bound)));
        // Its work, and what the kernel does in its name.
        view.assumed = [Some(millis(work) + Duration::from_micros(100)), None, None, None];
    }
    let translated = translate(&recording, &view, &[]).expect("jobs");
    let summary = judge(&translated.view, &translated.trace);
    for (task, (name, _, work, _)) in summary.tasks.iter().zip(tasks) {
        // The last one of log slept before its thread ended, and nobody knows whether it had ended then.
        let jobs = if name == "log" { 39 } else { 40 };
        assert_eq!(
            (task.name.as_str(), task.jobs.released, task.jobs.completed, task.jobs.untold),
            (name, jobs, jobs, 0)
        );
        let charged = task.charged.expect("jobs");
        assert!(
            charged.min >= millis(work) && charged.median <= millis(work) + Duration::from_micros(60),
            "{charged:?}"
        );
    }
    // The one that was planted: job 13 of steer, of 9 ms, beside three jobs of control.
    let steer = &summary.tasks[1];
    let response = steer.response.expect("jobs").max;
    assert!(response > millis(12) && response < Duration::from_micros(12_200), "{response}");
    assert_eq!(summary.total.missed, 1);
    assert!(matches!(summary.verdict, Verdict::Void), "{}", summary.headline());
    assert_eq!((summary.voids.len(), summary.voids[0].task.as_str()), (1, "steer"));
}

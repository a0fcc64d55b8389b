//! The LITMUS^RT export, byte by byte, and through LITMUS^RT's own reader where one is given.
//!
//!     TACTUS_ST_JOB_STATS=/path/to/st-job-stats cargo test -p tactus-trace --test all litmus:: -- --nocapture

use crate::common::*;
use std::path::Path;
use std::process::Command;
use tactus_record::EntryReason::*;
use tactus_trace::{jobs, litmus, write_litmus, LITMUS_RECORD_BYTES};

fn migrating() -> (tactus_trace::View, tactus_trace::Trace) {
    let mut b = Builder::new(2);
    b.call(0, 0, Start, |c| {
        c.release(0, 0, 0).release(1, 0, 0).dispatch(0, 0);
    });
    b.call(1, 0, Start, |c| {
        c.dispatch(1, 0);
    });
    b.call(1, 1, Timer, |c| {
        c.preempt(1, 0).idle();
    });
    b.call(0, 2, Complete, |c| {
        c.complete(0, 0, 2).dispatch(1, 0);
    });
    b.call(0, 5, Complete, |c| {
        c.complete(1, 0, 4).idle();
    });
    let tasks = vec![task("first", 10, None), task("a name of more than fifteen", 4, None)];
    (view(2, 10, tasks), b.end(10))
}

#[test]
fn records_lie_as_the_header_of_litmus_says() {
    let (view, trace) = migrating();
    let files = litmus(&view, &trace);
    let records = |core: usize| files[core].chunks(LITMUS_RECORD_BYTES).collect::<Vec<_>>();
    let word = |b: &[u8]| u64::from_le_bytes(b.try_into().unwrap());
    let types: Vec<u8> = records(0).iter().map(|r| r[0]).collect();
    // Names and parameters of both tasks, system release; then T1 from 0 to 2 and T2 from 2 to 5.
    assert_eq!(types, [1, 2, 1, 2, 11, 3, 3, 5, 6, 7, 5, 6, 7]);
    let second_name = records(0)[2];
    assert_eq!(&second_name[..8], [1, 0, 2, 0, 0, 0, 0, 0]);
    assert_eq!(&second_name[8..], b"a name of more \0");
    let release = records(0)[6];
    assert_eq!((word(&release[8..16]), word(&release[16..24])), (0, 4 * UNIT));
    let completion = records(0)[12];
    assert_eq!(&completion[..8], [7, 0, 2, 0, 0, 0, 0, 0]);
    assert_eq!((word(&completion[8..16]), word(&completion[16..24])), (5 * UNIT, 2 * 4 * UNIT));
    let other: Vec<(u8, u8)> = records(1).iter().map(|r| (r[0], r[1])).collect();
    assert_eq!(other, [(5, 1), (6, 1)]);
}

#[test]
fn the_reader_of_litmus_finds_the_same_jobs_responses_and_misses() {
    let Some(reader) = std::env::var_os("TACTUS_ST_JOB_STATS") else {
        println!("skipped: TACTUS_ST_JOB_STATS does not name LITMUS^RT's st-job-stats (LITMUS-RT/feather-trace-tools)");
        return;
    };
    let tasks = [(0, 5, 2), (0, 10, 3), (0, 20, 5), (1, 4, 3), (1, 8, 3)];
    let long = (edf_view(2, &tasks, 400), edf(2, &tasks, 400));
    for (name, (view, trace)) in [("migrating", migrating()), ("long", long)] {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let paths = write_litmus(&view, &trace, folder).unwrap();
        let out = Command::new(&reader).args(&paths).output().unwrap();
        let text = String::from_utf8(out.stdout).unwrap();
        assert!(out.status.success() && out.stderr.is_empty(), "{text}");
        // Task, job, period, response, miss, lateness, tardiness, forced, execution time, preemptions, migrations.
        let mut found: Vec<Vec<i64>> = text
            .lines()
            .filter(|l| !l.starts_with('#'))
            .map(|l| l.split(',').map(|n| n.trim().parse().unwrap()).collect())
            .collect();
        let mut expected: Vec<Vec<i64>> = jobs(&trace)
            .iter()
            .filter_map(|j| {
                let response = j.response()?.as_nanos() as i64;
                let task = &view.tasks[j.task.index()];
                let late = response - task.deadline.as_nanos() as i64;
                let (pid, job, period) = (i64::from(j.task.0) + 1, i64::from(j.job), task.period.as_nanos() as i64);
                let (lost, moved) = (i64::from(j.preemptions), i64::from(j.migrations));
                let charged = j.charged.as_nanos() as i64;
                Some(vec![pid, job, period, response, i64::from(late > 0), late, late.max(0), 0, charged, lost, moved])
            })
            .collect();
        found.sort();
        expected.sort();
        println!("{name}: st-job-stats agrees on {} jobs", found.len());
        assert_eq!(found, expected);
    }
}

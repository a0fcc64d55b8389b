//! LITMUS^RT's `sched_trace`: what we write of a run is read back as the same jobs, and damaged records make nothing fall over.

mod common;

use common::{numbers, records, View};
use std::path::Path;
use tactus_linux::{read, read_file, translate, Recording, Translated};
use tactus_record::EventKind;
use tactus_time::{Duration, TaskId};
use tactus_trace::{judge, litmus, write_litmus, Trace, LITMUS_RECORD_BYTES};

fn example() -> (View, Translated) {
    let view = View::of(vec![("control".into(), 5_000_000), ("steer".into(), 10_000_000), ("log".into(), 20_000_000)]);
    let text = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/linux/trace.txt");
    let translated = translate(&read_file(&text).expect("a trace"), &view.0, &[]).expect("jobs");
    (view, translated)
}

/// Of each job of a task: by how much it is released after the first, how long it took from there, and what it was charged.
fn jobs(trace: &Trace, task: usize) -> Vec<(Duration, Duration, u64)> {
    let of = |kind| {
        let records = trace.cores.iter().flatten();
        records.filter(move |r| r.task == Some(TaskId(task as u16)) && r.kind == kind)
    };
    let first = of(EventKind::Release).map(|r| r.arg).min().unwrap_or(0);
    let ended = |job: u32| of(EventKind::Complete).find(|r| r.job == job);
    let mut all: Vec<_> = of(EventKind::Release)
        .filter_map(|release| ended(release.job).map(|end| (release, end)))
        .map(|(release, end)| {
            let since = Duration::from_nanos(end.time.as_nanos() - release.arg);
            (Duration::from_nanos(release.arg - first), since, end.arg)
        })
        .collect();
    all.sort_unstable();
    all
}

fn same_jobs(before: &Translated, recording: &Recording, view: &View) {
    let again = translate(recording, &view.0, &[]).expect("jobs");
    for task in 0..view.0.tasks.len() {
        let (then, now) = (jobs(&before.trace, task), jobs(&again.trace, task));
        assert!(then.len() >= 39 && now.len() + 1 >= then.len(), "{} of {}", now.len(), then.len());
        assert_eq!(then[..now.len()], now[..], "task {task}");
    }
    let missed = |it: &Translated| judge(&it.view, &it.trace).tasks.iter().map(|it| it.jobs.missed).sum::<u64>();
    assert_eq!(missed(before), missed(&again));
    assert_eq!(missed(&again), 1);
}

#[test]
fn a_run_that_is_written_as_sched_trace_reads_back_as_the_same_jobs() {
    let (view, translated) = example();
    let files = litmus(&translated.view, &translated.trace);
    same_jobs(&translated, &read(&files.concat()).expect("records"), &view);
    let folder = std::env::temp_dir().join(format!("tactus-sched-trace-{}", std::process::id()));
    write_litmus(&translated.view, &translated.trace, &folder).expect("written");
    same_jobs(&translated, &read_file(&folder).expect("records"), &view);
    std::fs::remove_dir_all(folder).expect("the folder");
}

#[test]
fn a_job_that_is_late_and_a_thread_that_keeps_its_processor_are_told_apart() {
    let ms = |n: u64| n * 1_000_000;
    let mut name = records(&[(1, 7, 0, 0)]);
    name[8..15].copy_from_slice(b"control");
    let mut all = Vec::new();
    for job in 0..10u32 {
        let at = ms(10 * u64::from(job) + 10);
        all.push((3, 7, job, at));
        match job {
            // Of 12 ms, and the next goes on without a switch.
            4 => all.extend([(5, 7, job, at + 1_000), (7, 7, job, at + ms(12))]),
            5 => all.extend([(7, 7, job, at + ms(4)), (6, 7, job, at + ms(4) + 500)]),
            // It waits for 2 ms.
            7 => all.extend([
                (5, 7, job, at + 1_000),
                (8, 7, job, at + ms(1)),
                (6, 7, job, at + ms(1)),
                (9, 7, job, at + ms(3)),
                (5, 7, job, at + ms(3) + 1_000),
                (7, 7, job, at + ms(5)),
                (6, 7, job, at + ms(5)),
            ]),
            _ => all.extend([(5, 7, job, at + 1_000), (7, 7, job, at + ms(3)), (6, 7, job, at + ms(3))]),
        }
    }
    all.sort_by_key(|it| it.3);
    let recording = read(&[name, records(&all)].concat()).expect("records");
    let view = View::of(vec![("control".into(), ms(10))]);
    let translated = translate(&recording, &view.0, &[]).expect("jobs");
    let responses: Vec<u64> = jobs(&translated.trace, 0).iter().map(|it| it.1.as_nanos() / 1_000_000).collect();
    assert_eq!(responses, [3, 3, 3, 3, 12, 4, 3, 5, 3]);
    let summary = judge(&translated.view, &translated.trace);
    assert_eq!((summary.tasks[0].jobs.missed, summary.tasks[0].jobs.untold), (1, 0));
}

/// Changes a number of bytes, a few at a time.
fn mutate(count: u64) {
    let (_, translated) = example();
    let whole = litmus(&translated.view, &translated.trace).concat();
    let whole = &whole[..whole.len().min(200 * LITMUS_RECORD_BYTES)];
    let mut random = numbers(17);
    let mut done = 0;
    while done < count {
        let mut file = whole.to_vec();
        for _ in 0..1 + random(8) {
            let at = random(file.len());
            file[at] = [0, 1, 0xff, 5, 6, 7, random(256) as u8][random(7)];
            done += 1;
        }
        if random(10) == 0 {
            file.truncate(random(file.len()));
        }
        let _ = read(&file);
    }
}

#[test]
fn no_damaged_record_makes_the_reader_fall_over() {
    mutate(2_000);
}

/// `cargo test --release -p tactus-linux --test sched_trace -- --ignored`
#[test]
#[ignore = "a million mutations take a minute"]
fn no_records_with_a_million_mutations_make_the_reader_fall_over() {
    mutate(1_000_000);
}

//! Which thread a task is, and which cores a trace tells of.

mod common;

use common::View;
use tactus_linux::{read_text, translate, Named, Recording, Translated};
use tactus_trace::{judge, Verdict};

/// Jobs of threads in the words of tracefs with thread groups: each thread has its name, number, group and core, and a job in each 10 ms.
fn recording(threads: &[(&str, u32, u32, u8)], groups: bool) -> Recording {
    let mut text = String::new();
    for period in 0..10 {
        for (n, (name, number, group, core)) in threads.iter().enumerate() {
            let mut put = |who: &str, micros: u64, event: String| {
                let at = 9_000_000 + period * 10_000 + n as u64 * 2_000 + micros;
                text += &format!("  {who} [{core:03}] d..2. {}.{:06}: {event}\n", at / 1_000_000, at % 1_000_000);
            };
            let group = if groups { format!(" ({group})") } else { String::new() };
            let own = format!("{name}-{number}{group}");
            put("<idle>-0 (-----)", 0, format!("sched_waking: comm={name} pid={number} prio=9 target_cpu={core:03}"));
            let switch = |from: &str, state: &str, to: &str| {
                format!("sched_switch: prev_comm={from} prev_prio=9 prev_state={state} ==> next_comm={to} next_prio=9")
            };
            let (idle, thread) = ("swapper pid=0", format!("{name} pid={number}"));
            let of = |it: &str, side: &str| it.replace(" pid=", &format!(" {side}_pid="));
            put("<idle>-0 (-----)", 10, switch(&of(idle, "prev"), "R", &of(&thread, "next")));
            put(&own, 1_010, switch(&of(&thread, "prev"), "S", &of(idle, "next")));
        }
    }
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_by_key(|line| {
        line.split_whitespace().find_map(|word| word.strip_suffix(':')?.parse::<f64>().ok()).map(|it| (it * 1e6) as u64)
    });
    read_text(lines.join("\n").as_bytes()).expect("a trace")
}

fn named(task: &str, thread: Option<&str>, group: Option<&str>) -> Vec<Named> {
    vec![Named { task: task.into(), thread: thread.map(Into::into), group: group.map(Into::into) }]
}

fn of(recording: &Recording, task: &str, named: &[Named]) -> Result<Translated, String> {
    translate(recording, &View::of(vec![(task.into(), 10_000_000)]).0, named).map_err(|error| error.to_string())
}

const ENGINES: [(&str, u32, u32, u8); 5] =
    [("left", 10, 10, 0), ("worker", 11, 10, 0), ("right", 20, 20, 0), ("worker", 21, 20, 0), ("brake-0", 30, 30, 0)];

#[test]
fn a_thread_is_found_by_name_by_number_and_within_its_group() {
    let recording = recording(&ENGINES, true);
    assert_eq!((recording.groups.len(), recording.unread), (5, 0));
    for (name, group, thread) in [
        (Some("left"), None, 10),
        (Some("21"), None, 21),
        (Some("worker"), Some("right"), 21),
        (Some("worker"), Some("10"), 11),
        (Some("30"), Some("brake-0"), 30),
        (None, Some("brake-0"), 30),
    ] {
        let translated = of(&recording, "control", &named("control", name, group)).expect("a thread");
        assert!(translated.notes[1].starts_with(&format!("control is thread {thread},")), "{:?}", translated.notes);
    }
    // rt-app's number behind it.
    assert!(of(&recording, "brake", &[]).expect("a thread").notes[1].starts_with("brake is thread 30,"));
    // The command's word comes before the file's.
    let both = [named("control", Some("20"), None), named("control", Some("10"), None)].concat();
    assert!(of(&recording, "control", &both).expect("a thread").notes[1].starts_with("control is thread 20,"));
}

#[test]
fn a_thread_that_cannot_be_matched_is_said_with_what_there_is() {
    let with = recording(&ENGINES, true);
    let without = recording(&ENGINES, false);
    for (recording, task, named, words) in [
        (&with, "steer", vec![], "no thread is called \"steer\"; say which one task steer is with --thread steer=NAME, or in [linux]. There are: brake-0, left, right, worker"),
        (&with, "worker", vec![], "the threads 11, 21 are called \"worker\"; say which one task worker is with --thread worker=NUMBER"),
        (&with, "control", named("steer", Some("10"), None), "there is no task \"steer\"; name one of the system file"),
        (&with, "control", named("control", Some("worker"), Some("up")), "no thread is called \"worker\" in group \"up\""),
        (&with, "control", named("control", Some("10"), Some("right")), "no thread is called \"10\" in group \"right\""),
        (&with, "control", named("control", None, Some("left")), "the threads 10, 11 are in group \"left\""),
        (&without, "control", named("control", Some("worker"), Some("left")), "the trace tells of none: name the thread alone, or record with"),
    ] {
        let why = of(recording, task, &named).expect_err(words);
        assert!(why.contains(words), "{why}");
    }
    let view = View::of(vec![("left".into(), 10_000_000), ("control".into(), 10_000_000)]).0;
    let why = translate(&with, &view, &named("control", Some("left"), None)).expect_err("one thread").to_string();
    assert_eq!(why, "thread 10 is both task left and task control; name another one for one of them");
}

#[test]
fn a_promise_that_needs_a_core_without_events_is_not_held() {
    let recording = recording(&[("left", 10, 10, 0), ("right", 20, 20, 1)], false);
    let judged = |cores: usize, bound: bool| {
        let mut view = View::of(vec![("left".into(), 10_000_000), ("right".into(), 10_000_000)]).0;
        view.cores = cores;
        for (n, task) in view.tasks.iter_mut().enumerate() {
            task.core = bound.then_some(tactus_time::CoreId(n as u8));
        }
        let translated = translate(&recording, &view, &[]).expect("jobs");
        (judge(&translated.view, &translated.trace), translated.notes)
    };
    // Each on its core, or anywhere on the two cores that the trace has.
    for bound in [true, false] {
        assert!(judged(2, bound).0.verdict.held());
    }
    // A third core, of which the trace has nothing: whoever may run there is not judged, whoever may not is.
    let (summary, notes) = judged(3, true);
    assert!(summary.verdict.held(), "{}", summary.headline());
    assert!(notes.iter().any(|note| note.starts_with("core 2 has no event in the trace")), "{notes:?}");
    let (summary, _) = judged(3, false);
    let Verdict::NotJudged(it) = &summary.verdict else { panic!("{}", summary.headline()) };
    assert!(it.why.starts_with("left, job 0, may have run on a core of which the trace has no events"), "{}", it.why);
    assert!(it.why.ends_with("(and 17 more jobs are not told of)"), "{}", it.why);
    assert_eq!(summary.tasks.iter().take(2).map(|it| it.jobs.untold).sum::<u64>(), 18);
}

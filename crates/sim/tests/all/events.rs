//! Jobs that signal and await events: rt-app's own examples, drawn as its authors tell what must come of them.

use crate::ceilings::draw_core;
use std::path::Path;
use tactus_model::System;
use tactus_plan::plan;
use tactus_record::{EventKind, InputKind};
use tactus_sim::{simulate_with_steps, Costs};
use tactus_time::{Duration, TaskId};
use tactus_trace::{judge, Trace, Verdict};

fn simulated(text: &str) -> (System, Trace, Verdict) {
    let mut system = System::parse_rt_app(text, Path::new("file.json")).unwrap_or_else(|problems| panic!("{problems}"));
    system.machine.overheads = false;
    let check = tactus_analysis::check(&system, &Costs::default());
    assert!(check.accepted && check.tasks.iter().all(|task| task.bound().is_none()));
    let plan = plan(&system, &check, &Costs::default());
    let demand = |task: TaskId, job| system.tasks[task.index()].demand(system.seed, task, job);
    let trace =
        simulate_with_steps(&plan.setup, system.duration, (demand, Vec::new()), system.job_steps(), &Costs::default());
    let trace = trace.expect("the policy makes progress");
    let wrong = tactus_trace::check::all(&plan.view, &trace, Duration::from_micros(1));
    assert!(wrong.is_empty(), "{:?}", wrong[0]);
    let verdict = judge(&plan.view, &trace).verdict;
    (system, trace, verdict)
}

/// When the task has a core, a character for each millisecond.
fn runs(trace: &Trace, task: u8, length: usize) -> String {
    let lines: Vec<String> = (0..trace.cores.len()).map(|core| draw_core(trace, core, 1, length)).collect();
    let mark = char::from(b'a' + task);
    (0..length).map(|at| if lines.iter().any(|line| line.chars().nth(at) == Some(mark)) { mark } else { '.' }).collect()
}

/// rt-app's tutorial, example 7, whose comment tells what is to be seen.
#[test]
fn threads_meet_at_barriers_no_matter_which_comes_first() {
    let text = r#"{ "tasks" : {
        "task0" : { "loop" : -1, "runtime1" : 1000, "sleep1" : 2000, "barrier1" : "FIRST", "runtime2" : 2000,
            "barrier2" : "SECOND", "runtime3" : 1000, "sleep3" : 2000, "barrier3" : "THIRD" },
        "task1" : { "loop" : -1, "runtime1" : 2000, "barrier1" : "FIRST", "runtime2" : 1000, "sleep2" : 2000,
            "barrier2" : "SECOND", "runtime3" : 2000, "barrier3" : "THIRD" } },
        "global" : { "duration" : 1 } }"#;
    let (_, trace, verdict) = simulated(text);
    assert_eq!(verdict, Verdict::NothingPromised);
    //                                 0        9        18
    assert_eq!(runs(&trace, 0, 20), "a..aa.a..a..aa.a..a.");
    assert_eq!(runs(&trace, 1, 20), "bb.b..bb.bb.b..bb.bb");
    // A job for each time round.
    let jobs = trace.cores.iter().flatten().filter(|r| r.kind == EventKind::Complete).count();
    assert!((220..=223).contains(&jobs), "{jobs}");
}

/// rt-app's tutorial, example 4: two threads that run for 10 ms and wake each other. Both run at first; the first to resume the other finds
/// nobody who waits.
#[test]
fn threads_resume_each_other() {
    let text = r#"{ "tasks" : {
        "thread0" : { "loop" : -1, "run" : 10000, "resume" : "thread1", "suspend" : "thread0" },
        "thread1" : { "loop" : -1, "run" : 10000, "resume" : "thread0", "suspend" : "thread1" } },
        "global" : { "duration" : 1 } }"#;
    let (_, trace, _) = simulated(text);
    assert_eq!(runs(&trace, 0, 60), format!("{}{}", "a".repeat(20), "..........aaaaaaaaaa".repeat(2)));
    assert_eq!(runs(&trace, 1, 60), format!("bbbbbbbbbb{}..........", "..........bbbbbbbbbb".repeat(2)));
}

/// A mutex is held while its owner runs, a condition variable's wait gives it back, a semaphore remembers what was posted, and a thread
/// that has done its loops does no more. All on one core each.
#[test]
fn locks_queues_and_semaphores_are_as_in_rt_app() {
    let text = r#"{ "tasks" : {
        "producer" : { "cpus" : [0], "loop" : -1, "run" : 2000, "lock" : "m", "run" : 3000, "signal" : "q", "unlock" : "m",
            "sem_post" : "s", "timer" : { "ref" : "unique", "period" : 20000 } },
        "consumer" : { "cpus" : [1], "loop" : -1, "lock" : "m", "wait" : { "ref" : "q", "mutex" : "m" }, "run" : 1000,
            "unlock" : "m", "run" : 1000 },
        "late" : { "cpus" : [2], "loop" : 2, "sleep" : 12000, "sem_wait" : "s", "run" : 1000, "lock" : "m", "run" : 1000,
            "unlock" : "m" } },
        "global" : { "duration" : 1 } }"#;
    let (_, trace, _) = simulated(text);
    assert_eq!(runs(&trace, 0, 40), "aaaaa...............aaaaa...............");
    assert_eq!(runs(&trace, 1, 40), ".....bb..................bb.............");
    // It sleeps until 12 ms and takes the post of 5 ms; then until 26 ms, and takes that of 25 ms; then never again.
    assert_eq!(runs(&trace, 2, 40), "............cc............cc............");
    let awaited =
        trace.cores[2].iter().filter(|r| r.kind == EventKind::Input && r.level == InputKind::Await as u8).count();
    assert_eq!(awaited, 2 * 2 + 1);
}

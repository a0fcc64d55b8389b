//! What goes wrong on a Linux machine, planted in a trace: the verdict names it, and what cannot be judged is not held.

mod common;

use common::View;
use std::fmt::Write;
use tactus_linux::{read_text, translate, Translated};
use tactus_time::Duration;
use tactus_trace::{judge, Summary, Verdict, What};

const PERIOD: u64 = 10_000;

/// What a machine does, in the words of tracefs: thread 7, `control`, for 3 ms in every 10, on core 0.
#[derive(Default)]
struct Machine {
    lines: Vec<(u64, String)>,
}

impl Machine {
    fn put(&mut self, core: u8, time: u64, event: String) {
        let (seconds, micros) = ((9_000_000 + time) / 1_000_000, time % 1_000_000);
        self.lines.push((time, format!("  any-1  [{core:03}] d..2. {seconds}.{micros:06}: {event}")));
    }
    fn wakes(&mut self, time: u64) {
        self.put(0, time, "sched_waking: comm=control pid=7 prio=9 target_cpu=000".into());
    }
    /// The core goes from one to another; the first is left in this state.
    fn switches(&mut self, core: u8, time: u64, [from, state, to]: [&str; 3]) {
        let number = |name: &str| match name {
            "control" => 7,
            "idle" => 0,
            _ => 8,
        };
        let (a, b) = (number(from), number(to));
        let prev = format!("prev_comm={from} prev_pid={a} prev_prio=9 prev_state={state}");
        self.put(core, time, format!("sched_switch: {prev} ==> next_comm={to} next_pid={b} next_prio=9"));
    }
    /// A job: woken at the beginning of a period, and at work without a break.
    fn job(&mut self, core: u8, period: u64, length: u64) {
        let at = 1_000 + period * PERIOD;
        self.wakes(at);
        self.switches(core, at + 10, ["idle", "R", "control"]);
        self.switches(core, at + 10 + length, ["control", "S", "idle"]);
    }
    /// Jobs of 3 ms in these periods.
    fn jobs(&mut self, periods: impl IntoIterator<Item = u64>) {
        periods.into_iter().for_each(|period| self.job(0, period, 3_000));
    }
    fn text(mut self) -> String {
        self.lines.sort_by_key(|(time, _)| *time);
        self.lines.into_iter().fold(String::new(), |mut text, (_, line)| {
            writeln!(text, "{line}").expect("a text");
            text
        })
    }
    fn translated(self) -> Translated {
        let mut view = View::of(vec![("control".into(), PERIOD * 1_000)]).0;
        (view.cores, view.tasks[0].promise) = (2, Some(tactus_trace::Bound::Response(Duration::from_millis(5))));
        translate(&read_text(self.text().as_bytes()).expect("a trace"), &view, &[]).expect("jobs")
    }
    fn judged(self) -> Summary {
        let Translated { trace, view, .. } = self.translated();
        judge(&view, &trace)
    }
}

fn not_judged(summary: &Summary, words: &str) {
    let Verdict::NotJudged(it) = &summary.verdict else { panic!("{}", summary.headline()) };
    assert!(it.why.contains(words), "{}", it.why);
    assert!(!summary.verdict.held());
}

#[test]
fn a_thread_that_keeps_its_bound_is_held() {
    let mut machine = Machine::default();
    machine.jobs(0..10);
    let summary = machine.judged();
    assert_eq!(summary.headline(), "every promise held");
    let control = &summary.tasks[0];
    // Of the last one nobody knows whether it waits; a response is that from the first wake-up on.
    assert_eq!((control.jobs.completed, control.jobs.missed), (9, 0));
    assert_eq!(control.response.map(|it| it.max), Some(Duration::from_micros(3_010)));
    assert_eq!(control.charged.map(|it| it.max), Some(Duration::from_micros(3_000)));
}

#[test]
fn a_longer_job_is_found_and_named() {
    let mut machine = Machine::default();
    machine.jobs((0..10).filter(|n| *n != 4));
    machine.job(0, 4, 6_000);
    let summary = machine.judged();
    assert!(
        summary.headline().starts_with("broken: a response was longer than its bound: control, job 4, 6.01 ms"),
        "{}",
        summary.headline()
    );
}

#[test]
fn a_thread_that_took_the_core_is_named_in_the_cause() {
    let mut machine = Machine::default();
    machine.jobs((0..10).filter(|n| *n != 5));
    // By its newest name: it had that of its program before.
    machine.switches(0, 500, ["idle", "R", "the program"]);
    machine.switches(0, 600, ["the program", "S", "idle"]);
    machine.wakes(51_000);
    machine.switches(0, 51_010, ["idle", "R", "control"]);
    machine.switches(0, 52_000, ["control", "R+", "irq/9-hog"]);
    machine.switches(0, 56_500, ["irq/9-hog", "S", "control"]);
    machine.switches(0, 58_500, ["control", "S", "idle"]);
    let Verdict::Broken(broken) = machine.judged().verdict else { panic!("a response of 7.5 ms") };
    assert_eq!((broken.task.as_deref(), broken.job), (Some("control"), Some(5)));
    assert_eq!(broken.cause.ran[0].task, "(irq/9-hog)", "{broken:?}");
}

#[test]
fn a_wake_up_that_was_lost_leaves_a_job_that_cannot_be_judged() {
    let mut machine = Machine::default();
    machine.jobs((0..10).filter(|n| *n != 6));
    let summary = machine.judged();
    not_judged(&summary, "control, job 6, was not woken in its period");
    assert_eq!((summary.tasks[0].jobs.untold, summary.tasks[0].jobs.missed), (1, 0));
}

#[test]
fn jobs_without_sleep_between_them_cannot_be_judged() {
    let mut machine = Machine::default();
    machine.jobs((0..10).filter(|n| ![3, 4].contains(n)));
    machine.job(0, 3, 14_000);
    not_judged(&machine.judged(), "control, job 3, did not sleep before its next period began");
}

#[test]
fn events_that_are_missing_leave_jobs_that_cannot_be_judged() {
    let mut machine = Machine::default();
    machine.jobs(0..10);
    machine.lines.push((32_000, "CPU:0 [LOST 12 EVENTS]".into()));
    not_judged(&machine.judged(), "control, job 3, ran where events are missing");
    // Nobody says that they are, but it loses the core without a word.
    let mut machine = Machine::default();
    machine.jobs(0..10);
    machine.lines.retain(|(time, _)| *time != 34_010);
    machine.switches(0, 35_000, ["idle", "R", "other"]);
    machine.switches(0, 36_000, ["other", "S", "idle"]);
    not_judged(&machine.judged(), "control, job 3, ran where events are missing");
}

#[test]
fn a_thread_on_another_core_than_the_file_says_refutes_the_machine() {
    let mut machine = Machine::default();
    machine.jobs((0..10).filter(|n| *n != 2));
    machine.job(1, 2, 3_000);
    let summary = machine.judged();
    let Verdict::Broken(broken) = &summary.verdict else { panic!("{}", summary.headline()) };
    assert_eq!(broken.what, What::Machine);
    assert!(
        broken.cause.text.starts_with("task control ran on core 1 at 21.01 ms, and the file binds it to core 0"),
        "{broken:?}"
    );
}

#[test]
fn a_thread_that_is_bound_after_it_was_made_is_judged_from_its_next_job_on() {
    let mut machine = Machine::default();
    // As rt-app does it: made on any core, woken by its maker, and moved while the first job is at work.
    machine.switches(1, 900, ["idle", "R", "control"]);
    machine.switches(1, 950, ["control", "S", "idle"]);
    machine.wakes(1_000);
    machine.switches(1, 1_010, ["idle", "R", "control"]);
    machine.switches(1, 1_020, ["control", "D", "idle"]);
    machine.wakes(1_030);
    machine.switches(0, 1_040, ["idle", "R", "control"]);
    machine.switches(0, 8_000, ["control", "S", "idle"]);
    machine.jobs(1..10);
    let summary = machine.judged();
    assert_eq!(summary.headline(), "every promise held");
    assert_eq!(summary.tasks[0].jobs.completed, 8);
}

#[test]
fn what_a_thread_does_to_end_is_no_job() {
    let mut machine = Machine::default();
    machine.jobs(0..9);
    // It goes on, writes its log and ends.
    machine.wakes(91_000);
    machine.switches(0, 91_010, ["idle", "R", "control"]);
    machine.switches(0, 94_010, ["control", "S", "idle"]);
    machine.wakes(94_500);
    machine.switches(0, 94_510, ["idle", "R", "control"]);
    machine.switches(0, 98_000, ["control", "X", "idle"]);
    let translated = machine.translated();
    assert!(
        translated.notes.iter().any(|note| note.starts_with("control ended in the trace")),
        "{:?}",
        translated.notes
    );
    let summary = judge(&translated.view, &translated.trace);
    assert_eq!(summary.headline(), "every promise held");
    assert_eq!(summary.tasks[0].jobs.completed, 9);
}

#[test]
fn what_a_thread_does_after_it_said_that_no_more_jobs_come_is_no_job() {
    for words in ["[0] exiting", "jobs end", "rtapp_task: event=end"] {
        let mut machine = Machine::default();
        let say = |machine: &mut Machine, time: u64, words: &str| {
            let (seconds, micros) = ((9_000_000 + time) / 1_000_000, time % 1_000_000);
            let text = format!("  control-7  [000] ..... {seconds}.{micros:06}: tracing_mark_write: {words}");
            machine.lines.push((time, text));
        };
        for period in 0..9 {
            machine.jobs([period]);
            say(&mut machine, 1_000 + period * PERIOD + 20, "[0] begins loop 0 phase 0 step 0");
        }
        // It is woken once more, says so, and writes its log for longer than a job may take.
        machine.wakes(91_000);
        machine.switches(0, 91_010, ["idle", "R", "control"]);
        say(&mut machine, 91_020, words);
        machine.switches(0, 99_000, ["control", "S", "idle"]);
        let summary = machine.judged();
        assert_eq!(summary.headline(), "every promise held", "{words}");
        assert_eq!((summary.tasks[0].jobs.released, summary.tasks[0].jobs.completed), (9, 9));
        assert_eq!(summary.tasks[0].charged.map(|it| it.max), Some(Duration::from_micros(3_000)));
    }
}

#[test]
fn a_wait_for_the_kernel_or_for_another_thread_is_within_a_job() {
    for state in ["D", "S"] {
        let mut machine = Machine::default();
        machine.jobs((0..10).filter(|n| *n != 5));
        machine.wakes(51_000);
        machine.switches(0, 51_010, ["idle", "R", "control"]);
        machine.switches(0, 52_010, ["control", state, "idle"]);
        machine.wakes(53_000);
        machine.switches(0, 53_010, ["idle", "R", "control"]);
        machine.switches(0, 55_010, ["control", "S", "idle"]);
        let translated = machine.translated();
        assert!(
            translated.notes.iter().any(|note| note == "control waited 1 times within jobs, 990 µs in all"),
            "{:?}",
            translated.notes
        );
        let summary = judge(&translated.view, &translated.trace);
        assert_eq!(summary.headline(), "every promise held");
        assert_eq!(summary.tasks[0].response.map(|it| it.max), Some(Duration::from_micros(4_010)));
    }
}

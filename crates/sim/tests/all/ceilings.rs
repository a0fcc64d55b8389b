//! Jobs that keep their core from others once they have begun, against an oracle that sorts everything at every instant; their
//! bounds; and the published examples.

use std::fmt::Write;
use std::path::Path;
use tactus_model::System;
use tactus_plan::plan;
use tactus_record::EventKind;
use tactus_sim::{simulate, Costs};
use tactus_time::{Duration, TaskId};
use tactus_trace::{judge, Trace, Verdict};

/// SplitMix64.
struct Draw(u64);

impl Draw {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ z >> 31) % n
    }
}

const LENGTH: u64 = 400;

/// One task of a drawn system; all times in milliseconds.
#[derive(Debug)]
struct Drawn {
    core: u64,
    offset: u64,
    period: u64,
    deadline: u64,
    time: u64,
    priority: u64,
    threshold: Option<u64>,
}

impl Drawn {
    fn write(&self, n: usize, text: &mut String) {
        let Drawn { core, offset, period, deadline, time, priority, .. } = self;
        write!(
            text,
            "[[task]]\nname = 't{n}'\ncore = {core}\noffset = '{offset} ms'\nperiod = '{period} ms'\n\
             deadline = '{deadline} ms'\nexecution = '{time} ms'\npriority = {priority}\n"
        )
        .expect("text");
        if let Some(threshold) = self.threshold {
            writeln!(text, "preemption-threshold = {threshold}").expect("text");
        }
    }
}

fn parsed(text: &str) -> System {
    System::parse_toml(text, Path::new("drawn.toml")).unwrap_or_else(|problems| panic!("{problems}\n{text}"))
}

/// A system of up to seven tasks with preemption thresholds. `light`: little enough that many are accepted.
fn system(seed: u64, light: bool) -> (System, Vec<Drawn>) {
    let mut draw = Draw(seed);
    let cores = 1 + draw.below(2);
    let mut text = format!(
        "[system]\ncores = {cores}\nduration = '{LENGTH} ms'\nseed = {seed}\n[machine]\noverheads = false\n\
         [policy]\nkind = 'partitioned-fp'\n"
    );
    let mut tasks: Vec<Drawn> = Vec::new();
    for n in 0..2 + draw.below(6) {
        let period = 5 + draw.below(56);
        let most = if light { 1 + period / 6 } else { 1 + period / 2 };
        let time = (1 + draw.below(most)).min(period);
        let priority = draw.below(5);
        let one = Drawn {
            core: draw.below(cores),
            offset: draw.below(period),
            period,
            deadline: time + draw.below(period - time + 1),
            time,
            priority,
            threshold: (draw.below(2) == 0).then(|| priority + draw.below(6 - priority)),
        };
        one.write(n as usize, &mut text);
        tasks.push(one);
    }
    (parsed(&text), tasks)
}

/// When each job of each task was completed (ms), by an oracle that advances a millisecond at a time: a job that has begun is as
/// urgent as its threshold.
fn oracle(tasks: &[Drawn], cores: usize) -> Vec<Vec<Option<u64>>> {
    let mut jobs: Vec<Vec<(Option<u64>, u64)>> = tasks.iter().map(|_| Vec::new()).collect();
    for now in 0..LENGTH {
        for (n, task) in tasks.iter().enumerate() {
            if now >= task.offset && (now - task.offset) % task.period == 0 {
                jobs[n].push((None, task.time));
            }
        }
        // Twice the priority, one more where a job goes before those that have not begun; then the order of the file.
        let key = |n: usize, left: u64| match tasks[n].threshold.filter(|_| left < tasks[n].time) {
            Some(threshold) => (2 * threshold + 1, tasks.len() - n),
            None => (2 * tasks[n].priority, tasks.len() - n),
        };
        for core in 0..cores {
            let oldest = |n: usize| jobs[n].iter().position(|job| job.0.is_none()).map(|job| (n, job));
            let ready = (0..tasks.len()).filter(|n| tasks[*n].core == core as u64).filter_map(oldest);
            if let Some((n, job)) = ready.max_by_key(|(n, job)| key(*n, jobs[*n][*job].1)) {
                let job = &mut jobs[n][job];
                job.1 -= 1;
                if job.1 == 0 {
                    job.0 = Some(now + 1);
                }
            }
        }
    }
    jobs.into_iter().map(|all| all.into_iter().map(|job| job.0).collect()).collect()
}

fn simulated(system: &System) -> (Trace, Verdict) {
    let check = tactus_analysis::check(system, &Costs::default());
    let plan = plan(system, &check, &Costs::default());
    let demand = |task: TaskId, job| system.tasks[task.index()].demand(system.seed, task, job);
    let trace = simulate(&plan.setup, system.duration, demand, &Costs::default()).expect("the policy makes progress");
    let summary = judge(&plan.view, &trace);
    (trace, summary.verdict)
}

/// Completions by task, as the trace has them (ms).
fn completions(trace: &Trace, tasks: usize) -> Vec<Vec<Option<u64>>> {
    let mut jobs: Vec<Vec<Option<u64>>> = vec![Vec::new(); tasks];
    for r in trace.cores.iter().flatten() {
        let Some(of) = r.task.and_then(|task| jobs.get_mut(task.index())) else { continue };
        match r.kind {
            EventKind::Release => of.resize(of.len().max(r.job as usize + 1), None),
            EventKind::Complete => of[r.job as usize] = Some(r.time.as_nanos() / 1_000_000),
            _ => {}
        }
    }
    jobs
}

/// What ends in the instant in which the run does is not recorded.
fn within(jobs: &[Option<u64>]) -> Vec<Option<u64>> {
    jobs.iter().map(|end| end.filter(|at| *at < LENGTH)).collect()
}

/// Gives how many were accepted, and how many jobs were equal.
fn compare(seeds: std::ops::Range<u64>) -> (usize, usize) {
    let (mut accepted, mut jobs) = (0, 0);
    for seed in seeds {
        let (system, tasks) = system(seed, seed % 2 == 0);
        let expected = oracle(&tasks, system.cores);
        let (trace, verdict) = simulated(&system);
        let found = completions(&trace, tasks.len());
        for (n, (expected, found)) in expected.iter().zip(&found).enumerate() {
            assert_eq!(within(found), within(expected), "seed {seed}: task {n} of {tasks:#?}");
            jobs += expected.len();
        }
        match verdict {
            Verdict::Held => accepted += 1,
            Verdict::Refused | Verdict::NothingPromised => {}
            other => panic!("seed {seed}: {other:?} of {tasks:#?}"),
        }
    }
    (accepted, jobs)
}

#[test]
fn thresholds_are_kept_as_an_oracle_does_and_no_bound_is_beaten() {
    let (accepted, jobs) = compare(0..3_000);
    println!("{accepted} accepted, {jobs} jobs equal");
    assert!(accepted > 300, "{accepted}");
}

#[test]
#[ignore = "takes minutes; run by name"]
fn the_same_for_a_hundred_thousand_systems() {
    let (accepted, jobs) = compare(3_000..103_000);
    println!("{accepted} accepted, {jobs} jobs equal");
}

/// One character for each unit of time: the task that runs, or a dot.
fn draw(trace: &Trace, unit_ms: u64, length: usize) -> String {
    let mut line = vec!['.'; length];
    for record in &trace.cores[0] {
        let from = (record.time.as_nanos() / (unit_ms * 1_000_000)) as usize;
        let mark = match (record.kind, record.task) {
            (EventKind::Dispatch, Some(task)) => char::from(b'a' + task.0 as u8),
            (EventKind::Preempt | EventKind::Complete | EventKind::Idle, _) => '.',
            _ => continue,
        };
        line[from.min(length)..].fill(mark);
    }
    line.into_iter().collect()
}

/// An example of this repository, on one core without costs.
fn example(name: &str, change: impl Fn(String) -> String) -> System {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    let mut system = parsed(&change(std::fs::read_to_string(file).expect("the example")));
    system.machine.overheads = false;
    system
}

/// Wang and Saksena 1999, tables 1 and 2; a, b, c are `fast`, `middle`, `bulk`, a character is 5 ms.
#[test]
fn the_example_of_wang_and_saksena_is_scheduled_as_published() {
    let system = example("preemption-threshold.toml", |text| text);
    let (trace, verdict) = simulated(&system);
    assert_eq!(verdict, Verdict::Held);
    // `middle`, released at 80 ms, does not preempt `bulk`, which ends at 95 ms; `fast` does.
    //                                      0         50        100       150
    assert_eq!(draw(&trace, 5, 40), "aaaabbbbccccccaaaacbbbb.....aaaabbbb....");
    let check = tactus_analysis::check(&system, &Costs::default());
    let bounds: Vec<_> = check.tasks.iter().map(|task| task.bound).collect();
    assert_eq!(bounds, [40, 75, 95].map(|ms| tactus_analysis::Bound::Response(Duration::from_millis(ms))));
    // With preemption at any time `bulk` is late: it ends at 115 ms.
    let system = example("preemption-threshold.toml", |text| text.replace("preemption-threshold =", "# ="));
    let (trace, verdict) = simulated(&system);
    assert_eq!((draw(&trace, 5, 24).as_str(), verdict), ("aaaabbbbccccccaaaabbbbc.", Verdict::Refused));
}

#[test]
fn the_judge_sees_a_threshold_that_is_not_kept() {
    let system = example("preemption-threshold.toml", |text| text);
    let check = tactus_analysis::check(&system, &Costs::default());
    let kept = plan(&system, &check, &Costs::default());
    let free = example("preemption-threshold.toml", |text| text.replace("preemption-threshold =", "# ="));
    let free = plan(&free, &tactus_analysis::check(&free, &Costs::default()), &Costs::default());
    let demand = |task: TaskId, job| system.tasks[task.index()].demand(system.seed, task, job);
    let trace = simulate(&free.setup, system.duration, demand, &Costs::default()).expect("it runs");
    let found = tactus_trace::check::all(&kept.view, &trace, Duration::from_millis(1));
    let first = found.first().expect("a violation");
    assert_eq!((first.rule, first.task), (tactus_trace::check::Rule::Ceiling, Some(TaskId(1))));
    // And the other way: a job waits though nothing keeps it off.
    let trace = simulate(&kept.setup, system.duration, demand, &Costs::default()).expect("it runs");
    let found = tactus_trace::check::all(&free.view, &trace, Duration::from_millis(1));
    assert_eq!(found.first().map(|it| it.rule), Some(tactus_trace::check::Rule::Order));
}

//! What tests against an oracle share: random systems, what the simulator makes of one, and the comparison of both.

use std::fmt::Write;
use std::path::Path;
use tactus_model::System;
use tactus_plan::plan;
use tactus_record::{EventKind, Record};
use tactus_sim::{simulate_with_steps, Costs};
use tactus_time::TaskId;
use tactus_trace::{judge, Trace, Verdict};

/// SplitMix64.
pub struct Draw(pub u64);

impl Draw {
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ z >> 31) % n
    }
}

/// How long each run is (ms).
pub const LENGTH: u64 = 400;

/// By name, with what orders jobs.
pub const POLICIES: [(&str, char); 4] =
    [("partitioned-fp", 'p'), ("partitioned-rm", 'r'), ("partitioned-dm", 'm'), ("partitioned-edf", 'd')];

/// One task of a random system with resources; all times in milliseconds.
#[derive(Debug)]
pub struct Drawn {
    pub core: usize,
    pub offset: u64,
    pub period: u64,
    pub deadline: u64,
    pub time: u64,
    pub priority: u64,
    pub threshold: Option<u64>,
    /// Resource, and what the job has executed at its beginning, at its end at the latest, and at its end.
    pub sections: Vec<(usize, u64, u64, u64)>,
}

impl Drawn {
    pub fn write(&self, n: usize, by_priority: bool, text: &mut String) {
        let Drawn { core, offset, period, deadline, time, priority, .. } = self;
        write!(
            text,
            "[[task]]\nname = 't{n}'\ncore = {core}\noffset = '{offset} ms'\nperiod = '{period} ms'\n\
             deadline = '{deadline} ms'\nexecution = '{time} ms'\n"
        )
        .expect("text");
        if by_priority {
            writeln!(text, "priority = {priority}").expect("text");
        }
        if let Some(threshold) = self.threshold {
            writeln!(text, "preemption-threshold = {threshold}").expect("text");
        }
        if !self.sections.is_empty() {
            let one = |(resource, from, until, end): &(usize, u64, u64, u64)| {
                let (length, actual) = (until - from, end - from);
                format!("{{ resource = 'r{resource}', after = '{from} ms', length = '{length} ms', actual = '{actual} ms' }}")
            };
            let all: Vec<String> = self.sections.iter().map(one).collect();
            writeln!(text, "sections = [{}]", all.join(", ")).expect("text");
        }
    }

    /// What a job holds that has executed this long.
    pub fn held(&self, ran: u64) -> impl Iterator<Item = usize> + '_ {
        self.sections.iter().filter(move |it| it.1 < ran && ran < it.3).map(|it| it.0)
    }

    /// Under fixed priorities less is higher; no two tasks have the same. `n`: the task's number.
    pub fn level(&self, n: usize, order: char) -> (u64, usize) {
        let key = match order {
            'p' => 1_000 - self.priority,
            'r' => self.period,
            _ => self.deadline,
        };
        (key, n)
    }
}

pub fn parsed(text: &str) -> System {
    System::parse_toml(text, Path::new("drawn.toml")).unwrap_or_else(|problems| panic!("{problems}\n{text}"))
}

/// What the simulator makes of the system without costs.
pub fn simulated(system: &System) -> (Trace, Verdict) {
    let check = tactus_analysis::check(system, &Costs::default());
    let plan = plan(system, &check, &Costs::default());
    let demand = |task: TaskId, job| system.tasks[task.index()].demand(system.seed, task, job);
    let work = (demand, Vec::new());
    let trace = simulate_with_steps(&plan.setup, system.duration, work, system.job_steps(), &Costs::default());
    let trace = trace.expect("the policy makes progress");
    let summary = judge(&plan.view, &trace);
    (trace, summary.verdict)
}

/// Completions by task, as the trace has them (ms).
pub fn completions(trace: &Trace, tasks: usize) -> Vec<Vec<Option<u64>>> {
    let all = releases_and_completions(trace, tasks);
    all.into_iter().map(|jobs| jobs.into_iter().map(|job| job.1).collect()).collect()
}

/// Releases and completions by task, as the trace has them (ms).
pub fn releases_and_completions(trace: &Trace, tasks: usize) -> Vec<Vec<(u64, Option<u64>)>> {
    let mut jobs: Vec<Vec<(u64, Option<u64>)>> = vec![Vec::new(); tasks];
    for r in trace.cores.iter().flatten().filter(|r| r.kind == EventKind::Release) {
        let of = &mut jobs[r.task.expect("of a task").index()];
        of.resize(of.len().max(r.job as usize + 1), (0, None));
        of[r.job as usize].0 = r.arg / 1_000_000;
    }
    for r in trace.cores.iter().flatten().filter(|r| r.kind == EventKind::Complete) {
        jobs[r.task.expect("of a task").index()][r.job as usize].1 = Some(r.time.as_nanos() / 1_000_000);
    }
    jobs
}

/// What ends in the instant in which the run does is not recorded.
pub fn within(jobs: &[Option<u64>]) -> Vec<Option<u64>> {
    jobs.iter().map(|end| end.filter(|at| *at < LENGTH)).collect()
}

/// A random system, with an oracle.
pub trait Case {
    fn draw(seed: u64) -> Self;
    fn system(&self) -> &System;
    /// When each job of each task was completed (ms).
    fn oracle(&self) -> Vec<Vec<Option<u64>>>;
    /// What it is, for who finds a difference.
    fn text(&self) -> String;
    /// Whether the record is of what this kind of system is drawn for.
    fn is_counted(record: &Record) -> bool;
    /// What else must hold of a run.
    fn check(&self, _: &Trace) {}
}

/// What was compared.
#[derive(Default, Debug)]
pub struct Compared {
    pub accepted: usize,
    pub jobs: usize,
    /// Records that the case counts.
    pub counted: usize,
}

/// Simulates each system, and holds its jobs against the oracle's and its verdict against the check.
pub fn compare<C: Case>(seeds: std::ops::Range<u64>) -> Compared {
    let mut all = Compared::default();
    for seed in seeds {
        let case = C::draw(seed);
        let (expected, (trace, verdict)) = (case.oracle(), simulated(case.system()));
        let found = completions(&trace, expected.len());
        for (n, (expected, found)) in expected.iter().zip(&found).enumerate() {
            assert_eq!(within(found), within(expected), "seed {seed}: task {n} of {}", case.text());
            all.jobs += expected.len();
        }
        case.check(&trace);
        all.counted += trace.cores.iter().flatten().filter(|record| C::is_counted(record)).count();
        match verdict {
            Verdict::Held => all.accepted += 1,
            Verdict::Refused | Verdict::NothingPromised => {}
            other => panic!("seed {seed}: {other:?} of {}", case.text()),
        }
    }
    all
}

//! Jobs that keep their core from others once they have begun, against an oracle that sorts everything at every instant; their
//! bounds; and the published examples.

use crate::common::oracle::{compare, parsed, simulated, Case, Draw, Drawn, LENGTH, POLICIES};
use std::fmt::Write;
use std::path::Path;
use tactus_model::System;
use tactus_plan::plan;
use tactus_record::{EntryReason, EventKind, Record};
use tactus_sim::{simulate, Costs};
use tactus_time::{Duration, TaskId};
use tactus_trace::{Trace, Verdict};

/// A system of up to seven tasks with preemption thresholds or resources. Every other one is light enough that many are accepted.
struct Ceilings {
    system: System,
    order: char,
    tasks: Vec<Drawn>,
    /// By resource: whether nobody is let in while it is held.
    resources: Vec<bool>,
}

impl Case for Ceilings {
    fn draw(seed: u64) -> Ceilings {
        let (mut draw, light) = (Draw(seed), seed % 2 == 0);
        let cores = 1 + draw.below(2);
        let thresholds = draw.below(3) == 0;
        let (kind, order) = POLICIES[if thresholds { 0 } else { draw.below(4) as usize }];
        let mut text = format!(
            "[system]\ncores = {cores}\nduration = '{LENGTH} ms'\nseed = {seed}\n[machine]\noverheads = false\n\
             [policy]\nkind = '{kind}'\n"
        );
        // Resource r is used on core r % cores.
        let count = if draw.below(3) == 0 && thresholds { 0 } else { (1 + draw.below(3)) * cores };
        let resources: Vec<bool> = (0..count).map(|_| draw.below(4) == 0).collect();
        for (r, all) in resources.iter().enumerate() {
            let protocol = if *all { "non-preemptive" } else { "ceiling" };
            write!(text, "[[resource]]\nname = 'r{r}'\nprotocol = '{protocol}'\n").expect("text");
        }
        let mut tasks: Vec<Drawn> = Vec::new();
        for n in 0..2 + draw.below(6) {
            let period = 5 + draw.below(86);
            let most = if light { 1 + period / 6 } else { 1 + period / 2 };
            let time = (1 + draw.below(most)).min(period);
            let (core, priority) = (draw.below(cores) as usize, draw.below(5));
            let own: Vec<usize> = (0..resources.len()).filter(|r| r % cores as usize == core).collect();
            let one = Drawn {
                core,
                offset: draw.below(period),
                period,
                deadline: time + draw.below(period - time + 1),
                time,
                priority,
                threshold: (thresholds && draw.below(2) == 0).then(|| priority + draw.below(6 - priority)),
                sections: sections(&mut draw, time, &own),
            };
            one.write(n as usize, order == 'p', &mut text);
            tasks.push(one);
        }
        Ceilings { system: parsed(&text), order, tasks, resources }
    }

    /// When each job of each task was completed (ms), by an oracle that advances a millisecond at a time. Under fixed priorities the
    /// most urgent job runs that nobody keeps off; under EDF the first, or if that is kept off the first of those that have begun.
    fn oracle(&self) -> Vec<Vec<Option<u64>>> {
        // Release, completion, and how long it has executed.
        let mut jobs: Vec<Vec<(u64, Option<u64>, u64)>> = self.tasks.iter().map(|_| Vec::new()).collect();
        for now in 0..LENGTH {
            for (n, task) in self.tasks.iter().enumerate() {
                if now >= task.offset && (now - task.offset) % task.period == 0 {
                    jobs[n].push((now, None, 0));
                }
            }
            for core in 0..self.system.cores {
                let oldest = |n: usize| jobs[n].iter().position(|job| job.1.is_none()).map(|job| (n, job));
                let mut ready: Vec<(usize, usize)> =
                    (0..self.tasks.len()).filter(|n| self.tasks[*n].core == core).filter_map(oldest).collect();
                ready.sort_by_key(|(n, job)| match self.order {
                    'd' => (jobs[*n][*job].0 + self.tasks[*n].deadline, *n),
                    _ => self.tasks[*n].level(*n, self.order),
                });
                let ran = |(n, job): (usize, usize)| jobs[n][job].2;
                let kept_off = |it: &(usize, usize)| {
                    let others = ready.iter().filter(|other| other.0 != it.0 && ran(**other) > 0);
                    ran(*it) == 0 && others.into_iter().any(|other| self.keeps_off((other.0, ran(*other)), it.0))
                };
                let chosen = match self.order {
                    'd' => match ready.first() {
                        Some(first) if kept_off(first) => ready.iter().find(|it| ran(**it) > 0),
                        first => first,
                    },
                    _ => ready.iter().find(|it| !kept_off(it)),
                };
                if let Some((n, job)) = chosen.copied() {
                    let job = &mut jobs[n][job];
                    job.2 += 1;
                    if job.2 == self.tasks[n].time {
                        job.1 = Some(now + 1);
                    }
                }
            }
        }
        jobs.into_iter().map(|all| all.into_iter().map(|job| job.1).collect()).collect()
    }
    fn system(&self) -> &System {
        &self.system
    }

    fn text(&self) -> String {
        format!("{:#?} by {} with {:?}", self.tasks, self.order, self.resources)
    }

    /// Ends of sections for which somebody waited.
    fn is_counted(record: &Record) -> bool {
        record.kind == EventKind::Enter && record.level == EntryReason::Unlock as u8
    }
}

impl Ceilings {
    /// Whether a job of `other` that has begun and executed so long keeps those of `n` from beginning.
    fn keeps_off(&self, (other, ran): (usize, u64), n: usize) -> bool {
        let by_threshold = self.tasks[other].threshold.is_some_and(|threshold| self.tasks[n].priority <= threshold);
        let by_resource = |r: usize| {
            let users = (0..self.tasks.len()).filter(|u| self.tasks[*u].sections.iter().any(|it| it.0 == r));
            self.resources[r]
                || users.map(|u| self.tasks[u].level(u, self.order)).min() <= Some(self.tasks[n].level(n, self.order))
        };
        by_threshold || self.tasks[other].held(ran).any(by_resource)
    }
}

/// Up to three sections, one of them perhaps with another inside, whose resource comes later in the order.
fn sections(draw: &mut Draw, time: u64, resources: &[usize]) -> Vec<(usize, u64, u64, u64)> {
    let (mut all, mut at) = (Vec::new(), 0);
    for _ in 0..draw.below(4) {
        let from = at + draw.below(1 + time / 3);
        let until = from + 1 + draw.below(1 + time / 2);
        if resources.is_empty() || until > time {
            break;
        }
        let place = draw.below(resources.len() as u64) as usize;
        let inner = from + draw.below(until - from);
        let end = inner + 1 + draw.below(until - inner);
        // What really happens may be over earlier, but not before what lies inside.
        let mut less =
            |from: u64, until: u64| if draw.below(2) == 0 { until } else { from + 1 + draw.below(until - from) };
        let nested = place + 1 < resources.len() && end <= until && (inner, end) != (from, until);
        if nested && less(0, 2) == 1 {
            all.push((resources[place], from, until, until));
            all.push((resources[place + 1], inner, end, less(inner, end)));
        } else {
            all.push((resources[place], from, until, less(from, until)));
        }
        at = until;
    }
    all
}

#[test]
fn ceilings_are_kept_as_an_oracle_does_and_no_bound_is_beaten() {
    let all = compare::<Ceilings>(0..400);
    println!("{all:?}");
    assert!(all.accepted > 35 && all.counted > 100, "{all:?}");
}

#[test]
#[ignore = "takes minutes; run by name"]
fn the_same_for_a_hundred_thousand_systems() {
    println!("{:?}", compare::<Ceilings>(1_000..103_000));
}

/// One character for each unit of time: the task that runs, or a dot.
pub(crate) fn draw(trace: &Trace, unit_ms: u64, length: usize) -> String {
    draw_core(trace, 0, unit_ms, length)
}

/// The same of any core.
pub(crate) fn draw_core(trace: &Trace, core: usize, unit_ms: u64, length: usize) -> String {
    let mut line = vec!['.'; length];
    for record in &trace.cores[core] {
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
pub(crate) fn example(name: &str, change: impl Fn(String) -> String) -> System {
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
    let bounds: Vec<_> = check.tasks.iter().map(|task| task.bound()).collect();
    assert_eq!(bounds, [40, 75, 95].map(|ms| Some(tactus_analysis::Bound::Response(Duration::from_millis(ms)))));
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

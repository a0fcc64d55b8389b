//! Random systems that change while they run, in which some changes are refused and some tasks take more than is assumed of them: the fate
//! of each change, the verdict, the culprits and their victims are those of a judge that was written from the documentation, works on
//! the raw records and knows the systems from their drawing. And records that are wrong are found, whichever they are.

use crate::culprits::{exceeded, seen};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use tactus_generate::Random;
use tactus_model::{Costs, System};
use tactus_plan::plan;
use tactus_record::{EventKind, Record, CHANGE_NOT_ADMITTED, CHANGE_OVERLOADS};
use tactus_time::{Duration, TaskId};
use tactus_trace::{judge, Bound, Trace, Verdict, View};

const MS: u64 = 1_000_000;
const RUN: u64 = 400 * MS;
const PERIODS: [u64; 6] = [5, 8, 10, 20, 40, 50];

/// A task as it was drawn; times in ns.
#[derive(Clone)]
struct Drawn {
    core: u64,
    priority: u64,
    values: Values,
    /// What each job takes, repeated.
    jobs: Vec<u64>,
    /// It is there from the beginning.
    there: bool,
}

/// What a change may alter.
#[derive(Clone, Copy)]
struct Values {
    period: u64,
    deadline: u64,
    execution: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    Begins,
    Ends,
    Period(u64),
    Deadline(u64),
    Execution(u64),
}

struct Drawing {
    cores: u64,
    fixed: bool,
    tasks: Vec<Drawn>,
    /// When, which task, and what becomes of it.
    changes: Vec<(u64, usize, What)>,
}

fn draw(seed: u64) -> Drawing {
    let mut random = Random::new(seed ^ 0x6368_616e_6765);
    let (fixed, cores) = (random.between(0, 1) == 0, random.between(1, 2));
    let mut tasks = Vec::new();
    for _ in 0..random.between(3, 6) {
        let period = PERIODS[random.between(0, 5) as usize] * MS;
        let execution = (period * random.between(6, 42) / 100).max(MS / 10);
        let deadline = if random.between(0, 3) == 0 { period * random.between(60, 99) / 100 } else { period };
        let mut jobs = vec![execution; 1];
        match random.between(0, 9) {
            // One of a given number of jobs takes longer.
            0 | 1 => {
                jobs = vec![execution; random.between(2, 6) as usize];
                let last = jobs.len() - 1;
                jobs[last] = execution * random.between(11, 60) / 10;
            }
            // All take longer.
            2 => jobs = vec![execution * random.between(11, 40) / 10],
            _ => {}
        }
        let there = random.between(0, 3) > 0;
        let (core, priority) = (random.between(0, cores - 1), random.between(1, 9));
        tasks.push(Drawn { core, priority, values: Values { period, deadline, execution }, jobs, there });
    }
    tasks[0].there = true;
    let (mut changes, mut at) = (Vec::new(), 0);
    let mut there: Vec<bool> = tasks.iter().map(|task| task.there).collect();
    for _ in 0..random.between(2, 6) {
        at += random.between(1, 60) * MS + random.between(0, 3) * MS / 4;
        let n = random.between(0, tasks.len() as u64 - 1) as usize;
        let Values { period, execution, .. } = tasks[n].values;
        let what = match (there[n], random.between(0, 5)) {
            (false, _) => What::Begins,
            (true, 0 | 1) if n > 0 => What::Ends,
            // Many of these ask for more than there is.
            (true, 2) => What::Execution((execution * random.between(5, 40) / 10).min(period * 6 / 10)),
            (true, 3) => What::Deadline((period * random.between(50, 99) / 100).max(execution)),
            (true, _) => What::Period(PERIODS[random.between(0, 5) as usize] * MS),
        };
        match what {
            What::Begins => there[n] = true,
            What::Ends => there[n] = false,
            _ => {}
        }
        changes.push((at, n, what));
    }
    // Those that are absent at the start are added at some time.
    for n in (0..tasks.len()).filter(|n| !tasks[*n].there) {
        if !changes.iter().any(|(_, task, _)| *task == n) {
            at += random.between(1, 20) * MS;
            changes.push((at, n, What::Begins));
        }
    }
    Drawing { cores, fixed, tasks, changes }
}

fn written(drawing: &Drawing) -> String {
    let order = if drawing.fixed { "fp" } else { "edf" };
    let mut text = format!(
        "[system]\nname = 'r'\ncores = {}\nduration = '400 ms'\n[machine]\noverheads = false\n[policy]\nkind = 'partitioned-{order}'\n",
        drawing.cores
    );
    // What jobs of a component really take nobody knows before.
    text += "[[component]]\nname = 'own'\ncrate = '.'\n";
    for (n, Drawn { core, priority, values, .. }) in drawing.tasks.iter().enumerate() {
        let Values { period, deadline, execution } = values;
        let _ = write!(
            text,
            "[[task]]\nname = 't{n}'\ncomponent = 'own'\ncore = {core}\nperiod = '{period} ns'\nexecution = '{execution} ns'\n"
        );
        if deadline < period {
            let _ = writeln!(text, "deadline = '{deadline} ns'");
        }
        if drawing.fixed {
            let _ = writeln!(text, "priority = {priority}");
        }
    }
    for (at, task, what) in &drawing.changes {
        let _ = match what {
            What::Begins => write!(text, "[[change]]\nat = '{at} ns'\nadd = 't{task}'\n"),
            What::Ends => write!(text, "[[change]]\nat = '{at} ns'\nremove = 't{task}'\n"),
            What::Period(to) => write!(text, "[[change]]\nat = '{at} ns'\ntask = 't{task}'\nperiod = '{to} ns'\n"),
            What::Deadline(to) => write!(text, "[[change]]\nat = '{at} ns'\ntask = 't{task}'\ndeadline = '{to} ns'\n"),
            What::Execution(to) => {
                write!(text, "[[change]]\nat = '{at} ns'\ntask = 't{task}'\nexecution = '{to} ns'\n")
            }
        };
    }
    text
}

/// The tasks of one core from some instant on.
#[derive(Clone)]
struct Stage {
    from: u64,
    there: Vec<bool>,
    values: Vec<Values>,
    promises: Vec<Option<Bound>>,
}

impl Stage {
    fn take(&mut self, task: usize, what: What) {
        let it = &mut self.values[task];
        match what {
            What::Begins => self.there[task] = true,
            What::Ends => self.there[task] = false,
            What::Period(to) => {
                if it.deadline == it.period {
                    it.deadline = to;
                }
                it.period = to;
            }
            What::Deadline(to) => it.deadline = to,
            What::Execution(to) => it.execution = to,
        }
    }

    /// The share of the core that those of these tasks which are there ask for.
    fn share(&self, own: &[usize]) -> f64 {
        let there = own.iter().filter(|n| self.there[**n]);
        there.map(|n| self.values[*n].execution as f64 / self.values[*n].period as f64).sum()
    }
}

/// What is known of each change by admission: whether it was admitted, and what is promised after it.
type Admitted<'a> = &'a dyn Fn(usize) -> Option<&'a [Option<Bound>]>;

/// Goes through the records of one core; its stages, or nothing if a change or a release is not as it should be.
fn walk(
    drawing: &Drawing,
    core: u64,
    start: &[Option<Bound>],
    admitted: Admitted<'_>,
    records: &[Record],
) -> Option<Vec<Stage>> {
    let tasks = &drawing.tasks;
    let own: Vec<usize> = (0..tasks.len()).filter(|n| tasks[*n].core == core).collect();
    let mut now = Stage {
        from: 0,
        there: tasks.iter().map(|task| task.there).collect(),
        values: tasks.iter().map(|task| task.values).collect(),
        promises: start.to_vec(),
    };
    let mut stages = vec![now.clone()];
    let mut waiting: Vec<usize> = Vec::new();
    let here = |n: &usize| tasks[drawing.changes[*n].1].core == core;
    let mut to_come = (0..drawing.changes.len()).filter(here).peekable();
    let mut any_refused = false;
    // When each task is to release next, its number, and before what.
    let mut due: Vec<Option<u64>> = tasks.iter().map(|task| task.there.then_some(0)).collect();
    let (mut number, mut until) = (vec![0; tasks.len()], vec![u64::MAX; tasks.len()]);
    let missing = |due: &[Option<u64>], until: &[u64], n: usize, before: u64| {
        due[n].is_some_and(|due| due < until[n] && due < before)
    };
    for r in records {
        let (time, n) = (r.time.as_nanos(), r.job as usize);
        match r.kind {
            EventKind::ChangeRequested => {
                if to_come.next() != Some(n) || time < drawing.changes[n].0 {
                    return None;
                }
                waiting.push(n);
                let (at, task, what) = drawing.changes[n];
                if what == What::Ends && admitted(n).is_some() {
                    until[task] = until[task].min(at);
                }
            }
            EventKind::ChangeApplied | EventKind::ChangeRefused => {
                if waiting.is_empty() || waiting.remove(0) != n {
                    return None;
                }
                let (_, task, what) = drawing.changes[n];
                let mut then = now.clone();
                then.take(task, what);
                let (before, after) = (now.share(&own), then.share(&own));
                let too_much = after > 1.0 + 1e-9 && after > before + 1e-9;
                let Some(promises) = admitted(n) else {
                    if r.kind == EventKind::ChangeApplied {
                        return None;
                    }
                    continue;
                };
                if (r.kind == EventKind::ChangeRefused) != too_much {
                    return None;
                }
                if too_much {
                    if r.arg != CHANGE_OVERLOADS {
                        return None;
                    }
                    any_refused = true;
                    continue;
                }
                if what == What::Ends && missing(&due, &until, task, time) {
                    return None;
                }
                if what == What::Begins {
                    due[task] = Some(time);
                    let ends = waiting
                        .iter()
                        .filter(|it| drawing.changes[**it] == (drawing.changes[**it].0, task, What::Ends));
                    until[task] = ends
                        .filter(|it| admitted(**it).is_some())
                        .map(|it| drawing.changes[*it].0)
                        .min()
                        .unwrap_or(u64::MAX);
                }
                then.from = time;
                then.promises = if any_refused { vec![None; tasks.len()] } else { promises.to_vec() };
                now = then;
                stages.push(now.clone());
            }
            EventKind::Release => {
                let n = r.task.map(TaskId::index).filter(|n| own.contains(n))?;
                if due[n] != Some(r.arg) || !now.there[n] || r.arg >= until[n] || time < r.arg || r.job != number[n] {
                    return None;
                }
                due[n] = Some(r.arg + now.values[n].period);
                number[n] += 1;
            }
            // No job runs that was not released.
            EventKind::Dispatch if r.task.is_none_or(|task| r.job >= number[task.index()]) => return None,
            _ => {}
        }
    }
    let none_missing =
        own.iter().all(|n| !now.there[*n] || !missing(&due, &until, *n, RUN - now.values[*n].period + 1));
    none_missing.then_some(stages)
}

/// What was found: the verdict's word, and for each culprit the jobs of each task that missed.
type Found = (&'static str, BTreeMap<usize, BTreeMap<usize, u64>>);

/// Judges from the documentation. Nothing is promised in a system that was not accepted.
fn by_hand(
    drawing: &Drawing,
    (accepted, start): (bool, &[Option<Bound>]),
    admitted: Admitted<'_>,
    trace: &Trace,
) -> Found {
    let tasks = &drawing.tasks;
    let mut stages = Vec::new();
    for (core, records) in trace.cores.iter().enumerate() {
        match walk(drawing, core as u64, start, admitted, records) {
            Some(of_core) => stages.push(of_core),
            None => return ("broken", BTreeMap::new()),
        }
    }
    if !accepted {
        return ("refused", BTreeMap::new());
    }
    // A job is owed the weakest of what was promised while it was there, and has the deadline of its release.
    let owed = |n: usize, release: u64, until: u64| -> (u64, Option<u64>) {
        let of_core = &stages[tasks[n].core as usize];
        let first = of_core.iter().rposition(|stage| stage.from <= release).unwrap_or(0);
        let there = of_core.iter().enumerate().filter(|(k, stage)| *k == first || *k > first && stage.from < until);
        let bound = there.map(|(_, stage)| match stage.promises[n] {
            Some(Bound::Response(bound)) => Some(bound.as_nanos()),
            _ => None,
        });
        (of_core[first].values[n].deadline, bound.reduce(|a, b| Some(a?.max(b?))).flatten())
    };
    let jobs = seen(trace);
    let mut own: Vec<Option<u32>> = vec![None; tasks.len()];
    let mut over: Vec<Option<(u64, u64)>> = vec![None; tasks.len()];
    for ((task, number), job) in &jobs {
        let (n, it) = (usize::from(*task), &tasks[usize::from(*task)]);
        // The least that was assumed of it at any time.
        let assumed = stages[it.core as usize].iter().map(|stage| stage.values[n].execution).min().expect("the first");
        let Some(at) = exceeded(job, assumed) else { continue };
        own[n] = Some(own[n].map_or(*number, |first| first.min(*number)));
        let this = (at, job.release + owed(n, job.release, job.completed.unwrap_or(RUN)).0);
        over[n] = Some(over[n].map_or(this, |first| first.min(this)));
    }
    // Where a task may be altered, orders change with it: everybody in the queue is reached.
    let altered = drawing.changes.iter().any(|(.., what)| !matches!(what, What::Begins | What::Ends));
    let reaches = |culprit: usize, victim: usize| -> Option<u64> {
        let (from, to) = (&tasks[culprit], &tasks[victim]);
        let (_, due) = over[culprit]?;
        if culprit == victim || from.core != to.core {
            return None;
        }
        match (altered, drawing.fixed) {
            (true, _) => Some(0),
            (false, true) => (to.priority <= from.priority).then_some(0),
            (false, false) => Some(due),
        }
    };
    let mut found: BTreeMap<usize, BTreeMap<usize, u64>> = BTreeMap::new();
    let (mut judged, mut broken) = (false, false);
    for ((task, number), job) in &jobs {
        let n = usize::from(*task);
        let until = job.completed.unwrap_or(RUN);
        let (deadline, Some(bound)) = owed(n, job.release, until) else { continue };
        let (limit, due) = (job.release + bound.min(deadline), job.release + deadline);
        let late = until > limit;
        judged |= late || job.completed.is_some();
        if !late {
            continue;
        }
        let culprit = if own[n].is_some_and(|first| first <= *number) {
            Some(n)
        } else {
            let reached = (0..tasks.len()).filter(|culprit| {
                let (Some((at, _)), Some(from)) = (over[*culprit], reaches(*culprit, n)) else { return false };
                at <= limit && due >= from
            });
            reached.min_by_key(|culprit| over[*culprit].map(|first| first.0))
        };
        match culprit {
            Some(culprit) => *found.entry(culprit).or_default().entry(n).or_default() += 1,
            None => broken = true,
        }
    }
    let word = match (broken, found.is_empty(), judged) {
        (true, ..) => "broken",
        (_, false, _) => "void",
        (_, _, true) => "held",
        _ => "nothing",
    };
    (word, found)
}

/// A drawing, its run, and what was promised.
fn case(seed: u64) -> (Drawing, String, View, Trace) {
    let drawing = draw(seed);
    let text = written(&drawing);
    let system = System::parse_toml(&text, &Path::new(env!("CARGO_MANIFEST_DIR")).join("r.toml"))
        .unwrap_or_else(|error| panic!("{seed}: {error}\n{text}"));
    let check = tactus_analysis::check(&system, &Costs::default());
    let promised = plan(&system, &check, &Costs::default());
    let demand = |task: TaskId, job: u32| {
        let jobs = &drawing.tasks[task.index()].jobs;
        Duration::from_nanos(jobs[job as usize % jobs.len()])
    };
    let trace = tactus_sim::simulate(&promised.setup, system.duration, demand, &Costs::default()).expect("it runs");
    (drawing, text, promised.view, trace)
}

/// Both judges' verdicts on it, and whether they agree.
fn both(drawing: &Drawing, view: &View, trace: &Trace) -> (Found, Found) {
    let summary = judge(view, trace);
    let each = |it: &tactus_trace::VoidBy| {
        let victims = it.tasks.iter().map(|task| (task.task_id.index(), task.missed));
        (it.task_id.index(), victims.collect())
    };
    let told = summary.voids.iter().map(each).collect();
    let word = match &summary.verdict {
        Verdict::Held => "held",
        Verdict::Void => "void",
        Verdict::NothingPromised | Verdict::NoJobEnded => "nothing",
        Verdict::Refused => "refused",
        Verdict::Broken(_) => "broken",
        other => panic!("{other:?}"),
    };
    let changes = view.changes.as_ref().expect("it changes");
    let start: Vec<Option<Bound>> = changes.start.iter().map(|now| now.promise).collect();
    let admitted = |n: usize| changes.list[n].refused.is_none().then_some(&changes.list[n].promises[..]);
    ((word, told), by_hand(drawing, (view.accepted, &start), &admitted, trace))
}

/// What was compared.
#[derive(Default, Debug)]
struct Seen {
    words: BTreeMap<&'static str, u64>,
    applied: usize,
    /// Changes that admission had refused, and those that were refused on the way.
    refused: [usize; 2],
    victims: usize,
}

fn compare(seeds: std::ops::Range<u64>) -> Seen {
    let mut all = Seen::default();
    for seed in seeds {
        let (drawing, text, view, trace) = case(seed);
        let (told, found) = both(&drawing, &view, &trace);
        assert_eq!(told, found, "seed {seed}: {}\n{text}", judge(&view, &trace).headline());
        *all.words.entry(told.0).or_default() += 1;
        all.victims += told.1.iter().flat_map(|(culprit, all)| all.keys().filter(move |it| *it != culprit)).count();
        for r in trace.cores.iter().flatten() {
            match r.kind {
                EventKind::ChangeApplied => all.applied += 1,
                EventKind::ChangeRefused => all.refused[usize::from(r.arg == CHANGE_OVERLOADS)] += 1,
                _ => {}
            }
        }
    }
    all
}

#[test]
fn changes_culprits_and_victims_are_those_of_a_judge_that_was_written_another_way() {
    let seen = compare(0..250);
    println!("{seen:?}");
    let count = |word| seen.words.get(word).copied().unwrap_or(0);
    assert!(count("void") > 10 && count("held") > 30 && count("broken") == 0, "{seen:?}");
    assert!(seen.applied > 200 && seen.refused[0] > 30 && seen.victims > 30, "{seen:?}");
}

#[test]
#[ignore = "evidence, not a daily test"]
fn changes_culprits_and_victims_are_the_same_in_twenty_thousand_systems() {
    let seen = compare(1_000..21_000);
    println!("{seen:?}");
    assert!(!seen.words.contains_key("broken") && seen.refused[1] > 20, "{seen:?}");
}

/// A wrong record, by what is wrong with it.
const WRONG: [&str; 9] = [
    "a change that admission had refused is applied",
    "one by which a task began is refused",
    "one that was applied was not requested",
    "one is applied twice",
    "two are applied in each other's place",
    "a task that is not there has a release",
    "a release comes late by less than a period",
    "a release is not there",
    "a release has the number of the next one",
];

/// Puts it into the trace; nothing if the trace has nothing of the kind. `pick`: which of those that there are.
fn spoil(wrong: usize, drawing: &Drawing, trace: &Trace, pick: u64) -> Option<Trace> {
    let mut trace = trace.clone();
    let of = |trace: &Trace, kind: EventKind| -> Vec<(usize, usize)> {
        let each = trace.cores.iter().enumerate();
        let all = each.flat_map(|(core, records)| records.iter().enumerate().map(move |(n, r)| (core, n, r.kind)));
        all.filter(|it| it.2 == kind).map(|(core, n, _)| (core, n)).collect()
    };
    let one = |trace: &Trace, kind: EventKind| -> Option<(usize, usize)> {
        let all = of(trace, kind);
        (!all.is_empty()).then(|| all[pick as usize % all.len()])
    };
    let (core, n) = match wrong {
        // Whether a core could have taken what it refused on the way, execution times tell, which the judge does not know.
        0 => of(&trace, EventKind::ChangeRefused)
            .into_iter()
            .find(|(core, n)| trace.cores[*core][*n].arg == CHANGE_NOT_ADMITTED)?,
        1 => of(&trace, EventKind::ChangeApplied).into_iter().find(|(core, n)| {
            let (_, task, what) = drawing.changes[trace.cores[*core][*n].job as usize];
            let releases = |r: &Record| r.kind == EventKind::Release && r.task == Some(TaskId(task as u16));
            let undecided = |r: &&Record| !matches!(r.kind, EventKind::ChangeApplied | EventKind::ChangeRefused);
            what == What::Begins && trace.cores[*core][*n + 1..].iter().take_while(undecided).any(releases)
        })?,
        2..=4 => one(&trace, EventKind::ChangeApplied)?,
        _ => one(&trace, EventKind::Release)?,
    };
    let r = trace.cores[core][n];
    match wrong {
        0 => trace.cores[core][n] = Record { kind: EventKind::ChangeApplied, arg: 0, ..r },
        1 => trace.cores[core][n] = Record { kind: EventKind::ChangeRefused, arg: CHANGE_OVERLOADS, ..r },
        2 => trace.cores[core].retain(|it| it.kind != EventKind::ChangeRequested || it.job != r.job),
        3 => trace.cores[core].insert(n, r),
        4 => {
            let next =
                (n + 1..trace.cores[core].len()).find(|k| trace.cores[core][*k].kind == EventKind::ChangeApplied)?;
            trace.cores[core][n].job = trace.cores[core][next].job;
            trace.cores[core][next].job = r.job;
        }
        5 => {
            // After the last record of a task that is removed.
            let removed =
                trace.cores[core].iter().rev().find(|it| it.kind == EventKind::Complete && it.task == r.task)?;
            let (time, job) = (removed.time, removed.job + 1);
            let later = trace.cores[core].iter().position(|it| it.time > time + Duration::from_millis(101))?;
            let time = trace.cores[core][later].time;
            trace.cores[core].insert(later, Record { time, arg: time.as_nanos(), job, ..r });
        }
        6 => trace.cores[core][n].arg = r.arg + MS,
        7 => {
            // One behind which nothing comes may have come after the end.
            let own = |it: &&Record| it.kind == EventKind::Release && it.task == r.task;
            trace.cores[core][n + 1..].iter().find(own)?;
            trace.cores[core].remove(n);
        }
        _ => trace.cores[core][n].job = r.job + 1,
    }
    Some(trace)
}

/// How many of each kind were put into runs of these systems; both judges find each.
fn found_in(seeds: std::ops::Range<u64>) -> [u64; WRONG.len()] {
    let mut count = [0; WRONG.len()];
    for seed in seeds {
        let (drawing, text, view, trace) = case(seed);
        for (wrong, found) in count.iter_mut().enumerate() {
            let Some(spoilt) = spoil(wrong, &drawing, &trace, seed) else { continue };
            let (told, by_hand) = both(&drawing, &view, &spoilt);
            assert_eq!(
                (told.0, by_hand.0),
                ("broken", "broken"),
                "seed {seed}: {}: {}\n{text}",
                WRONG[wrong],
                judge(&view, &spoilt).headline()
            );
            *found += 1;
        }
    }
    count
}

#[test]
fn each_wrong_record_is_found() {
    let count = found_in(0..60);
    println!("{count:?}");
    assert!(count.iter().all(|found| *found >= 3), "{count:?}");
}

#[test]
#[ignore = "evidence, not a daily test"]
fn each_wrong_record_is_found_in_three_thousand_systems() {
    println!("{:?}", found_in(1_000..4_000));
}

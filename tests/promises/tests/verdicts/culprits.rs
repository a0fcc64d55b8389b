//! Random systems in which random tasks overrun, never end or end early: the verdict, the culprits and their victims are
//! those that a judge finds which was written from the documentation, works on the raw records and knows the systems from
//! their drawing instead of from the files.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use tactus_generate::Random;
use tactus_model::{Costs, System};
use tactus_plan::plan;
use tactus_record::EventKind;
use tactus_time::TaskId;
use tactus_trace::{judge, Bound, Trace, Verdict};

const MS: u64 = 1_000_000;
const RUN: u64 = 400 * MS;
const PERIODS: [u64; 6] = [5, 8, 10, 20, 40, 50];

/// A task as it was drawn; times in ns.
struct Drawn {
    name: String,
    core: u64,
    /// Number of its server; none: it lies beside the servers.
    server: Option<usize>,
    priority: u64,
    period: u64,
    execution: u64,
    /// What each job takes, repeated.
    jobs: Vec<u64>,
    minimum: u64,
    stops: bool,
}

struct Drawing {
    text: String,
    tasks: Vec<Drawn>,
    /// Of each server its core and priority.
    servers: Vec<(u64, u64)>,
    /// Whether larger priorities go first; else the earliest deadline does.
    fixed: bool,
    /// All cores share one queue.
    global: bool,
}

fn draw(seed: u64) -> Drawing {
    let mut random = Random::new(seed);
    let (fixed, global, cores) = (random.between(0, 1) == 0, random.between(0, 2) == 0, random.between(1, 2));
    let order = if fixed { "fp" } else { "edf" };
    let spread = if global { "global" } else { "partitioned" };
    let mut text = format!(
        "[system]\nname = 'r'\ncores = {cores}\nduration = '400 ms'\n[machine]\noverheads = false\n[policy]\nkind = '{spread}-{order}'\n"
    );
    let mut servers = Vec::new();
    if !global {
        for n in 0..random.between(0, 2) as usize {
            let (core, priority) = (random.between(0, cores - 1), random.between(1, 9));
            let kind = ["cbs-hard", "deferrable", "sporadic"][random.between(0, 2) as usize];
            let budget = random.between(2, 3);
            let _ = writeln!(
                text,
                "[[server]]\nname = 's{n}'\ncores = [{core}]\nkind = '{kind}'\nbudget = '{budget} ms'\nperiod = '8 ms'\npolicy = 'partitioned-{order}'"
            );
            if fixed {
                let _ = writeln!(text, "priority = {priority}");
            }
            servers.push((core, priority));
        }
    }
    let mut tasks = Vec::new();
    for n in 0..random.between(3, 6) {
        let server =
            (!servers.is_empty() && random.between(0, 1) == 0).then(|| random.between(0, servers.len() as u64 - 1));
        let server = server.map(|server| server as usize);
        let core = server.map_or_else(|| random.between(0, cores - 1), |server| servers[server].0);
        let period = PERIODS[random.between(0, 5) as usize] * MS * if server.is_some() { 4 } else { 1 };
        let share = if server.is_some() { random.between(1, 4) } else { random.between(4, 22) };
        let execution = (period * share / 100).max(MS / 10);
        let mut jobs = vec![execution; 1];
        let (mut minimum, mut stops) = (0, false);
        match random.between(0, 9) {
            // One of a given number of jobs takes longer.
            0 | 1 => {
                jobs = vec![execution; random.between(2, 6) as usize];
                let last = jobs.len() - 1;
                jobs[last] = execution * random.between(11, 60) / 10;
            }
            // All take longer.
            2 => jobs = vec![execution * random.between(11, 40) / 10],
            // One never ends.
            3 => {
                jobs = vec![execution; random.between(1, 4) as usize];
                jobs.push(10_000 * MS);
                // The list is not repeated within the run: nothing comes after a job that never ends.
            }
            // Some end early.
            4 => {
                minimum = execution / 2;
                jobs = vec![execution, execution / 4];
            }
            _ => {}
        }
        if random.between(0, 5) == 0 {
            stops = true;
        }
        tasks.push(Drawn {
            name: format!("t{n}"),
            core,
            server,
            priority: random.between(1, 9),
            period,
            execution,
            jobs,
            minimum,
            stops,
        });
    }
    Drawing { text, tasks, servers, fixed, global }
}

/// The file, and the job times beside it.
fn written(drawing: &Drawing) -> String {
    let mut text = drawing.text.clone();
    for task in &drawing.tasks {
        let _ = write!(
            text,
            "[[task]]\nname = '{}'\nperiod = '{} ns'\nexecution = '{} ns'\n",
            task.name, task.period, task.execution
        );
        if !drawing.global {
            let _ = writeln!(text, "core = {}", task.core);
        }
        if drawing.fixed {
            let _ = writeln!(text, "priority = {}", task.priority);
        }
        if let Some(server) = task.server {
            let _ = writeln!(text, "server = 's{server}'");
        }
        if task.minimum > 0 {
            let _ = writeln!(text, "minimum = '{} ns'", task.minimum);
        }
        if task.stops {
            text += "overrun = 'stop'\n";
        }
        let longest = task.jobs.iter().max().expect("there is one");
        let _ = writeln!(text, "actual = '{longest} ns'");
    }
    text
}

/// What was found: the verdict's word, and for each culprit the jobs of each task that missed.
type Found = (&'static str, BTreeMap<String, BTreeMap<String, u64>>);

/// A job as the raw records tell it.
#[derive(Default, Clone)]
pub struct Seen {
    pub release: u64,
    pub completed: Option<u64>,
    told: u64,
    exhausted: bool,
    /// Stretches of time on a core.
    ran: Vec<(u64, u64)>,
}

pub fn seen(trace: &Trace) -> BTreeMap<(u16, u32), Seen> {
    let mut jobs: BTreeMap<(u16, u32), Seen> = BTreeMap::new();
    for records in &trace.cores {
        let mut running: Option<((u16, u32), u64)> = None;
        for r in records {
            let name = r.task.map(|task| (task.0, r.job));
            let ends = matches!(
                r.kind,
                EventKind::Dispatch | EventKind::Preempt | EventKind::Complete | EventKind::Exhausted | EventKind::Idle
            );
            if ends || r.kind == EventKind::End {
                if let Some((job, since)) = running.take() {
                    jobs.entry(job).or_default().ran.push((since, r.time.as_nanos()));
                }
            }
            match (r.kind, name) {
                (EventKind::Release, Some(name)) => jobs.entry(name).or_default().release = r.arg,
                (EventKind::Dispatch, Some(name)) => running = Some((name, r.time.as_nanos())),
                (EventKind::Exhausted, Some(name)) => jobs.entry(name).or_default().exhausted = true,
                (EventKind::Complete, Some(name)) => {
                    let job = jobs.entry(name).or_default();
                    (job.completed, job.told) = (Some(r.time.as_nanos()), r.arg);
                }
                _ => {}
            }
        }
    }
    jobs.values_mut().for_each(|job| job.ran.sort_unstable());
    jobs
}

/// When the job had had all of `assumed`, if it needed more.
pub fn exceeded(job: &Seen, assumed: u64) -> Option<u64> {
    let mut left = assumed;
    let total: u64 = job.ran.iter().map(|(from, to)| to - from).sum();
    for (from, to) in &job.ran {
        if to - from >= left {
            return (total > assumed || job.completed.is_none()).then_some(from + left);
        }
        left -= to - from;
    }
    None
}

/// Judges from the documentation: who can be reached by whom.
fn by_hand(drawing: &Drawing, promises: &[Option<Bound>], trace: &Trace) -> Found {
    let tasks = &drawing.tasks;
    let jobs = seen(trace);
    // Per task its own first job that did not keep to what was assumed, and its first overrun: when, and the job's deadline.
    let mut own: Vec<Option<u32>> = vec![None; tasks.len()];
    let mut over: Vec<Option<(u64, u64)>> = vec![None; tasks.len()];
    for ((task, number), job) in &jobs {
        let (n, it) = (usize::from(*task), &tasks[usize::from(*task)]);
        // A task whose longest job is within what was assumed never exceeds it.
        let may = it.jobs.iter().any(|length| *length > it.execution);
        let at = exceeded(job, it.execution).filter(|_| may);
        let early = job.completed.is_some() && job.told < it.minimum;
        if at.is_some() || early || (job.exhausted && may) {
            own[n] = Some(own[n].map_or(*number, |first| first.min(*number)));
        }
        if let Some(at) = at {
            let this = (at, job.release + it.period);
            over[n] = Some(over[n].map_or(this, |first| first.min(this)));
        }
    }
    let reaches = |culprit: usize, victim: usize| -> Option<u64> {
        let (from, to) = (&tasks[culprit], &tasks[victim]);
        let (_, due) = over[culprit]?;
        if (from.stops && drawing.fixed) || culprit == victim {
            return None;
        }
        if !drawing.global && from.core != to.core {
            return None;
        }
        let direct = from.server == to.server;
        if from.server.is_some() && !direct {
            return None;
        }
        // What the culprit competes with: the victim, or the server that the victim is in.
        let rival = if direct { to.priority } else { drawing.servers[to.server.expect("in one")].1 };
        match drawing.fixed {
            true => (rival <= from.priority).then_some(0),
            false => Some(if direct { due } else { 0 }),
        }
    };
    let mut found: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
    let (mut judged, mut broken) = (false, false);
    for ((task, number), job) in &jobs {
        let n = usize::from(*task);
        let due = job.release + tasks[n].period;
        let limit = match promises[n] {
            Some(Bound::Response(bound)) => job.release + bound.as_nanos().min(tasks[n].period),
            Some(Bound::Tardiness(bound)) => due + bound.as_nanos(),
            None => continue,
        };
        let until = job.completed.unwrap_or(RUN);
        let late = until > limit;
        let early = job.completed.is_some() && job.told < tasks[n].minimum;
        judged |= late || job.completed.is_some();
        if !late && !early {
            continue;
        }
        let time = if late { limit } else { until };
        let culprit = if own[n].is_some_and(|first| first <= *number) {
            Some(n)
        } else {
            let reached = (0..tasks.len()).filter(|culprit| {
                let (Some((at, _)), Some(from)) = (over[*culprit], reaches(*culprit, n)) else { return false };
                at <= time && due >= from
            });
            reached.min_by_key(|culprit| over[*culprit].map(|first| first.0))
        };
        match culprit {
            Some(culprit) => {
                let victims = found.entry(tasks[culprit].name.clone()).or_default();
                *victims.entry(tasks[n].name.clone()).or_default() += 1;
            }
            None => broken = true,
        }
    }
    let promised = promises.iter().any(Option::is_some);
    let word = match (broken, promised, found.is_empty(), judged) {
        (true, ..) => "broken",
        (_, _, false, _) => "void",
        (_, false, ..) => "nothing_promised",
        (_, _, _, false) => "no_job_ended",
        _ => "held",
    };
    (word, found)
}

/// Runs the system, and compares both judges. Gives the verdict's word, and how many tasks were victims of another.
fn compare(seed: u64) -> Option<(&'static str, usize)> {
    let drawing = draw(seed);
    let text = written(&drawing);
    let system =
        System::parse_toml(&text, Path::new("r.toml")).unwrap_or_else(|error| panic!("{seed}: {error:?}\n{text}"));
    let check = tactus_analysis::check(&system, &Costs::default());
    if !check.accepted {
        return None;
    }
    let promised = plan(&system, &check, &Costs::default());
    let demand = |task: TaskId, job: u32| {
        let jobs = &drawing.tasks[task.index()].jobs;
        tactus_time::Duration::from_nanos(jobs[job as usize % jobs.len()])
    };
    let trace = tactus_sim::simulate(&promised.setup, system.duration, demand, &Costs::default()).expect("it runs");
    let summary = judge(&promised.view, &trace);
    let told: BTreeMap<String, BTreeMap<String, u64>> = summary
        .voids
        .iter()
        .map(|it| (it.task.clone(), it.tasks.iter().map(|task| (task.task.clone(), task.missed)).collect()))
        .collect();
    let promises: Vec<Option<Bound>> = promised.view.tasks.iter().map(|task| task.promise).collect();
    let (word, found) = by_hand(&drawing, &promises, &trace);
    assert_eq!((summary.verdict.word(), &told), (word, &found), "seed {seed}: {}\n{text}", summary.headline());
    // A promise that nobody could reach is kept, whatever the others do.
    assert!(!matches!(summary.verdict, Verdict::Broken(_)), "seed {seed}: {}\n{text}", summary.headline());
    let victims: BTreeSet<&String> =
        told.iter().flat_map(|(culprit, tasks)| tasks.keys().filter(move |task| *task != culprit)).collect();
    Some((word, victims.len()))
}

/// How many systems of these seeds came to each verdict; and how many tasks were victims of another.
fn count(seeds: std::ops::Range<u64>) -> (BTreeMap<&'static str, u64>, usize) {
    let (mut words, mut victims) = (BTreeMap::new(), 0);
    for (word, hurt) in seeds.filter_map(compare) {
        *words.entry(word).or_default() += 1;
        victims += hurt;
    }
    (words, victims)
}

#[test]
fn culprits_and_victims_are_those_that_a_judge_finds_who_was_written_another_way() {
    let (words, victims) = count(0..700);
    println!("{words:?}, {victims} victims");
    assert!(words.values().sum::<u64>() >= 300 && words["void"] >= 100 && words["held"] >= 50, "{words:?}");
    assert!(victims >= 50, "{victims}");
}

#[test]
#[ignore = "the long run of evidence"]
fn culprits_and_victims_are_the_same_in_100_000_systems() {
    let (words, victims) = count(1_000..101_000);
    println!("{words:?}, {victims} victims");
    assert!(!words.contains_key("broken"), "{words:?}");
}

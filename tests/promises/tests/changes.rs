//! Random systems that change while they run: whatever is admitted, no promise is broken, and a change that does not wait
//! for its instant does break some.

use std::fmt::Write;
use std::path::Path;
use tactus_analysis::{Bound, Check};
use tactus_generate::Random;
use tactus_model::{Costs, Migration, System};
use tactus_plan::{plan, RunPlan};
use tactus_policy::{PolicySpec, Protocol};
use tactus_record::EventKind;
use tactus_time::{Duration, TaskId};
use tactus_trace::check::{changes as broken_changes, Rule};
use tactus_trace::{judge, Fate, Summary, Target, Trace, Verdict};

const POLICIES: [&str; 7] = ["edf", "edf", "rm", "dm", "fp", "fifo", "llf"];
const KINDS: [&str; 6] = ["cbs-hard", "cbs-hard", "deferrable", "sporadic", "polling", "periodic"];
const PERIODS: [u64; 9] = [4_000, 5_000, 7_000, 10_000, 12_000, 15_000, 20_000, 30_000, 41_000];

/// What can be changed, as the text has it.
struct Part {
    name: String,
    is_server: bool,
    period: u64,
    priority: bool,
}

/// Where a task or server is put: its server, with budget and period, the order there, and the line that binds it to cores.
struct Home<'a> {
    server: Option<(&'a str, u64, u64)>,
    order: &'a str,
    bound: String,
    /// The part of the home's time that a task may ask for, in percent.
    most: u64,
}

/// A system while it is drawn.
struct Drawing {
    random: Random,
    text: String,
    parts: Vec<Part>,
    tasks: u64,
}

/// A system as text: servers and tasks, of which some begin absent; and changes. Its cores are by themselves, with servers up to three
/// deep in some; or they share the root's queue, or that of a server.
fn system(seed: u64) -> String {
    let random = Random::new(seed);
    let mut it = Drawing { random, text: String::new(), parts: Vec::new(), tasks: 0 };
    match it.random.between(0, 7) {
        0..=2 => it.partitioned(seed, 0),
        3 | 4 => it.partitioned(seed, 2),
        5 => it.shared(seed),
        _ => it.platform(seed),
    }
    changes(&mut it.random, &mut it.text, &it.parts);
    it.text
}

impl Drawing {
    fn head(&mut self, seed: u64, cores: u64, policy: &str) {
        self.text = format!(
            "[system]\nname = 'r'\ncores = {cores}\nduration = '500 ms'\nseed = {seed}\n[machine]\noverheads = false\n\
             [policy]\nkind = '{policy}'\n"
        );
    }

    /// Up to two cores by themselves; servers in servers, as deep as that.
    fn partitioned(&mut self, seed: u64, deeper: u64) {
        let cores = self.random.between(1, 2);
        let policy = *self.random.of(&POLICIES);
        let servers_fit = matches!(policy, "edf" | "rm" | "dm" | "fp");
        self.head(seed, cores, &format!("partitioned-{policy}"));
        for core in 0..cores {
            let bound = format!("core = {core}");
            let servers = match (servers_fit, deeper) {
                (false, _) => 0,
                (true, 0) => self.random.between(0, 2),
                (true, _) => 1,
            };
            for _ in 0..servers {
                let home = Home { server: None, order: policy, bound: bound.clone(), most: 35 };
                self.server(&home, &format!("cores = [{core}]"), deeper);
            }
            let (tasks, most) = if deeper > 0 && servers_fit { (2, 15) } else { (5, 35) };
            for _ in 0..self.random.between(if most < 35 { 0 } else { 2 }, tasks) {
                self.task(&Home { server: None, order: policy, bound: bound.clone(), most });
            }
        }
    }

    /// A server of one core, with tasks and perhaps servers inside.
    fn server(&mut self, home: &Home, cores: &str, deeper: u64) {
        let (kind, inner) = (*self.random.of(&KINDS), *self.random.of(&["edf", "rm", "fp"]));
        // What is inside another one has a longer period, or it would be long without supply for its period.
        let (period, share) = match home.server {
            Some((_, budget, length)) => {
                ((length * self.random.between(2, 4)).min(40_000), self.random.between(20, 48) * budget / length)
            }
            None if deeper > 0 => (*self.random.of(&PERIODS[..4]), self.random.between(30, 60)),
            None => (*self.random.of(&PERIODS), self.random.between(15, 40)),
        };
        let budget = (period * share / 100).max(100);
        let name = self.begin_server(home, kind, (budget, period), &format!("partitioned-{inner}"), cores);
        let within =
            |most| Home { server: Some((&name, budget, period)), order: inner, bound: home.bound.clone(), most };
        if deeper > 0 {
            for _ in 0..self.random.between(1, 2) {
                let deeper = self.random.between(0, deeper - 1);
                self.server(&within(20), cores, deeper);
            }
        }
        let nested = deeper > 0 || home.server.is_some();
        for _ in 0..self.random.between(u64::from(deeper == 0), 2) {
            self.task(&within(if nested { 20 } else { 45 }));
        }
    }

    fn begin_server(
        &mut self,
        home: &Home,
        kind: &str,
        (budget, period): (u64, u64),
        policy: &str,
        cores: &str,
    ) -> String {
        let name = format!("s{}", self.parts.len());
        let _ = writeln!(
            self.text,
            "[[server]]\nname = '{name}'\n{cores}\nkind = '{kind}'\nbudget = '{budget} us'\nperiod = '{period} us'\n\
             policy = '{policy}'"
        );
        if let Some((parent, ..)) = home.server {
            let _ = writeln!(self.text, "parent = '{parent}'");
        }
        let priority = home.order == "fp";
        if priority {
            let _ = writeln!(self.text, "priority = {}", self.random.between(1, 9));
        }
        self.parts.push(Part { name: name.clone(), is_server: true, period, priority });
        name
    }

    fn task(&mut self, home: &Home) {
        let random = &mut self.random;
        let name = format!("t{}", self.tasks);
        self.tasks += 1;
        let period = match home.server {
            Some((.., length)) if home.most < 25 => (length * random.between(4, 9)).min(150_000),
            Some(_) => *random.of(&PERIODS) * 3,
            None => *random.of(&PERIODS),
        };
        let share = match home.server {
            Some((_, budget, length)) => random.between(home.most / 3, home.most) * budget / length,
            None => random.between(5, home.most),
        };
        let execution = (period * share / 100).max(100);
        let _ = write!(
            self.text,
            "[[task]]\nname = '{name}'\n{}\nperiod = '{period} us'\nexecution = '{execution} us'\noffset = '{} us'\n",
            home.bound,
            random.between(0, 20) * 500 * random.between(0, 1)
        );
        if let Some((server, ..)) = home.server {
            let _ = writeln!(self.text, "server = '{server}'");
        }
        let priority = home.order == "fp";
        if priority {
            let _ = writeln!(self.text, "priority = {}", random.between(1, 9));
        }
        if random.chance(0.4) {
            let _ = writeln!(self.text, "actual = {{ min = '{} us', max = '{execution} us' }}", execution / 2);
        }
        self.parts.push(Part { name, is_server: false, period, priority });
    }

    /// Two cores that share the root's queue, or three of which two do.
    fn shared(&mut self, seed: u64) {
        let order = *self.random.of(&["edf", "rm", "dm", "fp"]);
        let clustered = self.random.chance(0.5);
        match clustered {
            true => {
                self.head(seed, 3, &format!("clustered-{order}"));
                self.text += "clusters = [[0, 1], [2]]\n";
            }
            false => self.head(seed, 2, &format!("global-{order}")),
        }
        for n in 0..self.random.between(3, 7) {
            let bound = if clustered { format!("cluster = {}", n % 2) } else { String::new() };
            self.task(&Home { server: None, order, bound, most: 30 });
        }
    }

    /// A server on two cores, with one queue or two inside, and what is beside it on each of them.
    fn platform(&mut self, seed: u64) {
        let policy = *self.random.of(&["edf", "rm", "dm", "fp"]);
        self.head(seed, 2, &format!("partitioned-{policy}"));
        for _ in 0..self.random.between(1, 2) {
            let (period, kind) = (*self.random.of(&PERIODS), *self.random.of(&KINDS));
            let (inner, global) = (*self.random.of(&["edf", "rm", "fp"]), self.random.chance(0.7));
            let budget = period * self.random.between(25, 45) / 100;
            let spread = if global { "global" } else { "partitioned" };
            let root = Home { server: None, order: policy, bound: String::new(), most: 0 };
            let name = self.begin_server(&root, kind, (budget, period), &format!("{spread}-{inner}"), "cores = [0, 1]");
            for n in 0..self.random.between(2, 4) {
                let bound = if global { String::new() } else { format!("core = {}", n % 2) };
                self.task(&Home { server: Some((&name, budget, period)), order: inner, bound, most: 30 });
            }
        }
        for core in 0..2 {
            for _ in 0..self.random.between(0, 2) {
                self.task(&Home { server: None, order: policy, bound: format!("core = {core}"), most: 25 });
            }
        }
    }
}

fn changes(random: &mut Random, text: &mut String, parts: &[Part]) {
    let mut there: Vec<Option<bool>> = vec![None; parts.len()];
    let mut at = 0;
    for _ in 0..random.between(3, 8) {
        at += random.between(0, 60_000) * random.between(0, 3) / 3;
        let n = random.between(0, parts.len() as u64 - 1) as usize;
        let Part { name, is_server, period, priority } = &parts[n];
        let _ = writeln!(text, "[[change]]\nat = '{at} us'");
        let _ = match (there[n], random.between(0, 3)) {
            (Some(false), _) | (None, 0 | 1) => {
                there[n] = Some(true);
                writeln!(text, "add = '{name}'")
            }
            (_, 2) => {
                there[n] = Some(false);
                writeln!(text, "remove = '{name}'")
            }
            _ => {
                there[n] = Some(true);
                let (what, time) = if *is_server { ("server", "budget") } else { ("task", "execution") };
                let _ = writeln!(text, "{what} = '{name}'");
                match random.between(0, if *priority { 2 } else { 1 }) {
                    0 => writeln!(text, "{time} = '{} us'", period * random.between(10, 45) / 100),
                    1 => writeln!(text, "period = '{} us'", period * random.between(60, 180) / 100),
                    _ => writeln!(text, "priority = {}", random.between(1, 9)),
                }
            }
        };
    }
}

#[derive(Default, Debug)]
struct Counts {
    accepted: u64,
    admitted: u64,
    refused: u64,
    effects: u64,
    waiting: u64,
    /// Changes that took effect of what lies in a server inside another or has servers inside; where cores share the root's queue; of
    /// servers on several cores and what is in them.
    nested: u64,
    shared: u64,
    wide: u64,
    broken: u64,
}

impl Counts {
    /// What the change is about.
    fn kind(&mut self, system: &System, part: tactus_model::Part) {
        let servers = &system.scheduling.servers;
        let around = match part {
            tactus_model::Part::Task(n) => system.scheduling.places.get(n).and_then(|place| place.server),
            tactus_model::Part::Server(n) => Some(n),
        };
        let Some(n) = around else {
            let alone = matches!(system.policy, tactus_model::Policy::Ordered { spread: Migration::Partitioned, .. });
            self.shared += u64::from(!alone);
            return;
        };
        self.nested += u64::from(servers[n].parent.is_some() || servers.iter().any(|other| other.parent == Some(n)));
        self.wide += u64::from(servers[n].cores.iter().nth(1).is_some());
    }
}

fn simulated(system: &System, promised: &RunPlan) -> Trace {
    let demand = |task: TaskId, job| system.tasks[task.index()].demand(system.seed, task, job);
    tactus_sim::simulate(&promised.setup, system.duration, demand, &Costs::default()).expect("it runs")
}

fn run(system: &System, promised: &RunPlan) -> Summary {
    judge(&promised.view, &simulated(system, promised))
}

fn all(seeds: std::ops::Range<u64>, protocol: Protocol) -> Counts {
    let mut counts = Counts::default();
    for seed in seeds {
        let text = system(seed);
        let system = System::parse_toml(&text, Path::new("r.toml")).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let check = tactus_analysis::check(&system, &Costs::default());
        if !check.accepted {
            continue;
        }
        counts.accepted += 1;
        let mut promised = plan(&system, &check, &Costs::default());
        let PolicySpec::ReconfigurableTree(changing) = &mut promised.setup.kind else {
            panic!("{:?}", promised.setup.kind)
        };
        changing.protocol = protocol;
        counts.admitted += check.changes.iter().filter(|ruling| ruling.admitted()).count() as u64;
        let summary = run(&system, &promised);
        for (change, asked) in summary.changes.iter().zip(&system.scheduling.changes) {
            match change.fate {
                Fate::Applied => {
                    counts.effects += 1;
                    counts.kind(&system, asked.part);
                }
                Fate::Refused => {
                    let looked = change.why.as_ref().is_some_and(|why| why.starts_with("the core would have promised"));
                    assert!(!looked, "seed {seed}: what was admitted is too much for the core: {change:?}\n{text}");
                    counts.refused += 1;
                }
                Fate::Waiting => counts.waiting += 1,
                Fate::NotRequested => {}
            }
        }
        if let Verdict::Broken(broken) = &summary.verdict {
            counts.broken += 1;
            assert!(
                protocol == Protocol::Immediate,
                "seed {seed}: {broken:?}\n{text}\n{check}\n{:#?}",
                summary.changes
            );
        }
    }
    counts
}

fn hold(seeds: std::ops::Range<u64>) {
    let some = (seeds.end - seeds.start) / 20;
    let counts = all(seeds, Protocol::IdleInstant);
    println!("{counts:?}");
    assert!(counts.accepted > some && counts.effects > some && counts.refused > some, "{counts:?}");
    assert!([counts.nested, counts.shared, counts.wide].iter().all(|count| *count > some), "{counts:?}");
}

#[test]
fn whatever_is_admitted_no_promise_is_broken() {
    hold(0..250);
}

#[test]
#[ignore = "takes minutes: evidence, not a daily test"]
fn whatever_is_admitted_no_promise_is_broken_in_twenty_thousand_systems() {
    hold(0..20_000);
}

#[test]
fn changes_that_do_not_wait_break_promises() {
    let counts = all(0..250, Protocol::Immediate);
    println!("{counts:?}");
    assert!(counts.broken > 0, "{counts:?}");
}

/// The runs of systems that are accepted.
fn accepted(seeds: std::ops::Range<u64>) -> impl Iterator<Item = (RunPlan, Trace)> {
    seeds.filter_map(|seed| {
        let system = System::parse_toml(&system(seed), Path::new("r.toml")).expect("a good file");
        let check = tactus_analysis::check(&system, &Costs::default());
        let promised = check.accepted.then(|| plan(&system, &check, &Costs::default()))?;
        let trace = simulated(&system, &promised);
        Some((promised, trace))
    })
}

/// Whether the judge finds a broken rule of changes, and finds the run broken.
fn found(promised: &RunPlan, trace: &Trace) -> bool {
    let found = broken_changes(&promised.view, trace);
    assert!(found.iter().all(|violation| violation.rule == Rule::Change));
    let broken = matches!(judge(&promised.view, trace).verdict, Verdict::Broken(_));
    assert!(broken || found.is_empty(), "{found:?}");
    !found.is_empty()
}

#[test]
fn a_first_release_after_a_change_that_is_late_lost_or_one_too_many_is_found() {
    let (mut late, mut lost, mut many) = (0, 0, 0);
    for (promised, trace) in accepted(0..60) {
        for core in 0..trace.cores.len() {
            let records = &trace.cores[core];
            let Some(changed) = records.iter().position(|r| r.kind == EventKind::ChangeApplied) else { continue };
            let Some(first) = (changed..records.len()).find(|n| records[*n].kind == EventKind::Release) else {
                continue;
            };
            let mut spoilt = trace.clone();
            spoilt.cores[core][first].arg += 1;
            assert!(found(&promised, &spoilt));
            late += 1;
            let mut spoilt = trace.clone();
            let mut again = spoilt.cores[core][first];
            again.job += 1;
            spoilt.cores[core].insert(first + 1, again);
            assert!(found(&promised, &spoilt));
            many += 1;
            let mut spoilt = trace.clone();
            spoilt.cores[core].remove(first);
            lost += usize::from(found(&promised, &spoilt));
        }
    }
    // The last release of all leaves no gap.
    assert!(late > 20 && many > 20 && lost > late * 9 / 10, "{late} {many} {lost}");
}

#[test]
fn a_task_that_releases_jobs_after_its_removal_was_asked_for_is_found() {
    let mut count = 0;
    for (promised, trace) in accepted(0..60) {
        let changes = promised.view.changes.as_ref().expect("it changes");
        for (n, change) in changes.list.iter().enumerate().filter(|(_, it)| it.what.starts_with("remove task")) {
            let Target::Task(task) = change.target else { continue };
            let took = trace.cores.iter().flatten().any(|r| r.kind == EventKind::ChangeApplied && r.job as usize == n);
            if !took {
                continue;
            }
            // As if it had been asked for a period earlier.
            let mut spoilt = promised.clone();
            let early = change.at.saturating_sub(changes.start[task.index()].period);
            spoilt.view.changes.as_mut().expect("it changes").list[n].at = early;
            let between = |r: &tactus_record::Record| {
                r.kind == EventKind::Release
                    && r.task == Some(task)
                    && (early..change.at).contains(&Duration::from_nanos(r.arg))
            };
            // The ask is noticed late then; what was released before it tells the same.
            let asked = |r: &tactus_record::Record| r.kind == EventKind::ChangeRequested && r.job as usize == n;
            let mut trace = trace.clone();
            for records in &mut trace.cores {
                let (Some(release), Some(asked)) = (records.iter().position(between), records.iter().position(asked))
                else {
                    continue;
                };
                let asked = records.remove(asked);
                records.insert(release, tactus_record::Record { time: records[release].time, ..asked });
                assert!(found(&spoilt, &trace), "{}", change.what);
                count += 1;
                break;
            }
        }
    }
    assert!(count > 3, "{count}");
}

#[test]
fn a_change_that_was_not_admitted_or_comes_out_of_its_turn_is_found() {
    let (mut admitted, mut turned) = (0, 0);
    for (promised, trace) in accepted(0..60) {
        for core in 0..trace.cores.len() {
            let effects: Vec<usize> = (0..trace.cores[core].len())
                .filter(|n| trace.cores[core][*n].kind == EventKind::ChangeApplied)
                .collect();
            for at in &effects {
                let mut spoilt = promised.clone();
                let change = trace.cores[core][*at].job as usize;
                spoilt.view.changes.as_mut().expect("it changes").list[change].refused = Some("no".into());
                assert!(found(&spoilt, &trace));
                admitted += 1;
            }
            if let [first, second, ..] = effects[..] {
                let mut spoilt = trace.clone();
                spoilt.cores[core][first].job = trace.cores[core][second].job;
                spoilt.cores[core][second].job = trace.cores[core][first].job;
                assert!(found(&promised, &spoilt));
                turned += 1;
            }
        }
    }
    assert!(admitted > 20 && turned > 8, "{admitted} {turned}");
}

/// A soft server beneath fixed priorities keeps all others off as long as it has work: nothing is promised beneath it, and much may
/// pile up. When it ends, the other server is a good one, with a bound of its own; but for what has piled up.
const PILED_UP: &str = "
[system]
name = 'r'
cores = 1
duration = '500 ms'
[machine]
overheads = false
[policy]
kind = 'partitioned-fp'
[[server]]
name = 'soft'
kind = 'cbs-soft'
budget = '3 ms'
period = '10 ms'
policy = 'partitioned-edf'
priority = 2
[[server]]
name = 'steady'
kind = 'deferrable'
budget = '2 ms'
period = '10 ms'
policy = 'partitioned-edf'
priority = 1
[[task]]
name = 'hog'
server = 'soft'
core = 0
period = '500 ms'
execution = '90 ms'
[[task]]
name = 'frames'
server = 'steady'
core = 0
period = '10 ms'
execution = '1 ms'
[[change]]
at = '50 ms'
remove = 'soft'
";

#[test]
fn what_has_piled_up_where_nothing_was_promised_breaks_no_promise_since_none_is_given() {
    let system = System::parse_toml(PILED_UP, Path::new("r.toml")).expect("a good file");
    let check = tactus_analysis::check(&system, &Costs::default());
    let bounds = |check: &Check| check.tasks.iter().map(|task| task.promise()).collect::<Vec<_>>();
    assert!(check.accepted && check.changes[0].admitted(), "{check}");
    assert_eq!(bounds(&check), [None; 2]);
    let after = &check.changes[0].tasks[1];
    assert_eq!(after.promise(), None);
    assert!(after.explanation().contains("may have work left"), "{}", after.explanation());
    let promised = plan(&system, &check, &Costs::default());
    assert_eq!(run(&system, &promised).verdict, Verdict::NothingPromised);
    // Beneath nothing it would have a bound, which these jobs exceed.
    let mut alone = system.clone();
    alone.scheduling.changes.clear();
    alone.tasks.remove(0);
    alone.scheduling.places.remove(0);
    alone.scheduling.places[0].server = Some(0);
    alone.scheduling.servers.remove(0);
    let Some(Bound::Response(bound)) = tactus_analysis::check(&alone, &Costs::default()).tasks[0].promise() else {
        panic!("it has a bound alone");
    };
    let mut spoilt = promised.clone();
    let changes = spoilt.view.changes.as_mut().expect("it changes");
    changes.list[0].promises[1] = Some(Bound::Response(bound));
    assert!(matches!(run(&system, &spoilt).verdict, Verdict::Broken(_)), "the bound of {bound} would not hold");
}

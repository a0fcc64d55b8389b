//! A scheduler for each server (`schedulers = "per-server"`): the same file makes the same schedule as with one scheduler for all,
//! in the simulator and on the machine; each scheduler is replayed, and the console tells the verdict.

use std::collections::{BTreeMap, BTreeSet};
use tactus_record::{EventKind, Record};
use tactus_scenarios::sketch::{file, server, task, LESS};
use tactus_scenarios::{Finished, Scratch};
use tactus_time::{Duration, Instant, TaskId};
use tactus_trace::Trace;

/// One core, one level of servers: fixed priorities outside; deadlines, priorities, lengths and order of arrival inside.
fn flat(more: &str) -> String {
    let in_server = |server: &str, priority: u32| format!("server = \"{server}\"\npriority = {priority}");
    more.to_string()
        + &server("video", "kind = \"deferrable\"\npolicy = \"partitioned-edf\"\npriority = 5", 3, 10)
        + &server("logs", "kind = \"cbs-hard\"\npolicy = \"partitioned-fp\"\npriority = 4", 2, 16)
        + &server("poll", "kind = \"polling\"\npolicy = \"partitioned-fifo\"\npriority = 3", 2, 20)
        + &server("short", "kind = \"sporadic\"\npolicy = \"partitioned-sjf\"\npriority = 2\nbackground = true", 2, 25)
        + &server("filler", "kind = \"periodic\"\npolicy = \"partitioned-dm\"\npriority = 1", 4, 40)
        + &task("urgent", 0, "priority = 9", [0, 12, 1])
        + &task("v1", 0, "server = \"video\"", [1, 20, 2])
        + &task("v2", 0, "server = \"video\"", [3, 31, 4])
        + &task("l1", 0, &in_server("logs", 2), [2, 40, 3])
        + &task("l2", 0, &in_server("logs", 1), [3, 53, 1])
        + &task("p1", 0, "server = \"poll\"", [1, 40, 1])
        + &task("p2", 0, "server = \"poll\"", [7, 61, 2])
        + &task("s1", 0, "server = \"short\"", [11, 50, 3])
        + &task("s2", 0, "server = \"short\"", [12, 60, 2])
        + &task("f1", 0, "server = \"filler\"", [4, 50, 3])
}

/// Two cores, three levels of servers on each, deadlines outside.
fn deep(more: &str) -> String {
    let mut text = more.to_string();
    for core in 0..2 {
        let late = core as u64;
        let on = |name: &str, kind: &str, budget: u64, period: u64| {
            server(&format!("{name}{core}"), &format!("cores = [{core}]\n{kind}"), budget, period)
        };
        let inner = |name: &str, server: &str, more: &str, times: [u64; 3]| {
            task(&format!("{name}{core}"), core, &format!("server = \"{server}{core}\"\n{more}"), times)
        };
        let middle =
            format!("parent = \"outer{core}\"\nkind = \"deferrable\"\npriority = 4\npolicy = \"partitioned-edf\"");
        text += &on("outer", "kind = \"cbs-hard\"\npolicy = \"partitioned-fp\"", 12, 20);
        text += &on("middle", &middle, 6, 20);
        text += &on(
            "inner",
            &format!("parent = \"middle{core}\"\nkind = \"cbs-soft\"\npolicy = \"partitioned-rm\""),
            3,
            30,
        );
        text += &task(&format!("out{core}"), core, "", [late, 25, 2]);
        text += &inner("a", "outer", "priority = 1", [1 + late, 40, 3]);
        text += &inner("b", "middle", "", [2 + late, 50, 4]);
        text += &inner("c", "inner", "", [1 + late, 60, 2]);
        text += &inner("d", "inner", "", [9 + late, 80, 3]);
    }
    text
}

/// One core, one level of servers that reclaim what the others leave, beside one that does not.
fn reclaiming(more: &str) -> String {
    more.to_string()
        + &server("video", "kind = \"grub\"\npolicy = \"partitioned-edf\"", 2, 8)
        + &server("logs", "kind = \"grub\"\npolicy = \"partitioned-fifo\"", 4, 16)
        + &server("rest", "kind = \"cbs-hard\"\npolicy = \"partitioned-rm\"", 4, 16)
        + &task("v1", 0, "server = \"video\"", [1, 24, 3])
        + &task("v2", 0, "server = \"video\"", [3, 31, 2])
        + &task("l1", 0, "server = \"logs\"", [0, 40, 9])
        + &task("l2", 0, "server = \"logs\"", [9, 53, 3])
        + &task("r1", 0, "server = \"rest\"", [5, 48, 3])
}

/// One core, two levels of servers, deadlines outside: what the scheduler around a server cannot see. Jobs that are killed while they
/// run and while they wait, servers inside another one that keep their budgets, servers that inherit a period, in the root and inside another
/// one, and an order that changes as time passes.
fn kinds(more: &str) -> String {
    let polls =
        "parent = \"outer\"\npriority = 5\nkind = \"deferrable\"\npolicy = \"partitioned-llf\"\nquantum = \"1 ms\"";
    let inherits =
        "parent = \"outer\"\npriority = 4\nkind = \"pibs\"\nshare = 0.1\nfor = \"poll\"\npolicy = \"partitioned-fifo\"";
    let pibs = |name: &str, more: &str| format!("[[server]]\nname = \"{name}\"\n{more}\n");
    let killed = |name: &str, core: usize, more: &str, times: [u64; 3], deadline: u64| {
        let more = format!("{more}\ndeadline = \"{deadline} ms\"\noverrun = \"kill\"");
        // Each job takes another time, so that one whose thread went on with a killed one would be found.
        let most = times[2] * 1_000 - LESS;
        let range = format!("actual = {{ min = \"{} us\", max = \"{most} us\" }}", most / 3);
        task(name, core, &more, times).replace(&format!("actual = \"{most} us\""), &range)
    };
    more.to_string()
        + &server("outer", "kind = \"sporadic\"\npolicy = \"partitioned-fp\"", 13, 23)
        + &server("poll", polls, 7, 29)
        + &server("idle", "parent = \"outer\"\npriority = 6\nkind = \"sporadic\"\npolicy = \"partitioned-edf\"", 2, 17)
            .replace("2 ms", "2437 us")
        + &pibs("io", inherits)
        + &pibs("disk", "kind = \"pibs\"\nshare = 0.1\nfor = \"outer\"\npolicy = \"partitioned-edf\"")
        + &task("urgent", 0, "", [2, 11, 2])
        + &task("l1", 0, "server = \"poll\"", [1, 31, 3])
        + &task("l2", 0, "server = \"poll\"", [1, 37, 2])
        + &task("l3", 0, "server = \"poll\"", [5, 41, 2])
        + &task("m1", 0, "server = \"idle\"", [8, 61, 2])
        + &task("i1", 0, "server = \"io\"", [3, 43, 2])
        + &task("d1", 0, "server = \"disk\"", [7, 47, 3])
        + &killed("k1", 0, "server = \"outer\"\npriority = 2", [4, 39, 6], 9)
        + &killed("k2", 0, "server = \"outer\"\npriority = 1", [6, 53, 5], 17)
        + &killed("k3", 0, "server = \"disk\"", [9, 59, 3], 5)
}

/// What happens to jobs on a core, in order: each time that one has the core for longer than `short`, and each end.
fn steps(records: &[Record], short: Duration) -> Vec<(Step, Instant)> {
    let mut steps: Vec<(Step, Instant)> = Vec::new();
    let mut runs: Option<(TaskId, u32, Instant)> = None;
    for r in records {
        match (r.kind, r.task) {
            (EventKind::Dispatch, Some(task)) => runs = Some((task, r.job, r.time)),
            (EventKind::Dropped, Some(task)) if runs.is_none_or(|it| (it.0, it.1) != (task, r.job)) => {}
            (EventKind::Preempt | EventKind::Complete | EventKind::Dropped, Some(task)) => {
                let since = runs.take().map_or(r.time, |(_, _, since)| since);
                let finished = r.kind == EventKind::Complete;
                if finished || r.time.since(since) > short {
                    steps.push(((task, r.job, false), since));
                }
                if finished {
                    steps.push(((task, r.job, true), r.time));
                }
            }
            _ => {}
        }
    }
    // A job that goes on as it was has not been away.
    steps.dedup_by(|later, earlier| later.0 == earlier.0);
    steps
}

/// A job begins to run, or goes on, or is finished.
type Step = (TaskId, u32, bool);

/// That both do the same in the same order, stretches left out in which one is only on its way to the next decision. How many
/// steps, and the largest difference in time.
fn same(what: &str, one: &Trace, other: &Trace, short: Duration) -> (usize, Duration) {
    let (mut count, mut most) = (0, Duration::ZERO);
    for (core, (one, other)) in one.cores.iter().zip(&other.cores).enumerate() {
        let (one, other) = (steps(one, short), steps(other, short));
        for (n, (a, b)) in one.iter().zip(&other).enumerate() {
            assert_eq!(a.0, b.0, "{what}: core {core}, step {n}, at {} and {}", a.1, b.1);
            most = most.max(if a.1 > b.1 { a.1.since(b.1) } else { b.1.since(a.1) });
            count += 1;
        }
        assert!(one.len().abs_diff(other.len()) <= 2, "{what}: core {core}: {} and {} steps", one.len(), other.len());
    }
    (count, most)
}

/// Why a job was dropped: its deadline came.
const KILLED: u64 = 1;

/// The longest pause between two decisions that belong together.
const BETWEEN: Duration = Duration::from_micros(2);

/// What one event costs in instructions, from the first look at the clock to the last decision, at the median: by whether a job
/// is finished, or a time-out has come, and by how many schedulers decide one after another.
fn costs(records: &[Record]) -> BTreeMap<(&'static str, usize), u64> {
    let mut all: BTreeMap<(&str, usize), Vec<u64>> = BTreeMap::new();
    let (mut first, mut last, mut what, mut turns) = (Instant::ZERO, Instant::ZERO, "", 0);
    for r in records {
        match r.kind {
            EventKind::Enter if turns > 0 && r.time.since(last) < BETWEEN => turns += 1,
            EventKind::Enter => {
                all.entry((what, turns)).or_default().push(last.since(first).as_nanos());
                (first, turns) = (r.time, 1);
                what = if r.arg > 0 { "a time-out" } else { "other" };
            }
            EventKind::Complete if turns == 1 => what = "a finished job",
            EventKind::Leave => last = r.time,
            _ => {}
        }
    }
    let median = |mut costs: Vec<u64>| {
        costs.sort_unstable();
        costs[costs.len() / 2]
    };
    all.into_iter().filter(|((what, _), _)| what.starts_with('a')).map(|(of, costs)| (of, median(costs))).collect()
}

#[test]
fn a_scheduler_for_each_server_makes_the_same_schedule_as_one_for_all_and_as_the_simulator() {
    let scratch = Scratch::new("per-server");
    for (name, cores, policy, rest) in [
        ("flat", 1, "partitioned-fp", flat as fn(&str) -> String),
        ("deep", 2, "partitioned-edf", deep),
        ("kinds", 1, "partitioned-edf", kinds),
        ("reclaiming", 1, "partitioned-edf", reclaiming),
    ] {
        let single = file(&scratch, name, cores, policy, &rest(""));
        let several =
            file(&scratch, &format!("{name}-per-server"), cores, policy, &rest("schedulers = \"per-server\"\n"));
        // What an inheriting server used by some microseconds more comes back tens of microseconds later, and in the end one event is
        // moved over another.
        let most: &[&str] = if name == "kinds" { &["--duration", "320 ms"] } else { &[] };
        let simulated = Finished::simulate(&several, &[most, &["--costs", "none"]].concat()).trace();
        let single = Finished::run(&single, most).trace();
        let several = Finished::run(&several, most);
        assert!(several.components().len() > cores + 3, "{:?}", several.components());
        assert!(several.said.output.contains("schedulers is the policy's own"), "{}", several.said.output);
        // A line of the console's verdict for each scheduler, and the last word, which is the judge's (`Finished::run` looks).
        assert!(several.log.contains("verdict: "), "{}", several.log);
        let told = |name: &str| several.log.lines().any(|line| line.split_whitespace().next() == Some(name));
        assert!(several.components().iter().filter(|it| *it == "outer" || *it == "video").all(|it| told(it)));
        let several = several.trace();
        // Less than the shortest stretch that the file means.
        let short = Duration::from_micros(LESS * 10);
        let (_, first) = same(&format!("{name}: simulated and single"), &simulated, &single, short);
        if name == "flat" {
            let (single, several) = (costs(&single.cores[0]), costs(&several.cores[0]));
            println!("{name}: single {single:?}, per server {several:?}");
            // Up from a server's scheduler to the root's, and down again.
            assert!(single.keys().all(|(_, turns)| *turns == 1) && several.keys().all(|(_, turns)| *turns <= 3));
        }
        let (count, second) = same(&format!("{name}: simulated and per server"), &simulated, &several, short);
        let killed = [&simulated, &single, &several].map(|trace| {
            let all = trace.cores.iter().flatten();
            let killed = all.filter(|it| it.kind == EventKind::Dropped && it.arg == KILLED);
            killed.filter_map(|it| Some((it.task?, it.job))).collect::<BTreeSet<_>>()
        });
        let [wanted, once, noticed] = &killed;
        assert!(once == wanted && wanted.is_empty() == (name != "kinds"), "{killed:?}");
        // Of a job that waits its scheduler notices so when it has the core again, perhaps not before the run ends.
        assert!(noticed.is_subset(wanted) && noticed.len() + 1 >= wanted.len(), "{killed:?}");
        println!(
            "{name}: {count} steps the same; times differ by {first} single, {second} per server; {} killed",
            wanted.len()
        );
        // What entries cost, with the turns that emulated cores take; less than what jobs need less than their round times.
        assert!(second < Duration::from_micros(LESS * 8), "{name}: {second}");
    }
}

/// So many on so slow a machine that each is interrupted while it sets up, by the others' turns: all are ready when the run begins.
#[test]
fn many_schedulers_are_ready_when_the_run_begins() {
    let scratch = Scratch::new("many-per-server");
    let mut text = "schedulers = \"per-server\"\n".to_string();
    for core in 0..8 {
        for n in 0..2 {
            let name = format!("outer{core}-{n}");
            text +=
                &server(&name, &format!("cores = [{core}]\nkind = \"cbs-hard\"\npolicy = \"partitioned-edf\""), 1, 10);
            text += &task(&format!("t{core}-{n}"), core, &format!("server = \"{name}\""), [0, 10, 1]);
        }
    }
    let path = file(&scratch, "many", 8, "partitioned-edf", &text);
    let slow = std::fs::read_to_string(&path)
        .expect("it was written")
        .replace("instruction = \"1 ns\"", "instruction = \"4 ns\"");
    let run = Finished::run(&scratch.write("many.toml", &slow), &["--duration", "20 ms"]);
    for (core, records) in run.trace().cores.iter().enumerate() {
        let first = records.iter().find(|it| it.kind == EventKind::Release).map(|it| it.time);
        assert!(first.is_some_and(|at| at < Instant::from_nanos(1_000_000)), "core {core}: {first:?}");
    }
}

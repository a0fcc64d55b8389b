//! Servers with schedulers of their own (`schedulers = "apart"`): the same file makes the same schedule as with one scheduler
//! for all, in the simulator and on the machine.

use std::collections::{BTreeMap, BTreeSet};
use tactus_record::{Kind, Record};
use tactus_scenarios::sketch::{file, server, task, LESS, RUN};
use tactus_scenarios::{tactus, Finished, Scratch};
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

/// Two cores, three levels of servers, deadlines outside; the servers of both cores are one.
fn deep(more: &str) -> String {
    let both = |name: &str, core: usize, server: &str, times: [u64; 3]| {
        task(
            &format!("{name}{core}"),
            core,
            &format!("server = \"{server}\"\n{}", if server == "outer" { "priority = 1" } else { "" }),
            times,
        )
    };
    let mut text = more.to_string()
        + &server("outer", "kind = \"cbs-hard\"\npolicy = \"partitioned-fp\"", 12, 20)
        + &server(
            "middle",
            "parent = \"outer\"\nkind = \"deferrable\"\npriority = 4\npolicy = \"partitioned-edf\"",
            6,
            20,
        )
        + &server("inner", "parent = \"middle\"\nkind = \"cbs-soft\"\npolicy = \"partitioned-rm\"", 3, 30);
    for core in 0..2 {
        let late = core as u64;
        text += &task(&format!("out{core}"), core, "", [late, 25, 2]);
        text += &both("a", core, "outer", [1 + late, 40, 3]);
        text += &both("b", core, "middle", [2 + late, 50, 4]);
        text += &both("c", core, "inner", [1 + late, 60, 2]);
        text += &both("d", core, "inner", [9 + late, 80, 3]);
    }
    text
}

/// Four cores, each with a server of its own and one that is on all of them.
fn wide(more: &str) -> String {
    let mut text =
        more.to_string() + &server("all", "kind = \"deferrable\"\npolicy = \"partitioned-edf\"\npriority = 2", 3, 12);
    for core in 0..4 {
        let late = core as u64;
        let more = format!("kind = \"sporadic\"\ncores = [{core}]\npolicy = \"partitioned-fp\"\npriority = 1");
        text += &server(&format!("own{core}"), &more, 4, 20);
        text += &task(&format!("top{core}"), core, "priority = 7", [late, 10, 1]);
        text += &task(&format!("e{core}"), core, "server = \"all\"", [1 + late, 24, 2]);
        text += &task(&format!("f{core}"), core, "server = \"all\"", [3 + late, 36, 3]);
        text += &task(&format!("g{core}"), core, &format!("server = \"own{core}\"\npriority = 1"), [2 + late, 40, 5]);
    }
    text
}

/// One core, two levels of servers, deadlines outside: what the scheduler around a server cannot see. Jobs that are killed while they
/// run and while they wait, a polling and a periodic server inside another one, servers that inherit a period, in the root and inside another
/// one, and an order that changes as time passes.
fn kinds(more: &str) -> String {
    let polls =
        "parent = \"outer\"\npriority = 5\nkind = \"polling\"\npolicy = \"partitioned-llf\"\nquantum = \"1 ms\"";
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
        + &server("idle", "parent = \"outer\"\npriority = 6\nkind = \"periodic\"\npolicy = \"partitioned-edf\"", 2, 17)
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

/// One core, two levels of servers, deadlines outside, and changes everywhere: in the root, of a server with a scheduler of its own, inside
/// it, and inside one inside that.
fn changing(more: &str) -> String {
    let change = |at: u64, what: &str| format!("[[change]]\nat = \"{at} ms\"\n{what}\n");
    more.to_string()
        + &server("outer", "kind = \"cbs-hard\"\npolicy = \"partitioned-edf\"", 10, 25)
        + &server("inner", "parent = \"outer\"\nkind = \"sporadic\"\npolicy = \"partitioned-fp\"", 4, 60)
        + &server("gone", "kind = \"deferrable\"\npolicy = \"partitioned-edf\"", 2, 40)
        + &task("urgent", 0, "", [2, 20, 2])
        + &task("late", 0, "", [3, 40, 2])
        + &task("o1", 0, "server = \"outer\"", [1, 125, 6])
        + &task("o2", 0, "server = \"outer\"", [7, 100, 3])
        + &task("i1", 0, "server = \"inner\"\npriority = 2", [3, 120, 3])
        + &task("i2", 0, "server = \"inner\"\npriority = 1", [6, 190, 2])
        + &task("g1", 0, "server = \"gone\"", [4, 80, 1])
        + &change(101, "add = \"i2\"")
        + &change(149, "remove = \"gone\"")
        + &change(151, "add = \"late\"")
        + &change(203, "server = \"inner\"\nbudget = \"5 ms\"")
        + &change(247, "server = \"outer\"\nbudget = \"11 ms\"")
        + &change(305, "remove = \"o2\"")
        + &change(333, "task = \"i1\"\nperiod = \"105 ms\"\ndeadline = \"105 ms\"")
        + &change(381, "remove = \"inner\"")
        + &change(387, "add = \"gone\"")
}

/// A task that begins `part` µs after its offset, 73 more for each: so no two begin in the same instant. Without a core it moves
/// among those of its server.
fn apart(part: &mut u64, name: &str, core: Option<usize>, more: &str, times: [u64; 3]) -> String {
    *part += 73;
    let whole = format!("offset = \"{} ms\"", times[0]);
    let text =
        task(name, core.unwrap_or(0), more, times).replace(&whole, &format!("offset = \"{}{part:03} us\"", times[0]));
    if core.is_none() {
        text.replace("core = 0\n", "")
    } else {
        text
    }
}

/// A virtual platform on four cores, any for each of its jobs, and tasks beside it; all so slow that what several schedulers on four
/// emulated cores cost leaves room for promises.
fn platforms(more: &str) -> String {
    let mut part = 0;
    let mut text = more.to_string() + &server("any", "kind = \"cbs-hard\"\npolicy = \"global-fp\"", 25, 60);
    for core in 0..4 {
        let late = core as u64;
        text += &apart(&mut part, &format!("own{core}"), Some(core), "", [5 * late, 5 * (14 + late), 15]);
    }
    for n in 0..5 {
        let priority = format!("server = \"any\"\npriority = {}", 9 - n);
        text += &apart(&mut part, &format!("a{n}"), None, &priority, [5 * (1 + n), 5 * (41 + 3 * n), 15]);
    }
    text
}

/// Three cores, each with a task of its own beside a server on all, in which each core has another task and all share a platform.
/// All so slow that what several schedulers cost leaves room for promises.
fn nested(kind: &str, more: &str) -> String {
    let mut part = 0;
    let inner = format!("parent = \"outer\"\nkind = \"{kind}\"\npriority = 5\npolicy = \"global-fp\"");
    let mut text = more.to_string()
        + &server("outer", "kind = \"cbs-hard\"\npolicy = \"partitioned-fp\"", 20, 40)
        + &server("any", &inner, 35, 240);
    for core in 0..3 {
        let late = core as u64;
        text += &apart(&mut part, &format!("own{core}"), Some(core), "", [5 * late, 20 * (14 + late), 10]);
        let outer = "server = \"outer\"\npriority = 1";
        text += &apart(&mut part, &format!("out{core}"), Some(core), outer, [5 * late + 2, 40 * (15 + late), 10]);
    }
    for n in 0..4 {
        let priority = format!("server = \"any\"\npriority = {}", 9 - n);
        text += &apart(&mut part, &format!("a{n}"), None, &priority, [5 * (1 + n), 20 * (41 + 3 * n), 6]);
    }
    text
}

/// What happens to jobs on a core, in order: each time that one has the core for longer than `short`, and each end.
fn steps(records: &[Record], short: Duration) -> Vec<(Step, Instant)> {
    let mut steps: Vec<(Step, Instant)> = Vec::new();
    let mut runs: Option<(TaskId, u32, Instant)> = None;
    for r in records {
        match (r.kind, r.task) {
            (Kind::Dispatch, Some(task)) => runs = Some((task, r.job, r.time)),
            (Kind::Dropped, Some(task)) if runs.is_none_or(|it| (it.0, it.1) != (task, r.job)) => {}
            (Kind::Preempt | Kind::Complete | Kind::Dropped, Some(task)) => {
                let since = runs.take().map_or(r.time, |(_, _, since)| since);
                let finished = r.kind == Kind::Complete;
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

/// The changes that took effect, and the milliseconds in which they did.
fn changes(trace: &Trace) -> Vec<(u32, u64)> {
    let all = trace.cores.iter().flatten().filter(|it| it.kind == Kind::Changed);
    all.map(|it| (it.job, it.time.as_nanos() / 1_000_000)).collect()
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
            Kind::Enter if turns > 0 && r.time.since(last) < BETWEEN => turns += 1,
            Kind::Enter => {
                all.entry((what, turns)).or_default().push(last.since(first).as_nanos());
                (first, turns) = (r.time, 1);
                what = if r.arg > 0 { "a time-out" } else { "other" };
            }
            Kind::Complete if turns == 1 => what = "a finished job",
            Kind::Leave => last = r.time,
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
fn schedulers_apart_make_the_same_schedule_as_one_for_all_and_as_the_simulator() {
    let scratch = Scratch::new("apart");
    for (name, cores, policy, rest) in [
        ("flat", 1, "partitioned-fp", flat as fn(&str) -> String),
        ("deep", 2, "partitioned-edf", deep),
        ("wide", 4, "partitioned-fp", wide),
        ("kinds", 1, "partitioned-edf", kinds),
        ("changing", 1, "partitioned-edf", changing),
    ] {
        let written = |name: String, key: &str| {
            let path = file(&scratch, &name, cores, policy, &rest(key));
            if !name.starts_with("changing") {
                return path;
            }
            // The same changes are to be admitted, whatever several schedulers cost.
            let text = std::fs::read_to_string(path).expect("it was written");
            scratch.write(&format!("{name}.toml"), &text.replace("[machine]\n", "[machine]\noverheads = false\n"))
        };
        let together = written(name.into(), "");
        let apart = written(format!("{name}-apart"), "schedulers = \"apart\"\n");
        // What an inheriting server used by some microseconds more comes back tens of microseconds later, and in the end one event is
        // moved over another.
        let most: &[&str] = if name == "kinds" { &["--duration", "320 ms"] } else { &[] };
        let simulated = Finished::simulate(&apart, &[most, &["--costs", "none"]].concat()).trace();
        let together = Finished::run(&together, most).trace();
        let apart = Finished::run(&apart, most);
        assert!(apart.components().len() > cores + 3, "{:?}", apart.components());
        let apart = apart.trace();
        // Less than the shortest stretch that the file means.
        let short = Duration::from_micros(LESS * 10);
        let changed = [&simulated, &together, &apart].map(changes);
        assert!(changed.windows(2).all(|pair| pair[0] == pair[1]), "{name}: {changed:?}");
        assert!(changed[0].len() == if name == "changing" { 9 } else { 0 }, "{name}: {changed:?}");
        let (_, first) = same(&format!("{name}: simulated and together"), &simulated, &together, short);
        if name == "flat" {
            let (together, apart) = (costs(&together.cores[0]), costs(&apart.cores[0]));
            println!("{name}: together {together:?}, apart {apart:?}");
            // Up from a server's scheduler to the root's, and down again.
            assert!(together.keys().all(|(_, turns)| *turns == 1) && apart.keys().all(|(_, turns)| *turns <= 3));
        }
        let (count, second) = same(&format!("{name}: simulated and apart"), &simulated, &apart, short);
        let (_, third) = same(&format!("{name}: together and apart"), &together, &apart, short);
        let killed = [&simulated, &together, &apart].map(|trace| {
            let all = trace.cores.iter().flatten();
            let killed = all.filter(|it| it.kind == Kind::Dropped && it.arg == KILLED);
            killed.filter_map(|it| Some((it.task?, it.job))).collect::<BTreeSet<_>>()
        });
        let [wanted, once, noticed] = &killed;
        assert!(once == wanted && wanted.is_empty() == (name != "kinds"), "{killed:?}");
        // Of a job that waits its scheduler notices so when it has the core again, perhaps not before the run ends.
        assert!(noticed.is_subset(wanted) && noticed.len() + 1 >= wanted.len(), "{killed:?}");
        println!(
            "{name}: {count} steps the same; times differ by {first} together, {second} apart, {third} from each other; {} jobs killed",
            killed[0].len()
        );
        // What entries cost, with the turns that emulated cores take; less than what jobs need less than their round times.
        assert!(second < Duration::from_micros(LESS * 8), "{name}: {second}");
    }
}

/// Which core a job runs on may differ from what it is with one scheduler for all: a core that is asked for answers some
/// microseconds later. What must hold holds: every promise, every rule of schedules (no core idles beside work that it could do,
/// among them), and every job is done.
#[test]
fn a_platform_with_a_scheduler_of_its_own_keeps_every_promise() {
    let (together, apart) = kept("platform", 4, platforms, "800 ms");
    // One may end just after the run.
    assert!(together > 60 && together.abs_diff(apart) <= 1, "{together} and {apart}");
}

/// The same where the server around it has a scheduler of its own as well, which is lent its cores itself.
#[test]
fn a_platform_inside_a_server_keeps_every_promise_where_both_have_schedulers_of_their_own() {
    let (together, apart) = kept("nested", 3, |more| nested("deferrable", more), "1600 ms");
    assert!(together > 25 && together.abs_diff(apart) <= 1, "{together} and {apart}");
}

/// The budget of the platform goes while it has nothing to run, on each core while it is the most urgent inside its server.
#[test]
fn a_periodic_platform_inside_a_server_keeps_every_promise_where_both_have_schedulers_of_their_own() {
    let (together, apart) = kept("nested-periodic", 3, |more| nested("periodic", more), "1600 ms");
    assert!(together > 25 && together.abs_diff(apart) <= 1, "{together} and {apart}");
}

/// How many jobs are done with one scheduler for all, and where each server has its own. All promises are kept.
fn kept(name: &str, cores: usize, rest: impl Fn(&str) -> String, time: &str) -> (usize, usize) {
    let scratch = Scratch::new(&format!("{name}-apart"));
    let jobs = |name: &str, key: &str| {
        let path = file(&scratch, name, cores, "partitioned-edf", &rest(key));
        let text = std::fs::read_to_string(&path).expect("it was written");
        let text = text.replacen(&format!("duration = \"{RUN}\""), &format!("duration = \"{time}\""), 1);
        let finished = Finished::run(&scratch.write(&format!("{name}.toml"), &text), &[]);
        assert!(finished.summary.accepted() && finished.summary.kept(), "{name}");
        finished.trace().cores.iter().flatten().filter(|it| it.kind == Kind::Complete).count()
    };
    let both = (jobs(name, ""), jobs(&format!("{name}-apart"), "schedulers = \"apart\"\n"));
    println!("{name}: {both:?} jobs");
    both
}

/// So many on so slow a machine that each is interrupted while it sets up, by the others' turns: all are ready when the run begins.
#[test]
fn many_schedulers_are_ready_when_the_run_begins() {
    let scratch = Scratch::new("many-apart");
    let mut text = "schedulers = \"apart\"\n".to_string();
    for n in 0..8 {
        let (outer, inner) = (format!("outer{n}"), format!("inner{n}"));
        text += &server(&outer, "kind = \"cbs-hard\"\npolicy = \"partitioned-edf\"", 1, 10);
        let more = format!("parent = \"{outer}\"\nkind = \"deferrable\"\npolicy = \"partitioned-rm\"");
        text += &server(&inner, &more, 1, 10);
        for core in 0..8 {
            text += &task(&format!("t{n}-{core}"), core, &format!("server = \"{inner}\""), [0, 10, 1]);
        }
        // Of whom something changes each knows the whole tree on each core.
        text += &format!("[[change]]\nat = \"{} ms\"\nserver = \"{outer}\"\nbudget = \"1100 us\"\n", 12 + n);
    }
    let path = file(&scratch, "many", 8, "partitioned-edf", &text);
    let slow = std::fs::read_to_string(&path)
        .expect("it was written")
        .replace("instruction = \"1 ns\"", "instruction = \"4 ns\"");
    let run = Finished::run(&scratch.write("many.toml", &slow), &["--duration", "20 ms"]);
    for (core, records) in run.trace().cores.iter().enumerate() {
        let first = records.iter().find(|it| it.kind == Kind::Release).map(|it| it.time);
        assert!(first.is_some_and(|at| at < Instant::from_nanos(1_000_000)), "core {core}: {first:?}");
    }
}

#[test]
fn random_trees_with_schedulers_apart_do_on_the_machine_what_they_do_in_the_simulator() {
    let folder = Scratch::new("agree-apart");
    let out = folder.path().join("agree");
    let words = ["agree", "--apart", "--systems", "16", "--duration", "200 ms", "--shift", "2", "--out"];
    let said = tactus(words.iter().map(std::ffi::OsStr::new).chain([out.as_os_str()]));
    assert_eq!(said.status, 0, "{}{}", said.output, said.errors);
    // Beside a free simulation most are compared until a race; what cannot be drawn is told.
    let verdict = ["all agree", "none disagrees: "].iter().any(|words| said.output.contains(words));
    assert!(verdict && !said.output.contains("DISAGREES"), "{}", said.output);
}

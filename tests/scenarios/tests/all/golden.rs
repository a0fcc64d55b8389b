//! Small systems have one schedule, drawn in `golden/`, in the simulator and on the machine.
//!
//! A drawing has a row for each task and a column for each unit: the core's number where a job runs, `g` where a ghost
//! uses up its budget. Below it stands the same as a list, ghosts in brackets. Times are rounded to the nearest unit;
//! what the system's own work takes of a unit does not show.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use tactus_record::EventKind;
use tactus_scenarios::{file, tactus, Finished, Scratch};
use tactus_time::{Duration, TaskId};

/// One unit of time in all drawings.
const UNIT: Duration = Duration::from_millis(10);

/// A stretch of a core's schedule, in units.
struct Stretch {
    core: usize,
    start: usize,
    end: usize,
    /// Nothing while the core is idle.
    runs: Option<String>,
    ghosts: Vec<String>,
}

/// The list that `tactus trace` gives, cut off after so many units.
fn stretches(results: &Finished, units: usize) -> Vec<Stretch> {
    let said = tactus(["trace".as_ref(), results.file("trace.bin").as_os_str(), "--unit".as_ref(), "10 ms".as_ref()]);
    assert_eq!(said.status, 0, "{}", said.errors);
    let mut all = Vec::new();
    for (core, line) in said.output.lines().enumerate() {
        let line = line.split_once(": ").map_or(line, |(_, rest)| rest);
        all.extend(line.split(" | ").map(|part| stretch(core, part)));
    }
    all.retain(|it| it.start < units);
    all.iter_mut().for_each(|it| it.end = it.end.min(units));
    all
}

/// Reads `[7,8) T5 (T1,T4)`.
fn stretch(core: usize, part: &str) -> Stretch {
    let read = || {
        let (times, what) = part.strip_prefix('[')?.split_once(") ")?;
        let (start, end) = times.split_once(',')?;
        let (runs, ghosts) = match what.split_once(" (") {
            Some((runs, ghosts)) => (runs, ghosts.strip_suffix(')')?.split(',').map(str::to_string).collect()),
            None => (what, Vec::new()),
        };
        let runs = (runs != "idle").then(|| runs.to_string());
        Some(Stretch { core, start: start.parse().ok()?, end: end.parse().ok()?, runs, ghosts })
    };
    read().unwrap_or_else(|| panic!("not a stretch of a schedule: {part}"))
}

/// The drawing and the list.
fn drawn(tasks: &[&str], units: usize, all: &[Stretch]) -> String {
    let names = tasks.iter().map(|task| task.len()).max().unwrap_or(0);
    let mut out = format!("{:names$}  ", "");
    (0..=units / 10).for_each(|ten| out += &format!("{:<10}", ten * 10));
    out.truncate(out.trim_end().len());
    out.push('\n');
    for task in tasks {
        let mut row = vec![' '; units];
        for it in all {
            let cells = &mut row[it.start..it.end];
            if it.runs.as_deref() == Some(*task) {
                cells.fill(char::from(b'0' + it.core as u8));
            } else if it.ghosts.iter().any(|ghost| ghost == task) {
                cells.fill('g');
            }
        }
        let row: String = row.into_iter().collect();
        out += format!("{task:names$}  {row}").trim_end();
        out.push('\n');
    }
    let several = all.iter().any(|it| it.core > 0);
    let mut last = None;
    for it in all {
        // A line for each core and ten units.
        let line = (it.core, it.start / 10);
        match last {
            Some(last) if last == line => out += " | ",
            Some((core, _)) if core == it.core => out.push('\n'),
            _ if several => {
                let gap = if last.is_some() { "\n\n" } else { "\n" };
                let _ = writeln!(out, "{gap}core {}", it.core);
            }
            _ => out.push('\n'),
        }
        last = Some(line);
        let _ = write!(out, "[{},{}) {}", it.start, it.end, it.runs.as_deref().unwrap_or("idle"));
        if !it.ghosts.is_empty() {
            let _ = write!(out, " ({})", it.ghosts.join(","));
        }
    }
    out + "\n"
}

/// Holds a schedule against the golden file; its lines that begin with `#` are for people.
fn compare(verb: &str, name: &str, got: &str) {
    let path = file("tests/scenarios/golden").join(name);
    let golden = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let golden: String = golden.lines().filter(|line| !line.starts_with('#')).map(|line| format!("{line}\n")).collect();
    assert!(
        golden.trim_matches('\n') == got.trim_matches('\n'),
        "{verb} differs from {name}\n--- golden\n{golden}\n--- {verb}\n{got}"
    );
    println!("{verb} gives {name}:\n{got}");
}

/// Simulates and runs the system and compares both with the same golden file. Gives both.
fn both(system: &Path, more: &[&str], tasks: &[&str], units: usize, name: &str) -> [Finished; 2] {
    let results = [Finished::simulate(system, more), Finished::run(system, more)];
    for (verb, results) in ["simulate", "run"].iter().zip(&results) {
        compare(verb, name, &drawn(tasks, units, &stretches(results, units)));
    }
    results
}

const SEVEN: [&str; 7] = ["T1", "T2", "T3", "T4", "T5", "T6", "T7"];

/// When the task's first jobs were completed, in units, rounded to the nearest.
fn completions(results: &Finished, task: u16) -> Vec<u64> {
    let jobs = tactus_trace::jobs(&results.trace());
    let ends = jobs.iter().filter(|job| job.task == TaskId(task)).filter_map(|job| job.completed);
    ends.map(|end| (end.as_nanos() + UNIT.as_nanos() / 2) / UNIT.as_nanos()).collect()
}

fn missed(results: &Finished, tasks: &[&str]) -> u64 {
    tasks.iter().map(|task| results.summary.task(task).missed()).sum()
}

#[test]
fn the_worked_example_at_level_c_times_is_as_published_with_nested_ghosts() {
    let system = file("examples/mc2-example.toml");
    let more = ["--at-level", "C", "--duration", "200 ms"];
    for results in both(&system, &more, &SEVEN, 20, "mc2-level-c.txt") {
        assert_eq!(missed(&results, &SEVEN[..6]), 0, "levels A to C are on time");
        assert_eq!(completions(&results, 4), [9, 18], "T5");
        assert_eq!(completions(&results, 5), [19], "T6");
        assert_eq!(results.said.status, 0, "{}", results.said.output);
    }
    // The file asks for level-C times by itself.
    both(&system, &["--duration", "200 ms"], &SEVEN, 20, "mc2-level-c.txt");
}

#[test]
fn the_worked_example_at_level_b_times_is_as_published_and_only_level_c_is_late() {
    let system = file("examples/mc2-example.toml");
    let more = ["--at-level", "B", "--duration", "210 ms"];
    let [simulated, run] = both(&system, &more, &SEVEN, 20, "mc2-level-b.txt");
    for results in [&simulated, &run] {
        assert_eq!(missed(results, &SEVEN[..4]), 0, "levels A and B are on time");
    }
    assert_eq!(completions(&simulated, 4), [20], "T5 is late by 10 units");
    // On the machine its two units lack what the system's own work took of the first twenty; nothing more.
    assert!(completions(&run, 4).is_empty());
}

#[test]
fn the_worked_example_at_level_a_times_runs_nothing_but_its_table() {
    // The table leaves no room for the system's own work, so on the machine jobs end microseconds after their slots.
    both(
        &file("examples/mc2-example.toml"),
        &["--at-level", "A", "--duration", "200 ms"],
        &SEVEN,
        20,
        "mc2-level-a.txt",
    );
}

/// The machine of another processor, whose scheduler for this policy is compiled for it first.
#[test]
#[ignore = "compiles for another processor; run with --ignored"]
fn on_aarch64_the_worked_example_draws_the_same_schedules_at_all_levels() {
    if !crate::processors::is_here() {
        return;
    }
    for (level, duration) in [("A", "200 ms"), ("B", "210 ms"), ("C", "200 ms")] {
        let more = ["--at-level", level, "--duration", duration, "--processor", "aarch64"];
        let run = Finished::run(&file("examples/mc2-example.toml"), &more);
        let name = format!("mc2-level-{}.txt", level.to_lowercase());
        compare("run", &name, &drawn(&SEVEN, 20, &stretches(&run, 20)));
    }
}

#[test]
fn without_enforcement_the_worked_example_at_level_c_times_is_the_same() {
    let scratch = Scratch::new("golden");
    let text = fs::read_to_string(file("examples/mc2-example.toml")).expect("an example");
    let text = text.replace("kind = \"mc2\"", "kind = \"mc2\"\nenforce = false");
    assert!(text.contains("enforce"));
    let system = scratch.write("unenforced.toml", &text);
    both(&system, &["--duration", "200 ms"], &SEVEN, 20, "mc2-level-c.txt");
}

/// The budgets that the policy was set up with, by task: each is written down when it is filled.
fn budgets(results: &Finished) -> BTreeMap<TaskId, Vec<u64>> {
    let mut budgets = BTreeMap::<TaskId, Vec<u64>>::new();
    for record in results.trace().cores.iter().flatten().filter(|record| record.kind == EventKind::Replenish) {
        budgets.entry(record.task.expect("a budget is a task's")).or_default().push(record.arg);
    }
    budgets.values_mut().for_each(|all| all.dedup());
    budgets
}

#[test]
fn simulator_and_machine_are_set_up_with_the_same_budgets_and_no_job_of_the_worked_example_exhausts_one() {
    for system in ["examples/mc2-example.toml", "examples/avionics.toml"] {
        let more = ["--duration", "200 ms"];
        let [simulated, run] = [Finished::simulate(&file(system), &more), Finished::run(&file(system), &more)];
        assert!(budgets(&simulated).len() >= 6);
        assert_eq!(budgets(&simulated), budgets(&run), "{system}");
        let exhausted = |results: &Finished| {
            results.trace().cores.iter().flatten().filter(|record| record.kind == EventKind::Exhausted).count()
        };
        assert_eq!((exhausted(&simulated), exhausted(&run)), (0, 0), "{system}");
    }
}

/// The set of Liu and Layland's kind that rate-monotonic priorities cannot schedule and deadlines can, on core 0, and
/// another on core 1. Units are 10 ms.
fn partitioned(kind: &str) -> String {
    let task = |name, core, period, execution| {
        format!(
            "[[task]]\nname = \"{name}\"\ncore = {core}\nperiod = \"{period} ms\"\nexecution = \"{execution} ms\"\n"
        )
    };
    [
        format!("[system]\ncores = 2\nduration = \"350 ms\"\n[policy]\nkind = \"{kind}\"\n"),
        task("a", 0, 50, 20),
        task("b", 0, 70, 40),
        task("c", 1, 40, 10),
        task("d", 1, 60, 20),
        task("e", 1, 80, 30),
    ]
    .concat()
}

/// Four tasks that move between two cores. No job ends when another is released: which of the two comes first would
/// depend on the system's own work. The first releases come after the start, when the cores come in no fixed order.
fn global(kind: &str) -> String {
    let task = |name, period, execution| {
        format!("[[task]]\nname = \"{name}\"\noffset = \"10 ms\"\nperiod = \"{period} ms\"\nexecution = \"{execution} ms\"\n")
    };
    [
        format!("[system]\ncores = 2\nduration = \"310 ms\"\n[policy]\nkind = \"{kind}\"\n"),
        task("a", 50, 22),
        task("b", 70, 41),
        task("c", 80, 33),
        task("d", 110, 44),
    ]
    .concat()
}

/// The same four tasks in a cluster of cores 0 and 2, and two in one of core 1.
fn clustered(kind: &str) -> String {
    let whole = global(kind).replace("cores = 2", "cores = 3").replace("[[task]]\n", "[[task]]\ncluster = 0\n");
    let task = |name, period, execution| {
        format!("[[task]]\nname = \"{name}\"\ncluster = 1\noffset = \"10 ms\"\nperiod = \"{period} ms\"\nexecution = \"{execution} ms\"\n")
    };
    let policy = format!("kind = \"{kind}\"\n");
    let whole = whole.replace(&policy, &format!("{policy}clusters = [[0, 2], [1]]\n"));
    [whole, task("e", 50, 19), task("f", 70, 39)].concat()
}

fn policy(kind: &str, system: fn(&str) -> String, tasks: &[&str], units: usize, late: &str) {
    let scratch = Scratch::new("golden");
    let file = scratch.write(&format!("{kind}.toml"), &system(kind));
    let queues = match kind.split('-').next() {
        Some("partitioned") => Queues::ForEachCore,
        Some("global") => Queues::One,
        _ => Queues::ForClusters,
    };
    for results in both(&file, &[], tasks, units, &format!("{kind}.txt")) {
        for task in tasks {
            assert_eq!(results.summary.task(task).missed() > 0, late.contains(task), "deadlines of {task}");
        }
        events_between_cores(&results, queues);
    }
}

/// Who shares a queue of jobs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Queues {
    ForEachCore,
    /// Cores 0 and 2, and core 1.
    ForClusters,
    One,
}

/// Events between cores, in simulator and machine alike: none but among those that share a queue, and there are some.
fn events_between_cores(results: &Finished, queues: Queues) {
    let sent: Vec<(usize, u64)> = results
        .trace()
        .cores
        .iter()
        .enumerate()
        .flat_map(|(core, records)| records.iter().map(move |record| (core, record)))
        .filter(|(_, record)| record.kind == EventKind::Notify)
        .map(|(core, record)| (core, record.arg))
        .collect();
    assert_eq!(sent.is_empty(), queues == Queues::ForEachCore, "{sent:?}");
    assert!(sent.iter().all(|(from, to)| *from as u64 != *to), "a core sends itself none: {sent:?}");
    if queues == Queues::ForClusters {
        assert!(sent.iter().all(|event| [(0, 2), (2, 0)].contains(event)), "{sent:?}");
    }
}

#[test]
fn partitioned_rate_monotonic_draws_its_golden_schedule() {
    policy("partitioned-rm", partitioned, &["a", "b", "c", "d", "e"], 35, "be");
}

#[test]
fn partitioned_edf_draws_its_golden_schedule_and_meets_deadlines_that_rate_monotonic_misses() {
    policy("partitioned-edf", partitioned, &["a", "b", "c", "d", "e"], 35, "");
}

#[test]
fn global_rate_monotonic_draws_its_golden_schedule() {
    policy("global-rm", global, &["a", "b", "c", "d"], 31, "d");
}

#[test]
fn global_edf_draws_its_golden_schedule_and_meets_deadlines_that_rate_monotonic_misses() {
    policy("global-edf", global, &["a", "b", "c", "d"], 31, "");
}

#[test]
fn clusters_draw_the_schedules_of_as_many_cores_by_themselves() {
    policy("clustered-rm", clustered, &["a", "b", "c", "d", "e", "f"], 31, "df");
    policy("clustered-edf", clustered, &["a", "b", "c", "d", "e", "f"], 31, "");
}

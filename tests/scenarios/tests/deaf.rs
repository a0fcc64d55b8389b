//! Level A is deaf to the rest: what the levels below do, overruns included, does not move it.
//!
//! Each system is executed with its level-A tasks alone and with levels B, C and D on the same cores, whose jobs ask for many
//! times what they declare. In the simulator, where the system's own work takes no time, every release, start and
//! completion of level A is the same to the nanosecond. On the machine the nominal releases, slots, cores and order are
//! the same; times move by what the kernel and the scheduler happen to do for others at that moment, which is held to the
//! costs measured in that run (on several emulated cores also to a turn of each), never by what lower levels take.

use std::collections::BTreeMap;
use tactus_record::Kind;
use tactus_scenarios::{Finished, Scratch};
use tactus_time::{CoreId, Duration, Instant, TaskId};

/// Level-A tasks on each core; they come first in the file, so their numbers are the same with and without the rest.
const A_PER_CORE: usize = 2;

/// The system on so many cores. Below level A everybody overruns: by 9 times at B, 12 at C and 20 at D.
fn system(cores: usize, enforce: bool, others: bool, duration: &str) -> String {
    let mut text = format!(
        "[system]\nname = \"deaf\"\ncores = {cores}\nduration = \"{duration}\"\n[policy]\nkind = \"mc2\"\n\
         enforce = {enforce}\n[machine]\noverheads = false\n"
    );
    let mut task = |name: String, level, core: Option<usize>, period, execution: &str, actual: &str| {
        let core = core.map_or(String::new(), |core| format!("core = {core}\n"));
        text += &format!(
            "[[task]]\nname = \"{name}\"\nlevel = \"{level}\"\n{core}period = \"{period} us\"\nexecution = {execution}\n\
             actual = {actual}\n"
        );
    };
    for core in 0..cores {
        let times = "{ A = \"2 ms\", B = \"1600 us\", C = \"1500 us\" }";
        task(format!("a{core}"), "A", Some(core), 10_000, times, "{ min = \"1 ms\", max = \"1500 us\" }");
        let times = "{ A = \"5 ms\", B = \"4 ms\", C = \"3 ms\" }";
        task(format!("aa{core}"), "A", Some(core), 20_000, times, "{ min = \"2 ms\", max = \"3 ms\" }");
    }
    for core in 0..if others { cores } else { 0 } {
        task(format!("b{core}"), "B", Some(core), 15_000, "{ B = \"1 ms\", C = \"1 ms\" }", "\"9 ms\"");
        task(format!("bb{core}"), "B", Some(core), 23_000, "{ B = \"1 ms\", C = \"1 ms\" }", "\"30 ms\"");
        task(format!("c{core}"), "C", None, 7_000, "{ C = \"500 us\" }", "\"6 ms\"");
        task(format!("cc{core}"), "C", None, 3_100, "{ C = \"300 us\" }", "\"5 ms\"");
        task(format!("d{core}"), "D", None, 1_900, "\"200 us\"", "\"4 ms\"");
    }
    text
}

/// What befell a job of level A.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Fate {
    release: Instant,
    started: Instant,
    completed: Instant,
    charged: Duration,
    core: Option<CoreId>,
}

/// What happened to jobs on one core, in order.
type Order = Vec<(Kind, TaskId, u32)>;

/// The jobs of level A that were completed, and the order in which each core started and completed them.
fn level_a(results: &Finished, cores: usize) -> (BTreeMap<(TaskId, u32), Fate>, Vec<Order>) {
    let is_a = |task: TaskId| task.index() < cores * A_PER_CORE;
    let trace = results.trace();
    let fates = tactus_trace::jobs(&trace).into_iter().filter(|job| is_a(job.task)).filter_map(|job| {
        let (started, completed) = (job.started?, job.completed?);
        Some((
            (job.task, job.job),
            Fate { release: job.release, started, completed, charged: job.charged, core: job.core },
        ))
    });
    let order =
        trace.cores.iter().map(|records| {
            let steps =
                records.iter().filter_map(|record| {
                    let task = record.task.filter(|task| is_a(*task))?;
                    matches!(record.kind, Kind::Dispatch | Kind::Complete | Kind::Preempt | Kind::Exhausted)
                        .then_some((record.kind, task, record.job))
                });
            steps.collect()
        });
    (fates.collect(), order.collect())
}

type Execute = fn(&std::path::Path, &[&str]) -> Finished;

/// Level A alone and with the others. Says how much the others overrun.
fn both(execute: Execute, cores: usize, enforce: bool, duration: &str) -> [Finished; 2] {
    let scratch = Scratch::new("deaf");
    let alone = scratch.write("alone.toml", &system(cores, enforce, false, duration));
    let with = scratch.write("with.toml", &system(cores, enforce, true, duration));
    let both = [execute(&alone, &[]), execute(&with, &[])];
    let late = |name: &str| both[1].summary.task(name).missed();
    assert!(late("b0") > 5 && late("c0") > 5 && late("d0") > 5, "the levels below do not overrun");
    for results in &both {
        for core in 0..cores {
            assert_eq!(results.summary.task(&format!("a{core}")).missed(), 0);
            assert_eq!(results.summary.task(&format!("aa{core}")).missed(), 0);
        }
    }
    both
}

#[test]
fn in_the_simulator_level_a_is_the_same_to_the_nanosecond_with_and_without_overrunning_lower_levels() {
    for (cores, enforce) in [(1, true), (1, false), (2, true), (4, true), (4, false), (8, true)] {
        let [alone, with] = both(Finished::simulate, cores, enforce, "1 s").map(|results| level_a(&results, cores));
        assert_eq!(alone.0.len(), cores * 150, "jobs of level A");
        assert_eq!(alone, with, "{cores} cores, enforced: {enforce}");
        println!("simulated, {cores} cores, enforced: {enforce}: {} jobs of level A identical", alone.0.len());
    }
}

/// The longest time that one entry of the scheduler took from jobs in this run, noticing it included.
fn entry(results: &Finished) -> Duration {
    let text = results.text("costs.toml");
    let cost = |key: &str| {
        let line = text.lines().find(|line| line.starts_with(key)).unwrap_or_else(|| panic!("no {key} in {text}"));
        let nanos =
            line.split_once("= \"").and_then(|(_, rest)| rest.strip_suffix(" ns\"")).and_then(|n| n.parse().ok());
        Duration::from_nanos(nanos.unwrap_or_else(|| panic!("{line} is no length")))
    };
    cost("release").max(cost("complete")).max(cost("inter_core")) + cost("schedule") + cost("switch")
}

/// The largest difference and how many are the same to the nanosecond.
fn apart(pairs: impl Iterator<Item = (Instant, Instant)>) -> (Duration, usize) {
    let between = |(a, b): (Instant, Instant)| if a < b { b.since(a) } else { a.since(b) };
    let all: Vec<Duration> = pairs.map(between).collect();
    (all.iter().copied().max().unwrap_or_default(), all.iter().filter(|d| d.is_zero()).count())
}

fn on_the_machine(cores: usize, enforce: bool, duration: &str) {
    let runs = both(Finished::run, cores, enforce, duration);
    // As measured in the run with all levels: one entry that level A meets, and one for what ends the job.
    let allowed = entry(&runs[1]) * 2;
    let [alone, with] = runs.map(|results| level_a(&results, cores));
    assert_eq!(alone.1, with.1, "level A's order on each core");
    assert_eq!(alone.0.len(), with.0.len());
    for ((name, a), (other, b)) in alone.0.iter().zip(&with.0) {
        assert_eq!((name, a.release, a.core), (other, b.release, b.core));
    }
    let pairs = || alone.0.values().zip(with.0.values());
    let (starts, same_starts) = apart(pairs().map(|(a, b)| (a.started, b.started)));
    let (ends, same_ends) = apart(pairs().map(|(a, b)| (a.completed, b.completed)));
    println!(
        "run, {cores} cores, enforced: {enforce}: {} jobs of level A; same release, core and order; starts at most {starts} apart \
         ({same_starts} identical), completions {ends} ({same_ends} identical); allowed {allowed}",
        alone.0.len()
    );
    assert!(starts <= allowed && ends <= allowed, "starts {starts}, completions {ends}, allowed {allowed}");
}

#[test]
fn on_one_core_of_the_machine_overrunning_lower_levels_move_level_a_by_no_more_than_an_entry_of_the_scheduler() {
    on_the_machine(1, true, "1 s");
    on_the_machine(1, false, "1 s");
}

#[test]
fn on_four_cores_of_the_machine_overrunning_lower_levels_move_level_a_by_no_more_than_entries_and_turns() {
    on_the_machine(4, true, "400 ms");
    on_the_machine(4, false, "400 ms");
}

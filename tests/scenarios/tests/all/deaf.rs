//! Level A is deaf to the rest: what the levels below do, overruns included, does not move it.
//!
//! Each system is executed with its level-A tasks alone and with levels B, C and D on the same cores, whose jobs keep to
//! what they declare or ask for 9 to 30 times that. In the simulator, where the system's own work takes no time, every
//! release, start and completion of level A is the same to the nanosecond.
//!
//! So it is on one core of the machine, but for starts: a job's slot is its own from the nominal start, so that when the
//! scheduler notices the start, which depends on what it interrupts, changes nothing about when the job is finished.
//! What happens, happens between two instructions. Where one takes 1 ns, times are identical to the nanosecond. Where one
//! takes longer, the core wakes from idleness to a row of instructions that lies by less than one instruction elsewhere,
//! depending on what ended before, and times are identical to that.
//!
//! Several emulated cores share one virtual time in turns: what a core does takes time from the others' clocks, so that
//! no two runs in which another core does something else can have the same times. There nominal releases, cores and order
//! are the same, and times move by no more than the costs measured in that run, which hold a turn of each core, never by
//! what lower levels take.

use std::collections::BTreeMap;
use tactus_record::EventKind;
use tactus_scenarios::{Finished, Scratch};
use tactus_time::{CoreId, Duration, Instant, TaskId};

/// What an instruction takes on the machine (ns) where the test is not about that.
const INSTRUCTION: u64 = 2;
/// Level-A tasks on each core; they come first in the file, so their numbers are the same with and without the rest.
const A_PER_CORE: usize = 2;
/// And in the crowded system.
const A_CROWDED: usize = 3;

/// What the levels below A do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Others {
    Absent,
    /// They keep to what they declare.
    Keep,
    /// They ask for many times that.
    Overrun,
}

/// The system on so many cores. Where the others overrun, they do so by 9 to 30 times at B, 12 to 17 at C and 20 at D.
fn system(cores: usize, instruction: u64, enforce: bool, others: Others, duration: &str) -> String {
    let mut text = format!(
        "[system]\nname = \"deaf\"\ncores = {cores}\nduration = \"{duration}\"\n[policy]\nkind = \"mc2\"\n\
         enforce = {enforce}\n[machine]\noverheads = false\ninstruction = \"{instruction} ns\"\n"
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
    let asks = |kept: &str, overrun: &str| format!("\"{}\"", if others == Others::Keep { kept } else { overrun });
    for core in 0..if others == Others::Absent { 0 } else { cores } {
        let b = "{ B = \"1 ms\", C = \"1 ms\" }";
        task(format!("b{core}"), "B", Some(core), 15_000, b, &asks("1 ms", "9 ms"));
        task(format!("bb{core}"), "B", Some(core), 23_000, b, &asks("1 ms", "30 ms"));
        task(format!("c{core}"), "C", None, 7_000, "{ C = \"500 us\" }", &asks("500 us", "6 ms"));
        task(format!("cc{core}"), "C", None, 3_100, "{ C = \"300 us\" }", &asks("300 us", "5 ms"));
        task(format!("d{core}"), "D", None, 1_900, "\"200 us\"", &asks("200 us", "4 ms"));
    }
    text
}

/// Another system on one core: level-A jobs in split slots, and below them short ones whose releases, budgets and ends
/// come as close to the slots' bounds as they can. Overruns are by 10 times at B, 20 at C and 30 at D.
fn crowded(instruction: u64, enforce: bool, others: Others, duration: &str) -> String {
    let mut text = format!(
        "[system]\nname = \"crowded\"\ncores = 1\nduration = \"{duration}\"\n[policy]\nkind = \"mc2\"\n\
         enforce = {enforce}\n[machine]\noverheads = false\ninstruction = \"{instruction} ns\"\n"
    );
    let mut task = |name: &str, level, period: u64, execution: &str, actual: &str| {
        let core = if level <= 'B' { "core = 0\n" } else { "" };
        text += &format!(
            "[[task]]\nname = \"{name}\"\nlevel = \"{level}\"\n{core}period = \"{period} us\"\nexecution = {execution}\n\
             actual = {actual}\n"
        );
    };
    let a = |a: u64, bc: u64| format!("{{ A = \"{a} us\", B = \"{bc} us\", C = \"{bc} us\" }}");
    task("a0", 'A', 4_000, &a(900, 700), "{ min = \"200 us\", max = \"850 us\" }");
    task("aa0", 'A', 10_000, &a(2_000, 1_500), "{ min = \"900 us\", max = \"1900 us\" }");
    task("aaa0", 'A', 20_000, &a(3_500, 2_000), "{ min = \"1 ms\", max = \"3400 us\" }");
    let asks = |execution: u64, times: u64| {
        format!("\"{} us\"", execution * if others == Others::Overrun { times } else { 1 })
    };
    if others != Others::Absent {
        task("b0", 'B', 2_000, "{ B = \"100 us\", C = \"100 us\" }", &asks(100, 10));
        task("bb0", 'B', 1_300, "{ B = \"30 us\", C = \"30 us\" }", &asks(30, 10));
        task("c0", 'C', 1_000, "{ C = \"50 us\" }", &asks(50, 20));
        task("cc0", 'C', 997, "{ C = \"20 us\" }", &asks(20, 20));
        task("d0", 'D', 500, "\"10 us\"", &asks(10, 30));
        task("dd0", 'D', 333, "\"5 us\"", &asks(5, 30));
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
type Order = Vec<(EventKind, TaskId, u32)>;

/// The jobs of level A, of which there are so many tasks, that were completed, and the order in which each core started
/// and completed them.
fn level_a(results: &Finished, tasks: usize) -> (BTreeMap<(TaskId, u32), Fate>, Vec<Order>) {
    let is_a = |task: TaskId| task.index() < tasks;
    let trace = results.trace();
    let fates = tactus_trace::jobs(&trace).into_iter().filter(|job| is_a(job.task)).filter_map(|job| {
        let (started, completed) = (job.started?, job.completed?);
        Some((
            (job.task, job.job),
            Fate { release: job.release, started, completed, charged: job.charged, core: job.core },
        ))
    });
    let order = trace.cores.iter().map(|records| {
        let steps = records.iter().filter_map(|record| {
            let task = record.task.filter(|task| is_a(*task))?;
            matches!(record.kind, EventKind::Dispatch | EventKind::Complete | EventKind::Preempt | EventKind::Exhausted)
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
    let alone = scratch.write("alone.toml", &system(cores, INSTRUCTION, enforce, Others::Absent, duration));
    let with = scratch.write("with.toml", &system(cores, INSTRUCTION, enforce, Others::Overrun, duration));
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
        let both = both(Finished::simulate, cores, enforce, "1 s");
        let [alone, with] = both.map(|results| level_a(&results, cores * A_PER_CORE));
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

/// Several cores.
fn on_the_machine(cores: usize, enforce: bool, duration: &str) {
    let runs = both(Finished::run, cores, enforce, duration);
    // As measured in the run with all levels: one entry that level A meets, and one for what ends the job.
    let allowed = entry(&runs[1]) * 2;
    let [alone, with] = runs.map(|results| level_a(&results, cores * A_PER_CORE));
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

type Fates = Vec<((TaskId, u32), Fate)>;

/// Executes a system on one core with the lower levels absent, keeping to their times and overrunning, and gives what
/// befell level A. Its order must be the same. A start is noticed when it is, and left out.
fn on_one_core(system: &dyn Fn(Others) -> String, tasks: usize, seed: &str) -> [Fates; 3] {
    let scratch = Scratch::new("deaf");
    let results = [Others::Absent, Others::Keep, Others::Overrun].map(|others| {
        let file = scratch.write("system.toml", &system(others));
        Finished::run(&file, &["--seed", seed])
    });
    for name in ["b0", "c0", "d0"] {
        let missed = |n: usize| results[n].summary.task(name).missed();
        assert!(missed(2) > 5 && missed(2) > missed(1), "{name} does not overrun");
    }
    let level_a = results.map(|results| level_a(&results, tasks));
    assert!(level_a[0].1 == level_a[1].1 && level_a[0].1 == level_a[2].1, "level A's order");
    level_a.map(|(fates, _)| {
        fates.into_iter().map(|(name, fate)| (name, Fate { started: fate.release, ..fate })).collect()
    })
}

#[test]
fn on_one_core_of_the_machine_level_a_is_the_same_to_the_nanosecond_whatever_the_lower_levels_do() {
    let mut jobs = 0;
    for (enforce, seed) in [(true, "1"), (false, "2")] {
        let usual = |others| system(1, 1, enforce, others, "200 ms");
        let crowded = |others| crowded(1, enforce, others, "200 ms");
        for (system, tasks) in [(&usual as &dyn Fn(Others) -> String, A_PER_CORE), (&crowded, A_CROWDED)] {
            let [absent, keep, overrun] = on_one_core(system, tasks, seed);
            for (others, which) in [(keep, Others::Keep), (overrun, Others::Overrun)] {
                assert_eq!(absent.len(), others.len());
                let first = absent.iter().zip(&others).find(|(a, b)| a != b);
                assert_eq!(first, None, "{which:?}, {tasks} tasks, enforced: {enforce}, seed {seed}");
            }
            jobs += absent.len();
        }
    }
    println!("run, one core: all of {jobs} jobs of level A have identical times, lower levels absent, keeping to theirs, overrunning");
    assert_eq!(jobs, 2 * (20 + 10 + 50 + 20 + 10));
}

#[test]
fn on_one_core_of_a_machine_with_longer_instructions_level_a_is_the_same_to_the_instruction() {
    for (enforce, instruction) in [(true, INSTRUCTION), (false, INSTRUCTION), (true, 8), (false, 8)] {
        let crowded = |others| crowded(instruction, enforce, others, "400 ms");
        let [absent, others @ ..] = on_one_core(&crowded, A_CROWDED, "1");
        for others in &others {
            let pairs = || absent.iter().zip(others);
            assert!(absent.len() == others.len() && pairs().all(|(a, b)| (a.0, a.1.release) == (b.0, b.1.release)));
            let (ends, same) = apart(pairs().map(|(a, b)| (a.1.completed, b.1.completed)));
            println!(
                "run, one core, {instruction} ns each: {} jobs, completions at most {ends} apart, {same} identical",
                absent.len()
            );
            assert!(ends < Duration::from_nanos(instruction));
        }
    }
}

#[test]
fn on_four_cores_of_the_machine_overrunning_lower_levels_move_level_a_by_no_more_than_entries_and_turns() {
    on_the_machine(4, true, "400 ms");
    on_the_machine(4, false, "400 ms");
}

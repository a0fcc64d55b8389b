//! Schedulers on `tactus-sched`, on the machine: the one that the book writes from zero, a tree of three levels, two cores,
//! and what the library costs.

use std::fs;
use std::sync::OnceLock;
use tactus_scenarios::{file, tactus, Finished, Scratch};
use tactus_trace::{schedule, Segment, SegmentKind};

/// Runs an example; what its console said. It says itself how it went.
fn run(name: &str) -> String {
    run_file(&format!("{name}/{name}"))
}

fn run_file(name: &str) -> String {
    let out = Scratch::new("scheduler");
    let folder = out.write("out/.keep", "").with_file_name("");
    let path = file(&format!("examples/{name}.toml"));
    let said = tactus(["run".as_ref(), path.as_os_str(), "--out".as_ref(), folder.as_os_str()]);
    assert_eq!(said.status, 0, "{}{}", said.output, said.errors);
    said.output
}

#[test]
fn the_scheduler_that_the_page_writes_from_zero_runs_and_the_page_shows_it_word_for_word() {
    let page = fs::read_to_string(file("docs/writing-a-scheduler.md")).expect("the page");
    for part in ["turns/Cargo.toml", "turns/src/main.rs", "counter/src/main.rs", "own-scheduler.toml"] {
        let text = fs::read_to_string(file(&format!("examples/own-scheduler/{part}"))).expect("a part of the example");
        // What a program says of itself in its first line, the page says in its own words.
        let text = text.split_once('\n').filter(|(first, _)| first.starts_with("//!")).map_or(&*text, |(_, rest)| rest);
        assert!(page.contains(text), "the page does not show {part} as it is");
    }
    assert!(run("own-scheduler").contains("verdict: both got equally far"));
}

#[test]
fn a_tree_of_three_levels_of_the_pages_scheduler_shares_the_core_among_all_workers() {
    assert!(run("tree").contains("verdict: every share was kept"));
}

#[test]
fn a_child_has_its_share_of_each_core_and_makes_threads_on_any() {
    assert!(run_file("tree/second-core").contains("verdict: every share was kept"));
}

/// How many millionths of the core a task's job had from its first piece to its last, and how often it took the core from another task.
fn share(run: &Finished, (task, job): (&str, u32), other: &str) -> (u64, usize) {
    let names: Vec<String> = run.summary.tasks().map(|task| task.name().to_string()).collect();
    let all = schedule(&run.trace());
    let ran: Vec<&Segment> = all.iter().filter(|it| it.kind == SegmentKind::Run).collect();
    let is = |it: &Segment, name: &str| it.task.is_some_and(|task| names[task.index()] == name);
    let pieces: Vec<&&Segment> = ran.iter().filter(|it| is(it, task) && it.job == job).collect();
    let (last, before) = pieces.split_last().expect("it ran");
    let length = last.start.since(before.first().expect("more than once").start).as_nanos();
    let had: u64 = before.iter().map(|it| it.end.since(it.start).as_nanos()).sum();
    let between = |it: &[&Segment]| is(it[0], other) && is(it[1], task) && is(it[2], other) && it[0].job == it[2].job;
    (had * 1_000_000 / length, ran.windows(3).filter(|it| between(it)).count())
}

#[test]
fn a_flood_of_interrupts_gets_the_share_of_its_virtual_cpu_at_the_rank_of_whom_it_works_for_and_main_ones_have_theirs()
{
    let run = Finished::run(&file("examples/virtual-cpus/virtual-cpus.toml"), &[]);
    let (had, taken) = share(&run, ("disk", 1), "work");
    println!("{}the disk had {had} millionths, and took the core from work {taken} times", run.said.output);
    // What it asks for is four times the core.
    assert!((39_900..=40_000).contains(&had), "{had}");
    // The VCPU for which it works goes before that of work.
    assert!(taken > 10, "{taken}");
    for name in ["control", "work", "rest"] {
        let task = run.summary.task(name);
        assert!(task.completed() > 0 && task.missed() == 0, "{name}: {}", task.json());
        assert!(task.worst_over_bound().is_some_and(|share| share <= 1.0), "{name}: {}", task.json());
    }
}

#[test]
fn threads_wake_each_other_across_cores_and_move_between_them() {
    assert!(run("two-cores").contains("verdict: 1000 wake-ups and 2000 moves arrived"));
}

/// What the library costs, measured once for all tests.
fn costs() -> &'static str {
    static SAID: OnceLock<String> = OnceLock::new();
    SAID.get_or_init(|| {
        let said = run("sched-bench");
        println!("{said}");
        said
    })
}

#[test]
fn statement_17_a_contended_lock_of_the_library_is_helped_and_needs_no_scheduler() {
    let said = costs();
    assert!(said.contains("contended lock: 2000 of 2000 helped, 0 entries of the scheduler"), "{said}");
}

#[test]
fn statement_18_a_wake_up_through_the_library_costs_more_with_accounting_and_not_twice_as_much() {
    let said = costs();
    let least = |with: &str| -> u64 {
        let part =
            said.split_once(&format!("inside the scheduler, {with}:")).unwrap_or_else(|| panic!("{with}: {said}")).1;
        let line = part.lines().find(|line| line.contains("wake a more urgent thread")).expect("the line");
        line.split(" to ").next().and_then(|it| it.rsplit(' ').next()).and_then(|it| it.parse().ok()).expect("a count")
    };
    let (without, with) = (least("without accounting"), least("with accounting"));
    assert!(without < with && with < 2 * without, "{without} without, {with} with");
}

#[test]
fn statement_15_a_sequence_interrupted_at_each_instruction_loses_nothing_and_16_the_lock_needs_no_kernel() {
    let said = costs();
    assert!(said.contains("events lost: 0 taking words, 0 exchanging"), "{said}");
    let lock = said.lines().find(|line| line.starts_with("lock and release")).expect("the line");
    let most: u64 = lock.rsplit(' ').next().and_then(|word| word.parse().ok()).expect("a count");
    assert!(most <= 12, "{lock}");
}

#[test]
fn statement_24_a_fixed_priority_policy_is_seven_functions_in_few_lines() {
    let text = fs::read_to_string(file("os/sched/src/thread_schedulers/fixed_priority.rs")).expect("the policy");
    let policy = text.split("#[cfg(test)]\nmod tests").next().expect("what comes before the tests");
    assert!(policy.lines().count() <= 350, "{} lines", policy.lines().count());
    let (_, functions) = policy.split_once("impl ThreadScheduler for FixedPriority {").expect("the policy's functions");
    assert_eq!(functions.matches("    fn ").count(), 7);
}

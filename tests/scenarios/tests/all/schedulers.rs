//! Schedulers on `tactus-sched`, on the machine: the one that the book writes from zero, a tree of three levels, two cores,
//! and what the library costs.

use std::fs;
use std::sync::OnceLock;
use tactus_scenarios::{file, tactus, Scratch};

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
fn a_tree_of_three_levels_keeps_the_budget_of_each_child() {
    assert!(run("tree").contains("verdict: every budget was kept"));
}

#[test]
fn servers_below_fixed_priorities_idle_when_they_are_used_up_and_come_back_in_time() {
    assert!(run_file("tree/servers-below").contains("verdict: every budget was kept"));
}

#[test]
fn a_child_has_a_budget_on_each_core_and_makes_threads_on_any() {
    assert!(run_file("tree/second-core").contains("verdict: every budget was kept"));
}

#[test]
fn a_flood_of_interrupts_gets_the_share_of_its_virtual_cpu_and_main_ones_have_theirs() {
    let said = run("virtual-cpus");
    assert!(
        said.contains("a VCPU more than fits: refused") && said.contains("verdict: every VCPU had its share"),
        "{said}"
    );
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
    let text = fs::read_to_string(file("os/sched/src/policies/fixed_priority.rs")).expect("the policy");
    let policy = text.split("#[cfg(test)]\nmod tests").next().expect("what comes before the tests");
    assert!(policy.lines().count() <= 350, "{} lines", policy.lines().count());
    let (_, functions) = policy.split_once("impl Policy for FixedPriority {").expect("the policy's functions");
    assert_eq!(functions.matches("    fn ").count(), 7);
}

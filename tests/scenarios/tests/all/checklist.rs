//! The checklist of the kernel's reference (its statements 1 to 20 and 24), held against the kernel in the emulator, and
//! what goes beyond it. The systems are in `os/components/checklist`; what they measure is printed (`--nocapture`).

use std::fs;
use std::sync::OnceLock;
use tactus_scenarios::{file, tactus, Scratch};

/// What a system with a root scheduler of its own wrote to the console.
fn said_by(system: &str) -> String {
    let scratch = Scratch::new("checklist");
    let out = scratch.path().join("out");
    let said = tactus(["run".as_ref(), file(system).as_os_str(), "--out".as_ref(), out.as_os_str()]);
    let log = fs::read(out.join("run.log")).unwrap_or_default();
    let log = String::from_utf8_lossy(&log).into_owned();
    assert!(said.status < 2, "{system} ended with {}:\n{}\n{}\n{log}", said.status, said.output, said.errors);
    assert!(!log.contains("tactus: broken rule"), "{log}");
    log
}

/// The run of all statements, once for all tests.
fn log() -> &'static str {
    static LOG: OnceLock<String> = OnceLock::new();
    LOG.get_or_init(|| {
        let log = said_by("os/components/checklist/checklist.toml");
        println!("{log}");
        log
    })
}

/// The statement was held against the kernel, and held.
fn holds(number: u32, name: &str) {
    let line = log().lines().find(|line| line.starts_with(&format!("statement {number}:")));
    let line = line.unwrap_or_else(|| panic!("the run did not come to statement {number}:\n{}", log()));
    assert!(line.contains(name) && line.ends_with(": held"), "{line}:\n{}", log());
}

macro_rules! statements {
    ($($test:ident = $number:expr;)*) => {
        $(#[test]
        fn $test() {
            let name = stringify!($test);
            holds($number, name.split_once('_').map_or(name, |(_, rest)| rest));
        })*
    };
}

statements! {
    s1_promotion_of_a_component_that_has_a_parent_fails = 1;
    s2_demote_and_revoke_clear_the_entire_subtree = 2;
    s3_a_non_root_thread_creation_is_an_error = 3;
    s4_grant_fails_without_the_thread_and_no_two_siblings_hold_one = 4;
    s5_walks_are_bounded_at_maximum_depth = 5;
    s6_an_event_between_look_and_dispatch_makes_it_fail = 6;
    s7_a_stale_choice_makes_the_dispatch_fail = 7;
    s8_who_is_suspended_by_a_parent_is_not_resumed_by_its_child = 8;
    s9_a_more_urgent_upcall_runs_at_once_a_less_urgent_one_does_not = 9;
    s10_the_closest_common_scheduler_compares = 10;
    s11_a_short_upcall_goes_back_without_any_scheduler = 11;
    s12_an_upcall_that_woke_somebody_more_urgent_enters_the_root = 12;
    s13_as_many_pending_triggers_make_as_many_further_executions = 13;
    s14_all_time_is_charged_and_to_the_right_thread = 14;
    s15_a_sequence_interrupted_at_each_instruction_has_the_same_result = 15;
    s16_an_uncontended_lock_needs_no_kernel = 16;
    s17_a_contended_lock_needs_no_scheduler = 17;
    s18_accounting_costs_more_than_a_bare_switch = 18;
    s19_an_upcall_without_schedulers_is_cheaper_than_with_them = 19;
    s20_an_invocation_is_cheap = 20;
    more_a_childs_time_out_never_outlasts_its_parents = 101;
    more_a_child_with_nothing_to_run_gives_the_core_back = 102;
    more_a_line_interrupts_once_until_it_is_acknowledged = 103;
    more_who_returns_with_its_dispatch_goes_on_at_its_caller = 104;
}

/// What the siege told of one subtree on each core.
fn told<'a>(log: &'a str, who: &str) -> Vec<&'a str> {
    let lines: Vec<_> = log.lines().filter(|line| line.starts_with("core ") && line.contains(who)).collect();
    assert!(!lines.is_empty(), "{log}");
    lines
}

/// The number before or after a word of a line.
fn number(line: &str, before: &str) -> u64 {
    let rest = line.split_once(before).unwrap_or_else(|| panic!("{before} in {line}")).1;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or_else(|_| panic!("a number after {before} in {line}"))
}

/// The other subtree's budget at once, and what the root's entry may add to it, in ticks.
const BUDGET: u64 = 500_000;

#[test]
fn a_hostile_scheduler_at_the_third_level_moves_its_siblings_schedule_by_no_instruction() {
    on_one_core("os/components/checklist/siege-1-hostile.toml", 10_000);
}

#[test]
fn a_flood_of_triggers_and_inter_core_events_moves_its_siblings_schedule_by_no_instruction() {
    // Nearly all of what it does is its right.
    on_one_core("os/components/checklist/siege-1-flood.toml", 3_000);
}

fn on_one_core(system: &str, refused: u64) {
    let quiet = said_by("os/components/checklist/siege-1-quiet.toml");
    let hostile = said_by(system);
    println!("{quiet}{hostile}");
    // Jobs, their order, and the instants of all of them.
    assert_eq!(told(&quiet, "sibling"), told(&hostile, "sibling"));
    for line in told(&quiet, "other").iter().chain(&told(&hostile, "other")) {
        assert!(number(line, "at most ") <= BUDGET + 4_000, "{line}");
    }
    let line = told(&hostile, "other")[0];
    assert!(line.split(", ").last().is_some_and(|it| number(it, "") > refused), "it did no harm: {line}");
}

#[test]
fn on_four_cores_a_hostile_scheduler_gets_its_budget_and_its_sibling_keeps_its_order() {
    on_four_cores("os/components/checklist/siege-4-hostile.toml", 20);
}

/// What an interrupt of another core takes from the sibling there is one for each of the flooder's turns on that core, however many
/// events it sends.
#[test]
fn on_four_cores_a_flood_of_triggers_and_inter_core_events_takes_nothing_from_a_sibling() {
    on_four_cores("os/components/checklist/siege-4-flood.toml", 20);
}

/// The kernel takes each word of a region once: what another core makes of it later does not matter.
#[test]
fn on_four_cores_rewriting_what_the_kernel_reads_in_the_middle_of_calls_harms_nobody() {
    // Whoever rewrites pauses, by which the emulator lets the others go on sooner.
    on_four_cores("os/components/checklist/siege-4-rewrite.toml", 100);
}

/// `more`: by how much more (percent) the sibling may get done, since cores that are interrupted let others go on.
fn on_four_cores(system: &str, more: u64) {
    let quiet = said_by("os/components/checklist/siege-4-quiet.toml");
    let hostile = said_by(system);
    println!("{quiet}{hostile}");
    // The emulator's cores take turns, so that instants are the turns' and not the kernel's: the order is compared.
    let order = |log: &str| -> Vec<String> {
        told(log, "sibling").iter().map(|it| it.split("order ").nth(1).unwrap_or_default()[..16].to_string()).collect()
    };
    assert_eq!(order(&quiet), order(&hostile));
    // What the three others have before the core sees its timer may come on top: each a slice of a turn, which the kernel lengthens by two
    // rounds of turns at most, for what others take of it (`os/kernel/src/timer.rs`). A turn has 2,500 instructions of a nanosecond.
    let (turn, others) = (2_500, 3);
    for line in told(&hostile, "other") {
        assert!(number(line, "at most ") <= BUDGET + others * (turn + 2 * others * turn), "{line}");
    }
    let had = |log: &str| -> Vec<u64> { told(log, "sibling").iter().map(|it| number(it, "sibling: ")).collect() };
    // Turns of the emulator move from one core to another, differently in each build: what one core lost another one had.
    let [all_quiet, all_hostile] = [&quiet, &hostile].map(|log| had(log).iter().sum::<u64>());
    assert!(all_hostile * 5 >= all_quiet * 4, "{all_quiet} and {all_hostile} jobs");
    for (quiet, hostile) in had(&quiet).into_iter().zip(had(&hostile)) {
        assert!(quiet.min(hostile) >= 50, "{quiet} and {hostile} jobs");
        assert!(hostile * 4 >= quiet * 3, "{quiet} and {hostile} jobs");
        assert!(hostile * 100 <= quiet * (100 + more), "{quiet} and {hostile} jobs");
    }
}

#[test]
fn triggers_and_word_reach_another_core_and_none_is_lost() {
    let log = said_by("os/components/checklist/relay.toml");
    println!("{log}");
    assert!(log.contains("relay: held"), "{log}");
}

#[test]
fn s24_a_fixed_priority_policy_is_seven_functions_in_350_lines() {
    let source =
        fs::read_to_string(file("os/sched/src/thread_schedulers/fixed_priority.rs")).expect("the policy is there");
    let code = source.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = code.lines().count();
    println!("fixed priorities with round robin: {lines} lines");
    assert!(lines <= 350, "{lines} lines");
    let policy = code.split_once("impl ThreadScheduler for").map(|(_, rest)| rest).expect("it is a policy");
    let body = policy.split("\n}").next().unwrap_or_default();
    let functions = body.lines().filter(|line| line.starts_with("    fn ")).count();
    assert_eq!(functions, 7, "functions of the policy:\n{body}");
}

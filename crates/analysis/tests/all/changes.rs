//! Admission of changes inside servers, and on several cores.

use std::path::Path;
use tactus_analysis::{check, Bound, Check};
use tactus_model::{Costs, System};

fn checked(cores: u8, policy: &str, rest: &str) -> Check {
    let text = format!(
        "[system]\nname = 'c'\ncores = {cores}\nduration = '1 s'\n[machine]\noverheads = false\n[policy]\n\
         kind = 'partitioned-{policy}'\n{rest}"
    );
    let system = System::parse_toml(&text, Path::new("c.toml")).unwrap_or_else(|problems| panic!("{problems}\n{text}"));
    check(&system, &Costs::default())
}

fn server(name: &str, kind: &str, [budget, period]: [u64; 2], more: &str) -> String {
    format!("[[server]]\nname = '{name}'\nkind = '{kind}'\nbudget = '{budget} ms'\nperiod = '{period} ms'\n{more}\n")
}

fn task(name: &str, [execution, period]: [u64; 2], more: &str) -> String {
    format!("[[task]]\nname = '{name}'\nexecution = '{execution} ms'\nperiod = '{period} ms'\n{more}\n")
}

fn change(at: u64, what: &str) -> String {
    format!("[[change]]\nat = '{at} ms'\n{what}\n")
}

/// Of each change, why it is refused; nothing if it is admitted.
fn refusals(check: &Check) -> Vec<Option<&str>> {
    check.changes.iter().map(|ruling| ruling.refused.as_deref()).collect()
}

/// S1 (7 of 10) with b, and in it S2 (2 of 10) with c; a beside it.
fn nested(changes: &[String]) -> Check {
    let inside = "policy = 'partitioned-edf'";
    let parts = [
        server("S1", "cbs-hard", [7, 10], inside),
        server("S2", "cbs-hard", [2, 10], &format!("parent = 'S1'\n{inside}")),
        task("a", [2, 10], "core = 0"),
        task("b", [2, 20], "core = 0\nserver = 'S1'"),
        task("c", [4, 45], "core = 0\nserver = 'S2'"),
        task("late", [5, 10], "core = 0"),
        task("later", [5, 10], "core = 0"),
    ];
    checked(1, "edf", &(parts.concat() + &changes.concat()))
}

#[test]
fn what_is_inside_another_server_is_judged_by_what_that_one_has() {
    let check = nested(&[
        change(1, "server = 'S2'\nbudget = '3 ms'"),
        change(2, "server = 'S2'\nbudget = '8 ms'"),
        change(3, "server = 'S1'\nbudget = '2 ms'"),
        change(4, "task = 'c'\nexecution = '20 ms'"),
        change(5, "add = 'late'"),
        change(6, "remove = 'S1'"),
        change(7, "task = 'c'\nexecution = '3 ms'"),
        change(8, "add = 'later'"),
    ]);
    assert!(check.accepted, "{check}");
    let told = refusals(&check);
    // 8 of 10, beside nothing else: S1 has 7.
    assert_eq!(
        told[1],
        Some("what servers are promised of core 0 would be 0.8000, more than the 0.7000 of server `S1`")
    );
    assert_eq!(
        told[2],
        Some("what servers are promised of core 0 would be 0.3000, more than the 0.2000 of server `S1`")
    );
    assert!(told[3].is_some_and(|why| why.starts_with("task `c` in server `S2` fails")), "{:?}", told[3]);
    assert!(told[4].is_some(), "S1's time is not free yet");
    assert_eq!([told[0], told[5], told[6]], [None; 3], "{check}");
    assert_eq!(told[7], None, "{check}");
    let bounds = |n: usize| check.changes[n].tasks.iter().map(|task| task.bound()).collect::<Vec<_>>();
    let (before, wider) = (check.tasks[2].bound(), bounds(0)[2]);
    let (Some(Bound::Response(before)), Some(Bound::Response(wider))) = (before, wider) else {
        panic!("{before:?} {wider:?}")
    };
    assert!(wider < before, "a larger budget gives a shorter response: {wider} {before}");
    assert_eq!(bounds(5)[1..3], [None; 2], "with S1 goes all that is in it");
}

#[test]
fn a_platform_is_judged_on_all_its_cores() {
    let parts = [
        server("S1", "cbs-hard", [3, 10], "cores = [0, 1]\npolicy = 'global-fp'"),
        task("high", [5, 40], "server = 'S1'\npriority = 2"),
        task("low", [3, 40], "server = 'S1'\npriority = 1"),
        task("beside", [3, 10], "core = 1"),
    ];
    let changes = [
        change(1, "server = 'S1'\nbudget = '4 ms'"),
        change(2, "server = 'S1'\nbudget = '8 ms'"),
        change(3, "task = 'high'\nexecution = '20 ms'"),
    ];
    let check = checked(2, "edf", &(parts.concat() + &changes.concat()));
    assert!(check.accepted, "{check}");
    let told = refusals(&check);
    assert_eq!(told[0], None);
    // On core 1 there are 3 of 10 beside it.
    assert!(told[1].is_some_and(|why| why.contains("on core 1")), "{:?}", told[1]);
    assert!(told[2].is_some_and(|why| why.starts_with("task `high` in server `S1` fails")), "{:?}", told[2]);
}

#[test]
fn a_change_waits_for_the_servers_around_it_if_anything_is_promised_in_the_outermost_of_them() {
    // Beneath fixed priorities nothing is known of a soft server.
    let with = |beside: &str| {
        let inside = "policy = 'partitioned-fp'\npriority = 1";
        let parts = [
            server("outer", "deferrable", [5, 10], inside),
            server("inner", "cbs-soft", [2, 10], &format!("parent = 'outer'\n{inside}")),
            task("soft", [1, 50], "core = 0\nserver = 'inner'\npriority = 1"),
            beside.to_string(),
            change(1, "server = 'inner'\nbudget = '3 ms'"),
        ];
        checked(1, "fp", &parts.concat())
    };
    let urgent = task("sure", [1, 50], "core = 0\nserver = 'outer'\npriority = 9");
    let (alone, beside) = (with(""), with(&urgent));
    assert_eq!(alone.changes[0].refused, None, "{alone}");
    assert!(!alone.changes[0].drains && alone.tasks[0].bound().is_none());
    assert_eq!(beside.changes[0].refused, None, "{beside}");
    assert!(beside.changes[0].drains && beside.tasks[1].bound().is_some());
}

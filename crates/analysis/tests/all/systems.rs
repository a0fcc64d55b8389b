//! Whole systems whose answers are known: the worked examples, the shipped files, and systems that fail on purpose.

use std::path::Path;
use tactus_analysis::{check, Bound, Check};
use tactus_model::{Costs, System};
use tactus_time::{Duration, Level, TaskId};

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn parse(text: &str) -> System {
    System::parse_toml(text, Path::new("test.toml")).unwrap_or_else(|e| panic!("{e}"))
}

fn judge(text: &str) -> Check {
    check(&parse(text), &Costs::default())
}

fn shipped(name: &str) -> System {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    System::read(&path).unwrap_or_else(|e| panic!("{e}"))
}

fn responses(check: &Check) -> Vec<Option<Duration>> {
    let r = |t: &tactus_analysis::TaskCheck| match t.bound() {
        Some(Bound::Response(r)) => Some(r),
        Some(Bound::Tardiness(_)) | None => None,
    };
    check.tasks.iter().map(r).collect()
}

const THREE: &str = r#"
[system]
cores = 1
duration = "1 s"
[machine]
overheads = false
[policy]
kind = "KIND"
[[task]]
name = "a"
core = 0
period = "10 ms"
execution = "2 ms"
[[task]]
name = "b"
core = 0
period = "15 ms"
execution = "5 ms"
[[task]]
name = "c"
core = 0
period = "25 ms"
execution = "10 ms"
"#;

#[test]
fn the_three_task_example_fails_under_rm_and_passes_under_edf() {
    let rm = judge(&THREE.replace("KIND", "partitioned-rm"));
    assert_eq!(responses(&rm), [Some(ms(2)), Some(ms(7)), Some(ms(26))]);
    assert!(!rm.accepted);
    assert_eq!(rm.findings.len(), 1);
    let finding = &rm.findings[0];
    assert_eq!(
        (finding.task, finding.line),
        (Some(TaskId(2)), parse(&THREE.replace("KIND", "partitioned-rm")).tasks[2].line)
    );
    assert!(finding.what.contains("26 ms") && finding.what.contains("25 ms"), "{finding}");

    let edf = judge(&THREE.replace("KIND", "partitioned-edf"));
    assert!(edf.accepted, "{edf}");
    assert!(responses(&edf)[2].unwrap() <= ms(25));
}

#[test]
fn the_remedy_of_a_finding_mends_the_system() {
    let rm = judge(&THREE.replace("KIND", "partitioned-rm"));
    let factor = rm.findings[0].remedy.split("0.").nth(1).and_then(|r| r.get(..3)).unwrap().parse::<u64>().unwrap();
    let scaled = |factor: u64| {
        let mut system = parse(&THREE.replace("KIND", "partitioned-rm"));
        for t in &mut system.tasks {
            for e in t.execution.iter_mut().flatten() {
                *e = Duration::from_nanos((e.as_nanos() * factor).div_ceil(1000));
            }
        }
        check(&system, &Costs::default()).accepted
    };
    assert!(scaled(factor), "factor 0.{factor} passes");
    assert!(!scaled(factor + 1), "factor 0.{} does not", factor + 1);
}

#[test]
fn the_worked_mc2_example_gives_its_table_and_its_utilisations() {
    let system = shipped("mc2-example.toml");
    let check = check(&system, &Costs::default());
    assert!(check.accepted, "{check}");
    let slots: Vec<_> = check.tables[0].slots.iter().map(|s| (s.task.0, s.start, s.end)).collect();
    assert_eq!(check.tables[0].cycle, ms(100));
    assert_eq!(slots, [(0, ms(0), ms(30)), (1, ms(30), ms(50)), (0, ms(50), ms(80)), (1, ms(80), ms(100))]);
    // A at level A; A and B at level B; A and B at level C, where T5 and T6 add 0.30 for the 0.95 of the example.
    assert_eq!(check.cores[0].levels, [1_000_000, 900_000, 650_000]);
    let r = responses(&check);
    assert_eq!((r[0], r[1]), (Some(ms(30)), Some(ms(100))));
    // At level-B times T3 ends at 80 ms and T4 at 100 ms in the example's schedule; the bounds hold at any phase.
    assert!(r[2].unwrap() >= ms(80) && r[2].unwrap() <= ms(100), "{check}");
    assert!(r[3].unwrap() >= ms(100) && r[3].unwrap() <= ms(200), "{check}");
}

#[test]
fn the_aircraft_is_accepted_and_its_summary_reads_as_promised() {
    let check = check(&shipped("avionics.toml"), &Costs::default());
    assert!(check.accepted, "{check}");
    let parts: Vec<&str> = check.summary.split(" · ").collect();
    assert_eq!(parts.len(), 3, "{}", check.summary);
    assert_eq!(parts[0], "A tables built on cores 1–3");
    assert!(parts[1].starts_with("B at most 0.") && parts[1].ends_with(" per core"), "{}", parts[1]);
    assert!(parts[2].starts_with("C tardiness at most "), "{}", parts[2]);
}

#[test]
fn the_aircraft_is_accepted_with_the_costs_of_an_emulated_machine() {
    let us = Duration::from_micros;
    let costs = Costs { release: us(10), schedule: us(12), switch: us(4), inter_core: us(12), complete: us(8) };
    let check = check(&shipped("avionics.toml"), &costs);
    assert!(check.accepted, "{check}");
    let none: Vec<bool> = check.allowances.iter().map(|a| a.is_zero()).collect();
    let best_effort: Vec<bool> = check.tasks.iter().map(|t| t.level == Some(Level::D)).collect();
    assert_eq!(none, best_effort, "{:?}", check.allowances);
}

#[test]
fn a_component_is_allowed_for_more_than_a_workload_without_costing_the_others() {
    let us = Duration::from_micros;
    let costs = Costs { release: us(26), schedule: us(47), switch: us(17), inter_core: us(28), complete: us(17) };
    let system = shipped("hostile/hostile.toml");
    let check = check(&system, &costs);
    assert!(check.accepted, "{check}");
    let of = |workload| {
        let kind = system
            .tasks
            .iter()
            .zip(&check.allowances)
            .filter(move |(t, a)| (t.body == tactus_model::Body::Workload) == workload && !a.is_zero());
        kind.map(|(_, a)| *a)
    };
    // Workloads pay for the ends of their jobs, components for all that happens while a job is pending.
    assert!(of(true).max().unwrap() < us(2_000), "{:?}", check.allowances);
    assert!(of(false).min().unwrap() > us(5_000), "{:?}", check.allowances);
}

const MIXED: &str = r#"
[system]
cores = 1
duration = "1 s"
[machine]
overheads = false
[policy]
kind = "mc2"
[[task]]
name = "table"
level = "A"
core = 0
period = "10 ms"
execution = { A = "A_TIME", B = "4 ms", C = "2 ms" }
[[task]]
name = "second"
level = "A"
core = 0
period = "20 ms"
execution = { A = "8 ms", B = "4 ms", C = "2 ms" }
[[task]]
name = "beneath"
level = "B"
core = 0
period = "20 ms"
execution = { B = "B_TIME", C = "2 ms" }
[[task]]
name = "lower"
level = "C"
period = "20 ms"
execution = { C = "C_TIME" }
"#;

fn mixed(a: &str, b: &str, c: &str) -> Check {
    judge(&MIXED.replace("A_TIME", a).replace("B_TIME", b).replace("C_TIME", c))
}

#[test]
fn what_fits_to_the_last_unit_is_accepted_and_one_unit_more_is_not() {
    // A at level A: 0.6 + 0.4 = 1. B at level B: 0.4 + 0.2 + 0.4 = 1. C: 0.2 + 0.1 + 0.1 + 0.6 = 1.
    let full = mixed("6 ms", "8 ms", "12 ms");
    assert!(full.accepted, "{full}");

    let a = mixed("6.01 ms", "8 ms", "12 ms");
    assert!(!a.accepted && a.tables[0].slots.is_empty());
    assert!(a.findings[0].what.contains("no level-A table"), "{a}");

    let b = mixed("6 ms", "8.01 ms", "12 ms");
    assert!(!b.accepted && b.findings[0].task == Some(TaskId(2)), "{b}");

    let c = mixed("6 ms", "8 ms", "12.01 ms");
    assert!(!c.accepted && c.findings[0].task == Some(TaskId(3)), "{c}");
}

#[test]
fn periods_without_a_usable_common_multiple_are_refused_with_the_limit() {
    let text = MIXED.replace("\"10 ms\"", "\"10.007 ms\"").replace("A_TIME", "4 ms");
    let check = judge(&text.replace("B_TIME", "2 ms").replace("C_TIME", "1 ms"));
    assert!(!check.accepted && check.findings[0].what.contains("4096"), "{check}");
}

#[test]
fn a_demand_over_the_assumption_takes_the_promise_but_not_the_bound() {
    let text = THREE.replace("KIND", "partitioned-rm");
    let longer = text.replacen("execution = \"5 ms\"", "execution = \"5 ms\"\nactual = \"6 ms\"", 1);
    let check = judge(&longer);
    let promised: Vec<bool> = check.tasks.iter().map(|t| t.promise().is_some()).collect();
    assert_eq!(promised, [true, false, false], "only what is more urgent than `b` is still promised");
    assert_eq!(check.tasks[2].exceeded_by, Some(TaskId(1)));
    assert!(check.tasks.iter().all(|t| t.bound().is_some()));
}

#[test]
fn global_edf_without_a_proof_still_gives_a_tardiness_bound() {
    // Dhall's effect: light tasks in step with one that needs nearly a whole core.
    let mut text = String::from(
        "[system]\ncores = 2\nduration = \"1 s\"\n[machine]\noverheads = false\n[policy]\nkind = \"global-edf\"\n",
    );
    for (name, period, time) in [("a", 10, 2), ("b", 10, 2), ("heavy", 11, 10)] {
        text += &format!("[[task]]\nname = \"{name}\"\nperiod = \"{period} ms\"\nexecution = \"{time} ms\"\n");
    }
    let check = judge(&text);
    assert!(!check.accepted);
    assert!(check.tasks.iter().all(|t| matches!(t.bound(), Some(Bound::Tardiness(_))) && t.fails()), "{check}");
}

/// Three tasks on four cores: no two others can keep four cores, whatever the order.
#[test]
fn a_task_that_only_costs_make_late_is_told_that_costs_bind_and_not_that_others_do() {
    let text = |kind: &str, times: [&str; 3]| {
        let tasks = ["4", "4.5", "5.5"].iter().zip(times).enumerate().map(|(n, (period, time))| {
            format!("[[task]]\nname = \"t{n}\"\nperiod = \"{period} ms\"\nexecution = \"{time} ms\"\n")
        });
        let head = "[system]\ncores = 4\nduration = \"1 s\"\n[policy]\nkind = ";
        format!("{head}{kind:?}\n{}", tasks.collect::<String>())
    };
    // Costs of a machine on which an entry takes a tenth of a millisecond.
    let part = Duration::from_micros(20);
    let costs = Costs { release: part, schedule: part, switch: part, inter_core: part, complete: part };
    for kind in ["global-rm", "global-edf"] {
        let system = parse(&text(kind, ["3", "2.5", "1.2"]));
        assert!(check(&system, &Costs::default()).accepted, "{kind}: without costs");
        let found = check(&system, &costs);
        assert!(!found.findings.is_empty(), "{kind}: with costs");
        for finding in &found.findings {
            assert!(!finding.what.contains("the others may keep"), "{kind}: {finding}");
        }
        let first = found.findings[0].to_string();
        assert!(first.contains("the system's own work takes too long"), "{kind}: {first}");
        assert!(first.contains("all 4 cores can never be busy with others"), "{kind}: {first}");
    }
    // A task that itself does not fit is the reason why a less urgent one has no bound.
    let found = check(&parse(&text("global-rm", ["3.99", "2.5", "1.2"])), &costs);
    let words: Vec<_> = found.findings.iter().map(|finding| finding.what.as_str()).collect();
    assert!(words[0].contains("with overheads (3.99 ms of its own), over its deadline of 4 ms"), "{words:?}");
    assert!(words[1].contains("its test needs a bound of task `t0`, which has none"), "{words:?}");
}

#[test]
fn a_task_that_others_delay_too_long_is_still_told_so() {
    let task =
        |n: u64, time: u64| format!("[[task]]\nname = \"t{n}\"\nperiod = \"10 ms\"\nexecution = \"{time} ms\"\n");
    let tasks: String = (0..3).map(|n| task(n, 8)).collect();
    let head = "[system]\ncores = 2\nduration = \"1 s\"\n[policy]\nkind = \"global-rm\"\n";
    let found = judge(&format!("{head}{tasks}"));
    assert!(found.findings[0].what.contains("the others may keep all 2 cores too long"), "{}", found.findings[0]);
}

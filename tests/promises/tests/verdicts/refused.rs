//! A reconfiguration that is refused on the way stays refused: no later one brings what it named, under any policy, and the judge
//! holds tasks and servers to what was applied.

use crate::{planned, run};
use tactus_policy::{Action, Alteration, Change, PolicySpec};
use tactus_record::{EventKind, CHANGE_DEPENDS, CHANGE_OVERLOADS};
use tactus_time::{Duration, TaskId};
use tactus_trace::check::Rule;
use tactus_trace::{judge, Fate, Trace, Verdict};

/// Two tasks that ask for 1.1 of a core; a shorter period of the second is too much on the way. Then the first one asks for less, and the
/// second one gets another deadline.
fn two_tasks(policy: &str, levels: bool) -> String {
    let level = if levels { "level = 'B'\n" } else { "" };
    let bound = if policy.starts_with("global") { "" } else { "core = 0\n" };
    let priority = |n: u32| if policy == "amc" { format!("priority = {n}\n") } else { String::new() };
    let task = |name: &str, time: u64, n: u32| {
        format!(
            "[[task]]\nname = '{name}'\n{level}{bound}{}period = '10 ms'\nexecution = '{time} ms'\nactual = '1 ms'\n",
            priority(n)
        )
    };
    format!(
        "[system]\ncores = 1\nduration = '200 ms'\n[policy]\nkind = '{policy}'\n[machine]\noverheads = false\n{}{}\
         [[change]]\nat = '25 ms'\ntask = 'b'\nperiod = '9 ms'\n\
         [[change]]\nat = '45 ms'\ntask = 'a'\nexecution = '2 ms'\n\
         [[change]]\nat = '65 ms'\ntask = 'b'\ndeadline = '8 ms'\n",
        task("a", 6, 2),
        task("b", 5, 1)
    )
}

/// When jobs of the second task were released, in ms.
fn releases(trace: &Trace) -> Vec<u64> {
    let own = |r: &&tactus_record::Record| r.kind == EventKind::Release && r.task == Some(TaskId(1));
    trace.cores.iter().flatten().filter(own).map(|r| r.arg / 1_000_000).collect()
}

#[test]
fn a_refused_period_does_not_come_with_a_later_deadline() {
    for (policy, levels) in
        [("partitioned-edf", false), ("global-edf", false), ("partitioned-rm", false), ("amc", true), ("edf-vd", true)]
    {
        let (system, promised) = planned(&two_tasks(policy, levels));
        let trace = run(&system, &promised);
        assert_eq!(releases(&trace), (0..20).map(|n| n * 10).collect::<Vec<u64>>(), "{policy}");
        let summary = judge(&promised.view, &trace);
        assert_eq!(summary.verdict, Verdict::Refused, "{policy}: {}", summary.headline());
        let fates: Vec<Fate> = summary.changes.iter().map(|change| change.fate).collect();
        assert_eq!(fates, [Fate::Refused, Fate::Applied, Fate::Applied], "{policy}");
    }
}

/// A server whose larger budget is too much on the way: its core has a soft server that nobody can test. After a task is gone it gets
/// another period.
const SERVER: &str = "
    [system]
    cores = 2
    duration = '300 ms'
    [policy]
    kind = 'partitioned-rm'
    [machine]
    overheads = false
    [[server]]
    name = 'soft'
    kind = 'cbs-soft'
    budget = '4 ms'
    period = '10 ms'
    policy = 'partitioned-fifo'
    cores = [0]
    [[server]]
    name = 'd'
    kind = 'deferrable'
    budget = '4 ms'
    period = '10 ms'
    policy = 'partitioned-fifo'
    cores = [0]
    [[task]]
    name = 'y'
    server = 'soft'
    period = '40 ms'
    execution = '4 ms'
    [[task]]
    name = 'z'
    server = 'd'
    period = '40 ms'
    execution = '6 ms'
    [[task]]
    name = 'w'
    core = 0
    period = '40 ms'
    execution = '8 ms'
    actual = '1 ms'
    [[task]]
    name = 'q'
    core = 1
    period = '10 ms'
    execution = '1 ms'
    [[change]]
    at = '25 ms'
    server = 'd'
    budget = '5 ms'
    [[change]]
    at = '105 ms'
    remove = 'w'
    [[change]]
    at = '165 ms'
    server = 'd'
    period = '20 ms'";

/// What the server got on each replenishment from 170 ms on, in ms.
fn budgets(trace: &Trace) -> Vec<u64> {
    let own = |r: &&tactus_record::Record| {
        r.kind == EventKind::ServerReplenish && r.job == 2 && r.time.as_nanos() > 170_000_000
    };
    trace.cores[0].iter().filter(own).map(|r| r.arg / 1_000_000).collect()
}

#[test]
fn a_refused_budget_does_not_come_with_a_later_period_and_a_server_that_has_it_is_found() {
    let (system, promised) = planned(SERVER);
    let trace = run(&system, &promised);
    let summary = judge(&promised.view, &trace);
    assert_eq!(summary.verdict, Verdict::Held, "{}", summary.headline());
    assert_eq!(summary.changes[0].why.as_deref(), Some("the core would have promised more than there is of it"));
    assert!(!budgets(&trace).is_empty() && budgets(&trace).iter().all(|budget| *budget == 4), "{:?}", budgets(&trace));
    // A scheduler that brings the refused budget all the same.
    let mut wrong = promised.clone();
    let PolicySpec::ReconfigurableTree(changing) = &mut wrong.setup.kind else { panic!("{:?}", wrong.setup.kind) };
    if let Action::Alter(named) = &mut changing.changes[2].action {
        named.time = Some(Duration::from_millis(5));
    }
    let spoilt = run(&system, &wrong);
    assert!(budgets(&spoilt).contains(&5));
    match judge(&promised.view, &spoilt).verdict {
        Verdict::Broken(broken) => assert!(broken.cause.text.contains(&Rule::Replenishment.to_string()), "{broken:?}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_was_computed_with_one_that_was_refused_is_refused_and_a_removal_comes_without_it() {
    // The core is asked for 1.05 of its time, and no virtual deadline of the critical task fits until the third one asks for less: it follows from all the others.
    let text = "[system]\ncores = 1\nduration = '200 ms'\n[policy]\nkind = 'edf-vd'\n[machine]\noverheads = false\n\
        [[task]]\nname = 'a'\nlevel = 'A'\ncore = 0\nperiod = '10 ms'\nexecution = { A = '7 ms', B = '1 ms' }\nactual = '1 ms'\n\
        [[task]]\nname = 'b'\nlevel = 'B'\ncore = 0\nperiod = '20 ms'\nexecution = '9 ms'\nactual = '1 ms'\n\
        [[task]]\nname = 'c'\nlevel = 'B'\ncore = 0\nperiod = '40 ms'\nexecution = '20 ms'\nactual = '1 ms'\n\
        [[change]]\nat = '25 ms'\ntask = 'b'\nperiod = '15 ms'\n\
        [[change]]\nat = '45 ms'\ntask = 'c'\nexecution = '4 ms'\n\
        [[change]]\nat = '65 ms'\nremove = 'c'\n";
    let (system, promised) = planned(text);
    let PolicySpec::ReconfigurableMixed(all) = &promised.setup.kind else { panic!("{:?}", promised.setup.kind) };
    let depends: Vec<bool> = all.changes.iter().map(|change: &Change| change.depends).collect();
    assert!(depends[1] && depends[2], "{depends:?}: they bring the first task another virtual deadline");
    let trace = run(&system, &promised);
    let decided = |kind| {
        let records = trace.cores.iter().flatten().filter(move |r| r.kind == kind);
        records.map(|r| (r.job, r.arg)).collect::<Vec<_>>()
    };
    assert_eq!(decided(EventKind::ChangeRefused), [(0, CHANGE_OVERLOADS), (1, CHANGE_DEPENDS)]);
    assert_eq!(decided(EventKind::ChangeApplied), [(2, 0)]);
    assert_eq!(judge(&promised.view, &trace).verdict, Verdict::Refused);
}

#[test]
fn a_request_names_what_the_file_names() {
    let (_, promised) = planned(SERVER);
    let PolicySpec::ReconfigurableTree(changing) = &promised.setup.kind else { panic!("{:?}", promised.setup.kind) };
    let ms = |n| Some(Duration::from_millis(n));
    assert_eq!(changing.changes[0].action, Action::Alter(Alteration { time: ms(5), ..Alteration::default() }));
    assert_eq!(changing.changes[2].action, Action::Alter(Alteration { period: ms(20), ..Alteration::default() }));
}

#[test]
fn what_is_to_be_removed_before_it_begins_releases_nothing() {
    for level in ["B", "C"] {
        let core = if level == "C" { "" } else { "core = 0" };
        let task = |name: &str, level: &str, core: &str, time: &str| {
            format!("[[task]]\nname = '{name}'\nlevel = '{level}'\nperiod = '50 ms'\nexecution = '{time} ms'\n{core}\n")
        };
        // The core has no idle instant before 40 ms; by then all are requested, and that of `late`, which has a job, keeps the last waiting.
        let text = format!(
            "[system]\ncores = 1\nduration = '400 ms'\n[machine]\noverheads = false\n[policy]\nkind = 'mc2'\n{}{}{}{}\
             [[change]]\nat = '10 ms'\nadd = 'z'\n[[change]]\nat = '10 ms'\nadd = 'x'\n\
             [[change]]\nat = '15 ms'\ntask = 'late'\nperiod = '80 ms'\n[[change]]\nat = '20 ms'\nremove = 'x'\n",
            task("busy", "C", "", "40"),
            task("x", level, core, "1"),
            task("z", level, core, "1"),
            task("late", "D", "", "20"),
        );
        let (system, promised) = planned(&text);
        let trace = run(&system, &promised);
        let summary = judge(&promised.view, &trace);
        let released: Vec<u64> = summary.tasks.iter().map(|it| it.jobs.released).collect();
        assert!(released[1] == 0 && released[2] > 3, "{level}: {released:?}");
        assert_eq!(summary.verdict, Verdict::Held, "{level}: {}", summary.headline());
    }
}

//! AMC and EDF-VD that change while they run: the rules one by one, and a slow machine that works everything out anew in each
//! nanosecond beside the policy.

use crate::common::changes::{altered, changing_mixed};
use crate::common::{core, draw, ms, run, time_of, timeline, Entry};
use proptest::prelude::*;
use tactus_policy::{
    Action, Change, Dual, DualNow, Mixed, MixedOrder, Part, PolicyConfig, PolicySpec, Protocol, Reconfigurable, Task,
    Values,
};
use tactus_record::{EventKind, CHANGE_NOT_ADMITTED, CHANGE_OVERLOADS};
use tactus_time::{CoreId, Duration, Instant, Level, TaskId};

/// A task: level, period, LO time, HI time, priority; in ms.
struct Row(Level, u64, u64, u64, u32);

fn setup(rows: &[Row], absent: &[u16], changes: Vec<(Change, Vec<DualNow>)>) -> PolicyConfig {
    let dual = |row: &Row| Dual { low: ms(row.2), priority: row.4, virtual_deadline: ms(row.1) };
    let task = |row: &Row| Task {
        level: row.0,
        core: core(0),
        offset: Duration::ZERO,
        period: ms(row.1),
        deadline: ms(row.1),
        budget: ms(row.3),
    };
    let policy = Mixed { order: MixedOrder::FixedPriority, tasks: rows.iter().map(dual).collect() };
    let absent = absent.iter().map(|n| TaskId(*n)).collect();
    let (changes, effects) = changes.into_iter().unzip();
    let kind = PolicySpec::ReconfigurableMixed(Reconfigurable {
        policy,
        absent,
        changes,
        effects,
        protocol: Protocol::IdleInstant,
    });
    PolicyConfig { cores: 1, kind, tasks: rows.iter().map(task).collect() }
}

fn change(at: u64, task: u16, action: Action) -> Change {
    Change { at: ms(at), part: Part::Task(TaskId(task)), action, admitted: true, drains: true, depends: false }
}

fn now(task: u16, low: u64, own: u64, virtual_deadline: u64) -> DualNow {
    let [low, own, virtual_deadline] = [low, own, virtual_deadline].map(|time| Some(ms(time)));
    DualNow { task: TaskId(task), low, own, virtual_deadline }
}

/// When records of this kind about changes came, in ms, with their numbers and `arg`.
fn told(entries: &[Entry], kind: EventKind) -> Vec<(u64, u32, u64)> {
    let records = entries.iter().flat_map(|entry| &entry.records).filter(|r| r.kind == kind);
    records.map(|r| (r.time.as_nanos() / 1_000_000, r.job, r.arg)).collect()
}

/// When jobs of the task were released, in ms.
fn releases(entries: &[Entry], task: u16) -> Vec<u64> {
    let records = entries.iter().flat_map(|entry| &entry.records);
    let own = records.filter(|r| r.kind == EventKind::Release && r.task == Some(TaskId(task)));
    own.map(|r| r.arg / 1_000_000).collect()
}

/// T1 is critical (LO 2, HI 5 of 10), T2 is not (2 of 10), T3 is not (2 of 20), T4 is critical (LO 1, HI 2 of 10), T5 is not (8 of
/// 10). T1's second job takes 5.
fn example() -> (PolicyConfig, impl Fn(TaskId, u32) -> Duration) {
    let rows = [
        Row(Level::A, 10, 2, 5, 1),
        Row(Level::B, 10, 2, 2, 3),
        Row(Level::B, 20, 2, 2, 2),
        Row(Level::A, 10, 1, 2, 4),
        Row(Level::B, 10, 8, 8, 0),
    ];
    let longer = Values { time: ms(5), period: ms(10), deadline: ms(10), priority: 5 };
    let changes = vec![
        (change(13, 2, Action::Remove), vec![]),
        (change(13, 3, Action::Add), vec![now(3, 1, 2, 10)]),
        (change(24, 0, Action::Alter(longer.into())), vec![now(0, 3, 5, 10)]),
        (Change { admitted: false, ..change(31, 4, Action::Add) }, vec![]),
    ];
    let demand = |task: TaskId, job: u32| match (task.0, job) {
        (0, 1) => ms(5),
        (0..=2, _) => ms(2),
        _ => ms(1),
    };
    (setup(&rows, &[3, 4], changes), demand)
}

#[test]
fn changes_wait_for_the_instant_at_which_both_levels_are_served_again() {
    let (setup, demand) = example();
    let entries = run(&setup, &demand, Instant::ZERO + ms(44));
    let drawn = draw::draw(&setup, &entries, 44, &|task| format!("T{}", task.0 + 1));
    crate::kept::compare("change-amc.txt", &drawn);
    // T2 has [10, 12); T1 has used its LO time at 14, and goes on to its end at 17, which is where nothing is left.
    let modes: Vec<_> = told(&entries, EventKind::Mode).into_iter().map(|told| told.0).collect();
    assert_eq!(modes, [14, 17]);
    assert_eq!(told(&entries, EventKind::ChangeApplied), [(17, 0, 0), (17, 1, 0), (24, 2, 0)]);
    assert_eq!(told(&entries, EventKind::ChangeRefused), [(31, 3, CHANGE_NOT_ADMITTED)]);
    assert_eq!(releases(&entries, 2), [0], "nothing is released after the removal");
    assert_eq!(releases(&entries, 3)[..3], [17, 27, 37], "the first job comes when the change is applied");
}

/// T1 is not critical (4 of 10), T2 is (LO 2, HI 8 of 10), T3 is not (6 of 20), T4 is not (8 of 10). Virtual deadlines are LO
/// utilisation over what the others leave: T2's is after a third of its period beside T1, after two sevenths beside T3.
#[test]
fn virtual_deadlines_change_with_those_who_compete() {
    let rows = [
        Row(Level::B, 10, 4, 4, 0),
        Row(Level::A, 10, 2, 8, 0),
        Row(Level::B, 20, 6, 6, 0),
        Row(Level::B, 10, 8, 8, 0),
    ];
    let after = |nanos| DualNow { virtual_deadline: Some(Duration::from_nanos(nanos)), ..now(1, 2, 8, 10) };
    let changes = vec![
        // Beside nobody plain deadlines do.
        (change(13, 0, Action::Remove), vec![after(10_000_000)]),
        (change(13, 2, Action::Add), vec![now(2, 6, 6, 20), after(2_857_142)]),
        (Change { admitted: false, ..change(33, 3, Action::Add) }, vec![]),
    ];
    let mut setup = setup(&rows, &[2, 3], changes);
    if let PolicySpec::ReconfigurableMixed(Reconfigurable { policy, .. }) = &mut setup.kind {
        policy.order = MixedOrder::VirtualDeadline;
        policy.tasks[1].virtual_deadline = Duration::from_nanos(3_333_333);
    }
    let demand = |task: TaskId, job: u32| match (task.0, job) {
        (1, 1) => ms(8),
        (1, _) => ms(2),
        (0, _) => ms(4),
        _ => ms(6),
    };
    let entries = run(&setup, &demand, Instant::ZERO + ms(48));
    let drawn = draw::draw(&setup, &entries, 48, &|task| format!("T{}", task.0 + 1));
    crate::kept::compare("change-edf-vd.txt", &drawn);
    assert_eq!(told(&entries, EventKind::ChangeApplied), [(18, 0, 0), (18, 1, 0)]);
    assert_eq!(told(&entries, EventKind::ChangeRefused), [(33, 2, CHANGE_NOT_ADMITTED)]);
}

#[test]
fn what_a_change_brings_other_tasks_of_the_core_comes_with_it() {
    let rows = [Row(Level::A, 10, 2, 6, 1), Row(Level::A, 20, 2, 4, 2)];
    // T2's LO time of 5 comes as T1 goes.
    let changes = vec![(change(3, 0, Action::Remove), vec![now(1, 4, 9, 20)])];
    let entries = run(&setup(&rows, &[], changes), &|_, _| ms(4), Instant::ZERO + ms(60));
    let modes: Vec<_> = told(&entries, EventKind::Mode).into_iter().map(|told| told.0).collect();
    // T2's first job has used its LO time at 2; the later ones are within theirs.
    assert_eq!(modes, [2, 8]);
    assert_eq!(told(&entries, EventKind::ChangeApplied), [(8, 0, 0)]);
}

#[test]
fn a_change_that_would_promise_more_than_the_core_in_either_mode_is_refused_and_brings_nothing() {
    // LO: 0.5; HI: 0.6.
    let rows = [Row(Level::A, 10, 3, 6, 1), Row(Level::B, 10, 2, 2, 2), Row(Level::A, 10, 2, 5, 3)];
    let changes = vec![
        (change(13, 2, Action::Add), vec![now(0, 1, 6, 10)]),
        (
            change(23, 1, Action::Alter(Values { time: ms(8), period: ms(10), deadline: ms(10), priority: 2 }.into())),
            vec![now(1, 8, 8, 10)],
        ),
    ];
    let setup = setup(&rows, &[2], changes);
    let entries = run(&setup, &|task, _| ms(if task.0 == 0 { 3 } else { 2 }), Instant::ZERO + ms(60));
    assert_eq!(told(&entries, EventKind::ChangeRefused), [(15, 0, CHANGE_OVERLOADS), (25, 1, CHANGE_OVERLOADS)]);
    assert!(releases(&entries, 2).is_empty());
    assert!(told(&entries, EventKind::Mode).is_empty(), "T1 has its LO time of before");
}

#[test]
fn a_task_that_was_removed_may_come_back_before_its_next_release_would_have_been() {
    let rows = [Row(Level::B, 20, 2, 2, 1)];
    let changes = vec![(change(3, 0, Action::Remove), vec![]), (change(5, 0, Action::Add), vec![])];
    let entries = run(&setup(&rows, &[], changes), &|_, _| ms(2), Instant::ZERO + ms(60));
    assert_eq!(releases(&entries, 0), [0, 5, 25, 45]);
}

const END: u64 = 150;

/// What a core does in one nanosecond: the job that it runs, and whether it serves both levels.
type Doing = (Option<(u16, u32)>, bool);

#[derive(Clone)]
struct Job {
    task: usize,
    number: u32,
    release: u64,
    done: u64,
    demand: u64,
}

#[derive(Clone)]
struct It {
    there: bool,
    ends: bool,
    next: Option<u64>,
    released: u32,
    period: u64,
    deadline: u64,
    priority: u32,
    low: u64,
    own: u64,
    virtual_deadline: u64,
}

/// One core, worked out anew for each nanosecond; and when which changes were applied there.
fn slowly(setup: &PolicyConfig, core: u8, demand: &dyn Fn(TaskId, u32) -> u64) -> (Vec<Doing>, Vec<(u32, u64)>) {
    let PolicySpec::ReconfigurableMixed(all) = &setup.kind else { panic!("{:?}", setup.kind) };
    let here = |n: usize| setup.tasks[n].core == Some(CoreId(core));
    let critical = |n: usize| setup.tasks[n].level == Level::A;
    let begin = |(n, task): (usize, &Task)| {
        let (dual, there) = (&all.policy.tasks[n], !all.absent.contains(&TaskId(n as u16)));
        It {
            there,
            ends: false,
            next: there.then_some(task.offset.as_nanos()),
            released: 0,
            period: task.period.as_nanos(),
            deadline: task.deadline.as_nanos(),
            priority: dual.priority,
            low: dual.low.as_nanos(),
            own: task.budget.as_nanos(),
            virtual_deadline: dual.virtual_deadline.as_nanos(),
        }
    };
    let mut tasks: Vec<It> = setup.tasks.iter().enumerate().map(begin).collect();
    let of = |change: &Change| match change.part {
        Part::Task(task) => task.index(),
        Part::Server(_) => panic!("{change:?}"),
    };
    let mut waiting: Vec<usize> = Vec::new();
    let mut any_refused = false;
    let (mut jobs, mut both): (Vec<Job>, _) = (Vec::new(), true);
    let (mut line, mut settled) = (Vec::new(), Vec::new());
    for now in 0..END {
        jobs.retain(|job| job.done < job.demand);
        if both
            && jobs.iter().any(|job| {
                let it = &tasks[job.task];
                critical(job.task) && job.done >= it.low && it.low < it.own
            })
        {
            both = false;
            jobs.retain(|job| critical(job.task));
        }
        jobs.retain(|job| job.done < if both { tasks[job.task].low } else { tasks[job.task].own });
        both |= jobs.is_empty();
        for (n, change) in all.changes.iter().enumerate() {
            if change.at.as_nanos() == now && here(of(change)) {
                waiting.push(n);
                tasks[of(change)].ends |= change.admitted && change.action == Action::Remove;
            }
        }
        while let Some(n) = waiting.first().copied() {
            let change = &all.changes[n];
            // What was computed with one that was refused is refused at once, and a removal comes without it.
            let outdated = change.depends && any_refused;
            let refused = !change.admitted || outdated && change.action != Action::Remove;
            if !refused && !jobs.is_empty() {
                break;
            }
            waiting.remove(0);
            if refused {
                continue;
            }
            let mut then = tasks.clone();
            for now in all.effects[n].iter().filter(|_| !outdated) {
                let it = &mut then[now.task.index()];
                it.low = now.low.map_or(it.low, |time| time.as_nanos());
                it.own = now.own.map_or(it.own, |time| time.as_nanos());
                it.virtual_deadline = now.virtual_deadline.map_or(it.virtual_deadline, |time| time.as_nanos());
            }
            let it = &mut then[of(change)];
            match change.action {
                Action::Add => {
                    (it.there, it.ends, it.next) = (true, false, Some(now + setup.tasks[of(change)].offset.as_nanos()))
                }
                Action::Remove => (it.there, it.ends) = (false, true),
                Action::Alter(named) => {
                    let (time, priority) = (Duration::ZERO, it.priority);
                    let (period, deadline) = (Duration::from_nanos(it.period), Duration::from_nanos(it.deadline));
                    let values = altered(Values { time, period, deadline, priority }, named);
                    (it.period, it.deadline) = (values.period.as_nanos(), values.deadline.as_nanos());
                    it.priority = values.priority;
                }
            }
            let load = |tasks: &[It], high: bool| -> u128 {
                let those = tasks.iter().enumerate().filter(|(n, it)| here(*n) && it.there && (!high || critical(*n)));
                those
                    .map(|(_, it)| (u128::from(if high { it.own } else { it.low }) << 32) / u128::from(it.period))
                    .sum()
            };
            let too_much = |high| load(&then, high) > 1 << 32 && load(&then, high) > load(&tasks, high);
            let longer = then.iter().enumerate().any(|(n, it)| here(n) && it.low > it.own);
            if !too_much(false) && !too_much(true) && !longer {
                tasks = then;
                settled.push((n as u32, now));
            } else {
                any_refused = true;
            }
        }
        for (n, it) in tasks.iter_mut().enumerate().filter(|(n, _)| here(*n)) {
            if it.next == Some(now) && !it.ends {
                let number = it.released;
                (it.released, it.next) = (number + 1, Some(now + it.period));
                if both || critical(n) {
                    jobs.push(Job { task: n, number, release: now, done: 0, demand: demand(TaskId(n as u16), number) });
                }
            }
        }
        let urgency = |job: &Job| {
            let it = &tasks[job.task];
            let deadline = if both && critical(job.task) { it.virtual_deadline } else { it.deadline };
            let first = match all.policy.order {
                MixedOrder::FixedPriority => -i64::from(it.priority),
                MixedOrder::VirtualDeadline => (job.release + deadline) as i64,
            };
            (first, job.task, job.number)
        };
        let oldest = |job: &&Job| !jobs.iter().any(|other| other.task == job.task && other.number < job.number);
        let chosen = jobs.iter().filter(oldest).min_by_key(|job| urgency(job)).map(|job| (job.task as u16, job.number));
        if let Some((task, number)) = chosen {
            let job = jobs.iter_mut().find(|job| (job.task as u16, job.number) == (task, number));
            job.expect("it was chosen").done += 1;
        }
        line.push((chosen, both));
    }
    (line, settled)
}

fn beside_the_slow_machine(setup: &PolicyConfig) {
    let demand = |task: TaskId, job: u32| {
        let most = setup.tasks[task.index()].budget.as_nanos() + 2;
        time_of(most, task, job)
    };
    let entries = run(setup, &|task, job| Duration::from_nanos(demand(task, job)), Instant::from_nanos(END));
    let line = timeline(&entries);
    for core in 0..setup.cores {
        let records = || entries.iter().filter(|entry| entry.core == core).flat_map(|entry| &entry.records);
        let modes: Vec<_> = records().filter(|record| record.kind == EventKind::Mode).collect();
        let (expected, settled) = slowly(setup, core as u8, &demand);
        for (now, (job, both)) in expected.into_iter().enumerate() {
            let before = |time: Instant| time.as_nanos() <= now as u64;
            let at = line.partition_point(|(from, _)| before(*from));
            let ours = line[at - 1].1[core].map(|(task, job)| (task.0, job));
            assert_eq!(ours, job, "core {core} at {now}");
            let serves = modes.iter().rev().find(|mode| before(mode.time)).is_none_or(|mode| mode.level > 0);
            assert_eq!(serves, both, "mode of core {core} at {now}");
        }
        let took: Vec<(u32, u64)> = records()
            .filter(|r| r.kind == EventKind::ChangeApplied && r.time.as_nanos() < END)
            .map(|r| (r.job, r.time.as_nanos()))
            .collect();
        assert_eq!(took, settled, "core {core}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_changes_are_those_of_a_machine_that_looks_at_everything_at_every_instant(setup in changing_mixed(6, END)) {
        beside_the_slow_machine(&setup);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    #[ignore = "takes minutes: evidence, not a daily test"]
    fn a_hundred_thousand_random_systems_change_as_on_the_slow_machine(setup in changing_mixed(6, END)) {
        beside_the_slow_machine(&setup);
    }
}

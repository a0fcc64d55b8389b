//! Statements of MC² (Herman et al.) that no comparison of schedules shows: which core serves releases, how many events they make, and
//! who queues what was displaced.

use proptest::prelude::*;
use std::cell::Cell;
use std::collections::BTreeMap;
use tactus_mc2_variants::{Fine, Machinery};
use tactus_policy::{Event, Mc2, PolicyConfig, PolicySpec, Table, Task};
use tactus_record::EventKind;
use tactus_slow_machine::levels::{demand_of, slower, systems, END, SCALE};
use tactus_slow_machine::{exact, run_policy, Entry};
use tactus_time::{CoreId, Duration, Instant, Level, TaskId};

fn us(n: u64) -> Duration {
    Duration::from_micros(n)
}

/// The drawn system in microseconds; enforced or not, with slack shifting or not.
fn drawn(setup: &PolicyConfig, (enforce, slack_shifting): (bool, bool)) -> PolicyConfig {
    let mut setup = slower(setup);
    mc2_of(&mut setup, |mc2| (mc2.enforce, mc2.slack_shifting) = (enforce, slack_shifting));
    setup
}

fn mc2_of(setup: &mut PolicyConfig, change: impl FnOnce(&mut Mc2)) {
    let PolicySpec::Mc2(mc2) = &mut setup.kind else { panic!("{:?}", setup.kind) };
    change(mc2);
}

/// An interrupt master, with this beside.
fn master(timer_merging: bool, work_redistribution: bool) -> Machinery {
    Machinery { interrupt_master: true, timer_merging, work_redistribution }
}

/// What runs with the machinery of the source.
fn fine(
    setup: &PolicyConfig,
    machinery: Machinery,
    demand: &dyn Fn(TaskId, u32) -> Duration,
    end: Instant,
) -> Vec<Entry> {
    let (fine, cores) = Fine::new(setup, machinery).expect("the set-up is good");
    run_policy(&fine, cores, demand, end, exact())
}

fn runs(setup: &PolicyConfig, redistribution: bool, most: &[u64]) -> Vec<Entry> {
    let demand = demand_of(most);
    let longer = |task, job| demand(task, job) * SCALE;
    fine(setup, master(true, redistribution), &longer, Instant::from_nanos(END * SCALE))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Without budgets, and but for the end of its own slot of level A, there is nothing but releases that a timer could be for: no other
    /// core has any.
    #[test]
    fn with_an_interrupt_master_no_other_core_ever_sets_a_timer_for_a_release((setup, most) in systems()) {
        let entries = runs(&drawn(&setup, (false, false)), false, &most);
        let expired = |entry: &&Entry| entry.event == Event::Timer;
        let in_slot = |entry: &Entry| entry.decision.run.is_some_and(|run| setup.tasks[run.task.index()].level == Level::A);
        for entry in entries.iter().filter(|entry| entry.core != 0 && !in_slot(entry)) {
            prop_assert!(entry.decision.timer == Instant::NEVER, "core {} at {}", entry.core, entry.now);
        }
        let releases = entries.iter().flat_map(|entry| &entry.records).filter(|record| record.kind == EventKind::Release);
        let served = entries.iter().filter(expired).count();
        prop_assert!(served > 0 || releases.count() == 0, "the master serves them");
    }

    /// With budgets another core's timer is the end of one: of the job that runs, or of a ghost; at level A also of the slot.
    #[test]
    fn with_budgets_another_cores_timer_expires_for_the_end_of_one_only((setup, most) in systems()) {
        let mut setup = drawn(&setup, (true, true));
        // Who has no slot has no job of level A.
        let none = || Table { cycle: Duration::ZERO, slots: Vec::new() };
        mc2_of(&mut setup, |mc2| mc2.tables.iter_mut().for_each(|table| *table = none()));
        setup.tasks.iter_mut().filter(|task| task.level == Level::A).for_each(|task| task.level = Level::B);
        let entries = runs(&setup, false, &most);
        for entry in entries.iter().filter(|entry| entry.core != 0 && entry.event == Event::Timer) {
            let end = |kind| matches!(kind, EventKind::Exhausted | EventKind::GhostEnd);
            prop_assert!(entry.records.iter().any(|it| end(it.kind)), "core {} at {}: {:?}", entry.core, entry.now, entry.records);
        }
    }
}

/// `cores` cores; on each a task of B every 100 µs, and as many of C; all released together, and short.
fn together(cores: u8) -> PolicyConfig {
    let task = |level, core| Task { level, core, offset: us(100), period: us(100), deadline: us(100), budget: us(10) };
    let of = |core| {
        let bound = Some(CoreId(core));
        [task(Level::A, bound), task(Level::B, bound), task(Level::C, None)]
    };
    let table = |core: u8| Table {
        cycle: us(100),
        slots: vec![tactus_policy::Slot { task: TaskId(u16::from(core) * 3), start: us(0), end: us(10) }],
    };
    let mc2 = Mc2 { enforce: true, slack_shifting: true, allowance: us(0), tables: (0..cores).map(table).collect() };
    PolicyConfig { cores: cores.into(), kind: PolicySpec::Mc2(mc2), tasks: (0..cores).flat_map(of).collect() }
}

#[test]
fn releases_of_a_b_and_c_in_one_instant_make_one_event_on_each_core_where_timers_are_merged() {
    for cores in 1..=8 {
        let events = |merging| {
            let entries = fine(&together(cores), master(merging, false), &|_, _| us(5), Instant::ZERO + us(2_050));
            let mut most = vec![0; usize::from(cores)];
            for k in 1..=20 {
                let at = Instant::ZERO + us(100 * k);
                let levels = |entry: &&Entry| entry.now == at;
                let released = entries.iter().filter(levels).flat_map(|entry| &entry.records);
                let released = released.filter(|record| record.kind == EventKind::Release).count();
                assert_eq!(released, 3 * usize::from(cores), "at {at}");
                for (core, most) in most.iter_mut().enumerate() {
                    *most = (*most).max(entries.iter().filter(levels).filter(|entry| entry.core == core).count());
                }
            }
            most
        };
        assert_eq!(events(true), vec![1; usize::from(cores)], "{cores} cores");
        assert!(events(false)[0] >= 3, "each timer is an event of its own: {:?}", events(false));
    }
}

/// How often a task of C that was displaced on another core than the master's came to run again, and how often before the master had
/// been called since.
fn displaced(setup: &PolicyConfig, entries: &[Entry]) -> (usize, usize) {
    let (mut again, mut without) = (0, 0);
    // Of each task that was displaced: whether the master has been called since.
    let mut out: BTreeMap<TaskId, bool> = BTreeMap::new();
    let level = |task: TaskId| setup.tasks[task.index()].level;
    for entry in entries {
        if entry.core == 0 {
            out.values_mut().for_each(|called| *called = true);
        }
        let local = entry.decision.run.is_some_and(|run| level(run.task) <= Level::B);
        for record in &entry.records {
            let Some(task) = record.task.filter(|task| level(*task) == Level::C) else { continue };
            match record.kind {
                EventKind::Preempt if local && entry.core != 0 => {
                    out.insert(task, false);
                }
                EventKind::Dispatch => {
                    if let Some(called) = out.remove(&task) {
                        again += 1;
                        without += usize::from(!called);
                    }
                }
                _ => {}
            }
        }
    }
    (again, without)
}

#[test]
fn what_is_displaced_is_queued_by_the_master_alone_where_work_is_redistributed() {
    use proptest::test_runner::{Config, TestRunner};
    let counts = |redistribution: bool| {
        let (again, without) = (Cell::new(0), Cell::new(0));
        let config = Config { cases: 1_500, failure_persistence: None, ..Config::default() };
        let look = |(setup, most): (PolicyConfig, Vec<u64>)| {
            let setup = drawn(&setup, (true, true));
            let entries = runs(&setup, redistribution, &most);
            let found = displaced(&setup, &entries);
            again.set(again.get() + found.0);
            without.set(without.get() + found.1);
            Ok(())
        };
        TestRunner::new(config).run(&systems(), look).expect("nothing is asserted of one system");
        (again.get(), without.get())
    };
    let (again, without) = counts(true);
    println!("{again} displaced jobs went on, {without} before the master had been called");
    assert!(again > 100, "{again}");
    assert_eq!(without, 0);
    // The check can fail: without redistribution the core that displaces queues.
    let (again, without) = counts(false);
    println!("without redistribution: {again}, {without}");
    assert!(without > 10, "{without} of {again}");
}

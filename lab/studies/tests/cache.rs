//! The cache study at its smallest: what must come out of every run of it.

use tactus_analysis::partitioned::colours::Class;
use tactus_cache::corun::Pattern;
use tactus_studies::cache::schedule::{run, Task, Throttle, Urgency};
use tactus_studies::cache::table::{Load, Relation, Table};
use tactus_studies::cache::two_phase::{Scheme, THROTTLE};
use tactus_studies::cache::{cap, choice, events, partitions, sets, two_phase};

#[test]
fn colours_keep_deadlines_and_one_colour_for_all_loses_them() {
    let cell = partitions::cell(sets::Scheduling::Partitioned, 32 << 10, 1, 1, 4);
    assert_eq!(cell.missing_coloured, 0);
    assert!(cell.missing_together > 0 && cell.factor > 2.0 && cell.largest < 25.0, "{cell:?}");
    assert!(cell.seconds_together > cell.seconds_coloured);
}

/// Statement 23: a page in a millisecond is as much as the kernel's decisions touch.
#[test]
fn a_kernel_in_the_tasks_colour_is_hardly_felt() {
    let factor = partitions::kernel_factor(32 << 10, 64, 100_000);
    assert!((0.99..1.01).contains(&factor), "{factor}");
}

/// Statements 24 to 26: under each scheduling nobody misses with a colour of his own, and all is done in the nominal time (four
/// jobs of 200 ms each, and an offset of less than one period); in one colour the small working sets lose the most.
#[test]
fn private_colours_end_in_time_and_one_colour_hurts_small_working_sets_most() {
    for scheduling in [sets::Scheduling::Partitioned, sets::Scheduling::Clustered, sets::Scheduling::Global] {
        let small = partitions::cell(scheduling, 32 << 10, 1, 1, 4);
        let large = partitions::cell(scheduling, 128 << 10, 1, 1, 4);
        for cell in [small, large] {
            assert_eq!(cell.missing_coloured, 0, "{scheduling:?}: {cell:?}");
            assert!((0.6..1.0).contains(&cell.seconds_coloured), "{scheduling:?}: {cell:?}");
            assert!(
                cell.missing_together * 10 > cell.tasks * 9 && cell.seconds_together > 1.5,
                "{scheduling:?}: {cell:?}"
            );
        }
        assert!(small.factor > 9.0 && large.factor > 7.0 && small.factor > large.factor, "{small:?} {large:?}");
        assert!(small.largest < 15.0 && large.largest < 15.0, "{small:?} {large:?}");
    }
}

#[test]
fn cap_misses_nothing_where_worst_fit_misses() {
    let cell = cap::cell(128 << 10, 3, 1, 1, 4, 60);
    assert_eq!(cell.cap, [0.0]);
    assert!(cell.plain[0] > 0.0, "{cell:?}");
    assert_eq!(cap::cell(128 << 10, 3, 1, 1, 4, 60), cell);
}

#[test]
fn best_effort_work_yields_only_where_it_is_watched() {
    let dynamic = two_phase::cell(Scheme::Dynamic, 32 << 10, 3, 1, 1, 4, 60);
    let plain = two_phase::cell(Scheme::CapGs, 32 << 10, 3, 1, 1, 4, 60);
    assert!(dynamic.yields > 0.0 && plain.yields == 0.0);
    assert!(dynamic.best_effort < plain.best_effort);
    assert_eq!((dynamic.hard, dynamic.soft, plain.hard), (0.0, 0.0, 0.0));
}

/// Statements 34 and 35: where the group's tasks and the best-effort task sweep one colour, soft tasks are late unless the
/// best-effort task yields; hard tasks never are. The dearer it is to fetch a changed line, the more best fit loses.
#[test]
fn soft_tasks_are_late_without_the_counters_and_hard_tasks_are_not() {
    let cell = |scheme, bytes, coherence| two_phase::cell(scheme, bytes, 3, 1, 1, 10, coherence);
    let (watched, alone) = (cell(Scheme::Dynamic, 128 << 10, 60), cell(Scheme::CapGs, 128 << 10, 60));
    assert_eq!((watched.hard, watched.soft, alone.hard), (0.0, 0.0, 0.0));
    assert!(watched.tardiness < 0.0 && alone.soft > 0.0 && alone.tardiness > watched.tardiness, "{alone:?}");
    let (best, grouped) = (cell(Scheme::BestFit, 32 << 10, 300), cell(Scheme::CapGs, 32 << 10, 300));
    assert_eq!((best.hard, grouped.hard, grouped.soft), (0.0, 0.0, 0.0));
    assert!(best.soft > 10.0 && best.seconds > grouped.seconds && best.tardiness > grouped.tardiness, "{best:?}");
}

/// Why soft tasks lose at 128 KB and not below: there the best-effort sweep over the array drives it out of its colour.
#[test]
fn the_best_effort_sweep_is_felt_at_128_kb_and_not_below() {
    let mut table = Table::new(64, 60);
    let sweep = sets::sweep(&mut table);
    let mut slower = |bytes| {
        let own = sets::ordinary(&mut table, bytes, 3);
        table.measured(own, None, &[(sweep, Relation::Array)]).cycles / table.measured(own, None, &[]).cycles
    };
    assert!(slower(32 << 10) < 1.05 && slower(64 << 10) < 1.05 && slower(128 << 10) > 2.5);
}

/// Statement 36: the looks at the counter take 0.000343 of every processor, and only best-effort tasks yield for them.
#[test]
fn only_best_effort_tasks_yield() {
    assert_eq!(format!("{:.6}", THROTTLE.cost / THROTTLE.quantum), "0.000343");
    let mut table = Table::new(64, 60);
    let load = table.load(Load { bytes: 32 << 10, pattern: Pattern::Random { write_every: 2 } });
    let task = |class, processor: usize| Task {
        period: 200e6,
        offset: 0.0,
        jobs: if class == Class::BestEffort { 1 } else { 4 },
        accesses: 1e7,
        load,
        class,
        colour: 0,
        array: 0,
        processors: 1 << processor,
    };
    // The same array on two cores: more than four events in every quantum.
    for (classes, yields) in [
        ([Class::Hard, Class::Hard], false),
        ([Class::Hard, Class::Soft], false),
        ([Class::Soft, Class::Soft], false),
        ([Class::Soft, Class::BestEffort], true),
    ] {
        let tasks = [task(classes[0], 0), task(classes[1], 2)];
        let out = run(&tasks, &mut table, Urgency::Bands, Some(THROTTLE));
        assert_eq!(out.yields > 0, yields, "{classes:?}");
    }
}

/// Statements 12 and 32: nothing of the other core without sharing, more than three orders of magnitude more with it.
#[test]
fn counters_tell_sharing_from_not_sharing() {
    let (apart, together) = (events::rates(128 << 10, false, 20_000), events::rates(128 << 10, true, 20_000));
    assert_eq!((apart.hitm, apart.snooped, apart.idle, together.idle), (0.0, 0.0, 0, 0));
    // The source counts up to 99 of the first in a second where nothing is shared.
    assert!(together.hitm > 1e5 && together.snooped > 1e5 && together.lines_in_invalid > 1e5, "{together:?}");
    let larger = events::rates(512 << 10, true, 20_000);
    assert!(larger.hitm < together.hitm && larger.hitm > 1e5, "{larger:?}");
}

#[test]
fn reloading_stays_below_the_bound() {
    for (bytes, micros) in [(128 << 10, "120.5"), (10 << 20, "9637.6")] {
        let (measured, bound) = events::reload(bytes, false);
        assert_eq!(format!("{bound:.1}"), micros);
        assert!(measured <= bound && events::reload(bytes, true).0 < measured);
    }
}

#[test]
fn chosen_colours_place_more_systems_than_an_even_split() {
    let counts = choice::compare(40);
    assert!(counts.chosen > counts.even && counts.only_even == 0 && counts.slower == 0, "{counts:?}");
}

/// A schedule that a person can check: two tasks on one processor, no caches in the way.
#[test]
fn jobs_take_their_accesses_times_their_cost() {
    let mut table = Table::new(64, 60);
    let load = table.load(Load { bytes: 64, pattern: Pattern::Random { write_every: 0 } });
    let cycles = table.measured(load, None, &[]).cycles;
    assert!((cycles - 14.0).abs() < 1e-9, "{cycles}: 10 of work, 4 of the first level");
    let accesses = |nanos: f64| nanos * 3.4 / cycles;
    let task = |period: f64, nanos: f64, number| Task {
        period,
        offset: 0.0,
        jobs: 10,
        accesses: accesses(nanos),
        load,
        class: Class::Hard,
        colour: number,
        array: number,
        processors: 1,
    };
    // 4 of 10 and 10 of 20 µs: EDF meets all deadlines, at 90 % the slower one ends at 4 + 6 + 4 + 4 = 18 µs.
    let out = run(&[task(10e3, 4e3, 0), task(20e3, 10e3, 1)], &mut table, Urgency::Edf, None);
    assert_eq!(out.tasks.iter().map(|task| (task.jobs, task.missed)).collect::<Vec<_>>(), [(10, 0), (10, 0)]);
    assert!((out.tasks[1].longest - 10e3).abs() < 30.0, "{:?}", out.tasks);
    assert!((out.tasks[1].response - 18e3).abs() < 60.0, "{:?}", out.tasks);
    // 6 of 10 and 10 of 20 are too much.
    let out = run(&[task(10e3, 6e3, 0), task(20e3, 10e3, 1)], &mut table, Urgency::Edf, None);
    assert!(out.tasks.iter().any(|task| task.missed > 0));
    // The looks at the counter cost a tenth of the time here.
    let throttle = Throttle { quantum: 10e3, threshold: 4.0, cost: 1e3 };
    let out = run(&[task(10e3, 4e3, 0)], &mut table, Urgency::Edf, Some(throttle));
    assert!((out.tasks[0].longest - 4e3 / 0.9).abs() < 5.0, "{:?}", out.tasks);
    assert_eq!(table.measured(load, None, &[(load, Relation::Nothing)]).cycles, cycles);
}

//! The cache study at its smallest: what must come out of every run of it.

use tactus_analysis::partitioned::colours::Class;
use tactus_cache::corun::Pattern;
use tactus_studies::cache::schedule::{run, Task, Throttle, Urgency};
use tactus_studies::cache::table::{Load, Relation, Table};
use tactus_studies::cache::two_phase::Scheme;
use tactus_studies::cache::{cap, choice, events, partitions, sets, two_phase};

#[test]
fn colours_keep_deadlines_and_one_colour_for_all_loses_them() {
    let cell = partitions::cell(sets::Scheduling::Partitioned, 32 << 10, 1, 1, 4);
    assert_eq!(cell.missing_coloured, 0);
    assert!(cell.missing_together > 0 && cell.factor > 2.0 && cell.largest < 25.0, "{cell:?}");
    assert!(cell.seconds_together > cell.seconds_coloured);
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

#[test]
fn counters_tell_sharing_from_not_sharing() {
    let (apart, together) = (events::rates(128 << 10, false, 20_000), events::rates(128 << 10, true, 20_000));
    assert_eq!((apart.hitm, apart.snooped, apart.idle, together.idle), (0.0, 0.0, 0, 0));
    assert!(together.hitm > 1_000.0 && together.lines_in_invalid > 1_000.0, "{together:?}");
}

#[test]
fn reloading_stays_below_the_bound() {
    let (measured, bound) = events::reload(128 << 10, false);
    assert_eq!(format!("{bound:.1}"), "120.5");
    assert!(measured <= bound && events::reload(128 << 10, true).0 < measured);
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

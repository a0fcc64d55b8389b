//! Schedules as text.

use crate::common::*;
use tactus_record::EntryReason::*;
use tactus_time::{Instant, Level};
use tactus_trace::{draw, list, schedule, SegmentKind, Trace, View};

/// The first ten units of the worked MC² example, written down by hand; each decision takes `cost` ns.
fn worked_example(cost: u64) -> (View, Trace) {
    let levels = [Level::A, Level::A, Level::B, Level::B, Level::C, Level::C];
    let periods = [5, 10, 10, 20, 10, 20];
    let tasks = (0..6).map(|i| {
        let core = (i < 4).then_some(0);
        at_level(task(&format!("T{}", i + 1), periods[i], None), levels[i], core)
    });
    let mut b = Builder::new(1);
    let t = |n: u64| n * UNIT;
    let mut call = |now: u64, reason, steps: &dyn Fn(&mut Call)| {
        b.call_ns(0, t(now), t(now) + cost, reason, t(now), |c| steps(c));
    };
    call(0, Start, &|c| {
        (0..6).for_each(|i| {
            c.release(i, 0, 0);
        });
        c.dispatch(0, 0);
    });
    call(1, Complete, &|c| {
        c.complete(0, 0, 1).ghost(0, 0).dispatch(2, 0);
    });
    call(3, Complete, &|c| {
        c.complete(2, 0, 2).ghost_end(0, 0).dispatch(1, 0);
    });
    call(5, Complete, &|c| {
        c.complete(1, 0, 2).release(0, 1, 5).dispatch(0, 1);
    });
    call(6, Complete, &|c| {
        c.complete(0, 1, 1).ghost(0, 1).dispatch(3, 0);
    });
    call(7, Complete, &|c| {
        c.complete(3, 0, 1).ghost(3, 0).dispatch(4, 0);
    });
    call(8, Timer, &|c| {
        c.ghost_end(0, 1).ghost_end(3, 0).ghost(1, 0);
    });
    call(9, Complete, &|c| {
        c.complete(4, 0, 2).dispatch(5, 0);
    });
    call(10, Timer, &|c| {
        c.ghost_end(1, 0).preempt(5, 0).release(0, 2, 10).dispatch(0, 2);
    });
    (view(1, 10, tasks.collect()), b.end(10))
}

const WORKED: &str =
    "[0,1) T1 | [1,3) T3 (T1) | [3,5) T2 | [5,6) T1 | [6,7) T4 (T1) | [7,8) T5 (T1,T4) | [8,9) T5 (T2) | \
                      [9,10) T6 (T2)\n";

#[test]
fn the_worked_example_is_listed_as_the_reference_lists_it() {
    let (view, trace) = worked_example(0);
    assert_eq!(list(&view, &trace, units(1)), WORKED);
}

#[test]
fn time_in_the_scheduler_does_not_show_in_a_list() {
    let (view, trace) = worked_example(40_000);
    assert_eq!(list(&view, &trace, units(1)), WORKED);
    let scheduler: u64 = schedule(&trace)
        .iter()
        .filter(|s| s.kind == SegmentKind::Scheduler)
        .map(|s| s.end.since(s.start).as_nanos())
        .sum();
    assert_eq!(scheduler, 9 * 40_000);
}

#[test]
fn the_worked_example_is_drawn_so_that_a_person_can_check_it() {
    let (view, trace) = worked_example(40_000);
    let expected = "           0
core 0     1332214556
T1     A 1 0gg  0gg
T2     A 2 ...00   gg
T3     B 3 .00
T4     B 4 ......0g
T5     C 5 .......00
T6     C 6 .........0
";
    assert_eq!(draw(&view, &trace, units(1), Instant::ZERO, at(10)), expected);
}

#[test]
fn a_drawing_may_begin_anywhere_and_a_cell_shows_what_fills_most_of_it() {
    let (view, trace) = worked_example(0);
    let text = draw(&view, &trace, units(2), at(4), at(10));
    let core = text.lines().nth(1).unwrap();
    // [4,6) is shared evenly by T2 and T1, [6,8) by T4 and T5, [8,10) by T5 and T6: the first is shown.
    assert_eq!(core, "core 0     245");
    assert!(text.lines().next().unwrap().trim_start().starts_with('2'));
}

#[test]
fn several_cores_are_listed_line_by_line_with_their_idle_time() {
    let tasks = [(0, 4, 1), (1, 2, 1)];
    let text = list(&edf_view(2, &tasks, 4), &edf(2, &tasks, 4), units(1));
    assert_eq!(text, "core 0: [0,1) T1 | [1,4) idle\ncore 1: [0,1) T2 | [1,2) idle | [2,3) T2 | [3,4) idle\n");
}

#[test]
fn a_stretch_shorter_than_half_a_unit_is_merged_away() {
    let mut b = Builder::new(1);
    b.call(0, 0, Start, |c| {
        c.release(0, 0, 0).release(1, 0, 0).dispatch(0, 0);
    });
    b.call_ns(0, 2 * UNIT, 2 * UNIT, Timer, 2 * UNIT, |c| {
        c.preempt(0, 0).dispatch(1, 0);
    });
    b.call_ns(0, 2 * UNIT + UNIT / 4, 2 * UNIT + UNIT / 4, Complete, 0, |c| {
        c.complete(1, 0, 0).dispatch(0, 0);
    });
    let trace = b.end(4);
    let view = view(1, 4, vec![task("long", 4, None), task("short", 4, None)]);
    assert_eq!(list(&view, &trace, units(1)), "[0,4) long\n");
}

#[test]
fn without_a_unit_there_is_nothing_to_draw() {
    let (view, trace) = worked_example(0);
    assert_eq!(draw(&view, &trace, units(0), Instant::ZERO, at(10)), "");
    assert_eq!(draw(&view, &trace, units(1), at(3), at(3)), "");
    assert_eq!(list(&view, &trace, units(0)), "");
}

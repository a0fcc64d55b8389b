//! Monitors with a clock say false at the first instant at which the definition of their property does.

mod common;

use common::Random;
use tactus_monitor::{Property, Step, Timed, Verdict};
use tactus_time::{Duration, Instant};

/// What each event means: is it p, q, r?
const MEANINGS: [[bool; 3]; 6] = [
    [true, false, false],
    [false, true, false],
    [true, true, false],
    [false, false, false],
    [true, false, true],
    [false, false, true],
];

const SHAPES: [&str; 11] = [
    "always (P -> eventually[<= 10 ns] Q)",
    "always (P -> always[<= 10 ns] Q)",
    "always (P -> once[<= 10 ns] Q)",
    "distance(P) >= 10 ns",
    "distance(P) <= 10 ns",
    "always (P -> R until[<= 10 ns] Q)",
    "always (P -> historically[<= 10 ns] Q)",
    "always (P -> R since[<= 10 ns] Q)",
    "always (P -> not eventually[<= 10 ns] Q)",
    "always (P and previously R -> eventually[<= 10 ns] (Q or once[4, 5] R))",
    "always (P since R -> R until[<= 10 ns] (Q and historically not R))",
];

/// Whether what happened until `i`, at whose time the clock stands, breaks the property: word by word as it is written. Silence is an
/// event of no meaning, which nothing counts.
fn broken(shape: usize, d: u64, times: &[u64], meanings: &[Option<[bool; 3]>], i: usize) -> bool {
    let is = |j: usize, what: usize| meanings[j].is_some_and(|it: [bool; 3]| it[what]);
    let happens = |j: usize| meanings[j].is_some();
    let r = |j: usize| is(j, 2);
    let p = |j: usize| match shape {
        9 => is(j, 0) && j > 0 && r(j - 1),
        10 => happens(j) && (0..=j).any(|k| r(k) && (k + 1..=j).all(|l| is(l, 0))),
        _ => is(j, 0),
    };
    let q = |j: usize| match shape {
        9 => happens(j) && (is(j, 1) || [4, 5].iter().any(|&away| away <= j && r(j - away))),
        10 => is(j, 1) && !(0..=j).any(r),
        _ => is(j, 1),
    };
    let now = times[i];
    (0..=i).filter(|&j| p(j)).any(|j| match shape {
        0 | 9 => times[j] + d < now && !(j..=i).any(|k| q(k) && times[k] <= times[j] + d),
        1 => (j..=i).any(|k| times[k] <= times[j] + d && happens(k) && !q(k)),
        2 => !(0..=j).any(|k| q(k) && times[k] + d >= times[j]),
        5 | 10 => {
            let ends = (j..=i).find(|&k| q(k) || times[k] > times[j] + d || happens(k) && !r(k));
            ends.is_some_and(|k| !q(k) || times[k] > times[j] + d)
        }
        6 => (0..=j).any(|k| times[k] + d >= times[j] && !q(k)),
        7 => !(0..=j).any(|k| q(k) && times[k] + d >= times[j] && (k + 1..=j).all(r)),
        8 => (j..=i).any(|k| times[k] <= times[j] + d && q(k)),
        3 => (j + 1..=i).find(|&k| p(k)).is_some_and(|k| times[k] - times[j] < d),
        _ => {
            let next = (j + 1..=i).find(|&k| p(k)).map_or(now, |k| times[k]);
            next - times[j] > d
        }
    })
}

#[test]
fn verdicts_with_a_clock_come_at_the_first_event_that_breaks_the_definition() {
    for (shape, text) in SHAPES.iter().enumerate() {
        let events: Vec<String> = ["e0", "e1", "e2", "e3", "e4", "e5"].map(Into::into).to_vec();
        let text = text.replace('P', "(e0 or e2 or e4)").replace('Q', "(e1 or e2)").replace('R', "(e4 or e5)");
        let timed = Timed::new(&[], &events, &Property::parse(&text).expect("a property"), None).expect("a monitor");
        let (mut random, mut falses, mut trues) = (Random::new(shape as u64 + 1), 0, 0);
        for case in 0..10_000 {
            let mut stepper = timed.stepper(false).expect("a sound table");
            let (mut times, mut meanings, mut now) = (vec![], vec![], 0);
            let mut settled = false;
            for i in 0..1 + random.below(12) {
                now += random.below(7) as u64;
                let event = random.below(6);
                times.push(now);
                meanings.push(Some(MEANINGS[event]));
                let step = stepper.step(event as u32, Instant::from_nanos(now));
                if broken(shape, 10, &times, &meanings, i) {
                    assert_eq!(step, Step::Concluded(Verdict::False), "{text}, case {case}: {times:?} {meanings:?}");
                    (settled, falses) = (true, falses + 1);
                    break;
                }
                assert_eq!(step, Step::Continues, "{text}, case {case}: {times:?} {meanings:?}");
                if let Some(expiry) = stepper.expiry() {
                    // The timer is that of the definition: silence breaks the property right after it, not at it.
                    for (later, late) in [(expiry.as_nanos(), false), (expiry.as_nanos() + 1, true)] {
                        times.push(later);
                        meanings.push(None);
                        assert_eq!(broken(shape, 10, &times, &meanings, i + 1), late, "{text}, case {case}");
                        let mut silent = stepper;
                        let concluded = silent.expire(Instant::from_nanos(later)) != Step::Continues;
                        assert_eq!(concluded, late, "{text}, case {case}");
                        times.pop();
                        meanings.pop();
                    }
                }
            }
            trues += usize::from(!settled);
        }
        assert!(falses > 200 && trues > 50, "{text}: {falses} {trues}");
    }
}

#[test]
fn a_chain_is_as_old_as_the_data_that_reaches_its_end() {
    let events: Vec<String> = ["write_a", "read_a", "write_b", "read_b"].map(Into::into).to_vec();
    let property = Property::parse("latency(write_a, read_a, write_b, read_b) <= 20 ms").expect("a property");
    let timed = Timed::new(&[], &events, &property, None).expect("a monitor");
    let run = |trace: &[(u32, u64)]| {
        let mut stepper = timed.stepper(false).expect("a sound table");
        let steps = trace.iter().map(|&(event, at)| stepper.step(event, Instant::ZERO + Duration::from_millis(at)));
        steps.map(|step| step != Step::Continues).collect::<Vec<bool>>()
    };
    assert_eq!(run(&[(0, 0), (1, 5), (2, 8), (3, 20)]), [false; 4]);
    assert_eq!(run(&[(0, 0), (1, 5), (2, 8), (3, 21)]), [false, false, false, true]);
    // A newer write of a does not make what was computed from the older one any younger.
    assert_eq!(run(&[(0, 0), (1, 5), (0, 15), (2, 18), (3, 21)]), [false, false, false, false, true]);
    // The second value overtakes the first, which nobody read.
    assert_eq!(run(&[(0, 0), (0, 15), (1, 16), (2, 18), (3, 35)]), [false; 5]);
    // The same data read once more grows too old.
    assert_eq!(run(&[(0, 0), (1, 1), (2, 2), (3, 3), (3, 23)]), [false, false, false, false, true]);
}

#[test]
fn properties_of_time_that_one_timer_cannot_watch_are_refused_with_the_shapes_that_it_can() {
    for (text, reason) in [
        ("eventually[<= 1 ms] only_p", "must begin with always"),
        ("always (only_p -> eventually[<= 1 ms] always[<= 1 ms] only_q)", "nested"),
        ("always (only_p and eventually[<= 1 ms] only_q)", "conclusion"),
        ("always (only_p -> eventually[<= 1 ms] next only_q)", "only what is and what was may stand"),
        ("always (only_p -> once[<= 1 ms] only_p)", "true before any event"),
    ] {
        let events: Vec<String> = ["only_p", "only_q"].map(Into::into).to_vec();
        let error = Timed::new(&[], &events, &Property::parse(text).expect("a property"), None).expect_err(text);
        assert!(error.to_string().contains(reason), "{error}");
    }
}

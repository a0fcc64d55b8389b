//! Events of monitors that found no room in the trace: nothing is made up from what is left, no property of them is held, and no other
//! suffers.

use crate::common::{task, units, view, Builder};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use tactus_monitor::{alphabet, Action, Monitor, Occurrence, Property, Step, Verdict, Watcher};
use tactus_record::{EntryReason, EventKind, Record};
use tactus_time::{CoreId, Instant};
use tactus_trace::{judge, monitor, Bound, MonitorSummary, Trace, View};

const PROPERTIES: [&str; 7] = [
    "always (a -> next b)",
    "always (a -> eventually[<= 20 ms] b)",
    "distance(a or b) <= 40 ms",
    "always (a -> once b)",
    "always (a -> not previously (b and previously a))",
    "(not b) until (a and previously a)",
    "always (b -> once[<= 20 ms] a)",
];

/// When the run ends.
const END: Instant = Instant::from_nanos(60_000_000);

fn watches(name: &str, property: &str, of: &str) -> Monitor {
    let event = |name: &str| {
        let what = Occurrence::parse(&format!("signal {of}.{name}")).expect("an event");
        (name.to_owned(), what)
    };
    Monitor {
        name: name.into(),
        property: Property::parse(property).expect("a property"),
        events: ["a", "b"].map(event).into(),
        automata: vec![],
        encoding: None,
        minimise: true,
        reset: false,
        table_limit: 1 << 16,
        action: Action::Note,
        line: 1,
    }
}

/// What the kernel records of these events, each of a group and on a core, and of the verdicts of the monitors that ran.
fn recorded(monitors: &[Monitor], events: &[(u8, u8, Occurrence, u64)]) -> Vec<Vec<Record>> {
    let built: Vec<_> = monitors.iter().map(|it| it.build().expect("a monitor")).collect();
    let mut watchers: Vec<Watcher<'_>> = built.iter().map(|it| it.watcher(false).expect("sound")).collect();
    let alphabet = alphabet(monitors);
    let mut cores = vec![Vec::new(); 2];
    let mut places = [0; 8];
    for (core, group, what, time) in events {
        let (at, place) = (Instant::from_nanos(*time), &mut places[*group as usize]);
        *place += 1;
        let number = alphabet.iter().position(|known| *known == what).expect("an event") as u32;
        let mut put = |kind, level, job, arg, at| {
            let core = CoreId(*core);
            cores[core.0 as usize].push(Record { time: at, arg, job, task: None, kind, level, core, ticket: *place });
        };
        put(EventKind::Observed, *group, number, 0, at);
        for (number, (monitor, watcher)) in monitors.iter().zip(&mut watchers).enumerate() {
            let Some(column) = monitor.events.iter().position(|(_, known)| known == what) else { continue };
            let level = |verdict| u8::from(verdict == Verdict::True);
            if let Some((since, verdict)) = watcher.expire(at) {
                put(EventKind::Concluded, level(verdict), number as u32, 0, since);
            }
            if let Step::Concluded(verdict) = watcher.step(column as u32, at) {
                put(EventKind::Concluded, level(verdict), number as u32, 1, at);
            }
        }
    }
    // At the end of the run, what is late.
    for (number, watcher) in watchers.iter_mut().enumerate() {
        if let Some((since, verdict)) = watcher.expire(END) {
            let (level, core) = (u8::from(verdict == Verdict::True), CoreId(0));
            let (job, kind) = (number as u32, EventKind::Concluded);
            cores[0].push(Record { time: since, arg: 0, job, task: None, kind, level, core, ticket: 0 });
        }
    }
    cores
}

/// The same where of each event each core keeps the first ones alone; how many of each were lost.
fn cut(cores: &[Vec<Record>], ends: &[usize; 8]) -> (Vec<Vec<Record>>, [u64; 4]) {
    let mut lost = [0; 4];
    let mut out = Vec::new();
    for (core, records) in cores.iter().enumerate() {
        let (mut written, mut missing, mut kept) = ([0; 4], [None::<(u64, Instant)>; 4], Vec::new());
        for record in records {
            let event = record.job as usize;
            if record.kind == EventKind::Concluded {
                kept.push(*record);
            } else if written[event] < ends[core * 4 + event] {
                written[event] += 1;
                kept.push(*record);
            } else {
                missing[event].get_or_insert((0, record.time)).0 += 1;
            }
        }
        for (event, missing) in missing.into_iter().enumerate() {
            let Some((count, time)) = missing else { continue };
            lost[event] += count;
            let (kind, core, ticket) = (EventKind::Observed, CoreId(core as u8), event as u32);
            kept.push(Record { time, arg: count, job: u32::MAX, task: None, kind, level: 0, core, ticket });
        }
        out.push(kept);
    }
    (out, lost)
}

fn run(monitors: &[Monitor], observed: Vec<Vec<Record>>) -> (View, Trace) {
    let mut builder = Builder::new(2);
    builder.call(0, 0, EntryReason::Start, |call| {
        call.release(0, 0, 0).dispatch(0, 0);
    });
    builder.call(0, 1, EntryReason::Complete, |call| {
        call.complete(0, 0, 1).idle();
    });
    builder.call(1, 0, EntryReason::Start, |call| {
        call.idle();
    });
    let mut view = view(2, 60, vec![task("t", 60, Some(Bound::Response(units(60))))]);
    view.monitors = monitors.to_vec();
    let trace = Trace { observed, ..builder.end(60) };
    (view, trace)
}

#[test]
fn where_events_are_missing_nothing_is_made_up_and_nothing_is_held_that_watches_them() {
    let mut runner =
        TestRunner::new_with_rng(Config::with_cases(600), TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]));
    let event = (0_u8..2, 0_usize..2, any::<bool>(), 0_u64..5);
    let inputs = (
        proptest::collection::vec(event, 1..25),
        proptest::collection::vec(0_usize..PROPERTIES.len(), 3),
        prop_oneof![Just([99; 8]), proptest::array::uniform8(prop_oneof![Just(99), 0_usize..6])],
    );
    let (mut violated, mut unjudged, mut whole) = (0, 0, 0);
    for _ in 0..600 {
        let (events, properties, ends) = inputs.new_tree(&mut runner).expect("inputs").current();
        let monitors =
            [watches("one", PROPERTIES[properties[0]], "x"), watches("other", PROPERTIES[properties[1]], "y")];
        let later = watches("later", PROPERTIES[properties[2]], "x");
        let mut now = 0;
        let events: Vec<_> = events
            .into_iter()
            .map(|(core, group, is_a, after)| {
                now += after * 1_000_000;
                let what = &monitors[group].events[usize::from(!is_a)].1;
                (core, group as u8, what.clone(), now)
            })
            .collect();
        let all = recorded(&monitors, &events);
        let (left, lost) = cut(&all, &ends);
        let lost_of = [lost[0] + lost[1], lost[2] + lost[3]];
        let (view, trace) = run(&monitors, left);
        let (_, full) = run(&monitors, all);
        let both = [monitors[0].clone(), monitors[1].clone(), later];
        let found = monitor(&view, &trace, &both).expect("tables");
        let truth = monitor(&view, &full, &both).expect("tables");
        for (n, (it, truth)) in found.iter().zip(&truth).enumerate() {
            let lost = lost_of[[0, 1, 0][n]];
            assert_eq!(it.lost, lost, "{events:?} {ends:?}");
            assert_eq!(it.disputed, None, "{events:?} {ends:?}");
            if lost == 0 {
                assert_eq!(it, truth);
                whole += 1;
                continue;
            }
            let of = |finding: &tactus_trace::Finding| {
                finding.conclusions.iter().map(|it| (it.at, it.verdict)).collect::<Vec<_>>()
            };
            // Whoever ran saw all; whoever did not, what came before.
            match n {
                2 => assert!(of(it).is_empty() || of(it) == of(truth), "{events:?} {ends:?}: {it:?} {truth:?}"),
                _ => assert_eq!(of(it), of(truth), "{events:?} {ends:?}"),
            }
        }
        let summary = judge(&view, &trace);
        for (it, lost) in summary.monitors.iter().zip(lost_of) {
            assert_eq!(it.not_recorded, lost);
            violated += usize::from(it.is_broken());
            unjudged += usize::from(it.not_judged().is_some());
            assert_eq!(it.not_judged().is_some(), lost > 0 && it.verdict != "true" && !it.is_broken(), "{it:?}");
        }
        let is_broken = summary.monitors.iter().any(MonitorSummary::is_broken);
        let is_judged = summary.monitors.iter().all(|it| it.not_judged().is_none());
        assert_eq!(summary.verdict.held(), is_judged && !is_broken, "{:?}", summary.verdict);
        if !is_broken && !is_judged {
            assert_eq!(summary.verdict.word(), "not_judged");
            let said = summary.headline();
            assert!(said.starts_with("nothing can be said: property o") && said.contains("found no room"), "{said}");
        }
    }
    assert!(violated > 100 && unjudged > 50 && whole > 300, "{violated} {unjudged} {whole}");
}

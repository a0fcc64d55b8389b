//! Data comes to whom it is for, over nodes that do not read it, and the judge finds whatever is wrong.

use std::collections::BTreeMap;
use tactus_network::field::data::{DataRun, Received};
use tactus_network::field::{Field, Link, Member, Run};
use tactus_network::frame::Name;
use tactus_network::node::Settings;
use tactus_network::place::Position;
use tactus_network::scope::{Description, Requirement, Scope};
use tactus_network::stream::Stream;
use tactus_network::trickle::TrickleSettings;
use tactus_network::verdict::data::{judge, Verdict, Wrong};
use tactus_time::{Duration, Instant};

const MILLI: Duration = Duration::from_millis(1);

/// A row of nodes, each of which hears the next ones; each has its letter as a tag.
fn row(nodes: usize, loss: u32) -> Field {
    let member = |n: usize| {
        let near = [n.checked_sub(1), Some(n + 1)].into_iter().flatten().filter(|&it| it < nodes);
        Member {
            description: Description {
                position: Position { x: n as i32, y: 0 },
                tags: vec![char::from(b'a' + n as u8).to_string()],
                ..Description::default()
            },
            comes: Instant::ZERO,
            goes: Instant::NEVER,
            links: near.map(|to| Link { to, delay: Duration::from_micros(50), loss }).collect(),
            slots: None,
            forward: Duration::from_micros(20),
        }
    };
    Field {
        settings: Settings {
            trickle: TrickleSettings { shortest: MILLI, doublings: 5, redundancy: 2 },
            patience: MILLI,
            pace: MILLI,
            keep: MILLI,
            applications: 4,
            largest: 1 << 14,
        },
        byte: Duration::from_micros(1),
        members: (0..nodes).map(member).collect(),
        deliveries: Vec::new(),
        streams: Vec::new(),
        duration: Duration::from_secs(1),
        seed: 3,
    }
}

fn stream(name: &str, from: usize, to: &str, repetitions: u8) -> Stream {
    Stream {
        name: Name::new(name).expect("a name"),
        from,
        application: None,
        scope: Scope { areas: Vec::new(), requires: vec![Requirement::Tag(to.into())] },
        start: None,
        period: MILLI * 10,
        jitter: MILLI,
        deadline: MILLI * 10,
        bytes: 20,
        priority: 0,
        repetitions,
    }
}

/// What all are promised: far more than they take.
fn bounds(field: &Field) -> Vec<BTreeMap<usize, Duration>> {
    let of = |tree: tactus_network::tree::Tree| {
        tree.hops.iter().filter(|it| it.receives).map(|it| (it.node, MILLI * 20)).collect()
    };
    field.trees().into_iter().map(of).collect()
}

fn judged(field: &Field, run: &DataRun) -> Verdict {
    judge(field, &Run { data: run.clone(), ..Run::default() }, &bounds(field))
}

#[test]
fn two_streams_share_nodes_and_neither_comes_to_the_others_receivers() {
    let mut field = row(5, 0);
    field.streams = vec![stream("one", 0, "e", 0), stream("other", 4, "b", 0)];
    let run = field.run().data;
    let at = |stream: usize| run.received.iter().filter(move |it| it.stream == stream).map(|it| it.node);
    assert!(at(0).all(|node| node == 4) && at(1).all(|node| node == 1));
    let verdict = judged(&field, &run);
    assert_eq!(verdict.wrong, []);
    for outcome in &verdict.outcomes {
        assert!(outcome.due >= 95 && outcome.received >= outcome.due && outcome.lost == 0, "{outcome:?}");
        assert!(outcome.longest < MILLI * 2);
    }
}

#[test]
fn what_links_lose_is_lost_only_if_no_repetition_comes() {
    let lost = |repetitions| {
        let mut field = row(3, 200_000);
        field.streams = vec![stream("one", 0, "c", repetitions)];
        field.duration = Duration::from_secs(20);
        let verdict = judged(&field, &field.run().data);
        let wrong: Vec<_> = verdict.wrong.iter().filter(|it| !matches!(it.wrong, Wrong::Overdue(_))).collect();
        assert!(wrong.is_empty(), "{wrong:?}");
        let it = &verdict.outcomes[0];
        it.lost as f64 / it.due as f64
    };
    // One frame comes over both links with probability 0.64.
    let (none, three) = (lost(0), lost(3));
    assert!((none - 0.36).abs() < 0.04 && (three - 0.36_f64.powi(4)).abs() < 0.01, "{none} {three}");
}

#[test]
fn who_goes_is_owed_nothing_and_who_comes_later_receives_from_then_on() {
    let mut field = row(3, 0);
    field.members[2].comes = Instant::ZERO + MILLI * 500;
    field.members[2].goes = Instant::ZERO + MILLI * 800;
    field.streams = vec![stream("one", 0, "c", 1)];
    let run = field.run().data;
    let verdict = judged(&field, &run);
    assert_eq!(verdict.wrong, []);
    let outcome = &verdict.outcomes[0];
    assert!((25..=31).contains(&outcome.received) && outcome.received - outcome.due < 4, "{outcome:?}");
}

#[test]
fn whatever_is_wrong_is_found() {
    let mut field = row(3, 0);
    field.streams = vec![stream("one", 0, "c", 1), stream("other", 1, "a", 0)];
    let run = field.run().data;
    assert_eq!(judged(&field, &run).wrong, []);
    let first = |run: &DataRun| run.received.iter().position(|it| it.stream == 0).expect("something came");
    type Change = fn(&mut DataRun, usize);
    let changes: [(Change, Wrong); 9] = [
        (|run, at| run.received[at].node = 1, Wrong::NotForIt),
        (|run, at| run.received[at].node = 0, Wrong::NotForIt),
        (|run, at| run.received[at].checksum ^= 1, Wrong::Bytes),
        (
            |run, at| {
                let again = Received { time: run.received[at].time + MILLI, ..run.received[at] };
                run.received.insert(at + 1, again);
            },
            Wrong::Order,
        ),
        (
            |run, at| {
                let last = Received { sequence: 7_000, ..run.received[at] };
                run.received.push(last);
            },
            Wrong::Unknown,
        ),
        (
            |run, at| {
                run.received[at].time += MILLI * 20;
            },
            Wrong::Late(Duration::ZERO),
        ),
        (
            |run, at| {
                run.received[at].time += MILLI * 10;
            },
            Wrong::Overdue(Duration::ZERO),
        ),
        (
            |run, at| {
                run.received.remove(at);
            },
            Wrong::Missing,
        ),
        (|run, _| run.refused.push((0, Instant::ZERO)), Wrong::Refused),
    ];
    for (change, wrong) in changes {
        let mut changed = run.clone();
        let at = first(&changed);
        change(&mut changed, at);
        let found = judged(&field, &changed).wrong;
        let same = |it: Wrong| std::mem::discriminant(&it) == std::mem::discriminant(&wrong);
        assert!(found.iter().any(|it| same(it.wrong)), "{wrong:?} is not among {found:?}");
    }
    // One frame of two that is lost explains nothing; both do.
    let mut changed = run.clone();
    let gone = changed.received.remove(first(&run));
    changed.lost.push((0, gone.sequence, 0, 2));
    assert_eq!(judged(&field, &changed).wrong.len(), 1);
    changed.lost.push((0, gone.sequence, 1, 1));
    let verdict = judged(&field, &changed);
    assert_eq!((verdict.wrong.len(), verdict.outcomes[0].lost), (0, 1));
}

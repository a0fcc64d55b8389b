//! Applications are delivered across networks of nodes: random ones, whose links lose frames and whose nodes come and go.

use hmac_sha256::Hash;
use std::collections::{BTreeMap, BTreeSet};
use tactus_network::field::{Delivery, Field, Happened, Link, Member, Run};
use tactus_network::frame::{Frame, Name, NodeId, Package, Version};
use tactus_network::host::{Admission, Slots};
use tactus_network::node::{Effect, Node, Refused, Settings};
use tactus_network::place::{Area, Position};
use tactus_network::refusals::Refusal;
use tactus_network::scope::{Description, Requirement, Scope};
use tactus_network::trickle::TrickleSettings;
use tactus_network::verdict::{judge, Wrong};
use tactus_time::{Duration, Instant};

const SETTINGS: Settings = Settings {
    trickle: TrickleSettings { shortest: Duration::from_millis(100), doublings: 5, redundancy: 2 },
    patience: Duration::from_millis(150),
    pace: Duration::from_millis(10),
    keep: Duration::from_secs(5),
    applications: 4,
    largest: 16 << 10,
};

fn name(text: &str) -> Name {
    Name::new(text).expect("a name")
}

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

fn package(app: &str, version: u32, bytes: &[u8], radius: u8, scope: Scope) -> Package {
    let (version, removed) = (Version(version), bytes.is_empty());
    Package {
        app: name(app),
        version,
        removed,
        bytes: bytes.len() as u32,
        chunk: 100,
        digest: Hash::hash(bytes),
        radius,
        scope,
    }
}

fn delivery(time: u64, node: usize, package: Package, bytes: &[u8]) -> Delivery {
    Delivery { time: at(time), node, package, bytes: bytes.to_vec() }
}

/// A row of nodes, each of which hears the next ones; those of these numbers have a lamp.
fn row(many: usize, lamps: &[usize]) -> Field {
    let member = |n: usize| {
        let near = [n.checked_sub(1), Some(n + 1)].into_iter().flatten().filter(|&it| it < many);
        let links = near.map(|to| Link { to, delay: Duration::from_micros(100), loss: 0 }).collect();
        let position = Position { x: 1_000 * n as i32, y: 0 };
        let actuators = if lamps.contains(&n) { vec!["lamp".into()] } else { Vec::new() };
        let description = Description { position, actuators, ..Description::default() };
        Member { description, comes: Instant::ZERO, goes: Instant::NEVER, links, slots: None, forward: Duration::ZERO }
    };
    Field {
        settings: SETTINGS,
        byte: Duration::from_micros(4),
        members: (0..many).map(member).collect(),
        deliveries: Vec::new(),
        streams: Vec::new(),
        duration: Duration::from_secs(60),
        seed: 1,
    }
}

fn lamps() -> Scope {
    Scope { areas: Vec::new(), requires: vec![Requirement::Actuator("lamp".into())] }
}

fn hosts(run: &Run) -> Vec<(usize, u32)> {
    run.hosted.iter().map(|(node, _, version, _)| (*node, version.0)).collect()
}

fn wrong(field: &Field, run: &Run) -> Vec<(usize, Wrong)> {
    judge(field, run, &BTreeMap::new()).wrong.iter().map(|it| (it.node, it.wrong)).collect()
}

#[test]
fn what_is_delivered_at_one_node_reaches_every_node_in_its_scope_over_nodes_that_host_nothing() {
    let mut field = row(8, &[3, 6]);
    let bytes = vec![7; 2_345];
    field.deliveries.push(delivery(500, 0, package("light", 1, &bytes, 3, lamps()), &bytes));
    let run = field.run();
    assert_eq!(hosts(&run), [(3, 1), (6, 1)]);
    assert_eq!(wrong(&field, &run), []);
    // The last is one hop outside, and has only told of it.
    let all = |n: usize| run.sent[n].bytes;
    assert!(all(7) < 2_345 && all(4) > 2_345 && all(5) > 2_345, "{:?}", run.sent);
    // Two hops are too few to come from one lamp to the next.
    field.deliveries[0].package.radius = 1;
    let near = field.run();
    assert_eq!((hosts(&near), wrong(&field, &near)), (vec![], vec![]));
    assert_eq!(near.sent[2].frames, 1, "it asks when it comes, and is too far to tell of anything");
}

#[test]
fn delivered_at_several_nodes_it_is_installed_once_and_a_newer_version_or_its_removal_is_never_undone() {
    let mut field = row(6, &[0, 1, 2, 3, 4, 5]);
    let (old, new) = (vec![1; 500], vec![2; 900]);
    for node in [0, 3, 5] {
        field.deliveries.push(delivery(100, node, package("light", 1, &old, 2, lamps()), &old));
    }
    // Once more where it is installed.
    field.deliveries.push(delivery(10_000, 2, package("light", 1, &old, 2, lamps()), &old));
    field.deliveries.push(delivery(20_000, 4, package("light", 2, &new, 2, lamps()), &new));
    // An owner that is late.
    field.deliveries.push(delivery(30_000, 1, package("light", 1, &old, 2, lamps()), &old));
    let run = field.run();
    assert_eq!(hosts(&run), (0..6).map(|n| (n, 2)).collect::<Vec<_>>());
    assert_eq!(wrong(&field, &run), []);
    let times = |what: Happened| run.events.iter().filter(|(.., it)| *it == what).count();
    assert_eq!(times(Happened::Installed(name("light"), Version(1))), 6);
    assert_eq!(times(Happened::Removed(name("light"), Version(1))), 6);
    assert_eq!(times(Happened::Refused(name("light"), Version(1), Refused::Known(Version(1)))), 1);
    assert_eq!(times(Happened::Refused(name("light"), Version(1), Refused::Known(Version(2)))), 1);
    // The last node was away when it was removed, and comes with the old version from a part of its own.
    field.deliveries.push(delivery(40_000, 0, package("light", 3, &[], 2, lamps()), &[]));
    let run = field.run();
    assert_eq!((hosts(&run), wrong(&field, &run)), (vec![], vec![]));
}

#[test]
fn who_comes_later_asks_what_there_is_and_a_part_that_was_cut_off_learns_what_has_changed() {
    let mut field = row(7, &[0, 1, 5, 6]);
    let (old, new) = (vec![1; 500], vec![2; 900]);
    field.deliveries.push(delivery(100, 0, package("light", 1, &old, 3, lamps()), &old));
    field.deliveries.push(delivery(20_000, 0, package("light", 2, &new, 3, lamps()), &new));
    // Between the parts a node is there at first, and again at the end, as another one.
    field.members[3].goes = at(10_000);
    let again = Member { comes: at(40_000), goes: Instant::NEVER, ..field.members[3].clone() };
    for n in [2, 4] {
        field.members[n].links.push(Link { to: 7, delay: Duration::ZERO, loss: 0 });
    }
    field.members.push(again);
    field.duration = Duration::from_secs(39);
    let cut = field.run();
    assert_eq!(hosts(&cut), [(0, 2), (1, 2), (5, 1), (6, 1)]);
    assert_eq!(wrong(&field, &cut), []);
    field.duration = Duration::from_secs(60);
    let healed = field.run();
    assert_eq!(hosts(&healed), [(0, 2), (1, 2), (5, 2), (6, 2)]);
    assert_eq!(wrong(&field, &healed), []);
}

#[test]
fn whichever_node_of_a_grid_is_gone_all_others_get_what_is_delivered_at_any_of_them() {
    let bytes = vec![4; 700];
    for gone in 0..16 {
        let mut field = row(16, &(0..16).collect::<Vec<_>>());
        for n in 0..16 {
            let near = |&to: &usize| (n / 4_usize).abs_diff(to / 4) + (n % 4).abs_diff(to % 4) == 1;
            let link = |to| Link { to, delay: Duration::from_micros(100), loss: 100_000 };
            field.members[n].links = (0..16).filter(near).map(link).collect();
        }
        // It goes while it passes on what comes.
        field.members[gone].goes = at(700);
        let node = if gone == 0 { 15 } else { 0 };
        field.deliveries.push(delivery(500, node, package("light", 1, &bytes, 0, lamps()), &bytes));
        let run = field.run();
        let others: Vec<(usize, u32)> = (0..16).filter(|n| *n != gone).map(|n| (n, 1)).collect();
        assert_eq!((hosts(&run), wrong(&field, &run)), (others, vec![]), "{gone}");
    }
}

#[test]
fn a_quiet_network_says_each_thing_once_in_the_longest_interval_at_most() {
    let mut field = row(20, &[]);
    field.members.iter_mut().for_each(|it| it.description.tags.push("all".into()));
    let bytes = vec![3; 300];
    field.deliveries.push(delivery(0, 0, package("all", 1, &bytes, 2, Scope::default()), &bytes));
    field.duration = Duration::from_secs(30);
    let frames = |field: &Field| field.run().sent.iter().map(|it| it.frames).sum::<u64>();
    let settled = frames(&field);
    field.duration = Duration::from_secs(30 + 64);
    let more = frames(&field) - settled;
    // 20 intervals of 3.2 s.
    assert!((20..=20 * 20).contains(&more), "{more}");
}

/// A random network: nodes on a square that hear those near to them, lose some frames, and some of which come or go.
fn random(seed: u64) -> Field {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut draw = move |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below.max(1)
    };
    let many = 3 + draw(18) as usize;
    let side = 1 + draw(60) as i32;
    let places: Vec<Position> =
        (0..many).map(|_| Position { x: draw(side as u64) as i32, y: draw(side as u64) as i32 }).collect();
    let hears = 10 + draw(25);
    let loss = [0, 50_000, 300_000][draw(3) as usize];
    let churn = draw(2) == 0;
    let mut field = row(many, &[]);
    for (n, place) in places.iter().enumerate() {
        let near = |&to: &usize| to != n && places[to].distance_squared(*place) <= hears * hears;
        let delay = Duration::from_micros(draw(2_000));
        field.members[n].links = (0..many).filter(near).map(|to| Link { to, delay, loss }).collect();
        let it = &mut field.members[n].description;
        it.position = *place;
        it.sensors = if draw(2) == 0 { vec!["light".into()] } else { Vec::new() };
        if churn && draw(3) == 0 {
            let (a, b) = (draw(40_000), draw(40_000));
            (field.members[n].comes, field.members[n].goes) = (at(a), if b > a { at(b) } else { Instant::NEVER });
        }
    }
    for app in ["one", "two"] {
        let (mut scope, mut radius) = (Scope::default(), 0);
        for version in 1..=1 + draw(3) as u32 {
            // A newer version may belong elsewhere.
            if version == 1 || draw(3) == 0 {
                (scope, radius) = (Scope::default(), draw(4) as u8);
                if draw(2) == 0 {
                    let centre = places[draw(many as u64) as usize];
                    scope.areas.push(Area::Disc { centre, radius: 5 + draw(40) as u32 });
                }
                if draw(2) == 0 {
                    scope.requires.push(Requirement::Sensor("light".into()));
                }
            }
            let length = if draw(6) == 0 { 0 } else { 1 + draw(3_000) };
            let bytes: Vec<u8> = (0..length).map(|_| draw(256) as u8).collect();
            let package = package(app, version, &bytes, radius, scope.clone());
            for _ in 0..1 + draw(2) {
                let node = draw(many as u64) as usize;
                field.deliveries.push(delivery(draw(40_000), node, package.clone(), &bytes));
            }
        }
    }
    field.deliveries.sort_by_key(|it| it.time);
    let versions: BTreeSet<(Name, Version)> =
        field.deliveries.iter().map(|it| (it.package.app, it.package.version)).collect();
    for member in &mut field.members {
        let names: Vec<Name> = (0..draw(3)).map(|n| name(&format!("slot-{n}"))).collect();
        let mut admission = || match draw(3) {
            0 => Admission::Refused(Refusal {
                reason: CLASS + draw(3) as u8,
                task: (draw(2) == 0).then_some(draw(4) as u8),
            }),
            _ => Admission::Fits(Duration::from_millis(draw(300))),
        };
        let admissions = versions.iter().map(|it| (*it, names.iter().map(|_| admission()).collect())).collect();
        member.slots = (draw(3) > 0).then_some(Slots { admissions, names, full: FULL, class: CLASS });
    }
    (field.seed, field.duration) = (seed, Duration::from_secs(300));
    field
}

const FULL: u8 = 1;
const CLASS: u8 = 5;

fn all_of(seeds: std::ops::Range<u64>) -> [usize; 4] {
    let mut seen = [0; 4];
    for seed in seeds {
        let field = random(seed);
        let run = field.run();
        let verdict = judge(&field, &run, &BTreeMap::new());
        assert_eq!(verdict.wrong, [], "seed {seed}: {:?}\n{:?}", verdict.outcomes, run.events);
        seen[0] += verdict.outcomes.iter().map(|it| it.expected).sum::<usize>();
        seen[1] += verdict.outcomes.iter().map(|it| it.installed).sum::<usize>();
        seen[2] += run.lost as usize;
        seen[3] += verdict.outcomes.iter().map(|it| it.refused).sum::<usize>();
    }
    seen
}

#[test]
fn in_random_networks_that_lose_frames_and_nodes_every_application_comes_to_its_scope_and_nowhere_else() {
    let [expected, installed, lost, refused] = all_of(0..150);
    assert!(
        expected > 300 && installed > expected && lost > 1_000 && refused > 100,
        "{expected} {installed} {lost} {refused}"
    );
}

#[test]
#[ignore = "cargo test --release -p tactus-network --test delivery -- --ignored --nocapture: as many as TACTUS_NETWORKS says"]
fn many_random_networks() {
    let number = |name: &str, otherwise| std::env::var(name).ok().and_then(|it| it.parse().ok()).unwrap_or(otherwise);
    let first = number("TACTUS_FIRST", 1_000);
    let [expected, installed, lost, refused] = all_of(first..first + number("TACTUS_NETWORKS", 10_000));
    println!("{expected} hosts expected, {installed} installations, {refused} refusals, {lost} frames lost");
}

#[test]
fn the_same_seed_gives_the_same_run_and_the_judge_finds_what_is_wrong() {
    let field = random(4);
    assert_eq!(field.run(), field.run());
    let mut field = row(4, &[0, 1, 3]);
    let bytes = vec![9; 300];
    field.deliveries.push(delivery(100, 0, package("light", 1, &bytes, 1, lamps()), &bytes));
    let run = field.run();
    assert_eq!(wrong(&field, &run), []);
    let app = name("light");
    // Missing, out of scope, damaged, another version, twice, late.
    let with = |change: &dyn Fn(&mut Run)| {
        let mut run = run.clone();
        change(&mut run);
        wrong(&field, &run).into_iter().map(|(node, it)| format!("{node} {it:?}")).collect::<Vec<_>>()
    };
    assert_eq!(with(&|run| drop(run.hosted.remove(2))), ["3 NotInstalled"]);
    assert_eq!(with(&|run| run.hosted[0].3[5] ^= 1), ["0 Bytes"]);
    assert_eq!(with(&|run| run.hosted[1].2 = Version(0)), ["1 Older(Version(0))"]);
    let stray = (at(700), 2, Happened::Installed(app, Version(1)));
    assert_eq!(with(&|run| run.events.push(stray)), ["2 OutOfScope"]);
    assert_eq!(with(&|run| run.events.push(run.events[0])), ["0 Twice"]);
    let late = judge(&field, &run, &BTreeMap::from([(app, Duration::from_millis(1))]));
    assert_eq!(late.wrong.iter().map(|it| it.node).collect::<BTreeSet<_>>(), BTreeSet::from([1, 3]));
}

/// Slots with these admissions for the first version of an application, each of which is loaded in 20 ms where it fits.
fn slots(admissions: &[Option<Refusal>]) -> Slots {
    let of = |refusal: &Option<Refusal>| refusal.map_or(Admission::Fits(Duration::from_millis(20)), Admission::Refused);
    let all = ["light", "other"].map(|app| ((name(app), Version(1)), admissions.iter().map(of).collect()));
    let names = (0..admissions.len()).map(|n| name(&format!("slot-{n}"))).collect();
    Slots { admissions: BTreeMap::from(all), names, full: FULL, class: CLASS }
}

#[test]
fn who_does_not_admit_it_hosts_nothing_and_its_owner_learns_which_node_which_task_and_why() {
    let late = Refusal { reason: 9, task: Some(1) };
    let other = Refusal { reason: CLASS, task: None };
    let mut field = row(7, &[2, 4, 6]);
    for link in field.members.iter_mut().flat_map(|it| &mut it.links) {
        link.loss = 200_000;
    }
    field.members[2].slots = Some(slots(&[None]));
    field.members[4].slots = Some(slots(&[Some(other), Some(late)]));
    field.members[6].slots = Some(slots(&[None]));
    let bytes = vec![7; 1_000];
    field.deliveries.push(delivery(0, 0, package("light", 1, &bytes, 3, lamps()), &bytes));
    // Another one is there first, and has the only slot.
    let alone = Scope { areas: vec![Area::Disc { centre: Position { x: 6_000, y: 0 }, radius: 1 }], ..lamps() };
    field.deliveries.insert(0, delivery(0, 6, package("other", 1, &[1], 0, alone), &[1]));
    let run = field.run();
    assert_eq!(wrong(&field, &run), []);
    let app = name("light");
    let reported = |it: &Happened| match *it {
        Happened::Reported(app, Version(1), node, why) => Some((app, node, why)),
        _ => None,
    };
    let told: BTreeMap<_, _> =
        run.events.iter().filter(|it| it.1 == 0).filter_map(|it| reported(&it.2)).map(|it| (it.1, it.2)).collect();
    assert_eq!(told, BTreeMap::from([(4, late), (6, Refusal { reason: FULL, task: None })]));
    assert_eq!(run.hosted.iter().map(|it| (it.0, it.1)).collect::<Vec<_>>(), [(2, app), (6, name("other"))]);
    // What the judge would say of a node that hosts it all the same, refuses for another reason, or tells nobody.
    let with = |change: &dyn Fn(&mut Run)| {
        let mut run = run.clone();
        change(&mut run);
        wrong(&field, &run)
    };
    let end = (run.events.last().expect("there are some").0, 4, Happened::Installed(app, Version(1)));
    assert_eq!(with(&|run| run.events.push(end)), [(4, Wrong::NotAdmitted)]);
    let lied = Refusal { reason: FULL, task: None };
    let refusals = |run: &mut Run, n: usize, why| {
        for it in &mut run.events {
            if matches!((it.1, it.2), (node, Happened::NotAdmitted(..)) if node == n) {
                it.2 = Happened::NotAdmitted(app, Version(1), why);
            }
        }
    };
    assert_eq!(with(&|run| refusals(run, 4, lied)), [(4, Wrong::Refused(lied)), (4, Wrong::Unreported)]);
    assert_eq!(
        with(&|run| run.events.retain(|it| reported(&it.2).is_none_or(|it| it.1 != 6))),
        [(6, Wrong::Unreported)]
    );
}

#[test]
fn who_is_silent_or_sends_other_bytes_is_not_waited_for_and_not_believed() {
    let describe = Description { actuators: vec!["lamp".into()], ..Description::default() };
    let mut node = Node::new(NodeId(1), describe, SETTINGS, 1);
    let bytes = vec![5; 150];
    let it = package("light", 1, &bytes, 2, lamps());
    let encoded = Frame::package(&it);
    let offer = |distance| Frame::Offer {
        app: it.app,
        version: it.version,
        distance,
        outside: 0,
        refusals: 0,
        package: &encoded,
    };
    let mut frame = Vec::new();
    for (from, distance) in [(2, 0), (3, 4)] {
        offer(distance).write(NodeId(from), &mut frame);
        node.receive(at(0), &frame, &mut |_| {}).expect("an offer");
    }
    let (mut asked, mut installed) = (Vec::new(), Vec::new());
    for step in 1..4_000 {
        let mut request = None;
        node.advance(at(step), &mut |effect| {
            let Effect::Send(sent) = effect else { return };
            request = request.take().or_else(|| match Frame::read(sent).expect("it sends frames").1 {
                Frame::Request { to, wanted, .. } => Some((to.0, wanted)),
                _ => None,
            });
        });
        let Some((to, wanted)) = request else { continue };
        asked.push((to, wanted));
        // The nearest is silent; the other one sends first something else, and then what it offered.
        for index in (0..2).filter(|index| to == 3 && wanted >> index & 1 == 1) {
            let right = asked.iter().filter(|it| it.0 == 3).count() > 1;
            let content = if right { bytes.clone() } else { vec![6; 150] };
            let chunk = &content[it.range(index)];
            Frame::Chunk { app: it.app, version: it.version, index, bytes: chunk }.write(NodeId(3), &mut frame);
            node.receive(at(step), &frame, &mut |effect| {
                if let Effect::Whole(..) = effect {
                    installed.push(asked.len());
                }
            })
            .expect("a chunk");
        }
    }
    // All of it twice; it is whole after the second time, and then nobody is asked.
    assert_eq!((asked, installed), (vec![(2, 0b11), (3, 0b11), (3, 0b11)], vec![3]));
    assert_eq!(node.bytes(it.app), Some(&bytes[..]));
}

#[test]
fn what_is_no_frame_is_refused_and_what_nobody_should_believe_changes_nothing() {
    let describe = Description { actuators: vec!["lamp".into()], ..Description::default() };
    let mut node = Node::new(NodeId(1), describe, SETTINGS, 1);
    let bytes = vec![5; 350];
    let good = package("light", 3, &bytes, 2, lamps());
    node.deliver(Instant::ZERO, good.clone(), &bytes, &mut |_| {}).expect("it is new");
    assert_eq!(node.deliver(at(1), good.clone(), &bytes, &mut |_| {}), Err(Refused::Known(Version(3))));
    let other = package("other", 1, &bytes, 2, lamps());
    assert_eq!(node.deliver(at(1), other.clone(), &bytes[1..], &mut |_| {}), Err(Refused::Digest));
    assert_eq!(node.deliver(at(1), Package { digest: [0; 32], ..other }, &bytes, &mut |_| {}), Err(Refused::Digest));
    // Every frame of a conversation, cut and changed at every byte: read as a frame or refused, and never more than one version kept.
    let encoded = Frame::package(&good);
    let mut frames = Vec::new();
    for frame in [
        Frame::Solicit,
        Frame::Offer { app: good.app, version: Version(2), distance: 0, outside: 0, refusals: 0, package: &encoded },
        Frame::Request { to: NodeId(1), app: good.app, version: Version(3), first: 0, wanted: u64::MAX },
        Frame::Chunk { app: good.app, version: Version(3), index: 1, bytes: &bytes[..100] },
    ] {
        let mut to = Vec::new();
        frame.write(NodeId(2), &mut to);
        assert_eq!(Frame::read(&to).expect("as it was written"), (NodeId(2), frame));
        frames.push(to);
    }
    assert_eq!(Frame::read_package(good.app, good.version, &encoded), Ok(good.clone()));
    let (mut refused, mut all) = (0, 0);
    for frame in &frames {
        for cut in 0..frame.len() {
            assert!(Frame::read(&frame[..cut]).is_err(), "{cut} of {frame:?}");
            for value in 0..=255 {
                let mut changed = frame.clone();
                changed[cut] = value;
                all += 1;
                refused += usize::from(node.receive(at(2), &changed, &mut |_| {}).is_err());
            }
        }
    }
    assert!(refused > all / 8 && node.next() > Instant::ZERO, "{refused} of {all}");
    assert!(node.hosts().count() <= 1);
    let mut sent = 0;
    for step in 1..10_000 {
        node.advance(at(step), &mut |effect| sent += usize::from(matches!(effect, Effect::Send(_))));
    }
    assert!(sent < 1_000, "{sent}");
}

//! How an installation grows with the network: nodes on a grid, an application whose scope is the same nine nodes however many there are.

use std::collections::BTreeMap;
use std::time::Instant as Real;
use tactus_network::field::{Delivery, Field, Happened, Link, Member};
use tactus_network::frame::{digest, Name, Package, Version};
use tactus_network::node::Settings;
use tactus_network::place::{Area, Position};
use tactus_network::scope::{Description, Scope};
use tactus_network::trickle::TrickleSettings;
use tactus_network::verdict::judge;
use tactus_time::{Duration, Instant};

const SETTINGS: Settings = Settings {
    trickle: TrickleSettings { shortest: Duration::from_millis(100), doublings: 8, redundancy: 2 },
    patience: Duration::from_millis(50),
    pace: Duration::from_millis(12),
    keep: Duration::from_secs(3),
    applications: 16,
    largest: 1 << 20,
};

/// A grid of this number of nodes, each of which hears its four neighbours and loses a twentieth; 4 KiB for the nine nodes in the corner, or for
/// all.
fn grid(nodes: usize, everywhere: bool, seed: u64) -> Field {
    let side = (nodes as f64).sqrt().ceil() as usize;
    let member = |n: usize| {
        let (x, y) = (n % side, n / side);
        let near = |&to: &usize| (to % side).abs_diff(x) + (to / side).abs_diff(y) == 1;
        let around = [n.checked_sub(side), n.checked_sub(1), Some(n + 1), Some(n + side)];
        let around = around.into_iter().flatten().filter(|&it| it < nodes).filter(near);
        Member {
            description: Description { position: Position { x: x as i32, y: y as i32 }, ..Description::default() },
            comes: Instant::ZERO,
            goes: Instant::NEVER,
            links: around.map(|to| Link { to, delay: Duration::from_micros(500), loss: 50_000 }).collect(),
            slots: None,
            forward: Duration::ZERO,
        }
    };
    let corner =
        vec![Position { x: 0, y: 0 }, Position { x: 2, y: 0 }, Position { x: 2, y: 2 }, Position { x: 0, y: 2 }];
    let areas = if everywhere { Vec::new() } else { vec![Area::Polygon(corner)] };
    let bytes: Vec<u8> = (0..4096_u32).map(|n| (n * 7) as u8).collect();
    let package = Package {
        app: Name::new("blinds").expect("a name"),
        version: Version(1),
        removed: false,
        bytes: 4096,
        chunk: 128,
        digest: digest(&bytes),
        radius: 2,
        scope: Scope { areas, requires: Vec::new() },
    };
    Field {
        settings: SETTINGS,
        byte: Duration::from_micros(32),
        members: (0..nodes).map(member).collect(),
        deliveries: vec![Delivery { time: Instant::ZERO + Duration::from_secs(1), node: 0, package, bytes }],
        streams: Vec::new(),
        duration: Duration::from_secs(if everywhere { 120 } else { 60 }),
        seed,
    }
}

/// Installed, last installation, frames of a participant, frames of all others each, share of those that sent more than their first frame.
struct Seen {
    installed: usize,
    longest: Duration,
    inside: f64,
    outside: f64,
    touched: f64,
    rate: f64,
}

fn seen(field: &Field) -> Seen {
    let begin = Real::now();
    let run = field.run();
    let took = begin.elapsed().as_secs_f64();
    let verdict = judge(field, &run, &BTreeMap::new());
    assert_eq!(verdict.wrong, []);
    let scope = &field.deliveries[0].package.scope;
    let (mut inside, mut outside) = (Vec::new(), Vec::new());
    for (member, sent) in field.members.iter().zip(&run.sent) {
        if scope.covers(&member.description) { &mut inside } else { &mut outside }.push(sent.frames);
    }
    let mean = |all: &[u64]| all.iter().sum::<u64>() as f64 / (all.len() as f64).max(1.0);
    let touched = outside.iter().filter(|it| **it > 1).count() as f64 / (outside.len() as f64).max(1.0);
    Seen {
        installed: run.events.iter().filter(|it| matches!(it.2, Happened::Installed(..))).count(),
        longest: verdict.outcomes[0].longest.unwrap_or_default(),
        inside: mean(&inside),
        outside: mean(&outside),
        touched,
        rate: run.received as f64 / took,
    }
}

#[test]
fn what_a_node_sends_does_not_grow_with_the_nodes_outside_the_scope() {
    let [small, large] = [100, 900].map(|nodes| seen(&grid(nodes, false, 3)));
    assert_eq!((small.installed, large.installed), (9, 9));
    assert!(large.inside < 1.5 * small.inside, "{} {}", small.inside, large.inside);
    assert!(
        large.outside < small.outside && large.touched < small.touched / 4.0,
        "{} {}",
        small.touched,
        large.touched
    );
}

#[test]
#[ignore = "cargo test --release -p tactus-network --test growth -- --ignored --nocapture: the table of docs/measured/network.md"]
fn networks_of_ten_to_ten_thousand_nodes() {
    println!("| nodes | scope | installed | longest | frames of a node in scope | of any other | others touched | frames/s |");
    for everywhere in [false, true] {
        for nodes in [10, 100, 1_000, 10_000] {
            let it = seen(&grid(nodes, everywhere, 3));
            let scope = if everywhere { "all" } else { "9 nodes" };
            println!(
                "| {nodes} | {scope} | {} | {:.2} s | {:.1} | {:.2} | {:.2} % | {:.0} |",
                it.installed,
                it.longest.as_secs_f64(),
                it.inside,
                it.outside,
                100.0 * it.touched,
                it.rate
            );
        }
    }
}

#[test]
#[ignore = "cargo test --release -p tactus-network --test growth -- --ignored --nocapture: a node of a grid dies, as often as TACTUS_KILLS says"]
fn any_node_of_a_grid_dies_at_any_moment() {
    let kills: u64 = std::env::var("TACTUS_KILLS").ok().and_then(|it| it.parse().ok()).unwrap_or(1_000);
    let (mut installed, mut before) = (0, 0);
    for seed in 0..kills {
        let mut field = grid(25, true, seed);
        let gone = 1 + (seed * 7_919 % 24) as usize;
        let time = Instant::ZERO + Duration::from_micros(1_000_000 + seed * 104_729 % 6_000_000);
        field.members[gone].goes = time;
        let run = field.run();
        assert_eq!(judge(&field, &run, &BTreeMap::new()).wrong, [], "seed {seed}");
        assert_eq!(run.hosted.len(), 24, "seed {seed}: node {gone} went at {time}");
        installed += run.events.iter().filter(|it| matches!(it.2, Happened::Installed(..))).count();
        before += usize::from(run.events.iter().any(|it| it.1 == gone && matches!(it.2, Happened::Installed(..))));
    }
    println!("{kills} kills, {before} of them after the node had installed it: {installed} installations, all others host it");
}

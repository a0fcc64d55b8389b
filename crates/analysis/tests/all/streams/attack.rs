//! Random networks, simulated against the bounds of their data.

use std::collections::{BTreeMap, BTreeSet};
use tactus_analysis::streams::streams;
use tactus_network::field::{Delivery, Field, Link, Member};
use tactus_network::frame::{digest, Name, Package, Version};
use tactus_network::node::Settings;
use tactus_network::place::{Area, Position};
use tactus_network::scope::{Description, Requirement, Scope};
use tactus_network::stream::Stream;
use tactus_network::trickle::TrickleSettings;
use tactus_network::verdict::data::judge;
use tactus_time::{Duration, Instant};

/// SplitMix64.
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }
    /// Below.
    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

fn ns(n: u64) -> Duration {
    Duration::from_nanos(n)
}

/// A network of 2 to 12 nodes and 1 to 8 streams, which sends for up to nearly all of the time somewhere.
pub fn random(seed: u64) -> Field {
    let mut draw = Draw(seed);
    let nodes = 2 + draw.below(11) as usize;
    let byte = ns([80, 1_000, 32_000][draw.below(3) as usize]);
    let [loses, delays, forwards, jitters] = [draw.one_in(3), draw.one_in(2), draw.one_in(2), draw.one_in(2)];
    let mut members: Vec<Member> = (0..nodes)
        .map(|n| Member {
            description: Description {
                position: Position { x: n as i32, y: 0 },
                tags: (0..4).filter(|_| draw.one_in(2)).map(|tag| format!("t{tag}")).collect(),
                ..Description::default()
            },
            comes: Instant::ZERO,
            goes: Instant::NEVER,
            links: Vec::new(),
            slots: None,
            forward: if forwards { ns(draw.below(byte.as_nanos() * 200)) } else { Duration::ZERO },
        })
        .collect();
    // A row, a star, or a tree, and some more.
    let shape = draw.below(3);
    let mut pairs: BTreeSet<(usize, usize)> = (1..nodes)
        .map(|n| match shape {
            0 => (n - 1, n),
            1 => (0, n),
            _ => (draw.below(n as u64) as usize, n),
        })
        .collect();
    for _ in 0..draw.below(3) {
        let (a, b) = (draw.below(nodes as u64) as usize, draw.below(nodes as u64) as usize);
        if a != b {
            pairs.insert((a.min(b), a.max(b)));
        }
    }
    for (a, b) in pairs {
        let delay = if delays { ns(draw.below(byte.as_nanos() * 500)) } else { Duration::ZERO };
        let loss = if loses && draw.one_in(2) { draw.below(300_000) as u32 } else { 0 };
        members[a].links.push(Link { to: b, delay, loss });
        members[b].links.push(Link { to: a, delay, loss });
    }
    let aligned = draw.one_in(2);
    let many = 1 + draw.below(8) as usize;
    let streams = (0..many).map(|n| {
        let largest = [20, 100, 1_400][draw.below(3) as usize];
        let bytes = 1 + draw.below(largest) as u16;
        let from = draw.below(nodes as u64) as usize;
        let priority = draw.below(4) as u8;
        let repetitions = if draw.one_in(3) { draw.below(4) as u8 } else { 0 };
        let scope = match draw.below(3) {
            0 => Scope::default(),
            1 => Scope { requires: vec![Requirement::Tag(format!("t{}", draw.below(4)))], areas: Vec::new() },
            _ => {
                let to = (from + 1 + draw.below(nodes as u64 - 1) as usize) % nodes;
                let disc = Area::Disc { centre: members[to].description.position, radius: 0 };
                Scope { areas: vec![disc], requires: Vec::new() }
            }
        };
        // Of a part of all time for each.
        let wire = byte.as_nanos() * (u64::from(bytes) + 14) * (u64::from(repetitions) + 1);
        let period = ns(wire * many as u64 * (100 + draw.below(400)) / 100);
        let jitter = if jitters { ns(draw.below(period.as_nanos())) } else { Duration::ZERO };
        // Less urgent ones just before the others.
        let start = aligned.then(|| Instant::from_nanos(1_000_000 + u64::from(priority)));
        let name = Name::new(&format!("d{n}")).expect("a name");
        let application = Name::new("a").filter(|_| seed % 4 == 0 && n % 2 == 0);
        Stream {
            name,
            application,
            from,
            scope,
            start,
            period,
            jitter,
            deadline: Duration::MAX,
            bytes,
            priority,
            repetitions,
        }
    });
    let mut streams: Vec<Stream> = streams.collect();
    let longest = streams.iter().map(|it| it.period).max().unwrap_or_default();
    let shortest = streams.iter().map(|it| it.period).min().unwrap_or_default();
    let chunks = vec![7; draw.below(2_000) as usize];
    let delivery = Delivery {
        time: Instant::ZERO,
        node: 0,
        package: Package {
            app: Name::new("a").expect("a name"),
            version: Version(1),
            removed: chunks.is_empty(),
            bytes: chunks.len() as u32,
            chunk: 300,
            digest: digest(&chunks),
            radius: 2,
            scope: Scope::default(),
        },
        bytes: chunks,
    };
    let field = |streams| Field {
        settings: Settings {
            trickle: TrickleSettings { shortest: byte * 2_000, doublings: 5, redundancy: 2 },
            patience: byte * 2_000,
            pace: byte * 500,
            keep: byte * 100_000,
            applications: 4,
            largest: 1 << 14,
        },
        byte,
        members: Vec::new(),
        deliveries: if seed % 2 == 0 { vec![delivery.clone()] } else { Vec::new() },
        streams,
        duration: (longest * 10).min(shortest * 200),
        seed,
    };
    // Some are there for a while only: they receive and send, and relay nothing.
    if draw.one_in(4) {
        for member in members.iter_mut().skip(1) {
            if draw.one_in(4) {
                member.comes = Instant::ZERO + ns(draw.below(longest.as_nanos() * 4));
                member.goes = member.comes + ns(1 + draw.below(longest.as_nanos() * 8));
            }
        }
    }
    let field = |streams| Field { members: members.clone(), ..field(streams) };
    streams.retain(|it| field(Vec::new()).tree(it).hops.len() > 1);
    field(streams)
}

/// Simulates networks, and holds each delivery against its bound: deliveries, and the worst part of a bound over one hop and over more.
fn attack(seeds: std::ops::Range<u64>) -> (u64, f64, f64) {
    let (mut deliveries, mut one, mut more) = (0, 0.0_f64, 0.0_f64);
    for seed in seeds {
        let field = random(seed);
        let check = streams(&field);
        let of = |paths: &Vec<tactus_analysis::streams::Path>| {
            paths.iter().filter_map(|it| Some((it.to, it.bound?))).collect::<BTreeMap<_, _>>()
        };
        let bounds: Vec<_> = check.paths.iter().map(of).collect();
        if check.overloaded.is_empty() && field.streams.len() == 1 {
            assert!(check.paths[0].iter().all(|it| it.bound.is_some()), "seed {seed}: {check:?}");
        }
        let verdict = judge(&field, &field.run(), &bounds);
        assert!(verdict.wrong.is_empty(), "seed {seed}: {:?}", &verdict.wrong[..verdict.wrong.len().min(5)]);
        for (outcome, paths) in verdict.outcomes.iter().zip(&check.paths) {
            deliveries += outcome.received;
            let Some(nearest) = outcome.nearest else { continue };
            let hops = paths.iter().find(|it| it.to == nearest.node).map_or(0, |it| it.hops);
            let worst = if hops == 1 { &mut one } else { &mut more };
            *worst = worst.max(nearest.ratio());
        }
    }
    (deliveries, one, more)
}

#[test]
fn no_delivery_in_random_networks_is_later_than_its_bound_or_comes_to_anybody_else() {
    let (deliveries, one, more) = attack(0..300);
    println!("{deliveries} deliveries, worst {one:.3} of a bound over one hop and {more:.3} over more");
    assert!(deliveries > 100_000 && one > 0.95 && more > 0.8, "{deliveries} {one} {more}");
}

/// `cargo test -p tactus-analysis --test all streams::attack -- --ignored --nocapture`
#[test]
#[ignore = "a million deliveries take a minute"]
fn no_delivery_of_a_million_is_later_than_its_bound() {
    let (mut all, mut one, mut more) = (0, 0.0_f64, 0.0_f64);
    let mut seed = 1_000;
    while all < 1_000_000 {
        let (deliveries, a, b) = attack(seed..seed + 100);
        (all, one, more, seed) = (all + deliveries, one.max(a), more.max(b), seed + 100);
    }
    println!(
        "{all} deliveries in {} networks, worst {one:.3} of a bound over one hop and {more:.3} over more",
        seed - 1_000
    );
    assert!(one > 0.95 && more > 0.8);
}

//! Frames that nobody sends who means well: no node panics, hosts what is no package, or knows of more than it has room for.

use tactus_network::exchange::{DataEffect, Exchange, Role};
use tactus_network::frame::{digest, Frame, Name, NodeId, Package, Version};
use tactus_network::node::{Effect, Node, Settings};
use tactus_network::refusals::{Refusal, Refusals};
use tactus_network::scope::{Description, Scope};
use tactus_network::trickle::TrickleSettings;
use tactus_time::{Duration, Instant};

const SETTINGS: Settings = Settings {
    trickle: TrickleSettings { shortest: Duration::from_millis(100), doublings: 5, redundancy: 2 },
    patience: Duration::from_millis(150),
    pace: Duration::from_millis(10),
    keep: Duration::from_secs(5),
    applications: 4,
    largest: 16 << 10,
};

struct Draw(u64);

impl Draw {
    fn below(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % below.max(1)
    }
}

/// One of the versions that there are of six applications.
fn package(draw: &mut Draw) -> (Package, Vec<u8>) {
    let (app, number) = (draw.below(6), draw.below(4));
    let version = Version(number as u32);
    let draw = &mut Draw((1 + app) << 8 | number);
    let bytes: Vec<u8> = (0..draw.below(600)).map(|_| draw.below(256) as u8).collect();
    let app = Name::new(["light", "blinds", "heat", "jam", "more", "most"][app as usize]).expect("a name");
    let (chunk, radius) = (100 + draw.below(100) as u16, draw.below(4) as u8);
    let it = Package {
        app,
        version,
        removed: bytes.is_empty(),
        bytes: bytes.len() as u32,
        chunk,
        digest: digest(&bytes),
        radius,
        scope: Scope::default(),
    };
    (it, bytes)
}

/// A frame of a kind, and what may be wrong with it: it lies, is cut, is changed, or is none at all.
fn frame(draw: &mut Draw) -> Vec<u8> {
    let (it, bytes) = package(draw);
    let (encoded, mut all, mut refusals) = (Frame::package(&it), Vec::new(), Refusals::default());
    let node = NodeId(draw.below(5) as u32);
    refusals.add(node, Refusal { reason: draw.below(256) as u8, task: Some(draw.below(40) as u8) });
    refusals.write(&mut all);
    let (app, version) = (it.app, it.version);
    let index = draw.below(8) as u16;
    let kind = match draw.below(6) {
        0 => Frame::Solicit,
        1 => {
            let (distance, outside, refusals) = (draw.below(5) as u8, draw.below(5) as u8, draw.below(2));
            Frame::Offer { app, version, distance, outside, refusals, package: &encoded }
        }
        2 => {
            let (first, wanted) = (draw.below(u64::from(u16::MAX)) as u16, draw.below(u64::MAX));
            Frame::Request { to: NodeId(1), app, version, first: first % 9, wanted }
        }
        3 => Frame::Chunk { app, version, index, bytes: &bytes[it.range(index)] },
        4 => Frame::Refusals { app, version, all: &all },
        _ => {
            let (stream, sequence, repetition) = (index, draw.below(50) as u32, draw.below(4) as u8);
            Frame::Data { stream, sequence, repetition, bytes: &bytes[..bytes.len().min(20)] }
        }
    };
    let mut out = Vec::new();
    kind.write(node, &mut out);
    for _ in 0..draw.below(3) {
        let at = draw.below(out.len() as u64) as usize;
        match draw.below(4) {
            0 => out.truncate(at),
            1 => out[at] = draw.below(256) as u8,
            2 => out.insert(at, draw.below(256) as u8),
            _ => out = (0..draw.below(80)).map(|_| draw.below(256) as u8).collect(),
        }
        if out.is_empty() {
            break;
        }
    }
    out
}

/// A node's part in a stream, of which two relay and two receive in turn.
fn role(stream: u16) -> Role {
    let period = Duration::from_millis(10);
    Role {
        stream,
        application: None,
        parent: Some(NodeId(u32::from(stream) % 5)),
        relays: stream % 2 == 1,
        receives: stream % 4 < 2,
        priority: 0,
        bytes: 20,
        period,
        jitter: Duration::ZERO,
        frame_period: period,
        repetitions: 0,
    }
}

/// Feeds a node this number of frames, in lives of a thousand; how many were none, and how many packages became whole.
fn feed(frames: u64, seed: u64) -> [u64; 2] {
    let (mut draw, mut refused, mut wholes) = (Draw(seed | 1), 0, 0);
    for life in 0..frames.div_ceil(1_000) {
        let mut node = Node::new(NodeId(1), Description::default(), SETTINGS, life);
        let mut exchange = Exchange::new(NodeId(1), (0..8).map(role));
        let mut last = [None; 8];
        let mut now = Instant::ZERO;
        for _ in 0..1_000 {
            let bytes = frame(&mut draw);
            let mut whole = Vec::new();
            now += Duration::from_millis(draw.below(20));
            let mut put = |effect: Effect<'_>| match effect {
                Effect::Whole(app, version) => whole.push((app, version)),
                Effect::Send(bytes) => assert!(Frame::read(bytes).is_ok() && bytes.len() < 1_200),
                _ => {}
            };
            refused += u64::from(node.receive(now, &bytes, &mut put).is_err());
            if let Ok((sender, Frame::Data { stream, sequence, repetition, bytes })) = Frame::read(&bytes) {
                exchange.receive(sender, (stream, sequence, repetition), bytes, &mut |effect| match effect {
                    DataEffect::Send { frame, .. } => assert!(stream % 2 == 1 && Frame::read(frame).is_ok()),
                    DataEffect::Receive { stream, sequence, bytes } => {
                        let known: Option<u32> = last[usize::from(stream)].replace(sequence);
                        let newer = known.is_none_or(|known| (sequence.wrapping_sub(known) as i32) > 0);
                        assert!(stream % 4 < 2 && newer && bytes.len() == 20);
                    }
                });
            }
            node.advance(now, &mut put);
            for (app, version) in whole {
                wholes += 1;
                assert!(node.settle(now, (app, version), Ok(()), &mut |_| {}));
            }
        }
        assert!(node.hosts().count() <= SETTINGS.applications);
    }
    [refused, wholes]
}

#[test]
fn whatever_comes_a_node_sends_frames_and_hosts_no_more_than_it_has_room_for() {
    let [refused, wholes] = feed(20_000, 5);
    assert!(refused > 4_000 && wholes > 0, "{refused} {wholes}");
}

#[test]
#[ignore = "cargo test --release -p tactus-network --test fuzz -- --ignored --nocapture: as many as TACTUS_FRAMES says"]
fn many_frames() {
    let frames = std::env::var("TACTUS_FRAMES").ok().and_then(|it| it.parse().ok()).unwrap_or(10_000_000);
    let [refused, wholes] = feed(frames, 11);
    println!("{frames} frames, {refused} refused, {wholes} packages whole");
}

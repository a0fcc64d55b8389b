//! One decision over a queue of 64 unless told, many times: for counting instructions. By G-MATRIX with k = 4 unless told; with
//! `exact` by all orders of a frozen queue, which is one decision for all of it; with `nearest` by the map; with `model` by the
//! tracked model of a drive: the request that it says to end first.
//!
//! `valgrind --tool=callgrind --toggle-collect='*decide*' target/release/examples/decision 64 4`

use std::hint::black_box;
use tactus_disk::{parameters, CacheSettings, Drive, Form, Head, LatencyMap, Policy, Request, Scheduler};
use tactus_time::{Duration, Instant};

const TIMES: u64 = 1_000;

#[inline(never)]
fn decide(queue: &mut Scheduler, now: Instant, head: Head, map: &LatencyMap) -> Option<Request> {
    queue.next(now, head, map)
}

#[inline(never)]
fn decide_by_model(queue: &[Request], now: Instant, model: &Drive) -> usize {
    let ends = queue.iter().map(|request| model.predict(now, request));
    ends.enumerate().min_by_key(|(_, end)| *end).map_or(0, |(at, _)| at)
}

/// The same by a model instead of a map.
fn by_model(many: usize) {
    let Ok(geometry) = parameters::source_10k() else { return };
    let mut model = Drive::new(geometry, CacheSettings::default());
    let blocks = model.geometry().blocks() - 8;
    let (mut now, mut seed) = (Instant::ZERO, 1_u64);
    let mut fresh = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let block = (seed >> 20) % blocks;
        let (arrival, deadline) = (Instant::ZERO, Instant::NEVER);
        Request { id: 0, granule: 0, block, blocks: 8, write: false, arrival, deadline }
    };
    let mut queue: Vec<Request> = (0..many).map(|_| fresh()).collect();
    for _ in 0..TIMES {
        let at = black_box(decide_by_model(&queue, now, &model));
        now = model.serve(now, &queue[at]).end;
        queue[at] = fresh();
    }
    println!("{TIMES} decisions, the drive was busy for {now}");
}

/// The rule that the command line names.
fn policy(word: Option<&str>, many: usize) -> Option<Policy> {
    match word {
        None => Some(Policy::GMatrix(4)),
        Some("exact") => Some(Policy::FsatfExact(many)),
        Some("nearest") => Some(Policy::GreedyMap),
        Some(k) => k.parse().ok().map(Policy::GMatrix),
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let many: usize = arguments.first().and_then(|word| word.parse().ok()).unwrap_or(64);
    let word = arguments.get(1).map(String::as_str);
    if word == Some("model") {
        return by_model(many);
    }
    let Some(policy) = policy(word, many) else {
        eprintln!("decision [QUEUE] [K | exact | nearest | model]");
        return;
    };
    // A frozen queue is decided once for all that wait.
    let times = if word == Some("exact") { 2 * many as u64 } else { TIMES };
    let Ok(mut map) = LatencyMap::new(Form::Directed, 256, Duration::from_millis(1)) else { return };
    let mut seed = 1_u64;
    let mut draw = |n: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % n
    };
    for from in 0..256 {
        for to in 0..256 {
            map.learn(from, to, Duration::from_millis(1 + draw(15)));
        }
    }
    let mut queue = Scheduler::new(policy, many);
    let (mut head, mut now) = (Head::default(), Instant::ZERO);
    for n in 0..many as u64 + times {
        if n >= many as u64 {
            if let Some(request) = black_box(decide(&mut queue, now, head, &map)) {
                now += map.careful(head.granule, request.granule);
                head = Head::from(&request);
            }
        }
        let granule = draw(256) as u32;
        let deadline = now + Duration::from_millis(100 * (1 + draw(2)));
        let block = u64::from(granule) * 256;
        let _ = queue.arrive(
            Request { id: n, granule, block, blocks: 8, write: false, arrival: now, deadline },
            head,
            &map,
        );
    }
    println!("{times} decisions, {} steps of exact orders", queue.exact_steps());
}

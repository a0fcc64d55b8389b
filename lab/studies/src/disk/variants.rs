//! What some of the source's statements depend on: the time that an exact order takes to find, the sum that G-MATRIX minimises,
//! how fast the drive is, how much its arm is disturbed.

use super::load::{run, Before, Class};
use super::{Bench, Draw};
use tactus_disk::{Geometry, Head, LatencyMap, Policy, Request, Scheduler};
use tactus_time::{Duration, Instant};

/// Operations a second of `many` processes under the exact order of all that wait, where each step that its search tries takes the
/// time `step` while the drive stands still. Runs for this number of rounds.
pub fn exact_rate(bench: &Bench, map: &LatencyMap, many: usize, step: Duration, rounds: u64) -> f64 {
    let mut queue = Scheduler::new(Policy::FsatfExact(many), many);
    let (mut drive, mut draw) = (bench.drive(), Draw::new(53));
    let (mut now, mut head, mut steps) = (Instant::ZERO, Head::default(), 0);
    let mut fresh = |now| bench.request(0, draw.below(bench.positions.len() as u64) as u32, now, Instant::NEVER);
    for _ in 0..many {
        let _ = queue.arrive(fresh(now), head, map);
    }
    let requests = rounds * many as u64;
    for _ in 0..requests {
        let Some(request) = queue.next(now, head, map) else { break };
        now += Duration::from_nanos(step.as_nanos() * (queue.exact_steps() - steps));
        steps = queue.exact_steps();
        now = drive.serve(now, &request).end;
        head = Head::from(&request);
        let _ = queue.arrive(fresh(now), head, map);
    }
    requests as f64 / now.since(Instant::ZERO).as_secs_f64()
}

/// All orders of `many`.
fn orders(many: usize) -> Vec<Vec<usize>> {
    let Some(last) = many.checked_sub(1) else { return vec![Vec::new()] };
    let with_last = |order: Vec<usize>| {
        (0..many).map(move |at| {
            let mut order = order.clone();
            order.insert(at, last);
            order
        })
    };
    orders(last).into_iter().flat_map(with_last).collect()
}

/// G-MATRIX as the source writes it: the step from the head counts where a request ends, but not in the sum of an order.
pub fn matrix_as_written(map: &LatencyMap, k: usize) -> impl FnMut(&[Request], Instant, Head) -> usize + '_ {
    let all: Vec<Vec<Vec<usize>>> = (0..=k).map(orders).collect();
    move |queue, now, head| {
        let mut window: Vec<usize> = (0..queue.len()).collect();
        window.sort_by_key(|&at| queue[at].deadline);
        window.truncate(k);
        let step = |from: u32, to: usize| map.careful(from, queue[window[to]].granule);
        let worth = |order: &Vec<usize>| {
            let (mut end, mut from) = (now, head.granule);
            let late = order.iter().map(|&request| {
                end += step(std::mem::replace(&mut from, queue[window[request]].granule), request);
                queue[window[request]].overtime(end)
            });
            let late = late.max();
            (late, end.since(now + step(head.granule, order[0])))
        };
        let best = all[window.len()].iter().min_by_key(|order| worth(order));
        best.and_then(|order| order.first()).map_or(0, |&first| window[first])
    }
}

/// The same drive with an arm that takes these thousandths of its time.
pub fn with_seeks(geometry: &Geometry, thousandths: u64) -> Geometry {
    let mut geometry = geometry.clone();
    geometry.seek = geometry.seek.scaled(thousandths);
    geometry
}

/// How far samples lie apart, in ms.
#[derive(Clone, Copy, Debug)]
pub struct Dispersion {
    /// The mean.
    pub mean: f64,
    /// The standard deviation.
    pub deviation: f64,
    /// The longest.
    pub longest: f64,
}

impl Dispersion {
    fn of(samples: &[f64]) -> Dispersion {
        let many = samples.len().max(1) as f64;
        let mean = samples.iter().sum::<f64>() / many;
        let deviation = (samples.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / many).sqrt();
        Dispersion { mean, deviation, longest: samples.iter().copied().fold(0.0, f64::max) }
    }
}

/// The times of this number of random requests.
pub fn access_times(bench: &Bench, requests: u64, seed: u64) -> Dispersion {
    let (mut drive, mut draw, mut now) = (bench.drive(), Draw::new(seed), Instant::ZERO);
    let mut one = || {
        let row = draw.below(bench.positions.len() as u64) as u32;
        let end = drive.serve(now, &bench.request(0, row, now, Instant::NEVER)).end;
        end.since(std::mem::replace(&mut now, end)).as_millis_f64()
    };
    Dispersion::of(&(0..requests).map(|_| one()).collect::<Vec<_>>())
}

/// How long requests of the first class wait under EDF until they are dispatched, after a tenth that does not count.
pub fn edf_waits(bench: &Bench, classes: &[Class; 2], requests: u64, seed: u64) -> Dispersion {
    let mut waits = Vec::new();
    let mut edf = |queue: &[Request], now: Instant, _: Head| {
        let at = (0..queue.len()).min_by_key(|&at| queue[at].deadline).unwrap_or(0);
        if queue[at].deadline.since(queue[at].arrival) == classes[0].deadline {
            waits.push(now.since(queue[at].arrival).as_millis_f64());
        }
        at
    };
    run(bench, Before::Rule(&mut edf), classes, requests, seed);
    Dispersion::of(&waits[waits.len() / 10..])
}

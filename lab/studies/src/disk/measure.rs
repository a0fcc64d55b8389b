//! Single figures: linearity of block distance, repeatability, what predictions are worth.

use super::{Bench, Draw};
use tactus_disk::{Drive, Form, Head, LatencyMap, MapError, Policy, Request, Scheduler, Ssd, SsdSettings};
use tactus_time::{Duration, Instant};

/// Correlation (Pearson) of access time with the distance in blocks over random pairs. The source does not tell its
/// estimator of "linearity" (0.57 and 0.42).
pub fn linearity(bench: &Bench, pairs: u64, seed: u64) -> f64 {
    let mut draw = Draw::new(seed);
    let (mut drive, mut now) = (bench.drive(), Instant::ZERO);
    let rows = bench.positions.len() as u64;
    let mut row = draw.below(rows);
    let samples: Vec<(f64, f64)> = (0..pairs)
        .map(|_| {
            let from = row;
            row = draw.below(rows);
            let end = drive.serve(now, &bench.request(0, row as u32, now, Instant::NEVER)).end;
            let took = end.since(now).as_millis_f64();
            now = end;
            (bench.positions[from as usize].abs_diff(bench.positions[row as usize]) as f64, took)
        })
        .skip(1)
        .collect();
    let n = samples.len() as f64;
    let mean = |pick: fn(&(f64, f64)) -> f64| samples.iter().map(pick).sum::<f64>() / n;
    let (x, y) = (mean(|s| s.0), mean(|s| s.1));
    let sum = |f: &dyn Fn(&(f64, f64)) -> f64| samples.iter().map(f).sum::<f64>();
    let (xy, xx, yy) = (sum(&|s| (s.0 - x) * (s.1 - y)), sum(&|s| (s.0 - x).powi(2)), sum(&|s| (s.1 - y).powi(2)));
    xy / (xx * yy).sqrt()
}

/// How long a fixed order takes, again and again on a drive with noise: the largest deviation from the mean, as a share.
pub fn repeatability(bench: &Bench, noise: Duration, order: usize, times: u64) -> f64 {
    let mut draw = Draw::new(3);
    let rows: Vec<u32> = (0..order).map(|_| draw.below(bench.positions.len() as u64) as u32).collect();
    let mut drive = bench.drive().jitter(noise, 5);
    let mut now = Instant::ZERO;
    let runs: Vec<f64> = (0..=times)
        .map(|_| {
            let start = now;
            for &row in &rows {
                now = drive.serve(now, &bench.request(0, row, now, Instant::NEVER)).end;
            }
            now.since(start).as_secs_f64()
        })
        .skip(1)
        .collect();
    let mean = runs.iter().sum::<f64>() / runs.len() as f64;
    runs.iter().map(|run| (run / mean - 1.0).abs()).fold(0.0, f64::max)
}

/// What predictions by a tracked position were worth on a drive with noise.
#[derive(Clone, Debug)]
pub struct Prediction {
    /// Share of service times within 1 % of a turn.
    pub within: f64,
    /// Share within 5 % of the time itself (the source's comparison with DiskSim).
    pub within_five: f64,
    /// Errors in µs, prediction less what happened, sorted.
    pub errors: Vec<i64>,
}

/// Predicts each of `requests` by a model of nominal figures that is told of completions only.
pub fn predict(bench: &Bench, mut real: Drive, requests: u64, seed: u64) -> Prediction {
    let mut model = bench.drive();
    let (mut draw, mut now) = (Draw::new(seed), Instant::ZERO);
    let turn = bench.geometry.turn;
    let (mut within, mut within_five, mut errors) = (0, 0, Vec::new());
    for n in 0..=requests {
        let row = draw.below(bench.positions.len() as u64) as u32;
        let request = bench.request(n, row, now, Instant::NEVER);
        let said = model.predict(now, &request);
        let end = real.serve(now, &request).end;
        model.follow(end, &request);
        if n > 0 {
            let error = said.as_nanos() as i64 - end.as_nanos() as i64;
            within += u64::from(error.unsigned_abs() * 100 <= turn);
            within_five += u64::from(error.unsigned_abs() * 20 <= end.since(now).as_nanos());
            errors.push(error / 1000);
        }
        now = end;
    }
    errors.sort_unstable();
    Prediction { within: within as f64 / requests as f64, within_five: within_five as f64 / requests as f64, errors }
}

/// How far the map's cells lie above what happens, in µs, sorted; a negative one would be a cell that is no bound.
pub fn map_errors(bench: &Bench, map: &LatencyMap, requests: u64, seed: u64) -> Vec<i64> {
    let (mut drive, mut draw, mut now) = (bench.drive(), Draw::new(seed), Instant::ZERO);
    let mut errors = Vec::new();
    let mut last = None;
    for _ in 0..=requests {
        let row = draw.below(bench.positions.len() as u64) as u32;
        let end = drive.serve(now, &bench.request(0, row, now, Instant::NEVER)).end;
        if let Some(cell) = last.and_then(|from| map.latency(from, row)) {
            errors.push((cell.as_nanos() as i64 - end.since(now).as_nanos() as i64).div_euclid(1000));
        }
        (now, last) = (end, Some(row));
    }
    errors.sort_unstable();
    errors
}

/// What a map that learns on line is worth on flash.
#[derive(Clone, Copy, Debug)]
pub struct Flash {
    /// Operations a second, first come first served.
    pub noop: f64,
    /// The same with the nearest by the map.
    pub map: f64,
    /// Share of requests in the last tenth of the run whose cell holds 4 ms or more: it met the collector once.
    pub largest: f64,
    /// A request's mean time, ms.
    pub mean: f64,
    /// The longest, ms.
    pub longest: f64,
}

/// Half reads, half writes of 4 KiB on a solid-state disk, 32 at a time, `rows` places of the map.
pub fn flash(rows: u32, requests: u64, seed: u64) -> Result<Flash, MapError> {
    let pages = 4_096;
    let one = |policy: Policy| -> Result<(f64, f64, f64, f64), MapError> {
        let mut ssd = Ssd::new(SsdSettings::typical(pages));
        let mut map = LatencyMap::new(Form::Directed, rows as usize, Duration::from_millis(1))?;
        let mut queue = Scheduler::new(policy, 32);
        let (mut draw, mut now, mut head) = (Draw::new(seed), Instant::ZERO, Head::default());
        let mut fresh = |n: u64, now: Instant| {
            let page = draw.below(u64::from(pages));
            let granule = (page * u64::from(rows) / u64::from(pages)) as u32;
            let write = draw.below(2) == 0;
            Request { id: n, granule, block: page * 8, blocks: 8, write, arrival: now, deadline: Instant::NEVER }
        };
        for n in 0..32 {
            let _ = queue.arrive(fresh(n, now), head, &map);
        }
        let (mut largest, mut all, mut longest) = (0, 0, Duration::ZERO);
        for n in 32..32 + requests {
            let Some(request) = queue.next(now, head, &map) else { break };
            let end = ssd.serve(now, &request);
            if n > requests * 9 / 10 {
                all += 1;
                largest += u64::from(map.code(head.granule, request.granule) >= 4);
            }
            longest = longest.max(end.since(now));
            map.learn(head.granule, request.granule, end.since(now));
            (now, head) = (end, Head::from(&request));
            let _ = queue.arrive(fresh(n, now), head, &map);
        }
        let seconds = now.since(Instant::ZERO).as_secs_f64();
        let (rate, mean) = (requests as f64 / seconds, seconds * 1e3 / requests as f64);
        Ok((rate, largest as f64 / f64::from(all.max(1) as u32), mean, longest.as_millis_f64()))
    };
    let (noop, _, mean, longest) = one(Policy::Noop)?;
    let (map, largest, ..) = one(Policy::GreedyMap)?;
    Ok(Flash { noop, map, largest, mean, longest })
}

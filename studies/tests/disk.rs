//! The disk study in small: what its tables say, as far as it holds for any drive of the source's kind.

use tactus_disk::{parameters, CacheSettings, Drive, Form, Policy};
use tactus_studies::disk::load::{run, run_on, Before, Class, Outcome};
use tactus_studies::disk::{measure, Bench};
use tactus_time::Duration;

const REQUESTS: u64 = 3_000;

fn bench(positions: usize) -> Bench {
    Bench::new(parameters::source_10k().expect("a drive"), positions, 7)
}

fn class(processes: usize) -> [Class; 1] {
    [Class { processes, deadline: Duration::from_secs(1_000) }]
}

fn with(bench: &Bench, policy: Policy, form: Form, processes: usize) -> f64 {
    let mut map = bench.full_map(form).expect("a map");
    run(bench, Before::Scheduler(policy, &mut map, false), &class(processes), REQUESTS, 11).rate
}

#[test]
fn noop_is_flat_and_cfq_is_the_same() {
    let bench = bench(150);
    let [one, many] = [1, 64].map(|n| with(&bench, Policy::Noop, Form::Symmetric, n));
    assert!((many / one - 1.0).abs() < 0.03, "{one} {many}");
    let cfq = with(&bench, Policy::Cfq, Form::Symmetric, 64);
    assert!((cfq / many - 1.0).abs() < 0.03, "{cfq} {many}");
}

#[test]
fn g_matrix_with_the_directed_map_is_1_3_times_as_fast_as_edf_and_misses_nothing() {
    let bench = bench(300);
    let classes = [100, 200].map(|ms| Class { processes: 8, deadline: Duration::from_millis(ms) });
    let mut map = bench.full_map(Form::Directed).expect("a map");
    let mut of = |policy| run(&bench, Before::Scheduler(policy, &mut map, false), &classes, REQUESTS, 13);
    let (edf, matrix) = (of(Policy::Edf), of(Policy::GMatrix(4)));
    assert!(matrix.missed == 0 && matrix.rate >= 1.3 * edf.rate, "{} {} {}", matrix.missed, matrix.rate, edf.rate);
    let tcq: Outcome = run(&bench, Before::OwnQueue(64), &classes, REQUESTS, 13);
    assert!(tcq.missed > 0 && tcq.rate > matrix.rate, "{} {}", tcq.missed, tcq.rate);
}

#[test]
fn the_more_a_policy_knows_the_faster_it_is() {
    let bench = bench(150);
    let rates = [
        with(&bench, Policy::Noop, Form::Directed, 32),
        with(&bench, Policy::SatfBlock, Form::Directed, 32),
        with(&bench, Policy::GreedyMap, Form::Directed, 32),
        run(&bench, Before::Model, &class(32), REQUESTS, 11).rate,
    ];
    assert!(rates[..3].windows(2).all(|pair| pair[0] * 1.05 < pair[1]), "{rates:?}");
    assert!(rates[3] > 0.98 * rates[2], "the model instead of the matrix: {rates:?}");
}

#[test]
fn large_and_adjacent_requests_gain_little_and_lose_nothing() {
    let gain = |bench: &Bench, cache: CacheSettings| {
        // Learned on the drive as it is, with what it reads ahead.
        let mut map = bench.empty_map(Form::Directed).expect("a map");
        let mut rate = |policy, requests| {
            let drive = Drive::new(bench.geometry.clone(), cache);
            run_on(bench, drive, Before::Scheduler(policy, &mut map, true), &class(16), requests, 43).rate
        };
        rate(Policy::SatfMap, 40_000);
        rate(Policy::SatfMap, REQUESTS) / rate(Policy::Noop, REQUESTS)
    };
    let small = gain(&bench(150), CacheSettings::default());
    let large = gain(&bench(150).with_blocks(800), CacheSettings::default());
    let ahead = CacheSettings { segments: 8, ahead: 1_024, writes: 0 };
    let adjacent = gain(&Bench::adjacent(parameters::source_10k().expect("a drive"), 300), ahead);
    assert!(small > 1.2 && large > 0.99 && large - 1.0 < (small - 1.0) / 2.0, "{small} {large}");
    assert!((0.98..1.1).contains(&adjacent), "{adjacent}");
}

#[test]
fn on_flash_the_map_is_worth_nothing() {
    let it = measure::flash(64, 20_000, 47).expect("a map");
    assert!((0.95..1.15).contains(&(it.map / it.noop)), "{it:?}");
    assert!(it.longest > 4.0 * it.mean, "{it:?}");
}

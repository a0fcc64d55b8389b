//! The disk study in small: what its tables say, as far as it holds for any drive of the source's kind.

use tactus_disk::{parameters, CacheSettings, Drive, DriveName, Form, LatencyMap, Policy};
use tactus_studies::disk::load::{run, run_on, Before, Class, Outcome};
use tactus_studies::disk::variants::{access_times, edf_waits, exact_rate, with_seeks};
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
fn noop_is_flat_at_130_and_cfq_is_the_same() {
    let bench = bench(1_000);
    let mut map = bench.empty_map(Form::Symmetric).expect("a map");
    let mut rate = |policy, n| run(&bench, Before::Scheduler(policy, &mut map, false), &class(n), REQUESTS, 11).rate;
    for n in [1, 2, 4, 8, 16, 32, 64, 128, 256] {
        let [noop, cfq] = [Policy::Noop, Policy::Cfq].map(|policy| rate(policy, n));
        assert!((129.0..134.0).contains(&noop), "{n} processes: {noop}");
        assert!((cfq / noop - 1.0).abs() < 0.001, "{n} processes: {cfq} {noop}");
    }
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
fn no_cell_of_a_full_map_is_below_what_happens() {
    for drive in parameters::Model::ALL {
        let bench = Bench::new(drive.geometry().expect("a drive"), 150, 7);
        for form in [Form::Symmetric, Form::Directed] {
            let errors = measure::map_errors(&bench, &bench.full_map(form).expect("a map"), 100_000, 23);
            assert!(errors.len() == 100_000 && errors[0] >= 0, "{drive:?} {form:?}: {} of {}", errors[0], errors.len());
        }
    }
}

#[test]
fn a_tracked_position_tells_98_percent_of_the_times_within_a_hundredth_of_a_turn() {
    for drive in parameters::Model::ALL {
        let bench = Bench::new(drive.geometry().expect("a drive"), 1_000, 7);
        let noisy = bench.drive().jitter(Duration::from_micros(20), 29);
        let said = measure::predict(&bench, noisy, 100_000, 31);
        assert!(bench.positions.len() == 1_000 && said.within >= 0.98, "{drive:?}: {}", said.within);
    }
}

#[test]
fn a_restored_map_has_nothing_to_learn_and_is_as_fast_at_once() {
    let bench = bench(150);
    let map = bench.full_map(Form::Directed).expect("a map");
    let name = DriveName::of("ST373207LW", "1", bench.geometry.blocks());
    let mut restored = LatencyMap::load(&map.save(name), name).expect("the same drive");
    let rate = |map: &mut LatencyMap, learns| {
        run(&bench, Before::Scheduler(Policy::GreedyMap, map, learns), &class(32), REQUESTS, 11)
    };
    let (first, again) = (rate(&mut map.clone(), false), rate(&mut restored, true));
    assert_eq!((first.rate, first.parts), (again.rate, again.parts));
    assert_eq!((again.above, &restored), (0, &map), "no cell rose");
    let mut fresh = bench.empty_map(Form::Directed).expect("a map");
    let learning = rate(&mut fresh, true);
    assert!(learning.rate < 0.9 * again.rate, "{} {}", learning.rate, again.rate);
}

/// What EDF and G-MATRIX with a look-ahead of 4 do for 8 processes with 100 ms and 8 with 200 ms.
fn edf_and_matrix(bench: &Bench, form: Form) -> [Outcome; 2] {
    let classes = [100, 200].map(|ms| Class { processes: 8, deadline: Duration::from_millis(ms) });
    let mut map = bench.full_map(form).expect("a map");
    [Policy::Edf, Policy::GMatrix(4)]
        .map(|policy| run(bench, Before::Scheduler(policy, &mut map, false), &classes, 10_000, 13))
}

#[test]
fn where_edf_misses_nothing_g_matrix_misses_nothing_and_is_a_third_faster() {
    let cheetah = Bench::new(parameters::cheetah_15k7().expect("a drive"), 300, 7);
    let source = with_seeks(&parameters::source_10k().expect("a drive"), 650);
    for (name, bench, form) in [
        ("Cheetah, symmetric", &cheetah, Form::Symmetric),
        ("Cheetah, directed", &cheetah, Form::Directed),
        ("10,000 rpm, seeks of 65 %, directed", &Bench::new(source, 300, 7), Form::Directed),
    ] {
        let [edf, matrix] = edf_and_matrix(bench, form);
        assert_eq!((edf.missed, matrix.missed), (0, 0), "{name}");
        let gain = matrix.rate / edf.rate;
        assert!((1.32..1.45).contains(&gain), "{name}: {gain}");
    }
}

#[test]
fn at_130_a_second_the_turn_alone_spreads_what_edf_makes_wait_beyond_100_ms() {
    let bench = bench(1_000);
    let classes = [100, 200].map(|ms| Class { processes: 8, deadline: Duration::from_millis(ms) });
    let (access, wait) = (access_times(&bench, 20_000, 61), edf_waits(&bench, &classes, 10_000, 13));
    // 8 in each R and 8 in each R + 100 ms, 130.7 a second.
    assert!((wait.mean + access.mean - 90.0).abs() < 1.0, "{wait:?} {access:?}");
    // An even spread over a turn deviates by a turn over the root of 12.
    let turn = bench.geometry.turn as f64 / 1e6 / 12_f64.sqrt();
    assert!(access.deviation > turn, "{access:?}");
    let waits_for = wait.mean / access.mean;
    assert!(wait.deviation > turn * waits_for.sqrt(), "{wait:?}");
    assert!(wait.mean + access.mean + 3.0 * turn * waits_for.sqrt() > 100.0);
}

#[test]
fn each_further_deadline_that_g_matrix_looks_at_brings_less_and_none_is_missed_from_4_on() {
    let drive = parameters::cheetah_15k7().expect("a drive");
    let classes = [100, 200].map(|ms| Class { processes: 8, deadline: Duration::from_millis(ms) });
    for bench in [Bench::new(drive.clone(), 300, 7), Bench::crowded(drive.clone(), 100, 8, 59)] {
        let mut map = bench.full_map(Form::Directed).expect("a map");
        let mut of = |k| run(&bench, Before::Scheduler(Policy::GMatrix(k), &mut map, false), &classes, 10_000, 13);
        let outcomes = [1, 2, 4, 6].map(&mut of);
        let [one, two, four, six] = [0, 1, 2, 3].map(|n| outcomes[n].rate);
        assert!(two / one > (four / two).sqrt() && four / two > six / four, "{one} {two} {four} {six}");
        assert_eq!((outcomes[2].missed, outcomes[3].missed), (0, 0));
    }
}

#[test]
fn the_exact_order_collapses_at_8_where_its_107_instructions_a_step_take_107_ns() {
    let bench = bench(300);
    let map = bench.full_map(Form::Symmetric).expect("a map");
    let rate = |many, step, rounds| exact_rate(&bench, &map, many, Duration::from_nanos(step), rounds);
    // What is left of the rate that it would have if it took no time.
    let left =
        [(4, 400), (6, 400), (8, 40), (9, 10)].map(|(many, rounds)| rate(many, 107, rounds) / rate(many, 0, rounds));
    assert!(left[0] > 0.99 && left[1] > 0.97, "{left:?}");
    assert!((0.7..0.85).contains(&left[2]) && left[3] < 0.4, "{left:?}");
    // At 8 it has fallen below what it was at 4, and at 9 below no order at all.
    assert!(rate(8, 107, 40) < rate(4, 107, 400) && rate(9, 107, 10) < rate(1, 0, 400) / 2.0);
}

#[test]
fn a_model_is_within_5_percent_for_999_of_1000_where_the_arm_is_off_by_a_600th_of_a_turn_at_most() {
    for drive in parameters::Model::ALL {
        let bench = Bench::new(drive.geometry().expect("a drive"), 1_000, 7);
        let most = Duration::from_nanos(bench.geometry.turn / 600);
        let said = measure::predict(&bench, bench.drive().jitter(most, 29), 100_000, 31);
        assert!(said.within_five >= 0.999, "{drive:?}, {most}: {}", said.within_five);
    }
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
fn the_nearest_by_the_map_gains_28_percent_and_more_over_the_nearest_block() {
    for drive in parameters::Model::ALL {
        let bench = Bench::new(drive.geometry().expect("a drive"), 300, 7);
        let mut map = bench.full_map(Form::Symmetric).expect("a map");
        let mut gain = |n| {
            let mut rate = |policy| run(&bench, Before::Scheduler(policy, &mut map, false), &class(n), 10_000, 11).rate;
            rate(Policy::GreedyMap) / rate(Policy::SatfBlock) - 1.0
        };
        let gains = [4, 16, 64, 256].map(&mut gain);
        assert!(gains[0] > 0.0 && gains.is_sorted() && gains[3] >= 0.28, "{drive:?}: {gains:?}");
    }
}

#[test]
fn by_the_path_the_map_gains_and_less_than_28_percent_over_the_nearest_block() {
    for drive in parameters::Model::ALL {
        let bench = Bench::new(drive.geometry().expect("a drive"), 1_000, 7);
        let mut map = bench.full_map(Form::Symmetric).expect("a map");
        let mut rate = |policy| run(&bench, Before::Scheduler(policy, &mut map, false), &class(256), 10_000, 11).rate;
        let [blocks, path, frozen] = [Policy::SatfBlock, Policy::SatfMap, Policy::FsatfMap].map(&mut rate);
        assert!((0.97..1.28).contains(&(path / blocks)) && frozen > path, "{drive:?}: {blocks} {path} {frozen}");
    }
}

/// The rates of NOOP, of the nearest block and of the path by a map that is learned on the drive as it is.
fn learned(bench: &Bench, cache: CacheSettings) -> [f64; 3] {
    let mut map = bench.empty_map(Form::Directed).expect("a map");
    let mut rate = |policy, requests| {
        let drive = Drive::new(bench.geometry.clone(), cache);
        run_on(bench, drive, Before::Scheduler(policy, &mut map, true), &class(32), requests, 43).rate
    };
    rate(Policy::SatfMap, 80_000);
    [Policy::Noop, Policy::SatfBlock, Policy::SatfMap].map(|policy| rate(policy, 10_000))
}

#[test]
fn requests_of_400_kib_gain_less_than_small_ones_and_lose_nothing() {
    for drive in parameters::Model::ALL {
        let bench = Bench::new(drive.geometry().expect("a drive"), 200, 41);
        let rates = [bench.clone(), bench.with_blocks(800)].map(|bench| learned(&bench, CacheSettings::default()));
        let [small, large] = rates.map(|[noop, _, map]| map / noop - 1.0);
        assert!(large > 0.0 && large < 0.75 * small, "{drive:?}: {rates:?}");
        // Where 400 KiB are two turns and more, the map is worth no more than block numbers; nowhere is it worth less.
        let [_, blocks, map] = rates[1];
        let most = if drive == parameters::Model::Cheetah15k7 { 1.06 } else { 1.02 };
        assert!((0.98..most).contains(&(map / blocks)), "{drive:?}: {rates:?}");
    }
}

#[test]
fn adjacent_requests_gain_nothing_and_lose_nothing_though_the_map_is_empty() {
    let ahead = CacheSettings { segments: 8, ahead: 1_024, writes: 0 };
    for (drive, cache) in parameters::Model::ALL.into_iter().flat_map(|d| [(d, ahead), (d, CacheSettings::default())]) {
        let bench = Bench::adjacent(drive.geometry().expect("a drive"), 20);
        let mut map = bench.empty_map(Form::Directed).expect("a map");
        let rate = |policy, map: &mut LatencyMap| {
            let drive = Drive::new(bench.geometry.clone(), cache);
            run_on(&bench, drive, Before::Scheduler(policy, map, true), &class(32), REQUESTS, 43).rate
        };
        let noop = rate(Policy::Noop, &mut map.clone());
        for policy in [Policy::SatfMap, Policy::FsatfMap, Policy::GreedyMap] {
            for _ in 0..4 {
                let gain = rate(policy, &mut map) / noop;
                assert!((0.99..1.01).contains(&gain), "{drive:?} {cache:?} {policy:?}: {gain}");
            }
        }
    }
}

#[test]
fn on_flash_the_map_is_worth_nothing() {
    let it = measure::flash(64, 20_000, 47).expect("a map");
    assert!((0.95..1.15).contains(&(it.map / it.noop)), "{it:?}");
    assert!(it.longest > 4.0 * it.mean, "{it:?}");
}

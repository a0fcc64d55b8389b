//! Rules of the queue: who goes next, who never waits for ever, who is promised what.

use proptest::prelude::*;
use tactus_disk::admission::{any_order, busy_time, edf, Beside, Refused, Stream};
use tactus_disk::{parameters, CacheSettings, Drive, DriveQueue, Form, Head, LatencyMap, Policy, Request, Scheduler};
use tactus_disk::{Ssd, SsdSettings};
use tactus_time::{Duration, Instant};

fn millis(n: u64) -> Duration {
    Duration::from_millis(n)
}
fn at(n: u64) -> Instant {
    Instant::ZERO + millis(n)
}
fn request(id: u64, row: u32, deadline: u64) -> Request {
    let block = u64::from(row) * 256;
    Request { id, granule: row, block, blocks: 8, write: false, arrival: Instant::ZERO, deadline: at(deadline) }
}
/// A full symmetric map of points on a line: a metric.
fn line(points: &[u64]) -> LatencyMap {
    let mut map = LatencyMap::new(Form::Symmetric, points.len(), millis(1)).unwrap();
    for (a, &x) in points.iter().enumerate() {
        for (b, &y) in points.iter().enumerate() {
            map.learn(a as u32, b as u32, millis(x.abs_diff(y).max(1)));
        }
    }
    map
}
/// A full symmetric map of points on a plane, where ways run along the axes, or of any times of which none is longer than two
/// others: both are metrics.
fn metric(places: &[(u64, u64)], plane: bool) -> LatencyMap {
    let mut map = LatencyMap::new(Form::Symmetric, places.len(), millis(1)).unwrap();
    for (a, x) in places.iter().enumerate() {
        for (b, y) in places[..=a].iter().enumerate() {
            let way = (x.0.abs_diff(y.0) + x.1.abs_diff(y.1)).max(1);
            let any = 8 + (x.0 * 31 + x.1 * 17 + y.0 * 13 + y.1 * 7 + (a * b) as u64) % 8;
            map.learn(a as u32, b as u32, millis(if plane { way } else { any }));
        }
    }
    map
}
/// The lightest tree from row 0 to all others: no order that begins there is shorter.
fn tree(map: &LatencyMap) -> u64 {
    let mut near: Vec<(u64, u32)> = (1..map.granules()).map(|to| (map.careful(0, to).as_nanos(), to)).collect();
    let mut sum = 0;
    while let Some(at) = (0..near.len()).min_by_key(|&at| near[at].0) {
        let (step, from) = near.swap_remove(at);
        sum += step;
        for (step, to) in &mut near {
            *step = (*step).min(map.careful(from, *to).as_nanos());
        }
    }
    sum
}
fn served(policy: Policy, requests: &[Request], map: &LatencyMap) -> Vec<u64> {
    let mut queue = Scheduler::new(policy, requests.len());
    let (mut head, mut now) = (Head::default(), Instant::ZERO);
    for request in requests {
        queue.arrive(*request, head, map).unwrap();
    }
    let mut out = Vec::new();
    while let Some(next) = queue.next(now, head, map) {
        now += map.careful(head.granule, next.granule);
        head = Head::from(&next);
        out.push(next.id);
    }
    out
}
fn all_orders(n: usize) -> Vec<Vec<usize>> {
    if n == 0 {
        return vec![vec![]];
    }
    let longer = |order: Vec<usize>| {
        (0..n).map(move |at| {
            let mut order = order.clone();
            order.insert(at, n - 1);
            order
        })
    };
    all_orders(n - 1).into_iter().flat_map(longer).collect()
}
fn length(order: &[u64], map: &LatencyMap) -> u64 {
    let mut head = 0;
    order.iter().map(|&id| map.careful(std::mem::replace(&mut head, id as u32), id as u32).as_nanos()).sum()
}

const ALL: [Policy; 11] = [
    Policy::Noop,
    Policy::Cfq,
    Policy::Deadline(millis_of(500)),
    Policy::SatfBlock,
    Policy::FsatfBlock,
    Policy::SatfMap,
    Policy::FsatfMap,
    Policy::FsatfExact(6),
    Policy::GreedyMap,
    Policy::Edf,
    Policy::GMatrix(4),
];
const fn millis_of(n: u64) -> Duration {
    Duration::from_millis(n)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn every_request_is_served_once_under_every_rule(
        deadlines in prop::collection::vec(1_u64..60, 1..20), points in prop::collection::vec(0_u64..15, 20),
    ) {
        let map = line(&points);
        let all: Vec<Request> = deadlines.iter().enumerate().map(|(n, &d)| request(n as u64, n as u32, d)).collect();
        for policy in ALL {
            let mut ids = served(policy, &all, &map);
            ids.sort_unstable();
            prop_assert_eq!(ids, (0..all.len() as u64).collect::<Vec<_>>());
        }
    }

    #[test]
    fn insertion_stays_within_twice_the_optimum_and_exact_is_the_optimum(
        points in prop::collection::vec(0_u64..15, 7),
    ) {
        let map = line(&points);
        let all: Vec<Request> = (1..7).map(|n| request(n, n as u32, 1_000)).collect();
        let orders = all_orders(6);
        let ids = |order: &Vec<usize>| order.iter().map(|&n| n as u64 + 1).collect::<Vec<_>>();
        let optimum = orders.iter().map(|order| length(&ids(order), &map)).min().unwrap();
        prop_assert_eq!(length(&served(Policy::FsatfExact(6), &all, &map), &map), optimum);
        prop_assert!(length(&served(Policy::FsatfMap, &all, &map), &map) <= 2 * optimum);
    }

    #[test]
    fn whoever_comes_while_a_round_is_served_is_served_in_the_next_and_nobody_later(
        points in prop::collection::vec(0_u64..15, 16), first in 1_usize..5,
        later in prop::collection::vec((0_usize..4, 0_u32..16), 40),
    ) {
        let map = line(&points);
        for policy in [Policy::FsatfBlock, Policy::FsatfMap, Policy::FsatfExact(8)] {
            let (mut queue, mut head) = (Scheduler::new(policy, 8), Head::default());
            // In which round each request should be served, and which was.
            let (mut rounds, mut served, mut round) = (Vec::new(), Vec::new(), 0);
            for row in 0..first as u32 {
                queue.arrive(request(row.into(), row, 100), head, &map).unwrap();
                rounds.push(0);
            }
            for (many, row) in &later {
                if let Some(next) = queue.next(Instant::ZERO, head, &map) {
                    let is_left = |id: usize| rounds[id] == round && !served.contains(&(id as u64));
                    round += u32::from(!(0..rounds.len()).any(is_left));
                    prop_assert_eq!(rounds[next.id as usize], round, "{:?}: {:?} of {:?}", policy, next.id, rounds);
                    served.push(next.id);
                    head = Head::from(&next);
                }
                for n in 0..*many as u32 {
                    let new = request(rounds.len() as u64, (row + 5 * n) % 16, 100);
                    rounds.extend(queue.arrive(new, head, &map).is_ok().then_some(round + 1));
                }
            }
        }
    }

    #[test]
    fn insertion_stays_within_twice_the_lightest_tree_for_up_to_256(
        places in prop::collection::vec((0_u64..8, 0_u64..8), 2..=257), plane: bool,
    ) {
        let map = metric(&places, plane);
        let all: Vec<Request> = (1..places.len()).map(|n| request(n as u64, n as u32, 1_000)).collect();
        prop_assert!(length(&served(Policy::FsatfMap, &all, &map), &map) <= 2 * tree(&map));
    }

    #[test]
    fn with_k_the_whole_queue_overtime_is_the_least_that_any_order_has(
        points in prop::collection::vec(0_u64..15, 6), deadlines in prop::collection::vec(1_u64..40, 5),
    ) {
        let map = line(&points);
        let all: Vec<Request> = deadlines.iter().enumerate().map(|(n, &d)| request(n as u64 + 1, n as u32 + 1, d)).collect();
        let late = |order: &[u64]| {
            let (mut now, mut head, mut worst) = (Instant::ZERO, 0, Duration::ZERO);
            for &id in order {
                now += map.careful(std::mem::replace(&mut head, id as u32), id as u32);
                worst = worst.max(all[id as usize - 1].overtime(now));
            }
            worst
        };
        let least = all_orders(5).iter().map(|order| late(&order.iter().map(|&n| n as u64 + 1).collect::<Vec<_>>())).min();
        prop_assert_eq!(Some(late(&served(Policy::GMatrix(5), &all, &map))), least);
    }
}

#[test]
fn a_far_request_is_served_in_its_round_where_a_live_queue_starves_it() {
    // Near requests come as fast as they are served; the far one has come behind the first of them.
    let map = line(&[1, 2, 1, 2, 1, 2, 1, 14]);
    let turn = |policy| {
        let (mut queue, mut head) = (Scheduler::new(policy, 8), Head::default());
        queue.arrive(request(0, 0, 100), head, &map).unwrap();
        for step in 0..1_000 {
            let next = queue.next(Instant::ZERO, head, &map).unwrap();
            if next.granule == 7 {
                return Some(step);
            }
            head = Head::from(&next);
            if step == 0 {
                queue.arrive(request(9_999, 7, 100), head, &map).unwrap();
            }
            for more in 0..u64::from(step < 2) + 1 {
                queue.arrive(request(2 * step + more + 1, (step % 2) as u32, 100), head, &map).unwrap();
            }
        }
        None
    };
    for live in [Policy::SatfBlock, Policy::GreedyMap] {
        assert_eq!(turn(live), None, "{live:?}");
    }
    // Two near ones came with it.
    for frozen in [Policy::FsatfBlock, Policy::FsatfMap, Policy::FsatfExact(8)] {
        assert!(turn(frozen).is_some_and(|step| step <= 3), "{frozen:?}: {:?}", turn(frozen));
    }
}

#[test]
fn each_further_request_costs_the_exact_order_as_many_times_as_wait() {
    let map = line(&[3, 1, 4, 1, 5, 9, 2, 6, 5]);
    let steps = |many: u64| {
        let mut queue = Scheduler::new(Policy::FsatfExact(8), many as usize);
        for n in 1..=many {
            queue.arrive(request(n, n as u32, 100), Head::default(), &map).unwrap();
        }
        queue.next(Instant::ZERO, Head::default(), &map);
        queue.exact_steps()
    };
    assert_eq!([4, 6, 8].map(steps), [64, 1_956, 109_600]);
    // Of one more than it looks through it takes those that came first, and the other goes into the next round.
    let mut queue = Scheduler::new(Policy::FsatfExact(2), 3);
    for n in [8, 7, 2] {
        queue.arrive(request(n, n as u32, 100), Head::default(), &map).unwrap();
    }
    let mut head = Head::default();
    let order = std::array::from_fn(|_| {
        queue.next(Instant::ZERO, head, &map).map(|next| (head = Head::from(&next), next.id).1)
    });
    assert_eq!(order, [Some(8), Some(7), Some(2)]);
}

#[test]
fn a_full_queue_says_so_and_a_cancelled_request_is_gone() {
    let map = line(&[0, 1, 2]);
    let mut queue = Scheduler::new(Policy::Edf, 2);
    for n in [1, 2] {
        queue.arrive(request(n, n as u32, 10 - n), Head::default(), &map).unwrap();
    }
    assert!(queue.arrive(request(3, 0, 1), Head::default(), &map).is_err());
    assert_eq!(queue.cancel(2).map(|request| request.id), Some(2));
    assert_eq!(queue.cancel(2), None);
    assert_eq!(queue.next(Instant::ZERO, Head::default(), &map).map(|request| request.id), Some(1));
}

#[test]
fn the_models_have_the_published_figures() {
    let atlas = parameters::atlas_10k().unwrap();
    // Published are 17,938,986 blocks without the spare sectors, which are blocks here.
    let more = atlas.blocks().saturating_sub(17_938_986);
    assert!(more > 0 && more * 500 < 17_938_986, "{more}");
    assert_eq!((atlas.seek.nanos(1), atlas.seek.nanos(10_021)), (1_245_000, 10_828_000));
    let cheetah = parameters::cheetah_15k7().unwrap();
    assert!((cheetah.blocks() * 512).abs_diff(450_000_000_000) < 9_000_000_000, "{}", cheetah.blocks() * 512);
    // The mean over random pairs of cylinders is what a sheet calls the average seek.
    let mean = (0..1_000_u64).map(|n| {
        let (a, b) = ((n * 7_919) % 107_500, (n * 104_729 + 31) % 107_500);
        cheetah.seek.nanos(a.abs_diff(b) as u32)
    });
    let mean = mean.sum::<u64>() / 1_000;
    assert!(mean.abs_diff(3_400_000) < 340_000, "{mean}");
}

#[test]
fn a_write_is_answered_at_once_and_a_power_cut_may_take_it_unless_it_was_flushed() {
    let settings = CacheSettings { segments: 0, ahead: 0, writes: 4 };
    let mut drive = Drive::new(parameters::atlas_10k().unwrap(), settings);
    let mut now = Instant::ZERO;
    for n in 0..4 {
        let served = drive.serve(now, &Request { write: true, ..request(n, n as u32 * 9, 100) });
        assert!(served.from_cache && served.end.since(now) < millis(1));
        now = served.end;
    }
    assert_eq!(drive.dirty(), 4);
    let lost = drive.clone().power_cut(3);
    assert_eq!(lost.len(), 4);
    assert_eq!(lost.iter().filter(|lost| matches!(lost, tactus_disk::Lost::Torn(..))).count(), 1);
    assert!(drive.flush(now).since(now) > millis(3));
    assert_eq!((drive.dirty(), drive.power_cut(3).len()), (0, 0));
}

#[test]
fn a_drives_own_queue_takes_its_depth_and_serves_all() {
    let mut queue = DriveQueue::new(Drive::new(parameters::atlas_10k().unwrap(), CacheSettings::default()), 4);
    for n in 0..4 {
        queue.take(request(n, 60_000 - n as u32 * 9_000, 100)).unwrap();
    }
    assert!(queue.take(request(4, 0, 100)).is_err());
    let mut now = Instant::ZERO;
    let mut order = Vec::new();
    while let Some((request, served)) = queue.serve(now) {
        now = served.end;
        order.push(request.id);
    }
    order.sort_unstable();
    assert_eq!(order, [0, 1, 2, 3]);
}

#[test]
fn flash_keeps_its_books_and_writes_more_than_it_is_told_to() {
    let mut ssd = Ssd::new(SsdSettings::typical(4_096));
    let (mut now, mut seed) = (Instant::ZERO, 9_u64);
    for n in 0..40_000 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let block = (seed >> 33) % 4_096 * 8;
        now = ssd.serve(now, &Request { block, write: n % 4 != 0, ..request(n, 0, 1) });
    }
    assert!(ssd.is_consistent());
    assert!((1.5..12.0).contains(&ssd.amplification()), "{}", ssd.amplification());
}

/// Streams as they could come: sporadic releases, services up to their bound, in a simulation of its own.
fn worst_responses(streams: &[Stream], policy: Policy, requests: u64, seed: u64) -> Vec<Duration> {
    let mut state = seed | 1;
    let mut draw = move |n: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % n
    };
    let mut map = LatencyMap::new(Form::Directed, streams.len(), millis(1)).unwrap();
    for from in 0..streams.len() as u32 {
        for (to, stream) in streams.iter().enumerate() {
            map.learn(from, to as u32, millis(1 + draw(stream.service.as_nanos() / 1_000_000)));
        }
    }
    let mut next: Vec<Instant> = streams.iter().map(|_| Instant::ZERO).collect();
    let mut queue = Scheduler::new(policy, 256);
    let (mut now, mut head, mut worst) = (Instant::ZERO, Head::default(), vec![Duration::ZERO; streams.len()]);
    for _ in 0..requests {
        loop {
            for (n, stream) in streams.iter().enumerate() {
                while next[n] <= now {
                    let (arrival, deadline) = (next[n], next[n] + stream.deadline);
                    queue.arrive(Request { arrival, deadline, ..request(n as u64, n as u32, 0) }, head, &map).unwrap();
                    let pause = if draw(4) == 0 { draw(stream.period.as_nanos()) } else { 0 };
                    next[n] = next[n] + stream.period + Duration::from_nanos(pause);
                }
            }
            if !queue.is_empty() {
                break;
            }
            now = *next.iter().min().unwrap();
        }
        let request = queue.next(now, head, &map).unwrap();
        // Up to its cell after one that was just before; up to its stream's bound always.
        let most = map.careful(head.granule, request.granule).as_nanos();
        now += Duration::from_nanos(if draw(3) == 0 { 1 + draw(most) } else { most });
        head = Head::from(&request);
        let response = now.since(request.arrival);
        worst[request.id as usize] = worst[request.id as usize].max(response);
    }
    worst
}

fn sets_hold(sets: u64, requests: u64) -> (u64, u64) {
    let (mut admitted, mut seen, mut seed) = ([0, 0], 0, 77_u64);
    for set in 0..sets {
        let mut draw = |low: u64, high: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(set | 1);
            low + (seed >> 33) % (high - low)
        };
        let streams: Vec<Stream> = (0..draw(2, 7))
            .map(|_| Stream {
                period: millis(draw(30, 300)),
                deadline: millis(draw(25, 250)),
                service: millis(draw(3, 15)),
            })
            .collect();
        for (which, bounds, policy) in [
            (0, edf(&streams, &Beside::default()), Policy::Edf),
            (1, any_order(&streams, &Beside::default()), Policy::GMatrix(4)),
        ] {
            if let Ok(bounds) = bounds {
                admitted[which] += 1;
                let worst = worst_responses(&streams, policy, requests, set + 1);
                seen += requests;
                for ((worst, bound), stream) in worst.iter().zip(&bounds).zip(&streams) {
                    assert!(worst <= bound && *bound <= stream.deadline, "set {set}: {worst} > {bound} {policy:?}");
                }
            }
        }
    }
    assert!(admitted[0] >= admitted[1] && admitted[1] > 0);
    (admitted[0], seen)
}

#[test]
fn a_million_requests_of_admitted_streams_never_take_longer_than_their_bound() {
    let (admitted, seen) = sets_hold(1_500, 1_000);
    println!("{admitted} sets admitted for EDF, {seen} requests");
    assert!(seen >= 1_000_000, "{seen}");
}

#[test]
fn streams_that_cannot_be_kept_are_refused_with_the_reason() {
    let none = Beside::default();
    let stream = |period, deadline, service| Stream {
        period: millis(period),
        deadline: millis(deadline),
        service: millis(service),
    };
    assert_eq!(edf(&[stream(10, 10, 0)], &none), Err(Refused::Nothing(0)));
    assert!(matches!(edf(&[stream(10, 10, 6), stream(10, 10, 6)], &none), Err(Refused::Overload(_))));
    // A long request just before a short deadline.
    assert_eq!(edf(&[stream(100, 10, 3), stream(100, 90, 8)], &none), Err(Refused::Demand(millis(10))));
    assert_eq!(edf(&[stream(100, 11, 3), stream(100, 90, 8)], &none), Ok(vec![millis(11), millis(11)]));
    assert_eq!(any_order(&[stream(100, 10, 3), stream(100, 90, 8)], &none), Err(Refused::Busy(0, millis(11))));
    assert_eq!(busy_time(&[stream(20, 10, 5), stream(30, 90, 20)], &none), Ok(millis(30)));
}

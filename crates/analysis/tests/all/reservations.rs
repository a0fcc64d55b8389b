//! Reservations: bounds against trees of servers in unit steps, platforms against supplies at any phase, and against the
//! `response-time-analysis` crate.

use crate::common::{ns, Dice};
use crate::servers::Group;
use response_time_analysis as oracle;
use tactus_analysis::effort::Effort;
use tactus_analysis::reservation::local::{responses, Local};
use tactus_analysis::reservation::mpr::{edf_schedulable, Mpr};
use tactus_analysis::reservation::platform::{passes, Platform};
use tactus_analysis::reservation::supply::{Recurring, Server, Supply, Whole};
use tactus_analysis::reservation::tree::{judge, Node, Scheduler};
use tactus_analysis::task::Sporadic;
use tactus_task::ServerKind;
use tactus_time::Duration;

/// How many times more optimised code draws.
const MORE: u64 = if cfg!(debug_assertions) { 1 } else { 8 };

/// Sets, bounds compared, bounds that were reached.
#[derive(Default, Debug)]
struct Tally(u64, u64, u64);

fn policy(dice: &mut Dice) -> Local {
    dice.pick(&[Local::FixedPriority, Local::EarliestDeadline])
}

/// A scheduler with `percent` of its time for up to four children.
fn scheduler(dice: &mut Dice, percent: u64, depth: u64) -> Scheduler {
    let policy = policy(dice);
    let n = dice.between(1, 4);
    let mut left = percent;
    let mut children = Vec::new();
    for i in 0..n {
        let share = dice.between(left / 4, if i + 1 == n { left } else { left / 2 + 1 });
        left = left.saturating_sub(share);
        let p = dice.pick(&[5, 6, 8, 10, 12, 15, 20]);
        let budget = p * share / 100;
        if depth > 0 && budget > 0 && dice.between(0, 2) > 0 {
            let both = [ServerKind::Periodic, ServerKind::Polling, ServerKind::SporadicPolling, ServerKind::Sporadic];
            let other = match policy {
                Local::FixedPriority => ServerKind::Deferrable,
                Local::EarliestDeadline => ServerKind::HardBandwidth,
            };
            let kinds = [&both[..], &[other]].concat();
            let server = Server::new(dice.pick(&kinds), ns(budget), ns(p));
            let inside = dice.between(30, 90) * share / 100;
            children.push(Node::Server(server, scheduler(dice, inside, depth - 1)));
        } else {
            let t = dice.pick(&[15, 20, 30, 40, 60]);
            let c = (t * share / 100).max(1);
            children.push(Node::Task(Sporadic::new(ns(c), ns(t), ns(dice.between(c.max(t / 2), t)))));
        }
    }
    Scheduler { policy, children }
}

fn falsify_trees(seed: u64, sets: u64) -> Tally {
    let mut dice = Dice::new(seed);
    let mut tally = Tally::default();
    while tally.0 < sets {
        let depth = dice.between(1, 3);
        let percent = dice.between(50, 100);
        let root = scheduler(&mut dice, percent, depth);
        let verdicts = judge(&root, &Whole, &mut Effort::default());
        // Responses of an EDF scheduler hold only if its servers keep their deadlines; so does everything beneath.
        if !verdicts.iter().any(|v| v.path.len() > 1 && v.response.is_some()) {
            continue;
        }
        tally.0 += 1;
        let late = if dice.between(0, 1) == 0 { 0 } else { 4 };
        let mut group = Group::new(&root, late, &mut dice);
        let length = 400;
        for now in 0..length {
            group.advance(now, &mut dice);
            group.run(now);
        }
        let mut seen = Vec::new();
        group.worst(length, &mut seen);
        assert_eq!(seen.len(), verdicts.len());
        for (v, seen) in verdicts.iter().zip(seen) {
            if let (Some(bound), Some(seen)) = (v.response, seen) {
                assert!(ns(seen) <= bound, "{seen} > {bound} at {:?} of {root:?}\n{verdicts:?}", v.path);
                tally.1 += 1;
                tally.2 += u64::from(ns(seen) == bound);
            }
        }
    }
    tally
}

#[test]
fn no_task_in_a_tree_of_servers_beats_its_bound() {
    let tally = falsify_trees(41, 200 * MORE);
    assert!(tally.1 > 300 * MORE && tally.2 > 6 * MORE, "{tally:?}");
}

#[test]
#[ignore = "the long run of evidence"]
fn no_task_in_a_tree_of_servers_beats_its_bound_in_200_000_trees() {
    println!("{:?}", falsify_trees(141, 200_000));
}

/// The service of a server in every step, its budget anywhere in each period but mostly as early or as late as possible.
fn service(dice: &mut Dice, q: u64, p: u64, length: u64) -> Vec<bool> {
    let phase = dice.between(0, p - 1);
    let mut given = vec![false; (length + 2 * p) as usize];
    let mut start = 0;
    while start < length + p {
        match dice.between(0, 2) {
            0 => (0..q).for_each(|i| given[(start + i) as usize] = true),
            1 => (p - q..p).for_each(|i| given[(start + i) as usize] = true),
            _ => {
                let mut left = q;
                for i in 0..p {
                    if dice.between(1, p - i) <= left {
                        given[(start + i) as usize] = true;
                        left -= 1;
                    }
                }
            }
        }
        start += p;
    }
    given.drain(..phase as usize);
    given
}

/// The longest response on processors of which `active(t)` serve in [t, t+1), globally scheduled.
fn global(
    set: &[crate::common::T],
    edf: bool,
    late: u64,
    length: u64,
    dice: &mut Dice,
    active: impl Fn(u64) -> usize,
) -> Vec<u64> {
    let mut worst = vec![0; set.len()];
    let mut pending: Vec<(u64, usize, u64)> = Vec::new();
    let mut next: Vec<u64> = set.iter().map(|x| x.offset).collect();
    for now in 0..length {
        for (i, x) in set.iter().enumerate() {
            if next[i] == now {
                pending.push((now, i, x.c));
                next[i] = now + x.t + if late > 0 { dice.between(0, late) } else { 0 };
            }
        }
        pending.sort_by_key(|&(a, i, _)| if edf { (a + set[i].d, i, a) } else { (0, i, a) });
        for job in pending.iter_mut().take(active(now)) {
            job.2 -= 1;
            if job.2 == 0 {
                worst[job.1] = worst[job.1].max(now + 1 - job.0);
            }
        }
        pending.retain(|j| j.2 > 0);
    }
    pending.iter().for_each(|j| worst[j.1] = worst[j.1].max(length - j.0));
    worst
}

fn set(dice: &mut Dice, hundredths: u64) -> Vec<crate::common::T> {
    let n = dice.between(1, 6) as usize;
    let mut set =
        crate::common::task_set(dice, n, hundredths, &[15, 20, 30, 40, 60], crate::common::Deadlines::Constrained);
    set.sort_by_key(|x| x.t);
    for x in &mut set {
        x.offset = if dice.between(0, 2) == 0 { 0 } else { dice.between(0, x.t) };
    }
    set
}

fn falsify_platforms(seed: u64, sets: u64) -> Tally {
    let mut dice = Dice::new(seed);
    let mut tally = Tally::default();
    while tally.0 < sets {
        let m = dice.between(2, 4);
        let (p, share) = (dice.pick(&[4, 5, 8, 10]), dice.between(40, 100));
        let q = (p * share / 100).max(1);
        let hundredths = dice.between(10, 60) * q * m / p;
        let drawn = set(&mut dice, hundredths);
        let sporadic = crate::common::sporadics(&drawn);
        let length = 300;
        let edf = dice.between(0, 1) == 0;
        let late = dice.pick(&[0, 3]);
        if dice.between(0, 1) == 0 {
            let server = Server::new(ServerKind::Periodic, ns(q), ns(p));
            let platform = Platform((0..m).map(|_| &server as &dyn Supply).collect());
            let policy = if edf { Local::EarliestDeadline } else { Local::FixedPriority };
            if passes(&sporadic, policy, &platform).contains(&None) {
                continue;
            }
            let given: Vec<_> = (0..m).map(|_| service(&mut dice, q, p, length)).collect();
            let active = |t: u64| given.iter().filter(|g| g[t as usize]).count();
            let worst = global(&drawn, edf, late, length, &mut dice, active);
            for (seen, x) in worst.iter().zip(&drawn) {
                assert!(*seen <= x.d, "{seen} > {} for {m} of ({q}, {p}), EDF {edf}: {drawn:?}", x.d);
            }
        } else {
            let θ = (q * m).saturating_sub(dice.between(0, m - 1)).max(1);
            let μ = Mpr { period: ns(p), budget: ns(θ), parallelism: m };
            if !edf_schedulable(&sporadic, &μ, &mut Effort::default()) {
                continue;
            }
            // θ steps in each period, at most m at once, as early or as late as possible or anyhow.
            let mut given = vec![0usize; (length + 2 * p) as usize];
            for start in (0..length + p).step_by(p as usize) {
                let how = dice.between(0, 2);
                let mut left = θ;
                for i in 0..p {
                    let later = m * (p - 1 - i);
                    let least = left.saturating_sub(later);
                    let most = left.min(m);
                    let now = match how {
                        0 => most,
                        1 => least,
                        _ => dice.between(least, most),
                    };
                    given[(start + i) as usize] = now as usize;
                    left -= now;
                }
            }
            let phase = dice.between(0, p - 1);
            let worst = global(&drawn, true, late, length, &mut dice, |t| given[(t + phase) as usize]);
            for (seen, x) in worst.iter().zip(&drawn) {
                assert!(*seen <= x.d, "{seen} > {} on {μ:?}: {drawn:?}", x.d);
            }
        }
        tally.0 += 1;
        tally.1 += drawn.len() as u64;
    }
    tally
}

#[test]
fn whatever_a_platform_test_accepts_meets_its_deadlines() {
    let tally = falsify_platforms(42, 200 * MORE);
    assert!(tally.1 > 400 * MORE, "{tally:?}");
}

#[test]
#[ignore = "the long run of evidence"]
fn whatever_a_platform_test_accepts_meets_its_deadlines_in_100_000_sets() {
    println!("{:?}", falsify_platforms(142, 100_000));
}

/// Bounds of tasks in periodic servers compared with the crate's and with a schedule, and values of supply functions.
fn equal_in_periodic_servers(seed: u64, sets: u64) -> (u64, u64) {
    let mut dice = Dice::new(seed);
    let limit = oracle::time::Duration::from(100_000);
    let service_of = oracle::time::Service::from;
    let (mut compared, mut supplies) = (0u64, 0u64);
    for _ in 0..sets {
        let p = dice.pick(&[5u64, 8, 10, 13]);
        let q = dice.between(1, p);
        let hundredths = dice.between(20, 100) * q / p;
        let mut drawn = set(&mut dice, hundredths.max(1));
        drawn.iter_mut().for_each(|x| x.offset = 0);
        let server = Recurring { budget: ns(q), period: ns(p), blackout: ns(2 * (p - q)) };
        let resource = oracle::supply::Periodic::new(service_of(q), oracle::time::Duration::from(p));
        for t in 0..4 * p {
            use oracle::supply::SupplyBound;
            let theirs = resource.provided_service(oracle::time::Duration::from(t));
            assert_eq!(server.least(ns(t)).as_nanos(), u64::from(theirs), "({q}, {p}) at {t}");
            supplies += 1;
        }
        let tasks = crate::common::sporadics(&drawn);
        let ours = responses(&tasks, Local::FixedPriority, Duration::ZERO, &server, &mut Effort::default());
        // The server at its worst phase: its budget was used up at once, then comes late for ever.
        let late = |t: u64| usize::from(t >= 2 * (p - q) && (t - 2 * (p - q)) % p < q);
        let seen = global(&drawn, false, 0, 400, &mut dice, late);
        for i in 0..tasks.len() {
            let Some(bound) = ours[i].filter(|r| *r <= tasks[i].deadline) else { continue };
            let demand = |w: oracle::time::Duration| {
                service_of((0..=i).map(|j| u64::from(w).div_ceil(drawn[j].t) * drawn[j].c).sum::<u64>())
            };
            let theirs = oracle::fixed_point::search(&resource, limit, demand).map(u64::from).ok();
            assert_eq!(
                (Some(bound.as_nanos()), bound.as_nanos()),
                (theirs, seen[i]),
                "task {i} of {drawn:?} in ({q}, {p})"
            );
            compared += 1;
        }
    }
    (compared, supplies)
}

#[test]
fn responses_inside_a_periodic_server_equal_those_of_the_verified_crate_and_are_reached() {
    let (compared, supplies) = equal_in_periodic_servers(43, 80 * MORE);
    assert!(compared > 80 * MORE && supplies > 1300 * MORE, "{compared} {supplies}");
}

#[test]
#[ignore = "the long run of evidence"]
fn responses_inside_a_periodic_server_equal_those_of_the_verified_crate_in_100_000_sets() {
    println!("{:?} bounds and values of supply functions", equal_in_periodic_servers(143, 100_000));
}

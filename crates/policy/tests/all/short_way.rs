//! The short ways beside the long one: the same decisions and records, for random systems, also overloaded ones, with late entries and
//! events without cause. Partitioned policies have one for time-outs, trees of servers one for arrivals.

use crate::common::trees::trees;
use crate::common::{run_policy, time_of, Chance, Faults, Kept};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use tactus_policy::{
    Burst, CoreState, Decision, EarlyArrival, Event, Input, Partitions, Policy, PolicyConfig, PolicySpec, Release,
    ResourceTree, Scheduler, Server, Supply, Task, TaskPlacement, Tree, MOST_RECORDS,
};
use tactus_record::{EventKind, Sink};
use tactus_task::{Overrun, ScheduleSwitch, ServerKind, TaskOrder, Window};
use tactus_time::{CoreId, CoreSet, Duration, Instant, Level, TaskId};

/// Decides the short way where there is one.
struct Short<'a>(&'a Scheduler, &'a AtomicUsize);

impl Policy for Short<'_> {
    type Core = CoreState;

    fn handle<S: Sink>(&self, core: &mut CoreState, now: Instant, event: Event, records: &mut S) -> Decision {
        if event == Event::Timer {
            let mut kept = Kept::default();
            if let Some(decision) = self.0.expire(core, now, &mut kept) {
                assert!(kept.0.len() <= MOST_RECORDS);
                self.1.fetch_add(1, Relaxed);
                kept.0.into_iter().for_each(|record| records.record(record));
                return decision;
            }
        }
        self.0.handle(core, now, event, records)
    }
}

fn systems() -> impl Strategy<Value = (PolicyConfig, Vec<u64>, u64)> {
    let kinds =
        prop_oneof![Just(PolicySpec::PartitionedRm), Just(PolicySpec::PartitionedEdf), Just(PolicySpec::PartitionedDm)];
    (1usize..=3, kinds, 1usize..=9, any::<u64>())
        .prop_flat_map(|(cores, kind, tasks, seed)| {
            let task = (0..cores as u8, 0u64..12, 2u64..60, 1u64..60, 1u64..9);
            (Just(cores), Just(kind), Just(seed), prop::collection::vec(task, tasks))
        })
        .prop_map(|(cores, kind, seed, tasks)| {
            let most = tasks.iter().map(|task| task.4).collect();
            let tasks = tasks
                .into_iter()
                .map(|(core, offset, period, deadline, _)| Task {
                    level: Level::A,
                    core: Some(CoreId(core)),
                    offset: Duration::from_nanos(offset),
                    period: Duration::from_nanos(period),
                    deadline: Duration::from_nanos(deadline),
                    budget: Duration::ZERO,
                })
                .collect();
            (PolicyConfig { cores, kind, tasks }, most, seed)
        })
}

/// Something arrived for the task then: the quickest way that there is.
fn arrive(
    policy: &Scheduler,
    core: &mut CoreState,
    (now, arrival): (Instant, (TaskId, Instant)),
    kept: &mut Kept,
) -> Option<Decision> {
    for is_idle in [true, false] {
        let before = kept.0.len();
        let first = policy.arrive_first(core, now, arrival, is_idle, kept);
        let Some(decision) = first else {
            assert_eq!(kept.0.len(), before, "what gives nothing records nothing");
            continue;
        };
        FIRST[usize::from(is_idle)].fetch_add(1, Relaxed);
        assert_eq!(decision.run.map(|run| run.task), Some(arrival.0));
        return Some(decision);
    }
    let decision = policy.arrive(core, now, arrival, kept);
    assert!(decision.is_none() || policy.may_arrive(core, arrival.0));
    decision
}

/// Arrivals whose jobs had the core at once: on a busy core, and on an idle one.
static FIRST: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

static SHORT: AtomicUsize = AtomicUsize::new(0);
static WINDOWS: AtomicUsize = AtomicUsize::new(0);

/// Up to five partitions, whose windows are cut at random out of a frame on one core or two.
fn partitions() -> impl Strategy<Value = (PolicyConfig, Vec<u64>, u64)> {
    let task = (0u8..5, 0u64..12, 6u64..90, 1u64..9, 0usize..4);
    let cuts = prop::collection::vec(prop::collection::btree_set(1u64..40, 1..7), 1..3);
    let tasks = prop::collection::vec(task, 2..9);
    (cuts, tasks, 2u8..6, 0usize..4, any::<bool>(), any::<u64>()).prop_map(|(cuts, tasks, count, order, gaps, seed)| {
        let ns = Duration::from_nanos;
        let switches = seed % 2 == 1;
        let mut windows = vec![Vec::new(); usize::from(count) + 1];
        for (core, cuts) in cuts.iter().enumerate() {
            let bounds: Vec<u64> = [0].into_iter().chain(cuts.iter().copied()).chain([40]).collect();
            for (n, pair) in bounds.windows(2).enumerate().filter(|(n, _)| !gaps || n % 3 > 0) {
                for schedule in 0..=u8::from(switches) {
                    let whose = 1 + (n + core + usize::from(schedule)) % usize::from(count);
                    let (start, length) = (ns(pair[0]), ns(pair[1] - pair[0]));
                    // The second has half of each window.
                    let length = if schedule == 0 { length } else { ns(length.as_nanos().div_ceil(2)) };
                    windows[whose].push(Window { core: CoreId(core as u8), start, length, schedule });
                }
            }
        }
        let cores = CoreSet::first(cuts.len());
        let order = [
            TaskOrder::FixedPriority,
            TaskOrder::EarliestDeadline,
            TaskOrder::RateMonotonic,
            TaskOrder::FirstComeFirstServed,
        ][order];
        let root = Server {
            parent: 0,
            cores,
            order: TaskOrder::FixedPriority,
            queues: cores.iter().map(|core| CoreSet::from_bits(1 << core.0)).collect(),
            quantum: ns(1),
            supply: None,
            priority: 0,
            background: false,
        };
        windows.retain(|windows| !windows.is_empty());
        let mut servers = vec![root.clone()];
        for windows in &windows {
            let mut own = CoreSet::EMPTY;
            windows.iter().for_each(|window| own.insert(window.core));
            let supply = Some(Supply { kind: ServerKind::Windows, budget: ns(40), period: ns(40), write_backs: None });
            let queues = own.iter().map(|core| CoreSet::from_bits(1 << core.0)).collect();
            servers.push(Server { cores: own, order, queues, supply, ..root.clone() });
        }
        let list = windows.len();
        let windows: Vec<Vec<Window>> = [Vec::new()].into_iter().chain(windows).collect();
        let (mut all, mut places, mut most) = (Vec::new(), Vec::new(), Vec::new());
        for (n, (whose, offset, period, time, overrun)) in tasks.into_iter().enumerate() {
            let server = 1 + usize::from(whose) % list;
            let core = servers[server].cores.iter().nth(n % 2).or_else(|| servers[server].cores.iter().next());
            let deadline = ns(period);
            all.push(Task {
                level: Level::A,
                core,
                offset: ns(offset),
                period: ns(period),
                deadline,
                budget: ns(time),
            });
            let overrun = [Overrun::Continue, Overrun::Skip, Overrun::Stop, Overrun::Continue][overrun];
            places.push(TaskPlacement { server: server as u16, priority: n as u32 % 3, overrun });
            most.push(time + 3);
        }
        let tree = Tree { servers, places, releases: Vec::new(), waits: Vec::new(), line: Duration::ZERO, seed: 0 };
        let switches =
            [(2 + seed % 3, 1), (6 + seed % 4, 0)].map(|(frame, schedule)| ScheduleSwitch { frame, schedule });
        let switches = if seed % 2 == 1 { switches.to_vec() } else { Vec::new() };
        let kind = PolicySpec::Partitions(Partitions { tree, frame: ns(40), windows, switches });
        (PolicyConfig { cores: cuts.len(), kind, tasks: all }, most, seed)
    })
}

#[test]
fn the_short_way_decides_and_records_as_the_long_one() {
    same_both_ways(systems(), &SHORT, 400);
}

#[test]
fn from_one_window_to_the_next_the_short_way_decides_and_records_as_the_long_one() {
    same_both_ways(partitions(), &WINDOWS, 2_000);
}

fn same_both_ways(systems: impl Strategy<Value = (PolicyConfig, Vec<u64>, u64)>, count: &AtomicUsize, cases: u32) {
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let compared = TestRunner::new(config).run(&systems, |(setup, most, seed)| {
        let demand = |task: TaskId, job: u32| Duration::from_nanos(time_of(most[task.index()], task, job));
        let go = |short: bool| {
            let (mut late, mut odd) = (Chance::of(seed), Chance::of(!seed));
            let (scheduler, states) = Scheduler::new(&setup).expect("the set-up is good");
            let mut delay = || Duration::from_nanos(late.below(3));
            let mut noise = || (odd.below(4) == 0).then(|| (Duration::from_nanos(1 + odd.below(9)), Event::Timer));
            let faults = Faults { delay: &mut delay, noise: &mut noise };
            let end = Instant::from_nanos(400);
            if short {
                run_policy(&Short(&scheduler, count), states, &demand, end, faults)
            } else {
                run_policy(&scheduler, states, &demand, end, faults)
            }
        };
        let (short, long) = (go(true), go(false));
        prop_assert_eq!(short.len(), long.len());
        for (short, long) in short.iter().zip(&long) {
            prop_assert_eq!((short.core, short.now, short.event), (long.core, long.now, long.event));
            prop_assert_eq!((&short.decision, &short.records), (&long.decision, &long.records));
        }
        Ok(())
    });
    compared.unwrap_or_else(|failed| panic!("{failed}"));
    // Nearly all timer expiries are of that kind; a system may have none.
    println!("{} short ways", count.load(Relaxed));
    assert!(count.load(Relaxed) > 1_000);
}

/// The set-up with tasks that arrivals release; every second without servers, and of these every second with preemption thresholds.
fn with_arrivals(mut setup: PolicyConfig, chance: &mut Chance) -> PolicyConfig {
    let PolicySpec::Servers(mut tree) = setup.kind else { panic!("{setup:?}") };
    let releases = setup.tasks.iter().map(|task| {
        let early = EarlyArrival::ALL[chance.below(3) as usize];
        let part = |of: u64| Duration::from_nanos(task.period.as_nanos() / of);
        match chance.below(4) {
            0 => Release::Periodic,
            1 => Release::Bursts(early, Burst { jitter: part(1), distance: part(3) }),
            _ => Release::Sporadic(early),
        }
    });
    tree.releases = releases.collect();
    for (place, release) in tree.places.iter_mut().zip(&tree.releases) {
        if *release != Release::Periodic && place.overrun == Overrun::Stop {
            place.overrun = Overrun::Continue;
        }
    }
    if chance.below(2) == 0 {
        return PolicyConfig { kind: PolicySpec::Servers(tree), ..setup };
    }
    tree.servers.truncate(1);
    tree.servers[0].queues = (0..setup.cores).map(|core| CoreSet::from_bits(1 << core)).collect();
    tree.places.iter_mut().for_each(|place| place.server = 0);
    for task in &mut setup.tasks {
        task.core = task.core.or(Some(CoreId(0)));
    }
    if chance.below(2) == 0 {
        return PolicyConfig { kind: PolicySpec::Servers(tree), ..setup };
    }
    tree.servers[0].order = TaskOrder::FixedPriority;
    let thresholds = tree.places.iter().map(|it| (chance.below(2) == 0).then(|| it.priority + chance.below(3) as u32));
    let all = ResourceTree { thresholds: thresholds.collect(), tree, resources: Vec::new(), events: Vec::new() };
    PolicyConfig { kind: PolicySpec::Resources(all), ..setup }
}

static ARRIVED: AtomicUsize = AtomicUsize::new(0);

#[test]
fn an_arrival_the_short_way_is_one_the_long_way() {
    let config = ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() };
    let compared = TestRunner::new(config).run(&(trees(12), any::<u64>()), |(setup, seed)| {
        let mut chance = Chance::of(seed);
        let setup = with_arrivals(setup, &mut chance);
        let make = || Scheduler::new(&setup).unwrap_or_else(|error| panic!("{setup:?}: {error}"));
        let ((long, mut of_long), (short, mut of_short)) = (make(), make());
        let mut runs = vec![false; setup.cores];
        let mut now = Instant::ZERO;
        for step in 0..300 {
            let core = match step < setup.cores {
                true => step,
                false => chance.below(setup.cores as u64) as usize,
            };
            now += Duration::from_nanos(chance.below(4));
            let event = match chance.below(6) {
                _ if step < setup.cores => Event::Start,
                0 | 1 if runs[core] => Event::Complete,
                2 => Event::Timer,
                _ => Event::Arrival,
            };
            let (mut by_long, mut by_short) = (Kept::default(), Kept::default());
            let arrival = (event == Event::Arrival).then(|| {
                let early = Duration::from_nanos(chance.below(3));
                let at = Instant::from_nanos(now.as_nanos().saturating_sub(early.as_nanos()));
                (TaskId(chance.below(setup.tasks.len() as u64) as u16), at)
            });
            if let Some((task, at)) = arrival {
                long.input(&mut of_long[core], Input::Arrival { task, at });
            }
            let expected = long.handle(&mut of_long[core], now, event, &mut by_long);
            let arrived =
                arrival.and_then(|arrival| arrive(&short, &mut of_short[core], (now, arrival), &mut by_short));
            let decision = match arrived {
                Some(decision) => {
                    prop_assert!(by_short.0.len() <= MOST_RECORDS);
                    ARRIVED.fetch_add(1, Relaxed);
                    decision
                }
                None => {
                    prop_assert!(by_short.0.is_empty());
                    if let Some((task, at)) = arrival {
                        short.input(&mut of_short[core], Input::Arrival { task, at });
                    }
                    short.handle(&mut of_short[core], now, event, &mut by_short)
                }
            };
            prop_assert_eq!((expected, by_long.0), (decision, by_short.0), "step {}, {:?}", step, arrival);
            runs[core] = decision.run.is_some();
        }
        Ok(())
    });
    compared.unwrap_or_else(|failed| panic!("{failed}"));
    assert!(ARRIVED.load(Relaxed) > 1000, "{ARRIVED:?}");
    assert!(FIRST.iter().all(|count| count.load(Relaxed) > 100), "{FIRST:?}");
}

/// One core without servers: tasks that time releases beside others that arrivals do, in an order that does not change while a job waits.
fn all_in_one() -> impl Strategy<Value = (PolicyConfig, u64)> {
    let task = (any::<bool>(), 4u64..12, 20u64..200, 0u32..4, 0usize..3);
    let order = prop::sample::select(vec![
        TaskOrder::FixedPriority,
        TaskOrder::EarliestDeadline,
        TaskOrder::RateMonotonic,
        TaskOrder::DeadlineMonotonic,
        TaskOrder::FirstComeFirstServed,
    ]);
    (order, prop::collection::vec(task, 2..9), any::<u64>()).prop_map(|(order, drawn, seed)| {
        let ns = Duration::from_nanos;
        let root = Server {
            parent: 0,
            cores: CoreSet::first(1),
            order,
            queues: vec![CoreSet::first(1)],
            quantum: ns(1),
            supply: None,
            priority: 0,
            background: false,
        };
        let tasks = drawn.iter().map(|(_, offset, period, ..)| Task {
            level: Level::A,
            core: Some(CoreId(0)),
            offset: ns(*offset),
            period: ns(*period),
            deadline: ns(*period),
            budget: ns(2),
        });
        let overruns = [Overrun::Continue, Overrun::Skip, Overrun::Kill];
        let places = drawn.iter().map(|it| TaskPlacement { server: 0, priority: it.3, overrun: overruns[it.4] });
        let releases = drawn.iter().map(|it| match it.0 {
            true => Release::Sporadic(EarlyArrival::Delay),
            false => Release::Periodic,
        });
        let (places, releases) = (places.collect(), releases.collect());
        let tree = Tree { servers: vec![root], places, releases, waits: Vec::new(), line: Duration::ZERO, seed: 0 };
        (PolicyConfig { cores: 1, kind: PolicySpec::Servers(tree), tasks: tasks.collect() }, seed)
    })
}

/// What arrives when it may, for a task that has no job, before the core's timer expires, needs no more than the short way: it must be
/// taken each time.
#[test]
fn the_short_way_is_taken_by_every_arrival_with_which_nothing_else_is_due() {
    let arrived = std::cell::Cell::new(0);
    let config = ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() };
    let all = TestRunner::new(config).run(&all_in_one(), |(setup, seed)| {
        let PolicySpec::Servers(tree) = &setup.kind else { panic!("{setup:?}") };
        let mut chance = Chance::of(seed);
        let (policy, mut cores) = Scheduler::new(&setup).expect("the set-up is good");
        let (mut now, mut may) = (Instant::ZERO, vec![Instant::ZERO; setup.tasks.len()]);
        let mut unfinished = vec![0; setup.tasks.len()];
        let mut kept = Kept::default();
        let mut decision = policy.handle(&mut cores[0], now, Event::Start, &mut kept);
        for _ in 0..400 {
            now = decision.timer.min(now + Duration::from_nanos(1 + chance.below(5)));
            let task = chance.below(setup.tasks.len() as u64) as usize;
            let sporadic = tree.releases[task] != Release::Periodic;
            decision = match decision.run {
                _ if now == decision.timer => policy.handle(&mut cores[0], now, Event::Timer, &mut kept),
                _ if sporadic && unfinished[task] == 0 && may[task] <= now => {
                    may[task] = now + setup.tasks[task].period;
                    let short = arrive(&policy, &mut cores[0], (now, (TaskId(task as u16), now)), &mut kept);
                    prop_assert!(short.is_some(), "{task} at {now:?}, {decision:?}");
                    arrived.set(arrived.get() + 1);
                    short.unwrap_or(decision)
                }
                Some(_) => policy.handle(&mut cores[0], now, Event::Complete, &mut kept),
                None => decision,
            };
            for record in kept.0.drain(..) {
                let change = match record.kind {
                    EventKind::Release => 1,
                    EventKind::Complete | EventKind::Dropped => -1,
                    _ => continue,
                };
                unfinished[record.task.expect("it is a job's").index()] += change;
            }
        }
        Ok(())
    });
    all.unwrap_or_else(|failed| panic!("{failed}"));
    assert!(arrived.get() > 1_000, "{arrived:?}");
}

/// Partitions whose windows follow each other, each with a job that never ends: at the end of each window another one begins and nothing else
/// is due, but for the releases at the start.
#[test]
fn the_short_way_is_taken_at_the_ends_of_windows_with_which_nothing_else_is_due() {
    let ns = Duration::from_nanos;
    for count in [2, 3, 7, 16, 17, 40] {
        let core = CoreSet::first(1);
        let root = Server {
            parent: 0,
            cores: core,
            order: TaskOrder::FixedPriority,
            queues: vec![core],
            quantum: ns(1),
            supply: None,
            priority: 0,
            background: false,
        };
        let frame = ns(10 * count);
        let supply = Some(Supply { kind: ServerKind::Windows, budget: frame, period: frame, write_backs: None });
        let partitions = (0..count).map(|_| Server { supply, ..root.clone() });
        let window = |n| vec![Window { core: CoreId(0), start: ns(10 * n), length: ns(10), schedule: 0 }];
        let task = Task {
            level: Level::A,
            core: Some(CoreId(0)),
            offset: Duration::ZERO,
            period: ns(1_000_000),
            deadline: ns(1_000_000),
            budget: ns(1_000_000),
        };
        let place = |n| TaskPlacement { server: 1 + n as u16, priority: 0, overrun: Overrun::Continue };
        let tree = Tree {
            servers: [root.clone()].into_iter().chain(partitions).collect(),
            places: (0..count).map(place).collect(),
            releases: Vec::new(),
            waits: Vec::new(),
            line: Duration::ZERO,
            seed: 0,
        };
        let windows = [Vec::new()].into_iter().chain((0..count).map(window)).collect();
        let kind = PolicySpec::Partitions(Partitions { tree, frame, windows, switches: Vec::new() });
        let setup = PolicyConfig { cores: 1, kind, tasks: vec![task; count as usize] };
        let make = || Scheduler::new(&setup).expect("the set-up is good");
        let ((policy, mut cores), (long, mut of_long)) = (make(), make());
        let mut decision = policy.handle(&mut cores[0], Instant::ZERO, Event::Start, &mut Kept::default());
        assert_eq!(decision, long.handle(&mut of_long[0], Instant::ZERO, Event::Start, &mut Kept::default()));
        for n in 1..=1_000 {
            let now = decision.timer;
            assert_eq!(now.as_nanos(), 10 * n, "{count}");
            let (mut kept, mut by_long) = (Kept::default(), Kept::default());
            // Now and then the long way, which finds all as it should be.
            let short = (n % 53 != 0).then(|| policy.expire(&mut cores[0], now, &mut kept).expect("the short way"));
            decision = short.unwrap_or_else(|| policy.handle(&mut cores[0], now, Event::Timer, &mut kept));
            assert_eq!(decision, long.handle(&mut of_long[0], now, Event::Timer, &mut by_long), "{count}, {n}");
            assert_eq!(kept.0, by_long.0, "{count}, {n}");
        }
    }
}

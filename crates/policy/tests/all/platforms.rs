//! Statements of bounded-delay multipartition (JUNIPER D3.6) on the servers that run: how much service a platform gets in any window,
//! where its threads run, what a platform gone rogue does to the others, and the deadlines of the bandwidth server.

use crate::common::{each_nanosecond, run, Entry};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::cell::Cell;
use tactus_policy::{
    Budget, Overrun, PolicyConfig, PolicySpec, Server, ServerKind, Supply, Task, TaskOrder, TaskPlacement, Tree,
};
use tactus_time::{CoreId, CoreSet, Duration, Instant, Level, TaskId};

fn ns(n: u64) -> Duration {
    Duration::from_nanos(n)
}
fn at(n: u64) -> Instant {
    Instant::from_nanos(n)
}

/// The end of runs.
const END: u64 = 240;

/// A platform on some of the cores: a virtual processor of `budget` in `period` on each, and what is inside: `busy` threads that
/// always have something to do from `first` on, the most urgent ones if there are others, which release jobs now and then.
#[derive(Clone, Debug)]
struct Platform {
    cores: u8,
    budget: u64,
    period: u64,
    first: u64,
    busy: u8,
    others: Vec<(u64, u64, u64)>,
}

fn platform() -> impl Strategy<Value = Platform> {
    let others = prop::collection::vec((0u64..60, 20u64..80, 1u64..20), 0..3);
    (1u8..16, 1u64..30, 4u64..40, 0u64..80, 0u8..5, others).prop_map(|(cores, budget, period, first, busy, others)| {
        Platform { cores, budget, period, first, busy, others }
    })
}

/// Some platforms on `cores` cores, and a plain task by its deadline on each core; no core has more than it can give.
fn fitting(cores: u8, mut platforms: Vec<Platform>) -> (u8, Vec<Platform>) {
    let mut room = vec![1.0; usize::from(cores)];
    for it in &mut platforms {
        it.cores &= (1 << cores) - 1;
        if it.cores == 0 {
            it.cores = 1;
        }
        let own = || (0..usize::from(cores)).filter(|core| it.cores >> core & 1 == 1);
        let least = own().map(|core| room[core]).fold(1.0, f64::min);
        it.budget = it.budget.min(it.period).min((least * it.period as f64 + 1e-9) as u64);
        let share = it.budget as f64 / it.period as f64;
        let own: Vec<usize> = own().collect();
        own.into_iter().for_each(|core| room[core] -= share);
    }
    platforms.retain(|it| it.budget > 0);
    (cores, platforms)
}

fn systems() -> impl Strategy<Value = (u8, Vec<Platform>)> {
    (1u8..=4, prop::collection::vec(platform(), 1..5)).prop_map(|(cores, platforms)| fitting(cores, platforms))
}

/// A root by deadlines, a hard constant-bandwidth server for each platform, global fixed priorities inside. Tasks of a platform stand
/// next to each other, busy ones first.
fn setup((cores, platforms): &(u8, Vec<Platform>)) -> PolicyConfig {
    let cores = usize::from(*cores);
    let each = |set: CoreSet| set.iter().map(|core| CoreSet::from_bits(1 << core.0)).collect();
    let root = Server {
        parent: 0,
        cores: CoreSet::first(cores),
        order: TaskOrder::EarliestDeadline,
        queues: each(CoreSet::first(cores)),
        quantum: ns(1),
        supply: None,
        priority: 0,
        background: false,
    };
    let (mut servers, mut places, mut tasks) = (vec![root.clone()], Vec::new(), Vec::new());
    for it in platforms {
        let server = servers.len() as u16;
        let own = CoreSet::from_bits(it.cores);
        let supply = Some(Supply {
            kind: ServerKind::HardBandwidth,
            budget: ns(it.budget),
            period: ns(it.period),
            write_backs: None,
        });
        servers.push(Server { cores: own, order: TaskOrder::FixedPriority, queues: vec![own], supply, ..root.clone() });
        let busy = (0..it.busy).map(|_| (it.first, 10 * END, 10 * END));
        for (n, (offset, period, long)) in busy.chain(it.others.iter().copied()).enumerate() {
            places.push(TaskPlacement { server, priority: 100 - n as u32, overrun: Overrun::Continue });
            let (period, budget) = (ns(period), ns(long.min(period)));
            tasks.push(Task { level: Level::A, core: None, offset: ns(offset), period, deadline: period, budget });
        }
    }
    PolicyConfig {
        cores,
        kind: PolicySpec::Servers(Tree {
            servers,
            places,
            releases: Vec::new(),
            waits: Vec::new(),
            line: Duration::ZERO,
            seed: 0,
        }),
        tasks,
    }
}

fn runs(system: &(u8, Vec<Platform>)) -> Vec<Entry> {
    let setup = setup(system);
    let demand = |task: TaskId, job: u32| {
        let most = setup.tasks[task.index()].budget.as_nanos();
        ns(if most == 10 * END { most } else { 1 + (u64::from(job) * 5 + most) % most })
    };
    run(&setup, &demand, at(END))
}

/// The number of the first task of each platform, and one more.
fn firsts(platforms: &[Platform]) -> Vec<u16> {
    let count = |it: &Platform| u16::from(it.busy) + it.others.len() as u16;
    platforms.iter().fold(vec![0], |mut all, it| {
        all.push(all[all.len() - 1] + count(it));
        all
    })
}

/// Service of `k` busy threads in every window is at least k·α·(t - Δ). How long the longest window without service was beside Δ, in
/// thousandths.
fn service_is_enough(system: &(u8, Vec<Platform>)) -> u64 {
    let line = each_nanosecond(&runs(system), END);
    let mut longest = 0;
    for (it, first) in system.1.iter().zip(firsts(&system.1)) {
        let k = u64::from(it.busy).min(u64::from(it.cores.count_ones()));
        if k == 0 {
            continue;
        }
        let (q, p) = (it.budget, it.period);
        let delay = 2 * (p - q);
        // P times the service less k·Q times the time, which never falls by more than k·Q·Δ.
        let (mut f, mut highest, mut without) = (0i64, 0i64, 0);
        for (now, running) in line.iter().enumerate().skip(it.first as usize) {
            let had = running.range((first, 0)..(first + u16::from(it.busy), 0)).count() as u64;
            f += (p * had) as i64 - (k * q) as i64;
            highest = highest.max(f);
            assert!(
                highest - f <= (k * q * delay) as i64,
                "platform {it:?} has too little up to {now}: {} of {system:?}",
                highest - f
            );
            without = if had == 0 { without + 1 } else { 0 };
            assert!(without <= delay, "platform {it:?} is starved for {without} up to {now} of {system:?}");
            longest = longest.max((without * 1_000).checked_div(delay).unwrap_or(0));
        }
    }
    longest
}

#[test]
fn ten_thousand_systems_of_platforms_give_k_busy_threads_their_service_in_every_window_and_the_longest_delay_comes() {
    let (longest, platforms) = (Cell::new(0), Cell::new(0));
    let config = Config { cases: 10_000, failure_persistence: None, ..Config::default() };
    let look = |system: (u8, Vec<Platform>)| {
        longest.set(longest.get().max(service_is_enough(&system)));
        platforms.set(platforms.get() + system.1.len());
        Ok(())
    };
    TestRunner::new(config).run(&systems(), look).expect("each has its service");
    println!("{} platforms, longest starvation {} thousandths of 2(P - Q)", platforms.get(), longest.get());
    assert!(platforms.get() > 10_000, "{} platforms", platforms.get());
    assert_eq!(longest.get(), 1_000, "the bound is tight: somebody waits for 2(P - Q)");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// A virtual processor is bound to its core, so that a thread is on one of its platform's cores, wherever it moves.
    #[test]
    fn no_thread_ever_runs_outside_its_platform(system in systems()) {
        let entries = runs(&system);
        let firsts = firsts(&system.1);
        for entry in &entries {
            for (core, running) in entry.running.iter().enumerate() {
                let Some((task, _)) = running else { continue };
                let platform = firsts.partition_point(|first| *first <= task.0) - 1;
                prop_assert!(system.1[platform].cores >> core & 1 == 1, "task {} on core {} at {}", task.0, core, entry.now);
            }
        }
    }

    /// A platform whose most urgent threads loop for ever: nobody else's schedule depends on how it loops, in one thread for each core or in
    /// more, with jobs beside or without.
    #[test]
    fn how_a_platform_goes_rogue_moves_no_others_schedule_by_a_nanosecond(
        system in systems(), more in 0u8..4, jobs in prop::collection::vec((0u64..60, 20u64..80, 1u64..20), 0..3),
    ) {
        let (cores, mut platforms) = system;
        let all = platforms[0].cores.count_ones() as u8;
        (platforms[0].first, platforms[0].busy, platforms[0].others) = (0, all, Vec::new());
        let before = (cores, platforms.clone());
        (platforms[0].busy, platforms[0].others) = (all + more, jobs);
        let after = (cores, platforms);
        let others = |system: &(u8, Vec<Platform>)| -> Vec<Vec<(u16, u32)>> {
            let first = firsts(&system.1)[1];
            let line = each_nanosecond(&runs(system), END);
            line.iter().map(|now| now.iter().filter(|it| it.0 >= first).map(|it| (it.0 - first, it.1)).collect()).collect()
        };
        prop_assert_eq!(others(&before), others(&after));
    }
}

/// The rules of the constant-bandwidth server in the form of Lipari and Baruah (2000): a virtual time that runs P / Q times as fast as
/// the server does, and a deadline that is a period on whenever the virtual time reaches it. Times are multiplied by Q.
struct Virtual {
    q: u64,
    p: u64,
    time: u64,
    deadline: u64,
    throttled: bool,
}

impl Virtual {
    fn wake(&mut self, now: u64) {
        if !self.throttled && (self.time < now * self.q || self.deadline <= now * self.q) {
            (self.time, self.deadline) = (now * self.q, (now + self.p) * self.q);
        }
    }
    fn run(&mut self, now: u64, hard: bool) {
        self.time += self.p;
        if self.time == self.deadline {
            match hard && now * self.q < self.deadline {
                true => self.throttled = true,
                false => self.renew(now),
            }
        }
    }
    fn renew(&mut self, now: u64) {
        self.throttled = false;
        self.deadline += self.p * self.q;
        if self.deadline <= now * self.q {
            (self.time, self.deadline) = (now * self.q, (now + self.p) * self.q);
        }
    }
    fn look(&mut self, now: u64) {
        if self.throttled && self.deadline <= now * self.q {
            self.renew(now);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Work comes, goes, runs and waits for others in any order: deadline and remaining budget are those of the virtual time.
    #[test]
    fn deadlines_of_bandwidth_servers_are_those_of_their_virtual_time(
        hard in any::<bool>(), budget in 1u64..12, longer in 0u64..24,
        steps in prop::collection::vec((0u8..6, 1u64..12), 1..200),
    ) {
        let kind = if hard { ServerKind::HardBandwidth } else { ServerKind::SoftBandwidth };
        let (q, p) = (budget, budget + longer);
        let mut real = Budget::new(&Supply { kind, budget: ns(q), period: ns(p), write_backs: None });
        let mut oracle = Virtual { q, p, time: 0, deadline: p * q, throttled: false };
        let (mut now, mut awake) = (0, false);
        for (what, length) in steps {
            match what {
                0 => {
                    awake = !awake;
                    if awake {
                        real.wake(at(now));
                        oracle.wake(now);
                    } else {
                        real.block(at(now));
                    }
                }
                1..=3 if awake => for _ in 0..length {
                    if real.eligible(at(now)) {
                        now += 1;
                        real.charge(at(now), ns(1));
                        oracle.run(now, hard);
                    } else {
                        now += 1;
                    }
                    real.refresh(at(now));
                    oracle.look(now);
                },
                _ => for _ in 0..length {
                    now += 1;
                    real.refresh(at(now));
                    oracle.look(now);
                },
            }
            prop_assert_eq!(real.deadline().as_nanos() * q, oracle.deadline, "at {}", now);
            let left = if oracle.throttled { 0 } else { oracle.deadline - oracle.time };
            prop_assert_eq!(real.left(at(now)).as_nanos() * p, left, "at {}", now);
        }
    }

    /// Whoever runs has the earliest deadline of those with budget and work: servers by their virtual times, tasks by their releases.
    #[test]
    fn servers_and_threads_of_the_deadline_class_are_chosen_strictly_by_deadline(
        servers in prop::collection::vec((any::<bool>(), 1u64..12, 0u64..24), 1..4),
        tasks in prop::collection::vec((0usize..4, 0u64..20, 8u64..50, 1u64..9), 1..6),
    ) {
        let one = CoreSet::first(1);
        let root = Server {
            parent: 0,
            cores: one,
            order: TaskOrder::EarliestDeadline,
            queues: vec![one],
            quantum: ns(1),
            supply: None,
            priority: 0,
            background: false,
        };
        let server = |(hard, budget, longer): &(bool, u64, u64)| {
            let kind = if *hard { ServerKind::HardBandwidth } else { ServerKind::SoftBandwidth };
            Server { supply: Some(Supply { kind, budget: ns(*budget), period: ns(budget + longer), write_backs: None }), ..root.clone() }
        };
        let place = |it: &(usize, u64, u64, u64)| {
            TaskPlacement { server: (it.0 % (servers.len() + 1)) as u16, priority: 0, overrun: Overrun::Continue }
        };
        let task = |it: &(usize, u64, u64, u64)| {
            let (period, budget) = (ns(it.2), ns(it.3));
            Task { level: Level::A, core: Some(CoreId(0)), offset: ns(it.1), period, deadline: period, budget }
        };
        let tree = Tree {
            releases: Vec::new(),
            waits: Vec::new(),
            seed: 0,
            line: Duration::ZERO,
            servers: std::iter::once(root.clone()).chain(servers.iter().map(server)).collect(),
            places: tasks.iter().map(place).collect(),
        };
        let setup = PolicyConfig { cores: 1, kind: PolicySpec::Servers(tree.clone()), tasks: tasks.iter().map(task).collect() };
        let demand = |task: TaskId, job: u32| ns(1 + (u64::from(job) * 7 + u64::from(task.0)) % 9);
        let line = each_nanosecond(&run(&setup, &demand, at(END)), END);
        let mut oracles: Vec<(Virtual, bool, bool)> = servers.iter().map(|(hard, budget, longer)| {
            let (q, p) = (*budget, budget + longer);
            (Virtual { q, p, time: 0, deadline: p * q, throttled: false }, *hard, false)
        }).collect();
        // Of each task: the job that is under way, and what of it has run.
        let mut jobs = vec![(0u32, 0u64); tasks.len()];
        for now in 0..END {
            let pending = |n: usize| tasks[n].1 + tasks[n].2 * u64::from(jobs[n].0) <= now;
            for (k, (oracle, _, awake)) in oracles.iter_mut().enumerate() {
                oracle.look(now);
                let work = (0..tasks.len()).any(|n| tree.places[n].server == k as u16 + 1 && pending(n));
                if work && !*awake {
                    oracle.wake(now);
                }
                *awake = work;
            }
            let plain = (0..tasks.len()).filter(|n| tree.places[*n].server == 0 && pending(*n));
            let of_task = |n: usize| tasks[n].1 + tasks[n].2 * u64::from(jobs[n].0 + 1);
            let ready = oracles.iter().filter(|(oracle, _, awake)| *awake && !oracle.throttled);
            let least = plain.map(of_task).chain(ready.map(|it| it.0.deadline / it.0.q)).min();
            let running = line[now as usize].first().copied();
            let its = running.map(|(task, _)| match usize::from(tree.places[usize::from(task)].server) {
                0 => of_task(task.into()),
                server => oracles[server - 1].0.deadline / oracles[server - 1].0.q,
            });
            prop_assert_eq!(its, least, "at {}", now);
            let Some((task, job)) = running else { continue };
            let n = usize::from(task);
            jobs[n].1 += 1;
            if ns(jobs[n].1) == demand(TaskId(task), job) {
                jobs[n] = (job + 1, 0);
            }
            if let Some((oracle, hard, awake)) = usize::from(tree.places[n].server).checked_sub(1).map(|k| &mut oracles[k]) {
                oracle.run(now + 1, *hard);
                // Who ends its last job in the instant in which the next one comes had none in between.
                let before = |n: usize| tasks[n].1 + tasks[n].2 * u64::from(jobs[n].0) <= now;
                *awake = (0..tasks.len()).any(|k| tree.places[k].server == tree.places[n].server && before(k));
            }
        }
    }
}

//! Statements of Quest-V (West, Li and Missimer, OSPERT 2012) on the budgets and the trees that run: what comes back when, what a
//! bandwidth-preserving server can take, what admitted VCPUs get, what background service costs, what the timer is set for.

use crate::common::{each_nanosecond, run, Entry};
use proptest::prelude::*;
use std::collections::BTreeSet;
use tactus_policy::{
    Budget, Event, Overrun, PolicyConfig, PolicySpec, Server, ServerKind, Supply, Task, TaskOrder, TaskPlacement, Tree,
};
use tactus_record::EventKind;
use tactus_time::{CoreId, CoreSet, Duration, Instant, Level, TaskId};

fn ns(n: u64) -> Duration {
    Duration::from_nanos(n)
}
fn at(n: u64) -> Instant {
    Instant::from_nanos(n)
}
fn budget(kind: ServerKind, budget: u64, period: u64) -> Budget {
    Budget::new(&Supply { kind, budget: ns(budget), period: ns(period), write_backs: None })
}

/// What happens in a step of one server: its work comes or goes, or a nanosecond passes in which it runs if it may, or does not
/// because others have the core.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    Toggle,
    Run,
    Wait,
}

/// A sporadic server beside two keepers of books that know nothing of chunks.
#[derive(Clone)]
struct Sporadic {
    real: Budget,
    full: u64,
    period: u64,
    now: u64,
    awake: bool,
    /// Of each nanosecond of the budget, from when on it may be used.
    units: Vec<u64>,
    /// Of each nanosecond that was used, when its phase began: since then there was work and budget.
    used: Vec<u64>,
    phase: Option<u64>,
}

impl Sporadic {
    fn new(full: u64, period: u64) -> Sporadic {
        let real = budget(ServerKind::Sporadic, full, period);
        let units = vec![0; full as usize];
        Sporadic { real, full, period, now: 0, awake: false, units, used: Vec::new(), phase: None }
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Toggle if self.awake => self.real.block(at(self.now)),
            Step::Toggle => {
                self.real.wake(at(self.now));
                // A phase begins now for each unit that is there, or comes before those before it are used up.
                for n in 0..self.units.len() {
                    if self.units[n] <= self.now + n as u64 {
                        self.units[n] = self.now;
                    } else {
                        break;
                    }
                }
            }
            Step::Run if self.awake && self.real.eligible(at(self.now)) => {
                let unit = self.units.remove(0);
                assert!(unit <= self.now, "it may run at {}, and nothing is there before {unit}", self.now);
                self.units.push(unit + self.period);
                self.units.sort_unstable();
                let phase = self.phase.expect("there is work and budget");
                self.used.push(phase);
                // Nothing whose phase began less than a period ago can have come back.
                let out = self.used.iter().filter(|begun| **begun + self.period > self.now).count() as u64;
                assert!(out <= self.full, "{out} used at {} in phases of the last {}", self.now, self.period);
                self.now += 1;
                self.real.charge(at(self.now), ns(1));
            }
            Step::Run | Step::Wait => self.now += 1,
        }
        self.awake ^= step == Step::Toggle;
        self.real.refresh(at(self.now));
        let eligible = self.real.eligible(at(self.now));
        assert_eq!(eligible, self.units[0] <= self.now, "at {}, of {:?}", self.now, self.units);
        self.phase = (self.awake && eligible).then(|| self.phase.unwrap_or(self.now));
    }
}

/// All sequences of this number of steps.
fn all_steps(server: &Sporadic, steps: u32, count: &mut u64) {
    *count += 1;
    if steps == 0 {
        return;
    }
    for step in [Step::Toggle, Step::Run, Step::Wait] {
        let mut next = server.clone();
        next.step(step);
        all_steps(&next, steps - 1, count);
    }
}

#[test]
fn nothing_comes_back_before_its_phase_and_a_period_in_any_sequence_of_eleven_steps() {
    let mut count = 0;
    for (full, period) in [(1, 2), (1, 3), (2, 3), (2, 4), (3, 4), (3, 5)] {
        all_steps(&Sporadic::new(full, period), 11, &mut count);
    }
    assert!(count > 1_000_000, "{count}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_comes_back_before_its_phase_and_a_period_in_long_random_sequences(
        full in 1u64..=20, longer in 0u64..40,
        steps in prop::collection::vec(prop_oneof![1 => Just(Step::Toggle), 6 => Just(Step::Run), 3 => Just(Step::Wait)], 1..600),
    ) {
        let mut server = Sporadic::new(full, full + longer);
        steps.into_iter().for_each(|step| server.step(step));
    }
}

/// A bandwidth-preserving server that has the core whenever it may and has work: `work` says of each nanosecond whether it has.
/// The most that it used in a window of its period that opens with a first dispatch.
fn most_in_a_window(full: u64, period: u64, work: &[bool]) -> u64 {
    let mut server = budget(ServerKind::PriorityInheriting, full, period);
    let (mut awake, mut begun) = (false, None);
    let (mut ran, mut starts) = (vec![0; work.len()], Vec::new());
    for (now, &wanted) in work.iter().enumerate() {
        let time = at(now as u64);
        match (awake, wanted) {
            (false, true) => server.wake(time),
            (true, false) => server.block(time),
            _ => {}
        }
        awake = wanted;
        server.refresh(time);
        if !awake || !server.eligible(time) {
            begun = None;
            continue;
        }
        if begun.is_none() {
            begun = Some(now);
            starts.push(now);
        }
        ran[now] = 1;
        if server.charge(at(now as u64 + 1), ns(1)) {
            begun = None;
        }
    }
    let window = |start: &usize| ran[*start..work.len().min(start + period as usize)].iter().sum();
    starts.iter().map(window).max().unwrap_or(0)
}

/// (2 - U)·U·T for U·T = `full`, rounded down: what is used is whole nanoseconds.
fn most_allowed(full: u64, period: u64) -> u64 {
    (2 * full * period - full * full) / period
}

#[test]
fn a_bandwidth_preserving_server_uses_at_most_2_minus_u_times_u_t_whatever_is_asked_and_reaches_it() {
    for period in 2..=7u64 {
        for full in 1..period {
            let length = 2 * period as usize;
            let most = (0..1u32 << length).map(|bits| {
                let work: Vec<bool> = (0..length).map(|n| bits >> n & 1 == 1).collect();
                most_in_a_window(full, period, &work)
            });
            let (most, allowed) = (most.max().unwrap_or(0), most_allowed(full, period));
            assert!(most <= allowed, "{full} of {period}: {most} of {allowed}");
            // Where a part of the budget comes back at a whole nanosecond, the bound is met.
            if (full * (period - full)) % period == 0 {
                assert_eq!(most, allowed, "{full} of {period}");
            }
        }
    }
    // The published share: 4 % may take 0.0784 of a period.
    let mut work = vec![false; 200];
    (0..200).for_each(|now| work[now] = !(96..100).contains(&now));
    assert_eq!(most_allowed(4, 100), 7);
    assert!(most_in_a_window(4, 100, &work) <= 7);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_bandwidth_preserving_server_uses_at_most_2_minus_u_times_u_t_under_random_requests(
        full in 1u64..30, longer in 1u64..100, spans in prop::collection::vec((0usize..40, 0usize..60), 1..20),
    ) {
        let work: Vec<bool> = spans.iter().flat_map(|(on, off)| [vec![true; *on], vec![false; *off]].concat()).collect();
        let most = most_in_a_window(full, full + longer, &work);
        prop_assert!(most <= most_allowed(full, full + longer), "{} of {}", most, most_allowed(full, full + longer));
    }
}

/// A VCPU: budget, period, whether it is for I/O, and what its thread does: always something, or jobs of random length.
#[derive(Clone, Debug)]
struct Vcpu {
    budget: u64,
    period: u64,
    io: bool,
    busy: bool,
    first: u64,
    every: u64,
    long: u64,
}

/// The end of runs.
const END: u64 = 400;

fn vcpu() -> impl Strategy<Value = Vcpu> {
    (1u64..30, 10u64..60, 0u8..3, any::<bool>(), 0u64..50, 5u64..80, 1u64..60).prop_map(
        |(budget, period, io, busy, first, every, long)| Vcpu {
            budget: budget.min(period),
            period,
            io: io == 0,
            busy,
            first,
            every,
            long,
        },
    )
}

/// Shrinks the last budgets until all fit the bound of Danish, Li and West: what remains is as near to it as whole nanoseconds let
/// it be.
fn admitted(mut vcpus: Vec<Vcpu>) -> Vec<Vcpu> {
    let fits = |vcpus: &[Vcpu]| {
        let n = vcpus.iter().filter(|it| !it.io).count() as f64;
        let load: f64 = vcpus
            .iter()
            .map(|it| {
                let share = it.budget as f64 / it.period as f64;
                if it.io {
                    (2.0 - share) * share
                } else {
                    share
                }
            })
            .sum();
        n > 0.0 && load <= n * (2f64.powf(1.0 / n) - 1.0)
    };
    vcpus[0].io = false;
    // An I/O VCPU has the period of a main one, for which it works.
    let periods: Vec<u64> = vcpus.iter().filter(|it| !it.io).map(|it| it.period).collect();
    for (n, it) in vcpus.iter_mut().enumerate().filter(|(_, it)| it.io) {
        it.period = periods[n % periods.len()];
        it.budget = it.budget.min(it.period / 3).max(1);
    }
    while !fits(&vcpus) {
        match vcpus.iter_mut().max_by_key(|it| it.budget).filter(|it| it.budget > 1) {
            Some(largest) => largest.budget -= 1,
            None => _ = vcpus.pop(),
        }
    }
    // Up to the bound again.
    for n in 0..vcpus.len() {
        loop {
            vcpus[n].budget += 1;
            if vcpus[n].budget > vcpus[n].period || !fits(&vcpus) {
                vcpus[n].budget -= 1;
                break;
            }
        }
    }
    vcpus
}

/// The real policy for VCPUs: a root by rates, a server with one task for each.
fn setup(vcpus: &[Vcpu], background: &dyn Fn(usize) -> bool) -> PolicyConfig {
    let one = CoreSet::first(1);
    let root = Server {
        parent: 0,
        cores: one,
        order: TaskOrder::RateMonotonic,
        queues: vec![one],
        quantum: ns(1),
        supply: None,
        priority: 0,
        background: false,
    };
    let server = |(n, it): (usize, &Vcpu)| {
        let kind = if it.io { ServerKind::PriorityInheriting } else { ServerKind::Sporadic };
        let supply = Some(Supply { kind, budget: ns(it.budget), period: ns(it.period), write_backs: None });
        Server { supply, order: TaskOrder::EarliestDeadline, background: background(n), ..root.clone() }
    };
    let task = |it: &Vcpu| {
        let (first, every, long) = if it.busy { (0, 10 * END, 10 * END) } else { (it.first, it.every, it.long) };
        let (period, budget) = (ns(every), ns(long.min(every)));
        Task { level: Level::A, core: Some(CoreId(0)), offset: ns(first), period, deadline: period, budget }
    };
    let place = |n: usize| TaskPlacement { server: n as u16 + 1, priority: 0, overrun: Overrun::Continue };
    let tree = Tree {
        releases: Vec::new(),
        waits: Vec::new(),
        line: Duration::ZERO,
        seed: 0,
        servers: std::iter::once(root.clone()).chain(vcpus.iter().enumerate().map(server)).collect(),
        places: (0..vcpus.len()).map(place).collect(),
    };
    PolicyConfig { cores: 1, kind: PolicySpec::Servers(tree), tasks: vcpus.iter().map(task).collect() }
}

fn runs(vcpus: &[Vcpu], background: &dyn Fn(usize) -> bool) -> (Vec<Entry>, Vec<BTreeSet<(u16, u32)>>) {
    let demand = |task: TaskId, job: u32| match vcpus[task.index()].busy {
        true => ns(10 * END),
        false => ns(1 + (u64::from(job) * 7 + vcpus[task.index()].long) % vcpus[task.index()].long),
    };
    let entries = run(&setup(vcpus, background), &demand, at(END));
    let line = each_nanosecond(&entries, END);
    (entries, line)
}

/// Every main VCPU that always has something to do has its budget in each of its periods, whatever the others ask for.
fn has_its_budget(vcpus: Vec<Vcpu>) {
    let vcpus = admitted(vcpus);
    let (_, line) = runs(&vcpus, &|_| false);
    for (n, it) in vcpus.iter().enumerate().filter(|(_, it)| it.busy && !it.io) {
        for k in 0..END / it.period {
            let within = &line[(k * it.period) as usize..((k + 1) * it.period) as usize];
            let had = within.iter().filter(|now| now.contains(&(n as u16, 0))).count() as u64;
            assert_eq!(had, it.budget, "VCPU {n} in its period {k} of {vcpus:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_main_vcpu_of_ten_thousand_admitted_sets_has_its_budget_in_each_period(
        vcpus in prop::collection::vec(vcpu(), 1..7),
    ) {
        has_its_budget(vcpus);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// VCPUs with a background that always have something to do: all others run as if there were no background, and so do they
    /// themselves as long as they have budget.
    #[test]
    fn background_service_delays_nobody_who_has_budget(vcpus in prop::collection::vec(vcpu(), 2..7), chosen in 0u8..64) {
        let vcpus = admitted(vcpus);
        let background = |n: usize| vcpus[n].busy && chosen >> n & 1 == 1;
        let (without, with) = (runs(&vcpus, &|_| false).1, runs(&vcpus, &background).1);
        for (now, (without, with)) in without.iter().zip(&with).enumerate() {
            match without.first() {
                Some(running) => prop_assert_eq!(with.first(), Some(running), "at {} of {:?}", now, vcpus),
                None => prop_assert!(with.iter().all(|it| background(it.0.into())), "at {} of {:?}", now, vcpus),
            }
        }
    }

    /// The timer is set for a release, the end of a budget or its return, and for nothing else: no tick. (Threads of main VCPUs always
    /// have something to do, so that no budget is in pieces, whose ends leave no record.)
    #[test]
    fn the_timer_expires_for_releases_budgets_and_replenishments_only(vcpus in prop::collection::vec(vcpu(), 1..7)) {
        let mut vcpus = admitted(vcpus);
        vcpus.iter_mut().for_each(|it| it.busy |= !it.io);
        prop_assume!(vcpus.iter().all(|it| it.budget < it.period));
        let (entries, _) = runs(&vcpus, &|_| false);
        let cause = |kind| matches!(kind, EventKind::Release | EventKind::ServerExhausted | EventKind::ServerReplenish);
        let mut expiries = 0;
        for entry in entries.iter().filter(|entry| entry.event == Event::Timer) {
            prop_assert!(entry.records.iter().any(|record| cause(record.kind)), "at {}: {:?}", entry.now, entry.records);
            expiries += 1;
        }
        let causes = entries.iter().flat_map(|entry| &entry.records).filter(|record| cause(record.kind)).count();
        prop_assert!(expiries <= causes, "{} expiries, {} causes", expiries, causes);
    }
}

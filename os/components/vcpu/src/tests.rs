use super::*;
use std::collections::BTreeMap;

const MS: u64 = 1_000_000;

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}
fn at(nanos: u64) -> Instant {
    Instant::from_nanos(nanos)
}

/// A core on which threads run, wait and wake up, and whose kernel tells what they used at each switch, or never.
struct Core {
    policy: Vcpus,
    now: u64,
    running: Option<Thread>,
    until: Instant,
    since: u64,
    untold: Vec<(Thread, u64)>,
    tells: bool,
    urgencies: BTreeMap<u16, u16>,
    used: BTreeMap<u16, u64>,
    line: Vec<(u64, u64, u16)>,
}

impl Core {
    fn new(tells: bool) -> Core {
        let (urgencies, used) = (BTreeMap::new(), BTreeMap::new());
        let policy = Vcpus::new();
        Core {
            policy,
            now: 0,
            running: None,
            until: at(0),
            since: 0,
            untold: Vec::new(),
            tells,
            urgencies,
            used,
            line: Vec::new(),
        }
    }
    /// The VCPUs of Figure 4: two main ones, and one for I/O.
    fn figure_4(&mut self) -> [usize; 3] {
        let [zero, one] = [(10, 40), (20, 50)].map(|(c, t)| self.policy.create(ms(c), ms(t), false, at(0)).unwrap());
        [zero, one, self.policy.create_io(40_000, false, at(0)).unwrap()]
    }
    fn thread(&mut self, thread: u16, vcpu: usize, requester: usize) {
        let parameters = Parameters::priority_of(requester as u16).in_server(vcpu as u8);
        let urgency = self.policy.thread_new(Thread(thread), parameters);
        self.urgencies.insert(thread, urgency.0);
    }
    fn wake(&mut self, thread: u16) {
        self.policy.thread_wakeup(Thread(thread));
    }
    fn block(&mut self, thread: u16) {
        self.policy.thread_block(Thread(thread));
    }
    fn decide(&mut self) {
        for (thread, used) in self.untold.drain(..) {
            self.policy.time_elapsed(thread, Cycles(used));
        }
        let urgencies = &mut self.urgencies;
        let (next, until) = self.policy.decide(at(self.now), &|cycles| cycles.0, &mut |thread, urgency| {
            urgencies.insert(thread.0, urgency.0);
        });
        self.until = until;
        if next != self.running {
            if let Some(before) = self.running.filter(|_| self.now > self.since) {
                if self.tells {
                    self.untold.push((before, self.now - self.since));
                }
                self.line.push((self.since / MS, self.now / MS, before.0));
                *self.used.entry(before.0).or_default() += self.now - self.since;
            }
            (self.running, self.since) = (next, self.now);
        }
    }
    /// Lets time pass up to `then`, deciding where the policy asked to.
    fn run_to(&mut self, then: u64) {
        self.decide();
        while self.until <= at(then) && self.now < then {
            self.now = self.until.as_nanos().max(self.now + 1);
            self.decide();
        }
        self.now = then;
    }
}

/// Figure 4 of West, Li and Missimer, as the tree of servers has it in `server_sporadic_figure4.txt`.
#[test]
fn figure_4_gives_vcpu1_its_40_of_100_and_the_second_request_waits_until_78() {
    for tells in [true, false] {
        let mut core = Core::new(tells);
        let [zero, one, disk] = core.figure_4();
        core.thread(0, zero, 0);
        core.thread(1, one, 0);
        core.thread(2, disk, one);
        // When, who, and whether it wakes up.
        let events = [
            (0, 1, true),
            (1, 0, true),
            (11, 0, false),
            (28, 1, false),
            (28, 2, true),
            (30, 2, false),
            (40, 1, true),
            (41, 0, true),
            (51, 0, false),
            (68, 1, false),
            (68, 2, true),
            (80, 2, false),
            (80, 1, true),
            (81, 0, true),
            (91, 0, false),
            (100, 1, false),
        ];
        for (when, thread, wakes) in events {
            core.run_to(when * MS);
            match wakes {
                true => core.wake(thread),
                false => core.block(thread),
            }
        }
        core.run_to(100 * MS);
        let of = |thread: u16| -> Vec<(u64, u64)> {
            core.line.iter().filter(|it| it.2 == thread).map(|it| (it.0, it.1)).collect()
        };
        assert_eq!(of(0), [(1, 11), (41, 51), (81, 91)]);
        assert_eq!(of(1), [(0, 1), (11, 28), (40, 41), (51, 68), (80, 81), (91, 94)]);
        assert_eq!(of(2), [(28, 30), (78, 80)]);
    }
}

#[test]
fn an_io_vcpu_takes_the_rank_of_whom_it_works_for_and_of_several_the_most_urgent() {
    let mut core = Core::new(true);
    let [zero, one, disk] = core.figure_4();
    core.thread(0, zero, 0);
    core.thread(1, one, 0);
    core.thread(2, disk, zero);
    core.thread(3, disk, one);
    assert_eq!(core.urgencies, BTreeMap::from([(0, 2), (1, 4), (2, 1), (3, 3)]));
    let running = |core: &mut Core| {
        core.decide();
        core.running.map(|thread| thread.0)
    };
    core.wake(1);
    core.wake(3);
    assert_eq!(running(&mut core), Some(3));
    core.wake(0);
    assert_eq!(running(&mut core), Some(0));
    core.wake(2);
    assert_eq!(running(&mut core), Some(2));
    core.block(0);
    // 4 % of 40 ms. Then it may not run again before 40 ms, and the kernel begins none of its upcalls unasked.
    core.run_to(2 * MS);
    assert_eq!((core.used[&2], core.running), (1_600_000, Some(Thread(1))));
    assert_eq!((core.urgencies[&2], core.urgencies[&3]), (u16::MAX, u16::MAX));
    core.block(2);
    core.run_to(45 * MS);
    // 20 ms are used up at 21.6; now it is the other's turn, at the other's rank, with 4 % of 50 ms.
    assert_eq!((core.used[&1], core.used[&3]), (20 * MS, 2 * MS));
    core.run_to(50 * MS);
    assert!(core.line.contains(&(40, 42, 3)), "{:?}", core.line);
}

#[test]
fn a_flood_gets_its_share_and_nobody_else_less() {
    for tells in [true, false] {
        let mut core = Core::new(tells);
        let [zero, one, disk] = core.figure_4();
        core.thread(0, zero, 0);
        core.thread(1, one, 0);
        core.thread(2, disk, zero);
        core.thread(3, 0, 0);
        (0..4).for_each(|thread| core.wake(thread));
        core.run_to(2_000 * MS);
        core.block(3);
        core.run_to(2_001 * MS);
        let of = |thread: u16| core.used[&thread] as f64 / (2_000 * MS) as f64;
        assert!((of(0) - 0.25).abs() < 0.006 && (of(1) - 0.40).abs() < 0.011, "{:?}", core.used);
        assert!(of(2) <= 0.0401 + 0.001 && of(2) > 0.038, "{:?}", core.used);
        assert!(of(3) > 0.29, "the rest is for threads without a VCPU: {:?}", core.used);
    }
}

#[test]
fn vcpus_with_a_background_go_on_behind_all_that_have_budget_and_pay_nothing_for_it() {
    let mut core = Core::new(true);
    let one = core.policy.create(ms(2), ms(10), true, at(0)).unwrap();
    let two = core.policy.create(ms(3), ms(20), false, at(0)).unwrap();
    core.thread(0, one, 0);
    core.thread(1, two, 0);
    core.wake(0);
    core.wake(1);
    core.run_to(20 * MS);
    core.block(1);
    core.run_to(40 * MS);
    core.block(0);
    core.run_to(41 * MS);
    assert_eq!(core.line, [(0, 2, 0), (2, 5, 1), (5, 40, 0)]);
}

#[test]
fn threads_of_one_vcpu_take_turns_and_may_be_bound_to_another() {
    let mut core = Core::new(true);
    let one = core.policy.create(ms(5), ms(10), false, at(0)).unwrap();
    core.thread(0, one, 0);
    core.thread(1, 0, 0);
    assert!(core.policy.bind(Thread(1), one));
    assert!(!core.policy.bind(Thread(1), 2) && !core.policy.bind(Thread(1), 16) && !core.policy.bind(Thread(9), one));
    core.wake(0);
    core.wake(1);
    core.run_to(MS);
    assert_eq!(core.running, Some(Thread(0)));
    core.policy.timer_tick(1);
    core.run_to(2 * MS);
    assert_eq!(core.running, Some(Thread(1)));
    assert!(core.policy.bind(Thread(1), 0));
    core.run_to(3 * MS);
    assert_eq!(core.running, Some(Thread(0)));
    assert_eq!(core.urgencies[&1], UNBOUND.0);
}

#[test]
fn what_does_not_fit_the_bound_is_refused_and_nothing_is_made() {
    for mains in 1..=MAIN {
        let n = mains as f64;
        let exact = n * (2f64.powf(1.0 / n) - 1.0) * 1e9;
        assert!((bound(mains) as f64 - exact).abs() <= 1.0, "{mains}: {} {exact}", bound(mains));
    }
    let mut core = Core::new(true);
    // The published set: 0.25 + 0.40 + 1.96 · 0.04 = 0.7284, of 0.8284.
    core.figure_4();
    assert_eq!(core.policy.load().sum(), 728_400_000);
    // Three main VCPUs may have 0.7797.
    assert_eq!(core.policy.create(ms(6), ms(100), false, at(0)), None);
    assert_eq!(core.policy.create_io(60_000, false, at(0)), None);
    assert_eq!(core.policy.load().sum(), 728_400_000);
    assert_eq!(core.policy.create(ms(5), ms(100), false, at(0)), Some(3));
    for bad in [(0, 10), (11, 10)] {
        assert_eq!(core.policy.create(ms(bad.0), ms(bad.1), false, at(0)), None);
    }
}

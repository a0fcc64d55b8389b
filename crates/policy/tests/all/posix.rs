//! The sporadic server as POSIX defines it, as an oracle for what its faults cost (Stanovich, Baker, Wang and Harbour, RTAS 2010): what was
//! used since an activation comes back in one piece, a period after that activation, though some of it was there only later.

use tactus_policy::{Budget, ServerKind, Supply};
use tactus_time::{Duration, Instant};

/// A server, in milliseconds.
trait Server {
    fn refresh(&mut self, now: u64, awake: bool);
    fn wake(&mut self, now: u64);
    fn block(&mut self, now: u64);
    fn may_run(&self, now: u64) -> bool;
    /// It ran for the millisecond before `now`.
    fn ran(&mut self, now: u64);
}

struct Posix {
    full: u64,
    period: u64,
    remaining: u64,
    used: u64,
    activation: u64,
    /// When how much comes.
    replenishments: Vec<(u64, u64)>,
}

impl Posix {
    fn post(&mut self) {
        let used = std::mem::take(&mut self.used);
        self.replenishments.push((self.activation + self.period, used));
    }
}

impl Server for Posix {
    fn refresh(&mut self, now: u64, awake: bool) {
        let came: u64 = self.replenishments.iter().filter(|(at, _)| *at <= now).map(|(_, amount)| amount).sum();
        self.replenishments.retain(|(at, _)| *at > now);
        if self.remaining == 0 && came > 0 && awake {
            self.activation = now;
        }
        self.remaining = (self.remaining + came).min(self.full);
    }
    fn wake(&mut self, now: u64) {
        if self.remaining > 0 {
            self.activation = now;
        }
    }
    fn block(&mut self, _: u64) {
        self.post();
    }
    fn may_run(&self, _: u64) -> bool {
        self.remaining > 0
    }
    fn ran(&mut self, _: u64) {
        (self.remaining, self.used) = (self.remaining - 1, self.used + 1);
        if self.remaining == 0 {
            self.post();
        }
    }
}

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

impl Server for Budget {
    fn refresh(&mut self, now: u64, _: bool) {
        Budget::refresh(self, at(now));
    }
    fn wake(&mut self, now: u64) {
        Budget::wake(self, at(now));
    }
    fn block(&mut self, now: u64) {
        Budget::block(self, at(now));
    }
    fn may_run(&self, now: u64) -> bool {
        self.eligible(at(now))
    }
    fn ran(&mut self, now: u64) {
        self.charge(at(now), Duration::from_millis(1));
    }
}

/// What VCPU1 of Figure 4 of West, Li and Missimer gets of 100 ms: it has work for 18 at 0, 40 and 80, and VCPU0 has the core for the ten from
/// 1, 41 and 81 on.
fn service(mut vcpu1: impl Server) -> u64 {
    let (mut work, mut served) = (0, 0);
    for now in 0..100 {
        vcpu1.refresh(now, work > 0);
        if now % 40 == 0 {
            if work == 0 {
                vcpu1.wake(now);
            }
            work += 18;
        }
        let vcpu0 = (1..11).contains(&(now % 40));
        if work > 0 && !vcpu0 && vcpu1.may_run(now) {
            vcpu1.ran(now + 1);
            (work, served) = (work - 1, served + 1);
            if work == 0 {
                vcpu1.block(now + 1);
            }
        }
    }
    served
}

#[test]
fn figure_4_of_quest_v_gives_vcpu1_46_of_100_under_the_faulty_rules_of_posix() {
    let (budget, period) = (Duration::from_millis(20), Duration::from_millis(50));
    let sporadic = Budget::new(&Supply { kind: ServerKind::Sporadic, budget, period, write_backs: None });
    assert_eq!(service(sporadic), 40);
    let posix = Posix { full: 20, period: 50, remaining: 20, used: 0, activation: 0, replenishments: Vec::new() };
    assert_eq!(service(posix), 46);
}

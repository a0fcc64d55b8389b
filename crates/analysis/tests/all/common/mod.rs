//! Small simulators in unit steps and a task-set generator: the oracles of the property tests, written the plain way.
#![allow(dead_code)]

pub mod attack;

use tactus_analysis::task::Sporadic;
use tactus_time::Duration;

/// A small deterministic generator (xorshift64*).
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
    /// Between `low` and `high`, both included.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + (self.next() >> 11) % (high - low + 1)
    }
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.between(0, from.len() as u64 - 1) as usize]
    }
}

#[derive(Clone, Copy, Debug)]
pub struct T {
    pub c: u64,
    pub t: u64,
    pub d: u64,
    pub offset: u64,
}

impl T {
    pub fn sporadic(&self) -> Sporadic {
        Sporadic::new(ns(self.c), ns(self.t), ns(self.d))
    }
}

pub fn ns(n: u64) -> Duration {
    Duration::from_nanos(n)
}

pub fn sporadics(set: &[T]) -> Vec<Sporadic> {
    set.iter().map(T::sporadic).collect()
}

#[derive(Clone, Copy, PartialEq)]
pub enum Deadlines {
    Implicit,
    Constrained,
    Arbitrary,
}

/// A set of n tasks with a total utilisation of about `percent` % and utilisations of at most one.
pub fn task_set(dice: &mut Dice, n: usize, percent: u64, periods: &[u64], deadlines: Deadlines) -> Vec<T> {
    let weights: Vec<u64> = (0..n).map(|_| dice.between(5, 100)).collect();
    let sum: u64 = weights.iter().sum();
    weights
        .iter()
        .map(|w| {
            let t = dice.pick(periods);
            let c = (t * percent * w / sum / 100).clamp(1, t);
            let d = match deadlines {
                Deadlines::Implicit => t,
                Deadlines::Constrained => dice.between(c.max(t / 2), t),
                Deadlines::Arbitrary => dice.between(c.max(t / 2), 3 * t),
            };
            T { c, t, d, offset: 0 }
        })
        .collect()
}

pub fn utilisation(set: &[T]) -> f64 {
    set.iter().map(|x| x.c as f64 / x.t as f64).sum()
}

#[derive(Clone, Copy)]
struct Job {
    task: usize,
    release: u64,
    deadline: u64,
    left: u64,
}

/// The largest response of every task on m processors in the first `length` steps: in each step the m most urgent
/// tasks run the oldest of their jobs. Urgency: deadline and then place under EDF, else the place alone. `take`: how
/// long a job executes. `gap`: how much later than a period after the last one a release comes.
pub fn simulate(
    set: &[T],
    m: usize,
    edf: bool,
    length: u64,
    mut take: impl FnMut(&T) -> u64,
    mut gap: impl FnMut() -> u64,
) -> Vec<u64> {
    let mut next: Vec<u64> = set.iter().map(|x| x.offset).collect();
    let mut pending: Vec<std::collections::VecDeque<Job>> = vec![Default::default(); set.len()];
    let mut worst = vec![0; set.len()];
    for now in 0..length {
        for (task, x) in set.iter().enumerate() {
            if next[task] == now {
                pending[task].push_back(Job { task, release: now, deadline: now + x.d, left: take(x) });
                next[task] = now + x.t + gap();
            }
        }
        let mut heads: Vec<Job> = pending.iter().filter_map(|q| q.front().copied()).collect();
        heads.sort_by_key(|j| if edf { (j.deadline, j.task) } else { (0, j.task) });
        for job in heads.iter().take(m) {
            let front = pending[job.task].front_mut().unwrap();
            front.left -= 1;
            if front.left == 0 {
                worst[job.task] = worst[job.task].max(now + 1 - job.release);
                pending[job.task].pop_front();
            }
        }
    }
    // What is unfinished has been late for this long already.
    for q in &pending {
        if let Some(j) = q.front() {
            worst[j.task] = worst[j.task].max(length - j.release);
        }
    }
    worst
}

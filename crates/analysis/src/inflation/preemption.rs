//! Preemption-centric interrupt accounting: execution times that contain the system's work.
//!
//! Brandenburg, "Scheduling and locking in multiprocessor real-time operating systems", PhD thesis, UNC 2011, chapter 3, in
//! the form of Gracioli (EPOS), section 6.2. Every quantum Q a timer interrupt takes Δtck + Δrel (tick, and the release of
//! all that is due), so that only the rest of the time is left to jobs, and every job pays for two scheduling decisions and
//! switches, one loss of cache contents, and the interrupts around its preemption:
//!
//! ```text
//! u₀   = (Δtck + Δrel)/Q
//! cpre = (Δtck + Δrel)/(1 − u₀)
//! eᵢ'  = (eᵢ + 2(Δscd + Δcxs) + Δcpd)/(1 − u₀) + 2·cpre + Δipi
//! ```
//!
//! Δipi only where a decision may concern another core: global and clustered placement. Assumes releases at timer
//! interrupts only and interrupt entry counted within Δtck. Rounded up.

use super::steps::Steps;
use crate::task::{to_duration, Sporadic};
use tactus_time::Duration;

/// Where a task may run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Placement {
    /// On one core.
    Partitioned,
    /// On the cores of a cluster.
    Clustered,
    /// On all cores.
    Global,
}

/// What was measured of one policy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Costs {
    /// Δtck: the timer interrupt itself.
    pub tick: Steps,
    /// Δrel: releasing all tasks that are due.
    pub release: Steps,
    /// Δscd: one decision.
    pub schedule: Steps,
    /// Δcxs: one switch.
    pub switch: Steps,
    /// Δipi: until another core notices.
    pub inter_core: Steps,
    /// Q: the time between timer interrupts.
    pub quantum: Duration,
}

impl Costs {
    /// A system that costs nothing.
    pub fn none() -> Costs {
        let zero = || Steps::constant(Duration::ZERO);
        Costs {
            tick: zero(),
            release: zero(),
            schedule: zero(),
            switch: zero(),
            inter_core: zero(),
            quantum: Duration::from_millis(1),
        }
    }

    /// The tasks with inflated execution times, for a system of so many tasks in all. `cache` is Δcpd, the delay that one
    /// preemption or migration may cause. `None` where interrupts leave no time at all.
    pub fn inflate(
        &self,
        tasks: &[Sporadic],
        all: usize,
        placement: Placement,
        cache: Duration,
    ) -> Option<Vec<Sporadic>> {
        let ns = |steps: &Steps| i128::from(steps.at(all).as_nanos());
        let q = i128::from(self.quantum.as_nanos());
        let interrupt = ns(&self.tick) + ns(&self.release);
        let left = q - interrupt;
        if left <= 0 {
            return None;
        }
        // x/(1 − u₀) = x·Q/(Q − interrupt).
        let scaled = |x: i128| -((-(x * q)).div_euclid(left));
        let inter_core = if placement == Placement::Partitioned { 0 } else { ns(&self.inter_core) };
        let per_job = 2 * (ns(&self.schedule) + ns(&self.switch)) + i128::from(cache.as_nanos());
        let one = |τ: &Sporadic| {
            let e = scaled(τ.c() + per_job) + 2 * scaled(interrupt) + inter_core;
            Sporadic { execution: to_duration(e), ..*τ }
        };
        Some(tasks.iter().map(one).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formula_by_hand() {
        let us = Duration::from_micros;
        let costs = Costs {
            tick: Steps::constant(us(4)),
            release: Steps::constant(us(6)),
            schedule: Steps::constant(us(3)),
            switch: Steps::constant(us(2)),
            inter_core: Steps::constant(us(5)),
            quantum: us(100),
        };
        let task = [Sporadic::implicit(us(100), us(1000))];
        // u₀ = 0.1: (100 + 10 + 25)/0.9 + 2·(10/0.9) = 150 + 22.2…
        let e = |p| costs.inflate(&task, 1, p, us(25)).unwrap()[0].execution.as_nanos();
        assert_eq!(e(Placement::Partitioned), 150_000 + 2 * 11_112);
        assert_eq!(e(Placement::Global), e(Placement::Partitioned) + 5_000);
        assert_eq!(Costs::none().inflate(&task, 1, Placement::Global, Duration::ZERO).unwrap(), task);
    }

    #[test]
    fn interrupts_that_take_all_time_leave_none() {
        let mut costs = Costs::none();
        costs.tick = Steps::constant(Duration::from_millis(1));
        assert_eq!(costs.inflate(&[], 0, Placement::Partitioned, Duration::ZERO), None);
    }
}

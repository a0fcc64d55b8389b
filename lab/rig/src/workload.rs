//! What an emulated processor does in a cycle: the source's events, drawn at random; or releases of periodic tasks, and
//! their completions.

use crate::any_machine::AnyMachine;
use crate::machine::{Processor, PRIORITIES};
use crate::settings::{Periodic, Settings};
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::sync::atomic::{AtomicU64, Ordering};
use tactus_compared_structures::queue::Entry;
use tactus_compared_structures::Cores;

/// One processor's source of events.
pub(crate) struct Workload {
    draw: Xoshiro256PlusPlus,
    /// Tasks that are not ready, which this processor may activate.
    free: Vec<u32>,
}

impl Workload {
    /// The tasks are dealt out among the processors; a task that blocks belongs to the processor that it blocked on.
    pub(crate) fn new(settings: &Settings, me: usize) -> Workload {
        let mut free = Vec::with_capacity(settings.tasks);
        free.extend((0..settings.tasks as u32).rev().filter(|task| *task as usize % settings.processors == me));
        let seed = settings.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(me as u64);
        Workload { draw: Xoshiro256PlusPlus::seed_from_u64(seed), free }
    }

    /// From 0 to 1, 1 excluded.
    fn part(&mut self) -> f64 {
        (self.draw.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// From one number to the other, both included. The ranges are so small that the remainder's bias is not felt.
    fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.draw.next_u64() % (high - low + 1)
    }

    /// One cycle, at this time of the rig's clock (ns).
    pub(crate) fn cycle(&mut self, settings: &Settings, machine: &dyn AnyMachine, processor: &mut Processor, now: u64) {
        // The deadline of what runs, or its run time where tasks have priorities, is over.
        self.free.extend(machine.on_block(processor, &mut |running| machine.tables().expiry(running.task) <= now));
        let event = self.part();
        if event < settings.activation {
            let Some(task) = self.free.pop() else {
                processor.watch.samples.refused += 1;
                return;
            };
            let (low, high) = settings.deadline;
            let expiry = now + self.between(low.as_nanos() as u64, high.as_nanos() as u64);
            let urgency = if machine.tables().has_priorities() { self.between(1, PRIORITIES) } else { expiry };
            let allowed = if self.part() < settings.bound {
                // Half of the processors at random, this one among them.
                Cores(self.draw.next_u64() | 1 << processor.me)
            } else {
                Cores::ALL
            };
            machine.on_activation(processor, Entry { urgency, task }, allowed, expiry);
        } else if event < settings.activation + settings.early_finish {
            self.free.extend(machine.on_block(processor, &mut |_| true));
        }
    }
}

/// A set of periodic tasks while it runs.
pub(crate) struct TaskSet {
    tasks: Vec<Periodic>,
    /// By task: what its job has had (ns). Written by the processor that runs it.
    had: Vec<AtomicU64>,
    /// By task: its priority where there are such, the shorter the period the more urgent.
    priorities: Vec<u64>,
}

impl TaskSet {
    pub(crate) fn new(tasks: &[Periodic]) -> TaskSet {
        let mut periods: Vec<u64> = tasks.iter().map(|task| task.period).collect();
        periods.sort_unstable();
        let rank = |task: &Periodic| periods.partition_point(|period| *period < task.period) as u64;
        TaskSet {
            tasks: tasks.to_vec(),
            had: tasks.iter().map(|_| AtomicU64::new(0)).collect(),
            priorities: tasks.iter().map(|task| 1 + rank(task) * (PRIORITIES - 1) / tasks.len() as u64).collect(),
        }
    }

    /// One cycle that begins at this time of the rig's clock (ns), of a processor that releases every `of`-th task.
    pub(crate) fn cycle(
        &self,
        (of, length): (usize, u64),
        machine: &dyn AnyMachine,
        processor: &mut Processor,
        now: u64,
    ) {
        // What ran until now: several jobs may have ended since.
        let mut left = length;
        let mut ends = |running: Entry| {
            let (task, had) = (&self.tasks[running.task as usize], &self.had[running.task as usize]);
            let before = had.load(Ordering::Relaxed);
            let given = left.min(task.takes.saturating_sub(before));
            had.store(before + given, Ordering::Relaxed);
            left -= given;
            before + given >= task.takes
        };
        while now > 0 && machine.on_block(processor, &mut ends).is_some() {}
        for n in (processor.me..self.tasks.len()).step_by(of) {
            let task = &self.tasks[n];
            // The first release that this cycle begins at or after, and the cycle before did not.
            let release = now / task.period * task.period;
            if now > 0 && now - release >= length {
                continue;
            }
            if machine.tables().is_ready(n as u32) {
                // The last job is still there: this one is left out.
                processor.watch.samples.refused += 1;
                continue;
            }
            self.had[n].store(0, Ordering::Relaxed);
            let deadline = release + task.period;
            let urgency = if machine.tables().has_priorities() { self.priorities[n] } else { deadline };
            machine.on_activation(processor, Entry { urgency, task: n as u32 }, Cores::ALL, u64::MAX);
        }
    }
}

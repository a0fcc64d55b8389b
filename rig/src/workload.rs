//! What an emulated processor does in a cycle: the source's events, drawn at random.

use crate::machine::{Machine, Processor, PRIORITIES};
use crate::settings::Settings;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use tactus_structures::directory::Directory;
use tactus_structures::queue::{Entry, ReadyQueue};
use tactus_structures::Cores;

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
    pub(crate) fn cycle<D: Directory, Q: ReadyQueue>(
        &mut self,
        settings: &Settings,
        machine: &Machine<D, Q>,
        processor: &mut Processor,
        now: u64,
    ) {
        // The deadline of what runs, or its run time where tasks have priorities, is over.
        self.free.extend(machine.on_block(processor, |running| machine.expiry(running.task) <= now));
        let event = self.part();
        if event < settings.activation {
            let Some(task) = self.free.pop() else {
                processor.watch.samples.refused += 1;
                return;
            };
            let (low, high) = settings.deadline;
            let expiry = now + self.between(low.as_nanos() as u64, high.as_nanos() as u64);
            let urgency = if machine.has_priorities() { self.between(1, PRIORITIES) } else { expiry };
            let allowed = if self.part() < settings.bound {
                // Half of the processors at random, this one among them.
                Cores(self.draw.next_u64() | 1 << processor.me)
            } else {
                Cores::ALL
            };
            machine.on_activation(processor, Entry { urgency, task }, allowed, expiry);
        } else if event < settings.activation + settings.early_finish {
            self.free.extend(machine.on_block(processor, |_| true));
        }
    }
}

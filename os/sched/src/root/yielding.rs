//! Best-effort work that gives way to a counter of its core: what the root scheduler samples for the policy.

use tactus_policy::{Input, Policy, PolicyConfig, SampledEvent, Sampler};
use tactus_record::{EventKind, InputKind, Sink, Stored, Subject};
use tactus_rt::counters::{changed_of, lines_of};
use tactus_rt::scheduler::RingWriter;
use tactus_rt::time::{CoreId, Instant};

/// The counter of one core.
pub struct Counter {
    sampler: Sampler,
    /// What had been counted at the last sample.
    told: u64,
}

/// The core's counter, where work gives way to it.
///
/// # Panics
/// If nobody counts: such a system must not run as if there were no events.
pub fn counter(setup: &PolicyConfig, core: u8) -> Option<Counter> {
    let sampler = Sampler::of(setup, CoreId(core))?;
    match read(&sampler, core) {
        Some(told) => Some(Counter { sampler, told }),
        None => panic!("work gives way to a counter, and nobody counts"),
    }
}

fn read(sampler: &Sampler, core: u8) -> Option<u64> {
    match sampler.event() {
        SampledEvent::Changed => changed_of(core),
        SampledEvent::SharedMisses => lines_of(core),
    }
}

/// Tells the policy what was counted, if a period is over.
#[cold]
#[inline(never)]
pub fn tell<P: Policy>(
    (policy, own): (&P, &mut P::Core),
    counter: &mut Counter,
    (mut writer, core): (RingWriter, CoreId),
    now: Instant,
) -> RingWriter {
    if counter.sampler.is_due(now) {
        let counted = read(&counter.sampler, core.0).unwrap_or(0);
        let events = counted.wrapping_sub(core::mem::replace(&mut counter.told, counted));
        let events = u32::try_from(events).unwrap_or(u32::MAX);
        let subject = Subject::NONE.with_level(InputKind::Sample as u8);
        writer.store(Stored::about(subject, now, core, EventKind::Input, 0, events.into()));
        policy.input(own, Input::Sample { events });
    }
    writer
}

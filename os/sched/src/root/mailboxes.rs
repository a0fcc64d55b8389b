//! What tasks have sent to other sandboxes and taken from them: the root scheduler looks at its own tasks' counts after each decision, and records
//! what has changed. So nobody's word is needed for when a message was sent and when it was taken, and what another sandbox writes is not looked
//! at.

use alloc::vec::Vec;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tactus_record::{EventKind, Record, Sink as _};
use tactus_rt::port::ObservedMailbox;
use tactus_rt::scheduler::TraceRing;
use tactus_rt::time::{CoreId, Instant, TaskId};

/// An end of a mailbox, and what was recorded of it.
pub struct Mailbox {
    port: ObservedMailbox,
    /// A sandbox has one core.
    told: [AtomicU64; 2],
    /// Whether there were messages before this kernel was started, of which the first record tells how many.
    has_past: AtomicBool,
}

/// All ends. Their counts go on from one life of the kernel to the next.
pub fn mailboxes() -> Vec<Mailbox> {
    let end = |port: ObservedMailbox| {
        let counts = port.counts();
        Mailbox { port, told: counts.map(AtomicU64::new), has_past: AtomicBool::new(counts != [0, 0]) }
    };
    ObservedMailbox::all().map(end).collect()
}

/// Records what has changed since the last time. `decided`: the time that the decision was given; `now` is later.
#[cold]
#[inline(never)]
pub fn tell(mailboxes: &[Mailbox], (ring, core): (&mut TraceRing, u8), decided: Instant, now: Instant) {
    for it in mailboxes {
        let counts = it.port.counts();
        let mut has_changed = it.has_past.swap(false, Ordering::Relaxed);
        for (told, count) in it.told.iter().zip(counts) {
            has_changed |= told.swap(count, Ordering::Relaxed) != count;
        }
        if has_changed {
            ring.record(Record {
                time: now,
                arg: decided.as_nanos(),
                job: counts[0] as u32,
                task: Some(TaskId(it.port.task() as u16)),
                kind: EventKind::Mailed,
                level: it.port.number() as u8 | if it.port.sends() { 0 } else { 128 },
                core: CoreId(core),
                ticket: counts[1] as u32,
            });
        }
    }
}

//! What monitors saw, for the trace: each core writes a ring of its own in the trace memory, which no component sees.

use core::cell::UnsafeCell;
use tactus_abi::layout::MAX_CORES;
use tactus_record::{EventKind, RingHeader, Stored, RECORD_BYTES, RING_HEADER_BYTES};

/// Records that a full ring still has room for, so that a flood of events hides no verdict.
const VERDICTS: u64 = 64;

/// One core's ring.
struct Ring {
    /// Where its head is; null if there is none.
    head: *mut u64,
    capacity: u64,
    /// Records of events find room up to here.
    events: u64,
    written: u64,
    dropped: u64,
}

struct Rings([UnsafeCell<Ring>; MAX_CORES]);

// SAFETY: each ring is written during set-up, then by its own core alone, whose kernel is not preempted.
unsafe impl Sync for Rings {}

static RINGS: Rings = Rings(
    [const { UnsafeCell::new(Ring { head: core::ptr::null_mut(), capacity: 0, events: 0, written: 0, dropped: 0 }) };
        MAX_CORES],
);

/// Words of the head that are written: see [`RingHeader`].
const WRITTEN: usize = 1;
const DROPPED: usize = 2;

/// Makes a ring for each core out of these bytes of memory. During set-up.
pub fn set_up(memory: *mut u64, bytes: u64, cores: u64) {
    let each = bytes / cores.max(1);
    let Some(room) = each.checked_sub(RING_HEADER_BYTES as u64) else { return };
    let capacity = room / RECORD_BYTES as u64;
    for (core, ring) in RINGS.0.iter().enumerate().take(cores as usize) {
        let words = RingHeader { capacity, written: 0, dropped: 0, now: 0, ended: 1 }.to_bytes();
        // SAFETY: the kernel's part of the trace memory, which is long enough for every core's ring; no core runs yet.
        unsafe {
            let head = memory.byte_add(core * each as usize);
            head.cast::<[u8; RING_HEADER_BYTES]>().write(words);
            let events = capacity - VERDICTS.min(capacity / 2);
            *ring.get() = Ring { head, capacity, events, written: 0, dropped: 0 };
        }
    }
}

/// Writes a record into the ring of this core.
pub fn put(core: u64, kind: EventKind, record: Stored) {
    let Some(ring) = RINGS.0.get(core as usize) else { return };
    // SAFETY: this core's own, and nobody else in the kernel of this core has a reference to it.
    unsafe {
        let ring = &mut *ring.get();
        let limit = if kind == EventKind::Concluded { ring.capacity } else { ring.events };
        if ring.head.is_null() {
            return;
        }
        if ring.written >= limit {
            ring.dropped += 1;
            return ring.head.add(DROPPED).write_volatile(ring.dropped);
        }
        // SAFETY: below the capacity, hence inside the ring.
        let at = ring.head.byte_add(RING_HEADER_BYTES + ring.written as usize * RECORD_BYTES);
        for (n, word) in record.words().into_iter().enumerate() {
            at.add(n).write_volatile(word);
        }
        ring.written += 1;
        ring.head.add(WRITTEN).write_volatile(ring.written);
    }
}

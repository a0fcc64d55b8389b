//! What monitors saw, for the trace: each core writes a ring of its own in the trace memory, which no component sees.
//!
//! Events that a component can cause as often as it likes have half of the ring; half of that is divided among them, so that a flood of one
//! is lost alone. The first verdict of each monitor finds room whatever else was recorded.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU32, Ordering};
use tactus_abi::layout::MAX_CORES;
use tactus_abi::monitors::{MAX_MONITORS, MAX_SHARES, NONE};
use tactus_record::{EventKind, RingHeader, Stored, Subject, RECORD_BYTES, RING_HEADER_BYTES};
use tactus_time::{CoreId, Instant};

/// Records that a full ring still has room for: the first verdict of each monitor, and that further ones were lost; and that events were,
/// of each share and of none.
const RESERVED: u64 = (2 * MAX_MONITORS + MAX_SHARES + 1) as u64;
/// The level byte of the record that further verdicts of a monitor were lost.
const LOST: u8 = 2;
const _: () = assert!(MAX_MONITORS <= u64::BITS);

/// Events that found no room.
#[derive(Clone, Copy)]
struct Lost {
    count: u64,
    /// Where the record is that tells of them.
    place: u64,
}

/// One core's ring.
struct Ring {
    /// Where its head is; null if there is none.
    head: *mut u64,
    capacity: u64,
    /// What needs no room that is kept for something finds room up to here.
    limit: u64,
    /// How many records each share holds.
    shares: [u32; MAX_SHARES as usize],
    /// How many such records are beyond their shares.
    beyond: u64,
    /// What was lost: of no share, then of each.
    lost: [Lost; MAX_SHARES as usize + 1],
    /// The monitors that have come to a verdict here, as bits; and those of which one was lost.
    concluded: [u64; 2],
    written: u64,
    dropped: u64,
}

impl Ring {
    const NONE: Ring = Ring {
        head: core::ptr::null_mut(),
        capacity: 0,
        limit: 0,
        shares: [0; MAX_SHARES as usize],
        beyond: 0,
        lost: [Lost { count: 0, place: 0 }; MAX_SHARES as usize + 1],
        concluded: [0; 2],
        written: 0,
        dropped: 0,
    };
}

struct Rings([UnsafeCell<Ring>; MAX_CORES]);

// SAFETY: each ring is written during set-up, then by its own core alone, whose kernel is not preempted.
unsafe impl Sync for Rings {}

static RINGS: Rings = Rings([const { UnsafeCell::new(Ring::NONE) }; MAX_CORES]);

/// Into how many shares half of a ring is divided.
static SHARES: AtomicU32 = AtomicU32::new(0);

/// Words of the head that are written: see [`RingHeader`].
const WRITTEN: usize = 1;
const DROPPED: usize = 2;
/// The word of a record that holds [`tactus_record::Record::arg`].
const ARG: usize = 1;

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
            *ring.get() = Ring { head, capacity, limit: capacity - RESERVED.min(capacity / 2), ..Ring::NONE };
        }
    }
}

/// Divides half of each ring. During set-up.
pub fn divide(shares: u32) {
    SHARES.store(shares, Ordering::Relaxed);
}

/// Records an event of this core. `share`: its share and one, 0 if it has none.
#[inline(never)]
pub fn put_event(core: u64, record: Stored, share: u32) {
    let Some(ring) = of(core) else { return };
    let has_room = share == 0 || ring.takes(share);
    if has_room && ring.written < ring.limit {
        ring.write(record);
    } else {
        ring.drop_event(record, share);
    }
}

/// Records a verdict that this core found.
#[inline(never)]
pub fn put_verdict(core: u64, record: Stored, monitor: u32) {
    let Some(ring) = of(core) else { return };
    let bit = 1_u64.checked_shl(monitor).unwrap_or(0);
    let [has_some, has_lost] = ring.concluded.map(|monitors| monitors & bit != 0);
    if !has_some || ring.written < ring.limit {
        ring.concluded[0] |= bit;
        return ring.write(record);
    }
    ring.count_dropped();
    if !has_lost {
        ring.concluded[1] |= bit;
        let (at, core) = (Instant::from_nanos(record.time), CoreId(core as u8));
        ring.write(Stored::about(Subject::NONE.with_level(LOST), at, core, EventKind::Concluded, monitor, 0));
    }
}

/// The core's ring, if there is one.
fn of(core: u64) -> Option<&'static mut Ring> {
    let ring = RINGS.0.get(core as usize)?;
    // SAFETY: this core's own, and nobody else in the kernel of this core has a reference to it: each function here lets go of it
    // before it returns.
    let ring = unsafe { &mut *ring.get() };
    (!ring.head.is_null()).then_some(ring)
}

impl Ring {
    /// Whether an event of this share, and one, has room in it or beyond it.
    fn takes(&mut self, share: u32) -> bool {
        let quarter = self.limit / 4;
        let most = quarter / u64::from(SHARES.load(Ordering::Relaxed).max(1));
        let count = &mut self.shares[(share as usize).saturating_sub(1) % MAX_SHARES as usize];
        if u64::from(*count) < most {
            *count += 1;
            return true;
        }
        let has_room = self.beyond < quarter;
        self.beyond += u64::from(has_room);
        has_room
    }

    fn write(&mut self, record: Stored) {
        if self.written >= self.capacity {
            return;
        }
        for (word, value) in record.words().into_iter().enumerate() {
            self.write_word(self.written, word, value);
        }
        self.written += 1;
        // SAFETY: a word of the head.
        unsafe { self.head.add(WRITTEN).write_volatile(self.written) };
    }

    /// Writes a word of the record at this place.
    #[inline(always)]
    fn write_word(&mut self, place: u64, word: usize, value: u64) {
        if place < self.capacity {
            // SAFETY: below the capacity, hence inside the ring, and a record has as many words.
            unsafe {
                self.head.byte_add(RING_HEADER_BYTES + place as usize * RECORD_BYTES).add(word).write_volatile(value)
            };
        }
    }

    fn count_dropped(&mut self) {
        self.dropped += 1;
        // SAFETY: a word of the head.
        unsafe { self.head.add(DROPPED).write_volatile(self.dropped) };
    }

    /// What does not fit is counted, for each share in one record, which says of which event and since when.
    #[cold]
    fn drop_event(&mut self, record: Stored, share: u32) {
        self.count_dropped();
        let Some(lost) = self.lost.get_mut(share as usize) else { return };
        lost.count += 1;
        let Lost { count, place } = *lost;
        if count > 1 {
            return self.write_word(place, ARG, count);
        }
        lost.place = self.written;
        // The last share may be several events'.
        let event = if (1..MAX_SHARES).contains(&share) { record.job() } else { NONE };
        let (at, core) = (Instant::from_nanos(record.time), CoreId(record.place as u8));
        let tells = Stored::about(Subject::NONE, at, core, EventKind::Observed, NONE, count);
        self.write(tells.with_ticket(event));
    }
}

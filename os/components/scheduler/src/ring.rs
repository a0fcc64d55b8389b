//! This core's trace ring.

use core::ptr::{addr_of_mut, write_volatile};
use core::sync::atomic::{compiler_fence, Ordering};
use tactus_record::{Kind, Record, RingHeader, Sink, Stored, RECORD_BYTES, RING_HEADER_BYTES};
use tactus_rt::abi::layout::TRACE;
use tactus_rt::time::{CoreId, Instant};

/// The writer of one core's ring. Only its core uses it.
pub struct Ring {
    base: u64,
    capacity: u64,
    written: u64,
    dropped: u64,
    core: u8,
}

/// Places of the head's fields, in words.
const WRITTEN: u64 = 1;
const DROPPED: u64 = 2;
const NOW: u64 = 3;
const ENDED: u64 = 4;

impl Ring {
    /// Sets up the head of the core's ring, empty.
    pub fn new(core: u8) -> Ring {
        let bytes = tactus_rt::info().ring_bytes;
        let ring = Ring {
            base: TRACE + u64::from(core) * bytes,
            capacity: (bytes - RING_HEADER_BYTES as u64) / RECORD_BYTES as u64,
            written: 0,
            dropped: 0,
            core,
        };
        let head = RingHeader { capacity: ring.capacity, written: 0, dropped: 0, now: 0, ended: 0 };
        // SAFETY: the trace memory is mapped writable into the scheduler; this is this core's part of it.
        unsafe { (ring.base as *mut [u8; RING_HEADER_BYTES]).write_volatile(head.to_bytes()) };
        ring
    }

    fn set(&self, field: u64, value: u64) {
        // SAFETY: a field of the head set up in `new`. On x86-64 stores become visible in order; the fence keeps the
        // compiler from moving them.
        unsafe {
            compiler_fence(Ordering::Release);
            write_volatile((self.base + field * 8) as *mut u64, value);
        }
    }

    /// Notes the time, for displays of progress.
    pub fn look(&self, now: Instant) {
        self.set(NOW, now.as_nanos());
    }

    /// The run is over on this core, where the kernel refused so many calls.
    pub fn end(&mut self, now: Instant, refused: u64) {
        for (kind, arg) in [(Kind::Refused, refused), (Kind::End, 0)] {
            self.record(Record {
                time: now,
                arg,
                job: 0,
                task: None,
                kind,
                level: 0,
                core: CoreId(self.core),
                ticket: 0,
            });
        }
        self.look(now);
        self.set(ENDED, 1);
    }

    /// How many records did not fit.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }
}

impl Sink for Ring {
    #[inline]
    fn record(&mut self, record: Record) {
        self.store(record.stored());
    }

    #[inline(always)]
    fn store(&mut self, stored: Stored) {
        if self.written == self.capacity {
            self.dropped += 1;
            self.set(DROPPED, self.dropped);
            return;
        }
        let at = self.base + RING_HEADER_BYTES as u64 + self.written * RECORD_BYTES as u64;
        // SAFETY: below the ring's capacity, hence inside this core's part of the trace memory.
        unsafe { addr_of_mut!(*(at as *mut [u64; RECORD_BYTES / 8])).write(stored.words()) };
        self.written += 1;
        self.set(WRITTEN, self.written);
    }
}

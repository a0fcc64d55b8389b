//! This core's trace ring.

use core::ptr::write_volatile;
use core::sync::atomic::{compiler_fence, Ordering};
use tactus_record::{EventKind, Record, RingHeader, Sink, Stored, RECORD_BYTES, RING_HEADER_BYTES};
use tactus_rt::abi::layout::TRACE;
use tactus_rt::time::{CoreId, Instant};

/// The writer of one core's ring. Only its core uses it.
pub struct Ring {
    base: u64,
    /// Where the next record goes, and the ring's end.
    pen: Pen,
    dropped: u64,
    core: u8,
}

/// Where records go while a decision is made: a copy of the ring's own place, which needs no memory. What it wrote counts
/// once it is put back with [`Ring::keep`].
#[derive(Clone, Copy)]
pub struct Pen {
    next: u64,
    end: u64,
    dropped: u64,
}

/// As [`Pen`], for few records that are known to fit.
#[derive(Clone, Copy)]
pub struct Quill {
    next: u64,
}

impl Quill {
    /// Writes a record. No more of them than there was room for.
    #[inline(always)]
    pub fn store(&mut self, stored: Stored) {
        // SAFETY: below the ring's end, as `Ring::room` found, hence inside this core's part of the trace memory.
        unsafe { (self.next as *mut [u64; RECORD_BYTES / 8]).write(stored.words()) };
        self.next += RECORD_BYTES as u64;
    }
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
        let base = TRACE + u64::from(core) * bytes;
        let capacity = (bytes - RING_HEADER_BYTES as u64) / RECORD_BYTES as u64;
        let next = base + RING_HEADER_BYTES as u64;
        let pen = Pen { next, end: next + capacity * RECORD_BYTES as u64, dropped: 0 };
        let head = RingHeader { capacity, written: 0, dropped: 0, now: 0, ended: 0 };
        // SAFETY: the trace memory is mapped writable into the scheduler; this is this core's part of it.
        unsafe { (base as *mut [u8; RING_HEADER_BYTES]).write_volatile(head.to_bytes()) };
        Ring { base, pen, dropped: 0, core }
    }

    /// Begins to write.
    #[inline(always)]
    pub fn pen(&self) -> Pen {
        self.pen
    }

    /// As [`Ring::pen`], if so many records fit.
    #[inline(always)]
    pub fn room(&self, records: usize) -> Option<Quill> {
        let bytes = (records * RECORD_BYTES) as u64;
        (self.pen.next + bytes <= self.pen.end).then_some(Quill { next: self.pen.next })
    }

    /// Keeps what was written since [`Ring::room`].
    #[inline(always)]
    pub fn keep_all(&mut self, quill: Quill) {
        self.pen.next = quill.next;
        let records = self.base + RING_HEADER_BYTES as u64;
        self.set(WRITTEN, (quill.next - records) / RECORD_BYTES as u64);
    }

    /// Keeps what was written since [`Ring::pen`].
    #[inline(always)]
    pub fn keep(&mut self, pen: Pen) {
        if pen.dropped != 0 {
            self.lose(pen.dropped);
        }
        self.pen.next = pen.next;
        let records = self.base + RING_HEADER_BYTES as u64;
        self.set(WRITTEN, (pen.next - records) / RECORD_BYTES as u64);
    }

    #[cold]
    fn lose(&mut self, records: u64) {
        self.dropped += records;
        self.set(DROPPED, self.dropped);
    }

    #[inline(always)]
    fn set(&self, field: u64, value: u64) {
        // SAFETY: a field of the head set up in `new`. On x86-64 stores become visible in order; the fence keeps the
        // compiler from moving them.
        unsafe {
            compiler_fence(Ordering::Release);
            write_volatile((self.base + field * 8) as *mut u64, value);
        }
    }

    /// Notes the time, for displays of progress.
    #[inline(always)]
    pub fn look(&self, now: Instant) {
        self.set(NOW, now.as_nanos());
    }

    /// The run is over on this core, where the kernel refused so many calls.
    pub fn end(&mut self, now: Instant, refused: u64) {
        for (kind, arg) in [(EventKind::Refused, refused), (EventKind::End, 0)] {
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
    fn record(&mut self, record: Record) {
        let mut pen = self.pen();
        pen.store(record.stored());
        self.keep(pen);
    }
}

impl Sink for Pen {
    fn record(&mut self, record: Record) {
        self.store(record.stored());
    }

    #[inline(always)]
    fn store(&mut self, stored: Stored) {
        if self.next == self.end {
            self.dropped += 1;
            return;
        }
        // SAFETY: below the ring's end, hence inside this core's part of the trace memory.
        unsafe { (self.next as *mut [u64; RECORD_BYTES / 8]).write(stored.words()) };
        self.next += RECORD_BYTES as u64;
    }
}

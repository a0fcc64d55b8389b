//! The ring of one core's trace records.

use crate::arch::word as arch;
use crate::service::info;
use core::ptr::write_volatile;
use core::sync::atomic::{AtomicBool, Ordering};
use tactus_abi::layout::{MAX_CORES, TRACE};
use tactus_record::{EventKind, Record, RingHeader, Sink, Stored, RECORD_BYTES, RING_HEADER_BYTES};
use tactus_time::{CoreId, Instant};

/// How many records a [`ReservedWriter`] has room for; a power of two.
pub const RESERVED: usize = 8;

/// The ring of one core. There is one value for each core: see [`TraceRing::claim`].
pub struct TraceRing {
    base: u64,
    writer: RingWriter,
    dropped: u64,
    core: u8,
}

/// A writer of records while a decision is made: a copy of the ring's position, which needs no memory. What it wrote counts
/// once [`TraceRing::keep`] has it.
#[derive(Clone, Copy)]
pub struct RingWriter {
    next: u64,
    end: u64,
    dropped: u64,
}

/// A writer of at most [`RESERVED`] records, for which there is room; further ones replace the first.
#[derive(Clone, Copy)]
pub struct ReservedWriter {
    first: u64,
    written: usize,
}

/// Indices of the header's fields, in words.
const WRITTEN: u64 = 1;
const DROPPED: u64 = 2;
const NOW: u64 = 3;
const ENDED: u64 = 4;

impl TraceRing {
    /// Sets up the header of the core's ring, empty; none if there is no such core, or its ring was claimed before.
    pub fn claim(core: u8) -> Option<TraceRing> {
        static CLAIMED: [AtomicBool; MAX_CORES] = [const { AtomicBool::new(false) }; MAX_CORES];
        let bytes = info().ring_bytes;
        let exists = u32::from(core) < info().cores && bytes >= RING_HEADER_BYTES as u64;
        if !exists || CLAIMED.get(usize::from(core))?.swap(true, Ordering::Relaxed) {
            return None;
        }
        let base = TRACE + u64::from(core) * bytes;
        let capacity = (bytes - RING_HEADER_BYTES as u64) / RECORD_BYTES as u64;
        let next = base + RING_HEADER_BYTES as u64;
        let writer = RingWriter { next, end: next + capacity * RECORD_BYTES as u64, dropped: 0 };
        let header = RingHeader { capacity, written: 0, dropped: 0, now: 0, ended: 0 };
        // SAFETY: the trace memory is mapped writable into the scheduler; this is this core's part of it.
        unsafe { (base as *mut [u8; RING_HEADER_BYTES]).write_volatile(header.to_bytes()) };
        Some(TraceRing { base, writer, dropped: 0, core })
    }

    /// Begins to write.
    #[inline(always)]
    pub fn writer(&self) -> RingWriter {
        self.writer
    }

    /// Begins to write few records, if [`RESERVED`] of them fit.
    #[inline(always)]
    pub fn reserve(&self) -> Option<ReservedWriter> {
        let bytes = (RESERVED * RECORD_BYTES) as u64;
        (self.writer.next + bytes <= self.writer.end).then_some(ReservedWriter { first: self.writer.next, written: 0 })
    }

    /// Keeps what was written since [`TraceRing::reserve`].
    #[inline(always)]
    pub fn keep_reserved(&mut self, writer: ReservedWriter) {
        debug_assert!(writer.written <= RESERVED && writer.first == self.writer.next);
        self.writer.next = writer.first + (writer.written.min(RESERVED) * RECORD_BYTES) as u64;
        self.publish_written();
    }

    /// Keeps what was written since [`TraceRing::writer`].
    #[inline(always)]
    pub fn keep(&mut self, writer: RingWriter) {
        if writer.dropped != 0 {
            self.count_dropped(writer.dropped);
        }
        self.writer.next = writer.next;
        self.publish_written();
    }

    #[inline(always)]
    fn publish_written(&self) {
        let records = self.base + RING_HEADER_BYTES as u64;
        self.set(WRITTEN, (self.writer.next - records) / RECORD_BYTES as u64);
    }

    #[cold]
    fn count_dropped(&mut self, records: u64) {
        self.dropped += records;
        self.set(DROPPED, self.dropped);
    }

    #[inline(always)]
    fn set(&self, field: u64, value: u64) {
        // SAFETY: a field of the header set up in `claim`. What was written before becomes visible before.
        unsafe {
            arch::before_stores();
            write_volatile((self.base + field * 8) as *mut u64, value);
        }
    }

    /// Notes the time, for displays of progress.
    #[inline(always)]
    pub fn note_time(&self, now: Instant) {
        self.set(NOW, now.as_nanos());
    }

    /// Ends the trace of this core, where the kernel refused this number of calls.
    pub fn end(&mut self, now: Instant, refused: u64) {
        for (kind, arg) in [(EventKind::Refused, refused), (EventKind::End, 0)] {
            let core = CoreId(self.core);
            self.record(Record { time: now, arg, job: 0, task: None, kind, level: 0, core, ticket: 0 });
        }
        self.note_time(now);
        self.set(ENDED, 1);
    }

    /// Shows each record that was kept since the ring was so far; how far it is now. Begin with 0.
    pub fn since(&self, upto: u64, mut show: impl FnMut(Stored)) -> u64 {
        let first = self.base + RING_HEADER_BYTES as u64;
        let mut at = first + upto.min(self.writer.next - first);
        while at < self.writer.next {
            // SAFETY: a record that was written, inside this core's part of the trace memory; any word is a value.
            let [time, arg, what, place] = unsafe { (at as *const [u64; RECORD_BYTES / 8]).read() };
            show(Stored { time, arg, what, place });
            at += RECORD_BYTES as u64;
        }
        self.writer.next - first
    }

    /// How many records did not fit.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }
}

impl Sink for TraceRing {
    fn record(&mut self, record: Record) {
        let mut writer = self.writer();
        writer.store(record.stored());
        self.keep(writer);
    }
}

impl Sink for ReservedWriter {
    fn record(&mut self, record: Record) {
        self.store(record.stored());
    }

    #[inline(always)]
    fn store(&mut self, stored: Stored) {
        let at = self.first + (self.written % RESERVED * RECORD_BYTES) as u64;
        // SAFETY: among the reserved records, hence inside this core's part of the trace memory.
        unsafe { (at as *mut [u64; RECORD_BYTES / 8]).write(stored.words()) };
        self.written += 1;
    }
}

impl Sink for RingWriter {
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

//! Where measuring components write what they measure, and how the host finds it again.
//!
//! A [`Book`] lies at the start of a page of its component's memory. Nobody copies it out: the host looks through the
//! machine's memory for pages that begin with [`MAGIC`].
//!
//! Whoever follows the machine instruction by instruction sees each entry as well: with it an instruction is executed that does
//! nothing and holds the series' number ([`MARK`]).
#![no_std]

use core::sync::atomic::{AtomicU64, Ordering};

/// What the first word of a book in use is. Written when the book is opened, so that no file holds it.
pub const MAGIC: u64 = u64::from_le_bytes(*b"TACTBOOK");
/// How many entries a book holds.
pub const ENTRIES: usize = 1 << 15;
/// The bytes of the instruction that marks an entry (a `nop` with an operand), before the two that hold the series and the two
/// of [`MARK_END`].
pub const MARK: [u8; 3] = [0x0f, 0x1f, 0x80];
/// See [`MARK`].
pub const MARK_END: [u8; 2] = [0xc7, 0x7a];

const _: () = assert!(Series::ALL.len() < BEGINS as usize);

/// Added to the series' number in a mark: the next reading of the counter begins what the series' next entry tells.
pub const BEGINS: u16 = 64;

/// Tells whoever follows the machine that the next reading of the counter begins what the series' next entry tells. Without
/// this, the last reading but one before the entry does.
pub fn begin(series: Series) {
    mark(series as u64 + u64::from(BEGINS));
}

#[cfg(target_os = "none")]
use tactus_rt::marks::mark;

/// Nobody follows the host.
#[cfg(not(target_os = "none"))]
fn mark(_: u64) {}

/// Bytes before the first entry: magic, then how many entries were written, the ones that did not fit included.
pub const HEAD: usize = 16;

/// What an entry tells. All values are readings of the time-stamp counter, or differences of them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u64)]
pub enum Series {
    /// Two readings with nothing between them.
    Empty = 1,
    /// A null call.
    Null = 2,
    /// A call that does not exist.
    Unknown = 3,
    /// Invocation and return, nothing passed.
    Invoke = 4,
    /// Invocation and return, five words passed, two back.
    InvokeWords = 5,
    /// From one thread to another, both inside the scheduler.
    Switch = 6,
    /// The last reading of a thread before it was interrupted.
    Interrupted = 7,
    /// Its first reading afterwards.
    Resumed = 8,
    /// The time for which the interrupting timer was set.
    Expiry = 9,
    /// The upcall's first reading.
    Upcall = 10,
    /// The upcall's last reading before it dispatches the thread.
    Dispatched = 11,
    /// From a faulting instruction to the upcall's first reading.
    Fault = 12,
    /// From sending an inter-core event to the first reading of the other core's upcall.
    InterCore = 13,
    /// From a job's nominal release to its first instruction. The job's number stands in the upper half.
    Woken = 14,
    /// From the end of a job to the first instruction of another task's. The latter's number stands in the upper half.
    NextJob = 15,
    /// Invocation and return, ten words each way.
    InvokeTen = 16,
    /// From the trigger of a brand to the first reading of its upcall, in another component.
    Wake = 17,
    /// From the trigger until the triggering thread goes on: the upcall ran in between and did nothing.
    RunAndBack = 18,
    /// A trigger whose upcall is less urgent than the triggering thread.
    NotRun = 19,
    /// A trigger whose upcall is active already.
    Pending = 20,
    /// A trigger whose upcall the scheduler dispatches, until the triggering thread goes on: the scheduler's before and after.
    WithScheduler = 21,
    /// The last reading of a thread before a tick interrupted it.
    TickInterrupted = 22,
    /// The first reading of the tick's upcall, in another component.
    TickUpcall = 23,
    /// Taking and releasing the scheduler lock that nobody else wants.
    Lock = 24,
    /// The first reading in user mode since the machine's reset.
    First = 25,
    /// Through the scheduler library, inside the scheduler: from a thread that blocks to the next one.
    LibraryBlock = 26,
    /// The same where the time of both is counted in slots.
    LibraryBlockCounted = 27,
    /// From a thread that wakes a more urgent one to that one.
    LibraryWake = 28,
    /// The same where the time of both is counted in slots.
    LibraryWakeCounted = 29,
    /// From a thread that asks the scheduler to block it to the next one, both in another component than the scheduler.
    UserBlock = 30,
    /// From a thread that asks the scheduler to wake a more urgent one to that one, both in another component.
    UserWake = 31,
    /// From a device's interrupt to the first instruction of the job that it releases. The job's number stands in the upper half.
    Released = 32,
    /// From the call that sends a message to the first instruction of the job that it releases. The job's number stands in the upper
    /// half.
    Received = 33,
    /// Entering and leaving a critical section that nobody else wants.
    Section = 34,
    /// From the end of a critical section until the more urgent job that asked for its resource goes on with it.
    HandOver = 35,
    /// The last reading of a partition's task before its window ended.
    WindowLeft = 36,
    /// Its first reading in its next window.
    WindowEntered = 37,
    /// From the call that sends a message to the release of the job that it releases: the scheduler's look at the clock before it decides.
    /// The job's number stands in the upper half.
    Accepted = 38,
}

impl Series {
    /// All of them.
    pub const ALL: [Series; 38] = [
        Series::Empty,
        Series::Null,
        Series::Unknown,
        Series::Invoke,
        Series::InvokeWords,
        Series::Switch,
        Series::Interrupted,
        Series::Resumed,
        Series::Expiry,
        Series::Upcall,
        Series::Dispatched,
        Series::Fault,
        Series::InterCore,
        Series::Woken,
        Series::NextJob,
        Series::InvokeTen,
        Series::Wake,
        Series::RunAndBack,
        Series::NotRun,
        Series::Pending,
        Series::WithScheduler,
        Series::TickInterrupted,
        Series::TickUpcall,
        Series::Lock,
        Series::First,
        Series::LibraryBlock,
        Series::LibraryBlockCounted,
        Series::LibraryWake,
        Series::LibraryWakeCounted,
        Series::UserBlock,
        Series::UserWake,
        Series::Released,
        Series::Received,
        Series::Section,
        Series::HandOver,
        Series::WindowLeft,
        Series::WindowEntered,
        Series::Accepted,
    ];

    /// Whether what it tells begins with the last interrupt, not with a reading.
    pub fn begins_with_interrupt(self) -> bool {
        matches!(self, Series::Expiry | Series::Woken | Series::WindowEntered | Series::Released)
    }

    /// The series with this number, if there is one.
    pub fn from_u64(number: u64) -> Option<Series> {
        Series::ALL.into_iter().find(|series| *series as u64 == number)
    }
}

/// What the measuring client asks of the measuring scheduler; the first word of what it says.
pub mod order {
    /// `(slot, urgency)`: the calling thread has the slot of this urgency; slot 0 takes it away.
    pub const BIND: u64 = 1;
    /// `(brand, slot, urgency)`: the brand gets an upcall thread with a slot; the thread's number comes back.
    pub const ADOPT: u64 = 2;
    /// `(slot, urgency)`: the slot's urgency is another.
    pub const URGE: u64 = 3;
    /// `(upcall)`: dispatches it; comes back when it has ended.
    pub const DISPATCH: u64 = 4;
}

/// Whether a system of so many tasks is one that is followed step by step: then everything is done a few times only.
pub const fn is_followed(tasks: u32) -> bool {
    tasks < 16
}

/// One entry: its series, its value.
type Entry = [AtomicU64; 2];

/// A component's book.
#[repr(C, align(4096))]
pub struct Book {
    magic: AtomicU64,
    written: AtomicU64,
    entries: [Entry; ENTRIES],
}

impl Book {
    /// An empty one.
    pub const fn new() -> Book {
        Book {
            magic: AtomicU64::new(0),
            written: AtomicU64::new(0),
            entries: [const { [const { AtomicU64::new(0) }; 2] }; ENTRIES],
        }
    }

    /// Adds an entry. One that does not fit is counted and lost. One writer at a time.
    pub fn write(&self, series: Series, value: u64) {
        let place = self.written.load(Ordering::Relaxed);
        if let Some([number, stored]) = self.entries.get(place as usize) {
            stored.store(value, Ordering::Relaxed);
            number.store(series as u64, Ordering::Relaxed);
        }
        self.written.store(place + 1, Ordering::Relaxed);
        self.magic.store(MAGIC, Ordering::Relaxed);
        mark(series as u64);
    }
}

impl Default for Book {
    fn default() -> Self {
        Book::new()
    }
}

/// Reads the book that begins at the start of `bytes`; nothing if none begins there, or if entries did not fit.
pub fn read(bytes: &[u8]) -> Option<impl Iterator<Item = (Series, u64)> + '_> {
    let word = |at: usize| bytes.get(at..at + 8)?.try_into().ok().map(u64::from_le_bytes);
    if word(0)? != MAGIC {
        return None;
    }
    let written = word(8)? as usize;
    if written > ENTRIES {
        return None;
    }
    let entry = move |i: usize| Some((Series::from_u64(word(HEAD + 16 * i)?)?, word(HEAD + 16 * i + 8)?));
    Some((0..written).filter_map(entry))
}

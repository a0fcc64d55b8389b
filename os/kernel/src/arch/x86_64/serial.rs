//! The console's port: the first serial one, or what a sandbox's monitor names. A call passes on what it takes at once; what is left is held, and passed on by whoever
//! asks next, at the latest at the end of the run.

use super::port::{in8, out8};
use core::cell::UnsafeCell;
use core::fmt::{self, Write};
use core::sync::atomic::{AtomicBool, AtomicU16, AtomicUsize, Ordering};
use tactus_abi::console::{Lines, Port};

/// The first serial port.
pub const FIRST: u16 = 0x3f8;

/// The first address of the port in use.
static BASE: AtomicU16 = AtomicU16::new(FIRST);

fn base() -> u16 {
    BASE.load(Ordering::Relaxed)
}

/// How many bytes an empty port takes.
static QUEUE: AtomicUsize = AtomicUsize::new(1);

/// Sets this port to 115,200 baud, eight bits, no parity, and uses it.
pub fn set_up(port: u16) {
    BASE.store(port, Ordering::Relaxed);
    for (offset, value) in [(1, 0), (3, 0x80), (0, 1), (1, 0), (3, 3), (2, 0xc7), (4, 0x0b)] {
        out8(port + offset, value);
    }
    // It says so if it has the queue that was just switched on.
    if in8(port + 2) & 0xc0 == 0xc0 {
        QUEUE.store(16, Ordering::Relaxed);
    }
}

struct Shared(UnsafeCell<Lines>);

// SAFETY: whoever has set `BUSY` has it alone.
unsafe impl Sync for Shared {}

static LINES: Shared = Shared(UnsafeCell::new(Lines::new()));
static BUSY: AtomicBool = AtomicBool::new(false);

/// Writes something and passes on what the port takes at once: how many bytes are held still. None if another core is at it.
pub fn offer<R>(write: impl FnOnce(&mut Lines) -> R) -> Option<(R, usize)> {
    if BUSY.swap(true, Ordering::Acquire) {
        return None;
    }
    // SAFETY: this core has it alone until `BUSY` is cleared; the kernel is not preempted.
    let lines = unsafe { &mut *LINES.0.get() };
    let result = write(lines);
    lines.pass_on(&mut Serial, QUEUE.load(Ordering::Relaxed));
    let held = lines.held();
    BUSY.store(false, Ordering::Release);
    Some((result, held))
}

/// The port in use.
struct Serial;

impl Port for Serial {
    fn is_empty(&mut self) -> bool {
        in8(base() + 5) & 0x20 != 0
    }
    fn put(&mut self, byte: u8) {
        out8(base(), byte);
    }
}

/// Waits until the port has taken all that is held: before the run and at its end. A port that takes nothing, and a core that does not
/// go on, are waited for so long at most.
pub fn flush() {
    for _ in 0..1_000_000 {
        if let Some(((), 0)) = offer(|_| ()) {
            return;
        }
    }
}

/// Writes a line that the kernel says before the run or at its end, whole whoever else writes, and waits for the port.
#[cold]
pub fn line(text: fmt::Arguments<'_>) {
    // Once all is passed on there is room for any line.
    let write = |lines: &mut Lines| lines.held() == 0 && writeln!(lines, "{text}").is_ok();
    for _ in 0..ATTEMPTS {
        flush();
        if offer(write).is_some_and(|it| it.0) {
            break;
        }
    }
    flush();
}

/// So often a core tries again whose turn others have taken.
const ATTEMPTS: usize = 100;

/// Prints a line on the console and waits for the port.
macro_rules! say {
    ($($part:tt)*) => {
        $crate::arch::serial::line(format_args!($($part)*))
    };
}

pub(crate) use say;

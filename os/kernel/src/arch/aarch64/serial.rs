//! The console's port: a PL011, as the board `virt` has it. A call passes on what it takes at once; the rest is held, and passed on by
//! whoever asks next, at the latest at the end of the run.

use super::paging::direct;
use core::cell::UnsafeCell;
use core::fmt::{self, Write};
use core::sync::atomic::{AtomicBool, Ordering};
use tactus_abi::console::{Lines, Port};

/// Its physical address.
const PORT: u64 = 0x0900_0000;
const DATA: u64 = 0;
const FLAGS: u64 = 0x18;
const LINE_CONTROL: u64 = 0x2c;
const CONTROL: u64 = 0x30;
/// In the flags: the queue is empty.
const EMPTY: u32 = 1 << 7;
/// How many bytes an empty port takes.
const QUEUE: usize = 16;

fn write(register: u64, value: u32) {
    // SAFETY: a register of the port, mapped as a device's at `direct`.
    unsafe { direct::<u32>(PORT + register).write_volatile(value) }
}

/// Eight bits, no parity, queues on, at the speed that was set before; only sending.
pub fn set_up() {
    write(CONTROL, 0);
    write(LINE_CONTROL, 0x70);
    write(CONTROL, 1 | 1 << 8);
}

/// What is held, and who is at it.
struct Shared {
    lines: UnsafeCell<Lines>,
    busy: AtomicBool,
}

// SAFETY: whoever has set `busy` has the lines alone.
unsafe impl Sync for Shared {}

static HELD: Shared = Shared { lines: UnsafeCell::new(Lines::new()), busy: AtomicBool::new(false) };

/// Writes something and passes on what the port takes at once: how many bytes are held still. None if another core is at it.
pub fn offer<R>(write: impl FnOnce(&mut Lines) -> R) -> Option<(R, usize)> {
    if HELD.busy.swap(true, Ordering::Acquire) {
        return None;
    }
    // SAFETY: this core has it alone until `busy` is cleared; the kernel is not preempted.
    let lines = unsafe { &mut *HELD.lines.get() };
    let result = write(lines);
    lines.pass_on(&mut Serial, QUEUE);
    let held = lines.held();
    HELD.busy.store(false, Ordering::Release);
    Some((result, held))
}

struct Serial;

impl Port for Serial {
    fn is_empty(&mut self) -> bool {
        // SAFETY: as in `write`.
        unsafe { direct::<u32>(PORT + FLAGS).read_volatile() & EMPTY != 0 }
    }
    fn put(&mut self, byte: u8) {
        write(DATA, byte.into());
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
    // So often a core tries again whose turn others have taken.
    for _ in 0..100 {
        flush();
        // Once all is passed on there is room for any line.
        if offer(|lines| lines.held() == 0 && writeln!(lines, "{text}").is_ok()).is_some_and(|it| it.0) {
            break;
        }
    }
    flush();
}

/// Prints a line on the console and waits for the port.
macro_rules! say {
    ($($part:tt)*) => {
        $crate::arch::serial::line(format_args!($($part)*))
    };
}

pub(crate) use say;

//! The console: the first serial port, written byte by byte.

use super::port::{in8, out8};
use core::fmt;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

const BASE: u16 = 0x3f8;

/// Sets the port to 115,200 baud, eight bits, no parity.
pub fn set_up() {
    for (offset, value) in [(1, 0), (3, 0x80), (0, 1), (1, 0), (3, 3), (2, 0xc7), (4, 0x0b)] {
        out8(BASE + offset, value);
    }
}

/// Who has begun the line that is being written: 0 nobody, it is complete; [`SYSTEM`], or a component's number and one more. Cores
/// that write at the same time may break each other's lines, but never so that a component's text begins one.
static LINE: AtomicU32 = AtomicU32::new(0);
/// The kernel and the root scheduler.
const SYSTEM: u32 = u32::MAX;
/// What a line of any other component begins with, and no line of the system's; a number may stand behind the stroke.
const MARK: &[u8] = b"| ";

/// Writes what the kernel or the root scheduler says, on a line of its own.
pub fn write(bytes: &[u8]) {
    if !matches!(LINE.load(Relaxed), 0 | SYSTEM) {
        put(b'\n');
    }
    bytes.iter().for_each(|&byte| put(byte));
    if let Some(&last) = bytes.last() {
        LINE.store(if last == b'\n' { 0 } else { SYSTEM }, Relaxed);
    }
}

/// Writes what a component says: each line is marked, and nothing but text is passed on, so that none is taken for the system's. The
/// mark of a component of which a record is read from its lines has its number, so that none is taken for another's.
pub fn write_of(component: u16, numbered: bool, bytes: &[u8]) {
    let own = u32::from(component) + 1;
    for &byte in bytes {
        let begun = LINE.load(Relaxed);
        if begun != own {
            if begun != 0 {
                put(b'\n');
            }
            let (stroke, space) = MARK.split_at(1);
            stroke.iter().for_each(|&byte| put(byte));
            if numbered {
                put_number(component);
            }
            space.iter().for_each(|&byte| put(byte));
        }
        let is_text = byte == b'\n' || !byte.is_ascii_control();
        put(if is_text { byte } else { b'?' });
        LINE.store(if byte == b'\n' { 0 } else { own }, Relaxed);
    }
}

fn put_number(number: u16) {
    let mut unit = 10_000;
    while unit > 1 && number < unit {
        unit /= 10;
    }
    while unit > 0 {
        put(b'0' + (number / unit % 10) as u8);
        unit /= 10;
    }
}

fn put(byte: u8) {
    // Bounded, so that a missing port cannot hold the kernel.
    for _ in 0..100_000 {
        if in8(BASE + 5) & 0x20 != 0 {
            break;
        }
    }
    out8(BASE, byte);
}

/// For `write!`.
pub struct Console;

impl fmt::Write for Console {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        write(text.as_bytes());
        Ok(())
    }
}

/// Prints a line on the console.
macro_rules! say {
    ($($part:tt)*) => {{
        use core::fmt::Write as _;
        let _ = writeln!($crate::arch::serial::Console, $($part)*);
    }};
}

pub(crate) use say;

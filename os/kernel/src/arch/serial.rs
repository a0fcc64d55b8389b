//! The console: the first serial port, written byte by byte.

use super::port::{in8, out8};
use core::fmt;

const BASE: u16 = 0x3f8;

/// Sets the port to 115,200 baud, eight bits, no parity.
pub fn set_up() {
    for (offset, value) in [(1, 0), (3, 0x80), (0, 1), (1, 0), (3, 3), (2, 0xc7), (4, 0x0b)] {
        out8(BASE + offset, value);
    }
}

/// Writes bytes, waiting for each.
pub fn write(bytes: &[u8]) {
    for &byte in bytes {
        // Bounded, so that a missing port cannot hold the kernel.
        for _ in 0..100_000 {
            if in8(BASE + 5) & 0x20 != 0 {
                break;
            }
        }
        out8(BASE, byte);
    }
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
#[macro_export]
macro_rules! say {
    ($($part:tt)*) => {{
        use core::fmt::Write as _;
        let _ = writeln!($crate::arch::serial::Console, $($part)*);
    }};
}

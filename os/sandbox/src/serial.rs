//! What the monitor says: on the first serial port, which the kernel has set up by then.

use crate::processor::{in8, out8};
use core::fmt;

const BASE: u16 = 0x3f8;
/// How often the port is asked whether it takes a byte: one that takes none is given up.
const TRIES: u32 = 100_000;

/// The first serial port.
pub struct Port;

impl fmt::Write for Port {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            if !(0..TRIES).any(|_| in8(BASE + 5) & 0x20 != 0) {
                return Err(fmt::Error);
            }
            out8(BASE, byte);
        }
        Ok(())
    }
}

//! PCI devices as the firmware left them: found by their numbers, once, while the system is set up.

use super::port::{in32, out32};

const ADDRESS: u16 = 0xcf8;
const DATA: u16 = 0xcfc;
/// Buses that are looked at: what a machine has without bridges, and a few behind them.
const BUSES: u32 = 8;
const COMMAND: u8 = 0x04;
const HEADER_TYPE: u8 = 0x0c;
const FIRST_BAR: u8 = 0x10;
const MEMORY_SPACE: u32 = 2;
const BUS_MASTER: u32 = 4;
const MULTIFUNCTION: u32 = 1 << 23;

/// A function of a device.
#[derive(Clone, Copy)]
pub struct Function(u32);

/// Why a device cannot be used.
#[derive(Clone, Copy, Debug)]
pub enum PciError {
    /// There is none with these numbers.
    Absent,
    /// Its base address register holds no memory, or less than wanted.
    NoMemory,
}

impl Function {
    /// The first one of this vendor with one of these numbers.
    pub fn find(vendor: u16, devices: [u16; 2]) -> Result<Function, PciError> {
        for place in 0..BUSES << 5 {
            let first = Function(1 << 31 | place << 11);
            if first.read(0) == u32::MAX {
                continue;
            }
            let functions = if first.read(HEADER_TYPE) & MULTIFUNCTION != 0 { 8 } else { 1 };
            for number in 0..functions {
                let function = Function(first.0 | number << 8);
                let id = function.read(0);
                if id as u16 == vendor && devices.contains(&((id >> 16) as u16)) {
                    return Ok(function);
                }
            }
        }
        Err(PciError::Absent)
    }

    /// Four bytes of its configuration space.
    pub fn read(self, at: u8) -> u32 {
        out32(ADDRESS, self.0 | u32::from(at & 0xfc));
        in32(DATA)
    }

    fn write(self, at: u8, value: u32) {
        out32(ADDRESS, self.0 | u32::from(at & 0xfc));
        out32(DATA, value);
    }

    /// Physical address of the memory behind a base address register, at least `bytes` long and beginning at a page; the
    /// device answers there from now on.
    pub fn memory(self, bar: u8, bytes: u64) -> Result<u64, PciError> {
        let at = FIRST_BAR + bar.min(5) * 4;
        let low = self.read(at);
        let wide = low & 6 == 4 && bar < 5;
        if low & 1 != 0 {
            return Err(PciError::NoMemory);
        }
        // It says how long it is when all ones are written; it must not answer meanwhile.
        let command = self.read(COMMAND) & 0xffff;
        self.write(COMMAND, command & !MEMORY_SPACE);
        self.write(at, u32::MAX);
        let mut mask = u64::from(self.read(at) & !0xf);
        self.write(at, low);
        let mut address = u64::from(low & !0xf);
        if wide {
            let high = self.read(at + 4);
            self.write(at + 4, u32::MAX);
            mask |= u64::from(self.read(at + 4)) << 32;
            self.write(at + 4, high);
            address |= u64::from(high) << 32;
        } else {
            mask |= 0xffff_ffff << 32;
        }
        self.write(COMMAND, command | MEMORY_SPACE);
        let length = (!mask).wrapping_add(1);
        if address == 0 || address % 4096 != 0 || mask == 0 || length < bytes {
            return Err(PciError::NoMemory);
        }
        Ok(address)
    }

    /// From now on the device may read and write the machine's memory.
    pub fn let_it_access_memory(self) {
        let command = self.read(COMMAND) & 0xffff;
        self.write(COMMAND, command | MEMORY_SPACE | BUS_MASTER);
    }
}

//! The registers of a device that this component drives.

use tactus_abi::layout::DEVICES;

/// How much of the window a device has.
const STRIDE: u64 = 1 << 20;
/// How many devices a system has at most.
const MOST: u64 = 16;

/// A device's registers, as the image maps them into its driver. Where nothing is mapped, an access stops the component. No Rust
/// object lies in this window, so nothing that is written here changes one; a device that is given memory writes its own alone
/// ([`crate::virtio`]) or, where it can write anywhere, is trusted with all of it.
#[derive(Clone, Copy, Debug)]
pub struct Registers(u64);

impl Registers {
    /// Those of the component's device with this number, in the order of its cards.
    pub const fn of(device: u64) -> Registers {
        Registers(DEVICES + device % MOST * STRIDE)
    }

    /// The address of a register: of eight bytes within the device's part of the window.
    const fn at(self, offset: u64) -> u64 {
        self.0 + ((offset % STRIDE) & !7)
    }

    /// Reads 64 bits.
    pub fn read(self, offset: u64) -> u64 {
        // SAFETY: inside the window of devices, see above.
        unsafe { (self.at(offset) as *const u64).read_volatile() }
    }

    /// Writes 64 bits.
    pub fn write(self, offset: u64, value: u64) {
        // SAFETY: inside the window of devices, see above.
        unsafe { (self.at(offset) as *mut u64).write_volatile(value) }
    }
}

const CAPABILITIES: u64 = 0x000;
const CONFIGURATION: u64 = 0x010;
const COUNTER: u64 = 0x0f0;
const TIMER: u64 = 0x100;
const COMPARATOR: u64 = 0x108;

/// A high precision event timer (IA-PC HPET specification 1.0a) that interrupts again and again.
#[derive(Clone, Copy, Debug)]
pub struct PeriodicTimer(Registers);

impl PeriodicTimer {
    /// The timer with these registers.
    pub const fn of(registers: Registers) -> PeriodicTimer {
        PeriodicTimer(registers)
    }

    /// Sets it to interrupt on this line, by edges, with this period (ns). It stands still.
    ///
    /// # Panics
    /// If there is no such timer.
    pub fn set_up(self, period: u64, line: u64) {
        let PeriodicTimer(registers) = self;
        // Femtoseconds per count: 100 ns at most.
        let count = registers.read(CAPABILITIES) >> 32;
        assert!(count > 0 && count <= 100_000_000, "there is no such timer");
        registers.write(CONFIGURATION, 0);
        registers.write(COUNTER, 0);
        // By edges, enabled, periodic, and the next write sets the first one.
        registers.write(TIMER, 1 << 2 | 1 << 3 | 1 << 6 | line << 9);
        registers.write(COMPARATOR, period * 1_000_000 / count);
    }

    /// Lets it run.
    pub fn start(self) {
        self.0.write(CONFIGURATION, 1);
    }

    /// Where its counter stands.
    pub fn count(self) -> u64 {
        self.0.read(COUNTER)
    }
}

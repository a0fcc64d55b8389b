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

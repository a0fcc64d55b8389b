//! A device's PCI configuration space: a copy that the kernel made, to be read only. Writes go nowhere, but the question how
//! large a register's memory is, which is put by writing ones, is answered.

use crate::info;
use tactus_abi::layout::DEVICE_CARDS;
use tactus_abi::shared::DeviceCard;
use virtio_drivers::transport::pci::bus::{ConfigurationAccess, DeviceFunction};

const FIRST_REGISTER: u8 = 0x10;
const BEHIND_REGISTERS: u8 = 0x28;
/// Bits of a base address register that are no address.
const KIND: u32 = 0xf;

/// What the image tells of the component's one device.
pub fn card() -> Option<&'static DeviceCard> {
    // SAFETY: the image maps so many cards, read-only, into a component that drives a device.
    (info().devices == 1).then(|| unsafe { &*(DEVICE_CARDS as *const DeviceCard) }).filter(|it| it.configuration != 0)
}

/// See above.
pub struct Configuration {
    card: &'static DeviceCard,
    /// The register whose size is asked for.
    sized: [bool; 6],
}

impl Configuration {
    /// Of this device.
    pub fn new(card: &'static DeviceCard) -> Configuration {
        Configuration { card, sized: [false; 6] }
    }

    fn word(&self, offset: u8) -> u32 {
        // SAFETY: the copy is a page long, mapped read-only for the component's whole life.
        unsafe { ((self.card.configuration + u64::from(offset & !3)) as *const u32).read_volatile() }
    }

    /// Vendor, and in the upper half device.
    pub fn id(&self) -> u32 {
        self.word(0)
    }

    /// The interrupt line that firmware has led the device to.
    pub fn line(&self) -> u8 {
        self.word(0x3c) as u8
    }

    /// Where in the memory that the driver sees the register lies that tells why the device interrupts, and lets the line down when it
    /// is read (Virtio 1.2, 4.1.4.5). Nothing if there is none there.
    pub(super) fn interrupt_status(&self) -> Option<u64> {
        const VENDOR: u32 = 9;
        const STATUS: u32 = 3;
        // A list of 48 entries at most fits the space; one that goes in a circle ends there.
        let mut next = self.word(0x34) as u8;
        for _ in 0..48 {
            let (at, head) = (next & !3, self.word(next));
            next = (head >> 8) as u8;
            if at == 0 {
                return None;
            }
            if head & 0xff == VENDOR && head >> 24 == STATUS {
                let register = FIRST_REGISTER + 4 * (self.word(at.wrapping_add(4)) as u8 % 6);
                let offset = u64::from(self.word(at.wrapping_add(8)));
                return (self.wide(register) == Some(self.physical()) && offset < self.card.bytes).then_some(offset);
            }
        }
        None
    }

    /// The physical address of the memory that the driver sees, from the register that it is in.
    pub fn physical(&self) -> u64 {
        (0..5).map(|place| FIRST_REGISTER + 4 * place).find_map(|offset| self.wide(offset)).unwrap_or(0)
    }

    /// The address in a register of 64 bits for memory.
    fn wide(&self, offset: u8) -> Option<u64> {
        let low = self.word(offset);
        let address = u64::from(low & !KIND) | u64::from(self.word(offset + 4)) << 32;
        (low & 0b111 == 0b100 && address != 0).then_some(address)
    }
}

impl ConfigurationAccess for Configuration {
    fn read_word(&self, _: DeviceFunction, offset: u8) -> u32 {
        let word = self.word(offset);
        let place = usize::from(offset.wrapping_sub(FIRST_REGISTER)) / 4;
        if !(FIRST_REGISTER..BEHIND_REGISTERS).contains(&offset) || !self.sized[place] {
            return word;
        }
        // The lower half of a register of 64 bits, or its upper half.
        if self.wide(offset).is_some() {
            !(self.card.bytes as u32 - 1) & !KIND | word & KIND
        } else {
            u32::MAX
        }
    }

    fn write_word(&mut self, _: DeviceFunction, offset: u8, data: u32) {
        if (FIRST_REGISTER..BEHIND_REGISTERS).contains(&offset) {
            self.sized[usize::from(offset - FIRST_REGISTER) / 4] = data == u32::MAX;
        }
    }

    /// # Safety
    /// None is asked for here: both read a copy that never changes, and each has its own note of the registers that are sized.
    unsafe fn unsafe_clone(&self) -> Configuration {
        Configuration { card: self.card, sized: self.sized }
    }
}

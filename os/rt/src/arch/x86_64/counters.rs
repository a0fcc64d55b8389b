//! The counters of Intel's and AMD's processors, by their registers (Intel SDM volume 3, chapter on performance monitoring, architectural versions 2
//! and later; AMD APM volume 2, 13.2).
//!
//! Registers are reached through [`Registers`], so that who may touch them decides, and tests need no processor. Counts are of the core
//! on which this runs.

use crate::counters::{Counters, Event, Refused};

/// Model-specific registers and CPUID of one core.
pub trait Registers {
    /// Reads a register.
    fn read(&self, register: u32) -> u64;
    /// Writes a register.
    fn write(&mut self, register: u32, value: u64);
    /// `eax`, `ebx`, `ecx`, `edx` of a leaf.
    fn cpuid(&self, leaf: u32) -> [u32; 4];
}

/// Who made the processor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Maker {
    /// Intel.
    Intel,
    /// AMD.
    Amd,
}

/// First register that selects an event, and first counter: Intel's.
const INTEL: [u32; 2] = [0x186, 0xc1];
/// First of the fixed counters, what they count by, and the register that lets all count: Intel's.
const FIXED: u32 = 0x309;
const FIXED_CONTROL: u32 = 0x38d;
const GLOBAL_CONTROL: u32 = 0x38f;
/// The same for AMD's, of old processors, and of those with the extension, where the two alternate.
const AMD: [u32; 2] = [0xc001_0000, 0xc001_0004];
const AMD_EXTENDED: [u32; 2] = [0xc001_0200, 0xc001_0201];

const USER: u64 = 1 << 16;
const SYSTEM: u64 = 1 << 17;
const INTERRUPT: u64 = 1 << 20;
const ENABLE: u64 = 1 << 22;

/// The most channels of any processor that is driven.
const MOST: usize = 12;

#[derive(Clone, Copy)]
struct Channel {
    /// Selection without the enabling bit; of a fixed one anything but 0. 0 if it is not configured.
    selection: u64,
    counts: bool,
}

/// The counters of one core.
pub struct Architectural<R> {
    registers: R,
    maker: Maker,
    /// Family and model, as CPUID joins them.
    model: u32,
    programmable: usize,
    fixed: usize,
    /// Bits of a counter.
    width: u32,
    extended: bool,
    channels: [Channel; MOST],
}

impl<R: Registers> Architectural<R> {
    /// Finds the counters of the current core; nothing where there are none that are known.
    pub fn new(registers: R) -> Option<Self> {
        let [_, b, c, d] = registers.cpuid(0);
        let maker = match [b, d, c].map(u32::to_le_bytes).concat_text() {
            text if &text == b"GenuineIntel" => Maker::Intel,
            text if &text == b"AuthenticAMD" => Maker::Amd,
            _ => return None,
        };
        let signature = registers.cpuid(1)[0];
        let model = signature >> 4 & 0xf | signature >> 12 & 0xf0;
        let (programmable, fixed, width, extended) = match maker {
            Maker::Intel => {
                let [a, _, _, d] = registers.cpuid(10);
                // Version 1 has no register that lets all count at once.
                if a & 0xff < 2 {
                    return None;
                }
                ((a >> 8 & 0xff) as usize, (d & 0x1f) as usize, a >> 16 & 0xff, false)
            }
            Maker::Amd => match registers.cpuid(0x8000_0001)[2] & 1 << 23 {
                0 => (4, 0, 48, false),
                _ => (6, 0, 48, true),
            },
        };
        let programmable = programmable.min(8);
        let fixed = fixed.min(3);
        let free = Channel { selection: 0, counts: false };
        Some(Architectural { registers, maker, model, programmable, fixed, width, extended, channels: [free; MOST] })
    }

    /// Who made the processor.
    pub fn maker(&self) -> Maker {
        self.maker
    }

    /// The registers, given back.
    pub fn into_registers(self) -> R {
        self.registers
    }

    /// The register that selects a programmable channel's event, and its counter; of a fixed one only that.
    fn places(&self, channel: usize) -> [u32; 2] {
        let number = channel as u32;
        match (self.maker, self.extended) {
            (Maker::Intel, _) if channel >= self.programmable => [0, FIXED + number - self.programmable as u32],
            (Maker::Intel, _) => INTEL.map(|first| first + number),
            (Maker::Amd, false) => AMD.map(|first| first + number),
            (Maker::Amd, true) => AMD_EXTENDED.map(|first| first + 2 * number),
        }
    }

    /// Event and unit mask.
    fn selection(&self, event: Event) -> Option<u64> {
        // Sandy Bridge, whose HITM is event D2H, mask 04H (Gracioli 2014, table 16).
        let sandy_bridge = self.maker == Maker::Intel && [0x2a, 0x2d].contains(&self.model);
        Some(match (self.maker, event) {
            (_, Event::Instructions) => 0xc0,
            (Maker::Intel, Event::Cycles) => 0x3c,
            (Maker::Amd, Event::Cycles) => 0x76,
            // What goes to the last level, and what misses it.
            (Maker::Intel, Event::PrivateMisses) => 0x4f2e,
            (Maker::Intel, Event::SharedMisses) => 0x412e,
            (_, Event::Changed) if sandy_bridge => 0x04d2,
            _ => return None,
        })
    }

    fn configured(&self, channel: usize) -> Result<Channel, Refused> {
        let it = self.channels[..self.channels()].get(channel).ok_or(Refused::NoChannel)?;
        (it.selection != 0).then_some(*it).ok_or(Refused::NotNow)
    }

    fn mask(&self) -> u64 {
        u64::MAX >> (64 - self.width.clamp(1, 64))
    }

    /// Writes what lets the channel count, or keeps it from counting.
    fn enable(&mut self, channel: usize, counts: bool) {
        let selection = self.channels[channel].selection;
        if channel >= self.programmable {
            let shift = 4 * (channel - self.programmable) as u32;
            // Both levels, and the interrupt if it was asked for.
            let bits = if counts { 3 | u64::from(selection & INTERRUPT != 0) << 3 } else { 0 };
            let others = self.registers.read(FIXED_CONTROL) & !(0xf << shift);
            self.registers.write(FIXED_CONTROL, others | bits << shift);
        } else {
            let [select, _] = self.places(channel);
            self.registers.write(select, if counts { selection | ENABLE } else { selection });
        }
        if self.maker == Maker::Intel {
            let bit = if channel >= self.programmable { 32 + channel - self.programmable } else { channel };
            let others = self.registers.read(GLOBAL_CONTROL) & !(1 << bit);
            self.registers.write(GLOBAL_CONTROL, others | u64::from(counts) << bit);
        }
    }
}

impl<R: Registers> Counters for Architectural<R> {
    fn channels(&self) -> usize {
        self.programmable + self.fixed
    }

    fn configure(&mut self, channel: usize, event: Event) -> Result<(), Refused> {
        if channel >= self.channels() {
            return Err(Refused::NoChannel);
        }
        let selection = if channel >= self.programmable {
            let own = [Event::Instructions, Event::Cycles].get(channel - self.programmable);
            (own == Some(&event)).then_some(1).ok_or(Refused::NoSuchEvent)?
        } else {
            self.selection(event).ok_or(Refused::NoSuchEvent)? | USER | SYSTEM
        };
        self.channels[channel] = Channel { selection, counts: false };
        self.enable(channel, false);
        let [_, counter] = self.places(channel);
        self.registers.write(counter, 0);
        Ok(())
    }

    fn start(&mut self, channel: usize) -> Result<(), Refused> {
        if self.configured(channel)?.counts {
            return Err(Refused::NotNow);
        }
        self.enable(channel, true);
        self.channels[channel].counts = true;
        Ok(())
    }

    fn stop(&mut self, channel: usize) -> Result<(), Refused> {
        if !self.configured(channel)?.counts {
            return Err(Refused::NotNow);
        }
        self.enable(channel, false);
        self.channels[channel].counts = false;
        Ok(())
    }

    fn read(&self, channel: usize) -> Result<u64, Refused> {
        self.configured(channel)?;
        let [_, counter] = self.places(channel);
        Ok(self.registers.read(counter) & self.mask())
    }

    fn interrupt_after(&mut self, channel: usize, many: u64) -> Result<(), Refused> {
        if self.configured(channel)?.counts {
            return Err(Refused::NotNow);
        }
        // What is written is 32 bits with a sign on Intel's without full-width writes.
        if many == 0 || many > 1 << 31 {
            return Err(Refused::NoInterrupt);
        }
        self.channels[channel].selection |= INTERRUPT;
        self.enable(channel, false);
        let [_, counter] = self.places(channel);
        self.registers.write(counter, many.wrapping_neg() & self.mask());
        Ok(())
    }
}

/// Twelve bytes from three words.
trait ConcatText {
    fn concat_text(self) -> [u8; 12];
}

impl ConcatText for [[u8; 4]; 3] {
    fn concat_text(self) -> [u8; 12] {
        let mut text = [0; 12];
        for (place, bytes) in text.chunks_exact_mut(4).zip(self) {
            place.copy_from_slice(&bytes);
        }
        text
    }
}

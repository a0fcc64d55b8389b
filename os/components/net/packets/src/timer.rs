//! The packet source: one timer of a high precision event timer (IA-PC HPET specification 1.0a), set like the interrupt of a
//! network card: for the next packet, but not too soon after the last one.
//!
//! Its counter tells which packets have arrived. It runs on virtual time, whether the guest looks or not, so arrivals are out
//! of the guest's hands and yet the same in every run. It interrupts by edges: one that comes while its line is masked is lost,
//! and the next one finds the packets.

/// The device's registers, by offset.
pub trait Registers {
    /// Reads 64 bits.
    fn read(&self, offset: u64) -> u64;
    /// Writes 64 bits.
    fn write(&self, offset: u64, value: u64);
}

const CAPABILITIES: u64 = 0x000;
const CONFIGURATION: u64 = 0x010;
const COUNTER: u64 = 0x0f0;
const TIMER: u64 = 0x100;
const COMPARATOR: u64 = 0x108;

const ENABLE: u64 = 1;
const INTERRUPT: u64 = 1 << 2;
const ROUTE: u32 = 9;
const ROUTES: u32 = 32;
const FEMTOSECONDS: u64 = 1_000_000_000_000_000;

/// Why the device cannot be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unfit {
    /// No such device: its registers read as ones or zeros.
    Absent,
    /// The timer cannot interrupt on this line.
    Line(u32),
}

/// The device, in use.
#[derive(Debug)]
pub struct Timer<R> {
    registers: R,
    frequency: u64,
}

impl<R: Registers> Timer<R> {
    /// Looks whether the device can interrupt on `line`; it stands still afterwards.
    pub fn find(registers: R, line: u32) -> Result<Timer<R>, Unfit> {
        let period = registers.read(CAPABILITIES) >> 32;
        // The specification's limit: 100 ns.
        if period == 0 || period > 100_000_000 {
            return Err(Unfit::Absent);
        }
        let configuration = registers.read(TIMER);
        if line > 31 || configuration >> ROUTES & 1 << line == 0 {
            return Err(Unfit::Line(line));
        }
        registers.write(CONFIGURATION, 0);
        registers.write(COUNTER, 0);
        registers.write(TIMER, INTERRUPT | u64::from(line) << ROUTE);
        Ok(Timer { registers, frequency: FEMTOSECONDS / period })
    }

    /// The same again, while it runs.
    pub fn running(registers: R) -> Timer<R> {
        let period = (registers.read(CAPABILITIES) >> 32).max(1);
        Timer { registers, frequency: FEMTOSECONDS / period }
    }

    /// Counts per second.
    pub fn frequency(&self) -> u64 {
        self.frequency
    }

    /// Lets the counter run from 0, and interrupts at `count`.
    pub fn start(&self, count: u64) {
        self.interrupt_at(count);
        self.registers.write(CONFIGURATION, ENABLE);
    }

    /// Interrupts once, when the counter comes to `count`.
    pub fn interrupt_at(&self, count: u64) {
        self.registers.write(COMPARATOR, count);
    }

    /// Where the counter stands.
    pub fn now(&self) -> u64 {
        self.registers.read(COUNTER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::cell::RefCell;

    /// A device that remembers what was written to it, in order.
    struct Stub {
        capabilities: u64,
        timer: u64,
        written: RefCell<([(u64, u64); 16], usize)>,
    }

    impl Registers for &Stub {
        fn read(&self, offset: u64) -> u64 {
            match offset {
                CAPABILITIES => self.capabilities,
                TIMER => self.timer,
                _ => 7,
            }
        }
        fn write(&self, offset: u64, value: u64) {
            let mut written = self.written.borrow_mut();
            let place = written.1;
            written.0[place] = (offset, value);
            written.1 += 1;
        }
    }

    fn stub(period: u64, lines: u64) -> Stub {
        Stub {
            capabilities: period << 32 | 0x8086_a201 & 0xffff_ffff,
            timer: lines << ROUTES,
            written: RefCell::new(([(0, 0); 16], 0)),
        }
    }

    #[test]
    fn the_timer_is_set_up_before_it_runs() {
        let device = stub(10_000_000, 1 << 20);
        let timer = Timer::find(&device, 20).expect("it can interrupt there");
        assert_eq!((timer.frequency(), timer.now()), (100_000_000, 7));
        timer.start(4_800);
        timer.interrupt_at(9_600);
        let written = device.written.borrow();
        let expected = [
            (CONFIGURATION, 0),
            (COUNTER, 0),
            (TIMER, 20 << 9 | 0b100),
            (COMPARATOR, 4_800),
            (CONFIGURATION, 1),
            (COMPARATOR, 9_600),
        ];
        assert_eq!(&written.0[..written.1], &expected);
    }

    #[test]
    fn a_device_that_cannot_do_it_is_refused() {
        assert_eq!(Timer::find(&stub(0, 0), 20).err(), Some(Unfit::Absent));
        assert_eq!(Timer::find(&stub(u64::MAX >> 32, 0), 20).err(), Some(Unfit::Absent));
        assert_eq!(Timer::find(&stub(10_000_000, 1 << 2), 20).err(), Some(Unfit::Line(20)));
    }
}

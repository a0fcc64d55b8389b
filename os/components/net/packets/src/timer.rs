//! The packet source: one timer of a high precision event timer (IA-PC HPET specification 1.0a), used like a network card
//! that interrupts at most once in a given time.
//!
//! Its counter tells which packets have arrived. It runs on virtual time, whether the guest looks or not, so arrivals are out
//! of the guest's hands and yet the same in every run.

/// The device's registers, by offset.
pub trait Registers {
    /// Reads 64 bits.
    fn read(&self, offset: u64) -> u64;
    /// Writes 64 bits.
    fn write(&self, offset: u64, value: u64);
}

const CAPABILITIES: u64 = 0x000;
const CONFIGURATION: u64 = 0x010;
const STATUS: u64 = 0x020;
const COUNTER: u64 = 0x0f0;
const TIMER: u64 = 0x100;
const COMPARATOR: u64 = 0x108;

const ENABLE: u64 = 1;
const LEVEL: u64 = 1 << 1;
const INTERRUPT: u64 = 1 << 2;
const PERIODIC: u64 = 1 << 3;
const CAN_BE_PERIODIC: u64 = 1 << 4;
const SET_VALUE: u64 = 1 << 6;
const ROUTE: u32 = 9;
const ROUTES: u32 = 32;
/// Our timer's bit of the status register.
const OURS: u64 = 1;
const FEMTOSECONDS: u64 = 1_000_000_000_000_000;

/// Why the device cannot be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unfit {
    /// No such device: its registers read as ones or zeros.
    Absent,
    /// The timer cannot interrupt again and again.
    NotPeriodic,
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
        if configuration & CAN_BE_PERIODIC == 0 {
            return Err(Unfit::NotPeriodic);
        }
        if line > 31 || configuration >> ROUTES & 1 << line == 0 {
            return Err(Unfit::Line(line));
        }
        registers.write(CONFIGURATION, 0);
        registers.write(COUNTER, 0);
        registers.write(TIMER, LEVEL | INTERRUPT | PERIODIC | SET_VALUE | u64::from(line) << ROUTE);
        Ok(Timer { registers, frequency: FEMTOSECONDS / period })
    }

    /// Counts per second.
    pub fn frequency(&self) -> u64 {
        self.frequency
    }

    /// Begins at count 0 and interrupts every `counts`.
    pub fn start(&self, counts: u64) {
        // The first value is the comparator, the second the distance to the next.
        self.registers.write(COMPARATOR, counts);
        self.registers.write(COMPARATOR, counts);
        self.registers.write(CONFIGURATION, ENABLE);
    }

    /// Where the counter stands.
    pub fn now(&self) -> u64 {
        self.registers.read(COUNTER)
    }

    /// The interrupt was seen: the line goes down until the next one.
    pub fn seen(&self) {
        self.registers.write(STATUS, OURS);
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
            timer: lines << ROUTES | CAN_BE_PERIODIC,
            written: RefCell::new(([(0, 0); 16], 0)),
        }
    }

    #[test]
    fn the_timer_is_set_up_before_it_runs() {
        let device = stub(10_000_000, 1 << 20);
        let timer = Timer::find(&device, 20).expect("it can interrupt there");
        assert_eq!((timer.frequency(), timer.now()), (100_000_000, 7));
        timer.start(4_800);
        timer.seen();
        let written = device.written.borrow();
        let expected = [
            (CONFIGURATION, 0),
            (COUNTER, 0),
            (TIMER, 20 << 9 | 0b100_1110),
            (COMPARATOR, 4_800),
            (COMPARATOR, 4_800),
            (CONFIGURATION, 1),
            (STATUS, 1),
        ];
        assert_eq!(&written.0[..written.1], &expected);
    }

    #[test]
    fn a_device_that_cannot_do_it_is_refused() {
        assert_eq!(Timer::find(&stub(0, 0), 20).err(), Some(Unfit::Absent));
        assert_eq!(Timer::find(&stub(u64::MAX >> 32, 0), 20).err(), Some(Unfit::Absent));
        assert_eq!(Timer::find(&stub(10_000_000, 1 << 2), 20).err(), Some(Unfit::Line(20)));
        let one_shot = Stub { timer: 1 << (32 + 20), ..stub(10_000_000, 0) };
        assert_eq!(Timer::find(&one_shot, 20).err(), Some(Unfit::NotPeriodic));
    }
}

//! Which ports and model-specific registers the kernel reaches without the monitor. All others are refused: what is not listed here
//! leads to an exit.

use core::cell::UnsafeCell;
use tactus_abi::sandbox::MOST;

/// The port that ends the machine. It leads to an exit, so that the monitor can tell what it counted.
pub const EXIT_PORT: u16 = 0xf4;

/// Ports of the kernel's own devices, first and last.
const PORTS: [(u16, u16); 7] = [
    // Interrupt controllers.
    (0x20, 0x21),
    (0xa0, 0xa1),
    (0x4d0, 0x4d1),
    // Interval timer and the gate of its third counter.
    (0x40, 0x43),
    (0x61, 0x61),
    // A write here takes a moment.
    (0x80, 0x80),
    // The serial port.
    (0x3f8, 0x3ff),
];

/// Registers that are the kernel's alone: what it writes there concerns nobody else.
const REGISTERS: [u32; 16] = [
    // Speculation, system calls, page attributes, segments.
    0x48,
    0x49,
    0x10a,
    0x174,
    0x175,
    0x176,
    0x1d9,
    0x277,
    0xc000_0081,
    0xc000_0082,
    0xc000_0083,
    0xc000_0084,
    0xc000_0100,
    0xc000_0101,
    0xc000_0102,
    0xc000_0103,
];
/// Those of the core's interrupt controller, where it is reached through registers: priority, end of an interrupt, spurious ones, errors, the
/// timer's count, an interrupt to itself. Not the register of commands, nor those with kinds of interrupts ([`crate::apic::LINES`]). Nor the
/// one with the rest of the timer's count: to read it ends an emulator that counts instructions.
const CONTROLLER: [u32; 7] = [0x808, 0x80b, 0x80f, 0x828, 0x838, 0x83e, 0x83f];
/// Of these it may read: numbers of core and version.
const CONTROLLER_READABLE: [u32; 3] = [0x802, 0x803, 0x80d];
/// Registers that the kernel may read.
const READABLE: [u32; 2] = [0x1b, crate::processor::EFER];

#[repr(C, align(4096))]
struct Map<const N: usize>(UnsafeCell<[u8; N]>);

// SAFETY: written before the kernel runs, by one core; read by the processor alone after that.
unsafe impl<const N: usize> Sync for Map<N> {}

impl<const N: usize> Map<N> {
    /// Lets a bit lead to no exit.
    fn open(&self, bit: usize) {
        // SAFETY: see `Sync`; in bounds by the remainder.
        unsafe { (*self.0.get())[bit / 8 % N] &= !(1 << (bit % 8)) }
    }

    fn address(&self) -> u64 {
        self.0.get() as u64
    }
}

/// A bit for each port, for each sandbox.
static PORT_MAPS: [Map<12288>; MOST] = [const { Map(UnsafeCell::new([0xff; 12288])) }; MOST];
/// Two bits for each register: reads, writes.
static REGISTER_MAP: Map<8192> = Map(UnsafeCell::new([0xff; 8192]));

/// The two maps' addresses.
pub struct Maps {
    /// Of ports.
    pub ports: u64,
    /// Of registers.
    pub registers: u64,
}

/// The first of a register's two bits.
fn place(register: u32) -> usize {
    let (range, offset) = match register {
        0xc000_0000..=0xc000_1fff => (1, register - 0xc000_0000),
        0xc001_0000..=0xc001_1fff => (2, register - 0xc001_0000),
        other => (0, other & 0x1fff),
    };
    range * 2048 * 8 + offset as usize * 2
}

/// Opens the registers, which are the same for all kernels. Once.
pub fn open_registers() {
    open(&REGISTERS, &READABLE);
}

/// Opens those of interrupt controllers. Once, before any kernel runs.
pub fn open_controllers() {
    open(&CONTROLLER, &CONTROLLER_READABLE);
}

fn open(registers: &[u32], readable: &[u32]) {
    registers.iter().for_each(|register| REGISTER_MAP.open(place(*register) + 1));
    registers.iter().chain(readable).for_each(|register| REGISTER_MAP.open(place(*register)));
}

/// The maps of a kernel that has the machine.
pub fn of_machine() -> Maps {
    with_ports(0, &PORTS)
}

/// The maps of a kernel beside others: it has the serial port that begins here.
pub fn of_part(sandbox: usize, console: u16) -> Maps {
    with_ports(sandbox, &[(console, console + 7)])
}

fn with_ports(sandbox: usize, ports: &[(u16, u16)]) -> Maps {
    let map = &PORT_MAPS[sandbox % MOST];
    ports.iter().flat_map(|(first, last)| *first..=*last).for_each(|port| map.open(port.into()));
    Maps { ports: map.address(), registers: REGISTER_MAP.address() }
}

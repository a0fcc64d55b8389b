//! What the kernel may not do without the monitor: each exit is counted by its cause, and refused as a machine would that has no such
//! thing.

use crate::control::{ControlBlock, Exception, Guest};
use crate::interrupts;
use crate::permissions::EXIT_PORT;
use crate::processor::EFER;
use crate::serial::Port;
use core::fmt::Write;

/// What the machine ends with if its kernel cannot go on: not what a scheduler or a kernel ends it with.
pub const STOPPED: u32 = 0x7d;

/// Bits of [`EFER`] that a kernel may write: system calls, long mode, no-execute.
const MODES: u64 = 1 | 1 << 8 | 1 << 10 | 1 << 11;

/// What comes after an exit.
pub enum Next {
    /// The kernel goes on.
    GoOn,
    /// The machine ends with this code.
    End(u32),
}

/// How many exits there were, by cause.
#[derive(Default)]
pub struct Counts {
    modes: u64,
    ports: u64,
    registers: u64,
    instructions: u64,
    interrupts: u64,
    other: u64,
    last_port: u16,
    last_register: u32,
}

impl Counts {
    /// Tells all that is not zero.
    pub fn report(&self) {
        let _ = write!(Port, "monitor: exits: end of the run 1");
        for (what, count) in [
            ("modes turned on", self.modes),
            ("ports", self.ports),
            ("registers", self.registers),
            ("instructions", self.instructions),
            ("interrupts", self.interrupts),
            ("other", self.other),
        ] {
            if count > 0 {
                let _ = write!(Port, ", {what} {count}");
            }
        }
        if self.ports > 0 {
            let _ = write!(Port, ", last port {:#x}", self.last_port);
        }
        if self.registers > 0 {
            let _ = write!(Port, ", last register {:#x}", self.last_register);
        }
        let _ = writeln!(Port);
    }
}

/// Does what is to be done at an exit.
pub fn handle(block: ControlBlock, guest: &mut Guest, counts: &mut Counts) -> Next {
    let (code, first, second) = block.exit();
    match code {
        0x7b => return port(block, (first, second), counts),
        0x7c => register(block, guest, first != 0, counts),
        // Non-maskable and system-management interrupts, INIT: nobody's here.
        0x61..=0x63 => {
            counts.interrupts += 1;
            interrupts::take();
        }
        // Instructions of virtualisation, and `invlpga`.
        0x7a | 0x80..=0x86 => {
            counts.instructions += 1;
            block.raise(Exception::InvalidOpcode);
        }
        _ => return stopped(block, counts),
    }
    Next::GoOn
}

fn port(block: ControlBlock, (first, next): (u64, u64), counts: &mut Counts) -> Next {
    let (port, reads, of_memory) = ((first >> 16) as u16, first & 1 != 0, first & 1 << 2 != 0);
    if port == EXIT_PORT && !reads && !of_memory {
        return Next::End(block.rax() as u32);
    }
    counts.ports += 1;
    counts.last_port = port;
    if of_memory {
        block.raise(Exception::GeneralProtection);
        return Next::GoOn;
    }
    if reads {
        // As a port without a device answers. Eight and 16 bits leave the rest of the register.
        let width = first >> 4 & 7;
        let (mask, kept) = match width {
            1 => (0xff, !0xff),
            2 => (0xffff, !0xffff),
            _ => (0xffff_ffff, 0),
        };
        block.set_rax(block.rax() & kept | mask);
    }
    block.go_on_at(next);
    Next::GoOn
}

fn register(block: ControlBlock, guest: &Guest, writes: bool, counts: &mut Counts) {
    let number = guest.rcx as u32;
    let value = (guest.rdx << 32) | block.rax() & 0xffff_ffff;
    if writes && number == EFER && value & !(MODES | crate::processor::SVME) == 0 {
        counts.modes += 1;
        block.set_modes(value);
        block.go_on_at(block.rip() + 2);
        return;
    }
    counts.registers += 1;
    counts.last_register = number;
    block.raise(Exception::GeneralProtection);
}

/// The kernel cannot go on.
fn stopped(block: ControlBlock, counts: &mut Counts) -> Next {
    let (code, first, second) = block.exit();
    counts.other += 1;
    let _ = match code {
        0x7f => writeln!(Port, "monitor: the kernel failed while it handled a failure, at {:#x}", block.rip()),
        0x400 => writeln!(Port, "monitor: the kernel touched {second:#x}, which it may not, at {:#x}", block.rip()),
        _ => writeln!(Port, "monitor: exit {code:#x} ({first:#x}, {second:#x}) at {:#x}", block.rip()),
    };
    Next::End(STOPPED)
}

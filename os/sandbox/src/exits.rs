//! What the kernel may not do without the monitor: each exit is counted by its cause, and refused as a machine would that has no such
//! thing.

use crate::apic;
use crate::control::{ControlBlock, Exception, Guest};
use crate::interrupts;
use crate::permissions::EXIT_PORT;
use crate::processor::EFER;
use crate::serial::Port;
use core::fmt::Write;
use tactus_abi::sandbox::CAUSES;

/// What the machine ends with if its kernel cannot go on: not what a scheduler or a kernel ends it with.
pub const STOPPED: u32 = 0x7d;

/// Bits of [`EFER`] that a kernel may write: system calls, long mode, no-execute.
const MODES: u64 = 1 | 1 << 8 | 1 << 10 | 1 << 11;

/// What comes after an exit.
pub enum Next {
    /// The kernel goes on.
    GoOn,
    /// The kernel ended the run, with this code.
    End(u32),
    /// The kernel cannot go on.
    Dead,
}

/// Places in [`CAUSES`].
#[derive(Clone, Copy)]
pub enum Cause {
    End,
    Modes,
    Port,
    Register,
    Instruction,
    Interrupt,
    Death,
    ToItself,
    ToOthers,
    Look,
    Line,
}

/// How many exits there were, by cause.
#[derive(Default)]
pub struct Counts {
    pub by_cause: [u64; CAUSES.len()],
    pub last_port: u16,
    pub last_register: u32,
}

impl Counts {
    /// One more.
    pub fn add(&mut self, cause: Cause) {
        self.by_cause[cause as usize] += 1;
    }

    /// Tells all that is not zero.
    pub fn report(&self) {
        let _ = write!(Port, "monitor: exits: ");
        let counted = CAUSES.iter().zip(self.by_cause).filter(|(_, count)| *count > 0);
        for (n, (what, count)) in counted.enumerate() {
            let _ = write!(Port, "{}{what} {count}", if n > 0 { ", " } else { "" });
        }
        if self.by_cause[Cause::Port as usize] > 0 {
            let _ = write!(Port, ", last port {:#x}", self.last_port);
        }
        if self.by_cause[Cause::Register as usize] > 0 {
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
            counts.add(Cause::Interrupt);
            interrupts::take();
        }
        // `rsm`, `invd`, `invlpga`, and instructions of virtualisation.
        0x73 | 0x76 | 0x7a | 0x80..=0x86 => {
            counts.add(Cause::Instruction);
            block.raise(Exception::InvalidOpcode);
        }
        _ => {
            counts.add(Cause::Death);
            return Next::Dead;
        }
    }
    Next::GoOn
}

fn port(block: ControlBlock, (first, next): (u64, u64), counts: &mut Counts) -> Next {
    let (port, reads, of_memory) = ((first >> 16) as u16, first & 1 != 0, first & 1 << 2 != 0);
    if port == EXIT_PORT && !reads && !of_memory {
        counts.add(Cause::End);
        return Next::End(block.rax() as u32);
    }
    counts.add(Cause::Port);
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
        counts.add(Cause::Modes);
        block.set_modes(value);
        block.go_on_at(block.rip() + 2);
        return;
    }
    if writes && number == apic::COMMAND && apic::uses_registers() {
        // Another core's is lost, as one to a core that there is not.
        counts.add(if apic::send_to_itself(value) { Cause::ToItself } else { Cause::ToOthers });
        block.go_on_at(block.rip() + 2);
        return;
    }
    if writes && apic::LINES.contains(&number) && apic::uses_registers() && apic::set_line(number, value) {
        counts.add(Cause::Line);
        block.go_on_at(block.rip() + 2);
        return;
    }
    counts.add(Cause::Register);
    counts.last_register = number;
    block.raise(Exception::GeneralProtection);
}

/// Says why the kernel cannot go on.
pub fn tell_death(block: ControlBlock) {
    let (code, first, second) = block.exit();
    let _ = match code {
        0x7f => writeln!(Port, "monitor: the kernel failed while it handled a failure, at {:#x}", block.rip()),
        0x400 => writeln!(Port, "monitor: the kernel touched {second:#x}, which it may not, at {:#x}", block.rip()),
        _ => writeln!(Port, "monitor: exit {code:#x} ({first:#x}, {second:#x}) at {:#x}", block.rip()),
    };
}

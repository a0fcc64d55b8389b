//! The monitor below a kernel.
//!
//! It takes the machine over before the kernel does, builds what a kernel may reach (nested page tables, maps of ports and of
//! model-specific registers), and then runs the kernel in guest mode. The kernel is the one that runs without it: it schedules,
//! takes interrupts, sets its timer and switches page tables without the monitor. What the kernel may not do comes here as an *exit*, is
//! counted by its cause, and is refused.
//!
//! It needs AMD's virtualisation with nested paging. Either one kernel has the machine, on one core, or each of several has a core and a
//! part of the memory ([`parts`]).
#![no_std]
#![no_main]

mod apic;
mod boot;
mod control;
mod exits;
mod interrupts;
mod nested;
mod parts;
mod permissions;
mod processor;
mod serial;
mod time;
mod watchdog;

use control::{ControlBlock, Guest};
use core::fmt::Write;
use core::panic::PanicInfo;
use exits::Next;

/// Where the entry code goes on, in 64-bit mode: `magic` and `info` as the loader left them.
#[no_mangle]
extern "C" fn monitor_main(magic: u32, info: u32) -> ! {
    if !processor::has_nested_paging() {
        fail("the processor has no virtualisation with nested paging (AMD)");
    }
    permissions::open_registers();
    if let Some(module) = boot::module(info).and_then(parts::Module::read) {
        parts::begin(module);
    }
    let Some(entry) = boot::entry_of_kernel(info) else { fail("the loader does not tell where the kernel begins") };
    processor::begin_virtualisation(0);
    interrupts::set_up();
    let block = ControlBlock::for_kernel(0, (entry, magic), nested::build(), permissions::of_machine());
    let mut guest = Guest { rbx: info.into(), ..Guest::default() };
    let mut counts = exits::Counts::default();
    let code = loop {
        block.run(&mut guest);
        match exits::handle(block, &mut guest, &mut counts) {
            Next::GoOn => {}
            Next::End(code) => break code,
            Next::Dead => {
                exits::tell_death(block);
                break exits::STOPPED;
            }
        }
    };
    counts.report();
    processor::out32(permissions::EXIT_PORT, code);
    processor::halt()
}

/// Says why there is no going on, and ends the machine.
fn fail(why: &str) -> ! {
    let _ = writeln!(serial::Port, "monitor: {why}");
    processor::out32(permissions::EXIT_PORT, exits::STOPPED);
    processor::halt()
}

#[panic_handler]
fn panic(_: &PanicInfo) -> ! {
    fail("its own code failed")
}

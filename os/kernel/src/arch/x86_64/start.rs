//! What has to be done before the kernel's own set-up, in its order.

use super::loader::Sandbox;
use super::{apic, descriptors, paging, protect, serial};

/// Once, on the first core, before it has its block.
pub fn machine(sandbox: Option<Sandbox>) {
    serial::set_up(sandbox.map_or(serial::FIRST, Sandbox::console));
    descriptors::fill_interrupts();
    // In a sandbox they are the monitor's.
    if sandbox.is_none() {
        apic::silence_legacy();
    }
    apic::set_up();
}

/// On the first core, once it has its block; with the guard pages below the kernel's stacks.
pub fn first_core(guards: impl Iterator<Item = u64>) {
    apic::take_error_reports();
    paging::protect_from_user();
    protect::protect_kernel(guards);
}

/// On any other core, once it has its block.
pub fn core() {
    paging::protect_from_user();
    apic::set_up();
}

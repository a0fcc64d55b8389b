//! What has to be done before the kernel's own set-up, in its order.

use super::loader::Sandbox;
use super::{gic, protect, serial};

/// Once, on the first core, before it has its block.
pub fn machine(_: Option<Sandbox>) {
    serial::set_up();
    gic::set_up();
    gic::set_up_core();
}

/// On the first core, once it has its block; with the guard pages below the kernel's stacks.
pub fn first_core(guards: impl Iterator<Item = u64>) {
    protect::protect_kernel(guards);
}

/// On any other core, once it has its block.
pub fn core() {
    gic::set_up_core();
}

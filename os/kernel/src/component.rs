//! Components: an address space, the invocations it may make, and whether it was stopped.

use crate::arch::paging::AddressSpace;
use core::sync::atomic::{AtomicBool, Ordering};
use tactus_abi::layout::{MAX_COMPONENTS, MAX_GRANTS};
use tactus_abi::shared::Name;

/// The right to go on in another component at one entry. Known to the entry code.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Grant {
    /// Where; 0 stands for no right: nothing begins there.
    pub entry: u64,
    /// The target's number.
    pub component: u16,
}

impl Grant {
    /// No right.
    pub const NONE: Grant = Grant { entry: 0, component: 0 };
}

/// A component. Everything but `stopped` is written while the system is set up and only read afterwards. Known to the
/// entry code.
pub struct Component {
    /// Name, for messages.
    pub name: Name,
    /// Its address space.
    pub space: AddressSpace,
    /// Where its threads, and a scheduler's upcalls, begin.
    pub entry: u64,
    /// What it may invoke.
    pub grants: [Grant; MAX_GRANTS],
    /// Its depth in the hierarchy of schedulers, 0 for the root; nothing if it is not one.
    pub scheduler_depth: Option<u8>,
    /// See [`Component::is_stopped`].
    pub stopped: AtomicBool,
}

impl Component {
    // Copied into the table once, never used by itself.
    #[allow(clippy::declare_interior_mutable_const)]
    const EMPTY: Component = Component {
        name: [0; 24],
        space: AddressSpace::NONE,
        entry: 0,
        grants: [Grant::NONE; MAX_GRANTS],
        scheduler_depth: None,
        stopped: AtomicBool::new(false),
    };

    /// Whether it was stopped after a fault.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Stops it: nobody enters it again.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }
}

/// All components, by number. For the entry code; everybody else goes through [`get`].
pub static mut COMPONENTS: [Component; MAX_COMPONENTS] = [const { Component::EMPTY }; MAX_COMPONENTS];

/// The component with this number.
#[allow(clippy::deref_addrof)] // Without the detour the compiler warns of a reference to a mutable static.
pub fn get(number: u16) -> &'static Component {
    // SAFETY: written only by `set_up`, before any thread runs. Numbers come from the kernel's own tables, which hold
    // none out of range; the index is checked all the same.
    unsafe { &(&*(&raw const COMPONENTS))[number as usize] }
}

/// Fills the table's entry.
///
/// # Safety
/// Only during set-up, before any thread runs and with no reference from [`get`] alive.
#[allow(clippy::deref_addrof)] // As above.
pub unsafe fn set_up(number: usize, fill: impl FnOnce(&mut Component)) {
    // SAFETY: promised by the caller.
    fill(unsafe { &mut (&mut *(&raw mut COMPONENTS))[number] });
}

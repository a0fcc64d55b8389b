//! Components: an address space, the invocations it may make, what it is in the tree of schedulers, whether it was stopped.

use crate::arch::paging::AddressSpace;
use crate::path::Rank;
use core::sync::atomic::{AtomicBool, AtomicU16, AtomicU32, AtomicU64, AtomicU8, Ordering};
use tactus_abi::image::role;
use tactus_abi::layout::{MAX_COMPONENTS, MAX_CORES, MAX_GRANTS, MAX_SEQUENCES};
use tactus_abi::shared::Name;

/// The right to go on in another component at one entry. Known to the entry code.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Grant {
    /// Where; 0 stands for no right: nothing begins there.
    pub entry: u64,
    /// The target's number. Where there is no right: the row of the watched grant in its place and one more, or 0.
    pub component: u16,
}

impl Grant {
    /// No right.
    pub const NONE: Grant = Grant { entry: 0, component: 0 };
}

/// In [`Component::special`], and then alone: nobody enters it.
pub const STOPPED: u8 = 1;
/// In [`Component::special`]: who enters or leaves it finds the floating-point unit open or shut.
pub const FLOATING_POINT: u8 = 2;

/// A component. Everything but the atomics is written while the system is set up and only read afterwards. Known to the
/// entry code.
pub struct Component {
    /// Name, for messages.
    pub name: Name,
    /// Its address space.
    pub space: AddressSpace,
    /// Where its threads, and a scheduler's upcalls, begin. Of a slot, in the program that was loaded last.
    pub entry: AtomicU64,
    /// What it may invoke.
    pub grants: [Grant; MAX_GRANTS],
    /// Whether a thread that is interrupted in it needs more than its general registers saved: it has restartable sequences, or
    /// floating point.
    pub is_special_inside: bool,
    /// Whether it has asked for its regions.
    pub shares: AtomicBool,
    /// What it is in the tree of schedulers, see [`Rank`].
    pub rank: AtomicU64,
    /// Its restartable sequences: beginning and end.
    pub sequences: [[u64; 2]; MAX_SEQUENCES],
    /// What it may be, see [`tactus_abi::image::role`].
    pub role: u32,
    /// The component that may restart it, or [`tactus_abi::image::NO_COMPONENT`].
    pub restarted_by: u32,
    /// Interrupt lines that it may wire brands to, as bits.
    pub lines: u32,
    /// The shortest tick that it may wire a brand to (microseconds); 0 if to none.
    pub tick: u32,
    /// The colours of the frames that may be mapped into its window, as bits.
    pub window_colours: u64,
    /// How many more brands it may make.
    pub brands: AtomicU32,
    /// Its first spare thread, plus one.
    pub spare: AtomicU16,
    /// Its upcall thread on each core, plus one, if it may be a scheduler.
    pub upcalls: [u16; MAX_CORES],
    /// For each slot of its regions who has it; none if it has no regions. See `tree.rs`.
    pub slots: Option<&'static [AtomicU16]>,
    /// Why the entry code leaves the ways into it and out of it to the rest of the kernel: [`STOPPED`], [`FLOATING_POINT`]; 0 for
    /// most.
    pub special: AtomicU8,
    /// Pieces of text that it has said in this life before it gives up.
    pub pieces: AtomicU8,
    /// Numbered pieces of text that it has written in this life.
    pub numbered: AtomicU64,
}

impl Component {
    // Copied into the table once, never used by itself.
    #[allow(clippy::declare_interior_mutable_const)]
    const EMPTY: Component = Component {
        name: [0; 24],
        space: AddressSpace::NONE,
        entry: AtomicU64::new(0),
        grants: [Grant::NONE; MAX_GRANTS],
        is_special_inside: false,
        shares: AtomicBool::new(false),
        rank: AtomicU64::new(0),
        sequences: [[0; 2]; MAX_SEQUENCES],
        role: 0,
        restarted_by: tactus_abi::image::NO_COMPONENT,
        lines: 0,
        tick: 0,
        window_colours: 0,
        brands: AtomicU32::new(0),
        spare: AtomicU16::new(0),
        upcalls: [0; MAX_CORES],
        slots: None,
        special: AtomicU8::new(0),
        pieces: AtomicU8::new(0),
        numbered: AtomicU64::new(0),
    };

    /// Whether it was stopped after a fault.
    pub fn is_stopped(&self) -> bool {
        self.special.load(Ordering::Acquire) & STOPPED != 0
    }

    /// Whether it has floating point and vectors.
    pub fn has_floating_point(&self) -> bool {
        self.has_role(role::FLOATING_POINT)
    }

    /// See [`Rank`].
    #[inline(always)]
    pub fn rank(&self) -> Rank {
        Rank(self.rank.load(Ordering::Relaxed))
    }

    /// Whether it is the root scheduler.
    #[inline(always)]
    pub fn is_root(&self) -> bool {
        self.rank().depth() == Some(0)
    }

    /// Whether it has this role.
    pub fn has_role(&self, role: u32) -> bool {
        self.role & role != 0
    }

    /// Stops it: nobody enters it again.
    pub fn stop(&self) {
        self.special.store(STOPPED, Ordering::Release);
    }

    /// It runs again.
    pub fn go_on(&self) {
        self.special.store(if self.has_floating_point() { FLOATING_POINT } else { 0 }, Ordering::SeqCst);
    }
}

/// All components, by number. For the entry code; everybody else goes through [`get`].
/// The last one is none: see [`crate::stop::DEAD`].
pub static mut COMPONENTS: [Component; MAX_COMPONENTS + 1] = [const { Component::EMPTY }; MAX_COMPONENTS + 1];

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

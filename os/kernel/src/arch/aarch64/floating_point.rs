//! The registers of floating point and vectors: open to components that ask for them, shut to all others.
//!
//! While they are shut, an instruction that reaches them faults, and all are zero: so nothing of a component is left there for another one
//! to find. They are open exactly while a component with floating point has the core; the change is made with the change of component, in
//! `dispatch.rs`. What a thread has in them is saved when an interrupt or fault takes it in, as its other registers are, and given back
//! when it goes on. A call keeps none of them.

use super::paging::direct;
use super::FrameSource;
use core::arch::{asm, global_asm};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tactus_abi::layout::MAX_THREADS;

/// What is saved of a thread: 32 registers of 16 bytes, control and status.
const AREA: u64 = 32 * 16 + 16;
/// How many areas lie in a page.
const IN_PAGE: usize = (4096 / AREA) as usize;
/// CPACR_EL1: EL0 and EL1 may use the registers.
const OPEN: u64 = 3 << 20;

// (x0: the area). The kernel itself is compiled without these registers.
global_asm!(
    ".arch_extension fp",
    ".arch_extension simd",
    ".macro each_pair what",
    ".irp first, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30",
    "each_pair_of \\what, \\first, %(\\first + 1)",
    ".endr",
    ".endm",
    ".altmacro",
    ".macro each_pair_of what, first, second",
    "\\what q\\first, q\\second, [x0, #16 * \\first]",
    ".endm",
    "tactus_save_floating_point:",
    "each_pair stp",
    "mrs x1, fpcr",
    "mrs x2, fpsr",
    "str x1, [x0, #512]",
    "str x2, [x0, #520]",
    "ret",
    "tactus_restore_floating_point:",
    "each_pair ldp",
    "ldr x1, [x0, #512]",
    "ldr x2, [x0, #520]",
    "msr fpcr, x1",
    "msr fpsr, x2",
    "ret",
    ".noaltmacro",
    ".arch_extension nosimd",
    ".arch_extension nofp",
);

extern "C" {
    fn tactus_save_floating_point(area: *mut u8);
    fn tactus_restore_floating_point(area: *const u8);
}

/// Physical addresses of the pages of the threads' areas, by their numbers; 0 if no component has floating point.
static PAGES: [AtomicU64; MAX_THREADS.div_ceil(IN_PAGE)] = [const { AtomicU64::new(0) }; MAX_THREADS.div_ceil(IN_PAGE)];

#[repr(C, align(16))]
struct Cleared([u8; AREA as usize]);

/// What the registers hold while they are shut.
static CLEARED: Cleared = Cleared([0; AREA as usize]);

/// Finds room for what threads have in these registers.
pub fn set_up(frames: &mut dyn FrameSource, threads: usize) -> Option<()> {
    for page in PAGES.iter().take(threads.div_ceil(IN_PAGE)) {
        page.store(frames.kernel_page()?, Relaxed);
    }
    Some(())
}

/// Clears the registers of the current core, where somebody has floating point.
pub fn set_up_core() {
    if PAGES[0].load(Relaxed) != 0 {
        open();
        shut();
    }
}

/// A thread's area. Only where somebody has floating point.
fn area(thread: u16) -> *mut u8 {
    let (page, place) = (usize::from(thread) / IN_PAGE, usize::from(thread) % IN_PAGE);
    direct::<u8>(PAGES[page % PAGES.len()].load(Relaxed)).wrapping_add(place * AREA as usize)
}

/// Keeps what the thread has in the registers. While they are open.
pub fn save(thread: u16) {
    // SAFETY: there is an area for each thread, aligned; the thread is this core's.
    unsafe { tactus_save_floating_point(area(thread)) }
}

/// The thread goes on in a component with floating point: the registers are open, with what was saved if it was interrupted there, else
/// cleared. Whether they are open.
pub fn enter(thread: u16, interrupted: bool) -> bool {
    open();
    if interrupted {
        // SAFETY: the area holds what `save` stored, and the thread is this core's.
        unsafe { tactus_restore_floating_point(area(thread)) }
    }
    true
}

fn open() {
    // SAFETY: the kernel uses none of these registers.
    unsafe { asm!("msr cpacr_el1, {}", "isb", in(reg) OPEN, options(nostack, preserves_flags)) }
}

/// Shuts the registers: nothing is left in them.
pub fn shut() {
    // SAFETY: the registers are open, and the area is as `save` stores one.
    unsafe {
        tactus_restore_floating_point((&raw const CLEARED.0).cast());
        asm!("msr cpacr_el1, xzr", "isb", options(nostack, preserves_flags));
    }
}

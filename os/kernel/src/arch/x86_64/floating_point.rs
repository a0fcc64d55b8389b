//! The registers of floating point and vectors (x87, MMX, SSE): open to components that ask for them, shut to all others.
//!
//! While the unit is shut, an instruction that reaches them faults, and they hold what they hold after a reset: so nothing of a
//! component is left there for another one to find, not even by executing ahead of the fault. It is open exactly while a component
//! with floating point has the core; the change is made with the change of component, in `dispatch.rs`.
//!
//! What a thread has in them is saved when an interrupt or fault takes it in, as its other registers are, and given back when it
//! goes on. A call keeps none of them, as it keeps none of the others: who comes back from one finds them as after a reset.
//!
//! Wider vectors (AVX) are not turned on: they would double what is saved, and their instructions fault as if they were not there.
//! In a system without such components the unit stays as start-up leaves it: there is none (CR0.EM).

use super::paging::direct;
use super::FrameSource;
use core::arch::asm;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tactus_abi::layout::MAX_THREADS;

/// What is saved of a thread, as FXSAVE stores it.
const AREA: u64 = 512;
/// Control register 0: instructions of the unit fault if the task was switched (TS), WAIT as well (MP); none of them is emulated
/// (EM); errors are exceptions (NE).
const TASK_SWITCHED: u64 = 1 << 3;
const MONITOR: u64 = 1 << 1;
const EMULATED: u64 = 1 << 2;
const ERRORS: u64 = 1 << 5;
/// Control register 4: FXSAVE and SSE, and the exceptions of SSE.
const SSE: u64 = 1 << 9 | 1 << 10;

/// How many areas lie in a page.
const IN_PAGE: usize = 4096 / AREA as usize;

/// Physical addresses of the pages of the threads' areas, by their numbers; 0 if no component has floating point.
static PAGES: [AtomicU64; MAX_THREADS.div_ceil(IN_PAGE)] = [const { AtomicU64::new(0) }; MAX_THREADS.div_ceil(IN_PAGE)];

#[repr(C, align(16))]
struct Reset([u8; AREA as usize]);

/// The registers as after a reset: the control word and the control and status register mask all exceptions.
static RESET: Reset = {
    let mut area = [0; AREA as usize];
    [area[0], area[1]] = 0x037f_u16.to_le_bytes();
    [area[24], area[25]] = 0x1f80_u16.to_le_bytes();
    Reset(area)
};

/// Finds room for what threads have in these registers.
pub fn set_up(frames: &mut dyn FrameSource, threads: usize) -> Option<()> {
    for page in PAGES.iter().take(threads.div_ceil(IN_PAGE)) {
        page.store(frames.kernel_page()?, Relaxed);
    }
    Some(())
}

/// Whether a component has floating point.
fn is_used() -> bool {
    PAGES[0].load(Relaxed) != 0
}

/// Turns the unit of the current core on, shut, where somebody has floating point.
pub fn set_up_core() {
    if !is_used() {
        return;
    }
    // SAFETY: every 64-bit processor has SSE; the kernel itself uses none of these registers.
    unsafe {
        let (mut cr0, mut cr4): (u64, u64);
        asm!("mov {}, cr0", "mov {}, cr4", out(reg) cr0, out(reg) cr4, options(nomem, nostack, preserves_flags));
        cr0 = cr0 & !(EMULATED | TASK_SWITCHED) | MONITOR | ERRORS;
        cr4 |= SSE;
        asm!("mov cr4, {}", "mov cr0, {}", in(reg) cr4, in(reg) cr0, options(nostack, preserves_flags));
    }
    shut();
}

/// A thread's area. Only where somebody has floating point.
fn area(thread: u16) -> *mut u8 {
    let (page, place) = (usize::from(thread) / IN_PAGE, usize::from(thread) % IN_PAGE);
    direct::<u8>(PAGES[page % PAGES.len()].load(Relaxed)).wrapping_add(place * AREA as usize)
}

/// Keeps what the thread has in the registers. While the unit is open.
pub fn save(thread: u16) {
    #[cfg(feature = "lazy-floating-point")]
    if late::keeps(thread) {
        return;
    }
    // SAFETY: there is an area for each thread, aligned; the thread is this core's.
    unsafe { asm!("fxsave64 [{}]", in(reg) area(thread), options(nostack, preserves_flags)) }
}

/// The thread goes on in a component with floating point: the unit is open, with what was saved if it was interrupted there, else as
/// after a reset. Whether it is open.
pub fn enter(thread: u16, interrupted: bool) -> bool {
    #[cfg(feature = "lazy-floating-point")]
    return late::enter(thread, interrupted);
    #[cfg(not(feature = "lazy-floating-point"))]
    {
        open(interrupted.then_some(thread));
        true
    }
}

fn open(saved: Option<u16>) {
    // SAFETY: the kernel uses none of these registers.
    unsafe { asm!("clts", options(nomem, nostack, preserves_flags)) }
    if let Some(thread) = saved {
        // SAFETY: the area holds what `save` stored, and the thread is this core's.
        unsafe { asm!("fxrstor64 [{}]", in(reg) area(thread), options(nostack, preserves_flags, readonly)) }
    }
}

/// The other way, which is measured and not taken: the unit opens at the first instruction that needs it.
#[cfg(feature = "lazy-floating-point")]
pub mod late {
    use super::{area, asm, open, AREA, TASK_SWITCHED};

    /// The vector of an instruction that finds the unit shut.
    pub const SHUT: u64 = 7;

    /// Whether the thread's area counts: a byte of it that FXSAVE leaves alone.
    fn mark(thread: u16) -> *mut u8 {
        area(thread).wrapping_add(AREA as usize - 1)
    }

    pub(super) fn enter(thread: u16, interrupted: bool) -> bool {
        if !interrupted {
            // SAFETY: the area is the thread's, which is this core's.
            unsafe { mark(thread).write(0) };
        }
        false
    }

    /// Whether an interrupted thread's area stays as it is, since the unit was not opened.
    pub(super) fn keeps(thread: u16) -> bool {
        let cr0: u64;
        // SAFETY: reads only; the area is the thread's, which is this core's.
        unsafe {
            asm!("mov {}, cr0", out(reg) cr0, options(nomem, nostack, preserves_flags));
            let shut = cr0 & TASK_SWITCHED != 0;
            if !shut {
                mark(thread).write(1);
            }
            shut
        }
    }

    /// The running thread, which may have the unit, needs it: it opens.
    pub fn open_for(thread: u16) {
        // SAFETY: the area is the thread's, which is this core's.
        open((unsafe { mark(thread).read() } != 0).then_some(thread));
    }
}

/// Shuts the unit: nothing is left in it. The first instruction clears what the second does not on some processors: where the last
/// operation and its operand were.
pub fn shut() {
    // SAFETY: as in `open`; the area is as FXSAVE stores one.
    unsafe {
        asm!("fninit", "fxrstor64 [{reset}]", "mov {cr0}, cr0", "or {cr0}, {shut}", "mov cr0, {cr0}",
            reset = in(reg) &RESET, cr0 = out(reg) _, shut = const TASK_SWITCHED, options(nostack));
    }
}

/// Whether the unit is shut; nothing where nobody has floating point.
#[cfg(feature = "check")]
pub fn is_shut() -> Option<bool> {
    let cr0: u64;
    // SAFETY: reads only.
    unsafe { asm!("mov {}, cr0", out(reg) cr0, options(nomem, nostack, preserves_flags)) }
    is_used().then_some(cr0 & TASK_SWITCHED != 0)
}

//! Restartable atomic sequences: short stretches of code that need no exclusive access and no interrupts off.
//!
//! The kernel knows each stretch by its beginning and end (`TABLE`, found by the image builder under the name
//! `TACTUS_SEQUENCES`). A thread that is interrupted inside one goes on at its beginning. So each obeys three rules:
//! one store commits, it is the last instruction, and the registers that it reads are never written before it. That makes
//! it atomic against everything that happens on *its core*, and against nothing else: what two cores share needs
//! atomics.
//!
//! The reference is section 6 of Parmer and West, "Predictable and Configurable Component-Based Scheduling in the Composite
//! OS" (2013). At most [`MAX_SEQUENCES`] per component; these are all four.

use core::arch::{asm, global_asm};
use core::mem::offset_of;
use tactus_abi::layout::MAX_SEQUENCES;
use tactus_abi::shared::Region;

/// Beginning and end of a sequence: addresses of its first instruction and of the one behind its last.
pub type Bounds = [u64; 2];

global_asm!(
    ".section .rodata.tactus_sequences,\"a\",@progbits",
    ".p2align 3",
    ".global TACTUS_SEQUENCES",
    ".type TACTUS_SEQUENCES, @object",
    "TACTUS_SEQUENCES:",
    ".quad tactus_exchange, 20f",
    ".quad tactus_take_word, 21f",
    ".quad tactus_take_lock, 22f",
    ".quad tactus_release_lock, 23f",
    ".size TACTUS_SEQUENCES, . - TACTUS_SEQUENCES",
    ".section .text.tactus_sequences,\"ax\",@progbits",
    // Whoever keeps this code keeps the table.
    ".reloc ., R_AARCH64_NONE, TACTUS_SEQUENCES",
    // (x0: where, x1: expected, x2: new) -> x3: new if it was stored, else expected.
    ".p2align 6",
    ".global tactus_exchange",
    "tactus_exchange:",
    "mov x3, x1",
    "ldr x4, [x0]",
    "cmp x4, x1",
    "b.ne 20f",
    "mov x3, x2",
    "str x2, [x0]",
    "20: ret",
    // (x0: where) -> w1: what stood there; zero stands there now.
    ".p2align 5",
    ".global tactus_take_word",
    "tactus_take_word:",
    "ldr w1, [x0]",
    "str wzr, [x0]",
    "21: ret",
    // (x0: the region whose lock it is, x1: the caller's thread + 1).
    ".p2align 5",
    ".global tactus_take_lock",
    "tactus_take_lock:",
    "ldr x2, [x0, #{lock}]",
    "cbnz x2, 30f",
    "str x1, [x0, #{lock}]",
    "22: ret",
    // (x0: the region).
    ".p2align 5",
    ".global tactus_release_lock",
    "tactus_release_lock:",
    "ldr w2, [x0, #{lock} + 4]",
    "cbnz w2, 31f",
    "str xzr, [x0, #{lock}]",
    "23: ret",
    // Somebody has the lock, or waits for it: the rest is Rust, and comes back to the caller.
    "30: add x0, x0, #{lock}",
    "b {take}",
    "31: add x0, x0, #{lock}",
    "b {release}",
    ".text",
    lock = const LOCK,
    take = sym crate::lock::take_contended,
    release = sym crate::lock::release_contended,
);

/// Where a region has its lock. The sequences take the region, which whoever has it keeps in a register.
const LOCK: usize = offset_of!(Region, lock);

extern "C" {
    #[link_name = "TACTUS_SEQUENCES"]
    static TABLE: [Bounds; MAX_SEQUENCES];
}

/// Bounds of all sequences, in the order in which they stand above: exchange, take a word, take the lock, release it.
pub fn table() -> &'static [Bounds; MAX_SEQUENCES] {
    // SAFETY: defined above with this shape, never written.
    unsafe { &TABLE }
}

/// Stores `new` if `expected` stands there and gives `new`; else gives `expected` and changes nothing. (Unlike the
/// processor's own exchange it never tells what it found.) `new` must differ from `expected`, or the answer says nothing.
///
/// # Safety
/// `place` is valid for reads and writes, and nobody on another core writes it.
#[inline(always)]
pub unsafe fn exchange(place: *mut u64, expected: u64, new: u64) -> u64 {
    let result;
    // SAFETY: the sequence reads and writes the place alone and changes the registers named; the caller vouches for it.
    unsafe {
        asm!("bl tactus_exchange", in("x0") place, in("x1") expected, in("x2") new, out("x3") result, out("x4") _,
            out("x30") _);
    }
    result
}

/// Takes what stands there and leaves zero.
///
/// # Safety
/// As for [`exchange`].
#[inline(always)]
pub unsafe fn take_word(place: *mut u32) -> u32 {
    let result;
    // SAFETY: as in `exchange`.
    unsafe {
        asm!("bl tactus_take_word", in("x0") place, out("w1") result, out("x30") _);
    }
    result
}

/// Takes the lock for this thread, see [`crate::lock`].
///
/// # Safety
/// `word` is the lock word of this core's region of the scheduler that the caller is in, and `thread` the running thread.
#[inline(always)]
pub unsafe fn take_lock(word: *mut u64, thread: u64) {
    // SAFETY: changes the word, and what a function may change; what runs meanwhile comes back with all other registers.
    unsafe {
        asm!("bl tactus_take_lock", in("x0") word.wrapping_byte_sub(LOCK), in("x1") thread + 1, clobber_abi("C"));
    }
}

/// Releases the lock that this thread has.
///
/// # Safety
/// The running thread took it on this core.
#[inline(always)]
pub unsafe fn release_lock(word: *mut u64) {
    // SAFETY: as in `take_lock`.
    unsafe {
        asm!("bl tactus_release_lock", in("x0") word.wrapping_byte_sub(LOCK), clobber_abi("C"));
    }
}

//! Restartable atomic sequences: short stretches of code that need no bus lock and no interrupts off.
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

// On the host, where tests step through the sequences, programs may lie anywhere: the table is filled in at load time.
#[cfg(any(target_os = "none", floating_point))]
global_asm!(".section .rodata.tactus_sequences,\"a\",@progbits");
#[cfg(not(any(target_os = "none", floating_point)))]
global_asm!(".section .data.rel.ro.tactus_sequences,\"aw\",@progbits");

global_asm!(
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
    ".reloc ., R_X86_64_NONE, TACTUS_SEQUENCES",
    // (rdi: where, rsi: expected, rdx: new) -> rax: new if it was stored, else expected.
    ".p2align 6",
    ".global tactus_exchange",
    "tactus_exchange:",
    "mov rax, rsi",
    "cmp [rdi], rsi",
    "jne 20f",
    "mov rax, rdx",
    "mov [rdi], rdx",
    "20: ret",
    // (rdi: where) -> eax: what stood there; zero stands there now.
    ".p2align 5",
    ".global tactus_take_word",
    "tactus_take_word:",
    "mov eax, [rdi]",
    "mov dword ptr [rdi], 0",
    "21: ret",
    // (rdi: the region whose lock it is, rsi: the caller's thread + 1). Changes flags only.
    ".p2align 5",
    ".global tactus_take_lock",
    "tactus_take_lock:",
    "cmp qword ptr [rdi + {lock}], 0",
    "jne 30f",
    "mov [rdi + {lock}], rsi",
    "22: ret",
    // (rdi: the region). Changes flags only.
    ".p2align 5",
    ".global tactus_release_lock",
    "tactus_release_lock:",
    "cmp dword ptr [rdi + {lock} + 4], 0",
    "jne 31f",
    "mov qword ptr [rdi + {lock}], 0",
    "23: ret",
    // Somebody has the lock, or waits for it: the rest is Rust. Nine registers and the return address leave the stack
    // aligned, since it was before the call.
    "30: push rax; push rcx; push rdx; push rsi; push rdi; push r8; push r9; push r10; push r11",
    "add rdi, {lock}",
    "call {take}",
    "jmp 32f",
    "31: push rax; push rcx; push rdx; push rsi; push rdi; push r8; push r9; push r10; push r11",
    "add rdi, {lock}",
    "call {release}",
    "32: pop r11; pop r10; pop r9; pop r8; pop rdi; pop rsi; pop rdx; pop rcx; pop rax",
    "ret",
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
        asm!("call tactus_exchange", in("rdi") place, in("rsi") expected, in("rdx") new, out("rax") result);
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
        asm!("call tactus_take_word", in("rdi") place, out("eax") result);
    }
    result
}

/// Takes the lock for this thread, see [`crate::lock`].
///
/// # Safety
/// `word` is the lock word of this core's region of the scheduler that the caller is in, and `thread` the running thread.
#[inline(always)]
pub unsafe fn take_lock(word: *mut u64, thread: u64) {
    // SAFETY: changes the word and flags only; what runs meanwhile comes back with all registers. The rest as above.
    unsafe {
        asm!("call tactus_take_lock", in("rdi") word.wrapping_byte_sub(LOCK), in("rsi") thread + 1);
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
        asm!("call tactus_release_lock", in("rdi") word.wrapping_byte_sub(LOCK));
    }
}

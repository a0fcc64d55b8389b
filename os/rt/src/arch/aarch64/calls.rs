//! The ways into the kernel. What they may change is what `os/kernel/src/arch/aarch64/entry.rs` says. Two registers that the compiler
//! keeps for itself, x19 and x29, are saved here.

use crate::calls::give_up;
use core::arch::asm;
use tactus_abi::call::Call;

/// Enters the kernel.
#[inline(always)]
pub fn enter(number: u64, words: [u64; 6]) -> (u64, [u64; 2]) {
    let (status, v0, v1);
    // SAFETY: the kernel keeps the stack and nothing else that matters: what it may change is saved here or declared. It
    // does not touch this component's memory, and refuses numbers that it does not know.
    unsafe {
        asm!(
            "stp x19, x29, [sp, #-16]!",
            "svc #0",
            "ldp x19, x29, [sp], #16",
            inout("x8") number => status,
            inout("x0") words[0] => v0,
            inout("x1") words[1] => v1,
            in("x2") words[2],
            in("x3") words[3],
            in("x4") words[4],
            in("x5") words[5],
            out("x20") _,
            out("x21") _,
            out("x22") _,
            out("x23") _,
            out("x24") _,
            out("x25") _,
            out("x26") _,
            out("x27") _,
            out("x28") _,
            clobber_abi("C"),
        );
    }
    (status, [v0, v1])
}

/// Enters the kernel and leaves it again.
#[inline(always)]
pub fn null() {
    // SAFETY: the null call changes nothing.
    unsafe { asm!("svc #0", in("x8") Call::Null as u64, options(nomem, nostack, preserves_flags)) };
}

/// Invokes with ten words in registers, there and back; the status beside them.
#[inline(always)]
pub fn invoke_wide(grant: u64, words: [u64; 10]) -> (u64, [u64; 10]) {
    let [mut w0, mut w1, mut w2, mut w3, mut w4, mut w5, mut w6, mut w7, mut w8, mut w9] = words;
    let status;
    // SAFETY: as for `enter`.
    unsafe {
        asm!(
            "stp x19, x29, [sp, #-16]!",
            "svc #0",
            "ldp x19, x29, [sp], #16",
            inout("x8") Call::InvokeWide as u64 => status,
            inout("x0") grant => w0,
            inout("x1") w0 => w1,
            inout("x2") w1 => w2,
            inout("x3") w2 => w3,
            inout("x4") w3 => w4,
            in("x5") w4,
            inout("x6") w5,
            inout("x7") w6,
            inout("x9") w7,
            inout("x10") w8,
            inout("x11") w9,
            out("x20") _,
            out("x21") _,
            out("x22") _,
            out("x23") _,
            out("x24") _,
            out("x25") _,
            out("x26") _,
            out("x27") _,
            out("x28") _,
            clobber_abi("C"),
        );
    }
    (status, [w0, w1, w2, w3, w4, w5, w6, w7, w8, w9])
}

/// Returns from an invocation with ten words.
#[inline(always)]
pub fn return_wide(words: [u64; 10]) -> ! {
    let [w0, w1, w2, w3, w4, w5, w6, w7, w8, w9] = words;
    // SAFETY: does not come back; if it did, nobody called, and the thread gives up.
    unsafe {
        asm!("svc #0", "b {give_up}", give_up = sym give_up, options(noreturn),
            in("x8") Call::ReturnWide as u64, in("x0") w0, in("x1") w1, in("x2") w2, in("x3") w3, in("x4") w4,
            in("x6") w5, in("x7") w6, in("x9") w7, in("x10") w8, in("x11") w9);
    }
}

/// Dispatches a thread; the status once the caller is dispatched again.
#[inline(always)]
pub fn switch_thread(thread: u64, flags: u64, timeout: u64) -> u64 {
    enter(Call::SwitchThread as u64, [thread, flags, timeout, 0, 0, 0]).0
}

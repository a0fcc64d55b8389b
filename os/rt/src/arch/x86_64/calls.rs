//! The ways into the kernel. What they may change is what `os/kernel/src/arch/x86_64/entry.rs` says.

use crate::calls::give_up;
use core::arch::asm;
use tactus_abi::call::Call;

/// Enters the kernel.
#[inline(always)]
pub fn enter(number: u64, words: [u64; 6]) -> (u64, [u64; 2]) {
    let (status, v0, v1);
    // SAFETY: the kernel keeps `rsp` and nothing else that matters: what it may change is saved here or declared. It
    // does not touch this component's memory, and refuses numbers that it does not know.
    unsafe {
        asm!(
            "push rbx",
            "push rbp",
            "syscall",
            "pop rbp",
            "pop rbx",
            inout("rax") number => status,
            inout("rdi") words[0] => v0,
            inout("rsi") words[1] => v1,
            inout("rdx") words[2] => _,
            inout("r10") words[3] => _,
            inout("r8") words[4] => _,
            inout("r9") words[5] => _,
            out("rcx") _,
            out("r11") _,
            out("r12") _,
            out("r13") _,
            out("r14") _,
            out("r15") _,
            clobber_abi("sysv64"),
        );
    }
    (status, [v0, v1])
}

/// Enters the kernel and leaves it again.
#[inline(always)]
pub fn null() {
    // SAFETY: the null call changes nothing but what is declared here.
    unsafe {
        asm!("syscall", inout("rax") Call::Null as u64 => _, out("rcx") _, out("r11") _,
            options(nomem, nostack, preserves_flags));
    }
}

/// Invokes with ten words in registers, there and back; the status beside them.
#[inline(always)]
pub fn invoke_wide(grant: u64, words: [u64; 10]) -> (u64, [u64; 10]) {
    let [mut w0, mut w1, mut w2, mut w3, mut w4, mut w5, mut w6, mut w7, mut w8, mut w9] = words;
    let status;
    // SAFETY: as for `enter`; `rbx`, which the compiler keeps for itself, goes by way of `rcx`.
    unsafe {
        asm!(
            "push rbx",
            "push rbp",
            "mov rbx, rcx",
            "syscall",
            "mov rcx, rbx",
            "pop rbp",
            "pop rbx",
            inout("rax") Call::InvokeWide as u64 => status,
            inout("rdi") grant => w0,
            inout("rsi") w0 => w1,
            inout("rdx") w1 => w2,
            inout("r10") w2 => w3,
            inout("r8") w3 => w4,
            inout("r9") w4 => _,
            inout("rcx") w5,
            inout("r12") w6,
            inout("r13") w7,
            inout("r14") w8,
            inout("r15") w9,
            out("r11") _,
            clobber_abi("sysv64"),
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
        asm!("mov rbx, rcx", "syscall", "jmp {give_up}", give_up = sym give_up, options(noreturn),
            in("rax") Call::ReturnWide as u64, in("rdi") w0, in("rsi") w1, in("rdx") w2, in("r10") w3, in("r8") w4,
            in("rcx") w5, in("r12") w6, in("r13") w7, in("r14") w8, in("r15") w9);
    }
}

/// Dispatches a thread; the status once the caller is dispatched again.
#[inline(always)]
pub fn switch_thread(thread: u64, flags: u64, timeout: u64) -> u64 {
    let status;
    // SAFETY: as for `enter`; the words that are not passed are not looked at.
    unsafe {
        asm!(
            "push rbx",
            "push rbp",
            "syscall",
            "pop rbp",
            "pop rbx",
            inout("rax") Call::SwitchThread as u64 => status,
            inout("rdi") thread => _,
            inout("rsi") flags => _,
            inout("rdx") timeout => _,
            out("r8") _,
            out("r9") _,
            out("r10") _,
            out("rcx") _,
            out("r11") _,
            out("r12") _,
            out("r13") _,
            out("r14") _,
            out("r15") _,
            clobber_abi("sysv64"),
        );
    }
    status
}

//! Where threads, upcalls and services begin, and how a thread leaves everything behind.
//!
//! The kernel passes the fourth word in `r10`, a function expects it in `rcx`: in `rcx` the processor itself is told the entry.

use core::arch::asm;

/// The component's entry: `upcall(why, core)` for the scheduler's upcall, `begin(why, first, thread, second)` for anything else.
#[cfg(any(target_os = "none", floating_point))]
macro_rules! entry {
    (upcall: $upcall:path, begin: $begin:path) => {
        core::arch::global_asm!(
            ".global _start",
            "_start: mov rcx, r10",
            "cmp rdi, {scheduler}",
            "je {upcall}",
            "jmp {begin}",
            scheduler = const tactus_abi::call::reason::SCHEDULER,
            upcall = sym $upcall,
            begin = sym $begin,
        );
    };
}
#[cfg(any(target_os = "none", floating_point))]
pub(crate) use entry;

/// The entry of a service with this name: `run(caller, a0, a1, a2, a3, a4)`.
#[doc(hidden)]
#[macro_export]
macro_rules! service_entry {
    ($name:expr, $run:path) => {
        ::core::arch::global_asm!(
            ".text",
            concat!(".global ", $name),
            concat!($name, ": mov rcx, r10"),
            "jmp {run}",
            run = sym $run,
        );
    };
}

/// The entry of a service of ten words: `run(caller, words)`. Ten words more on the stack leave it aligned as a function expects it.
#[doc(hidden)]
#[macro_export]
macro_rules! wide_service_entry {
    ($name:expr, $run:path) => {
        ::core::arch::global_asm!(
            ".text",
            concat!(".global ", $name),
            concat!($name, ": push r15"),
            "push r14; push r13; push r12; push rbx; push r9; push r8; push r10; push rdx; push rsi",
            "mov rsi, rsp",
            "jmp {run}",
            run = sym $run,
        );
    };
}

/// Goes on with this function, on a stack that ends here.
///
/// # Safety
/// `top` is the upper end of this thread's own stack, aligned as a call expects it; nothing below it is used any more.
#[inline(always)]
pub unsafe fn restart_at(top: u64, next: extern "C" fn() -> !) -> ! {
    // SAFETY: promised by the caller; the function does not come back.
    unsafe { asm!("mov rsp, {top}", "call {next}", "ud2", top = in(reg) top, next = in(reg) next, options(noreturn)) }
}

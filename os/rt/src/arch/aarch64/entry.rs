//! Where threads, upcalls and services begin, and how a thread leaves everything behind. The kernel passes words where a function expects
//! its arguments.

use core::arch::asm;

/// The component's entry: `upcall(why, core)` for the scheduler's upcall, `begin(why, first, thread, second)` for anything else.
#[cfg(any(target_os = "none", floating_point))]
macro_rules! entry {
    (upcall: $upcall:path, begin: $begin:path) => {
        core::arch::global_asm!(
            ".text",
            ".global _start",
            "_start: cmp x0, {scheduler}",
            "b.ne 2f",
            "b {upcall}",
            "2: b {begin}",
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
            concat!($name, ": b {run}"),
            run = sym $run,
        );
    };
}

/// The entry of a service of ten words: `run(caller, words)`. Ten words on the stack leave it aligned.
#[doc(hidden)]
#[macro_export]
macro_rules! wide_service_entry {
    ($name:expr, $run:path) => {
        ::core::arch::global_asm!(
            ".text",
            concat!(".global ", $name),
            concat!($name, ": stp x10, x11, [sp, #-16]!"),
            "stp x7, x9, [sp, #-16]!",
            "stp x5, x6, [sp, #-16]!",
            "stp x3, x4, [sp, #-16]!",
            "stp x1, x2, [sp, #-16]!",
            "mov x1, sp",
            "b {run}",
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
    unsafe { asm!("mov sp, {top}", "blr {next}", "udf #0", top = in(reg) top, next = in(reg) next, options(noreturn)) }
}

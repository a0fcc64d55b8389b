//! The ways into the kernel and out of it.
//!
//! Every thread's registers lie at the head of its [`crate::thread::Thread`], in the order in which hardware and the
//! code below push them. While a thread runs, both the task state segment and the core's block hold the *end* of that
//! area as the stack to switch to, so that an interrupt, a fault and a call all save straight into the thread, with
//! no copy. The kernel itself then runs on the core's own stack, with interrupts off, and leaves by loading the
//! registers of whichever thread it chose. A core with nothing to run waits inside the kernel; an interrupt there has
//! nothing to save.

use crate::arch::percore::{CORE_KERNEL_STACK, CORE_REGS_END, CORE_SCRATCH};
use core::arch::global_asm;

/// The registers of a thread, as saved on the way in.
#[derive(Clone, Copy, Default)]
#[repr(C, align(16))]
#[allow(missing_docs)]
pub struct Registers {
    pub r15: u64,
    pub r14: u64,
    pub r13: u64,
    pub r12: u64,
    pub r11: u64,
    pub r10: u64,
    pub r9: u64,
    pub r8: u64,
    pub rdi: u64,
    pub rsi: u64,
    pub rbp: u64,
    pub rbx: u64,
    pub rdx: u64,
    pub rcx: u64,
    pub rax: u64,
    /// Interrupt vector, or [`VECTOR_CALL`].
    pub vector: u64,
    pub error: u64,
    pub rip: u64,
    pub cs: u64,
    pub rflags: u64,
    pub rsp: u64,
    pub ss: u64,
}

/// Stands in [`Registers::vector`] for a call.
pub const VECTOR_CALL: u64 = 256;
/// The core's timer.
pub const VECTOR_TIMER: u64 = 0x40;
/// Inter-core event.
pub const VECTOR_NOTIFY: u64 = 0x41;
/// A component was stopped.
pub const VECTOR_STOP: u64 = 0x42;
/// Spurious interrupt of the local APIC.
pub const VECTOR_SPURIOUS: u64 = 0xff;

/// Code and stack selectors of user level.
pub const USER_CODE: u64 = 0x2b;
/// See [`USER_CODE`].
pub const USER_DATA: u64 = 0x23;
/// Flags of a new thread: interrupts on.
pub const USER_FLAGS: u64 = 0x202;

global_asm!(
    r#"
.text
.macro push_general
    push rax
    push rcx
    push rdx
    push rbx
    push rbp
    push rsi
    push rdi
    push r8
    push r9
    push r10
    push r11
    push r12
    push r13
    push r14
    push r15
.endm
.macro pop_general
    pop r15
    pop r14
    pop r13
    pop r12
    pop r11
    pop r10
    pop r9
    pop r8
    pop rdi
    pop rsi
    pop rbp
    pop rbx
    pop rdx
    pop rcx
    pop rax
.endm

# A call by a thread.
.global call_entry
call_entry:
    swapgs
    mov gs:[{scratch}], rsp
    mov rsp, gs:[{regs_end}]
    push {user_data}
    push qword ptr gs:[{scratch}]
    push r11
    push {user_code}
    push rcx
    push 0
    push {vector_call}
    push_general
    mov rsp, gs:[{kernel_stack}]
    call kernel_call
    jmp resume

# An interrupt or fault: vector and error code are pushed.
trap_common:
    # Nothing that a thread did to its flags is left: neither direction nor leave to touch user memory.
    push 2
    popfq
    test byte ptr [rsp + 24], 3
    jz trap_in_kernel
    push_general
    swapgs
    mov rsp, gs:[{kernel_stack}]
    call kernel_trap
    jmp resume
trap_in_kernel:
    mov rdi, [rsp]
    mov rsi, [rsp + 8]
    mov rdx, [rsp + 16]
    mov rcx, cr2
    sub rsp, 8
    call kernel_trap_inside
    # Only the idle loop is interrupted inside the kernel; it has no state.
    mov rsp, gs:[{kernel_stack}]

# rax: the registers of the thread to run, or zero for none.
.global resume
resume:
    test rax, rax
    jz 1f
    mov rsp, rax
    swapgs
    pop_general
    add rsp, 16
    iretq
1:  sti
    hlt
    cli
    jmp 1b

.macro trap_entry vector, has_error
trap_\vector:
    .if \has_error == 0
    push 0
    .endif
    push \vector
    jmp trap_common
.endm
trap_entry 0, 0
trap_entry 1, 0
trap_entry 2, 0
trap_entry 3, 0
trap_entry 4, 0
trap_entry 5, 0
trap_entry 6, 0
trap_entry 7, 0
trap_entry 8, 1
trap_entry 9, 0
trap_entry 10, 1
trap_entry 11, 1
trap_entry 12, 1
trap_entry 13, 1
trap_entry 14, 1
trap_entry 15, 0
trap_entry 16, 0
trap_entry 17, 1
trap_entry 18, 0
trap_entry 19, 0
trap_entry 20, 0
trap_entry 21, 1
trap_entry 22, 0
trap_entry 23, 0
trap_entry 24, 0
trap_entry 25, 0
trap_entry 26, 0
trap_entry 27, 0
trap_entry 28, 0
trap_entry 29, 1
trap_entry 30, 1
trap_entry 31, 0
trap_entry 64, 0
trap_entry 65, 0
trap_entry 66, 0
trap_entry 255, 0

.section .rodata
.global trap_table
    .align 8
trap_table:
    .quad trap_0, trap_1, trap_2, trap_3, trap_4, trap_5, trap_6, trap_7
    .quad trap_8, trap_9, trap_10, trap_11, trap_12, trap_13, trap_14, trap_15
    .quad trap_16, trap_17, trap_18, trap_19, trap_20, trap_21, trap_22, trap_23
    .quad trap_24, trap_25, trap_26, trap_27, trap_28, trap_29, trap_30, trap_31
    .quad trap_64, trap_65, trap_66, trap_255
.text
"#,
    scratch = const CORE_SCRATCH,
    regs_end = const CORE_REGS_END,
    kernel_stack = const CORE_KERNEL_STACK,
    user_data = const USER_DATA,
    user_code = const USER_CODE,
    vector_call = const VECTOR_CALL,
);

//! The ways into the kernel and out of it.
//!
//! Every thread's registers lie at the head of its [`crate::thread::Thread`]. An interrupt or fault saves all of them
//! straight there: while a thread runs, the task state segment holds the *end* of that area as the stack to switch to.
//!
//! A call saves only where to go on, since a caller expects nothing else back ([`tactus_abi::call`]). What the saved
//! registers hold is told by [`Registers::vector`]: for [`VECTOR_CALL`] and [`VECTOR_PASS`] only a few of them count, and
//! on the way out every other register is cleared, so that nothing of another component, of an older interrupt or of
//! the kernel is left in them.
//!
//! Invocation and return that nothing stands in the way of are done right here, without leaving the assembly: the same
//! checks as in `call.rs`, which takes over as soon as one fails, and finds everything unchanged.
//!
//! `sysret` is safe since every `rip` that it is given is below [`super::paging::USER_END`]: it follows an instruction of
//! a mapped page, or was checked when the image was read. Flags are the kernel's constant.
//!
//! The kernel itself runs on the core's own stack, with interrupts off, and leaves by loading the registers of whichever
//! thread it chose. A core with nothing to run waits inside the kernel; an interrupt there has nothing to save.

use super::apic;
use super::descriptors::SAVE_AREA;
use super::percore::{Core, CORE_KERNEL_STACK, CORE_SCRATCH};
use crate::component::{self, Component, Grant};
use crate::thread::{self, Frame, Thread};
use core::arch::global_asm;
use core::mem::{offset_of, size_of};
use tactus_abi::call::{Call, NO_TIMEOUT};
use tactus_abi::layout::{MAX_GRANTS, MAX_INVOCATIONS, MAX_THREADS, SLOTS};
use tactus_abi::shared::{Region, Slot};

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

impl Registers {
    /// All cleared.
    pub const NONE: Registers = Registers {
        r15: 0,
        r14: 0,
        r13: 0,
        r12: 0,
        r11: 0,
        r10: 0,
        r9: 0,
        r8: 0,
        rdi: 0,
        rsi: 0,
        rbp: 0,
        rbx: 0,
        rdx: 0,
        rcx: 0,
        rax: 0,
        vector: 0,
        error: 0,
        rip: 0,
        cs: 0,
        rflags: 0,
        rsp: 0,
        ss: 0,
    };
}

/// Stands in [`Registers::vector`] for a call: `rip`, `rsp` and `rax` count.
pub const VECTOR_CALL: u64 = 256;
/// Stands in [`Registers::vector`] for a beginning or a return: `rdi`, `rsi` and `rdx` count as well.
pub const VECTOR_PASS: u64 = 257;
/// Stands in [`Registers::vector`] for a dispatch that succeeded: as [`VECTOR_CALL`] with 0 in `rax`.
pub const VECTOR_SWITCHED: u64 = 258;
/// The core's timer.
pub const VECTOR_TIMER: u64 = 0x40;
/// Inter-core event.
pub const VECTOR_NOTIFY: u64 = 0x41;
/// A component was stopped.
pub const VECTOR_STOP: u64 = 0x42;
/// Brands and schedulers have mail from another core.
pub const VECTOR_MAIL: u64 = 0x43;
/// The first of the interrupt lines.
pub const VECTOR_LINES: u64 = 0x50;
/// Interrupt lines that there are.
pub const LINES: u64 = 24;
/// Spurious interrupt of the local APIC.
pub const VECTOR_SPURIOUS: u64 = 0xff;

/// Flags of a new thread: interrupts on.
pub const USER_FLAGS: u64 = 0x202;
/// Segments of a thread, as `sysret` loads them.
pub const USER_CODE: u64 = 0x2b;
/// See [`USER_CODE`].
pub const USER_DATA: u64 = 0x23;

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

# The way out, with nothing but rax, rdi, rsi and rdx passed on. rcx: where to; rsp: the stack there.
.macro clean_and_leave
    mov r11d, {user_flags}
    xor ebx, ebx
    xor ebp, ebp
    xor r8d, r8d
    xor r9d, r9d
    xor r10d, r10d
    xor r12d, r12d
    xor r13d, r13d
    xor r14d, r14d
    xor r15d, r15d
    swapgs
    sysretq
.endm

# A call by a thread: its number in rax, arguments in rdi, rsi, rdx, r10, r8, r9; where to go on in rcx.
.global call_entry
call_entry:
    swapgs
    mov gs:[{scratch}], rsp
    cmp rax, {call_switch}
    je switch
    cmp rax, {call_invoke}
    je invoke
    cmp rax, {call_return}
    je give_back
    test rax, rax
    jnz 1f
    # The null call: rax is zero, everything else is as it was.
    swapgs
    sysretq
1:  cmp rax, {call_invoke_wide}
    je invoke_wide
    cmp rax, {call_return_wide}
    je give_back_wide
    jmp call_other

# The thread goes on in the component that the grant names.
# rbp: thread; rbx, r12: the caller's number and place; r15, r14: the target's; r13: the entry.
invoke:
    mov rbp, gs:[{current}]
    movzx ebx, word ptr [rbp + {thread_component}]
    cmp rdi, {max_grants}
    jae call_other
    imul r12, rbx, {component_bytes}
    cmp byte ptr [r12 + {components} + {component_stopped}], 0
    jne call_other
    mov r14, rdi
    shl r14, {grant_shift}
    mov r13, [r12 + r14 + {components} + {component_grants} + {grant_entry}]
    test r13, r13
    jz call_other
    movzx r15d, word ptr [r12 + r14 + {components} + {component_grants} + {grant_component}]
    imul r14, r15, {component_bytes}
    cmp byte ptr [r14 + {components} + {component_stopped}], 0
    jne call_other
    movzx r12d, byte ptr [rbp + {thread_depth}]
    cmp r12d, {max_invocations}
    jae call_other
    # Nothing can fail from here on.
    lea eax, [r12 + 1]
    mov [rbp + {thread_depth}], al
    lea r12, [r12 + r12 * 2]
    mov [rbp + r12 * 8 + {thread_frames} + {frame_rip}], rcx
    mov rax, gs:[{scratch}]
    mov [rbp + r12 * 8 + {thread_frames} + {frame_rsp}], rax
    mov [rbp + r12 * 8 + {thread_frames} + {frame_component}], ebx
    mov [rbp + {thread_component}], r15w
    mov rdi, [rbp + {thread_caller}]
    or rdi, gs:[{core_caller}]
    or rdi, rbx
    mov rsp, [rbp + {thread_fresh_stack}]
    mov rax, [r14 + {components} + {component_space}]
    cmp gs:[{space}], rax
    je 1f
    mov gs:[{space}], rax
    mov cr3, rax
1:  mov rcx, r13
    mov r11d, {user_flags}
    xor eax, eax
    xor ebx, ebx
    xor ebp, ebp
    xor r12d, r12d
    xor r13d, r13d
    xor r14d, r14d
    xor r15d, r15d
    swapgs
    sysretq

# The thread goes back to the component that called.
# rbp: thread; rbx: its depth after the return; r12: place of the frame; r13, r14: the caller's number and place.
give_back:
    mov rbp, gs:[{current}]
    movzx ebx, byte ptr [rbp + {thread_depth}]
    sub ebx, 1
    jc call_other
    movzx r13d, word ptr [rbp + {thread_component}]
    imul r14, r13, {component_bytes}
    cmp byte ptr [r14 + {components} + {component_stopped}], 0
    jne call_other
    # Whoever leaves a scheduler while events wait for it is taken back (`call.rs`).
    mov r12, gs:[r13 * 8 + {regions}]
    cmp qword ptr [r12 + {region_pending}], 0
    jne call_other
    lea r12, [rbx + rbx * 2]
    # A frame that a brand recorded, which its upper half tells, is no caller's: the thread climbs (`call.rs`).
    mov r13d, [rbp + r12 * 8 + {thread_frames} + {frame_component}]
    cmp r13d, 0xffff
    ja call_other
    imul r14, r13, {component_bytes}
    cmp byte ptr [r14 + {components} + {component_stopped}], 0
    jne call_other
    # Nothing can fail from here on.
    mov [rbp + {thread_depth}], bl
    mov [rbp + {thread_component}], r13w
    mov rcx, [rbp + r12 * 8 + {thread_frames} + {frame_rip}]
    mov rsp, [rbp + r12 * 8 + {thread_frames} + {frame_rsp}]
    mov rax, [r14 + {components} + {component_space}]
    cmp gs:[{space}], rax
    je 1f
    mov gs:[{space}], rax
    mov cr3, rax
1:  xor eax, eax
    xor edx, edx
    jmp leave_clean

# As `invoke`, but rbx and r12 to r15 are words as well: what is left is rax, r11, rdi and rsp, which is saved and no
# stack. rbp: thread; r11: the caller's number; rsp: the grant's place; rax: the target's place.
invoke_wide:
    mov rbp, gs:[{current}]
    cmp rdi, {max_grants}
    jae 2f
    movzx r11d, word ptr [rbp + {thread_component}]
    imul rax, r11, {component_bytes}
    cmp byte ptr [rax + {components} + {component_stopped}], 0
    jne 2f
    mov rsp, rdi
    shl rsp, {grant_shift}
    add rsp, rax
    cmp qword ptr [rsp + {components} + {component_grants} + {grant_entry}], 0
    je 2f
    movzx eax, word ptr [rsp + {components} + {component_grants} + {grant_component}]
    imul rax, rax, {component_bytes}
    cmp byte ptr [rax + {components} + {component_stopped}], 0
    jne 2f
    cmp byte ptr [rbp + {thread_depth}], {max_invocations}
    jae 2f
    # Nothing can fail from here on.
    movzx edi, byte ptr [rbp + {thread_depth}]
    inc byte ptr [rbp + {thread_depth}]
    lea edi, [rdi + rdi * 2]
    mov [rbp + rdi * 8 + {thread_frames} + {frame_rip}], rcx
    mov rcx, gs:[{scratch}]
    mov [rbp + rdi * 8 + {thread_frames} + {frame_rsp}], rcx
    mov [rbp + rdi * 8 + {thread_frames} + {frame_component}], r11d
    mov rcx, [rsp + {components} + {component_grants} + {grant_entry}]
    movzx edi, word ptr [rsp + {components} + {component_grants} + {grant_component}]
    mov [rbp + {thread_component}], di
    mov rdi, [rbp + {thread_caller}]
    or rdi, gs:[{core_caller}]
    or rdi, r11
    mov rsp, [rbp + {thread_fresh_stack}]
    mov rax, [rax + {components} + {component_space}]
    cmp gs:[{space}], rax
    je 1f
    mov gs:[{space}], rax
    mov cr3, rax
1:  mov r11d, {user_flags}
    xor eax, eax
    xor ebp, ebp
    swapgs
    sysretq
2:  mov eax, {call_invoke_wide}
    jmp call_other

# As `give_back`. Left are rax, rcx (saved in rsp), r9 and r11. rbp: thread; rax: its depth after the return; rcx, r11: the
# caller's number and place.
give_back_wide:
    mov rbp, gs:[{current}]
    mov rsp, rcx
    movzx eax, word ptr [rbp + {thread_component}]
    imul r11, rax, {component_bytes}
    cmp byte ptr [r11 + {components} + {component_stopped}], 0
    jne 2f
    mov r9, gs:[rax * 8 + {regions}]
    cmp qword ptr [r9 + {region_pending}], 0
    jne 2f
    movzx eax, byte ptr [rbp + {thread_depth}]
    sub eax, 1
    jc 2f
    lea r9d, [rax + rax * 2]
    # A frame that a brand recorded, which its upper half tells, is no caller's: it takes two words.
    mov ecx, [rbp + r9 * 8 + {thread_frames} + {frame_component}]
    cmp ecx, 0xffff
    ja 2f
    imul r11, rcx, {component_bytes}
    cmp byte ptr [r11 + {components} + {component_stopped}], 0
    jne 2f
    # Nothing can fail from here on.
    mov [rbp + {thread_depth}], al
    mov [rbp + {thread_component}], cx
    mov rcx, [rbp + r9 * 8 + {thread_frames} + {frame_rip}]
    mov rsp, [rbp + r9 * 8 + {thread_frames} + {frame_rsp}]
    mov rax, [r11 + {components} + {component_space}]
    cmp gs:[{space}], rax
    je 1f
    mov gs:[{space}], rax
    mov cr3, rax
1:  mov r11d, {user_flags}
    xor eax, eax
    xor ebp, ebp
    xor r9d, r9d
    swapgs
    sysretq
# The words are saved: whoever the thread comes back to gets them later.
2:  mov rcx, rsp
    mov [rbp + {thread_rdi}], rdi
    mov [rbp + {thread_rsi}], rsi
    mov [rbp + {thread_rdx}], rdx
    mov [rbp + {thread_r10}], r10
    mov [rbp + {thread_r8}], r8
    mov [rbp + {thread_rbx}], rbx
    mov [rbp + {thread_r12}], r12
    mov [rbp + {thread_r13}], r13
    mov [rbp + {thread_r14}], r14
    mov [rbp + {thread_r15}], r15
    mov eax, {call_return_wide}
    jmp call_other

# Saves where the caller goes on.
.macro save_call
    mov rbp, gs:[{current}]
    mov [rbp + {thread_rip}], rcx
    mov rcx, gs:[{scratch}]
    mov [rbp + {thread_rsp}], rcx
    mov qword ptr [rbp + {thread_vector}], {vector_call}
    mov rsp, gs:[{kernel_stack}]
.endm

# rdi: the thread wanted, taken for this core if nobody has it; rbx: its place. Owner and state are one word here: nobody
# has an ordinary thread if both are 0. r10: its component's place.
.macro take_thread
    imul rbx, rdi, {thread_bytes}
    mov r9d, gs:[{mark}]
    xor eax, eax
    lock cmpxchg [rbx + {threads} + {thread_owner}], r9
    jne switch_other
    movzx r10d, word ptr [rbx + {threads} + {thread_component}]
    imul r10, r10, {component_bytes}
    cmp byte ptr [r10 + {components} + {component_stopped}], 0
    jne switch_stopped
.endm

# The time since the last charge goes to the caller. rdx: the time-out, then the time; r8: the time-out.
.macro charge_caller
    mov r8, rdx
    rdtsc
    shl rdx, 32
    or rax, rdx
    mov rdx, rax
    sub rdx, gs:[{charged}]
    mov gs:[{charged}], rax
    add [rbp + {thread_used}], rdx
.endm

# The usual dispatch: the root scheduler, in a thread of its own or in its upcall that ends with it, gives the core to an
# ordinary thread that nobody has. Whatever is different goes to `kernel_switch` and finds everything as it was.
#
# rdi: the thread wanted; rsi: flags; rdx, then r8: the time-out; rbp: the caller; rbx: the target's place; r10: its
# component's place; r12: the root's region on this core; rcx: where the caller goes on.
switch:
    .if {checked} == 1
    jmp switch_other
    .endif
    mov rbp, gs:[{current}]
    movzx eax, word ptr [rbp + {thread_component}]
    cmp rax, gs:[{root}]
    jne switch_other
    mov r12, gs:[{region}]
    cmp qword ptr [r12 + {region_pending}], 0
    jne switch_other
    cmp [r12 + {region_next}], rdi
    jne switch_other
    cmp rdi, {max_threads}
    jae switch_other
    test rsi, rsi
    jnz 5f
    cmp byte ptr [rbp + {thread_counted}], 0
    jne 6f
2:  take_thread
    # Nothing can fail from here on. First the caller's time, then its registers; then it is given up.
    charge_caller
    test rsi, rsi
    jnz 7f
    mov [rbp + {thread_rip}], rcx
    mov rcx, gs:[{scratch}]
    mov [rbp + {thread_rsp}], rcx
14: mov qword ptr [rbp + {thread_vector}], {vector_switched}
    cmp byte ptr [rbp + {thread_counted}], 0
    jne 8f
3:  mov dword ptr [rbp + {thread_owner}], 0
4:  mov byte ptr gs:[{deferred}], 0
    inc qword ptr [r12 + {region_dispatches}]
    lea rax, [rbx + {threads}]
    mov word ptr [rax + {thread_preempter}], 0
    mov qword ptr gs:[{levels}], 1
    mov gs:[{timeouts}], r8
    cmp r8, gs:[{tick}]
    cmova r8, gs:[{tick}]
    mov gs:[{current}], rax
    lea rcx, [rax + {registers_bytes}]
    mov gs:[{save_area}], rcx
    mov rcx, [r10 + {components} + {component_space}]
    cmp gs:[{space}], rcx
    je 1f
    mov gs:[{space}], rcx
    mov cr3, rcx
1:  cmp gs:[{armed}], r8
    jne switch_timer
# Whoever was dispatched goes on: as after an interrupt, or as below.
switch_leave:
    cmp dword ptr [rax + {vector}], {vector_switched}
    jne resume
# The thread's own dispatch, by which it left, succeeded.
resume_switched:
    mov rcx, [rax + {rip}]
    mov rsp, [rax + {rsp}]
    xor eax, eax
    xor edi, edi
    xor esi, esi
    xor edx, edx
    clean_and_leave

# The root's upcall, and its last act: it stays with the core, and begins anew the next time.
5:  cmp rsi, {switch_done}
    jne 13f
    cmp rbp, gs:[{upcall}]
    jne switch_other
    take_thread
    charge_caller
    add [r12 + {region_own}], rdx
    or dword ptr [rbp + {thread_state}], {state_inactive}
    jmp 4b

# Somebody whom a component called that is no brand's: goes on there, as if the call had ended.
13: cmp rsi, {switch_return}
    jne switch_other
    movzx eax, byte ptr [rbp + {thread_depth}]
    sub eax, 1
    jc switch_other
    lea rax, [rax + rax * 2]
    cmp word ptr [rbp + rax * 8 + {thread_frames} + {frame_component} + 2], 0
    jne switch_other
    cmp byte ptr [rbp + {thread_counted}], 0
    jne 6f
    jmp 2b
7:  movzx eax, byte ptr [rbp + {thread_depth}]
    sub eax, 1
    mov [rbp + {thread_depth}], al
    lea rax, [rax + rax * 2]
    mov ecx, [rbp + rax * 8 + {thread_frames} + {frame_component}]
    mov [rbp + {thread_component}], cx
    mov rcx, [rbp + rax * 8 + {thread_frames} + {frame_rip}]
    mov [rbp + {thread_rip}], rcx
    mov rcx, [rbp + rax * 8 + {thread_frames} + {frame_rsp}]
    mov [rbp + {thread_rsp}], rcx
    jmp 14b

# Threads whose time is counted in slots: here if the root alone counts it.
6:  cmp rbp, gs:[{upcall}]
    je switch_other
    mov rax, [rbp + {thread_path}]
    cmp qword ptr [rax + 8], 0
    jne switch_other
    jmp 2b
# rcx: the slot's number; rax: its place; rdx: the time, then the list's end.
8:  mov rax, [rbp + {thread_path}]
    movzx ecx, word ptr [rax + 4]
    test ecx, ecx
    jz 3b
    cmp ecx, {slots}
    jae 3b
    lea rax, [rcx + rcx * 2]
    lea rax, [r12 + rax * 8 + {region_slots}]
    add [rax + {slot_cycles}], rdx
    jc 10f
9:  bts word ptr [rax + {slot_flags}], 0
    jc 3b
    mov rdx, gs:[{root}]
    movzx r11d, word ptr gs:[rdx * 2 + {tails}]
    mov gs:[rdx * 2 + {tails}], cx
    lea rdx, [r11 + r11 * 2]
    lea rdx, [r12 + rdx * 8 + {region_slots}]
    # The list's end as the kernel knows it; one that was taken since is the end of nothing.
    cmp r11d, ecx
    je 11f
    test word ptr [rdx + {slot_flags}], 1
    jnz 12f
11: lea rdx, [r12 + {region_slots}]
12: mov word ptr [rax + {slot_next}], 0
    mov [rdx + {slot_next}], cx
    jmp 3b
10: mov qword ptr [rax + {slot_cycles}], -1
    jmp 9b

# The timer has to be set. Here if it counts as the time-stamp counter does and is set for nothing but time-outs; the
# smallest of 1 and what the timer can count at once is what it gets if the time-out is past or far.
switch_timer:
    cmp byte ptr [{plain_timer}], 0
    je 2f
    mov gs:[{expiry}], r8
    mov gs:[{armed}], r8
    mov rbx, rax
    xor ecx, ecx
    cmp r8, {no_timeout}
    je 1f
    rdtsc
    shl rdx, 32
    or rax, rdx
    mov ecx, 1
    sub r8, rax
    cmova rcx, r8
    mov eax, {longest_count}
    cmp rcx, rax
    cmova rcx, rax
1:  movabs rdx, {apic}
    mov [rdx + {apic_initial_count}], ecx
    mov rax, rbx
    jmp switch_leave
# kernel_set_timer(time-out)
2:  mov rsp, gs:[{kernel_stack}]
    mov rax, gs:[{charged}]
    mov gs:[{entered}], rax
    mov rdi, r8
    call kernel_set_timer
    jmp resume

switch_stopped:
    mov dword ptr [rbx + {threads} + {thread_owner}], 0
# kernel_switch(thread, flags, time-out)
switch_other:
    save_call
    call kernel_switch
    jmp resume

# A call that is not done here: where the caller goes on is saved.
# kernel_call(a0, a1, a2, a3, a4): the number of the call is saved in rax.
call_other:
    save_call
    cmp rax, {call_trigger}
    je 1f
    cmp rax, {call_upcall_done}
    je 2f
    mov [rbp + {thread_rax}], rax
    mov rcx, r10
    call kernel_call
    jmp resume
1:  call kernel_trigger
    jmp resume
2:  call kernel_upcall_done
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

# The timer: nearly always the time-out is the root's, and its upcall begins. Whatever is different goes to `kernel_trap`, and
# finds everything as it was.
trap_timer:
    push 2
    popfq
    test byte ptr [rsp + 24], 3
    jz 2f
    push_general
    swapgs
    mov rsp, gs:[{kernel_stack}]
    .if {checked} == 1
    jmp 1f
    .endif
    rdtsc
    shl rdx, 32
    or rax, rdx
    # Set for the time-out and nothing else: so it is not where cores take turns, nor where the core has a tick.
    cmp rax, gs:[{armed}]
    jb 1f
    cmp qword ptr gs:[{levels}], 1
    jne 1f
    mov rbx, gs:[{upcall}]
    cmp dword ptr [rbx + {thread_state}], {state_upcall}
    jne 1f
    # Whose time is not counted in slots: so it is no upcall. Nor is it inside the root, or in a sequence.
    mov rbp, gs:[{current}]
    cmp byte ptr [rbp + {thread_counted}], 0
    jne 1f
    movzx ecx, word ptr [rbp + {thread_component}]
    mov r8, gs:[{root}]
    cmp rcx, r8
    je 1f
    imul rcx, rcx, {component_bytes}
    cmp byte ptr [rcx + {components} + {component_sequences}], 0
    jne 1f
    cmp qword ptr gs:[{tick}], {no_timeout}
    jne 1f
    # Charged and given up.
    mov r12, gs:[{region}]
    mov rdx, rax
    sub rdx, gs:[{charged}]
    mov gs:[{charged}], rax
    add [rbp + {thread_used}], rdx
    mov dword ptr [rbp + {thread_owner}], 0
# The timer's event is posted, and the root's upcall begins.
# rbx: the root's upcall; r8: the root; r12: its region.
timer_to_root:
    movabs rcx, {apic}
    mov dword ptr [rcx + {apic_end}], 0
    mov rcx, {no_timeout}
    mov gs:[{timeouts}], rcx
    mov gs:[{expiry}], rcx
    mov gs:[{armed}], rcx
    or qword ptr [r12 + {region_events}], {event_timer}
    mov qword ptr [r12 + {region_pending}], 1
    inc qword ptr [r12 + {region_entries}]
    mov dword ptr [rbx + {thread_state}], {state_scheduler}
    mov word ptr [rbx + {thread_preempter}], 0
    mov byte ptr [rbx + {thread_depth}], 0
    mov [rbx + {thread_component}], r8w
    mov gs:[{current}], rbx
    lea rcx, [rbx + {registers_bytes}]
    mov gs:[{save_area}], rcx
    imul r8, r8, {component_bytes}
    mov rcx, [r8 + {components} + {component_space}]
    cmp gs:[{space}], rcx
    je 4f
    mov gs:[{space}], rcx
    mov cr3, rcx
4:  mov rcx, [r8 + {components} + {component_entry}]
    mov rsp, [rbx + {thread_fresh_stack}]
    mov rsi, [rbx + {thread_argument}]
    movzx edx, word ptr [rbx + {thread_id}]
    mov edi, {reason_scheduler}
    xor eax, eax
    jmp leave_clean
1:  call kernel_trap
    jmp resume
# The idle core, which has no state; or a fault in the kernel.
2:  .if {checked} == 1
    jmp trap_in_kernel
    .endif
    cmp qword ptr gs:[{current}], 0
    jne trap_in_kernel
    rdtsc
    shl rdx, 32
    or rax, rdx
    cmp rax, gs:[{armed}]
    jb trap_in_kernel
    cmp qword ptr gs:[{levels}], 1
    jne trap_in_kernel
    mov rbx, gs:[{upcall}]
    cmp dword ptr [rbx + {thread_state}], {state_upcall}
    jne trap_in_kernel
    cmp qword ptr gs:[{tick}], {no_timeout}
    jne trap_in_kernel
    lock inc qword ptr [{awake}]
    mov qword ptr [{keeper}], 0
    mov r8, gs:[{root}]
    mov r12, gs:[{region}]
    mov rdx, rax
    sub rdx, gs:[{charged}]
    mov gs:[{charged}], rax
    add gs:[{idle}], rdx
    add [r12 + {region_idle}], rdx
    jnc timer_to_root
    mov qword ptr [r12 + {region_idle}], -1
    jmp timer_to_root

# A double fault, a machine check or a non-maskable interrupt, on a stack of its own: the end, wherever it came from.
trap_fatal:
    test byte ptr [rsp + 24], 3
    jz trap_in_kernel
    swapgs
trap_in_kernel:
    mov rdi, [rsp]
    mov rsi, [rsp + 8]
    mov rdx, [rsp + 16]
    mov rcx, cr2
    sub rsp, 8
    call kernel_trap_inside
    # Only the idle loop is interrupted inside the kernel; it has no state.
    mov rsp, gs:[{kernel_stack}]

# The core's current thread goes on; if there is none, the core waits. A thread begins with its registers.
.global resume
resume:
    mov rax, gs:[{current}]
    test rax, rax
    jz 1f
    mov rbx, [rax + {vector}]
    cmp ebx, {vector_call}
    jb 2f
    mov rcx, [rax + {rip}]
    mov rsp, [rax + {rsp}]
    jne 3f
    mov rax, [rax + {rax}]
    xor edi, edi
    xor esi, esi
    xor edx, edx
    jmp leave_clean
3:  cmp ebx, {vector_switched}
    je resume_switched
    mov rdi, [rax + {rdi}]
    mov rsi, [rax + {rsi}]
    mov rdx, [rax + {rdx}]
    mov rax, [rax + {rax}]

# Everything that is not passed on is cleared, and the thread goes on.
# rcx: where to go on; rsp: the stack there; rax, rdi, rsi and rdx are passed on.
leave_clean:
    clean_and_leave

2:  mov rsp, rax
    swapgs
    pop_general
    add rsp, 16
    iretq
1:  call kernel_idle

.macro trap_entry vector, has_error
trap_\vector:
    .if \has_error == 0
    push 0
    .endif
    push \vector
    .if \vector == 2 || \vector == 8 || \vector == 18
    jmp trap_fatal
    .elseif \vector == 64
    jmp trap_timer
    .else
    jmp trap_common
    .endif
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
trap_entry 67, 0
.altmacro
.set line, 80
.rept 24
    trap_entry %line, 0
    .set line, line + 1
.endr
.noaltmacro
trap_entry 255, 0

.section .rodata
.global trap_table
    .align 8
trap_table:
    .quad trap_0, trap_1, trap_2, trap_3, trap_4, trap_5, trap_6, trap_7
    .quad trap_8, trap_9, trap_10, trap_11, trap_12, trap_13, trap_14, trap_15
    .quad trap_16, trap_17, trap_18, trap_19, trap_20, trap_21, trap_22, trap_23
    .quad trap_24, trap_25, trap_26, trap_27, trap_28, trap_29, trap_30, trap_31
    .quad trap_64, trap_65, trap_66, trap_67, trap_255
    .quad trap_80, trap_81, trap_82, trap_83, trap_84, trap_85, trap_86, trap_87
    .quad trap_88, trap_89, trap_90, trap_91, trap_92, trap_93, trap_94, trap_95
    .quad trap_96, trap_97, trap_98, trap_99, trap_100, trap_101, trap_102, trap_103
.text
"#,
    scratch = const CORE_SCRATCH,
    kernel_stack = const CORE_KERNEL_STACK,
    current = const offset_of!(Core, current),
    regions = const offset_of!(Core, regions),
    space = const offset_of!(Core, space),
    core_caller = const offset_of!(Core, caller),
    region_pending = const offset_of!(Region, event_pending),
    call_invoke = const Call::Invoke as u64,
    call_return = const Call::Return as u64,
    call_switch = const Call::SwitchThread as u64,
    call_invoke_wide = const Call::InvokeWide as u64,
    call_return_wide = const Call::ReturnWide as u64,
    call_trigger = const Call::Trigger as u64,
    call_upcall_done = const Call::UpcallDone as u64,
    max_grants = const MAX_GRANTS,
    max_invocations = const MAX_INVOCATIONS,
    components = sym component::COMPONENTS,
    component_bytes = const size_of::<Component>(),
    component_grants = const offset_of!(Component, grants),
    component_stopped = const offset_of!(Component, stopped),
    component_space = const offset_of!(Component, space),
    component_entry = const offset_of!(Component, entry),
    component_sequences = const offset_of!(Component, has_sequences),
    grant_shift = const size_of::<Grant>().ilog2(),
    grant_entry = const offset_of!(Grant, entry),
    grant_component = const offset_of!(Grant, component),
    thread_component = const offset_of!(Thread, component),
    thread_depth = const offset_of!(Thread, depth),
    thread_frames = const offset_of!(Thread, frames),
    thread_caller = const offset_of!(Thread, caller),
    thread_fresh_stack = const offset_of!(Thread, fresh_stack),
    frame_rip = const offset_of!(Frame, rip),
    frame_rsp = const offset_of!(Frame, rsp),
    frame_component = const offset_of!(Frame, component),
    thread_rax = const offset_of!(Thread, registers.rax),
    thread_rip = const offset_of!(Thread, registers.rip),
    thread_rdi = const offset_of!(Thread, registers.rdi),
    thread_rsi = const offset_of!(Thread, registers.rsi),
    thread_rdx = const offset_of!(Thread, registers.rdx),
    thread_r10 = const offset_of!(Thread, registers.r10),
    thread_r8 = const offset_of!(Thread, registers.r8),
    thread_rbx = const offset_of!(Thread, registers.rbx),
    thread_r12 = const offset_of!(Thread, registers.r12),
    thread_r13 = const offset_of!(Thread, registers.r13),
    thread_r14 = const offset_of!(Thread, registers.r14),
    thread_r15 = const offset_of!(Thread, registers.r15),
    thread_rsp = const offset_of!(Thread, registers.rsp),
    thread_vector = const offset_of!(Thread, registers.vector),
    vector = const offset_of!(Registers, vector),
    rip = const offset_of!(Registers, rip),
    rsp = const offset_of!(Registers, rsp),
    rax = const offset_of!(Registers, rax),
    rdi = const offset_of!(Registers, rdi),
    rsi = const offset_of!(Registers, rsi),
    rdx = const offset_of!(Registers, rdx),
    user_flags = const USER_FLAGS,
    vector_call = const VECTOR_CALL,
    vector_switched = const VECTOR_SWITCHED,
    switch_done = const tactus_abi::call::SWITCH_UPCALL_DONE,
    switch_return = const tactus_abi::call::SWITCH_RETURN,
    reason_scheduler = const tactus_abi::call::reason::SCHEDULER,
    no_timeout = const NO_TIMEOUT as i64,
    event_timer = const tactus_abi::shared::event::TIMER,
    plain_timer = sym crate::PLAIN_TIMER,
    longest_count = const apic::LONGEST_COUNT,
    apic = const super::paging::DIRECT + apic::BASE,
    apic_end = const apic::END_OF_INTERRUPT,
    apic_initial_count = const apic::INITIAL_COUNT,
    awake = sym super::idle::AWAKE,
    keeper = sym super::idle::KEEPER,
    expiry = const offset_of!(Core, expiry),
    idle = const offset_of!(Core, idle),
    region_idle = const offset_of!(Region, idle),
    region_events = const offset_of!(Region, events),
    region_entries = const offset_of!(Region, entries),
    root = const offset_of!(Core, root),
    region = const offset_of!(Core, region),
    region_next = const offset_of!(Region, next_thread),
    region_own = const offset_of!(Region, own),
    region_dispatches = const offset_of!(Region, dispatches),
    region_slots = const offset_of!(Region, slots),
    slot_next = const offset_of!(Slot, next),
    slot_flags = const offset_of!(Slot, flags),
    slot_cycles = const offset_of!(Slot, cycles),
    slots = const SLOTS,
    tails = const offset_of!(Core, tails),
    upcall = const offset_of!(Core, upcall),
    mark = const offset_of!(Core, mark),
    entered = const offset_of!(Core, entered),
    charged = const offset_of!(Core, charged),
    deferred = const offset_of!(Core, deferred),
    levels = const offset_of!(Core, levels),
    timeouts = const offset_of!(Core, timeouts),
    tick = const offset_of!(Core, tick),
    armed = const offset_of!(Core, armed),
    save_area = const offset_of!(Core, descriptors) + SAVE_AREA,
    checked = const cfg!(feature = "check") as u64,
    max_threads = const MAX_THREADS,
    threads = sym thread::THREADS,
    thread_bytes = const size_of::<Thread>(),
    thread_owner = const thread::OWNER,
    thread_state = const offset_of!(Thread, state),
    state_inactive = const thread::state::INACTIVE,
    state_scheduler = const thread::state::SCHEDULER,
    state_upcall = const thread::state::SCHEDULER | thread::state::INACTIVE,
    thread_id = const offset_of!(Thread, id),
    thread_argument = const offset_of!(Thread, argument),
    thread_counted = const offset_of!(Thread, counted),
    thread_used = const offset_of!(Thread, used),
    thread_preempter = const offset_of!(Thread, preempter),
    thread_path = const thread::PATH_USED,
    registers_bytes = const size_of::<Registers>(),
);

// What the assembly above takes for granted: places are found by shifting, and by three words for a frame.
const _: () = assert!(size_of::<Slot>() == 24 && tactus_abi::shared::slot::LINKED == 1);
const _: () = assert!(thread::OWNER % 8 == 0 && thread::OWNER + 4 == offset_of!(Thread, state));
const _: () = assert!(size_of::<Grant>().is_power_of_two() && size_of::<Frame>() == 24);
// An invocation writes the component and clears the mark beside it in one piece.
const _: () = assert!(offset_of!(Frame, recorded) == offset_of!(Frame, component) + 2);

// The vectors; the ways in.

.text
// All registers of the thread that has the core, into it. Leaves x0: the thread.
.macro save_all
    stp x0, x1, [sp, #-16]!
    mrs x0, tpidr_el1
    ldr x0, [x0, #{current}]
    stp x2, x3, [x0, #16]
    stp x4, x5, [x0, #32]
    stp x6, x7, [x0, #48]
    stp x8, x9, [x0, #64]
    stp x10, x11, [x0, #80]
    stp x12, x13, [x0, #96]
    stp x14, x15, [x0, #112]
    stp x16, x17, [x0, #128]
    stp x18, x19, [x0, #144]
    stp x20, x21, [x0, #160]
    stp x22, x23, [x0, #176]
    stp x24, x25, [x0, #192]
    stp x26, x27, [x0, #208]
    stp x28, x29, [x0, #224]
    str x30, [x0, #240]
    ldp x2, x3, [sp], #16
    stp x2, x3, [x0]
    mrs x1, sp_el0
    mrs x2, elr_el1
    mrs x3, spsr_el1
    stp x1, x2, [x0, #{stack}]
    str x3, [x0, #{state}]
.endm

// Into the kernel's Rust, with what is saved of the thread in x0 and its cause in the register.
.macro trapped number
    str \number, [x0, #{cause}]
    bl kernel_trap
    b resume
.endm

// A fault of the kernel itself, on a stack of its own: the end.
// kernel_trap_inside(number, syndrome, instruction, address)
.macro fatal number
    mrs x4, tpidr_el1
    cbz x4, .
    ldr x5, [x4, #{fault_stack}]
    mov sp, x5
    mov x0, #\number
    mrs x1, esr_el1
    mrs x2, elr_el1
    mrs x3, far_el1
    bl kernel_trap_inside
    b .
.endm

.balign 2048
.global vectors
vectors:
// From the kernel, on a stack that it does not use.
    fatal {unexpected}
.balign 128
    fatal {unexpected}
.balign 128
    fatal {unexpected}
.balign 128
    fatal {unexpected}
// From the kernel.
.balign 128
    fatal {synchronous}
.balign 128
    b interrupt_inside
.balign 128
    fatal {unexpected}
.balign 128
    fatal {system_error}
// From a component.
.balign 128
    b synchronous_below
.balign 128
    b interrupt_below
.balign 128
    b fast_below
.balign 128
    b error_below
// From 32-bit code, of which there is none.
.balign 128
    fatal {unexpected}
.balign 128
    fatal {unexpected}
.balign 128
    fatal {unexpected}
.balign 128
    fatal {unexpected}
.balign 128

// A call, or a fault.
synchronous_below:
    stp x29, x30, [sp, #-16]!
    mrs x29, esr_el1
    lsr x30, x29, #26
    cmp x30, #0x15
    b.ne 1f
    cbnz x8, 2f
    // The null call: x8 is zero, everything else is as it was.
    ldp x29, x30, [sp], #16
    eret
1:  ldp x29, x30, [sp], #16
    save_all
    mrs x1, esr_el1
    str x1, [x0, #{syndrome}]
    mov x1, #{synchronous}
    trapped x1
// A call: where the caller goes on is saved, and its words.
2:  add sp, sp, #16
    mrs x29, tpidr_el1
    ldr x30, [x29, #{current}]
    stp x0, x1, [x30]
    stp x2, x3, [x30, #16]
    stp x4, x5, [x30, #32]
    cmp x8, #{call_invoke}
    // An invocation with five words has no others.
    b.eq 3f
    stp x6, x7, [x30, #48]
    stp x8, x9, [x30, #64]
    stp x10, x11, [x30, #80]
    b 4f
3:  stp xzr, xzr, [x30, #48]
    stp x8, xzr, [x30, #64]
    stp xzr, xzr, [x30, #80]
4:  mrs x16, sp_el0
    mrs x17, elr_el1
    stp x16, x17, [x30, #{stack}]
    mov x16, #{cause_call}
    str x16, [x30, #{cause}]
    cmp x8, #{call_switch}
    b.eq 5f
    cmp x8, #{call_trigger}
    b.eq 6f
    cmp x8, #{call_upcall_done}
    b.eq 7f
    // kernel_call(a0, a1, a2, a3, a4): the number of the call is saved.
    bl kernel_call
    b resume
    // kernel_switch(thread, flags, time-out)
5:  bl kernel_switch
    b resume
6:  bl kernel_trigger
    b resume
7:  bl kernel_upcall_done
    b resume

interrupt_below:
    save_all
    mov x19, x0
    bl interrupt_number
    mov x1, x0
    mov x0, x19
    trapped x1

fast_below:
    save_all
    mov x1, #{unexpected}
    trapped x1

error_below:
    save_all
    mrs x1, esr_el1
    str x1, [x0, #{syndrome}]
    mov x1, #{system_error}
    trapped x1

// An interrupt of the idle core, which has no state.
interrupt_inside:
    bl interrupt_number
    mov x1, #0
    mrs x2, elr_el1
    mov x3, #0
    bl kernel_trap_inside
    b resume

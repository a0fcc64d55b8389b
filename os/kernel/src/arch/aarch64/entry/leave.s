// The way out: the core's current thread goes on; if there is none, the core waits.

.global resume
resume:
    mrs x30, tpidr_el1
    ldr x0, [x30, #{kernel_stack}]
    mov sp, x0
    ldr x30, [x30, #{current}]
    cbz x30, 3f
    ldr w0, [x30, #{cause}]
    ldp x1, x2, [x30, #{stack}]
    msr sp_el0, x1
    msr elr_el1, x2
    cmp w0, #{cause_call}
    b.lo 2f
    // After a call, or at a beginning: what is not passed on is cleared, and so is the processor's state.
    msr spsr_el1, xzr
    ldr x8, [x30, #64]
    mov x0, #0
    mov x1, #0
    mov x2, #0
    b.eq 1f
    ldp x0, x1, [x30]
    ldr x2, [x30, #16]
1:  .irp register, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30
    mov x\register, #0
    .endr
    eret
    // After an interrupt or fault, and where many words are passed: all registers count.
2:  ldr x0, [x30, #{state}]
    msr spsr_el1, x0
    ldp x0, x1, [x30]
    ldp x2, x3, [x30, #16]
    ldp x4, x5, [x30, #32]
    ldp x6, x7, [x30, #48]
    ldp x8, x9, [x30, #64]
    ldp x10, x11, [x30, #80]
    ldp x12, x13, [x30, #96]
    ldp x14, x15, [x30, #112]
    ldp x16, x17, [x30, #128]
    ldp x18, x19, [x30, #144]
    ldp x20, x21, [x30, #160]
    ldp x22, x23, [x30, #176]
    ldp x24, x25, [x30, #192]
    ldp x26, x27, [x30, #208]
    ldp x28, x29, [x30, #224]
    ldr x30, [x30, #240]
    eret
3:  bl kernel_idle
    b .

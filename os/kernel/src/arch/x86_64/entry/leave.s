# Faults of the kernel itself; the way out.

# A double fault, a machine check or a non-maskable interrupt, on a stack of its own: the end, wherever it came from. It may have
# come at any instruction, before the base of GS was changed on the way in or after that on the way out. So the base itself tells
# whose it is: the kernel's lies in the upper half, and a component cannot set one that does.
trap_fatal:
    push 2
    popfq
    mov ecx, {gs_base}
    rdmsr
    test edx, edx
    js trap_in_kernel
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
# rax: the thread.
resume_thread:
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
    xor ecx, ecx
    leave_kernel_half ecx
    pop_general
    add rsp, 16
    iretq
1:  call kernel_idle
